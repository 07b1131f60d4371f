/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the verdict rests on from the tables, and decides which width is preferred, with the reason
 * (doc/verdict.md). */
#include "output/verdict/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "tables/burst/burst.h"
#include "tables/frequency/frequency.h"
#include "tables/registry.h"
#include "tables/table/estimates.h"
#include "tables/wake/wake.h"
#include "util/text_list.h"

/* The kernels that stand for code of their width and weight. */
static const char *const class_kernels[] = {"128or",   "128orpd",    "128fma",   "128mulpd",   "256or",
                                            "256orpd", "256fma",     "256mulpd", "256fma@mem", "512or",
                                            "512fma",  "512fma@mem", "amx"};
enum { CLASSES = sizeof class_kernels / sizeof *class_kernels };
static const char plain[] = "64add";

/* ---- tables ---- */

void verdict_take_table(struct verdict_tables *tables, const struct table *t)
{
    if (strcmp(t->name, table_frequency.name) == 0)
        tables->frequency = t;
    else if (strcmp(t->name, table_wake.name) == 0)
        tables->wake = t;
    else if (strcmp(t->name, table_burst.name) == 0)
        for (size_t i = 0; i < VERDICT_SIDES; i++)
            tables->burst[i] = tables->burst_at[i] = t;
}

/* ---- frequencies ---- */

static const struct estimate nothing = {NAN, NAN, NAN};

/* The row of a kernel at a number of active cores on the first CPU of the table; t->n_rows: none. */
static size_t row_of(const struct table *t, const char *kernel, double cores)
{
    size_t row = 0;
    while (row < t->n_rows && !(table_says(t, row, "kernel", kernel) && table_number(t, row, "active_cores") == cores &&
                                table_number(t, row, "cpu") == table_number(t, 0, "cpu")))
        row++;
    return row;
}

double verdict_cores(const struct table *frequency)
{
    double cores[TABLES_CORES_MAX];
    const size_t n = frequency ? table_numbers(frequency, "active_cores", cores, TABLES_CORES_MAX) : 0;
    return n ? cores[n - 1] : NAN;
}

static struct estimate ghz_of(const struct table *t, const char *kernel, double cores)
{
    const size_t row = t ? row_of(t, kernel, cores) : 0;
    return t && row < t->n_rows ? estimates_of_table(t, row, "freq_ghz") : nothing;
}

/* 1 - f / from, with limits for different moments. */
static struct estimate slowdown_from(const struct verdict *v, const struct estimate *f, const struct estimate *from)
{
    const double ratio = f->value / from->value;
    const double noise = ratio * hypot(estimate_half(f) / f->value, estimate_half(from) / from->value);
    return isfinite(noise) && isfinite(v->moves) ? estimate_around(1 - ratio, fmax(noise, v->moves * ratio)) : nothing;
}

static struct estimate ratio_of(const struct table *t, const char *kernel, double cores)
{
    const size_t row = row_of(t, kernel, cores);
    return row < t->n_rows ? estimates_of_table(t, row, "ratio") : nothing;
}

/* Limits that hold what the null's do: the larger ones. */
static struct estimate within_null(struct estimate e, const struct estimate *null)
{
    return (struct estimate){e.value, fmin(fmin(e.lo, 1 - null->hi), 0), fmax(fmax(e.hi, 1 - null->lo), 0)};
}

/* The slowdown of a kernel at so many active cores against plain code: by brackets, where there are some (one no larger
 * than their null may be nothing), else by two frequencies. */
static struct estimate slowdown_of(const struct verdict *v, const char *kernel, double cores)
{
    const struct table *t = v->tables.frequency;
    const char *to = table_setting(t, FREQUENCY_RATIO_TO);
    const struct estimate ratio = ratio_of(t, kernel, cores), null = ratio_of(t, plain, cores);
    if (to && strcmp(to, plain) == 0 && isfinite(estimate_half(&ratio))) {
        const struct estimate e = {1 - ratio.value, 1 - ratio.hi, 1 - ratio.lo};
        return brackets_differs(&ratio, &null) ? e : within_null(e, &null);
    }
    const struct estimate ghz = ghz_of(t, kernel, cores), from = ghz_of(t, plain, cores);
    return slowdown_from(v, &ghz, &from);
}

static void add_class(struct verdict *v, const char *kernel)
{
    const struct table *t = v->tables.frequency;
    const struct kernel *k = kernel_named(kernel).kernel;
    struct verdict_class *c = &v->classes[v->n_classes];
    const char *loads = strchr(kernel, '@');
    *c = (struct verdict_class){.kernel = kernel, .bits = k->width, .weight = k->weight, .loads = loads};
    if (k->width > 512)
        snprintf(c->name, sizeof c->name, "%s", kernel);
    else
        snprintf(c->name, sizeof c->name, "%u%s%s", k->width, kernel_weight_name(k->weight), loads ? loads : "");
    c->ghz = ghz_of(t, kernel, v->cores);
    c->one_ghz = v->cores > 1 ? ghz_of(t, kernel, 1) : nothing;
    c->slowdown = slowdown_of(v, kernel, v->cores);
    c->one_slowdown = v->cores > 1 ? slowdown_of(v, kernel, 1) : nothing;
    v->n_classes += estimates_known(&c->ghz) || estimates_known(&c->one_ghz);
}

static void read_classes(struct verdict *v)
{
    const struct table *t = v->tables.frequency;
    v->plain_ghz = v->one_plain_ghz = nothing;
    v->cores = verdict_cores(t);
    if (isnan(v->cores))
        return;
    v->plain_ghz = ghz_of(t, plain, v->cores);
    v->one_plain_ghz = v->cores > 1 ? ghz_of(t, plain, 1) : nothing;
    const int cpu = (int)table_number(t, 0, "cpu");
    v->moves = frequency_moved(t, cpu);
    for (size_t i = 0; i < CLASSES; i++)
        add_class(v, class_kernels[i]);
    v->floats = estimates_floats(t, cpu, v->why_floats);
}

/* ---- what the same work takes ---- */

/* Instructions of a kernel a microsecond at so many active cores. The errors of frequency and IPC cancel where both are
 * measured by the same time stamps: the larger one is that of neither, and on the safe side. */
static struct estimate per_us(const struct table *t, const char *kernel, double cores)
{
    const size_t row = t ? row_of(t, kernel, cores) : 0;
    if (!t || row == t->n_rows)
        return nothing;
    const struct estimate ghz = estimates_of_table(t, row, "freq_ghz"), ipc = estimates_of_table(t, row, "ipc");
    const double rate = 1e3 * ghz.value * ipc.value;
    return estimate_around(rate, rate * fmax(estimate_half(&ghz) / ghz.value, estimate_half(&ipc) / ipc.value));
}

double verdict_burst_count(const struct table *frequency, const char *kernel, double cores,
                           const struct verdict_load *load, double *every_us)
{
    struct payload wide, narrow;
    char name[32];
    *every_us = load->burst_us / load->share;
    if (kernel_parse(kernel, &wide, NULL, 0) != 0)
        return 0;
    snprintf(name, sizeof name, "128%s", wide.kernel->name + strspn(wide.kernel->name, "0123456789"));
    if (kernel_parse(name, &narrow, NULL, 0) != 0)
        return 0;
    const double rate = per_us(frequency, name, cores > 0 ? cores : verdict_cores(frequency)).value;
    const double count = load->burst_us * rate * narrow.kernel->width / wide.kernel->width;
    return count >= 1 ? round(count) : 0;
}

/* Work per cycle relative to the narrowest width. Samples of the two are of different moments, but of the same code at
 * whatever frequency: what moves the frequency does not move it. */
static struct estimate rate_of(const struct verdict *v, const struct verdict_side *s, size_t i)
{
    const struct table *t = v->tables.frequency;
    const size_t a = row_of(t, s->kernel[i], s->cores), b = row_of(t, s->kernel[0], s->cores);
    if (a == t->n_rows || b == t->n_rows)
        return nothing;
    const struct estimate x = estimates_of_table(t, a, "ipc"), y = estimates_of_table(t, b, "ipc");
    const double ratio = s->width[i].bits * x.value / (s->width[0].bits * y.value);
    const double half = ratio * hypot(estimate_half(&x) / x.value, estimate_half(&y) / y.value);
    return isfinite(half) ? estimate_around(ratio, half) : nothing;
}

/* --speedup: that of the widest, the others between it and the narrowest by their number of doublings. */
static struct estimate assumed_rate(const struct verdict *v, const struct verdict_side *s, size_t i)
{
    const double doublings = log2((double)s->width[i].bits / s->width[0].bits);
    const double all = log2((double)s->width[s->n - 1].bits / s->width[0].bits);
    return estimate_around(pow(v->question.speedup, doublings / all), 0);
}

/* Returns the row of bursts far apart whose number of instructions is the nearest; t->n_rows: there is none. */
static size_t far_apart(const struct table *t, const char *kernel, double count)
{
    size_t best = t->n_rows;
    double nearest = INFINITY;
    for (size_t row = 0; row < t->n_rows; row++) {
        const double off = fabs(log(table_number(t, row, "count") / count));
        const double every = table_number(t, row, "every_us");
        if (!table_says(t, row, "kernel", kernel) || every < VERDICT_APART_US)
            continue;
        if (off < nearest || (off == nearest && every < table_number(t, best, "every_us"))) {
            best = row;
            nearest = off;
        }
    }
    return best;
}

/* By how many us a burst of each width takes longer than one of the widest, slower scalar code after it included. */
static void longer_than_widest(const struct table *t, size_t row, const struct verdict_side *s,
                               struct estimate out[VERDICT_WIDTHS_MAX])
{
    for (size_t i = 0; i + 1 < s->n; i++) {
        const bool half = s->width[i].bits * 2 == s->width[s->n - 1].bits;
        out[i] = estimates_of_table(t, row, burst_against[half ? BURST_HALF : BURST_128].saves);
    }
    out[s->n - 1] = estimate_around(0, 0);
}

/* Reads the cost of a burst beyond its instructions at their steady rates, compared with a burst of the narrowest code:
 * waking, halts, throttling, and scalar code slowed after it. */
static void read_once(const struct verdict *v, enum kernel_weight weight, struct verdict_side *s)
{
    const struct table *t = v->tables.burst[weight];
    struct estimate longer[VERDICT_WIDTHS_MAX];
    double every;
    const double requested = verdict_burst_count(v->tables.frequency, s->kernel[s->n - 1], s->cores, &v->question.load,
                                                 &every);
    const size_t row = t && requested > 0 ? far_apart(t, s->kernel[s->n - 1], requested) : 0;
    const bool found = t && requested > 0 && row < t->n_rows;
    for (size_t i = 0; i < s->n; i++)
        s->once_us[i] = nothing;
    if (!found)
        return;
    longer_than_widest(t, row, s, longer);
    const double bits = table_number(t, row, "count") * s->width[s->n - 1].bits;
    const struct estimate narrow = per_us(v->tables.frequency, s->kernel[0], s->cores);
    const double narrow_us = bits / s->width[0].bits / narrow.value;
    s->once_us[0] = estimate_around(0, 0);
    for (size_t i = 1; i < s->n; i++) {
        const struct estimate rate = per_us(v->tables.frequency, s->kernel[i], s->cores);
        const double work_us = bits / s->width[i].bits / rate.value;
        /* the widest and the narrowest were compared in the same rounds */
        const double compared = hypot(estimate_half(&longer[i]), estimate_half(&longer[0]));
        const double worked = hypot(work_us * estimate_half(&rate) / rate.value,
                                    narrow_us * estimate_half(&narrow) / narrow.value);
        s->once_us[i] = estimate_around(longer[i].value - longer[0].value - (work_us - narrow_us),
                                        hypot(compared, worked));
    }
}

/*
 * How the cost model takes what a burst costs once: where the frequency surely falls, as time spent slowed, for that
 * ends where bursts come so often that it never returns; else as what is lost each time. It was measured of bursts far
 * apart: of those that are not, what was granted to one may still hold for the next, so that it may cost nothing.
 */
static void put_once(struct verdict_width *w, const struct estimate *once, double scalar_us)
{
    const double least = scalar_us < VERDICT_APART_US ? 0 : once->lo;
    const struct estimate e = {fmax(once->value, 0), fmax(least, 0), fmax(once->hi, 0)};
    const bool slows = w->slowdown.lo > 0;
    const double by = slows ? 1 / w->slowdown.value : 0.5;
    const struct estimate part = !estimates_known(once) ? nothing
                                 : slows ? (struct estimate){e.value * by, fmax(once->lo, 0) * by, e.hi * by}
                                         : (struct estimate){e.value * by, e.lo * by, e.hi * by};
    w->after = slows ? part : estimate_around(0, 0);
    w->overhead = slows ? estimate_around(0, 0) : part;
}

/* The cost of bursts of one width, measured with the same time from burst to burst for all widths. */
struct timed {
    double us;     /* from one to the next, had the scalar work in between been that of the narrowest code */
    double factor; /* by how much that grows with a us that a burst costs */
};

/*
 * cost: of a burst, with the scalar work that is not done in the time; once: what bursts far apart cost once. Where the
 * frequency returns between bursts, what is lost is lost once, however long it takes. Where it never does, all scalar
 * work takes longer, by the whole slowdown, and surely less is lost in the time than if it had returned and fallen
 * again.
 */
static struct timed time_same_work(const struct verdict_width *w, const struct estimate *once, double cost,
                                   double burst, double every, double scalar)
{
    const double SAME = 0.03, LESS = 0.06,
                 ALL = 0.05; /* relative: what is lost is what is lost far apart; or all that can be */
    const double between = every - burst, lost = cost - burst, loss = lost / between;
    const bool less = !estimates_known(once) || lost < (1 - LESS) * once->lo;
    const bool all = fabs(loss / w->slowdown.value - 1) < (estimates_known(once) ? ALL : SAME);
    if (w->slowdown.lo > 0 && less && all && loss > 0 && loss < 1)
        return (struct timed){burst + scalar / (1 - loss), scalar / ((1 - loss) * (1 - loss) * between)};
    return (struct timed){cost + scalar, 1};
}

/* By how much each width takes longer than the widest, from a row of just these bursts. */
static void longer_of_row(const struct verdict *v, const struct table *t, size_t row, struct verdict_side *s)
{
    struct estimate more[VERDICT_WIDTHS_MAX];
    struct timed timed[VERDICT_WIDTHS_MAX];
    const double every = table_number(t, row, "every_us"), cold = table_number(t, row, "cold_us");
    const double cost = cold + table_number(t, row, "loss") * (every - cold);
    const double bits = table_number(t, row, "count") * s->width[s->n - 1].bits;
    const size_t widest = s->n - 1;
    longer_than_widest(t, row, s, more);
    for (size_t i = 0; i < s->n; i++) {
        const double work = bits / s->width[i].bits / per_us(v->tables.frequency, s->kernel[i], s->cores).value;
        timed[i] = time_same_work(&s->width[i], &s->once_us[i], cost + more[i].value, work, every,
                                  every - v->question.load.burst_us);
    }
    for (size_t i = 0; i < s->n; i++) {
        const double factor = fmax(timed[i].factor, timed[widest].factor) / timed[widest].us;
        s->longer[i] = estimate_around(timed[i].us / timed[widest].us - 1, factor * estimate_half(&more[i]));
    }
    s->longer[widest] = estimate_around(0, 0);
}

static void read_longer(const struct verdict *v, enum kernel_weight weight, struct verdict_side *s)
{
    const struct table *t = v->tables.burst_at[weight];
    double every;
    for (size_t i = 0; i < s->n; i++)
        s->longer[i] = nothing;
    const double count = verdict_burst_count(v->tables.frequency, s->kernel[s->n - 1], s->cores, &v->question.load,
                                             &every);
    for (size_t row = 0; t && count > 0 && row < t->n_rows; row++)
        if (table_says(t, row, "kernel", s->kernel[s->n - 1]) &&
            fabs(table_number(t, row, "every_us") / every - 1) < 0.02 &&
            fabs(table_number(t, row, "count") / count - 1) < 0.05) {
            longer_of_row(v, t, row, s);
            return;
        }
}

/* Active cores of the tables of bursts, as their settings say. */
static double cores_of_bursts(const struct verdict *v, enum kernel_weight weight)
{
    const struct table *t = v->tables.burst_at[weight] ? v->tables.burst_at[weight] : v->tables.burst[weight];
    const char *text = t ? table_setting(t, "active_cores") : NULL;
    return text && strcmp(text, "all") != 0 ? strtod(text, NULL) : v->cores;
}

static void read_side(struct verdict *v, enum kernel_weight weight)
{
    const bool assumed = isfinite(v->question.speedup);
    struct verdict_side *s = &v->side[weight];
    s->cores = cores_of_bursts(v, weight);
    for (size_t i = 0; i < v->n_classes; i++) {
        const struct verdict_class *c = &v->classes[i];
        if (c->weight != weight || c->bits > 512 || c->loads || s->n == VERDICT_WIDTHS_MAX)
            continue;
        s->width[s->n] = (struct verdict_width){.bits = c->bits, .slowdown = slowdown_of(v, c->kernel, s->cores)};
        s->kernel[s->n++] = c->kernel;
    }
    if (s->n == 0)
        return;
    read_once(v, weight, s);
    read_longer(v, weight, s);
    for (size_t i = 0; i < s->n; i++) {
        s->width[i].rate = assumed && s->n > 1 ? assumed_rate(v, s, i) : rate_of(v, s, i);
        put_once(&s->width[i], &s->once_us[i], v->question.load.burst_us * (1 / v->question.load.share - 1));
    }
}

/* ---- first uses, neighbors ---- */

static int read_unit(struct verdict *v, const char *unit)
{
    struct wake_stages *s = malloc(sizeof *s);
    struct verdict_unit *u = &v->units[v->n_units];
    int status = s ? wake_stages_of(v->tables.wake, unit, "first_us", s) : 1;
    if (status == 0 && s->n > 0) {
        const struct wake_stage *last = &s->stage[s->n - 1];
        *u = (struct verdict_unit){unit, last->first_us, s->n > 1 ? last->idle_from_us : nothing, nothing};
        v->n_units++;
        status = wake_stages_of(v->tables.wake, unit, "full_rate_us", s);
        if (status == 0 && s->n > 0 && !wake_scatters(s))
            u->full_rate_us = s->stage[s->n - 1].first_us;
    }
    free(s);
    return status == 1 ? -1 : 0;
}

static int read_units(struct verdict *v)
{
    static const char *const units[] = {"256", "512", "amx"};
    for (size_t i = 0; v->tables.wake && i < sizeof units / sizeof *units; i++)
        if (read_unit(v, units[i]) != 0)
            return -1;
    return 0;
}

/* Beside a neighbor; what is not larger than the null may be nothing. */
static struct estimate beside_slowdown(const struct beside_result *b)
{
    if (!b)
        return nothing;
    const struct estimate e = {1 - b->ratio.value, 1 - b->ratio.hi, 1 - b->ratio.lo};
    return brackets_differs(&b->ratio, &b->null) ? e : within_null(e, &b->null);
}

/* ---- what limits say ---- */

double verdict_most(const struct estimate *e)
{
    return fmax(e->hi, estimate_half(e));
}

/* ---- which width, and why ---- */

/* By how much width a takes longer than width b, relative, from what each takes longer than the widest. What one of
 * them takes longer than the widest is of the same rounds, and has its own limits. */
static struct estimate longer_than(const struct verdict_side *s, size_t a, size_t b)
{
    const struct estimate *x = &s->longer[a], *y = &s->longer[b];
    const double ratio = (1 + x->value) / (1 + y->value);
    if (b == s->n - 1)
        return *x;
    if (a == s->n - 1)
        return (struct estimate){ratio - 1, 1 / (1 + y->hi) - 1, 1 / (1 + y->lo) - 1};
    const double half = ratio * hypot(estimate_half(x) / (1 + x->value), estimate_half(y) / (1 + y->value));
    return estimate_around(ratio - 1, half);
}

/* "--seconds 60, or a quieter machine, narrows it" */
enum { MORE_MAX = 80 };
static const char *more_time(const struct verdict *v, char out[MORE_MAX])
{
    if (v->question.seconds > 0)
        snprintf(out, MORE_MAX, "--seconds %.0f, or a quieter machine, narrows it", 3 * v->question.seconds);
    else
        snprintf(out, MORE_MAX, "--runs, or a quieter machine, narrows it");
    return out;
}

static bool measured(const struct verdict_side *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!estimates_known(&s->longer[i]))
            return false;
    return s->n > 1;
}

static const char *percent(const struct estimate *e, char out[ESTIMATE_TEXT_MAX])
{
    const struct estimate p = estimate_percent(e);
    return estimates_text(&p, fmax(fabs(p.lo), fabs(p.hi)) < 0.95 ? 2 : 1, out);
}

/* "1.2 [1.1, 1.3] % more", "0.6 [0.5, 0.7] % less" */
static const char *more_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX + 20])
{
    const bool more = e->value >= 0;
    const struct estimate size = more ? *e : (struct estimate){-e->value, -e->hi, -e->lo};
    char text[ESTIMATE_TEXT_MAX];
    snprintf(out, ESTIMATE_TEXT_MAX + 20, "%s %% %s", percent(&size, text), more ? "more" : "less");
    return out;
}

/* "at 10 % of wide work in bursts of 100 us", of an answer */
static void load_text(const struct verdict *v, const struct verdict_side *s, char out[120])
{
    char time[ESTIMATE_TEXT_MAX], cores[ESTIMATE_TEXT_MAX];
    const bool others = s->cores != v->cores; /* than the frequencies below */
    snprintf(out, 120, "%.3g %% of wide work in bursts of %s%s%s", 100 * v->question.load.share,
             burst_time_text(v->question.load.burst_us, time), others ? ", with " : "",
             others ? estimates_cores_text(s->cores, cores) : "");
}

/* Decides by bursts just like these that were measured. */
static void decide_measured(const struct verdict *v, struct verdict_side *s)
{
    struct estimate longer[VERDICT_WIDTHS_MAX];
    char by[ESTIMATE_TEXT_MAX + 20], load[120], more[MORE_MAX];
    size_t best = s->n - 1;
    for (size_t i = 0; i < s->n; i++)
        if (s->longer[i].value < s->longer[best].value)
            best = i;
    for (size_t i = 0; i < s->n; i++)
        longer[i] = longer_than(s, i, best);
    const struct verdict_ranked r = verdict_rank(longer, s->n, best);
    load_text(v, s, load);
    if (r.rival < s->n) {
        snprintf(s->why, sizeof s->why, "at %s, as measured, %s takes %s time than %s: no more than noise; %s", load,
                 s->kernel[r.rival], more_text(&longer[r.rival], by), s->kernel[best], more_time(v, more));
        return;
    }
    s->prefer = r.all_equal ? VERDICT_ANY : VERDICT_WIDTH;
    s->bits = s->prefer == VERDICT_WIDTH ? s->width[r.chosen].bits : 0;
    for (size_t i = 0; i < s->n && s->prefer == VERDICT_WIDTH; i++)
        s->as_good |= r.equals & 1u << i ? s->width[i].bits : 0;
    for (size_t i = 0; i < s->n; i++)
        longer[i] = longer_than(s, i, r.chosen);
    if (s->prefer == VERDICT_ANY) {
        snprintf(s->why, sizeof s->why, "at %s, all widths take the same time within 1 %%, as measured", load);
        return;
    }
    snprintf(s->why, sizeof s->why, "at %s, as measured,", load);
    for (size_t i = s->n; i-- > 0;)
        if (i != r.chosen)
            text_list_add(s->why, sizeof s->why, strchr(s->why, '%') && s->why[strlen(s->why) - 1] != ',' ? ", " : " ",
                          "%s takes %s time than %s", s->kernel[i], more_text(&longer[i], by), s->kernel[r.chosen]);
    if (r.chosen != best)
        text_list_add(s->why, sizeof s->why, ": ", "within 1 %% of the best, and narrower");
}

/* Describes what the model lacks. */
static void lacks_text(const struct verdict_side *s, char *out, size_t size)
{
    size_t i = 0;
    while (i + 1 < s->n && s->width[i].bits != s->cost.lacks_bits)
        i++;
    const bool rate = strcmp(s->cost.lacks, "rate") == 0, slowdown = strcmp(s->cost.lacks, "slowdown") == 0;
    const double value = rate ? s->width[i].rate.value : slowdown ? s->width[i].slowdown.value : s->once_us[i].value;
    const char *what = rate ? "rate" : slowdown ? "frequency" : "cost of a burst";
    if (isfinite(value))
        snprintf(out, size, "the %s of %s has no limits: too few repetitions; use more --runs", what, s->kernel[i]);
    else if (rate || slowdown)
        snprintf(out, size, "the %s of %s at this number of active cores was not measured", what, s->kernel[i]);
    else
        snprintf(
            out, size,
            "the cost of a burst of %s was not measured: table burst has none that are %g ms apart, as with --brief; "
            "--verdict without --input measures it",
            s->kernel[s->n - 1], VERDICT_APART_US / 1000);
}

/* Decides by the cost model, from frequencies, rates and the cost of a burst once. */
static void decide_modelled(const struct verdict *v, struct verdict_side *s)
{
    const struct verdict_cost *c = &s->cost;
    char load[120], a[ESTIMATE_TEXT_MAX], b[ESTIMATE_TEXT_MAX], more[MORE_MAX];
    load_text(v, s, load);
    if (c->lacks) {
        lacks_text(s, s->why, sizeof s->why);
        return;
    }
    size_t best = 0, rival = s->n;
    for (size_t i = 0; i < s->n; i++)
        best = c->time[i].value < c->time[best].value ? i : best;
    for (size_t i = 0; i < s->n; i++)
        rival = s->width[i].bits == c->rival ? i : rival;
    s->prefer = c->prefer;
    s->bits = c->bits;
    if (rival < s->n) {
        snprintf(s->why, sizeof s->why,
                 "at %s, computed, %s and %s take %s and %s of the time: too close to decide; %s", load,
                 s->kernel[best], s->kernel[rival], estimates_text(&c->time[best], 3, a),
                 estimates_text(&c->time[rival], 3, b), more_time(v, more));
        return;
    }
    if (s->prefer == VERDICT_ANY) {
        snprintf(s->why, sizeof s->why, "at %s, computed, all widths take the same time within 1 %%", load);
        return;
    }
    s->as_good = s->bits;
    snprintf(s->why, sizeof s->why, "at %s, computed, of the time that %s takes at plain frequency,", load,
             s->kernel[0]);
    for (size_t i = s->n; i-- > 1;)
        text_list_add(s->why, sizeof s->why, s->why[strlen(s->why) - 1] == ',' ? " " : ", ", "%s takes %s",
                      s->kernel[i], estimates_text(&c->time[i], 3, a));
}

static int decide(struct verdict *v, struct verdict_side *s)
{
    s->prefer = VERDICT_UNDECIDED;
    s->bits = 0;
    if (s->n == 0) {
        snprintf(s->why, sizeof s->why, "no frequency of such code was measured");
        return 0;
    }
    if (s->n == 1) {
        snprintf(s->why, sizeof s->why,
                 "no kernel of this kind of more than 128 bits was measured: nothing to compare");
        return 0;
    }
    if (verdict_cost(s->width, s->n, &v->question.load, v->question.seed, &s->cost) != 0)
        return -1;
    s->direct = measured(s) && !isfinite(v->question.speedup);
    if (s->direct)
        decide_measured(v, s);
    else
        decide_modelled(v, s);
    return 0;
}

int verdict_conclude(const struct verdict_tables *tables, const struct verdict_question *question,
                     const struct programs *programs, struct verdict *out)
{
    memset(out, 0, sizeof *out);
    out->tables = *tables;
    out->question = *question;
    read_classes(out);
    read_side(out, KERNEL_HEAVY);
    read_side(out, KERNEL_LIGHT);
    out->weight = out->side[KERNEL_HEAVY].n > 1 ? KERNEL_HEAVY : KERNEL_LIGHT;
    out->corunners = beside_slowdown(tables->corunners);
    out->siblings = beside_slowdown(tables->siblings);
    int status = read_units(out);
    for (size_t i = 0; i < VERDICT_SIDES && status == 0; i++)
        status = decide(out, &out->side[i]);
    const struct verdict_side *s = &out->side[out->weight];
    out->programs = (struct programs_answer){.all = programs,
                                             .usual = out->weight,
                                             .wide = s->n > 0 && s->width[s->n - 1].bits == 512,
                                             .cpu = tables->frequency ? table_meta(tables->frequency, "cpu") : NULL};
    for (size_t i = 0; i < VERDICT_SIDES; i++) {
        out->programs.bits[i] = out->side[i].prefer == VERDICT_WIDTH ? out->side[i].bits : 0;
        out->programs.as_good[i] = out->side[i].as_good;
    }
    return status;
}
