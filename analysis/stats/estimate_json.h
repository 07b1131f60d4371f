/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "analysis/stats/estimate.h"

/* A value under `key`, null where it was not measured, and its limits under `limits_key`, null where they are not both
 * known; with so many significant digits. Remembers a failure in *failed (util/json_lines.h). */
void estimate_json_put(json_t *o, const char *key, const char *limits_key, const struct estimate *e, int digits,
                       bool *failed);
