/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes a picture in words: a line for each panel, series, point, bar, row of cells, name and remark. */
#pragma once

#include <stdio.h>

#include "tables/table/chart.h"

void chart_write_text(FILE *out, const struct chart *c);
