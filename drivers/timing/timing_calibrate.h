/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must be known of chains and of a payload before it is sampled with them, and what its readings then say. */
#pragma once

#include "drivers/recording.h"
#include "drivers/timing/timing_sample.h"

/* Those for a TSC that advances in such steps (ticks) at this rate (Hz), and for such a period. */
struct timing_chains timing_choose_chains(double step, double tsc_hz, double period_us);
/* A period that has room for them and for a payload, us. */
double timing_probe_us(const struct timing_chains *c);
/* What such steps do to the frequency by chains that take so many ticks; false: they are fine, nothing is written. */
bool timing_steps_text(double step, double tsc_hz, double ticks, char *text, size_t size);

/* The means (order_stepped_mean()), in ticks, of the short (0) and long (1) chains among n readings; scratch of 2 n.
 * False where one of them is missing, or where the long ones took no longer, which no cost explains: such readings tell
 * nothing. */
bool timing_chain_means(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step,
                        double mean[2], double *scratch);

/* What a reading costs. */
struct timing_cost {
    double cycles;   /* core cycles that the two TSC reads around a chain add to its adds */
    double error;    /* standard error of that */
    double ticks[2]; /* of a short and of a long chain */
    double wander;   /* cycles by which it lately wandered from repetition to repetition: timing_cost_follow(); of a
                        new one: by which it is known to wander at least */
};
/*
 * Finds it from n readings of both chain lengths, by a TSC that advances in steps of `step` ticks. With S and L adds at
 * f cycles a tick the chains take T_s = (S + k) / f and T_l = (L + k) / f ticks, so that
 *     k = (L T_s - S T_l) / (T_l - T_s)
 * whatever f is. T_s and T_l are means over windows in which f hardly changes, without what an interruption has made
 * longer by more than four steps, and are pooled over all windows before the division: of values in steps only means
 * are right. The error is that of the windows' (L + k) T_s - (S + k) T_l, which is 0 on average at any f. Returns 0, or
 * -1 when fewer than three windows make sense, or the pooled means do not (T_l > T_s).
 *
 * On a Sapphire Rapids k was 63.8 to 64.0 cycles after each of 18 payloads, from pause to AMX, at 2.19 to 2.99 GHz; on
 * a Zen 4, 68.3 to 69.4 for chains of 0 to 4000 adds after scalar and 128-bit code. It does depend on what the other
 * hyper-thread of the core does, which a guest cannot see: 80 instead of 64.
 */
int timing_chain_cost(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step,
                      struct timing_cost *out);

/*
 * Follows the cost from repetition to repetition, as much as the new value is the better known of the two; a difference
 * beyond five standard errors means that the other hyper-thread has started or stopped. What is beyond three of them
 * makes the cost wander, and what was known of it before count for less, until differences are small again: beside
 * neighbours of an Emerald Rapids guest, costs of 48 to 76 cycles, known to 0.3 to 2, follow each other, and one that
 * is off by 10 puts frequencies off by 10 %.
 */
void timing_cost_follow(struct timing_cost *known, const struct timing_cost *seen);

/* What the readings are made with. */
struct timing_clock {
    double hz, step; /* of the TSC: Hz, ticks */
    struct timing_chains chains;
    uint64_t round; /* readings are rounded down to multiples of so many ticks; 0, 1: not */
};
/* Rounds readings down as `clock` says. */
void timing_round(const struct timing_clock *clock, struct timing_raw *r, size_t n);

/* What the chains of a recording have taken so far: their ticks, their cycles (in units of 1/CHAIN_CYCLE_UNIT), and the
 * ticks of all that is not the payload. */
struct timing_sums {
    uint64_t ticks, cycles, reading;
};
/*
 * Adds a reading to the sums and makes the words of a recording of it (drivers/recording.h), with these n counters.
 * `cost`: core cycles that reading the TSC adds to a chain; `instructions`: of the payload before its blocks, each of
 * which has per_block.
 */
void timing_words(const struct timing_raw *raw, const struct timing_chains *chains, double cost, uint64_t instructions,
                  unsigned per_block, const struct counter_spec *counters, size_t n, struct timing_sums *sums,
                  uint64_t *words);
