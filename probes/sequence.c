/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequences of kernels, one repetition at a time, the last kernel sampled. */
#include "probes/sequence.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES_MORE = 16 }; /* of a segment */

int sequence_begin(struct sequence *s, struct machine *m, const struct machine_setup *setup, double sampled_us,
                   struct machine_error *err)
{
    struct machine_info info;
    struct machine_setup own = *setup;
    *s = (struct sequence){.machine = m};
    m->ops->info(m, &info);
    s->tsc_hz = info.tsc_hz;
    s->n_counters = repetitions_counters(m, true, NULL, 0, s->counters);
    own.counters = s->counters;
    own.n_counters = s->n_counters;
    /* a tenth more for a clock that is not quite what it should be, and what each segment adds of its own */
    own.max_samples = (size_t)(sampled_us / own.period_us * 1.1) + SEQUENCE_SEGMENTS_MAX * SAMPLES_MORE;
    return m->ops->prepare(m, &own, err);
}

void sequence_end(struct sequence *s)
{
    s->machine->ops->finish(s->machine);
}

int sequence_trace(const struct sequence *s, struct trace *t)
{
    return from_recording_begin(t, s->counters, s->n_counters);
}

int sequence_record(struct sequence *s, const struct segment *segments, size_t n, size_t zero, struct trace *t,
                    struct sequence_run *out, struct machine_error *err)
{
    struct recording rec;
    struct run_request request = {
        .segments = segments, .n_segments = n, .zero_segment = zero, .repetition = s->repetition};
    int status = s->machine->ops->run(s->machine, &request, &rec, err);
    if (status != MACHINE_OK)
        return status;
    *out = (struct sequence_run){.run = s->repetition++, .cycles = NAN};
    if (s->patient)
        rec.involuntary_switches = 0;
    const char *why = recording_disturbed(&rec);
    if (!why && (rec.n < 2 || rec.zero_reading >= rec.n))
        why = "nothing was recorded";
    if (why) {
        snprintf(out->invalid, sizeof out->invalid, "%s", why);
        return MACHINE_OK;
    }
    const uint64_t *first = rec.words, *at_zero = recording_at(&rec, rec.zero_reading);
    out->begin_us = recording_time_us(&rec, first[RECORDING_TSC], s->tsc_hz);
    out->instructions = recording_difference(at_zero, first, RECORDING_INSTRUCTIONS);
    out->cycles = recording_difference(at_zero, first, recording_word(s->counters, s->n_counters, COUNTER_CYCLES));
    struct machine_info info;
    s->machine->ops->info(s->machine, &info);
    const struct recording_form form = {.counters = s->counters,
                                        .n_counters = s->n_counters,
                                        .tsc_hz = s->tsc_hz,
                                        .from_us = -INFINITY,
                                        .tolerant = s->tolerant};
    if (t && (from_recording_append(t, out->run, &rec, &form, out->invalid) || repetitions_note_clock(t, &info)))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return MACHINE_OK;
}
