/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which machines there are, which of them work here and, where one does not, why and what would help; and opening one.
 *
 * The meaning of the error numbers: perf_event_open(2) and Linux arch/x86/events/core.c (RDPMC and its setting in
 * sysfs); those of /dev/cpu/N/msr are explained in msr_device.c.
 */
#include "drivers/choices.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "drivers/model/model.h"
#include "drivers/msr/msr_machine.h"
#include "drivers/perf/perf.h"
#include "drivers/perf/perf_page.h"
#include "computer/cpu/tsc.h"
#include "util/clock.h"
#include "util/edit_distance.h"
#include "util/text_list.h"

enum { NOT_READABLE = -100 };

/* Two readings with something in between; more than once, because either may have been interrupted. */
static void try_rdpmc(const struct perf_event_mmap_page *page, struct choice_facts *out)
{
    uint64_t idle = 0;

    out->perf_rdpmc = page->cap_user_rdpmc;
    out->perf_counter = page->index != 0;
    for (int attempt = 0; attempt < 10 && !out->perf_counts; attempt++) {
        uint64_t before = perf_page_count(page, &idle, perf_rdpmc_instruction);
        for (volatile int i = 0; i < 1000; i++) {
        }
        uint64_t after = perf_page_count(page, &idle, perf_rdpmc_instruction);
        out->perf_counts = before != COUNTER_MISSING && after != COUNTER_MISSING && after > before;
    }
}

/* Lockdown at either level refuses unsigned modules (Linux, security/security.c, LOCKDOWN_MODULE_SIGNATURE). */
static bool only_signed_modules(const char *sys, const char *lockdown)
{
    char text[80];

    return strcmp(lockdown, "integrity") == 0 || strcmp(lockdown, "confidentiality") == 0 ||
           (cpu_read_text(sys, text, sizeof text, "module/module/parameters/sig_enforce") > 0 && text[0] == 'Y');
}

static void read_helper(const char *dev, struct choice_facts *out)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dev, CHARACTERIZE_DEVICE);
    int fd = helper_connect(&helper_system, path, &out->helper);
    if (fd >= 0)
        helper_system.close(fd);
}

static void read_perf(struct choice_facts *out)
{
    const struct perf_pmu any = {.type = PERF_TYPE_RAW};
    struct perf_system here;
    struct perf_event_attr attr;

    perf_real_system(&here);
    perf_fill_attr(&any, COUNTER_CYCLES, 0, &attr);
    int fd = here.open(&attr, -1);
    out->perf_errno = fd < 0 ? -fd : 0;
    if (fd < 0)
        return;
    struct perf_event_mmap_page *page = here.map(fd);
    out->perf_map_errno = page == NULL ? errno : 0;
    if (page != NULL) {
        try_rdpmc(page, out);
        here.unmap(page);
    }
    here.close(fd);
}

/* Tries the registers of the CPU that would be measured on. */
static void read_msr(const char *sys, const char *proc, const char *dev, const struct cpu_leaves *leaves,
                     struct choice_facts *out)
{
    struct msr_device device;
    struct msr_part part;

    msr_trouble_read(sys, proc, &out->msr);
    out->msr.cpu = cpu_default(sys);
    out->msr.open_errno = msr_device_open(dev, out->msr.cpu, &device);
    if (out->msr.open_errno == 0) {
        msr_part_of(leaves, &part);
        msr_survey(&device, &part, &out->registers);
        device.close(&device);
        out->msr.read_errno = out->registers.answered > 0 ? 0 : out->registers.read_errno;
    }
}

void choice_facts_read(const char *sys, const char *proc, const char *dev, struct choice_facts *out)
{
    struct cpu_leaves leaves;
    char clock[64];

    memset(out, 0, sizeof *out);
    cpu_read_leaves(&leaves);
    out->guest = leaves.version.ecx >> 31 & 1;
    read_helper(dev, out);
    read_perf(out);
    out->nmi_watchdog = perf_room_watchdog(proc);
    out->perf_paranoid = (int)cpu_read_number(proc, NOT_READABLE, "sys/kernel/perf_event_paranoid");
    out->rdpmc_setting = (int)cpu_read_number(sys, NOT_READABLE, "bus/event_source/devices/cpu/rdpmc");
    if (out->rdpmc_setting == NOT_READABLE) {
        out->rdpmc_setting = (int)cpu_read_number(sys, NOT_READABLE, "bus/event_source/devices/cpu_core/rdpmc");
        out->hybrid = out->rdpmc_setting != NOT_READABLE;
    }
    read_msr(sys, proc, dev, &leaves, out);
    out->signed_modules = only_signed_modules(sys, out->msr.lockdown);
    cpu_read_text(sys, clock, sizeof clock, "devices/system/clocksource/clocksource0/current_clocksource");
    out->timing_usable = tsc_usable(&leaves, clock, out->timing_why, sizeof out->timing_why);
}

/* Notes why a machine does not work here, formatted, and what would help. */
__attribute__((format(printf, 3, 4))) static void choice_refuse(struct machine_choice *c, const char *remedy,
                                                                const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(c->why, sizeof c->why, why, arguments);
    va_end(arguments);
    snprintf(c->remedy, sizeof c->remedy, "%s", remedy);
}

static void choose_helper(const struct choice_facts *f, struct machine_choice *c)
{
    switch (f->helper.open_errno) {
    case 0:
        if (f->helper.other_version) {
            choice_refuse(c,
                          "as root: rmmod characterize && make -C drivers/helper/kmod && insmod "
                          "drivers/helper/kmod/characterize.ko",
                          "the loaded kernel module characterize has another version");
        } else if (f->helper.refusal[0] != '\0') {
            choice_refuse(c, "none is known", "the kernel module characterize refuses: %s", f->helper.refusal);
        } else {
            c->usable = true;
            snprintf(c->why, sizeof c->why, "in the kernel, interrupts masked; frequency by %s",
                     f->helper.hello.can & CHARACTERIZE_CAN_PMU ? "performance counters"
                     : f->helper.hello.can & CHARACTERIZE_CAN_APERF_MPERF
                         ? "APERF (no performance counters)"
                         : "a chain of adds (no performance counters)");
        }
        return;
    case ENOENT:
    case ENXIO:
    case ENODEV:
        choice_refuse(c,
                      f->signed_modules ? "as root: make -C drivers/helper/kmod && sign it with a key of the machine's "
                                          "owner (mokutil) && insmod drivers/helper/kmod/characterize.ko"
                                        : "as root: modprobe characterize (package characterize-dkms), or make -C "
                                          "drivers/helper/kmod && insmod drivers/helper/kmod/characterize.ko",
                      "no /dev/characterize: the kernel module characterize is not loaded%s",
                      f->signed_modules ? ", and this kernel only loads signed modules" : "");
        return;
    case EACCES:
        choice_refuse(c, "run as root", "/dev/characterize is for root only");
        return;
    case EPERM:
        choice_refuse(c, "run as root outside a container, or grant CAP_SYS_RAWIO",
                      "access to /dev/characterize is denied: no CAP_SYS_RAWIO");
        return;
    case EBUSY:
        choice_refuse(c, "wait for it, or find it: fuser /dev/characterize",
                      "/dev/characterize is in use by another process, and only one can use it at a time");
        return;
    default:
        choice_refuse(c, "none is known", "/dev/characterize: %s", strerror(f->helper.open_errno));
    }
}

/* The cycle counter opens; whether it can be read where a sample is taken. */
static void choose_open_perf(const struct choice_facts *f, struct machine_choice *c)
{
    if (f->perf_map_errno != 0) {
        choice_refuse(c, "raise ulimit -l, or as root: sysctl kernel.perf_event_mlock_kb=1024",
                      "the cycle counter opens, but its page cannot be mapped: %s", strerror(f->perf_map_errno));
    } else if (f->rdpmc_setting == 0) {
        choice_refuse(c,
                      f->hybrid ? "as root: echo 1 > /sys/bus/event_source/devices/cpu_core/rdpmc"
                                : "as root: echo 1 > /sys/bus/event_source/devices/cpu/rdpmc",
                      "the cycle counter opens, but RDPMC is disabled (rdpmc = 0 in sysfs)");
    } else if (!f->perf_rdpmc) {
        choice_refuse(c, f->guest ? CPU_GUEST_COUNTERS : "boot a kernel whose PMU driver allows RDPMC",
                      "the cycle counter opens, but RDPMC is not allowed%s",
                      f->guest ? " in this virtual machine" : "");
    } else if (!f->perf_counter) {
        choice_refuse(c, perf_room_to_free(f->nmi_watchdog),
                      "the cycle counter opens, but no hardware counter is free for it");
    } else if (!f->perf_counts) {
        choice_refuse(c, f->guest ? CPU_GUEST_HARDWARE : "stop other users of the counters (perf, virtual machines)",
                      "the cycle counter can be opened and read, but does not advance%s",
                      f->guest ? ": the virtual PMU does not work" : "");
    } else {
        c->usable = true;
        snprintf(c->why, sizeof c->why,
                 "performance counters: cycles, instructions, events; license levels where the CPU has them");
    }
}

static void choose_perf(const struct choice_facts *f, struct machine_choice *c)
{
    switch (f->perf_errno) {
    case 0:
        choose_open_perf(f, c);
        return;
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case ENXIO:
        choice_refuse(c, f->guest ? CPU_GUEST_COUNTERS : "boot a kernel that supports this CPU", "no PMU %s",
                      f->guest ? "in this virtual machine" : "known to this kernel (no cycle counter)");
        return;
    case EACCES:
    case EPERM:
        if (f->perf_paranoid <= 2) { /* or not readable, a negative number */
            choice_refuse(c, "allow perf_event_open in the container's seccomp profile",
                          "perf_event_open is forbidden (%s), as in a container with a system call filter",
                          strerror(f->perf_errno));
        } else {
            choice_refuse(c, "as root: sysctl kernel.perf_event_paranoid=2, or give CAP_PERFMON",
                          "perf_event_open is forbidden by kernel.perf_event_paranoid = %d", f->perf_paranoid);
        }
        return;
    case ENOSYS:
        choice_refuse(c, "boot a kernel with CONFIG_PERF_EVENTS", "this kernel or container has no perf_event_open");
        return;
    default:
        choice_refuse(c, "see perf_event_open(2)", "no cycle counter: %s", strerror(f->perf_errno));
    }
}

static void choose_msr(const struct choice_facts *f, struct machine_choice *c)
{
    struct msr_trouble trouble = f->msr;
    struct machine_error err;

    trouble.guest = f->guest;
    if (msr_trouble_tell(&trouble, &err) != MACHINE_OK) {
        choice_refuse(c, err.remedy[0] != '\0' ? err.remedy : "none is known", "%.399s", err.text);
    } else if (!f->timing_usable) { /* it samples as the timing machine does */
        choice_refuse(c, "as for timing", "registers are readable, but %s", f->timing_why);
    } else {
        c->usable = true;
        const struct msr_survey *r = &f->registers;
        snprintf(c->why, sizeof c->why, "time stamps and registers%s%s%s%s", r->found[0] != '\0' ? ": " : "", r->found,
                 r->volts_why[0] != '\0' ? "; no voltage: " : "", r->volts_why);
    }
}

static void choose_timing(const struct choice_facts *f, struct machine_choice *c)
{
    c->usable = f->timing_usable;
    if (c->usable) {
        snprintf(c->why, sizeof c->why, "time stamps only: frequency, IPC, halts%s%s", f->timing_why[0] ? "; " : "",
                 f->timing_why);
    } else {
        choice_refuse(c,
                      "in a virtual machine, have the hypervisor expose the invariant TSC; --machine model:NAME works "
                      "everywhere",
                      "%s", f->timing_why);
    }
}

size_t choices_from_facts(const struct choice_facts *f, struct machine_choice *out, size_t max)
{
    static const struct {
        const char *name;
        void (*choose)(const struct choice_facts *f, struct machine_choice *c);
    } all[] = {
        {"helper", choose_helper},
        {"perf", choose_perf},
        {"msr", choose_msr},
        {"timing", choose_timing},
    };
    size_t n = sizeof all / sizeof *all;

    n = n < max ? n : max;
    for (size_t i = 0; i < n; i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].name = all[i].name;
        all[i].choose(f, &out[i]);
    }
    return n;
}

size_t machine_choices(struct machine_choice *out, size_t max)
{
    struct choice_facts facts;

    choice_facts_read("/sys", "/proc", "/dev", &facts);
    return choices_from_facts(&facts, out, max);
}

const struct machine_choice *choices_find(const struct machine_choice *machines, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

/* The readings of the one that was taken; `registers`: the choice msr, which perf takes along. */
static const char *remark_on(const char *name, const struct machine_choice *registers)
{
    if (strcmp(name, "perf") == 0) {
        return registers != NULL && registers->usable ? " (performance counters; registers)"
                                                      : " (performance counters)";
    }
    return strcmp(name, "msr") == 0      ? " (frequency, IPC and halts by time stamps; registers)"
           : strcmp(name, "timing") == 0 ? " (frequency, IPC and halts by time stamps)"
                                         : "";
}

void choices_report(const struct machine_choice *machines, size_t n, char *out, size_t size)
{
    const struct machine_choice *registers = choices_find(machines, n, "msr");
    size_t taken = 0, reported = 0;

    while (taken < n && !machines[taken].usable)
        taken++;
    const char *name = taken < n ? machines[taken].name : "nothing";
    snprintf(out, size, "%s%s%s", taken < n ? "measuring with " : "", name, remark_on(name, registers));
    for (size_t i = 0; i < n; i++) {
        bool missed = strcmp(name, "perf") == 0 && &machines[i] == registers && !registers->usable;
        const char *before = reported > 0 ? "; " : taken < n ? "; more with " : ": ";
        if (i < taken || missed) {
            text_list_add(out, size, before, "%s: %s", machines[i].name, machines[i].why);
            reported++;
        }
    }
    if (taken < n && reported > 0)
        text_list_add(out, size, " ", "(--list machines: what would help)");
}

/* ---- opening one ---- */

/* More than the machines that there are. */
enum { CHOICES = 8 };

/* Names that can be requested; without a function, one that stands for several machines. */
static const struct {
    const char *name;
    int (*open)(struct machine *out, struct machine_error *err);
} openers[] = {
    {"auto", NULL},
    {"timing", machine_open_timing},
    {"perf", machine_open_perf},
    {"msr", machine_open_msr},
    {"helper", machine_open_helper},
    {"model:", NULL},
};
enum { OPENERS = sizeof openers / sizeof *openers };

static const char *nearest_name(const char *spec)
{
    const char *best = NULL;
    unsigned least = 4; /* further away it would be a guess */

    for (size_t i = 0; i < OPENERS; i++)
        if (edit_nearer(spec, strlen(spec), openers[i].name, &least))
            best = openers[i].name;
    return best;
}

/* The shipped model of which it is the name, also after another word (modle:), or a part of that (gold-6130) at least 4
 * characters long; else "". */
static void nearest_model(const char *spec, char *out, size_t size)
{
    enum { PART_LEAST = 4 }; /* characters: fewer are a part of too many names */
    char **names;
    size_t n;

    spec = strchr(spec, ':') ? strchr(spec, ':') + 1 : spec;
    out[0] = '\0';
    if (strlen(spec) < PART_LEAST || model_list(NULL, &names, &n) != 0)
        return;
    for (size_t i = 0; i < n && out[0] == '\0'; i++)
        if (strcasestr(names[i], spec) != NULL || edit_distance(spec, strlen(spec), names[i]) <= 2)
            snprintf(out, size, "model:%s", names[i]);
    model_list_free(names, n);
}

static int unknown(const char *spec, struct machine_error *err)
{
    char model[120], remedy[sizeof err->remedy] = "machines";
    nearest_model(spec, model, sizeof model);
    const char *near = model[0] != '\0' ? model : nearest_name(spec);

    for (size_t i = 0; i < OPENERS; i++)
        text_list_add(remedy, sizeof remedy, i == 0 ? ": " : ", ", "%s%s", openers[i].name,
                      strcmp(openers[i].name, "model:") == 0 ? "NAME, model:FILE" : "");
    return machine_fail(err, MACHINE_BAD_INPUT, remedy, "unknown machine '%.60s'%s%s%s", spec,
                        near != NULL ? ", perhaps '" : "", near != NULL ? near : "", near != NULL ? "'" : "");
}

static int refuse_choice(const struct machine_choice *c, struct machine_error *err)
{
    char remedy[sizeof err->remedy];

    snprintf(remedy, sizeof remedy, "%.120s%s--machine timing or model:NAME work%s", c->remedy,
             c->remedy[0] != '\0' ? "; " : "", strcmp(c->name, "timing") == 0 ? " elsewhere" : "");
    return machine_fail(err, MACHINE_CANNOT, remedy, "machine %s cannot be used: %s", c->name, c->why);
}

/* One that --list machines says can be used. */
static int open_usable(const char *name, struct machine *out, struct machine_error *err)
{
    for (size_t i = 0; i < OPENERS; i++)
        if (openers[i].open != NULL && strcmp(openers[i].name, name) == 0)
            return openers[i].open(out, err);
    return unknown(name, err);
}

/* Counters come with registers where those can be read, too. */
static int open_choice(const char *name, const struct machine_choice *c, size_t n, const struct choice_openers *how,
                       struct machine *out, struct machine_error *err)
{
    const struct machine_choice *registers = choices_find(c, n, "msr");
    int status = how->open(name, out, err);

    if (status == MACHINE_OK && strcmp(name, "perf") == 0 && registers != NULL && registers->usable) {
        status = how->add_registers(out, err);
        if (status != MACHINE_OK)
            out->ops->close(out);
    }
    return status;
}

static int open_by_name(const char *name, const struct machine_choice *c, size_t n, const struct choice_openers *how,
                        struct machine *out, struct machine_error *err)
{
    const struct machine_choice *found = choices_find(c, n, name);

    if (found == NULL)
        return unknown(name, err);
    /* timing states its own reasons */
    bool tried = found->usable || strcmp(name, "timing") == 0;
    return tried ? open_choice(name, c, n, how, out, err) : refuse_choice(found, err);
}

/* The best that opens: what is checked beforehand is not all that can be in the way. */
static int open_best(struct machine_choice *c, size_t n, const struct choice_openers *how, struct machine *out,
                     char *report, size_t report_size, struct machine_error *err)
{
    bool tried = false;
    int status = MACHINE_CANNOT;

    for (size_t i = 0; i < n && status != MACHINE_OK; i++) {
        if (c[i].usable) {
            tried = true;
            status = open_choice(c[i].name, c, n, how, out, err);
        }
        if (c[i].usable && status != MACHINE_OK) {
            c[i].usable = false;
            snprintf(c[i].why, sizeof c[i].why, "looked usable, but could not be opened: %.350s", err->text);
        }
    }
    if (report_size > 0)
        choices_report(c, n, report, report_size);
    if (!tried)
        return n > 0 ? refuse_choice(&c[n - 1], err) : unknown("auto", err);
    return status;
}

int choices_open(const char *name, struct machine_choice *c, size_t n, const struct choice_openers *how,
                 struct machine *out, char *report, size_t report_size, struct machine_error *err)
{
    if (report_size > 0)
        report[0] = '\0';
    return strcmp(name, "auto") == 0 ? open_best(c, n, how, out, report, report_size, err)
                                     : open_by_name(name, c, n, how, out, err);
}

int machine_open(const char *spec, const char *data_dir, struct machine *out, char *report, size_t report_size,
                 struct machine_error *err)
{
    static const struct choice_openers here = {.open = open_usable, .add_registers = msr_machine_add};
    struct machine_choice c[CHOICES];

    if (report_size > 0)
        report[0] = '\0';
    if (strncmp(spec, "model:", 6) == 0)
        return machine_open_model(spec + 6, data_dir, out, err);
    return choices_open(spec, c, machine_choices(c, CHOICES), &here, out, report, report_size, err);
}

double machine_uncore_ghz(const struct machine *m)
{
    struct machine_error ignored;
    double ghz;
    return m->ops->uncore != NULL && m->ops->uncore(m, &ghz, &ignored) == MACHINE_OK ? ghz : (double)NAN;
}

double machine_elapsed(const struct machine *m, double begun, double recorded)
{
    struct machine_info info;
    m->ops->info(m, &info);
    return info.modelled ? recorded : fmax(recorded, clock_seconds(CLOCK_MONOTONIC) - begun);
}
