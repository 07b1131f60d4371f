/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers that judge the lines of a self-test: their verdicts, and the samples of the readings. */
#include "output/self_test/self_test_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

/* Samples in a row that did less than this part of the usual work were slowed (struct self_test_sample). */
enum { SLOWED_IN_A_ROW = 5 };
static const double SLOWED_RATE = 0.9;
/* A part of the time in which the work was slowed, from which on it decides nothing. */
static const double SLOWED_MOST = 0.1;
/* A sibling thread may be busy most of the time, but hardly in four samples of five. */
static const double ALONE_QUANTILE = 0.8;

struct self_test_line *self_test_add(struct self_test_lines *out, const char *name, const char *unit)
{
    struct self_test_line *l = &out->line[out->n++];
    *l = (struct self_test_line){.value = NAN, .lo = NAN, .hi = NAN, .unit = unit};
    snprintf(l->name, sizeof l->name, "%s", name);
    return l;
}

void self_test_bound(struct self_test_line *l, double value, double lo, double hi, const char *reason)
{
    l->value = value;
    l->lo = lo;
    l->hi = hi;
    bool within = isfinite(value) && !(value < lo) && !(value > hi);
    l->verdict = within ? SELF_TEST_PASS : SELF_TEST_FAIL;
    snprintf(l->reason, sizeof l->reason, "%s", within ? "" : reason);
}

void self_test_cannot(struct self_test_line *l, const char *reason, const char *remedy)
{
    l->verdict = SELF_TEST_CANNOT;
    l->text[0] = '\0';
    snprintf(l->reason, sizeof l->reason, "%s", reason);
    snprintf(l->remedy, sizeof l->remedy, "%s", remedy);
}

bool self_test_lacks(struct self_test_line *l, const struct self_test_readings *r, enum counter_id id)
{
    if (r->lacks[id][0])
        self_test_cannot(l, r->lacks[id], r->lacks_remedy[id]);
    return r->lacks[id][0] != '\0';
}

void self_test_bound_alone(struct self_test_line *l, double slowed, double value, double lo, double hi,
                           const char *reason)
{
    char why[500];
    self_test_bound(l, value, lo, hi, reason);
    if (l->verdict == SELF_TEST_PASS || slowed < SLOWED_MOST)
        return;
    snprintf(why, sizeof why,
             "for %.0f %% of the time another thread on this core, or a lower frequency, slowed the code, and %.150s",
             100 * slowed, l->text);
    self_test_cannot(l, why, "stop what runs on the SMT sibling, or choose another core with --cpu");
}

int self_test_column(const struct self_test_stretch *s, enum counter_id id)
{
    for (size_t i = 0; i < s->n_counters; i++)
        if (s->counters[i].id == id)
            return (int)i + 2;
    return -1;
}

const struct self_test_stretch *self_test_find(const struct self_test_readings *r, enum self_test_kind kind,
                                               const char *kernel)
{
    for (size_t i = 0; i < r->n_stretches; i++)
        if (r->stretch[i].kind == kind && r->stretch[i].n > 0 && (!kernel || strcmp(r->stretch[i].kernel, kernel) == 0))
            return &r->stretch[i];
    return NULL;
}

void self_test_no_stretch(struct self_test_line *l, const struct self_test_readings *r, enum self_test_kind kind)
{
    for (size_t i = 0; i < r->n_stretches; i++)
        if (r->stretch[i].kind == kind && r->stretch[i].why[0]) {
            self_test_cannot(l, r->stretch[i].why, r->stretch[i].remedy);
            return;
        }
    if (self_test_find(r, kind, NULL)) {
        self_test_cannot(l, "it was not counted throughout: too few hardware counters",
                         "stop other profilers; as root, sysctl kernel.nmi_watchdog=0 frees one (=1 puts it back)");
        return;
    }
    self_test_cannot(l, "too few repetitions were undisturbed: something else ran on the CPU",
                     "stop other programs, or choose another CPU with --cpu");
}

double self_test_grown(const struct self_test_stretch *s, const struct self_test_recording *rec, int column,
                       size_t from, size_t to)
{
    size_t stride = 2 + s->n_counters;
    if (to == 0)
        to = rec->n - 1;
    if (column < 0 || to >= rec->n || from >= to)
        return NAN;
    uint64_t first = rec->words[from * stride + (size_t)column], last = rec->words[to * stride + (size_t)column];
    bool missing = column >= 2 && (first == COUNTER_MISSING || last == COUNTER_MISSING);
    int64_t grown = (int64_t)(last - first);
    return missing || grown < 0 ? NAN : (double)grown;
}

/* The quantile of the work of a tick over samples that were not slowed. */
static double rate_quantile(const struct self_test_sample *s, size_t n, double quantile)
{
    double *rate = malloc((n > 0 ? n : 1) * sizeof *rate), value = NAN;
    size_t kept = 0;
    for (size_t i = 0; rate && i < n; i++)
        if (!s[i].slowed)
            rate[kept++] = s[i].payload / s[i].ticks;
    if (kept > 0)
        value = order_nth_smallest(rate, kept, (size_t)((double)(kept - 1) * quantile));
    free(rate);
    return value;
}

double self_test_usual_rate(const struct self_test_sample *s, size_t n)
{
    return rate_quantile(s, n, 0.5);
}

static void mark_slowed(struct self_test_sample *s, size_t n)
{
    double least = SLOWED_RATE * rate_quantile(s, n, ALONE_QUANTILE);
    for (size_t i = 0, end; i<n; i = end> i ? end : i + 1) {
        for (end = i; end < n && s[end].recording == s[i].recording && s[end].payload < least * s[end].ticks; end++)
            ;
        for (size_t k = i; k < end && end - i >= SLOWED_IN_A_ROW; k++)
            s[k].slowed = true;
    }
}

struct self_test_sample *self_test_samples(const struct self_test_readings *r, enum self_test_kind kind,
                                           enum counter_id column_of, size_t *n)
{
    struct self_test_sample *out = NULL;
    size_t room = 0, recordings = 0;
    *n = 0;
    for (size_t i = 0; i < r->n_stretches; i++)
        for (size_t k = 0; k < r->stretch[i].n && r->stretch[i].kind == kind; k++)
            room += r->stretch[i].recordings[k].n;
    out = room > 0 ? malloc(room * sizeof *out) : NULL;
    for (size_t i = 0; out && i < r->n_stretches; i++) {
        const struct self_test_stretch *s = &r->stretch[i];
        int column = self_test_column(s, column_of);
        for (size_t k = 0; k < s->n && s->kind == kind; k++, recordings++)
            for (size_t j = SELF_TEST_RUN_IN; j + 1 < s->recordings[k].n; j++) {
                struct self_test_sample *sample = &out[*n];
                sample->ticks = self_test_grown(s, &s->recordings[k], 0, j, j + 1);
                sample->payload = self_test_grown(s, &s->recordings[k], 1, j, j + 1);
                sample->counter = self_test_grown(s, &s->recordings[k], column, j, j + 1);
                sample->stretch = i;
                sample->recording = recordings;
                sample->slowed = false;
                *n += sample->ticks > 0 && sample->payload >= 0;
            }
    }
    mark_slowed(out, *n);
    return out;
}

double self_test_slowed_share(const struct self_test_readings *r, enum self_test_kind kind)
{
    size_t n;
    struct self_test_sample *s = self_test_samples(r, kind, COUNTER_IDS, &n);
    double slowed = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        all += s[i].ticks;
        slowed += s[i].slowed ? s[i].ticks : 0;
    }
    free(s);
    return all > 0 ? slowed / all : 0;
}

double self_test_slowed_most(const struct self_test_readings *r)
{
    return fmax(self_test_slowed_share(r, SELF_TEST_SHORT), self_test_slowed_share(r, SELF_TEST_LONG));
}
