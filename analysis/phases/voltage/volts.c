/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core voltage. Reading it disturbs, so recordings hold one reading a repetition at scattered times (Skylake-SP
 * dissertation, section 3.2.2): all readings in order of time make one recording. The field looks at it through the
 * running median of 21 neighbours; here steps are found in the readings themselves and a jump or a ramp is fitted to
 * each, which places it better than a median that spans 21 readings.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/segments/change_points.h"
#include "analysis/phases/voltage/volts_mixed.h"
#include "analysis/stats/robust.h"
#include "util/list.h"
#include "util/order.h"
#include "util/plain_text.h"

/* Readings: of the running median (dissertation, 3.2.2); of a stair; of a settled state beside a halt. */
enum { NEIGHBOURS = 21, STAIR_READINGS = 12, SETTLED_READINGS = 8 };
#define STEP_V 0.0015 /* smaller steps are left alone: 12 units of the register */
#define STEP_Z 6.0
#define RAMP_US 40.0       /* steps the same way closer than this are one ramp */
#define MIXED_US 10.0      /* so near a step readings of repetitions before and after it mix: steps back are not real */
#define CLEARLY_BETTER 9.0 /* of chi squared, for the two ends of a ramp instead of one time */
#define WITHIN_HALT_US 1.0 /* a reading so near the end of a halt is one of a repetition whose halt was over */
#define READ_IN_HALT 0.75  /* of as many readings as elsewhere: fewer are of repetitions that halted at another time */
#define GAP_SPACINGS 6.0   /* between readings so much farther apart than most a voltage jumps at a time not known */
#define NEAR_EDGE_US 5.0   /* a step so near an edge of a phase belongs to that edge, ... */
#define LATE_SLACK_US 2.0  /* ... and one that is later by what readings take, and this */

struct reading {
    double time_us;
    float volts;
};

static int volts_by_time(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->volts < y->volts ? -1 : x->volts > y->volts;
}

int volts_gather(const struct trace *t, struct trace *out)
{
    trace_init(out);
    const float *volts = t->channel[TRACE_VOLTS];
    size_t n = 0;
    struct reading *reading = malloc((t->n + 1) * sizeof *reading);
    const char *from = trace_get(t, "from"), *to = trace_get(t, "to");
    int bad = !reading || trace_add_channel(out, TRACE_VOLTS) || (from && trace_set(out, "from", from)) ||
              (to && trace_set(out, "to", to));
    for (size_t i = 0; volts && i < t->n && !bad; i++)
        if (!isnan(volts[i]))
            reading[n++] = (struct reading){t->time_us[i], volts[i]};
    if (n)
        qsort(reading, n, sizeof *reading, volts_by_time);
    for (size_t i = 0; i < n && !bad; i++) {
        bad = trace_append(out, 0, reading[i].time_us);
        if (!bad)
            out->channel[TRACE_VOLTS][i] = reading[i].volts;
    }
    free(reading);
    return bad ? -1 : 0;
}

/*
 * Readings of many repetitions in order of time are far denser than any one of them, and each repetition steps at a
 * slightly different time: groups of readings, as many as repetitions at most, become one by their median.
 */
static int thin(const struct trace *t, struct trace *v)
{
    /* Groups that are left: the fits take as many at once. */
    enum { ENOUGH = 1000 };
    size_t runs = trace_count_runs(t), m = 0;
    size_t k = v->n / ENOUGH < runs ? v->n / ENOUGH : runs;
    double *x = k > 1 ? malloc(k * sizeof *x) : NULL;
    if (k < 2)
        return 0;
    if (!x)
        return -1;
    double spacing = (v->time_us[v->n - 1] - v->time_us[0]) / (double)v->n;
    double widest = fmax(MIXED_US, GAP_SPACINGS * spacing);
    for (size_t i = 0; i + k <= v->n; i += k) {
        double sum = 0;
        size_t gap = 0; /* of readings on either side of a pause none is made in the middle of it */
        for (size_t j = 1; j < k; j++)
            if (v->time_us[i + j] - v->time_us[i + j - 1] > widest)
                gap = j;
        if (gap) {
            i = i + gap - k; /* the next begins after it */
            continue;
        }
        for (size_t j = 0; j < k; j++) {
            x[j] = (double)v->channel[TRACE_VOLTS][i + j];
            sum += v->time_us[i + j];
        }
        v->time_us[m] = sum / (double)k;
        v->channel[TRACE_VOLTS][m++] = (float)order_median(x, k);
    }
    v->n = m;
    free(x);
    return 0;
}

static double plateau(const double *volts, size_t a, size_t b, double *scratch)
{
    memcpy(scratch, volts + a, (b - a) * sizeof *scratch);
    return order_median(scratch, b - a);
}

static int add_step(struct phases *out, struct volt_step s)
{
    if (!list_room(&out->volt_steps, out->n_volt_steps, sizeof *out->volt_steps))
        return -1;
    out->volt_steps[out->n_volt_steps++] = s;
    return 0;
}

/* Sum of squares (each at most 9 sigma^2) of the readings a..b about a ramp from `low` to `high` between two times. */
static double misfit(const struct trace *v, size_t a, size_t b, double low, double high, double t1, double t2,
                     double sigma)
{
    double sum = 0;
    for (size_t i = a; i < b; i++) {
        double t = v->time_us[i];
        double x = t < t1 ? low : t >= t2 ? high : low + (high - low) * (t - t1) / (t2 - t1);
        double d = ((double)v->channel[TRACE_VOLTS][i] - x) / sigma;
        sum += fmin(d * d, 9);
    }
    return sum;
}

/*
 * When a step between two plateaus begins and ends: the ramp that fits best, or, where no ramp fits clearly better, the
 * jump that does. Readings are of an instant: an edge lies between two of them. Returns the misfit of the better one.
 */
static double fit_ramp(const struct trace *v, size_t a, size_t b, double low, double high, double sigma, double *begin,
                       double *end)
{
    /* Places at which the edge of a step is tried. */
    enum { TIMES = 64 };
    double best_jump = INFINITY, best_ramp = INFINITY, jump = v->time_us[a];
    size_t step = (b - a) / TIMES + 1;
    *begin = *end = jump;
    for (size_t i = a; i < b; i++) {
        double t = i > a ? 0.5 * (v->time_us[i - 1] + v->time_us[i]) : v->time_us[i];
        double m = misfit(v, a, b, low, high, t, t, sigma);
        if (m < best_jump) {
            best_jump = m;
            jump = t;
        }
    }
    for (size_t i = a; i < b; i += step)
        for (size_t k = i + 1; k < b; k += step) {
            double m = misfit(v, a, b, low, high, v->time_us[i], v->time_us[k], sigma);
            if (m < best_ramp) {
                best_ramp = m;
                *begin = v->time_us[i];
                *end = v->time_us[k];
            }
        }
    if (best_jump - best_ramp < CLEARLY_BETTER) {
        double spacing = (v->time_us[v->n - 1] - v->time_us[0]) / (double)v->n;
        *begin = *end = jump;
        for (size_t i = a > 0 ? a : 1; i < b; i++) /* nobody reads while the core is halted */
            if (v->time_us[i - 1] < jump && jump < v->time_us[i] &&
                v->time_us[i] - v->time_us[i - 1] > GAP_SPACINGS * spacing) {
                *begin = v->time_us[i - 1];
                *end = v->time_us[i];
            }
        return best_jump;
    }
    return best_ramp;
}

/* The readings around a step: two running medians' worth on both sides, within its plateaus. */
static void volts_around(size_t from, size_t first, size_t last, size_t to, size_t *a, size_t *b)
{
    *a = first > from + 2 * NEIGHBOURS ? first - 2 * NEIGHBOURS : from;
    *b = last + 2 * NEIGHBOURS < to ? last + 2 * NEIGHBOURS : to;
}

/*
 * Steps the same way within a short time are a ramp, which cuts make into stairs, or they are stairs: each change of
 * the clock has a voltage of its own. Whichever fits the readings better is taken.
 */
static bool are_stairs(const struct trace *v, double sigma, size_t from, const struct cut *cut, size_t n, size_t to,
                       double *scratch)
{
    size_t a, b;
    double stairs = 0, begin, end, low = NAN, high = NAN;
    volts_around(from, cut[0].at, cut[n - 1].at, to, &a, &b);
    for (size_t k = 0; k <= n; k++) {
        size_t x = k ? cut[k - 1].at : from, y = k < n ? cut[k].at : to;
        double level = plateau(scratch, x, y, scratch + v->n);
        low = k ? low : level;
        high = level;
        if (k && k < n && y - x < STAIR_READINGS)
            return false; /* too short a stair to be distinguished from a part of a ramp */
        size_t x1 = x > a ? x : a, y1 = y < b ? y : b;
        stairs += misfit(v, x1, y1, level, level, 0, 0, sigma);
    }
    double ramp = fit_ramp(v, a, b, low, high, sigma, &begin, &end);
    return stairs + 3 * CLEARLY_BETTER * (double)(n - 1) < ramp;
}

/*
 * Two changes of the clock in a row ramp twice, with a halt between: the readings a..b, which one ramp describes with
 * the misfit `one`, cut at a halt. Returns 1: two steps are entered; 0: they are no better; -1: out of memory.
 */
static int describe_halves(const struct trace *v, double sigma, size_t a, size_t b, double low, double high, double one,
                           double *scratch, struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        const struct phase *ph = &out->phases[p];
        double from = ph->start_us, to = from + ph->duration_us.value, t[4];
        size_t h = a;
        while (h < b && v->time_us[h] < to - WITHIN_HALT_US)
            h++;
        size_t before = h;
        while (before > a && v->time_us[before - 1] > from + WITHIN_HALT_US)
            before--;
        if (ph->kind != PHASE_HALT || to - from < 2 * WITHIN_HALT_US || before < a + SETTLED_READINGS ||
            h + SETTLED_READINGS > b)
            continue;
        double middle = plateau(scratch, before - SETTLED_READINGS, before, scratch + v->n);
        if (fabs(middle - low) < STEP_V || fabs(high - middle) < STEP_V)
            continue;
        double two = fit_ramp(v, a, before, low, middle, sigma, &t[0], &t[1]) +
                     fit_ramp(v, h, b, middle, high, sigma, &t[2], &t[3]);
        if (two + 3 * CLEARLY_BETTER > one)
            continue;
        return add_step(out, (struct volt_step){t[0], t[1], low, middle, b - a}) ||
                       add_step(out, (struct volt_step){t[2], t[3], middle, high, b - a})
                   ? -1
                   : 1;
    }
    return 0;
}

/* The cuts first..last are one step between the plateaus from..first and last..to. */
static int describe_step(const struct trace *v, double sigma, size_t from, size_t first, size_t last, size_t to,
                         double *scratch, struct phases *out)
{
    /* the plateaus as a whole, without what lies near the step where there is enough */
    size_t trim_low = first - from > 4 * NEIGHBOURS ? NEIGHBOURS : 0;
    size_t trim_high = to - last > 4 * NEIGHBOURS ? NEIGHBOURS : 0;
    double low = plateau(scratch, from, first - trim_low, scratch + v->n);
    double high = plateau(scratch, last + trim_high, to, scratch + v->n);
    if (fabs(high - low) < STEP_V)
        return 0;
    size_t a, b;
    double begin, end;
    volts_around(from, first, last, to, &a, &b);
    double one = fit_ramp(v, a, b, low, high, fmax(sigma, 1.0 / 8192), &begin, &end);
    int parts = describe_halves(v, fmax(sigma, 1.0 / 8192), a, b, low, high, one, scratch, out);
    if (parts)
        return parts < 0 ? -1 : 0;
    return add_step(out, (struct volt_step){begin, end, low, high, to - from});
}

static int find_steps(const struct trace *v, struct phases *out)
{
    const struct change_rule rule = {false, STEP_V, STEP_Z, 3, true, 0};
    struct cut *cut = NULL;
    double sigma;
    size_t n = change_points_find(v->channel[TRACE_VOLTS], NULL, 0, v->n, &rule, &cut, &sigma);
    if (n == SIZE_MAX)
        return -1;
    double *scratch = n ? malloc(2 * v->n * sizeof *scratch) : NULL;
    int bad = n && !scratch;
    for (size_t i = 0; scratch && i < v->n; i++)
        scratch[i] = (double)v->channel[TRACE_VOLTS][i];
    for (size_t i = 0, from = 0; i < n && !bad; i++) {
        size_t j = i;
        while (j + 1 < n && v->time_us[cut[j + 1].at] - v->time_us[cut[j].at] <
                                (cut[j].effect * cut[j + 1].effect > 0 ? RAMP_US : MIXED_US))
            j++;
        size_t to = j + 1 < n ? cut[j + 1].at : v->n;
        bool one_way = true;
        for (size_t k = i; k < j; k++)
            one_way &= cut[k].effect * cut[k + 1].effect > 0;
        if (j > i && one_way && are_stairs(v, fmax(sigma, 1.0 / 8192), from, cut + i, j - i + 1, to, scratch))
            j = i; /* the next one is looked at by itself */
        bad = describe_step(v, sigma, from, cut[i].at, cut[j].at, j + 1 < n ? cut[j + 1].at : v->n, scratch, out);
        from = cut[j].at;
        i = j;
    }
    free(scratch);
    free(cut);
    return bad ? -1 : 0;
}

static int add_volt_transition(struct phases *out, const struct volt_step *s, double half)
{
    double length = s->end_us - s->begin_us;
    return phases_add_transition(out, (struct transition){.at_us = s->begin_us,
                                                          .latency_us = {length, fmax(0, length - half), length + half},
                                                          .from_ghz = NAN,
                                                          .to_ghz = NAN,
                                                          .agreeing_runs = out->runs_used});
}

/* The standard deviation of the length of a phase over repetitions, us, from its limits. */
static double scatter_of(const struct phase *ph)
{
    return estimate_half_known(&ph->duration_us) * sqrt((double)ph->agreeing_runs) / ESTIMATE_Z95;
}

/* When the frequency changes from phase p on, if it does: through a halt, a ramp, or at once. */
static bool changes_at(const struct phases *out, size_t p, double *begin, double *end)
{
    const struct phase *ph = &out->phases[p], *next = ph + 1;
    *begin = ph->start_us;
    *end = *begin + ph->duration_us.value;
    if (ph->kind == PHASE_HALT || ph->kind == PHASE_RAMP)
        return true;
    *begin = *end;
    return p + 1 < out->n_phases && next->kind != PHASE_HALT && next->kind != PHASE_RAMP && ph->level >= 0 &&
           next->level >= 0 && ph->level != next->level;
}

/*
 * Readings where repetitions are in different states tell by how much the voltage steps there, and not when. If the
 * phases change their frequency once there, it is then: the time of the repetitions that most are like, which all
 * phases have.
 */
static void place_mixed_steps(struct phases *out, const struct mixed_stretches *mixed)
{
    for (size_t k = 0; k < mixed->n; k++) {
        const struct mixed_stretch *m = &mixed->stretch[k];
        double begin, end, at[2] = {NAN, NAN};
        size_t changes = 0, n = 0;
        for (size_t p = 0; p < out->n_phases; p++)
            if (changes_at(out, p, &begin, &end) && begin >= m->begin && begin <= m->end) {
                at[0] = begin;
                at[1] = end;
                changes++;
            }
        struct volt_step all = {at[0], at[1], NAN, NAN, 0};
        for (size_t i = 0; changes == 1 && i < out->n_volt_steps; i++) {
            const struct volt_step *s = &out->volt_steps[i];
            bool within = volts_mixed_at(mixed, 0.5 * (s->begin_us + s->end_us)) == m;
            if (!within) {
                out->volt_steps[n++] = *s;
                continue;
            }
            all.from_v = isnan(all.from_v) ? s->from_v : all.from_v;
            all.to_v = s->to_v;
            all.agreeing_runs = s->agreeing_runs > all.agreeing_runs ? s->agreeing_runs : all.agreeing_runs;
            bool last = i + 1 == out->n_volt_steps || volts_mixed_at(mixed, 0.5 * (s[1].begin_us + s[1].end_us)) != m;
            if (last && fabs(all.to_v - all.from_v) >= STEP_V)
                out->volt_steps[n++] = all;
        }
        if (changes == 1)
            out->n_volt_steps = n;
    }
}

/* Phases whose voltage is not known since readings of repetitions in different states mix. 0, or -1: out of memory. */
static int tell_mixed(struct phases *out, const struct mixed_stretches *mixed)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        const struct phase *ph = &out->phases[p];
        double begin = ph->start_us, end = begin + ph->duration_us.value;
        const struct mixed_stretch *m = volts_mixed_at(mixed, 0.5 * (begin + end));
        if (m && ph->kind != PHASE_HALT && isnan(ph->volts))
            return phases_warn(
                out, "no voltage is given from %s to %s: its readings come from repetitions in different states",
                plain_time(fmax(begin, m->begin), 0).text, plain_time(fmin(end, m->end), 0).text);
    }
    return 0;
}

/* Whether all lengths that a phase may have reach beyond `length`. */
static bool reaches(const struct phase *ph, double length)
{
    for (size_t k = 0; k < ph->n_modes; k++)
        if (ph->modes[k].duration_us < length)
            return false;
    return true;
}

/* How much later than in most repetitions a phase may end, us. */
static double later_mode(const struct phase *ph)
{
    double most = 0;
    for (size_t k = 1; k < ph->n_modes; k++)
        most = fmax(most, ph->modes[k].duration_us - ph->modes[0].duration_us);
    return most;
}

/*
 * Where steps of the voltage fall into a phase that is steady otherwise, the phase is two; not where repetitions are in
 * different states. What code requests `late` us or less before a reading takes effect only after that reading: the
 * step appears to come later.
 */
static int split_phases(struct phases *out, const struct mixed_stretches *mixed, double spacing, double near_edge,
                        double late_us)
{
    for (size_t i = 0; i < out->n_volt_steps; i++) {
        double begin = out->volt_steps[i].begin_us, stop = out->volt_steps[i].end_us, at = 0.5 * (begin + stop);
        double scatter = 0; /* of the beginning: readings and samples are of different repetitions */
        double late = 0;
        if (volts_mixed_at(mixed, at))
            continue;
        for (size_t p = 0; p < out->n_phases; p++) {
            struct phase *ph = &out->phases[p];
            double end = ph->start_us + ph->duration_us.value, before = scatter + late;
            scatter = hypot(scatter, scatter_of(ph));
            late += later_mode(ph);
            if (!phases_is_steady(ph) || at > end || begin < ph->start_us + fmax(near_edge, late_us) + before ||
                stop > end - near_edge - scatter || !reaches(ph, stop - ph->start_us + near_edge))
                continue;
            struct phase *bigger = realloc(out->phases, (out->n_phases + 1) * sizeof *bigger);
            if (!bigger)
                return -1;
            out->phases = bigger;
            memmove(&bigger[p + 1], &bigger[p], (out->n_phases - p) * sizeof *bigger);
            out->n_phases++;
            bigger[p].kind = PHASE_STEADY; /* the frequency does not rise at its end */
            bigger[p].n_modes = 0;
            /* readings of many repetitions place the step no better than they show it rise */
            double half = 0.5 * (out->volt_steps[i].end_us - out->volt_steps[i].begin_us) + spacing;
            double length = at - bigger[p].start_us;
            bigger[p].duration_us = (struct estimate){length, fmax(0, length - half), length + half};
            bigger[p + 1].start_us = at;
            bigger[p + 1].duration_us = (struct estimate){end - at, fmax(0, end - at - half), end - at + half};
            for (size_t k = 0; k < bigger[p + 1].n_modes; k++)
                bigger[p + 1].modes[k].duration_us -= length;
            if (out->n_levels == 0 && add_volt_transition(out, &out->volt_steps[i], half))
                return -1;
            break;
        }
    }
    return 0;
}

/*
 * A core that stands still reads nothing: what lies in a halt is of repetitions that halted somewhat earlier or later,
 * unless somebody else read throughout it and the same.
 */
static double halt_volts(double *volts, size_t n, double expected)
{
    double *scratch = volts + n;
    if (n < 2 || (double)n < READ_IN_HALT * expected ||
        fabs(plateau(volts, 0, n / 2, scratch) - plateau(volts, n / 2, n, scratch)) >= STEP_V)
        return NAN;
    return plateau(volts, 0, n, scratch);
}

/* How many of the sorted times lie in begin..end. */
static size_t count_between(const double *time, size_t n, double begin, double end)
{
    size_t m = 0;
    for (size_t i = 0; i < n && time[i] <= end; i++)
        m += time[i] >= begin;
    return m;
}

/* How long after the kernel's end readings come, and the slack; 0: not known. */
static double late_us(const struct trace *t)
{
    double late = trace_number(t, "volts_late_us");
    return isnan(late) ? 0 : late + LATE_SLACK_US;
}

/* Where the first reading is later than all phases. 0, or -1: out of memory. */
static int tell_late(struct phases *out, double first, double late)
{
    const struct phase *last = &out->phases[out->n_phases - 1];
    return !(late > 0) || !(first > last->start_us + last->duration_us.value)
               ? 0
               : phases_warn(out,
                             "no voltage is given: readings come %.0f us after the code has ended here, later than "
                             "what was recorded; a longer --observe shows it",
                             late - LATE_SLACK_US);
}

int volts_find(const struct trace *t, struct phases *out)
{
    struct trace v;
    double spacing = NAN, *times = NULL; /* of all readings, and of those that are kept */
    size_t all = 0, kept = 0;
    if (!t->channel[TRACE_VOLTS])
        return 0;
    struct mixed_stretches mixed = {0, NULL};
    int bad = volts_gather(t, &v);
    if (!bad) {
        all = v.n;
        times = malloc((2 * all + 1) * sizeof *times);
        bad = !times;
    }
    if (!bad && all)
        memcpy(times, v.time_us, all * sizeof *times);
    bad = bad || volts_unmix(&v, MIXED_US, &mixed);
    if (!bad && v.n) {
        kept = v.n;
        memcpy(times + all, v.time_us, kept * sizeof *times);
    }
    bad = bad || thin(t, &v);
    if (!bad && v.n >= 12) {
        spacing = (v.time_us[v.n - 1] - v.time_us[0]) / (double)v.n;
        bool alone = out->n_levels == 0 && isnan(out->phases[0].ipc); /* nothing else says where phases end */
        bad = find_steps(&v, out);
        place_mixed_steps(out, &mixed);
        bad = bad || split_phases(out, &mixed, spacing, alone ? 2 * spacing : NEAR_EDGE_US, late_us(t));
    }
    double *scratch = malloc((2 * v.n + 1) * sizeof *scratch);
    bad |= !scratch;
    for (size_t p = 0, i = 0; p < out->n_phases && !bad; p++) {
        size_t m = 0;
        while (i < v.n && v.time_us[i] < out->phases[p].start_us)
            i++;
        bool halted = out->phases[p].kind == PHASE_HALT;
        double inside = halted ? WITHIN_HALT_US : 0;
        double begin = out->phases[p].start_us, end = begin + out->phases[p].duration_us.value;
        for (size_t k = i; k < v.n && v.time_us[k] <= end - inside; k++)
            if (v.time_us[k] >= begin + inside)
                scratch[m++] = (double)v.channel[TRACE_VOLTS][k];
        /* less than half of mixed readings is left by chance, or belongs to what is beside them */
        size_t before = count_between(times, all, begin, end), after = count_between(times + all, kept, begin, end);
        bool left_over = volts_mixed_at(&mixed, 0.5 * (begin + end)) && (halted || 2 * after < before);
        out->phases[p].volts = left_over ? NAN
                               : halted  ? halt_volts(scratch, m, (end - begin - 2 * inside) / spacing)
                               : m       ? order_median(scratch, m)
                                         : NAN;
    }
    bad = bad || tell_mixed(out, &mixed) || tell_late(out, all ? times[0] : NAN, late_us(t));
    free(mixed.stretch);
    free(times);
    free(scratch);
    trace_free(&v);
    return bad ? -1 : 0;
}
