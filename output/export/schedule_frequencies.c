/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frequencies by CPU, number of active cores and level, and the turbo levels that they make up. */
#include <math.h>
#include <stdlib.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"

/* What the rows of one CPU, number of cores and level add up to. */
struct frequency_sum {
    double value, lo, hi;
    size_t n;
};
struct frequency_sums {
    int cpu;
    unsigned active_cores;
    struct frequency_sum ghz[SCHEDULE_LEVELS_MAX], ratio[SCHEDULE_LEVELS_MAX];
};

static struct frequency_sums *sums_of(struct frequency_sums **sums, size_t *n, int cpu, unsigned cores)
{
    for (size_t i = *n; i-- > 0;) /* rows of a CPU stand together */
        if ((*sums)[i].cpu == cpu && (*sums)[i].active_cores == cores)
            return &(*sums)[i];
    struct frequency_sums *new = schedule_grow((void **)sums, n, sizeof *new);
    if (new) {
        new->cpu = cpu;
        new->active_cores = cores;
    }
    return new;
}

static void schedule_add_row(struct frequency_sum *sum, const struct estimate *e)
{
    sum->lo = sum->n ? fmin(sum->lo, e->lo) : e->lo;
    sum->hi = sum->n ? fmax(sum->hi, e->hi) : e->hi;
    sum->value += e->value;
    sum->n++;
}

/* The frequency of a row. Where it floats, that of the first kernel at this number of cores times the ratio, so that it
 * is no accident of moments which level is the faster one. */
static struct estimate row_ghz(const struct table *t, size_t row, bool relative)
{
    const double ratio = table_number(t, row, "ratio");
    struct estimate e = estimates_of_table(t, row, "freq_ghz");
    for (size_t first = 0; relative && first <= row; first++)
        if (table_number(t, first, "cpu") == table_number(t, row, "cpu") &&
            table_number(t, first, "active_cores") == table_number(t, row, "active_cores")) {
            const struct estimate of = estimates_of_table(t, first, "freq_ghz");
            return first == row ? e : (struct estimate){of.value * ratio, of.lo * ratio, of.hi * ratio};
        }
    return e;
}

static bool sum_rows(struct schedule *s, const struct table *t, struct frequency_sums **sums, size_t *n)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        unsigned cores = schedule_cores_field(t, row);
        int cpu = schedule_whole_field(t, row, "cpu", 0, UINT16_MAX, -1);
        int level = schedule_level_field(t, row, "level");
        const bool relative = estimates_relative(t, cpu);
        const struct estimate e = row_ghz(t, row, relative), ratio = estimates_of_table(t, row, "ratio");
        const double ghz = e.value;
        char steps[SUPPORT_WHY_MAX];
        const char *why = cpu < 0                           ? "cpu is not in 0 to 65535"
                          : !cores                          ? SCHEDULE_NO_CORES
                          : estimates_floats(t, cpu, steps) ? steps
                          : level < 0 ? "level is missing or not in 0 to 7: these frequencies belong to no level"
                          : !(ghz * 1e3 >= SCHEDULE_MHZ_MIN && ghz * 1e3 <= SCHEDULE_MHZ_MAX)
                              ? "freq_ghz is missing or not in 0.25 to 16 GHz"
                          : !estimates_known(&e) ? "freq_ghz has no limits; more --runs would help"
                                                 : NULL;
        if (why) {
            if (!schedule_ignore(s, t, why))
                return false;
            continue;
        }
        struct frequency_sums *at = sums_of(sums, n, cpu, cores);
        if (!at)
            return false;
        schedule_add_row(&at->ghz[level], &e);
        if (relative)
            schedule_add_row(&at->ratio[level], &ratio);
        s->relative = s->relative || relative;
    }
    return true;
}

static int by_point(const void *a, const void *b)
{
    const struct schedule_point *x = a, *y = b;
    return schedule_order((long[]){x->cpu, x->active_cores}, (long[]){y->cpu, y->active_cores}, 2);
}

static struct schedule_number sum_mean(const struct frequency_sum *sum, double unit)
{
    return sum->n ? schedule_round(sum->value / (double)sum->n, sum->lo, sum->hi, unit) : (struct schedule_number){0};
}

/* The frequency of a level is the mean of its kernels; the limits are the outermost of theirs. */
static bool put_points(struct schedule *s, const struct table *t)
{
    struct frequency_sums *sums = NULL;
    size_t n = 0;
    bool done = sum_rows(s, t, &sums, &n);
    for (size_t i = 0; i < n && done; i++) {
        struct schedule_point *p = schedule_grow((void **)&s->points, &s->n_points, sizeof *p);
        if (!p) {
            done = false;
            break;
        }
        *p = (struct schedule_point){.cpu = sums[i].cpu, .active_cores = sums[i].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++) {
            p->mhz[l] = sum_mean(&sums[i].ghz[l], 1e3);
            p->ratio_ppm[l] = sum_mean(&sums[i].ratio[l], 1e6);
        }
    }
    free(sums);
    schedule_sort(s->points, s->n_points, sizeof *s->points, by_point);
    return done;
}

static bool same_frequencies(const struct schedule_point *a, const struct schedule_point *b)
{
    for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
        if (a->mhz[l].present != b->mhz[l].present ||
            labs((long)a->mhz[l].value - (long)b->mhz[l].value) >= SCHEDULE_SAME_MHZ)
            return false;
    return true;
}

static struct schedule_number schedule_mean_of(const struct schedule_point *p, size_t n, size_t level)
{
    double sum = 0, lo = INFINITY, hi = -INFINITY;
    bool limits = true;
    for (size_t i = 0; i < n; i++) {
        const struct schedule_number *f = &p[i].mhz[level];
        if (!f->present)
            return (struct schedule_number){0};
        sum += f->value;
        limits = limits && f->has_limits;
        lo = fmin(lo, f->lo);
        hi = fmax(hi, f->hi);
    }
    return schedule_round(sum / (double)n, limits ? lo : NAN, limits ? hi : NAN, 1);
}

/* Neighbours with the frequencies of the first one of them become one turbo level; none where the frequency floats. */
static bool put_turbos(struct schedule *s)
{
    for (size_t i = 0, n = 0; i < s->n_points && !s->relative; i += n) {
        const struct schedule_point *p = &s->points[i];
        for (n = 1; i + n < s->n_points && p[n].cpu == p->cpu && same_frequencies(p, p + n); n++)
            ;
        struct schedule_turbo *new = schedule_grow((void **)&s->turbos, &s->n_turbos, sizeof *new);
        if (!new)
            return false;
        *new = (struct schedule_turbo){.cpu = p->cpu, .cores_lo = p->active_cores, .cores_hi = p[n - 1].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
            new->mhz[l] = schedule_mean_of(p, n, l);
    }
    return true;
}

bool schedule_put_frequencies(struct schedule *s, const struct table *t)
{
    return put_points(s, t) && put_turbos(s);
}
