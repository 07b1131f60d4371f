/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that becomes of a table that was not measured, in words: what is concluded, printed, told and drawn of it. */
#pragma once

#include <stdio.h>

#include "tests/support/made_tables.h"

void made_write_text(FILE *out, const struct table_kind *k, struct made_case *c);
