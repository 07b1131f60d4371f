/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of include/characterize/characterize.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"
#include "computer/cpu/cpu.h"
#include "drivers/block/block.h"
#include "drivers/machine.h"
#include "include/characterize/characterize.h"
#include "library/measure.h"
#include "util/path.h"
#include "util/text_list.h"

struct characterize_machine {
    struct machine machine;
    int cpu;           /* -1: its choice */
    char *data_folder; /* NULL: the shipped data */
    char chosen[1000]; /* the report of `auto` */
    struct block_set blocks;
};

const char *characterize_version(void)
{
    return VERSION;
}

/* ---- shared by all of them ---- */

/* Fills *error (NULL: not wanted) and returns the status. */
static enum characterize_status fail(struct characterize_error *error, const struct machine_error *e)
{
    if (error != NULL) {
        error->status = (enum characterize_status)e->status;
        snprintf(error->text, sizeof(error->text), "%s", e->text);
        snprintf(error->remedy, sizeof(error->remedy), "%s", e->remedy);
    }
    return (enum characterize_status)e->status;
}

static enum characterize_status refuse(struct characterize_error *error, enum characterize_status status,
                                       const char *text)
{
    struct machine_error e;
    machine_fail(&e, (enum machine_status)status, "", "%s", text);
    return fail(error, &e);
}

static enum characterize_status refuse_null(struct characterize_error *error)
{
    return refuse(error, CHARACTERIZE_BAD_INPUT, "a required argument is NULL");
}

static enum characterize_status check(const struct characterize_options *o, struct characterize_error *error)
{
    const char *wrong = NULL;
    if (o->runs > 100000)
        wrong = "runs: more than 100000";
    else if (o->period_us != 0 && !(o->period_us >= 0.1 && o->period_us <= 1000))
        wrong = "period_us: neither 0 nor from 0.1 to 1000";
    else if (!(o->warmup_us >= 0 && o->warmup_us <= 1e6))
        wrong = "warmup_us: not from 0 to 1e6";
    else if (o->observe_us != 0 && !(o->observe_us >= 1 && o->observe_us <= 1e6))
        wrong = "observe_us: neither 0 nor from 1 to 1e6";
    return wrong == NULL ? CHARACTERIZE_OK : refuse(error, CHARACTERIZE_BAD_INPUT, wrong);
}

/* Returns what `print` writes, as text to be freed; NULL: out of memory. */
static char *text_of(int (*print)(FILE *out, const void *data), const void *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    bool failed = print(out, data) != 0;
    failed = fclose(out) != 0 || failed;
    if (failed)
        free(text);
    return failed ? NULL : text;
}

/* A kernel by name, of those from files, too: as kernel_parse(). */
static int kernel_of(const characterize_machine *m, const char *name, struct payload *out, char *why, size_t size)
{
    return kernel_parse_with(m->blocks.kernel, m->blocks.n, name, out, why, size);
}

/* ---- machines ---- */

/* -1: the machine's choice, made when it measures. */
static int check_cpu(const struct machine *m, int cpu, struct machine_error *e)
{
    struct machine_info info;
    struct cpu_view view;
    m->ops->info(m, &info);
    if (cpu < -1 || (info.modelled && cpu >= (int)info.cores))
        return machine_fail(e, MACHINE_BAD_INPUT, "", "no CPU %d; -1 leaves the choice to the machine", cpu);
    if (cpu == -1 || info.modelled)
        return MACHINE_OK;
    cpu_view_read("/sys", &view);
    return cpu_choose(&view, cpu, &cpu, e);
}

enum characterize_status characterize_open(const char *name, int cpu, const char *data_folder,
                                           characterize_machine **machine, struct characterize_error *error)
{
    struct machine_error e;
    if (machine != NULL)
        *machine = NULL;
    if (name == NULL || machine == NULL)
        return refuse_null(error);
    if (data_folder != NULL && data_folder[0] == '\0')
        return refuse(error, CHARACTERIZE_BAD_INPUT, "data_folder is empty; NULL stands for the default");
    memset(&e, 0, sizeof(e));
    struct characterize_machine *m = calloc(1, sizeof(*m));
    char *folder = data_folder != NULL ? strdup(data_folder) : NULL;
    if (m == NULL || (data_folder != NULL && folder == NULL)) {
        free(folder);
        free(m);
        return refuse(error, CHARACTERIZE_FAILED, "out of memory");
    }
    m->cpu = cpu;
    m->data_folder = folder;
    if (machine_open(name, folder, &m->machine, m->chosen, sizeof(m->chosen), &e) != MACHINE_OK) {
        free(folder);
        free(m);
        return fail(error, &e);
    }
    if (m->machine.ops->find_cores != NULL)
        m->machine.ops->find_cores(&m->machine);
    if (check_cpu(&m->machine, cpu, &e) != MACHINE_OK) {
        characterize_close(m);
        return fail(error, &e);
    }
    *machine = m;
    return CHARACTERIZE_OK;
}

void characterize_close(characterize_machine *machine)
{
    if (machine == NULL)
        return;
    machine->machine.ops->close(&machine->machine);
    block_set_free(&machine->blocks);
    free(machine->data_folder);
    free(machine);
}

void characterize_describe(const characterize_machine *machine, struct characterize_machine_info *info)
{
    struct machine_info i;
    machine->machine.ops->info(&machine->machine, &i);
    *info = (struct characterize_machine_info){.name = i.name,
                                               .cpu = i.cpu,
                                               .source = i.source,
                                               .chosen = machine->chosen,
                                               .notes = i.notes != NULL ? i.notes : "",
                                               .modelled = i.modelled,
                                               .cores = i.cores};
}

const char *characterize_kernel_name(size_t i)
{
    size_t n;
    const struct kernel *kernels = kernel_registry(&n);
    return i < n ? kernels[i].name : NULL;
}

enum characterize_status characterize_add_kernel_file(characterize_machine *machine, const char *file,
                                                      struct characterize_error *error)
{
    struct machine_error e;
    if (machine == NULL || file == NULL)
        return refuse_null(error);
    return block_set_add(&machine->blocks, file, &e) == MACHINE_OK ? CHARACTERIZE_OK : fail(error, &e);
}

int characterize_can_run(const characterize_machine *machine, const char *kernel)
{
    struct payload p;
    struct machine_info info;
    struct machine_error e;
    char why[400];
    if (kernel == NULL)
        return 0;
    machine->machine.ops->info(&machine->machine, &info);
    return kernel_of(machine, kernel, &p, why, sizeof(why)) == 0 && measure_check_kernel(&p, &info, &e) == MACHINE_OK;
}

/* ---- transitions and recorded traces ---- */

struct characterize_phases {
    struct switches_seen seen;
};

/* Whom progress is reported to. */
struct watcher {
    const struct characterize_options *options;
    double done;
};

static int on_progress(void *data, unsigned done, unsigned wanted)
{
    struct watcher *w = data;
    if (wanted > 0)
        w->done = (double)done / wanted;
    return w->options->progress != NULL && w->options->progress(w->options->data, w->done) != 0;
}

/* FROM:TO into the two kernels. */
static enum characterize_status parse_pair(const characterize_machine *m, const char *from_to,
                                           struct transition_setup *s, struct characterize_error *error)
{
    struct payload from, to;
    char name[256], why[400] = "not of the form FROM:TO, as in 128fma:512fma";
    const char *colon = strchr(from_to, ':');
    if (colon == NULL || (size_t)(colon - from_to) >= sizeof(name))
        return refuse(error, CHARACTERIZE_BAD_INPUT, why);
    memcpy(name, from_to, (size_t)(colon - from_to));
    name[colon - from_to] = '\0';
    if (kernel_of(m, name, &from, why, sizeof(why)) != 0 || kernel_of(m, colon + 1, &to, why, sizeof(why)) != 0)
        return refuse(error, CHARACTERIZE_BAD_INPUT, why);
    transition_defaults(s, &from, &to);
    return CHARACTERIZE_OK;
}

static enum characterize_status setup_of(const characterize_machine *m, const char *from_to,
                                         const struct characterize_options *o, struct transition_setup *s,
                                         struct characterize_error *error)
{
    struct machine_info info;
    struct machine_error e;
    double samples;
    enum characterize_status status = check(o, error);
    if (status == CHARACTERIZE_OK)
        status = parse_pair(m, from_to, s, error);
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
        return fail(error, &e);
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
        return refuse_null(error);
    struct guard guard = {.machine = &machine->machine,
                          .warmup_given = o->warmup_us > 0,
                          .observe_given = o->observe_us > 0,
                          .period_given = o->period_us > 0,
                          .runs_given = o->runs > 0,
                          .progress = on_progress,
                          .data = &watcher};
    enum characterize_status status = setup_of(machine, from_to, o, &setup, error);
    if (status != CHARACTERIZE_OK)
        return status;
    struct characterize_phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return refuse(error, CHARACTERIZE_FAILED, "out of memory");
    memset(&e, 0, sizeof(e));
    if (measure_switch(&guard, &setup, &p->seen, &e) != MACHINE_OK) {
        free(p);
        return fail(error, &e);
    }
    *phases = p;
    return CHARACTERIZE_OK;
}

/* The trace and its phases into *p, which is zero where that fails. */
static int analyze(const char *file, struct characterize_phases *p, struct machine_error *e)
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
        return refuse_null(error);
    if (file[0] == '\0')
        return refuse(error, CHARACTERIZE_BAD_INPUT, "the name of the file is empty");
    struct characterize_phases *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return refuse(error, CHARACTERIZE_FAILED, "out of memory");
    if (analyze(file, p, &e) != MACHINE_OK) {
        free(p);
        return fail(error, &e);
    }
    *phases = p;
    return CHARACTERIZE_OK;
}

void characterize_phases_free(characterize_phases *phases)
{
    if (phases != NULL)
        guarded_free(&phases->seen);
    free(phases);
}

static struct characterize_estimate estimate_of(struct estimate e)
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
                                       .duration_us = estimate_of(p->duration_us),
                                       .freq_ghz = estimate_of(p->freq_ghz),
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
                                        .latency_us = estimate_of(t->latency_us),
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

static int print_trace(FILE *out, const void *trace)
{
    return trace_write_csv(out, trace);
}

char *characterize_trace_csv(const characterize_phases *phases)
{
    return text_of(print_trace, &phases->seen.result.trace);
}

/* ---- tables ---- */

struct characterize_table {
    struct table table;
    char **missing; /* "512fma, active_cores 16: WHY" */
};

static int on_table_progress(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    const struct characterize_options *o = data;
    (void)k, (void)done, (void)n;
    return o->progress != NULL && o->progress(o->data, part) != 0;
}

const char *characterize_table_name(size_t i)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    return i < n ? kinds[i]->name : NULL;
}

/* "128fma,512fma" into the kernels, each once. */
static enum characterize_status parse_kernels(const characterize_machine *m, const char *names,
                                              struct tables_options *t, struct characterize_error *error)
{
    char name[100], why[400];
    for (const char *rest = names; rest != NULL; rest = *rest == ',' ? rest + 1 : NULL) {
        size_t length = strcspn(rest, ",");
        if (t->n_kernels == TABLES_KERNELS_MAX || length >= sizeof(name))
            return refuse(error, CHARACTERIZE_BAD_INPUT, "kernels: too many, or a name that is too long");
        memcpy(name, rest, length);
        name[length] = '\0';
        rest += length;
        if (kernel_of(m, name, &t->kernels[t->n_kernels], why, sizeof(why)) != 0)
            return refuse(error, CHARACTERIZE_BAD_INPUT, why);
        for (size_t i = 0; i < t->n_kernels; i++)
            if (strcmp(t->kernels[i].name, t->kernels[t->n_kernels].name) == 0)
                return refuse(error, CHARACTERIZE_BAD_INPUT, "kernels: one of them is given twice");
        t->n_kernels++;
    }
    return CHARACTERIZE_OK;
}

/* Refuses options that this table does not take. */
static const char *excluded_why(const struct table_kind *k, const struct characterize_options *o)
{
    const char *warmup = o->warmup_us > 0 ? k->excluded[CHOICE_WARMUP] : NULL;
    return warmup != NULL ? warmup : o->observe_us > 0 ? k->excluded[CHOICE_OBSERVE] : NULL;
}

static enum characterize_status table_options(const characterize_machine *m, const struct table_kind *k,
                                              const struct characterize_options *o, struct tables_options *t,
                                              struct characterize_error *error)
{
    char why[200];
    struct machine_info info;
    struct machine_error e;
    enum characterize_status status = check(o, error);
    tables_options_default(t);
    t->cpu = m->cpu;
    t->data_dir = m->data_folder;
    t->runs = o->runs;
    t->period_us = o->period_us;
    t->warmup_us = o->warmup_us;
    t->observe_us = o->observe_us;
    t->n_active = o->active_cores > 0;
    t->active[0] = o->active_cores;
    t->brief = o->brief != 0;
    t->seed = o->seed;
    if (status == CHARACTERIZE_OK && excluded_why(k, o) != NULL) {
        snprintf(why, sizeof(why), "warmup_us and observe_us: table %s takes neither: %s", k->name, excluded_why(k, o));
        status = refuse(error, CHARACTERIZE_BAD_INPUT, why);
    }
    if (status == CHARACTERIZE_OK && o->kernels != NULL)
        status = parse_kernels(m, o->kernels, t, error);
    if (status != CHARACTERIZE_OK)
        return status;
    m->machine.ops->info(&m->machine, &info);
    return measure_check_cores(&info, t, &e) == MACHINE_OK ? CHARACTERIZE_OK : fail(error, &e);
}

static enum characterize_status refuse_table(const char *name, struct characterize_error *error)
{
    char text[600];
    snprintf(text, sizeof(text), "no table '%.60s'; tables:", name);
    for (size_t i = 0; characterize_table_name(i) != NULL; i++)
        text_list_add(text, sizeof(text), " ", "%s", characterize_table_name(i));
    return refuse(error, CHARACTERIZE_BAD_INPUT, text);
}

static bool put_missing(struct characterize_table *t)
{
    char name[200];
    bool complete = (t->missing = calloc(t->table.n_missing + 1, sizeof(*t->missing))) != NULL;
    for (size_t i = 0; complete && i < t->table.n_missing; i++) {
        table_missing_name(&t->table, i, name, sizeof(name));
        complete = asprintf(&t->missing[i], "%s%s%s", name, name[0] != '\0' ? ": " : "", t->table.missing[i].why) >= 0;
        t->missing[i] = complete ? t->missing[i] : NULL;
    }
    return complete;
}

enum characterize_status characterize_table_measure(characterize_machine *machine, const char *name,
                                                    const struct characterize_options *options,
                                                    characterize_table **table, struct characterize_error *error)
{
    static const struct characterize_options defaults = {0};
    struct characterize_options o = options != NULL ? *options : defaults;
    const struct tables_watch watch = {.progress = on_table_progress, .data = &o};
    struct tables_options tables;
    struct machine_error e;
    if (table != NULL)
        *table = NULL;
    if (machine == NULL || name == NULL || table == NULL)
        return refuse_null(error);
    const struct table_kind *kind = tables_find(name);
    if (kind == NULL)
        return refuse_table(name, error);
    enum characterize_status status = table_options(machine, kind, &o, &tables, error);
    if (status != CHARACTERIZE_OK)
        return status;
    struct characterize_table *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return refuse(error, CHARACTERIZE_FAILED, "out of memory");
    memset(&e, 0, sizeof(e));
    if (tables_measure(kind, &machine->machine, &tables, NULL, &watch, &t->table, &e) != MACHINE_OK) {
        free(t);
        return fail(error, &e);
    }
    if (!put_missing(t)) {
        characterize_table_free(t);
        return refuse(error, CHARACTERIZE_FAILED, "out of memory");
    }
    *table = t;
    return CHARACTERIZE_OK;
}

void characterize_table_free(characterize_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; table->missing != NULL && i < table->table.n_missing; i++)
        free(table->missing[i]);
    free(table->missing);
    table_free(&table->table);
    free(table);
}

size_t characterize_table_rows(const characterize_table *table)
{
    return table->table.n_rows;
}

double characterize_table_number(const characterize_table *table, size_t row, const char *column)
{
    return row < table->table.n_rows ? table_number(&table->table, row, column) : NAN;
}

const char *characterize_table_text(const characterize_table *table, size_t row, const char *column)
{
    return row < table->table.n_rows ? table_text(&table->table, row, column) : NULL;
}

const char *characterize_table_missing(const characterize_table *table, size_t i)
{
    return i < table->table.n_missing ? table->missing[i] : NULL;
}

char *characterize_table_json(const characterize_table *table)
{
    return table_to_json(&table->table);
}

static int print_table(FILE *out, const void *table)
{
    return table_write_csv(out, table);
}

char *characterize_table_csv(const characterize_table *table)
{
    return text_of(print_table, &table->table);
}
