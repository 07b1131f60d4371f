/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intel Speed Select: /dev/isst_interface reports the frequencies that a processor allows to each class of code.
 * Only commands that read are sent. Two protocols are behind it: a mailbox (Ice Lake to Emerald Rapids servers), and
 * since Granite Rapids registers that the kernel reads (TPMI). After Linux, include/uapi/linux/isst_if.h, drivers/
 * platform/x86/intel/speed_select_if/ and tools/power/x86/intel-speed-select/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

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

/* The CPU in question. */
struct speed_select_cpu {
    int cpu;
    int package;
    const int *cpus; /* online CPUs of the package: over how many dies they are spread is found from them */
    size_t n_cpus;
    unsigned model; /* CPUID's, of family 6 */
};
/*
 * Fills tables, base_ghz, source and, where the processor has turbo by priority, high, low_ghz and by_priority of the
 * level of performance that is in force. Returns MACHINE_OK, or fills *err,
 * leaves *out as it was and returns MACHINE_CANNOT: a command failed, or the answer holds no limits.
 */
int speed_select_read(struct speed_select *d, const struct speed_select_cpu *c, struct rated_limits *out,
                      struct machine_error *err);

/*
 * ---- what passes through /dev/isst_interface, as include/uapi/linux/isst_if.h of Linux 6.12 lays it out. It stands
 * here again because the header of older distributions lacks the second half. ----
 */

struct isst_platform {
    uint16_t api_version; /* 1: mailbox; 2 and above: TPMI */
    uint16_t driver_version, max_commands;
    uint8_t mailbox, mmio;
};
struct isst_cpu_maps {
    uint32_t count; /* 1 */
    uint32_t logical_cpu, physical_cpu;
};
struct isst_mailbox {
    uint32_t count; /* 1 */
    uint32_t logical_cpu, parameter, request, response;
    uint16_t command, sub_command;
    uint32_t reserved;
};
struct isst_msr {
    uint32_t count; /* 1; what follows is aligned to 8 bytes */
    uint32_t padding;
    uint32_t write, logical_cpu;
    uint64_t number, value;
};
struct isst_levels {
    uint8_t package, domain;
    uint8_t highest, revision, mask, current, features, locked, enabled, turbo_supported, base_supported;
};
enum { ISST_BUCKETS = 8, ISST_TURBO_LEVELS = 6 };
struct isst_level_info {
    uint8_t package, domain;
    uint16_t level, tdp_ratio;
    uint16_t base_mhz[4]; /* without AVX, AVX2, AVX-512, AMX */
    uint16_t tdp_watts, tjmax, memory_mhz, cooling, core_mhz[4], fabric_mhz[4];
    uint16_t buckets, turbo_levels;
    uint16_t bucket_cores[ISST_BUCKETS]; /* of one die */
    uint16_t turbo_mhz[ISST_TURBO_LEVELS][ISST_BUCKETS];
};
struct isst_turbo_by_priority {
    uint8_t package, domain;
    uint16_t level, clips, buckets, turbo_levels; /* how many of what follows */
    uint16_t low_mhz[ISST_TURBO_LEVELS];
    uint16_t bucket_cores[ISST_BUCKETS]; /* of high priority, of one die */
    uint16_t high_mhz[ISST_TURBO_LEVELS][ISST_BUCKETS];
};

/* The kernel's header gives pointers as types, so the size in the number is that of a pointer. */
#define ISST_PLATFORM _IOR(0xfe, 0, void *)
#define ISST_CPU_MAP _IOWR(0xfe, 1, void *)
#define ISST_MAILBOX _IOWR(0xfe, 3, void *)
#define ISST_MSR _IOWR(0xfe, 4, void *)
#define ISST_LEVELS _IOWR(0xfe, 9, void *)
#define ISST_LEVEL_INFO _IOR(0xfe, 12, void *)
#define ISST_TURBO_BY_PRIORITY _IOR(0xfe, 16, void *)
/* isst_levels.features and turbo_supported; the mailbox's answer to ISST_GET_FEATURES */
enum { ISST_PRIORITY_ON = 1 << 1, ISST_MAILBOX_PRIORITY = 1 << 0, ISST_MAILBOX_PRIORITY_ON = 1 << 16 };

/* Mailbox: the command CONFIG_TDP and its sub-commands that read. */
enum {
    ISST_CONFIG_TDP = 0x7f,
    ISST_GET_LEVELS = 0x00,
    ISST_GET_FEATURES = 0x01,
    ISST_GET_TURBO_RATIOS = 0x07,
    ISST_GET_BASES = 0x0a
};
enum { ISST_GET_HIGH_CORES = 0x10, ISST_GET_HIGH_RATIOS = 0x11, ISST_GET_LOW_RATIOS = 0x12 };
