/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libFuzzer target: any values as a trace, without the detour over text: two bytes a field, so that a small input is a
 * long recording. All that the reader lets through occurs: missing values, zeros, negative ones, up to 1e30, times that
 * stand still.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at, *end;
};

static unsigned take(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Mostly plausible values near one another, now and then any. */
static float take_value(struct bytes *b)
{
    static const float odd[] = {0, -1, 1e-30f, 1e30f, -1e30f, 1e-4f, 1, 0.5f};
    unsigned first = take(b), second = take(b);
    if (first == 0xff)
        return NAN;
    if (first >= 0xf8)
        return odd[first & 7u];
    return (float)(1 + (first >> 4)) * (1 + (float)second / 4096);
}

static double take_length(struct bytes *b)
{
    unsigned v = take(b);
    if (v < 0xc0)
        return 1 + (double)(v & 7u) / 64;
    return v == 0xff ? 0 : ldexp(1, (int)(v & 31u) - 8);
}

static int fill(struct bytes *b, struct trace *t)
{
    unsigned columns = take(b), form = take(b);
    uint32_t run = 0;
    double time = -(double)take(b);
    trace_init(t);
    if (!(columns & 0x7fu))
        columns = 3;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (columns & (1u << c) && trace_add_channel(t, (enum trace_channel)c))
            return -1;
    if (form & 1u && trace_add_run(t))
        return -1;
    if (form & 2u && (trace_set(t, "from", "a") || trace_set(t, "to", "b")))
        return -1;
    if (form & 4u && trace_set(t, "frequency", "instantaneous"))
        return -1;
    if (form & 8u && trace_set(t, "sampler", "resumes at once"))
        return -1;
    unsigned length = 8 + (form >> 4) * 8; /* of a repetition */
    for (unsigned i = 0; b->at < b->end; i++) {
        if (t->run && i == length) {
            i = 0;
            run++;
            time = -(double)length / 3;
        }
        time += take_length(b);
        if (trace_append(t, run, time))
            return -1;
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                t->channel[c][t->n - 1] = take_value(b);
    }
    return 0;
}

/* Phases are in order and last. */
static void broken(const struct phases *p, size_t i)
{
    fprintf(stderr, "broken promise: phase %zu of %zu (%s) begins at %g and lasts %g\n", i, p->n_phases,
            phases_kind_name(p->phases[i].kind), p->phases[i].start_us, p->phases[i].duration_us.value);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, data + size};
    struct trace t;
    struct phases p;
    char why[300] = "";
    if (!fill(&b, &t) && t.n) {
        if (!phases_find(&t, &p, why, sizeof why)) {
            for (size_t i = 0; i < p.n_phases; i++)
                if (!(p.phases[i].duration_us.value >= 0) || !isfinite(p.phases[i].start_us))
                    broken(&p, i);
            char *json = phases_to_json(&p);
            if (!json)
                abort();
            free(json);
            phases_free(&p);
        } else if (!*why) {
            abort();
        }
    }
    trace_free(&t);
    return 0;
}
