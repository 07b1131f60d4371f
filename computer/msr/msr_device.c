/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading registers: why they cannot be read, and which of the documented ones a CPU answers. */
#include "computer/msr/msr_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text_list.h"

static int read_file(struct msr_device *d, uint32_t reg, uint64_t *value)
{
    ssize_t got = pread(d->fd, value, sizeof *value, (off_t)reg);
    if (got < 0)
        return errno;
    return got == (ssize_t)sizeof *value ? 0 : EIO;
}

static void close_file(struct msr_device *d)
{
    close(d->fd);
    d->fd = -1;
}

int msr_device_open(const char *dev, int cpu, struct msr_device *out)
{
    char path[300];
    snprintf(path, sizeof path, "%s/cpu/%d/msr", dev, cpu);
    *out = (struct msr_device){
        .cpu = cpu, .fd = open(path, O_RDONLY | O_CLOEXEC), .read = read_file, .close = close_file};
    return out->fd < 0 ? errno : 0;
}

/* The word in brackets of "none [integrity] confidentiality". */
static void read_lockdown(const char *sys, char *out, size_t size)
{
    char text[80];
    out[0] = '\0';
    if (cpu_read_text(sys, text, sizeof text, "kernel/security/lockdown") > 0) {
        const char *word = strchr(text, '[');
        if (word != NULL)
            snprintf(out, size, "%.*s", (int)strcspn(word + 1, "]"), word + 1);
    }
}

/* Bit 17 of CapEff is CAP_SYS_RAWIO (capabilities(7), linux/capability.h). */
static bool read_rawio(const char *proc)
{
    enum { SYS_RAWIO = 17 };
    char text[4096];
    const char *line;
    if (cpu_read_text(proc, text, sizeof text, "self/status") <= 0 || (line = strstr(text, "CapEff:")) == NULL)
        return false;
    return strtoull(line + strlen("CapEff:"), NULL, 16) >> SYS_RAWIO & 1;
}

void msr_trouble_read(const char *sys, const char *proc, struct msr_trouble *out)
{
    read_lockdown(sys, out->lockdown, sizeof out->lockdown);
    out->rawio = read_rawio(proc);
}

static bool locked_down(const struct msr_trouble *t)
{
    return t->lockdown[0] != '\0' && strcmp(t->lockdown, "none") != 0;
}

static int tell_open(const struct msr_trouble *t, struct machine_error *err)
{
    switch (t->open_errno) {
    case ENOENT:
    case ENXIO: /* the node is there, but nobody serves it, or the CPU is offline */
    case ENODEV:
        return machine_fail(err, MACHINE_CANNOT, "as root: modprobe msr",
                            "no /dev/cpu/%d/msr: the kernel module msr is not loaded", t->cpu);
    case EACCES:
        return machine_fail(err, MACHINE_CANNOT, "run as root", "/dev/cpu/%d/msr is readable by root only", t->cpu);
    case EPERM:
        if (t->rawio && locked_down(t))
            return machine_fail(err, MACHINE_CANNOT, "boot without lockdown (Secure Boot enables it)",
                                "access to /dev/cpu/%d/msr is denied: kernel lockdown (%s)", t->cpu, t->lockdown);
        return machine_fail(err, MACHINE_CANNOT, "run as root outside a container, or grant CAP_SYS_RAWIO",
                            "access to /dev/cpu/%d/msr is denied: no CAP_SYS_RAWIO", t->cpu);
    default:
        return machine_fail(err, MACHINE_CANNOT, "", "/dev/cpu/%d/msr: %s", t->cpu, strerror(t->open_errno));
    }
}

int msr_trouble_tell(const struct msr_trouble *t, struct machine_error *err)
{
    if (t->open_errno != 0)
        return tell_open(t, err);
    if (t->read_errno == EIO)
        return machine_fail(err, MACHINE_CANNOT, t->guest ? CPU_GUEST_HARDWARE : "",
                            "/dev/cpu/%d/msr can be opened, but reading a register fails (EIO): %s", t->cpu,
                            t->guest ? "the hypervisor does not expose it"
                                     : "this processor has none that this program knows");
    if (t->read_errno == EPERM && locked_down(t))
        return machine_fail(err, MACHINE_CANNOT, "boot without lockdown (Secure Boot enables it)",
                            "/dev/cpu/%d/msr can be opened, but reads are denied: kernel lockdown (%s)", t->cpu,
                            t->lockdown);
    if (t->read_errno != 0)
        return machine_fail(err, MACHINE_CANNOT, "", "/dev/cpu/%d/msr can be opened, but reads fail: %s", t->cpu,
                            strerror(t->read_errno));
    return MACHINE_OK;
}

/* ---- which of the documented registers a CPU answers ---- */

static bool ask(struct msr_device *d, uint32_t reg, uint64_t *value, struct msr_survey *out)
{
    int error = d->read(d, reg, value);
    if (error == 0)
        out->answered++;
    else if (out->read_errno == 0)
        out->read_errno = error;
    return error == 0;
}

void msr_read_error_text(uint32_t reg, int cpu, int error, bool guest, char *out, size_t size)
{
    if (error == EIO) {
        snprintf(out, size, "register %XH of CPU %d cannot be read (EIO): %s", reg, cpu,
                 guest ? "the hypervisor does not expose it" : "this processor does not have it");
    } else {
        snprintf(out, size, "register %XH of CPU %d cannot be read: %s", reg, cpu, strerror(error));
    }
}

static void ask_volts(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    const char *why;
    uint64_t value;
    double volts;
    if (!p->intel) {
        snprintf(out->volts_why, sizeof out->volts_why, "no core-voltage register is known for this vendor");
    } else if (!ask(d, MSR_PERF_STATUS, &value, out)) {
        msr_read_error_text(MSR_PERF_STATUS, d->cpu, out->read_errno, false, out->volts_why, sizeof out->volts_why);
    } else if (!msr_volts(value, &volts, &why)) {
        snprintf(out->volts_why, sizeof out->volts_why, "%s", why);
    } else {
        out->volts = true;
        text_list_add(out->found, sizeof out->found, ", ", "core voltage %.3f V", volts);
    }
}

static void ask_turbo(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
    uint64_t value[3] = {0, 0, 0};
    size_t registers = msr_turbo_registers(p);
    for (size_t i = 0; i < registers; i++)
        if (!ask(d, MSR_TURBO_RATIOS + (uint32_t)i, &value[i], out) && msr_turbo_requires(p, i))
            return;
    size_t n = msr_turbo_limits(p, value, row);
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        while (last + 1 < n && row[last + 1].ghz == row[i].ghz)
            last++;
        if (row[i].first_cores == row[last].last_cores) {
            text_list_add(out->turbo, sizeof out->turbo, ", ", "%u: %.1f", row[i].first_cores, row[i].ghz);
        } else {
            text_list_add(out->turbo, sizeof out->turbo, ", ", "%u-%u: %.1f", row[i].first_cores, row[last].last_cores,
                          row[i].ghz);
        }
        i = last;
    }
    if (n > 0)
        text_list_add(out->found, sizeof out->found, ", ", "non-AVX turbo %.1f to %.1f GHz", row[0].ghz,
                      row[n - 1].ghz);
}

static void ask_clocks(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_platform platform;
    uint64_t value, other;
    double ghz;
    if (p->intel && ask(d, MSR_PLATFORM_INFO, &value, out) && msr_platform(value, &platform))
        text_list_add(out->found, sizeof out->found, ", ", "base %.1f GHz", platform.base_ghz);
    if (p->amd && ask(d, MSR_AMD_PSTATE_0, &value, out) && msr_amd_pstate_ghz(p, value, &ghz))
        text_list_add(out->found, sizeof out->found, ", ", "base %.2f GHz", ghz);
    if (ask(d, MSR_APERF, &value, out) && ask(d, MSR_MPERF, &other, out) && value != 0 && other != 0)
        text_list_add(out->found, sizeof out->found, ", ", "APERF and MPERF");
}

static void ask_heat(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_thermal thermal;
    uint64_t value, target;
    unsigned tjmax;
    uint32_t reg;
    char text[120];
    if (p->intel && ask(d, MSR_THERM_STATUS, &value, out) && ask(d, MSR_TEMPERATURE_TARGET, &target, out)) {
        msr_thermal(value, &thermal);
        if (thermal.readout && msr_tjmax(target, &tjmax) && thermal.below <= tjmax)
            text_list_add(out->found, sizeof out->found, ", ", "%u C", tjmax - thermal.below);
        if (thermal.throttled)
            text_list_add(out->limits, sizeof out->limits, ", ", "temperature");
        if (thermal.power_limited)
            text_list_add(out->limits, sizeof out->limits, ", ", "power limit");
        if (thermal.current_limited)
            text_list_add(out->limits, sizeof out->limits, ", ", "current limit");
    }
    if (msr_limits_register(p, &reg) && ask(d, reg, &value, out) && (value & 0xffff) != 0) {
        msr_limits_text(p, value, text, sizeof text);
        text_list_add(out->limits, sizeof out->limits, ", ", "%s", text);
    }
    if (out->limits[0] != '\0')
        text_list_add(out->found, sizeof out->found, ", ", "frequency limited by: %s", out->limits);
}

static void ask_energy(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    uint32_t unit = p->amd ? MSR_AMD_RAPL_UNIT : MSR_RAPL_UNIT;
    uint32_t energy = p->amd ? MSR_AMD_PACKAGE_ENERGY : MSR_PACKAGE_ENERGY;
    uint64_t value;
    double joules;
    if ((p->intel || p->amd) && ask(d, unit, &value, out) && msr_energy_step(value, &joules) &&
        ask(d, energy, &value, out))
        text_list_add(out->found, sizeof out->found, ", ", "energy in steps of %.1f uJ", joules * 1e6);
}

void msr_survey(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    memset(out, 0, sizeof *out);
    ask_volts(d, p, out);
    ask_clocks(d, p, out);
    ask_turbo(d, p, out);
    ask_heat(d, p, out);
    ask_energy(d, p, out);
}
