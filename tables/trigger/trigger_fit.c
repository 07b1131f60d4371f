/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/trigger/trigger_fit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

#define SAME_FREQUENCY 0.01 /* relative */
#define AGREE 0.8
#define BEYOND 0.2     /* which 1 - AGREE is not quite */
#define THROTTLED 0.95 /* of the full rate, where noise allows it ... */
#define THROTTLED_LEAST 0.7
#define THROTTLED_SIGMAS 5 /* ... of a sample's median over the repetitions */
#define THROTTLED_US 4.0

/* ---- grades ---- */

static bool all_counted(const struct sight *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(s[i].level))
            return false;
    return n > 0;
}

static int grade_by_frequency(struct sight *s, size_t n, struct trigger_grades *out)
{
    struct value_mode mode[TRIGGER_GRADES_MAX];
    double *x = calloc(n + 1, sizeof *x);
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[i] = log(s[i].freq);
    out->n = robust_modes(x, n, SAME_FREQUENCY, n > 3 ? 2 : 1, mode, TRIGGER_GRADES_MAX);
    qsort(mode, out->n, sizeof *mode, order_double_descending);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < out->n; k++)
            if (fabs(x[i] - mode[k].mean) < fabs(x[i] - mode[s[i].grade].mean))
                s[i].grade = (int)k;
    free(x);
    return 0;
}

int trigger_grade(struct sight *s, size_t n, struct trigger_grades *out)
{
    *out = (struct trigger_grades){.counted = all_counted(s, n)};
    for (size_t i = 0; i < n; i++)
        s[i].grade = 0;
    if (!out->counted && grade_by_frequency(s, n, out))
        return -1;
    for (size_t i = 0; i < n && out->counted; i++) {
        s[i].grade = (int)(s[i].level + 0.5);
        out->n = (size_t)s[i].grade + 1 > out->n ? (size_t)s[i].grade + 1 : out->n;
    }
    for (size_t k = 0; k < out->n; k++) {
        double sum = 0;
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (s[i].grade == (int)k) {
                sum += s[i].freq;
                m++;
            }
        out->freq[k] = m ? sum / (double)m : NAN;
    }
    return 0;
}

bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade)
{
    int above = grade - 1; /* the next higher frequency that was seen */
    if (g->counted)
        return s->level >= grade - 0.5;
    while (above > 0 && isnan(g->freq[above]))
        above--;
    return above < 0 || s->freq * s->freq < g->freq[above] * g->freq[grade];
}

double trigger_share(const struct sight *s, size_t n, int grade)
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes += s[i].grade >= grade;
    return n ? (double)yes / (double)n : NAN;
}

int trigger_agreed(const struct sight *s, size_t n)
{
    for (int grade = TRIGGER_GRADES_MAX - 1; grade >= 0 && n; grade--)
        if (trigger_share(s, n, grade) >= AGREE)
            return trigger_share(s, n, grade + 1) <= BEYOND ? grade : -1;
    return -1;
}

/* ---- throttling ---- */

/* What a sample adds to a bin: a value, if its middle lies in it. */
struct profile {
    const struct trace *t;
    const struct clock_reading *clock;
    const struct sights_span *s;
    const double *begin_us;
    size_t n;
    double period;
    double *scratch;
};

/* Medians over the repetitions of rate and frequency between two times after the burst's first instruction. */
static double median_bin(const struct profile *p, enum trace_channel c, double from, double to)
{
    size_t m = 0;
    for (size_t r = 0; r < p->n; r++) {
        double before = p->begin_us[r];
        for (size_t i = p->s[r].first; i < p->s[r].last && p->t->time_us[i] <= 0; i++) {
            double middle = 0.5 * (before + p->t->time_us[i]) - p->begin_us[r];
            before = p->t->time_us[i];
            if (middle >= to)
                break;
            if (middle >= from)
                p->scratch[m++] = (double)p->t->channel[c][i];
        }
    }
    return clock_middle(p->clock, c, p->scratch, m, p->scratch + m);
}

/* Medians of few repetitions are low by chance now and then, where something else runs on the core's other
 * hyper-thread: the repetitions must agree, each held against its own last third. */
static bool agreed_slow(const struct profile *p, double from, double to, double below)
{
    size_t slow = 0;
    for (size_t r = 0; r < p->n; r++) {
        struct profile one = {p->t, p->clock, &p->s[r], &p->begin_us[r], 1, p->period, p->scratch};
        double whole = -p->begin_us[r], full = median_bin(&one, TRACE_IPC, whole * 2 / 3, whole);
        slow += median_bin(&one, TRACE_IPC, from, to) < below * full;
    }
    return (double)slow >= AGREE * (double)p->n;
}

/* Below which part of the full rate a sample's median is surely slow: by how the medians of the last third scatter. */
static double slow_below(const struct profile *p, size_t bins, double full)
{
    size_t first = bins * 2 / 3, m = 0;
    double *x = malloc(2 * (bins + 1) * sizeof *x);
    for (size_t b = first; x && b < bins; b++) {
        x[m] = median_bin(p, TRACE_IPC, (double)b * p->period, (double)(b + 1) * p->period) / full;
        m += !isnan(x[m]);
    }
    double sigma = m > 2 ? order_mad_sigma(x, m, 1, x + m) : INFINITY;
    free(x);
    return fmax(THROTTLED_LEAST, fmin(THROTTLED, 1 - THROTTLED_SIGMAS * sigma));
}

static void find_onset(const struct profile *p, size_t bins, struct trigger_throttle *out)
{
    double done = 0, lo = 0, hi = 0, lowest = 1, onset = NAN;
    size_t slow = 0, need = (size_t)ceil(THROTTLED_US / p->period);
    for (size_t b = 0; b < bins; b++) {
        double from = (double)b * p->period, to = from + p->period;
        double ipc = median_bin(p, TRACE_IPC, from, to), freq = median_bin(p, TRACE_FREQ, from, to);
        double work = isnan(ipc * freq) ? 0 : ipc * freq * 1e3 * p->period;
        if (ipc >= out->below * out->full_ipc) {
            if (slow >= need)
                break;
            slow = 0;
            lowest = 1;
        } else if (!isnan(ipc)) {
            if (!slow++) {
                onset = from;
                lo = done;
                hi = done + work;
            }
            lowest = fmin(lowest, ipc / out->full_ipc);
        }
        done += work;
    }
    if (slow < need || !agreed_slow(p, onset, onset + (double)slow * p->period, out->below))
        return;
    out->throttled = true;
    out->ratio = lowest;
    out->onset_us = onset;
    out->instructions = (struct estimate){hi, fmax(lo, 1), fmax(hi, 1)};
}

int trigger_throttled(const struct trace *t, const struct sights_span *s, const double *begin_us, size_t n,
                      double period_us, struct trigger_throttle *out)
{
    size_t samples = 0;
    double begin = 0;
    *out = (struct trigger_throttle){false, 1, NAN, NAN, {NAN, NAN, NAN}, NAN, THROTTLED_US};
    for (size_t r = 0; r < n; r++) {
        samples += s[r].last - s[r].first;
        begin = fmin(begin, begin_us[r]);
    }
    const struct clock_reading clock = clock_reading_of(t);
    struct profile p = {t, &clock, s, begin_us, n, period_us, malloc(2 * (samples + 1) * sizeof *p.scratch)};
    if (!p.scratch)
        return -1;
    out->full_ipc = median_bin(&p, TRACE_IPC, -begin * 2 / 3, -begin);
    if (out->full_ipc > 0) {
        out->below = slow_below(&p, (size_t)(-begin / period_us), out->full_ipc);
        out->lasts_us = fmax(THROTTLED_US, ceil(THROTTLED_US / period_us) * period_us);
        find_onset(&p, (size_t)(-begin / 2 / period_us), out);
    }
    free(p.scratch);
    return 0;
}
