/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of finished tables that a scheduler can use: the parameters that --export writes as a C header and as JSON
 * (doc/export-format.md). Pure: it knows tables and the names of kernels, no machines.
 *
 * Everything is a whole number in a stated unit, with its 95 % limits where the table has them, and is either measured
 * or absent: absence is distinguished from 0 everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/switching.h"
#include "tables/table/table.h"

enum {
    SCHEDULE_LEVELS_MAX = 8,
    /* the fixed-point arithmetic of the header is dimensioned for these */
    SCHEDULE_MHZ_MIN = 250,
    SCHEDULE_MHZ_MAX = 16000,
    /* Turbo frequencies come in steps of the 100 MHz bus clock (MSR 1ADH): a quarter of it is the same frequency. */
    SCHEDULE_SAME_MHZ = 25,
};

struct schedule_number {
    bool present, has_limits; /* not present: the numbers are 0 and mean nothing */
    int32_t value, lo, hi;
};

/* The properties of a kernel that its name gives. License levels are requested by width and weight (dissertation,
 * section 3.2.1). */
struct schedule_kernel {
    unsigned width; /* bits */
    bool heavy;
    bool plain;  /* its full rate is its class's demand: neither one dependent chain nor dirty upper halves nor loads */
    bool memory; /* likewise, but one operand is in memory */
    unsigned density; /* one such instruction in every so many; 1 = nothing else */
};
/* Reads a kernel's name; false: it stands for no class (pause, which computes nothing, a mixture, an unknown one). */
bool schedule_kernel_of(const char *name, struct schedule_kernel *out);

struct schedule_class {
    unsigned width;
    bool heavy;
    /* at full rate, on registers; and with operands from memory, whatever level of it. Of kernels that differ, the
     * highest level. */
    struct schedule_number level, level_mem;
};

/* A class in every `density` instructions: which level it requests, after how many of them. */
struct schedule_trigger {
    size_t class_index;
    unsigned density;
    struct schedule_number level, count;
};

/* One number of active cores on one CPU; by level. */
struct schedule_point {
    int cpu;
    unsigned active_cores;
    struct schedule_number mhz[SCHEDULE_LEVELS_MAX];
    struct schedule_number ratio_ppm[SCHEDULE_LEVELS_MAX]; /* of the first kernel's frequency; where it floats */
};

/* A turbo level: neighboring numbers of active cores that share their frequencies. */
struct schedule_turbo {
    int cpu;
    unsigned cores_lo, cores_hi;                     /* the first and the last number that was measured */
    struct schedule_number mhz[SCHEDULE_LEVELS_MAX]; /* means over them */
};

/* The cost of a change from one class to another; where several pairs of kernels were measured, the largest value. */
struct schedule_cost {
    size_t from, to; /* classes, or levels in level_costs */
    unsigned active_cores;
    struct schedule_number down_ns, up_ns, breakeven_ns;
};

struct schedule_relaxation {
    size_t from, to;
    unsigned mode; /* 1: the usual wait, 2: the long one */
    size_t source; /* the pair of kernels that it was measured with: one for each from and to, its shares add up */
    struct schedule_number wait_ns, share_permille;
};

struct schedule_throttle {
    size_t from, to;
    unsigned active_cores, phase;
    struct schedule_number duration_ns, ratio_permille;
};

/* A CPU, and the measured one whose frequencies it has, because its core is alike. */
struct schedule_cpu {
    int cpu, like;
};

/* Events that schedulers count, besides those of the levels: cycles throttled while a level is pending; stalled while a
 * demand load misses the L2 cache; bound on stores (G 4.3.2). */
enum schedule_event { SCHEDULE_THROTTLE, SCHEDULE_STALL_LOADS, SCHEDULE_STALL_STORES, SCHEDULE_EVENTS };
extern const char *const schedule_event_names[SCHEDULE_EVENTS]; /* "throttle", ... */
struct schedule_code {
    bool present;
    uint32_t code; /* drivers/events/event_code.h */
};

struct schedule_missing {
    const char *table;
    char *why;
    size_t count;  /* entries with this reason */
    bool left_out; /* measured, but it cannot be used; else it was not measured */
};

struct schedule_setting {
    const char *table, *key, *value;
};

struct schedule { /* its texts are those of the tables */
    /* provenance, NULL where the tables do not say; dates are the first and the last */
    const char *cpu, *machine, *source, *version, *date_first, *date_last;
    bool modelled;
    int family, model, stepping; /* -1: the processor's name does not say */
    unsigned cores;              /* physical cores of the machine; 0: the tables do not say */
    size_t n_settings;
    struct schedule_setting *settings;

    bool relative; /* the frequency floats: levels are those of ratios, which have narrower limits than frequencies */
    unsigned n_levels;
    /* The event that counts the cycles at a level: event select | umask << 8, derived from what was counted. */
    struct schedule_number level_event[SCHEDULE_LEVELS_MAX];
    struct schedule_code event[SCHEDULE_EVENTS];
    size_t n_cpus;
    struct schedule_cpu *cpus; /* by CPU */
    size_t n_classes;
    struct schedule_class *classes; /* by width, light before heavy */
    size_t n_triggers;
    struct schedule_trigger *triggers;
    size_t n_points;
    struct schedule_point *points; /* by CPU, then active cores */
    size_t n_turbos;
    struct schedule_turbo *turbos; /* likewise */
    size_t n_costs;
    struct schedule_cost *costs; /* between classes */
    size_t n_level_costs;
    struct schedule_cost *level_costs; /* between different levels: the largest of the classes' */
    size_t n_relaxations;
    struct schedule_relaxation *relaxations;
    size_t n_level_relaxations;
    struct schedule_relaxation *level_relaxations;
    size_t n_throttles;
    struct schedule_throttle *throttles;
    struct schedule_number switching_ns[SWITCHING_KINDS]; /* what the system takes for tasks */
    size_t n_missing;
    struct schedule_missing *missing;
    size_t n_ignored; /* rows that stand for no class, have no level, or a value outside of the range of its unit */
    /* Ignored rows, single impossible values, and contradictions: all of them are in `missing`, too. The first as
     * "TABLE: why", "" where there is none. */
    size_t n_left_out;
    char first_left_out[300];
};

/* Checks that tables may be used together: all of the same processor and machine, all measured or all modelled, none of
 * them twice. Returns 0, or -1 with one line in `why`. */
int schedule_check_tables(const struct table *const *tables, size_t n, char *why, size_t why_size);
/* Checks that they have what such tables promise: the columns of doc/formats.md (of tables that it names), and values
 * within their limits. Returns 0, or -1 with one line in `why`. */
int schedule_check_rows(const struct table *const *tables, size_t n, char *why, size_t why_size);
/*
 * Checks tables of a file, which anybody may have edited: the units of their columns, their kernels' names, and that
 * they have no more active cores than the processor. Returns NULL, or the first table that fails, with one line in
 * `why`.
 */
const struct table *schedule_check_read(const struct table *const *tables, size_t n, char *why, size_t why_size);

/*
 * Reads the parameters out of n finished tables, those whose kinds name a part (enum tables_export); others are passed
 * over. The tables must outlive the parameters. A table that is not there leaves its parameters absent. What the two
 * checks above refuse is refused. What lacks limits, or what other rows contradict, is left out; and where the table
 * frequency was measured and has no two levels that the frequency tells apart (estimates_levels), all costs and waits
 * are.
 * Returns 0, or -1 with one line in `why`, which has the reason of each section where nothing can be used; *out is then
 * empty. schedule_free in any case.
 */
int schedule_from_tables(const struct table *const *tables, size_t n, struct schedule *out, char *why, size_t why_size);
void schedule_free(struct schedule *s);

/*
 * Checks that the parameters neither contradict each other nor state the impossible: a level faster than a lower one,
 * shares of a wait that are more than a whole, a processor or machine without a name. Returns 0, or -1 with one line in
 * `why`.
 */
int schedule_check_consistent(const struct schedule *s, char *why, size_t why_size);
