/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reader of JSON against every single change of a file that it takes: each value (of lists the first) is left out, or
 * becomes null, -1, 1e300, a text, a list, an object, or twice as long. A line for each value has what the reader says.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* read: "" where the changed file is taken, else why not. */
void json_changes_write(FILE *out, json_t *root, void (*read)(void *data, const json_t *root, char *why, size_t size),
                        void *data);
