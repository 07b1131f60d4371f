/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the settings of a machine are, and the file that remembers them. */
#ifndef CHARACTERIZE_SETTINGS_ROOTS_H
#define CHARACTERIZE_SETTINGS_ROOTS_H

#include <stdbool.h>

#include "drivers/power/likwid_bridge.h"

/* Where things are. */
struct settings_roots {
    const char *sys, *dev; /* "/sys", "/dev", or folders laid out like them */
    const char *state;     /* the file that remembers: settings_state_file() */
    likwid_loader *likwid; /* NULL: likwid_load */
    bool intel;            /* the register of Intel's processors may be used */
};

#endif
