/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_workload.h"

/* Shared by the rows of one workload. */
struct rows_style {
    double shortest, longest; /* ps */
    int64_t unit;             /* ps */
    double idle, wide, none;  /* shares of the rows: idle, of a wide class, of no length */
    bool moving;              /* tasks from CPU to CPU */
    int few_classes;          /* so many of the widest; 0: all */
};

struct random_shape random_shape(struct rng *r)
{
    struct random_shape s = {.in_turn = rng_chance(r, 0.3)};
    int ways = rng_chance(r, 0.45) ? 1 : rng_chance(r, 0.7) ? 2 : 4;
    s.cores = (unsigned)rng_int(r, 1, ways == 1 ? 6 : ways == 2 ? 3 : 2);
    s.cpus = s.cores * (unsigned)ways;
    if (ways > 1 && rng_chance(r, 0.2)) /* one core has a CPU less than the others */
        s.cpus--;
    return s;
}

static struct rows_style draw_style(struct rng *r)
{
    static const int64_t units[] = {1, 1000, SIM_PS_PER_US, 10 * SIM_PS_PER_US, 50 * SIM_PS_PER_US};
    struct rows_style s = {.unit = units[rng_int(r, 0, 4)], .moving = rng_chance(r, 0.5)};
    s.shortest = rng_chance(r, 0.7) ? rng_log(r, 1e6, 1e8) : rng_log(r, 1e3, 1e6);
    s.longest = s.shortest * rng_log(r, 2, 1e4);
    if (s.longest > 3e9)
        s.longest = 3e9;
    s.idle = rng_chance(r, 0.3) ? 0 : rng_range(r, 0, 0.6);
    s.wide = rng_log(r, 0.02, 0.9);
    s.none = rng_chance(r, 0.5) ? 0 : 0.1;
    s.few_classes = rng_int(r, 0, 4);
    return s;
}

static struct sim_row draw_row(struct rng *r, const struct rows_style *s, const struct sim_workload *w, unsigned cpu,
                               bool plain)
{
    struct sim_row row = {.ps = (int64_t)rng_log(r, s->shortest, s->longest)};
    row.ps = rng_chance(r, s->none) ? 0 : (row.ps + s->unit - 1) / s->unit * s->unit;
    row.task = s->moving ? (uint32_t)rng_int(r, 0, (int)w->n_tasks - 1) : cpu % (uint32_t)w->n_tasks;
    if (rng_chance(r, s->idle)) {
        row.task = SIM_IDLE;
        return row;
    }
    if (rng_chance(r, s->wide) && !plain)
        row.class = (unsigned)rng_int(r, s->few_classes ? SIM_CLASSES - s->few_classes : 1, SIM_CLASSES - 1) & 7;
    if (w->has_ipc)
        row.ipc = (uint16_t)(rng_chance(r, 0.05) ? rng_int(r, 1, 16000) : rng_int(r, 300, 3000));
    if (w->has_stall && rng_chance(r, 0.6))
        row.stall = (unsigned)(rng_chance(r, 0.1) ? rng_int(r, 0, 1000) : rng_int(r, 0, 600)) & 1023;
    return row;
}

void random_workload(struct memory_workload *m, struct rng *r, struct random_shape shape, const struct slow_params *p,
                     bool plain)
{
    struct rows_style style = draw_style(r);
    uint32_t recorded = rng_chance(r, 0.5) ? slow_params_speed(p, 0, 1) : (uint32_t)rng_int(r, 10000, 45000);
    bool alike = rng_chance(r, 0.25);
    memory_workload_make(m, shape.cpus, shape.cores, shape.in_turn, (size_t)rng_int(r, 1, 7), recorded);
    m->at_once = rng_chance(r, 0.5) ? 0 : (size_t)rng_int(r, 1, 5);
    m->w.has_ipc = rng_chance(r, 0.8);
    m->w.has_stall = rng_chance(r, 0.4);
    if (rng_chance(r, 0.3))
        m->w.active_cores = (unsigned)rng_int(r, (int)shape.cores, (int)slow_params_cores(p));
    for (unsigned cpu = 0; cpu < shape.cpus; cpu++) {
        size_t n = rng_chance(r, 0.05) ? 0 : (size_t)(rng_chance(r, 0.4) ? rng_log(r, 1, 200) : rng_int(r, 50, 200));
        bool again = alike && cpu > 0 && rng_chance(r, 0.8);
        for (size_t i = 0; i < (again ? m->stream[0].n : n); i++) {
            struct sim_row row = draw_row(r, &style, &m->w, cpu, plain);
            if (again) {
                row.ps = m->stream[0].rows[i].ps;
                if ((row.task == SIM_IDLE) != (m->stream[0].rows[i].task == SIM_IDLE))
                    row.task = m->stream[0].rows[i].task;
            }
            if (again && row.task != SIM_IDLE && row.ipc == 0)
                row = m->stream[0].rows[i];
            memory_workload_add(m, cpu, row);
        }
    }
}
