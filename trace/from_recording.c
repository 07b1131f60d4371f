/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts a machine's raw recording into the samples of a trace. */
#include "trace/from_recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/events/event_code.h"
#include "util/order.h"

/* At least so many cycles have the long chains of periods that grow, and no others but those of long periods. */
#define LONG_CHAIN_CYCLES 1500.0
/* Readings that take longer have lost time in them. Throttling makes the wait before a chain some four times longer. */
#define READING_MOST 3.0
/* Us that a reading of counters may take beyond the usual. */
#define READING_SLACK_US 0.3

static const enum trace_channel share_channel[COUNTER_IDS] = {[COUNTER_LVL0] = TRACE_LVL0,
                                                              [COUNTER_LVL1] = TRACE_LVL1,
                                                              [COUNTER_LVL2] = TRACE_LVL2,
                                                              [COUNTER_THROTTLE] = TRACE_THROTTLE};

int from_recording_begin(struct trace *t, const struct counter_spec *counters, size_t n)
{
    char column[EVENT_COLUMN_MAX];
    int bad = trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC);
    for (size_t c = 0; c < n; c++)
        if (counters[c].id >= COUNTER_LVL0 && counters[c].id <= COUNTER_THROTTLE)
            bad |= trace_add_channel(t, share_channel[counters[c].id]);
    for (size_t c = 0; c < n; c++)
        if (counters[c].id == COUNTER_EVENT) {
            event_code_column(counters[c].event, column);
            bad |= trace_add_extra(t, column);
        }
    bad |= trace_set(t, "sampler", "fixed work");
    /* a chain at the end of each sample gives the frequency there, not the mean over the sample */
    if (recording_word(counters, n, COUNTER_CYCLES) < 0)
        bad |= trace_set(t, "frequency", "instantaneous");
    return bad;
}

/* Per cycle, of one word. */
static double share_of(const uint64_t *now, const uint64_t *before, size_t word, double cycles)
{
    return cycles > 0 ? recording_difference(now, before, (int)word) / cycles : NAN;
}

/* The extra columns of the last sample: counts per cycle, empty where something was not counted. */
static int append_events(struct trace *t, const uint64_t *now, const uint64_t *before,
                         const struct counter_spec *counters, size_t n_counters, double cycles)
{
    size_t extra = 0;
    for (size_t c = 0; c < n_counters && extra < t->n_extra; c++) {
        if (counters[c].id != COUNTER_EVENT)
            continue;
        char text[32];
        double value = share_of(now, before, RECORDING_COUNTERS + c, cycles);
        snprintf(text, sizeof text, "%.7g", value);
        if (trace_put_extra(t, extra++, isnan(value) ? "" : text))
            return -1;
    }
    return 0;
}

/* Positions of the words of a recording that give the frequency; -1 = not counted. */
struct clock_words {
    int cycles, chain_cycles, chain_ticks, read_ticks;
};

static struct clock_words clock_words(const struct counter_spec *counters, size_t n)
{
    return (struct clock_words){
        recording_word(counters, n, COUNTER_CYCLES), recording_word(counters, n, COUNTER_CHAIN_CYCLES),
        recording_word(counters, n, COUNTER_CHAIN_TICKS), recording_word(counters, n, COUNTER_READ_TICKS)};
}

/* Ticks of a sample in which the payload does not run. */
static double reading_ticks(const struct clock_words *s, const uint64_t *now, const uint64_t *before)
{
    return recording_difference(now, before, s->read_ticks >= 0 ? s->read_ticks : s->chain_ticks);
}

/* Returns true if reading k has a chain. */
static bool has_chain(const struct recording *rec, const struct clock_words *s, size_t k)
{
    return recording_difference(recording_at(rec, k), recording_at(rec, k - 1), s->chain_cycles) > 0;
}

/* Returns true if reading k is by one of the long chains, which are taken where the period is long. */
static bool by_long_chain(const struct recording *rec, const struct clock_words *s, size_t k)
{
    return recording_difference(recording_at(rec, k), recording_at(rec, k - 1), s->chain_cycles) >
           LONG_CHAIN_CYCLES * CHAIN_CYCLE_UNIT;
}

/* The usual duration of readings, ticks: the medians of those by short chains, and by long ones. */
struct usual_reading {
    double ticks[2];
};

/* NaN where cycles are counted, where there are none, or out of memory. */
static struct usual_reading usual_reading(const struct recording *rec, const struct clock_words *s)
{
    double *x = s->cycles < 0 && rec->n > 1 ? malloc((rec->n - 1) * sizeof *x) : NULL;
    struct usual_reading usual = {{NAN, NAN}};
    for (int is_long = 0; x && is_long < 2; is_long++) {
        size_t n = 0;
        for (size_t k = 1; k < rec->n; k++)
            if (has_chain(rec, s, k) && by_long_chain(rec, s, k) == is_long)
                x[n++] = reading_ticks(s, recording_at(rec, k), recording_at(rec, k - 1));
        usual.ticks[is_long] = order_median(x, n);
    }
    free(x);
    return usual;
}

/*
 * The frequency, Hz, of a recording in which not every sample has a chain, by all chains that it has. Times are
 * averaged first, and divided last: only means of values in steps of a clock are right. 0: every sample has one, or
 * cycles are counted; NaN: none has, or out of memory.
 */
static double pooled_hz(const struct recording *rec, const struct clock_words *s, double tsc_hz)
{
    if (s->cycles >= 0)
        return 0;
    double *x = malloc((rec->n + 1) * sizeof *x), offset;
    size_t n = 0, kept;
    for (size_t k = 1; x && k < rec->n; k++)
        if (has_chain(rec, s, k))
            x[n++] = recording_difference(recording_at(rec, k), recording_at(rec, k - 1), s->chain_ticks) /
                     recording_difference(recording_at(rec, k), recording_at(rec, k - 1), s->chain_cycles);
    double middle = order_median(x, n);
    offset = order_offset_within(x, n, middle, FROM_RECORDING_SAME_CLOCK * middle, &kept);
    bool all = x && n + 1 >= rec->n;
    free(x);
    return all ? 0 : tsc_hz / CHAIN_CYCLE_UNIT / (middle + offset);
}

/* Returns true if a reading that took so many ticks lost time, to a halt or to other tasks; `usual` is the usual
 * duration. */
static bool reading_lost(double ticks, double usual, double tsc_hz)
{
    return ticks > READING_MOST * usual + READING_SLACK_US * 1e-6 * tsc_hz;
}

/* The expected duration of a reading at sample k, ticks: where the chain before or after it takes long, all readings
 * do. */
static double reading_there(const struct recording *rec, const struct clock_words *s, size_t k,
                            const struct usual_reading *u)
{
    double slower = 1;
    for (int after = 0; after < 2 && s->cycles < 0; after++) {
        size_t i = k;
        do
            i = after ? i + 1 : i - 1;
        while (i > 0 && i < rec->n && !has_chain(rec, s, i));
        if (i > 0 && i < rec->n)
            slower = fmax(slower, reading_ticks(s, recording_at(rec, i), recording_at(rec, i - 1)) /
                                      u->ticks[by_long_chain(rec, s, i)]);
    }
    return slower * u->ticks[s->cycles < 0 && by_long_chain(rec, s, k)];
}

/*
 * The frequency of a sample, Hz, and the cycles in which the payload ran. Time lost in a reading, to a halt or to
 * others, is time lost in the sample, whose chain says nothing then: `last`, the frequency before, stands. Where not
 * every sample has a chain, the others have no frequency, and cycles are those of the `pooled` one; else it is 0.
 */
static double sample_hz(const struct clock_words *s, const uint64_t *now, const uint64_t *before, double tsc_hz,
                        double usual, double pooled, double last, double *payload_cycles)
{
    double ticks = recording_difference(now, before, RECORDING_TSC);
    if (s->cycles >= 0) {
        *payload_cycles = recording_difference(now, before, s->cycles);
        return *payload_cycles / ticks * tsc_hz;
    }
    double chain = recording_difference(now, before, s->chain_ticks), reading = reading_ticks(s, now, before);
    double hz = recording_difference(now, before, s->chain_cycles) / CHAIN_CYCLE_UNIT / chain * tsc_hz;
    if (reading_lost(reading, usual, tsc_hz)) {
        reading = usual;
        hz = pooled != 0 ? NAN : last > 0 ? last : hz;
    }
    *payload_cycles = (ticks - reading) / tsc_hz * (pooled != 0 ? pooled : hz);
    return hz;
}

int from_recording_append(struct trace *t, uint32_t run, const struct recording *rec, const struct recording_form *form,
                          char why[FROM_RECORDING_WHY_MAX])
{
    const struct counter_spec *counters = form->counters;
    const size_t n_counters = form->n_counters;
    const double tsc_hz = form->tsc_hz;
    const struct clock_words words = clock_words(counters, n_counters);
    const size_t before_it = t->n;
    why[0] = '\0';
    const struct usual_reading usual = usual_reading(rec, &words);
    const double pooled = pooled_hz(rec, &words, tsc_hz);
    double first = isnan(usual.ticks[0]) ? usual.ticks[1] : usual.ticks[0], hz = NAN;
    if (!isnan(first) && !trace_get(t, "reading_us") && trace_set_number(t, "reading_us", first / tsc_hz * 1e6))
        return -1;
    for (size_t k = 1; k < rec->n; k++) {
        const uint64_t *now = recording_at(rec, k), *before = now - rec->stride;
        double ticks = recording_difference(now, before, RECORDING_TSC), payload_cycles;
        if (!(ticks > 0))
            continue; /* two readings at one tick hold no sample */
        double here = reading_there(rec, &words, k, &usual);
        hz = sample_hz(&words, now, before, tsc_hz, here, pooled, hz, &payload_cycles);
        double time_us = recording_time_us(rec, now[RECORDING_TSC], tsc_hz);
        if (time_us < form->from_us)
            continue;
        if (trace_append(t, run, time_us))
            return -1;
        size_t i = t->n - 1;
        double cycles = recording_difference(now, before, words.cycles);
        t->channel[TRACE_FREQ][i] = (float)(hz * 1e-9);
        double cost = (k <= rec->zero_reading ? &form->before : &form->after)->instructions;
        if (payload_cycles > 0)
            t->channel[TRACE_IPC][i] = (float)((recording_difference(now, before, RECORDING_INSTRUCTIONS) + cost) /
                                               payload_cycles);
        for (size_t c = 0; c < n_counters; c++)
            if (counters[c].id >= COUNTER_LVL0 && counters[c].id <= COUNTER_THROTTLE)
                t->channel[share_channel[counters[c].id]][i] = (float)share_of(now, before, RECORDING_COUNTERS + c,
                                                                               cycles);
        if (append_events(t, now, before, counters, n_counters, cycles))
            return -1;
        char what[FROM_RECORDING_WHY_MAX - 20];
        bool within = trace_sample_within(t, i, what, sizeof what);
        if (!within && form->tolerant) {
            trace_blank_sample(t, i);
        } else if (!within) {
            snprintf(why, FROM_RECORDING_WHY_MAX, "at %.7g us %s", time_us, what);
            t->n = before_it;
            return 0;
        }
    }
    return 0;
}
