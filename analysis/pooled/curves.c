/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions on a common grid of moments: the rate of the sample that runs then, of what its repetition does in the
 * end. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pooled/pooled.h"
#include "util/list.h"
#include "util/order.h"

/* Optimal partitioning of a series into pieces of one value each. */

size_t pooled_cut(const double *y, const double *weight, size_t n, size_t least, double penalty, size_t *cut)
{
    double *best = malloc(4 * (n + 1) * sizeof *best);
    size_t *from = malloc((n + 1) * sizeof *from), pieces = 0;
    if (!best || !from) {
        free(best);
        free(from);
        return 0;
    }
    double *w = best + n + 1, *wy = w + n + 1, *wyy = wy + n + 1;
    best[0] = w[0] = wy[0] = wyy[0] = 0;
    for (size_t i = 0; i < n; i++) {
        w[i + 1] = w[i] + weight[i];
        wy[i + 1] = wy[i] + weight[i] * y[i];
        wyy[i + 1] = wyy[i] + weight[i] * y[i] * y[i];
    }
    for (size_t j = 1; j <= n; j++) {
        best[j] = INFINITY;
        from[j] = 0;
        for (size_t i = 0; i + least <= j || !i; i = i ? i + 1 : least) {
            double sw = w[j] - w[i], sy = wy[j] - wy[i];
            double cost = sw > 0 ? fmax(0, wyy[j] - wyy[i] - sy * sy / sw) : 0;
            if (best[i] + cost + penalty < best[j]) {
                best[j] = best[i] + cost + penalty;
                from[j] = i;
            }
            if (i + least > j)
                break;
        }
    }
    for (size_t j = n; j; j = from[j])
        pieces++;
    cut[pieces] = n;
    for (size_t j = n, k = pieces; j; j = from[j])
        cut[--k] = from[j];
    free(best);
    free(from);
    return pieces;
}

/* Durations that come in two lengths: one relaxation period or two, one wait or the next. */

#define LEAST 0.08      /* of the repetitions show the rarer length */
#define OUTLIERS 4.0    /* standard deviations of a length */
#define LIKE_FIRST 3.0  /* times as much as the shorter length the longer one scatters at most, of their own */
#define SCATTERS_US 0.3 /* as samples of short lengths do */
#define VALLEY 0.12     /* of the repetitions lie in the middle third between the two, at most */

/* Where an ascending series is cut so that its parts scatter least (Otsu 1979). */
static size_t cut_of(const double *x, size_t n, size_t least)
{
    double all = 0, sum = 0, best = -1;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        all += x[i] - x[0];
    for (size_t k = 1; k + least <= n; k++) {
        sum += x[k - 1] - x[0];
        double d = sum / (double)k - (all - sum) / (double)(n - k), between = d * d * (double)k * (double)(n - k);
        if (k >= least && between > best) {
            best = between;
            at = k;
        }
    }
    return at;
}

size_t pooled_two_lengths(const double *x, size_t n, double apart, double sigmas, struct value_mode out[2],
                          double *scratch)
{
    /* single repetitions far beyond the others would draw the cut to themselves */
    size_t tail = n / 40, least = (size_t)fmax(4, LEAST * (double)n), first = tail, past = n - tail, valley = 0;
    if (past < first + 2 * least)
        return 0;
    size_t at = first + cut_of(x + first, past - first, least);
    const size_t begin[2] = {first, at}, end[2] = {at, past};
    double middle[2], sigma[2];
    for (int i = 0; i < 2; i++) {
        size_t m = end[i] - begin[i];
        size_t kept;
        for (size_t k = 0; k < m; k++)
            scratch[k] = x[begin[i] + k];
        middle[i] = order_median(scratch, m);
        sigma[i] = order_mad_sigma(x + begin[i], m, middle[i], scratch + n);
        double mean = middle[i] + order_offset_within(x + begin[i], m, middle[i], OUTLIERS * sigma[i], &kept);
        out[i] = (struct value_mode){mean, x[i ? at : 0], x[i ? n - 1 : at - 1], i ? n - at : at};
    }
    double third = (middle[1] - middle[0]) / 3;
    for (size_t k = 0; k < n; k++)
        valley += x[k] > middle[0] + third && x[k] < middle[1] - third;
    /* what was interrupted lasts for longer by anything: no length of its own */
    bool interrupted = sigma[1] >
                       fmax(LIKE_FIRST * sigma[0] * fmax(1, middle[1] / middle[0]), fmax(SCATTERS_US, apart / 4));
    if (interrupted || 3 * third < fmax(apart, sigmas * fmax(sigma[0], sigma[1])) ||
        (double)valley > VALLEY * (double)n)
        return 0;
    if (out[1].n > out[0].n) {
        struct value_mode more = out[1];
        out[1] = out[0];
        out[0] = more;
    }
    return 2;
}

/* Samples of a repetition at least; moments of the grid at most; samples whose median is a length. */
enum { SAMPLES_LEAST = 12, MOMENTS_MOST = 4000, CLOCK_SAMPLES = 5 };
#define FIXED_WORK 0.1 /* relative: samples that scatter by more hold no fixed work */
#define USUAL 0.08     /* relative: rates so near to each other are one, beside a step of the time stamps */
#define SAME_LENGTH_US 1e-6
#define SOON_US 100.0      /* recordings with a period that grows have fine samples for longer */
#define SHARED 0.2         /* of the samples */
#define MOMENT_US 0.1      /* between moments, at first ... */
#define MOMENT_SAMPLES 0.3 /* ... and of a sample, where that is more */
#define MOMENT_GROWS 200   /* ... and later a share of the time since the switch */
#define TICKS 1.5     /* steps of the time stamps: as far as the other lengths of the same work are from the mean */
#define SHORT_RUN 0.8 /* of what most repetitions record: one with less does not show its end */

double pooled_sample_rate(const struct pooled *p, size_t i)
{
    const struct trace *t = p->trace;
    double ipc = (double)t->channel[TRACE_IPC][i];
    return p->dense ? ipc * (double)t->channel[TRACE_FREQ][i] : p->clock_now ? ipc * (double)p->clock_now[i] : ipc;
}

double pooled_sample_reading(const struct pooled *p, size_t i)
{
    const float *freq = p->trace->channel[TRACE_FREQ];
    return freq && freq[i] > 0 ? p->clock.reading_us : 0;
}

double pooled_sample_begin(const struct pooled *p, size_t r, size_t i)
{
    return i > p->run[r].first ? p->trace->time_us[i - 1] : p->trace->time_us[i] - p->sample_us;
}

double pooled_middle(double *x, size_t n, double *error)
{
    if (error)
        *error = NAN;
    if (!n)
        return NAN;
    gsl_sort(x, 1, n);
    size_t a = n / 4, b = n - n / 4;
    double sum = 0;
    for (size_t i = a; i < b; i++)
        sum += x[i];
    /* of a normal distribution the middle half spans 1.349 sigma, and its mean is 0.92 as good as the mean of all */
    if (error)
        *error = (x[b - 1] - x[a]) / 1.349 / 0.92 / sqrt((double)n);
    return sum / (double)(b - a);
}

double pooled_usual(const struct pooled *p, double *x, size_t n, double *error)
{
    const double middle = pooled_middle(x, n, error), reach = TICKS * p->tick_us / p->sample_us;
    double sum = 0;
    size_t near = 0;
    if (!n || x[n - n / 4 - 1] - x[n / 4] > 2 * reach * middle)
        return middle;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i] / middle - 1) < reach) {
            sum += 1 / x[i];
            near++;
        }
    return near ? (double)near / sum : middle;
}

/* Splits the trace into repetitions; *ends, *begins: when. */
static int pooled_split(struct pooled *p)
{
    const struct trace *t = p->trace;
    for (size_t first = 0, past; first < t->n; first = past) {
        past = trace_run_end(t, first);
        if (!trace_measured(t, first, past))
            continue;
        struct pooled_run run = {.number = t->run ? t->run[first] : 0, .first = first, .past = past, .late = NAN};
        run.zero = trace_first_after(t, first, past, 1e-9);
        if (!list_room(&p->run, p->n_runs, sizeof *p->run))
            return -1;
        p->run[p->n_runs++] = run;
    }
    return 0;
}

/* Keeps the repetitions that are long enough, with what is common to them. x: scratch, one a repetition. */
static void keep_whole(struct pooled *p, double *x)
{
    const double *time = p->trace->time_us;
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        x[r] = time[p->run[r].past - 1];
    p->after_us = order_median(x, p->n_runs);
    for (size_t r = 0; r < p->n_runs; r++)
        x[r] = -time[p->run[r].first];
    p->before_us = order_median(x, p->n_runs);
    for (size_t r = 0; r < p->n_runs; r++) {
        const struct pooled_run *run = &p->run[r];
        if (run->past - run->zero < SAMPLES_LEAST || !(time[run->past - 1] >= SHORT_RUN * p->after_us))
            continue;
        p->longest = run->past - run->first > p->longest ? run->past - run->first : p->longest;
        p->run[m++] = *run;
    }
    p->n_runs = m;
}

/* How long samples are soon after the switch, us; those of fixed work at the rate in the end, once that is known. One
 * in `step` counts. x: receives them, scratch of as many; returns how many. */
static size_t usual_lengths(struct pooled *p, size_t step, double *x)
{
    size_t n = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        for (size_t i = p->run[r].zero + 1; i < p->run[r].past && (p->trace->time_us[i] < SOON_US || !n); i += step) {
            const double us = p->trace->time_us[i] - p->trace->time_us[i - 1];
            const double faster = p->clock.fixed_work ? pooled_sample_rate(p, i) / p->run[r].late : 1;
            x[n++] = faster > 0 ? us * faster : us;
        }
    p->sample_us = order_median(x, n);
    return n;
}

/* The step of the time stamps: as the trace tells it, or the least by which the lengths of samples differ. x: them. */
static double clock_step(const struct pooled *p, double *x, size_t n)
{
    double step = trace_number(p->trace, "clock_step_ns"), least = INFINITY;
    if (!isnan(step))
        return step * 1e-3;
    gsl_sort(x, 1, n);
    for (size_t i = 1; i < n; i++)
        if (x[i] - x[i - 1] > SAME_LENGTH_US)
            least = fmin(least, x[i] - x[i - 1]);
    return isfinite(least) ? least : 0;
}

/* The usual rate of samples first..past: another thread on the core slows whatever it meets, so it is the fastest that
 * a fifth of them share; then the mean time of the work near it. NaN: too few. x: scratch. */
static double usual_rate(const struct pooled *p, size_t first, size_t past, double *x)
{
    size_t m = 0, n = 0, at = 0;
    for (size_t i = first; i < past; i++) {
        double rate = pooled_sample_rate(p, i);
        if (rate > 0)
            x[m++] = rate;
    }
    if (m < SAMPLES_LEAST / 2)
        return NAN;
    gsl_sort(x, 1, m);
    double sum = 0, share = fmax(2, SHARED * (double)m);
    for (size_t hi = m, lo = m; hi-- > 0;) { /* the highest window that holds so many */
        while (lo > 0 && x[lo - 1] > x[hi] * (1 - p->usual))
            lo--;
        at = lo;
        if ((double)(hi - lo + 1) >= share)
            break;
    }
    size_t enough = (size_t)fmin(share, (double)(m - at));
    double mode = x[at + enough / 2];
    for (size_t i = 0; i < m; i++)
        if (fabs(x[i] / mode - 1) < p->usual) {
            sum += 1 / x[i];
            n++;
        }
    return (double)n / sum;
}

/* Adds up the time of slower samples of a repetition, and how often they begin. */
static void slow_runs(const struct pooled *p, const struct pooled_run *run, size_t first, double *us, size_t *bursts)
{
    bool before = false;
    for (size_t i = first; i < run->past; i++) {
        bool slow = pooled_sample_rate(p, i) < run->late * (1 - p->usual);
        *us += slow ? p->trace->time_us[i] - p->trace->time_us[i - 1] : 0;
        *bursts += slow && !before;
        before = slow;
    }
}

static size_t late_begins(const struct pooled *p, const struct pooled_run *run)
{
    return trace_first_after(p->trace, run->zero, run->past, POOLED_LATE * p->after_us);
}

/* What chains add to the samples in the end. */
static void take_chains(struct pooled *p)
{
    size_t all = 0;
    for (size_t r = 0; r < p->n_runs && !p->dense; r++) {
        const struct pooled_run *run = &p->run[r];
        for (size_t i = late_begins(p, run); i < run->past; i++) {
            if (!(fabs(pooled_sample_rate(p, i) / run->late - 1) < p->usual))
                continue;
            double us = p->trace->time_us[i] - p->trace->time_us[i - 1] - p->sample_us;
            double chain = pooled_sample_reading(p, i) > 0 ? fmax(0, us) : 0;
            p->chains_us += chain;
            p->chains_us2 += chain * chain;
            all++;
        }
    }
    p->chains_us /= fmax(1, (double)all);
    p->chains_us2 /= fmax(1, (double)all);
}

double pooled_unseen_chain(const struct pooled *p, double rate, double longer)
{
    return p->chains_us2 * longer * longer / (p->sample_us / rate + p->chains_us * longer);
}

/* Each repetition's rate in the end; what all samples there scatter by, and how many run at another rate. */
static int pooled_normalize(struct pooled *p)
{
    size_t most = p->longest, m = 0, other = 0, all = 0, bursts = 0;
    double slow_us = 0;
    size_t step = most * p->n_runs / 200000 + 1;
    double *x = malloc((most + 1) * sizeof *x),
           *near = malloc((most * p->n_runs / step + p->n_runs + 1) * 2 * sizeof *near);
    if (!x || !near) {
        free(x);
        free(near);
        return -1;
    }
    double *slow = near + most * p->n_runs / step + p->n_runs + 1;
    /* what is usual depends on how long samples are, and that of fixed work on the rate */
    for (int turn = 0; turn < (p->clock.fixed_work ? 2 : 1); turn++) {
        const size_t n = usual_lengths(p, step, near);
        p->tick_us = turn ? p->tick_us : clock_step(p, near, n);
        p->usual = USUAL + fmin(USUAL, p->tick_us / p->sample_us);
        for (size_t r = 0; r < p->n_runs; r++) {
            struct pooled_run *run = &p->run[r];
            run->late = usual_rate(p, late_begins(p, run), run->past, x);
            run->early = usual_rate(p, run->first, run->zero, x);
        }
    }
    for (size_t r = 0; r < p->n_runs; r++) {
        const struct pooled_run *run = &p->run[r];
        size_t late = late_begins(p, run);
        slow_runs(p, run, late, &slow_us, &bursts);
        for (size_t i = late; i < run->past; i += step) {
            double d = log(pooled_sample_rate(p, i) / run->late);
            if (isnan(d))
                continue;
            all++;
            if (fabs(d) < p->usual)
                near[m++] = d;
            else if (d < 0 && d > log(POOLED_SIBLING_LEAST))
                slow[other++] = exp(d);
        }
    }
    size_t kept = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        if (p->run[r].late > 0)
            p->run[kept++] = p->run[r];
    p->n_runs = kept;
    double sum = 0;
    for (size_t i = 0; i < m; i++)
        sum += near[i] * near[i];
    p->noise = fmax(0.005, sqrt(sum / fmax(1, (double)m)));
    take_chains(p);
    p->sibling_us = bursts ? slow_us / (double)bursts : 0;
    p->sibling_share = all ? (double)other / (double)all : 0;
    p->sibling_factor = other ? order_median(slow, other) : NAN;
    free(x);
    free(near);
    return 0;
}

static int pooled_moments(struct pooled *p)
{
    double last = p->after_us, t = 0;
    double least = fmax(MOMENT_US, MOMENT_SAMPLES * p->sample_us);
    p->n = 0;
    for (; t < last && p->n < MOMENTS_MOST; t += fmax(least, t / MOMENT_GROWS))
        p->n++;
    p->border = malloc((p->n + 1) * sizeof *p->border);
    p->rate = malloc((p->n + 1) * sizeof *p->rate);
    p->error = malloc((p->n + 1) * sizeof *p->error);
    p->length = malloc((p->n + 1) * sizeof *p->length);
    p->own = malloc((p->n * p->n_runs + 1) * sizeof *p->own);
    if (!p->length || !p->border || !p->rate || !p->error || !p->own)
        return -1;
    t = 0;
    for (size_t k = 0; k <= p->n; k++, t += fmax(least, t / MOMENT_GROWS))
        p->border[k] = t;
    return 0;
}

/* The rate of the sample that runs at each moment. */
static void own_rates(struct pooled *p, size_t r)
{
    const struct pooled_run *run = &p->run[r];
    float *own = p->own + r * p->n;
    size_t i = run->zero;
    for (size_t k = 0; k < p->n; k++) {
        double moment = 0.5 * (p->border[k] + p->border[k + 1]);
        while (i < run->past && p->trace->time_us[i] < moment)
            i++;
        own[k] = i < run->past ? (float)(pooled_sample_rate(p, i) / run->late) : NAN;
        p->length[k] += i < run->past ? (p->trace->time_us[i] - pooled_sample_begin(p, r, i)) / (double)p->n_runs : 0;
    }
}

/* Moments of which nobody has a sample are like those before them, or after them at the begin. */
static void fill_gaps(struct pooled *p)
{
    size_t first = 0;
    while (first + 1 < p->n && isnan(p->rate[first]))
        first++;
    for (size_t k = 0; k < p->n; k++)
        if (isnan(p->rate[k])) {
            p->rate[k] = p->rate[k < first ? first : k - 1];
            p->error[k] = p->error[k < first ? first : k - 1];
        }
}

static int pooled_pool(struct pooled *p)
{
    double *x = malloc((p->n_runs + 1) * sizeof *x);
    if (!x)
        return -1;
    for (size_t k = 0; k < p->n; k++)
        p->length[k] = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        own_rates(p, r);
    size_t width = p->n, enough = 0; /* recordings end a little sooner than most */
    for (size_t k = 0; k < width; k++) {
        size_t m = 0;
        for (size_t r = 0; r < p->n_runs; r++)
            if (!isnan(p->own[r * width + k]))
                x[m++] = (double)p->own[r * width + k];
        p->rate[k] = pooled_usual(p, x, m, &p->error[k]);
        enough = 2 * m >= p->n_runs ? k + 1 : enough;
    }
    p->n = enough;
    fill_gaps(p);
    free(x);
    return 0;
}

/* Whether IPC times length is alike in most samples, but for those after a chain: fixed work, timed. x: scratch. */
static double work_of(const struct pooled *p, const struct pooled_run *run, double *x, size_t *m)
{
    const struct trace *t = p->trace;
    const float *freq = t->channel[TRACE_FREQ], *ipc = t->channel[TRACE_IPC];
    *m = 0;
    for (size_t i = run->first + 1; i < run->past; i++)
        if (ipc[i] > 0 && !(freq && freq[i - 1] > 0) && t->time_us[i] > POOLED_LATE * p->after_us)
            x[(*m)++] = (double)ipc[i] * (t->time_us[i] - t->time_us[i - 1]);
    return order_median(x, *m);
}

/*
 * Samples of fixed work tell the clock, too: their IPC times their length is the work over the clock. Not where the
 * trace says that the IPC was reckoned with one clock throughout (`sampler`). Single time stamps come in
 * steps: the median of five samples counts. Samples after a chain hold its time as well, and are left out.
 */
static int clock_of_work(struct pooled *p)
{
    const struct trace *t = p->trace;
    const float *freq = t->channel[TRACE_FREQ], *ipc = t->channel[TRACE_IPC];
    size_t most = p->longest, m;
    double *x = malloc((2 * most + 1) * sizeof *x);
    p->clock_now = malloc((t->n + 1) * sizeof *p->clock_now);
    if (!x || !p->clock_now) {
        free(x);
        return -1;
    }
    for (size_t i = 0; i < t->n; i++)
        p->clock_now[i] = 1;
    for (size_t r = 0; r < p->n_runs; r++) {
        const struct pooled_run *run = &p->run[r];
        double work = work_of(p, run, x, &m), spread = order_mad_sigma(x, m, work, x + most);
        if (m < SAMPLES_LEAST || !(spread < FIXED_WORK * work))
            continue; /* no fixed work */
        double recent[CLOCK_SAMPLES], sorted[CLOCK_SAMPLES];
        size_t seen = 0, done = run->zero, which[CLOCK_SAMPLES];
        for (size_t i = run->zero + 1; i < run->past; i++) {
            double own = (double)ipc[i] * (t->time_us[i] - t->time_us[i - 1]);
            if (!(own > 0.5 * work && own < 2 * work) || (freq && freq[i - 1] > 0))
                continue;
            which[seen % CLOCK_SAMPLES] = i;
            recent[seen++ % CLOCK_SAMPLES] = work / own;
            size_t n = seen < CLOCK_SAMPLES ? seen : CLOCK_SAMPLES;
            if (n % 2 == 0)
                continue;
            memcpy(sorted, recent, n * sizeof *sorted);
            double now = order_median(sorted, n);
            for (; done <= which[(seen - 1 - n / 2) % CLOCK_SAMPLES]; done++) /* of the middle of the five */
                p->clock_now[done] = (float)now;
        }
        for (; done > run->zero && done < run->past; done++)
            p->clock_now[done] = p->clock_now[done - 1];
    }
    free(x);
    return 0;
}

/* A row of repetitions has room for moments that were cut off at the end. */
static void pack_own(struct pooled *p, size_t width)
{
    for (size_t r = 1; r < p->n_runs && p->n < width; r++)
        memmove(p->own + r * p->n, p->own + r * width, p->n * sizeof *p->own);
}

int pooled_again(struct pooled *p)
{
    size_t width = p->n;
    if (pooled_pool(p))
        return -1;
    pack_own(p, width);
    return 0;
}

int pooled_clocks_before(struct pooled *p)
{
    const float *freq = p->trace->channel[TRACE_FREQ];
    const size_t most = p->longest;
    double *x = malloc((3 * most + 1) * sizeof *x);
    if (!x)
        return -1;
    for (size_t r = 0; r < p->n_runs; r++) {
        size_t m = 0;
        p->run[r].cycle_ns = p->run[r].mean_ghz = NAN;
        if (!freq)
            continue;
        if (p->clock.one_clock)
            p->run[r].mean_ghz = clock_mean_of_chains(p->trace, p->run[r].first, p->run[r].past, x);
        for (size_t i = p->run[r].first; i < p->run[r].zero; i++)
            if (freq[i] > 0 && !p->beside[i]) {
                x[m] = (double)freq[i];
                x[2 * most + m++] = (double)p->trace->channel[TRACE_IPC][i];
            }
        p->run[r].early_ipc = order_median(x + 2 * most, m);
        if (m >= 3)
            p->run[r].cycle_ns = 1 / clock_centre(&p->clock, TRACE_FREQ, x, m, x + most);
    }
    free(x);
    return 0;
}

int pooled_prepare(const struct trace *t, struct pooled *out)
{
    memset(out, 0, sizeof *out);
    out->trace = t;
    out->clock = clock_reading_of(t);
    out->dense = trace_frequency_share(t) > 0.9;
    if (!t->channel[TRACE_IPC])
        return 0;
    if (pooled_split(out))
        return -1;
    if (!out->n_runs)
        return 0;
    double *x = malloc(out->n_runs * sizeof *x);
    if (!x)
        return -1;
    out->n_recorded = out->n_runs;
    keep_whole(out, x);
    free(x);
    out->beside = calloc(t->n + 1, 1);
    if (!out->beside || (!out->dense && !out->clock.one_clock && clock_of_work(out)) || pooled_normalize(out))
        return -1;
    if (!out->n_runs)
        return 0;
    return pooled_moments(out) || pooled_again(out) ? -1 : 0;
}

void pooled_free(struct pooled *p)
{
    free(p->run);
    free(p->border);
    free(p->rate);
    free(p->error);
    free(p->own);
    free(p->length);
    free(p->clock_now);
    free(p->beside);
    memset(p, 0, sizeof *p);
}
