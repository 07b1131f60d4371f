/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/overhead.h"

#include <math.h>
#include <stdlib.h>

#include "drivers/native/sampling.h"
#include "probes/repetitions.h"
#include "trace/from_recording.h"
#include "util/order.h"

enum { NUMBERS = 6 }; /* a curve has three arrays and scratch for three */
/* A chain that took longer than this times the usual was stopped on its way: frequencies differ by less. */
#define STOPPED 3.0

static double section(const struct recording *rec, size_t i, int word)
{
    return recording_difference(recording_at(rec, i), recording_at(rec, i - 1), word);
}

/* Ticks of the reading that ends section i: of its chain, if it has one, unless the core was stopped in it. */
static double chain_ticks_of(const struct recording *rec, size_t i, int ticks_word, int cycles_word, double usual)
{
    double ticks = section(rec, i, ticks_word), cycles = section(rec, i, cycles_word);
    return ticks > STOPPED * usual * cycles ? usual * cycles : ticks;
}

/* The median of what a word grows by in a section, for each that word `by` does (-1: in all). */
static double usual_growth(const struct recording *rec, int word, int by, double *scratch)
{
    for (size_t i = 1; i < rec->n; i++)
        scratch[i - 1] = section(rec, i, word) / (by < 0 ? 1 : section(rec, i, by));
    return order_median(scratch, rec->n - 1);
}

/* What one step of the clock does to the shortest chain, or to a sample of counted cycles. */
static double quantum_of(const struct recording *rec, bool instant, int cycles_word, double usual, double step)
{
    double shortest = INFINITY;
    for (size_t i = 1; instant && i < rec->n; i++)
        shortest = section(rec, i, cycles_word) > 0 ? fmin(shortest, section(rec, i, cycles_word)) : shortest;
    double all = recording_difference(recording_at(rec, rec->n - 1), rec->words, RECORDING_TSC);
    double quantum = instant ? step / (shortest * usual) : step * (double)(rec->n - 1) / all;
    return quantum > 0 && quantum < 1 ? quantum : 0;
}

bool overhead_curve(const struct recording *rec, const struct counter_spec *counters, size_t n_counters, double tsc_hz,
                    double reading_us, struct work_curve *out)
{
    int cycles = recording_word(counters, n_counters, COUNTER_CYCLES);
    int chain_ticks = recording_word(counters, n_counters, COUNTER_CHAIN_TICKS);
    int chain_cycles = recording_word(counters, n_counters, COUNTER_CHAIN_CYCLES);
    int read_ticks = recording_word(counters, n_counters, COUNTER_READ_TICKS);
    bool counted = cycles >= 0, chained = chain_ticks >= 0 && chain_cycles >= 0;
    if (rec->n < 2 || rec->zero_reading >= rec->n)
        return false;
    double usual = chained ? usual_growth(rec, chain_ticks, chain_cycles, out->scratch) : NAN;
    double usual_read = read_ticks >= 0 ? usual_growth(rec, read_ticks, -1, out->scratch) : NAN;
    out->instant = chained && !counted;
    out->quantum = quantum_of(rec, out->instant, chain_cycles, usual, out->step);
    out->n = rec->n;
    out->zero = rec->zero_reading;
    out->time_us[0] = out->work[0] = 0;
    out->ghz[0] = NAN;
    for (size_t i = 1; i < rec->n; i++) {
        double ticks = section(rec, i, RECORDING_TSC), own = ticks, hz = NAN;
        if (counted) {
            hz = section(rec, i, cycles) / ticks * tsc_hz;
            own = fmax(ticks - reading_us * 1e-6 * tsc_hz, 0);
        } else if (chained) {
            double reading = chain_ticks_of(rec, i, chain_ticks, chain_cycles, usual);
            own = ticks - reading;
            if (read_ticks >=
                0) { /* what was before the chain is no payload either, unless the core was stopped in it */
                double all = section(rec, i, read_ticks);
                own = ticks - (from_recording_reading_lost(all, usual_read, tsc_hz) ? usual_read : all);
            }
            hz = reading > 0 ? section(rec, i, chain_cycles) / CHAIN_CYCLE_UNIT / reading * tsc_hz : NAN;
        }
        out->time_us[i] = out->time_us[i - 1] + own / tsc_hz * 1e6;
        out->work[i] = out->work[i - 1] + section(rec, i, RECORDING_INSTRUCTIONS);
        out->ghz[i] = hz * 1e-9;
    }
    double zero_us = out->time_us[out->zero], zero_work = out->work[out->zero];
    for (size_t i = 0; i < rec->n; i++) {
        out->time_us[i] -= zero_us;
        out->work[i] -= zero_work;
    }
    return true;
}

/* All repetitions on a prepared machine. curve: room for `capacity` readings. */
static int probe_overhead_repeat(struct machine *m, const struct overhead_setup *s, const struct counter_spec *counters,
                                 size_t n, struct work_curve *curve, size_t capacity, overhead_sink *sink, void *data,
                                 struct machine_error *err)
{
    struct machine_info info;
    struct segment segments[3] = {
        {s->first, s->warmup_us, false}, {s->first, s->before_us, true}, {s->second, s->observe_us, true}};
    if (!(s->before_us > 0))
        segments[1] = segments[2];
    size_t n_segments = s->before_us > 0 ? 3 : 2;
    m->ops->info(m, &info);
    curve->step = info.tsc_step;
    for (unsigned run = 0; run < s->runs; run++) {
        struct run_request request = {.segments = segments,
                                      .n_segments = n_segments,
                                      .zero_segment = n_segments - 1,
                                      .phase = repetitions_phase(run),
                                      .repetition = run};
        struct recording rec;
        int status = m->ops->run(m, &request, &rec, err);
        if (status)
            return status;
        const char *why = recording_disturbed(&rec);
        if (!why && (rec.n > capacity || !overhead_curve(&rec, counters, n, info.tsc_hz, s->reading_us, curve)))
            why = "the recording is not complete";
        if (sink(data, run, why ? NULL : curve, why))
            break;
    }
    return MACHINE_OK;
}

int overhead_run(struct machine *m, const struct overhead_setup *s, overhead_sink *sink, void *data,
                 struct machine_error *err)
{
    struct counter_spec counters[REPETITIONS_COUNTERS_MAX];
    struct machine_setup setup = s->machine;
    setup.period_us = s->period_us;
    setup.counters = counters;
    setup.n_counters = repetitions_counters(m, false, NULL, 0, counters);
    setup.max_samples = repetitions_room(s->before_us + s->observe_us, s->period_us);
    size_t capacity = SAMPLING_ROOM_A_PERIOD * setup.max_samples + 1; /* of a machine that takes the most */
    double *numbers = malloc(NUMBERS * capacity * sizeof *numbers);
    if (!numbers)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    int status = m->ops->prepare(m, &setup, err);
    if (status == MACHINE_OK) {
        struct work_curve curve = {.time_us = numbers,
                                   .work = numbers + capacity,
                                   .ghz = numbers + 2 * capacity,
                                   .scratch = numbers + 3 * capacity};
        status = probe_overhead_repeat(m, s, counters, setup.n_counters, &curve, capacity, sink, data, err);
        m->ops->finish(m);
    }
    free(numbers);
    return status;
}
