/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials of the machine `helper`: with interrupts masked the module runs them, a thousand at a time; else they run in
 * user space as on any other machine.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/helper/helper_state.h"
#include "drivers/native/trials.h"

enum {
    TRIAL_US_MAX = 4000, /* leaves room below the module's limit */
    LENGTH_TRIALS = 5,   /* the shortest of so many is how long its rounds take */
    GIVEN_UP_MAX = 100,  /* calls that a stolen CPU ended early */
};

/* The trials so far. */
struct trials_tally {
    unsigned done, given_up;
    uint32_t counted; /* CHARACTERIZE_COUNTED_ bits common to all calls */
    double nmis, smis;
};

/* Calls once. Where it was ended early *t says so; the trials that were done are in it. */
static int call_trials(const struct helper *h, struct characterize_trials *t, struct machine_error *err)
{
    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_TRIALS, t) == 0)
        return MACHINE_OK;
    return helper_refused(h, errno, t->reason, "running trials", err);
}

static struct characterize_trials request_of(const struct helper *h, const struct trials_request *r, unsigned n,
                                             uint64_t rounds)
{
    return (struct characterize_trials){.version = CHARACTERIZE_VERSION,
                                        .cpu = (uint32_t)h->native.cpu,
                                        .workload = r->workload,
                                        .flags = r->before == TRIALS_IBPB ? CHARACTERIZE_TRIALS_IBPB : 0u,
                                        .spoil = r->before == TRIALS_SPOIL ? TRIALS_SPOIL_ROUNDS : 0u,
                                        .step = trials_first_round(rounds, r->bytes, 1),
                                        .n = n < CHARACTERIZE_TRIALS_MAX ? n : CHARACTERIZE_TRIALS_MAX,
                                        .bytes = r->bytes,
                                        .rounds = rounds};
}

static int stop_requested(const struct trials_request *r, struct machine_error *err)
{
    return r->stop != NULL && r->stop(r->data) != 0 ? machine_fail(err, MACHINE_FAILED, "", "stopped") : MACHINE_OK;
}

/* For finding out how many rounds a trial has. */
struct length_search {
    const struct helper *h;
    const struct trials_request *r;
    struct machine_error *err;
    int status;
};

/* The least time that so many rounds take; INFINITY where that is too long, or where nothing more can be requested. */
static double ticks_of_rounds(void *context, uint64_t rounds)
{
    struct length_search *s = context;
    struct characterize_trials t;
    double best = INFINITY;

    if (s->status == MACHINE_OK)
        s->status = stop_requested(s->r, s->err);
    if (s->status != MACHINE_OK || rounds > CHARACTERIZE_TRIAL_ROUNDS_MAX)
        return INFINITY;
    t = request_of(s->h, s->r, LENGTH_TRIALS, rounds);
    int status = call_trials(s->h, &t, s->err);
    if (status != MACHINE_OK && t.reason != CHARACTERIZE_REASON_TRIAL_TIME)
        s->status = status;
    for (uint32_t i = 0; status == MACHINE_OK && i < t.n; i++)
        best = fmin(best, (double)t.trial[i].ticks);
    return best;
}

static void add_trials(struct trials_tally *so_far, const struct characterize_trials *t, double *ticks, double *cycles)
{
    for (uint32_t i = 0; i < t->n; i++) {
        ticks[so_far->done + i] = (double)t->trial[i].ticks;
        cycles[so_far->done + i] = (double)t->trial[i].cycles;
    }
    so_far->done += t->n;
    so_far->given_up += (t->ended & CHARACTERIZE_ENDED_TRIAL) != 0;
    so_far->counted &= t->n > 0 ? t->counted : UINT32_MAX;
    so_far->nmis += t->nmis;
    so_far->smis += t->smis;
}

static int run_trials(struct helper *h, const struct trials_request *r, uint64_t rounds, struct trials_tally *so_far,
                      double *ticks, double *cycles, struct machine_error *err)
{
    while (so_far->done < r->trials) {
        struct characterize_trials t = request_of(h, r, r->trials - so_far->done, rounds);
        int status = stop_requested(r, err);
        if (status == MACHINE_OK)
            status = call_trials(h, &t, err);
        /* the first of this call was given up: no call of the length was refused before */
        if (status != MACHINE_OK && t.reason == CHARACTERIZE_REASON_TRIAL_TIME && so_far->given_up < GIVEN_UP_MAX)
            status = MACHINE_OK;
        if (status != MACHINE_OK)
            return status;
        add_trials(so_far, &t, ticks, cycles);
    }
    return MACHINE_OK;
}

/* Checks that need no module. */
static int check_masked(const struct trials_request *r, struct machine_error *err)
{
    if (r->trial_us > TRIAL_US_MAX) {
        return machine_fail(err, MACHINE_BAD_INPUT, "shorten --observe",
                            "a trial of %g us is too long to mask interrupts: at most %d us", r->trial_us,
                            TRIAL_US_MAX);
    }
    if (r->bytes > CHARACTERIZE_TRIAL_BYTES_MAX) {
        return machine_fail(err, MACHINE_CANNOT, "user space measures it, with interrupts enabled",
                            "a buffer of %zu KiB is too large for the kernel helper: at most %d KiB", r->bytes >> 10,
                            CHARACTERIZE_TRIAL_BYTES_MAX >> 10);
    }
    return MACHINE_OK;
}

/* Cycles where all trials have them, else ns. */
static void report_trials(struct helper *h, const struct trials_tally *so_far, const double *ticks,
                          const double *cycles, double *duration, struct trials_seen *seen)
{
    const double ns = 1e9 / h->native.tsc.hz;

    seen->cycles = (so_far->counted & CHARACTERIZE_COUNTED_CYCLES) != 0;
    for (unsigned i = 0; i < so_far->done; i++)
        duration[i] = seen->cycles ? cycles[i] : ticks[i] * ns;
    seen->resolution = seen->cycles ? 1 : fmax(1, h->native.tsc_step) * ns;
    /* NMIs are the interrupts that come nevertheless; the module's thread neither faults nor is switched within one */
    seen->between = (struct trials_between){
        .interrupts = so_far->nmis,
        .steal_ms = NAN,
        .smis = so_far->counted & CHARACTERIZE_COUNTED_SMIS ? so_far->smis : NAN,
    };
    seen->discarded = so_far->given_up;
    snprintf(seen->uncounted, sizeof seen->uncounted, "with interrupts masked the kernel module counts cycles alone");
    if (so_far->given_up > 0) {
        native_note(&h->native,
                    "a hypervisor or firmware held the CPU in %u masked trials until their 5 ms were over: they are "
                    "not among the results",
                    so_far->given_up);
    }
}

static int masked_trials(struct helper *h, const struct trials_request *r, double *duration, struct trials_seen *seen,
                         struct machine_error *err)
{
    struct trials_tally so_far = {.counted = UINT32_MAX};

    int status = check_masked(r, err);
    if (status != MACHINE_OK)
        return status;
    struct length_search search = {h, r, err, MACHINE_OK};
    seen->rounds = trials_find_rounds(ticks_of_rounds, &search, (double)helper_ticks(h, r->trial_us));
    if (search.status != MACHINE_OK)
        return search.status;
    double *ticks = calloc(2 * (size_t)r->trials, sizeof *ticks);
    if (ticks == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    status = run_trials(h, r, seen->rounds, &so_far, ticks, ticks + r->trials, err);
    if (status == MACHINE_OK)
        report_trials(h, &so_far, ticks, ticks + r->trials, duration, seen);
    free(ticks);
    return status;
}

/* Runs trials in user space, on the CPU that the module would use; cycles where perf counts them. */
static int plain_trials(struct helper *h, const struct trials_request *r, double *duration, struct trials_seen *seen,
                        struct machine_error *err)
{
    struct perf_system system;
    struct perf_pmu pmu;
    struct cpu_mask before;

    if (cpu_pin(h->native.cpu, &before) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "choose another CPU with --cpu", "CPU %d cannot be used: %s",
                            h->native.cpu, strerror(errno));
    }
    perf_real_system(&system);
    int status = part_events_check(&h->events, &h->native, &pmu, err);
    if (status == MACHINE_OK) {
        status = h->clock == HELPER_COUNTERS ? perf_trials(&system, &pmu, &h->native, r, duration, seen, err)
                                             : trials_run(&h->native, r, NULL, duration, seen, err);
    }
    cpu_set_affinity(&before);
    return status;
}

int helper_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                  struct machine_error *err)
{
    struct helper *h = m->state;

    *seen = (struct trials_seen){0};
    if (!h->native.prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the helper machine was not prepared");
    return r->masked ? masked_trials(h, r, duration, seen, err) : plain_trials(h, r, duration, seen, err);
}
