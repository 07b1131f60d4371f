/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters as a C header without dependencies and as JSON, characterize-export/1 (doc/export-format.md). */
#pragma once

#include <stddef.h>

#include "output/export/schedule.h"

/*
 * The JSON, ending in a newline; allocated with malloc. The same parameters give the same bytes: its SHA-256 names the
 * measurement. NULL with one line in `why`: the parameters contradict each other (schedule_check_consistent), or no
 * memory.
 */
char *export_to_json(const struct schedule *s, char *why, size_t why_size);

/*
 * The header likewise: the template data/export/header.h.in, which must be there, with the parameters and the hash of
 * their JSON.
 */
char *export_to_header(const struct schedule *s, char *why, size_t why_size);
