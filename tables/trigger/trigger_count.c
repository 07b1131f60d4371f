/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many instructions it takes: bursts of many lengths. First a bisection on the length, then, since in some
 * processors the count varies from time to time (K, Findings: high variance), as many bursts around the place found as
 * it takes to tell whether it is sharp, and a fit of median and spread where it is not.
 */
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tables/trigger/trigger.h"
#include "util/order.h"

/* 10^5 to 10^6 instructions; 13 000 is the largest count that was published (G 3.2.2). More where it takes more, which
 * the pilot tells; twice that, since counts vary. */
#define LONG_US 200.0
#define LONG_MOST_US 1500.0
#define LONGER 2.0
#define ROOM 2.0      /* for bursts that are longer than the long ones */
#define SHORT_US 0.01 /* what a machine can do at least */
#define PERIOD_US 0.5
#define ROUGH 1.05        /* ratio of long to short at which the bisection has found the place */
#define SHARP 0.004       /* relative: what the count of a sharp threshold is narrowed down to */
#define LEAST_AROUND 0.02 /* relative: the bursts of the fit lie at least so far to either side */
#define AROUND_SIGMA 1.2  /* where trials tell most of a median and a spread together */
enum { REFERENCES = 10, VOTES = 3, SURVEY = 40, NARROW_STEPS = 14, CONFIRM = 10, FIT_TRIALS = 300, BRIEF_TRIALS = 60 };

struct search {
    struct trigger_bursts *b;
    const struct payload *kernel;
    const struct trigger_look *look;
    double long_us;
    unsigned rounds;          /* of references */
    struct trigger_row plain; /* what a row has of them in any case */
    struct trigger_grades grades;
    int grade;
    struct threshold_trial trial[BURSTS_SEEN_MAX];
    double us[BURSTS_SEEN_MAX];
    size_t n;
};

static int try_burst(struct search *s, double us, bool *yes, struct machine_error *err)
{
    if (tables_stop(s->b->context, fmin(0.95, (double)s->n / (FIT_TRIALS + 2 * SURVEY))))
        return machine_fail(err, MACHINE_FAILED, "", "interrupted");
    int status = trigger_bursts_one(s->b, s->kernel, us, err);
    if (status != MACHINE_OK)
        return status;
    const struct burst_seen *seen = &s->b->seen[s->b->n_seen - 1];
    *yes = trigger_reaches(&s->b->sight[s->b->n_seen - 1], &s->grades, s->grade);
    s->trial[s->n] = (struct threshold_trial){seen->count, *yes};
    s->us[s->n++] = us;
    return MACHINE_OK;
}

/* Bursts of lengths spread evenly over lo_us..hi_us, in scattered order. */
static int try_range(struct search *s, double lo_us, double hi_us, unsigned n, struct machine_error *err)
{
    for (unsigned i = 0; i < n; i++) {
        bool yes = false;
        double us = lo_us + (hi_us - lo_us) * fmod((i + 1) * 0.6180339887498949, 1.0);
        int status = try_burst(s, us, &yes, err);
        if (status != MACHINE_OK)
            return status;
    }
    return MACHINE_OK;
}

static int trigger_count_bisect(struct search *s, double *lo_us, double *hi_us, struct machine_error *err)
{
    while (*hi_us > ROUGH * *lo_us) {
        double middle = *hi_us > 2 * *lo_us ? sqrt(*lo_us * *hi_us) : 0.5 * (*lo_us + *hi_us);
        int votes = 0;
        for (int i = 0; i < VOTES; i++) {
            bool yes = false;
            int status = try_burst(s, middle, &yes, err);
            if (status != MACHINE_OK)
                return status;
            votes += yes;
        }
        *(2 * votes > VOTES ? hi_us : lo_us) = middle;
    }
    return MACHINE_OK;
}

/* The length of the burst that has so many instructions: between its neighbours among the trials. */
static double us_for(const struct search *s, double count)
{
    size_t below = s->n, above = s->n;
    for (size_t i = 0; i < s->n; i++) {
        if (s->trial[i].x <= count && (below == s->n || s->trial[i].x > s->trial[below].x))
            below = i;
        if (s->trial[i].x >= count && (above == s->n || s->trial[i].x < s->trial[above].x))
            above = i;
    }
    if (below == s->n || above == s->n)
        return s->us[below == s->n ? above : below];
    double across = s->trial[above].x - s->trial[below].x;
    double part = across > 0 ? (count - s->trial[below].x) / across : 0.5;
    return s->us[below] + part * (s->us[above] - s->us[below]);
}

/* No answer contradicts another so far: closer to the threshold, and once more on both sides of it. */
static int narrow(struct search *s, struct threshold *t, struct machine_error *err)
{
    for (int i = 0; i < NARROW_STEPS && t->smallest_yes - t->largest_no > SHARP * t->smallest_yes &&
                    t->smallest_yes > t->largest_no;
         i++) {
        bool yes = false;
        int status = try_burst(s, us_for(s, 0.5 * (t->smallest_yes + t->largest_no)), &yes, err);
        if (status != MACHINE_OK)
            return status;
        threshold_fit(s->trial, s->n, t);
    }
    for (unsigned i = 0; i < CONFIRM; i++) {
        bool yes = false;
        int status = try_burst(s, us_for(s, t->largest_no), &yes, err);
        if (status == MACHINE_OK)
            status = try_burst(s, us_for(s, t->smallest_yes), &yes, err);
        if (status != MACHINE_OK)
            return status;
    }
    threshold_fit(s->trial, s->n, t);
    return MACHINE_OK;
}

/* How far from `us` the lengths lie that show what a burst of it has: enough of those that request nothing more, and
 * not all in one place. NaN: there are too few. */
static double radius_around(const struct search *s, double us)
{
    enum { LEAST = 8 };
    double distance[BURSTS_SEEN_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->trial[i].yes)
            distance[n++] = fabs(s->us[i] - us);
    qsort(distance, n, sizeof *distance, order_double);
    return n < LEAST ? NAN : fmax(distance[LEAST - 1], 0.05 * us);
}

/* How many instructions a burst of length `at` has while nothing more is requested: a line through the bursts of that
 * kind whose length is near `us`, so near at least. NaN: there are too few. */
static double count_on_line(const struct search *s, double us, double least_radius, double at)
{
    double x[BURSTS_SEEN_MAX], y[BURSTS_SEEN_MAX], cov00, cov01, cov11, square, intercept, slope;
    double radius = radius_around(s, us);
    size_t n = 0;
    radius = radius < least_radius ? least_radius : radius; /* NaN stays NaN */
    for (size_t i = 0; i < s->n; i++)
        if (!s->trial[i].yes && fabs(s->us[i] - us) <= radius) {
            x[n] = s->us[i];
            y[n++] = s->trial[i].x;
        }
    if (n < 3)
        return NAN;
    gsl_fit_linear(x, 1, y, 1, n, &intercept, &slope, &cov00, &cov01, &cov11, &square);
    return intercept + slope * at;
}

static double undisturbed_count(const struct search *s, double us)
{
    return count_on_line(s, us, 0, us);
}

/*
 * The fit where the count that it takes varies. A burst that has requested more is throttled from then on and has fewer
 * instructions than others of its length: against counts it would look as if fewer sufficed. So the fit is over the
 * lengths, which are chosen and not seen, and its result is given in instructions that a burst of that length has.
 * *over_us: the same in microseconds. Where lengths of halts on the way scatter as much as the count does, bursts that
 * request nothing more have had the longer halts, and the result is too small by up to what runs in that scatter.
 */
static int fit_varying(const struct search *s, struct threshold *over_us, struct threshold *t,
                       struct machine_error *err)
{
    struct threshold_trial *trial = malloc(s->n * sizeof *trial);
    if (!trial)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < s->n; i++)
        trial[i] = (struct threshold_trial){s->us[i], s->trial[i].yes};
    threshold_fit(trial, s->n, over_us);
    free(trial);
    const struct estimate *us = &over_us->at;
    /* the limits along one line that is long enough to rise: lines of their own, or a short one through bursts that
     * scatter, could put the value outside of its limits */
    double reach = fmax(0.4 * us->value, fmax(us->value - us->lo, us->hi - us->value));
    double value = undisturbed_count(s, us->value), there = count_on_line(s, us->value, reach, us->value);
    t->at = (struct estimate){value, value + count_on_line(s, us->value, reach, us->lo) - there,
                              value + count_on_line(s, us->value, reach, us->hi) - there};
    t->sigma = 0.5 *
               (undisturbed_count(s, us->value + over_us->sigma) - undisturbed_count(s, us->value - over_us->sigma));
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
    double lo_us = SHORT_US, hi_us = s->long_us;
    if (trials > BURSTS_SEEN_MAX / 2)
        trials = BURSTS_SEEN_MAX / 2;
    s->n = 0;
    int status = trigger_count_bisect(s, &lo_us, &hi_us, err);
    if (status == MACHINE_OK)
        status = try_range(s, 0.4 * lo_us, 1.7 * hi_us, SURVEY, err);
    if (status != MACHINE_OK)
        return status;
    threshold_fit(s->trial, s->n, t);
    if (!contradictory(t))
        status = narrow(s, t, err);
    if (status == MACHINE_OK && contradictory(t)) {
        struct threshold over = {.sigma = 0};
        status = fit_varying(s, &over, t, err);
        if (status == MACHINE_OK) {
            /* a first look at few bursts may take the spread for too small */
            double half = fmax(AROUND_SIGMA * over.sigma, LEAST_AROUND * over.at.value);
            status = try_range(s, fmax(over.at.value - half, SHORT_US), over.at.value + half, trials, err);
        }
        if (status == MACHINE_OK)
            status = fit_varying(s, &over, t, err);
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

/* What the references are: plain code, long bursts and shortest ones in turn. */
enum { PLAIN, LONG, SHORT, KINDS };

static int reference_round(struct trigger_bursts *b, struct machine_error *err)
{
    double long_us = b->room_us / ROOM;
    int status = trigger_bursts_one(b, &b->plain, long_us, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_one(b, &b->cell->a, long_us, err);
    return status == MACHINE_OK ? trigger_bursts_one(b, &b->cell->a, SHORT_US, err) : status;
}

/* The largest count of the shortest bursts: what they request is requested by so few. */
static struct estimate at_most(const struct search *s)
{
    double most = 1;
    for (size_t i = 0; i < s->rounds; i++)
        most = fmax(most, s->b->seen[SHORT + i * KINDS].count);
    return (struct estimate){most, 1, most};
}

/* Throttling is triggered by fewer instructions than a level, or it is the level that throttles. */
static void count_throttle_row(const struct search *s, struct table *rows, const struct threshold *first)
{
    const struct estimate *instructions = &s->look->instructions;
    struct trigger_row r = s->plain;
    r.asks = trigger_asks(false, false, true, NAN);
    if (s->look->throttled && instructions->hi < first->at.lo)
        count_row(s, rows, &r, *instructions, 0, s->rounds);
}

/* What the references of a kind ask for, whose grade is above that of plain code. */
static struct trigger_row row_of_kind(const struct search *s, size_t kind, int grade)
{
    struct trigger_row r = s->plain;
    r.level = s->grades.counted ? grade : NAN;
    r.asks = trigger_asks(true, false, false, r.level);
    r.freq = trigger_bursts_freq(s->b, kind, s->rounds, KINDS);
    r.ratio = trigger_bursts_ratio(s->b, kind, s->rounds, KINDS);
    return r;
}

static int level_rows(struct search *s, struct table *rows, int plain, int from, int to, struct machine_error *err)
{
    static const struct estimate unknown = {NAN, NAN, NAN};
    int status = MACHINE_OK;
    if (from > plain) {
        struct trigger_row r = row_of_kind(s, SHORT, from);
        count_row(s, rows, &r, at_most(s), 0, s->rounds);
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

/* Whether the longest bursts request what the kernel requests when it keeps running. */
static bool as_steady(const struct search *s, int at_long)
{
    const struct estimate ratio = trigger_bursts_ratio(s->b, LONG, s->rounds, KINDS);
    return s->grades.counted ? fabs(at_long - s->look->level) < 0.5
                             : fabs(log(ratio.value / s->look->ratio.value)) < TRIGGER_SAME_FREQUENCY;
}

static int count_rows(struct search *s, struct table *rows, struct machine_error *err)
{
    int plain = trigger_bursts_agreed(s->b, PLAIN, s->rounds, KINDS),
        at_long = trigger_bursts_agreed(s->b, LONG, s->rounds, KINDS),
        at_short = trigger_bursts_agreed(s->b, SHORT, s->rounds, KINDS);
    if (plain < 0 || at_long < 0 || at_short < 0) {
        trigger_put_disagreement(s->b, rows, plain < 0 ? s->b->plain.name : s->kernel->name);
        return MACHINE_OK;
    }
    if (!as_steady(s, at_long)) {
        const struct estimate ratio = trigger_bursts_ratio(s->b, LONG, s->rounds, KINDS);
        trigger_put_missing(s->b->cell, rows, "count", s->kernel->density,
                            "after a burst of %.0f us the core runs at %.3f of its clock, but at %.3f when %.40s keeps "
                            "running: bursts do not show what it triggers; see the density rows",
                            s->long_us, ratio.value, s->look->ratio.value, s->kernel->name);
        return MACHINE_OK;
    }
    s->plain = (struct trigger_row){.level = s->grades.counted ? plain : NAN,
                                    .freq = trigger_bursts_freq(s->b, PLAIN, s->rounds, KINDS),
                                    .plain = trigger_bursts_null(s->b, PLAIN, s->rounds, KINDS),
                                    .ratio = trigger_bursts_ratio(s->b, PLAIN, s->rounds, KINDS)};
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
    int status = trigger_bursts_rounds(b, REFERENCES, KINDS, reference_round, 0, &s->grades, &s->rounds, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_settled(b, LONG, s->rounds, KINDS, err);
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
