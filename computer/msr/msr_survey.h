/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of the documented registers a CPU answers, and what they say at the moment. */
#pragma once

#include "computer/msr/msr_decode.h"
#include "computer/msr/msr_device.h"

struct msr_survey {
    unsigned answered;   /* registers that could be read, whatever they hold */
    int read_errno;      /* of the first that could not; 0: all could */
    bool volts;          /* the core voltage is reported */
    char volts_why[120]; /* why not; "" */
    char found[200];     /* what they say, in words: "core voltage 0.880 V, base 2.1 GHz, ..."; "" for nothing */
    char turbo[200];     /* the turbo limits by active cores, GHz: "1-2: 3.7, 3-4: 3.5"; "" where not known */
    char limits[200];    /* what limits the frequency at the moment: "temperature, PL1"; "" for nothing */
};
/* Reads each once, on the CPU of the device. */
void msr_survey(struct msr_device *d, const struct msr_part *p, struct msr_survey *out);

/* Why register `reg` cannot be read, in words: `error` is what msr_device.read returned. */
void msr_read_error_text(uint32_t reg, int cpu, int error, bool guest, char *out, size_t size);
