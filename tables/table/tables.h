/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measuring a table: its cells on a machine, the actions of the machine for each, and how results become rows. A probe
 * brings the traces, the analysis reads them; this directory only joins the two, so that a user of the library can
 * measure a table without the command line.
 *
 * A cell is measured in one go and kept as a whole: a run that was cut off continues with the next cell. So a cell must
 * depend on nothing but the machine, the options and its own identity: not on other cells, not on their order. Results
 * that need several cells (levels, groups, readings, break-even times) belong into conclude(), which is pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "tables/table/table.h"
#include "drivers/machine.h"
#include "kernels/kernels.h"

enum {
    TABLES_KERNELS_MAX = 64,
    TABLES_CORES_MAX = 1024,
    TABLES_CELL_ID_MAX = 120,
    TABLES_PROMISED_MAX = 10,
    TABLES_IN_FORCE_MAX = 600
};

/* Refinements of the environment, in this order (doc/quiet-machine.md): each in addition to those before it. */
enum refinement {
    REFINED_BUSY,
    REFINED_QUIET,
    REFINED_SETTINGS,
    REFINED_ISOLATED,
    REFINED_IRQS_AWAY,
    REFINED_TICKLESS,
    REFINED_MASKED,
    REFINED_WARM,
    REFINEMENTS
};
extern const char *const tables_refinement_names[REFINEMENTS]; /* "busy", ... */

/* The options of the command line; 0, NULL or NaN = the table's own default. */
struct tables_options {
    int cpu;       /* logical CPU to measure on, -1: the machine's choice */
    size_t n_cpus; /* --cpus: the order in which CPUs become active */
    int cpus[TABLES_CORES_MAX];
    size_t n_kernels; /* --kernels */
    struct payload kernels[TABLES_KERNELS_MAX];
    size_t n_active; /* --active-cores, a list; 0 in it = all */
    unsigned active[TABLES_CORES_MAX];
    bool corunner_same;      /* the other cores run the measured kernel */
    struct payload corunner; /* kernel NULL: 64add */
    bool siblings;           /* hyper-thread siblings of active cores are kept busy too */
    unsigned runs;
    double period_us, warmup_us, observe_us; /* 0: default */
    double seconds;                          /* budget of time for a cell of frequencies or bursts; 0: default */
    uint64_t seed;
    double fixed_ghz;                   /* --fixed-frequency, already in force; 0: automatic */
    uint32_t event;                     /* umask: the event select code, 0 = 28H */
    double burst_count, burst_every_us; /* burst: only of so many instructions every so many us; 0: all */
    /*
     * Brings the computer into a refinement, or a less refined one, before a cell is measured. NULL: only REFINED_QUIET
     * is available. MACHINE_CANNOT: *err says why it is not available, and the remedy. `in_force` (of size
     * TABLES_IN_FORCE_MAX) receives the settings in force, "" for none.
     */
    int (*refine)(void *refine_data, enum refinement r, char *in_force, struct machine_error *err);
    void *refine_data;
    const struct beside_request *beside; /* --beside (tables/beside/beside.h); NULL: none */
    const struct which_request *which;   /* --which (tables/which/which.h); NULL: none */
    bool brief;                          /* --brief: fewer cells and repetitions, for tests and a first look */
    const char *data_dir;                /* NULL: the built-in default */
};

struct tables_context {
    struct machine *machine;
    struct machine_info info; /* of the machine before it was prepared */
    const struct tables_options *options;
    /* Called now and then while a cell is measured, with the part of it that is done (0..1). Non-zero: stop; measure()
     * then returns MACHINE_FAILED and the cell is not kept. May be NULL. */
    int (*progress)(void *data, double part);
    void *data;
};

struct cell {
    char id[TABLES_CELL_ID_MAX]; /* unique in its table; also part of a file name */
    struct payload a, b;         /* kernel NULL: none */
    unsigned active_cores;
    int cpu;            /* -1: the machine's choice */
    unsigned number[4]; /* the table's own */
    double seconds;     /* how long it is expected to take on silicon */
};
struct cells {
    size_t n;
    struct cell *cell;
};
/* A new cell of one kernel, two, or none (NULL), otherwise zeroed, cpu -1, with this id (made harmless for file names);
 * NULL: out of memory or the id is there. */
__attribute__((format(printf, 5, 6))) struct cell *tables_add_cell(struct cells *c, const struct payload *a,
                                                                   const struct payload *b, unsigned active_cores,
                                                                   const char *id, ...);
void tables_free_cells(struct cells *c);

/* The part of a table that schedulers read (output/export); a table may be the source of one such part. */
enum tables_export {
    EXPORT_NOTHING,
    EXPORT_FREQUENCIES, /* of levels, by active cores */
    EXPORT_TRIGGERS,
    EXPORT_COSTS,
    EXPORT_WAITS,
    EXPORT_THROTTLING,
    EXPORT_LEVEL_EVENTS,
    EXPORT_SWITCHING, /* costs of switches, migrations and faults */
    TABLES_EXPORTS
};

/* Options that not every table can take. */
enum tables_choice {
    CHOICE_WARMUP,
    CHOICE_OBSERVE,
    CHOICE_SIBLINGS,
    CHOICE_CORUNNER,
    CHOICE_CORUNNER_SAME,
    CHOICE_KERNELS,
    CHOICE_PERIOD,
    CHOICE_CORES, /* another number of them than one */
    TABLES_CHOICES
};

/*
 * The columns of a table that describe the processor, and so become part of an entry drafted from it
 * (output/validate/draft.h): `keys` select rows, `values` are the figures. Only rows count in which the column `only`
 * is one of `is`, separated by commas (NULL: all rows). Where that column is `found_in`, the column `found` is a result
 * and selects nothing. Without values the table contributes nothing.
 */
enum { TABLES_DRAFTED_KEYS = 6, TABLES_DRAFTED_VALUES = 4, TABLES_UNCOMPARED = 4 };
struct tables_drafted {
    const char *keys[TABLES_DRAFTED_KEYS], *values[TABLES_DRAFTED_VALUES];
    const char *only, *is;
    const char *found, *found_in;
};
/* True if a row counts whose column `only` holds `text` (NULL: nothing); if this key selects it. */
bool tables_drafted_row(const struct tables_drafted *d, const char *text);
bool tables_drafted_key(const struct tables_drafted *d, const char *key, const char *text);

/* The columns, views and pictures of a table_kind, from arrays. */
#define TABLE_KIND_COLUMNS(list) .columns = list, .n_columns = sizeof list / sizeof *list
#define TABLE_KIND_VIEWS(list) .views = list, .n_views = sizeof list / sizeof *list
#define TABLE_KIND_PICTURES(list) .pictures = list, .n_pictures = sizeof list / sizeof *list

/* All that is known of a table, except for what its rows hold: nothing outside of its directory names it. */
struct table_kind {
    const char *name;   /* "frequency" */
    const char *title;  /* "Frequency by license level and active cores" */
    const char *about;  /* one line for --list tables */
    const char *method; /* how it is measured, a sentence or two, sources as "G 3.2.2"; NULL: the report has none */
    const struct table_column *columns;
    size_t n_columns;
    const char *promised[TABLES_PROMISED_MAX]; /* columns that every version of it has: doc/formats.md */
    enum tables_export exported;
    struct tables_drafted drafted;
    /* Columns that are not compared between measurements (output/compare): a few repetitions happen to agree, and their
     * limits do not hold what others find. */
    const char *uncompared[TABLES_UNCOMPARED];
    const char *excluded[TABLES_CHOICES]; /* why this option cannot be combined with it, a clause; NULL: it can */
    bool takes_event;                     /* the option `event` is its own */
    bool takes_burst;                     /* the options `burst_...` are its own */
    bool refines; /* it asks options->refine for each environment: nothing is quietened, or disturbed, before */
    /*
     * The cells of this table on this machine with these options, in the order in which they are to be measured. What
     * cannot be measured at all goes into `t` as missing, with the reason and the remedy; no cells then is no error.
     * Sets t's settings (runs, period_us, ...). MACHINE_OK, or *err and its status: the options make no sense.
     */
    int (*plan)(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err);
    /*
     * Measures one cell and appends its rows (and missing entries, and details) to `rows`. MACHINE_CANNOT is no
     * failure of the table: the caller notes the cell as missing with the error's text (tables_cell_missing).
     */
    int (*measure)(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err);
    /* Fills what needs all rows. Pure; NULL: nothing. Returns 0, or -1: out of memory. */
    int (*conclude)(struct table *t);
    /* The rows for a person, as wide as the screen: these views, then what `print` adds, which they cannot express.
     * Neither: the rows as they stand. */
    const struct pivot_list *views;
    size_t n_views;
    table_print_rows *print;
    /* The findings, one to three lines, the most important first. NULL: none. Pure. */
    void (*findings)(FILE *out, const struct table *t);
    /* The panels of the plot: these pictures, then what `plot` adds to them or changes. Neither: there is no plot.
     * Columns may be lacking: the table may have been written by another version. Pure. */
    const struct picture *pictures;
    size_t n_pictures;
    void (*plot)(const struct table *t, struct chart *c);
};

/* All tables (tables/registry.h), in the order in which --all measures them; *n is set. */
const struct table_kind *const *tables_all(size_t *n);
/* One by name, or NULL. */
const struct table_kind *tables_find(const char *name);
/* The one that schedulers read this of, or NULL. */
const struct table_kind *tables_exported(enum tables_export part);

void tables_options_default(struct tables_options *o);

/* Prints a table: its head, its rows, missing entries and why. `colour`: escape sequences may be used. */
void tables_print(FILE *out, bool colour, const struct table_kind *k, const struct table *t);
/* Adds the panels of the plot to a chart, whose title and subtitle are set already. */
void tables_draw(const struct table_kind *k, const struct table *t, struct chart *c);
/* True if there is a plot of such tables. */
bool tables_drawn(const struct table_kind *k);

/* ---- for the tables themselves ---- */

/* The seed of a cell: of the options' seed, the table and the cell's id, whatever else is measured. */
uint64_t tables_cell_seed(const struct tables_context *x, const char *table, const struct cell *c);
/* Puts the cell's kernel(s), active cores and CPU into the last row or missing entry, in the columns that the table has
 * (kernel, from, to, active_cores, cpu). */
void tables_put_cell(struct table *t, const struct cell *c);
/* A missing entry with these, and why, formatted. */
__attribute__((format(printf, 3, 4))) void tables_cell_missing(struct table *t, const struct cell *c,
                                                               const char *format, ...);
/*
 * The kernels of a table: those of --kernels, else `names` (n of them), in both cases those that the machine can run;
 * what it cannot run goes into `t` as missing (columns kernel or from). Returns how many, at most TABLES_KERNELS_MAX.
 */
size_t tables_kernels(const struct tables_context *x, const char *const *names, size_t n, struct payload *out,
                      struct table *t);
/* True if the machine cannot run a kernel: then it goes into `t` as missing, with this text in this column. */
bool tables_lacking(const struct tables_context *x, const struct payload *p, const char *column, const char *text,
                    struct table *t);
/* True if there is a kernel of this name and the machine can run it, *out then. */
bool tables_can_run(const struct tables_context *x, const char *name, struct payload *out);
/* The names for it: one kernel of each width and weight; and every kernel that is not latency-bound, pause or chain. */
extern const char *const tables_usual_kernels[];
extern const size_t tables_n_usual_kernels;
size_t tables_every_kernel(const char **out, size_t max);
/* Drops kernels that were named twice; returns how many are left. */
size_t tables_each_once(struct payload *kernels, size_t n);
/* Drops those that leave registers or tiles dirty, which go into `t` as missing, named in a column: what they leave
 * would slow the code that follows, with which they are compared. Returns how many are left. */
size_t tables_only_clean(struct payload *kernels, size_t n, const char *column, struct table *t);
/* Numbers of active cores, where none are named. */
enum tables_cores {
    CORES_ALL, /* all that may be used; the others end with that number, too */
    CORES_ONE_AND_ALL,
    CORES_TWO_AND_ALL,
    CORES_ONE_TWO_AND_ALL,
    CORES_DOUBLED, /* 1, 2, 4, ... */
    CORES_EVERY
};
/* The numbers of --active-cores (0 = all), else `otherwise`. Ascending, each once, none above the cores that may be
 * used. Returns how many, at most TABLES_CORES_MAX. */
size_t tables_active_cores(const struct tables_context *x, enum tables_cores otherwise, unsigned *out);
/* machine_setup with the options' CPUs, co-runners and siblings, for this cell. */
struct machine_setup tables_setup(const struct tables_context *x, const char *table, const struct cell *c);
/* Reports how far the cell is; true if the caller wants to stop. */
bool tables_stop(const struct tables_context *x, double part);
/* The same for a probe, after each repetition; data: a copy of the context. */
int tables_on_progress(void *data, unsigned done, unsigned wanted);

/* ---- measuring ---- */

/* The store of finished cells. load: the text that was stored for a cell, malloc'ed, or NULL; store: keeps it for good
 * before it returns; refused: the loaded text is not this cell, which is measured again. Each may be NULL. */
struct tables_store {
    char *(*load)(void *data, const struct table_kind *k, const struct cell *c);
    int (*store)(void *data, const struct table_kind *k, const struct cell *c, const char *json,
                 struct machine_error *err);
    void (*refused)(void *data, const struct table_kind *k, const struct cell *c, const char *why);
    void *data;
};
struct tables_watch {
    /* cells done of the table, how many there are, and how much of the table's time is spent (0..1, by the cells'
     * expected seconds; never less than before); non-zero: stop */
    int (*progress)(void *data, const struct table_kind *k, size_t done, size_t n, double part);
    /* a cell is about to be measured (false: what the store had of it was taken); may be NULL */
    void (*cell)(void *data, const struct table_kind *k, const struct cell *c, bool measured);
    void *data;
};
/*
 * The cells of a table and their expected seconds, without measuring: for the time left.
 */
int tables_plan(const struct table_kind *k, struct machine *m, const struct tables_options *o, struct cells *out,
                struct machine_error *err);
/*
 * Measures a complete table: plan, each cell that the store does not have yet, conclude. *out is initialised and has
 * metadata (cpu, machine, source, modelled, date, version) and settings. Returns MACHINE_OK, or fills *err and returns
 * its status (*out is then empty). tables/engine.c
 */
int tables_measure(const struct table_kind *k, struct machine *m, const struct tables_options *o,
                   const struct tables_store *store, const struct tables_watch *watch, struct table *out,
                   struct machine_error *err);
