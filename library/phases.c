/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transitions and recorded traces of include/characterize/characterize.h. */
#include <string.h>

#include "library/library.h"
#include "library/measure.h"
#include "analysis/phases/phases.h"
#include "util/path.h"

struct characterize_phases {
    struct switches_seen seen;
};

/* Whom progress is reported to. */
struct watcher {
    const struct characterize_options *options;
    double done;
};

static int library_on_progress(void *data, unsigned done, unsigned wanted)
{
    struct watcher *w = data;
    if (wanted > 0)
        w->done = (double)done / wanted;
    return w->options->progress != NULL && w->options->progress(w->options->data, w->done) != 0;
}

/* FROM:TO into the two kernels. */
static enum characterize_status library_parse_pair(const characterize_machine *m, const char *from_to,
                                                   struct transition_setup *s, struct characterize_error *error)
{
    struct payload from, to;
    char name[256], why[400] = "not of the form FROM:TO, as in 128fma:512fma";
    const char *colon = strchr(from_to, ':');
    if (colon == NULL || (size_t)(colon - from_to) >= sizeof(name))
        return library_refuse(error, CHARACTERIZE_BAD_INPUT, why);
    memcpy(name, from_to, (size_t)(colon - from_to));
    name[colon - from_to] = '\0';
    if (library_kernel(m, name, &from, why, sizeof(why)) != 0 ||
        library_kernel(m, colon + 1, &to, why, sizeof(why)) != 0)
        return library_refuse(error, CHARACTERIZE_BAD_INPUT, why);
    transition_defaults(s, &from, &to);
    return CHARACTERIZE_OK;
}

static enum characterize_status library_setup(const characterize_machine *m, const char *from_to,
                                              const struct characterize_options *o, struct transition_setup *s,
                                              struct characterize_error *error)
{
    struct machine_info info;
    struct machine_error e;
    double samples;
    enum characterize_status status = library_check(o, error);
    if (status == CHARACTERIZE_OK)
        status = library_parse_pair(m, from_to, s, error);
    if (status != CHARACTERIZE_OK)
        return status;
    s->runs = o->runs > 0 ? o->runs : s->runs;
    s->period_us = o->period_us > 0 ? o->period_us : s->period_us;
    s->warmup_us = o->warmup_us > 0 ? o->warmup_us : s->warmup_us;
    s->observe_us = o->observe_us > 0 ? o->observe_us : s->observe_us;
    s->machine.cpu = m->cpu;
    s->machine.active_cores = o->active_cores;
    s->machine.seed = o->seed;
    m->machine.ops->info(&m->machine, &info);
    if (measure_check_amount(s, &samples, &e) != MACHINE_OK ||
        measure_check_kernel(&s->from, &info, &e) != MACHINE_OK ||
        measure_check_kernel(&s->to, &info, &e) != MACHINE_OK)
        return library_fail(error, &e);
    return CHARACTERIZE_OK;
}

enum characterize_status characterize_transition(characterize_machine *machine, const char *from_to,
                                                 const struct characterize_options *options,
                                                 characterize_phases **phases, struct characterize_error *error)
{
    static const struct characterize_options defaults = {0};
    const struct characterize_options *o = options != NULL ? options : &defaults;
    struct watcher watcher = {.options = o};
    struct transition_setup setup;
    struct machine_error e;
    if (phases != NULL)
        *phases = NULL;
    if (machine == NULL || from_to == NULL || phases == NULL)
        return library_refuse_null(error);
    struct guard guard = {.machine = &machine->machine,
                          .warmup_given = o->warmup_us > 0,
                          .observe_given = o->observe_us > 0,
                          .period_given = o->period_us > 0,
                          .runs_given = o->runs > 0,
                          .progress = library_on_progress,
                          .data = &watcher};
    enum characterize_status status = library_setup(machine, from_to, o, &setup, error);
    if (status != CHARACTERIZE_OK)
        return status;
    struct characterize_phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return library_refuse(error, CHARACTERIZE_FAILED, "out of memory");
    memset(&e, 0, sizeof(e));
    if (measure_switch(&guard, &setup, &p->seen, &e) != MACHINE_OK) {
        free(p);
        return library_fail(error, &e);
    }
    *phases = p;
    return CHARACTERIZE_OK;
}

/* The trace and its phases into *p, which is zero where that fails. */
static int library_analyze(const char *file, struct characterize_phases *p, struct machine_error *e)
{
    char why[400], place[sizeof(e->text)];
    FILE *in;
    if (path_read_named(file, &in, why, sizeof(why)) != 0)
        return machine_fail(e, MACHINE_BAD_INPUT, "", "cannot read %.200s: %.250s", file, why);
    int status = measure_read_trace(in, &p->seen.result.trace, e);
    fclose(in);
    if (status == MACHINE_OK) {
        status = measure_recorded(&p->seen.result.trace, &p->seen.phases, e);
        if (status == MACHINE_OK)
            return status;
        trace_free(&p->seen.result.trace);
    }
    memcpy(place, e->text, sizeof(place));
    snprintf(e->text, sizeof(e->text), "%.200s%s%.290s", file, place[0] == ':' ? "" : ": ", place);
    return status;
}

enum characterize_status characterize_analyze(const char *file, characterize_phases **phases,
                                              struct characterize_error *error)
{
    struct machine_error e;
    if (phases != NULL)
        *phases = NULL;
    if (file == NULL || phases == NULL)
        return library_refuse_null(error);
    if (file[0] == '\0')
        return library_refuse(error, CHARACTERIZE_BAD_INPUT, "the name of the file is empty");
    struct characterize_phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return library_refuse(error, CHARACTERIZE_FAILED, "out of memory");
    if (library_analyze(file, p, &e) != MACHINE_OK) {
        free(p);
        return library_fail(error, &e);
    }
    *phases = p;
    return CHARACTERIZE_OK;
}

void characterize_phases_free(characterize_phases *phases)
{
    if (phases != NULL)
        switches_free(&phases->seen);
    free(phases);
}

static struct characterize_estimate library_estimate(struct estimate e)
{
    return (struct characterize_estimate){.value = e.value, .lo = e.lo, .hi = e.hi};
}

size_t characterize_phases_count(const characterize_phases *phases)
{
    return phases->seen.phases.n_phases;
}

int characterize_phases_get(const characterize_phases *phases, size_t i, struct characterize_phase *out)
{
    if (i >= phases->seen.phases.n_phases)
        return -1;
    const struct phase *p = &phases->seen.phases.phases[i];
    *out = (struct characterize_phase){.kind = phases_kind_name(p->kind),
                                       .start_us = p->start_us,
                                       .duration_us = library_estimate(p->duration_us),
                                       .freq_ghz = library_estimate(p->freq_ghz),
                                       .ipc = p->ipc,
                                       .ipc_ratio = p->ipc_ratio,
                                       .volts = p->volts,
                                       .level = p->level,
                                       .agreeing_runs = p->agreeing_runs,
                                       .why = p->why};
    return 0;
}

size_t characterize_changes_count(const characterize_phases *phases)
{
    return phases->seen.phases.n_transitions;
}

int characterize_changes_get(const characterize_phases *phases, size_t i, struct characterize_change *out)
{
    if (i >= phases->seen.phases.n_transitions)
        return -1;
    const struct transition *t = &phases->seen.phases.transitions[i];
    *out = (struct characterize_change){.at_us = t->at_us,
                                        .latency_us = library_estimate(t->latency_us),
                                        .from_ghz = t->from_ghz,
                                        .to_ghz = t->to_ghz,
                                        .halts = t->halts,
                                        .agreeing_runs = t->agreeing_runs};
    return 0;
}

size_t characterize_runs(const characterize_phases *phases)
{
    return phases->seen.phases.runs;
}

size_t characterize_runs_used(const characterize_phases *phases)
{
    return phases->seen.phases.runs_used;
}

const char *characterize_warning(const characterize_phases *phases, size_t i)
{
    return i < phases->seen.phases.n_warnings ? phases->seen.phases.warnings[i] : NULL;
}

char *characterize_phases_json(const characterize_phases *phases)
{
    return phases_to_json(&phases->seen.phases);
}

static int library_print_trace(FILE *out, const void *trace)
{
    return trace_write_csv(out, trace);
}

char *characterize_trace_csv(const characterize_phases *phases)
{
    return library_text(library_print_trace, &phases->seen.result.trace);
}
