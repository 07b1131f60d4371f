/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The independent measure of the frequency: slices of 100 us of dependent adds, one a cycle, against the TSC. */
#pragma once

#include <stddef.h>

/* GHz: the tenth, the middle and the ninth tenth of the slices. */
struct long_chain {
    double lo, middle, hi;
};

/* 200 slices on a CPU (-1: where it runs now), which is left again. 0, or -1: it cannot run there. */
int long_chain(int cpu, double tsc_hz, struct long_chain *out);
/* Whether a frequency lies in the range of two of them, widened by half a per cent. */
int long_chain_holds(const struct long_chain *a, const struct long_chain *b, double ghz);
