/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which machine and which options a run belongs to, as JSON (characterize-run/1, doc/formats.md). */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "cli/measuring.h"
#include "cli/options/options.h"

/* A new reference; NULL: out of memory. */
json_t *run_identity(const struct options *o, const struct measuring *m);
/* Whether two agree. If not, one clause in `why`: what is different, here and there. */
int run_identity_differs(const json_t *here, const json_t *there, char *why, size_t size);
