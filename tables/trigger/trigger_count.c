/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many instructions it takes: bursts of many lengths, each of so many instructions exactly. First a bisection,
 * then, since in some processors the count varies from time to time (K, Findings: high variance), as many bursts around
 * the place found as it takes to tell whether it is sharp, and a fit of median and spread where it is not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tables/trigger/trigger.h"

/* 10^5 to 10^6 instructions; 13 000 is the largest count that was published (G 3.2.2). More where it takes more, which
 * the pilot tells; twice that, since counts vary. */
#define LONG_US 200.0
#define LONG_MOST_US 1500.0
#define LONGER 2.0
#define ROOM 2.0          /* for bursts that are longer than the long ones */
#define PERIOD_US 0.5     /* of sampling: the shortest, since bursts end between samples */
#define ROUGH 1.05        /* ratio of long to short at which the bisection has found the place */
#define SHARP 0.004       /* relative: the count of a sharp threshold is narrowed down to this */
#define LEAST_AROUND 0.02 /* relative: the bursts of the fit lie at least so far to either side */
#define AROUND_SIGMA 1.2  /* where trials tell most of a median and a spread together */
/* REFERENCES: rounds of them, at least. VOTES: bursts at each place of the bisection. SURVEY: spread around it.
 * NARROW_STEPS: halvings until SHARP. CONFIRM: once more on either side. Trials of the fit: unless --runs says. */
enum { REFERENCES = 10, VOTES = 3, SURVEY = 40, NARROW_STEPS = 14, CONFIRM = 10, FIT_TRIALS = 300, BRIEF_TRIALS = 60 };

struct search {
    struct trigger_bursts *b;
    const struct payload *kernel;
    const struct trigger_look *look;
    double long_us;
    double long_count;        /* counted instructions of a burst that lasts so long */
    struct trigger_row plain; /* the fields that all rows share */
    struct trigger_grades grades;
    int grade;
    struct threshold_trial trial[BURSTS_SEEN_MAX];
    size_t n;
};

/* One of about `count` counted instructions: of whole blocks. */
static int try_burst(struct search *s, double count, bool *yes, struct machine_error *err)
{
    const struct segment burst = {*s->kernel, s->long_us * count / s->long_count, true,
                                  (uint64_t)fmax(1, round(count / s->kernel->counted))};
    if (tables_stop(s->b->context, fmin(0.95, (double)s->n / (FIT_TRIALS + 2 * SURVEY))))
        return machine_fail(err, MACHINE_FAILED, "", "interrupted");
    int status = trigger_bursts_run(s->b, &burst, 1, NULL, err);
    if (status != MACHINE_OK)
        return status;
    *yes = trigger_reaches(&s->b->sight[s->b->n_seen - 1], &s->grades, s->grade);
    s->trial[s->n++] = (struct threshold_trial){s->b->seen[s->b->n_seen - 1].count, *yes};
    return MACHINE_OK;
}

/* Bursts of counts spread evenly over lo..hi, in scattered order. */
static int try_range(struct search *s, double lo, double hi, unsigned n, struct machine_error *err)
{
    for (unsigned i = 0; i < n; i++) {
        bool yes = false;
        int status = try_burst(s, lo + (hi - lo) * fmod((i + 1) * 0.6180339887498949, 1.0), &yes, err);
        if (status != MACHINE_OK)
            return status;
    }
    return MACHINE_OK;
}

static int bisect(struct search *s, double *lo, double *hi, struct machine_error *err)
{
    while (*hi > fmax(ROUGH * *lo, *lo + s->kernel->counted)) {
        double middle = *hi > 2 * *lo ? sqrt(*lo * *hi) : 0.5 * (*lo + *hi);
        int votes = 0;
        for (int i = 0; i < VOTES; i++) {
            bool yes = false;
            int status = try_burst(s, middle, &yes, err);
            if (status != MACHINE_OK)
                return status;
            votes += yes;
        }
        *(2 * votes > VOTES ? hi : lo) = middle;
    }
    return MACHINE_OK;
}

/* No answer contradicts another so far: closer to the threshold, and once more on both sides of it. */
static int narrow(struct search *s, struct threshold *t, struct machine_error *err)
{
    bool yes = false;
    for (int i = 0; i < NARROW_STEPS && t->smallest_yes > t->largest_no &&
                    t->smallest_yes - t->largest_no > fmax(SHARP * t->smallest_yes, s->kernel->counted);
         i++) {
        int status = try_burst(s, 0.5 * (t->smallest_yes + t->largest_no), &yes, err);
        if (status != MACHINE_OK)
            return status;
        threshold_fit(s->trial, s->n, t);
    }
    for (unsigned i = 0; i < CONFIRM; i++) {
        int status = try_burst(s, t->largest_no, &yes, err);
        if (status == MACHINE_OK)
            status = try_burst(s, t->smallest_yes, &yes, err);
        if (status != MACHINE_OK)
            return status;
    }
    threshold_fit(s->trial, s->n, t);
    return MACHINE_OK;
}

static bool contradictory(const struct threshold *t)
{
    return t->largest_no >= t->smallest_yes;
}

static int find_count(struct search *s, struct threshold *t, struct machine_error *err)
{
    const struct tables_options *o = s->b->context->options;
    unsigned trials = o->runs ? o->runs : o->brief ? BRIEF_TRIALS : FIT_TRIALS;
    double lo = s->kernel->counted, hi = s->long_count;
    if (trials > BURSTS_SEEN_MAX / 2)
        trials = BURSTS_SEEN_MAX / 2;
    s->n = 0;
    int status = bisect(s, &lo, &hi, err);
    if (status == MACHINE_OK)
        status = try_range(s, 0.4 * lo, 1.7 * hi, SURVEY, err);
    if (status != MACHINE_OK)
        return status;
    threshold_fit(s->trial, s->n, t);
    if (!contradictory(t))
        status = narrow(s, t, err);
    if (status == MACHINE_OK && contradictory(t)) {
        /* a first look at few bursts may take the spread for too small */
        double half = fmax(AROUND_SIGMA * t->sigma, LEAST_AROUND * t->at.value);
        status = try_range(s, fmax(t->at.value - half, 0), t->at.value + half, trials, err);
        threshold_fit(s->trial, s->n, t);
    }
    return status;
}

/* The row of a count. `sigma` 0: not known, or sharp. */
static void count_row(const struct search *s, struct table *rows, struct trigger_row *r, struct estimate count,
                      double sigma, size_t n)
{
    r->what = "count";
    r->density = s->kernel->density;
    r->n = n;
    trigger_put_row(s->b->cell, rows, r);
    trigger_put_bursts(s->b, rows);
    table_put_limits(rows, "count", count.value, count.lo, count.hi);
    if (sigma > 0)
        table_put_number(rows, "spread", sigma / count.value);
}

/* The references: plain code, long bursts and shortest ones in turn. */
enum { PLAIN, LONG, SHORT, KINDS };

static int reference_round(struct trigger_bursts *b, struct machine_error *err)
{
    const double long_us = b->room_us / ROOM;
    const struct segment kind[KINDS] = {
        [PLAIN] = {b->plain, long_us, true}, [LONG] = {b->cell->a, long_us, true}, [SHORT] = {b->cell->a, 0, true, 1}};
    int status = MACHINE_OK;
    for (size_t k = 0; k < KINDS && status == MACHINE_OK; k++)
        status = trigger_bursts_run(b, &kind[k], 1, NULL, err);
    return status;
}

/* Throttling is triggered by fewer instructions than a level, or it is the level that throttles. */
static void count_throttle_row(const struct search *s, struct table *rows, const struct threshold *first)
{
    const struct estimate *instructions = &s->look->instructions;
    struct trigger_row r = s->plain;
    r.asks = trigger_asks(false, false, true, NAN);
    if (s->look->throttled && instructions->hi < first->at.lo)
        count_row(s, rows, &r, *instructions, 0, s->b->rounds);
}

/* The row of a kind of reference whose grade is above that of plain code. */
static struct trigger_row row_of_kind(const struct search *s, size_t kind, int grade)
{
    struct trigger_row r = s->plain;
    r.level = s->grades.counted ? grade : NAN;
    r.asks = trigger_asks(true, false, false, r.level);
    r.freq = trigger_bursts_freq(s->b, kind);
    r.ratio = trigger_bursts_ratio(s->b, kind);
    return r;
}

static int level_rows(struct search *s, struct table *rows, int plain, int from, int to, struct machine_error *err)
{
    static const struct estimate unknown = {NAN, NAN, NAN};
    int status = MACHINE_OK;
    if (from > plain) {
        /* the level of the shortest bursts is requested by so few */
        const double most = s->kernel->counted;
        struct trigger_row r = row_of_kind(s, SHORT, from);
        count_row(s, rows, &r, (struct estimate){most, 1, most}, 0, s->b->rounds);
    }
    for (s->grade = from + 1; s->grade <= to && status == MACHINE_OK; s->grade++) {
        struct threshold t;
        if (isnan(s->grades.freq[s->grade]))
            continue; /* a level that was only passed over */
        status = find_count(s, &t, err);
        if (status != MACHINE_OK || isnan(t.at.value))
            continue;
        if (s->grade == plain + 1 && from == plain)
            count_throttle_row(s, rows, &t);
        struct trigger_row r = row_of_kind(s, LONG, s->grade);
        if (s->grade != to)
            r.freq = r.ratio = unknown;
        count_row(s, rows, &r, t.at, t.sigma, s->n);
    }
    return status;
}

/* Returns true if the longest bursts request the same level as the kernel does when it keeps running. */
static bool as_steady(const struct search *s, int at_long)
{
    const struct estimate ratio = trigger_bursts_ratio(s->b, LONG);
    return s->grades.counted ? fabs(at_long - s->look->level) < 0.5
                             : fabs(log(ratio.value / s->look->ratio.value)) < TRIGGER_SAME_FREQUENCY;
}

static int count_rows(struct search *s, struct table *rows, struct machine_error *err)
{
    int plain = trigger_bursts_agreed(s->b, PLAIN), at_long = trigger_bursts_agreed(s->b, LONG),
        at_short = trigger_bursts_agreed(s->b, SHORT);
    if (plain < 0 || at_long < 0 || at_short < 0) {
        trigger_put_disagreement(s->b, rows, plain < 0 ? s->b->plain.name : s->kernel->name);
        return MACHINE_OK;
    }
    if (!as_steady(s, at_long)) {
        const struct estimate ratio = trigger_bursts_ratio(s->b, LONG);
        trigger_put_missing(s->b->cell, rows, "count", s->kernel->density,
                            "after a burst of %.0f us the core runs at %.3f of its clock, but at %.3f when %.40s keeps "
                            "running: bursts do not show what it triggers; see the density rows",
                            s->long_us, ratio.value, s->look->ratio.value, s->kernel->name);
        return MACHINE_OK;
    }
    s->plain = (struct trigger_row){.level = s->grades.counted ? plain : NAN,
                                    .freq = trigger_bursts_freq(s->b, PLAIN),
                                    .plain = trigger_bursts_null(s->b, PLAIN),
                                    .ratio = trigger_bursts_ratio(s->b, PLAIN)};
    for (size_t i = 0; i < s->b->rounds; i++)
        s->long_count = fmax(s->long_count, s->b->seen[LONG + i * KINDS].count);
    return level_rows(s, rows, plain, at_short > plain ? at_short : plain, at_long, err);
}

static int count_search(struct trigger_bursts *b, const struct trigger_look *look, struct table *rows,
                        struct machine_error *err)
{
    struct search *s = calloc(1, sizeof *s);
    if (!s)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    s->b = b;
    s->kernel = &b->cell->a;
    s->look = look;
    s->long_us = b->room_us / ROOM;
    int status = trigger_bursts_rounds(b, REFERENCES, KINDS, reference_round, 0, &s->grades, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_settled(b, LONG, err);
    if (status == MACHINE_OK)
        status = count_rows(s, rows, err);
    free(s);
    return status;
}

int trigger_count(const struct tables_context *x, const struct cell *c, const struct trigger_look *look,
                  struct table *rows, struct machine_error *err)
{
    const struct payload plain = kernel_named(TRIGGER_PLAIN);
    struct trigger_bursts b;
    trigger_bursts_init(&b, x, c, "count", &plain, PERIOD_US);
    if (!(look->settled_us < LONG_MOST_US))
        return machine_fail(err, MACHINE_CANNOT, "measure it with --transition and a longer --observe",
                            "%.40s has not settled within %.0f us", c->a.name, LONG_MOST_US);
    b.room_us = ROOM * fmin(fmax(LONG_US, LONGER * look->settled_us), LONG_MOST_US);
    int status = trigger_bursts_pilot(&b, look, 1, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_window(&b, look->settled_us, look->back_us, false, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_begin(&b, err);
    if (status != MACHINE_OK)
        return status;
    status = count_search(&b, look, rows, err);
    trigger_bursts_end(&b);
    return status;
}
