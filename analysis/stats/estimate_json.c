/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value with its limits as JSON. */
#include "analysis/stats/estimate_json.h"

#include "util/json_lines.h"

void estimate_json_put(json_t *o, const char *key, const char *limits_key, const struct estimate *e, int digits,
                       bool *failed)
{
    const bool limits = isfinite(e->lo) && isfinite(e->hi);
    json_lines_put(o, key, json_lines_rounded(e->value, digits), failed);
    json_lines_put(o, limits_key,
                   limits ? json_pack("[o,o]", json_lines_rounded(e->lo, digits), json_lines_rounded(e->hi, digits))
                          : json_null(),
                   failed);
}
