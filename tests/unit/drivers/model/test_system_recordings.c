/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is drawn for the profiler's modelled system, who runs when, and what the profiler records of it, does not change
 * unnoticed. Likewise bursts, first uses and trials on the modelled machine. Held in tests/golden/machine/, which `make
 * golden` rewrites.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/profile_truth.h"
#include "tests/support/tally.h"

enum { RECORDS = 15, SWITCHES = 16 };
static struct model model; /* too large for the stack */

static void compare(const char *name, void (*write)(FILE *out))
{
    struct golden g;
    FILE *out = golden_begin(&g);
    rig_load("xeon-gold-6130", &model);
    write(out);
    golden_expect(&g, "machine/model", name, false);
}

/* ---- the system ---- */

static void write_code(FILE *out, const struct system_code *c)
{
    fprintf(out, " %s class %u loads %.6f", c->payload.name, c->class_, c->loads);
    for (unsigned i = 0; i < SYSTEM_LOOPS; i++)
        fprintf(out, " %.6f/%.6f/%.6f", c->loop[i].compute, c->loop[i].memory, c->loop[i].overlap);
}

static void write_tasks(FILE *out, const struct system *s)
{
    fprintf(out, "%u cores, %u threads, %u CPUs, %u elsewhere, %u active, %.6f GHz, slice %.3f us\n", s->n_cores,
            s->n_threads, s->n_cpus, s->elsewhere, s->active, s->reference_ghz, s->schedule.slice_us);
    for (unsigned i = 0; i < s->n_tasks; i++) {
        const struct system_task *t = &s->task[i];
        fprintf(out, "%s %u %" PRIu64 ": %.3f %.3f us of work, runs %.3f sleeps %.3f migrates %.6f;",
                system_kind_names[t->kind], t->pid, t->cgroup, t->narrow_work, t->wide_work, t->run_us, t->sleep_us,
                t->migrates);
        for (unsigned k = 0; k < t->n_codes; k++)
            write_code(out, &t->code[k]);
        fputc('\n', out);
    }
}

static void write_schedule(FILE *out, struct system *s)
{
    for (unsigned i = 0; i < SWITCHES; i++) {
        struct system_switch w = system_schedule_next(&s->schedule, s->task);
        fprintf(out, "%.3f us: CPU %u runs %d\n", w.at, w.cpu, w.task);
    }
}

static void write_record(FILE *out, const struct profile_record *r)
{
    fprintf(out, "%llu at %llu CPU %u outcome %u flags %u bin %d levels %u %u %u %u", (unsigned long long)r->number,
            (unsigned long long)r->time_ns, r->cpu, r->outcome, r->flags, (int)r->bin, r->level_actual, r->level_paused,
            r->level_ideal, r->level_shared);
    fprintf(out, " kHz %u %u %u stall %u speedup %u %u ns %u %u %u", r->actual_khz, r->ideal_khz, r->shared_khz,
            r->stall, r->speedup, r->speedup_shared, r->pause_ns, r->window_ns, r->held_ns);
    fprintf(out, " task %s %u %u before %u %u, %llu %llu switches, %u %u us, active %u", r->sight.task.comm,
            r->sight.task.pid, r->sight.other.pid, r->sight.before.pid, r->sight.other_before.pid,
            (unsigned long long)r->sight.switches, (unsigned long long)r->sight.other_switches, r->sight.since_us,
            r->sight.other_since_us, r->sight.active_cores);
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        fprintf(out, " %llu", (unsigned long long)r->window.count[i]);
    fprintf(out, " stack %u, %u", r->n_stack, r->n_kernel);
    for (unsigned i = 0; i < r->n_stack; i++)
        fprintf(out, " %llx", (unsigned long long)r->stack[i]);
    fputc('\n', out);
}

static void write_records(FILE *out, struct system *s, uint64_t seed)
{
    static struct system_sampling sampling;
    struct profile_setup setup;
    profile_truth_setup(&model, seed, &setup);
    setup.mean_us = 5000;
    setup.flags |= PROFILE_STACKS;
    system_sampling_begin(&sampling, s, &setup);
    for (unsigned i = 0; i < RECORDS && system_sampling_turn(&sampling, 1e6); i++)
        write_record(out, &sampling.record);
    system_finish(s, sampling.now_us + 1000);
    fprintf(out, "until %.3f us, longest pause %.3f us\n", sampling.now_us, sampling.pause_us_max);
    for (unsigned i = 0; i < s->n_tasks; i++)
        fprintf(out, "%u: work %.3f in %.3f us\n", s->task[i].pid, s->task[i].work, s->task[i].cpu_us);
}

static struct system *draw_again(uint64_t seed, unsigned flags)
{
    struct machine_error err;
    struct system *s;
    if (truth_system(&model, seed, flags, &s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return s;
}

static void write_systems(FILE *out)
{
    static const struct {
        uint64_t seed;
        unsigned flags;
    } systems[] = {{1, 0}, {4, SYSTEM_OWN_LEVELS}, {6, SYSTEM_NO_WAITS}};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        fprintf(out, "\nseed %u, flags %u\n", (unsigned)systems[i].seed, systems[i].flags);
        struct system *s = draw_again(systems[i].seed, systems[i].flags);
        write_tasks(out, s);
        write_schedule(out, s);
        system_free(s);
        s = draw_again(systems[i].seed, systems[i].flags);
        write_records(out, s, systems[i].seed);
        system_free(s);
    }
}

/* Of many systems on several models sums alone: all that was drawn, who ran when, and some records of each. */
static void tally_system(FILE *out, const char *name, uint64_t seed, unsigned flags)
{
    enum { SWITCHES_TALLIED = 200 };
    struct tally t = {0};
    struct system *s = draw_again(seed, flags);
    for (unsigned i = 0; i < s->n_tasks; i++) {
        const struct system_task *k = &s->task[i];
        const double numbers[] = {(double)k->kind, k->pid,    (double)k->cgroup, k->narrow_work,
                                  k->wide_work,    k->run_us, k->sleep_us,       k->migrates,
                                  k->left,         k->phase,  k->n_codes};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            tally_add(&t, numbers[n]);
    }
    fprintf(out, "%s %u.%u: %u of %u cores, %u threads, %u elsewhere, %.6f GHz, %u tasks", name, (unsigned)seed, flags,
            s->n_cores, s->model.cores, s->n_threads, s->elsewhere, s->reference_ghz, s->n_tasks);
    tally_write(out, "drawn", &t);
    for (unsigned i = 0; i < SWITCHES_TALLIED; i++) {
        struct system_switch w = system_schedule_next(&s->schedule, s->task);
        tally_add(&t, w.at);
        tally_add(&t, w.cpu + 100.0 * w.task);
    }
    tally_write(out, "ran", &t);
    system_free(s);
    s = draw_again(seed, flags);
    system_finish(s, 20e3);
    for (unsigned i = 0; i < s->n_tasks; i++) {
        tally_add(&t, s->task[i].work);
        tally_add(&t, s->task[i].cpu_us);
    }
    tally_write(out, "done", &t);
    fputc('\n', out);
    system_free(s);
}

static void tally_systems(FILE *out)
{
    static const char *const names[] = {"xeon-gold-6130", "core-i9-7940x", "core-i5-1035g4", "xeon-w-2104"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        rig_load(names[k], &model);
        for (uint64_t seed = 10; seed < 22; seed++)
            tally_system(out, names[k], seed, seed % 4);
    }
}

static void systems_sum_up(void **state)
{
    (void)state;
    compare("systems.sums", tally_systems);
}

/* ---- who runs where, by tasks made by hand ---- */

static void write_made_schedule(FILE *out, const char *name, unsigned n_cpus, const struct system_task *tasks,
                                unsigned n_tasks, const double *wakes)
{
    static struct system_schedule d;
    fprintf(out, "\n%s\n", name);
    system_schedule_begin(&d, tasks, n_tasks, n_cpus, 3);
    for (unsigned i = 0; wakes && i < n_tasks; i++)
        d.wakes[i] = wakes[i];
    for (unsigned i = 0; i < 10; i++) {
        struct system_switch w = system_schedule_next(&d, tasks);
        if (isinf(w.at)) {
            fprintf(out, "no more\n");
            return;
        }
        fprintf(out, "%.3f us: CPU %u runs %d;", w.at, w.cpu, w.task);
        for (unsigned c = 0; c < n_cpus; c++) {
            fprintf(out, " %u: %d until %.3f,", c, d.queue[c].current, d.queue[c].until);
            for (unsigned k = 0; k < d.queue[c].n; k++)
                fprintf(out, " %d", d.queue[c].waiting[k]);
        }
        for (unsigned t = 0; t < n_tasks; t++)
            fprintf(out, "; %u wakes %.3f left %.3f", t, d.wakes[t], d.run_left[t] < 1e-3 ? 0 : d.run_left[t]);
        fputc('\n', out);
    }
}

/* Those that never sleep take turns of 3000 us; whose turn is over at the moment at which another wakes goes first. */
static void write_made_schedules(FILE *out)
{
    static const struct system_task steady[4] = {
        {.run_us = INFINITY}, {.run_us = INFINITY}, {.run_us = INFINITY}, {.run_us = INFINITY}};
    static const struct system_task mixed[4] = {{.run_us = 2000, .sleep_us = 800, .migrates = 1},
                                                {.run_us = 9000, .sleep_us = 100, .migrates = 0.5},
                                                {.run_us = INFINITY},
                                                {.run_us = 500, .sleep_us = 5000}};
    static const double tie[] = {1, 2, 3002, 6002}, late[] = {1, 4000, 4001, 9000}, idle[] = {INFINITY, 5, 9, INFINITY};
    write_made_schedule(out, "one alone", 1, steady, 1, NULL);
    write_made_schedule(out, "two on one CPU", 1, steady, 2, NULL);
    write_made_schedule(out, "wakes at the end of a turn", 1, steady, 4, tie);
    write_made_schedule(out, "wakes long after", 1, steady, 4, late);
    write_made_schedule(out, "four on two CPUs", 2, steady, 4, tie);
    write_made_schedule(out, "idle CPUs", 3, steady, 4, idle);
    write_made_schedule(out, "that sleep", 2, mixed, 4, NULL);
    write_made_schedule(out, "that sleep, alone", 3, mixed, 2, NULL);
}

static void schedules_are_golden(void **state)
{
    (void)state;
    compare("schedules.txt", write_made_schedules);
}

static void systems_are_golden(void **state)
{
    (void)state;
    compare("systems.txt", write_systems);
}

/* ---- bursts, first uses, trials ---- */

static void open_prepared(struct machine *machine, unsigned cores)
{
    struct machine_error err;
    struct machine_setup setup = {.cpu = -1, .active_cores = cores, .period_us = 10, .max_samples = 1, .seed = 5};
    if (machine_open_parsed_model(&model, "model:test", machine, &err) != MACHINE_OK ||
        machine->ops->prepare(machine, &setup, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static void write_bursts(FILE *out, uint64_t count, double every_us, double before_us, unsigned skipped)
{
    enum { BURSTS = 6 };
    struct machine machine;
    struct machine_error err;
    struct energy_reading energy;
    struct burst bursts[BURSTS];
    const char *disturbed = NULL;
    struct bursts_request r = {.plain = rig_payload("64add"), .wide = rig_payload("512fma"), .count = count};
    r.every_us = every_us;
    r.before_us = before_us;
    r.skipped = skipped;
    r.bursts = BURSTS;
    r.repetition = 2;
    open_prepared(&machine, 3);
    if (machine.ops->bursts(&machine, &r, bursts, &disturbed, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    fprintf(out, "\n%" PRIu64 " every %g us, %g us before, %u skipped: %s\n", count, every_us, before_us, skipped,
            disturbed ? disturbed : "undisturbed");
    for (size_t i = 0; i < BURSTS; i++)
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", bursts[i].wide, bursts[i].plain,
                bursts[i].lost, bursts[i].instructions);
    assert_int_equal(machine.ops->read_energy(&machine, &energy, NULL, &err), MACHINE_OK);
    fprintf(out, "%.9f J %.9f s\n", energy.joules, energy.seconds);
    machine.ops->close(&machine);
}

static void write_first_uses(FILE *out)
{
    static const double idle_us[] = {0, 10, 700, 800, 100000};
    struct machine machine;
    struct machine_error err;
    struct first_use_seen seen;
    model.wakes[model.n_wakes++] = (struct model_wake){.width = 512, .n = 2, .stage = {{10, 0.5, 8}, {700, 9, 14}}};
    open_prepared(&machine, 1);
    for (size_t i = 0; i < sizeof idle_us / sizeof *idle_us; i++)
        for (uint64_t k = 0; k < 12; k++) {
            struct first_use_request r = {.warm = rig_payload(k % 3 ? "512fma" : "256fma"), .idle_us = idle_us[i]};
            r.repetition = k;
            assert_int_equal(machine.ops->first_use(&machine, &r, &seen, &err), MACHINE_OK);
            fprintf(out, "%s %g us: %.6f %.6f %.6f\n", r.warm.name, seen.idle_us, seen.first_us, seen.full_rate_us,
                    seen.read_us);
        }
    machine.ops->close(&machine);
}

static void write_trials(FILE *out, struct trials_request r)
{
    enum { TRIALS = 12 };
    struct machine machine;
    struct machine_error err;
    struct trials_seen seen;
    double durations[TRIALS];
    r.trials = TRIALS;
    open_prepared(&machine, 1);
    int status = machine.ops->trials(&machine, &r, durations, &seen, &err);
    fprintf(out, "workload %d before %d, %zu bytes, %g us%s:", r.workload, r.before, r.bytes, r.trial_us,
            r.masked ? ", masked" : "");
    if (status != MACHINE_OK)
        fprintf(out, " %s; %s", err.text, err.remedy);
    else
        fprintf(out, " %d %g %" PRIu64 ", %g interrupts:", seen.cycles, seen.resolution, seen.rounds,
                seen.between.interrupts);
    for (size_t i = 0; i < TRIALS && status == MACHINE_OK; i++)
        fprintf(out, " %.0f", durations[i]);
    fputc('\n', out);
    machine.ops->close(&machine);
}

static void write_machine(FILE *out)
{
    write_bursts(out, 0, 100, 500, 0);
    write_bursts(out, 1000, 100, 500, 1);
    write_bursts(out, 400000, 1000, 500, 0);
    write_bursts(out, 20000, 0, 0, 2);
    model.interrupts[0].rate_hz = 4000;
    model.interrupts[0].min_us = 35;
    model.interrupts[0].max_us = 60;
    model.interrupts[0].taken_off = 1;
    write_bursts(out, 9000, 150, 30, 0);
    fputc('\n', out);
    write_first_uses(out);
    fputc('\n', out);
    static const size_t bytes[] = {64, 32 << 10, 64 << 10, 1 << 20, 2 << 20, 16 << 20, 32 << 20};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        write_trials(out, (struct trials_request){.workload = WORKLOAD_LOAD, .bytes = bytes[i], .trial_us = 1000});
    for (unsigned before = TRIALS_NOTHING; before <= TRIALS_IBPB; before++)
        write_trials(out, (struct trials_request){
                              .workload = WORKLOAD_BRANCH, .before = (enum trials_before)before, .trial_us = 40});
    write_trials(out, (struct trials_request){.workload = WORKLOAD_BRANCH, .trial_us = 5000, .masked = true});
    write_trials(out, (struct trials_request){.workload = WORKLOAD_BRANCH, .trial_us = 5001, .masked = true});
    write_trials(out, (struct trials_request){.workload = WORKLOAD_BRANCH, .trial_us = 0});
}

static void bursts_and_trials_are_golden(void **state)
{
    (void)state;
    compare("bursts.txt", write_machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_are_golden),
        cmocka_unit_test(systems_sum_up),
        cmocka_unit_test(schedules_are_golden),
        cmocka_unit_test(bursts_and_trials_are_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
