/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chains of adds that measure the frequency, what a reading with one costs, and what such readings then say. */
#pragma once

#include "drivers/recording.h"
#include "drivers/timing/chain_reading.h"

/*
 * Chains of two lengths: their difference gives the frequency whatever the reads of the TSC around them cost, and with
 * it what these cost. A TSC that advances in steps of 10 ns measures one of 200 adds in five steps or so. The
 * difference of two readings rounded down is right on average only, and only where they lie anywhere between two steps
 * (chain_wait()): it then scatters by 0.41 steps (1/sqrt(6): f (1 - f) on average over the fraction f of a step left
 * over). So times are averaged first, and divided last.
 *
 * Long periods have room for longer chains, with which a cost that is off by a cycle puts the frequency off by less:
 * 0.4 % with 200 adds, 0.04 % with 2400.
 *
 * Those for a TSC that advances in such steps (ticks) at this rate (Hz), and for such a period (us).
 */
struct chain_choice timing_choose_chains(double step, double tsc_hz, double period_us);
/* Describes the effect of such steps on the frequency by chains that take so many ticks; false: they are fine,
 * nothing is written. */
bool timing_steps_text(double step, double tsc_hz, double ticks, char *text, size_t size);

/* The cost of a reading. */
struct timing_cost {
    double cycles;   /* core cycles that the two TSC reads around a chain add to its adds */
    double error;    /* standard error of that */
    double ticks[2]; /* of a short and of a long chain */
};
/*
 * Finds it from n readings with chains of both lengths, the `steady` ones or the others, by a TSC that advances in
 * steps of `step` ticks. With S and L adds at f cycles a tick the chains take T_s = (S + k) / f and T_l = (L + k) / f
 * ticks, so that
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
int timing_chain_cost(const struct chain_raw *r, size_t n, bool steady, double step, struct timing_cost *out);

/* The last readings with chains, by which the cost follows the activity of the sibling thread from some fifty
 * repetitions to the next, and is known to a cycle. */
enum { TIMING_LATELY = 4096 };
struct timing_lately {
    struct chain_raw chain[TIMING_LATELY];
    size_t n; /* so far: the last TIMING_LATELY of them are there */
};
/* Adds the chains of those lengths among n readings, and finds the cost from all that are there: 0; or -1, as
 * timing_chain_cost(), and *cost stays as it is. */
int timing_follow(struct timing_lately *lately, const struct chain_raw *r, size_t n, bool steady, double step,
                  struct timing_cost *cost);

/* The clock that the readings are made with. */
struct timing_clock {
    double hz, step; /* of the TSC: Hz, ticks */
    uint64_t round;  /* readings are rounded down to multiples of so many ticks; 0, 1: not */
};
/* Rounds readings down as `clock` says. */
void timing_round(const struct timing_clock *clock, struct chain_raw *r, size_t n);

/* Totals of the chains of a recording so far: their ticks, their cycles (in units of 1/CHAIN_CYCLE_UNIT), and the
 * ticks of all that is not the payload. */
struct timing_sums {
    uint64_t ticks, cycles, reading;
};
/*
 * Adds a reading to the sums and makes the words of a recording of it (drivers/recording.h), with these n counters;
 * without a chain those of chains stay as they are. `cost`: core cycles that reading the TSC adds to a chain;
 * `instructions`: of the payload before its blocks, each of which has per_block.
 */
void timing_words(const struct chain_raw *raw, double cost, uint64_t instructions, unsigned per_block,
                  const struct counter_spec *counters, size_t n, struct timing_sums *sums, uint64_t *words);

/* ---- timing_sample.c ---- */

/* Runs a repetition with such readings. No system call. */
void timing_record(const struct sampling *p, const struct chain_choice *choice, struct chain_raw *out,
                   struct sampling_log *log);
/* n readings with chains one after the other, without payload. */
void timing_record_chains(const struct chain_choice *choice, struct chain_raw *out, size_t n);
