/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/broken_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "computer/msr/msr_decode.h"

static void broken_info(const struct machine *m, struct machine_info *out)
{
    struct broken *b = m->state;
    b->inner.ops->info(&b->inner, out);
}

static const char *broken_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    struct broken *b = m->state;
    if (!b->as_timing)
        return b->inner.ops->lacks(&b->inner, id, remedy);
    if (remedy)
        *remedy = NULL;
    return id == COUNTER_CHAIN_TICKS || id == COUNTER_CHAIN_CYCLES ? NULL : "time stamps alone";
}

static int broken_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct broken *b = m->state;
    struct machine_setup setup = *s;
    b->setup = *s;
    memcpy(b->counters, s->counters, s->n_counters * sizeof *s->counters);
    b->setup.counters = setup.counters = b->counters;
    for (size_t i = 0; i < s->n_counters && b->as_timing; i++)
        b->counters[i].id = COUNTER_CYCLES; /* the inner machine has it */
    int status = b->inner.ops->prepare(&b->inner, &setup, err);
    memcpy(b->counters, s->counters, s->n_counters * sizeof *s->counters);
    return status;
}

static int column_of(const struct broken *b, enum counter_id id)
{
    for (size_t i = 0; i < b->setup.n_counters; i++)
        if (b->counters[i].id == id)
            return (int)i + 2;
    return -1;
}

static void change_clock(const struct broken *b, struct recording *rec, size_t i, double ticks_per_us)
{
    uint64_t *tsc = &rec->words[i * rec->stride];
    uint64_t step = (uint64_t)b->factor;
    if (b->fault == FAULT_TSC_STEP)
        *tsc -= *tsc % step;
    else if (b->fault == FAULT_TSC_BACK && i == rec->n / 2)
        *tsc -= (uint64_t)b->factor;
    else if (b->fault == FAULT_JITTER && i % 2 && i + 1 < rec->n)
        for (size_t c = 0; c < rec->stride; c++) /* a reading that is late is late in all of it */
            tsc[c] += (uint64_t)(b->factor * (double)(tsc[rec->stride + c] - tsc[c]));
    else if (b->fault == FAULT_INTERRUPTS)
        *tsc += (uint64_t)((double)(i / 12) * ticks_per_us);
    else if (b->fault == FAULT_LOST)
        *tsc += (uint64_t)((double)(i / 200) * b->factor * ticks_per_us);
}

static void change(struct broken *b, struct recording *rec)
{
    struct machine_info info;
    b->inner.ops->info(&b->inner, &info);
    double ticks_per_us = info.tsc_hz * 1e-6;
    int column = column_of(b, b->counter), cycles = column_of(b, COUNTER_CYCLES);
    int chain_ticks = column_of(b, COUNTER_CHAIN_TICKS), chain_cycles = column_of(b, COUNTER_CHAIN_CYCLES);
    for (size_t i = 0; i < rec->n; i++) {
        uint64_t *words = rec->words + i * rec->stride;
        if (b->as_timing && chain_ticks >= 0 && chain_cycles >= 0) {
            words[chain_cycles] *= CHAIN_CYCLE_UNIT;
            words[chain_ticks] = words[0];
        }
        if (column >= 0 && b->fault == FAULT_SCALED)
            words[column] = (uint64_t)((double)words[column] * b->factor);
        if (column >= 0 && b->fault == FAULT_STUCK)
            words[column] = 4711;
        if (column >= 0 && b->fault == FAULT_MISSING)
            words[column] = COUNTER_MISSING;
        if (column >= 0 && cycles >= 0 && b->fault == FAULT_ALL_CYCLES)
            words[column] = words[cycles];
        for (size_t c = 1; c < rec->stride && b->fault == FAULT_COST && b->setup.period_us <= 1; c++)
            words[c] = (uint64_t)((double)words[c] * b->factor);
        change_clock(b, rec, i, ticks_per_us);
    }
}

static int broken_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct broken *b = m->state;
    int status = b->inner.ops->run(&b->inner, r, out, err);
    if (status == MACHINE_OK)
        change(b, out);
    if (status == MACHINE_OK && b->fault == FAULT_SWITCHED)
        out->involuntary_switches = (double)(b->runs++ * 7 % 10) < b->factor * 10;
    return status;
}

static void broken_finish(struct machine *m)
{
    struct broken *b = m->state;
    b->inner.ops->finish(&b->inner);
}

static void broken_close(struct machine *m)
{
    struct broken *b = m->state;
    b->inner.ops->close(&b->inner);
}

static int broken_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    struct broken *b = m->state;
    int status = b->inner.ops->read_register(&b->inner, reg, value, err);
    if (b->fault == FAULT_REGISTER && reg == MSR_PERF_STATUS)
        *value = b->value;
    return status;
}

static int broken_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    struct broken *b = m->state;
    int status = b->inner.ops->read_energy(&b->inner, out, source, err);
    if (b->fault == FAULT_ENERGY)
        out->joules = -out->joules;
    return status;
}

static const struct machine_ops broken_ops = {.info = broken_info,
                                              .lacks = broken_lacks,
                                              .prepare = broken_prepare,
                                              .run = broken_run,
                                              .finish = broken_finish,
                                              .close = broken_close,
                                              .read_register = broken_register,
                                              .read_energy = broken_energy};

void broken_open(struct broken *b, struct machine *out)
{
    *out = (struct machine){.ops = &broken_ops, .state = b};
}
