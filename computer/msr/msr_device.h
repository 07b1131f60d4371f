/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading model-specific registers through Linux's /dev/cpu/N/msr: eight bytes at the offset of the register
 * (msr(4), arch/x86/kernel/msr.c). Reads only: writing is done in settings_kinds.c, for one bit. A read takes about
 * a microsecond on the CPU itself and an interrupt of the other one when it is requested from elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "computer/msr/msr_decode.h"
#include "util/error.h"

/* The registers of one CPU. Whoever reads them otherwise (a test, another driver) fills in functions of its own. */
struct msr_device {
    int cpu;
    int fd;
    void *data;
    /* 0, or an error number: EIO where the register does not exist */
    int (*read)(struct msr_device *d, uint32_t reg, uint64_t *value);
    void (*close)(struct msr_device *d);
};

/* Opens `dev`/cpu/N/msr; `dev` is "/dev" or a folder laid out like it. Returns 0 or the error number of open(2). */
int msr_device_open(const char *dev, int cpu, struct msr_device *out);

/* Obstacles to reading registers. */
struct msr_trouble {
    int cpu;
    int open_errno;    /* 0: it opened */
    int read_errno;    /* of the first register that could not be read; 0: all could */
    bool guest;        /* under a hypervisor */
    bool rawio;        /* CAP_SYS_RAWIO is in force for this process */
    char lockdown[24]; /* the word in brackets in /sys/kernel/security/lockdown; "": there is no such file */
};
/* Fills rawio and lockdown from folders laid out like /sys and /proc. */
void msr_trouble_read(const char *sys, const char *proc, struct msr_trouble *out);
/* MACHINE_OK where nothing did; or MACHINE_CANNOT with a clause each: why not, and what would help (may be ""). */
int msr_trouble_tell(const struct msr_trouble *t, struct machine_error *err);

/* Which of the documented registers a CPU answers, and what they say at the moment. */
struct msr_survey {
    unsigned answered;   /* registers that could be read, whatever they hold */
    int read_errno;      /* of the first that could not; 0: all could */
    bool volts;          /* the core voltage is reported */
    char volts_why[120]; /* why not; "" */
    char found[200];     /* their values, in words: "core voltage 0.880 V, base 2.1 GHz, ..."; "" for nothing */
    char turbo[200];     /* the turbo limits by active cores, GHz: "1-2: 3.7, 3-4: 3.5"; "" where not known */
    char limits[200];    /* present limits of the frequency: "temperature, PL1"; "" for none */
};
/* Reads each once, on the CPU of the device. */
void msr_survey(struct msr_device *d, const struct msr_part *p, struct msr_survey *out);

/* Why register `reg` cannot be read, in words: `error` is what msr_device.read returned. */
void msr_read_error_text(uint32_t reg, int cpu, int error, bool guest, char *out, size_t size);
