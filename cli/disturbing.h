/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --interference: a busy machine around what is measured. All: DONE, or an exit status after a line. */
#pragma once

#include <stddef.h>

#include "cli/options/options.h"
#include "computer/interference/interference.h"

/* Before anything is changed or pinned. *out is NULL where none is needed, which the others allow; `text`: "", or what
 * it will be, in words. */
int disturbing_ready(const struct options *o, struct interferer **out, char *text, size_t size);
int disturbing_begin(struct interferer *i);
/* FAILED also if it had ended before: the measurement was then not disturbed as requested. */
int disturbing_end(struct interferer *i);
