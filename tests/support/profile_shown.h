/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's outputs for a result; all of them must succeed. */
#pragma once

#include <jansson.h>

#include "profiler/output/profile_parts.h"

/* To be freed. */
char *profile_text_of(const struct profile_result *r, bool colour, size_t most);
char *profile_csv_of(const struct profile_result *r);
char *profile_page_of(const struct profile_result *r);
/* Must be JSON in UTF-8, no key in it twice; json_decref(). */
json_t *profile_json_of(const struct profile_result *r);
