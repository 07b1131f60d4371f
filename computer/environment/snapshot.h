/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The snapshot: the settings under which a result was measured (doc/quiet-machine.md, "The snapshot"). */
#pragma once

#include <jansson.h>

#include "computer/environment/environment.h"

/* The members as JSON, null where not readable; a new reference, NULL: out of memory. */
json_t *snapshot_json(const struct environment *e);
/* The same in one line, without what is not known. */
void snapshot_line(const struct environment *e, char *out, size_t size);
/* Lists the differences of two lines, as "governor powersave, there performance; EPP performance, there unknown; ...":
 * false and "" where they do not. An empty line says nothing, and differs from none. */
bool snapshot_differs(const char *here, const char *there, char *out, size_t size);

/*
 * The facts of this computer as they are now, while it is measured, for one of its CPUs; -1: the one
 * that would be measured (cpu_choose). environment_free() is not needed.
 */
void snapshot_take(int cpu, struct environment *out);
enum { SNAPSHOT_LINE = 1000 };
void snapshot_take_line(int cpu, char *out, size_t size);
