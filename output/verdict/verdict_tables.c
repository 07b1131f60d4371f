/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tables say that the verdict is made of (doc/verdict.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "output/verdict/verdict.h"
#include "tables/burst/burst.h"
#include "tables/frequency/frequency.h"
#include "tables/registry.h"
#include "tables/table/estimates.h"
#include "tables/wake/wake.h"

/* The kernels that stand for code of their width and weight. */
static const char *const class_kernels[] = {"128or", "128fma", "256or",      "256fma", "256fma@mem",
                                            "512or", "512fma", "512fma@mem", "amx"};
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
static size_t verdict_row(const struct table *t, const char *kernel, double cores)
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
    const size_t row = t ? verdict_row(t, kernel, cores) : 0;
    return t && row < t->n_rows ? estimates_of_table(t, row, "freq_ghz") : nothing;
}

/* 1 - f / from, with limits for different moments. */
static struct estimate slowdown_from(const struct verdict *v, const struct estimate *f, const struct estimate *from)
{
    const double ratio = f->value / from->value;
    const double noise = ratio * hypot(estimate_half(f) / f->value, estimate_half(from) / from->value);
    return isfinite(noise) && isfinite(v->moves) ? estimate_around(1 - ratio, fmax(noise, v->moves * ratio)) : nothing;
}

static struct estimate verdict_ratio(const struct table *t, const char *kernel, double cores)
{
    const size_t row = verdict_row(t, kernel, cores);
    return row < t->n_rows ? estimates_of_table(t, row, "ratio") : nothing;
}

/* Limits that hold what the null's do: the larger ones. */
static struct estimate within_null(struct estimate e, const struct estimate *null)
{
    return (struct estimate){e.value, fmin(fmin(e.lo, 1 - null->hi), 0), fmax(fmax(e.hi, 1 - null->lo), 0)};
}

/* Of a kernel at so many active cores against plain code: by brackets, where there are some (what is not larger than
 * their null may be nothing), else by two frequencies. */
static struct estimate slowdown_of(const struct verdict *v, const char *kernel, double cores)
{
    const struct table *t = v->tables.frequency;
    const char *to = table_setting(t, FREQUENCY_RATIO_TO);
    const struct estimate ratio = verdict_ratio(t, kernel, cores), null = verdict_ratio(t, plain, cores);
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

void verdict_read_classes(struct verdict *v)
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
 * told by the same time stamps: the larger one is that of neither, and on the safe side. */
static struct estimate per_us(const struct table *t, const char *kernel, double cores)
{
    const size_t row = t ? verdict_row(t, kernel, cores) : 0;
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
static struct estimate verdict_rate(const struct verdict *v, const struct verdict_side *s, size_t i)
{
    const struct table *t = v->tables.frequency;
    const size_t a = verdict_row(t, s->kernel[i], s->cores), b = verdict_row(t, s->kernel[0], s->cores);
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
    return estimate_around(pow(v->asked.speedup, doublings / all), 0);
}

/* Of bursts that are far apart the row whose number of instructions is the nearest; t->n_rows: there is none. */
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

/*
 * What a burst costs beyond its instructions at their steady rates and more than one of the narrowest code: waking,
 * halts, throttling, and scalar code slowed after it.
 */
static void read_once(const struct verdict *v, enum kernel_weight weight, struct verdict_side *s)
{
    const struct table *t = v->tables.burst[weight];
    struct estimate longer[VERDICT_WIDTHS_MAX];
    double every;
    const double asked = verdict_burst_count(v->tables.frequency, s->kernel[s->n - 1], s->cores, &v->asked.load,
                                             &every);
    const size_t row = t && asked > 0 ? far_apart(t, s->kernel[s->n - 1], asked) : 0;
    const bool found = t && asked > 0 && row < t->n_rows;
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

/* What bursts of one width cost, as measured with the same time from burst to burst for all. */
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
                                  every - v->asked.load.burst_us);
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
    const double count = verdict_burst_count(v->tables.frequency, s->kernel[s->n - 1], s->cores, &v->asked.load,
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
    const bool assumed = isfinite(v->asked.speedup);
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
        s->width[i].rate = assumed && s->n > 1 ? assumed_rate(v, s, i) : verdict_rate(v, s, i);
        put_once(&s->width[i], &s->once_us[i], v->asked.load.burst_us * (1 / v->asked.load.share - 1));
    }
}

void verdict_read_sides(struct verdict *v)
{
    read_side(v, KERNEL_HEAVY);
    read_side(v, KERNEL_LIGHT);
    v->weight = v->side[KERNEL_HEAVY].n > 1 ? KERNEL_HEAVY : KERNEL_LIGHT;
}

/* ---- first uses, neighbours ---- */

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

int verdict_read_units(struct verdict *v)
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

void verdict_read_neighbours(struct verdict *v)
{
    v->corunners = beside_slowdown(v->tables.corunners);
    v->siblings = beside_slowdown(v->tables.siblings);
}

/* ---- what limits say ---- */

double verdict_most(const struct estimate *e)
{
    return fmax(e->hi, estimate_half(e));
}

bool verdict_resolved(const struct estimate *e, double enough)
{
    return !estimates_known(e) || e->lo > 0 || verdict_most(e) <= enough;
}

double verdict_cost_enough(const struct verdict *v)
{
    return 0.3 * v->asked.load.burst_us;
}
