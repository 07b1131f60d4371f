/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "computer/findings/findings.h"

#include <math.h>
#include <stdlib.h>

#include "computer/findings/findings_parts.h"

/* Of findings without a cost, in this order. */
static const struct {
    const char *id;
    findings_maker *look;
} things[] = {
    {"governor", findings_governor},
    {"driver", findings_driver},
    {"turbo", findings_turbo},
    {"epp", findings_epp},
    {"frequency-limits", findings_frequency_limits},
    {"thermal", findings_thermal},
    {"power-cap", findings_power_cap},
    {"smt", findings_smt},
    {"isolation", findings_isolation},
    {"irqs", findings_irqs},
    {"irq-affinity", findings_irq_affinity},
    {"irqbalance", findings_irqbalance},
    {"tick", findings_tick},
    {"nohz-full", findings_nohz_full},
    {"workqueues", findings_workqueues},
    {"kernel-threads", findings_kernel_threads},
    {"processes", findings_processes},
    {"nmi-watchdog", findings_nmi_watchdog},
    {"cstates", findings_cstates},
    {"steal", findings_steal},
    {"container", findings_container},
    {"load", findings_load},
    {"uncore", findings_uncore},
    {"clocksource", findings_clocksource},
    {"microcode", findings_microcode},
    {"mitigations", findings_mitigations},
    {"huge-pages", findings_huge_pages},
    {"aslr", findings_aslr},
    {"hypervisor", findings_hypervisor},
    {"pmu", findings_pmu},
    {"perf-paranoid", findings_perf_paranoid},
    {"rdpmc", findings_rdpmc},
    {"msr-module", findings_msr_module},
    {"lockdown", findings_lockdown},
    {"secure-boot", findings_secure_boot},
    {"rt-throttling", findings_rt_throttling},
};
enum { THINGS = sizeof things / sizeof *things };

/* Whether a comes before b, of which it is not known which was first. */
static bool is_before(const struct finding *a, const struct finding *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->kind != FINDING_DISTURBS || isnan(a->cost))
        return false;
    return isnan(b->cost) || a->cost > b->cost;
}

/* Behind those that are there already, of its like. */
static void findings_insert(struct findings *f, const struct finding *new)
{
    size_t i = f->n++;
    for (; i > 0 && is_before(new, &f->list[i - 1]); i--)
        f->list[i] = f->list[i - 1];
    f->list[i] = *new;
}

int findings_of(const struct environment *e, struct findings *out)
{
    *out = (struct findings){.list = calloc(THINGS, sizeof *out->list)};
    if (!out->list)
        return -1;
    for (size_t i = 0; i < THINGS; i++) {
        struct finding f = {.id = things[i].id, .kind = FINDING_QUIET, .cost = NAN};
        things[i].look(e, &f);
        if (f.seen[0])
            findings_insert(out, &f);
    }
    return 0;
}

void findings_free(struct findings *f)
{
    free(f->list);
    *f = (struct findings){0};
}

size_t findings_count(const struct findings *f, enum finding_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->list[i].kind == kind;
    return n;
}
