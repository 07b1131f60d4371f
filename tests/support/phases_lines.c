/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/phases_lines.h"
#include "tests/support/test.h"

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

char *phases_lines_text(const struct phases *p)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    phases_lines_write(out, p);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- sums ---- */

static void lines_add(double *sum, double value)
{
    if (isfinite(value))
        *sum += value;
}

/* A value and, behind it, the width of its limits; with weights, so that two that change places are noticed. */
static void add_limits(double sum[2], size_t i, const struct estimate *e)
{
    lines_add(&sum[0], e->value * (double)(i + 1));
    lines_add(&sum[1], (e->hi - e->lo) * (double)(i + 1));
}

static void write_sum_of_changes(FILE *out, const struct phases *p)
{
    double latency[2] = {0}, at = 0, ghz = 0, volts = 0;
    size_t runs = 0, halts = 0;
    for (size_t i = 0; i < p->n_transitions; i++) {
        const struct transition *t = &p->transitions[i];
        add_limits(latency, i, &t->latency_us);
        lines_add(&at, t->at_us);
        lines_add(&ghz, t->from_ghz);
        lines_add(&ghz, 2 * t->to_ghz);
        runs += t->agreeing_runs;
        halts += t->halts;
    }
    for (size_t i = 0; i < p->n_volt_steps; i++) {
        const struct volt_step *v = &p->volt_steps[i];
        lines_add(&at, v->begin_us + 2 * v->end_us);
        lines_add(&volts, v->from_v + 2 * v->to_v);
        runs += v->agreeing_runs;
    }
    fprintf(out, " | %zu+%zu", p->n_transitions, p->n_volt_steps);
    if (p->n_transitions + p->n_volt_steps == 0)
        return;
    fprintf(out, " runs %zu halts %zu", runs, halts);
    write_time(out, " at ", at);
    write_time(out, " latency ", latency[0]);
    write_time(out, " ", latency[1]);
    write_value(out, " ghz ", ghz);
    write_value(out, " volts ", volts);
}

void phases_lines_sum(FILE *out, const struct phases *p)
{
    double us[2] = {0}, ghz[2] = {0}, tau[2] = {0}, levels[2] = {0}, ipc = 0, ratio = 0, at = 0, half = 0, modes = 0;
    size_t runs = 0, words = 0;
    fprintf(out, "%zu/%zu ", p->runs_used, p->runs);
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        fputc(phases_kind_name(ph->kind)[0], out);
        if (ph->level >= 0)
            fprintf(out, "%d", ph->level);
        lines_add(&at, ph->start_us);
        add_limits(us, i, &ph->duration_us);
        add_limits(ghz, i, &ph->freq_ghz);
        lines_add(&half, ph->freq_half_ghz);
        lines_add(&ipc, ph->ipc);
        lines_add(&ratio, ph->ipc_ratio);
        lines_add(&ratio, ph->volts);
        if (ph->tau_us.value > 0) {
            add_limits(tau, i, &ph->tau_us);
            add_limits(ghz, i, &ph->from_ghz);
            add_limits(ghz, i, &ph->to_ghz);
        }
        for (size_t k = 0; k < ph->n_modes; k++)
            lines_add(&modes, ph->modes[k].duration_us + ph->modes[k].share);
        runs += ph->agreeing_runs;
        words += strlen(ph->why);
    }
    for (size_t i = 0; i < p->n_levels; i++)
        add_limits(levels, i, &p->levels[i]);
    for (size_t i = 0; i < p->n_discarded; i++)
        words += strlen(p->discarded[i].why);
    for (size_t i = 0; i < p->n_warnings; i++)
        words += strlen(p->warnings[i]);
    write_time(out, " at ", at);
    write_time(out, " us ", us[0]);
    write_time(out, " ", us[1]);
    write_value(out, " ghz ", ghz[0]);
    write_value(out, " ", ghz[1]);
    write_value(out, " ", half);
    write_value(out, " ipc ", ipc);
    write_value(out, " ratio ", ratio);
    if (tau[0] > 0) {
        write_time(out, " tau ", tau[0]);
        write_time(out, " ", tau[1]);
    }
    if (modes > 0)
        write_time(out, " modes ", modes);
    write_value(out, " levels ", levels[0]);
    write_value(out, " ", levels[1]);
    fprintf(out, " runs %zu words %zu warnings %zu", runs, words, p->n_warnings);
    write_value(out, " sees ", p->detectable_freq);
    write_value(out, " ", p->detectable_throttle);
    write_time(out, " ", p->detectable_halt_us);
    write_sum_of_changes(out, p);
    fputc('\n', out);
}
