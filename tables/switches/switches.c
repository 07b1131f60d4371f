/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tables about switches: setups, rows and settings. */
#include "tables/switches/switches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"

/* Recorded after a switch, us: where the core may rise, twice the usual wait of 650 us, and room; else longer than a
 * transition takes, less than the 100 us for which it was watched (G 3.2.2). */
#define RISE_US 1500.0
#define FALL_US 150.0
#define SECONDS_OF_CELL                                                                                                \
    0.1 /* beside the repetitions: to prepare the machine twice, to see either kernel alone, to find the phases */

static bool heavy(const struct payload *p)
{
    return p->kernel->weight == KERNEL_HEAVY && p->density <= 2; /* one in two cycles, as the probe has it */
}

static bool may_rise(const struct payload *from, const struct payload *to)
{
    if (from->kernel->width <= 128 && !from->dirty)
        return false;
    return from->kernel->width > to->kernel->width || (heavy(from) && !heavy(to)) || (from->dirty && !to->dirty);
}

/*
 * The setup of a cell. Recorded are 150 us after the switch, or 1.5 ms where the core might rise: always but where the
 * second kernel is at least as wide and as heavy as the first, or the first no wider than 128 bits (no processor is
 * known to slow down for those; Skylake-SP dissertation, section 3.2.1).
 */
static struct transition_setup setup_of(const struct tables_context *x, const char *table, const struct cell *c,
                                        const struct switches_wish *w)
{
    const struct tables_options *o = x->options;
    struct transition_setup s;
    transition_defaults(&s, &c->a, &c->b);
    s.usual_us = may_rise(&c->a, &c->b) && !w->fall_only ? RISE_US : FALL_US;
    s.runs = o->runs ? o->runs : w->runs;
    s.warmup_us = o->warmup_us > 0 ? o->warmup_us : s.warmup_us;
    s.period_us = o->period_us > 0 ? o->period_us : s.period_us;
    s.machine = tables_setup(x, table, c);
    s.no_volts = !w->volts;
    s.observe_us = o->observe_us > 0 ? o->observe_us : s.usual_us;
    s.volt_readings = w->volt_readings;
    return s;
}

int switches_see(const struct tables_context *x, const char *table, const struct cell *c, const struct switches_wish *w,
                 struct switches_seen *out, struct machine_error *err)
{
    struct tables_context own = *x;
    const struct guard g = {.machine = x->machine,
                            .warmup_given = x->options->warmup_us > 0,
                            .observe_given = x->options->observe_us > 0,
                            .period_given = x->options->period_us > 0,
                            .runs_given = x->options->runs > 0,
                            .fall_only = w->fall_only,
                            .uniform = w->volts,
                            .progress = tables_on_progress,
                            .data = &own};
    struct transition_setup s = setup_of(x, table, c, w);
    return guarded_switch(&g, &s, out, err);
}

int switches_look(const struct tables_context *x, const char *table, const struct cell *c, const struct payload *from,
                  const struct payload *to, unsigned runs, double observe_us, bool fall, struct switches_seen *out,
                  struct machine_error *err)
{
    struct tables_context own = *x;
    struct transition_setup s;
    const struct guard g = {.machine = x->machine,
                            .runs_given = true, /* so many suffice */
                            .fall_only = fall,
                            .progress = tables_on_progress,
                            .data = &own};
    transition_defaults(&s, from, to);
    s.runs = runs;
    s.no_volts = true;
    s.machine = tables_setup(x, table, c);
    s.observe_us = s.usual_us = observe_us;
    return guarded_switch(&g, &s, out, err);
}

int switches_put_phases(struct table *rows, const char *key, const struct switches_seen *s, struct machine_error *err)
{
    char *json = phases_to_json(&s->phases);
    if (!json)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    table_set_detail(rows, key, json);
    free(json);
    return MACHINE_OK;
}

int switches_measure_rows(const struct tables_context *x, const char *table, const struct cell *c,
                          const struct switches_wish *w, switches_put *put, struct table *rows,
                          struct machine_error *err)
{
    struct switches_seen seen;
    int status = switches_see(x, table, c, w, &seen, err);
    if (status != MACHINE_OK)
        return status;
    status = put(rows, c, &seen, err);
    if (status == MACHINE_OK)
        status = switches_put_phases(rows, c->id, &seen, err);
    guarded_free(&seen);
    return status;
}

int switches_add(const struct tables_context *x, struct cells *out, const struct payload *a, const struct payload *b,
                 unsigned cores, const struct switches_wish *w)
{
    struct cell *c = tables_add_cell(out, a, b, cores, "%s_%s_%u", a->name, b->name, cores);
    if (!c)
        return -1;
    struct transition_setup s = setup_of(x, "", c, w);
    double readings = !w->volts          ? 0
                      : w->volt_readings ? w->volt_readings
                                         : fmin(2000, 2 * (s.before_us + s.observe_us) / s.period_us);
    c->seconds = SECONDS_OF_CELL + (s.runs + readings) * (s.warmup_us + s.before_us + s.observe_us) * 1e-6;
    return 0;
}

int switches_add_all(const struct tables_context *x, struct cells *out, const struct payload *kernels, size_t n,
                     const unsigned *cores, size_t n_cores, const struct switches_wish *w)
{
    for (size_t c = 0; c < n_cores; c++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (i != j && switches_add(x, out, &kernels[i], &kernels[j], cores[c], w))
                    return -1;
    return 0;
}

void switches_note(const struct tables_context *x, const struct switches_wish *w, struct table *t)
{
    const struct payload scalar = kernel_named("64add"), wide = kernel_named("512fma");
    struct cell fall = {.a = scalar, .b = wide, .cpu = -1}, rise = {.a = wide, .b = scalar, .cpu = -1};
    struct transition_setup s = setup_of(x, t->name, &fall, w);
    table_set_setting_number(t, "runs", s.runs);
    table_set_setting_number(t, "period_us", s.period_us);
    table_set_setting_number(t, "warmup_us", s.warmup_us);
    table_set_setting_number(t, "observe_us", s.observe_us);
    if (!w->fall_only)
        table_set_setting_number(t, "observe_rise_us", setup_of(x, t->name, &rise, w).observe_us);
}

void switches_put_keys(struct table *rows, const struct cell *c, const struct switches_seen *s)
{
    tables_put_cell(rows, c);
    if (table_has(rows, "runs"))
        table_put_number(rows, "runs", s->setup.runs);
    if (table_has(rows, "discarded"))
        table_put_number(rows, "discarded", (double)s->discarded);
}

unsigned switches_cores(const struct table *t, size_t row)
{
    double cores = table_number(t, row, "active_cores");
    return isfinite(cores) && cores > 0 ? (unsigned)cores : 0;
}

size_t switches_core_counts(const struct table *t, unsigned *out, size_t max)
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        unsigned cores = switches_cores(t, row);
        size_t at = 0;
        while (at < n && out[at] < cores)
            at++;
        if ((at < n && out[at] == cores) || n == max)
            continue;
        memmove(out + at + 1, out + at, (n - at) * sizeof *out);
        out[at] = cores;
        n++;
    }
    return n;
}
