/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine with one fault: another machine's recordings, of which one thing is changed. */
#pragma once

#include "drivers/machine.h"

enum fault {
    FAULT_NONE,
    FAULT_SCALED,     /* `counter` counts `factor` of what it should */
    FAULT_STUCK,      /* ... nothing any more */
    FAULT_ALL_CYCLES, /* ... all cycles, whatever it should */
    FAULT_MISSING,    /* `counter` is counted in no reading */
    FAULT_TSC_STEP,   /* the TSC advances in steps of `factor` ticks */
    FAULT_TSC_BACK,   /* ... goes back by so many once in each recording */
    FAULT_COST,       /* of short samples only this part is work */
    FAULT_JITTER,     /* every other reading is late by this part of the sample after it */
    FAULT_INTERRUPTS, /* one reading in 12 comes 1 us late: some 40000 a second */
    FAULT_LOST,       /* one reading in 200 comes after this many microseconds more */
    FAULT_REGISTER,   /* 198H holds `value` */
    FAULT_ENERGY,     /* energy falls */
    FAULT_SWITCHED    /* the thread is preempted in `factor` of the repetitions */
};

struct broken {
    struct machine inner; /* closed with it */
    enum fault fault;
    enum counter_id counter;
    double factor;
    uint64_t value;
    bool as_timing; /* it offers nothing but the chain: its ticks are the TSC's, its cycles the core's */
    /* its own */
    struct machine_setup setup;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    unsigned runs;
    double joules;
};

/* Wraps b->inner. `b` must live as long as *out. */
void broken_open(struct broken *b, struct machine *out);
