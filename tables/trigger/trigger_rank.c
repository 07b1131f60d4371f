/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels where no counter shows them: by the frequencies below that of plain code. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/estimates.h"
#include "tables/trigger/trigger.h"
#include "util/order.h"

#define ASKS_LOWER "lower frequency" /* as trigger_asks() says where no counter shows the level ... */
#define ASKS_UNDECIDED "undecided"   /* ... or whether there is another one */
#define LEVELS_APART 0.025           /* relative: levels of real parts are at least so far apart, 100 MHz in 4 GHz */
#define HALF_SIGMAS 2.3              /* standard deviations in half of the 95 % limits of some ten repetitions */
#define BY_CHANCE 0.1                /* that rows of one level are not taken for one */
enum { LEVELS_MAX = 6 };             /* modes of frequency at one number of cores */

/* The frequencies below that of plain code at some number of cores: one in each mode, as log(GHz / plain). */
struct ranks {
    struct value_mode mode[LEVELS_MAX]; /* the highest frequency first */
    size_t n, firm;                     /* of the modes: those from `firm` on may be more levels than that */
};

struct estimate trigger_ratio(const struct table *t, size_t row)
{
    const struct estimate ratio = estimates_of_table(t, row, "ratio"), freq = estimates_of_table(t, row, "freq_ghz"),
                          plain = estimates_of_table(t, row, "plain_ghz");
    return ratio.value > 0 ? ratio
                           : (struct estimate){freq.value / plain.value, freq.lo / plain.hi, freq.hi / plain.lo};
}

/* The logarithm of that. */
static struct estimate lower_of(const struct table *t, size_t row)
{
    const struct estimate ratio = trigger_ratio(t, row);
    return (struct estimate){log(ratio.value), log(ratio.lo), log(ratio.hi)};
}

/* The mode that has this value, or n. */
static size_t mode_of(const struct ranks *r, double x)
{
    size_t k = 0;
    while (k < r->n &&
           !(x > r->mode[k].lo - TRIGGER_SAME_FREQUENCY / 4 && x < r->mode[k].hi + TRIGGER_SAME_FREQUENCY / 4))
        k++;
    return k;
}

/* 1, 2, ... by frequency among those that were requested; 0 if that of plain code; -1: none of them, or not firm. */
static int rank(double ghz, double plain_ghz, const struct ranks *r)
{
    double x = log(ghz / plain_ghz);
    size_t k = mode_of(r, x);
    if (isnan(x))
        return -1;
    if (k < r->n)
        return k < r->firm ? (int)k + 1 : -1;
    return fabs(x) < TRIGGER_SAME_FREQUENCY / 2 ? 0 : -1;
}

static void rank_row(struct table *t, size_t row, const struct ranks *r)
{
    static const char *const ghz[] = {"freq_ghz", "freq_kernel_ghz", "freq_with_ghz"};
    static const char *const level[] = {"level", "level_kernel", "level_with"};
    bool open = table_says(t, row, "asks", ASKS_UNDECIDED);
    for (size_t i = open; i < 3; i++) {
        int found = rank(table_number(t, row, ghz[i]), table_number(t, row, "plain_ghz"), r);
        if (isnan(table_number(t, row, level[i])) && found >= 0)
            table_set_number(t, row, level[i], found);
    }
    double stated = table_number(t, row, "level");
    if (table_says(t, row, "asks", ASKS_LOWER) && stated > 0) {
        char text[20];
        snprintf(text, sizeof text, "level %.0f", stated);
        table_set_text(t, row, "asks", text);
    }
}

static bool is_lower(const struct table *t, size_t row, double cores)
{
    return table_number(t, row, "active_cores") == cores && table_says(t, row, "asks", ASKS_LOWER) &&
           !isnan(table_number(t, row, "freq_ghz"));
}

/* A row of its own with a lower frequency: limits of density are reported of rows that are there, too. */
static bool tells_frequency(const struct table *t, size_t row, double cores)
{
    return is_lower(t, row, cores) && !table_says(t, row, "what", "density limit");
}

static bool same_question(const struct table *t, size_t a, size_t b)
{
    return table_says(t, a, "kernel", table_text(t, b, "kernel")) &&
           table_says(t, a, "what", table_text(t, b, "what")) && table_says(t, a, "with", table_text(t, b, "with"));
}

/* Returns true if everything that lowers the frequency at some number of cores lowers it at this one: otherwise a
 * missing frequency may lie between those that are there, or be one at which nothing is lowered. */
static bool all_lower(const struct table *t, double cores)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        bool here = !is_lower(t, i, table_number(t, i, "active_cores"));
        if (table_number(t, i, "active_cores") == cores && table_says(t, i, "asks", ASKS_UNDECIDED))
            return false;
        for (size_t k = 0; k < t->n_rows && !here; k++)
            here = is_lower(t, k, cores) && same_question(t, k, i);
        if (!here)
            return false;
    }
    return true;
}

/* Returns true if dense code of this kind was measured: code that lowers the frequency at another number of cores is
 * measured at this one, too. */
static bool measured_kind(const struct table *t, unsigned width, enum kernel_weight weight)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        struct payload p;
        bool alone = table_says(t, i, "what", "count") || table_says(t, i, "what", "density");
        if (alone && table_number(t, i, "density") <= 1 && !kernel_parse(table_text(t, i, "kernel"), &p, NULL, 0) &&
            p.kernel->width == width && p.kernel->weight == weight)
            return true;
    }
    return false;
}

/* A single frequency is that of level 1 only where all kinds of code that may request another one were examined. */
static bool all_kinds(const struct table *t, double cores)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        struct payload p;
        if (is_lower(t, i, cores) && !kernel_parse(table_text(t, i, "kernel"), &p, NULL, 0) && p.kernel->width > 256 &&
            !(measured_kind(t, 256, KERNEL_HEAVY) && measured_kind(t, 512, KERNEL_LIGHT)))
            return false;
    }
    return true;
}

/* Returns true if all rows of a mode are of one level: they scatter as their limits say, and no limit reaches as far as
 * another level is. */
static bool one_level(const struct table *t, double cores, const struct ranks *r, size_t mode)
{
    double weights = 0, sum = 0, squares = 0, farthest = 0;
    size_t n = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct estimate lower = lower_of(t, i);
        if (!tells_frequency(t, i, cores) || mode_of(r, lower.value) != mode)
            continue;
        double half = (lower.hi - lower.lo) / 2, off = lower.value - r->mode[mode].mean;
        double sigma = hypot(half / HALF_SIGMAS, FREQUENCY_SAME / 4);
        weights += 1 / (sigma * sigma);
        sum += off / (sigma * sigma);
        squares += off * off / (sigma * sigma);
        farthest = isnan(half) ? INFINITY : fmax(farthest, fabs(off) + half);
        n++;
    }
    return n < 2 ||
           (farthest < LEVELS_APART && squares - sum * sum / weights < gsl_cdf_chisq_Qinv(BY_CHANCE, (double)n - 1));
}

/* The modes, and up to which of them rows that are taken for one level cannot be of two. */
static void find_ranks(const struct table *t, double cores, double *x, struct ranks *r)
{
    double wide = 0;
    size_t m = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (tells_frequency(t, i, cores)) {
            struct estimate lower = lower_of(t, i);
            x[m++] = lower.value;
            wide = fmax(wide, (lower.hi - lower.lo) / 2);
        }
    double gap = fmin(fmax(2 * wide, FREQUENCY_SAME), TRIGGER_SAME_FREQUENCY);
    r->n = robust_modes(x, m, gap, 1, r->mode, LEVELS_MAX);
    qsort(r->mode, r->n, sizeof *r->mode, order_double_descending);
    size_t all = r->n == 1 && !all_kinds(t, cores) ? 0 : r->n;
    for (r->firm = 0; r->firm < all && one_level(t, cores, r, r->firm);)
        r->firm++;
}

/* Without counters a level is known by its frequency: the next below plain code is level 1. Nothing lower: no level. */
static int rank_levels(struct table *t, double cores)
{
    struct ranks r;
    double *x = malloc((t->n_rows + 1) * sizeof *x);
    if (!x)
        return -1;
    find_ranks(t, cores, x, &r);
    free(x);
    for (size_t i = 0; i < t->n_rows && r.n; i++)
        if (table_number(t, i, "active_cores") == cores)
            rank_row(t, i, &r);
    if (r.firm)
        table_set_setting(t, "levels", "ranked by frequency: this machine does not count license levels");
    return 0;
}

/* The numbers of cores at which levels can be ranked, into `cores`: found before ranking overwrites what tells it. */
static size_t rankable(const struct table *t, double *cores)
{
    size_t n = 0, all = table_numbers(t, "active_cores", cores, t->n_rows);
    for (size_t i = 0; i < all; i++)
        if (all_lower(t, cores[i]))
            cores[n++] = cores[i];
    return n;
}

int trigger_conclude(struct table *t)
{
    double *cores = malloc((t->n_rows + 1) * sizeof *cores);
    size_t n = cores ? rankable(t, cores) : 0, done = 0;
    while (done < n && rank_levels(t, cores[done]) == 0)
        done++;
    bool bad = !cores || done < n;
    free(cores);
    return bad ? -1 : 0;
}
