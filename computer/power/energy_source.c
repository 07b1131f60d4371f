/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy counter of a package, by whichever way is open. */
#include "computer/power/energy_source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "computer/msr/msr_device.h"
#include "util/clock.h"
#include "util/error.h"

static const char POWERCAP[] = "class/powercap";
#define LAP_STEPS 0x1p32 /* of the counters themselves: 32 bits (SDM vol. 3B, section 15.10) */

/* Adds a clause to the reasons, and the first remedy; returns false. */
__attribute__((format(printf, 3, 4))) static bool energy_source_refuse(struct energy *e, const char *remedy,
                                                                       const char *format, ...)
{
    size_t used = strlen(e->why);
    va_list args;
    if (used > 0 && used + 2 < sizeof e->why)
        used += (size_t)snprintf(e->why + used, sizeof e->why - used, "; ");
    va_start(args, format);
    vsnprintf(e->why + used, sizeof e->why - used, format, args);
    va_end(args);
    if (e->remedy[0] == '\0')
        snprintf(e->remedy, sizeof e->remedy, "%s", remedy);
    return false;
}

/* ---- powercap ---- */

/*
 * Returns true if a zone is the package of the CPU. Linux names it package-P, or package-P-die-D where a package has
 * several (drivers/powercap/intel_rapl_common.c), *of_die. Where the topology is not known, any package will do if
 * there is one only.
 */
static bool is_package(const char *name, int package, int die, bool *of_die)
{
    char *end;
    if (strncmp(name, "package-", 8) != 0 || !isdigit((unsigned char)name[8]))
        return false;
    long p = strtol(name + 8, &end, 10), d = -1;
    if (strncmp(end, "-die-", 5) == 0 && isdigit((unsigned char)end[5]))
        d = strtol(end + 5, &end, 10);
    *of_die = d >= 0;
    return *end == '\0' && (package < 0 || p == package) && (d < 0 || die < 0 || d == die);
}

/* Finds the zone's folder. Returns how many fit. */
static unsigned find_zone(struct energy *e, int cpu)
{
    int package = (int)cpu_read_number(e->access.sys, -1, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    int die = (int)cpu_read_number(e->access.sys, -1, "devices/system/cpu/cpu%d/topology/die_id", cpu);
    char folder[ENERGY_PATH_MAX + 32], name[64];
    unsigned found = 0;
    bool of_die;
    snprintf(folder, sizeof folder, "%s/%s", e->access.sys, POWERCAP);
    DIR *dir = opendir(folder);
    for (struct dirent *d = dir != NULL ? readdir(dir) : NULL; d != NULL; d = readdir(dir)) {
        const char *number = strchr(d->d_name, ':');
        /* one colon: a package, or the platform; two: a part of one */
        if (strncmp(d->d_name, "intel-rapl:", 11) != 0 || number == NULL || strchr(number + 1, ':') != NULL)
            continue;
        if (cpu_read_text(e->access.sys, name, sizeof name, "%s/%.100s/name", POWERCAP, d->d_name) < 0 ||
            !is_package(name, package, die, &of_die))
            continue;
        snprintf(e->zone, sizeof e->zone, "%s/%.100s", POWERCAP, d->d_name);
        e->of_die = of_die;
        found++;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* The joules in a file of the zone; 0, or an error number. */
static int powercap_number(const struct energy *e, const char *file, double *joules)
{
    char text[64], *end;
    *joules = 0;
    errno = 0;
    if (cpu_read_text(e->access.sys, text, sizeof text, "%s/%s", e->zone, file) < 0)
        return errno != 0 ? errno : EIO;
    *joules = (double)strtoull(text, &end, 10) * 1e-6;
    return end == text || *end != '\0' ? EIO : 0;
}

static bool open_powercap(struct energy *e, int cpu)
{
    double now;
    unsigned found = find_zone(e, cpu);
    if (found != 1) {
        return energy_source_refuse(
            e,
            e->access.guest ? CPU_GUEST_HARDWARE "; --machine model:NAME has energy, too"
                            : "as root: modprobe intel_rapl_msr",
            found == 0 ? "%s/%s has no energy counter for the package of CPU %d%s"
                       : "%s/%s has several packages, and does not say which one CPU %d belongs to%s",
            e->access.sys, POWERCAP, cpu, found == 0 && e->access.guest ? ", as in most virtual machines" : "");
    }
    int error = powercap_number(e, "energy_uj", &now);
    if (error == EACCES || error == EPERM) {
        return energy_source_refuse(e, "run as root, or as root: chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj",
                                    "%s/%s/energy_uj is readable by root only", e->access.sys, e->zone);
    }
    if (error != 0) {
        return energy_source_refuse(e, "", "%s/%s/energy_uj cannot be read: %s", e->access.sys, e->zone,
                                    strerror(error));
    }
    if (powercap_number(e, "max_energy_range_uj", &e->lap) != 0)
        e->lap = 0; /* a counter that falls is then refused */
    snprintf(e->source, sizeof e->source, "RAPL by %.100s/%.90s", e->access.sys, e->zone);
    return true;
}

/* ---- liblikwid ---- */

static bool open_likwid(struct energy *e, int cpu)
{
    char why[160];
    uint32_t steps;
    if (e->access.likwid == NULL)
        return false;
    if (likwid_read_energy(e->access.likwid, cpu, LIKWID_PACKAGE, &steps, &e->step, why, sizeof why) != 0)
        return energy_source_refuse(e, "", "%.120s", why);
    e->lap = LAP_STEPS * e->step;
    snprintf(e->source, sizeof e->source, "RAPL by liblikwid");
    return true;
}

/* ---- registers ---- */

static int read_register(const struct energy *e, int cpu, uint32_t reg, uint64_t *value)
{
    struct msr_device d;
    if (e->access.read_register != NULL)
        return e->access.read_register(e->access.context, cpu, reg, value);
    int error = msr_device_open(e->access.dev, cpu, &d);
    if (error == 0) {
        error = d.read(&d, reg, value);
        d.close(&d);
    }
    return error;
}

static uint32_t energy_register(const struct energy *e)
{
    return e->access.part.amd ? MSR_AMD_PACKAGE_ENERGY : MSR_PACKAGE_ENERGY;
}

static bool open_register(struct energy *e, int cpu)
{
    uint64_t value;
    if ((e->access.read_register == NULL && e->access.dev[0] == '\0') || (!e->access.part.intel && !e->access.part.amd))
        return false;
    int error = read_register(e, cpu, e->access.part.amd ? MSR_AMD_RAPL_UNIT : MSR_RAPL_UNIT, &value);
    if (error != 0) {
        return energy_source_refuse(e, error == EACCES || error == EPERM ? "run as root" : "as root: modprobe msr",
                                    "register %XH: %s", e->access.part.amd ? MSR_AMD_RAPL_UNIT : MSR_RAPL_UNIT,
                                    strerror(error));
    }
    if (!msr_energy_step(value, &e->step)) {
        return energy_source_refuse(e, "", "the register of energy units holds 0%s",
                                    e->access.guest ? ", as hypervisors answer" : "");
    }
    error = read_register(e, cpu, energy_register(e), &value);
    if (error != 0)
        return energy_source_refuse(e, "", "register %XH: %s", energy_register(e), strerror(error));
    e->lap = LAP_STEPS * e->step;
    snprintf(e->source, sizeof e->source, "RAPL by register %XH", energy_register(e));
    return true;
}

/* ---- whichever it is ---- */

static void look_for_counter(struct energy *e, int cpu)
{
    *e = (struct energy){.access = e->access, .cpu = cpu};
    /* on Intel's processors of several dies each die has its register (Linux, arch/x86/events/rapl.c), AMD's have one a
     * package; liblikwid reads it, too */
    e->kind = open_powercap(e, cpu)   ? ENERGY_POWERCAP
              : open_likwid(e, cpu)   ? ENERGY_LIKWID
              : open_register(e, cpu) ? ENERGY_REGISTER
                                      : ENERGY_NOTHING;
    if (e->kind == ENERGY_LIKWID || e->kind == ENERGY_REGISTER)
        e->of_die = e->access.part.intel;
}

/* Reads what the counter holds. 0, or -1 with a clause in `why`. */
static int counter(const struct energy *e, double *joules, char *why, size_t size)
{
    uint64_t value = 0;
    uint32_t steps;
    double step;
    int error;
    switch (e->kind) {
    case ENERGY_POWERCAP:
        error = powercap_number(e, "energy_uj", joules);
        break;
    case ENERGY_LIKWID:
        if (likwid_read_energy(e->access.likwid, e->cpu, LIKWID_PACKAGE, &steps, &step, why, size) != 0)
            return -1;
        *joules = steps * step;
        return 0;
    default:
        error = read_register(e, e->cpu, energy_register(e), &value);
        *joules = (double)(value & UINT32_MAX) * e->step;
        break;
    }
    snprintf(why, size, "%s", error != 0 ? strerror(error) : "");
    return error != 0 ? -1 : 0;
}

/* Reads the counter, when it moves where that is waited for. Returns 0, or -1 with a clause in `why`. */
static int read_edge(const struct energy *e, double *joules, double *seconds, char *why, size_t size)
{
    /* a question to liblikwid takes longer than the counter stands */
    bool wait = e->access.edge_us > 0 && e->kind != ENERGY_LIKWID;
    double began = clock_seconds(CLOCK_MONOTONIC_RAW);
    if (counter(e, joules, why, size) != 0)
        return -1;
    *seconds = (began + clock_seconds(CLOCK_MONOTONIC_RAW)) / 2;
    for (double first = *joules; wait && *joules == first;) {
        if (clock_seconds(CLOCK_MONOTONIC_RAW) - began > e->access.edge_us * 1e-6)
            return error_line(why, size, "the counter does not advance (%.6g J for %g ms)", first,
                              e->access.edge_us * 1e-3);
        if (counter(e, joules, why, size) != 0)
            return -1;
        *seconds = clock_seconds(CLOCK_MONOTONIC_RAW);
    }
    return 0;
}

int energy_read(struct energy *e, int cpu, struct energy_reading *out, const char **source, struct machine_error *err)
{
    double joules, seconds;
    char why[200];
    bool first = e->kind == ENERGY_UNKNOWN || e->cpu != cpu;
    if (first)
        look_for_counter(e, cpu);
    if (e->kind == ENERGY_NOTHING)
        return machine_fail(err, MACHINE_CANNOT, e->remedy, "no energy counter can be read: %s", e->why);
    if (read_edge(e, &joules, &seconds, why, sizeof why) != 0) {
        e->kind = ENERGY_UNKNOWN;
        return machine_fail(err, MACHINE_CANNOT, e->access.guest ? CPU_GUEST_HARDWARE : "", "%s: %s", e->source, why);
    }
    if (first)
        e->before = joules;
    if (joules < e->before && !(e->lap > 0)) {
        e->kind = ENERGY_UNKNOWN;
        return machine_fail(err, MACHINE_CANNOT, "", "%s: the counter went back, and its wrap-around is unknown",
                            e->source);
    }
    e->total += joules - e->before + (joules < e->before ? e->lap : 0);
    e->before = joules;
    *out = (struct energy_reading){.joules = e->total, .seconds = seconds};
    if (source != NULL)
        *source = e->source;
    return MACHINE_OK;
}
