/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps from a switch, or from a recorded trace, to its phases, and the checks of a request that need the
 * machine.
 */
#include "library/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/phases/phases.h"
#include "computer/environment/snapshot.h"
#include "trace/discarded.h"
#include "util/text_list.h"

/* Bounds of what a run may hold: a sample takes about 50 bytes as a trace and as much again while it is analysed. */
static const double RUN_SAMPLES_MAX = 2e6, SAMPLES_MAX = 2e7, SAMPLE_BYTES = 120, EVENT_BYTES = 40;

/* The names of kernels that need no more than `features`, of as many as fit. */
static void runnable_kernels(unsigned features, char *out, size_t size)
{
    size_t count;
    const struct kernel *kernels = kernel_registry(&count);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        /* the variants of those that are named work, too */
        if ((kernels[i].features & ~features) == 0 && !kernel_is_variant(&kernels[i]) &&
            strlen(out) + strlen(kernels[i].name) + 2 <= size)
            text_list_add(out, size, " ", "%s", kernels[i].name);
    }
}

int measure_check_kernel(const struct payload *p, const struct machine_info *info, struct machine_error *err)
{
    char missing[120], runnable[400];
    unsigned lacking = p->kernel->features & ~info->features;
    if (lacking == 0)
        return MACHINE_OK;
    kernel_feature_names(lacking, missing, sizeof(missing));
    runnable_kernels(info->features, runnable, sizeof(runnable));
    return machine_fail(
        err, MACHINE_CANNOT, info->modelled ? "" : "or a modelled CPU: --machine model:NAME (--list machines)",
        "%s needs %s, which %s does not support; kernels that work: %s", p->name, missing, info->cpu, runnable);
}

int measure_check_amount(const struct transition_setup *s, double *samples, struct machine_error *err)
{
    struct transition_setup as = *s;
    transition_observe(&as, s->observe_us, true, true);
    double a_run = transition_samples(&as);
    *samples = a_run * s->runs;
    if (a_run > RUN_SAMPLES_MAX)
        return machine_fail(err, MACHINE_BAD_INPUT, "observe for less time or use a longer period",
                            "observing %.10g us at a period of %.10g us makes %.0f samples per repetition; the limit "
                            "is %.0f",
                            s->observe_us, s->period_us, a_run, RUN_SAMPLES_MAX);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double most = fmin(SAMPLES_MAX, memory / 2 / (SAMPLE_BYTES + EVENT_BYTES * (double)s->n_events));
    if (*samples > most)
        return machine_fail(err, MACHINE_BAD_INPUT, "use fewer repetitions, less time or a longer period",
                            "%u repetitions of %.10g us at a period of %.10g us make %.0f samples; the limit is %.0f",
                            s->runs, s->observe_us, s->period_us, *samples, most);
    return MACHINE_OK;
}

int measure_check_cores(const struct machine_info *info, const struct tables_options *o, struct machine_error *err)
{
    bool few = false;
    for (size_t i = 0; i < o->n_active; i++) {
        if (o->active[i] > info->cores)
            return machine_fail(err, MACHINE_BAD_INPUT, "", "%u active cores: %s has %u core%s", o->active[i],
                                info->cpu, info->cores, info->cores == 1 ? "" : "s");
        if (o->n_cpus > 0 && o->active[i] > o->n_cpus)
            return machine_fail(err, MACHINE_BAD_INPUT, "", "%u active cores: only %zu CPU%s listed", o->active[i],
                                o->n_cpus, o->n_cpus == 1 ? " is" : "s are");
        few = few || o->active[i] <= info->usable_cores;
    }
    if (o->n_active > 0 && info->usable_cores > 0 && !few)
        return machine_fail(err, MACHINE_CANNOT, "use fewer active cores, or 0 for all",
                            "%u active cores requested, but this process may use %u physical core%s", o->active[0],
                            info->usable_cores, info->usable_cores == 1 ? "" : "s");
    return MACHINE_OK;
}

/* Under which settings this computer was, which still are as they were; a model has none. 0, or -1: out of memory. */
static int note_environment(const struct machine *m, struct switches_seen *seen)
{
    char line[SNAPSHOT_LINE];
    struct machine_info info;
    m->ops->info(m, &info);
    if (info.modelled)
        return 0;
    snapshot_take_line(info.cpu_number, line, sizeof(line));
    if (line[0] == '\0')
        return 0;
    free(seen->phases.environment);
    seen->phases.environment = strdup(line);
    return seen->phases.environment == NULL || trace_set(&seen->result.trace, "environment", line) != 0 ? -1 : 0;
}

int measure_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err)
{
    int status = guarded_switch(g, s, out, err);
    if (status == MACHINE_OK &&
        (discarded_note(&out->result.trace, out->result.invalid, out->result.n_invalid) != 0 ||
         phases_add_discarded(&out->result.trace, &out->phases) != 0 || note_environment(g->machine, out) != 0)) {
        guarded_free(out);
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    return status;
}

int measure_read_trace(FILE *in, struct trace *t, struct machine_error *err)
{
    struct trace_error e;
    memset(&e, 0, sizeof(e));
    if (trace_read_csv(in, t, &e) == 0)
        return MACHINE_OK;
    if (e.line == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", ": %s", e.text);
    if (e.column == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", ":%zu: %s", e.line, e.text);
    return machine_fail(err, MACHINE_BAD_INPUT, "", ":%zu:%zu: %s", e.line, e.column, e.text);
}

int measure_recorded(const struct trace *t, struct phases *out, struct machine_error *err)
{
    char why[400] = "";
    if (phases_find(t, out, why, sizeof(why)) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%s", why);
    const char *unsettled = trace_get(t, "unsettled");
    if (phases_add_discarded(t, out) == 0 && (unsettled == NULL || phases_warn_first(out, unsettled) == 0))
        return MACHINE_OK;
    phases_free(out);
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}
