/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table variability: their workloads' names, and what is kept beside them. */
#include <jansson.h>
#include <string.h>

#include "tables/variability/variability.h"

static const char *const names[VARIABILITY_WORKLOADS] = {
    "register", "branch-cold", "branch-warm", "branch-ibpb", "L1@mem", "L2@mem", "L3@mem", "memory@mem",
    VARIABILITY_BESIDE_SIBLING, VARIABILITY_AFTER_IDLE,
    /* clang-format off */
    "sweep@4KiB", "sweep@8KiB", "sweep@16KiB", "sweep@32KiB", "sweep@64KiB", "sweep@128KiB", "sweep@256KiB",
    "sweep@512KiB", "sweep@1MiB", "sweep@2MiB", "sweep@4MiB", "sweep@8MiB", "sweep@16MiB", "sweep@32MiB",
    "sweep@64MiB", "sweep@128MiB", "sweep@256MiB", "sweep@512MiB", "sweep@1GiB",
    /* clang-format on */
};

const char *variability_workload(size_t w)
{
    return names[w];
}

size_t variability_row(const struct table *t, const char *workload, enum refinement r)
{
    size_t row = 0;
    while (row < t->n_rows &&
           !(table_says(t, row, "workload", workload) && table_says(t, row, "refinement", tables_refinement_names[r])))
        row++;
    return row;
}

bool variability_kept(const char *json, char *in_force, struct repeatability *warm)
{
    json_int_t n = 0;
    const char *text = "";
    json_t *j = json_loads(json ? json : "", 0, NULL);
    *warm = (struct repeatability){0};
    bool read = j && json_unpack(j, "{s:s, s:{s:I, s:F, s:F, s:F, s:F, s:F, s:F}}", "in_force", &text, "warm", "trials",
                                 &n, "mode", &warm->mode, "spread", &warm->spread, "p50", &warm->p50, "p90", &warm->p90,
                                 "p99", &warm->p99, "max", &warm->max) == 0;
    if (read && in_force)
        snprintf(in_force, TABLES_IN_FORCE_MAX, "%s", text);
    warm->n = n > 0 ? (size_t)n : 0;
    json_decref(j);
    return read && n > 0 && warm->mode > 0 && warm->spread >= 0;
}

const char *variability_key(const char *workload, unsigned refinement, char out[VARIABILITY_KEY_SIZE])
{
    snprintf(out, VARIABILITY_KEY_SIZE, "%s/%s", workload, tables_refinement_names[refinement]);
    return out;
}

const char *variability_detail(const struct table *t, const char *workload, unsigned refinement)
{
    char key[VARIABILITY_KEY_SIZE];
    return table_detail(t, variability_key(workload, refinement, key));
}
