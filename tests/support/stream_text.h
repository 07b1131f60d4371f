/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures as text what is written to a stream. */
#pragma once

#include <stdio.h>

#include "tables/table/chart.h"

struct stream_text {
    FILE *out;
    char *text;
    size_t size;
};

/* The stream; what it got, to be freed. */
FILE *stream_text_open(struct stream_text *s);
char *stream_text_close(struct stream_text *s);

/* A chart's script, as SVG, to be freed; the chart is freed. It must have been described with status 0, else `why`. */
char *chart_text(struct chart *c, int status, const char *why);

/* Fails where one has more columns than `most`, in UTF-8. */
void no_line_is_longer_than(size_t most, const char *text);
