/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/wake/wake.h"

#include <jansson.h>

#include "analysis/stats/estimate_json.h"
#include "util/json_lines.h"

enum { DIGITS = 6 };

char *wake_to_json(const struct wake_stages *s, const struct wake_source *source)
{
    bool failed = false;
    json_t *root = json_pack("{s:s, s:o, s:o, s:o}", "format", "characterize-wake/1", "unit",
                             json_lines_text(source->unit), "cpu", json_lines_text(source->cpu), "machine",
                             json_lines_text(source->machine));
    if (source->environment != NULL)
        json_lines_put(root, "environment", json_lines_text(source->environment), &failed);
    json_lines_put(root, "points", json_integer((json_int_t)s->points), &failed);
    json_lines_put(root, "discarded", json_integer((json_int_t)s->discarded), &failed);
    json_lines_put(root, "mixed", json_integer((json_int_t)s->mixed), &failed);
    json_t *list = json_lines_array(root, "stages", &failed);
    for (size_t i = 0; i < s->n; i++) {
        const struct wake_stage *stage = &s->stage[i];
        json_t *o = json_object();
        estimate_json_put(o, "first_us", "first_us_ci95", &stage->first_us, DIGITS, &failed);
        estimate_json_put(o, "idle_from_us", "idle_from_us_ci95", &stage->idle_from_us, DIGITS, &failed);
        estimate_json_put(o, "idle_to_us", "idle_to_us_ci95", &stage->idle_to_us, DIGITS, &failed);
        json_lines_put(o, "n", json_integer((json_int_t)stage->n), &failed);
        json_lines_push(list, o, &failed);
    }
    json_lines_put(
        root, "detectable",
        json_pack("{s:o, s:i}", "ratio", json_lines_rounded(s->detectable_ratio, DIGITS), "points", WAKE_STAGE_LEAST),
        &failed);
    list = json_lines_array(root, "warnings", &failed);
    for (size_t i = 0; i < s->n_warnings; i++)
        json_lines_push(list, json_lines_text(s->warning[i]), &failed);
    return json_lines_dump(root, failed);
}
