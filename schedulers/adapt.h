/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether specialization pays: it is on and off in turns of the same length, and what executes more instructions a
 * second in user space is kept for a while (Gottschlag's dissertation, 6.4).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Turns of each, so that a change of what runs is hardly mistaken for one of the scheduler. Assumed, as are both times:
 * long beside slices; short beside what runs. */
enum { ADAPT_TURNS = 5, ADAPT_TURN_S = 1, ADAPT_KEEP_S = 60 };

struct adapt {
    bool on;                       /* what is to be done now */
    unsigned turns;                /* that have ended; all: it is decided */
    double began;                  /* of the turn, s */
    uint64_t before;               /* instructions until then */
    double counted[2], seconds[2]; /* without and with specialization, since it was decided */
    double rate[2];                /* instructions a second by which it was decided last; 0: it was not */
    unsigned decisions;
};

/* Begins with specialization, at a time in s, after so many instructions of all CPUs. */
void adapt_begin(struct adapt *a, double now, uint64_t instructions);

/* To be called several times a turn: sets `on`. */
void adapt_step(struct adapt *a, double now, uint64_t instructions);
