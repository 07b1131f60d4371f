/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a core stays slow after wide code has ended. The cells: relaxation_cells.c. */
#include "tables/relaxation/relaxation_parts.h"

#include <string.h>

#include "tables/registry.h"

#define PERIOD_MOST_US 5.0 /* half a halt of 10 us: longer ones hide where in a sample the frequency rose */

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"what", "", TABLE_TEXT, true, 0},  /* wait, rearm, toggle */
    {"by", "", TABLE_TEXT, true, 0},    /* what ran in the waiting time; how often it toggled */
    {"mode", "", TABLE_WHOLE, true, 0}, /* of wait: 1 or 2 waits */
    TABLE_LIMITS("wait_us", "us", 1),   /* after the last wide instruction; rearm: after `by` */
    {"sd_us", "us", TABLE_REAL, false, 1},
    TABLE_LIMITS("share", "", 3),            /* wait: of the mode; rearm: that began again; toggle: in which it rose */
    {"rearmed", "", TABLE_TEXT, false, 0},   /* yes, no, undecided */
    {"duty_us", "us", TABLE_REAL, false, 1}, /* toggle: waiting time between two stretches of wide code */
    TABLE_LIMITS("trend_us", "us", 2),       /* toggle: by how much each wait is longer than the one before */
    TABLE_LIMITS("slow_ghz", "GHz", 3),      /* right after the wide code */
    TABLE_LIMITS("plain_ghz", "GHz", 3),     /* of `to` when nothing wide ran before it */
    {"fast_ghz", "GHz", TABLE_REAL, false, 3},
    TABLE_LIMITS("tau_us", "us", 1), /* time constant of the rise, where it is a ramp */
    {"n", "", TABLE_WHOLE, false, 0},
    {"others", "", TABLE_WHOLE, false, 0},    /* waits neither mode, and those not over when the recording ended */
    {"discarded", "", TABLE_WHOLE, false, 0}, /* interrupted */
    {"kept", "", TABLE_WHOLE, false, 0},      /* interrupted and used: hardly any was not, and they agree */
};

static int add(struct cells *out, unsigned kind, const struct payload *from, const struct payload *to, unsigned cores,
               const char *by, double seconds)
{
    struct cell *c = tables_add_cell(out, from, to, cores, "%s_%s_%s_%u_%s", relaxation_what[kind], from->name,
                                     to->name, cores, by);
    if (!c)
        return -1;
    c->number[0] = kind;
    c->seconds = seconds;
    return 0;
}

static int add_rearm(const struct tables_context *x, struct cells *out, const struct payload *from,
                     const struct payload *to, unsigned cores)
{
    for (size_t i = 0; i <= relaxation_n_rearming; i++) {
        struct payload by = *from;
        if (i < relaxation_n_rearming && (!tables_can_run(x, relaxation_rearming[i], &by) ||
                                          !strcmp(by.name, from->name) || !strcmp(by.name, to->name)))
            continue;
        if (x->options->brief && i != 0 && i != relaxation_n_rearming)
            continue;
        if (add(out, RELAXATION_REARM, from, to, cores, by.name, 0.2))
            return -1;
        out->cell[out->n - 1].number[1] = (unsigned)i;
    }
    return 0;
}

static void note_settings(const struct tables_options *o, struct table *t)
{
    table_set_setting_number(t, "runs", (double)relaxation_runs(o, RELAXATION_WAIT));
    table_set_setting_number(t, "runs_rearm", (double)relaxation_runs(o, RELAXATION_REARM));
    table_set_setting_number(t, "runs_toggle", (double)relaxation_runs(o, RELAXATION_TOGGLE));
    table_set_setting_number(t, "period_us", relaxation_period(o));
    table_set_setting_number(t, "warmup_us", RELAXATION_FROM_US);
    table_set_setting_number(t, "search_us", RELAXATION_PILOT_US);
    table_set_setting(t, "observe_us", "2.3 waits and 60 us");
    table_set_setting_number(t, "burst_us", RELAXATION_BURST_US);
    table_set_setting_number(t, "toggle_us", RELAXATION_AGAIN_US);
}

/* The wait half way up: where code of the level between follows. */
static int add_half_way(const unsigned *cores, size_t n_cores, const struct payload *kernel, size_t n,
                        struct cells *out)
{
    const struct payload *from = NULL, *to = NULL;
    for (size_t k = 0; k < n; k++) {
        from = strcmp(kernel[k].name, "512fma") == 0 ? &kernel[k] : from;
        to = strcmp(kernel[k].name, "256fma") == 0 ? &kernel[k] : to;
    }
    for (size_t i = 0; from && to && i < n_cores; i++)
        if (add(out, RELAXATION_WAIT, from, to, cores[i], "nothing", 0.6))
            return -1;
    return 0;
}

static int relaxation_plan(const struct tables_context *x, struct cells *out, struct table *t,
                           struct machine_error *err)
{
    static const char *const from[] = {"256fma", "512or", "512fma", "amx", "amx-dirty"}, *const brief[] = {"512or"};
    struct payload kernel[TABLES_KERNELS_MAX], to;
    unsigned cores[TABLES_CORES_MAX];
    note_settings(x->options, t);
    if (relaxation_period(x->options) > PERIOD_MOST_US)
        return machine_fail(err, MACHINE_CANNOT, "leave --period out for this table",
                            "this table needs a sampling period of at most %g us, not %g", PERIOD_MOST_US,
                            x->options->period_us);
    size_t n = x->options->brief ? tables_kernels(x, brief, 1, kernel, t) : tables_kernels(x, from, 5, kernel, t);
    size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    bool fma = (x->info.features & KERNEL_NEEDS_FMA) != 0; /* what runs after the wide code; 64add where it cannot */
    kernel_parse(fma ? "128fma" : "64add", &to, NULL, 0);
    for (size_t i = 0; i < n_cores; i++)
        for (size_t k = 0; k < n; k++)
            if (strcmp(kernel[k].name, to.name) != 0 &&
                (add(out, RELAXATION_WAIT, &kernel[k], &to, cores[i], "nothing", 0.6) ||
                 add_rearm(x, out, &kernel[k], &to, cores[i]) ||
                 add(out, RELAXATION_TOGGLE, &kernel[k], &to, cores[i], "duty", 0.5)))
                return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return !x->options->brief && add_half_way(cores, n_cores, kernel, n, out)
               ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
               : MACHINE_OK;
}

#define RELAXATION_OWN_TIMES "it observes for as long as the wait lasts"

const struct table_kind table_relaxation = {
    .name = "relaxation",
    .title = "How long a core stays slow after wide code",
    .about = "time from the last wide instruction to the higher frequency, and what restarts it",
    .method = "After the wide kernel ends, narrow code runs and is sampled until the frequency rises again; each "
              "repetition gives one wait. It counts as a wait only if the core runs slower than the same narrow code "
              "alone, which is measured alternately. Where the waits cluster around two values, the longer one is two "
              "periods of the timer (G 3.2.3, K). A kernel that leaves registers dirty may keep the core slow for as "
              "long as they "
              "are: where it does not rise, that is held against the code alone. To find out what restarts the wait, "
              "other code runs in the middle of "
              "it; toggling repeats wide code after pauses slightly shorter and slightly longer than the wait. Where "
              "cycles are not counted the switch itself, beside its null, first tells whether there is a wait.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "wait_us", "mode", "share"},
    .drafted = {.keys = {"from", "to", "active_cores", "what", "mode"},
                .values = {"wait_us", "share"},
                .only = "what",
                .is = "wait"},
    .exported = EXPORT_WAITS,
    .excluded = {[CHOICE_WARMUP] = RELAXATION_OWN_TIMES, [CHOICE_OBSERVE] = RELAXATION_OWN_TIMES},
    .plan = relaxation_plan,
    .measure = relaxation_measure,
    .print = relaxation_print,
    .findings = relaxation_findings,
    .plot = relaxation_plot,
};
