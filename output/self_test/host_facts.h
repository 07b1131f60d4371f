/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts that others must know about this computer to understand readings from it: the processor, its cores, the kernel,
 * and which machines work. Nothing identifies it: no names of hosts or users, no serial numbers. */
#pragma once

#include <jansson.h>

#include "computer/cpu/cpu.h"

/*
 * As JSON: `cpuid` (all leaves but 3, the serial number), `cpuinfo` (chosen fields of the first processor, and how many
 * there are), `system` (chosen files of /sys), `topology` (of each CPU), `kernel` (release), `machines` (as --list
 * machines). `sys` and `proc` are "/sys" and "/proc", or folders laid out like them. A new reference; NULL: out of
 * memory. What cannot be read is left out.
 */
json_t *host_facts_json(const char *sys, const char *proc);
