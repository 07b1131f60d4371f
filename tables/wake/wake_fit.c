/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which stage of a unit the idle time of a row lies; and the findings. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/estimates.h"
#include "tables/wake/wake.h"

int wake_stages_of(const struct table *t, const char *unit, const char *column, struct wake_stages *out)
{
    char key[40], why[200];
    snprintf(key, sizeof key, WAKE_POINTS, unit);
    const char *text = table_detail(t, key);
    json_t *j = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *idle = json_object_get(j, "idle_us"), *seen = json_object_get(j, column);
    struct wake_point *p = calloc(json_array_size(seen) + 1, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; p && i < json_array_size(seen); i++)
        if (json_is_number(json_array_get(seen, i)) && json_number_value(json_array_get(seen, i)) > 0)
            p[n++] = (struct wake_point){json_number_value(json_array_get(idle, i)),
                                         json_number_value(json_array_get(seen, i))};
    int status = p ? wake_find(p, n, out, why, sizeof why) : 1;
    if (status == 0)
        wake_blur(out, json_number_value(json_object_get(j, "step_us")));
    free(p);
    json_decref(j);
    return status;
}

/* The rows of a unit are one behind the other. Returns the row behind its last. */
static size_t wake_rows_end(const struct table *t, size_t row)
{
    size_t end = row + 1;
    while (end < t->n_rows && table_same(t, row, end, "unit"))
        end++;
    return end;
}

/* The stage of a row, from 1: of those that its idle time may lie in, by the limits, the one nearest to its value. */
static size_t wake_stage_of(const struct table *t, size_t row, const char *column, const struct wake_stages *s)
{
    double idle = table_number(t, row, "idle_us"), value = table_number(t, row, column), nearest = INFINITY;
    size_t stage = 0;
    for (size_t i = 0; i < s->n; i++) {
        bool before = i > 0 && idle < s->stage[i].idle_from_us.lo;
        bool behind = i + 1 < s->n && idle > s->stage[i].idle_to_us.hi;
        double off = isfinite(value) ? fabs(log(value / s->stage[i].first_us.value)) : 0;
        if (!before && !behind && off < nearest) {
            nearest = off;
            stage = i + 1;
        }
    }
    return stage;
}

int wake_conclude(struct table *t)
{
    for (size_t row = 0, end; row < t->n_rows; row = end) {
        struct wake_stages s;
        const char *unit = table_text(t, row, "unit"), *column = "first_us";
        end = wake_rows_end(t, row);
        int status = unit ? wake_stages_of(t, unit, column, &s) : -1;
        if (status == 0 && s.n == 1) {
            column = "full_rate_us";
            status = wake_stages_of(t, unit, column, &s);
        }
        if (status > 0)
            return -1;
        for (size_t i = row; i < end && status == 0; i++)
            table_set_number(t, i, "stage", (double)wake_stage_of(t, i, column, &s));
    }
    return 0;
}

/* ---- findings ---- */

#define COARSE 10.0 /* times the clock's step: what is shorter scatters by that step */

static void tell_stages(FILE *out, const char *key, const char *what, const struct wake_stages *s)
{
    char text[2][ESTIMATE_TEXT_MAX], unit[40] = "tile units (AMX)";
    if (strcmp(key, "amx"))
        snprintf(unit, sizeof unit, "%s-bit units", key);
    if (s->n == 1 && s->stage[0].first_us.value < COARSE * s->step_us)
        fprintf(out, "%s: %s %s us, however long they were idle, as far as the clock's steps of %.3f us show.\n", unit,
                what, estimates_text(&s->stage[0].first_us, 3, text[0]), s->step_us);
    else if (wake_scatters(s))
        fprintf(out,
                "%s: %s a time that scatters too much to tell stages (see the plot); repeat on a less busy machine.\n",
                unit, what);
    else if (s->n == 1 && s->n_warnings)
        fprintf(out, "%s: %s a time that changes gradually, or was disturbed: no stages (see the plot).\n", unit, what);
    else if (s->n == 1)
        fprintf(out, "%s: %s %s us, however long they were idle; a factor of %.2g would have been detected.\n", unit,
                what, estimates_text(&s->stage[0].first_us, 3, text[0]), s->detectable_ratio);
    else
        fprintf(out, "%s, idle for less than %s us: %s %s us.\n", unit,
                estimates_text(&s->stage[0].idle_to_us, 1, text[0]), what,
                estimates_text(&s->stage[0].first_us, 3, text[1]));
    for (size_t i = 1; i < s->n; i++)
        fprintf(out, "%s, idle for %s us or more: %s %s us%s.\n", unit,
                estimates_text(&s->stage[i].idle_from_us, 1, text[0]), what,
                estimates_text(&s->stage[i].first_us, 3, text[1]),
                i + 1 == s->n && s->n_warnings ? " (some of it changes gradually, or was disturbed)" : "");
}

void wake_findings(FILE *out, const struct table *t)
{
    struct wake_stages s;
    for (size_t row = 0, end; row < t->n_rows; row = end) {
        end = wake_rows_end(t, row);
        const char *unit = table_text(t, row, "unit");
        if (unit && wake_stages_of(t, unit, "first_us", &s) == 0)
            tell_stages(out, unit, "the first instruction takes", &s);
        if (unit && wake_stages_of(t, unit, "full_rate_us", &s) == 0)
            tell_stages(out, unit, "full rate comes after", &s);
    }
}
