/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What has to be known before short bursts can be examined: how long a transition takes, how long a level is kept
 * behind the burst, and what the code requests when it keeps running. All of it differs from processor to processor by
 * more than any fixed time allows for.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tables/trigger/trigger.h"

/* Plain code before each burst: more than the 2 ms that the Intel manual gives for a license to lapse (G 3.2.2). */
#define WARMUP_US 2500.0
#define PERIOD_US 2.0
#define BIN_US 5.0
/* Plain code behind the burst, and before it: with the burst less than the 10 ms for which the kernel helper masks
 * interrupts; the second where the plain code is not back by then. */
static const double after_all_us[] = {2000, 12000}, before_us[] = {3000, 12000};
#define STEADY 0.75 /* of the burst: what is not settled until then is not steady in its last quarter */
#define PLAIN_US 400.0
#define MARGIN_US 10.0 /* more than a bin */
/* Where the window lies when nothing speaks against it: transitions take up to about 100 us (G 3.2.2), licenses last
 * 650 us and more (D). */
#define USUAL_FROM_US 150.0
#define WINDOW_US 100.0
#define SHORT_AFTER_US 200.0 /* behind what does not lower the frequency */
enum { RUNS = 4, BRIEF_RUNS = 3, MORE_RUNS = 9, TRIES = 12, SAMPLES_LEAST = 6 };

/* Pilots of bursts of some code. */
struct pilot {
    struct bench *b;
    struct sequence sequence;
    double period_us, before_us, after_us;
    unsigned runs;
};

static int trigger_pilot_record(struct pilot *p, const struct trigger_bench_burst *burst, double after_us,
                                struct trace *t, struct sequence_run *run, struct machine_error *err)
{
    struct segment all[SEQUENCE_SEGMENTS_MAX];
    size_t m = 0;
    all[m++] = (struct segment){p->b->plain, p->before_us, false};
    for (size_t i = 0; i < burst->n; i++)
        all[m++] = burst->segments[i];
    all[m++] = (struct segment){p->b->plain, after_us, true};
    trace_init(t);
    if (sequence_trace(&p->sequence, t))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return sequence_record(&p->sequence, all, m, burst->n + 1, t, run, err);
}

/* One burst until it tells something. `plain` NULL: it is plain code itself. */
static int trigger_pilot_one(struct pilot *p, const struct trigger_bench_burst *burst, const struct sight *plain,
                             double after_us, struct trigger_course *out, struct machine_error *err)
{
    char why[120] = "";
    for (int tries = 0; tries < TRIES; tries++) {
        struct trace t;
        struct sequence_run run = {.run = 0};
        int status = trigger_pilot_record(p, burst, after_us, &t, &run, err);
        const char *invalid = run.invalid;
        if (status == MACHINE_OK && !run.invalid[0]) {
            struct sights_span s = sights_span(&t, run.run);
            double bin_us = fmax(BIN_US, 4 * p->period_us);
            invalid = plain ? trigger_course(&t, s, run.begin_us, bin_us, plain, out)
                            : sights_look(&t, s, run.begin_us / 4, 0, &out->steady);
        }
        trace_free(&t);
        if (status != MACHINE_OK || !invalid)
            return status;
        snprintf(why, sizeof why, "%s", invalid);
        if (tables_stop(p->b->context, 0))
            return machine_fail(err, MACHINE_FAILED, "", "interrupted");
    }
    return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                        "%d consecutive repetitions were invalid: %.100s", TRIES, why);
}

/* Mixtures are too short to settle, and are looked at behind their end. */
static bool settles(const struct trigger_bench_burst *burst, const struct trigger_pilot *p, double after)
{
    if (burst->n > 1)
        return p->after_us < STEADY * fmin(after, BENCH_PILOT_US);
    return p->settled_us <= STEADY * BENCH_PILOT_US;
}

static int several(struct pilot *p, const struct trigger_bench_burst *burst, const struct sight *plain,
                   struct trigger_pilot *out, struct machine_error *err)
{
    struct trigger_course course[MORE_RUNS];
    memset(course, 0, sizeof course);
    unsigned runs = plain ? p->runs : BRIEF_RUNS;
    for (unsigned i = 0; i < runs; i++) {
        bool lower = i == 0 || !isnan(course[0].back_us);
        int status = trigger_pilot_one(p, burst, plain, plain && lower ? p->after_us : SHORT_AFTER_US, &course[i], err);
        if (status != MACHINE_OK)
            return status;
        trigger_pilot(course, i + 1, plain ? plain : &course[0].steady, out);
        if (plain && i + 1 == runs && !settles(burst, out, p->after_us))
            runs = MORE_RUNS; /* most of them may, nevertheless */
    }
    return MACHINE_OK;
}

static int all_bursts(struct pilot *p, const struct trigger_bench_burst *burst, size_t n, struct trigger_pilot *out,
                      struct machine_error *err)
{
    struct machine_setup setup = tables_setup(p->b->context, "trigger", p->b->cell);
    const struct segment own = {p->b->plain, PLAIN_US, true};
    const struct trigger_bench_burst plain = {&own, 1};
    struct trigger_pilot reference;
    setup.period_us = p->period_us;
    int status = sequence_begin(&p->sequence, p->b->context->machine, &setup, BENCH_PILOT_US + p->after_us, err);
    if (status != MACHINE_OK)
        return status;
    status = several(p, &plain, NULL, &reference, err);
    for (size_t i = 0; i < n && status == MACHINE_OK; i++)
        status = several(p, &burst[i], &reference.steady, &out[i], err);
    sequence_end(&p->sequence);
    return status;
}

/* What b's repetitions need so that none carries over into the next one, and what is checked in them. */
static void trigger_pilot_prepare(struct bench *b)
{
    const struct trigger_pilot *p = b->pilot;
    b->warmup_us = fmax(b->context->options->warmup_us, WARMUP_US);
    b->check_rate = true;
    for (size_t i = 0; i < b->n_pilots; i++) {
        /* waits take twice their time now and then (G 5.2.2) */
        b->warmup_us = fmax(b->warmup_us, fmax(2.2 * p[i].back_usual_us, 1.2 * p[i].back_most_us));
        double change = 0.5 * fabs(log(p[i].steady.freq / p[i].plain.freq));
        if (p[i].lower && change > 0.005)
            b->change = b->change > 0 ? fmin(b->change, change) : change;
        else if (p[i].counted && !(b->change > 0))
            b->change = 1; /* the counters tell */
    }
}

/* With longer and longer stretches of plain code until it is back in them. */
static int until_back(struct pilot *p, const struct trigger_bench_burst *burst, size_t n, struct trigger_pilot *out,
                      struct machine_error *err)
{
    bool stays = true;
    for (size_t k = 0; k < sizeof after_all_us / sizeof after_all_us[0] && stays; k++) {
        p->before_us = before_us[k];
        p->after_us = after_all_us[k];
        int status = all_bursts(p, burst, n, out, err);
        if (status != MACHINE_OK)
            return status;
        stays = false;
        for (size_t i = 0; i < n; i++)
            stays = stays || out[i].stays;
    }
    return !stays ? MACHINE_OK
                  : machine_fail(err, MACHINE_CANNOT, "measure it with --transition and a longer --observe",
                                 "%.0f us after %.40s the core is not back at the frequency of %.40s, so the effect of "
                                 "the next burst cannot be measured",
                                 p->after_us, burst[0].segments[0].payload.name, p->b->plain.name);
}

int trigger_bench_pilot(struct bench *b, const struct trigger_bench_burst *burst, size_t n, struct machine_error *err)
{
    struct pilot p = {
        .b = b, .period_us = fmax(b->period_us, PERIOD_US), .runs = b->context->options->brief ? BRIEF_RUNS : RUNS};
    size_t bad = 0; /* the first of the bursts that do not settle, or n */
    for (int attempt = 0; attempt == 0 || (attempt < BENCH_ATTEMPTS && bad < n); attempt++) {
        /* again where it does not settle: a neighbour on the same processor may have come or gone */
        int status = until_back(&p, burst, n, b->pilot, err);
        if (status != MACHINE_OK)
            return status;
        for (bad = 0; bad < n && settles(&burst[bad], &b->pilot[bad], p.after_us);)
            bad++;
    }
    if (bad < n)
        return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                            "%.40s, or the code after it, has not settled within %.0f us: it has no definite level",
                            burst[bad].segments[0].payload.name, STEADY * BENCH_PILOT_US);
    b->n_pilots = n;
    trigger_pilot_prepare(b);
    return MACHINE_OK;
}

int trigger_bench_pilot_of(struct bench *b, const struct payload *p, struct machine_error *err)
{
    const struct segment burst = {*p, BENCH_PILOT_US, true};
    return trigger_bench_pilot(b, &(struct trigger_bench_burst){&burst, 1}, 1, err);
}

int trigger_bench_window(struct bench *b, double settled_us, double back_us, double exact_us, struct machine_error *err)
{
    double margin = fmax(MARGIN_US, exact_us), from = settled_us + margin, to = back_us - margin;
    double least = SAMPLES_LEAST * b->period_us;
    b->from_us = from <= USUAL_FROM_US && to >= USUAL_FROM_US + WINDOW_US ? USUAL_FROM_US : from;
    b->to_us = fmin(to, b->from_us + fmax(WINDOW_US, 2 * least));
    if (b->to_us - b->from_us >= 2 * least)
        return MACHINE_OK;
    if (to - from >= SAMPLES_LEAST)
        return machine_fail(
            err, MACHINE_CANNOT, "use a shorter --period",
            "the effect of a short burst shows only from %.0f to %.0f us after it, too short for samples of %g us",
            from, to, b->period_us);
    bool at_once = settled_us < exact_us, soon = back_us < exact_us; /* it may have taken part of a bin */
    return machine_fail(
        err, MACHINE_CANNOT, "the density rows show what it triggers when it keeps running",
        "a transition takes %s%.0f us and the core leaves its level %s%.0f us after a burst, leaving no "
        "time in which the level of a short burst could be seen",
        at_once ? "up to " : "", fmax(settled_us, exact_us), soon ? "within " : "", fmax(back_us, exact_us));
}
