/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/part.h"

#include <stdlib.h>
#include <string.h>

void part_free(struct trace *out)
{
    free(out->run);
    free(out->time_us);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        free(out->channel[c]);
    memset(out, 0, sizeof *out);
}

struct trace part_told_by(const struct trace *null, const struct trace *t)
{
    struct trace named = null ? *null : *t;
    named.meta = t->meta;
    named.n_meta = t->n_meta;
    memcpy(named.number, t->number, sizeof named.number);
    return named;
}

int part_begin(const struct trace *t, struct trace *out)
{
    *out = *t;
    out->run = t->run ? malloc((t->n + 1) * sizeof *out->run) : NULL;
    out->time_us = malloc((t->n + 1) * sizeof *out->time_us);
    bool bad = !out->time_us || (t->run && !out->run);
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        out->channel[c] = t->channel[c] ? malloc((t->n + 1) * sizeof *out->channel[c]) : NULL;
        bad = bad || (t->channel[c] && !out->channel[c]);
    }
    out->n = out->n_extra = 0;
    out->capacity = t->n;
    if (bad)
        part_free(out);
    return bad ? -1 : 0;
}

void part_take(const struct trace *t, size_t i, struct trace *out)
{
    size_t n = out->n++;
    out->time_us[n] = t->time_us[i];
    if (t->run)
        out->run[n] = t->run[i];
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            out->channel[c][n] = t->channel[c][i];
}
