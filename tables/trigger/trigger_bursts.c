/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bursts, each between two repetitions without it: the frequency of the plain code after it is compared with that
 * milliseconds before and after, so that movements of the clock cancel. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "analysis/stats/robust.h"
#include "probes/stop.h"
#include "tables/trigger/trigger.h"
#include "util/order.h"

/* Length of the segment that stands for a burst where there is none, us: no longer than a sample. */
#define MOMENT_US 0.5
/* TRIES: for one repetition that counts. UNSETTLED_LEAST: the level changed in so many, so that it is no exception. */
enum { TRIES = 12, UNSETTLED_LEAST = 10 };
#define FULL 0.9     /* of the full rate; throttled code runs at half of it or less (G 3.2.2), or at a little more */
#define REJECT 5.0   /* scaled MADs: a frequency farther from the median is wild */
#define ENOUGH 0.005 /* half of the width of a ratio's limits: levels are 2.5 % apart at least */
#define SECONDS 1.0  /* of the machine's time for all rounds of a cell; with --brief: */
#define SECONDS_BRIEF 0.5
/* Plain code before each burst: more than the 2 ms that the Intel manual gives for a license to lapse (G 3.2.3). */
#define WARMUP_US 2500.0
/* ... and no longer than this, or a cell of some hundred bursts would take minutes. */
#define WARMUP_MOST_US 30e3
/* Between a window and the transitions around it, us: ten samples. */
#define MARGIN_US 10.0
/* The usual beginning of the window: transitions take less than 100 us, for which they were watched (G 3.2.2), licenses
 * last 650 us and more (D). */
#define USUAL_FROM_US 150.0
#define WINDOW_US 100.0
/* The least samples in either half of a window, for their median. */
enum { SAMPLES_LEAST = 6 };
/* Share of the repetitions of a kind that must reach the grade that they agree on, ... */
#define AGREE 0.8
/* ... and so many at most go beyond it, which 1 - AGREE is not quite. */
#define BEYOND 0.2

/* ---- grades ---- */

static bool all_counted(const struct sight *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(s[i].level))
            return false;
    return n > 0;
}

static int grade_by_frequency(struct sight *s, size_t n, struct trigger_grades *out)
{
    struct value_mode mode[TRIGGER_GRADES_MAX];
    double *x = calloc(n + 1, sizeof *x);
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[i] = log(s[i].freq);
    out->n = robust_modes(x, n, TRIGGER_SAME_FREQUENCY, n > 3 ? 2 : 1, mode, TRIGGER_GRADES_MAX);
    qsort(mode, out->n, sizeof *mode, order_double_descending);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < out->n; k++)
            if (fabs(x[i] - mode[k].mean) < fabs(x[i] - mode[s[i].grade].mean))
                s[i].grade = (int)k;
    free(x);
    return 0;
}

/*
 * Sorts repetitions into grades: by license level where all have one, else by frequency: frequencies that differ by
 * less than TRIGGER_SAME_FREQUENCY are one grade. Returns 0, or -1: out of memory.
 */
static int trigger_grade(struct sight *s, size_t n, struct trigger_grades *out)
{
    *out = (struct trigger_grades){.counted = all_counted(s, n)};
    for (size_t i = 0; i < n; i++)
        s[i].grade = 0;
    if (!out->counted && grade_by_frequency(s, n, out))
        return -1;
    for (size_t i = 0; i < n && out->counted; i++) {
        s[i].grade = (int)(s[i].level + 0.5);
        out->n = (size_t)s[i].grade + 1 > out->n ? (size_t)s[i].grade + 1 : out->n;
    }
    for (size_t k = 0; k < out->n; k++) {
        double sum = 0;
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (s[i].grade == (int)k) {
                sum += s[i].freq;
                m++;
            }
        out->freq[k] = m ? sum / (double)m : NAN;
    }
    return 0;
}

bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade)
{
    int above = grade - 1; /* the next higher frequency that was seen */
    if (g->counted)
        return s->level >= grade - 0.5;
    while (above > 0 && isnan(g->freq[above]))
        above--;
    return above < 0 || s->freq * s->freq < g->freq[above] * g->freq[grade];
}

/* Share of repetitions whose grade is `grade` or a lower frequency. */
static double share_of(const struct sight *s, size_t n, int grade)
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes += s[i].grade >= grade;
    return n ? (double)yes / (double)n : NAN;
}

/*
 * The grade that a set of repetitions reaches: the lowest frequency that at least four in five reach while not more
 * than one in five go beyond it; -1: they do not agree.
 */
static int trigger_agreed(const struct sight *s, size_t n)
{
    for (int grade = TRIGGER_GRADES_MAX - 1; grade >= 0 && n; grade--)
        if (share_of(s, n, grade) >= AGREE)
            return share_of(s, n, grade + 1) <= BEYOND ? grade : -1;
    return -1;
}

/* ---- the window ---- */

void trigger_bursts_init(struct trigger_bursts *b, const struct tables_context *x, const struct cell *c,
                         const char *what, const struct payload *plain, double period_us)
{
    *b = (struct trigger_bursts){.context = x,
                                 .cell = c,
                                 .what = what,
                                 .plain = *plain,
                                 .null = {*plain, MOMENT_US, true},
                                 .period_us = x->options->period_us > 0 ? x->options->period_us : period_us};
}

int trigger_bursts_pilot(struct trigger_bursts *b, const struct trigger_look *look, size_t n, struct machine_error *err)
{
    b->warmup_us = fmax(b->context->options->warmup_us, WARMUP_US);
    for (size_t i = 0; i < n; i++) {
        /* waits take twice their time now and then (K; G 5.2.2: longer) */
        const double wait = fmax(2.2 * look[i].back_usual_us, 1.2 * look[i].back_most_us);
        const double change = 0.5 * fabs(log(look[i].ratio.value));
        if (wait > WARMUP_MOST_US)
            return machine_fail(err, MACHINE_CANNOT, "measure it with --transition and a longer --observe",
                                "%.0f us after %.40s the core is not back at the frequency of %.40s, so the effect of "
                                "the next burst cannot be measured",
                                look[i].back_most_us, b->cell->a.name, b->plain.name);
        b->warmup_us = fmax(b->warmup_us, wait);
        if (look[i].lower && change > 0.005)
            b->change = b->change > 0 ? fmin(b->change, change) : change;
        else if (!isnan(look[i].level) && !(b->change > 0))
            b->change = 1; /* the counters tell */
    }
    return MACHINE_OK;
}

int trigger_bursts_window(struct trigger_bursts *b, double settled_us, double back_us, bool late,
                          struct machine_error *err)
{
    double from = settled_us + MARGIN_US, to = back_us - MARGIN_US, least = SAMPLES_LEAST * b->period_us;
    double wide = fmax(WINDOW_US, 2 * least);
    b->from_us = from <= USUAL_FROM_US && to >= USUAL_FROM_US + WINDOW_US ? USUAL_FROM_US : from;
    if (late && isfinite(to))
        b->from_us = fmax(from, to - wide);
    b->to_us = fmin(to, b->from_us + wide);
    if (b->to_us - b->from_us >= 2 * least)
        return MACHINE_OK;
    if (to - from >= SAMPLES_LEAST)
        return machine_fail(
            err, MACHINE_CANNOT, "use a shorter --period",
            "the effect of a short burst shows only from %.0f to %.0f us after it, too short for samples of %g us",
            from, to, b->period_us);
    return machine_fail(err, MACHINE_CANNOT, "the density rows show what it triggers when it keeps running",
                        "a transition takes %.0f us and the core leaves its level %.0f us after a burst, leaving no "
                        "time in which the level of a short burst could be seen",
                        settled_us, back_us);
}

void trigger_bursts_end(struct trigger_bursts *b)
{
    sequence_end(&b->sequence);
    free(b->seen);
    free(b->sight);
    free(b->scratch);
}

int trigger_bursts_begin(struct trigger_bursts *b, struct machine_error *err)
{
    struct machine_setup setup = tables_setup(b->context, "trigger", b->cell);
    setup.period_us = b->period_us;
    int status = sequence_begin(&b->sequence, b->context->machine, &setup, b->room_us + b->to_us, err);
    if (status != MACHINE_OK)
        return status;
    b->seen = malloc(BURSTS_SEEN_MAX * sizeof *b->seen);
    b->sight = malloc(BURSTS_SEEN_MAX * sizeof *b->sight);
    b->scratch = malloc(BURSTS_SEEN_MAX * sizeof *b->scratch);
    if (b->seen && b->sight && b->scratch)
        return MACHINE_OK;
    trigger_bursts_end(b);
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* ---- repetitions ---- */

/* Why a window does not show what the burst requested: the transition goes on, or the way back begins. Else NULL. */
static const char *bursts_unsettled(const struct trigger_bursts *b, const struct trace *t, struct sights_span s)
{
    struct sight early, late;
    double middle = 0.5 * (b->from_us + b->to_us), end = b->to_us - b->period_us;
    if (!(b->change > 0) || sights_look(t, s, b->from_us, middle, &early) || sights_look(t, s, middle, end, &late))
        return NULL;
    bool counted = !isnan(early.level) && !isnan(late.level);
    if (counted ? fabs(early.level - late.level) >= 0.5 : fabs(log(early.freq / late.freq)) > b->change)
        return "the level changed while it was being read";
    return NULL;
}

/* One recording; *why NULL: it counts. */
static int bursts_record(struct trigger_bursts *b, const struct segment *all, size_t n, size_t zero,
                         struct sight *sight, double *count, const char **why, struct machine_error *err)
{
    struct trace t;
    struct sequence_run run;
    trace_init(&t);
    int status = sequence_trace(&b->sequence, &t) ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
                                                  : sequence_record(&b->sequence, all, n, zero, &t, &run, err);
    if (status == MACHINE_OK && run.invalid[0]) {
        snprintf(b->discarded_why, sizeof b->discarded_why, "%s", run.invalid);
        *why = b->discarded_why;
    } else if (status == MACHINE_OK) {
        const struct sights_span span = sights_span(&t, run.run);
        *count = run.instructions;
        b->longest_us = fmax(b->longest_us, -run.begin_us);
        *why = sights_look(&t, span, b->from_us, b->to_us - b->period_us, sight);
        if (!*why) {
            *why = bursts_unsettled(b, &t, span);
            b->unsettled += *why != NULL;
        }
    }
    trace_free(&t);
    return status;
}

/* Until one counts. */
static int bursts_until(struct trigger_bursts *b, const struct segment *segments, size_t n, const struct payload *last,
                        struct sight *sight, double *count, struct machine_error *err)
{
    struct segment all[SEQUENCE_SEGMENTS_MAX];
    const char *why = NULL;
    size_t m = 0;
    all[m++] = (struct segment){b->plain, b->warmup_us, false};
    for (size_t i = 0; i < n; i++)
        all[m++] = segments[i];
    all[m++] = (struct segment){b->plain, fmax(b->to_us, 2 * b->period_us), true};
    if (last)
        all[m++] = (struct segment){*last, MOMENT_US, false};
    for (int tries = 0; tries < TRIES; tries++) {
        int status = bursts_record(b, all, m, n + 1, sight, count, &why, err);
        if (status != MACHINE_OK || !why)
            return status;
        if (why != b->discarded_why)
            snprintf(b->discarded_why, sizeof b->discarded_why, "%s", why);
        if (b->unsettled > UNSETTLED_LEAST && 5 * b->unsettled > b->n_seen)
            /* left out they would take part of the answers with them */
            return machine_fail(err, MACHINE_CANNOT, "look at individual transitions with --transition",
                                "in %zu repetitions %.100s", b->unsettled, b->discarded_why);
        b->discarded++;
    }
    return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                        "%d consecutive repetitions were invalid: %.100s", TRIES, b->discarded_why);
}

static int bursts_null(struct trigger_bursts *b, struct machine_error *err)
{
    struct sight null;
    double unused;
    b->has_null = false;
    int status = bursts_until(b, &b->null, 1, NULL, &null, &unused, err);
    b->has_null = status == MACHINE_OK;
    b->last_null = null;
    return status;
}

int trigger_bursts_run(struct trigger_bursts *b, const struct segment *segments, size_t n, const struct payload *last,
                       struct machine_error *err)
{
    if (b->n_seen == BURSTS_SEEN_MAX)
        return machine_fail(err, MACHINE_FAILED, "use fewer --runs", "more than %d repetitions in a cell",
                            BURSTS_SEEN_MAX);
    struct burst_seen *s = &b->seen[b->n_seen];
    struct sight *sight = &b->sight[b->n_seen];
    int status = b->has_null ? MACHINE_OK : bursts_null(b, err);
    const struct sight before = b->last_null;
    if (status == MACHINE_OK)
        status = bursts_until(b, segments, n, last, sight, &s->count, err);
    if (status == MACHINE_OK)
        status = bursts_null(b, err);
    if (status != MACHINE_OK)
        return status;
    s->count *= segments[0].payload.counted / segments[0].payload.instructions;
    s->ghz = sight->freq;
    s->null = sqrt(before.freq * b->last_null.freq);
    s->rate = 2 * sight->ipc / (before.ipc + b->last_null.ipc);
    sight->freq = exp(bracket_log(before.freq, sight->freq, b->last_null.freq));
    b->n_seen++;
    return MACHINE_OK;
}

/* ---- rounds ---- */

static bool rounds_suffice(struct trigger_bursts *b, unsigned least, bool counted)
{
    const double each = 2e-6 * (b->warmup_us + b->room_us / 2 + b->to_us);
    const struct stop_rule rule = {.least = least,
                                   .most = (unsigned)(BURSTS_SEEN_MAX / 2 / b->kinds),
                                   .seconds = b->context->options->brief ? SECONDS_BRIEF : SECONDS,
                                   .enough = ENOUGH};
    double widest = 0;
    for (size_t k = 0; k < b->kinds && b->rounds >= least; k++) {
        const struct estimate e = trigger_bursts_ratio(b, k);
        /* counters tell without limits, unless a neighbor on the same processor has come or gone */
        const double half = !counted ? estimate_half(&e) : trigger_bursts_agreed(b, k) >= 0 ? 0 : INFINITY;
        widest = half <= widest ? widest : half;
    }
    return stop_here(&rule, b->rounds, each * (double)b->n_seen, widest);
}

int trigger_bursts_rounds(struct trigger_bursts *b, unsigned least, size_t kinds, trigger_round *round, double share,
                          struct trigger_grades *grades, struct machine_error *err)
{
    int status = MACHINE_OK;
    b->kinds = kinds;
    do {
        status = round(b, err);
        b->rounds++;
        if (status == MACHINE_OK && tables_stop(b->context, share * fmin(1, (double)b->rounds / (2 * least))))
            status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
        if (status == MACHINE_OK && trigger_grade(b->sight, b->n_seen, grades))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    } while (status == MACHINE_OK && !rounds_suffice(b, least, grades->counted));
    return status;
}

int trigger_bursts_settled(const struct trigger_bursts *b, size_t kind, struct machine_error *err)
{
    return trigger_bursts_rate(b, kind).value >= FULL
               ? MACHINE_OK
               : machine_fail(err, MACHINE_CANNOT, "look at the transition with --transition",
                              "the plain code after a burst is still throttled from %.0f to %.0f us after it",
                              b->from_us, b->to_us);
}

int trigger_bursts_agreed(const struct trigger_bursts *b, size_t kind)
{
    struct sight s[BURSTS_SEEN_MAX];
    for (size_t i = 0; i < b->rounds; i++)
        s[i] = b->sight[kind + i * b->kinds];
    return trigger_agreed(s, b->rounds);
}

/* The mean of a number of what was seen, which is so many bytes within it. */
static struct estimate mean_of(const struct trigger_bursts *b, size_t kind, size_t at)
{
    for (size_t i = 0; i < b->rounds; i++)
        memcpy(&b->scratch[i], (const char *)&b->seen[kind + i * b->kinds] + at, sizeof *b->scratch);
    return robust_mean(b->scratch, b->rounds, REJECT, 0, NULL);
}

struct estimate trigger_bursts_freq(const struct trigger_bursts *b, size_t kind)
{
    return mean_of(b, kind, offsetof(struct burst_seen, ghz));
}

struct estimate trigger_bursts_null(const struct trigger_bursts *b, size_t kind)
{
    return mean_of(b, kind, offsetof(struct burst_seen, null));
}

struct estimate trigger_bursts_rate(const struct trigger_bursts *b, size_t kind)
{
    return mean_of(b, kind, offsetof(struct burst_seen, rate));
}

struct estimate trigger_bursts_ratio(const struct trigger_bursts *b, size_t kind)
{
    double logs[BURSTS_SEEN_MAX];
    for (size_t i = 0; i < b->rounds; i++)
        logs[i] = log(b->sight[kind + i * b->kinds].freq);
    return brackets_ratio(logs, b->rounds, b->scratch);
}
