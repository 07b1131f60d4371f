/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why no hardware counter is free, and what to do about it. There are few of them: four general ones for each
 * hyper-thread of Intel's cores before Ice Lake, and the NMI watchdog keeps one on every CPU, by which the event that
 * would have had it (the cycles) needs one of these.
 */
#ifndef CHARACTERIZE_COUNTER_ROOM_H
#define CHARACTERIZE_COUNTER_ROOM_H

#include <stddef.h>

enum { COUNTER_REMEDY_SIZE = 200 };

/* /proc/sys/kernel/nmi_watchdog below `proc` ("/proc", or a folder laid out like it; NULL = "/proc"): 1 on, 0 off, -1
 * not readable. */
int counter_room_watchdog(const char *proc);

/* What a person can do, by what counter_room_watchdog() returned: to free a counter; and, for those who requested many,
 * that or to request fewer at a time. */
const char *counter_room_to_free(int watchdog);
const char *counter_room_remedy(int watchdog);

/* How many events were requested and how many general counters there are (0: not known), as the end of a sentence; or
 * "". */
void counter_room_text(unsigned events, unsigned general, char *out, size_t size);

#endif
