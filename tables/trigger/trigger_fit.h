/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether bursts of code have requested a license level, from how the plain code behind each ran. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/sights.h"

enum { TRIGGER_GRADES_MAX = 4 };
/* Relative: levels of real parts differ by 100 MHz in 4 GHz at least, 2.5 %. */
#define TRIGGER_SAME_FREQUENCY 0.01

struct trigger_grades {
    size_t n;
    bool counted; /* grades are license levels, told by the counters; else ranks of the frequencies seen */
    /* mean of the repetitions, as a ratio to that without a burst; NaN: a level that was not seen */
    double freq[TRIGGER_GRADES_MAX];
};
/*
 * Sorts repetitions into grades: by license level where all have one, else by frequency: frequencies that differ by
 * less than TRIGGER_SAME_FREQUENCY are one grade. Returns 0, or -1: out of memory.
 */
int trigger_grade(struct sight *s, size_t n, struct trigger_grades *out);

/* Whether a further repetition reaches this grade (>= 1): nearer to it, in frequency, than to the one above. */
bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade);

/* Share of repetitions whose grade is `grade` or a lower frequency. */
double trigger_share(const struct sight *s, size_t n, int grade);
/*
 * The grade that a set of repetitions reaches: the lowest frequency that at least four in five reach while not more
 * than one in five go beyond it; -1: they do not agree.
 */
int trigger_agreed(const struct sight *s, size_t n);
