/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table transitions for a person (transitions_text.c). */
#pragma once

#include "tables/table/table.h"

void transitions_print(FILE *out, bool colour, const struct table *t);
void transitions_findings(FILE *out, const struct table *t);
