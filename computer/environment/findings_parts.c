/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a finding is made: what was seen, what it means, and commands that change it. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/findings_parts.h"
#include "util/text_list.h"

/* ---- what was seen ---- */

bool findings_readable(const struct environment *e, struct finding *f, int error, const char *place)
{
    bool denied = error == EACCES || error == EPERM;
    if (error == 0 || error == ENOENT || error == ENOTDIR)
        return error == 0;
    f->kind = FINDING_UNKNOWN;
    snprintf(f->seen, sizeof f->seen, "%s cannot be read: %s", place, error == EBADMSG ? "not text" : strerror(error));
    snprintf(f->why, sizeof f->why, denied && !e->root ? "this user may not read it; root may" : "unknown without it");
    if (denied && !e->root)
        snprintf(f->change, sizeof f->change, "sudo ./characterize --check environment --cpu %d", e->cpu);
    return false;
}

bool findings_has(const struct environment *e, struct finding *f, enum environment_fact which)
{
    return findings_readable(e, f, e->fact[which].error, environment_path(which, e->cpu).text);
}

bool findings_shows(const struct environment *e, struct finding *f, enum environment_fact which)
{
    bool has = findings_has(e, f, which);
    if (has)
        findings_see_fact(e, f, which);
    return has;
}

bool findings_is(const struct environment *e, enum environment_fact which, const char *text)
{
    return strcmp(e->fact[which].text, text) == 0;
}

void findings_not_counted(const struct environment *e, struct finding *f, const char *what)
{
    f->kind = FINDING_UNKNOWN;
    if (e->seconds > 0) {
        findings_see(f, "%s could not be counted", what);
        snprintf(f->why, sizeof f->why, "/proc does not show it here");
    } else {
        findings_see(f, "%s was not counted", what);
        snprintf(f->why, sizeof f->why, "%s",
                 e->files ? "these are files of a computer: check on it to count"
                          : "counting was interrupted, or lasts 0 s");
    }
}

void findings_see(struct finding *f, const char *format, ...)
{
    char text[sizeof f->seen];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_list_add(f->seen, sizeof f->seen, "; ", "%s", text);
}

void findings_see_fact(const struct environment *e, struct finding *f, enum environment_fact which)
{
    const char *text = e->fact[which].text;
    /* Linux prints "(null)" for a set of CPUs that it has not made (drivers/base/cpu.c, print_cpus_nohz_full) */
    findings_see(f, "%s: %s", environment_path(which, e->cpu).text, *text && strcmp(text, "(null)") ? text : "none");
}

/* ---- what it means ---- */

void findings_matters(struct finding *f, enum finding_kind kind, const char *why, ...)
{
    va_list arguments;
    f->kind = kind;
    va_start(arguments, why);
    vsnprintf(f->why, sizeof f->why, why, arguments);
    va_end(arguments);
}

void findings_counted(struct finding *f, double cost)
{
    f->cost = fmin(fmax(cost, 0), 1);
    f->counted = true;
}

void findings_estimated(struct finding *f, double cost)
{
    if (!isnan(cost))
        f->cost = fmin(fmax(cost, 0), 1);
    f->counted = false;
}

/* ---- commands ---- */

bool findings_harmless(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,";
    bool option = text[0] == '-' && !(text[1] >= '0' && text[1] <= '9'); /* -1 is a value of some files */
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0' && !option;
}

const char *findings_sudo(const struct environment *e)
{
    return e->root ? "" : "sudo ";
}

void findings_commands(struct finding *f, const char *change, const char *undo)
{
    bool fits = strlen(change) < sizeof f->change && strlen(undo) < sizeof f->undo;
    snprintf(f->change, sizeof f->change, "%s", fits ? change : "");
    snprintf(f->undo, sizeof f->undo, "%s", fits ? undo : "");
}

void findings_write(const struct environment *e, struct finding *f, const char *path, const char *value,
                    const char *before)
{
    char change[sizeof f->change], undo[sizeof f->undo];
    if (!findings_harmless(value) || !findings_harmless(before))
        return;
    snprintf(change, sizeof change, "echo %s | %stee %s", value, findings_sudo(e), path);
    snprintf(undo, sizeof undo, "echo %s | %stee %s", before, findings_sudo(e), path);
    findings_commands(f, change, undo);
}

void findings_write_fact(const struct environment *e, struct finding *f, enum environment_fact which, const char *value)
{
    findings_write(e, f, environment_path(which, e->cpu).text, value, e->fact[which].text);
}

void findings_boot(struct finding *f, const char *format, ...)
{
    char options[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(options, sizeof options, format, arguments);
    va_end(arguments);
    f->boot = true;
    snprintf(f->change, sizeof f->change, "add %s to the kernel command line and reboot", options);
    snprintf(f->undo, sizeof f->undo, "remove %s from the kernel command line and reboot", options);
}

void findings_boot_cpus(const struct environment *e, struct finding *f, const char *option,
                        const struct cpu_mask *there)
{
    struct cpu_mask with = *there;
    char list[200], name[40];
    size_t length;
    cpu_mask_add(&with, e->cpu);
    cpu_mask_format(&with, list, sizeof list);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    if (environment_boot_option(e, name, &length) == NULL) {
        findings_boot(f, "%s%s", option, list);
        return;
    }
    f->boot = true;
    snprintf(f->change, sizeof f->change, "replace the %s= on the kernel command line with %s%s and reboot", name,
             option, list);
    snprintf(f->undo, sizeof f->undo, "restore the previous %s= and reboot", name);
}

/* ---- numbers and masks ---- */

double findings_number(const struct environment *e, enum environment_fact which)
{
    const char *text = e->fact[which].text;
    char *end;
    if (e->fact[which].error != 0 || text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return NAN;
    double value = strtod(text, &end);
    return *end == '\0' && isfinite(value) ? value : NAN;
}

/* Without the measured CPU, or with `spare` without its siblings and isolated CPUs, too. */
static bool findings_without(const struct environment *e, const struct cpu_mask *m, bool spare, struct cpu_mask *out)
{
    bool any = false;
    cpu_mask_clear(out);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        bool spared = cpu_mask_has(&e->siblings, cpu) || cpu_mask_has(&e->isolated, cpu);
        if (cpu != e->cpu && cpu_mask_has(m, cpu) && cpu_mask_has(&e->online, cpu) && !(spare && spared)) {
            cpu_mask_add(out, cpu);
            any = true;
        }
    }
    return any;
}

bool findings_others(const struct environment *e, const struct cpu_mask *m, struct cpu_mask *out)
{
    return findings_without(e, m, true, out) || findings_without(e, m, false, out);
}
