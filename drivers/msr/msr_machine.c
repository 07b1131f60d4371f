/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds model-specific registers to a machine that measures real hardware. */
#include "drivers/msr/msr_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "computer/msr/msr_device.h"
#include "computer/cpu/tsc.h"
#include "util/text_list.h"

struct with_registers {
    const struct machine_ops *inner;
    struct machine_ops ops; /* those, except for what this file does */
    struct msr_access access;
    struct msr_device device;
    bool opened;
    uint64_t read_tsc; /* when a register was last read */
    char name[80];
    char source[300];
    char notes[1600];
    char own_notes[550]; /* of the registers, since prepare */
};

static void msr_info(const struct machine *m, struct machine_info *out)
{
    struct with_registers *w = m->around;

    w->inner->info(m, out);
    snprintf(w->notes, sizeof w->notes, "%s", out->notes != NULL ? out->notes : "");
    text_list_add(w->notes, sizeof w->notes, "; ", "%s", w->own_notes);
    out->name = w->name;
    out->source = w->source;
    out->notes = w->notes;
}

static void close_device(struct with_registers *w)
{
    if (w->opened)
        w->device.close(&w->device);
    w->opened = false;
}

static void msr_finish(struct machine *m)
{
    struct with_registers *w = m->around;

    close_device(w);
    w->inner->finish(m);
}

static int open_device(const struct with_registers *w, int cpu, struct msr_device *out)
{
    return w->access.open != NULL ? w->access.open(w->access.context, cpu, out) : msr_device_open("/dev", cpu, out);
}

static int refuse_open(const struct with_registers *w, int cpu, int error, struct machine_error *err)
{
    struct msr_trouble trouble = w->access.access;

    trouble.cpu = cpu;
    trouble.open_errno = error;
    trouble.guest = w->access.guest;
    return msr_trouble_tell(&trouble, err);
}

/* Notes limits and explanations of the results, as far as registers report them. */
static void note_registers(struct with_registers *w)
{
    struct msr_survey survey;

    msr_survey(&w->device, &w->access.part, &survey);
    w->own_notes[0] = '\0';
    if (survey.turbo[0] != '\0') {
        text_list_add(w->own_notes, sizeof w->own_notes, "; ", "non-AVX turbo limits by active cores, GHz (1ADH%s): %s",
                      msr_is_hybrid(&w->access.part) ? ", P cores" : "", survey.turbo);
    }
    if (survey.limits[0] != '\0') {
        text_list_add(w->own_notes, sizeof w->own_notes, "; ",
                      "before the measurement, the frequency was limited by: %s", survey.limits);
    }
}

static int msr_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct with_registers *w = m->around;
    struct machine_info info;

    close_device(w);
    int status = w->inner->prepare(m, s, err);
    if (status != MACHINE_OK)
        return status;
    w->inner->info(m, &info);
    int error = open_device(w, info.cpu_number, &w->device);
    if (error != 0) {
        w->inner->finish(m);
        return refuse_open(w, info.cpu_number, error, err);
    }
    w->opened = true;
    note_registers(w);
    return MACHINE_OK;
}

static void msr_close_again(struct machine *m)
{
    (void)m;
}

static void msr_close(struct machine *m)
{
    static const struct machine_ops closed = {.close = msr_close_again};
    struct with_registers *w = m->around;

    close_device(w);
    w->inner->close(m);
    free(w);
    *m = (struct machine){.ops = &closed};
}

static int msr_read(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    struct with_registers *w = m->around;

    if (!w->opened)
        return machine_fail(err, MACHINE_FAILED, "", "the machine %s was not prepared: register %XH of no CPU", w->name,
                            reg);
    uint64_t before = tsc_now();
    int error = w->device.read(&w->device, reg, value);
    w->read_tsc = before + (tsc_now() - before) / 2;
    if (error != 0) {
        char why[200];
        msr_read_error_text(reg, w->device.cpu, error, w->access.guest, why, sizeof why);
        return machine_fail(err, MACHINE_CANNOT, "", "%s", why);
    }
    return MACHINE_OK;
}

/* MSR_SMI_COUNT, since reset (Intel SDM vol. 4, table 2-2 and those of the families from Nehalem on); NaN where it
 * cannot be read. */
static double smi_count(struct machine *m, bool intel)
{
    struct machine_error ignored;
    uint64_t value;

    return intel && msr_read(m, 0x34, &value, &ignored) == MACHINE_OK ? (double)(uint32_t)value : NAN;
}

static int msr_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                      struct machine_error *err)
{
    struct with_registers *w = m->around;
    struct machine_info info;

    w->inner->info(m, &info);
    double before = smi_count(m, info.intel);
    int status = w->inner->trials(m, r, duration, seen, err);
    seen->between.smis = smi_count(m, info.intel) - before;
    return status;
}

static uint64_t msr_read_tsc(const struct machine *m)
{
    const struct with_registers *w = m->around;

    return w->read_tsc;
}

int msr_machine_wrap(const struct machine *inner, const struct msr_access *access, struct machine *out,
                     struct machine_error *err)
{
    struct with_registers *w = calloc(1, sizeof *w);
    struct machine_info info;

    if (w == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    w->access = *access;
    inner->ops->info(inner, &info);
    snprintf(w->name, sizeof w->name, strcmp(info.name, "timing") == 0 ? "msr" : "%s+msr", info.name);
    snprintf(w->source, sizeof w->source, "%s; registers through /dev/cpu/N/msr", info.source);
    w->inner = inner->ops;
    w->ops = *inner->ops;
    w->ops.info = msr_info;
    w->ops.prepare = msr_prepare;
    w->ops.finish = msr_finish;
    w->ops.close = msr_close;
    w->ops.read_register = msr_read;
    w->ops.register_tsc = msr_read_tsc;
    if (inner->ops->trials != NULL)
        w->ops.trials = msr_trials;
    *out = (struct machine){.ops = &w->ops, .state = inner->state, .around = w};
    return MACHINE_OK;
}

int msr_machine_add(struct machine *m, struct machine_error *err)
{
    struct cpu_leaves leaves;
    struct msr_access access = {0};

    cpu_read_leaves(&leaves);
    msr_part_of(&leaves, &access.part);
    access.guest = leaves.version.ecx >> 31 & 1;
    msr_trouble_read("/sys", "/proc", &access.access);
    return msr_machine_wrap(m, &access, m, err);
}

int machine_open_msr(struct machine *out, struct machine_error *err)
{
    int status = machine_open_timing(out, err);

    if (status == MACHINE_OK) {
        status = msr_machine_add(out, err);
        if (status != MACHINE_OK)
            out->ops->close(out);
    }
    return status;
}
