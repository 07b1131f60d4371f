/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One kernel, then another: N repetitions of a warm-up and a switch, sampled throughout (the method of the Skylake-SP
 * dissertation, section 3.2.2, and of "Gathering Intel on Intel AVX-512 Transitions"). The sample grid is shifted from
 * repetition to repetition, so that edges can be placed to a fraction of the period. Voltage is never read in a sampled
 * repetition, since reading it disturbs: further repetitions end at a different time each and read it once.
 */
#include "probes/transition.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/stats/robust.h"
#include "drivers/events/event_code.h"
#include "drivers/msr/msr_decode.h"

enum { VOLT_READINGS_MAX = 2000, SETTLE_US = 5, SETTLE_PERIODS = 4 };
enum { VOLT_TRIES = 20 }; /* readings without a voltage before the rest is given up */
/* ... but for this reason the next one may well succeed */
static const char disturbed[] = "something else ran between the kernel and the reading";
/* Readings that take longer have lost time in them. Throttling makes the wait before a chain some four times longer. */
#define COARSE_NS 2.0 /* steps of a clock that are worth a word where cycles are counted */
#define READING_MOST 3.0
#define READING_SLACK_US 0.3
/* After the kernel's end, more than readings take there: a reading this late tells of what ran in between. The kernel's
 * end is looked for some twenty times in a period, and a quarter as often where it is throttled. */
#define LATE_US 20.0
#define USUAL_MOST_US 100.0 /* what usually comes later tells nothing: a core may have come back */
#define LATE_PERIODS 0.25

/* Ranks of what can be asked for: scalar and 128 bit, light 256, heavy 256 and light 512, heavy 512 and tiles. */
static int demand(const struct payload *p)
{
    bool heavy = p->kernel->weight == KERNEL_HEAVY && p->density <= 2;
    if (p->kernel->width <= 128)
        return 0;
    if (p->kernel->width <= 256)
        return heavy ? 2 : 1;
    return heavy ? 3 : 2;
}

void transition_defaults(struct transition_setup *s, const struct payload *from, const struct payload *to)
{
    memset(s, 0, sizeof *s);
    s->from = *from;
    s->to = *to;
    s->runs = 100;
    s->warmup_us = 2500;
    s->before_us = 50;
    s->observe_us = demand(from) > demand(to) ? 1500 : 150;
    s->period_us = 1;
    s->cpu = -1;
}

double transition_phase(uint64_t run)
{
    return fmod((double)run * 0.6180339887498949, 1.0);
}

static double transition_share(uint64_t after, uint64_t before, double cycles)
{
    if (after == COUNTER_MISSING || before == COUNTER_MISSING || !(cycles > 0))
        return NAN;
    return (double)(after - before) / cycles;
}

static const enum trace_channel share_channel[COUNTER_IDS] = {[COUNTER_LVL0] = TRACE_LVL0,
                                                              [COUNTER_LVL1] = TRACE_LVL1,
                                                              [COUNTER_LVL2] = TRACE_LVL2,
                                                              [COUNTER_THROTTLE] = TRACE_THROTTLE};

/* Slots of the counters that transition_append needs; -1 = not counted. */
static int transition_slot_of(const struct counter_spec *counters, size_t n, enum counter_id id)
{
    for (size_t i = 0; i < n; i++)
        if (counters[i].id == id)
            return (int)i;
    return -1;
}

static double transition_difference(const uint64_t *now, const uint64_t *before, int slot)
{
    if (slot < 0 || now[2 + slot] == COUNTER_MISSING || before[2 + slot] == COUNTER_MISSING)
        return NAN;
    return (double)(now[2 + slot] - before[2 + slot]);
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
        double value = transition_share(now[2 + c], before[2 + c], cycles);
        snprintf(text, sizeof text, "%.7g", value);
        if (trace_put_extra(t, extra++, isnan(value) ? "" : text))
            return -1;
    }
    return 0;
}

static int note_number(struct trace *t, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    return trace_set(t, key, text);
}

/* Where the words of a recording are that tell the frequency; -1 = not counted. */
struct clock_slots {
    int cycles, chain_cycles, chain_ticks, read_ticks;
};

static struct clock_slots clock_slots(const struct counter_spec *counters, size_t n)
{
    return (struct clock_slots){
        transition_slot_of(counters, n, COUNTER_CYCLES), transition_slot_of(counters, n, COUNTER_CHAIN_CYCLES),
        transition_slot_of(counters, n, COUNTER_CHAIN_TICKS), transition_slot_of(counters, n, COUNTER_READ_TICKS)};
}

/* Ticks of a sample in which the payload does not run. */
static double transition_reading_ticks(const struct clock_slots *s, const uint64_t *now, const uint64_t *before)
{
    return transition_difference(now, before, s->read_ticks >= 0 ? s->read_ticks : s->chain_ticks);
}

/* What readings usually take, ticks: the median; NaN where cycles are counted, or out of memory. */
static double usual_reading(const struct recording *rec, const struct clock_slots *s)
{
    double *x = s->cycles < 0 && rec->n > 1 ? malloc((rec->n - 1) * sizeof *x) : NULL, usual = NAN;
    for (size_t k = 1; x && k < rec->n; k++)
        x[k - 1] = transition_reading_ticks(s, rec->words + k * rec->stride, rec->words + (k - 1) * rec->stride);
    if (x)
        usual = robust_median(x, rec->n - 1);
    free(x);
    return usual;
}

bool transition_reading_lost(double ticks, double usual, double tsc_hz)
{
    return ticks > READING_MOST * usual + READING_SLACK_US * 1e-6 * tsc_hz;
}

/* What a reading takes where sample k is, ticks: where those before or after it take long, all chains are slow. */
static double reading_there(const struct recording *rec, const struct clock_slots *s, size_t k, double usual)
{
    size_t first = k > 1 ? k - 1 : k, last = k + 1 < rec->n ? k + 1 : k;
    for (size_t i = first; i <= last && s->cycles < 0; i++) {
        const uint64_t *now = rec->words + i * rec->stride;
        if (i != k)
            usual = fmax(usual, transition_reading_ticks(s, now, now - rec->stride));
    }
    return usual;
}

/*
 * The frequency of a sample, Hz, and the cycles in which the payload ran. Time lost in a reading, to a halt or to
 * others, is time lost in the sample, whose chain tells nothing then: `last`, the frequency before, stands.
 */
static double sample_hz(const struct clock_slots *s, const uint64_t *now, const uint64_t *before, double tsc_hz,
                        double usual, double last, double *payload_cycles)
{
    double ticks = (double)(int64_t)(now[0] - before[0]);
    if (s->cycles >= 0) {
        *payload_cycles = transition_difference(now, before, s->cycles);
        return *payload_cycles / ticks * tsc_hz;
    }
    double chain = transition_difference(now, before, s->chain_ticks),
           reading = transition_reading_ticks(s, now, before);
    double hz = transition_difference(now, before, s->chain_cycles) / CHAIN_CYCLE_UNIT / chain * tsc_hz;
    if (transition_reading_lost(reading, usual, tsc_hz)) {
        reading = usual;
        hz = last > 0 ? last : hz;
    }
    *payload_cycles = (ticks - reading) / tsc_hz * hz;
    return hz;
}

int transition_append(struct trace *t, uint32_t run, const struct recording *rec, const struct counter_spec *counters,
                      size_t n_counters, double tsc_hz, double from_us, char why[TRANSITION_WHY_MAX])
{
    const struct clock_slots slots = clock_slots(counters, n_counters);
    const size_t before_it = t->n;
    why[0] = '\0';
    double usual = usual_reading(rec, &slots), hz = NAN;
    if (!isnan(usual) && !trace_get(t, "reading_us") && note_number(t, "reading_us", usual / tsc_hz * 1e6))
        return -1;
    for (size_t k = 1; k < rec->n; k++) {
        const uint64_t *now = rec->words + k * rec->stride, *before = now - rec->stride;
        double ticks = (double)(int64_t)(now[0] - before[0]), payload_cycles;
        if (!(ticks > 0))
            continue; /* two readings at one tick hold no sample */
        double here = reading_there(rec, &slots, k, usual);
        hz = sample_hz(&slots, now, before, tsc_hz, here, hz, &payload_cycles);
        double time_us = (double)(int64_t)(now[0] - rec->zero_tsc) / tsc_hz * 1e6;
        if (time_us < from_us)
            continue;
        if (trace_append(t, run, time_us))
            return -1;
        size_t i = t->n - 1;
        double cycles = transition_difference(now, before, slots.cycles);
        t->channel[TRACE_FREQ][i] = (float)(hz * 1e-9);
        if (payload_cycles > 0)
            t->channel[TRACE_IPC][i] = (float)((double)(now[1] - before[1]) / payload_cycles);
        for (size_t c = 0; c < n_counters; c++)
            if (counters[c].id >= COUNTER_LVL0 && counters[c].id <= COUNTER_THROTTLE)
                t->channel[share_channel[counters[c].id]][i] = (float)transition_share(now[2 + c], before[2 + c],
                                                                                       cycles);
        if (append_events(t, now, before, counters, n_counters, cycles))
            return -1;
        char what[TRANSITION_WHY_MAX - 20];
        if (!trace_sample_within(t, i, what, sizeof what)) {
            snprintf(why, TRANSITION_WHY_MAX, "at %.7g us %s", time_us, what);
            t->n = before_it;
            return 0;
        }
    }
    return 0;
}

static int transition_out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

/* Which column is which event, for those that were asked for by name. */
static int note_events(struct trace *t, const struct transition_event *events, size_t n)
{
    char text[TRANSITION_EVENTS_MAX * (EVENT_COLUMN_MAX + 70)] = "", column[EVENT_COLUMN_MAX];
    for (size_t i = 0; i < n; i++) {
        if (!events[i].name[0])
            continue;
        event_code_column(events[i].code, column);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s = %.63s", used ? "; " : "", column, events[i].name);
    }
    return text[0] ? trace_set(t, "events", text) : 0;
}

static int note_machine(struct trace *t, const struct machine_info *info, uint64_t seed)
{
    char date[40], number[24];
    snprintf(number, sizeof number, "%" PRIu64, seed);
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int bad = trace_set(t, "format", "characterize-trace/1") | trace_set(t, "cpu", info->cpu) |
              trace_set(t, "machine", info->name) | trace_set(t, "source", info->source) |
              note_number(t, "tsc_hz", info->tsc_hz) | trace_set(t, "tsc_origin", info->tsc_origin) |
              note_number(t, "cpu_number", info->cpu_number) | note_number(t, "active_cores", info->active_cores) |
              trace_set(t, "sampler", "resumes at once") | trace_set(t, "version", VERSION);
    if (info->modelled)
        bad |= trace_set(t, "modelled", "yes") | trace_set(t, "seed", number);
    else
        bad |= trace_set(t, "date", date); /* a model's output depends on nothing but its settings */
    if (info->notes && *info->notes)
        bad |= trace_set(t, "notes", info->notes);
    return bad;
}

static int transition_note(struct trace *t, const struct transition_setup *s)
{
    return trace_set(t, "from", s->from.name) | trace_set(t, "to", s->to.name) |
           note_number(t, "period_us", s->period_us) | note_number(t, "warmup_us", s->warmup_us) |
           note_number(t, "observe_us", s->observe_us) | note_number(t, "repetitions", s->runs);
}

static int spoil(struct transition_result *out, unsigned run, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int spoil(struct transition_result *out, unsigned run, const char *format, ...)
{
    struct invalid_run *bigger = realloc(out->invalid, (out->n_invalid + 1) * sizeof *bigger);
    if (!bigger)
        return -1;
    out->invalid = bigger;
    struct invalid_run *s = &bigger[out->n_invalid++];
    s->run = run;
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return 0;
}

int transition_drop(struct transition_result *out, unsigned run, const char *why)
{
    struct trace *t = &out->trace;
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->run && t->run[i] == run)
            continue;
        t->time_us[kept] = t->time_us[i];
        if (t->run)
            t->run[kept] = t->run[i];
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                t->channel[c][kept] = t->channel[c][i];
        for (size_t x = 0; x < t->n_extra; x++)
            t->extra[x].offset[kept] = t->extra[x].offset[i];
        kept++;
    }
    t->n = kept;
    return spoil(out, run, "%s", why);
}

/* The first samples of a recording run the sampling loop itself in, which costs payload: recorded, and left out. */
double transition_run_in_us(double period_us)
{
    return fmax(SETTLE_US, SETTLE_PERIODS * period_us);
}

int transition_keep(struct transition_result *out, unsigned run, const struct recording *rec,
                    const struct counter_spec *counters, size_t n_counters, double tsc_hz, double from_us, bool *kept)
{
    *kept = false;
    if (rec->migrated)
        return spoil(out, run, "the thread ended on another CPU");
    if (rec->involuntary_switches)
        return spoil(out, run, "taken off its CPU %u time(s) by the scheduler", rec->involuntary_switches);
    if (rec->page_faults)
        return spoil(out, run, "%u page fault(s)", rec->page_faults);
    char why[TRANSITION_WHY_MAX];
    if (transition_append(&out->trace, run, rec, counters, n_counters, tsc_hz, from_us, why))
        return -1;
    *kept = !why[0];
    return *kept ? 0 : spoil(out, run, "%s", why);
}

size_t transition_counters(const struct machine *m, bool licenses, const struct transition_event *events,
                           size_t n_events, struct counter_spec out[TRANSITION_COUNTERS_MAX])
{
    static const enum counter_id wanted[] = {COUNTER_CYCLES,     COUNTER_CHAIN_TICKS, COUNTER_CHAIN_CYCLES,
                                             COUNTER_READ_TICKS, COUNTER_LVL0,        COUNTER_LVL1,
                                             COUNTER_LVL2,       COUNTER_THROTTLE};
    size_t n = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if ((licenses || wanted[i] < COUNTER_LVL0) && !m->ops->lacks(m, wanted[i], NULL))
            out[n++] = (struct counter_spec){wanted[i], 0};
    for (size_t i = 0; i < n_events; i++)
        out[n++] = (struct counter_spec){COUNTER_EVENT, events[i].code};
    return n;
}

int transition_check_events(const struct machine *m, size_t n_events, struct machine_error *err)
{
    struct machine_info info;
    const char *remedy = NULL, *why = n_events ? m->ops->lacks(m, COUNTER_EVENT, &remedy) : NULL;
    if (!why)
        return MACHINE_OK;
    m->ops->info(m, &info);
    return machine_fail(err, MACHINE_CANNOT, remedy ? remedy : "", "machine %.80s counts no events: %.250s", info.name,
                        why);
}

static int add_channels(struct trace *t, const struct counter_spec *counters, size_t n)
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
    return bad;
}

int transition_begin_trace(struct trace *t, const struct machine_info *info, const struct counter_spec *counters,
                           size_t n_counters, const struct transition_event *events, size_t n_events, uint64_t seed)
{
    bool clock = transition_slot_of(counters, n_counters, COUNTER_CYCLES) >= 0;
    return add_channels(t, counters, n_counters) | note_machine(t, info, seed) | note_events(t, events, n_events) |
                   /* a chain at the end of each sample tells the frequency there, not the mean over the sample */
                   (!clock && trace_set(t, "frequency", "instantaneous"))
               ? -1
               : 0;
}

/*
 * A step that, taken again and again modulo n, visits 0..n-1 once each and fills them evenly at any moment: the number
 * below n over the golden ratio that shares no divisor with n (Knuth, TAOCP 3, section 6.4). What drifts slowly, as the
 * temperature does, then does not look like a change over the recording.
 */
static unsigned scattering_step(unsigned n)
{
    unsigned step = (unsigned)(n * 0.6180339887498949 + 0.5);
    for (; step > 1; step--) {
        unsigned a = n, b = step;
        while (b) {
            unsigned rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
    return 1;
}

/* Where a reading of a register lies on the time axis: `at` where the machine reads exactly when it is told to. */
static double read_time(const struct machine *m, const struct transition_setup *s, const struct recording *rec,
                        const struct run_request *r, double at)
{
    struct machine_info info;
    if (!m->ops->register_tsc)
        return at;
    m->ops->info(m, &info);
    double since_zero = (double)(int64_t)(m->ops->register_tsc(m) - rec->zero_tsc) / info.tsc_hz * 1e6;
    /* a repetition that ends before the switch has its zero where it begins */
    return r->n_segments > 1 ? since_zero : since_zero - s->warmup_us - s->before_us;
}

struct volt_reading {
    unsigned run;
    double time_us, late_us; /* late_us: after the kernel's end */
    double volts;
};

/* One repetition that ends at `at` and one reading. Returns what the machine's run returns; *why is "" if there is a
 * voltage and a time. */
static int read_voltage(struct machine *m, const struct transition_setup *s, double at, struct volt_reading *out,
                        char *why, size_t size, struct machine_error *err)
{
    struct segment segments[2] = {{s->from, s->warmup_us + s->before_us + fmin(at, 0), false},
                                  {s->to, fmax(at, 0), false}};
    struct run_request request = {
        .segments = segments, .n_segments = at > 0 ? 2 : 1, .zero_segment = at > 0, .repetition = out->run};
    struct machine_error unread = {MACHINE_OK, "", ""};
    struct recording rec;
    uint64_t value;
    const char *reason;
    out->time_us = out->volts = NAN;
    why[0] = '\0';
    int status = m->ops->run(m, &request, &rec, err);
    if (status)
        return status;
    if (m->ops->read_register(m, MSR_PERF_STATUS, &value, &unread)) {
        snprintf(why, size, "%.240s%s%.120s", unread.text, unread.remedy[0] ? "; " : "", unread.remedy);
        return MACHINE_OK;
    }
    out->time_us = read_time(m, s, &rec, &request, at);
    out->late_us = out->time_us - at;
    const struct trace_range *range = trace_channel_range(TRACE_VOLTS);
    if (!msr_volts(value, &out->volts, &reason))
        snprintf(why, size, "%s", reason);
    else if (!trace_within(range, out->volts))
        snprintf(why, size, "register 198H reports %.4f V, outside of %s", out->volts, range->text);
    else if (rec.migrated || rec.involuntary_switches)
        snprintf(why, size, "%s", disturbed);
    return MACHINE_OK;
}

/*
 * Enters the readings in the trace, but for those that came later than readings do here (*late: how many), and those
 * after time 0 of repetitions that ended before it: the second kernel had not run. 0, or -1: out of memory.
 */
static int keep_readings(const struct transition_setup *s, const struct volt_reading *reading, size_t n,
                         struct trace *t, unsigned *late)
{
    double *x = malloc((n + 1) * sizeof *x);
    *late = 0;
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[i] = reading[i].late_us;
    double usual = n ? fmin(fmax(0, robust_nth_smallest(x, n, n / 4)), USUAL_MOST_US) : NAN;
    char text[40];
    free(x);
    snprintf(text, sizeof text, "%.3f", usual);
    int bad = usual > 0 ? trace_set(t, "volts_late_us", text) : 0;
    for (size_t i = 0; i < n && !bad; i++) {
        const struct volt_reading *v = &reading[i];
        bool too_late = v->late_us > usual + LATE_US + LATE_PERIODS * s->period_us;
        *late += too_late;
        if (too_late || (v->time_us > 0 && v->time_us - v->late_us <= 0))
            continue;
        bad = trace_add_channel(t, TRACE_VOLTS) || trace_append(t, v->run, v->time_us) ? -1 : 0;
        if (!bad)
            t->channel[TRACE_VOLTS][t->n - 1] = (float)v->volts;
    }
    return bad;
}

/* Evenly spaced times over the recording, one repetition each, in scattered order; the run numbers follow those of the
 * samples. What cannot be read is missing, with the reason; where nothing can, it is not tried for long. */
static int read_voltages(struct machine *m, const struct transition_setup *s, unsigned first_run, unsigned readings,
                         transition_progress *progress, void *data, struct transition_result *out,
                         struct machine_error *err)
{
    unsigned step = scattering_step(readings), missing = 0, without = 0, done = 0, late = 0;
    char first_why[sizeof out->volts_missing] = "";
    struct volt_reading *reading = malloc((readings + 1) * sizeof *reading);
    size_t n = 0;
    int status = reading ? MACHINE_OK : transition_out_of_memory(err);
    bool stopped = false;
    for (; !status && !stopped && done < readings && (without < VOLT_TRIES || without < done); done++) {
        unsigned point = (unsigned)((uint64_t)done * step % readings);
        double at = -s->before_us + (s->before_us + s->observe_us) * (point + 0.5) / readings;
        char why[sizeof first_why];
        reading[n].run = first_run + done;
        status = read_voltage(m, s, at, &reading[n], why, sizeof why, err);
        if (why[0]) {
            without += strcmp(why, disturbed) != 0;
            if (!missing++)
                memcpy(first_why, why, sizeof why);
        } else {
            n++;
        }
        stopped = !status && progress && progress(data, first_run + done + 1, first_run + readings);
    }
    if (!status && keep_readings(s, reading, n, &out->trace, &late))
        status = transition_out_of_memory(err);
    free(reading);
    if (late && !missing)
        memcpy(first_why, disturbed, sizeof disturbed);
    missing += late;
    if (missing == done)
        memcpy(out->volts_missing, first_why, sizeof first_why);
    else if (missing)
        snprintf(out->volts_missing, sizeof out->volts_missing, "%u of %u readings: %.160s", missing, done, first_why);
    return status;
}

static unsigned volt_readings(const struct machine *m, const struct transition_setup *s)
{
    if (s->no_volts || !m->ops->read_register)
        return 0;
    if (s->volt_readings)
        return s->volt_readings;
    double n = 2 * (s->before_us + s->observe_us) / s->period_us;
    return n > VOLT_READINGS_MAX ? VOLT_READINGS_MAX : n < 1 ? 1 : (unsigned)n;
}

static int transition_measure(struct machine *m, const struct transition_setup *s, const struct counter_spec *counters,
                              size_t n, transition_progress *progress, void *data, struct transition_result *out,
                              struct machine_error *err)
{
    struct machine_info info;
    unsigned volts = volt_readings(m, s), total = s->runs + volts;
    m->ops->info(m, &info);
    if (transition_begin_trace(&out->trace, &info, counters, n, s->events, s->n_events, s->seed) ||
        transition_note(&out->trace, s))
        return transition_out_of_memory(err);
    const struct segment segments[3] = {{s->from, s->warmup_us, false},
                                        {s->from, s->before_us + transition_run_in_us(s->period_us), true},
                                        {s->to, s->observe_us, true}};
    for (unsigned run = 0; run < s->runs; run++) {
        struct run_request request = {.segments = segments,
                                      .n_segments = 3,
                                      .zero_segment = 2,
                                      .phase = transition_phase(run),
                                      .repetition = run};
        struct recording rec;
        int status = m->ops->run(m, &request, &rec, err);
        if (status)
            return status;
        bool kept;
        if (transition_keep(out, run, &rec, counters, n, info.tsc_hz, -s->before_us, &kept))
            return transition_out_of_memory(err);
        if (progress && progress(data, run + 1, total))
            return MACHINE_OK;
    }
    int status = MACHINE_OK;
    if (volts)
        status = read_voltages(m, s, s->runs, volts, progress, data, out, err);
    else if (!s->no_volts)
        snprintf(out->volts_missing, sizeof out->volts_missing, "this machine reads no registers");
    if (!status && out->volts_missing[0] && trace_set(&out->trace, "volts_missing", out->volts_missing))
        return transition_out_of_memory(err);
    return status;
}

int transition_note_clock(struct trace *t, const struct machine_info *info)
{
    double step_ns = info->tsc_step / info->tsc_hz * 1e9;
    int bad = info->chain_cycles && (note_number(t, "chain_cycles", info->chain_cycles) |
                                     note_number(t, "frequency_error", info->chain_error));
    if (info->chain_cycles ? step_ns > 0 : step_ns >= COARSE_NS)
        bad |= note_number(t, "clock_step_ns", step_ns);
    return bad ? -1 : 0;
}

int transition_note_remarks(const struct machine *m, struct transition_result *out, struct machine_error *err)
{
    struct machine_info info;
    m->ops->info(m, &info);
    bool remarked = info.notes && *info.notes;
    return (remarked && trace_set(&out->trace, "notes", info.notes)) || transition_note_clock(&out->trace, &info)
               ? transition_out_of_memory(err)
               : MACHINE_OK;
}

int transition_run(struct machine *m, const struct transition_setup *s, transition_progress *progress, void *data,
                   struct transition_result *out, struct machine_error *err)
{
    struct counter_spec counters[TRANSITION_COUNTERS_MAX];
    memset(out, 0, sizeof *out);
    trace_init(&out->trace);
    size_t n = transition_counters(m, true, s->events, s->n_events, counters);
    struct machine_setup setup = {.cpu = s->cpu,
                                  .active_cores = s->active_cores,
                                  .corunner = s->corunner,
                                  .cpus = s->cpus,
                                  .n_cpus = s->n_cpus,
                                  .siblings = s->siblings,
                                  .period_us = s->period_us,
                                  .counters = counters,
                                  .n_counters = n,
                                  .seed = s->seed};
    double recorded_us = s->before_us + transition_run_in_us(s->period_us) + s->observe_us;
    setup.max_samples = (size_t)(recorded_us / s->period_us * 1.1) + 64;
    int status = transition_check_events(m, s->n_events, err);
    if (!status)
        status = m->ops->prepare(m, &setup, err);
    if (status)
        return status;
    status = transition_measure(m, s, counters, n, progress, data, out, err);
    if (!status)
        status = transition_note_remarks(m, out, err);
    m->ops->finish(m);
    if (status)
        transition_result_free(out);
    return status;
}

void transition_result_free(struct transition_result *r)
{
    trace_free(&r->trace);
    free(r->invalid);
    memset(r, 0, sizeof *r);
}
