/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a machine as the options say, measures tables on it or reads them from --input, and shows progress. */
#include "cli/measuring.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/changed_settings.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "cli/privileges.h"
#include "cli/stop.h"
#include "computer/cpu/cpu.h"
#include "computer/environment/snapshot.h"
#include "drivers/events/event_code.h"
#include "drivers/machine.h"
#include "library/measure.h"
#include "output/export/schedule.h"
#include "util/text_list.h"

/* The options of tables, with those that the command line gives in another form. */
static void table_options(const struct options *o, struct tables_options *out)
{
    *out = o->tables;
    out->cpu = o->cpu.given ? (int)o->cpu.value : -1;
    out->n_cpus = o->n_cpus;
    for (size_t i = 0; i < o->n_cpus; i++)
        out->cpus[i] = (int)o->cpus[i];
    out->runs = (unsigned)o->runs.value;
    out->period_us = o->period_us.value;
    out->warmup_us = o->warmup_us.value;
    out->observe_us = o->observe_us.value;
    out->fixed_ghz = o->fixed_ghz.value;
    out->event = o->n_events > 0 ? event_code_select(o->events[0].code) : 0;
}

/* '1' or '0'; '?': the kernel does not say, and it was not measured. */
static char smt_active(const struct machine_info *info)
{
    char active[8];
    for (int cpu = 0; info->core != NULL && cpu < CPU_LIMIT; cpu++)
        if (info->core[cpu] != cpu)
            return '1';
    if (info->core != NULL)
        return '0';
    return cpu_read_text("/sys", active, sizeof(active), "devices/system/cpu/smt/active") > 0 ? active[0] : '?';
}

/* Cores and siblings that are to be busy must exist: otherwise the tables would report a load that never was. */
static int check_load(const struct measuring *m)
{
    struct machine_info info;
    struct machine_error error;
    m->machine.ops->info(&m->machine, &info);
    if (measure_check_cores(&info, &m->options, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    if (!m->options.siblings)
        return DONE;
    if (info.modelled)
        return refuse(CANNOT, "--siblings busy: the modelled %s has no SMT siblings; leave --siblings out", info.cpu);
    if (smt_active(&info) == '0')
        return refuse(
            CANNOT,
            "--siblings busy: no core here has an active SMT sibling (/sys/devices/system/cpu/smt/active is 0); "
            "enable hyper-threading or leave --siblings out");
    return DONE;
}

bool measuring_has_siblings(const struct measuring *m)
{
    struct machine_info info;
    m->machine.ops->info(&m->machine, &info);
    return !info.modelled && smt_active(&info) == '1';
}

/* ---- --interference: a busy machine around what is measured ---- */

/* For the refinement `busy` of a quiet machine's table, unless the command line has another one. */
static enum interference wanted_kind(const struct options *o)
{
    bool refines = o->sysroot != NULL ? false : o->job == JOB_ALL || (o->job == JOB_TABLE && o->table->refines);
    return o->interference == INTERFERENCE_NONE && o->quiet_given && refines ? INTERFERENCE_MAKE : o->interference;
}

int disturbing_ready(const struct options *o, struct interferer **out, char *text, size_t size)
{
    struct interference_plan plan;
    struct machine_error error;
    struct cpu_view view;
    int cpu;
    *out = NULL;
    text[0] = '\0';
    enum interference kind = wanted_kind(o);
    if (kind == INTERFERENCE_NONE)
        return DONE;
    if (measured_cpu(o, "/sys", &cpu, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    cpu_view_read("/sys", &view);
    if (interference_plan_for(kind, &view, "/sys", "/proc", cpu, &plan, &error) != MACHINE_OK ||
        interference_ready(&plan, out, &error) != MACHINE_OK)
        return o->interference != INTERFERENCE_NONE ? complain_of_machine("", &error) : DONE;
    interference_plan_text(&plan, text, size);
    return DONE;
}

int disturbing_begin(struct interferer *i)
{
    struct machine_error error;
    return i == NULL || interference_begin(i, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

int disturbing_end(struct interferer *i)
{
    struct machine_error error;
    return i == NULL || interference_end(i, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

/*
 * ---- the computer, brought from one refinement into the next while a table is measured (doc/quiet-machine.md, "How
 * repeatable is this core"): with interference, as found, then with ever more parts of --quiet-machine ----
 */

/* Each refinement adds these to those above it. */
static const unsigned parts_of[REFINEMENTS] = {
    [REFINED_SETTINGS] = QUIET_GOVERNOR | QUIET_EPP | QUIET_TURBO | QUIET_CSTATES | QUIET_SMT | QUIET_TICK,
    [REFINED_ISOLATED] = QUIET_ISOLATE,
    [REFINED_IRQS_AWAY] = QUIET_IRQ | QUIET_WORKQUEUE,
};

/* True: the measured CPU, which is set, is one of those that a file of the kernel lists: what a boot option gave it. */
static bool is_since_boot(const struct options *o, const char *file, int *cpu)
{
    struct cpu_mask listed;
    struct machine_error ignored;
    *cpu = -1;
    return o->sysroot == NULL && measured_cpu(o, "/sys", cpu, &ignored) == MACHINE_OK &&
           cpu_read_list("/sys", &listed, "%s", file) && cpu_mask_has(&listed, *cpu);
}

/* Its timer tick is off while a single task runs on it (Linux, Documentation/timers/no_hz.rst). */
static int check_tickless(const struct options *o, struct machine_error *err)
{
    int cpu;
    char remedy[160];
    if (is_since_boot(o, "devices/system/cpu/nohz_full", &cpu))
        return MACHINE_OK;
    snprintf(remedy, sizeof remedy,
             "add nohz_full=%d to the command line of a kernel with CONFIG_NO_HZ_FULL, and reboot", cpu);
    return machine_fail(err, MACHINE_CANNOT, cpu < 0 ? "" : remedy,
                        "the CPU has a timer tick: nohz_full is not given for it");
}

/* Nothing but turbo and frequency. */
static int back_to_base(struct refining *f, struct machine_error *err)
{
    f->begun = true;
    f->in_force = f->had = 0;
    return changed_settings_back_to(*f->settings, settings_base(*f->settings)) == DONE
               ? MACHINE_OK
               : machine_fail(err, MACHINE_FAILED, "", "settings could not be restored between two refinements");
}

/* Parts one by one: of each is known whether there is something of it here. */
static int add_parts(struct refining *f, unsigned parts, struct machine_error *err)
{
    for (int i = 0; i < QUIET_PARTS; i++) {
        const unsigned part = 1u << i;
        if ((parts & part) == 0)
            continue;
        int status = changed_settings_quiet(f->options, part, f->settings, err);
        if (status != MACHINE_OK && status != MACHINE_CANNOT)
            return status;
        f->in_force |= part;
        f->had |= status == MACHINE_OK ? part : 0;
        f->why[i] = *err;
    }
    return MACHINE_OK;
}

static int refuse_unwished(unsigned parts, struct machine_error *err)
{
    char names[120] = "";
    for (int i = 0; i < QUIET_PARTS; i++)
        if ((parts & QUIET_DEFAULT & 1u << i) != 0)
            text_list_add(names, sizeof(names), ",", "%s", settings_part_names[i]);
    return machine_fail(err, MACHINE_CANNOT, "name them, or none", "needs %s, which --quiet-machine=... leaves out",
                        names);
}

/* Everything up to a refinement that --quiet-machine makes. */
static int refine_settings(struct refining *f, enum refinement r, struct machine_error *err)
{
    const unsigned wished = changed_settings_wished(f->options);
    unsigned parts = 0;
    for (int i = 0; i <= (int)r; i++)
        parts |= parts_of[i] & wished;
    int status = !f->begun || (f->in_force & ~parts) != 0 ? back_to_base(f, err) : MACHINE_OK;
    if (status == MACHINE_OK)
        status = add_parts(f, parts & ~f->in_force, err);
    if (status != MACHINE_OK)
        return status;
    int cpu;
    bool at_boot = r == REFINED_ISOLATED && is_since_boot(f->options, "devices/system/cpu/isolated", &cpu);
    if (r == REFINED_TICKLESS)
        return check_tickless(f->options, err);
    if (parts_of[r] == 0 || (f->had & parts_of[r]) != 0 || at_boot)
        return MACHINE_OK;
    if ((wished & parts_of[r]) == 0)
        return refuse_unwished(parts_of[r], err);
    *err = f->why[__builtin_ctz(wished & parts_of[r])];
    return MACHINE_CANNOT;
}

static int refine_busy(struct refining *f, char *in_force, struct machine_error *err)
{
    if (f->busy == NULL)
        return machine_fail(err, MACHINE_CANNOT, "", "needs --interference NAME");
    int status = back_to_base(f, err);
    if (status == MACHINE_OK)
        status = interference_begin(f->busy, err);
    if (status == MACHINE_OK)
        snprintf(in_force, TABLES_IN_FORCE_MAX, "interference %s", f->busy_text);
    return status;
}

static int refine(void *data, enum refinement r, char *in_force, struct machine_error *err)
{
    struct refining *f = data;
    in_force[0] = '\0';
    if (r == REFINED_BUSY)
        return refine_busy(f, in_force, err);
    int status = f->busy != NULL ? interference_end(f->busy, err) : MACHINE_OK;
    if (status != MACHINE_OK)
        return status;
    if (r == REFINED_QUIET)
        return back_to_base(f, err);
    if (!f->options->quiet_given)
        return machine_fail(err, MACHINE_CANNOT, "", "needs --quiet-machine");
    status = refine_settings(f, r, err);
    if (status == MACHINE_OK)
        snprintf(in_force, TABLES_IN_FORCE_MAX, "%s", settings_text(*f->settings));
    return status;
}

static int end_refining(struct refining *f, struct machine_error *err)
{
    int status = f->busy != NULL ? interference_end(f->busy, err) : MACHINE_OK;
    if (status != MACHINE_OK || !f->begun)
        return status;
    return add_parts(f, changed_settings_wished(f->options) & ~f->in_force, err);
}

/* ---- one machine, and its tables ---- */

/* Prepares what tables of refinements request. */
static void prepare_refining(const struct options *o, struct measuring *m)
{
    if (o->sysroot == NULL && options_model(o) != NULL)
        return;
    m->refining = (struct refining){
        .options = o, .settings = &m->changed, .busy = m->interferer, .busy_text = m->disturbed};
    m->options.refine = refine;
    m->options.refine_data = &m->refining;
}

int measuring_open(const struct options *o, struct measuring *m)
{
    struct machine_error error = {.status = MACHINE_OK};
    memset(m, 0, sizeof(*m));
    m->quiet = o->quiet;
    m->sysroot = o->sysroot;
    table_options(o, &m->options);
    /* first: who disturbs is not to follow this process into a cpuset or onto its CPU */
    int status = disturbing_ready(o, &m->interferer, m->disturbed, sizeof(m->disturbed));
    m->disturbs = o->interference != INTERFERENCE_NONE;
    if (status == DONE)
        status = changed_settings_begin(o, &m->changed);
    if (status != DONE) {
        (void)measuring_close(m);
        return status;
    }
    if (machine_open(o->machine != NULL ? o->machine : "auto", NULL, &m->machine, m->report, sizeof(m->report),
                     &error) != MACHINE_OK) {
        status = complain_of_machine("", &error);
        (void)measuring_close(m);
        return status;
    }
    m->open = true;
    const struct tables_options *t = &m->options;
    if (m->machine.ops->find_cores != NULL && (t->n_active != 1 || t->active[0] != 1 || t->siblings))
        m->machine.ops->find_cores(&m->machine);
    struct machine_info info;
    m->machine.ops->info(&m->machine, &info);
    privileges_opened(o, info.name, m->changed != NULL);
    changed_settings_text(o, m->changed, m->settings_text, sizeof(m->settings_text));
    if (!o->quiet_given)
        snprintf(m->base_text, sizeof(m->base_text), "%s", m->settings_text);
    if (m->disturbs)
        text_list_add(m->settings_text, sizeof(m->settings_text), "; ", "interference %s", m->disturbed);
    prepare_refining(o, m);
    return DONE;
}

int measuring_disturb(struct measuring *m)
{
    return m->disturbs ? disturbing_begin(m->interferer) : DONE;
}

int measuring_plan(struct measuring *m, const struct table_kind *const *kinds, size_t n)
{
    struct machine_error error;
    int status = check_load(m);
    m->n_kinds = n;
    for (size_t i = 0; i < n && i < MEASURING_TABLES_MAX && status == DONE; i++) {
        struct cells cells;
        if (tables_plan(kinds[i], &m->machine, &m->options, &cells, &error) != MACHINE_OK)
            return complain_of_machine(kinds[i]->name, &error);
        m->kinds[i] = kinds[i];
        m->expected[i] = 0;
        for (size_t k = 0; k < cells.n; k++)
            m->expected[i] += cells.cell[k].seconds;
        tables_free_cells(&cells);
    }
    progress_begin(&m->progress, m->quiet);
    return status;
}

/* Seconds left, judging by what has been measured so far; NaN while that is too little. */
static double time_left(const struct measuring *m, double part, double elapsed)
{
    double passed = part * m->expected[m->current], rest = 0;
    for (size_t i = 0; i < m->current; i++)
        passed += m->expected[i];
    for (size_t i = 0; i < m->n_kinds; i++)
        rest += m->expected[i];
    rest -= passed;
    passed -= m->found;
    return passed > 0 && elapsed > 1 ? elapsed / passed * rest : NAN;
}

static int on_progress(void *data, const struct table_kind *k, size_t done, size_t n, double part)
{
    struct measuring *m = data;
    double elapsed = done < n ? progress_due(&m->progress) : 0;
    m->cells_done = done;
    m->cells = n;
    if (elapsed > 0)
        progress_show(time_left(m, part, elapsed), "%s: cell %zu of %zu", k->name, done + 1, n);
    return stop_requested();
}

static void on_cell(void *data, const struct table_kind *k, const struct cell *c, bool measured)
{
    struct measuring *m = data;
    (void)k;
    if (!measured) {
        m->found += c->seconds;
    } else if (m->report[0] != '\0' && !m->quiet) {
        fprintf(stderr, "%s\n", m->report);
        m->report[0] = '\0';
    }
}

/* A table that refines the computer by itself reports what it did; where it did that is known here. */
static void put_settings(const struct measuring *m, const struct table_kind *k, struct table *t)
{
    const char *own = k->refines ? table_setting(t, "settings") : NULL;
    char text[sizeof(m->settings_text) + 1500] = "";
    snprintf(text, sizeof(text), "%s", k->refines ? m->base_text : m->settings_text);
    if (own != NULL && m->sysroot != NULL)
        snprintf(text, sizeof(text), "in %.180s, not on this machine", m->sysroot);
    if (own != NULL)
        text_list_add(text, sizeof(text), "; ", "%s", own);
    if (text[0] != '\0')
        table_set_setting(t, "settings", text);
}

int measuring_table(struct measuring *m, const struct table_kind *k, const struct tables_store *store,
                    struct table *out)
{
    struct machine_error error = {.status = MACHINE_OK};
    const struct tables_watch watch = {on_progress, on_cell, m};
    for (size_t i = 0; i < m->n_kinds && m->kinds[m->current] != k; i++)
        m->current = m->kinds[i] == k ? i : m->current;
    stop_only_asks(true); /* changes by the machine must be undone */
    int status = k->refines ? disturbing_end(m->interferer) : measuring_disturb(m);
    if (status != DONE)
        return status;
    status = tables_measure(k, &m->machine, &m->options, store, &watch, out, &error);
    if (k->refines && status == MACHINE_OK && m->n_kinds > 1)
        status = end_refining(&m->refining, &error);
    progress_end(&m->progress);
    if (status == MACHINE_OK) {
        if (k->refines && m->n_kinds == 1 && m->refining.begun && !m->refining.options->quiet)
            changed_settings_tell_left(*m->refining.settings);
        put_settings(m, k, out);
        return DONE;
    }
    snprintf(m->failure, sizeof(m->failure), "%s", error.text);
    return stop_requested() ? FAILED : complain_of_machine(k->name, &error);
}

int measuring_close(struct measuring *m)
{
    int ended = disturbing_end(m->interferer);
    interference_close(m->interferer);
    m->interferer = NULL;
    if (m->open)
        m->machine.ops->close(&m->machine);
    m->open = false;
    int status = m->changed != NULL ? changed_settings_end(m->changed) : DONE;
    m->changed = NULL;
    return status == DONE ? ended : status;
}

int measuring_single_table(struct measuring *m, const struct table_kind *k, struct table *out)
{
    int status = measuring_plan(m, &k, 1);
    if (status == DONE)
        status = measuring_table(m, k, NULL, out);
    if (measuring_close(m) != DONE && status == DONE) {
        table_free(out);
        return FAILED;
    }
    return status;
}

/* ---- finished tables ---- */

enum { WHY_SIZE = 500 };

/* Keeps the table after the last one, which is complete. */
static void collect_keep(struct collected *c)
{
    c->list[c->n] = &c->table[c->n];
    c->n++;
}

/* DIR/tables/NAME.json, if it is there. */
static int collect_read_table(const char *directory, const char *name, struct collected *c)
{
    char *path = NULL, why[WHY_SIZE];
    size_t length = 0;
    struct table *t = &c->table[c->n];
    if (asprintf(&path, "%s/tables/%s.json", directory, name) < 0)
        return complain_out_of_memory();
    int status = DONE;
    char *text = file_read_found(path, &length, why, sizeof(why));
    if (text == NULL && errno != ENOENT)
        status = refuse(BAD_USAGE, "%s: cannot be read: %s", path, why);
    else if (text != NULL && table_from_json(text, length, path, t, why, sizeof(why)) != 0)
        status = refuse(BAD_USAGE, "%s", why);
    else if (text != NULL) {
        collect_keep(c);
        if (strcmp(t->name, name) != 0)
            status = refuse(BAD_USAGE, "%s: contains the table %s, not %s", path, t->name, name);
        else if (table_meta(t, "modelled") == NULL)
            status = refuse(BAD_USAGE, "%s: does not say whether its values were measured or modelled", path);
    }
    free(text);
    free(path);
    return status;
}

bool measuring_holds_tables(const char *directory, const char *form)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    bool holds = false;
    for (size_t i = 0; i < n && !holds; i++) {
        char *path = NULL;
        holds = asprintf(&path, "%s/%s.%s", directory, kinds[i]->name, form) >= 0 && access(path, F_OK) == 0;
        free(path);
    }
    return holds;
}

static int collect_read_all(const char *directory, const struct table_kind *const *kinds, size_t n, struct collected *c)
{
    for (size_t i = 0; i < n; i++) {
        int status = collect_read_table(directory, kinds[i]->name, c);
        if (status != DONE)
            return status;
    }
    if (c->n == 0) {
        char list[300] = "";
        for (size_t i = 0; i < n; i++)
            text_list_add(list, sizeof(list), ", ", "%s", kinds[i]->name);
        if (measuring_holds_tables(directory, "json"))
            return refuse(BAD_USAGE, "--input %s: tables lie in it, not in %s/tables; name the directory above",
                          directory, directory);
        return refuse(BAD_USAGE,
                      "--input %s: none of these tables is in %s/tables: %s; --all --output DIR measures them",
                      directory, directory, list);
    }
    return DONE;
}

static int collect_measure_all(const struct options *o, const struct table_kind *const *kinds, size_t n,
                               struct collected *c)
{
    struct measuring m;
    int status = measuring_open(o, &m);
    if (status != DONE)
        return status;
    status = measuring_plan(&m, kinds, n);
    for (size_t i = 0; i < n && status == DONE; i++) {
        status = measuring_table(&m, kinds[i], NULL, &c->table[c->n]);
        if (status == DONE)
            collect_keep(c);
    }
    if (stop_requested())
        complain("interrupted: nothing was written; --all keeps finished cells, and --input reads its tables");
    int closed = measuring_close(&m);
    return status == DONE ? closed : status;
}

/* Tables that do not belong together, or do not hold what they promise, are of no use to any job. */
static int check_together(const struct options *o, const struct collected *c)
{
    char why[500];
    const struct table *odd = o->input != NULL ? schedule_check_read(c->list, c->n, why, sizeof(why)) : NULL;
    if (odd != NULL)
        return refuse(BAD_USAGE, "%s/tables/%s.json: %s", o->input, odd->name, why);
    if (schedule_check_tables(c->list, c->n, why, sizeof(why)) == 0 &&
        schedule_check_rows(c->list, c->n, why, sizeof(why)) == 0)
        return DONE;
    return o->input != NULL ? refuse(BAD_USAGE, "%s: %s", o->input, why) : refuse(FAILED, "%s", why);
}

/* Tables may be of one computer and of different settings: they are used, but not in silence. */
static void tell_environments(const struct collected *c)
{
    const char *first = NULL, *of = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const char *environment = table_meta(c->list[i], "environment");
        char why[400];
        if (environment == NULL)
            continue;
        if (first == NULL) {
            first = environment;
            of = c->list[i]->name;
        } else if (snapshot_differs(first, environment, why, sizeof(why))) {
            complain("warning: the tables %s and %s were measured under different settings: %s", of, c->list[i]->name,
                     why);
        }
    }
}

int collect_tables(const struct options *o, const struct table_kind *const *kinds, size_t n, struct collected *c)
{
    memset(c, 0, sizeof(*c));
    int status = o->input != NULL ? collect_read_all(o->input, kinds, n, c) : collect_measure_all(o, kinds, n, c);
    status = status == DONE ? check_together(o, c) : status;
    if (status == DONE)
        tell_environments(c);
    else
        collect_free(c);
    return status;
}

void collect_free(struct collected *c)
{
    for (size_t i = 0; i < c->n; i++)
        table_free(&c->table[i]);
    memset(c, 0, sizeof(*c));
}
