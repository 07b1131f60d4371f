/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the system does for threads, and the words for it in tables and exports. */
#pragma once

enum switching_what {
    SWITCHING_SWITCH,    /* two threads on one CPU wake each other through pipes; without: one writes to its own pipes
                             and reads from them */
    SWITCHING_MIGRATION, /* a thread moves itself to another CPU or back by its affinity; without: that changes, but the
                             thread need not move */
    SWITCHING_FAULT,     /* pages are written that are in memory but not mapped; without: they are mapped */
    SWITCHING_KINDS
};
extern const char *const machine_switching_names[SWITCHING_KINDS]; /* "switch", "migration", "fault" */
