/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/settling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum { END_SAMPLES = 5, ONE_OFF_OF = 5, DRIFT_RUNS = 8 };
#define DRIFT_SHOWN 0.9
#define DRIFT_Z 7.0
#define OFF_Z 5.0
#define BEGINS_ALIKE 0.005 /* relative: a floating clock has moved by more, if it has */
#define END_US 20.0
#define RATE_OFF 0.05   /* milder throttling than about 0.94 of the rate is not told from full rate anyway */
#define FREQ_OFF 0.01   /* of the frequency at the end */
#define END_NOISE 0.015 /* by so much the end of one repetition may differ by chance, ... */
#define NEARER 0.5      /* ... if it is nearer to a factor than to none */
#define FREQ_LATE 0.02  /* of the frequency before time 0: a repetition is thrown away for it */
#define NOISE_MOST 0.05 /* a spread of more than this is no noise: it is two states */
#define FEW_OFF 0.1     /* of the repetitions: so many may have been disturbed at their very end */
#define LAST_PART 0.25  /* of what is recorded after the switch: its end, where a whole repetition is judged */

/* The range of what may be taken for one of the values seen. */
struct range {
    double lo, hi, middle;
};

int settling_add_alone(struct kernel_alone *s, const struct trace *t)
{
    double *scratch = calloc(2 * t->n + 1, sizeof *scratch);
    if (!scratch)
        return -1;
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        double ghz = clock_middle_between(t, TRACE_FREQ, begin, end, -INFINITY, INFINITY, scratch);
        double ipc = clock_middle_between(t, TRACE_IPC, begin, end, -INFINITY, INFINITY, scratch);
        if (!isnan(ghz) && s->n_ghz < TRACE_ALONE_MAX)
            s->ghz[s->n_ghz++] = ghz;
        if (!isnan(ipc) && s->n_ipc < TRACE_ALONE_MAX)
            s->ipc[s->n_ipc++] = ipc;
    }
    free(scratch);
    return 0;
}

/* What counts as one of the values seen: within their range, and beyond it as far as they differ among themselves, as
 * `spread` (relative) says that single repetitions do, or by `least`, whichever is most. */
static struct range settling_range_of(const double *seen, size_t n, double spread, double least)
{
    double copy[TRACE_ALONE_MAX];
    struct range r = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < n; i++) {
        r.lo = fmin(r.lo, seen[i]);
        r.hi = fmax(r.hi, seen[i]);
        copy[i] = seen[i];
    }
    r.middle = order_median(copy, n);
    double more = fmax(r.hi - r.lo, r.middle * fmax(least, isnan(spread) ? 0 : fmin(spread, NOISE_MOST)));
    r.lo -= more;
    r.hi += more;
    return r;
}

/* Whether what begins at `begin` of its frequency and ends at `end` of it runs at another one throughout, as power
 * limits and hypervisors make it: a wait that had not ended at the switch has ended when the recording does. */
static bool is_off_throughout(double begin, double end)
{
    double factor = log(begin), then = log(end), chance = fmin(END_NOISE, NEARER * fabs(factor));
    return fabs(factor) >= FREQ_OFF && (clock_same_factor(factor, then) || fabs(then - factor) < chance);
}

/* The middles of repetitions before the switch and at their ends, GHz and instructions per cycle; NaN: no samples. */
struct ends {
    size_t n;
    uint32_t *run;
    bool *off; /* not at the frequency of the kernel alone */
    double *before, *ghz, *ipc, *off_ghz, *scratch;
};

static void close_ends(struct ends *e)
{
    free(e->run);
    free(e->off);
    free(e->before);
}

/* Room for the repetitions of a trace. 0, or -1: out of memory. */
static int open_ends(const struct trace *t, struct ends *e)
{
    size_t most = t->n + 1;
    *e = (struct ends){.run = calloc(most, sizeof *e->run),
                       .off = calloc(most, sizeof *e->off),
                       .before = calloc(6 * most, sizeof *e->before)};
    if (!e->run || !e->off || !e->before) {
        close_ends(e);
        return -1;
    }
    e->ghz = e->before + most;
    e->ipc = e->ghz + most;
    e->off_ghz = e->ipc + most;
    e->scratch = e->off_ghz + most;
    return 0;
}

/* Three standard deviations of n values, relative to their median. */
static double settling_spread_of(const double *x, size_t n, double *scratch)
{
    memcpy(scratch, x, n * sizeof *x);
    double middle = order_median(scratch, n);
    return 3 * order_mad_sigma(x, n, middle, scratch) / middle;
}

/* The median of what the frequency before is of that at the end, of those that are not off; NaN: there are none. */
static double middle_ratio(const struct ends *e)
{
    size_t m = 0;
    for (size_t i = 0; i < e->n; i++)
        if (!e->off[i])
            e->scratch[m++] = e->before[i] / e->ghz[i];
    return order_median(e->scratch, m);
}

static size_t count_off(const struct ends *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->off[i];
    return n;
}

/* What ran at another frequency than `before` and `end`, but throughout, is not late, nor has it not settled. */
static void pardon_whole(struct ends *e, double before, double end)
{
    for (size_t i = 0; i < e->n; i++)
        e->off[i] = e->off[i] && !is_off_throughout(e->before[i] / before, e->ghz[i] / end);
}

static double median_alone(const struct kernel_alone *own)
{
    double alone[TRACE_ALONE_MAX];
    memcpy(alone, own->ghz, own->n_ghz * sizeof *alone);
    return order_median(alone, own->n_ghz);
}

/* Adds the repetition that samples begin..past are of; its end is what is recorded after `from`, or after time 0. */
static void add_end(const struct trace *t, size_t begin, size_t past, double from, struct ends *e)
{
    from = fmax(0, from);
    e->run[e->n] = t->run ? t->run[begin] : 0;
    e->before[e->n] = clock_middle_between(t, TRACE_FREQ, begin, past, -INFINITY, 0, e->scratch);
    e->ghz[e->n] = clock_middle_between(t, TRACE_FREQ, begin, past, from, INFINITY, e->scratch);
    e->ipc[e->n++] = clock_middle_between(t, TRACE_IPC, begin, past, from, INFINITY, e->scratch);
}

int settling_mark_late(const struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool *off,
                       size_t n)
{
    int marked = 0;
    struct ends e;
    memset(off, 0, n * sizeof *off);
    if (!from->n_ghz || !t->run)
        return 0;
    if (open_ends(t, &e))
        return -1;
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        double last = t->time_us[past - 1];
        add_end(t, begin, past, fmin(last - END_US, (1 - LAST_PART) * last), &e);
        e.n -= isnan(e.before[e.n - 1]);
    }
    struct range r = settling_range_of(from->ghz, from->n_ghz, settling_spread_of(e.before, e.n, e.scratch), FREQ_LATE);
    for (size_t i = 0; i < e.n; i++)
        e.off[i] = e.before[i] < r.lo;
    pardon_whole(&e, r.middle, r.middle / middle_ratio(&e));
    if (2 * count_off(&e) > e.n) /* the others are too few, or none */
        pardon_whole(&e, r.middle, median_alone(to));
    for (size_t i = 0; i < e.n; i++)
        if (e.off[i] && e.run[i] < n) {
            marked += !off[e.run[i]];
            off[e.run[i]] = true;
        }
    close_ends(&e);
    return marked;
}

/* The median of n logarithms of what one quarter is of the other, where they are alike; else 0. */
static double drift_of(double *x, size_t n, double *scratch)
{
    memcpy(scratch, x, n * sizeof *x);
    double middle = order_median(scratch, n), same = 0;
    double sigma = ROBUST_MEDIAN_ERROR * order_mad_sigma(x, n, middle, scratch);
    for (size_t i = 0; i < n; i++)
        same += x[i] * middle > 0;
    return n >= DRIFT_RUNS && same >= DRIFT_SHOWN * (double)n && fabs(middle) * sqrt((double)n) >= DRIFT_Z * sigma
               ? expm1(middle)
               : 0;
}

/* The median of n frequencies of repetitions, by how much it is off that of a kernel alone, relative; *sigma: its
 * standard error. */
static double off_alone(const double *x, size_t n, const struct kernel_alone *own, double *scratch, double *sigma)
{
    memcpy(scratch, x, n * sizeof *x);
    double middle = order_median(scratch, n);
    *sigma = ROBUST_MEDIAN_ERROR * order_mad_sigma(x, n, middle, scratch) / middle / sqrt((double)n);
    struct range r = {INFINITY, -INFINITY, NAN}; /* what was seen alone, in whichever state the core was then */
    for (size_t i = 0; i < own->n_ghz; i++) {
        r.lo = fmin(r.lo, own->ghz[i]);
        r.hi = fmax(r.hi, own->ghz[i]);
    }
    return middle > r.hi ? middle / r.hi - 1 : middle < r.lo ? middle / r.lo - 1 : 0;
}

int settling_find_drift(const struct trace *t, const struct phases *p, const struct kernel_alone *from,
                        const struct kernel_alone *to, struct settling_drift *out)
{
    struct ends e;
    *out = (struct settling_drift){0};
    if (!p->n_phases)
        return 0;
    if (open_ends(t, &e))
        return -1;
    double begin_us = fmax(0, p->phases[p->n_phases - 1].start_us), end_us = 0;
    size_t n = 0, m = 0, both = 0;
    double *last_ghz = e.off_ghz;
    for (size_t i = 0; i < t->n; i++)
        end_us = fmax(end_us, t->time_us[i]);
    double quarter = (end_us - begin_us) / 4;
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        if (phases_discarded(p, t->run ? t->run[begin] : 0))
            continue;
        double change[2];
        for (int c = 0; c < 2; c++) {
            enum trace_channel channel = c ? TRACE_IPC : TRACE_FREQ;
            double last = clock_middle_between(t, channel, begin, past, end_us - quarter, INFINITY, e.scratch);
            /* the very first samples may be those of cold code */
            double first = clock_middle_between(t, channel, begin, past, begin_us + quarter / 4,
                                                begin_us + 1.25 * quarter, e.scratch);
            change[c] = log(last / first);
            last_ghz[both] = c ? last_ghz[both] : last;
        }
        e.before[both] = clock_middle_between(t, TRACE_FREQ, begin, past, -INFINITY, 0, e.scratch);
        both += isfinite(e.before[both]) && isfinite(last_ghz[both]);
        if (isfinite(change[0]))
            e.ghz[n++] = change[0];
        if (isfinite(change[1]))
            e.ipc[m++] = change[1];
    }
    *out = (struct settling_drift){drift_of(e.ghz, n, e.scratch), drift_of(e.ipc, m, e.scratch), 0, NAN, NAN};
    if (both >= DRIFT_RUNS && from->n_ghz && to->n_ghz) {
        double sigma[2], begins = off_alone(e.before, both, from, e.scratch, &sigma[0]);
        double ends = off_alone(last_ghz, both, to, e.scratch, &sigma[1]);
        bool sure = fabs(begins) < BEGINS_ALIKE && fabs(ends) > OFF_Z * hypot(sigma[0], sigma[1]);
        out->off = sure ? ends : 0;
        out->alone_ghz = median_alone(to);
        out->ghz = sure ? order_median(last_ghz, both) : NAN;
    }
    close_ends(&e);
    return 0;
}

int settling_judge(const struct trace *t, const struct phases *p, const struct kernel_alone *own, bool waits,
                   struct settling *out)
{
    struct ends e;
    memset(out, 0, sizeof *out);
    if (open_ends(t, &e))
        return -1;
    double last = -INFINITY;
    for (size_t i = 0; i < t->n; i++)
        last = fmax(last, t->time_us[i]);
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        if (phases_discarded(p, t->run ? t->run[begin] : 0) ||
            isnan(clock_middle_between(t, TRACE_FREQ, begin, past, -INFINITY, INFINITY, e.scratch)))
            continue; /* a reading of the voltage alone */
        double enough = past - begin > END_SAMPLES ? t->time_us[past - 1 - END_SAMPLES] : INFINITY;
        add_end(t, begin, past, fmin(last - END_US, enough), &e);
    }
    double limit = isnan(p->detectable_freq) ? 0 : fmin(p->detectable_freq, NOISE_MOST);
    bool freq = own->n_ghz > 0 && t->channel[TRACE_FREQ], ipc = own->n_ipc > 0 && t->channel[TRACE_IPC];
    struct range f = {0}, r = {0};
    if (freq)
        f = settling_range_of(own->ghz, own->n_ghz, settling_spread_of(e.ghz, e.n, e.scratch), fmax(FREQ_OFF, limit));
    if (ipc)
        r = settling_range_of(own->ipc, own->n_ipc, settling_spread_of(e.ipc, e.n, e.scratch), RATE_OFF);
    size_t off_rate = 0;
    for (size_t i = 0; i < e.n; i++)
        e.off[i] = freq && !((waits || e.ghz[i] >= f.lo) && e.ghz[i] <= f.hi);
    pardon_whole(&e, f.middle * middle_ratio(&e), f.middle);
    size_t off_freq = count_off(&e);
    for (size_t i = 0; i < e.n; i++) {
        bool bad_rate = ipc && !(e.ipc[i] >= r.lo && e.ipc[i] <= r.hi);
        off_rate += bad_rate;
        out->off += e.off[i] || bad_rate;
    }
    out->runs = e.n;
    out->settled = (freq || ipc) && e.n > 0 &&
                   ((double)out->off <= FEW_OFF * (double)e.n || (out->off == 1 && e.n >= ONE_OFF_OF));
    double ghz = order_median(e.ghz, e.n), rate = order_median(e.ipc, e.n);
    if (!freq && !ipc)
        snprintf(out->why, sizeof out->why, "the steady rate of the second kernel could not be measured");
    else if (!out->settled && off_rate >= off_freq && ipc && fabs(rate / r.middle - 1) > RATE_OFF)
        snprintf(out->why, sizeof out->why, "the code still ran at %.2f of its long-run rate", rate / r.middle);
    else if (!out->settled && freq && fabs(ghz / f.middle - 1) > FREQ_OFF)
        snprintf(out->why, sizeof out->why, "still at %.3f GHz, against %.3f GHz in the long run", ghz, f.middle);
    else if (!out->settled)
        snprintf(out->why, sizeof out->why, "%zu of %zu repetitions had not reached their long-run state", out->off,
                 e.n);
    close_ends(&e);
    return 0;
}
