/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/repetitions/settling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum { END_SAMPLES = 5, ONE_OFF_OF = 5 };
#define END_US 20.0
#define RATE_OFF 0.05   /* milder throttling than about 0.94 of the rate is not told from full rate anyway */
#define FREQ_OFF 0.01   /* of the frequency at the end */
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

/* Three standard deviations of n values, relative to their median. */
static double settling_spread_of(const double *x, size_t n, double *scratch)
{
    memcpy(scratch, x, n * sizeof *x);
    double middle = order_median(scratch, n);
    return 3 * robust_mad_sigma(x, n, middle, scratch) / middle;
}

/* Whether what begins at `begin` of its frequency and ends at `end` of it runs at another one throughout, as power
 * limits make it: a wait that had not ended at the switch has ended when the recording does. */
static bool is_off_throughout(double begin, double end)
{
    double factor = log(begin);
    return fabs(factor) >= FREQ_OFF && clock_same_factor(factor, log(end));
}

/* A repetition: the middles of its frequency before the switch and at its end, GHz; NaN: no samples there. */
struct whole {
    double begin, end;
    uint32_t run;
    bool below; /* the first kernel's own frequency, at the beginning */
};

/* Returns how many repetitions begin with a frequency. out, scratch: room for as many, and twice the samples. */
static size_t find_wholes(const struct trace *t, struct whole *out, double *scratch)
{
    size_t n = 0;
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        double last = t->time_us[end - 1], ghz = clock_middle_between(t, TRACE_FREQ, begin, end, -INFINITY, 0, scratch);
        double from = fmax(0, fmin(last - END_US, (1 - LAST_PART) * last));
        if (!isnan(ghz))
            out[n++] = (struct whole){.begin = ghz,
                                      .run = t->run[begin],
                                      .end = clock_middle_between(t, TRACE_FREQ, begin, end, from, INFINITY, scratch)};
    }
    return n;
}

/* The middle of the beginnings, or ends, of the repetitions that are not below; NaN: there are none. */
static double middle_of_others(const struct whole *w, size_t n, bool ends, double *scratch)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!w[i].below)
            scratch[m++] = ends ? w[i].end : w[i].begin;
    return order_median(scratch, m);
}

int settling_mark_late(const struct trace *t, const struct kernel_alone *own, bool *off, size_t n)
{
    int marked = 0;
    memset(off, 0, n * sizeof *off);
    if (!own->n_ghz || !t->run)
        return 0;
    struct whole *w = calloc(t->n + 1, sizeof *w);
    double *value = calloc(3 * (t->n + 1), sizeof *value);
    if (!w || !value) {
        free(w);
        free(value);
        return -1;
    }
    double *scratch = value + t->n + 1;
    size_t runs = find_wholes(t, w, scratch);
    for (size_t i = 0; i < runs; i++)
        value[i] = w[i].begin;
    struct range r = settling_range_of(own->ghz, own->n_ghz, runs ? settling_spread_of(value, runs, scratch) : NAN,
                                       FREQ_LATE);
    for (size_t i = 0; i < runs; i++)
        w[i].below = w[i].begin < r.lo;
    double begin = middle_of_others(w, runs, false, scratch), end = middle_of_others(w, runs, true, scratch);
    for (size_t i = 0; i < runs; i++)
        if (w[i].below && !is_off_throughout(w[i].begin / begin, w[i].end / end) && w[i].run < n) {
            marked += !off[w[i].run];
            off[w[i].run] = true;
        }
    free(w);
    free(value);
    return marked;
}

struct ends {
    double *before, *ghz, *ipc, *scratch; /* of each repetition used; NaN: it has no samples there */
    size_t n;
};

static void find_ends(const struct trace *t, const struct phases *p, struct ends *e)
{
    double last = -INFINITY;
    for (size_t i = 0; i < t->n; i++)
        last = fmax(last, t->time_us[i]);
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        if (phases_discarded(p, t->run ? t->run[begin] : 0) ||
            isnan(clock_middle_between(t, TRACE_FREQ, begin, end, -INFINITY, INFINITY, e->scratch)))
            continue; /* a reading of the voltage alone */
        double from = last - END_US;
        if (end - begin > END_SAMPLES)
            from = fmin(from, t->time_us[end - 1 - END_SAMPLES]);
        from = fmax(from, 0);
        e->before[e->n] = clock_middle_between(t, TRACE_FREQ, begin, end, -INFINITY, 0, e->scratch);
        e->ghz[e->n] = clock_middle_between(t, TRACE_FREQ, begin, end, from, INFINITY, e->scratch);
        e->ipc[e->n++] = clock_middle_between(t, TRACE_IPC, begin, end, from, INFINITY, e->scratch);
    }
}

/* The median of those that are not marked (NULL: of all); NaN: there are none. */
static double median_copy(const double *x, const bool *marked, size_t n, double *scratch)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!(marked && marked[i]))
            scratch[m++] = x[i];
    return order_median(scratch, m);
}

/* What ran at another frequency throughout did not end otherwise than it was. */
static void pardon_whole(const struct ends *e, bool *bad_freq)
{
    double before = median_copy(e->before, bad_freq, e->n, e->scratch);
    double end = median_copy(e->ghz, bad_freq, e->n, e->scratch);
    for (size_t i = 0; i < e->n; i++)
        bad_freq[i] = bad_freq[i] && !is_off_throughout(e->before[i] / before, e->ghz[i] / end);
}

int settling_judge(const struct trace *t, const struct phases *p, const struct kernel_alone *own, bool waits,
                   struct settling *out)
{
    size_t most = t->n + 1;
    double *room = calloc(5 * most, sizeof *room);
    bool *bad_freq = calloc(most, sizeof *bad_freq);
    memset(out, 0, sizeof *out);
    if (!room || !bad_freq) {
        free(room);
        free(bad_freq);
        return -1;
    }
    struct ends e = {room, room + most, room + 2 * most, room + 3 * most, 0};
    find_ends(t, p, &e);
    double limit = isnan(p->detectable_freq) ? 0 : fmin(p->detectable_freq, NOISE_MOST);
    bool freq = own->n_ghz > 0 && t->channel[TRACE_FREQ], ipc = own->n_ipc > 0 && t->channel[TRACE_IPC];
    struct range f = {0}, r = {0};
    if (freq)
        f = settling_range_of(own->ghz, own->n_ghz, e.n ? settling_spread_of(e.ghz, e.n, e.scratch) : NAN,
                              fmax(FREQ_OFF, limit));
    if (ipc)
        r = settling_range_of(own->ipc, own->n_ipc, e.n ? settling_spread_of(e.ipc, e.n, e.scratch) : NAN, RATE_OFF);
    size_t off_freq = 0, off_rate = 0;
    for (size_t i = 0; i < e.n; i++)
        bad_freq[i] = freq && !((waits || e.ghz[i] >= f.lo) && e.ghz[i] <= f.hi);
    pardon_whole(&e, bad_freq);
    for (size_t i = 0; i < e.n; i++) {
        bool bad_rate = ipc && !(e.ipc[i] >= r.lo && e.ipc[i] <= r.hi);
        off_freq += bad_freq[i];
        off_rate += bad_rate;
        out->off += bad_freq[i] || bad_rate;
    }
    out->runs = e.n;
    out->settled = (freq || ipc) && e.n > 0 &&
                   ((double)out->off <= FEW_OFF * (double)e.n || (out->off == 1 && e.n >= ONE_OFF_OF));
    double ghz = median_copy(e.ghz, NULL, e.n, e.scratch), rate = median_copy(e.ipc, NULL, e.n, e.scratch);
    if (!freq && !ipc)
        snprintf(out->why, sizeof out->why, "the steady rate of the second kernel could not be measured");
    else if (!out->settled && off_rate >= off_freq && ipc && fabs(rate / r.middle - 1) > RATE_OFF)
        snprintf(out->why, sizeof out->why, "the code still ran at %.2f of its long-run rate", rate / r.middle);
    else if (!out->settled && freq && fabs(ghz / f.middle - 1) > FREQ_OFF)
        snprintf(out->why, sizeof out->why, "still at %.3f GHz, against %.3f GHz in the long run", ghz, f.middle);
    else if (!out->settled)
        snprintf(out->why, sizeof out->why, "%zu of %zu repetitions had not reached their long-run state", out->off,
                 e.n);
    free(room);
    free(bad_freq);
    return 0;
}
