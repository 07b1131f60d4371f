/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What code costs, from the energy of the package while it and while PAUSE ran; and the findings. */
#include "tables/energy/energy.h"

#include <math.h>
#include <string.h>

#include "tables/table/estimates.h"

/* PAUSE and the kernel ran at one frequency, relative: the tolerance of a fixed one. */
#define SAME_GHZ 0.01

double energy_ghz(const struct energy_stretch *s)
{
    return s->cycle_seconds > 0 ? s->cycles / s->cycle_seconds * 1e-9 : NAN;
}

bool energy_disturbed(const struct energy_stretch *s)
{
    return !(s->recorded_seconds > 0) || s->lost_seconds > ENERGY_LOST_MOST * s->recorded_seconds;
}

struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores)
{
    struct energy_cost none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, cost;
    if (!(idle->seconds > 0) || !(code->seconds > 0) || !(code->run_seconds > 0) || !(code->recorded_seconds > 0) ||
        cores == 0)
        return none;
    double own = 1.0 / cores, others = 1 - own; /* these run on between the readings */
    double part = fmax(0, 1 - code->other_seconds / code->recorded_seconds);
    double own_time = own * part * code->run_seconds, others_time = others * fmax(code->seconds, code->run_seconds);
    double rate = code->operations / (part * code->recorded_seconds) * cores;
    cost.ghz = energy_ghz(code);
    cost.idle_ghz = energy_ghz(idle);
    cost.idle_watts = idle->joules / idle->seconds;
    cost.idle_doubt = 0.5 * cost.idle_watts * idle->other_seconds / fmax(idle->recorded_seconds, idle->other_seconds);
    /* what they need grows like f V^2, and V about like f: what of it is in P_i was needed at another frequency */
    double faster = cost.ghz / cost.idle_ghz, unlike = isfinite(faster) ? fabs(1 - pow(faster, 3)) : 0;
    cost.watts = (code->joules - cost.idle_watts * code->seconds) / (own_time + part * others_time);
    cost.watts_doubt = fmax(cost.watts, cost.idle_watts) * own * code->start_seconds / code->run_seconds;
    cost.watts_doubt += cost.idle_doubt * unlike;
    cost.least = (own_time + part * others_time) / (own_time + others_time);
    cost.package_watts = cost.idle_watts + cost.watts;
    cost.nj_per_op = rate > 0 ? cost.watts / rate * 1e9 : NAN;
    return cost;
}

/* ---- findings ---- */

/* The kernels of one operation, from 128 bits on, under one mode on the fewest cores. */
static void tell_kernels(FILE *out, const struct table *t, const char *mode, const char *column, const char *head,
                         const char *unit, int decimals)
{
    char text[ESTIMATE_TEXT_MAX];
    double cores = INFINITY, ghz = NAN;
    size_t told = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (table_says(t, i, "mode", mode))
            cores = fmin(cores, table_number(t, i, "active_cores"));
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *kernel = table_text(t, i, "kernel");
        struct estimate e = estimates_of_table(t, i, column);
        if (!table_says(t, i, "mode", mode) || table_number(t, i, "active_cores") != cores || !strstr(kernel, "fma") ||
            !estimates_known(&e))
            continue;
        ghz = table_number(t, i, "freq_ghz");
        if (told++ == 0) {
            fprintf(out, "%s, %.0f core%s", head, cores, cores > 1 ? "s" : "");
            fprintf(out, strcmp(mode, "fixed") == 0 ? " at %.1f GHz: " : ": ", ghz);
        }
        fprintf(out, "%s%s %s %s", told > 1 ? ", " : "", kernel, estimates_text(&e, decimals, text), unit);
    }
    if (told)
        fprintf(out, ".\n");
}

/* That PAUSE ran at another frequency than the kernel whose power it is subtracted from. */
static void tell_idle(FILE *out, const struct table *t, bool fixed)
{
    size_t differ = 0, most = 0;
    double by = SAME_GHZ;
    for (size_t i = 0; i < t->n_rows; i++) {
        double apart = fabs(table_number(t, i, "idle_ghz") / table_number(t, i, "freq_ghz") - 1);
        differ += apart > SAME_GHZ;
        if (apart > by) {
            by = apart;
            most = i;
        }
    }
    if (differ)
        fprintf(out,
                "In %zu of %zu rows PAUSE ran at a different frequency from the kernel (%s on %.0f core%s: %.3f GHz "
                "against %.3f), so their watts and energy are not those of the code alone%s.\n",
                differ, t->n_rows, table_text(t, most, "kernel"), table_number(t, most, "active_cores"),
                table_number(t, most, "active_cores") > 1 ? "s" : "", table_number(t, most, "idle_ghz"),
                table_number(t, most, "freq_ghz"),
                fixed ? "; the rows at a fixed frequency are" : "; use --fixed-frequency to measure those");
}

/* That not all active cores are in the package or on the die whose energy was counted. */
static void tell_counted(FILE *out, const struct table *t)
{
    for (size_t i = t->n_rows; i-- > 0;) {
        double active = table_number(t, i, "active_cores"), counted = table_number(t, i, "counted_cores");
        if (counted < active) {
            fprintf(
                out,
                "The energy counter covers one package or die: of %.0f active cores, power and energy are for %.0f.\n",
                active, counted);
            return;
        }
    }
}

void energy_findings(FILE *out, const struct table *t)
{
    bool fixed = table_find(t, "mode", "fixed") < t->n_rows;
    const char *mode = fixed ? "fixed" : "automatic";
    tell_kernels(out, t, mode, "watts", "Power above a PAUSE loop", "W", 1);
    tell_kernels(out, t, mode, "nj_per_lane", "Energy of 64 bits of an operation", "nJ", 2);
    tell_idle(out, t, fixed);
    tell_counted(out, t);
}
