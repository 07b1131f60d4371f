/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What work costs beside background code: rounds in each of which it runs once beside nothing, twice beside narrow code
 * and once beside each wide one, in random order. Costs are ratios within a round (G 3.3.5, equations 3.1 and 3.2: CPU
 * time beside wide code relative to that beside narrow code); the second run beside narrow code is their null. Or at
 * several fixed frequencies, of which the first takes the place of narrow code.
 */
#pragma once

#include "analysis/stats/estimate.h"
#include "drivers/corun.h"

enum { CORUN_NOTHING, CORUN_NARROW, CORUN_NULL, CORUN_WIDE, CORUN_CODES_MAX = 16 };

struct corun_setup {
    const struct corun *work;
    const struct payload *codes; /* [0] the narrow one, then the wide ones; NULL: it runs beside nothing, at `clocks` */
    const double *clocks;        /* GHz, without codes */
    size_t n_codes;              /* of codes, or of clocks: 2 to CORUN_CODES_MAX - 2 */
    double on_us, every_us;      /* as in struct corun_background */
    unsigned least, most;        /* rounds, 1 or more */
    double seconds;              /* no further round begins after this, once there are `least` */
    double patience;             /* MACHINE_BAD_INPUT where `least` rounds would take so many times `seconds` */
    double enough;               /* half of the width of a cost's limits that suffices, as a fraction */
    uint64_t seed;
    int (*progress)(void *data, double part); /* may be NULL; non-zero: stop */
    void *data;
};

/* Beside one code; NaN: not measured. */
struct corun_cost {
    struct estimate time_s, cpu_s, ghz;
    struct estimate time_cost, cpu_cost; /* relative to narrow code (both of its runs), as fractions: 0.1 is 10 % more;
                                            of that relative to CORUN_NOTHING, and of CORUN_NOTHING none */
    struct estimate stall; /* at a clock: the share of the cycles at the first clock that take as long at any other (G
                              equation 4.3, solved for it); NaN: they were not fixed, to one in a hundred */
};
struct corun_result {
    struct corun_cost of[CORUN_CODES_MAX]; /* CORUN_NOTHING, CORUN_NARROW, CORUN_NULL, then the wide codes */
    unsigned rounds;
    double seconds;
};

/* MACHINE_OK; MACHINE_FAILED: stopped, or out of memory; or what a run returned. A first run does not count. */
int corun_rounds(const struct corun_setup *s, struct corun_result *out, struct machine_error *err);
