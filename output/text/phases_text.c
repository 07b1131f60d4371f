/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace's phases, and a recording's stages, as text. */
#include "output/text/phases_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/document/document.h"
#include "tables/table/estimates.h"
#include "util/plain_text.h"
#include "util/text_list.h"

enum {
    PHASES_SHOWN = 16, /* of a long list; a list of up to PHASES_ALL is shown entirely */
    PHASES_ALL = 20,
    LEVELS_SHOWN = 8,
    OTHERS_SHOWN = 5, /* transitions, voltage steps, reasons, warnings */
    TEXT_SIZE = 2000
};

/* A sample holds time 0: a change that begins earlier than the usual period before it was not made by the switch. */
#define BEFORE_US 1.0

/* Decimals that the 95 % limits justify: the last one shown is about a tenth of half their width. */
static int decimals(const struct estimate *e, int least, int most)
{
    double half = estimate_half(e);
    if (!isfinite(half))
        return least;
    if (!(half > 0))
        return most;
    int n = (int)ceil(-log10(half)) + 1;
    return n < least ? least : n > most ? most : n;
}

/* Of the times that are shown: that in which the samples are long, or us. */
struct unit {
    double us;
    const char *name;
};

static const struct unit *unit_of(const struct trace *t)
{
    static const struct unit units[] = {{1, "us"}, {1e3, "ms"}, {1e6, "s"}};
    size_t samples = 0, of_ms = 0, of_s = 0;
    for (size_t i = 1; i < t->n; i++) {
        double us = t->time_us[i] - t->time_us[i - 1];
        if (t->run && t->run[i] != t->run[i - 1])
            continue;
        samples++;
        of_ms += us >= 500;
        of_s += us >= 5e4;
    }
    return &units[2 * of_s > samples ? 2 : 2 * of_ms > samples];
}

static struct estimate in_unit(const struct estimate *e, const struct unit *u)
{
    return (struct estimate){e->value / u->us, e->lo / u->us, e->hi / u->us};
}

/* A number as text, by value. */
struct number {
    char text[ESTIMATE_TEXT_MAX];
};

/* '-' where it was not measured. */
static struct number number(double value, int places)
{
    struct number out;
    estimates_text(&(struct estimate){value, NAN, NAN}, places, out.text);
    return out;
}

/* "20.1 [19.9, 20.3]" */
static struct number limits(const struct estimate *e, int least, int most)
{
    struct number out;
    estimates_text(e, decimals(e, least, most), out.text);
    return out;
}

/* A time in that unit: to at most a hundredth of a us, or a thousandth. */
static int time_decimals(const struct estimate *e, const struct unit *u)
{
    const struct estimate time = in_unit(e, u);
    return decimals(&time, 1, u->us > 1 ? 3 : 2);
}

static struct number time_limits(const struct estimate *e, const struct unit *u)
{
    const struct estimate time = in_unit(e, u);
    struct number out;
    estimates_text(&time, time_decimals(e, u), out.text);
    return out;
}

static void and_more(struct document *d, size_t n, const char *what)
{
    if (n > OTHERS_SHOWN)
        document_fact(d, "", "and %zu more%s; all of them are in the JSON", n - OTHERS_SHOWN, what);
}

/* ---- what was measured ---- */

static bool is_switch(const struct phases *p)
{
    return p->from != NULL && p->to != NULL;
}

static void begin(struct document *d, const struct phases *p)
{
    char title[200] = "Phases of a recording";
    if (is_switch(p))
        snprintf(title, sizeof title, "%.90s -> %.90s", p->from, p->to);
    document_begin(d, title, NULL, p->modelled ? "MODELLED: computed from a model, not measured on a processor" : NULL);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void put_machine(struct document *d, const struct trace *t, const struct phases *p)
{
    const char *fine = trace_get(t, "fine_us"), *period = trace_get(t, "period_us");
    const char *observed = trace_get(t, "observe_us"), *warmup = trace_get(t, "warmup_us");
    char text[TEXT_SIZE] = "";
    text_list_add(text, sizeof text, "", "%.300s", p->machine != NULL ? p->machine : "not stated");
    if (trace_get(t, "cpu_number"))
        text_list_add(text, sizeof text, ", ", "on CPU %.20s", trace_get(t, "cpu_number"));
    if (trace_get(t, "active_cores"))
        text_list_add(text, sizeof text, ", ", "active cores: %.20s", trace_get(t, "active_cores"));
    if (trace_get(t, "date"))
        text_list_add(text, sizeof text, ", ", "%.40s", trace_get(t, "date"));
    document_fact(d, "CPU", "%s", p->cpu != NULL ? p->cpu : "not stated");
    document_fact(d, "Machine", "%s", text);
    if (fine && period && observed && warmup)
        document_fact(d, "Sampling",
                      "every %.20s us until %.20s us after the switch, then ever less often, until %.20s us; "
                      "%.20s us of the first kernel before each",
                      period, fine, observed, warmup);
    document_fact(d, "Source", "%s", or_empty(trace_get(t, "source")));
    document_fact(d, "Settings", "%s", or_empty(trace_get(t, "settings")));
    document_fact(d, "Notes", "%s", or_empty(trace_get(t, "notes")));
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

static int by_group(const void *a, const void *b)
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
    qsort(all, p->n_discarded, sizeof(*all), by_group);
    for (size_t i = 1; i < p->n_discarded; i++)
        if (strcmp(all[i].group, all[groups].group) == 0)
            all[groups].count++;
        else
            all[++groups] = all[i];
    groups++;
    qsort(all, groups, sizeof(*all), by_count);
    return groups;
}

static void put_runs(struct document *d, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    struct reason *reasons;
    size_t groups = group_reasons(p, &reasons);
    text_list_add(text, sizeof text, "", "%zu of %zu used", p->runs_used, p->runs);
    if (p->n_discarded > 0)
        text_list_add(text, sizeof text, ", ", "%zu discarded:", p->n_discarded);
    for (size_t i = 0; i < groups && i < OTHERS_SHOWN; i++) {
        const struct reason *r = &reasons[i];
        const char *why = r->first->why, *detail = strstr(why, ": ");
        int length = detail != NULL ? (int)(detail - why) : (int)strlen(why);
        text_list_add(text, sizeof text, i == 0 ? " " : "; ", "%zu %.*s, %srun %u%s", r->count, length, why,
                      r->count > 1 ? "e.g. " : "", r->first->run, why + length);
    }
    if (groups > OTHERS_SHOWN)
        text_list_add(text, sizeof text, "; ", "%zu more reasons (all in the JSON)", groups - OTHERS_SHOWN);
    if (p->samples_discarded > 0)
        text_list_add(text, sizeof text, "; ", "%" PRIu64 " of %" PRIu64 " samples outside their range discarded",
                      p->samples_discarded, p->samples);
    if (p->samples_lost > 0)
        text_list_add(text, sizeof text, "; ",
                      "%" PRIu64 " of %" PRIu64 " samples that lost time to something else left out", p->samples_lost,
                      p->samples);
    document_fact(d, "Repetitions", "%s", text);
    free(reasons);
}

/* ---- what was found ---- */

static void put_levels(struct document *d, const struct phases *p)
{
    char text[TEXT_SIZE] = "";
    for (size_t i = 0; i < p->n_levels && i < LEVELS_SHOWN; i++)
        text_list_add(text, sizeof text, "; ", "L%zu %s", i, limits(&p->levels[i], 3, 4).text);
    if (p->n_levels > LEVELS_SHOWN)
        text_list_add(text, sizeof text, "; ", "%zu more", p->n_levels - LEVELS_SHOWN);
    document_fact(d, "Levels, GHz", "%s",
                  p->n_levels > 0 ? text : "none found (frequency was not measured, or never steady)");
}

static bool any_volts(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++)
        if (isfinite(p->phases[i].volts))
            return true;
    return false;
}

static void put_phase(struct pivot *t, const struct phases *p, const struct phase *ph, const struct unit *u)
{
    static const char *const colours[] = {
        [PHASE_STEADY] = "\033[32m", [PHASE_THROTTLE] = "\033[33m", [PHASE_HALT] = "\033[31m",
        [PHASE_SLOW] = "\033[34m",   [PHASE_RAMP] = "\033[36m",     [PHASE_UNKNOWN] = "\033[35m"};
    char level[16] = "-", runs[48];
    if (ph->level >= 0)
        snprintf(level, sizeof(level), "L%d", ph->level);
    snprintf(runs, sizeof(runs), "%zu/%zu", ph->agreeing_runs, p->runs_used);
    pivot_line(t, PIVOT_ROW);
    pivot_number(t, ph->start_us / u->us, time_decimals(&ph->duration_us, u));
    pivot_text(t, "%s", time_limits(&ph->duration_us, u).text);
    pivot_word(t, phases_kind_name(ph->kind));
    pivot_colour(t, colours[ph->kind]);
    pivot_number(t, ph->freq_ghz.value, 3);
    pivot_number(t, ph->ipc, 3);
    pivot_number(t, ph->ipc_ratio, 3);
    pivot_word(t, level);
    if (any_volts(p))
        pivot_number(t, ph->volts, 4);
    pivot_mark(t, runs);
}

/* One side of a ramp after the fine part of a long recording. */
static void remark_ramp_side(struct pivot *t, const struct ramp_side *r, const char *what, const char *unit,
                             const struct unit *u, const char *remark)
{
    if (!(r->tau_us.value > 0))
        return;
    const struct estimate tau = in_unit(&r->tau_us, u), begin = in_unit(&r->begin_us, u), end = in_unit(&r->end_us, u);
    pivot_line(t, PIVOT_REMARK);
    pivot_text(t, "^ %s: exponentially from %s to %s %s, time constant %s %s, from %s %s to %s %s%s", what,
               number(r->from.value, 3).text, limits(&r->to, 3, 4).text, unit, limits(&tau, 0, 1).text, u->name,
               limits(&begin, 0, 1).text, u->name, limits(&end, 0, 1).text, u->name, remark);
}

/* The clock, or the rate, or both: and which of them it may be where that is not known. */
#define THROTTLED_TOO                                                                                                  \
    "dependent adds alone show this: that all code is throttled, adds too, and the clock stays cannot be excluded"

static void remark_long_ramp(struct pivot *t, const struct phase *ph, const struct unit *u)
{
    bool clock = ph->clock_ramp.tau_us.value > 0;
    remark_ramp_side(t, &ph->clock_ramp, "clock", "GHz", u, ph->clock_unsure ? "; " THROTTLED_TOO : "");
    remark_ramp_side(t, &ph->rate_ramp, "rate", "of the instructions per cycle at its end", u,
                     clock ? "" : "; the clock stays");
    if (clock && !(ph->rate_ramp.tau_us.value > 0) && isfinite(ph->ipc)) {
        pivot_line(t, PIVOT_REMARK);
        pivot_text(t, "^ rate: the instructions per cycle stay");
    }
}

/* Adds lines for what has no room in the columns of a phase. */
static void put_remarks(struct pivot *t, const struct phase *ph, const struct unit *u)
{
    if (ph->n_modes > 1) {
        pivot_line(t, PIVOT_REMARK);
        pivot_text(t, "^ the durations cluster:");
        for (size_t m = 0; m < ph->n_modes && m < PHASE_MODES_MAX; m++)
            pivot_more(t, "%s %.1f %s (%.0f %% of the runs)", m == 0 ? "" : ",", ph->modes[m].duration_us / u->us,
                       u->name, 100 * ph->modes[m].share);
    }
    if (ph->clock_ramp.tau_us.value > 0 || ph->rate_ramp.tau_us.value > 0) {
        remark_long_ramp(t, ph, u);
    } else if (ph->tau_us.value > 0) {
        const struct estimate tau = in_unit(&ph->tau_us, u);
        pivot_line(t, PIVOT_REMARK);
        pivot_text(t, "^ exponentially from %s to %s GHz, time constant %s %s", number(ph->from_ghz.value, 3).text,
                   limits(&ph->to_ghz, 3, 4).text, limits(&tau, 0, 1).text, u->name);
    } else if (ph->clock_unsure) {
        pivot_line(t, PIVOT_REMARK);
        pivot_text(t, "^ " THROTTLED_TOO);
    }
    if (ph->why[0] != '\0') {
        pivot_line(t, PIVOT_REMARK);
        pivot_text(t, "^ %s", ph->why);
    }
}

static void put_phases(struct document *d, const struct phases *p, const struct unit *u)
{
    static const char *const headings[] = {"kind", "GHz", "IPC", "ratio", "level"};
    size_t shown = p->n_phases > PHASES_ALL ? PHASES_SHOWN : p->n_phases, count[PHASE_UNKNOWN + 1] = {0};
    char rest[TEXT_SIZE] = "";
    struct pivot t;
    pivot_init(&t, 1, NULL);
    pivot_line(&t, PIVOT_HEADING);
    pivot_text(&t, "start %s", u->name);
    pivot_text(&t, "duration %s [95 %% limits]", u->name);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        pivot_word(&t, headings[i]);
    if (any_volts(p))
        pivot_word(&t, "volts");
    pivot_word(&t, "runs");
    for (size_t i = 0; i < shown; i++) {
        put_phase(&t, p, &p->phases[i], u);
        put_remarks(&t, &p->phases[i], u);
    }
    document_pivot(d, &t);
    for (size_t i = shown; i < p->n_phases; i++)
        count[p->phases[i].kind]++;
    for (enum phase_kind kind = PHASE_STEADY; kind <= PHASE_UNKNOWN; kind++)
        if (count[kind] > 0)
            text_list_add(rest, sizeof rest, ", ", "%zu %s", count[kind], phases_kind_name(kind));
    if (shown < p->n_phases)
        document_fact(d, "", "and %zu more: %s; all of them are in the JSON (--json FILE)", p->n_phases - shown, rest);
}

static void put_transitions(struct document *d, const struct phases *p, const struct unit *u)
{
    for (size_t i = 0; i < p->n_transitions && i < OTHERS_SHOWN; i++) {
        const struct transition *t = &p->transitions[i];
        char change[200] = "";
        if (isfinite(t->from_ghz) || isfinite(t->to_ghz))
            snprintf(change, sizeof change, "%s -> %s GHz, ", number(t->from_ghz, 3).text, number(t->to_ghz, 3).text);
        document_fact(d, i == 0 ? "Transition" : "", "at %s %s%s: latency %s %s, %s%u halt%s, %zu/%zu runs",
                      number(t->at_us / u->us, time_decimals(&t->latency_us, u)).text, u->name,
                      is_switch(p) && t->at_us < -BEFORE_US ? ", before the switch and unrelated to it" : "",
                      time_limits(&t->latency_us, u).text, u->name, change, t->halts, t->halts == 1 ? "" : "s",
                      t->agreeing_runs, p->runs_used);
    }
    and_more(d, p->n_transitions, "");
}

static size_t count_kind(const struct phases *p, enum phase_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_phases; i++)
        n += p->phases[i].kind == kind;
    return n;
}

/* States which effects would have been detected, so that "nothing" can be weighed. */
static void put_null_result(struct document *d, const struct phases *p, const struct unit *u)
{
    char text[TEXT_SIZE] = "";
    if (p->n_transitions > 0 || count_kind(p, PHASE_RAMP))
        return;
    if (count_kind(p, PHASE_UNKNOWN)) {
        document_fact(d, "Result", "undecided: the phases marked unknown may or may not be a transition");
        return;
    }
    text_list_add(text, sizeof text, "", "%s found. Smallest effects it would have detected (95 %% of cases):",
                  count_kind(p, PHASE_STEADY) == p->n_phases ? "no transition" : "no change between levels");
    if (isfinite(p->detectable_freq))
        text_list_add(text, sizeof text, " ", "a frequency step of %.2g %% lasting %.3g %s", 100 * p->detectable_freq,
                      p->detectable_freq_us / u->us, u->name);
    else
        text_list_add(text, sizeof text, " ", "no frequency step (%s)",
                      p->n_levels ? "the recording is too short" : "frequency was not measured");
    if (isfinite(p->detectable_throttle))
        text_list_add(text, sizeof text, ", ", "throttling to %.3g of the full rate for %.3g %s",
                      p->detectable_throttle, p->detectable_throttle_us / u->us, u->name);
    else
        text_list_add(text, sizeof text, ", ", "no throttling (%s)",
                      p->n_phases && !isnan(p->phases[0].ipc) ? "the recording is too short" : "IPC was not measured");
    if (isfinite(p->detectable_halt_us))
        text_list_add(text, sizeof text, ", ", "a halt of %.2g %s or more", p->detectable_halt_us / u->us, u->name);
    const struct phase *last = p->n_phases ? &p->phases[p->n_phases - 1] : NULL;
    if (is_switch(p) && last && last->start_us + last->duration_us.value > 0)
        text_list_add(text, sizeof text, "; ", "within %.0f %s of the switch",
                      (last->start_us + last->duration_us.value) / u->us, u->name);
    document_fact(d, "Result", "%s", text);
}

static void put_voltage(struct document *d, const struct phases *p, const struct unit *u)
{
    for (size_t i = 0; i < p->n_volt_steps && i < OTHERS_SHOWN; i++) {
        const struct volt_step *v = &p->volt_steps[i];
        struct number from = number(v->begin_us / u->us, 1), to = number(v->end_us / u->us, 1);
        bool jump = strcmp(from.text, to.text) == 0; /* between two readings */
        document_fact(d, i == 0 ? "Voltage" : "", "%.4f -> %.4f V (%+.1f mV), %s %s%s%s %s", v->from_v, v->to_v,
                      plain_number(1000 * (v->to_v - v->from_v), 1), jump ? "at" : "from", from.text,
                      jump ? "" : " to ", jump ? "" : to.text, u->name);
    }
    and_more(d, p->n_volt_steps, " steps");
}

void phases_text_print(FILE *out, bool colour, const struct trace *t, const struct phases *p, const char *missing)
{
    const struct unit *u = unit_of(t);
    struct document d;
    begin(&d, p);
    put_machine(&d, t, p);
    put_runs(&d, p);
    document_fact(&d, "Not measured", "%s", or_empty(missing));
    put_levels(&d, p);
    put_phases(&d, p, u);
    put_transitions(&d, p, u);
    put_null_result(&d, p, u);
    put_voltage(&d, p, u);
    for (size_t i = 0; i < p->n_warnings && i < OTHERS_SHOWN; i++)
        document_warning(&d, "Warning", "%s", p->warnings[i]);
    and_more(&d, p->n_warnings, " warnings");
    document_print(out, colour, &d);
    document_free(&d);
}

/* ---- first uses after idle times ---- */

static void put_stage_value(struct pivot *p, const struct estimate *e)
{
    if (!isfinite(e->value))
        pivot_word(p, NULL);
    else if (estimates_known(e))
        pivot_text(p, "%.4g [%.4g, %.4g]", e->value, e->lo, e->hi);
    else
        pivot_text(p, "%.4g", e->value);
}

static void put_stages(struct document *d, const struct wake_stages *s)
{
    static const char *const headings[] = {"stage", "first use [us]", "after idle from [us]", "to [us]", "points"};
    struct pivot p;
    pivot_init(&p, 1, NULL);
    pivot_line(&p, PIVOT_HEADING);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        pivot_word(&p, headings[i]);
    for (size_t i = 0; i < s->n; i++) {
        pivot_line(&p, PIVOT_ROW);
        pivot_text(&p, "%zu", i + 1);
        put_stage_value(&p, &s->stage[i].first_us);
        put_stage_value(&p, &s->stage[i].idle_from_us);
        put_stage_value(&p, &s->stage[i].idle_to_us);
        pivot_number(&p, (double)s->stage[i].n, 0);
    }
    document_pivot(d, &p);
}

void phases_text_print_stages(FILE *out, const struct wake_stages *s, const struct wake_source *source)
{
    char title[200];
    struct document d;
    snprintf(title, sizeof title, "First use after idle (%.100s): %zu stage%s, 95 %% limits in brackets",
             source->unit != NULL ? source->unit : "unit not given", s->n, s->n == 1 ? "" : "s");
    document_begin(&d, title, NULL, NULL);
    document_section(&d, DOCUMENT_EVERYWHERE, NULL, "");
    put_stages(&d, s);
    document_section(&d, DOCUMENT_EVERYWHERE, NULL, "");
    document_note(
        &d, "%zu points: %zu discarded (on no stage's level), %zu on the neighboring stage's level at a boundary.",
        s->points, s->discarded, s->mixed);
    document_note(&d, "Not detectable: stages of fewer than %d points, or less than %.0f %% apart.", WAKE_STAGE_LEAST,
                  100 * (s->detectable_ratio - 1));
    for (size_t i = 0; i < s->n_warnings; i++)
        document_note(&d, "warning: %s", s->warning[i]);
    document_print(out, false, &d);
    document_free(&d);
}
