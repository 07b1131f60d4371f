/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/phases_rig.h"
#include "tests/support/test.h"

void rig_show_phases(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        print_message("  %-8s %8.2f +%8.2f [%.2f, %.2f] us %6.3f GHz [%.4f, %.4f] ratio %5.3f level %d",
                      phases_kind_name(ph->kind), ph->start_us, ph->duration_us.value, ph->duration_us.lo,
                      ph->duration_us.hi, ph->freq_ghz.value, ph->freq_ghz.lo, ph->freq_ghz.hi, ph->ipc_ratio,
                      ph->level);
        if (ph->kind == PHASE_RAMP)
            print_message(" from %.3f [%.3f, %.3f] to %.4f [%.4f, %.4f] tau %.2f [%.2f, %.2f]", ph->from_ghz.value,
                          ph->from_ghz.lo, ph->from_ghz.hi, ph->to_ghz.value, ph->to_ghz.lo, ph->to_ghz.hi,
                          ph->tau_us.value, ph->tau_us.lo, ph->tau_us.hi);
        for (size_t m = 0; m < ph->n_modes; m++)
            print_message(" mode %.2f us of %.2f", ph->modes[m].duration_us, ph->modes[m].share);
        print_message(" %zu %s\n", ph->agreeing_runs, ph->why);
    }
    for (size_t i = 0; i < p->n_volt_steps; i++)
        print_message("  %.4f -> %.4f V at %.1f to %.1f us\n", p->volt_steps[i].from_v, p->volt_steps[i].to_v,
                      p->volt_steps[i].begin_us, p->volt_steps[i].end_us);
    for (size_t i = 0; i < p->n_warnings; i++)
        print_message("  warning: %s\n", p->warnings[i]);
}

bool rig_warned(const struct phases *p, const char *of)
{
    for (size_t i = 0; i < p->n_warnings; i++)
        if (strstr(p->warnings[i], of))
            return true;
    return false;
}
