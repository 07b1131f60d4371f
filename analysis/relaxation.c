/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/relaxation.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/robust.h"
#include "analysis/threshold.h"

#define EDGE_US 100.0       /* of a window: shorter than any wait that was published (D, G: 650 us and more) */
#define SETTLE_US 5.0       /* the first samples of a recording run the sampling loop in */
#define STEP_LEAST 0.01     /* relative: levels of real parts differ by 2.5 % and more */
#define RISE_PART 0.3       /* of the way from slow to fast: a level between, midway, counts */
#define LOST_LEAST_US 0.6   /* the shortest interrupts take about 1 us */
#define LOST_SIGMAS 6.0
#define HALT_LEAST_US 0.4
#define UNCOVERED_US 20.0
#define WITHIN 0.15         /* of a wait: modes of one and of two are far apart */
#define APART 0.1           /* of a wait: modes with a larger gap between them are two */
#define FIRST_OVER 1.2      /* the first wait is over */
#define AT_ONCE_US 20.0     /* so early nothing was waited for: the core had not been slowed */
#define REJECT 6.0
enum { NEAR = 50, MODES_MAX = 16, ALONE_PART = 5 /* a fifth */, RARE = 10 /* one in so many */ };

static double edge_median(const struct trace *t, const struct trigger_span *s, size_t n, double from, double to,
                          double *scratch)
{
    size_t m = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = s[r].first; i < s[r].last; i++)
            if (t->time_us[i] > from && t->time_us[i] <= to)
                scratch[m++] = (double)t->channel[TRACE_FREQ][i];
    return median_of(scratch, m);
}

const char *relaxation_levels(const struct trace *t, const struct trigger_span *s, size_t n, double from_us,
                              double to_us, struct relaxation_levels *out)
{
    size_t samples = 0;
    for (size_t r = 0; r < n; r++)
        samples += s[r].last - s[r].first;
    double *scratch = malloc((samples + 1) * sizeof *scratch);
    if (!scratch)
        return "out of memory";
    out->slow = edge_median(t, s, n, from_us + SETTLE_US, from_us + EDGE_US, scratch);
    out->fast = edge_median(t, s, n, to_us - EDGE_US, to_us, scratch);
    free(scratch);
    if (isnan(out->slow) || isnan(out->fast))
        return "too few samples";
    if (!(out->fast > out->slow * (1 + STEP_LEAST)))
        return "the frequency does not rise";
    return NULL;
}

/* ---- one repetition ---- */

/* The samples of the window, with what they hold. */
struct window {
    size_t n;
    double *begin, *end; /* us after the start of the window */
    double *rate;        /* payload instructions per ns */
    double *freq;
    double *scratch;
};

static int open_window(struct window *w, const struct trace *t, struct trigger_span s, double from_us, double to_us)
{
    size_t n = s.last - s.first;
    double *all = malloc((5 * n + 5) * sizeof *all);
    if (!all)
        return -1;
    *w = (struct window){0, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
    for (size_t i = s.first + 1; i < s.last; i++) {
        double freq = (double)t->channel[TRACE_FREQ][i], ipc = (double)t->channel[TRACE_IPC][i];
        if (t->time_us[i - 1] < from_us || t->time_us[i] > to_us || isnan(freq) || isnan(ipc))
            continue;
        w->begin[w->n] = t->time_us[i - 1] - from_us;
        w->end[w->n] = t->time_us[i] - from_us;
        w->rate[w->n] = ipc * freq;
        w->freq[w->n++] = freq;
    }
    return 0;
}

/* The first sample of the faster ones; w->n: none. */
static size_t best_split(const struct window *w, const struct relaxation_levels *l)
{
    double sum = 0, best = 0;
    size_t at = 0;
    for (size_t i = 0; i < w->n; i++) {
        double y = (w->freq[i] - l->slow) / (RISE_PART * (l->fast - l->slow));
        sum += 1 - 2 * fmin(fmax(y, 0), 1);
        if (sum > best) {
            best = sum;
            at = i + 1;
        }
    }
    return at;
}

static double median_rate(const struct window *w, size_t first, size_t last)
{
    size_t m = 0;
    for (size_t i = first; i < last && i < w->n; i++)
        w->scratch[m++] = w->rate[i];
    return median_of(w->scratch, m);
}

/* When the rise began, near sample k: where a halt cut a sample short, or by the share of the faster rate in it. */
static double place(const struct window *w, size_t k, double slow)
{
    double most = HALT_LEAST_US, at = NAN, fast = median_rate(w, k + 1, k + 1 + NEAR / 2);
    for (size_t j = k - 1; j <= k && j < w->n; j++) {
        double executed = (w->end[j] - w->begin[j]) * w->rate[j] / slow;
        double lost = w->end[j] - w->begin[j] - executed;
        if (lost > most) {
            most = lost;
            at = w->begin[j] + executed;
        }
    }
    if (!isnan(at))
        return at;
    at = w->begin[k - 1];
    for (size_t j = k - 1; j <= k && j < w->n; j++)
        at += (w->end[j] - w->begin[j]) * fmin(fmax((fast - w->rate[j]) / (fast - slow), 0), 1);
    return at;
}

/* Time lost in the slow samples before number `last`. */
static void find_interruptions(const struct window *w, size_t last, double slow, struct relaxation_rise *out)
{
    for (size_t i = 0; i < last; i++)
        w->scratch[i] = w->rate[i];
    double *rest = malloc((last + 1) * sizeof *rest);
    double noise = rest ? mad_sigma(w->scratch, last, slow, rest) / slow : 0;
    free(rest);
    for (size_t i = 0; i < last; i++) {
        double length = w->end[i] - w->begin[i], executed = length * w->rate[i] / slow;
        if (w->end[i] < SETTLE_US || length - executed < fmax(LOST_LEAST_US, LOST_SIGMAS * noise * length))
            continue;
        if (!out->interruptions++)
            out->first_us = w->begin[i] + executed;
        out->last_us = w->begin[i] + executed;
    }
}

int relaxation_find(const struct trace *t, struct trigger_span s, double from_us, double to_us,
                    const struct relaxation_levels *levels, struct relaxation_rise *out)
{
    struct window w;
    *out = (struct relaxation_rise){NAN, 0, NAN, NAN};
    if (open_window(&w, t, s, from_us, to_us))
        return -1;
    size_t k = best_split(&w, levels);
    bool rises = k > 0 && k < w.n;
    double slow = k > 0 ? median_rate(&w, k > NEAR ? k - NEAR : 0, k) : NAN;
    if (rises)
        out->at_us = place(&w, k, slow);
    if (k > 0)
        find_interruptions(&w, rises ? k - 1 : k, median_rate(&w, 0, k), out);
    double covered = w.n ? w.end[w.n - 1] : 0;
    if (!rises && to_us - from_us - covered > UNCOVERED_US) { /* so long that the window was over after it */
        if (!out->interruptions++)
            out->first_us = covered;
        out->last_us = covered;
    }
    free(w.begin);
    return 0;
}

/* ---- many repetitions ---- */

static bool near(double x, double wait, double times)
{
    return fabs(x - times * wait) < WITHIN * wait;
}

/* The shortest wait that is not rare; NaN: none. `x`: those of uninterrupted repetitions. */
static double shortest_wait(double *x, size_t n)
{
    struct value_mode mode[MODES_MAX];
    double *copy = malloc((n + 1) * sizeof *copy), wait = NAN;
    if (!copy)
        return NAN;
    for (size_t i = 0; i < n; i++)
        copy[i] = x[i];
    double gap = fmax(4, APART * median_of(copy, n));
    free(copy);
    size_t least = n / RARE > 2 ? n / RARE : n > 3 ? 2 : 1, found = find_modes(x, n, gap, least, mode, MODES_MAX);
    for (size_t k = 0; k < found; k++)
        wait = isnan(wait) ? mode[k].mean : fmin(wait, mode[k].mean);
    return wait;
}

static void fill_mode(struct relaxation_mode *m, double *x, size_t n)
{
    double sum = 0;
    m->n = n;
    m->wait_us = mean_estimate(x, n, REJECT, 0.5, NULL);
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - m->wait_us.value) * (x[i] - m->wait_us.value);
    m->sd_us = n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
}

/* The repetitions that nothing interrupted until the first wait was over. */
static void fill_shares(const struct relaxation_rise *r, size_t n, double once, struct relaxation_waits *out)
{
    size_t all = 0, longer = 0;
    for (size_t i = 0; i < n; i++) {
        if ((!out->kept && r[i].interruptions && r[i].first_us < FIRST_OVER * once) || r[i].at_us < AT_ONCE_US)
            continue;
        all++;
        longer += !(r[i].at_us < FIRST_OVER * once);
    }
    size_t others = out->others < longer ? out->others : longer;
    out->mode[0].share = share_estimate(all - longer, all);
    out->mode[1].share = share_estimate(out->mode[1].n ? longer - others : 0, all);
}

static void fill_interrupts(const struct relaxation_rise *r, size_t n, double once, double *x,
                            struct relaxation_waits *out)
{
    for (size_t i = 0; i < n; i++) {
        double after = r[i].at_us - r[i].last_us;
        /* neither so early nor so late that the two answers would be alike */
        if (!(r[i].last_us > 2 * WITHIN * once && r[i].last_us < once * (1 - 2 * WITHIN)))
            continue;
        if (near(after, once, 1) || near(after, once, 2))
            x[out->rearmed++] = after;
        else if (near(r[i].at_us, once, 1) || near(r[i].at_us, once, 2))
            out->not_rearmed++;
    }
    size_t single = 0;
    for (size_t i = 0; i < out->rearmed; i++)
        if (near(x[i], once, 1))
            x[single++] = x[i];
    out->after_interrupt_us = mean_estimate(x, single, REJECT, 0.5, NULL);
}

int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out)
{
    static const struct estimate none = {NAN, NAN, NAN};
    double *x = malloc((2 * n + 2) * sizeof *x), *y = x + n + 1;
    size_t clean = 0, at_once = 0, m[2] = {0, 0};
    *out = (struct relaxation_waits){.mode = {{0, none, none, NAN}, {0, none, none, NAN}}, .after_interrupt_us = none};
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        clean += !r[i].interruptions && !isnan(r[i].at_us);
    out->kept = clean * ALONE_PART < n;
    clean = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = out->kept || !r[i].interruptions;
        out->interrupted += r[i].interruptions > 0;
        out->never += counts && isnan(r[i].at_us);
        at_once += counts && r[i].at_us < AT_ONCE_US;
        if (counts && r[i].at_us >= AT_ONCE_US)
            x[clean++] = r[i].at_us;
    }
    double once = shortest_wait(x, clean);
    for (int k = 0; k < 2 && !isnan(once); k++) {
        for (size_t i = 0; i < clean; i++)
            if (near(x[i], once, k + 1))
                y[m[k]++] = x[i];
        fill_mode(&out->mode[k], y, m[k]);
    }
    out->others = at_once + (isnan(once) ? 0 : clean - m[0] - m[1]);
    if (!isnan(once)) {
        fill_shares(r, n, once, out);
        fill_interrupts(r, n, once, y, out);
    }
    free(x);
    return 0;
}

int relaxation_rearmed(double at_us, double done_us, double wait_us)
{
    for (int times = 1; times <= 2; times++) {
        if (near(at_us + done_us, wait_us, times))
            return 0;
        if (near(at_us, wait_us, times))
            return 1;
    }
    return -1;
}
