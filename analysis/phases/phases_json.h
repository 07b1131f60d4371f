/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phases file (doc/formats.md): struct phases as JSON text. */
#ifndef CHARACTERIZE_PHASES_JSON_H
#define CHARACTERIZE_PHASES_JSON_H

#include "analysis/phases/phases.h"

/* Allocated with malloc, ending in a newline; NULL when out of memory. */
char *phases_to_json(const struct phases *p);

#endif
