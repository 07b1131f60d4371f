/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sequence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drivers/native/plan.h"
#include "probes/transition.h"

static const enum counter_id wanted[SEQUENCE_COUNTERS_MAX] = {
    COUNTER_CYCLES, COUNTER_CHAIN_TICKS, COUNTER_CHAIN_CYCLES, COUNTER_READ_TICKS,
    COUNTER_LVL0,   COUNTER_LVL1,        COUNTER_LVL2,         COUNTER_THROTTLE};

int sequence_begin(struct sequence *s, struct machine *m, const struct machine_setup *setup, double sampled_us,
                   struct machine_error *err)
{
    struct machine_info info;
    struct machine_setup own = *setup;
    *s = (struct sequence){.machine = m};
    m->ops->info(m, &info);
    s->tsc_hz = info.tsc_hz;
    for (size_t i = 0; i < SEQUENCE_COUNTERS_MAX; i++)
        if (!m->ops->lacks(m, wanted[i], NULL))
            s->counters[s->n_counters++].id = wanted[i];
    own.counters = s->counters;
    own.n_counters = s->n_counters;
    /* a tenth more for a clock that is not quite what it should be, and what each segment adds of its own */
    own.max_samples = (size_t)(sampled_us / own.period_us * 1.1) + SEQUENCE_SEGMENTS_MAX * PACE_EXTRA;
    return m->ops->prepare(m, &own, err);
}

void sequence_end(struct sequence *s)
{
    s->machine->ops->finish(s->machine);
}

static int sequence_slot_of(const struct sequence *s, enum counter_id id)
{
    for (size_t i = 0; i < s->n_counters; i++)
        if (s->counters[i].id == id)
            return (int)i;
    return -1;
}

int sequence_trace(const struct sequence *s, struct trace *t)
{
    static const enum trace_channel share[COUNTER_IDS] = {[COUNTER_LVL0] = TRACE_LVL0,
                                                          [COUNTER_LVL1] = TRACE_LVL1,
                                                          [COUNTER_LVL2] = TRACE_LVL2,
                                                          [COUNTER_THROTTLE] = TRACE_THROTTLE};
    int bad = trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC);
    for (size_t i = 0; i < s->n_counters; i++)
        if (s->counters[i].id >= COUNTER_LVL0 && s->counters[i].id <= COUNTER_THROTTLE)
            bad |= trace_add_channel(t, share[s->counters[i].id]);
    bad |= trace_set(t, "sampler", "resumes at once");
    if (sequence_slot_of(s, COUNTER_CYCLES) <
        0) /* a chain at the end of each sample tells the frequency there, no mean */
        bad |= trace_set(t, "frequency", "instantaneous");
    return bad;
}

static void sequence_judge(const struct recording *rec, struct sequence_run *out)
{
    out->invalid[0] = '\0';
    if (rec->migrated)
        snprintf(out->invalid, sizeof out->invalid, "the thread ended on another CPU");
    else if (rec->involuntary_switches)
        snprintf(out->invalid, sizeof out->invalid, "taken off its CPU by the scheduler");
    else if (rec->page_faults)
        snprintf(out->invalid, sizeof out->invalid, "page faults");
    else if (rec->n < 2 || rec->zero_reading >= rec->n)
        snprintf(out->invalid, sizeof out->invalid, "nothing was recorded");
}

int sequence_record(struct sequence *s, const struct segment *segments, size_t n, size_t zero, struct trace *t,
                    struct sequence_run *out, struct machine_error *err)
{
    struct recording rec;
    struct run_request request = {.segments = segments,
                                  .n_segments = n,
                                  .zero_segment = zero,
                                  .phase = transition_phase(s->repetition),
                                  .repetition = s->repetition};
    int status = s->machine->ops->run(s->machine, &request, &rec, err);
    if (status != MACHINE_OK)
        return status;
    *out = (struct sequence_run){.run = s->repetition++, .cycles = NAN};
    sequence_judge(&rec, out);
    if (out->invalid[0])
        return MACHINE_OK;
    const uint64_t *first = rec.words, *at_zero = rec.words + rec.zero_reading * rec.stride;
    int cycles = sequence_slot_of(s, COUNTER_CYCLES);
    out->begin_us = (double)(int64_t)(first[0] - rec.zero_tsc) / s->tsc_hz * 1e6;
    out->instructions = (double)(at_zero[1] - first[1]);
    if (cycles >= 0 && first[2 + cycles] != COUNTER_MISSING && at_zero[2 + cycles] != COUNTER_MISSING)
        out->cycles = (double)(at_zero[2 + cycles] - first[2 + cycles]);
    struct machine_info info;
    s->machine->ops->info(s->machine, &info);
    if (t && (transition_append(t, out->run, &rec, s->counters, s->n_counters, s->tsc_hz, -INFINITY, out->invalid) ||
              transition_note_clock(t, &info)))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return MACHINE_OK;
}
