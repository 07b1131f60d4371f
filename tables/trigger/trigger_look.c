/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures what code requests when it keeps running: its frequency against that of plain code around it, within
 * milliseconds, and the switch to it and back, each beside its null. Transitions and waits differ from processor to
 * processor by more than any fixed time allows for.
 */
#include <math.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "analysis/phases/repetitions/steady.h"
#include "tables/table/bracket_cells.h"
#include "tables/switches/switches.h"
#include "tables/table/estimates.h"
#include "tables/trigger/trigger.h"

#define ENOUGH 0.0025 /* half of the width of a ratio's limits */
#define SECONDS 1.5   /* of the machine's time for the brackets of a kernel; with --brief: */
#define SECONDS_BRIEF 0.75
/* Relative: repetitions within it of the median count. */
#define SLACK (FREQUENCY_SAME / 2)
/* RUNS: repetitions of a switch. */
enum { ROUNDS_LEAST = 8, ROUNDS_MOST = 400, RUNS = 100 };
/* Recorded after a switch, us, to begin with: guarded_switch() goes on for longer where it is not over. */
#define RISE_US 1500.0
#define FALL_US 200.0
#define WAIT_SCATTER 0.05 /* single waits may be shorter by this */

/* ---- steady ---- */

static double look_level(const struct trace *t)
{
    struct steady_value one, two;
    if (steady_mean(t, TRACE_LVL1, 1, &one) || steady_mean(t, TRACE_LVL2, 1, &two))
        return NAN;
    return one.mean.value + 2 * two.mean.value;
}

/* 0, or -1: out of memory. */
static int look_ghz(const struct trace *t, struct estimate *ghz, double *ipc)
{
    struct steady_value f, i;
    if (steady_frequency(t, SLACK, &f) || steady_mean(t, TRACE_IPC, 0, &i))
        return -1;
    *ghz = f.mean;
    *ipc = i.mean.value;
    return 0;
}

static int look_read(const struct brackets_result *r, size_t k, const struct payload *p, struct trigger_look *out,
                     struct machine_error *err)
{
    double ipc, plain_ipc;
    *out = (struct trigger_look){.n = r->rounds, .ratio = brackets_ratio_of(r, k), .null = brackets_ratio_of(r, 0)};
    if (isnan(out->ratio.value))
        return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                            "in all of %u rounds it was disturbed (%.120s)", r->rounds,
                            r->n_invalid ? r->why : "no samples");
    if (look_ghz(&r->seen[0], &out->plain, &plain_ipc) || look_ghz(&r->seen[k], &out->freq, &ipc))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    const double level = look_level(&r->seen[k]), plain_level = look_level(&r->seen[0]);
    out->rate = ipc * p->counted / p->instructions;
    out->level = isnan(plain_level) ? NAN : level;
    out->lower = isnan(out->level) ? trigger_lower(&out->ratio, &out->null) : level - plain_level >= 0.5;
    out->unsure = isnan(out->level) && !out->lower && trigger_unsure(&out->ratio, &out->null);
    out->below = out->lasts_us = NAN;
    return plain_level < 0.5 || isnan(plain_level)
               ? MACHINE_OK
               : machine_fail(err, MACHINE_CANNOT, "measure it with --transition and a longer --observe",
                              "milliseconds after %.40s the core is not back at the frequency of plain code", p->name);
}

int trigger_look_steady(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                        const struct payload *kernels, size_t n, struct trigger_look *out, struct machine_error *err)
{
    const struct tables_options *o = x->options;
    struct payload all[1 + TRIGGER_GRADES_MAX];
    struct brackets_setup s;
    struct brackets_result r;
    all[0] = *plain;
    memcpy(all + 1, kernels, n * sizeof *kernels);
    brackets_defaults(&s, plain, all, n + 1);
    s.machine = tables_setup(x, "trigger", c);
    s.least = ROUNDS_LEAST;
    s.most = ROUNDS_MOST;
    s.seconds = o->seconds > 0 ? o->seconds : o->brief ? SECONDS_BRIEF : SECONDS;
    s.enough = ENOUGH;
    int status = bracket_cells_run(x, &s, &r, err);
    if (status)
        return status;
    for (size_t i = 0; i < n && !status; i++)
        status = look_read(&r, i + 1, &kernels[i], &out[i], err);
    brackets_free(&r);
    return status || !tables_stop(x, 0) ? status : machine_fail(err, MACHINE_FAILED, "", "interrupted");
}

/* ---- switches ---- */

/* When the throttling begins, as instructions of the kernel: what runs before it, which is nothing that could be
 * sampled where it is the first phase. */
static void look_throttle(const struct switches_seen *seen, const struct phase *p, const struct payload *kernel,
                          struct trigger_look *look)
{
    double start = fmax(p->start_us, 0), us = seen->setup.period_us;
    double each = 1e3 * look->plain.value * look->rate; /* a microsecond at the full rate */
    if (p->kind != PHASE_THROTTLE || look->throttled || kernel->counted == 0)
        return;
    look->throttled = true;
    look->instructions = (struct estimate){fmax(each * (start + us), 1), fmax(each * (start - us), 1),
                                           fmax(each * (start + us), 1)};
}

int trigger_look_fall(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                      const struct payload *kernel, struct trigger_look *out, struct machine_error *err)
{
    struct switches_seen seen;
    int status = switches_look(x, "trigger", c, plain, kernel, RUNS, FALL_US, true, &seen, err);
    if (status)
        return status;
    const struct phases *p = &seen.phases;
    const size_t first = transition_first_phase_after_switch(p);
    for (size_t i = first; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        look_throttle(&seen, ph, kernel, out);
        out->undecided = out->undecided || ph->kind == PHASE_UNKNOWN;
        if (i + 1 < p->n_phases)
            out->settled_us = fmax(out->settled_us,
                                   ph->start_us + ph->duration_us.value + estimate_half_known(&ph->duration_us));
    }
    out->undecided = (out->undecided || (seen.unsettled[0] && first + 1 < p->n_phases)) && !out->throttled;
    out->below = p->detectable_throttle;
    out->lasts_us = p->detectable_throttle_us;
    if (seen.unsettled[0] && out->lower)
        out->settled_us = INFINITY;
    guarded_free(&seen);
    return MACHINE_OK;
}

/* The wait: the phase right after the switch, of one length or of two. */
static void look_wait(const struct phase *p, struct trigger_look *out)
{
    const double usual = p->duration_us.value;
    double least = usual, most = usual;
    for (size_t i = 0; i < p->n_modes; i++) {
        least = fmin(least, p->modes[i].duration_us);
        most = fmax(most, p->modes[i].duration_us);
    }
    out->back_us = (1 - WAIT_SCATTER) * (p->start_us + least);
    out->back_usual_us = p->start_us + usual;
    out->back_most_us = p->start_us + most;
}

int trigger_look_rise(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                      const struct payload *kernel, struct trigger_look *out, struct machine_error *err)
{
    struct switches_seen seen;
    if (!out->lower)
        return MACHINE_OK;
    int status = switches_look(x, "trigger", c, kernel, plain, RUNS, RISE_US, false, &seen, err);
    if (status)
        return status;
    const size_t first = transition_first_phase_after_switch(&seen.phases);
    out->back_us = 0;
    if (seen.unsettled[0])
        out->back_usual_us = out->back_most_us = seen.setup.observe_us;
    else if (first + 1 < seen.phases.n_phases)
        look_wait(&seen.phases.phases[first], out);
    guarded_free(&seen);
    return MACHINE_OK;
}
