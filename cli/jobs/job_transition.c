/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --transition FROM:TO: measures, finds the phases, shows and writes them. */
#include <string.h>

#include "cli/outputs.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/measuring.h"
#include "cli/stop.h"
#include "drivers/machine.h"
#include "library/measure.h"
#include "util/text_list.h"

static void apply_options(const struct options *o, struct transition_setup *s)
{
    transition_defaults(s, &o->from, &o->to);
    if (o->runs.given)
        s->runs = (unsigned)o->runs.value;
    if (o->period_us.given)
        s->period_us = o->period_us.value;
    if (o->warmup_us.given)
        s->warmup_us = o->warmup_us.value;
    if (o->observe_us.given)
        s->observe_us = o->observe_us.value;
    if (o->cpu.given)
        s->machine.cpu = (int)o->cpu.value;
    if (o->tables.n_active > 0)
        s->machine.active_cores = o->tables.active[0];
    if (o->seed_given)
        s->machine.seed = o->tables.seed;
    s->n_events = o->n_events; /* which ones, resolve_events() finds out from the machine */
}

/* Codes as they were given, names by the machine's table; each once. */
static int resolve_events(const struct machine *m, const struct options *o, struct transition_setup *s)
{
    struct machine_error error;
    const char *remedy = NULL, *why = o->n_events > 0 ? m->ops->lacks(m, COUNTER_EVENT, &remedy) : NULL;
    if (why != NULL) {
        char text[400];
        snprintf(text, sizeof(text), "--event %s: %.300s", o->events[0].text, why);
        complain_with_remedy(text, remedy != NULL ? remedy : "");
        return CANNOT;
    }
    for (size_t i = 0; i < o->n_events; i++) {
        const struct given_event *given = &o->events[i];
        struct raw_event *e = &s->events[i];
        *e = (struct raw_event){.code = given->code};
        if (!given->is_code && m->ops->find_event == NULL)
            return refuse(CANNOT, "--event %s: this machine has no event names; give the code, as in 0x28:0x08",
                          given->text);
        if (!given->is_code && m->ops->find_event(m, given->text, &e->code, &error) != MACHINE_OK) {
            char text[520];
            snprintf(text, sizeof(text), "--event: %s", error.text);
            complain_with_remedy(text, error.remedy);
            return (int)error.status;
        }
        snprintf(e->name, sizeof(e->name), "%s", given->is_code ? "" : given->text);
        for (size_t k = 0; k < i; k++)
            if (s->events[k].code == e->code)
                return refuse(BAD_USAGE, "--event: %s and %s are the same event", o->events[k].text, given->text);
    }
    return DONE;
}

/*
 * Writes what was not measured, and why, as one line: `volts` is why the voltage was not, `counters` why license
 * shares.
 */
static void tell_missing(const char *volts, const char *counters, char *out, size_t size)
{
    out[0] = '\0';
    if (volts[0] != '\0')
        text_list_add(out, size, "", "core voltage (%s)", volts);
    if (counters[0] != '\0')
        text_list_add(out, size, "; ", "license counters (%s)", counters);
}

static void why_no_counters(const struct machine *m, char *out, size_t size)
{
    const char *remedy = NULL;
    const char *why = m->ops->lacks(m, COUNTER_LVL0, &remedy);
    out[0] = '\0';
    if (why != NULL) {
        bool helps = remedy != NULL && remedy[0] != '\0';
        snprintf(out, size, "%s%s%s", why, helps ? "; " : "", helps ? remedy : "");
    }
}

struct watch {
    struct progress progress;
    unsigned done, wanted; /* repetitions */
    const char *report;    /* of `auto`; printed once the first repetition has shown that the machine works */
};

static int on_progress(void *data, unsigned done, unsigned wanted)
{
    struct watch *w = data;
    if (w->report[0] != '\0') {
        fprintf(stderr, "%s\n", w->report);
        w->report = "";
    }
    if (wanted > 0) {
        w->done = done;
        w->wanted = wanted;
    }
    double elapsed = wanted > 0 && done > 0 ? progress_due(&w->progress) : 0;
    if (elapsed > 0)
        progress_show(elapsed / done * (wanted - done), "%u of %u repetitions", done, wanted);
    return stop_requested();
}

/* The measurement itself. Returns DONE with *seen filled, or an exit status after a line. */
static int transition_measure(struct measuring *m, const struct options *o, const struct transition_setup *s,
                              struct switches_seen *seen)
{
    struct machine_error error = {.status = MACHINE_OK};
    struct watch watch = {.report = o->quiet ? "" : m->report};
    const struct guard guard = {.machine = &m->machine,
                                .warmup_given = o->warmup_us.given,
                                .observe_given = o->observe_us.given,
                                .period_given = o->period_us.given,
                                .runs_given = o->runs.given,
                                .progress = on_progress,
                                .data = &watch};
    stop_only_asks(true); /* changes by the machine must be undone */
    int status = measuring_disturb(m);
    if (status != DONE)
        return status;
    progress_begin(&watch.progress, o->quiet);
    status = measure_switch(&guard, s, seen, &error);
    progress_end(&watch.progress);
    if (stop_requested()) {
        if (status == MACHINE_OK)
            guarded_free(seen);
        return refuse(FAILED, "interrupted after %u of %u repetitions; nothing was written", watch.done,
                      watch.wanted > 0 ? watch.wanted : s->runs);
    }
    return status == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

/* Checks what the machine can do, then measures; `counters`: why it has no license counters. The machine stays open. */
static int check_and_measure(struct measuring *m, const struct options *o, struct transition_setup *s,
                             struct switches_seen *seen, char *counters, size_t size)
{
    struct machine_info info;
    struct machine_error error;
    m->machine.ops->info(&m->machine, &info);
    if (measure_check_kernel(&s->from, &info, &error) != MACHINE_OK ||
        measure_check_kernel(&s->to, &info, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    int status = resolve_events(&m->machine, o, s);
    why_no_counters(&m->machine, counters, size);
    return status == DONE ? transition_measure(m, o, s, seen) : status;
}

/* A buffer that a cache has lost meanwhile is read again: slower at first, at the same frequency. */
static int warn_of_refills(const struct transition_setup *s, struct phases *out)
{
    if (out->modelled || s->to.kernel->level == KERNEL_L1)
        return DONE;
    int status = phases_warn(out,
                             "%s takes its operands from beyond L1D: what looks like throttling may be a cache that is "
                             "filled again",
                             s->to.name);
    return status == 0 ? DONE : complain_out_of_memory();
}

static int measure_and_conclude(const struct options *o, struct transition_setup *s, const struct outputs *out)
{
    char missing[1000], counters[500];
    static struct measuring m; /* as in main(): large */
    struct switches_seen seen;
    int status = measuring_open(o, &m);
    if (status != DONE)
        return status;
    status = check_and_measure(&m, o, s, &seen, counters, sizeof(counters));
    if (measuring_close(&m) != DONE && status == DONE) {
        guarded_free(&seen); /* has been said; who knows what else went wrong */
        return FAILED;
    }
    if (status != DONE)
        return status;
    status = warn_of_refills(s, &seen.phases);
    tell_missing(seen.result.volts_missing, counters, missing, sizeof(missing));
    if (m.settings_text[0] != '\0' && trace_set(&seen.result.trace, "settings", m.settings_text) != 0)
        status = complain_out_of_memory();
    else if (status == DONE)
        status = answers_tell_trace(out, &seen.result.trace, &seen.phases, missing);
    guarded_free(&seen);
    return status;
}

int job_transition(const struct options *o)
{
    struct transition_setup setup;
    struct outputs out;
    char stem[2 * KERNEL_NAME_MAX + 2];
    struct machine_error error;
    double samples = 0;
    apply_options(o, &setup);
    if (measure_check_amount(&setup, &samples, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    outputs_stem(o->from.name, o->to.name, stem, sizeof(stem));
    int status = outputs_choose(o, &answers_trace, stem, DEFAULT_OUTPUT_DIRECTORY, &out);
    if (status == DONE)
        status = answers_check_trace(&out, (uint64_t)samples);
    if (status == DONE)
        status = measure_and_conclude(o, &setup, &out);
    outputs_free(&out);
    return status;
}
