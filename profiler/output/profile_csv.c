/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile as CSV: the form of our tables (doc/formats.md). */
#include "profiler/output/profile_parts.h"

int profile_csv(FILE *out, const struct profile_result *r)
{
    struct table t;
    profile_table_all(r, &t);
    int status = t.failed ? -1 : table_write_csv(out, &t);
    table_free(&t);
    return status;
}
