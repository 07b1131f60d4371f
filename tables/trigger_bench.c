/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all cells of the trigger table do: run a burst, look at what followed, and write rows. */
#include "tables/trigger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/robust.h"

/* Plain code before each burst: more than the 2 ms that the Intel manual gives for a licence to lapse (G 3.2.2). */
#define WARMUP_US 2500.0
#define MOMENT_US 0.5
enum { TRIES = 12 }; /* for one repetition that counts */
#define REJECT 5.0   /* scaled MADs: a frequency farther from the median is wild */

static int out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

int bench_begin(struct bench *b, const struct tables_context *x, const struct cell *c, const char *plain,
                double longest_us, double after_us, double period_us, struct machine_error *err)
{
    const struct tables_options *o = x->options;
    char why[200];
    memset(b, 0, sizeof *b);
    b->context = x;
    b->cell = c;
    b->period_us = o->period_us > 0 ? o->period_us : period_us;
    b->warmup_us = o->warmup_us > 0 ? o->warmup_us : WARMUP_US;
    b->after_us = fmax(o->observe_us, after_us); /* less would end before a transition does */
    b->window_us = b->after_us * 0.4;
    if (kernel_parse(plain, &b->plain, why, sizeof why))
        return machine_fail(err, MACHINE_FAILED, "", "%s", why);
    b->seen = malloc(BENCH_SEEN_MAX * sizeof *b->seen);
    if (!b->seen)
        return out_of_memory(err);
    struct machine_setup setup = tables_setup(x, "trigger", c);
    setup.period_us = b->period_us;
    int status = sequence_begin(&b->sequence, x->machine, &setup, longest_us + b->after_us, err);
    trace_init(&b->trace);
    if (status == MACHINE_OK && sequence_trace(&b->sequence, &b->trace)) {
        sequence_end(&b->sequence);
        trace_free(&b->trace);
        status = out_of_memory(err);
    }
    if (status != MACHINE_OK)
        free(b->seen);
    return status;
}

void bench_end(struct bench *b)
{
    sequence_end(&b->sequence);
    trace_free(&b->trace);
    free(b->seen);
}

/* What a repetition showed, from its samples. */
static const char *look(struct bench *b, const struct trace *t, const struct sequence_run *run,
                        const struct payload *p, struct bench_seen *out)
{
    struct trigger_sight end;
    out->span = trigger_span(t, run->run);
    out->begin_us = run->begin_us;
    out->count = run->instructions * p->counted / p->instructions;
    out->rate = trigger_look(t, out->span, run->begin_us / 3, 0, &end) ? NAN : end.ipc * p->counted / p->instructions;
    return trigger_look(t, out->span, b->after_us - b->window_us, b->after_us - b->period_us, &out->sight);
}

static int attempt(struct bench *b, const struct segment *all, size_t n, size_t zero, bool keep,
                   struct bench_seen *out, const char **why, struct machine_error *err)
{
    struct trace own, *t = keep ? &b->trace : &own;
    struct sequence_run run;
    trace_init(&own);
    if (!keep && sequence_trace(&b->sequence, &own)) {
        trace_free(&own);
        return out_of_memory(err);
    }
    int status = sequence_record(&b->sequence, all, n, zero, t, &run, err);
    if (status == MACHINE_OK && run.spoilt[0]) {
        snprintf(b->discarded_why, sizeof b->discarded_why, "%s", run.spoilt);
        *why = b->discarded_why;
    } else if (status == MACHINE_OK) {
        *why = look(b, t, &run, &all[1].payload, out);
    }
    trace_free(&own);
    return status;
}

int bench_run(struct bench *b, const struct segment *segments, size_t n, const struct payload *last, bool keep,
              struct machine_error *err)
{
    struct segment all[SEQUENCE_SEGMENTS_MAX];
    size_t m = 0;
    const char *why = NULL;
    if (b->n_seen == BENCH_SEEN_MAX)
        return machine_fail(err, MACHINE_FAILED, "ask for fewer with --runs", "more than %d repetitions in a cell",
                            BENCH_SEEN_MAX);
    all[m++] = (struct segment){b->plain, b->warmup_us, false};
    for (size_t i = 0; i < n; i++)
        all[m++] = segments[i];
    all[m++] = (struct segment){b->plain, b->after_us, true};
    if (last)
        all[m++] = (struct segment){*last, MOMENT_US, false};
    for (int tries = 0; tries < TRIES; tries++) {
        struct bench_seen *s = &b->seen[b->n_seen];
        memset(s, 0, sizeof *s);
        s->us = segments[0].duration_us;
        int status = attempt(b, all, m, n + 1, keep, s, &why, err);
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
                        "%d repetitions in a row were spoilt: %.100s", TRIES, b->discarded_why);
}

int bench_again(struct bench *b)
{
    b->discarded += b->n_seen;
    snprintf(b->discarded_why, sizeof b->discarded_why, "the frequency changed from time to time");
    b->n_seen = 0;
    trace_free(&b->trace);
    trace_init(&b->trace);
    return sequence_trace(&b->sequence, &b->trace);
}

int bench_burst(struct bench *b, const struct payload *p, double us, bool keep, struct machine_error *err)
{
    const struct segment burst = {*p, us, true};
    return bench_run(b, &burst, 1, NULL, keep, err);
}

int bench_grade(struct bench *b, struct trigger_grades *out)
{
    struct trigger_sight *s = malloc((b->n_seen + 1) * sizeof *s);
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

int bench_agreed(const struct bench *b, size_t first, size_t n, size_t step)
{
    struct trigger_sight s[64];
    n = n > 64 ? 64 : n;
    for (size_t i = 0; i < n; i++)
        s[i] = b->seen[first + i * step].sight;
    return trigger_agreed(s, n);
}

struct estimate bench_freq(const struct bench *b, size_t first, size_t n, size_t step)
{
    double f[64];
    n = n > 64 ? 64 : n;
    for (size_t i = 0; i < n; i++)
        f[i] = b->seen[first + i * step].sight.freq;
    return mean_estimate(f, n, REJECT, 0, NULL);
}

int bench_throttled(const struct bench *b, size_t first, size_t n, size_t step, struct trigger_throttle *out)
{
    struct trigger_span span[64];
    double begin[64];
    n = n > 64 ? 64 : n;
    for (size_t i = 0; i < n; i++) {
        span[i] = b->seen[first + i * step].span;
        begin[i] = b->seen[first + i * step].begin_us;
    }
    return trigger_throttled(&b->trace, span, begin, n, b->period_us, out);
}

const char *bench_asks(const struct trigger_grades *g, const struct trigger_row *r)
{
    static const char *const level[] = {"level 0", "level 1", "level 2", "level 3"};
    if (r->grade <= r->plain_grade)
        return r->throttled ? "throttle only" : "nothing";
    return g->counted ? level[r->grade] : "lower frequency";
}

void bench_row(const struct bench *b, struct table *rows, const struct trigger_grades *g, const struct trigger_row *r)
{
    table_add_row(rows);
    table_put_text(rows, "kernel", b->cell->a.name);
    table_put_number(rows, "density", r->density);
    table_put_number(rows, "active_cores", b->cell->active_cores);
    table_put_text(rows, "what", r->what);
    table_put_text(rows, "asks", bench_asks(g, r));
    if (g->counted || r->grade <= r->plain_grade)
        table_put_number(rows, "level", g->counted ? r->grade : 0);
    table_put_limits(rows, "freq_ghz", r->freq.value, r->freq.lo, r->freq.hi);
    table_put_limits(rows, "plain_ghz", r->plain.value, r->plain.lo, r->plain.hi);
    table_put_number(rows, "n", (double)r->n);
    table_put_number(rows, "discarded", (double)b->discarded);
}

void bench_disagree(const struct bench *b, struct table *rows, const char *what, unsigned density, const char *of)
{
    char why[420];
    snprintf(why, sizeof why, "the repetitions of %.60s do not agree on a frequency: fewer than four in five are "
             "alike%s%.100s; stop other programs, or choose another CPU with --cpu", of,
             b->discarded ? "; discarded before that: " : "", b->discarded_why);
    table_add_missing(rows, why);
    table_put_text(rows, "kernel", b->cell->a.name);
    table_put_number(rows, "density", density);
    table_put_number(rows, "active_cores", b->cell->active_cores);
    table_put_text(rows, "what", what);
    table_put_number(rows, "discarded", (double)b->discarded);
}
