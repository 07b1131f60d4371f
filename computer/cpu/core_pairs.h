/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which CPUs share a core, as measured (drivers/native/core_pairs_measure.h): hypervisors often number sibling threads
 * wrongly, and may move virtual CPUs. Pure, but for sysfs.
 *
 * All CPUs take part at once, in rounds of two slots. In each round about half of them measure: they run the same code
 * in both slots. The others toggle: they run it in one slot, the first or the second, and pause in the other one. The
 * rate of each that measures, while one that toggles ran, over that while it paused, is the answer for the two of them:
 * 0.5 to 0.65 on one core, 1 on two. Both slots are within milliseconds, so that drift of the clock cancels; all cores
 * are active in both, and as many run code; who runs first is random, so that what else happens takes as often from the
 * one as from the other slot: differences upwards are the null of those downwards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"

enum { CORE_PAIRS_CPUS_MAX = 256, CORE_PAIRS_MOMENTS_LEAST = 20 };
#define CORE_PAIRS_SHARED 0.85 /* the upper limit of a rate on one core */
#define CORE_PAIRS_APART 0.92  /* the lower limit on two */

enum core_pair_kind { CORE_PAIR_UNDECIDED, CORE_PAIR_APART, CORE_PAIR_SHARED, CORE_PAIR_VARIES, CORE_PAIR_KINDS };
extern const char *const core_pair_kind_names[CORE_PAIR_KINDS]; /* "undecided", "apart", "shared", "varies" */

struct core_pair {
    int a, b; /* CPUs */
    enum core_pair_kind kind;
    bool said;           /* sysfs says that they share a core */
    unsigned moments;    /* rounds in which one measured, the other toggled, and both had their CPU */
    double rate, lo, hi; /* of one while the other runs, relative: the median with its 95 % limits; NaN: too few */
    double shared;       /* of the moments, without as many as the null has */
};

struct core_slot {
    float log_rate; /* of its code; NaN: it paused */
    bool present;   /* the thread had its CPU for most of it */
};

struct core_pairs {
    size_t n;  /* CPUs */
    int *cpus; /* ascending */
    uint64_t seed;
    size_t rounds, most;     /* measured; that there is room for */
    struct core_slot *slots; /* of CPU i in half h of round r: [(2 * r + h) * n + i] */
    size_t n_pairs;
    struct core_pair *pairs;
    double seconds; /* that it took */
};

/* Room for so many rounds of all CPUs that may be used, at most CORE_PAIRS_CPUS_MAX. Returns 0, or -1: out of memory;
 * then, and after core_pairs_free(), it is empty. */
int core_pairs_begin(const char *root, const struct cpu_view *v, size_t rounds, uint64_t seed, struct core_pairs *out);
void core_pairs_free(struct core_pairs *p);

/* Whether a CPU runs code in one of the halves of a round. */
bool core_pairs_runs(const struct core_pairs *p, size_t round, unsigned half, size_t i);

/* Judges all pairs by the rounds so far. Returns how many are undecided, or -1: out of memory. */
int core_pairs_judge(struct core_pairs *p);

/*
 * Of each CPU the first one of its core (cpu_view.core), as sysfs says, but for pairs that contradict it: measured
 * otherwise, surely together or surely apart. Returns true if any does; else *core is not written. core: CPU_LIMIT.
 */
bool core_pairs_cores(const struct core_pairs *p, const char *root, int *core);

/* "CPUs 0 and 1 share a core (while one runs, the other has 0.58 [0.57, 0.59] of its rate), although sysfs says that
 * they do not". */
void core_pair_text(const struct core_pair *p, char *out, size_t size);
/* Texts of all pairs that are `kind` or, for CORE_PAIR_KINDS, that contradict sysfs; as many as fit. How many. */
size_t core_pairs_text(const struct core_pairs *p, enum core_pair_kind kind, char *out, size_t size);
