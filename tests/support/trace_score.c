/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/trace_score.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/phases/phases.h"

#define START_LEAST_US 1.5 /* a boundary found so near the true one is that one, ... */
#define START_LEAST_PERIODS 1.5
#define LEVEL_BOUND 0.002 /* relative */
#define DURATION_BOUND_US 1.0
#define WIDEST 6 /* mean half width over root mean square error; 1.96 for normal errors */

static int add(struct numbers *n, double x)
{
    if (n->n == n->capacity) {
        size_t capacity = n->capacity ? 2 * n->capacity : 256;
        double *bigger = realloc(n->x, capacity * sizeof *bigger);
        if (!bigger)
            return -1;
        n->x = bigger;
        n->capacity = capacity;
    }
    n->x[n->n++] = x;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double quantile(struct numbers *n, double p)
{
    if (!n->n)
        return NAN;
    qsort(n->x, n->n, sizeof *n->x, ascending);
    size_t i = (size_t)ceil(p * (double)n->n);
    return n->x[i ? i - 1 : 0];
}

/* ---- which phase of the answer is which of the truth ---- */

static double tolerance(const struct truth *t, size_t i)
{
    double bound = fmax(START_LEAST_US, START_LEAST_PERIODS * t->period_us);
    for (size_t k = i ? i - 1 : 0; k <= i; k++) /* a halt that need not be seen blurs both its ends */
        if (t->phase[k].optional && t->phase[k].kind == PHASE_HALT)
            bound += t->phase[k].duration_us;
    if (t->kind == TRACES_VOLTS && i + 1 == t->n_phases)
        bound = fmax(bound, t->volts.tolerance_us + 0.5 * t->volts.ramp_us);
    return bound;
}

static bool same_start(const struct truth *t, size_t i, const struct phases *p, size_t j)
{
    if (!i || !j)
        return !i && !j; /* both begin with the recording */
    return fabs(t->phase[i].start_us - p->phases[j].start_us) <= tolerance(t, i);
}

/* The worth of a pair: a phase of the right kind in its place most, one of another kind less, a distant one nothing. */
static int worth(const struct truth *t, size_t i, const struct phases *p, size_t j)
{
    if (!same_start(t, i, p, j))
        return 0;
    return t->phase[i].kind == p->phases[j].kind ? 3 : 2;
}

enum { NONE = -1 };

/*
 * The pairing in order that is worth most (dynamic programming). answer[i] = the phase that is truth's phase i, or
 * NONE. Returns 0, or -1: out of memory.
 */
static int pair_phases(const struct truth *t, const struct phases *p, int answer[TRUE_PHASES_MAX])
{
    size_t n = t->n_phases, m = p->n_phases, row = m + 1;
    int *best = calloc((n + 1) * row, sizeof *best); /* of what follows phases i and j */
    if (!best)
        return -1;
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            int skip = best[(i + 1) * row + j], other = best[i * row + j + 1];
            int value = worth(t, i, p, j), both = value ? value + best[(i + 1) * row + j + 1] : 0;
            skip = skip > other ? skip : other;
            best[i * row + j] = both > skip ? both : skip;
        }
    for (size_t i = 0, j = 0; i < n; i++) {
        answer[i] = NONE;
        while (j < m && best[i * row + j] == best[i * row + j + 1])
            j++;
        if (j == m || best[i * row + j] == best[(i + 1) * row + j])
            continue;
        answer[i] = (int)j++;
    }
    free(best);
    return 0;
}

/* ---- one trace ---- */

struct verdict {
    bool bad;
    char what[1500];
};

__attribute__((format(printf, 2, 3))) static void note(struct verdict *v, const char *format, ...)
{
    size_t used = strlen(v->what);
    va_list ap;
    v->bad = true;
    va_start(ap, format);
    vsnprintf(v->what + used, sizeof v->what - used, format, ap);
    va_end(ap);
}

static int score_modes(struct score *s, const struct truth *t, size_t i, const struct phase *f, struct verdict *v)
{
    const struct true_phase *q = &t->phase[i];
    double minority = isnan(q->second_us) ? 0 : q->second_share * (double)t->runs;
    bool expected = minority >= 3 && q->second_share >= 0.08, found = f->n_modes == 2;
    if (!expected && (f->n_modes < 2 || (found && minority > 0)))
        return 0;
    double longer = found ? fmax(f->modes[0].duration_us, f->modes[1].duration_us) : NAN;
    double share = found && f->modes[1].duration_us == longer ? f->modes[1].share : f->modes[0].share;
    double bound = 2 * fmax(1, t->period_us);
    if (expected && fabs(longer - q->second_us) <= bound && fabs(share - q->second_share) <= 0.1)
        return 0;
    s->wrong_modes++;
    note(v, "; modes of phase %zu: %zu, the longer %.1f (%.2f), not %.1f (%.2f)", i, f->n_modes, longer, share,
         q->second_us, q->second_share);
    return 0;
}

static int score_duration(struct score *s, const struct truth *t, size_t i, const struct phase *f, struct verdict *v)
{
    const struct true_phase *q = &t->phase[i];
    double error = fabs(f->duration_us.value - q->drawn_us);
    bool volts = t->kind == TRACES_VOLTS; /* as exact as its readings, no more */
    if (volts || q->optional || t->phase[i - 1].optional || t->phase[i + 1].optional)
        return 0;
    if (!(error <= fmax(DURATION_BOUND_US, t->period_us)))
        note(v, "; phase %zu lasts %.2f, not %.2f", i, f->duration_us.value, q->drawn_us);
    bool few = t->runs > 1 && f->agreeing_runs < 2; /* one of several: how they differ is not known */
    if (!isnan(f->duration_us.lo) && !few) {
        bool in = f->duration_us.lo <= q->duration_us && q->duration_us <= f->duration_us.hi;
        s->durations_limited++;
        s->durations_covered += in;
        if (add(&s->half_width, 0.5 * (f->duration_us.hi - f->duration_us.lo)) ||
            add(&s->limited, fabs(f->duration_us.value - q->duration_us)))
            return -1;
        if (s->list)
            fprintf(s->list, "%s,%llu,%zu,%s,%.4f,%.4f,%.4f,%zu,%.3f,%s\n", trace_kind_name(t->kind),
                    (unsigned long long)t->seed, i, phases_kind_name(q->kind), q->duration_us,
                    f->duration_us.value - q->duration_us, 0.5 * (f->duration_us.hi - f->duration_us.lo), t->runs,
                    t->period_us, in ? "in" : "out");
    }
    return add(&s->duration, error) || add(&s->duration_in_periods, error / t->period_us) || score_modes(s, t, i, f, v);
}

static int score_phase(struct score *s, const struct truth *t, size_t i, const struct phase *f, struct verdict *v)
{
    const struct true_phase *q = &t->phase[i];
    if (q->kind != f->kind) {
        s->wrong_kind++;
        note(v, "; phase %zu is %s, not %s", i, phases_kind_name(f->kind), phases_kind_name(q->kind));
    }
    if (i && t->kind != TRACES_VOLTS && !q->optional && !t->phase[i - 1].optional &&
        add(&s->start, fabs(f->start_us - q->start_us)))
        return -1;
    if (q->kind == PHASE_THROTTLE && f->kind == PHASE_THROTTLE && add(&s->ratio, fabs(f->ipc_ratio / q->ipc_ratio - 1)))
        return -1;
    return 0;
}

static int score_phases(struct score *s, const struct truth *t, const struct phases *p, struct verdict *v)
{
    int answer[TRUE_PHASES_MAX];
    size_t paired = 0;
    if (pair_phases(t, p, answer))
        return -1;
    for (size_t i = 0; i < t->n_phases; i++) {
        if (answer[i] == NONE) {
            s->missed += !t->phase[i].optional;
            if (!t->phase[i].optional)
                note(v, "; missed %s at %.1f", phases_kind_name(t->phase[i].kind), t->phase[i].start_us);
            continue;
        }
        paired++;
        const struct phase *f = &p->phases[answer[i]];
        if (score_phase(s, t, i, f, v))
            return -1;
        bool whole = i && i + 1 < t->n_phases && answer[i + 1] == answer[i] + 1;
        if (whole && score_duration(s, t, i, f, v))
            return -1;
    }
    s->invented += p->n_phases - paired;
    if (p->n_phases > paired)
        note(v, "; %zu invented", p->n_phases - paired);
    return 0;
}

static int score_levels(struct score *s, const struct truth *t, const struct phases *p, struct verdict *v)
{
    if (t->n_levels != p->n_levels && !isnan(t->phase[0].freq_ghz)) {
        s->wrong_levels++;
        note(v, "; %zu levels, not %zu", p->n_levels, t->n_levels);
        return 0;
    }
    for (size_t i = 0; i < t->n_levels; i++) {
        const struct estimate *e = &p->levels[i];
        double truth = t->level_ghz[i], error = fabs(e->value / truth - 1);
        if (!(error <= LEVEL_BOUND))
            note(v, "; level %.5g, not %.5g GHz", e->value, truth);
        if (!isnan(e->lo)) {
            s->levels_limited++;
            s->levels_covered += e->lo <= truth && truth <= e->hi;
        }
        if (add(&s->level, error))
            return -1;
    }
    return 0;
}

static void score_volts(struct score *s, const struct truth *t, const struct phases *p, struct verdict *v)
{
    const struct true_volts *q = &t->volts;
    const struct volt_step *f = p->volt_steps;
    size_t before = strlen(v->what);
    double ramp = 0.5 * q->ramp_us, wide = ramp + q->tolerance_us + q->blur_us;
    if (p->n_volt_steps != q->steps)
        note(v, "; %zu steps of the voltage, not %d", p->n_volt_steps, (int)q->steps);
    else if (q->steps && (f->begin_us < q->at_us - wide || f->end_us > q->at_us + wide || f->begin_us > f->end_us ||
                          fabs(0.5 * (f->begin_us + f->end_us) - q->at_us) > ramp + q->tolerance_us))
        note(v, "; voltage steps from %.1f to %.1f, not %.1f to %.1f (+-%.1f)", f->begin_us, f->end_us, q->at_us - ramp,
             q->at_us + ramp, q->tolerance_us);
    else if (q->steps && (fabs(f->from_v - q->from_v) > q->level_v || fabs(f->to_v - q->to_v) > q->level_v))
        note(v, "; voltage %.4f -> %.4f, not %.4f -> %.4f", f->from_v, f->to_v, q->from_v, q->to_v);
    s->wrong_volts += v->what[before] != '\0';
}

static void print_answer(FILE *out, const struct truth *t, const struct phases *p)
{
    fputs("    truth :", out);
    for (size_t i = 0; i < t->n_phases; i++)
        fprintf(out, " [%.2f %s%s %.2f us%s", t->phase[i].start_us, phases_kind_name(t->phase[i].kind),
                t->phase[i].optional ? "?" : "", t->phase[i].drawn_us, "");
    fputs("\n    ratios:", out);
    for (size_t i = 0; i < t->n_phases; i++)
        fprintf(out, " %.4g/%.2f", t->phase[i].freq_ghz, t->phase[i].ipc_ratio);
    fputs("\n    answer:", out);
    for (size_t i = 0; i < p->n_phases; i++)
        fprintf(out, " [%.2f %s %.2f us (%.2f..%.2f, %zu runs)", p->phases[i].start_us,
                phases_kind_name(p->phases[i].kind), p->phases[i].duration_us.value, p->phases[i].duration_us.lo,
                p->phases[i].duration_us.hi, p->phases[i].agreeing_runs);
    fputs("\n    ratios:", out);
    for (size_t i = 0; i < p->n_phases; i++)
        fprintf(out, " %.4g/%.2f", p->phases[i].freq_ghz.value, p->phases[i].ipc_ratio);
    fprintf(out, "\n    used %zu of %zu runs", p->runs_used, p->runs);
    for (size_t i = 0; i < p->n_warnings; i++)
        fprintf(out, "; %s", p->warnings[i]);
    putc('\n', out);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int score_trace(struct score *s, const struct trace *t, const struct truth *truth, FILE *details)
{
    struct phases p;
    struct verdict v = {false, ""};
    char why[300];
    double begin = now();
    int bad = phases_find(t, &p, why, sizeof why);
    s->seconds += now() - begin;
    s->traces++;
    if (bad) {
        s->failed++;
        s->bad++;
        if (details)
            fprintf(details, "  %s %llu: refused: %s\n    %s\n", trace_kind_name(truth->kind),
                    (unsigned long long)truth->seed, why, truth->about);
        return 1;
    }
    if (truth->kind != TRACES_VOLTS) {
        s->runs += truth->runs;
        s->interrupted += truth->interrupted;
        s->discarded += truth->runs - (p.runs_used < truth->runs ? p.runs_used : truth->runs);
    }
    bad = score_phases(s, truth, &p, &v) || score_levels(s, truth, &p, &v);
    score_volts(s, truth, &p, &v);
    s->bad += v.bad;
    if (v.bad && details) {
        fprintf(details, "  %s %llu: %s\n    %s\n", trace_kind_name(truth->kind), (unsigned long long)truth->seed,
                v.what + 2, truth->about);
        print_answer(details, truth, &p);
    }
    phases_free(&p);
    return bad ? -1 : v.bad;
}

void score_free(struct score *s)
{
    struct numbers *all[] = {&s->duration, &s->duration_in_periods, &s->half_width, &s->limited, &s->start, &s->level,
                             &s->ratio};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->x);
    memset(s, 0, sizeof *s);
}

/* ---- many traces ---- */

static bool covers(size_t in, size_t n)
{
    double share = (double)in / fmax(1, (double)n), slack = 3 / sqrt(fmax(1, (double)n));
    return n < 20 || (share >= 0.9 - slack * sqrt(0.9 * 0.1) && share <= 0.99 + slack * sqrt(0.99 * 0.01));
}

/* The p-th root of the mean of the p-th powers. */
static double mean_power(const struct numbers *n, int p)
{
    double sum = 0;
    for (size_t i = 0; i < n->n; i++)
        sum += pow(n->x[i], p);
    return pow(sum / fmax(1, (double)n->n), 1.0 / p);
}

bool score_good(struct score *s, char *what, size_t size)
{
    size_t wrong = s->missed + s->invented + s->wrong_kind + s->failed;
    wrong += s->wrong_levels + s->wrong_volts + s->wrong_modes;
    double median = quantile(&s->duration, 0.5), p95 = quantile(&s->duration, 0.95), level = quantile(&s->level, 1);
    if (wrong)
        snprintf(what, size,
                 "%zu missed, %zu invented, %zu of the wrong kind, %zu with wrong levels, %zu with wrong voltage, %zu "
                 "with wrong modes, %zu refused",
                 s->missed, s->invented, s->wrong_kind, s->wrong_levels, s->wrong_volts, s->wrong_modes, s->failed);
    else if (median > 0.3 || p95 > 1)
        snprintf(what, size, "errors of durations: median %.3f us, 95th percentile %.3f us", median, p95);
    else if (level > LEVEL_BOUND)
        snprintf(what, size, "a level is off by %.3f %%", 100 * level);
    else if (!covers(s->durations_covered, s->durations_limited))
        snprintf(what, size, "%zu of %zu limits of durations hold", s->durations_covered, s->durations_limited);
    else if (mean_power(&s->half_width, 1) > WIDEST * mean_power(&s->limited, 2))
        snprintf(what, size, "limits of durations are too wide: mean +-%.3f us, root mean square of the errors %.3f us",
                 mean_power(&s->half_width, 1), mean_power(&s->limited, 2));
    else if (!covers(s->levels_covered, s->levels_limited))
        snprintf(what, size, "%zu of %zu limits of levels hold", s->levels_covered, s->levels_limited);
    else
        return true;
    return false;
}

/* ---- tables ---- */

static double percent(size_t part, size_t whole)
{
    return whole ? 100 * (double)part / (double)whole : (double)NAN;
}

static void print_head_line(FILE *out, const char *const head[16])
{
    static const int width[16] = {-14, 6, 5, 6, 6, 6, -23, -13, -13, -17, -12, 5, 5, 5, -12, 6};
    for (int i = 0; i < 16; i++)
        fprintf(out, "%*s ", width[i], head[i]);
    putc('\n', out);
}

void print_score_head(FILE *out)
{
    static const char *const first[16] = {"",
                                          "",
                                          "",
                                          "",
                                          "",
                                          "wrong",
                                          " duration error, us",
                                          "in periods",
                                          "start, us",
                                          "level error, %",
                                          "cover, %",
                                          "wrong",
                                          "wrong",
                                          "wrong",
                                          "runs, %",
                                          ""};
    static const char *const second[16] = {
        "kind",       "traces",     "bad",         "missed", "invent", "kind",  " median p95     max", "median p95",
        "median p95", "max    p99", "dur   level", "level",  "volts",  "modes", "inter- left",         "s"};
    print_head_line(out, first);
    print_head_line(out, second);
}

void print_score(FILE *out, const char *name, struct score *s)
{
    fprintf(out,
            "%-14s %6zu %5zu %6zu %6zu %6zu  %6.3f %6.3f %7.2f  %6.3f %6.3f %6.3f %6.3f %7.4f %7.4f   %5.1f %5.1f  "
            "%5zu %5zu %5zu %5.1f %5.1f  %7.2f\n",
            name, s->traces, s->bad, s->missed, s->invented, s->wrong_kind, quantile(&s->duration, 0.5),
            quantile(&s->duration, 0.95), quantile(&s->duration, 1), quantile(&s->duration_in_periods, 0.5),
            quantile(&s->duration_in_periods, 0.95), quantile(&s->start, 0.5), quantile(&s->start, 0.95),
            100 * quantile(&s->level, 1), 100 * quantile(&s->level, 0.99),
            percent(s->durations_covered, s->durations_limited), percent(s->levels_covered, s->levels_limited),
            s->wrong_levels, s->wrong_volts, s->wrong_modes, percent(s->interrupted, s->runs),
            percent(s->discarded, s->runs), s->seconds);
    if (s->failed)
        fprintf(out, "%-14s %zu refused\n", "", s->failed);
}
