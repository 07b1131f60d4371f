/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-simulate: replays workloads on a processor with exported parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job_files.h"
#include "cli/messages.h"
#include "cli/program.h"
#include "cli/stop.h"
#include "computer/cpu/cpu.h"
#include "schedulers/simulate/output/simulation.h"
#include "schedulers/simulate/simulate.h"
#include "schedulers/simulate/studies.h"
#include "util/text_list.h"

/* Runs of a drawn workload without --runs: enough for limits by Student's t, within seconds. */
enum { DRAWN_RUNS = 20 };

/* The simulations to run, in their order. */
struct simulating {
    const struct options *o;
    enum sim_policy policy[SIM_POLICIES];
    enum sim_scheduler scheduler[SIM_SCHEDULERS];
    size_t n_policies, n_schedulers;
    struct sim_params *params;
    struct sim_workload *workload; /* with the first seed */
    struct sim_report report;
    char *siblings; /* this machine's, where they are requested */
    struct job_files files;
};

static void choose_what(struct simulating *s)
{
    const struct simulate_given *g = &s->o->simulate;
    s->n_policies = g->n_policies > 0 ? g->n_policies : SIM_POLICIES;
    for (size_t i = 0; i < s->n_policies; i++)
        s->policy[i] = g->n_policies > 0 ? g->policy[i] : (enum sim_policy)i;
    s->n_schedulers = g->n_schedulers > 0 ? g->n_schedulers : 1;
    for (size_t i = 0; i < s->n_schedulers; i++)
        s->scheduler[i] = g->n_schedulers > 0 ? g->scheduler[i] : SIM_RECORDED;
}

/* Siblings as this machine has them, "0-1,2-3", malloc'ed: "" where no core has two. NULL: out of memory. */
static char *siblings_here(void)
{
    struct cpu_view view;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    cpu_view_read("/sys", &view);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        bool alone = true;
        for (int other = cpu + 1; other < CPU_LIMIT && cpu_mask_has(&view.online, cpu); other++) {
            if (!cpu_mask_has(&view.online, other) || cpu_core_of("/sys", cpu) != cpu ||
                cpu_core_of("/sys", other) != cpu)
                continue;
            if (alone)
                fprintf(out, "%s%d", ftell(out) > 0 ? "," : "", cpu);
            alone = false;
            fprintf(out, "-%d", other);
        }
    }
    return fclose(out) == 0 ? text : NULL;
}

static int open_workload(const struct simulating *s, uint64_t seed, struct sim_workload **out)
{
    const struct options *o = s->o;
    const struct simulate_given *g = &o->simulate;
    struct machine_error error;
    const struct sim_workload_options options = {
        .recorded = g->recorded,
        .active_cores = o->tables.n_active == 1 ? o->tables.active[0] : 0,
        .siblings = s->siblings != NULL ? s->siblings : g->siblings,
        .smt_given = g->smt.given,
        .smt = g->smt.on,
        .works = g->n_schedulers > 0,
        .marks = g->mark,
        .n_marks = g->n_marks,
        .stamps = g->stamps,
        .stamps_class = g->stamps_class,
        .seed = seed,
    };
    int status = sim_workload_open(o->job_argument, &options, out, &error);
    return status == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

static struct sim_options options_of(const struct simulating *s, size_t policy, size_t scheduler, uint64_t seed)
{
    return (struct sim_options){.policy = s->policy[policy],
                                .scheduler = s->scheduler[scheduler],
                                .seed = seed,
                                .timeout_given = s->o->timeout_us.given,
                                .timeout_ps = (int64_t)(s->o->timeout_us.value * (double)SIM_PS_PER_US + 0.5)};
}

/* Lists the policies that cannot be simulated as refused. */
static void find_possible(struct simulating *s, size_t scheduler, bool *possible)
{
    char why[400];
    for (size_t i = 0; i < s->n_policies; i++) {
        struct sim_options options = options_of(s, i, scheduler, 0);
        possible[i] = sim_check(s->params, s->workload, &options, why, sizeof(why)) == 0;
        if (!possible[i])
            sim_report_refuse(&s->report, sim_policy_names[options.policy], sim_scheduler_names[options.scheduler],
                              why);
    }
}

/* Reports each reason once, of what was requested. DONE, or BAD_USAGE after a line where nothing is left. */
static int tell_refused(const struct simulating *s)
{
    const struct sim_report *r = &s->report;
    bool requested = s->o->simulate.n_policies > 0 || s->o->simulate.n_schedulers > 0;
    if (r->n_refused == s->n_policies * s->n_schedulers)
        return refuse(BAD_USAGE, "nothing can be simulated: %s", r->refused[0].why);
    for (size_t i = 0; requested && i < r->n_refused; i++) {
        bool reported = false;
        for (size_t k = 0; k < i; k++)
            reported = reported || strcmp(r->refused[k].why, r->refused[i].why) == 0;
        if (!reported)
            complain("not simulated: %s", r->refused[i].why);
    }
    return DONE;
}

/* What schedulers' own work costs, if it is given here. */
static void take_switching(struct simulating *s)
{
    const struct simulate_given *g = &s->o->simulate;
    for (size_t i = 0; i < SIM_SCHEDULING_COSTS && g->switching_given; i++)
        s->params->scheduling_ps[i] = (int64_t)(g->switching_us[i] * (double)SIM_PS_PER_US + 0.5);
}

/* Says which costs of schedulers' own work nobody knows. */
static void warn_of_switching(struct simulating *s)
{
    char unknown[60] = "";
    for (size_t i = 0; i < SIM_SCHEDULING_COSTS; i++)
        if (s->params->scheduling_ps[i] < 0)
            text_list_add(unknown, sizeof(unknown), ", ", "%s", sim_scheduling_cost_names[i]);
    if (unknown[0] != '\0' && s->o->simulate.n_schedulers > 0)
        sim_report_warn(&s->report,
                        "the export does not say what these cost, so they cost nothing here: %s (--table switching "
                        "measures it, --switching gives it)",
                        unknown);
}

/* All policies and schedulers with one seed. */
static int simulate_seed(struct simulating *s, struct sim_workload *w, uint64_t seed, bool possible[][SIM_POLICIES])
{
    struct machine_error error;
    struct sim_result run;
    double base[SIM_POLICIES]; /* the effect of scheduler fair on victims, by policy */
    for (size_t i = 0; i < s->n_policies; i++)
        base[i] = NAN;
    for (size_t k = 0; k < s->n_schedulers; k++)
        for (size_t i = 0; i < s->n_policies; i++) {
            struct sim_options options = options_of(s, i, k, seed);
            if (!possible[k][i])
                continue;
            int status = sim_run(s->params, w, &options, &run, &error);
            if (status == MACHINE_OK && options.scheduler != SIM_RECORDED)
                status = sim_fairness_find(s->params, w, &options, &base[i], &run, &error);
            if (status != MACHINE_OK)
                return complain_of_machine("", &error);
            sim_report_add(&s->report, &run);
        }
    return DONE;
}

static int simulate_all(struct simulating *s)
{
    bool possible[SIM_SCHEDULERS][SIM_POLICIES];
    bool drawn = strcmp(s->workload->kind, "drawn") == 0;
    unsigned runs = s->o->runs.given ? (unsigned)s->o->runs.value : drawn ? DRAWN_RUNS : 1;
    sim_report_begin(&s->report, s->params, s->o->params, s->workload);
    s->report.head.seed = s->o->tables.seed;
    s->report.head.runs = runs;
    if (s->workload->warning[0] != '\0')
        sim_report_warn(&s->report, "%s", s->workload->warning);
    warn_of_switching(s);
    for (size_t k = 0; k < s->n_schedulers; k++)
        find_possible(s, k, possible[k]);
    int status = tell_refused(s);
    for (unsigned run = 0; run < runs && status == DONE; run++) {
        uint64_t seed = s->o->tables.seed + run;
        struct sim_workload *again = NULL;
        status = run > 0 && drawn ? open_workload(s, seed, &again) : DONE;
        if (status == DONE)
            status = simulate_seed(s, again != NULL ? again : s->workload, seed, possible);
        sim_workload_free(again);
    }
    return status == DONE && s->report.failed ? complain_out_of_memory() : status;
}

/* The status of a study: where the policy that it takes cannot be simulated, the rest is shown. */
static int studied(struct simulating *s, int status, const struct machine_error *error)
{
    if (status == MACHINE_OK)
        return DONE;
    if (status != MACHINE_BAD_INPUT)
        return complain_of_machine("", error);
    sim_report_warn(&s->report, "%s", error->text);
    return DONE;
}

/* The studies that take further runs: the curve and the time line for the page, and what-if. */
static int study(struct simulating *s)
{
    struct machine_error error;
    struct sim_options options = options_of(s, 0, 0, s->o->tables.seed);
    enum sim_policy shown[SIM_POLICIES];
    size_t n = 0;
    for (size_t i = 0; i < s->report.n_results; i++)
        for (size_t k = 0; k < s->n_policies && i < s->n_policies; k++)
            if (strcmp(s->report.results[i].runs[0].policy, sim_policy_names[s->policy[k]]) == 0)
                shown[n++] = s->policy[k];
    int done = DONE;
    if (s->files.path[FORM_PAGE] != NULL && s->scheduler[0] == SIM_RECORDED) {
        done = studied(s, sim_curve_find(s->params, s->workload, &options, &s->report.curve, &error), &error);
        if (done == DONE)
            done = studied(s,
                           sim_time_line_find(s->params, s->workload, &options, shown, n, &s->report.time_line, &error),
                           &error);
    }
    if (done == DONE && s->o->simulate.what_if)
        done = studied(s, sim_what_if_find(s->params, s->workload, &options, &s->report.what_if, &error), &error);
    return done;
}

static int print_json(FILE *stream, const void *data)
{
    return file_print_json(stream, sim_report_json(data));
}

static int print_simulation_page(FILE *stream, const void *data)
{
    char why[300] = "";
    int status = sim_report_html(data, stream, why, sizeof(why));
    if (status != 0 && why[0] != '\0')
        complain("%s", why);
    return status;
}

static int tell(struct simulating *s)
{
    static const char *const what[JOB_FORMS] = {[FORM_JSON] = "results", [FORM_PAGE] = "page", [FORM_PLOT] = "plot"};
    static file_printer *const print[JOB_FORMS] = {[FORM_JSON] = print_json, [FORM_PAGE] = print_simulation_page};
    char why[400];
    FILE *screen = job_files_screen(&s->files);
    s->report.bounds = s->params->bounds;
    s->report.n_bounds = s->params->n_bounds;
    stop_only_asks(true); /* files that are begun are finished */
    sim_report_print(screen, messages_colour(screen), &s->report);
    for (int i = 0; i < JOB_FORMS; i++) {
        const char *path = s->files.path[i];
        if (path == NULL)
            continue;
        if (print[i] != NULL && file_write(path, print[i], &s->report) != DONE)
            return FAILED;
        if (print[i] == NULL && sim_report_plot(&s->report, path, why, sizeof(why)) != 0)
            return refuse(FAILED, "%s", why);
        if (!s->o->quiet && !file_is_stdout(path))
            messages_print(screen, "Written      %s (%s)", path, what[i]);
    }
    return DONE;
}

static int simulate(struct simulating *s)
{
    struct machine_error error;
    int status = job_files_choose(s->o, &s->files);
    if (status == DONE && s->o->simulate.siblings != NULL && strcmp(s->o->simulate.siblings, "machine") == 0) {
        s->siblings = siblings_here();
        status = s->siblings != NULL ? DONE : complain_out_of_memory();
    }
    if (status == DONE && sim_params_read(s->o->params, &s->params, &error) != MACHINE_OK)
        status = complain_of_machine("", &error);
    if (status == DONE)
        take_switching(s);
    if (status == DONE)
        status = open_workload(s, s->o->tables.seed, &s->workload);
    if (status == DONE)
        status = simulate_all(s);
    if (status == DONE)
        status = study(s);
    return status == DONE ? tell(s) : status;
}

static int run(const struct options *o)
{
    struct simulating s = {.o = o};
    choose_what(&s);
    int status = simulate(&s);
    sim_report_free(&s.report);
    sim_workload_free(s.workload);
    sim_params_free(s.params);
    free(s.siblings);
    job_files_free(&s.files);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option_line help[] = {
        {"Options:", NULL},
        {"--params EXPORT.json", "The processor, as characterize --export json wrote it; required"},
        {"--policy LIST", NULL},
        {"--scheduler LIST", NULL},
        {"--active-cores N", "Cores active at all times (default: counted)"},
        {"--runs N", "Runs of drawn workloads, each with a seed of its own (default: 20)"},
        {"--seed N", "Seed of the first run: same seed, same output (default: 0)"},
        {"--what-if", NULL},
        {"--json FILE", "Write the simulation; - is standard output"},
        {"--plot FILE", NULL},
        {"--output DIR", "Write a page, simulation.html, and simulation.json into this directory"},
        {"--help-all", "All options"},
        {"Examples:", NULL},
        {"characterize --list workloads", NULL},
        {"characterize-simulate web-server --params avx.json --policy stock,timeout,oracle", NULL},
    };
    static const struct option_program program = {
        .name = "characterize-simulate",
        .job = JOB_SIMULATE,
        .job_option = "simulate",
        .arguments = "WORKLOAD --params EXPORT.json",
        .about =
            "Replay a workload (a CSV file; text of perf script, trace-cmd report or systrace, or Perfetto's JSON; "
            "- for standard input; or a drawn one by name) on a processor with exported parameters, under several "
            "frequency policies and schedulers.",
        .help = help,
        .n_help = sizeof(help) / sizeof(help[0]),
    };
    return program_main(argc, argv, &program, run);
}
