/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the trigger table (private to tables/). */
#pragma once

#include "analysis/stats/threshold.h"
#include "probes/sequence.h"
#include "tables/table/pivot.h"
#include "tables/table/sights.h"
#include "tables/table/tables.h"

#define TRIGGER_PLAIN "64add" /* the plain code around the examined code */
enum { BURSTS_SEEN_MAX = 2000 };

/* ---- tables/trigger/trigger_look.c: what code requests when it keeps running ---- */

struct trigger_look {
    size_t n;                     /* rounds of brackets */
    struct estimate ratio, null;  /* of its frequency to that of the plain code around it, and of that code itself */
    struct estimate freq, plain;  /* GHz */
    double rate, level;           /* counted instructions per core cycle; mean license level, NaN: not counted */
    bool lower, unsure;           /* a lower frequency or a higher level; may be lower, by less than can be reported */
    bool throttled, undecided;    /* at first, or nobody can tell */
    struct estimate instructions; /* until then: at least; at most, with the first slow sample */
    double below, lasts_us;       /* detectable throttling: a rate below this part of the full one, for so long */
    double settled_us;            /* from its first instruction until it runs as it keeps running */
    double back_us, back_usual_us, back_most_us; /* of plain code after it until it leaves that level; 0: not lower */
};
/* n kernels against `plain` by brackets (probes/brackets.h), in turn with its null: the first line of each. */
int trigger_look_steady(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                        const struct payload *kernels, size_t n, struct trigger_look *out, struct machine_error *err);
/* The switch to it from plain code: throttling, and how long the transition takes. */
int trigger_look_fall(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                      const struct payload *kernel, struct trigger_look *out, struct machine_error *err);
/* The switch back, where it is lower. */
int trigger_look_rise(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                      const struct payload *kernel, struct trigger_look *out, struct machine_error *err);

/* ---- tables/trigger/trigger_bursts.c: whether bursts of code have requested a level ---- */

enum { TRIGGER_GRADES_MAX = 4 };
/* Relative: levels of real parts differ by 100 MHz in 4 GHz at least, 2.5 %. */
#define TRIGGER_SAME_FREQUENCY 0.01

struct trigger_grades {
    size_t n;
    bool counted; /* grades are license levels, read from the counters; else ranks of the frequencies seen */
    /* mean of the repetitions, as a ratio to that without a burst; NaN: a level that was not seen */
    double freq[TRIGGER_GRADES_MAX];
};

/* Returns true if a further repetition reaches this grade (>= 1): it is nearer to it, in frequency, than to the one
 * above. */
bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade);

/* ---- ... by how the plain code after each ran, between two without it ---- */

/* One repetition that counts. */
struct burst_seen {
    double count;     /* counted instructions of the burst */
    double ghz, null; /* the plain code after it; the same without a burst: the mean of the one before and after */
    double rate;      /* of the plain code, against that without a burst */
};

/* A cell being measured: plain code, something else, plain code again. */
struct trigger_bursts {
    const struct tables_context *context;
    const struct cell *cell;
    const char *what; /* as in the table: "count" */
    struct sequence sequence;
    struct payload plain;
    struct segment null;         /* runs instead of a burst */
    double period_us, warmup_us; /* of samples; of plain code before a burst */
    double from_us, to_us;       /* the window looked at, after the burst; before 0: of the burst itself */
    double room_us;              /* bursts may last so long */
    double longest_us;           /* the longest burst so far */
    double change;               /* of log frequency that tells that the level changed meanwhile; 0: not checked */
    bool has_null;               /* the last repetition was one, ... */
    struct sight last_null;      /* ... this */
    size_t n_seen;               /* at most BURSTS_SEEN_MAX */
    struct burst_seen *seen;     /* the repetitions, ... */
    struct sight *sight;         /* ... and how the plain code ran, its frequency as a ratio to the null's */
    double *scratch;             /* room for as many */
    unsigned rounds;             /* of references, ... */
    size_t kinds;                /* ... of which repetition round * kinds + kind is one */
    size_t discarded, unsettled; /* the second: those in which something changed while it was looked at */
    char discarded_why[120];     /* of the last one */
};

/* Sets the measured code, the plain code around it and the period of the samples. Nothing is left to end. */
void trigger_bursts_init(struct trigger_bursts *b, const struct tables_context *x, const struct cell *c,
                         const char *what, const struct payload *plain, double period_us);
/* Warm-up and checks that follow from n looks: none carries over into the next repetition. MACHINE_CANNOT: that would
 * take too long. */
int trigger_bursts_pilot(struct trigger_bursts *b, const struct trigger_look *look, size_t n,
                         struct machine_error *err);
/* A window after bursts after which each transition is over at settled_us and no level lapses before back_us
 * (INFINITY: nothing is held); `late`: its last part. MACHINE_CANNOT: there is none. */
int trigger_bursts_window(struct trigger_bursts *b, double settled_us, double back_us, bool late,
                          struct machine_error *err);
/* Prepares the machine; bursts last up to room_us, and from_us..to_us is looked at. On failure nothing is left to
 * end. */
int trigger_bursts_begin(struct trigger_bursts *b, struct machine_error *err);
void trigger_bursts_end(struct trigger_bursts *b);
/*
 * One repetition: warm-up in plain code, the segments (at most SEQUENCE_SEGMENTS_MAX - 3), plain code, and then `last`,
 * unless NULL, for a moment; one of the null before it and one after. Those that say nothing are discarded and made
 * up for. What was seen is added to b->seen. MACHINE_CANNOT: all were invalid, or in too many of them something changed
 * while it was looked at.
 */
int trigger_bursts_run(struct trigger_bursts *b, const struct segment *segments, size_t n, const struct payload *last,
                       struct machine_error *err);
/*
 * `least` rounds of `kinds` repetitions each, and more until half of the width of each kind's limits suffices (where
 * levels are counted: until each kind agrees on its level) or the time is over; sorted into grades. `share`: what they
 * are of the cell.
 */
typedef int trigger_round(struct trigger_bursts *b, struct machine_error *err);
int trigger_bursts_rounds(struct trigger_bursts *b, unsigned least, size_t kinds, trigger_round *round, double share,
                          struct trigger_grades *grades, struct machine_error *err);
/* Checks that the plain code after the repetitions of a kind is no longer throttled; else MACHINE_CANNOT. */
int trigger_bursts_settled(const struct trigger_bursts *b, size_t kind, struct machine_error *err);
/* The level that those of a kind agree on, as trigger_agreed; their frequency, and that without a burst; its ratio, and
 * that of the rates. */
int trigger_bursts_agreed(const struct trigger_bursts *b, size_t kind);
struct estimate trigger_bursts_freq(const struct trigger_bursts *b, size_t kind);
struct estimate trigger_bursts_null(const struct trigger_bursts *b, size_t kind);
struct estimate trigger_bursts_ratio(const struct trigger_bursts *b, size_t kind);
struct estimate trigger_bursts_rate(const struct trigger_bursts *b, size_t kind);

/* ---- tables/trigger/trigger_rows.c ---- */

/* Returns true if a ratio is surely below 1, by more than its null and than the smallest step of a clock. */
bool trigger_lower(const struct estimate *ratio, const struct estimate *null);
/* ... or surely below 1, but by too little to be distinguished from a clock that moves by itself. */
bool trigger_unsure(const struct estimate *ratio, const struct estimate *null);

/* A row's fields that all kinds have. */
struct trigger_row {
    const char *what;
    unsigned density;
    const char *asks;
    double level; /* NaN: not counted */
    struct estimate freq, plain, ratio;
    const struct trigger_look *look; /* of "nothing": what would have been found. May be NULL */
    size_t n;
};
/* "level 1", "throttle only", "nothing", "lower frequency" where no counter says which level it is, or "undecided". */
const char *trigger_asks(bool lower, bool unsure, bool throttled, double level);
/* A row of the results by brackets, and one of those by bursts. */
struct trigger_row trigger_row_of(const struct trigger_look *look, const char *what, unsigned density);
void trigger_put_row(const struct cell *c, struct table *rows, const struct trigger_row *r);
void trigger_put_bursts(const struct trigger_bursts *b, struct table *rows);
/* Adds an entry of what could not be measured: `why`, formatted, and what would help. */
__attribute__((format(printf, 5, 6))) void
trigger_put_missing(const struct cell *c, struct table *rows, const char *what, unsigned density, const char *why, ...);
/* Adds as missing that the repetitions of `of` do not agree. */
void trigger_put_disagreement(const struct trigger_bursts *b, struct table *rows, const char *of);

/* ---- the cells ---- */

/* Measures a cell. only_lower: nothing where nothing shows a lower frequency; *enough is set if something does, if
 * levels are counted, or if nobody can tell. */
typedef int trigger_measure_cell(const struct tables_context *x, const struct cell *c, bool only_lower, bool *enough,
                                 struct table *rows, struct machine_error *err);
trigger_measure_cell trigger_kernel, trigger_mixture, trigger_dirty;
/* tables/trigger/trigger_count.c: bursts of a kernel, whose look is known, of many lengths. */
int trigger_count(const struct tables_context *x, const struct cell *c, const struct trigger_look *look,
                  struct table *rows, struct machine_error *err);

/* tables/trigger/trigger_rank.c: levels that no counter shows */
int trigger_conclude(struct table *t);
/* A row's frequency against that of plain code: the ratio, or where it has none, of the two frequencies. */
struct estimate trigger_ratio(const struct table *t, size_t row);

/* tables/trigger/trigger_text.c */
enum { TRIGGER_VIEWS = 4 };
extern const struct pivot_list trigger_views[TRIGGER_VIEWS];
void trigger_print(FILE *out, bool colour, const struct table *t);
void trigger_findings(FILE *out, const struct table *t);
void trigger_plot(const struct table *t, struct chart *c);
