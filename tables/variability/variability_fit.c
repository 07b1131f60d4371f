/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from all rows: the best ones without the trials before the mode; and the findings. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/variability/variability.h"
#include "util/text_list.h"

const char *const variability_workloads[VARIABILITY_WORKLOADS] = {
    "register", "branch-cold", "branch-warm", "branch-ibpb", "L1@mem", "L2@mem", "L3@mem", "memory@mem"};

const struct variability_published variability_published[VARIABILITY_PUBLISHED] = {
    {"busy system", REFINED_BUSY, 100},           {"quiet system", REFINED_QUIET, 1e-7},
    {"kernel module", REFINED_MASKED, 0},         {"user space w/o dyn. ticks", REFINED_IRQS_AWAY, 1e-5},
    {"user space w/ dyn. ticks", REFINEMENTS, 0},
};

void variability_put(struct table *t, const struct repeatability *r)
{
    table_put_number(t, "trials", (double)r->n);
    table_put_number(t, "mode", r->mode);
    table_put_number(t, "spread", r->spread);
    table_put_number(t, "p50", r->p50);
    table_put_number(t, "p90", r->p90);
    table_put_number(t, "p99", r->p99);
    table_put_number(t, "max", r->max);
    table_put_number(t, "to_mode", (double)r->to_mode);
}

size_t variability_row(const struct table *t, const char *workload, enum refinement r)
{
    size_t row = 0;
    while (row < t->n_rows &&
           !(table_says(t, row, "workload", workload) && table_says(t, row, "refinement", refinement_names[r])))
        row++;
    return row;
}

const char *variability_percent(double fraction, char out[VARIABILITY_TEXT])
{
    double percent = 100 * fraction;
    if (!isfinite(fraction))
        snprintf(out, VARIABILITY_TEXT, "-");
    else if (percent != 0 && fabs(percent) < 1e-7)
        snprintf(out, VARIABILITY_TEXT, "%.1e %%", percent);
    else {
        int decimals = percent == 0 ? 0 : 1 - (int)floor(log10(fabs(percent)));
        snprintf(out, VARIABILITY_TEXT, "%.*f %%", decimals > 0 ? decimals : 0, percent);
    }
    return out;
}

/* ---- what a cell keeps ---- */

json_t *variability_to_json(const struct variability_kept *k)
{
    return json_pack("{s:s, s:f, s:f, s:{s:I, s:f, s:f, s:f, s:f, s:f, s:f}}", "in_force", k->in_force, "rounds",
                     k->rounds, "bytes", k->bytes, "warm", "trials", (json_int_t)k->warm.n, "mode", k->warm.mode,
                     "spread", k->warm.spread, "p50", k->warm.p50, "p90", k->warm.p90, "p99", k->warm.p99, "max",
                     k->warm.max);
}

bool variability_from_json(const char *json, char *in_force, struct repeatability *warm)
{
    json_int_t n = 0;
    const char *told = "";
    json_t *j = json_loads(json ? json : "", 0, NULL);
    *warm = (struct repeatability){0};
    bool read = j && json_unpack(j, "{s:s, s:{s:I, s:F, s:F, s:F, s:F, s:F, s:F}}", "in_force", &told, "warm", "trials",
                                 &n, "mode", &warm->mode, "spread", &warm->spread, "p50", &warm->p50, "p90", &warm->p90,
                                 "p99", &warm->p99, "max", &warm->max) == 0;
    if (read && in_force)
        snprintf(in_force, TABLES_TOLD_MAX, "%s", told);
    warm->n = n > 0 ? (size_t)n : 0;
    json_decref(j);
    return read && n > 0 && warm->mode > 0 && warm->spread >= 0;
}

const char *variability_key(const char *workload, unsigned refinement, char out[VARIABILITY_KEY])
{
    snprintf(out, VARIABILITY_KEY, "%s/%s", workload, refinement_names[refinement]);
    return out;
}

const char *variability_detail(const struct table *t, const char *workload, unsigned refinement)
{
    char key[VARIABILITY_KEY];
    return table_detail(t, variability_key(workload, refinement, key));
}

/* ---- the best without the trials before the mode ---- */

/* Of a workload's rows, the one of the least spread when warm, *out; t->n_rows: there is none. */
static size_t best_warm(const struct table *t, const char *workload, struct repeatability *out)
{
    size_t best = t->n_rows;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        struct repeatability warm;
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (row < t->n_rows && variability_from_json(variability_detail(t, workload, r), NULL, &warm) &&
            (best == t->n_rows || warm.spread < out->spread)) {
            *out = warm;
            best = row;
        }
    }
    return best;
}

/* Into `told` what was in force for the rows of a refinement, "" for nothing. */
static void told_at(const struct table *t, unsigned r, char *told)
{
    struct repeatability ignored;
    told[0] = '\0';
    for (size_t w = 0; w < VARIABILITY_WORKLOADS && told[0] == '\0'; w++)
        if (!variability_from_json(variability_detail(t, variability_workloads[w], r), told, &ignored))
            told[0] = '\0';
}

/* For the whole table: what the last refinement had, and that the interference was of one refinement alone. */
static void put_steps_told(struct table *t)
{
    char told[TABLES_TOLD_MAX] = "", all[2 * TABLES_TOLD_MAX] = "";
    for (unsigned r = REFINED_WARM; r-- > REFINED_SETTINGS && told[0] == '\0';)
        told_at(t, r, told);
    if (told[0] != '\0')
        text_list_add(all, sizeof all, "; ", "step by step to: %s", told);
    told_at(t, REFINED_BUSY, told);
    if (told[0] != '\0')
        text_list_add(all, sizeof all, "; ", "in refinement busy alone: %s", told);
    if (all[0] != '\0')
        table_set_setting(t, "settings", all);
}

int variability_conclude(struct table *t)
{
    put_steps_told(t);
    for (size_t w = 0; w < VARIABILITY_WORKLOADS; w++) {
        const char *workload = variability_workloads[w];
        struct repeatability warm;
        char key[VARIABILITY_KEY], kept_unit[20];
        size_t best = best_warm(t, workload, &warm);
        if (best == t->n_rows || variability_row(t, workload, REFINED_WARM) < t->n_rows)
            continue;
        const char *unit = table_text(t, best, "unit"), *of = table_text(t, best, "refinement");
        double resolution = table_number(t, best, "resolution") * table_number(t, best, "mode") / warm.mode;
        variability_key(workload, REFINED_WARM, key);
        table_set_detail_json(t, key, json_pack("{s:s}", "of", of), 9);
        snprintf(kept_unit, sizeof kept_unit, "%s", unit ? unit : ""); /* the next row moves the others */
        table_add_row(t);
        table_put_text(t, "workload", workload);
        table_put_text(t, "refinement", refinement_names[REFINED_WARM]);
        if (kept_unit[0])
            table_put_text(t, "unit", kept_unit);
        table_put_number(t, "resolution", resolution);
        variability_put(t, &warm);
    }
    return t->failed ? -1 : 0;
}

/* ---- findings ---- */

static void tell_workload(FILE *out, const struct table *t, const char *workload)
{
    char from[VARIABILITY_TEXT], to[VARIABILITY_TEXT];
    size_t first = t->n_rows, best = t->n_rows;
    for (unsigned r = 0; r < REFINED_WARM; r++) {
        size_t row = variability_row(t, workload, (enum refinement)r);
        if (row == t->n_rows || !isfinite(table_number(t, row, "spread")))
            continue;
        first = first == t->n_rows ? row : first;
        if (best == t->n_rows || table_number(t, row, "spread") < table_number(t, best, "spread"))
            best = row;
    }
    if (first == t->n_rows)
        return;
    fprintf(out, "%s: the slowest of %.0f trials took %s longer than the fastest (%s)", workload,
            table_number(t, first, "trials"), variability_percent(table_number(t, first, "spread"), from),
            table_text(t, first, "refinement"));
    if (best != first)
        fprintf(out, ", at best %s (%s)", variability_percent(table_number(t, best, "spread"), to),
                table_text(t, best, "refinement"));
    fprintf(out, ".\n");
}

void variability_findings(FILE *out, const struct table *t)
{
    tell_workload(out, t, "register");
    tell_workload(out, t, "memory@mem");
    if (table_find(t, "unit", "ns") < t->n_rows)
        fprintf(out,
                "Durations are measured by time stamps, so they include changes of the core\xE2\x80\x99s frequency.\n");
}
