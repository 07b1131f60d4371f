/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all cells of the trigger table do: run a burst, look at what followed, and write rows. */
#include "tables/trigger/trigger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/estimates.h"

#define MOMENT_US 0.5
enum { TRIES = 12, UNSETTLED_LEAST = 10 }; /* the first: for one repetition that counts */
#define FULL 0.9   /* of the full rate; throttled code runs at half of it or less (G 3.2.2), or at a little more */
#define REJECT 5.0 /* scaled MADs: a frequency farther from the median is wild */

static int trigger_bench_out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

int trigger_bench_init(struct bench *b, const struct tables_context *x, const struct cell *c, const char *plain,
                       struct machine_error *err)
{
    char why[200];
    memset(b, 0, sizeof *b);
    b->context = x;
    b->cell = c;
    if (kernel_parse(plain, &b->plain, why, sizeof why))
        return machine_fail(err, MACHINE_FAILED, "", "%s", why);
    return MACHINE_OK;
}

double trigger_bench_period(const struct bench *b, double usual_us)
{
    return b->context->options->period_us > 0 ? b->context->options->period_us : usual_us;
}

int trigger_bench_begin(struct bench *b, double longest_us, double period_us, struct machine_error *err)
{
    b->period_us = trigger_bench_period(b, period_us);
    b->after_us = fmax(b->to_us, 2 * b->period_us);
    b->seen = malloc(BENCH_SEEN_MAX * sizeof *b->seen);
    if (!b->seen)
        return trigger_bench_out_of_memory(err);
    struct machine_setup setup = tables_setup(b->context, "trigger", b->cell);
    setup.period_us = b->period_us;
    int status = sequence_begin(&b->sequence, b->context->machine, &setup, longest_us + b->after_us, err);
    trace_init(&b->trace);
    if (status == MACHINE_OK && sequence_trace(&b->sequence, &b->trace)) {
        sequence_end(&b->sequence);
        trace_free(&b->trace);
        status = trigger_bench_out_of_memory(err);
    }
    if (status != MACHINE_OK)
        free(b->seen);
    return status;
}

void trigger_bench_end(struct bench *b)
{
    sequence_end(&b->sequence);
    trace_free(&b->trace);
    free(b->seen);
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
    struct sight end;
    out->span = sights_span(t, run->run);
    out->begin_us = run->begin_us;
    out->count = run->instructions * p->counted / p->instructions;
    out->rate = sights_look(t, out->span, run->begin_us / 3, 0, &end) ? NAN : end.ipc * p->counted / p->instructions;
    const char *why = sights_look(t, out->span, b->from_us, b->to_us - b->period_us, &out->sight);
    if (why)
        return why;
    b->full_ipc = fmax(b->full_ipc, out->sight.ipc);
    why = trigger_bench_unsettled(b, t, out->span, &out->sight);
    b->unsettled += why != NULL;
    return why;
}

static int attempt(struct bench *b, const struct segment *all, size_t n, size_t zero, bool keep, struct bench_seen *out,
                   const char **why, struct machine_error *err)
{
    struct trace own, *t = keep ? &b->trace : &own;
    struct sequence_run run;
    trace_init(&own);
    if (!keep && sequence_trace(&b->sequence, &own)) {
        trace_free(&own);
        return trigger_bench_out_of_memory(err);
    }
    int status = sequence_record(&b->sequence, all, n, zero, t, &run, err);
    if (status == MACHINE_OK && run.invalid[0]) {
        snprintf(b->discarded_why, sizeof b->discarded_why, "%s", run.invalid);
        *why = b->discarded_why;
    } else if (status == MACHINE_OK) {
        *why = trigger_bench_look(b, t, &run, &all[1].payload, out);
    }
    trace_free(&own);
    return status;
}

int trigger_bench_run(struct bench *b, const struct segment *segments, size_t n, const struct payload *last, bool keep,
                      struct machine_error *err)
{
    struct segment all[SEQUENCE_SEGMENTS_MAX];
    size_t m = 0;
    const char *why = NULL;
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
        memset(s, 0, sizeof *s);
        s->us = segments[0].duration_us;
        int status = attempt(b, all, m, n + 1, keep, s, &why, err);
        if (status == MACHINE_OK && b->unsettled > UNSETTLED_LEAST && 5 * b->unsettled > b->n_seen)
            /* left out they would take part of the answers with them */
            status = machine_fail(err, MACHINE_CANNOT, "look at individual transitions with --transition",
                                  "in %zu repetitions %.100s", b->unsettled, why ? why : b->discarded_why);
        if (status != MACHINE_OK)
            return status;
        if (!why) {
            b->n_seen++;
            return MACHINE_OK;
        }
        if (why != b->discarded_why)
            snprintf(b->discarded_why, sizeof b->discarded_why, "%s", why);
        b->discarded++;
        why = NULL;
    }
    return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                        "%d consecutive repetitions were invalid: %.100s", TRIES, b->discarded_why);
}

int trigger_bench_again(struct bench *b)
{
    b->discarded += b->n_seen;
    snprintf(b->discarded_why, sizeof b->discarded_why, "the frequency changed from time to time");
    b->n_seen = 0;
    trace_free(&b->trace);
    trace_init(&b->trace);
    return sequence_trace(&b->sequence, &b->trace);
}

int trigger_bench_burst(struct bench *b, const struct payload *p, double us, bool keep, struct machine_error *err)
{
    const struct segment burst = {*p, us, true};
    return trigger_bench_run(b, &burst, 1, NULL, keep, err);
}

int trigger_bench_grade(struct bench *b, struct trigger_grades *out)
{
    struct sight *s = malloc((b->n_seen + 1) * sizeof *s);
    if (!s)
        return -1;
    for (size_t i = 0; i < b->n_seen; i++)
        s[i] = b->seen[i].sight;
    int bad = trigger_grade(s, b->n_seen, out);
    for (size_t i = 0; i < b->n_seen && !bad; i++)
        b->seen[i].sight.grade = s[i].grade;
    free(s);
    return bad;
}

int trigger_bench_agreed(const struct bench *b, size_t first, size_t n, size_t step)
{
    struct sight s[64];
    n = n > 64 ? 64 : n;
    for (size_t i = 0; i < n; i++)
        s[i] = b->seen[first + i * step].sight;
    return trigger_agreed(s, n);
}

struct estimate trigger_bench_freq(const struct bench *b, size_t first, size_t n, size_t step)
{
    double f[64];
    n = n > 64 ? 64 : n;
    for (size_t i = 0; i < n; i++)
        f[i] = b->seen[first + i * step].sight.freq;
    return robust_mean(f, n, REJECT, 0, NULL);
}

int trigger_bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out)
{
    struct sights_span span[64];
    double begin[64];
    n = n > 64 ? 64 : n;
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
    if (!g->counted && (r->throttled || lower.hi < 0) && !(lower.lo > -FREQUENCY_SAME))
        return lower.hi < -FREQUENCY_SAME ? "lower frequency" : "undecided";
    return r->throttled ? "throttle only" : "nothing";
}

void trigger_bench_key(const struct bench *b, struct table *rows, const char *what, unsigned density, const char *with)
{
    table_put_text(rows, "kernel", b->cell->a.name);
    table_put_number(rows, "density", density);
    table_put_number(rows, "active_cores", b->cell->active_cores);
    table_put_text(rows, "what", what);
    if (with || !rows->last_is_missing)
        table_put_text(rows, "with", with ? with : "-");
}

void trigger_bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g,
                       const struct trigger_row *r)
{
    table_add_row(rows);
    trigger_bench_key(b, rows, r->what, r->density, r->with);
    table_put_text(rows, "asks", trigger_bench_asks(g, r));
    if (r->grade <= r->plain_grade && !r->throttled && r->below > 0) {
        char text[120];
        int used = snprintf(text, sizeof text, "throttling below %.2f of the rate for %.3g us", r->below, r->lasts_us);
        double least = trigger_lower(&r->freq, &r->plain).lo;
        if (!g->counted && least < 0)
            snprintf(text + used, sizeof text - (size_t)used, "; a frequency lower by %.2g %%", -100 * least);
        table_put_text(rows, "detectable", text);
    }
    if (g->counted) /* the same frequency alone does not tell that it is the same level */
        table_put_number(rows, "level", r->grade);
    table_put_limits(rows, "freq_ghz", r->freq.value, r->freq.lo, r->freq.hi);
    table_put_limits(rows, "plain_ghz", r->plain.value, r->plain.lo, r->plain.hi);
    table_put_number(rows, "longest_us", b->longest_us);
    table_put_number(rows, "window_from_us", b->from_us);
    table_put_number(rows, "window_to_us", b->to_us);
    table_put_number(rows, "warmup_us", b->warmup_us);
    table_put_number(rows, "period_us", b->period_us);
    table_put_number(rows, "n", (double)r->n);
    table_put_number(rows, "discarded", (double)b->discarded);
}

void trigger_bench_missing(const struct bench *b, struct table *rows, const char *what, unsigned density,
                           const char *with, const char *why)
{
    table_add_missing(rows, why);
    trigger_bench_key(b, rows, what, density, with);
    if (b->discarded)
        table_put_number(rows, "discarded", (double)b->discarded);
}

void trigger_bench_disagree(const struct bench *b, struct table *rows, const char *what, unsigned density,
                            const char *with, const char *of)
{
    char why[420];
    snprintf(why, sizeof why,
             "the repetitions of %.60s disagree on the frequency: fewer than four in five match%s%.100s; stop other "
             "programs, or choose another CPU with --cpu",
             of, b->discarded_why[0] ? "; discarded before that: " : "", b->discarded_why);
    trigger_bench_missing(b, rows, what, density, with, why);
}
