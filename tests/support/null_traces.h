/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of a core on which nothing happens, with every kind of noise that recordings have: what an analysis finds in
 * them is false.
 */
#ifndef TEST_NULL_TRACES_H
#define TEST_NULL_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

enum null_kind {
    NULL_WHITE,       /* normal, up to 1 % in frequency and 6 % in IPC */
    NULL_OUTLIERS,    /* up to 1 % of the samples are off by up to 30 % */
    NULL_HEAVY,       /* Student's t with 3 degrees of freedom */
    NULL_SPREAD,      /* spread-spectrum clock: +-0.2 %, period 5..60 us */
    NULL_DRIFT,       /* up to 0.3 % from begin to end, straight or bent */
    NULL_QUANTISED,   /* a short chain against whole ticks of the TSC: few values, 0.7..3 % apart */
    NULL_INTERRUPTED, /* 2 us..3 ms lost, in 6 to 60 % of the repetitions */
    NULL_MISSING,     /* up to 10 % of the fields */
    NULL_OFFSETS,     /* each repetition has its own frequency, +-0.3 % */
    NULL_KINDS
};

struct null_about {
    bool switched; /* from and to are known: time 0 is a boundary */
    size_t runs;
    char text[300];
};

/* "white", ...; NULL = no such kind. */
const char *null_kind_name(enum null_kind kind);

/* 40 to 200 samples of 1 to 400 repetitions. The same arguments give the same trace. 0, or -1: out of memory. */
int null_trace(enum null_kind kind, uint64_t seed, struct trace *t, struct null_about *about);

/* Returns true if the answer to such a trace claims to have found something, described in `what`; false = nothing, as
 * is right. */
bool false_finding(const struct phases *p, bool switched, char *what, size_t size);

#endif
