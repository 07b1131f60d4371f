/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gathers the clock and the rate of the coarse part over all repetitions into series on one time line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/tail/tail.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

enum {
    BESIDE = 10,       /* samples on either side that tell what the rate is */
    NOISE_BESIDE = 40, /* ... and by how much it scatters */
    FINE_BINS = 12,    /* of the fine part */
    BINS_MOST = 240,   /* of the rest */
    SAMPLES_OF_BIN = 8,
    SAMPLES_UNIFORM = 2, /* ... where what is looked for may last some samples only */
    GROWTH = 256,
    GROWN_US = 250 /* as in drivers/native/growth.h */
};
#define LONG_US 5.0 /* from this period on, chains are long ones (drivers/timing/timing_chains.c) */
#define LOST_SIGMAS 6.0
/* Ticks of the clock by which a reading of a short chain strays by chance. */
#define CHAIN_QUANTA 2.5
#define LOST_LEAST 0.004 /* of a sample: less is seen in no mean, and may be noise */

double tail_period_us(const struct trace *t)
{
    double us = trace_number(t, "period_us");
    return us > 0 ? us : 1;
}

/* Whether a repetition is used: it lasts beyond `from`, and measured more than a voltage. */
static bool is_usable(const struct trace *t, const struct phases *fine, size_t begin, size_t past, double from)
{
    return !phases_discarded(fine, t->run ? t->run[begin] : 0) && t->time_us[past - 1] > from &&
           trace_measured(t, begin, past);
}

double tail_usual_end(const struct trace *t, const struct phases *fine)
{
    double *end = calloc(trace_count_runs(t) + 1, sizeof *end);
    size_t n = 0;
    if (!end)
        return NAN;
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        if (is_usable(t, fine, begin, past, -INFINITY))
            end[n++] = t->time_us[past - 1];
    }
    double middle = n ? order_median(end, n) : 0;
    free(end);
    return middle;
}

/* The samples of one repetition: from where it is looked at until its end. */
struct samples {
    size_t n;
    double *end, *us, *ghz, *ipc; /* us: length */
    double *off, *scratch;
    bool *lost;
};

static void free_samples(struct samples *s)
{
    free(s->end);
    free(s->lost);
}

static int room_for(size_t most, struct samples *s)
{
    *s = (struct samples){.end = calloc(6 * (most + 1), sizeof *s->end), .lost = calloc(most + 1, sizeof *s->lost)};
    if (!s->end || !s->lost) {
        free_samples(s);
        return -1;
    }
    s->us = s->end + most + 1;
    s->ghz = s->us + most + 1;
    s->ipc = s->ghz + most + 1;
    s->off = s->ipc + most + 1;
    s->scratch = s->off + most + 1;
    return 0;
}

static void take_samples(const struct trace *t, size_t begin, size_t past, const struct tail *x, struct samples *s)
{
    const float *freq = t->channel[TRACE_FREQ], *ipc = t->channel[TRACE_IPC];
    const double edge = x->invalid ? tail_period_us(t) : 0; /* samples there may hold some of the states beyond */
    s->n = 0;
    for (size_t i = begin + 1; i < past; i++) {
        if (t->time_us[i - 1] < x->after + edge || !(t->time_us[i] > t->time_us[i - 1]))
            continue;
        if (x->invalid && (t->time_us[i] > x->end - edge || x->invalid[i]))
            continue;
        s->end[s->n] = t->time_us[i];
        s->us[s->n] = t->time_us[i] - t->time_us[i - 1];
        s->ghz[s->n] = freq && freq[i] > 0 ? (double)freq[i] : NAN;
        s->ipc[s->n] = ipc && ipc[i] > 0 ? (double)ipc[i] : NAN;
        s->lost[s->n++] = false;
    }
}

static double tail_middle(const double *x, size_t i, size_t n, size_t beside, double *scratch)
{
    size_t from = i > beside ? i - beside : 0, to = i + beside < n ? i + beside : n - 1;
    memcpy(scratch, x + from, (to - from + 1) * sizeof *x);
    return order_median(scratch, to - from + 1);
}

/* Marks the samples whose value in s->off is below that of those beside them (or, `both`, above it) by more than these
 * scatter, and by more than `least`, relative. `noise`: scratch of as many. */
static void mark_outliers(struct samples *s, double least, bool both, double *noise)
{
    for (size_t i = 0; i < s->n; i++)
        noise[i] = s->off[i] / tail_middle(s->off, i, s->n, BESIDE, s->scratch) - 1;
    for (size_t i = 0; i < s->n; i++)
        s->off[i] = fabs(noise[i]);
    for (size_t i = 0; i < s->n; i++) {
        double sigma = MAD_TO_SIGMA * tail_middle(s->off, i, s->n, NOISE_BESIDE, s->scratch);
        double bound = fmax(least, LOST_SIGMAS * sigma);
        s->lost[i] = s->lost[i] || noise[i] < -bound || (both && noise[i] > bound);
    }
}

/*
 * Marks the samples that lost time: their rate, instructions per time, or the frequency where there is nothing else, is
 * too low. What counts user mode alone shows it in the cycles, what has no counters in the instructions; the product
 * has both. A chain that was interrupted tells a frequency of its own. Returns how many.
 */
static size_t mark_lost(struct samples *s, const struct clock_reading *clock, double *scratch)
{
    size_t lost = 0;
    for (size_t i = 0; i < s->n; i++)
        s->off[i] = isnan(s->ipc[i]) ? s->ghz[i] : isnan(s->ghz[i]) ? s->ipc[i] : s->ipc[i] * s->ghz[i];
    mark_outliers(s, LOST_LEAST, false, scratch);
    if (clock->instant) {
        memcpy(s->off, s->ghz, s->n * sizeof *s->off);
        mark_outliers(s, fmax(LOST_LEAST, CHAIN_QUANTA * clock->quantum), true, scratch);
    }
    for (size_t i = 0; i < s->n; i++)
        lost += s->lost[i];
    return lost;
}

/* Which bin a time is of: the first are of the fine part, in the others samples are equally many. */
struct binning {
    double after, begin, period, per_bin; /* us; samples */
    size_t n_fine, n;
};

/* How many samples a period that grows has in so long a time. */
static double samples_in(double period_us, double us)
{
    double grows = GROWTH * fmax(0, GROWN_US - period_us);
    return GROWTH * log1p(fmin(us, grows) / (GROWTH * period_us)) + fmax(0, us - grows) / fmax(GROWN_US, period_us);
}

static struct binning binning_of(const struct tail *x, double period_us)
{
    struct binning b = {.after = x->after, .begin = x->begin, .period = period_us};
    double all = samples_in(period_us, x->end - x->begin);
    size_t bins = (size_t)fmin(BINS_MOST, fmax(1, all / (x->uniform ? SAMPLES_UNIFORM : SAMPLES_OF_BIN)));
    b.n_fine = x->begin > x->after ? FINE_BINS : 0;
    b.n = b.n_fine + bins;
    b.per_bin = all / (double)bins;
    return b;
}

/* SIZE_MAX: it is of none. */
static size_t bin_of(const struct binning *b, double t)
{
    if (t < b->begin)
        return b->n_fine
                   ? (size_t)fmin((t - b->after) / (b->begin - b->after) * (double)b->n_fine, (double)b->n_fine - 1)
                   : SIZE_MAX;
    double samples = samples_in(b->period, t - b->begin);
    return b->n_fine + (size_t)fmin(samples / b->per_bin, (double)(b->n - b->n_fine) - 1);
}

struct sums {
    double us, time, value[TAIL_COURSES], weight[TAIL_COURSES];
};

/* Adds a repetition: means of its bins. Frequencies by chains by the mean time of a cycle (clock.h). */
static void bin_samples(const struct samples *s, const struct binning *b, const struct tail *x, struct sums *sum,
                        size_t run, struct tail_series *out)
{
    const bool instant = x->instant;
    const double clock_from = x->clock_from;
    struct sums *own = sum + b->n; /* the first n are of all repetitions, for the times */
    memset(own, 0, b->n * sizeof *own);
    for (size_t i = 0; i < s->n; i++) {
        double mid = s->end[i] - 0.5 * s->us[i];
        size_t k = s->lost[i] ? SIZE_MAX : bin_of(b, mid);
        if (k == SIZE_MAX)
            continue;
        sum[k].us += s->us[i];
        sum[k].time += s->us[i] * mid;
        if (!isnan(s->ghz[i]) && mid >= clock_from) {
            own[k].value[TAIL_FREQ] += s->us[i] * (instant ? 1 / s->ghz[i] : s->ghz[i]);
            own[k].weight[TAIL_FREQ] += s->us[i];
        }
        if (!isnan(s->ipc[i]) && mid >= clock_from) {
            own[k].value[TAIL_RATE] += s->us[i] * s->ipc[i];
            own[k].weight[TAIL_RATE] += s->us[i];
        }
    }
    for (size_t k = 0; k < b->n; k++)
        for (int c = 0; c < TAIL_COURSES; c++) {
            double mean = own[k].weight[c] > 0 ? own[k].value[c] / own[k].weight[c] : NAN;
            out->value[c][run * b->n + k] = c == TAIL_FREQ && instant ? 1 / mean : mean;
        }
}

/* All repetitions at the median of their centres, and the medians over them. x: scratch, of bins and of repetitions. */
static void tail_level_out(struct tail_series *s, int c, double *x)
{
    double *centre = x, *copy = x + s->n_runs, squares = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        memcpy(copy, s->value[c] + k * s->n_bins, s->n_bins * sizeof *copy);
        centre[k] = order_median(copy, s->n_bins);
    }
    memcpy(copy, centre, s->n_runs * sizeof *copy);
    double all = order_median(copy, s->n_runs);
    for (size_t k = 0; k < s->n_runs; k++) {
        for (size_t b = 0; b < s->n_bins; b++)
            s->value[c][k * s->n_bins + b] *= all / centre[k];
        squares += isnan(centre[k]) ? 0 : pow(centre[k] / all - 1, 2);
    }
    s->half[c] = s->n_runs > 1 ? robust_half_width95(sqrt(squares / (double)(s->n_runs - 1)), s->n_runs) : 0;
    for (size_t b = 0; b < s->n_bins; b++) {
        for (size_t k = 0; k < s->n_runs; k++)
            copy[k] = s->value[c][k * s->n_bins + b];
        s->curve[c][b] = order_median(copy, s->n_runs);
    }
}

void tail_free_series(struct tail_series *s)
{
    free(s->time);
    for (int c = 0; c < TAIL_COURSES; c++) {
        free(s->value[c]);
        free(s->curve[c]);
    }
}

static size_t usable_runs(const struct trace *t, const struct phases *fine, double from, size_t *longest)
{
    size_t n = 0;
    *longest = 0;
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        if (!is_usable(t, fine, begin, past, from))
            continue;
        *longest = past - begin > *longest ? past - begin : *longest;
        n++;
    }
    return n;
}

static int gather_into(const struct trace *t, const struct phases *fine, struct tail *x, const struct binning *b,
                       struct samples *own, struct sums *sum, double *scratch, struct tail_series *out)
{
    const struct clock_reading clock = clock_reading_of(t);
    size_t run = 0;
    for (size_t begin = 0, past; begin < t->n; begin = past) {
        past = trace_run_end(t, begin);
        if (!is_usable(t, fine, begin, past, x->begin))
            continue;
        take_samples(t, begin, past, x, own);
        x->samples += own->n;
        x->lost += x->uniform ? 0 : mark_lost(own, &clock, scratch);
        bin_samples(own, b, x, sum, run++, out);
    }
    for (size_t k = 0; k < b->n; k++)
        out->time[k] = sum[k].us > 0 ? sum[k].time / sum[k].us : NAN;
    for (int c = 0; c < TAIL_COURSES; c++)
        tail_level_out(out, c, scratch);
    return 0;
}

int tail_gather(const struct trace *t, const struct phases *fine, struct tail *x, struct tail_series *out)
{
    double period = tail_period_us(t);
    size_t longest;
    memset(out, 0, sizeof *out);
    x->n_runs = out->n_runs = usable_runs(t, fine, x->begin, &longest);
    struct binning b = binning_of(x, period);
    x->clock_from = x->instant && !x->uniform ? x->begin + GROWTH * fmax(0, LONG_US - period) : x->after;
    struct samples own;
    out->n_bins = b.n;
    if (room_for(longest, &own))
        return -1;
    struct sums *sum = calloc(2 * b.n, sizeof *sum);
    double *scratch = calloc(longest + b.n + 2 * out->n_runs + 1, sizeof *scratch);
    out->time = calloc(b.n, sizeof *out->time);
    bool bad = !sum || !scratch || !out->time;
    for (int c = 0; c < TAIL_COURSES; c++) {
        out->value[c] = calloc(b.n * out->n_runs + 1, sizeof *out->value[c]);
        out->curve[c] = calloc(b.n, sizeof *out->curve[c]);
        bad = bad || !out->value[c] || !out->curve[c];
    }
    bad = bad || gather_into(t, fine, x, &b, &own, sum, scratch, out);
    free(sum);
    free(scratch);
    free_samples(&own);
    return bad ? -1 : 0;
}
