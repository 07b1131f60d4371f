/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/overhead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "probes/transition.h"

enum { COUNTERS_MAX = 4, NUMBERS = 6 }; /* a curve has three arrays and scratch for three */
/* A chain that took longer than this times the usual was stopped on its way: frequencies differ by less. */
#define STOPPED 3.0

/* Where a counter stands in a reading; 0: not counted. */
static size_t word_of(const struct counter_spec *counters, size_t n, enum counter_id id)
{
    for (size_t i = 0; i < n; i++)
        if (counters[i].id == id)
            return 2 + i;
    return 0;
}

static double probe_overhead_difference(const struct recording *rec, size_t i, size_t word)
{
    uint64_t now = rec->words[i * rec->stride + word], before = rec->words[(i - 1) * rec->stride + word];
    return now == COUNTER_MISSING || before == COUNTER_MISSING ? NAN : (double)(int64_t)(now - before);
}

/* Ticks of the reading that ends section i: of its chain, unless the core was stopped in it. */
static double probe_overhead_reading_ticks(const struct recording *rec, size_t i, size_t ticks_word, size_t cycles_word,
                                           double usual)
{
    double ticks = probe_overhead_difference(rec, i, ticks_word),
           cycles = probe_overhead_difference(rec, i, cycles_word);
    double most = STOPPED * usual * cycles;
    return ticks > most ? usual * cycles : ticks;
}

static double usual_ticks_per_cycle(const struct recording *rec, size_t ticks_word, size_t cycles_word, double *scratch)
{
    size_t n = 0;
    for (size_t i = 1; i < rec->n; i++)
        scratch[n++] = probe_overhead_difference(rec, i, ticks_word) / probe_overhead_difference(rec, i, cycles_word);
    return robust_median(scratch, n);
}

static double usual_difference(const struct recording *rec, size_t word, double *scratch)
{
    for (size_t i = 1; i < rec->n; i++)
        scratch[i - 1] = probe_overhead_difference(rec, i, word);
    return robust_median(scratch, rec->n - 1);
}

/* How the frequency is told: what one step of the clock does to the shortest chain, or to a sample of counted
 * cycles. */
static struct clock_reading probe_overhead_clock_of(const struct recording *rec, bool instant, size_t cycles_word,
                                                    double usual, double step)
{
    struct clock_reading r = {.instant = instant};
    double shortest = INFINITY;
    for (size_t i = 1; instant && i < rec->n; i++)
        shortest = fmin(shortest, probe_overhead_difference(rec, i, cycles_word));
    double all = (double)(rec->words[(rec->n - 1) * rec->stride] - rec->words[0]);
    double quantum = instant ? step / (shortest * usual) : step * (double)(rec->n - 1) / all;
    r.quantum = quantum > 0 && quantum < 1 ? quantum : 0;
    return r;
}

bool overhead_curve(const struct recording *rec, const struct counter_spec *counters, size_t n_counters, double tsc_hz,
                    double reading_us, struct work_curve *out)
{
    size_t cycles = word_of(counters, n_counters, COUNTER_CYCLES);
    size_t chain_ticks = word_of(counters, n_counters, COUNTER_CHAIN_TICKS);
    size_t chain_cycles = word_of(counters, n_counters, COUNTER_CHAIN_CYCLES);
    size_t read_ticks = word_of(counters, n_counters, COUNTER_READ_TICKS);
    bool chained = chain_ticks && chain_cycles;
    if (rec->n < 2 || rec->zero_reading >= rec->n)
        return false;
    double usual = chained ? usual_ticks_per_cycle(rec, chain_ticks, chain_cycles, out->scratch) : NAN;
    double usual_read = read_ticks ? usual_difference(rec, read_ticks, out->scratch) : NAN;
    out->clock = probe_overhead_clock_of(rec, chained && !cycles, chain_cycles, usual, out->step);
    out->n = rec->n;
    out->zero = rec->zero_reading;
    out->time_us[0] = out->work[0] = 0;
    out->ghz[0] = NAN;
    for (size_t i = 1; i < rec->n; i++) {
        double ticks = probe_overhead_difference(rec, i, 0), own = ticks, hz = NAN;
        if (cycles) {
            hz = probe_overhead_difference(rec, i, cycles) / ticks * tsc_hz;
            own = fmax(ticks - reading_us * 1e-6 * tsc_hz, 0);
        } else if (chained) {
            double reading = probe_overhead_reading_ticks(rec, i, chain_ticks, chain_cycles, usual);
            own = ticks - reading;
            if (read_ticks) { /* what was before the chain is no payload either, unless the core was stopped in it */
                double all = probe_overhead_difference(rec, i, read_ticks);
                own = ticks - (from_recording_reading_lost(all, usual_read, tsc_hz) ? usual_read : all);
            }
            hz = probe_overhead_difference(rec, i, chain_cycles) / CHAIN_CYCLE_UNIT / reading * tsc_hz;
        }
        out->time_us[i] = out->time_us[i - 1] + own / tsc_hz * 1e6;
        out->work[i] = out->work[i - 1] + probe_overhead_difference(rec, i, 1);
        out->ghz[i] = hz * 1e-9;
    }
    double zero_us = out->time_us[out->zero], zero_work = out->work[out->zero];
    for (size_t i = 0; i < rec->n; i++) {
        out->time_us[i] -= zero_us;
        out->work[i] -= zero_work;
    }
    return true;
}

static size_t probe_overhead_choose_counters(const struct machine *m, struct counter_spec out[COUNTERS_MAX])
{
    static const enum counter_id wanted[COUNTERS_MAX] = {COUNTER_CYCLES, COUNTER_CHAIN_TICKS, COUNTER_CHAIN_CYCLES,
                                                         COUNTER_READ_TICKS};
    size_t n = 0;
    for (size_t i = 0; i < COUNTERS_MAX; i++)
        if (!m->ops->lacks(m, wanted[i], NULL))
            out[n++] = (struct counter_spec){wanted[i], 0};
    return n;
}

static const char *invalid_by(const struct recording *rec)
{
    if (rec->migrated)
        return "the thread ended on another CPU";
    if (rec->involuntary_switches)
        return "taken off its CPU by the scheduler";
    return rec->page_faults ? "page faults" : NULL;
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
        /* multiples of the golden ratio fill a period evenly however many there are (Knuth, TAOCP 3, section 6.4) */
        struct run_request request = {.segments = segments,
                                      .n_segments = n_segments,
                                      .zero_segment = n_segments - 1,
                                      .phase = repetitions_phase(run),
                                      .repetition = run};
        struct recording rec;
        int status = m->ops->run(m, &request, &rec, err);
        if (status)
            return status;
        const char *why = invalid_by(&rec);
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
    struct counter_spec counters[COUNTERS_MAX];
    struct machine_setup setup = s->machine;
    setup.period_us = s->period_us;
    setup.counters = counters;
    setup.n_counters = probe_overhead_choose_counters(m, counters);
    setup.max_samples = (size_t)((s->before_us + s->observe_us) / s->period_us * 1.1) + 64;
    size_t capacity = setup.max_samples + 1;
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
