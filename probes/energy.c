/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A repetition: the kernel until it has settled, a reading of the energy counter, the kernel for a while, another
 * reading. The machine waits for the counter to move at either end. Where it refuses a repetition of that length (the
 * kernel helper masks interrupts for 10 ms at most) many short ones are requested.
 */
#include "probes/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

#define START_SECONDS 1e-3 /* Intel's optimization manual: a license is granted within 500 us */
#define PIECE_US 5000.0    /* any machine runs as much in one go */
#define LONGEST_US 2e6
#define LOST_US 250.0 /* beyond what a sample should take: more than an interrupt */

void energy_defaults(struct energy_setup *s, const struct payload *kernel)
{
    memset(s, 0, sizeof *s);
    s->kernel = *kernel;
    s->idle = kernel_named("pause");
    s->machine.cpu = -1;
    s->runs = 5;
    s->settle_us = 20000;
    s->duration_us = 100000;
    s->period_us = 250; /* most samples are not interrupted by a timer of 1000 Hz */
}

int energy_can(struct machine *m, struct machine_error *err)
{
    struct energy_reading unused;
    struct machine_info info;
    if (m->ops->read_energy)
        return m->ops->read_energy(m, &unused, NULL, err);
    m->ops->info(m, &info);
    return machine_fail(err, MACHINE_CANNOT, "", "machine %.80s cannot read energy", info.name);
}

/* Positions of the counters in the readings of a recording. */
struct slots {
    int cycles, ref, chain_ticks, chain_cycles; /* words of a reading; -1 = not counted */
    double tsc_hz, period_us;
    double reading_us; /* that a reading takes, where no words tell */
};

static double grown(const struct recording *r, int word)
{
    return recording_difference(recording_at(r, r->n - 1), r->words, word);
}

/*
 * Finds for how much of a recording something else ran: interrupts, too short to be seen one by one. Its samples are
 * short enough that most of them are not interrupted: the median of their rates is that of the code, and the missing
 * operations would have taken so many seconds. operations, seconds: of each of the n samples, which should take
 * `period` seconds; scratch: n.
 */
static void energy_other(const double *operations, const double *seconds, size_t n, double period, double *scratch,
                         struct energy_stretch *out)
{
    double all = 0, done = 0, start = 0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = operations[i] / seconds[i];
        all += seconds[i];
        done += operations[i];
        out->lost_seconds += seconds[i] - period > LOST_US * 1e-6 ? seconds[i] - period : 0;
    }
    double rate = order_median(scratch, n);
    if (!(rate > 0))
        return;
    for (size_t i = 0; i < n && start < START_SECONDS; start += seconds[i++])
        out->start_seconds += fmax(0, seconds[i] - operations[i] / rate);
    out->other_seconds += fmax(0, all - done / rate);
}

/* Adds the time in which something else than the code ran. 0, or -1: out of memory. */
static int add_other(const struct recording *r, const struct slots *slots, struct energy_stretch *out)
{
    size_t n = r->n - 1;
    double *operations = malloc(3 * n * sizeof *operations), *seconds = operations ? operations + n : NULL;
    if (!operations)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *now = recording_at(r, i + 1), *before = recording_at(r, i);
        operations[i] = recording_difference(now, before, RECORDING_INSTRUCTIONS);
        seconds[i] = recording_difference(now, before, RECORDING_TSC) / slots->tsc_hz;
    }
    energy_other(operations, seconds, n, slots->period_us * 1e-6, seconds + n, out);
    out->other_seconds += slots->cycles < 0 ? grown(r, slots->chain_ticks) / slots->tsc_hz
                                            : (double)n * slots->reading_us * 1e-6;
    free(operations);
    return 0;
}

/* Adds the recording of a segment. 0, or -1: out of memory. */
static int add_recording(const struct recording *r, const struct segment *segment, const struct slots *slots,
                         struct energy_stretch *out)
{
    const struct payload *p = &segment->payload;
    double ticks = r->n < 2 ? 0 : grown(r, RECORDING_TSC), recorded = ticks / slots->tsc_hz;
    /* samples are pieces of work, and the last one is done to its end */
    out->run_seconds += fmax(segment->duration_us * 1e-6, recorded);
    if (r->n < 2)
        return 0;
    if (add_other(r, slots, out))
        return -1;
    out->recorded_seconds += recorded;
    out->operations += grown(r, RECORDING_INSTRUCTIONS) * p->counted / p->instructions;
    double cycles = grown(r, slots->cycles), ref = grown(r, slots->ref);
    if (slots->cycles >= 0) { /* both count the same mode; the TSC counts what interrupts take, too */
        out->cycles += cycles;
        out->cycle_seconds += (isnan(ref) ? ticks : ref) / slots->tsc_hz;
    } else {
        out->cycles += grown(r, slots->chain_cycles) / CHAIN_CYCLE_UNIT;
        out->cycle_seconds += grown(r, slots->chain_ticks) / slots->tsc_hz;
    }
    return 0;
}

/* Pieces of a kernel until `us` are over; into *out unless that is NULL. */
static int run_pieces(struct machine *m, const struct payload *p, double us, double piece_us, const struct slots *slots,
                      uint64_t repetition, struct energy_stretch *out, struct machine_error *err)
{
    int status = MACHINE_OK;
    for (double left = us; left > 0 && status == MACHINE_OK; left -= piece_us) {
        const struct segment segment = {*p, fmin(left, piece_us), out != NULL};
        struct run_request request = {.segments = &segment, .n_segments = 1, .repetition = repetition};
        struct recording rec;
        status = m->ops->run(m, &request, &rec, err);
        if (status == MACHINE_OK && out && add_recording(&rec, &segment, slots, out))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    return status;
}

/* How long a reading takes, waiting for the counter included. */
static int reading_us(struct machine *m, double *us, struct machine_error *err)
{
    struct energy_reading first, second;
    int status = m->ops->read_energy(m, &first, NULL, err);
    if (status == MACHINE_OK)
        status = m->ops->read_energy(m, &second, NULL, err);
    if (status == MACHINE_OK)
        *us = (second.seconds - first.seconds) * 1e6;
    return status;
}

static int record_stretch(struct machine *m, const struct energy_setup *s, const struct payload *p,
                          const struct slots *slots, uint64_t repetition, struct energy_stretch *out, char source[200],
                          struct machine_error *err)
{
    struct energy_reading before, after;
    const char *name = "";
    double us = 0;
    int status = run_pieces(m, p, s->settle_us, PIECE_US, slots, repetition, NULL, err);
    if (status == MACHINE_OK)
        status = reading_us(m, &us, err);
    us = fmin(fmax(s->duration_us, ENERGY_READINGS * us), fmax(LONGEST_US, s->duration_us));
    /* as one repetition, or where that is refused in pieces */
    for (double piece = us; status == MACHINE_OK; piece = PIECE_US) {
        memset(out, 0, sizeof *out);
        status = m->ops->read_energy(m, &before, &name, err);
        if (status == MACHINE_OK)
            status = run_pieces(m, p, us, piece, slots, repetition, out, err);
        if (status != MACHINE_BAD_INPUT || piece <= PIECE_US)
            break;
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK)
        status = m->ops->read_energy(m, &after, NULL, err);
    if (status != MACHINE_OK)
        return status;
    out->joules = after.joules - before.joules;
    out->seconds = after.seconds - before.seconds;
    snprintf(source, 200, "%s", name);
    return MACHINE_OK;
}

/* One repetition of one payload on all active cores. */
static int one_stretch(struct machine *m, const struct energy_setup *s, const struct payload *p, uint64_t repetition,
                       struct energy_stretch *out, struct energy_result *result, struct machine_error *err)
{
    static const enum counter_id wanted[] = {COUNTER_CYCLES, COUNTER_REF_CYCLES, COUNTER_CHAIN_TICKS,
                                             COUNTER_CHAIN_CYCLES};
    struct counter_spec counters[4];
    struct machine_setup setup = s->machine;
    struct machine_info info;
    size_t n = 0;
    for (size_t i = 0; i < 4; i++)
        if (!m->ops->lacks(m, wanted[i], NULL))
            counters[n++] = (struct counter_spec){wanted[i], 0};
    setup.corunner = *p;
    setup.period_us = s->period_us;
    setup.counters = counters;
    setup.n_counters = n;
    setup.max_samples = repetitions_room(fmax(LONGEST_US, s->duration_us), s->period_us);
    int status = m->ops->prepare(m, &setup, err);
    if (status)
        return status;
    m->ops->info(m, &info);
    struct slots slots = {recording_word(counters, n, COUNTER_CYCLES),
                          recording_word(counters, n, COUNTER_REF_CYCLES),
                          recording_word(counters, n, COUNTER_CHAIN_TICKS),
                          recording_word(counters, n, COUNTER_CHAIN_CYCLES),
                          info.tsc_hz,
                          s->period_us,
                          s->reading_us};
    status = record_stretch(m, s, p, &slots, repetition, out, result->source, err);
    m->ops->info(m, &info); /* which cores the counter is of is known once it has been read */
    result->active_cores = info.active_cores;
    result->counted_cores = info.energy_cores ? info.energy_cores : info.active_cores;
    m->ops->finish(m);
    return status;
}

int energy_run(struct machine *m, const struct energy_setup *s, struct energy_result *out, struct machine_error *err)
{
    memset(out, 0, sizeof *out);
    if (s->machine.siblings)
        return machine_fail(err, MACHINE_BAD_INPUT, "leave the other hyper-threads idle",
                            "SMT siblings use energy, but their instructions are not counted");
    int status = m->ops->read_energy ? MACHINE_OK : energy_can(m, err);
    if (!status && s->duration_us < s->period_us)
        status = machine_fail(err, MACHINE_CANNOT, "use a longer --observe or a shorter --period",
                              "no sample fits: %g us are observed with a sampling period of %g us", s->duration_us,
                              s->period_us);
    if (status)
        return status;
    out->pairs = calloc(s->runs ? s->runs : 1, sizeof *out->pairs);
    if (!out->pairs)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (unsigned run = 0; run < s->runs && status == MACHINE_OK; run++) {
        struct energy_pair *p = &out->pairs[run];
        status = one_stretch(m, s, &s->idle, run, &p->idle, out, err);
        if (status == MACHINE_OK)
            status = one_stretch(m, s, &s->kernel, run, &p->kernel, out, err);
        out->n += status == MACHINE_OK;
        if (status == MACHINE_OK && s->progress && s->progress(s->data, run + 1, s->runs))
            break;
    }
    if (status)
        energy_result_free(out);
    return status;
}

void energy_result_free(struct energy_result *r)
{
    free(r->pairs);
    memset(r, 0, sizeof *r);
}
