/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What another hyper-thread of the core does to chains of adds. It takes a port that an add waits for now and then, so
 * that the chain reads low by one to five per cent for as long as it runs, while the frequency is what it was: seen on
 * a Zen 4 guest (3.59 to 3.66 GHz instead of 3.69). Nothing makes a chain too fast. So there are three witnesses, and
 * the one that tells the highest frequency is believed:
 *
 * * a long chain of adds;
 * * as many cycles of multiplications. A third of the instructions are a third of the chances to wait: 0 to 0.8 % low
 *   where adds were 1 to 3 % low. Threads that multiply much slow it by more (12 % for seconds);
 * * the payload itself, on ports of its own: as many instructions a tick as at the best of other times take as many
 *   cycles a tick, for none of them can be done in fewer.
 *
 * What they tell is taken as true, and a reading costs what makes it tell the same: that includes what is lost by
 * waiting in its own adds.
 */
#pragma once

#include "drivers/timing/timing_calibrate.h"

/* Means of the witnesses of a repetition, ticks. */
struct witness_means {
    double ticks[WITNESS_KINDS]; /* NaN: none */
    double error;                /* standard error of each, from the clock's steps */
};
struct witness_means witness_means(const struct timing_raw *w, size_t n, double step);

/* Cycles that a multiplication takes, as far as adds take one: near a whole number; NaN: it was not seen. */
double witness_latency(const struct witness_means *m);
/* Cycles a tick, by the faster of the two chains, multiplications taking `latency` cycles (whole; 0: they are left
 * out), by both where they agree; NaN: no adds were seen. Multiplications more than a tenth faster are not believed. */
double witness_rate(const struct witness_means *m, double latency);

/* Blocks of the payload a tick between readings; NaN: too few. */
double witness_pace(const struct timing_raw *r, size_t n);

/* What was seen of one payload lately. */
enum { WITNESS_MEMORY = 64 };
struct witness_memory {
    struct {
        double pace, rate; /* blocks a tick, cycles a tick */
    } seen[WITNESS_MEMORY];
    size_t n; /* so far: the last WITNESS_MEMORY of them are there */
};
void witness_remember(struct witness_memory *m, double pace, double rate);
/* Cycles a tick that a payload of this pace takes at least. NaN: too little is remembered. */
double witness_implied(const struct witness_memory *m, double pace);
/* That, if it is clearly more than the `rate` of the chains; else `rate`. */
double witness_believed(const struct witness_memory *m, double pace, double rate);

/*
 * The cost of a reading that makes n readings tell `rate` cycles a tick (known to `error`, relative). 0, or -1 where
 * they make no sense.
 */
int witness_cost(const struct timing_raw *r, size_t n, const struct timing_chains *chains, double step, double rate,
                 double error, struct timing_cost *out);
