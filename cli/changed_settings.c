/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes the settings that the options request, restores them, and recovers those of killed runs. */
#include "cli/changed_settings.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "computer/cpu/cpu.h"
#include "drivers/active_cores.h"
#include "drivers/machine.h"

enum { STATE_MAX = 240, ROOT_MAX = 200 };

/* ---- where ---- */

/* The machine, or the folder of --sysroot. */
struct place {
    char sys[ROOT_MAX], proc[ROOT_MAX], dev[ROOT_MAX], state[STATE_MAX];
    struct settings_roots roots;
};

static int no_likwid_in_folder(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    snprintf(why, size, "liblikwid is not used with --sysroot");
    return -1;
}

/* state: the journal, NULL: that of this user. False: there is nowhere to keep one. */
static bool place_make(const struct options *o, const char *state, struct place *p)
{
    const char *root = o->sysroot != NULL ? o->sysroot : "";
    struct cpu_leaves leaves;
    struct cpu_identity id;
    cpu_read_leaves(&leaves);
    cpu_identify(&leaves, &id);
    snprintf(p->sys, sizeof(p->sys), "%.180s/sys", root);
    snprintf(p->proc, sizeof(p->proc), "%.180s/proc", root);
    snprintf(p->dev, sizeof(p->dev), "%.180s/dev", root);
    p->roots = (struct settings_roots){.sys = p->sys,
                                       .dev = p->dev,
                                       .proc = p->proc,
                                       .state = p->state,
                                       .likwid = o->sysroot != NULL ? no_likwid_in_folder : NULL,
                                       .intel = id.intel};
    if (state != NULL || o->sysroot != NULL)
        snprintf(p->state, STATE_MAX, "%.180s%s", root, state != NULL ? state : "/run/characterize.settings");
    else if (settings_state_file(p->state, STATE_MAX) != 0) {
        snprintf(p->state, STATE_MAX, "$XDG_RUNTIME_DIR/characterize.settings"); /* for messages: it is not there */
        return false;
    }
    return true;
}

/* The directories that stand for /sys and the rest must be in that folder itself: it may come from somebody else. */
static int place_check(const struct options *o)
{
    static const char *const names[] = {"", "/sys", "/proc", "/dev", "/run"};
    struct stat status;
    if (o->sysroot == NULL)
        return DONE;
    if (strlen(o->sysroot) > 180)
        return refuse(BAD_USAGE, "--sysroot: the path is longer than 180 bytes");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[ROOT_MAX];
        snprintf(path, sizeof(path), "%.180s%s", o->sysroot, names[i]);
        bool found = (i == 0 ? stat(path, &status) : lstat(path, &status)) == 0;
        if ((i == 0 && !found) || (found && !S_ISDIR(status.st_mode)))
            return refuse(BAD_USAGE, "--sysroot %s: %s is not a directory", o->sysroot, path);
    }
    return DONE;
}

/* The CPUs of another machine: those that are online, or else those that its files know; without any, CPU 0. */
static void list_cpus_of(const char *sys, struct cpu_view *view)
{
    if (!cpu_read_list(sys, &view->online, "devices/system/cpu/online"))
        for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
            char path[ROOT_MAX + 40];
            snprintf(path, sizeof path, "%.190s/devices/system/cpu/cpu%d", sys, cpu);
            if (cpu == 0 || access(path, F_OK) == 0)
                cpu_mask_add(&view->online, cpu);
        }
    if (!cpu_read_list(sys, &view->present, "devices/system/cpu/present"))
        view->present = view->online;
}

int measured_cpu(const struct options *o, const char *sys, int *cpu, struct machine_error *err)
{
    struct cpu_view view;
    int first = o->n_cpus > 0 ? (int)o->cpus[0] : -1;
    const struct machine_setup setup = {
        .cpu = o->cpu.given ? (int)o->cpu.value : -1, .cpus = o->n_cpus > 0 ? &first : NULL, .n_cpus = o->n_cpus > 0};
    cpu_view_read(sys, &view);
    if (o->sysroot != NULL) {
        /* the CPUs allowed to this process say nothing about that machine */
        list_cpus_of(sys, &view);
        view.allowed = view.online;
    }
    return active_cores_measured(&view, &setup, cpu, err);
}

/* True if other CPUs run kernels as well, or are measured, too. */
static bool uses_others(const struct options *o)
{
    if (o->job == JOB_TRANSITION)
        return o->tables.n_active != 1 || o->tables.active[0] != 1;
    return o->job != JOB_SELF_TEST && o->job != JOB_LIST && !(o->job == JOB_TABLE && o->table->refines);
}

/* ---- what killed runs have left ---- */

struct recovered {
    bool anything;   /* something was said */
    char lives[800]; /* that another run lives; "": none does */
};

static int recover_one(const struct place *place, bool quiet, struct recovered *r)
{
    struct machine_error error;
    char report[800];
    bool lives;
    int status = settings_recover(&place->roots, report, sizeof(report), &lives, &error);
    if (lives) {
        memcpy(r->lives, report, sizeof(report));
    } else if (report[0] != '\0') {
        r->anything = true;
        if (!quiet)
            fprintf(stderr, "%s\n", report);
    }
    return status == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

/* Restores what runs of this user, and those of root, have left changed. */
static int recover(const struct options *o, bool quiet, struct recovered *r)
{
    struct place own, root;
    bool have_own = place_make(o, NULL, &own);
    *r = (struct recovered){.anything = false};
    if (o->sysroot != NULL)
        return recover_one(&own, quiet, r);
    place_make(o, settings_root_state_file, &root);
    int status = recover_one(&root, quiet, r);
    return status == DONE && have_own && strcmp(own.state, root.state) != 0 ? recover_one(&own, quiet, r) : status;
}

void changed_settings_recover(const struct options *o)
{
    struct recovered recovered;
    sigset_t all, before;
    if (o->sysroot != NULL)
        return;
    sigfillset(&all); /* privileges are not dropped yet, thus no thread is to wait for them */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    (void)recover(o, o->quiet, &recovered);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- changing ---- */

/* Called when a signal ends the program before it could do so itself: whoever holds stderr then may never let go of
 * it. */
static void put_back(void *s)
{
    static char line[sizeof(((struct machine_error *)0)->text) + sizeof(((struct machine_error *)0)->remedy) + 20];
    struct machine_error error;
    if (settings_restore(s, &error) != MACHINE_OK) {
        snprintf(line, sizeof(line), "interrupted; %s; %s", error.text, error.remedy);
        stop_says(line);
    }
}

unsigned changed_settings_wished(const struct options *o)
{
    unsigned parts = !o->quiet_given ? 0 : o->quiet_parts != 0 ? o->quiet_parts : QUIET_DEFAULT;
    return parts & ~(o->turbo.given ? QUIET_TURBO : 0u);
}

/* --turbo, --fixed-frequency and, except for tables that do it by themselves, --quiet-machine. */
static int make_changed_wish(const struct options *o, const struct settings_roots *r, struct settings_wish *out)
{
    struct machine_error error;
    *out = (struct settings_wish){.turbo = o->turbo.given ? o->turbo.on : -1,
                                  .fixed_ghz = o->fixed_ghz.given ? o->fixed_ghz.value : 0,
                                  .spread = uses_others(o)};
    if (o->job != JOB_TABLE || !o->table->refines) {
        out->quiet = changed_settings_wished(o);
        out->quiet_must = o->quiet_parts & out->quiet;
    }
    return out->quiet == 0 || measured_cpu(o, r->sys, &out->cpu, &error) == MACHINE_OK
               ? DONE
               : complain_of_machine("", &error);
}

void changed_settings_tell_left(const struct settings *s)
{
    const char *left = settings_left(s);
    if (left[0] != '\0')
        fprintf(stderr, "--quiet-machine leaves unchanged:\n");
    while (left[0] != '\0') {
        size_t length = strcspn(left, "\n");
        fprintf(stderr, "  %.*s\n", (int)length, left);
        left += length + (left[length] == '\n');
    }
}

static int change(const struct options *o, const struct settings_wish *wish, struct settings **out)
{
    struct place place;
    struct machine_error error;
    bool recordable = place_make(o, NULL, &place),
         must = wish->turbo >= 0 || wish->fixed_ghz > 0 || wish->quiet_must != 0;
    if (!recordable && must)
        return refuse(CANNOT, "no settings were changed: there is nowhere to record the old ones, because "
                              "XDG_RUNTIME_DIR is not set (run as root)");
    if (settings_apply(&place.roots, wish, out, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    if (!o->quiet)
        changed_settings_tell_left(*out);
    return DONE;
}

int changed_settings_begin(const struct options *o, struct settings **out)
{
    struct recovered recovered;
    struct place place;
    struct settings_wish wish;
    *out = NULL;
    if (o->sysroot == NULL && options_model(o) != NULL) {
        changed_settings_recover(o);
        return DONE;
    }
    (void)place_make(o, NULL, &place);
    int status = place_check(o);
    if (status == DONE)
        status = make_changed_wish(o, &place.roots, &wish);
    if (status != DONE)
        return status;
    stop_only_asks(true);
    bool wishes = wish.turbo >= 0 || wish.fixed_ghz > 0 || wish.quiet != 0;
    stop_hold();
    status = recover(o, o->quiet, &recovered);
    if (recovered.lives[0] != '\0' && !wishes && !o->quiet) /* with wishes it is an error, reported below */
        fprintf(stderr, "%s\n", recovered.lives);
    if (status == DONE && wishes)
        status = change(o, &wish, out);
    stop_release(*out != NULL ? put_back : NULL, *out);
    if (*out == NULL)
        stop_only_asks(false);
    return status;
}

/* Settings that others changed since are reported, but are no failure. */
static int tell_put_back(int status, const struct machine_error *err)
{
    if (status != MACHINE_OK)
        return complain_of_machine("", err);
    if (err->text[0] != '\0')
        fprintf(stderr, "%s\n", err->text);
    return DONE;
}

int changed_settings_end(struct settings *s)
{
    struct machine_error error;
    stop_hold();
    int status = settings_restore(s, &error);
    stop_release(NULL, NULL);
    return tell_put_back(status, &error);
}

/* Adds to the changes of a run, while signals wait. Returns as settings_add(). */
static int add_changes(const struct place *p, const struct settings_wish *wish, struct settings **s,
                       struct machine_error *err)
{
    stop_only_asks(true);
    stop_hold();
    const int status = settings_add(&p->roots, wish, s, err);
    stop_release(*s != NULL ? put_back : NULL, *s);
    return status;
}

int changed_settings_quiet(const struct options *o, enum quiet_part part, struct settings **s,
                           struct machine_error *err)
{
    struct place place;
    struct settings_wish wish = {.turbo = -1, .quiet = part, .spread = uses_others(o)};
    (void)place_make(o, NULL, &place);
    int status = measured_cpu(o, place.roots.sys, &wish.cpu, err);
    if (status != MACHINE_OK)
        return status;
    status = add_changes(&place, &wish, s, err);
    return status == MACHINE_OK ? settings_stands(*s, part, err) : status;
}

int changed_settings_back_to(struct settings *s, size_t mark)
{
    struct machine_error error = {.status = MACHINE_OK};
    stop_hold();
    int status = settings_back_to(s, mark, &error);
    stop_release(s != NULL ? put_back : NULL, s);
    return tell_put_back(status, &error);
}

int changed_settings_fix(const struct options *o, double ghz, size_t mark, struct settings **s,
                         struct machine_error *err)
{
    struct place place;
    const struct settings_wish wish = {.turbo = -1, .fixed_ghz = ghz};
    if (changed_settings_back_to(*s, mark) != DONE)
        return machine_fail(err, MACHINE_FAILED, "", "the frequency could not be restored between two runs");
    if (ghz <= 0)
        return MACHINE_OK;
    (void)place_make(o, NULL, &place);
    return add_changes(&place, &wish, s, err);
}

void changed_settings_text(const struct options *o, const struct settings *s, char *out, size_t size)
{
    out[0] = '\0';
    if (settings_text(s)[0] == '\0')
        return;
    if (o->sysroot != NULL)
        snprintf(out, size, "in %.180s, not on this machine: %s", o->sysroot, settings_text(s));
    else
        snprintf(out, size, "%s", settings_text(s));
}

/* ---- jobs ---- */

static void print_settings_line(void *data, const struct settings_line *line)
{
    enum quiet_part *last = data;
    const char *part = line->part != *last ? settings_part_names[__builtin_ctz(line->part)] : "";
    *last = line->part;
    if (line->name == NULL)
        printf("  %-10s stays: %s\n", part, line->why);
    else
        printf("  %-10s %s: %s -> %s%s%s\n", part, line->name, line->before, line->after,
               line->why[0] != '\0' ? "   but: " : "", line->why);
}

int changed_settings_show(const struct options *o)
{
    struct place place;
    struct machine_error error;
    struct settings_wish wish = {.turbo = -1, .quiet = changed_settings_wished(o)};
    enum quiet_part last = 0;
    (void)place_make(o, NULL, &place);
    int status = place_check(o);
    if (status != DONE)
        return status;
    if (measured_cpu(o, place.roots.sys, &wish.cpu, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    printf("During a measurement on CPU %d, --quiet-machine would change, and then restore:\n", wish.cpu);
    return settings_show(&place.roots, &wish, print_settings_line, &last, &error) == MACHINE_OK
               ? DONE
               : complain_of_machine("", &error);
}

int job_restore(const struct options *o)
{
    struct recovered recovered;
    int status = place_check(o);
    if (status != DONE)
        return status;
    stop_only_asks(true);
    stop_hold();
    status = recover(o, false, &recovered);
    stop_release(NULL, NULL);
    if (status == DONE && recovered.lives[0] != '\0')
        return refuse(CANNOT, "%s and restores them when it ends; wait for that", recovered.lives);
    if (status == DONE && !recovered.anything && !o->quiet)
        printf("no run left this machine's settings changed\n");
    return status;
}
