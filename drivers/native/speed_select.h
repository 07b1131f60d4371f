/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intel Speed Select: what /dev/isst_interface tells of the frequencies that a processor allows to each class of code.
 * Only commands that read are sent. Two protocols are behind it: a mailbox (Ice Lake to Emerald Rapids servers), and
 * since Granite Rapids registers that the kernel reads (TPMI). After Linux, include/uapi/linux/isst_if.h, drivers/
 * platform/x86/intel/speed_select_if/ and tools/power/x86/intel-speed-select/.
 */
#pragma once

#include <stddef.h>

#include "drivers/rated_limits.h"

/* The device. Whoever answers otherwise (a test) fills in functions of its own. */
struct speed_select {
    int fd;
    void *data;
    /* as ioctl(2): 0, or an error number */
    int (*ask)(struct speed_select *d, unsigned long request, void *argument);
    void (*close)(struct speed_select *d);
};

/* Opens `dev`/isst_interface; `dev`: "/dev", or a folder laid out like it. Returns 0 or the error number of open(2). */
int speed_select_open(const char *dev, struct speed_select *out);
/* Fills *err for an error number of speed_select_open(), with the reason and the remedy; returns MACHINE_CANNOT. */
int speed_select_refuse(const char *dev, int error, struct machine_error *err);

/* Whom to ask about. */
struct speed_select_cpu {
    int cpu;
    int package;
    const int *cpus; /* online CPUs of the package: over how many dies they are spread is found from them */
    size_t n_cpus;
    unsigned model; /* CPUID's, of family 6 */
};
/*
 * Fills tables, base_ghz and source of the level of performance that is in force. Returns MACHINE_OK, or fills *err,
 * leaves *out as it was and returns MACHINE_CANNOT: a command failed, or the answer holds no limits.
 */
int speed_select_read(struct speed_select *d, const struct speed_select_cpu *c, struct rated_limits *out,
                      struct machine_error *err);
