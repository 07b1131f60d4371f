/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes the settings of this computer step by step for --table variability. */
#include "cli/refining.h"

#include <stdio.h>
#include <string.h>

#include "cli/changed_settings.h"
#include "cli/disturbing.h"
#include "cli/measured_cpu.h"
#include "cli/messages.h"
#include "computer/cpu/cpu.h"
#include "util/text_list.h"

/* The parts that each refinement adds to those above it. */
static const unsigned parts_of[REFINEMENTS] = {
    [REFINED_SETTINGS] = QUIET_GOVERNOR | QUIET_EPP | QUIET_TURBO | QUIET_CSTATES | QUIET_SMT | QUIET_TICK,
    [REFINED_ISOLATED] = QUIET_ISOLATE,
    [REFINED_IRQS_AWAY] = QUIET_IRQ | QUIET_WORKQUEUE,
};

static bool isolated_since_boot(const struct options *o)
{
    struct cpu_mask isolated;
    struct machine_error ignored;
    int cpu;
    return o->sysroot == NULL && measured_cpu(o, "/sys", &cpu, &ignored) == MACHINE_OK &&
           cpu_read_list("/sys", &isolated, "devices/system/cpu/isolated") && cpu_mask_has(&isolated, cpu);
}

/* Nothing but turbo and frequency. */
static int refining_base(struct refining *f, struct machine_error *err)
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
    int status = !f->begun || (f->in_force & ~parts) != 0 ? refining_base(f, err) : MACHINE_OK;
    if (status == MACHINE_OK)
        status = add_parts(f, parts & ~f->in_force, err);
    if (status != MACHINE_OK)
        return status;
    bool at_boot = r == REFINED_ISOLATED && isolated_since_boot(f->options);
    if (parts_of[r] == 0 || (f->had & parts_of[r]) != 0 || at_boot)
        return MACHINE_OK;
    if ((wished & parts_of[r]) == 0)
        return refuse_unwished(parts_of[r], err);
    *err = f->why[__builtin_ctz(wished & parts_of[r])];
    return MACHINE_CANNOT;
}

static int refine_busy(struct refining *f, char *told, struct machine_error *err)
{
    if (f->busy == NULL)
        return machine_fail(err, MACHINE_CANNOT, "", "needs --interference NAME");
    int status = refining_base(f, err);
    if (status == MACHINE_OK)
        status = interference_begin(f->busy, err);
    if (status == MACHINE_OK)
        snprintf(told, TABLES_TOLD_MAX, "interference %s", f->busy_text);
    return status;
}

int refining_refine(void *data, enum refinement r, char *told, struct machine_error *err)
{
    struct refining *f = data;
    told[0] = '\0';
    if (r == REFINED_BUSY)
        return refine_busy(f, told, err);
    int status = f->busy != NULL ? interference_end(f->busy, err) : MACHINE_OK;
    if (status != MACHINE_OK)
        return status;
    if (r == REFINED_QUIET)
        return refining_base(f, err);
    if (!f->options->quiet_given)
        return machine_fail(err, MACHINE_CANNOT, "", "needs --quiet-machine");
    status = refine_settings(f, r, err);
    if (status == MACHINE_OK)
        snprintf(told, TABLES_TOLD_MAX, "%s", settings_text(*f->settings));
    return status;
}

int refining_end(struct refining *f, struct machine_error *err)
{
    int status = f->busy != NULL ? interference_end(f->busy, err) : MACHINE_OK;
    if (status != MACHINE_OK || !f->begun)
        return status;
    return add_parts(f, changed_settings_wished(f->options) & ~f->in_force, err);
}

void refining_tell_left(const struct refining *f)
{
    if (f->begun && !f->options->quiet)
        changed_settings_tell_left(*f->settings);
}
