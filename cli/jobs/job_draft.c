/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --draft-sku FILE: the entry that a measurement supports. */
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "output/validate/draft.h"

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
    if (file_check(o->job_argument, DRAFT_BYTES) != DONE)
        return FAILED;
    int status = collect_tables(o, sources, n, &tables);
    if (status != DONE)
        return status;
    status = write_draft(o, &tables);
    collect_free(&tables);
    return status;
}
