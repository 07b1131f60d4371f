/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all cells of the trigger table do: run a burst, look at what followed, and write rows. */
#include "tables/trigger/trigger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "tables/table/estimates.h"

#define MOMENT_US 0.5
enum { TRIES = 12, UNSETTLED_LEAST = 10 }; /* the first: for one repetition that counts */
#define FULL 0.9   /* of the full rate; throttled code runs at half of it or less (G 3.2.2), or at a little more */
#define REJECT 5.0 /* scaled MADs: a frequency farther from the median is wild */

void trigger_bench_init(struct bench *b, const struct tables_context *x, const struct cell *c,
                        const struct trigger_kind *kind)
{
    *b = (struct bench){.context = x,
                        .cell = c,
                        .kind = kind,
                        .period_us = x->options->period_us > 0 ? x->options->period_us : kind->period_us};
    kernel_parse(kind->plain ? kind->plain : c->b.name, &b->plain, NULL, 0);
}

void trigger_bench_end(struct bench *b)
{
    sequence_end(&b->sequence);
    trace_free(&b->trace);
    free(b->seen);
    free(b->sight);
}

int trigger_bench_begin(struct bench *b, struct machine_error *err)
{
    b->after_us = fmax(b->to_us, 2 * b->period_us);
    struct machine_setup setup = tables_setup(b->context, "trigger", b->cell);
    setup.period_us = b->period_us;
    int status = sequence_begin(&b->sequence, b->context->machine, &setup, b->room_us + b->after_us, err);
    if (status != MACHINE_OK)
        return status;
    trace_init(&b->trace);
    b->seen = malloc(BENCH_SEEN_MAX * sizeof *b->seen);
    b->sight = malloc(BENCH_SEEN_MAX * sizeof *b->sight);
    if (b->seen && b->sight && !sequence_trace(&b->sequence, &b->trace))
        return MACHINE_OK;
    trigger_bench_end(b);
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* Why a window does not show what the burst requested: the transition goes on, or the way back begins. Else NULL. */
static const char *trigger_bench_unsettled(const struct bench *b, const struct trace *t, struct sights_span s,
                                           const struct sight *all)
{
    struct sight early, late;
    double middle = 0.5 * (b->from_us + b->to_us), end = b->to_us - b->period_us;
    if (b->check_rate && all->ipc < FULL * b->full_ipc)
        return "the plain code behind the burst was still throttled";
    if (!(b->change > 0) || sights_look(t, s, b->from_us, middle, &early) || sights_look(t, s, middle, end, &late))
        return NULL;
    bool counted = !isnan(early.level) && !isnan(late.level);
    if (counted ? fabs(early.level - late.level) >= 0.5 : fabs(log(early.freq / late.freq)) > b->change)
        return "the level changed while it was being read";
    return NULL;
}

/* What a repetition showed, from its samples. */
static const char *trigger_bench_look(struct bench *b, const struct trace *t, const struct sequence_run *run,
                                      const struct payload *p, struct bench_seen *out)
{
    struct sight end, *sight = &b->sight[b->n_seen];
    out->span = sights_span(t, run->run);
    out->begin_us = run->begin_us;
    out->count = run->instructions * p->counted / p->instructions;
    out->rate = sights_look(t, out->span, run->begin_us / 3, 0, &end) ? NAN : end.ipc * p->counted / p->instructions;
    const char *why = sights_look(t, out->span, b->from_us, b->to_us - b->period_us, sight);
    if (why)
        return why;
    b->full_ipc = fmax(b->full_ipc, sight->ipc);
    why = trigger_bench_unsettled(b, t, out->span, sight);
    b->unsettled += why != NULL;
    return why;
}

static int attempt(struct bench *b, const struct segment *all, size_t n, size_t zero, bool keep, struct bench_seen *out,
                   bool *counts, struct machine_error *err)
{
    struct trace own, *t = keep ? &b->trace : &own;
    struct sequence_run run;
    trace_init(&own);
    if (!keep && sequence_trace(&b->sequence, &own)) {
        trace_free(&own);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    int status = sequence_record(&b->sequence, all, n, zero, t, &run, err);
    if (status == MACHINE_OK) {
        const char *why = run.invalid[0] ? run.invalid : trigger_bench_look(b, t, &run, &all[1].payload, out);
        if (why)
            snprintf(b->discarded_why, sizeof b->discarded_why, "%s", why);
        *counts = !why;
    }
    trace_free(&own);
    return status;
}

int trigger_bench_run(struct bench *b, const struct segment *segments, size_t n, const struct payload *last, bool keep,
                      struct machine_error *err)
{
    struct segment all[SEQUENCE_SEGMENTS_MAX];
    size_t m = 0;
    bool counts = false;
    if (b->n_seen == BENCH_SEEN_MAX)
        return machine_fail(err, MACHINE_FAILED, "use fewer --runs", "more than %d repetitions in a cell",
                            BENCH_SEEN_MAX);
    all[m++] = (struct segment){b->plain, b->warmup_us, false};
    double us = 0;
    for (size_t i = 0; i < n; i++) {
        us += segments[i].duration_us;
        all[m++] = segments[i];
    }
    b->longest_us = fmax(b->longest_us, us);
    all[m++] = (struct segment){b->plain, b->after_us, true};
    if (last)
        all[m++] = (struct segment){*last, MOMENT_US, false};
    for (int tries = 0; tries < TRIES; tries++) {
        struct bench_seen *s = &b->seen[b->n_seen];
        s->us = segments[0].duration_us;
        int status = attempt(b, all, m, n + 1, keep, s, &counts, err);
        if (status == MACHINE_OK && b->unsettled > UNSETTLED_LEAST && 5 * b->unsettled > b->n_seen)
            /* left out they would take part of the answers with them */
            status = machine_fail(err, MACHINE_CANNOT, "look at individual transitions with --transition",
                                  "in %zu repetitions %.100s", b->unsettled, b->discarded_why);
        if (status != MACHINE_OK)
            return status;
        if (counts) {
            b->n_seen++;
            return MACHINE_OK;
        }
        b->discarded++;
    }
    return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                        "%d consecutive repetitions were invalid: %.100s", TRIES, b->discarded_why);
}

int trigger_bench_burst(struct bench *b, const struct payload *p, double us, bool keep, struct machine_error *err)
{
    const struct segment burst = {*p, us, true};
    return trigger_bench_run(b, &burst, 1, NULL, keep, err);
}

int trigger_bench_forget(struct bench *b, size_t first)
{
    if (b->n_seen > first)
        snprintf(b->discarded_why, sizeof b->discarded_why, "the frequency changed from time to time");
    b->discarded += b->n_seen - first;
    b->n_seen = first;
    trace_free(&b->trace);
    trace_init(&b->trace);
    return sequence_trace(&b->sequence, &b->trace);
}

static int rounds_once(struct bench *b, unsigned n, trigger_round *round, double share, struct trigger_grades *grades,
                       struct machine_error *err)
{
    int status = MACHINE_OK;
    if (trigger_bench_forget(b, 0))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (unsigned i = 0; i < n && status == MACHINE_OK; i++) {
        status = round(b, err);
        if (status == MACHINE_OK && tables_stop(b->context, share * i / n))
            status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    }
    if (status == MACHINE_OK && trigger_grade(b->sight, b->n_seen, grades))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

int trigger_bench_rounds(struct bench *b, unsigned n, size_t kinds, trigger_round *round, double share,
                         struct trigger_grades *grades, struct machine_error *err)
{
    bool agreed = false;
    int status = MACHINE_OK;
    for (int attempt = 0; attempt < BENCH_ATTEMPTS && status == MACHINE_OK && !agreed; attempt++) {
        status = rounds_once(b, n, round, share, grades, err);
        agreed = true;
        for (size_t k = 0; k < kinds && status == MACHINE_OK; k++)
            agreed = agreed && trigger_bench_agreed(b, k, n, kinds) >= 0;
    }
    return status;
}

int trigger_bench_agreed(const struct bench *b, size_t first, size_t n, size_t step)
{
    struct sight s[64];
    for (size_t i = 0; i < n; i++)
        s[i] = b->sight[first + i * step];
    return trigger_agreed(s, n);
}

struct estimate trigger_bench_freq(const struct bench *b, size_t first, size_t n, size_t step)
{
    double f[64];
    for (size_t i = 0; i < n; i++)
        f[i] = b->sight[first + i * step].freq;
    return robust_mean(f, n, REJECT, 0, NULL);
}

int trigger_bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out)
{
    struct sights_span span[64];
    double begin[64];
    for (size_t i = 0; i < n; i++) {
        span[i] = b->seen[first + i * step].span;
        begin[i] = b->seen[first + i * step].begin_us;
    }
    return trigger_throttled(&b->trace, span, begin, n, b->period_us, out);
}

struct estimate trigger_lower(const struct estimate *freq, const struct estimate *plain)
{
    double value = log(freq->value / plain->value);
    double half = hypot(log(freq->hi / freq->lo), log(plain->hi / plain->lo)) / 2;
    return estimate_around(value, half);
}

const char *trigger_bench_asks(const struct trigger_grades *g, const struct trigger_row *r)
{
    static const char *const level[] = {"level 0", "level 1", "level 2", "level 3"};
    if (r->grade > r->plain_grade)
        return g->counted ? level[r->grade] : "lower frequency";
    const struct estimate lower = trigger_lower(&r->freq, &r->plain);
    if (!g->counted && (r->throttle.throttled || lower.hi < 0) && !(lower.lo > -FREQUENCY_SAME))
        return lower.hi < -FREQUENCY_SAME ? "lower frequency" : "undecided";
    return r->throttle.throttled ? "throttle only" : "nothing";
}

/* The fields that say what was measured. */
static void trigger_bench_key(const struct bench *b, struct table *rows, const char *what, unsigned density)
{
    tables_put_cell(rows, b->cell);
    table_put_number(rows, "density", density);
    table_put_text(rows, "what", what);
    if (b->cell->b.kernel || !rows->last_is_missing)
        table_put_text(rows, "with", b->cell->b.kernel ? b->cell->b.name : "-");
}

void trigger_bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g,
                       const struct trigger_row *r)
{
    table_add_row(rows);
    trigger_bench_key(b, rows, r->what ? r->what : b->kind->what, r->density);
    table_put_text(rows, "asks", trigger_bench_asks(g, r));
    if (r->grade <= r->plain_grade && !r->throttle.throttled && r->throttle.below > 0) {
        char text[120];
        int used = snprintf(text, sizeof text, "throttling below %.2f of the rate for %.3g us", r->throttle.below,
                            r->throttle.lasts_us);
        double least = trigger_lower(&r->freq, &r->plain).lo;
        if (!g->counted && least < 0)
            snprintf(text + used, sizeof text - (size_t)used, "; a frequency lower by %.2g %%", -100 * least);
        table_put_text(rows, "detectable", text);
    }
    if (g->counted) /* the same frequency alone does not tell that it is the same level */
        table_put_number(rows, "level", r->grade);
    estimates_put(rows, "freq_ghz", r->freq);
    estimates_put(rows, "plain_ghz", r->plain);
    table_put_number(rows, "longest_us", b->longest_us);
    table_put_number(rows, "window_from_us", b->from_us);
    table_put_number(rows, "window_to_us", b->to_us);
    table_put_number(rows, "warmup_us", b->warmup_us);
    table_put_number(rows, "period_us", b->period_us);
    table_put_number(rows, "n", (double)r->n);
    table_put_number(rows, "discarded", (double)b->discarded);
}

void trigger_bench_missing(const struct bench *b, struct table *rows, unsigned density, const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    table_add_missing_v(rows, why, arguments);
    va_end(arguments);
    trigger_bench_key(b, rows, b->kind->what, density);
    if (b->discarded)
        table_put_number(rows, "discarded", (double)b->discarded);
}

void trigger_bench_disagree(const struct bench *b, struct table *rows, unsigned density, const char *of)
{
    trigger_bench_missing(b, rows, density,
                          "the repetitions of %.60s disagree on the frequency: fewer than four in five match%s%.100s; "
                          "stop other programs, or choose another CPU with --cpu",
                          of, b->discarded_why[0] ? "; discarded before that: " : "", b->discarded_why);
}
