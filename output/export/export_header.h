/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters as a C header without dependencies (doc/export-format.md). */
#ifndef CHARACTERIZE_EXPORT_HEADER_H
#define CHARACTERIZE_EXPORT_HEADER_H

#include <stddef.h>
#include <stdio.h>

#include "output/export/schedule.h"

/*
 * Writes the header: the template data/export/header.h.in with the parameters. What contradicts itself is refused as
 * in export_to_json, whose text the hash in the header is of. Returns 0, or -1 with one line in `why`; nothing is
 * written then unless the stream failed.
 */
int export_header(const struct schedule *s, FILE *out, char *why, size_t why_size);

#endif
