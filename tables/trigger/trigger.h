/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the trigger table (private to tables/). */
#ifndef CHARACTERIZE_TABLES_TRIGGER_H
#define CHARACTERIZE_TABLES_TRIGGER_H

#include "analysis/stats/threshold.h"
#include "tables/trigger/trigger_fit.h"
#include "tables/trigger/trigger_course.h"
#include "probes/sequence.h"
#include "tables/table/tables.h"

enum { BENCH_SEEN_MAX = 2000, BENCH_ATTEMPTS = 3 };
#define BENCH_PILOT_US 1500.0 /* bursts of a pilot of one kernel: its last quarter must be settled */

/* One repetition that counts. */
struct bench_seen {
    struct sight sight;      /* of the plain code after the burst */
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
    struct sequence sequence;
    struct trace trace; /* of the repetitions that are kept */
    struct payload plain;
    double period_us, warmup_us;
    double from_us, to_us; /* what is looked at, after the burst; before 0: of the burst itself */
    double after_us;       /* of plain code after the burst */
    double longest_us;     /* the longest burst so far */
    bool check_rate;       /* that the plain code behind the burst runs at its full rate, which is ... */
    double full_ipc;       /* ... the highest so far: it depends on the period, since readings take time */
    double change;         /* of log frequency that tells that the level changed meanwhile; 0: not checked */
    size_t n_seen;
    struct bench_seen *seen;     /* BENCH_SEEN_MAX */
    size_t discarded, unsettled; /* the second: those in which something changed while it was looked at */
    char discarded_why[120];     /* of the last one */
};

/* What is run in one repetition. */
struct trigger_bench_burst {
    const struct segment *segments;
    size_t n;
};

/* Names what is measured, and the plain code around it. Nothing is left to end. */
int trigger_bench_init(struct bench *b, const struct tables_context *x, const struct cell *c, const char *plain,
                       struct machine_error *err);
/*
 * How long bursts take to settle and how long the plain code behind them stays slower: the windows of time below follow
 * from it. One answer for each of n bursts into out. Sets the warm-up, so that the plain code is back before the next
 * burst, and checks of what is looked at later. Samples are period_us apart, or 2 us. MACHINE_CANNOT: it does not
 * settle, or does not come back. tables/trigger/trigger_pilot.c
 */
int trigger_bench_pilot(struct bench *b, const struct trigger_bench_burst *burst, size_t n, double period_us,
                        struct trigger_pilot *out, struct machine_error *err);
/* A window behind bursts after which each transition is over at settled_us and no level lapses before back_us, both
 * exact to exact_us. MACHINE_CANNOT: there is none. */
int trigger_bench_window(struct bench *b, double settled_us, double back_us, double exact_us, double period_us,
                         struct machine_error *err);

/* Prepares the machine; bursts last up to longest_us, and from_us..to_us is looked at. On failure nothing is left to
 * end. */
int trigger_bench_begin(struct bench *b, double longest_us, double period_us, struct machine_error *err);
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
/* Discards all that was seen: it does not agree, and is measured again. 0, or -1: out of memory. */
int trigger_bench_again(struct bench *b);
/* Sorts all that was seen into grades. 0, or -1: out of memory. */
int trigger_bench_grade(struct bench *b, struct trigger_grades *out);
/* What repetitions first, first + step, ... (n of them) agree on, as trigger_agreed; their frequency with limits. */
int trigger_bench_agreed(const struct bench *b, size_t first, size_t n, size_t step);
struct estimate trigger_bench_freq(const struct bench *b, size_t first, size_t n, size_t step);
/* Whether the bursts of those repetitions, which were kept, are throttled at first. 0, or -1: out of memory. */
int trigger_bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out);

/* A row's fields that all kinds have. `level`: NaN = not known by itself. */
struct trigger_row {
    const char *what, *with; /* with: NULL = none */
    unsigned density;
    int grade, plain_grade;
    bool throttled;
    double below, lasts_us; /* throttling that would have been found; 0: not known */
    struct estimate freq, plain;
    size_t n;
};
void trigger_bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g,
                       const struct trigger_row *r);
/* log(freq / plain) with the limits of both. */
struct estimate trigger_lower(const struct estimate *freq, const struct estimate *plain);
/* The period of the samples: what was asked for, or this. */
double trigger_bench_period(const struct bench *b, double usual_us);
/* The fields of a row that say what was measured. */
void trigger_bench_key(const struct bench *b, struct table *rows, const char *what, unsigned density, const char *with);
/*
 * "level 1", "throttle only", "nothing", or "lower frequency" where no counter tells which level it is. Without one,
 * "undecided" is what is throttled and may run at a lower frequency, by the limits, or what runs at one that is lower
 * by too little to be told from one that moves by itself.
 */
const char *trigger_bench_asks(const struct trigger_grades *g, const struct trigger_row *r);
/* What the repetitions did not agree on, as missing. */
void trigger_bench_disagree(const struct bench *b, struct table *rows, const char *what, unsigned density,
                            const char *with, const char *of);
/* What could not be measured, for `why`, and what would help; `with`: NULL = none. */
void trigger_bench_missing(const struct bench *b, struct table *rows, const char *what, unsigned density,
                           const char *with, const char *why);

/*
 * The four kinds of cells. only_lower: nothing is measured where the pilot shows no lower frequency; *told is set where
 * it shows one, or where levels are counted.
 */
struct trigger_wish {
    bool only_lower, told;
};
typedef int trigger_cell(const struct tables_context *x, const struct cell *c, struct trigger_wish *wish,
                         struct table *rows, struct machine_error *err);
trigger_cell trigger_count, trigger_density, trigger_mixture, trigger_dirty;
/* Whether there is more to measure after a pilot, which *wish then says. */
bool trigger_goes_on(struct trigger_wish *wish, const struct trigger_pilot *p, size_t n);

/* tables/trigger/trigger_text.c */
void trigger_print(FILE *out, bool colour, const struct table *t);
void trigger_findings(FILE *out, const struct table *t);

/* tables/trigger/trigger_plot.c */
void trigger_plot(const struct table *t, struct chart *c);

#endif
