/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of --beside as a table. It needs a command, so it is no table that --table and --all measure. */
#pragma once

#include "drivers/corun.h"
#include "tables/table/tables.h"

enum { BESIDE_CODES_MAX = 8 };

struct beside_request {
    const struct corun *work; /* who runs the command; NULL: `kernel` is run on the machine, which is a model */
    struct payload kernel;
    const char *command; /* in words */
    enum corun_place place;
    size_t n_codes;
    struct payload codes[BESIDE_CODES_MAX]; /* the wide ones: at least one, or two clocks */
    size_t n_clocks;
    double clocks[BESIDE_CODES_MAX]; /* GHz: it runs alone, at these frequencies, which `work` sets */
    double on_us, every_us;          /* every_us 0: without a pause */
    double seconds;
    unsigned rounds; /* 0: until the limits suffice or the time is over */
};

/* The narrow code that wide code is compared with: the same operation of 128 bits; 64add where there is none, or where
 * it needs more than these features (enum kernel_feature). */
struct payload beside_narrow(const struct payload *wide, unsigned features);

extern const struct table_kind table_beside;
