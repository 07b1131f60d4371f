/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What could not be measured: the items of a list, each reason once with all that it kept from being measured. */
#ifndef CHARACTERIZE_REPORT_MISSING_H
#define CHARACTERIZE_REPORT_MISSING_H

#include <stddef.h>
#include <stdio.h>

#include "output/report/report.h"
#include "output/report/report_words.h"

void report_missing(FILE *out, const struct report_words *w, const struct report_part *parts, size_t n);

#endif
