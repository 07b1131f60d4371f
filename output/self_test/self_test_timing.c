/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock and the sampler (step, cost, jitter, what takes time away), and what has an exact answer: instructions,
 * cycles, reference cycles, the chain of the timing machine, a raw event. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "computer/cpu/tsc.h"
#include "drivers/events/event_code.h"
#include "output/self_test/self_test_parts.h"
#include "util/order.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* A step of the TSC that is more than a twentieth of the usual period of a microsecond says too little of a sample. */
static const double STEP_MOST_NS = 50;
/* Shares of a sample: the most and least time of a reading, and by how much nine samples of ten may miss their
 * length. */
static const double COST_MOST = 0.5, COST_LEAST = -0.25, JITTER_MOST = 0.4;
/*
 * A sample that took so much longer than its work does was interrupted: the shortest interrupt of a guest takes a
 * microsecond or two (and a step of the TSC is at most 50 ns).
 */
static const double INTERRUPT_LEAST_US = 0.7;
/* Linux ticks at most 1000 times a second; device interrupts, and what a loaded host takes, come in thousands: on a
 * guest with busy neighbors 4700 a second were seen, and a tenth of the time lost. The probes give up what is
 * disturbed. With more than this, or half of the time lost in most repetitions, there is hardly anything else. */
static const double INTERRUPTS_MOST = 30000, LOST_MOST = 0.5;
/* Share of the time; less may be chance. */
static const double SLOWED_REPORTED = 0.02;

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

/* The time lost between the samples of all repetitions. */
struct lost {
    double us, observed_us;
    size_t interrupts, n;                                             /* repetitions */
    double share[SELF_TEST_STRETCHES_MAX * SELF_TEST_RECORDINGS_MAX]; /* of each */
};

/* Interrupts cannot be counted where the code was slowed for long. */
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
    if (slowed >= SLOWED_REPORTED)
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

/* ---- counters ---- */

/* dec and jnz end each block of a kernel (kernels/kernel.inc, END_BLOCK). */
enum { LOOP_INSTRUCTIONS = 2 };
/*
 * Instructions retire exactly; medians of samples leave no more than one reading's share of a sample of 4 us. Cycles of
 * a chain of adds depend on what the branch at the end of a sample costs, which is nearly the same in both lengths.
 * Reference cycles tick with the TSC: what differs is the crystal's step at either end, and interrupts (the counter may
 * stop in the kernel).
 */
static const double INSTRUCTIONS_OFF = 0.001, CYCLES_OFF = 0.005, REFERENCE_OFF = 0.002;
/* A reading takes up to 0.2 us of a sample of 4 us. */
static const double EVENT_UNDER = 0.01, EVENT_OVER = 0.05;
/* Relative to the frequency by the chain of the timing machine; and the effect of a step of the TSC, as a part of the
 * chain. */
static const double CHAIN_OFF = 0.03, CHAIN_STEPS = 0.25;
/* A chain that takes so many times what is usual was interrupted. */
static const double CHAIN_INTERRUPTED = 2.5;

/* Medians of a counter and of the work in samples of one length. */
struct middle {
    double work, excess; /* adds; the counter beyond what is expected of them */
    size_t n;
};

static struct middle middle_reading(const struct self_test_readings *r, enum self_test_kind kind, enum counter_id id,
                                    double expected)
{
    size_t n, kept = 0;
    struct self_test_sample *s = self_test_samples(r, kind, id, &n);
    double *work = malloc((2 * n + 1) * sizeof *work), *excess = work ? work + n : NULL;
    struct middle m = {NAN, NAN, 0};
    for (size_t i = 0; work && i < n; i++)
        if (!s[i].slowed && !isnan(s[i].counter)) {
            work[kept] = s[i].payload;
            excess[kept++] = s[i].counter - expected * s[i].payload;
        }
    if (kept > 0)
        m = (struct middle){order_median(work, kept), order_median(excess, kept), kept};
    free(work);
    free(s);
    return m;
}

/*
 * The counter for each add: what is fixed in a sample is in short and long ones alike, so that their difference is due
 * to the adds alone.
 */
static void judge_slope(const struct self_test_readings *r, struct self_test_line *l, enum counter_id id,
                        double expected, double off, const char *reason)
{
    if (self_test_lacks(l, r, id))
        return;
    struct middle a = middle_reading(r, SELF_TEST_SHORT, id, expected),
                  b = middle_reading(r, SELF_TEST_LONG, id, expected);
    if (a.n < TSC_STEP_READINGS || b.n < TSC_STEP_READINGS || !(b.work > 1.5 * a.work)) {
        self_test_no_stretch(l, r, a.n < TSC_STEP_READINGS ? SELF_TEST_SHORT : SELF_TEST_LONG);
        return;
    }
    double value = expected + (b.excess - a.excess) / (b.work - a.work);
    snprintf(l->text, sizeof l->text, "%.5f per add, %.5f expected; %.0f extra per sample", value, expected,
             plain_number(b.excess - (value - expected) * b.work, 0));
    self_test_bound(l, value, expected - off, expected + off, reason);
}

static void judge_instructions(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "instructions", "1/add");
    const struct self_test_stretch *s = self_test_find(r, SELF_TEST_LONG, NULL);
    double expected = s && s->block > 0 ? 1 + (double)LOOP_INSTRUCTIONS / s->block : 1;
    judge_slope(r, l, COUNTER_INSTRUCTIONS, expected, INSTRUCTIONS_OFF * expected,
                "the counter does not count the instructions that retire");
}

static void judge_reference(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "reference cycles", "1/tick");
    size_t n, kept = 0;
    if (self_test_lacks(l, r, COUNTER_REF_CYCLES))
        return;
    struct self_test_sample *s = self_test_samples(r, SELF_TEST_LONG, COUNTER_REF_CYCLES, &n);
    double *ratio = malloc((3 * n + 1) * sizeof *ratio), *ticks = ratio ? ratio + n : NULL;
    for (size_t i = 0; ratio && i < n; i++)
        if (!isnan(s[i].counter)) {
            ratio[kept] = s[i].counter / s[i].ticks;
            ticks[kept++] = s[i].ticks;
        }
    if (kept < TSC_STEP_READINGS) {
        self_test_no_stretch(l, r, SELF_TEST_LONG);
    } else {
        /* of sums, as either may come in steps; without what lies far off, which was interrupted */
        const struct clock_reading counted = {.instant = false};
        double value = clock_frequency(&counted, ratio, ticks, kept, ticks + n);
        snprintf(l->text, sizeof l->text, "%.5f per TSC tick", value);
        self_test_bound(l, value, 1 - REFERENCE_OFF, 1 + REFERENCE_OFF,
                        "the counter does not tick at the rate of the TSC while the core runs");
    }
    free(ratio);
    free(s);
}

/* Ticks and cycles of the chain, summed over samples. */
struct chain {
    double ticks, cycles, readings;
};

/* The samples of one length, with either counter of the chain. */
struct chain_samples {
    size_t n;
    struct self_test_sample *tick, *cycle;
};

static struct chain_samples chain_samples_of(const struct self_test_readings *r, enum self_test_kind kind)
{
    struct chain_samples c = {0, NULL, NULL};
    size_t n;
    c.tick = self_test_samples(r, kind, COUNTER_CHAIN_TICKS, &c.n);
    c.cycle = self_test_samples(r, kind, COUNTER_CHAIN_CYCLES, &n);
    c.n = n < c.n ? n : c.n; /* 0: out of memory */
    return c;
}

/*
 * Adds up what a stretch's readings tell, except for those in which an interrupt fell into the chain. Sums, because the
 * ticks of one chain come in steps of the TSC; a step may be half of a short chain.
 */
static void add_chain(const struct chain_samples *s, size_t stretch, struct chain *out)
{
    struct chain *each = malloc((s->n + 1) * sizeof *each);
    double *ratio = malloc((s->n + 1) * sizeof *ratio);
    size_t n = 0;
    for (size_t i = 0; each && ratio && i < s->n; i++) {
        double t = s->tick[i].counter, c = s->cycle[i].counter / CHAIN_CYCLE_UNIT;
        if (s->tick[i].stretch != stretch || s->tick[i].slowed || !(t >= 0 && c >= 0) || (t == 0 && c == 0))
            continue; /* not every sample has a chain */
        each[n] = (struct chain){t, c, 1};
        ratio[n++] = c > 0 ? t / c : 0;
    }
    double usual = ratio ? order_median(ratio, n) : NAN;
    for (size_t i = 0; each && i < n; i++)
        if (each[i].ticks <= CHAIN_INTERRUPTED * usual * each[i].cycles || each[i].cycles <= 0) {
            out->ticks += each[i].ticks;
            out->cycles += each[i].cycles;
            out->readings++;
        }
    free(each);
    free(ratio);
}

/* Mean work and ticks of a stretch's samples, without those that something came between. */
static void usual_sample(const struct chain_samples *s, size_t stretch, double *work, double *ticks)
{
    size_t n = 0;
    double *v = malloc(3 * (s->n + 1) * sizeof *v), *t = v ? v + s->n + 1 : NULL;
    *work = *ticks = NAN;
    for (size_t i = 0; v && i < s->n; i++)
        if (s->tick[i].stretch == stretch && !s->tick[i].slowed) {
            v[n] = s->tick[i].payload;
            t[n++] = s->tick[i].ticks;
        }
    if (v) {
        *work = robust_centre(v, n, v + 2 * (s->n + 1));
        *ticks = robust_centre(t, n, v + 2 * (s->n + 1));
    }
    free(v);
}

/*
 * The chain in the readings of a short stretch and the long one that follows it against the adds of the kernel "chain":
 * cycles by the one for each add of the other. The rate of the latter is that of what a long sample has more than a
 * short one. NAN: they do not say.
 */
static double chain_ratio(const struct chain_samples *a, const struct chain_samples *b, size_t first, struct chain *all)
{
    double work[2], ticks[2];
    struct chain chain = {0, 0, 0};
    add_chain(a, first, &chain);
    add_chain(b, first + 1, &chain);
    usual_sample(a, first, &work[0], &ticks[0]);
    usual_sample(b, first + 1, &work[1], &ticks[1]);
    *all = (struct chain){all->ticks + chain.ticks, all->cycles + chain.cycles, all->readings + chain.readings};
    double rate = (work[1] - work[0]) / (ticks[1] - ticks[0]);
    return chain.readings < TSC_STEP_READINGS || !(rate > 0) ? NAN : chain.cycles / chain.ticks / rate;
}

/* The ratio of each round; how many. */
static size_t chain_ratios(const struct self_test_readings *r, double *ratios, struct chain *all)
{
    struct chain_samples a = chain_samples_of(r, SELF_TEST_SHORT), b = chain_samples_of(r, SELF_TEST_LONG);
    size_t n = 0;
    /* round by round, as the frequency may drift and a neighbor come and go */
    for (size_t i = 1; i < r->n_stretches; i++)
        if (r->stretch[i].kind == SELF_TEST_LONG && r->stretch[i - 1].kind == SELF_TEST_SHORT) {
            double ratio = chain_ratio(&a, &b, i - 1, all);
            if (isfinite(ratio))
                ratios[n++] = ratio;
        }
    free(a.tick);
    free(a.cycle);
    free(b.tick);
    free(b.cycle);
    return n;
}

static void judge_chain(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "chain", "cycles/add");
    double ratios[SELF_TEST_STRETCHES_MAX];
    struct chain all = {0, 0, 0};
    if (self_test_lacks(l, r, COUNTER_CHAIN_TICKS) || self_test_lacks(l, r, COUNTER_CHAIN_CYCLES))
        return;
    size_t n = chain_ratios(r, ratios, &all);
    if (n == 0) {
        self_test_no_stretch(l, r, SELF_TEST_LONG);
        return;
    }
    double step = out->line[0].verdict == SELF_TEST_CANNOT ? 0 : out->line[0].value * 1e-9 * r->tsc_hz;
    double off = CHAIN_OFF + CHAIN_STEPS * step / (all.ticks / all.readings), value = order_median(ratios, n);
    snprintf(l->text, sizeof l->text,
             "%.4f cycles per add of a long chain (median of %zu rounds); %.3f GHz, %.0f ticks per reading", value, n,
             all.cycles / all.ticks * r->tsc_hz * 1e-9, all.ticks / all.readings);
    self_test_bound_alone(l, self_test_slowed_most(r), value, 1 - off, 1 + off,
                          "the short chains in the readings do not give the core's frequency");
}

/* Compared with the adds and not with another counter, which may be the one that is wrong; so the time of a reading in
 * a sample is included. */
void self_test_judge_event(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "raw event", "1/add");
    const struct self_test_stretch *s = self_test_find(r, SELF_TEST_EVENT, NULL);
    size_t n, kept = 0;
    if (self_test_lacks(l, r, COUNTER_EVENT))
        return;
    struct self_test_sample *samples = self_test_samples(r, SELF_TEST_EVENT, COUNTER_EVENT, &n);
    double *ratio = malloc((n > 0 ? n : 1) * sizeof *ratio);
    for (size_t i = 0; ratio && i < n; i++)
        if (!samples[i].slowed && !isnan(samples[i].counter) && samples[i].payload > 0)
            ratio[kept++] = samples[i].counter / samples[i].payload;
    if (!s || s->block == 0) {
        self_test_no_stretch(l, r, SELF_TEST_EVENT);
    } else if (kept < TSC_STEP_READINGS) {
        self_test_cannot(l, "the event was not counted throughout", "free the counters: stop other profilers");
    } else {
        uint64_t code = 0;
        for (size_t i = 0; i < s->n_counters; i++)
            code = s->counters[i].id == COUNTER_EVENT ? s->counters[i].event : code;
        bool instructions = code == SELF_TEST_EVENT_INSTRUCTIONS;
        double expected = instructions ? 1 + (double)LOOP_INSTRUCTIONS / s->block : 1,
               value = order_median(ratio, kept);
        snprintf(l->text, sizeof l->text, "%02XH/%02XH, %s: %.4f per add", event_code_select(code),
                 event_code_umask(code), instructions ? "instructions" : "cycles at level 0", value);
        self_test_bound(l, value, expected * (1 - EVENT_UNDER), expected * (1 + EVENT_OVER),
                        "the event does not count what its code stands for");
    }
    free(ratio);
    free(samples);
}

void self_test_judge_counts(const struct self_test_readings *r, struct self_test_lines *out)
{
    judge_instructions(r, out);
    judge_slope(r, self_test_add(out, "cycles", "1/add"), COUNTER_CYCLES, 1, CYCLES_OFF,
                "dependent adds take one cycle each: the counter does not count the core's cycles");
    judge_reference(r, out);
    judge_chain(r, out);
}
