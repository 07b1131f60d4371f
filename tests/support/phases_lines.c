/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/phases_lines.h"

#include <math.h>
#include <stdint.h>

/* Times to 0.1 ns; all else to six digits, which noise never reaches. */
static void write_time(FILE *out, const char *name, double us)
{
    if (isfinite(us))
        fprintf(out, "%s%.4f", name, us + 0.0);
}

static void write_value(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        fprintf(out, "%s%#.6g", name, value + 0.0);
}

static void write_limits(FILE *out, const char *name, const struct estimate *e,
                         void (*write)(FILE *out, const char *name, double value))
{
    write(out, name, e->value);
    if (isfinite(e->lo) || isfinite(e->hi)) {
        write(out, "[", e->lo);
        write(out, ",", e->hi);
        fputs("]", out);
    }
}

static void write_phase(FILE *out, const struct phase *ph)
{
    static const char *const names[] = {" lvl0 ", " lvl1 ", " lvl2 ", " throttle "};
    fputs(phases_kind_name(ph->kind), out);
    write_time(out, " at ", ph->start_us);
    write_limits(out, " for ", &ph->duration_us, write_time);
    write_limits(out, " ghz ", &ph->freq_ghz, write_value);
    write_value(out, " half ", ph->freq_half_ghz);
    write_value(out, " ipc ", ph->ipc);
    write_value(out, " ratio ", ph->ipc_ratio);
    write_value(out, " volts ", ph->volts);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_value(out, names[i], ph->share[i]);
    if (ph->tau_us.value > 0) {
        write_limits(out, " from ", &ph->from_ghz, write_value);
        write_limits(out, " to ", &ph->to_ghz, write_value);
        write_limits(out, " tau ", &ph->tau_us, write_time);
    }
    fprintf(out, " level %d runs %zu", ph->level, ph->agreeing_runs);
    for (size_t i = 0; i < ph->n_modes; i++) {
        write_time(out, " mode ", ph->modes[i].duration_us);
        write_value(out, " of ", ph->modes[i].share);
    }
    if (ph->switch_explains != EXPLAINS_NOTHING)
        fprintf(out, " explained %d", (int)ph->switch_explains);
    fprintf(out, "%s%s\n", ph->why[0] ? ": " : "", ph->why);
}

static void write_changes(FILE *out, const struct phases *p)
{
    for (size_t i = 0; i < p->n_transitions; i++) {
        const struct transition *t = &p->transitions[i];
        fputs("transition", out);
        write_time(out, " at ", t->at_us);
        write_limits(out, " latency ", &t->latency_us, write_time);
        write_value(out, " from ", t->from_ghz);
        write_value(out, " to ", t->to_ghz);
        fprintf(out, " halts %u runs %zu\n", t->halts, t->agreeing_runs);
    }
    for (size_t i = 0; i < p->n_volt_steps; i++) {
        const struct volt_step *v = &p->volt_steps[i];
        fputs("volts", out);
        write_time(out, " at ", v->begin_us);
        write_time(out, " until ", v->end_us);
        write_value(out, " from ", v->from_v);
        write_value(out, " to ", v->to_v);
        fprintf(out, " runs %zu\n", v->agreeing_runs);
    }
}

static void write_seen(FILE *out, const struct phases *p)
{
    fprintf(out, "runs %zu used %zu samples %ju discarded %ju%s%s", p->runs, p->runs_used, (uintmax_t)p->samples,
            (uintmax_t)p->samples_discarded, p->modelled ? " modelled" : "", p->disturbed ? " disturbed" : "");
    write_value(out, " sees: step ", p->detectable_freq);
    write_time(out, " for ", p->detectable_freq_us);
    write_value(out, " ratio ", p->detectable_throttle);
    write_time(out, " for ", p->detectable_throttle_us);
    write_time(out, " halt ", p->detectable_halt_us);
    fputc('\n', out);
}

void phases_lines_write(FILE *out, const struct phases *p)
{
    write_seen(out, p);
    for (size_t i = 0; i < p->n_levels; i++) {
        fputs("level", out);
        write_value(out, " ghz ", p->levels_ghz[i]);
        write_value(out, "[", p->levels[i].lo);
        write_value(out, ",", p->levels[i].hi);
        fputs("]\n", out);
    }
    for (size_t i = 0; i < p->n_phases; i++)
        write_phase(out, &p->phases[i]);
    write_changes(out, p);
    for (size_t i = 0; i < p->n_discarded; i++)
        fprintf(out, "discarded %u: %s\n", (unsigned)p->discarded[i].run, p->discarded[i].why);
    for (size_t i = 0; i < p->n_warnings; i++)
        fprintf(out, "warning: %s\n", p->warnings[i]);
}
