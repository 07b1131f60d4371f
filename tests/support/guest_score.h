/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores answers to traces of a busy guest (guest_traces.h), and to the recorded ones of a folder. */
#ifndef TEST_GUEST_SCORE_H
#define TEST_GUEST_SCORE_H

#include <stddef.h>
#include <stdio.h>

#include "analysis/phases/phases.h"
#include "tests/support/guest_traces.h"

/*
 * Right: each phase after the switch of the right kind, durations (of a ramp: its time constant) within 0.4 us or
 * 15 %, ratios within 0.1, the step of the clock within 1 %, both of two lengths, nothing invented; a halt of less than
 * 1 us need not be distinguished from throttling. Undecided: the answer says that it does not know, tells a part of
 * it without saying that there is no more, or finds nothing and does not say that it would have. Anything else is
 * false.
 */
enum guest_verdict { GUEST_RIGHT, GUEST_UNDECIDED, GUEST_FALSE, GUEST_VERDICTS };
enum guest_verdict guest_judge(const struct guest_truth *truth, const struct phases *p, char *why, size_t why_size);

/* How many limits there are, and how many hold the truth: of phases of the right kind in an answer that is right. */
enum guest_limits { GUEST_DURATION, GUEST_HALT_DURATION, GUEST_RATIO, GUEST_TAU, GUEST_LIMITS };
struct guest_held {
    size_t n, held;
    double off, wide; /* sums: of what values differ by, and of halves of their limits */
};
void guest_check_limits(const struct guest_truth *truth, const struct trace *t, const struct phases *p,
                        struct guest_held held[GUEST_LIMITS]);

/* "right", ... */
const char *guest_verdict_name(enum guest_verdict v);

/*
 * The recorded traces of a folder with a truth.json, an object of objects: its member `index`, whose key is the file's
 * name. 1; 0: there is no such member; -1: it cannot be read, why in `name`.
 */
int guest_case(const char *folder, size_t index, struct trace *t, struct guest_truth *truth, char *name, size_t size);

/* One line: the truth as drawn or read, and the phases of an answer. */
void guest_print_answer(FILE *out, const struct guest_truth *truth, const struct phases *p);

#endif
