/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock and the sampler: step, cost, jitter, and what takes time away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "computer/cpu/tsc.h"
#include "output/self_test/self_test_parts.h"
#include "util/order.h"
#include "util/text_list.h"

/* A step of the TSC that is more than a twentieth of the usual period of a microsecond tells too little of a sample. */
static const double STEP_MOST_NS = 50;
/* Of a sample: what a reading may take, and by how much nine samples of ten may miss their length. */
static const double COST_MOST = 0.5, COST_LEAST = -0.25, JITTER_MOST = 0.4;
/*
 * A sample that took so much longer than its work does was interrupted: the shortest interrupt of a guest takes a
 * microsecond or two (and a step of the TSC is at most 50 ns).
 */
static const double INTERRUPT_LEAST_US = 0.7;
/* Linux ticks at most 1000 times a second; device interrupts, and what a loaded host takes, come in thousands: on a
 * guest with busy neighbours 4700 a second were seen, and a tenth of the time lost. The probes give up what is
 * disturbed. With more than this, or half of the time lost in most repetitions, there is hardly anything else. */
static const double INTERRUPTS_MOST = 30000, LOST_MOST = 0.5;
/* Of the time; less may be chance. */
static const double SLOWED_TOLD = 0.02;

static double ticks_per_us(const struct self_test_readings *r)
{
    return r->tsc_hz * 1e-6;
}

/* The TSC of one repetition after the other; distances within are all that counts, so each goes on where one ended. */
static uint64_t *all_ticks(const struct self_test_readings *r, size_t *n, bool *back)
{
    size_t room = 0;
    *n = 0;
    *back = false;
    for (size_t i = 0; i < r->n_stretches; i++)
        for (size_t k = 0; k < r->stretch[i].n; k++)
            room += r->stretch[i].recordings[k].n;
    uint64_t *ticks = room > 0 ? malloc(room * sizeof *ticks) : NULL, origin = 0;
    for (size_t i = 0; ticks && i < r->n_stretches; i++)
        for (size_t k = 0; k < r->stretch[i].n && r->stretch[i].kind <= SELF_TEST_LONG; k++) {
            const struct self_test_recording *rec = &r->stretch[i].recordings[k];
            size_t stride = 2 + r->stretch[i].n_counters;
            for (size_t j = 0; j < rec->n; j++) {
                *back = *back || (j > 0 && rec->words[j * stride] < rec->words[(j - 1) * stride]);
                ticks[(*n)++] = origin + rec->words[j * stride];
            }
            origin = *n > 0 ? ticks[*n - 1] : 0;
        }
    return ticks;
}

static void judge_step(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "TSC step", "ns");
    size_t n;
    bool back;
    uint64_t *ticks = all_ticks(r, &n, &back);
    double step = ticks && !back ? tsc_step(ticks, n) : 0;
    free(ticks);
    if (back) {
        snprintf(l->text, sizeof l->text, "the TSC went backwards");
        self_test_bound(l, NAN, NAN, STEP_MOST_NS, "a clock that goes backwards cannot measure time");
    } else if (step <= 0) {
        self_test_cannot(l, "the intervals between readings do not vary by more than one step", "");
    } else {
        snprintf(l->text, sizeof l->text, "%.4g tick%s of %.1f MHz = %.2f ns", step, step == 1 ? "" : "s",
                 r->tsc_hz * 1e-6, step / r->tsc_hz * 1e9);
        self_test_bound(l, step / r->tsc_hz * 1e9, NAN, STEP_MOST_NS,
                        "short samples say little: use a --period of 20 steps or more");
    }
}

/* Means of the samples that nothing came between. */
struct means {
    size_t n;
    double ticks, payload;
};

static struct means means_of(const struct self_test_readings *r, enum self_test_kind kind)
{
    size_t n;
    struct self_test_sample *s = self_test_samples(r, kind, COUNTER_IDS, &n);
    double rate = self_test_usual_rate(s, n);
    struct means m = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        if (!s[i].slowed && s[i].ticks - s[i].payload / rate < INTERRUPT_LEAST_US * ticks_per_us(r)) {
            m.n++;
            m.ticks += s[i].ticks;
            m.payload += s[i].payload;
        }
    free(s);
    m.ticks /= (double)m.n;
    m.payload /= (double)m.n;
    return m;
}

/* With a cost c in each sample of length T the work of a tick is r (1 - c / T); two lengths give r and c. */
static void judge_cost(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "sample cost", "ns");
    struct means a = means_of(r, SELF_TEST_SHORT), b = means_of(r, SELF_TEST_LONG);
    double short_us = a.ticks / ticks_per_us(r), ns = 1e3 / ticks_per_us(r);
    if (a.n < TSC_STEP_READINGS || b.n < TSC_STEP_READINGS) {
        self_test_no_stretch(l, r, a.n < TSC_STEP_READINGS ? SELF_TEST_SHORT : SELF_TEST_LONG);
        return;
    }
    double ra = a.payload / a.ticks, rb = b.payload / b.ticks;
    double cost = (rb - ra) / (rb / a.ticks - ra / b.ticks) * ns;
    snprintf(l->text, sizeof l->text, "%.0f ns a sample, %.1f %% of %.2f us", cost, cost / short_us * 0.1, short_us);
    self_test_bound_alone(l, self_test_slowed_most(r), cost, COST_LEAST * 1e3 * short_us, COST_MOST * 1e3 * short_us,
                          "reading takes most of a sample: use a longer --period");
}

static void judge_jitter(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "sample jitter", "ns");
    size_t n;
    struct self_test_sample *s = self_test_samples(r, SELF_TEST_SHORT, COUNTER_CHAIN_TICKS, &n);
    double *off = malloc((n > 0 ? n : 1) * sizeof *off), ns = 1e3 / ticks_per_us(r);
    size_t plain = 0, kept = 0; /* a chain is no payload: samples without one tell, where there are such */
    for (size_t i = 0; i < n; i++)
        plain += !(s[i].counter > 0);
    for (size_t i = 0; i < n && plain >= TSC_STEP_READINGS; i++)
        if (!(s[i].counter > 0))
            s[kept++] = s[i];
    n = kept > 0 ? kept : n;
    if (n < TSC_STEP_READINGS || !off) {
        self_test_no_stretch(l, r, SELF_TEST_SHORT);
    } else {
        for (size_t i = 0; i < n; i++)
            off[i] = s[i].ticks;
        double usual = order_median(off, n);
        for (size_t i = 0; i < n; i++)
            off[i] = fabs(s[i].ticks - usual);
        double nine_tenths = order_nth_smallest(off, n, n * 9 / 10) * ns;
        snprintf(l->text, sizeof l->text, "9 of 10 samples within %.0f ns of %.2f us", nine_tenths, usual * ns * 1e-3);
        self_test_bound_alone(l, self_test_slowed_share(r, SELF_TEST_SHORT), nine_tenths, NAN, JITTER_MOST * usual * ns,
                              "sample lengths vary widely");
    }
    free(off);
    free(s);
}

/* What came between the samples of all repetitions. */
struct lost {
    double us, observed_us;
    size_t interrupts, n;                                             /* repetitions */
    double share[SELF_TEST_STRETCHES_MAX * SELF_TEST_RECORDINGS_MAX]; /* of each */
};

/* Where the code was slowed for long, interrupts cannot be counted. */
static void add_lost(const struct self_test_readings *r, const struct self_test_sample *s, size_t n, struct lost *out)
{
    double rate = self_test_usual_rate(s, n);
    for (size_t i = 0, end; i < n; i = end) {
        double us = 0, observed = 0;
        for (end = i; end < n && s[end].recording == s[i].recording; end++) {
            double excess = (s[end].ticks - s[end].payload / rate) / ticks_per_us(r);
            if (s[end].slowed || isnan(excess))
                continue;
            observed += s[end].ticks / ticks_per_us(r);
            if (excess >= INTERRUPT_LEAST_US) {
                out->interrupts++;
                us += excess;
            }
        }
        out->us += us;
        out->observed_us += observed;
        if (observed > 0 && out->n < sizeof out->share / sizeof *out->share)
            out->share[out->n++] = us / observed;
    }
}

static void judge_lost(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *interrupts = self_test_add(out, "interrupts", "1/s");
    struct self_test_line *time = self_test_add(out, "lost time", "fraction");
    struct lost lost = {.n = 0};
    for (enum self_test_kind kind = SELF_TEST_SHORT; kind <= SELF_TEST_LONG; kind++) {
        size_t n;
        struct self_test_sample *s = self_test_samples(r, kind, COUNTER_IDS, &n);
        if (n >= TSC_STEP_READINGS)
            add_lost(r, s, n, &lost);
        free(s);
    }
    if (lost.n < 3) {
        self_test_no_stretch(interrupts, r, SELF_TEST_SHORT);
        self_test_no_stretch(time, r, SELF_TEST_SHORT);
        return;
    }
    double seconds = lost.observed_us * 1e-6, share = lost.us / lost.observed_us;
    double slowed = self_test_slowed_share(r, SELF_TEST_SHORT); /* interrupts that come all the time slow long ones */
    snprintf(interrupts->text, sizeof interrupts->text, "%zu in %.1f ms: %.0f a second", lost.interrupts, seconds * 1e3,
             (double)lost.interrupts / seconds);
    self_test_bound_alone(interrupts, slowed, (double)lost.interrupts / seconds, NAN, INTERRUPTS_MOST,
                          "a device or the hypervisor keeps interrupting this CPU: choose another with --cpu");
    double median = order_median(lost.share, lost.n);
    snprintf(time->text, sizeof time->text, "%.2f %% of the time, %.2f %% in the median repetition", 100 * share,
             100 * median);
    if (slowed >= SLOWED_TOLD)
        text_list_add(time->text, sizeof time->text, "; ",
                      "for another %.0f %% the SMT sibling, or a lower frequency, slowed the code", 100 * slowed);
    self_test_bound_alone(time, slowed, median, NAN, LOST_MOST,
                          "something else runs on this CPU: choose another with --cpu");
}

void self_test_judge_clock(const struct self_test_readings *r, struct self_test_lines *out)
{
    judge_step(r, out);
    judge_cost(r, out);
    judge_jitter(r, out);
    judge_lost(r, out);
}
