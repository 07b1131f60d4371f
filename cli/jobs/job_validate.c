/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --validate SKU: what was measured against what was published; --draft-sku FILE: the entry that a measurement
 * supports. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/outputs.h"
#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "output/validate/draft.h"
#include "output/validate/validate.h"
#include "tables/published/sku.h"

enum { VALIDATION_BYTES = 1000000 };

/* The tables that the figures are of, each once. */
static size_t tables_of(const struct sku *sku, const struct table_kind *kinds[MEASURING_TABLES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < sku->n_figures; i++) {
        const struct table_kind *kind = tables_find(sku->figures[i].table);
        bool there = kind == NULL;
        for (size_t k = 0; k < n; k++)
            there = there || kinds[k] == kind;
        if (!there && n < MEASURING_TABLES_MAX)
            kinds[n++] = kind;
    }
    return n;
}

/* True if a processor may be the one that is not named: of its microarchitecture. */
static bool may_be_unnamed(const struct sku *sku, const char *cpu)
{
    struct sku common;
    struct machine_error ignored;
    if (strcmp(sku->brand, SKU_UNNAMED) != 0 || sku_load(sku->inherits, NULL, &common, &ignored) != MACHINE_OK)
        return false;
    bool is = sku_is_of(&common, cpu);
    sku_free(&common);
    return is;
}

/* True, after a line, if the processor has figures of its own: then it is another, however many figures agree. */
static bool is_another(const struct options *o, const struct sku *sku, const char *cpu)
{
    struct sku own;
    struct machine_error error;
    if (cpu == NULL || sku_is_of(sku, cpu) || may_be_unnamed(sku, cpu) ||
        tables_find_sku(cpu, NULL, &own, &error) != MACHINE_OK)
        return false;
    complain("--validate %s: the processor measured is another one with published figures, the %s (--list skus)",
             o->job_argument, own.name);
    sku_free(&own);
    return true;
}

static int validation_print_csv(FILE *stream, const void *verdicts)
{
    return table_write_csv(stream, verdicts);
}

static int validation_print_json(FILE *stream, const void *verdicts)
{
    return file_print_json(stream, validate_to_json(verdicts));
}

static int validation_print_junit(FILE *stream, const void *verdicts)
{
    return file_print_json(stream, validate_to_junit(verdicts));
}

static const struct outputs_kind validation = {
    .form = {[OUTPUT_CSV] = {"Written", "verdicts", validation_print_csv},
             [OUTPUT_JSON] = {"Written", "verdicts", validation_print_json}}};

/* Shows and writes the verdicts. DEVIATES where there is a deviation, CANNOT where nothing could be decided. */
static int conclude(const struct options *o, const struct sku *sku, const struct outputs *files,
                    const struct table *verdicts)
{
    FILE *screen = outputs_screen(files);
    validate_print(screen, messages_colour(screen), verdicts);
    int status = outputs_write(files, verdicts, screen, "\n");
    if (status == DONE && o->junit != NULL)
        status = file_write(o->junit, validation_print_junit, verdicts);
    if (status != DONE)
        return status;
    if (validate_count(verdicts, "deviates") > 0)
        return DEVIATES;
    const char *cpu = table_meta(verdicts, "cpu");
    if (validate_count(verdicts, "agrees") > 0)
        return is_another(o, sku, cpu) ? DEVIATES : DONE;
    if (validate_count(verdicts, "undecided") > 0)
        return refuse(CANNOT,
                      "--validate %s: the limits are too wide to decide about any of its figures; measure with "
                      "more --runs on a quieter machine",
                      o->job_argument);
    if (o->input != NULL)
        return refuse(CANNOT, "--validate %s: none of its figures was measured; the tables in %s come from %s",
                      o->job_argument, o->input, cpu != NULL ? cpu : "an unnamed processor");
    return refuse(CANNOT,
                  "--validate %s: none of its figures was measured; --list machines shows which --machine works here",
                  o->job_argument);
}

/* The tables against the figures. */
static int compare(const struct options *o, const struct sku *sku, const struct outputs *files,
                   const struct collected *tables)
{
    struct table verdicts;
    int status = validate_tables(sku, tables->list, tables->n, &verdicts) == 0 ? conclude(o, sku, files, &verdicts)
                                                                               : complain_out_of_memory();
    table_free(&verdicts);
    return status;
}

int job_validate(const struct options *o)
{
    struct sku sku;
    struct machine_error error = {.status = MACHINE_OK};
    struct outputs files;
    struct collected tables;
    const struct table_kind *kinds[MEASURING_TABLES_MAX];
    if (sku_load(o->job_argument, NULL, &sku, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    int status = outputs_choose(o, &validation, "validate", NULL, &files);
    if (status == DONE)
        status = answers_check_table(&files);
    if (status == DONE)
        status = file_check(o->junit, VALIDATION_BYTES);
    if (status == DONE) {
        status = collect_tables(o, kinds, tables_of(&sku, kinds), &tables);
        if (status == DONE) {
            status = compare(o, &sku, &files, &tables);
            collect_free(&tables);
        }
    }
    outputs_free(&files);
    sku_free(&sku);
    return status;
}

/* ---- --draft-sku ---- */

enum { DRAFT_BYTES = 1000000 };

static int write_draft(const struct options *o, const struct collected *tables)
{
    struct draft draft;
    struct machine_error error = {.status = MACHINE_OK};
    const char *file = o->job_argument;
    if (draft_write(tables->list, tables->n, &draft, &error) != MACHINE_OK)
        return complain_of_machine("--draft-sku: ", &error);
    int status = file_write(file, file_print_text, draft.text);
    free(draft.text);
    if (status != DONE)
        return status;
    if (draft.left_out > 0)
        complain("%zu value%s left out, which %s no limits, or too wide ones for a figure (--runs narrows them)",
                 draft.left_out, draft.left_out == 1 ? "" : "s", draft.left_out == 1 ? "has" : "have");
    if (!o->quiet && !file_is_stdout(file))
        messages_print(stdout, "Written      %s (%zu figures; --validate %s%s compares with them)", file, draft.figures,
                       strpbrk(file, "/.") ? "" : "./", file);
    return DONE;
}

int job_draft(const struct options *o)
{
    const struct table_kind *sources[MEASURING_TABLES_MAX];
    size_t n = 0, all;
    const struct table_kind *const *kinds = tables_all(&all);
    struct collected tables;
    for (size_t i = 0; i < all; i++)
        if (kinds[i]->drafted.values[0])
            sources[n++] = kinds[i];
    int status = file_check(o->job_argument, DRAFT_BYTES);
    if (status != DONE)
        return status;
    status = collect_tables(o, sources, n, &tables);
    if (status != DONE)
        return status;
    status = write_draft(o, &tables);
    collect_free(&tables);
    return status;
}
