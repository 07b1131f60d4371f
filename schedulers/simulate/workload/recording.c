/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common to readers of recordings: comments and options, CPUs and their siblings, tasks as work. */
#include "schedulers/simulate/workload/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/lines.h"
#include "schedulers/simulate/workload/spool.h"
#include "schedulers/simulate/workload/values.h"
#include "util/edit_distance.h"
#include "util/order.h"
#include "util/text_list.h"

/* ---- tasks as work ---- */

enum { AHEAD_ROWS = 64 }; /* read at a time, of each CPU */

struct works_cpu {
    int64_t at; /* when its present row begins */
    unsigned cpu;
    size_t i, n;
    struct sim_row row[AHEAD_ROWS];
};

struct works_task {
    int64_t until; /* it has been seen */
    unsigned cpu;  /* there, last */
};

static bool is_later(const struct works_cpu *a, const struct works_cpu *b)
{
    return a->at != b->at ? a->at > b->at : a->cpu > b->cpu;
}

/* Puts what is at `i` of a heap, the earliest first, where it belongs below. */
static void sink(struct works_cpu **heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_later(heap[child], heap[child + 1]))
            child++;
        if (!is_later(heap[i], heap[child]))
            return;
        struct works_cpu *t = heap[i];
        heap[i] = heap[child];
        heap[child] = t;
    }
}

static bool read_ahead(struct sim_workload *w, struct works_cpu *c)
{
    c->i = 0;
    c->n = w->cpus.read(w->cpus.self, c->cpu, c->row, AHEAD_ROWS);
    return c->n;
}

static int add_work(const struct sim_workload *w, struct sim_spool *works, struct works_task *tasks,
                    const struct works_cpu *c, struct machine_error *err)
{
    const struct sim_row *row = &c->row[c->i];
    char shown[SIM_SHOWN_SIZE];
    if (row->task == SIM_IDLE)
        return MACHINE_OK;
    struct works_task *t = &tasks[row->task];
    if (c->at < t->until)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: task '%s' runs on CPUs %u and %u at once, %.6f us after the first row: for a "
                            "scheduler, each thread needs its own name",
                            w->name, sim_lines_shown(w->tasks[row->task].name, shown), w->cpu[t->cpu], w->cpu[c->cpu],
                            (double)c->at / (double)SIM_PS_PER_US);
    struct sim_row away = {.ps = c->at - t->until, .task = SIM_IDLE};
    t->until = c->at + row->ps;
    t->cpu = c->cpu;
    return sim_spool_push(works, row->task, away, err) || sim_spool_push(works, row->task, *row, err) ? err->status
                                                                                                      : MACHINE_OK;
}

static int merge_cpus(struct sim_workload *w, struct sim_spool *works, struct works_cpu *cpus, struct works_cpu **heap,
                      struct works_task *tasks, struct machine_error *err)
{
    size_t n = 0;
    for (unsigned i = 0; i < w->n_cpus; i++) {
        cpus[i].cpu = i;
        if (read_ahead(w, &cpus[i]))
            heap[n++] = &cpus[i];
    }
    while (n) { /* all begin at 0, in the order of their numbers: that is a heap */
        struct works_cpu *c = heap[0];
        if (add_work(w, works, tasks, c, err))
            return err->status;
        c->at += c->row[c->i].ps;
        if (++c->i == c->n && !read_ahead(w, c))
            heap[0] = heap[--n];
        sink(heap, n, 0);
    }
    const char *why = w->cpus.error(w->cpus.self);
    w->cpus.rewind(w->cpus.self);
    return why ? machine_fail(err, MACHINE_FAILED, "", "%s", why) : MACHINE_OK;
}

/*
 * Fills in `works` (what each task did, and that it was blocked while it was away) from the rows of all CPUs, which it
 * reads once and rewinds. MACHINE_OK, MACHINE_BAD_INPUT (a task runs on two CPUs at once: it is several threads of one
 * name) or MACHINE_FAILED after filling *err.
 */
static int build_works(struct sim_workload *w, struct machine_error *err)
{
    struct sim_spool *works = sim_spool_new();
    struct works_cpu *cpus = calloc(w->n_cpus, sizeof *cpus), **heap = calloc(w->n_cpus, sizeof(struct works_cpu *));
    struct works_task *tasks = calloc(w->n_tasks, sizeof *tasks);
    uint64_t rows;
    int status;
    if (!works || !cpus || !heap || !tasks)
        status = machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", w->name);
    else
        status = merge_cpus(w, works, cpus, heap, tasks, err);
    if (status == MACHINE_OK)
        status = sim_spool_done(works, NULL, (unsigned)w->n_tasks, &w->works, &rows, err);
    if (status != MACHINE_OK)
        sim_spool_free(works);
    free(tasks);
    free(heap);
    free(cpus);
    return status;
}

/* ---- a recording ---- */

int sim_recording_open(struct sim_recording *r, const char *path, const struct sim_workload_options *o,
                       struct machine_error *err)
{
    *r = (struct sim_recording){.options = o};
    if (sim_lines_open(&r->in, path, err))
        return err->status;
    r->w = calloc(1, sizeof *r->w);
    r->rows = sim_spool_new();
    if (!r->w || !r->rows || !(r->w->name = strdup(path)))
        return sim_lines_memory(&r->in), err->status;
    return MACHINE_OK;
}

void sim_recording_close(struct sim_recording *r)
{
    sim_lines_close(&r->in);
    sim_spool_free(r->rows);
    sim_spool_free(r->works);
    sim_workload_free(r->w);
}

/* True: the user's map overrides that of the file: an empty one, of a machine without siblings, does not. */
static bool siblings_given(const struct sim_recording *r)
{
    return r->options->siblings && *r->options->siblings;
}

/* The origin of the map, for messages. */
static const char *siblings_place(const struct sim_recording *r)
{
    return siblings_given(r) ? "--siblings-map" : "siblings";
}

/* "0-1,2-3": which CPUs share a core. */
static int read_siblings(struct sim_recording *r, const char *text)
{
    char shown[SIM_SHOWN_SIZE];
    const char *what = siblings_place(r);
    unsigned group = 1, in_group = 0;
    for (const char *p = text;;) {
        char digits[6] = "";
        uint32_t cpu;
        size_t n = strspn(p, "0123456789");
        if (n < sizeof digits)
            memcpy(digits, p, n);
        if (!sim_value_number(digits, SIM_CPU_NUMBERS - 1, &cpu) || (p[n] && !strchr("-, \t", p[n])))
            return sim_lines_fail(&r->in, r->siblings_line,
                                  "%s: '%s' is not a siblings map; allowed: CPUs (0 to %d) joined by '-', cores "
                                  "separated by ',', as in 0-1,2-3",
                                  what, sim_lines_shown(text, shown), SIM_CPU_NUMBERS - 1);
        if (r->group[cpu])
            return sim_lines_fail(&r->in, r->siblings_line, "%s: CPU %u is listed twice", what, cpu);
        if (++in_group > SIM_CORE_CPUS_MAX)
            return sim_lines_fail(&r->in, r->siblings_line, "%s: the core of CPU %u has more than %d CPUs", what, cpu,
                                  SIM_CORE_CPUS_MAX);
        r->group[cpu] = group;
        p += n;
        if (!*p)
            break;
        if (*p != '-') {
            group++;
            in_group = 0;
        }
        p += *p == '-' ? 1 : strspn(p, ", \t");
    }
    r->have_siblings = true;
    return 0;
}

static char *comment_part(char *from, char *end)
{
    while (*from == ' ' || *from == '\t')
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return from;
}

/* Other comments are the user's own, but some are meant to be known. */
static void note_misspelt(struct sim_recording *r, const char *key)
{
    static const char *const known[] = {"recorded_ghz", "active_cores", "siblings"};
    enum { EDITS_MOST = 2, KEY_MOST = 20 };
    char shown[SIM_SHOWN_SIZE];
    size_t length = strlen(key);
    for (size_t i = 0; i < sizeof known / sizeof *known && length <= KEY_MOST; i++) {
        unsigned edits = edit_distance(key, length, known[i]);
        if (edits && edits <= EDITS_MOST)
            text_list_add(r->misspelt, sizeof r->misspelt, "; ", "line %" PRIu64 " says '%s': is %s meant?",
                          r->in.number, sim_lines_shown(key, shown), known[i]);
    }
}

int sim_recording_comment(struct sim_recording *r)
{
    char *line = r->in.line, *colon = strchr(line, ':'), shown[SIM_SHOWN_SIZE];
    if (!colon)
        return 0;
    char *value = comment_part(colon + 1, line + r->in.length), *key = comment_part(line + 1, colon);
    struct sim_workload *w = r->w;
    const char *allowed = NULL;
    bool again = false;
    if (!strcmp(key, "recorded_ghz")) {
        again = w->recorded;
        allowed = sim_parse_recorded(value, &w->recorded) ? NULL : SIM_RECORDED_ALLOWED;
    } else if (!strcmp(key, "active_cores")) {
        again = w->active_cores;
        allowed = sim_parse_active_cores(value, &w->active_cores) ? NULL : SIM_ACTIVE_CORES_ALLOWED;
    } else if (!strcmp(key, "siblings") && !siblings_given(r)) {
        again = r->have_siblings;
        r->siblings_line = r->in.number;
        if (!again && read_siblings(r, value))
            return -1;
    } else {
        note_misspelt(r, key);
    }
    if (again)
        return sim_lines_fail(&r->in, r->in.number, "%s: given twice", key);
    if (allowed)
        return sim_lines_fail(&r->in, r->in.number, "%s: '%s' is not allowed; allowed: %s", key,
                              sim_lines_shown(value, shown), allowed);
    return 0;
}

int sim_recording_settle(struct sim_recording *r)
{
    const struct sim_workload_options *o = r->options;
    struct sim_workload *w = r->w;
    if (o->recorded)
        w->recorded = o->recorded;
    if (o->active_cores)
        w->active_cores = o->active_cores;
    if (!w->recorded)
        return sim_lines_fail(&r->in, 0,
                              "does not say at which frequency it was recorded: put '# recorded_ghz: GHZ' before the "
                              "rows, or --recorded-ghz GHZ%s%s",
                              *r->misspelt ? "; " : "", r->misspelt);
    if (siblings_given(r) && read_siblings(r, o->siblings))
        return -1;
    if (o->smt_given && o->smt && !r->have_siblings)
        return sim_lines_fail(&r->in, 0,
                              "does not say which CPUs share a core: for --smt on, put '# siblings: 0-1,2-3' before "
                              "the rows, or --siblings-map 0-1,2-3%s%s",
                              *r->misspelt ? "; " : "", r->misspelt);
    text_list_add(w->warning, sizeof w->warning, "; ", "%s", r->misspelt);
    return 0;
}

unsigned sim_recording_stream(struct sim_recording *r, unsigned cpu)
{
    if (!r->stream[cpu]) {
        r->number[r->w->n_cpus] = cpu;
        r->stream[cpu] = ++r->w->n_cpus;
    }
    return r->stream[cpu] - 1;
}

int sim_recording_row(struct sim_recording *r, unsigned stream, struct sim_row row)
{
    if (row.task == SIM_IDLE)
        row = (struct sim_row){.ps = row.ps, .task = SIM_IDLE};
    else if (row.ps)
        r->w->class_used[row.class] = true;
    return sim_spool_push(r->rows, stream, row, r->in.err) ? -1 : 0;
}

static bool with_siblings(const struct sim_recording *r)
{
    return r->have_siblings && (!r->options->smt_given || r->options->smt);
}

/* Siblings that the recording does not know have idled, as far as their core is in it. */
static int add_idle_siblings(struct sim_recording *r)
{
    bool *met = calloc(SIM_CPU_NUMBERS + 1, sizeof *met); /* of a group: a CPU of it */
    unsigned idle = 0, left_out = 0;
    if (!met)
        return sim_lines_memory(&r->in);
    for (unsigned i = 0; i < r->w->n_cpus; i++)
        met[r->group[r->number[i]]] = true;
    for (unsigned cpu = 0; cpu < SIM_CPU_NUMBERS && with_siblings(r); cpu++)
        if (r->group[cpu] && !r->stream[cpu]) {
            bool known = met[r->group[cpu]];
            unsigned stream = known ? sim_recording_stream(r, cpu) : 0;
            if (known && sim_recording_row(r, stream, (struct sim_row){.ps = r->length, .task = SIM_IDLE})) {
                free(met);
                return -1;
            }
            idle += known;
            left_out += !known;
        }
    free(met);
    if (idle || left_out)
        text_list_add(r->w->warning, sizeof r->w->warning, "; ",
                      "CPUs of the map that are not in the recording: %u assumed idle, %u omitted with their cores",
                      idle, left_out);
    return 0;
}

/* Numbers the cores, in ascending order of their first CPU. */
static int settle_cores(struct sim_recording *r)
{
    struct sim_workload *w = r->w;
    bool smt = with_siblings(r);
    unsigned *core_of = calloc(SIM_CPU_NUMBERS + 1, sizeof *core_of); /* group, + 1 */
    if (!core_of)
        return sim_lines_memory(&r->in);
    for (unsigned i = 0; i < w->n_cpus; i++) {
        unsigned group = smt ? r->group[w->cpu[i]] : 0;
        if (group && core_of[group]) {
            w->core[i] = core_of[group] - 1;
            w->smt = true;
            continue;
        }
        w->core[i] = w->n_cores++;
        core_of[group] = w->n_cores;
    }
    free(core_of);
    if (r->options->smt_given && r->options->smt && !w->smt)
        return sim_lines_fail(&r->in, r->siblings_line, "%s: no CPUs share a core: --smt on has no effect",
                              siblings_place(r));
    return 0;
}

/* The streams in ascending order of their CPUs. */
static int order_cpus(struct sim_recording *r, unsigned **order)
{
    struct sim_workload *w = r->w;
    w->cpu = malloc(w->n_cpus * sizeof *w->cpu);
    w->core = malloc(w->n_cpus * sizeof *w->core);
    *order = malloc(w->n_cpus * sizeof **order);
    if (!w->cpu || !w->core || !*order)
        return sim_lines_memory(&r->in);
    memcpy(w->cpu, r->number, w->n_cpus * sizeof *w->cpu);
    qsort(w->cpu, w->n_cpus, sizeof *w->cpu, order_unsigned);
    for (unsigned i = 0; i < w->n_cpus; i++)
        (*order)[i] = r->stream[w->cpu[i]] - 1;
    return 0;
}

int sim_recording_end(struct sim_recording *r)
{
    struct sim_workload *w = r->w;
    unsigned *order = NULL;
    bool works = false;
    for (int c = 0; c < SIM_CLASSES; c++)
        works |= w->class_used[c];
    if (!works)
        return sim_lines_fail(&r->in, 0, "contains no work: all CPUs are idle all the time");
    int bad = add_idle_siblings(r) || order_cpus(r, &order) || settle_cores(r) ||
              sim_spool_done(r->rows, order, w->n_cpus, &w->cpus, &w->n_rows, r->in.err);
    free(order);
    if (bad)
        return -1;
    r->rows = NULL;
    if (r->works) {
        uint64_t rows;
        if (sim_spool_done(r->works, NULL, (unsigned)w->n_tasks, &w->works, &rows, r->in.err))
            return -1;
        r->works = NULL;
    } else if (r->options->works) {
        return build_works(w, r->in.err) ? -1 : 0;
    }
    return 0;
}
