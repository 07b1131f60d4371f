/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processor says of itself: its turbo limits as figures, and its favored cores against measured ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/rated_limits.h"
#include "output/validate/validate.h"
#include "tables/cores/cores.h"
#include "tables/frequency/frequency.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

#define HALF_STEP_GHZ (CLOCK_STEP_GHZ / 2) /* in steps limits are stated */
/* Ranges of active cores of a limit, kinds of cores, and bytes of a core's label, at most. */
enum { RANGES_MAX = 16, KINDS_MAX = 8, LABEL_MAX = 60 };

/* ---- turbo limits ---- */

/* The level that a class of code is, by the names of drivers/rated_limits.h; -1: none. */
static int level_of_class(const char *name)
{
    unsigned level;
    for (int i = 0; i < RATED_CLASSES; i++)
        if (strcmp(name, rated_class_names[i]) == 0)
            return i;
    return sscanf(name, "level %u", &level) == 1 && level < 8 ? (int)level : -1;
}

/* The texts in column `core` of CPUs that this setting is for, commas between them; "": it has none. */
static void kinds_of_limits(const struct table *t, const char *limits, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *core = table_text(t, row, "core");
        if (core && frequency_limits(t, (int)table_number(t, row, "cpu")) == limits && !strchr(core, ',') &&
            !text_list_has(out, core))
            text_list_add(out, size, ",", "%s", core);
    }
}

static void add_key(struct sku_figure *f, const char *column, double lo, double hi)
{
    struct sku_key *k = &f->keys[f->n_keys++];
    snprintf(k->column, sizeof k->column, "%s", column);
    snprintf(k->text, sizeof k->text, lo < hi ? "%.0f-%.0f" : "%.0f", lo, hi);
    k->is_number = true;
    k->lo = lo;
    k->hi = hi;
}

static bool some_cores_within(const struct table *t, const struct frequency_group *g)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        double cores = table_number(t, row, "active_cores");
        if (cores >= g->first && cores <= g->last)
            return true;
    }
    return false;
}

/* Figures of "1-2: 3.7, 3-4: 3.5". */
static size_t figures_of_text(const struct table *t, const char *text, int level, const char *source,
                              struct sku_figure *out, size_t room)
{
    struct frequency_group g;
    size_t n = 0;
    char kinds[SKU_TEXT_MAX];
    kinds_of_limits(t, text, kinds, sizeof kinds);
    for (const char *p = text; p && n < room && (p = frequency_range_read(p, &g)) && *p == ':';) {
        struct sku_figure *f = &out[n];
        char *end;
        double ghz = strtod(p + 1, &end);
        *f = (struct sku_figure){.table = "frequency",
                                 .column = "freq_ghz",
                                 .published = true,
                                 .limit = true,
                                 .lo = ghz,
                                 .hi = ghz,
                                 .tolerance = HALF_STEP_GHZ};
        add_key(f, "level", level, level);
        add_key(f, "active_cores", g.first, g.last);
        if (kinds[0]) {
            struct sku_key *k = &f->keys[f->n_keys++];
            snprintf(k->column, sizeof k->column, "core");
            snprintf(k->text, sizeof k->text, "%s", kinds);
        }
        for (size_t i = 0; i < f->n_keys; i++)
            text_list_add(f->where, sizeof f->where, " ", "%s=%s", f->keys[i].column, f->keys[i].text);
        snprintf(f->source, sizeof f->source, "stated by the processor: %s", source ? source : "not said where");
        n += ghz > 0 && some_cores_within(t, &g);
        p = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

int validate_stated(const struct table *t, struct sku_figure **out, size_t *n)
{
    size_t room = (t->n_settings + 1) * RANGES_MAX;
    const char *source = table_setting(t, "turbo_limits_source");
    *n = 0;
    *out = calloc(room, sizeof **out);
    if (!*out)
        return -1;
    /* cores of high priority may exceed these limits, and theirs depend on the priorities of the other cores */
    const char *by_priority = table_setting(t, BY_PRIORITY);
    bool in_force = !by_priority || strcmp(by_priority, "on") != 0;
    for (size_t i = 0; in_force && i < t->n_settings; i++) {
        const char *key = t->settings[i].key, *class = frequency_limits_of(t, i);
        bool plain = strcmp(key, TURBO_LIMITS) == 0 || strcmp(key, TURBO_LIMITS_OF "E cores") == 0;
        int level = plain ? 0 : class ? level_of_class(class) : -1;
        if (level >= 0)
            *n += figures_of_text(t, t->settings[i].value, level, source, *out + *n, room - *n);
    }
    if (*n == 0) {
        free(*out);
        *out = NULL;
    }
    return 0;
}

/* ---- favored cores ---- */

static const char favored[] = "favoured", others[] = "not favoured"; /* as table `cores` has them */

/* Splits a core's label into favored or not, and the rest, "P". Returns false if the label says neither. */
static bool split_label(const char *label, bool *is_favored, char kind[LABEL_MAX])
{
    const char *at = label ? strstr(label, others) : NULL;
    *is_favored = !at;
    at = at ? at : label ? strstr(label, favored) : NULL;
    if (!at || at - label >= LABEL_MAX)
        return false;
    size_t n = (size_t)(at - label);
    while (n && (label[n - 1] == ' ' || label[n - 1] == ','))
        n--;
    memcpy(kind, label, n);
    kind[n] = '\0';
    return true;
}

/* Frequencies of the cores of one kind, favored [1] and not [0], while a kernel runs. */
struct favored_cores {
    size_t n[2];
    double sum[2], squares[2]; /* of the frequencies, of the half widths of their limits */
};

static void favored_row(struct table *verdicts, const char *kernel, const char *kind, const struct favored_cores *s)
{
    char figure[700];
    double difference = s->sum[1] / (double)s->n[1] - s->sum[0] / (double)s->n[0];
    double half = sqrt(s->squares[1] / pow((double)s->n[1], 2) + s->squares[0] / pow((double)s->n[0], 2));
    bool faster = difference - half > 0, not_faster = difference + half < HALF_STEP_GHZ;
    snprintf(figure, sizeof figure, "kernel=%.200s: %.59s%sfavored cores, freq_ghz above that of the others", kernel,
             kind, *kind ? " " : "");
    table_add_row(verdicts);
    table_put_text(verdicts, "table", "cores");
    table_put_text(verdicts, "figure", figure);
    table_put_text(verdicts, "unit", "GHz");
    table_put_limits(verdicts, "measured", difference, difference - half, difference + half);
    table_put_number(verdicts, "detectable", 2 * half);
    table_put_number(verdicts, "rows", (double)(s->n[0] + s->n[1]));
    table_put_text(verdicts, "verdict", faster ? "agrees" : not_faster ? "deviates" : "undecided");
    table_put_text(verdicts, "source", "stated by the processor: CPPC highest_perf, or cpuinfo_max_freq");
}

static void favored_of_kernel(const struct table *t, const char *kernel, struct table *verdicts)
{
    char kinds[KINDS_MAX][LABEL_MAX], kind[LABEL_MAX];
    struct favored_cores seen[KINDS_MAX] = {0};
    size_t n = 0, k;
    bool is_favored;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1)) {
        struct estimate e = estimates_of_table(t, row, "freq_ghz");
        if (!estimates_known(&e) || !split_label(table_text(t, row, "core"), &is_favored, kind))
            continue;
        for (k = 0; k < n && strcmp(kinds[k], kind); k++)
            ;
        if (k == KINDS_MAX)
            continue;
        if (k == n)
            memcpy(kinds[n++], kind, sizeof kind);
        seen[k].n[is_favored]++;
        seen[k].sum[is_favored] += e.value;
        seen[k].squares[is_favored] += pow((e.hi - e.lo) / 2, 2);
    }
    for (k = 0; k < n; k++)
        if (seen[k].n[0] && seen[k].n[1])
            favored_row(verdicts, kernel, kinds[k], &seen[k]);
}

void validate_favored(const struct table *t, struct table *verdicts)
{
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++)
        favored_of_kernel(t, kernel, verdicts);
}
