/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of events, one text file for each kind of core (data/events/, doc/event-format.md), and finding the one that
 * belongs to a CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"
#include "drivers/events/event_code.h"
#include "drivers/machine.h"

enum { EVENTS_NAME_MAX = 64, EVENTS_PARTS_MAX = 16, EVENTS_ENTRIES_MAX = 160, EVENTS_PATH_MAX = 256 };

/* The license events, where a part has them. */
enum events_license { EVENTS_LVL0, EVENTS_LVL1, EVENTS_LVL2, EVENTS_THROTTLE, EVENTS_LICENSES };

/* Cycles that do not follow the clock: stalled while a demand load misses the L2 cache; bound on stores (G 4.3.2). */
enum { EVENTS_STALLS = 2 };
extern const char *const events_stalls[EVENTS_STALLS];

struct events_entry {
    char name[EVENTS_NAME_MAX];
    uint64_t code;     /* drivers/events/event_code.h */
    uint32_t counters; /* programmable counters that can count it: bit n = counter n */
    unsigned line;     /* of the file */
};

/* Which CPUs a table holds for: display family and model as in struct cpu_identity, both ends included. */
struct events_part {
    char vendor[13];
    unsigned family, model_lo, model_hi, stepping_lo, stepping_hi;
};

/* True where the cores of a vendor, as CPUID names it, are AMD's: Hygon's are. They have event selects of twelve
 * bits and no license levels. */
bool events_amd(const char *vendor);

struct events_table {
    char file[EVENTS_PATH_MAX];
    char title[80];
    char pmu[16]; /* "cpu", or of hybrid parts "cpu_core", "cpu_atom" */
    struct events_part parts[EVENTS_PARTS_MAX];
    size_t n_parts;
    struct events_entry entries[EVENTS_ENTRIES_MAX];
    size_t n_entries;
    int license[EVENTS_LICENSES]; /* index into entries; -1 = the part has no such event */
    int level_of[3]; /* the license levels at which 64add, 256fma, 512fma run, as published; all -1: not known */
};

/*
 * Reads the text of a table (`length` bytes, followed by a NUL). `file` is its name, for messages. Returns MACHINE_OK,
 * or MACHINE_BAD_INPUT with FILE:LINE and the reason in *err.
 */
int events_parse(const char *text, size_t length, const char *file, struct events_table *out,
                 struct machine_error *err);

/* True where a table holds for a CPU and the PMU that counts on it ("cpu", "cpu_core", "cpu_atom"). */
bool events_match(const struct events_table *t, const struct cpu_identity *id, const char *pmu);

/*
 * Finds the table of a CPU in data/events/ (`data_dir`: where that folder is, NULL = the shipped data) and reads it.
 * Returns MACHINE_OK; MACHINE_CANNOT when there is none for this CPU; or MACHINE_BAD_INPUT or MACHINE_FAILED when a
 * file there cannot be read. *err says why.
 */
int events_find(const char *data_dir, const struct cpu_identity *id, const char *pmu, struct events_table *out,
                struct machine_error *err);

/*
 * An event by its name, in upper or lower case. Returns it, or NULL after filling *err (MACHINE_BAD_INPUT, with the
 * nearest names).
 */
const struct events_entry *events_by_name(const struct events_table *t, const char *name, struct machine_error *err);

/* The events of a table with this event select (event_code_select()): at most `max`. Returns how many were written. */
size_t events_by_select(const struct events_table *t, uint32_t select, struct machine_event *out, size_t max);
