/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/self_test_parts.h"

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
        self_test_cannot(l, "it was not counted all the time: hardware counters are few",
                         "stop other profilers; as root, sysctl kernel.nmi_watchdog=0 frees one");
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

struct self_test_sample *self_test_samples(const struct self_test_readings *r, enum self_test_kind kind,
                                           enum counter_id column_of, size_t *n)
{
    struct self_test_sample *out = NULL;
    size_t room = 0;
    *n = 0;
    for (size_t i = 0; i < r->n_stretches; i++)
        for (size_t k = 0; k < r->stretch[i].n && r->stretch[i].kind == kind; k++)
            room += r->stretch[i].recordings[k].n;
    out = room > 0 ? malloc(room * sizeof *out) : NULL;
    for (size_t i = 0; out && i < r->n_stretches; i++) {
        const struct self_test_stretch *s = &r->stretch[i];
        int column = self_test_column(s, column_of);
        for (size_t k = 0; k < s->n && s->kind == kind; k++)
            for (size_t j = SELF_TEST_RUN_IN; j + 1 < s->recordings[k].n; j++) {
                struct self_test_sample *sample = &out[*n];
                sample->ticks = self_test_grown(s, &s->recordings[k], 0, j, j + 1);
                sample->payload = self_test_grown(s, &s->recordings[k], 1, j, j + 1);
                sample->counter = self_test_grown(s, &s->recordings[k], column, j, j + 1);
                *n += sample->ticks > 0 && sample->payload > 0;
            }
    }
    return out;
}

void self_test_judge(const struct self_test_readings *r, struct self_test_lines *out)
{
    memset(out, 0, sizeof *out);
    self_test_judge_clock(r, out);
    self_test_judge_counts(r, out);
    self_test_judge_levels(r, out);
    self_test_judge_event(r, out);
    self_test_judge_power(r, out);
}

size_t self_test_count(const struct self_test_lines *l, enum self_test_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->line[i].verdict == verdict;
    return n;
}

const char *self_test_word(enum self_test_verdict verdict)
{
    return verdict == SELF_TEST_PASS ? "pass" : verdict == SELF_TEST_FAIL ? "fail" : "cannot";
}
