/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/text/phases_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"
#include "util/screen_text.h"
#include "util/text_list.h"

enum {
    INDENT = 13,       /* where the text behind a heading begins */
    PHASES_SHOWN = 16, /* of a long list; a list of up to PHASES_WHOLE is shown whole */
    PHASES_WHOLE = 20,
    OTHERS_SHOWN = 5, /* transitions, voltage steps, reasons, warnings */
    TEXT_SIZE = 2000
};

/* A sample holds time 0: a change that begins earlier than the usual period before it was not made by the switch. */
#define BEFORE_US 1.0

struct screen {
    FILE *out;
    bool colour;
    unsigned width; /* columns */
};

#define BOLD "\033[1m"
#define WARNING "\033[1;33m"
#define PLAIN "\033[0m"

/* An escape sequence where there is colour. */
static const char *style(const struct screen *s, const char *sequence)
{
    return s->colour ? sequence : "";
}

/* A heading in the left column; the cursor then stands at INDENT. */
static void phases_text_heading(const struct screen *s, const char *name)
{
    fprintf(s->out, "%s%-*s%s", style(s, BOLD), INDENT, name, style(s, PLAIN));
}

/* Text behind a heading, as printf makes it, then made harmless and broken at blanks so that it stays in the page. */
static void paragraph(const struct screen *s, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void paragraph(const struct screen *s, const char *name, const char *format, ...)
{
    char text[TEXT_SIZE], clean[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    plain_text(text, clean, sizeof(clean));
    phases_text_heading(s, name);
    screen_text_words(s->out, clean, INDENT, INDENT, s->width);
    fputc('\n', s->out);
}

/* Adds to a text that is never longer than TEXT_SIZE. */
static void phases_text_add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void phases_text_add(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TEXT_SIZE - used, format, arguments);
    va_end(arguments);
}

/* Decimals that the 95 % limits justify: the last one shown is about a tenth of half their width. */
static int decimals(const struct estimate *e, int least, int most)
{
    double half = (e->hi - e->lo) / 2;
    if (!isfinite(half))
        return least;
    if (!(half > 0))
        return most;
    int n = (int)ceil(-log10(half)) + 1;
    return n < least ? least : n > most ? most : n;
}

/* A number as text, by value. */
struct number {
    char text[130];
};

/* A number, or '-' where it was not measured. */
static struct number phases_text_number(double value, int places)
{
    struct number out = {"-"};
    if (isfinite(value))
        snprintf(out.text, sizeof(out.text), "%.*f", places, plain_number(value, places));
    return out;
}

/* "20.1 [19.9, 20.3]" */
static struct number phases_text_with_limits(const struct estimate *e, int least, int most)
{
    int places = decimals(e, least, most);
    struct number out = phases_text_number(e->value, places);
    size_t used = strlen(out.text);
    if (isfinite(e->lo) || isfinite(e->hi))
        snprintf(out.text + used, sizeof(out.text) - used, " [%.40s, %.40s]", phases_text_number(e->lo, places).text,
                 phases_text_number(e->hi, places).text);
    return out;
}

static void print_title(const struct screen *s, const struct phases *p)
{
    static const char modelled[] = "MODELLED: computed from a model, not measured on a processor";
    char from[80], to[80], title[200] = "Phases of a recording";
    if (p->from != NULL && p->to != NULL) {
        plain_text(p->from, from, sizeof(from));
        plain_text(p->to, to, sizeof(to));
        snprintf(title, sizeof(title), "%s -> %s", from, to);
    }
    fprintf(s->out, "%s%s%s", style(s, BOLD), title, style(s, PLAIN));
    if (p->modelled)
        fprintf(s->out, "%s%s%s%s", strlen(title) + 3 + strlen(modelled) <= s->width ? "   " : "\n", style(s, WARNING),
                modelled, style(s, PLAIN));
    fputs("\n", s->out);
}

static void print_machine(const struct screen *s, const struct trace *t, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    const char *cpu_number = trace_get(t, "cpu_number"), *cores = trace_get(t, "active_cores");
    const char *source = trace_get(t, "source"), *notes = trace_get(t, "notes"), *date = trace_get(t, "date");
    const char *settings = trace_get(t, "settings");
    paragraph(s, "CPU", "%s", p->cpu != NULL ? p->cpu : "not stated");
    phases_text_add(text, "%.300s", p->machine != NULL ? p->machine : "not stated");
    if (cpu_number != NULL)
        phases_text_add(text, ", on CPU %.20s", cpu_number);
    if (cores != NULL)
        phases_text_add(text, ", active cores: %.20s", cores);
    if (date != NULL)
        phases_text_add(text, ", %.40s", date);
    paragraph(s, "Machine", "%s", text);
    const char *fine = trace_get(t, "fine_us"), *period = trace_get(t, "period_us");
    const char *observed = trace_get(t, "observe_us"), *warmup = trace_get(t, "warmup_us");
    if (fine != NULL && period != NULL && observed != NULL && warmup != NULL)
        paragraph(s, "Sampling",
                  "every %.20s us until %.20s us after the switch, then ever less often, until %.20s us; "
                  "%.20s us of the first kernel before each",
                  period, fine, observed, warmup);
    if (source != NULL)
        paragraph(s, "Source", "%s", source);
    if (settings != NULL && settings[0] != '\0')
        paragraph(s, "Settings", "%s", settings);
    if (notes != NULL && notes[0] != '\0')
        paragraph(s, "Notes", "%s", notes);
}

/* A reason without its figures: repetitions that were lost for the same reason are counted together. */
static void reason_group(const char *why, char *out, size_t size)
{
    size_t n = 0;
    for (; *why != '\0' && n + 1 < size; why++) {
        bool sign = (*why == '.' || *why == '-') && why[1] >= '0' && why[1] <= '9';
        bool figure = sign || (*why >= '0' && *why <= '9');
        if (!figure)
            out[n++] = *why;
        else if (n == 0 || out[n - 1] != '#')
            out[n++] = '#';
    }
    out[n] = '\0';
}

struct reason {
    char group[sizeof(((struct discarded_run *)NULL)->why)];
    const struct discarded_run *first;
    size_t count;
};

static int phases_text_by_group(const void *a, const void *b)
{
    return strcmp(((const struct reason *)a)->group, ((const struct reason *)b)->group);
}

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

/* Groups the reasons, most frequent first. Returns how many groups; 0 when out of memory. */
static size_t group_reasons(const struct phases *p, struct reason **out)
{
    struct reason *all = malloc((p->n_discarded + 1) * sizeof(*all));
    size_t groups = 0;
    *out = all;
    if (all == NULL || p->n_discarded == 0)
        return 0;
    for (size_t i = 0; i < p->n_discarded; i++) {
        reason_group(p->discarded[i].why, all[i].group, sizeof(all[i].group));
        all[i].first = &p->discarded[i];
        all[i].count = 1;
    }
    qsort(all, p->n_discarded, sizeof(*all), phases_text_by_group);
    for (size_t i = 1; i < p->n_discarded; i++)
        if (strcmp(all[i].group, all[groups].group) == 0)
            all[groups].count++;
        else
            all[++groups] = all[i];
    groups++;
    qsort(all, groups, sizeof(*all), by_count);
    return groups;
}

static void print_runs(const struct screen *s, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    struct reason *reasons;
    size_t groups = group_reasons(p, &reasons);
    phases_text_add(text, "%zu of %zu used", p->runs_used, p->runs);
    if (p->n_discarded > 0)
        phases_text_add(text, ", %zu discarded:", p->n_discarded);
    for (size_t i = 0; i < groups && i < OTHERS_SHOWN; i++) {
        const struct reason *r = &reasons[i];
        const char *why = r->first->why, *detail = strstr(why, ": ");
        int length = detail != NULL ? (int)(detail - why) : (int)strlen(why);
        phases_text_add(text, "%s %zu %.*s, %srun %u%s", i == 0 ? "" : ";", r->count, length, why,
                        r->count > 1 ? "e.g. " : "", r->first->run, why + length);
    }
    if (groups > OTHERS_SHOWN)
        phases_text_add(text, "; %zu more reasons (all in the JSON)", groups - OTHERS_SHOWN);
    if (p->samples_discarded > 0)
        phases_text_add(text, "; %" PRIu64 " of %" PRIu64 " samples outside their range discarded",
                        p->samples_discarded, p->samples);
    if (p->samples_lost > 0)
        phases_text_add(text, "; %" PRIu64 " of %" PRIu64 " samples that lost time to something else left out",
                        p->samples_lost, p->samples);
    paragraph(s, "Repetitions", "%s", text);
    free(reasons);
}

static void phases_text_levels(const struct screen *s, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    for (size_t i = 0; i < p->n_levels && i < 8; i++)
        phases_text_add(text, "%sL%zu %s", i == 0 ? "" : "; ", i, phases_text_with_limits(&p->levels[i], 3, 4).text);
    if (p->n_levels > 8)
        phases_text_add(text, "; %zu more", p->n_levels - 8);
    paragraph(s, "Levels, GHz", "%s",
              p->n_levels > 0 ? text : "none found (frequency was not measured, or never steady)");
}

static bool any_volts(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++)
        if (isfinite(p->phases[i].volts))
            return true;
    return false;
}

static const char *kind_colour(const struct screen *s, enum phase_kind kind)
{
    static const char *const colours[] = {
        [PHASE_STEADY] = "\033[32m", [PHASE_THROTTLE] = "\033[33m", [PHASE_HALT] = "\033[31m",
        [PHASE_SLOW] = "\033[34m",   [PHASE_RAMP] = "\033[36m",     [PHASE_UNKNOWN] = "\033[35m"};
    return style(s, colours[kind]);
}

/* The columns of the list of phases: on a narrow screen those go first that matter least; the JSON has them all. */
struct phase_columns {
    int duration; /* its width */
    bool volts, ratio, level, runs;
};

enum { ALWAYS = 37, DURATION_USUAL = 30 }; /* what is always there, and the usual width of a duration */

static struct phase_columns columns_for(const struct screen *s, const struct phases *p, size_t shown)
{
    struct phase_columns c = {DURATION_USUAL, any_volts(p), true, true, true};
    const struct {
        bool *shown;
        int width;
    } optional[] = {{&c.runs, 10}, {&c.level, 7}, {&c.ratio, 7}, {&c.volts, 8}};
    const size_t n = sizeof(optional) / sizeof(optional[0]);
    int room = (int)s->width - ALWAYS, longest = (int)strlen("duration us");
    for (size_t i = 0; i < shown; i++) {
        int length = (int)strlen(phases_text_with_limits(&p->phases[i].duration_us, 1, 2).text);
        longest = length > longest ? length : longest;
    }
    for (size_t i = 0; i < n; i++)
        room -= *optional[i].shown ? optional[i].width : 0;
    for (size_t i = 0; i < n && room < longest; i++)
        if (*optional[i].shown) {
            *optional[i].shown = false;
            room += optional[i].width;
        }
    c.duration = room > DURATION_USUAL ? DURATION_USUAL : room > longest ? room : longest;
    return c;
}

static void print_phase(const struct screen *s, const struct phases *p, const struct phase *ph,
                        const struct phase_columns *c)
{
    char level[16] = "-", runs[48];
    if (ph->level >= 0)
        snprintf(level, sizeof(level), "L%d", ph->level);
    snprintf(runs, sizeof(runs), "%zu/%zu", ph->agreeing_runs, p->runs_used);
    fprintf(s->out, "%11s  %-*s %s%-8s%s %7s %6s",
            phases_text_number(ph->start_us, decimals(&ph->duration_us, 1, 2)).text, c->duration,
            phases_text_with_limits(&ph->duration_us, 1, 2).text, kind_colour(s, ph->kind), phases_kind_name(ph->kind),
            style(s, PLAIN), phases_text_number(ph->freq_ghz.value, 3).text, phases_text_number(ph->ipc, 3).text);
    if (c->ratio)
        fprintf(s->out, " %6s", phases_text_number(ph->ipc_ratio, 3).text);
    if (c->level)
        fprintf(s->out, "  %-5s", level);
    if (c->volts)
        fprintf(s->out, " %7s", phases_text_number(ph->volts, 4).text);
    if (c->runs)
        fprintf(s->out, " %9s", runs);
    fputc('\n', s->out);
}

/* What does not fit into the columns of a phase. */
/* One side of a ramp behind the fine part of a long recording. */
static void print_ramp_side(const struct screen *s, const struct ramp_side *r, const char *what, const char *unit,
                            int decimals_of, const char *remark)
{
    if (!(r->tau_us.value > 0))
        return;
    paragraph(s, "", "^ %s: exponentially from %s to %s %s, time constant %s us, from %s us to %s us%s", what,
              phases_text_number(r->from.value, decimals_of).text,
              phases_text_with_limits(&r->to, decimals_of, decimals_of + 1).text, unit,
              phases_text_with_limits(&r->tau_us, 0, 1).text, phases_text_with_limits(&r->begin_us, 0, 1).text,
              phases_text_with_limits(&r->end_us, 0, 1).text, remark);
}

/* The clock, or the rate, or both: and which of them it may be where that is not known. */
static void print_long_ramp(const struct screen *s, const struct phase *ph)
{
    bool clock = ph->clock_ramp.tau_us.value > 0;
    print_ramp_side(s, &ph->clock_ramp, "clock", "GHz", 3,
                    ph->clock_unsure
                        ? "; dependent adds alone tell this: that all code is throttled, adds too, and the clock "
                          "stays cannot be excluded"
                        : "");
    print_ramp_side(s, &ph->rate_ramp, "rate", "of the instructions per cycle at its end", 3,
                    clock ? "" : "; the clock stays");
    if (clock && !(ph->rate_ramp.tau_us.value > 0) && isfinite(ph->ipc))
        paragraph(s, "", "^ rate: the instructions per cycle stay");
}

static void print_phase_remarks(const struct screen *s, const struct phase *ph)
{
    char text[TEXT_SIZE] = "";
    if (ph->n_modes > 1) {
        phases_text_add(text, "^ the durations cluster:");
        for (size_t m = 0; m < ph->n_modes && m < PHASE_MODES_MAX; m++)
            phases_text_add(text, "%s %.1f us (%.0f %% of the runs)", m == 0 ? "" : ",", ph->modes[m].duration_us,
                            100 * ph->modes[m].share);
        paragraph(s, "", "%s", text);
    }
    if (ph->clock_ramp.tau_us.value > 0 || ph->rate_ramp.tau_us.value > 0)
        print_long_ramp(s, ph);
    else if (ph->tau_us.value > 0)
        paragraph(s, "", "^ exponentially from %s to %s GHz, time constant %s us",
                  phases_text_number(ph->from_ghz.value, 3).text, phases_text_with_limits(&ph->to_ghz, 3, 4).text,
                  phases_text_with_limits(&ph->tau_us, 0, 1).text);
    if (ph->why[0] != '\0')
        paragraph(s, "", "^ %s", ph->why);
}

static void print_rest_of_phases(const struct screen *s, const struct phases *p, size_t shown)
{
    char text[TEXT_SIZE] = "";
    size_t count[PHASE_UNKNOWN + 1] = {0};
    for (size_t i = shown; i < p->n_phases; i++)
        count[p->phases[i].kind]++;
    phases_text_add(text, "and %zu more:", p->n_phases - shown);
    const char *separator = "";
    for (int kind = PHASE_STEADY; kind <= PHASE_UNKNOWN; kind++)
        if (count[kind] > 0) {
            phases_text_add(text, "%s %zu %s", separator, count[kind], phases_kind_name((enum phase_kind)kind));
            separator = ",";
        }
    paragraph(s, "", "%s; all of them are in the JSON (--json FILE)", text);
}

/* A column that is not there is not taken for one that was not measured. */
static void phases_tell_left_out(const struct screen *s, const struct phases *p, const struct phase_columns *c)
{
    const struct {
        bool left_out;
        const char *name;
    } columns[] = {
        {!c->ratio, "ratio"}, {!c->level, "level"}, {!c->volts && any_volts(p), "volts"}, {!c->runs, "runs"}};
    char text[100] = "";
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].left_out)
            text_list_add(text, sizeof text, ", ", "%s", columns[i].name);
    if (text[0] != '\0')
        paragraph(s, "Left out", "%s (no room)", text);
}

static void phases_text_phases(const struct screen *s, const struct phases *p)
{
    size_t shown = p->n_phases > PHASES_WHOLE ? PHASES_SHOWN : p->n_phases;
    struct phase_columns c = columns_for(s, p, shown);
    fprintf(s->out, "%s%-13s%-*s%-8s %7s %6s%s%s%s%s%s\n", style(s, BOLD), "   start us", c.duration + 1,
            c.duration < (int)sizeof "duration us [95 % limits]" ? "duration us" : "duration us [95 % limits]", "kind",
            "GHz", "IPC", c.ratio ? "  ratio" : "", c.level ? "  level" : "", c.volts ? "   volts" : "",
            c.runs ? "      runs" : "", style(s, PLAIN));
    for (size_t i = 0; i < shown; i++) {
        print_phase(s, p, &p->phases[i], &c);
        print_phase_remarks(s, &p->phases[i]);
    }
    if (shown < p->n_phases)
        print_rest_of_phases(s, p, shown);
    phases_tell_left_out(s, p, &c);
}

static void print_transitions(const struct screen *s, const struct phases *p)
{
    for (size_t i = 0; i < p->n_transitions && i < OTHERS_SHOWN; i++) {
        const struct transition *t = &p->transitions[i];
        char text[TEXT_SIZE] = "";
        bool before = p->from != NULL && p->to != NULL && t->at_us < -BEFORE_US;
        phases_text_add(text, "at %s us%s: latency %s us, ",
                        phases_text_number(t->at_us, decimals(&t->latency_us, 1, 2)).text,
                        before ? ", before the switch and unrelated to it" : "",
                        phases_text_with_limits(&t->latency_us, 1, 2).text);
        if (isfinite(t->from_ghz) || isfinite(t->to_ghz))
            phases_text_add(text, "%s -> %s GHz, ", phases_text_number(t->from_ghz, 3).text,
                            phases_text_number(t->to_ghz, 3).text);
        paragraph(s, i == 0 ? "Transition" : "", "%s%u halt%s, %zu/%zu runs", text, t->halts, t->halts == 1 ? "" : "s",
                  t->agreeing_runs, p->runs_used);
    }
    if (p->n_transitions > OTHERS_SHOWN)
        fprintf(s->out, "%*sand %zu more; all of them are in the JSON\n", INDENT, "", p->n_transitions - OTHERS_SHOWN);
}

static bool only_steady(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++)
        if (p->phases[i].kind != PHASE_STEADY)
            return false;
    return true;
}

static double last_end_us(const struct phases *p)
{
    const struct phase *last = &p->phases[p->n_phases - 1];
    return last->start_us + last->duration_us.value;
}

/* What would have been seen, so that "nothing" can be weighed. */
static void print_null_result(const struct screen *s, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    bool ramps = false, unknown = false;
    for (size_t i = 0; i < p->n_phases; i++) {
        ramps = ramps || p->phases[i].kind == PHASE_RAMP;
        unknown = unknown || p->phases[i].kind == PHASE_UNKNOWN;
    }
    if (p->n_transitions > 0 || ramps)
        return;
    if (unknown) {
        paragraph(s, "Result", "undecided: the phases marked unknown may or may not be a transition");
        return;
    }
    phases_text_add(text, "%s found. Smallest effects it would have detected (95 %% of cases): ",
                    only_steady(p) ? "no transition" : "no change between levels");
    if (isfinite(p->detectable_freq))
        phases_text_add(text, "a frequency step of %.2g %% lasting %.3g us", 100 * p->detectable_freq,
                        p->detectable_freq_us);
    else
        phases_text_add(text, "no frequency step (%s)",
                        p->n_levels ? "the recording is too short" : "frequency was not measured");
    if (isfinite(p->detectable_throttle))
        phases_text_add(text, ", throttling to %.3g of the full rate for %.3g us", p->detectable_throttle,
                        p->detectable_throttle_us);
    else
        phases_text_add(text, ", no throttling (%s)",
                        p->n_phases && !isnan(p->phases[0].ipc) ? "the recording is too short"
                                                                : "IPC was not measured");
    if (isfinite(p->detectable_halt_us))
        phases_text_add(text, ", a halt of %.2g us or more", p->detectable_halt_us);
    double until = p->n_phases ? last_end_us(p) : NAN;
    if (p->from != NULL && p->to != NULL && until > 0)
        phases_text_add(text, "; within %.0f us of the switch", until);
    paragraph(s, "Result", "%s", text);
}

static void print_voltage(const struct screen *s, const struct phases *p)
{
    for (size_t i = 0; i < p->n_volt_steps && i < OTHERS_SHOWN; i++) {
        const struct volt_step *v = &p->volt_steps[i];
        struct number begin = phases_text_number(v->begin_us, 1), end = phases_text_number(v->end_us, 1);
        bool jump = strcmp(begin.text, end.text) == 0; /* between two readings */
        paragraph(s, i == 0 ? "Voltage" : "", "%.4f -> %.4f V (%+.1f mV), %s %s%s%s us", v->from_v, v->to_v,
                  plain_number(1000 * (v->to_v - v->from_v), 1), jump ? "at" : "from", begin.text, jump ? "" : " to ",
                  jump ? "" : end.text);
    }
    if (p->n_volt_steps > OTHERS_SHOWN)
        fprintf(s->out, "%*sand %zu more steps; all of them are in the JSON\n", INDENT, "",
                p->n_volt_steps - OTHERS_SHOWN);
}

static void print_warnings(const struct screen *s, const struct phases *p)
{
    for (size_t i = 0; i < p->n_warnings && i < OTHERS_SHOWN; i++) {
        fputs(style(s, "\033[33m"), s->out);
        paragraph(&(struct screen){s->out, false, s->width}, "Warning", "%s", p->warnings[i]);
        fputs(style(s, PLAIN), s->out);
    }
    if (p->n_warnings > OTHERS_SHOWN)
        fprintf(s->out, "%*sand %zu more warnings; all of them are in the JSON\n", INDENT, "",
                p->n_warnings - OTHERS_SHOWN);
}

void phases_text_print(FILE *out, bool colour, const struct trace *t, const struct phases *p, const char *missing)
{
    const struct screen s = {out, colour, screen_text_width(out)};
    print_title(&s, p);
    print_machine(&s, t, p);
    print_runs(&s, p);
    if (missing != NULL && missing[0] != '\0')
        paragraph(&s, "Not measured", "%s", missing);
    phases_text_levels(&s, p);
    phases_text_phases(&s, p);
    print_transitions(&s, p);
    print_null_result(&s, p);
    print_voltage(&s, p);
    print_warnings(&s, p);
}
