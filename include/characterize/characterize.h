/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libcharacterize: measures what wide SIMD instructions do to the frequency of an x86 processor.
 *
 * Open a machine (this processor, or a model of one), measure a transition between two kernels or a whole table, read
 * the result through accessors or as JSON and CSV, free it, close the machine. examples/transition.c does so in some
 * thirty lines; `pkg-config --cflags --libs characterize` prints the flags to compile and link with.
 *
 * Common to all functions:
 * - A function that can fail returns CHARACTERIZE_OK, or another status after filling *error if `error` is not NULL;
 *   its result is then NULL. Nothing is printed, no signal handler is installed, the process never exits.
 * - NULL is refused (CHARACTERIZE_BAD_INPUT) unless documented as allowed; it must not be passed to functions that
 *   return no status.
 * - A number that was not measured is NaN, never 0. `lo` and `hi` are 95 % limits.
 * - The caller frees text and results only where documented; other pointers live as long as the object they came from.
 * - Different threads may use different machines and results; nothing is shared but GSL's error handler, which is off
 *   while any of them fits a ramp: do not set another one meanwhile. Simultaneous measurements disturb each other.
 *   While measuring, the calling thread is pinned to a CPU and may run under SCHED_FIFO; both are restored when the
 *   call returns.
 * - Measuring on this processor requires the same privileges as the program `characterize`: none for "timing".
 *
 * The ABI is that of soname libcharacterize.so.0; structs may grow with the next soname.
 */
#ifndef CHARACTERIZE_CHARACTERIZE_H
#define CHARACTERIZE_CHARACTERIZE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CHARACTERIZE_PUBLIC __attribute__((visibility("default")))
#else
#define CHARACTERIZE_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the linked library, as in "0.2.0". */
CHARACTERIZE_PUBLIC const char *characterize_version(void);

/* ---- errors ---- */

/* Same as the exit statuses of the program. */
enum characterize_status {
    CHARACTERIZE_OK = 0,
    CHARACTERIZE_FAILED = 1,    /* while running: memory, a file, or `progress` requested to stop */
    CHARACTERIZE_BAD_INPUT = 2, /* an argument, an option or a file that makes no sense */
    CHARACTERIZE_CANNOT = 3     /* this machine cannot do it; the remedy says what could */
};

struct characterize_error {
    enum characterize_status status;
    char text[800];   /* one line: what, where, why */
    char remedy[200]; /* what the user can do about it, or "" */
};

/* ---- machines ---- */

typedef struct characterize_machine characterize_machine;

/*
 * Opens a machine: "auto" (the best that works here), "timing", "perf", "msr", "helper", or "model:NAME" and
 * "model:FILE", a simulated processor. `cpu`: the logical CPU to measure on, or -1 for the machine's choice;
 * refused if there is none of this number, or this process may not use it.
 * `data_folder`: the directory with models/, events/ and skus/; NULL: $CHARACTERIZE_DATA, else share/characterize next
 * to the installed library or program. (Event tables of machines other than models are searched for in the latter two
 * only.) Takes up to a second to measure the clock. Close *machine with characterize_close().
 */
CHARACTERIZE_PUBLIC enum characterize_status characterize_open(const char *name, int cpu, const char *data_folder,
                                                               characterize_machine **machine,
                                                               struct characterize_error *error);
/* NULL is allowed. Results outlive their machine. */
CHARACTERIZE_PUBLIC void characterize_close(characterize_machine *machine);

struct characterize_machine_info {
    const char *name;   /* "timing", "model:xeon-gold-6130" */
    const char *cpu;    /* brand, family and model */
    const char *source; /* where the numbers come from, one line */
    const char *chosen; /* for "auto": which machine was chosen, and why not a better one; else "" */
    const char *notes;  /* on what limits the results, one line; "" if nothing does */
    int modelled;       /* not 0: computed from a model, not measured */
    unsigned cores;     /* physical cores */
};
/* Describes the machine; the text is valid until the next measurement with it, or until it is closed. */
CHARACTERIZE_PUBLIC void characterize_describe(const characterize_machine *machine,
                                               struct characterize_machine_info *info);

/* The name of kernel number i, from 0 ("512fma"); NULL past the last. Names take suffixes: "512fma@1/8". */
CHARACTERIZE_PUBLIC const char *characterize_kernel_name(size_t i);
/*
 * Makes a block of instructions of your own a kernel of this machine: FILE.asm, FILE.bin, FILE.so, or a function as
 * FILE.so:FUNCTION (doc/kernel-files.md). Its name is that of the file without folder and suffix, or of the function;
 * at most 8 files. The block is run in a child process first (fork(2)); what cannot be run is refused.
 */
CHARACTERIZE_PUBLIC enum characterize_status
characterize_add_kernel_file(characterize_machine *machine, const char *file, struct characterize_error *error);
/* 1 if the machine can run this kernel (suffixes allowed); 0 if it cannot, or there is no such kernel. */
CHARACTERIZE_PUBLIC int characterize_can_run(const characterize_machine *machine, const char *kernel);

/* ---- options ---- */

/* All 0, or a NULL pointer: the defaults. */
struct characterize_options {
    unsigned runs;         /* repetitions, 1 to 100000; 0: 100, and each table's own */
    double period_us;      /* between two samples, 0.1 to 1000; 0: 1 */
    double warmup_us;      /* of the first kernel before recording, up to 1e6; 0: 2500, or more if needed */
    double observe_us;     /* of the second kernel, 1 to 1e6; 0: 150 or 1500, or more if needed. Above 5000 the
                              sampling period grows with time */
    unsigned active_cores; /* kept busy, including the measured one; 0: all, or each table's own numbers */
    const char *kernels;   /* tables: only these, as in "128fma,512fma"; NULL: each table's own */
    int brief;             /* tables, if not 0: fewer kernels, core counts and repetitions */
    uint64_t seed;         /* of models: same seed, same result */
    /* called periodically with `data` and the fraction done, 0..1, which never falls; a result other than 0 stops:
     * CHARACTERIZE_FAILED */
    int (*progress)(void *data, double done);
    void *data;
};

/* ---- transitions ---- */

struct characterize_estimate {
    double value, lo, hi;
};

/* doc/formats.md, Phases */
struct characterize_phase {
    const char *kind; /* "steady", "throttle", "halt", "slow", "ramp", "unknown" */
    double start_us;  /* 0: the first instruction of the second kernel */
    struct characterize_estimate duration_us, freq_ghz;
    double ipc;       /* the kernel's instructions per core cycle */
    double ipc_ratio; /* relative to the same code at full rate */
    double volts;
    int level;            /* of the frequency: 0 is the highest; -1: unknown */
    size_t agreeing_runs; /* repetitions that show it */
    const char *why;      /* of "unknown": the reason; else "" */
};

/* From one steady phase to the next. */
struct characterize_change {
    double at_us;                            /* its first sign */
    struct characterize_estimate latency_us; /* from there to the first full-rate sample on the final level */
    double from_ghz, to_ghz;
    unsigned halts;
    size_t agreeing_runs;
};

typedef struct characterize_phases characterize_phases;

/*
 * Measures the switch from one kernel to another, as in "128fma:512fma", and finds its phases. Takes a second or more
 * on a processor. Free *phases with characterize_phases_free().
 */
CHARACTERIZE_PUBLIC enum characterize_status characterize_transition(characterize_machine *machine, const char *from_to,
                                                                     const struct characterize_options *options,
                                                                     characterize_phases **phases,
                                                                     struct characterize_error *error);
/* The same from a recorded trace, including those of other tools (CSV; doc/formats.md, Trace). Recordings of first uses
 * (idle_us,first_us) are not traces: the program alone analyzes them. */
CHARACTERIZE_PUBLIC enum characterize_status characterize_analyze(const char *file, characterize_phases **phases,
                                                                  struct characterize_error *error);
/* NULL is allowed. */
CHARACTERIZE_PUBLIC void characterize_phases_free(characterize_phases *phases);

/* The number of phases and changes. Get number i, from 0: returns 0 and fills *out, or returns -1 past the last. */
CHARACTERIZE_PUBLIC size_t characterize_phases_count(const characterize_phases *phases);
CHARACTERIZE_PUBLIC int characterize_phases_get(const characterize_phases *phases, size_t i,
                                                struct characterize_phase *out);
CHARACTERIZE_PUBLIC size_t characterize_changes_count(const characterize_phases *phases);
CHARACTERIZE_PUBLIC int characterize_changes_get(const characterize_phases *phases, size_t i,
                                                 struct characterize_change *out);
/* Repetitions recorded, and those that the result is based on. */
CHARACTERIZE_PUBLIC size_t characterize_runs(const characterize_phases *phases);
CHARACTERIZE_PUBLIC size_t characterize_runs_used(const characterize_phases *phases);
/* Warning number i, one line; NULL past the last. */
CHARACTERIZE_PUBLIC const char *characterize_warning(const characterize_phases *phases, size_t i);
/* The phases as JSON (characterize-phases/1), the samples as CSV, to be freed with free(). NULL: out of memory. */
CHARACTERIZE_PUBLIC char *characterize_phases_json(const characterize_phases *phases);
CHARACTERIZE_PUBLIC char *characterize_trace_csv(const characterize_phases *phases);

/* ---- tables ---- */

typedef struct characterize_table characterize_table;

/* The name of table number i, from 0 ("frequency"); NULL past the last. */
CHARACTERIZE_PUBLIC const char *characterize_table_name(size_t i);
/*
 * Measures a table: seconds on a model, minutes on a processor. For columns and units see doc/formats.md, Tables. If
 * nothing of it can be measured, it has reasons instead of rows (characterize_table_missing()); that is not an error.
 * Free *table with characterize_table_free().
 */
CHARACTERIZE_PUBLIC enum characterize_status characterize_table_measure(characterize_machine *machine, const char *name,
                                                                        const struct characterize_options *options,
                                                                        characterize_table **table,
                                                                        struct characterize_error *error);
/* NULL is allowed. */
CHARACTERIZE_PUBLIC void characterize_table_free(characterize_table *table);
CHARACTERIZE_PUBLIC size_t characterize_table_rows(const characterize_table *table);
/* A field of a row, from 0. NaN or NULL: absent, or there is no such row, or no such column of this type. */
CHARACTERIZE_PUBLIC double characterize_table_number(const characterize_table *table, size_t row, const char *column);
CHARACTERIZE_PUBLIC const char *characterize_table_text(const characterize_table *table, size_t row,
                                                        const char *column);
/* Returns the ith thing that could not be measured, and why, as one line, with the remedy if there is one; NULL past
 * the last. Example: "amx: needs amx_tile, which ... does not support". */
CHARACTERIZE_PUBLIC const char *characterize_table_missing(const characterize_table *table, size_t i);
/* The table as JSON (characterize-table/1) or CSV, to be freed with free(). NULL: out of memory. */
CHARACTERIZE_PUBLIC char *characterize_table_json(const characterize_table *table);
CHARACTERIZE_PUBLIC char *characterize_table_csv(const characterize_table *table);

#ifdef __cplusplus
}
#endif

#endif
