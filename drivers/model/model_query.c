/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Derives from a model file, by arithmetic alone: frequencies, voltages, rates, needs, energies. */
#include "drivers/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int model_class_index(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_classes; i++)
        if (strcmp(m->classes[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool model_range_has(const struct model_range *r, unsigned n)
{
    return n >= r->lo && n <= r->hi;
}

const struct model_unlike *model_unlike_of(const struct model *m, int cpu)
{
    for (size_t i = 0; i < m->n_unlike; i++)
        if (cpu >= 0 && model_range_has(&m->unlike[i].cpus, (unsigned)cpu))
            return &m->unlike[i];
    return NULL;
}

double model_ghz(const struct model *m, unsigned level, unsigned cores)
{
    for (size_t i = 0; i < m->n_turbo; i++)
        if (model_range_has(&m->turbo[i].cores, cores))
            return m->turbo[i].ghz[level];
    return m->base_ghz[level];
}

double model_mean_ghz(const struct model *m, unsigned level, unsigned cores)
{
    return model_ghz(m, level, cores) * (1 - m->spread / 2);
}

double model_volts(const struct model *m, double ghz)
{
    const struct model_point *p = m->points;
    if (ghz <= p[0].ghz)
        return p[0].volts;
    for (size_t i = 1; i < m->n_points; i++)
        if (ghz <= p[i].ghz) {
            double along = (ghz - p[i - 1].ghz) / (p[i].ghz - p[i - 1].ghz);
            return p[i - 1].volts + along * (p[i].volts - p[i - 1].volts);
        }
    return p[m->n_points - 1].volts;
}

struct model_step_variant model_step_figures(const struct model_step *s, unsigned cores)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (model_range_has(&s->variants[i].cores, cores))
            return s->variants[i];
    return (struct model_step_variant){{1, MODEL_CORES_MAX}, s->ratio, s->us, s->line};
}

double model_wait_us(const struct model *m, unsigned class_)
{
    return m->classes[class_].wait_us > 0 ? m->classes[class_].wait_us : m->wait_us;
}

unsigned model_dirty_class(const struct model *m, unsigned width)
{
    for (size_t i = 0; i < m->n_dirty; i++)
        if (m->dirty[i].width == width)
            return m->dirty[i].class_;
    return 0;
}

/* "512fma-lat", "512fma@mem" and "512fma" share one entry; a block from a file has that of the kernel it is like. */
static const struct model_kernel *find_kernel(const struct model *m, const struct kernel *k)
{
    const char *name = k->like != NULL ? k->like : k->name;
    size_t length = strcspn(name, "-@");
    for (size_t i = 0; i < m->n_kernels; i++)
        if (strlen(m->kernels[i].name) == length && strncmp(m->kernels[i].name, name, length) == 0)
            return &m->kernels[i];
    return NULL;
}

/* Instructions of a payload for each counted one. */
static double spacing(const struct payload *p)
{
    return p->counted > 0 && p->counted < p->instructions ? (double)p->instructions / p->counted : 1;
}

static int check_runs(const struct model *m, const struct payload *p, struct machine_error *err)
{
    unsigned lacking = p->kernel->features & ~m->features;
    char names[80], remedy[160];
    if (lacking) {
        kernel_feature_names(lacking, names, sizeof names);
        snprintf(remedy, sizeof remedy, "choose narrower kernels, or a model with %s", names);
        return machine_fail(err, MACHINE_CANNOT, remedy, "the modelled %s cannot run %s: it has no %s", m->cpu_name,
                            p->name, names);
    }
    if (!find_kernel(m, p->kernel)) {
        snprintf(remedy, sizeof remedy, "add a line '%.*s = THROUGHPUT LATENCY  # source' to its section [ipc]",
                 (int)strcspn(p->kernel->name, "-@"), p->kernel->name);
        return machine_fail(err, MACHINE_CANNOT, remedy,
                            "the modelled %s cannot run %s: its model file has no rate for this kernel", m->cpu_name,
                            p->name);
    }
    return MACHINE_OK;
}

/* That of "512fma@l3", else of "512fma", else of all code of this kind. */
static const struct model_demand *find_demand(const struct model *m, const struct kernel *k)
{
    const struct model_demand *of_kind = NULL, *of_stem = NULL;
    const char *name = k->like != NULL ? k->like : k->name;
    size_t whole = strcspn(name, "-"), stem = strcspn(name, "-@");
    for (size_t i = 0; i < m->n_demands; i++) {
        const struct model_demand *d = &m->demands[i];
        if (d->width != k->width || d->weight != k->weight)
            continue;
        size_t length = strlen(d->kernel);
        if (length == whole && strncmp(d->kernel, name, length) == 0)
            return d;
        if (length == stem && strncmp(d->kernel, name, length) == 0)
            of_stem = d;
        if (length == 0)
            of_kind = d;
    }
    return of_stem ? of_stem : of_kind;
}

int model_need(const struct model *m, const struct payload *p, struct model_need *out, struct machine_error *err)
{
    int status = check_runs(m, p, err);
    if (status != MACHINE_OK)
        return status;
    const struct model_kernel *k = find_kernel(m, p->kernel);
    double per_counted = p->kernel->latency_bound ? k->latency : 1 / k->throughput;
    double n = spacing(p);
    /* one counted instruction and n - 1 scalar adds: whichever of the unit, the adds and the issue takes longest */
    double cycles = fmax(fmax(per_counted, n / m->issue_width), p->kernel->chained_adds ? n - 1 : 0);
    *out = (struct model_need){.ipc = n / cycles, .counted_ipc = 1 / cycles};
    const struct model_demand *d = find_demand(m, p->kernel);
    if (!d)
        return MACHINE_OK;
    /* a rate that just meets the threshold must not miss it by rounding */
    bool dense = out->counted_ipc >= d->rate * (1 - 1e-9);
    out->later = dense ? d->class_ : d->below;
    out->first = dense && d->count <= 1 ? d->class_ : d->below;
    out->count = d->count;
    out->count_sigma = d->count_sigma;
    return MACHINE_OK;
}

struct model_throttle model_throttle(const struct model *m, const struct payload *p, bool wide, double ratio)
{
    double n = spacing(p);
    double part = 1; /* of the payload's instructions, those near enough to a wide one */
    if (m->throttle_distance > 0)
        part = wide ? fmin(1, m->throttle_distance / n) : 0;
    double cycles = part / ratio + (1 - part); /* relative to full rate */
    return (struct model_throttle){.factor = 1 / cycles, .share = part / ratio / cycles};
}

/* ---- power ---- */

static double energy_of(const struct model *m, unsigned width, enum kernel_weight weight)
{
    for (size_t i = 0; i < m->n_energies; i++)
        if (m->energies[i].width == width && m->energies[i].weight == weight)
            return m->energies[i].nj;
    return NAN;
}

double model_power_instruction(const struct model *m, const struct payload *p)
{
    double counted = p->instructions ? (double)p->counted / p->instructions : 1;
    double nj = energy_of(m, p->kernel->width, p->kernel->weight);
    return counted < 1 ? counted * nj + (1 - counted) * energy_of(m, 64, KERNEL_LIGHT) : nj;
}

double model_power_joules(const struct model *m, double cycles, double instructions, double nj_instruction,
                          double volts)
{
    return (cycles * m->cycle_nj + instructions * nj_instruction) * 1e-9 * volts * volts;
}
