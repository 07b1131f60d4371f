/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the trigger table (private to tables/). */
#ifndef CHARACTERIZE_TABLES_TRIGGER_H
#define CHARACTERIZE_TABLES_TRIGGER_H

#include "analysis/threshold.h"
#include "analysis/trigger.h"
#include "probes/sequence.h"
#include "tables/tables.h"

enum { BENCH_SEEN_MAX = 2000, BENCH_ATTEMPTS = 3 };

/* One repetition that counts. */
struct bench_seen {
    struct trigger_sight sight; /* of the plain code after the burst */
    double count;               /* counted instructions of the burst */
    double us;                  /* how long the burst was meant to be */
    double begin_us;            /* when it began; it ended at 0 */
    double rate;                /* counted instructions per core cycle in its last third */
    struct trigger_span span;   /* its samples, where the trace was kept */
};

/* A cell being measured: plain code, something else, plain code again. */
struct bench {
    const struct tables_context *context;
    const struct cell *cell;
    struct sequence sequence;
    struct trace trace;         /* of the repetitions that are kept */
    struct payload plain;
    double period_us, warmup_us;
    double after_us;            /* plain code after the burst, of which ... */
    double window_us;           /* ... so much, the last part, is looked at */
    size_t n_seen;
    struct bench_seen *seen;    /* BENCH_SEEN_MAX */
    size_t discarded;
    char discarded_why[120];    /* of the last one */
};

/* Prepares the machine; bursts last up to longest_us. On failure nothing is left to end. */
int bench_begin(struct bench *b, const struct tables_context *x, const struct cell *c, const char *plain,
                double longest_us, double after_us, double period_us, struct machine_error *err);
void bench_end(struct bench *b);
/*
 * One repetition: warm-up in plain code, the segments (at most SEQUENCE_SEGMENTS_MAX - 3), plain code, and then
 * `last`, unless NULL, for a moment. Repetitions that tell nothing are discarded and made up for. What was seen is
 * added to b->seen; `keep`: its samples to b->trace. MACHINE_CANNOT: all were spoilt.
 */
int bench_run(struct bench *b, const struct segment *segments, size_t n, const struct payload *last, bool keep,
              struct machine_error *err);
/* The same with one burst. */
int bench_burst(struct bench *b, const struct payload *p, double us, bool keep, struct machine_error *err);
/* Discards all that was seen: it does not agree, and is measured again. 0, or -1: out of memory. */
int bench_again(struct bench *b);
/* Sorts all that was seen into grades. 0, or -1: out of memory. */
int bench_grade(struct bench *b, struct trigger_grades *out);
/* What repetitions first, first + step, ... (n of them) agree on, as trigger_agreed; their frequency with limits. */
int bench_agreed(const struct bench *b, size_t first, size_t n, size_t step);
struct estimate bench_freq(const struct bench *b, size_t first, size_t n, size_t step);
/* Whether the bursts of those repetitions, which were kept, are throttled at first. 0, or -1: out of memory. */
int bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out);

/* A row's fields that all kinds have. `level`: NaN = not known by itself. */
struct trigger_row {
    const char *what;
    unsigned density;
    int grade, plain_grade;
    bool throttled;
    struct estimate freq, plain;
    size_t n;
};
void bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g, const struct trigger_row *r);
/* "level 1", "throttle only", "nothing", or "lower frequency" where no counter tells which level it is. */
const char *bench_asks(const struct trigger_grades *g, const struct trigger_row *r);
/* What the repetitions did not agree on, as missing. */
void bench_disagree(const struct bench *b, struct table *rows, const char *what, unsigned density, const char *of);

/* The four kinds of cells. */
int trigger_count(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err);
int trigger_density(const struct tables_context *x, const struct cell *c, struct table *rows,
                    struct machine_error *err);
int trigger_mixture(const struct tables_context *x, const struct cell *c, struct table *rows,
                    struct machine_error *err);
int trigger_dirty(const struct tables_context *x, const struct cell *c, struct table *rows, struct machine_error *err);

/* tables/trigger_text.c */
#define TRIGGER_TITLE "What it takes before a licence level is asked for"
void trigger_print(FILE *out, bool colour, const struct table *t);
void trigger_findings(FILE *out, const struct table *t);

#endif
