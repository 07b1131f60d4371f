/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from the figures, in sentences. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
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

static const char *conclude_scheduler(const struct sim_report_result *r)
{
    return r->runs->scheduler;
}

static double overhead_of(const struct sim_report_result *r)
{
    return sim_figure_of(r, SIM_OVERHEAD, SIM_TOTAL).value;
}

static double end_of(const struct sim_report_result *r)
{
    return sim_figure_of(r, SIM_END, SIM_TOTAL).value;
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

/* The results under a scheduler, those that are compared by their overhead apart: the oracle knows what nobody knows,
 * and software lets code run at other levels than it demands. */
struct standing {
    size_t n, n_all;
    const struct sim_report_result *result[SIM_POLICIES]; /* the least overhead first; equal ones as they were given */
    const struct sim_report_result *oracle, *software;
    size_t n_least; /* how many differ from the first by nothing that would be shown */
    bool loses;     /* any of all loses something */
};

static void standing_put(struct standing *s, const struct sim_report_result *r)
{
    size_t at = s->n++;
    for (; at > 0 && overhead_of(s->result[at - 1]) > overhead_of(r); at--)
        s->result[at] = s->result[at - 1];
    s->result[at] = r;
}

static struct standing standing_of(const struct sim_report *r, const char *scheduler)
{
    struct standing s = {.n = 0};
    for (size_t i = 0; i < r->n_results && s.n < SIM_POLICIES; i++) {
        const struct sim_report_result *result = &r->results[i];
        double overhead = overhead_of(result), remote = sim_figure_of(result, SIM_REMOTE, SIM_TOTAL).value;
        if (!conclude_under(result, scheduler) || !isfinite(overhead))
            continue;
        s.n_all++;
        s.loses = s.loses || 100 * overhead >= NO_POINTS || 100 * remote >= NO_POINTS;
        if (strcmp(result->runs->policy, sim_policy_names[SIM_ORACLE]) == 0)
            s.oracle = result;
        else if (strcmp(result->runs->policy, sim_policy_names[SIM_SOFTWARE]) == 0)
            s.software = result;
        else
            standing_put(&s, result);
    }
    while (s.n_least < s.n && 100 * (overhead_of(s.result[s.n_least]) - overhead_of(s.result[0])) < NO_POINTS)
        s.n_least++;
    return s;
}

/* "learned, timeout and stock" */
static void say_names(FILE *out, const struct sim_report_result *const *r, size_t n,
                      const char *(*name)(const struct sim_report_result *r))
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", name(r[i]));
}

static void say_only(FILE *out, const struct sim_report_result *r)
{
    fprintf(out, "all work loses %.2f %% under %s", conclude_percent(r, SIM_OVERHEAD), conclude_policy(r));
    if (isfinite(conclude_percent(r, SIM_REMOTE)))
        fprintf(out, ", work that is not wide %.2f %%", conclude_percent(r, SIM_REMOTE));
    fputs(".\n", out);
}

static void say_least(const struct sim_report *r, FILE *out, const struct standing *s)
{
    const struct sim_report_result *stock = sim_figure_result(r, sim_policy_names[SIM_STOCK],
                                                              s->result[0]->runs->scheduler);
    bool least = !stock;
    for (size_t i = 0; i < s->n_least; i++)
        least = least || s->result[i] == stock;
    say_names(out, s->result, s->n_least, conclude_policy);
    fprintf(out, " %s, %.2f %%",
            s->n_least == s->n ? "cost the same"
            : s->n_least > 1   ? "cost least"
                               : "costs least",
            conclude_percent(s->result[0], SIM_OVERHEAD));
    if (!least) {
        struct estimate less = sim_figure_difference(stock, s->result[0], SIM_OVERHEAD);
        fputs(": ", out);
        say_points(out, less);
        fprintf(out, " less than stock (%.2f %%)", conclude_percent(stock, SIM_OVERHEAD));
        if (less.lo <= 0)
            fprintf(out, ", which may be chance in %zu runs", stock->n_runs);
    }
    fputs(".\n", out);
}

static void against_oracle(FILE *out, const struct standing *s)
{
    fprintf(out,
            "above the oracle (%.2f %%), which knows the rows to come: ", conclude_percent(s->oracle, SIM_OVERHEAD));
    for (size_t i = 0; i < s->n; i++) {
        fprintf(out, "%s%s by ", i ? ", " : "", conclude_policy(s->result[i]));
        say_points(out, sim_figure_difference(s->result[i], s->oracle, SIM_OVERHEAD));
    }
    fputs(".\n", out);
}

static void for_software(FILE *out, const struct standing *s)
{
    fprintf(out, "software, %.2f %%, changes which level code demands, so it is not a like-for-like comparison%s.\n",
            conclude_percent(s->software, SIM_OVERHEAD), s->oracle ? ", and the oracle is not a bound for it" : "");
}

static void for_others(const struct sim_report *r, FILE *out, const char *scheduler)
{
    bool any = false;
    for (size_t i = 0; i < r->n_results; i++) {
        const struct sim_report_result *result = &r->results[i];
        double remote = conclude_percent(result, SIM_REMOTE);
        if (!conclude_under(result, scheduler) || !isfinite(remote))
            continue;
        fprintf(out, "%s%s %.2f %%", any ? ", " : "work that is not wide loses: ", conclude_policy(result), remote);
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
            fprintf(out, "policy %s, wide code delays the end of tasks without any by: ", conclude_policy(result));
        fprintf(out, "%s %.2f %%", result->runs->scheduler, slowdown);
        any = true;
    }
    fputs(any ? ".\n" : "", out);
}

/* By scheduler, under the first policy: idle time is not in the overhead, but in this. */
static void for_ends(const struct sim_report *r, FILE *out)
{
    const struct sim_report_result *ends[SIM_SCHEDULERS];
    size_t n = 0, n_first = 0;
    for (size_t i = 0; i < r->n_results && n < SIM_SCHEDULERS; i++) {
        const struct sim_report_result *result = &r->results[i];
        size_t at = n;
        if (strcmp(conclude_policy(result), conclude_policy(&r->results[0])) != 0 || !(end_of(result) > 0))
            continue;
        for (n++; at > 0 && end_of(ends[at - 1]) > end_of(result); at--)
            ends[at] = ends[at - 1];
        ends[at] = result;
    }
    if (n < 2)
        return;
    while (n_first < n && 100 * (end_of(ends[n_first]) / end_of(ends[0]) - 1) < NO_POINTS)
        n_first++;
    const struct sim_unit *unit = sim_unit_for(end_of(ends[0]));
    fprintf(out, "policy %s, the last work ends: ", conclude_policy(ends[0]));
    say_names(out, ends, n_first, conclude_scheduler);
    fprintf(out, " first, after %.3f %s", end_of(ends[0]) / unit->us, unit->name);
    for (size_t i = n_first; i < n; i++) {
        struct estimate later = sim_figure_difference(ends[i], ends[0], SIM_END);
        double first = end_of(ends[0]) / 100;
        fprintf(out, ", %s %.2f %%", conclude_scheduler(ends[i]), later.value / first);
        if (isfinite(later.lo) && isfinite(later.hi))
            fprintf(out, " [%.2f, %.2f]", plain_number(later.lo / first, 2), plain_number(later.hi / first, 2));
        fputs(" later", out);
    }
    fputs(". Overhead does not include idle time.\n", out);
}

static void conclude_scheduler_of(const struct sim_report *r, FILE *out, const char *scheduler)
{
    struct standing s = standing_of(r, scheduler);
    if (sim_figure_schedulers(r))
        fprintf(out, "scheduler %s: ", scheduler);
    if (s.n_all == 0) {
        fputs("there is no work.\n", out);
    } else if (!s.loses) {
        fprintf(out, "this workload loses nothing%s.\n", s.n_all > 1 ? ", whatever the policy" : "");
    } else if (s.n_all == 1) {
        say_only(out, s.n ? s.result[0] : s.oracle ? s.oracle : s.software);
    } else {
        if (s.n > 1)
            say_least(r, out, &s);
        if (s.n && s.oracle)
            against_oracle(out, &s);
    }
    if (s.loses && s.software)
        for_software(out, &s);
    if (s.loses && s.n_all > 1)
        for_others(r, out, scheduler);
}

void sim_conclude(const struct sim_report *r, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    for (size_t i = 0; lines && i < r->n_results; i++)
        if (sim_figure_scheduler(r, i))
            conclude_scheduler_of(r, lines, sim_figure_scheduler(r, i));
    if (lines) {
        for_victims(r, lines);
        for_ends(r, lines);
    }
    if (lines && fclose(lines) == 0)
        for (const char *c = text; *c; c++) /* sentences begin with names of policies, too */
            putc(c == text || c[-1] == '\n' ? toupper((unsigned char)*c) : *c, out);
    free(text);
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
        fprintf(out, "What would most help work that is not wide: %s times %g, %.2f %% instead of %.2f %%.\n",
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
