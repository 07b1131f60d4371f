/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intel's policy reimplemented in software (Khalil, "Analysis and Optimization of Dynamic Voltage and Frequency Scaling
 * for AVX Workloads Using a Software-Based Reimplementation", 2019): an interrupt at the first 512-bit instruction, and
 * a look at the floating-point throughput every 100 us.
 */
#include "schedulers/simulate/engine.h"

static const int64_t look_ps = 100 * SIM_PS_PER_US, release_ps = 666 * SIM_PS_PER_US;

static bool runs_512(const struct engine_cpu *u)
{
    return u->task != SIM_IDLE && (u->class == SIM_512LIGHT || u->class == SIM_512HEAVY);
}

/* More than one 512-bit floating-point instruction a cycle since the last look. ipc is in thousandths. */
static void software_look(struct engine *e, struct engine_core *c)
{
    c->is_heavy = c->is_heavy || c->instructions > 1000 * c->cycles;
    c->instructions = c->cycles = 0;
    c->look_at = e->now + look_ps;
}

void software_update(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    bool running = false;
    unsigned slowest = e->n_levels - 1;
    for (unsigned i = 0; i < c->n_cpus; i++)
        running = running || runs_512(&e->cpu[e->member[c->first + i]]);
    if (running && !c->running_512) {
        engine_core_flush(e, core);
        c->running_512 = true;
        c->is_heavy = false;
        c->instructions = c->cycles = 0;
        c->first_look = e->now;
        c->look_at = e->now + look_ps;
    } else if (running && c->look_at <= e->now) {
        engine_core_flush(e, core);
        software_look(e, c);
    } else if (!running && c->running_512) {
        c->running_512 = false;
        c->look_at = SIM_FOREVER;
    }
    unsigned demand = c->is_heavy ? 2 : 1;
    for (unsigned i = 0; i < c->n_cpus; i++) {
        struct engine_cpu *u = &e->cpu[e->member[c->first + i]];
        u->demand = (uint8_t)(!runs_512(u) ? 0 : demand < slowest ? demand : slowest);
    }
}

int64_t software_hold(const struct engine_core *c, int64_t now)
{
    int64_t after = now + release_ps - c->first_look;
    return c->first_look + (after + look_ps - 1) / look_ps * look_ps;
}
