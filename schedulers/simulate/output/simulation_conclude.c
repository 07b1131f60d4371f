/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the figures, in sentences. */
#include <math.h>
#include <string.h>

#include "schedulers/simulate/output/simulation_parts.h"
#include "util/plain_text.h"

/* Differences below this, in points, are none: they would be shown as 0.00. */
#define NO_POINTS 0.005

static double conclude_percent(const struct sim_report_result *r, enum sim_figure f)
{
    return plain_number(100 * sim_figure_of(r, f, SIM_TOTAL).value, 2);
}

static const char *conclude_policy(const struct sim_report_result *r)
{
    return r->runs->policy;
}

static bool conclude_under(const struct sim_report_result *r, const char *scheduler)
{
    return strcmp(r->runs->scheduler, scheduler) == 0;
}

static void say_points(FILE *out, struct estimate e)
{
    fprintf(out, "%.2f points", plain_number(100 * e.value, 2));
    if (isfinite(e.lo) && isfinite(e.hi))
        fprintf(out, " [%.2f, %.2f]", plain_number(100 * e.lo, 2), plain_number(100 * e.hi, 2));
}

/* Without the oracle, which knows what nobody knows. NULL: none has an overhead. */
static const struct sim_report_result *least_overhead(const struct sim_report *r, const char *scheduler)
{
    const struct sim_report_result *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_report_result *result = &r->results[i];
        double overhead = sim_figure_of(result, SIM_OVERHEAD, SIM_TOTAL).value;
        if (!conclude_under(result, scheduler) || !(overhead < least) ||
            strcmp(conclude_policy(result), sim_policy_names[SIM_ORACLE]) == 0)
            continue;
        best = result;
        least = overhead;
    }
    return best;
}

static void against_stock(FILE *out, const struct sim_report_result *best, const struct sim_report_result *stock)
{
    struct estimate less = sim_figure_difference(stock, best, SIM_OVERHEAD);
    if (!(100 * less.value >= NO_POINTS)) {
        fprintf(out, "no policy without foresight costs less than stock, %.2f %%.\n",
                conclude_percent(stock, SIM_OVERHEAD));
        return;
    }
    fprintf(out, "%s costs least, %.2f %%: ", conclude_policy(best), conclude_percent(best, SIM_OVERHEAD));
    say_points(out, less);
    fprintf(out, " less than stock (%.2f %%)", conclude_percent(stock, SIM_OVERHEAD));
    if (less.lo <= 0)
        fprintf(out, ", which may be chance in %zu runs", best->n_runs);
    fputs(".\n", out);
}

static void against_oracle(const struct sim_report *r, FILE *out, const struct sim_report_result *oracle)
{
    static const enum sim_policy named[] = {SIM_LEARNED, SIM_TIMEOUT};
    bool any = false;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const struct sim_report_result *other = sim_figure_result(r, sim_policy_names[named[i]],
                                                                  oracle->runs->scheduler);
        if (!other)
            continue;
        if (any)
            fputs(", ", out);
        else
            fprintf(out, "Above the oracle (%.2f %%), which knows the rows to come: ",
                    conclude_percent(oracle, SIM_OVERHEAD));
        fprintf(out, "%s by ", conclude_policy(other));
        say_points(out, sim_figure_difference(other, oracle, SIM_OVERHEAD));
        any = true;
    }
    fputs(any ? ".\n" : "", out);
}

static void for_others(const struct sim_report *r, FILE *out, const char *scheduler)
{
    bool any = false;
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_report_result *result = &r->results[i];
        double remote = conclude_percent(result, SIM_REMOTE);
        if (!conclude_under(result, scheduler) || !isfinite(remote))
            continue;
        fprintf(out, "%s%s %.2f %%", any ? ", " : "Work that is not wide loses: ", conclude_policy(result), remote);
        any = true;
    }
    fputs(any ? ".\n" : "", out);
}

/* By scheduler, under the first policy. */
static void for_victims(const struct sim_report *r, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_report_result *result = &r->results[i];
        double slowdown = conclude_percent(result, SIM_SLOWDOWN);
        if (strcmp(conclude_policy(result), conclude_policy(&r->results[0])) != 0 || !isfinite(slowdown))
            continue;
        if (any)
            fputs(", ", out);
        else
            fprintf(out, "Policy %s, tasks that run no wide code end later by: ", conclude_policy(result));
        fprintf(out, "%s %.2f %%", result->runs->scheduler, slowdown);
        any = true;
    }
    fputs(any ? ".\n" : "", out);
}

void sim_conclude(const struct sim_report *r, FILE *out)
{
    for (size_t i = 0; i < r->n_results; i++) {
        const char *scheduler = sim_figure_scheduler(r, i);
        const struct sim_report_result *best = scheduler ? least_overhead(r, scheduler) : NULL;
        if (!best)
            continue;
        const struct sim_report_result *stock = sim_figure_result(r, sim_policy_names[SIM_STOCK], scheduler);
        const struct sim_report_result *oracle = sim_figure_result(r, sim_policy_names[SIM_ORACLE], scheduler);
        if (sim_figure_schedulers(r))
            fprintf(out, "Scheduler %s: ", scheduler);
        if (stock)
            against_stock(out, best, stock);
        else
            fprintf(out, "%s costs least, %.2f %%.\n", conclude_policy(best), conclude_percent(best, SIM_OVERHEAD));
        if (oracle)
            against_oracle(r, out, oracle);
        for_others(r, out, scheduler);
    }
    for_victims(r, out);
}

/* The row that leaves least to lose for work that is not wide; NULL: there is no such work. */
static const struct sim_what_if_row *least_remote(const struct sim_what_if *w)
{
    const struct sim_what_if_row *best = NULL;
    for (size_t i = 0; i < w->n; i++)
        if (isfinite(w->row[i].remote) && (!best || w->row[i].remote < best->remote))
            best = &w->row[i];
    return best;
}

void sim_conclude_what_if(const struct sim_report *r, FILE *out)
{
    const struct sim_what_if *w = &r->what_if;
    const struct sim_what_if_row *best = &w->row[0], *remote = least_remote(w);
    double points = 100 * (w->now.overhead - best->overhead);
    if (w->n == 0)
        return;
    if (!(points >= NO_POINTS))
        fprintf(out, "None of these changes would lower the overhead of %.2f %%.\n", 100 * w->now.overhead);
    else
        fprintf(out, "What would help most: %s times %g, overhead %.2f %% instead of %.2f %%, %.2f points less.\n",
                best->parameter, best->factor, plain_number(100 * best->overhead, 2), 100 * w->now.overhead, points);
    if (remote && remote != best && 100 * (w->now.remote - remote->remote) >= NO_POINTS)
        fprintf(out, "What would help work that is not wide most: %s times %g, %.2f %% instead of %.2f %%.\n",
                remote->parameter, remote->factor, plain_number(100 * remote->remote, 2), 100 * w->now.remote);
}

void sim_conclude_bounds(const struct sim_report *r, FILE *out)
{
    for (size_t i = 0; i < r->n_bounds; i++) {
        const struct sim_bound *b = &r->bounds[i];
        fprintf(out, "%s: %g %s, between %g and %g: %s\n", b->what, b->value, b->unit, b->lo, b->hi, b->why);
    }
}

void sim_conclude_refused(const struct sim_report *r, FILE *out)
{
    for (size_t i = 0; i < r->n_refused; i++)
        fprintf(out, "%s, scheduler %s: %s\n", r->refused[i].policy, r->refused[i].scheduler, r->refused[i].why);
}
