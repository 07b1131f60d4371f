/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The independent measure of the frequency: slices of 100 us of dependent adds, one a cycle, against the TSC. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* GHz: the tenth, the middle and the ninth tenth of the slices. `even`: that tells the clock. Nothing makes a chain
 * too fast, so that the fastest ones agree where nothing slows them; where all are slowed, by neighbors of the guest,
 * these scatter as well (a Granite Rapids guest: 90 % below 4.00, 98 % below 4.03 GHz, the clock at 4.09). */
struct long_chain {
    double lo, middle, hi;
    bool even;
};

enum { LONG_CHAIN_SLICES = 2000 };

/* Slices taken now and then, e.g. between the repetitions of a measurement. */
struct long_chain_slices {
    size_t n;
    double ghz[LONG_CHAIN_SLICES];
};

/* Up to n more of them, on a CPU (-1: where it runs now), which is left again. 0, or -1: it cannot run there. */
int long_chain_add(int cpu, double tsc_hz, size_t n, struct long_chain_slices *to);
/* The range of all slices so far, at least one; sorts them. */
struct long_chain long_chain_of(struct long_chain_slices *s);

/* 200 slices on a CPU (-1: where it runs now), which is left again. 0, or -1: it cannot run there. */
int long_chain(int cpu, double tsc_hz, struct long_chain *out);
/* Returns non-zero if a frequency lies in the range of two of them, widened by half a per cent. */
int long_chain_holds(const struct long_chain *a, const struct long_chain *b, double ghz);
