/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/profile_score.h"

#include <math.h>
#include <stdlib.h>

#include "util/splitmix64.h"

int profile_score_set(const struct model *m, uint64_t seed, uint64_t number, unsigned flags, struct profile_truth *out)
{
    struct profile_setup setup;
    uint64_t drawn = splitmix64(splitmix64(seed) + number);
    profile_truth_setup(m, drawn, &setup);
    setup.flags = flags;
    return profile_truth_of(m, &setup, drawn, 30 + (double)(drawn >> 32) / 0x1p32 * 30, out);
}

/* Work of a finite run ends at other moments of a schedule: none at all may come out as a little less than none. */
bool profile_score_holds(const struct profile_estimate *seen, double truth)
{
    return fmax(truth, 0) >= seen->lo - 1e-5 && truth <= seen->hi + 1e-5;
}

static int score_error(struct profile_errors *e, double seen, double truth, bool held)
{
    if (e->n == e->room) {
        size_t room = e->room > 0 ? 2 * e->room : 256;
        double *error = realloc(e->error, room * sizeof *error);
        if (!error)
            return -1;
        e->error = error;
        e->room = room;
    }
    double points = 100 * (seen - truth);
    e->error[e->n++] = fabs(points);
    e->sum += points;
    e->sum_abs += fabs(points);
    e->sum_truth += 100 * truth;
    e->held += held;
    return 0;
}

static int score_estimate(struct profile_errors *e, const struct profile_estimate *seen, double truth)
{
    return score_error(e, seen->value, truth, profile_score_holds(seen, truth));
}

int profile_score_add(struct profile_score *s, const struct profile_truth *t)
{
    int status = score_error(&s->cost, t->lost, t->predicted, fabs(t->lost - t->predicted) <= 0.001);
    status |= score_error(&s->duty_cost, t->lost, t->duty, fabs(t->lost - t->duty) <= 0.001);
    for (unsigned i = 0; i < t->n_tasks; i++) {
        const struct profile_truth_task *x = &t->task[i];
        if (x->samples < SCORE_SAMPLES_LEAST) {
            s->left_out++;
            continue;
        }
        status |= score_estimate(&s->kind[x->kind], &x->seen[TRUTH_OVERHEAD], x->truth[TRUTH_OVERHEAD]);
        status |= score_estimate(&s->kind[SYSTEM_KINDS], &x->seen[TRUTH_OVERHEAD], x->truth[TRUTH_OVERHEAD]);
        status |= score_estimate(&s->others, &x->seen[TRUTH_OVERHEAD], x->others);
        for (unsigned k = 0; k < TRUTH_PARTS && !isnan(x->seen[k].value); k++)
            status |= score_estimate(&s->part[k], &x->seen[k], x->truth[k]);
    }
    s->lost += t->lost;
    s->predicted += t->predicted;
    s->duty += t->duty;
    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        s->turns[i] += t->turns[i];
    s->sets++;
    return status;
}

double profile_score_error(const struct profile_score *s)
{
    const struct profile_errors *e = &s->kind[SYSTEM_KINDS];
    return e->n > 0 ? e->sum_abs / (double)e->n : NAN;
}

double profile_score_held(const struct profile_score *s)
{
    const struct profile_errors *e = &s->kind[SYSTEM_KINDS];
    return e->n > 0 ? (double)e->held / (double)e->n : NAN;
}

static int score_by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void score_line(FILE *out, const char *name, struct profile_errors *e)
{
    if (e->n == 0)
        return;
    double n = (double)e->n;
    qsort(e->error, e->n, sizeof *e->error, score_by_size);
    fprintf(out, "%-22s %6zu %8.2f %8.2f %8.2f %8.2f %8.2f %8.1f\n", name, e->n, e->sum_truth / n, e->sum / n,
            e->sum_abs / n, e->error[(size_t)(0.9 * (n - 1))], e->error[e->n - 1], 100 * (double)e->held / n);
}

void profile_score_print(FILE *out, struct profile_score *s)
{
    static const char *const parts[TRUTH_PARTS] = {"overhead", "part of the sibling", "part of the delay"};
    static const char *const outcomes[PROFILE_OUTCOMES] = {"taken",    "idle", "switched",  "uncounted",
                                                           "not-held", "late", "unsettled", "off-table"};
    double sets = (double)s->sets;
    fprintf(out, "%-22s %6s %8s %8s %8s %8s %8s %8s\n", "errors, points", "n", "truth", "mean", "mean abs", "90 %",
            "worst", "held, %");
    for (unsigned i = 0; i < SYSTEM_KINDS; i++)
        score_line(out, system_kind_names[i], &s->kind[i]);
    for (unsigned i = 0; i < TRUTH_PARTS; i++)
        score_line(out, parts[i], &s->part[i]);
    score_line(out, "others' code alone", &s->others);
    score_line(out, "cost, by sets", &s->cost);
    score_line(out, "cost against duty", &s->duty_cost);
    fprintf(out, "cost: %.3f %% of the work, predicted %.3f %%; duty %.3f %% of the cores' time\n",
            100 * s->lost / sets, 100 * s->predicted / sets, 100 * s->duty / sets);
    fprintf(out, "turns:");
    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        fprintf(out, " %s %llu%s", outcomes[i], (unsigned long long)s->turns[i], i + 1 < PROFILE_OUTCOMES ? "," : "\n");
    fprintf(out, "tasks with fewer than %d samples, left out: %zu\n", SCORE_SAMPLES_LEAST, s->left_out);
    fprintf(out, "mean error %.2f points over %zu task sets, limits hold %.1f %%\n", profile_score_error(s), s->sets,
            100 * profile_score_held(s));
}

void profile_score_print_tasks(FILE *out, const struct profile_truth *t)
{
    fprintf(out, "%u CPUs, %u cores, %.0f s: lost %.3f %%, predicted %.3f %%, duty %.3f %%\n", t->cpus, t->cores,
            t->seconds, 100 * t->lost, 100 * t->predicted, 100 * t->duty);
    for (unsigned i = 0; i < t->n_tasks; i++) {
        const struct profile_truth_task *x = &t->task[i];
        const struct profile_estimate *e = &x->seen[TRUTH_OVERHEAD];
        if (x->samples >= SCORE_SAMPLES_LEAST)
            fprintf(out,
                    "%s-%u %4llu samples, stall %.2f: %6.2f (%.2f to %.2f) truth %6.2f%s; sibling %6.2f truth %6.2f; "
                    "delay %6.2f truth %6.2f; others alone %6.2f\n",
                    system_kind_names[x->kind], x->pid, (unsigned long long)x->samples, x->stall, 100 * e->value,
                    100 * e->lo, 100 * e->hi, 100 * x->truth[TRUTH_OVERHEAD],
                    profile_score_holds(e, x->truth[TRUTH_OVERHEAD]) ? "" : " OUT", 100 * x->seen[TRUTH_SIBLING].value,
                    100 * x->truth[TRUTH_SIBLING], 100 * x->seen[TRUTH_DELAY].value, 100 * x->truth[TRUTH_DELAY],
                    100 * x->others);
    }
}

void profile_score_free(struct profile_score *s)
{
    for (unsigned i = 0; i <= SYSTEM_KINDS; i++)
        free(s->kind[i].error);
    for (unsigned i = 0; i < TRUTH_PARTS; i++)
        free(s->part[i].error);
    free(s->others.error);
    free(s->cost.error);
    free(s->duty_cost.error);
    *s = (struct profile_score){0};
}
