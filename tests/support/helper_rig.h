/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine helper over the made-up device of tests/support/fake_helper.h. For tests that include cmocka.h before. */
#pragma once

#include "drivers/machine.h"

struct helper_rig {
    struct machine machine;
    struct machine_error error;
    double clock_step; /* 0: this machine's own */
};
extern struct helper_rig helper_rig;

/* For TEST_WITH(): the device as it is at first, and a machine that is closed afterwards. */
int helper_rig_reset(void **state);
int helper_rig_close(void **state);

struct payload helper_rig_payload(const char *name);
/* On a Sapphire Rapids: no license events are known. */
int helper_rig_open(void);
/* With the counters given, at 2 us; must succeed. */
void helper_rig_prepare(const struct counter_spec *counters, size_t n);
/* Warms up, then 20 us of `from` and 40 us of `to`. */
int helper_rig_run(const char *from, const char *to, double warm_us, struct recording *rec);
/* Checks that the last error has this status and text. */
void helper_rig_refused(int status, const char *text);
