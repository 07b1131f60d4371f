/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which switch the report shows first. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "output/report/report_course.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* What decides, the most important first: whether anything happens, how wide and heavy the second kernel is, how narrow
 * and light the first one, and the active cores. */
enum { RANKS = 6 };

static bool rank_of(const json_t *phases, unsigned cores, long rank[RANKS])
{
    struct payload from, to;
    const char *names[] = {json_string_value(json_object_get(phases, "from")),
                           json_string_value(json_object_get(phases, "to"))};
    if (!names[0] || !names[1] || kernel_parse(names[0], &from, NULL, 0) != 0 ||
        kernel_parse(names[1], &to, NULL, 0) != 0 || from.dirty || to.density > 1)
        return false;
    rank[0] = json_array_size(json_object_get(phases, "transitions")) > 0;
    rank[1] = (long)to.kernel->width;
    rank[2] = (long)to.kernel->weight;
    rank[3] = -(long)from.kernel->width;
    rank[4] = -(long)from.kernel->weight;
    rank[5] = (long)cores;
    return rank[1] > -rank[3] || (rank[1] == -rank[3] && rank[2] > -rank[4]);
}

static bool higher(const long a[RANKS], const long b[RANKS])
{
    for (int i = 0; i < RANKS; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return false;
}

/* A cell of a switch is called FROM_TO_CORES (tables/switches). */
static unsigned course_cores(const char *cell)
{
    const char *last = strrchr(cell, '_');
    return last ? (unsigned)strtoul(last + 1, NULL, 10) : 0;
}

bool report_course_choose(const struct table *tables, size_t n, struct report_course *out)
{
    long best[RANKS] = {-1};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tables[i].n_details; k++) {
            const struct table_pair *detail = &tables[i].details[k];
            json_t *phases = json_loads(detail->value, 0, NULL);
            const char *format = json_string_value(json_object_get(phases, "format"));
            long rank[RANKS];
            unsigned cores = course_cores(detail->key);
            if (format && strcmp(format, "characterize-phases/1") == 0 && rank_of(phases, cores, rank) &&
                higher(rank, best)) {
                memcpy(best, rank, sizeof best);
                *out = (struct report_course){detail->value, cores, i};
            }
            json_decref(phases);
        }
    return out->phases != NULL;
}

void report_course_notes(const struct table *tables, const struct report_course *course, char *out, size_t size)
{
    const char *no_levels = estimates_no_levels(&tables[course->table]);
    json_t *phases = json_loads(course->phases, 0, NULL);
    const json_t *warning;
    size_t i;
    out[0] = '\0';
    if (no_levels)
        text_list_add(out, size, "\n",
                      "No frequency change is reported: %s. Those shown may be of moments, not of code.", no_levels);
    json_array_foreach(json_object_get(phases, "warnings"), i, warning)
    {
        if (json_is_string(warning))
            text_list_add(out, size, "\n", "%s.", json_string_value(warning));
    }
    json_decref(phases);
}
