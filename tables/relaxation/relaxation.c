/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a core stays slow after wide code has ended. The cells: relaxation_cells.c. */
#include <string.h>

#include "tables/registry.h"
#include "tables/relaxation/relaxation.h"
#include "tables/table/chart_table.h"
#include "tables/table/pivot.h"
#include "util/text_list.h"

#define PERIOD_MOST_US 5.0 /* half a halt of 10 us: longer ones hide where in a sample the frequency rose */

/* A cell takes about so long, s: the pilot, the waits, six experiments of what restarts them, and toggling. */
#define CELL_SECONDS 2.2
#define CELL_SECONDS_BRIEF 1.0

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},
    {"to", "", TABLE_TEXT, true, 0},
    {"active_cores", "", TABLE_WHOLE, true, 0},
    {"what", "", TABLE_TEXT, true, 0},  /* wait, rearm, toggle */
    {"by", "", TABLE_TEXT, true, 0},    /* what ran in the waiting time; how often it toggled */
    {"mode", "", TABLE_WHOLE, true, 0}, /* of wait: 1 or 2 waits */
    TABLE_LIMITS("wait_us", "us", 1),   /* after the last wide instruction; rearm: after `by` */
    {"sd_us", "us", TABLE_REAL, false, 1},
    TABLE_LIMITS("share", "", 3),            /* wait: of the mode; rearm: that began anew; toggle: in which it rose */
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

static void note_settings(const struct tables_options *o, struct table *t)
{
    table_set_setting_number(t, "runs", (double)relaxation_runs(o, RELAXATION_WAIT));
    table_set_setting_number(t, "runs_rearm", (double)relaxation_runs(o, RELAXATION_REARM));
    table_set_setting_number(t, "runs_toggle", (double)relaxation_runs(o, RELAXATION_TOGGLE));
    table_set_setting_number(t, "period_us", relaxation_period(o));
    table_set_setting_number(t, "warmup_us", RELAXATION_FROM_US);
    table_set_setting_number(t, "search_us", RELAXATION_LONGEST_US);
    table_set_setting(t, "observe_us", "2.3 waits and 60 us");
    table_set_setting_number(t, "burst_us", RELAXATION_BURST_US);
    table_set_setting_number(t, "toggle_us", RELAXATION_AGAIN_US);
}

static int plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    static const char *const from[] = {"256fma", "512or", "512fma", "amx"}, *const brief[] = {"512or"};
    struct payload kernel[TABLES_KERNELS_MAX], to;
    unsigned cores[TABLES_CORES_MAX];
    note_settings(x->options, t);
    if (relaxation_period(x->options) > PERIOD_MOST_US)
        return machine_fail(err, MACHINE_CANNOT, "leave --period out for this table",
                            "this table needs a sampling period of at most %g us, not %g", PERIOD_MOST_US,
                            x->options->period_us);
    size_t n = x->options->brief ? tables_kernels(x, brief, 1, kernel, t) : tables_kernels(x, from, 4, kernel, t);
    size_t n_cores = tables_active_cores(x, CORES_ALL, cores);
    bool fma = (x->info.features & KERNEL_NEEDS_FMA) != 0; /* what runs after the wide code; 64add where it cannot */
    kernel_parse(fma ? "128fma" : "64add", &to, NULL, 0);
    for (size_t i = 0; i < n_cores; i++)
        for (size_t k = 0; k < n; k++) {
            if (strcmp(kernel[k].name, to.name) == 0)
                continue;
            struct cell *c = cells_add(out, &kernel[k], &to, cores[i], "%s_%s_%u", kernel[k].name, to.name, cores[i]);
            if (!c)
                return machine_fail(err, MACHINE_FAILED, "", "out of memory");
            c->seconds = x->options->brief ? CELL_SECONDS_BRIEF : CELL_SECONDS;
        }
    return MACHINE_OK;
}

static const struct pivot_field waits[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"waits", "mode", PIVOT_PLAIN, NULL},
    {"us", "wait_us", PIVOT_PLAIN, NULL},
    {"sd, us", "sd_us", PIVOT_PLAIN, NULL},
    {"% of repetitions", "share", PIVOT_PERCENT, NULL},
    {"n", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field restarts[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair},
    {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"by", "by", PIVOT_PLAIN, NULL},
    {"restarted", "rearmed", PIVOT_PLAIN, NULL},
    {"us after it", "wait_us", PIVOT_PLAIN, NULL},
    {"n", "n", PIVOT_PLAIN, NULL},
};
static const struct pivot_field toggling[] = {
    {"from -> to", NULL, PIVOT_PLAIN, pivot_pair}, {"cores", "active_cores", PIVOT_PLAIN, NULL},
    {"pause, us", "duty_us", PIVOT_PLAIN, NULL},   {"% that speed up", "share", PIVOT_PERCENT, NULL},
    {"after us", "wait_us", PIVOT_PLAIN, NULL},    {"longer each time by us", "trend_us", PIVOT_PLAIN, NULL},
};

static const struct pivot_list views[] = {
    PIVOT_LIST_OF("The wait before the core speeds up again, one period or two", "wait", waits),
    PIVOT_LIST_OF("Whether it is restarted by other code, or by interrupts", "rearm", restarts),
    PIVOT_LIST_OF("When code toggles between the two", "toggle", toggling),
};

/* A wait, by its pair, and how many periods it took. */
static const char *wait_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    chart_pair(t, row, chart_varies(t, "active_cores"), out, CHART_NAME_MAX);
    if (table_number(t, row, "mode") > 1)
        text_list_add(out, CHART_NAME_MAX, ", ", "two periods");
    return out;
}

/* Another experiment, by its pair and what was done. */
static const char *by_name(const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    const char *by = table_text(t, row, "by");
    chart_pair(t, row, chart_varies(t, "active_cores"), out, CHART_NAME_MAX);
    text_list_add(out, CHART_NAME_MAX, ": ", "%s", by ? by : "?");
    return out;
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_BARS, .title = "Wait before the frequency rises again", .x_label = "\xC2\xB5s"},
     .column = "what",
     .says = "wait",
     .value = "wait_us",
     .name.text = wait_name,
     .look = {.colour = 1, .dot = true},
     .omitted = "rows"},
    {.panel = {.kind = CHART_BARS, .title = "Share of the repetitions", .x_label = "share"},
     .column = "what",
     .says = "wait",
     .value = "share",
     .name.text = wait_name,
     .look.colour = 1,
     .omitted = "rows"},
    {.panel = {.kind = CHART_BARS,
               .title = "What restarts the wait: share of the waits that were restarted",
               .x_label = "share of the repetitions"},
     .column = "what",
     .says = "rearm",
     .value = "share",
     .name.text = by_name,
     .look.colour = 3,
     .omitted = "rows"},
    {.panel = {.kind = CHART_BARS,
               .title = "Toggling: share of the pauses in which the frequency rose",
               .x_label = "share of the repetitions"},
     .column = "what",
     .says = "toggle",
     .value = "share",
     .name.text = by_name,
     .omitted = "rows"},
};

#define RELAXATION_OWN_TIMES "it observes for as long as the wait lasts"

const struct table_kind table_relaxation = {
    .name = "relaxation",
    .title = "How long a core stays slow after wide code",
    .about = "time from the last wide instruction to the higher frequency, and what restarts it",
    .method =
        "After the wide kernel ends, narrow code runs and is sampled until the frequency rises again; each "
        "repetition gives one wait. It counts as a wait only if the switch, recorded in turn with its null and with "
        "either kernel alone, leads through a lower frequency than that of the narrow code alone. Where the waits "
        "cluster around two values, the longer one is two "
        "periods of the timer (G 3.2.3, K). To find out what restarts the wait, other code runs in the middle of "
        "it; toggling repeats wide code after pauses slightly shorter and slightly longer than the wait.",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"from", "to", "wait_us", "mode", "share"},
    .drafted = {.keys = {"from", "to", "active_cores", "what", "mode"},
                .values = {"wait_us", "share"},
                .only = "what",
                .is = "wait"},
    .exported = EXPORT_WAITS,
    .excluded = {[CHOICE_WARMUP] = RELAXATION_OWN_TIMES, [CHOICE_OBSERVE] = RELAXATION_OWN_TIMES},
    .plan = plan,
    .measure = relaxation_measure,
    TABLE_KIND_VIEWS(views),
    .findings = relaxation_findings,
    TABLE_KIND_PICTURES(pictures),
};
