/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_machine.h"

#include <math.h>
#include <stdio.h>

#include "computer/msr/msr_decode.h"

enum { GROUPS = 8 };
static const double BUS_GHZ = 0.1, VOLTS_UNIT = 0x1p-13;

static uint64_t ratio(double ghz)
{
    return (uint64_t)lround(ghz / BUS_GHZ) & 0xff;
}

static uint64_t perf_status(struct model_core *c)
{
    double volts = model_core_volts(c);
    if (c->model->volts_noise > 0)
        volts += c->model->volts_noise * model_random_normal(&c->streams[MODEL_STREAM_VOLTAGE]);
    return (uint64_t)lround(volts / VOLTS_UNIT) << 32 | ratio(model_core_ghz(c)) << 8;
}

/* Groups beyond the last row repeat it, as the real register does. */
static uint64_t model_registers_by_group(const struct model *m, bool counts)
{
    uint64_t value = 0;
    for (size_t i = 0; i < GROUPS; i++) {
        const struct model_turbo *t = &m->turbo[i < m->n_turbo ? i : m->n_turbo - 1];
        value |= (counts ? t->cores.hi & 0xff : ratio(t->ghz[0])) << (8 * i);
    }
    return value;
}

static uint64_t by_core(const struct model *m)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < GROUPS && i < m->cores; i++)
        value |= ratio(model_ghz(m, 0, i + 1)) << (8 * i);
    return value;
}

static int no_register(const struct model *m, uint32_t reg, const char *why, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT,
                        "models have 198H, CEH, 1ADH and 1AEH, with a section [power] also 606H and 611H",
                        "the modelled %s has no such MSR: %XH%s", m->cpu_name, reg, why);
}

int model_register_read(struct model_core *c, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    const struct model *m = c->model;
    bool groups = m->turbo_layout == MODEL_TURBO_GROUPS;
    if ((reg == MSR_TURBO_RATIOS || reg == MSR_TURBO_RATIOS_1) && groups && m->n_turbo > GROUPS)
        return no_register(m, reg, " (its turbo table has more than 8 rows)", err);
    if (reg == MSR_PERF_STATUS)
        *value = perf_status(c);
    else if (reg == MSR_PLATFORM_INFO)
        *value = ratio(m->base_ghz[0]) << 8;
    else if (reg == MSR_TURBO_RATIOS && groups)
        *value = model_registers_by_group(m, false);
    else if (reg == MSR_TURBO_RATIOS && m->turbo_layout == MODEL_TURBO_CORES)
        *value = by_core(m);
    else if (reg == MSR_TURBO_RATIOS_1 && groups)
        *value = model_registers_by_group(m, true);
    else
        return no_register(m, reg, "", err);
    return MACHINE_OK;
}

int model_speed_select(struct machine *machine, struct rated_limits *out, struct machine_error *err)
{
    const struct model *m = &((const struct model_state *)machine->state)->model;
    if (!m->speed_select || m->n_turbo > MSR_TURBO_ROWS_MAX)
        return machine_fail(err, MACHINE_CANNOT, "speed_select = yes in section [cpu] of its model file",
                            "the modelled %s has no Speed Select", m->cpu_name);
    for (size_t level = 0; level < m->n_levels && level < MODEL_LEVELS_MAX; level++) {
        struct rated_table *t = &out->tables[level];
        snprintf(t->name, sizeof t->name, "%s", rated_base_name(level));
        for (t->n = 0; t->n < m->n_turbo; t->n++)
            t->rows[t->n] = (struct msr_turbo_row){m->turbo[t->n].cores.lo, m->turbo[t->n].cores.hi,
                                                   m->turbo[t->n].ghz[level]};
        out->base_ghz[level] = m->base_ghz[level];
    }
    snprintf(out->source, sizeof out->source, "modelled Speed Select");
    return MACHINE_OK;
}
