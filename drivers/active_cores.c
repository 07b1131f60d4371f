/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which logical CPUs are kept busy while one is measured. */
#include <stdlib.h>
#include <string.h>

#include "drivers/active_cores.h"
#include "util/order.h"

static bool cpu_is_listed(const struct machine_setup *s)
{
    return s->cpu == -1 && s->n_cpus > 0;
}

int active_cores_wanted(const struct machine_setup *s)
{
    return cpu_is_listed(s) ? s->cpus[0] : s->cpu;
}

int active_cores_measured(const struct cpu_view *v, const struct machine_setup *s, int *cpu, struct machine_error *err)
{
    if (cpu_is_listed(s) && s->cpus[0] < 0)
        return cpu_refuse(v, err, "", "CPU %d does not exist on this machine", s->cpus[0]);
    return cpu_choose(v, active_cores_wanted(s), cpu, err);
}

/* Cores whose power and clock may have limits of their own: those of a die that share the third-level cache. The caches
 * tell apart the dies of Zen 2 and 3, whose die_id is 0, and the clusters that sub-NUMA clustering makes of a die. */
struct part {
    int package, die, l3;
    unsigned n; /* of its cores on the list, the measured one included */
};

/* The search so far. */
struct search {
    const char *root;
    const struct cpu_view *view;
    int cpu;                /* measured */
    struct cpu_mask taken;  /* first CPUs of the cores that are on the list, and of the measured one */
    struct order_key *list; /* CPUs by distance, in whose order they become active; listed ones first, below 0 */
    size_t n;
    struct part *parts;
    size_t n_parts;
    struct machine_error *err;
};

/* How many cores of the same part are on the list so far; counts this one. */
static unsigned turn_of(struct search *s, int cpu)
{
    const struct part its = {cpu_package_of(s->root, cpu), cpu_die_of(s->root, cpu), cpu_l3_of(s->root, cpu), 0};
    size_t i = 0;
    while (i < s->n_parts &&
           (s->parts[i].package != its.package || s->parts[i].die != its.die || s->parts[i].l3 != its.l3))
        i++;
    if (i == s->n_parts)
        s->parts[s->n_parts++] = its;
    return s->parts[i].n++;
}

/* First the same kind of core as the measured one, then the same package, then the quietest, then the parts in turn. */
static double distance(struct search *s, int cpu)
{
    int kind = cpu_mask_has(&s->view->big, s->cpu) != cpu_mask_has(&s->view->big, cpu);
    int package = cpu_package_of(s->root, s->cpu) != cpu_package_of(s->root, cpu);
    int quiet = cpu_quietness(s->view, cpu);
    return ((2 * kind + package) * (CPU_QUIETEST + 1) + CPU_QUIETEST - quiet) * (double)CPU_LIMIT + turn_of(s, cpu);
}

/* The CPUs that the setup lists, each checked. Of several CPUs of one core the first counts. */
static int list_wanted(struct search *s, const struct machine_setup *setup)
{
    struct cpu_mask seen;
    int cpu;

    cpu_mask_clear(&seen);
    for (size_t i = 0; i < setup->n_cpus; i++) {
        if (setup->cpus[i] < 0)
            return cpu_refuse(s->view, s->err, "", "CPU %d does not exist on this machine", setup->cpus[i]);
        int status = cpu_choose(s->view, setup->cpus[i], &cpu, s->err);
        if (status != MACHINE_OK)
            return status;
        int core = cpu_core_in(s->view, s->root, cpu);
        if (cpu_mask_has(&seen, cpu))
            return cpu_refuse(s->view, s->err, "", "CPU %d is listed twice", cpu);
        if (cpu_mask_has(&s->taken, core) && cpu != s->cpu && !setup->siblings) {
            return cpu_refuse(s->view, s->err, "list one CPU per core; ",
                              "CPU %d shares its core with another active CPU%s", cpu,
                              s->view->core != NULL ? ", as was measured" : "");
        }
        cpu_mask_add(&seen, cpu);
        if (!cpu_mask_has(&s->taken, core)) {
            cpu_mask_add(&s->taken, core);
            s->list[s->n++] = (struct order_key){(double)i - CPU_LIMIT, (size_t)cpu};
        }
    }
    return MACHINE_OK;
}

/* One usable logical CPU of every other physical core, its quietest. */
static void list_others(struct search *s)
{
    turn_of(s, s->cpu);
    for (int i = 0; i < (CPU_QUIETEST + 1) * CPU_LIMIT; i++) {
        int cpu = i % CPU_LIMIT;
        if (!cpu_usable(s->view, cpu) || cpu_quietness(s->view, cpu) != CPU_QUIETEST - i / CPU_LIMIT)
            continue;
        int core = cpu_core_in(s->view, s->root, cpu);
        if (!cpu_mask_has(&s->taken, core)) {
            cpu_mask_add(&s->taken, core);
            s->list[s->n++] = (struct order_key){distance(s, cpu), (size_t)cpu};
        }
    }
}

static unsigned cores_online(const struct search *s)
{
    struct cpu_mask seen;

    cpu_mask_clear(&seen);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        if (cpu_mask_has(&s->view->online, cpu))
            cpu_mask_add(&seen, cpu_core_in(s->view, s->root, cpu));
    return cpu_mask_count(&seen);
}

/* The other usable hyper-threads of the measured core and of the n cores that are on the list. */
static void add_siblings(const struct search *s, struct cpu_corunners *out)
{
    struct cpu_mask active, busy;

    cpu_mask_clear(&active);
    cpu_mask_clear(&busy);
    cpu_mask_add(&active, cpu_core_in(s->view, s->root, s->cpu));
    cpu_mask_add(&busy, s->cpu);
    for (size_t i = 0; i < out->n; i++) {
        cpu_mask_add(&active, cpu_core_in(s->view, s->root, out->cpus[i]));
        cpu_mask_add(&busy, out->cpus[i]);
    }
    for (int c = 0; c < CPU_LIMIT; c++)
        if (cpu_usable(s->view, c) && !cpu_mask_has(&busy, c) &&
            cpu_mask_has(&active, cpu_core_in(s->view, s->root, c)))
            out->cpus[out->n++] = c;
}

/* Counts the active cores that share the measured one's package, and its die, whose energy is counted together. */
static void count_near(const struct search *s, struct cpu_corunners *out)
{
    int package = cpu_package_of(s->root, s->cpu), die = cpu_die_of(s->root, s->cpu);

    out->in_package = out->in_die = 1;
    for (size_t i = 0; i < out->n; i++) {
        bool same = cpu_package_of(s->root, out->cpus[i]) == package;
        out->in_package += same;
        out->in_die += same && cpu_die_of(s->root, out->cpus[i]) == die;
    }
}

static unsigned count_parts(struct search *s, const struct cpu_corunners *out)
{
    s->n_parts = 0;
    turn_of(s, s->cpu);
    for (size_t i = 0; i < out->n; i++)
        turn_of(s, out->cpus[i]);
    return (unsigned)s->n_parts;
}

static int pick(struct search *s, const struct machine_setup *setup, struct cpu_corunners *out)
{
    unsigned wanted = setup->active_cores;

    cpu_mask_clear(&s->taken);
    cpu_mask_add(&s->taken, cpu_core_in(s->view, s->root, s->cpu));
    int status = list_wanted(s, setup);
    if (status != MACHINE_OK)
        return status;
    if (setup->n_cpus == 0)
        list_others(s);
    out->cores = cores_online(s);
    out->available = (unsigned)s->n + 1;
    if (wanted > out->available) {
        return cpu_refuse(s->view, s->err, "use fewer active cores, or 0 for all; ",
                          "%u active cores requested, but %s %u physical core%s", wanted,
                          setup->n_cpus > 0 ? "the list of CPUs has" : "this process may use", out->available,
                          out->available == 1 ? "" : "s");
    }
    qsort(s->list, s->n, sizeof *s->list, order_by_key);
    out->active = wanted == 0 ? out->available : wanted;
    for (out->n = 0; out->n < out->active - 1; out->n++)
        out->cpus[out->n] = (int)s->list[out->n].index;
    if (setup->n_cpus == 0)
        out->parts = count_parts(s, out);
    count_near(s, out);
    if (setup->siblings)
        add_siblings(s, out);
    if (setup->siblings && out->n == 0)
        return machine_fail(s->err, MACHINE_CANNOT, "enable hyper-threading, or leave --siblings out",
                            "CPU %d has no sibling thread that this process may use", s->cpu);
    return MACHINE_OK;
}

int active_cores_pick(const char *root, const struct cpu_view *v, int cpu, const struct machine_setup *s,
                      struct cpu_corunners *out, struct machine_error *err)
{
    struct search search = {.root = root, .view = v, .cpu = cpu, .err = err};

    memset(out, 0, sizeof *out);
    search.list = calloc(CPU_LIMIT, sizeof *search.list);
    search.parts = calloc(CPU_LIMIT, sizeof *search.parts);
    out->cpus = calloc(CPU_LIMIT, sizeof *out->cpus);
    int status = search.list != NULL && search.parts != NULL && out->cpus != NULL
                     ? pick(&search, s, out)
                     : machine_fail(err, MACHINE_FAILED, "", "out of memory for the list of cores");
    free(search.list);
    free(search.parts);
    if (status != MACHINE_OK) {
        free(out->cpus);
        out->cpus = NULL;
    }
    return status;
}
