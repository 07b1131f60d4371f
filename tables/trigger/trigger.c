/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What triggers a license level. The cells: trigger_count.c, trigger_density.c, trigger_others.c.
 */
#include "tables/trigger/trigger.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/estimates.h"
#include "tables/registry.h"
#include "util/order.h"

static const struct table_column columns[] = {
    {"kernel", "", TABLE_TEXT, true, 0},
    {"density", "", TABLE_WHOLE, true, 0}, /* N: one such instruction in N */
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"what", "", TABLE_TEXT, true, 0},
    {"asks", "", TABLE_TEXT, true, 0},
    {"with", "", TABLE_TEXT, true, 0}, /* the other part of a mixture; the code that runs on dirty registers; "-" */
    TABLE_LIMITS("count", "", 0),
    {"spread", "", TABLE_REAL, false, 2}, /* standard deviation of count from time to time, relative */
    {"level", "", TABLE_WHOLE, false, 0},
    TABLE_LIMITS("rate_per_cycle", "1/cycle", 4),
    TABLE_LIMITS("freq_ghz", "GHz", 3),
    TABLE_LIMITS("plain_ghz", "GHz", 3),         /* without the kernel */
    {"level_kernel", "", TABLE_WHOLE, false, 0}, /* of the parts of a mixture alone */
    {"level_with", "", TABLE_WHOLE, false, 0},
    {"freq_kernel_ghz", "GHz", TABLE_REAL, false, 3},
    {"freq_with_ghz", "GHz", TABLE_REAL, false, 3},
    TABLE_LIMITS("ipc_ratio", "", 3),               /* of code on dirty registers, against the same on clean ones */
    {"longest_us", "us", TABLE_REAL, false, 0},     /* the longest burst that was tried */
    {"window_from_us", "us", TABLE_REAL, false, 0}, /* what was looked at, after the burst; < 0: before its end */
    {"window_to_us", "us", TABLE_REAL, false, 0},
    {"warmup_us", "us", TABLE_REAL, false, 0},
    {"period_us", "us", TABLE_REAL, false, 2},
    {"n", "", TABLE_WHOLE, false, 0},
    {"discarded", "", TABLE_WHOLE, false, 0},
    {"detectable", "", TABLE_TEXT, false, 0}, /* where nothing is requested */
};

enum { COUNT, DENSITY, MIXTURE, DIRTY };
static const struct trigger_kind *const trigger_kinds[] = {&trigger_count, &trigger_density, &trigger_mixture,
                                                           &trigger_dirty};
#define ASKS_LOWER "lower frequency" /* as trigger_bench_asks says where no counter shows the level ... */
#define ASKS_THROTTLE "throttle only"
#define ASKS_UNDECIDED "undecided" /* ... or whether there is another one */

/* ---- cells ---- */

static int trigger_add(struct cells *out, unsigned kind, const struct payload *a, const struct payload *b,
                       unsigned cores, double seconds)
{
    const char *what = trigger_kinds[kind]->what;
    struct cell *c = cells_add(out, a, b, cores, "%s_%s%s%s_%u", what, a->name, b ? "_" : "", b ? b->name : "", cores);
    if (!c)
        return -1;
    c->number[0] = kind;
    c->seconds = seconds;
    return 0;
}

static int add_dirty(const struct tables_context *x, struct cells *out, const struct payload *p, unsigned cores)
{
    static const char *const plain[] = {"64add", "128or"};
    struct payload dirty, code;
    char name[KERNEL_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s-dirty", p->kernel->name);
    if (p->density != 1 || kernel_parse(name, &dirty, NULL, 0))
        return 0;
    for (size_t i = 0; i < (x->options->brief ? 1 : 2); i++)
        if (tables_can_run(x, plain[i], &code) && trigger_add(out, DIRTY, &dirty, &code, cores, 0.4))
            return -1;
    return 0;
}

/* The mixtures of the literature (G 3.2.1, 6.5.1), or all pairs of what was requested. */
static int add_mixtures(const struct tables_context *x, struct cells *out, const struct payload *k, size_t n,
                        unsigned cores)
{
    static const char *const known[][2] = {{"256fma", "512or"}, {"128fma", "256or"}};
    if (x->options->n_kernels) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (strcmp(k[i].name, k[j].name) != 0 && trigger_add(out, MIXTURE, &k[i], &k[j], cores, 0.3))
                    return -1;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct payload a, b;
        if (tables_can_run(x, known[i][0], &a) && tables_can_run(x, known[i][1], &b) &&
            trigger_add(out, MIXTURE, &a, &b, cores, 0.3))
            return -1;
    }
    return 0;
}

static int add_all(const struct tables_context *x, struct cells *out, const struct payload *k, size_t n, unsigned cores)
{
    for (size_t i = 0; i < n; i++)
        if (!k[i].dirty && trigger_add(out, COUNT, &k[i], NULL, cores, k[i].kernel->width > 128 ? 1.5 : 0.2))
            return -1;
    for (size_t i = 0; i < n; i++)
        if (!k[i].dirty && k[i].density == 1 && k[i].kernel->has_density &&
            trigger_add(out, DENSITY, &k[i], NULL, cores, k[i].kernel->width > 128 ? 0.6 : 0.2))
            return -1;
    if (add_mixtures(x, out, k, n, cores))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (k[i].kernel->width >= 256 && add_dirty(x, out, &k[i], cores))
            return -1;
    return 0;
}

static int trigger_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    static const char *const brief[] = {"256fma", "512or", "512fma"}; /* all kinds that may request a level */
    struct payload kernel[TABLES_KERNELS_MAX];
    unsigned cores[TABLES_CORES_MAX];
    size_t n = x->options->brief ? tables_kernels(x, brief, 3, kernel, t)
                                 : tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernel, t);
    size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    for (size_t i = 0; i < n_cores; i++)
        if (add_all(x, out, kernel, n, cores[i]))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    table_set_setting(t, "warmup",
                      "plain code before each burst, at least as long as levels are held: warmup_us of each row; "
                      "--warmup can only lengthen it");
    table_set_setting(t, "window",
                      "the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: "
                      "during it), when transitions are over and levels are still held, as a pilot run of each kernel "
                      "showed; --observe does not change it");
    if (x->options->runs)
        table_set_setting_number(t, "runs", x->options->runs);
    return MACHINE_OK;
}

/* only_lower: nothing is measured where the pilots show no lower frequency; *told is set where they show one, or where
 * levels are counted. */
static int measure_after_pilot(struct bench *b, bool only_lower, bool *told, struct table *rows,
                               struct machine_error *err)
{
    int status = b->kind->pilot(b, err);
    for (size_t i = 0; i < b->n_pilots && status == MACHINE_OK; i++)
        *told = *told || b->pilot[i].lower || b->pilot[i].counted;
    if (status != MACHINE_OK || (only_lower && !*told))
        return status;
    status = trigger_bench_begin(b, err);
    if (status != MACHINE_OK)
        return status;
    status = b->kind->measure(b, rows, err);
    trigger_bench_end(b);
    return status;
}

static int measure_at(const struct tables_context *x, const struct cell *c, bool only_lower, bool *told,
                      struct table *rows, struct machine_error *err)
{
    struct bench b;
    trigger_bench_init(&b, x, c, trigger_kinds[c->number[0]]);
    int status = measure_after_pilot(&b, only_lower, told, rows, err);
    if (status != MACHINE_CANNOT)
        return status;
    *told = true;    /* another number of cores is no substitute for what is not clear at this one */
    b.discarded = 0; /* of those the reason tells */
    trigger_bench_missing(&b, rows, c->a.density, "%s%s%s", err->text, err->remedy[0] ? "; " : "", err->remedy);
    return MACHINE_OK;
}

/*
 * By default all cores are active. Frequencies of levels that are equal there can differ with one active core; where
 * nothing else tells levels it is tried with one, too.
 */
static int trigger_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                           struct machine_error *err)
{
    bool told = false;
    int status = measure_at(x, c, false, &told, rows, err);
    if (status != MACHINE_OK || told || x->options->n_active || c->active_cores <= 1)
        return status;
    struct cell one = *c;
    one.active_cores = 1;
    return measure_at(x, &one, true, &told, rows, err);
}

/* ---- levels that no counter tells ---- */

#define SAME_FREQUENCY 0.01 /* relative; see tables/trigger/trigger_fit.h */
#define LEVELS_APART 0.025  /* relative: levels of real parts are at least so far apart, 100 MHz in 4 GHz */
#define TOGETHER_SAME 0.003 /* relative: less is no lower frequency of what is throttled */
#define LEAST_HALF 0.002
#define HALF_SIGMAS 2.3 /* standard deviations in half of the 95 % limits of some ten repetitions */
#define BY_CHANCE 0.1   /* that rows of one level are not taken for one */
enum { LEVELS_MAX = 6 };

/* The frequencies below that of plain code at some number of cores: one in each mode, as log(GHz / plain). */
struct ranks {
    struct value_mode mode[LEVELS_MAX]; /* the highest frequency first */
    size_t n, firm;                     /* of the modes: those from `firm` on may be more levels than that */
};

static struct estimate lower_of(const struct table *t, size_t row)
{
    struct estimate freq = estimates_of_table(t, row, "freq_ghz"), plain = estimates_of_table(t, row, "plain_ghz");
    return trigger_lower(&freq, &plain);
}

/* The mode that has this value, or n. */
static size_t mode_of(const struct ranks *r, double x)
{
    size_t k = 0;
    while (k < r->n && !(x > r->mode[k].lo - SAME_FREQUENCY / 4 && x < r->mode[k].hi + SAME_FREQUENCY / 4))
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
    return fabs(x) < SAME_FREQUENCY / 2 ? 0 : -1;
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
    double asked = table_number(t, row, "level");
    if (table_says(t, row, "asks", ASKS_LOWER) && asked > 0) {
        char text[20];
        snprintf(text, sizeof text, "level %.0f", asked);
        table_set_text(t, row, "asks", text);
    }
}

static bool trigger_is_lower(const struct table *t, size_t row, double cores)
{
    return table_number(t, row, "active_cores") == cores && table_says(t, row, "asks", ASKS_LOWER) &&
           !isnan(table_number(t, row, "freq_ghz"));
}

/* A row of its own with a lower frequency: limits of density are told of rows that are there, too. */
static bool tells_frequency(const struct table *t, size_t row, double cores)
{
    return trigger_is_lower(t, row, cores) && !table_says(t, row, "what", "density limit");
}

static bool same_question(const struct table *t, size_t a, size_t b)
{
    return table_says(t, a, "kernel", table_text(t, b, "kernel")) &&
           table_says(t, a, "what", table_text(t, b, "what")) && table_says(t, a, "with", table_text(t, b, "with"));
}

/* Whether all that lowers the frequency at some number of cores lowers it at this one: else what is missing here may
 * lie between the frequencies that are there, or be one of those at which nothing is lowered. */
static bool all_lower(const struct table *t, double cores)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        bool here = !trigger_is_lower(t, i, table_number(t, i, "active_cores"));
        if (table_number(t, i, "active_cores") == cores && table_says(t, i, "asks", ASKS_UNDECIDED))
            return false;
        for (size_t k = 0; k < t->n_rows && !here; k++)
            here = trigger_is_lower(t, k, cores) && same_question(t, k, i);
        if (!here)
            return false;
    }
    return true;
}

/* Whether dense code of this kind was measured: what lowers the frequency at another number of cores is measured at
 * this one, too. */
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
        if (trigger_is_lower(t, i, cores) && !kernel_parse(table_text(t, i, "kernel"), &p, NULL, 0) &&
            p.kernel->width > 256 && !(measured_kind(t, 256, KERNEL_HEAVY) && measured_kind(t, 512, KERNEL_LIGHT)))
            return false;
    }
    return true;
}

/* Whether all rows of a mode are of one level: they scatter as their limits say, and no limit reaches as far as another
 * level is. */
static bool trigger_one_level(const struct table *t, double cores, const struct ranks *r, size_t mode)
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
    double gap = fmin(fmax(2 * wide, FREQUENCY_SAME), SAME_FREQUENCY);
    r->n = robust_modes(x, m, gap, 1, r->mode, LEVELS_MAX);
    qsort(r->mode, r->n, sizeof *r->mode, order_double_descending);
    size_t all = r->n == 1 && !all_kinds(t, cores) ? 0 : r->n;
    for (r->firm = 0; r->firm < all && trigger_one_level(t, cores, r, r->firm);)
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

static bool is_throttled(const struct table *t, size_t row)
{
    return table_says(t, row, "asks", ASKS_THROTTLE) || table_says(t, row, "asks", ASKS_UNDECIDED);
}

/* The frequency of all rows of a kernel that throttle, or may do more, against that of plain code: together they tell
 * more than each by its own limits. */
static struct estimate throttled_together(const struct table *t, size_t row)
{
    double weights = 0, sum = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct estimate lower = lower_of(t, i);
        double half = (lower.hi - lower.lo) / 2;
        if (!is_throttled(t, i) || table_says(t, i, "what", "density limit") || isnan(half) ||
            !table_says(t, i, "kernel", table_text(t, row, "kernel")) ||
            table_number(t, i, "active_cores") != table_number(t, row, "active_cores"))
            continue;
        half = fmax(half, LEAST_HALF); /* few repetitions agree by chance, or by the steps of a clock */
        weights += 1 / (half * half);
        sum += lower.value / (half * half);
    }
    double half = 1 / sqrt(weights);
    return (struct estimate){sum / weights, sum / weights - half, sum / weights + half};
}

/* What is throttled and undecided by its own limits. */
static void decide_together(struct table *t)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        struct estimate own = lower_of(t, i), all = throttled_together(t, i);
        if (!is_throttled(t, i) || isfinite(table_number(t, i, "level")))
            continue;
        bool same = all.lo > -TOGETHER_SAME && !(own.hi < -TOGETHER_SAME);
        table_set_text(t, i, "asks", same ? ASKS_THROTTLE : ASKS_UNDECIDED);
    }
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

static int trigger_conclude(struct table *t)
{
    double *cores = malloc((t->n_rows + 1) * sizeof *cores);
    decide_together(t);
    size_t n = cores ? rankable(t, cores) : 0, done = 0;
    while (done < n && rank_levels(t, cores[done]) == 0)
        done++;
    bool bad = !cores || done < n;
    free(cores);
    return bad ? -1 : 0;
}

const struct table_kind table_trigger = {
    .name = "trigger",
    .title = "What triggers a license level",
    .about = "instruction counts and densities that trigger a level; mixtures; dirty upper halves",
    .method =
        "Kernels with one wide instruction in every N run until their level has settled, for many N. The number of "
        "instructions needed is found with bursts of many lengths: by bisection and, where the count varies, by "
        "fitting median and spread. Mixtures of two kernels are compared with each of them alone (G 3.2.1, 6.5.1; K).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"kernel", "density", "count", "level"},
    .drafted = {.keys = {"kernel", "density", "active_cores", "what", "asks", "with"},
                .values = {"count", "rate_per_cycle"},
                .only = "what",
                .is = "count,density,density limit,mixture,dirty",
                .found = "density",
                .found_in = "density limit"},
    .exported = EXPORT_TRIGGERS,
    .plan = trigger_plan,
    .measure = trigger_measure,
    .conclude = trigger_conclude,
    .print = trigger_print,
    .findings = trigger_findings,
    .plot = trigger_plot,
};
