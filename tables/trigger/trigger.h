/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the trigger table (private to tables/). */
#pragma once

#include "analysis/stats/threshold.h"
#include "tables/trigger/trigger_fit.h"
#include "probes/sequence.h"
#include "tables/table/tables.h"

enum { BENCH_SEEN_MAX = 2000, BENCH_ATTEMPTS = 3 };
#define BENCH_PILOT_US 1500.0 /* bursts of a pilot of one kernel: its last quarter must be settled */

enum { TRIGGER_PILOTS_MAX = 3 };

struct bench;
/* One of the four kinds of cells. */
struct trigger_kind {
    const char *what;  /* as in the table: "count" */
    const char *plain; /* the plain code around a burst; NULL: the second kernel of the cell */
    double period_us;  /* of the samples, unless another one is asked for */
    /* Runs pilots of what is measured, and sets the window, room_us and what else follows from them. */
    int (*pilot)(struct bench *b, struct machine_error *err);
    int (*measure)(struct bench *b, struct table *rows, struct machine_error *err);
};
extern const struct trigger_kind trigger_count, trigger_density, trigger_mixture, trigger_dirty;

/* One repetition that counts. */
struct bench_seen {
    double count;            /* counted instructions of the burst */
    double us;               /* how long the burst was meant to be */
    double begin_us;         /* when it began; it ended at 0 */
    double rate;             /* counted instructions per core cycle in its last third */
    struct sights_span span; /* its samples, where the trace was kept */
};

/* A cell being measured: plain code, something else, plain code again. */
struct bench {
    const struct tables_context *context;
    const struct cell *cell;
    const struct trigger_kind *kind;
    size_t n_pilots;
    struct trigger_pilot pilot[TRIGGER_PILOTS_MAX];
    struct sequence sequence;
    struct trace trace; /* of the repetitions that are kept */
    struct payload plain;
    double period_us, warmup_us;
    double from_us, to_us;       /* what is looked at, after the burst; before 0: of the burst itself */
    double after_us;             /* of plain code after the burst */
    double room_us;              /* bursts may last so long */
    double longest_us;           /* the longest burst so far */
    bool check_rate;             /* that the plain code behind the burst runs at its full rate, which is ... */
    double full_ipc;             /* ... the highest so far: it depends on the period, since readings take time */
    double change;               /* of log frequency that tells that the level changed meanwhile; 0: not checked */
    size_t n_seen;               /* at most BENCH_SEEN_MAX */
    struct bench_seen *seen;     /* the repetitions, ... */
    struct sight *sight;         /* ... and of each the plain code after the burst */
    size_t discarded, unsettled; /* the second: those in which something changed while it was looked at */
    char discarded_why[120];     /* of the last one */
};

/* What is run in one repetition. */
struct trigger_bench_burst {
    const struct segment *segments;
    size_t n;
};

/* Names what is measured, the plain code around it and the period of the samples. Nothing is left to end. */
void trigger_bench_init(struct bench *b, const struct tables_context *x, const struct cell *c,
                        const struct trigger_kind *kind);
/*
 * How long bursts take to settle and how long the plain code behind them stays slower: the windows of time below follow
 * from it. One answer for each of n bursts into b->pilot. Sets the warm-up, so that the plain code is back before the
 * next burst, and checks of what is looked at later. Samples are 2 us apart, or the bench's period if that is more.
 * MACHINE_CANNOT: it does not settle, or does not come back. tables/trigger/trigger_pilot.c
 */
int trigger_bench_pilot(struct bench *b, const struct trigger_bench_burst *burst, size_t n, struct machine_error *err);
/* The same of one kernel, for BENCH_PILOT_US. */
int trigger_bench_pilot_of(struct bench *b, const struct payload *p, struct machine_error *err);
/* A window behind bursts after which each transition is over at settled_us and no level lapses before back_us, both
 * exact to exact_us. MACHINE_CANNOT: there is none. */
int trigger_bench_window(struct bench *b, double settled_us, double back_us, double exact_us,
                         struct machine_error *err);

/* Prepares the machine; bursts last up to room_us, and from_us..to_us is looked at. On failure nothing is left to
 * end. */
int trigger_bench_begin(struct bench *b, struct machine_error *err);
void trigger_bench_end(struct bench *b);
/*
 * One repetition: warm-up in plain code, the segments (at most SEQUENCE_SEGMENTS_MAX - 3), plain code, and then
 * `last`, unless NULL, for a moment. Repetitions that tell nothing are discarded and made up for. What was seen is
 * added to b->seen; `keep`: its samples to b->trace. MACHINE_CANNOT: all were invalid, or in too many of them something
 * changed while it was looked at.
 */
int trigger_bench_run(struct bench *b, const struct segment *segments, size_t n, const struct payload *last, bool keep,
                      struct machine_error *err);
/* The same with one burst. */
int trigger_bench_burst(struct bench *b, const struct payload *p, double us, bool keep, struct machine_error *err);
/* Discards what was seen from repetition number `first` on, which does not agree, and all samples that were kept. 0, or
 * -1: out of memory. */
int trigger_bench_forget(struct bench *b, size_t first);
/*
 * n rounds of `kinds` repetitions each, sorted into grades; all of them again, a few times, where those of a kind do
 * not agree: a neighbour on the same processor may have come or gone. `share`: what they are of the cell.
 */
typedef int trigger_round(struct bench *b, struct machine_error *err);
int trigger_bench_rounds(struct bench *b, unsigned n, size_t kinds, trigger_round *round, double share,
                         struct trigger_grades *grades, struct machine_error *err);
/* What repetitions first, first + step, ... (n of them, at most 64) agree on, as trigger_agreed; their frequency with
 * limits. */
int trigger_bench_agreed(const struct bench *b, size_t first, size_t n, size_t step);
struct estimate trigger_bench_freq(const struct bench *b, size_t first, size_t n, size_t step);
/* Whether the bursts of those repetitions, which were kept, are throttled at first. 0, or -1: out of memory. */
int trigger_bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out);

/* A row's fields that all kinds have. */
struct trigger_row {
    const char *what; /* NULL: the kind's */
    unsigned density;
    int grade, plain_grade;
    struct trigger_throttle throttle;
    struct estimate freq, plain;
    size_t n;
};
void trigger_bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g,
                       const struct trigger_row *r);
/* log(freq / plain) with the limits of both. */
struct estimate trigger_lower(const struct estimate *freq, const struct estimate *plain);
/*
 * "level 1", "throttle only", "nothing", or "lower frequency" where no counter tells which level it is. Without one,
 * "undecided" is what is throttled and may run at a lower frequency, by the limits, or what runs at one that is lower
 * by too little to be told from one that moves by itself.
 */
const char *trigger_bench_asks(const struct trigger_grades *g, const struct trigger_row *r);
/* That the repetitions of `of` do not agree, as missing. */
void trigger_bench_disagree(const struct bench *b, struct table *rows, unsigned density, const char *of);
/* What could not be measured, for `why`, formatted, and what would help. */
__attribute__((format(printf, 4, 5))) void trigger_bench_missing(const struct bench *b, struct table *rows,
                                                                 unsigned density, const char *why, ...);

/* tables/trigger/trigger_text.c */
void trigger_print(FILE *out, bool colour, const struct table *t);
void trigger_findings(FILE *out, const struct table *t);

/* tables/trigger/trigger_plot.c */
void trigger_plot(const struct table *t, struct chart *c);
