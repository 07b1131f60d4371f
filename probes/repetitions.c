/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions of one recording until they suffice: the switch, its nulls and its controls in random order. */
#include "probes/repetitions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/events/event_code.h"
#include "drivers/native/growth.h"
#include "probes/sample_cost.h"
#include "util/list.h"
#include "util/text_list.h"

/* After these come the numbers of what is recorded beside them, and not far after: repetitions of a model lie one
 * after the other, and times of days have no nanoseconds. */
enum { ROUNDS_MOST = 20000 };
/* Us and periods that a machine needs before its first good sample; room for more samples than requested. */
enum { SETTLE_US = 5, SETTLE_PERIODS = 4, SAMPLES_MORE = 64, GROWTH_EXTRA = 32 };
#define COARSE_NS 2.0 /* steps of a clock that are worth a word where cycles are counted */

/* With less of the time than this, 512-bit FMAs ran at the frequency of scalar code on an Emerald Rapids that runs them
 * 6.7 % slower; with 0.88 it was right. */
#define DENSE 0.85

/* The first samples of a recording run the sampling loop itself in, which costs payload: recorded, and left out. */
double repetitions_run_in_us(double period_us)
{
    return fmax(SETTLE_US, SETTLE_PERIODS * period_us);
}

size_t repetitions_counters(const struct machine *m, bool licenses, const struct raw_event *events, size_t n_events,
                            struct counter_spec out[REPETITIONS_COUNTERS_MAX])
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

size_t repetitions_room(double sampled_us, double period_us)
{
    return (size_t)(sampled_us / period_us * 1.1) + SAMPLES_MORE;
}

double repetitions_grown(double period_us, double us)
{
    const double units = 1000; /* of a us */
    return (double)growth_samples((uint64_t)(units * period_us), (uint64_t)(units * GROWTH_MOST_US),
                                  (uint64_t)(units * us)) +
           GROWTH_EXTRA;
}

/* Events are requested by name: a machine that counts none must not leave their columns empty. */
static int check_events(const struct machine *m, size_t n_events, struct machine_error *err)
{
    struct machine_info info;
    const char *remedy = NULL, *why = n_events ? m->ops->lacks(m, COUNTER_EVENT, &remedy) : NULL;
    if (!why)
        return MACHINE_OK;
    m->ops->info(m, &info);
    return machine_fail(err, MACHINE_CANNOT, remedy ? remedy : "", "machine %.80s cannot count events: %.250s",
                        info.name, why);
}

/* ---- the metadata ---- */

static const char uncore_column[] = "uncore_ghz";

/* A column for the clock of the uncore, the last, where it can be read. */
static int note_uncore(const struct machine *m, struct trace *t)
{
    return isfinite(machine_uncore_ghz(m)) ? trace_add_extra(t, uncore_column) : 0;
}

/* Which column is which event, for those that were requested by name. */
static int note_events(struct trace *t, const struct raw_event *events, size_t n)
{
    char text[REPETITIONS_EVENTS_MAX * (EVENT_COLUMN_MAX + 70)] = "", column[EVENT_COLUMN_MAX];
    for (size_t i = 0; i < n; i++) {
        if (!events[i].name[0])
            continue;
        event_code_column(events[i].code, column);
        text_list_add(text, sizeof text, "; ", "%s = %.63s", column, events[i].name);
    }
    return text[0] ? trace_set(t, "events", text) : 0;
}

static int note_machine(struct trace *t, const struct machine_info *info, const struct counter_spec *counters, size_t n,
                        uint64_t seed)
{
    char date[40], number[24];
    snprintf(number, sizeof number, "%" PRIu64, seed);
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int bad = trace_set(t, "format", "characterize-trace/1") | trace_set(t, "cpu", info->cpu) |
              trace_set(t, "machine", info->name) | trace_set(t, "source", info->source) |
              trace_set_number(t, "tsc_hz", info->tsc_hz) | trace_set(t, "tsc_origin", info->tsc_origin) |
              trace_set_number(t, "cpu_number", info->cpu_number) |
              trace_set_number(t, "active_cores", info->active_cores) | from_recording_begin(t, counters, n) |
              trace_set(t, "version", VERSION);
    if (info->modelled)
        bad |= trace_set(t, "modelled", "yes") | trace_set(t, "seed", number);
    else
        bad |= trace_set(t, "date", date); /* a model's output depends on nothing but its settings */
    if (info->notes && *info->notes)
        bad |= trace_set(t, "notes", info->notes);
    return bad;
}

int repetitions_note_clock(struct trace *t, const struct machine_info *info)
{
    double step_ns = info->tsc_step / info->tsc_hz * 1e9;
    int bad = info->chain_cycles && (trace_set_number(t, "chain_cycles", info->chain_cycles) |
                                     trace_set_number(t, "frequency_error", info->chain_error));
    if (info->chain_cycles ? step_ns > 0 : step_ns >= COARSE_NS)
        bad |= trace_set_number(t, "clock_step_ns", step_ns);
    return bad ? -1 : 0;
}

/* ... and the machine's remarks; traces beside it are read by the same clock. */
static int note_remarks(const struct machine *m, struct repetitions *out, size_t n_beside, struct machine_error *err)
{
    struct machine_info info;
    struct trace *t = &out->trace;
    m->ops->info(m, &info);
    bool remarked = info.notes && *info.notes;
    int bad = (remarked && trace_set(t, "notes", info.notes)) || repetitions_note_clock(t, &info);
    for (size_t i = 0; i < n_beside && !bad; i++)
        bad = repetitions_note_clock(&out->beside[i], &info);
    return bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
}

/* The share of the time after time 0 in which the payload runs: readings and chains come in between. */
static double payload_share(const struct trace *t, double cost_us)
{
    const double reading = trace_number(t, "reading_us");
    double all = 0, paused = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->run[i] == t->run[i - 1] && t->time_us[i - 1] >= 0) {
            all += t->time_us[i] - t->time_us[i - 1];
            paused += cost_us + (reading > 0 && t->channel[TRACE_FREQ][i] > 0 ? reading : 0);
        }
    return 1 - paused / all;
}

/* Notes that wide code does not run back to back, where that may make its level another one. */
static int note_pauses(const struct machine *m, const struct repetitions_plan *p, const struct recording_form *form,
                       struct trace *t, struct machine_error *err)
{
    const struct segment *after = &p->segments[p->zero_segment], *before = p->zero_segment ? after - 1 : after;
    const double share = payload_share(t, form->after.us);
    const char *notes = trace_get(t, "notes");
    char text[1200] = "";
    struct machine_info info;
    m->ops->info(m, &info);
    if (info.modelled || !(share < DENSE) || fmax(before->payload.kernel->width, after->payload.kernel->width) <= 128)
        return MACHINE_OK;
    text_list_add(text, sizeof text, "; ", "%s", notes ? notes : "");
    text_list_add(text, sizeof text, "; ",
                  "between readings, the second kernel has %.0f %% of the time: wide code that runs back to back may "
                  "have a lower frequency (--period 10, or --table classes)",
                  100 * share);
    return trace_set(t, "notes", text) ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
}

/* ---- the repetitions ---- */

static int leave_out(struct repetitions *out, unsigned run, const char *why)
{
    if (!list_room(&out->invalid, out->n_invalid, sizeof *out->invalid))
        return -1;
    struct discarded_run *s = &out->invalid[out->n_invalid++];
    s->run = run;
    snprintf(s->why, sizeof s->why, "%s", why);
    return 0;
}

void repetitions_free(struct repetitions *r)
{
    trace_free(&r->trace);
    for (size_t i = 0; i < REPETITIONS_BESIDE_MAX; i++)
        trace_free(&r->beside[i]);
    free(r->invalid);
    memset(r, 0, sizeof *r);
}

/* Appends a recording; *why: it is invalid, and was left out; NULL: it was not. 0, or -1: out of memory. */
static int take(struct trace *t, unsigned run, struct recording *rec, const struct recording_form *form,
                char refused[FROM_RECORDING_WHY_MAX], const char **why)
{
    refused[0] = '\0';
    if (form->tolerant) /* the lost time is part of it: samples show it */
        rec->involuntary_switches = 0;
    *why = recording_disturbed(rec);
    int bad = *why ? 0 : from_recording_append(t, run, rec, form, refused);
    *why = refused[0] ? refused : *why;
    return bad;
}

/* The clock of the uncore, in the last sample of a recording, which has just ended. 0, or -1: out of memory. */
static int append_uncore(const struct machine *m, struct trace *t)
{
    char text[24];
    if (!t->n_extra || strcmp(t->extra[t->n_extra - 1].name, uncore_column) != 0)
        return 0;
    const double ghz = machine_uncore_ghz(m);
    snprintf(text, sizeof text, "%.3f", ghz);
    return isfinite(ghz) ? trace_put_extra(t, t->n_extra - 1, text) : 0;
}

/* Makes one of the recordings beside the repetitions; those that the machine knows to be invalid are left out. */
static int record_beside(struct machine *m, const struct repetitions_plan *p, const struct recording_form *form,
                         size_t which, unsigned run, struct repetitions *out, struct machine_error *err)
{
    const struct repetitions_beside *b = &p->beside[which];
    struct run_request request = {.segments = b->segments,
                                  .n_segments = b->n_segments,
                                  .zero_segment = b->zero_segment,
                                  .repetition = run + ROUNDS_MOST * ((uint64_t)which + 1)};
    char refused[FROM_RECORDING_WHY_MAX];
    const char *why;
    struct recording rec;
    int status = m->ops->run(m, &request, &rec, err);
    if (!status && take(&out->beside[which], run, &rec, form, refused, &why))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

static int record_treatment(struct machine *m, const struct repetitions_plan *p, const struct recording_form *form,
                            unsigned run, bool *kept, struct repetitions *out, struct machine_error *err)
{
    struct run_request request = {.segments = p->segments,
                                  .n_segments = p->n_segments,
                                  .zero_segment = p->zero_segment,
                                  .fine_us = p->fine_us,
                                  .repetition = run};
    char refused[FROM_RECORDING_WHY_MAX];
    const char *why;
    struct recording rec;
    int status = m->ops->run(m, &request, &rec, err);
    if (status)
        return status;
    int bad = take(&out->trace, run, &rec, form, refused, &why);
    *kept = !bad && !why;
    bad = bad || (*kept && append_uncore(m, &out->trace));
    if (bad || (why && leave_out(out, run, why)))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

/* A round: the repetition and the recordings due beside it, beginning with another one of them each time. */
static int record_round(struct machine *m, const struct repetitions_plan *p, const struct recording_form *form,
                        unsigned run, bool *kept, struct repetitions *out, struct machine_error *err)
{
    /* fractional parts of multiples of the golden ratio fill 0..1 evenly (Knuth, TAOCP 3, section 6.4) */
    double turn = fmod((7 * (double)run + 3) * 0.6180339887498949, 1.0);
    size_t arms = p->n_beside + 1, first = (size_t)(turn * (double)arms);
    int status = MACHINE_OK;
    for (size_t k = 0; k < arms && !status; k++) {
        size_t arm = (first + k) % arms;
        if (arm == p->n_beside)
            status = record_treatment(m, p, form, run, kept, out, err);
        else if (run % p->beside[arm].every == 0)
            status = record_beside(m, p, form, arm, run, out, err);
    }
    return status;
}

/* The time of a repetition and its share of the recordings beside it, us. */
static double round_us(const struct repetitions_plan *p)
{
    double us = 0;
    for (size_t i = 0; i < p->n_segments; i++)
        us += p->segments[i].duration_us;
    for (size_t k = 0; k < p->n_beside; k++)
        for (size_t i = 0; i < p->beside[k].n_segments; i++)
            us += p->beside[k].segments[i].duration_us / p->beside[k].every;
    return us;
}

static int record(struct machine *m, const struct repetitions_plan *p, const struct recording_form *form,
                  struct repetitions *out, struct machine_error *err)
{
    unsigned done = 0, look = p->wanted, most = p->attempts;
    double budget = p->enough ? p->budget_us / round_us(p) : 0;
    if (budget > most)
        most = (unsigned)fmin(budget, ROUNDS_MOST);
    for (unsigned run = 0; run < most; run++) {
        bool kept = false;
        int status = record_round(m, p, form, run, &kept, out, err);
        if (status)
            return status;
        done += kept;
        if (p->progress && p->progress(p->data, done, done < look ? look : done))
            break;
        if (done < look)
            continue;
        status = p->enough ? note_remarks(m, out, p->n_beside, err) : MACHINE_OK;
        if (status)
            return status;
        int enough = p->enough ? p->enough(p->context, out) : 1;
        if (enough < 0)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (enough || run + 1 >= budget)
            break;
        look += look / 2 + 1;
    }
    return MACHINE_OK;
}

/* All of it, on the prepared machine. */
static int conduct(struct machine *m, const struct repetitions_plan *p, const struct machine_setup *setup,
                   const struct recording_form *form, struct repetitions *out, struct machine_error *err)
{
    struct machine_info info;
    m->ops->info(m, &info);
    int status = MACHINE_OK;
    if (note_machine(&out->trace, &info, setup->counters, setup->n_counters, setup->seed) |
        note_events(&out->trace, p->events, p->n_events) | note_uncore(m, &out->trace))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; !status && i < p->n_beside; i++)
        if (from_recording_begin(&out->beside[i], setup->counters, setup->n_counters))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!status && p->first)
        status = p->first(m, p->context, out, err);
    if (!status)
        status = record(m, p, form, out, err);
    if (!status && p->last)
        status = p->last(m, p->context, out, err);
    status = status ? status : note_remarks(m, out, p->n_beside, err);
    return status ? status : note_pauses(m, p, form, &out->trace, err);
}

/* Measures the cost of a sample for the kernels around time 0. */
static int costs_of_samples(struct machine *m, const struct repetitions_plan *p, const struct machine_setup *setup,
                            struct recording_form *out, struct machine_error *err)
{
    const struct segment *after = &p->segments[p->zero_segment], *before = p->zero_segment ? after - 1 : after;
    int status = after->sampled ? sample_cost_of(m, setup, &after->payload, &out->after, err) : MACHINE_OK;
    if (!status && before != after && before->sampled)
        status = sample_cost_of(m, setup, &before->payload, &out->before, err);
    return status;
}

static double sampled_in(const struct segment *segments, size_t n)
{
    double us = 0;
    for (size_t i = 0; i < n; i++)
        us += segments[i].sampled ? segments[i].duration_us : 0;
    return us;
}

int repetitions_run(struct machine *m, const struct repetitions_plan *p, struct repetitions *out,
                    struct machine_error *err)
{
    struct counter_spec counters[REPETITIONS_COUNTERS_MAX];
    struct machine_setup setup = p->machine;
    double sampled_us, grown_us;
    memset(out, 0, sizeof *out);
    trace_init(&out->trace);
    for (size_t i = 0; i < REPETITIONS_BESIDE_MAX; i++)
        trace_init(&out->beside[i]);
    sampled_us = sampled_in(p->segments, p->n_segments);
    grown_us = sampled_in(p->segments + p->zero_segment, p->n_segments - p->zero_segment);
    grown_us = p->fine_us > 0 ? fmax(0, grown_us - p->fine_us) : 0;
    for (size_t k = 0; k < REPETITIONS_BESIDE_MAX; k++) /* those need room, too */
        sampled_us = fmax(sampled_us, grown_us + sampled_in(p->beside[k].segments, p->beside[k].n_segments));
    setup.counters = counters;
    setup.n_counters = repetitions_counters(m, p->licenses, p->events, p->n_events, counters);
    setup.max_samples = repetitions_room(sampled_us - grown_us, setup.period_us) +
                        (grown_us > 0 ? (size_t)(1.1 * repetitions_grown(setup.period_us, grown_us)) : 0);
    struct recording_form form = {.counters = counters,
                                  .n_counters = setup.n_counters,
                                  .from_us = p->from_us,
                                  .tolerant = p->fine_us > 0 ||
                                              recording_word(counters, setup.n_counters, COUNTER_CYCLES) < 0};
    struct machine_info info;
    m->ops->info(m, &info);
    form.tsc_hz = info.tsc_hz;
    int status = check_events(m, p->n_events, err);
    if (!status)
        status = costs_of_samples(m, p, &setup, &form, err);
    if (!status)
        status = m->ops->prepare(m, &setup, err);
    if (status)
        return status;
    status = conduct(m, p, &setup, &form, out, err);
    m->ops->finish(m);
    if (status)
        repetitions_free(out);
    return status;
}
