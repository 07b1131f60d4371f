/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The energy that a processor package has used, from whichever of Linux's ways to the RAPL counters is open: powercap
 * (/sys/class/powercap/intel-rapl:N/energy_uj), liblikwid with its access daemon, or the register itself (611H in units
 * of 606H; AMD C001029BH in units of C0010299H). RAPL: Intel SDM vol. 3B, section 15.10; the counters have 32 bits,
 * wrap after minutes of high power, and move about once a millisecond.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "computer/msr/msr_decode.h"
#include "computer/power/likwid_bridge.h"

enum { ENERGY_PATH_MAX = 256 };

/* An energy counter, read: joules and seconds since some origin, both from one moment. */
struct energy_reading {
    double joules, seconds;
};

/* Reads a register of a CPU: 0, or an error number. */
typedef int energy_read_register(void *context, int cpu, uint32_t reg, uint64_t *value);

/* The ways in. */
struct energy_access {
    char sys[ENERGY_PATH_MAX];           /* "/sys", or a folder laid out like it */
    char dev[ENERGY_PATH_MAX];           /* "/dev" likewise, for cpu/N/msr; "" = not to be tried */
    likwid_loader *likwid;               /* NULL = not to be tried */
    energy_read_register *read_register; /* instead of `dev`; NULL = there is none */
    void *context;                       /* of read_register */
    struct msr_part part;                /* the processor: which registers it has */
    bool guest;                          /* under a hypervisor */
    double edge_us;                      /* longest wait for the counter to move; 0 = it is read as it stands */
};
enum { ENERGY_EDGE_US = 20000 };

enum energy_kind { ENERGY_UNKNOWN, ENERGY_POWERCAP, ENERGY_LIKWID, ENERGY_REGISTER, ENERGY_NOTHING };

/* The counter in use. Zeroed except for `access`: none has been looked for yet. */
struct energy {
    struct energy_access access;
    enum energy_kind kind;
    int cpu;                    /* for whose package */
    bool of_die;                /* the counter is of the CPU's die alone; else of its package */
    char source[200];           /* one line */
    char zone[ENERGY_PATH_MAX]; /* powercap: its folder below sys */
    double step;                /* registers: joules of a step */
    double lap;                 /* joules after which the counter wraps */
    double before, total;       /* joules: last reading; since the first one */
    char why[480];              /* ENERGY_NOTHING: why none can be read */
    char remedy[200];
};

/*
 * The energy of the package that holds `cpu` (e->of_die: of its die there), in joules since the first reading, and the
 * time of the reading in seconds (CLOCK_MONOTONIC_RAW, from an arbitrary origin): when the counter was seen to move,
 * waiting for that as long as access.edge_us. More than one lap of the counter between two readings cannot be noticed.
 * The first call, and any for another CPU, looks for a counter; what is found, or that there is none, is kept.
 * MACHINE_OK; or MACHINE_CANNOT with why none of the ways is open, and the remedy.
 */
int energy_read(struct energy *e, int cpu, struct energy_reading *out, const char **source, struct machine_error *err);
