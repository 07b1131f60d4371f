/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table umask: what the umask bits of an event count: each bit alone and the documented combinations, while each
 * kernel runs steadily, after another kernel, and when that one runs again (single bits of event 28H on a Xeon Gold
 * 6130: dissertation on Skylake-SP AVX overhead, table 3.2). The reading of a bit comes from these shares alone.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/events/event_code.h"
#include "drivers/events/events.h"
#include "probes/umask.h"
#include "tables/registry.h"
#include "tables/umask/umask_fit.h"

enum {
    DEFAULT_EVENT = 0x28, /* CORE_POWER of Skylake-SP and later: license levels */
    BITS = 8,             /* of a umask */
    UMASKS_MAX = 64,      /* the bits, the named ones and two combinations are fewer */
    NAMED_MAX = 32,       /* names of an event: the tables have fewer */
};
#define SETTLED 0.75       /* of what is recorded from BASE has passed: most transitions are over */
#define READING_COSTS 0.85 /* of the full IPC is left with readings: one takes up to 0.15 us of a sample of 1 us */
static const char BASE[] = "128fma", BASE_WITHOUT_FMA[] = "64add";

static const struct table_column columns[] = {
    {"event", "", TABLE_WHOLE, true, 0},
    {"umask", "", TABLE_WHOLE, true, 0},
    {"kernel", "", TABLE_TEXT, true, 0},
    {"when", "", TABLE_TEXT, true, 0},
    TABLE_LIMITS("share", "1", 3),
    {"n", "", TABLE_WHOLE, false, 0},
    {"slow_share", "1", TABLE_REAL, false, 3},
    {"slow_other", "1", TABLE_REAL, false, 3},
    {"bits_sum", "1", TABLE_REAL, false, 3},
    {"documented", "", TABLE_TEXT, false, 0},
    {"reading", "", TABLE_TEXT, false, 0},
    {"disagrees", "", TABLE_TEXT, false, 0},
};

/* ---- which event, which umasks ---- */

struct event {
    uint32_t select;
    size_t n_named; /* umasks without cmask, edge and inversion that the CPU's table names */
    struct machine_event named[NAMED_MAX];
    char other[64]; /* something else than licenses, by that table; "" */
    size_t n_umasks;
    unsigned umasks[UMASKS_MAX];
};

static bool single_bit(unsigned umask)
{
    return umask != 0 && (umask & (umask - 1)) == 0;
}

static void add_umask(struct event *e, unsigned umask)
{
    for (size_t i = 0; i < e->n_umasks; i++)
        if (e->umasks[i] == umask)
            return;
    if (e->n_umasks < UMASKS_MAX)
        e->umasks[e->n_umasks++] = umask;
}

/* The bits, then the combinations that are documented; those of event 28H also where they are documented for others. */
static void choose_umasks(struct event *e)
{
    for (unsigned bit = 0; bit < BITS; bit++)
        add_umask(e, 1u << bit);
    for (size_t i = 0; i < e->n_named; i++)
        add_umask(e, event_code_umask(e->named[i].code));
    if (e->select == DEFAULT_EVENT && e->n_umasks == BITS) {
        add_umask(e, 0x07);
        add_umask(e, 0x18);
    }
}

static const char *documented_name(const struct event *e, unsigned umask)
{
    for (size_t i = 0; i < e->n_named; i++)
        if (event_code_umask(e->named[i].code) == umask)
            return e->named[i].name;
    return NULL;
}

/*
 * True if the event may be measured: it is model-specific, and a reading of something else would be wrong. Without
 * --event it must be one of licenses by the table of events of this CPU. With it the person has chosen, and only what
 * the table knows to be something else is refused. Writes why not, with the remedy.
 */
static bool may_measure(const struct tables_context *x, const struct event *e, const char *no_table, char *why,
                        size_t size)
{
    if (e->other[0]) {
        snprintf(
            why, size,
            "event %02XH of %.100s is %s, whose umasks are not licenses; use --event 0x28 or another undocumented one",
            e->select, x->info.cpu, e->other);
        return false;
    }
    if (e->n_named || x->options->event)
        return true;
    snprintf(why, size,
             "it is unknown what event %02XH counts on %.100s: %.200s; to measure it anyway, use --event 0x%02x",
             e->select, x->info.cpu, no_table[0] ? no_table : "its event table does not have it", e->select);
    return false;
}

/* Fills *e. False, with the reason and the remedy: the table cannot be measured. */
static bool find_event(const struct tables_context *x, struct event *e, char *why, size_t size)
{
    const struct machine_ops *ops = x->machine->ops;
    struct machine_error err = {MACHINE_OK, "the machine has no event names", ""};
    const char *remedy = NULL, *lack = ops->lacks(x->machine, COUNTER_EVENT, &remedy);
    struct machine_event all[NAMED_MAX];
    size_t n = 0;
    memset(e, 0, sizeof *e);
    e->select = x->options->event ? x->options->event : DEFAULT_EVENT;
    if (!lack)
        lack = ops->lacks(x->machine, COUNTER_CYCLES, &remedy);
    if (lack) {
        snprintf(why, size, "machine %.80s: %.250s%s%.150s", x->info.name, lack, remedy ? "; " : "",
                 remedy ? remedy : "");
        return false;
    }
    if (ops->named_events && ops->named_events(x->machine, e->select, all, NAMED_MAX, &n, &err) == MACHINE_OK)
        err.text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (strncmp(all[i].name, "CORE_POWER.", strlen("CORE_POWER.")) != 0)
            memcpy(e->other, all[i].name, sizeof e->other);
        if (all[i].code == event_code_make(e->select, event_code_umask(all[i].code)))
            e->named[e->n_named++] = all[i];
    }
    choose_umasks(e);
    return may_measure(x, e, err.text, why, size);
}

/* ---- cells ---- */

static struct payload base_kernel(const struct tables_context *x)
{
    struct payload p;
    return tables_can_run(x, BASE, &p) ? p : kernel_named(BASE_WITHOUT_FMA);
}

static struct umask_setup experiment(const struct tables_context *x, const struct cell *c, const struct payload *base)
{
    const struct tables_options *o = x->options;
    struct umask_setup s;
    umask_defaults(&s, &c->a, base);
    s.machine = tables_setup(x, "umask", c);
    s.runs = o->runs ? o->runs : o->brief ? 3 : s.runs;
    s.warmup_us = o->warmup_us > 0 ? o->warmup_us : s.warmup_us;
    for (int w = 0; w < UMASK_WHENS; w++)
        s.period_us[w] = o->period_us > 0 ? o->period_us : s.period_us[w];
    for (int w = UMASK_FROM_BASE; w < UMASK_WHENS; w++)
        s.observe_us[w] = o->observe_us > 0 ? o->observe_us : s.observe_us[w];
    return s;
}

static void note_settings(const struct tables_context *x, const struct umask_setup *s, struct table *t)
{
    table_set_setting_number(t, "runs", s->runs);
    table_set_setting_number(t, "warmup_us", s->warmup_us);
    table_set_setting(t, "base", s->base.name);
    table_set_setting_number(t, "observe_steady_us", s->observe_us[UMASK_STEADY]);
    table_set_setting_number(t, "observe_from_base_us", s->observe_us[UMASK_FROM_BASE]);
    table_set_setting_number(t, "observe_to_base_us", s->observe_us[UMASK_TO_BASE]);
    table_set_setting_number(t, "active_cores", s->machine.active_cores);
    if (x->options->n_active > 1)
        table_set_setting(t, "active_cores_note", "the first of --active-cores: each core has its own license");
}

const char *const umask_stall_settings[UMASK_STALLS] = {"stall_loads_event", "stall_stores_event"};

/* For whoever counts them by the export. */
static void note_stalls(const struct tables_context *x, struct table *t)
{
    for (size_t i = 0; i < UMASK_STALLS && x->machine->ops->find_event; i++) {
        struct machine_error ignored;
        uint64_t code;
        char form[60], text[120];
        if (x->machine->ops->find_event(x->machine, events_stalls[i], &code, &ignored) != MACHINE_OK)
            continue;
        event_code_format(code, form, sizeof form);
        snprintf(text, sizeof text, "%s %s", events_stalls[i], form);
        table_set_setting(t, umask_stall_settings[i], text);
    }
}

static int umask_plan(const struct tables_context *x, struct cells *out, struct table *t, struct machine_error *err)
{
    struct event e;
    struct payload kernels[TABLES_KERNELS_MAX], base = base_kernel(x);
    char why[700];
    if (!find_event(x, &e, why, sizeof why)) {
        table_add_missing(t, "%s", why);
        table_put_number(t, "event", e.select);
        return MACHINE_OK;
    }
    size_t n = tables_kernels(x, tables_usual_kernels, tables_n_usual_kernels, kernels, t);
    struct cell one = {.active_cores = x->options->n_active ? x->options->active[0] : 1};
    one.a = base;
    struct umask_setup s = experiment(x, &one, &base);
    note_settings(x, &s, t);
    note_stalls(x, t);
    for (size_t k = 0; k < n; k++)
        for (size_t first = 0; first < e.n_umasks; first += first < BITS ? REPETITIONS_EVENTS_MAX : 1) {
            struct cell *c = tables_add_cell(out, &kernels[k], NULL, one.active_cores, "%02x.%s.%02x", e.select,
                                             kernels[k].name, e.umasks[first]);
            if (!c)
                return machine_fail(err, MACHINE_BAD_INPUT, "name each kernel once",
                                    "kernel %s twice, or out of memory", kernels[k].name);
            c->number[0] = (unsigned)first;
            c->seconds = s.runs * (s.warmup_us * 4 + 4000) * 1e-6;
        }
    return MACHINE_OK;
}

/* ---- measuring ---- */

struct watch {
    const struct tables_context *x;
    double before, part; /* of the cell: done already; what this run is of it */
};

static int on_progress(void *data, unsigned done, unsigned wanted)
{
    struct watch *w = data;
    return tables_stop(w->x, w->before + w->part * done / (wanted ? wanted : 1));
}

/* The share of the cycles of one experiment that an event counted. A share lies between 0 and 1: what readings are off
 * by may carry it beyond, and so may limits reach there, which means nothing. What is surely above 1 counts no
 * cycles. */
static struct estimate event_share(const struct repetitions *seen, size_t event, size_t *runs)
{
    struct estimate e = umask_shares_counted(&seen->trace, event, INFINITY, runs);
    if (e.lo > 1)
        return e;
    e.value = fmin(fmax(e.value, 0), 1);
    e.lo = isnan(e.lo) ? NAN : fmin(fmax(e.lo, 0), 1);
    e.hi = isnan(e.hi) ? NAN : fmin(fmax(e.hi, 0), 1);
    return e;
}

static struct estimate slow_share(const struct repetitions *seen, unsigned what, double full_ipc)
{
    size_t unused;
    const struct trace *t = &seen[what].trace;
    return umask_shares_slow(t, full_ipc, umask_shares_slow_below(t), &unused);
}

/*
 * Up to how much of the slow share after a switch may be something else than throttling: cold code, a hyper-thread
 * beside, interrupts. As much is slow, too, where the kernel comes back to what it holds already; back at base, where
 * nothing holds base alone, as much as where the kernel runs steadily. With the scatter of both.
 */
static double slow_other(const struct repetitions *seen, enum umask_when w, double full_ipc,
                         const struct estimate *slow)
{
    unsigned beside = w == UMASK_FROM_BASE ? UMASK_HELD : UMASK_STEADY;
    double ipc = w == UMASK_FROM_BASE ? full_ipc : umask_shares_ipc(&seen[UMASK_STEADY].trace, 0);
    struct estimate same = slow_share(seen, beside, ipc);
    return isnan(same.hi) ? NAN : fmin(fmax(same.hi + (slow->value - slow->lo), 0), 1);
}

/* The row of the i-th event of `s` in one experiment; of a combination whose bits were counted beside it, their sum. */
static void write_row(const struct event *e, const struct umask_setup *s, size_t i, enum umask_when w,
                      const struct repetitions *seen, double full_ipc, struct table *rows)
{
    char when[40], text[200];
    size_t runs, unused;
    unsigned umask = event_code_umask(s->events[i].code);
    const char *name = documented_name(e, umask);
    struct estimate share = event_share(&seen[w], i, &runs);
    snprintf(when, sizeof when, "%s%s",
             w == UMASK_STEADY      ? "steady"
             : w == UMASK_FROM_BASE ? "from "
                                    : "to ",
             w == UMASK_STEADY ? "" : s->base.name);
    if (runs)
        table_add_row(rows);
    else
        table_add_missing(rows, "not counted in any repetition: all were invalid, or something else used the counters");
    table_put_number(rows, "event", e->select);
    table_put_number(rows, "umask", umask);
    table_put_text(rows, "kernel", s->kernel.name);
    table_put_text(rows, "when", when);
    if (!runs)
        return;
    estimates_put(rows, "share", share);
    table_put_number(rows, "n", (double)runs);
    struct estimate slow = slow_share(seen, w, full_ipc);
    table_put_number(rows, "slow_share", slow.value);
    if (w != UMASK_STEADY)
        table_put_number(rows, "slow_other", slow_other(seen, w, full_ipc, &slow));
    if (!single_bit(umask) && s->n_events > 1) {
        double sum = 0;
        for (size_t bit = 1; bit < s->n_events; bit++)
            sum += event_share(&seen[w], bit, &unused).value;
        table_put_number(rows, "bits_sum", sum);
    }
    const char *what = umask_document_text(umask_document_of(name));
    snprintf(text, sizeof text, "%s%s%s", name ? name : "not documented", what[0] ? ": " : "", what);
    table_put_text(rows, "documented", text);
}

static void write_rows(const struct event *e, const struct umask_setup *s, const struct repetitions *seen,
                       struct table *rows)
{
    double full[UMASK_WHENS];
    bool combination = !single_bit(event_code_umask(s->events[0].code));
    full[UMASK_STEADY] = umask_shares_ipc(&seen[UMASK_STEADY].trace, 0);
    /* of short samples their reading takes a part: full rate is what the switch ends at, if it has come that far */
    double settled = SETTLED * s->observe_us[UMASK_FROM_BASE];
    full[UMASK_FROM_BASE] = umask_shares_ipc(&seen[UMASK_FROM_BASE].trace, settled);
    if (!(full[UMASK_FROM_BASE] > READING_COSTS * full[UMASK_STEADY]))
        full[UMASK_FROM_BASE] = full[UMASK_STEADY];
    full[UMASK_TO_BASE] = umask_shares_ipc(&seen[UMASK_TO_BASE].trace, 0);
    for (size_t i = 0; i < (combination ? 1 : s->n_events); i++)
        for (enum umask_when w = UMASK_STEADY; w < UMASK_WHENS; w++)
            if (seen[w].trace.n_extra > i) /* there is no switch from a kernel to itself */
                write_row(e, s, i, w, seen, full[w], rows);
}

static void note_discarded(const struct cell *c, const struct repetitions *seen, struct table *rows)
{
    char key[TABLES_CELL_ID_MAX + 20];
    size_t invalid = 0;
    const char *why = "";
    for (int w = 0; w < UMASK_EXPERIMENTS; w++) {
        why = seen[w].n_invalid ? seen[w].invalid[0].why : why;
        invalid += seen[w].n_invalid;
    }
    if (!invalid)
        return;
    snprintf(key, sizeof key, "discarded %s", c->id);
    table_set_detail_json(rows, key, json_pack("{s:I, s:s}", "repetitions", (json_int_t)invalid, "first_why", why), 9);
}

static void add_event(struct umask_setup *s, const struct event *e, unsigned umask)
{
    s->events[s->n_events++].code = event_code_make(e->select, umask);
}

/* Chooses, from the cell's i-th umask on, events that fit on the counters: single bits, or a combination with its bits
 * where all fit. Returns how many umasks of the cell that is. */
static size_t choose_events(const struct event *e, size_t i, size_t end, size_t at_once, struct umask_setup *s)
{
    size_t bits = (size_t)__builtin_popcount(e->umasks[i]);
    s->n_events = 0;
    if (bits == 1) {
        for (size_t k = i; k < end && k < i + at_once; k++)
            add_event(s, e, e->umasks[k]);
        return s->n_events;
    }
    add_event(s, e, e->umasks[i]);
    for (unsigned bit = 1; bit < 1u << BITS && bits < at_once; bit <<= 1)
        if (e->umasks[i] & bit)
            add_event(s, e, bit);
    return 1;
}

/* The umasks of a cell, with at most `at_once` events on the counters together. */
static int measure_some(const struct cell *c, const struct event *e, struct umask_setup *s, size_t at_once,
                        struct watch *w, struct table *rows, struct machine_error *err)
{
    size_t first = c->number[0], end = first < BITS ? first + REPETITIONS_EVENTS_MAX : first + 1, these;
    int status = MACHINE_OK;
    for (size_t i = first; i < end && !status; i += these) {
        struct repetitions seen[UMASK_EXPERIMENTS];
        these = choose_events(e, i, end, at_once, s);
        w->before = (double)(i - first) / (double)(end - first);
        w->part = (double)these / (double)(end - first);
        status = umask_run(w->x->machine, s, seen, err);
        if (status)
            break;
        write_rows(e, s, seen, rows);
        note_discarded(c, seen, rows);
        for (int k = 0; k < UMASK_EXPERIMENTS; k++)
            repetitions_free(&seen[k]);
    }
    return status;
}

static int umask_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                         struct machine_error *err)
{
    struct event e;
    char why[700];
    struct payload base = base_kernel(x);
    struct umask_setup s = experiment(x, c, &base);
    struct watch w = {.x = x};
    s.progress = on_progress;
    s.data = &w;
    if (!find_event(x, &e, why, sizeof why))
        return machine_fail(err, MACHINE_CANNOT, "", "%s", why);
    int status = MACHINE_CANNOT;
    /* refused with so many events: with fewer, as long as none has been written */
    for (size_t at_once = REPETITIONS_EVENTS_MAX; at_once > 0 && status == MACHINE_CANNOT && !rows->n_rows;
         at_once /= 2)
        status = measure_some(c, &e, &s, at_once, &w, rows, err);
    return status;
}

/* ---- views and pictures ---- */

#define SHARE_NONE 0.0005 /* a share below is shown as a dot: with three decimals it would be 0 */
#define SUM_WITHIN 0.02   /* of the sum of its bits: a combination counts what they do */

static void put_share(struct pivot *p, const struct table *t, size_t row)
{
    const double share = table_number(t, row, "share");
    if (share < SHARE_NONE)
        pivot_mark(p, ".");
    else
        pivot_number(p, share, 3);
}

/* How far a combination is from the sum of its bits, at most; NaN: it is none. */
static double farthest_from_sum(const struct table *t, size_t umask)
{
    double farthest = NAN;
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_same(t, row, umask, "umask"))
            farthest = fmax(farthest, fabs(table_number(t, row, "share") - table_number(t, row, "bits_sum")));
    return farthest;
}

/* The description of the umask, how what was measured disagrees, and whether it is the sum of its bits. */
static void put_documented(struct pivot *p, const struct table *t, size_t row)
{
    double farthest = farthest_from_sum(t, row);
    pivot_word(p, table_text(t, row, "documented"));
    if (table_text(t, row, "disagrees"))
        pivot_more(p, "; measured otherwise: %s", table_text(t, row, "disagrees"));
    if (farthest <= SUM_WITHIN)
        pivot_more(p, "; the sum of its bits (within %.3f)", farthest);
    else if (isfinite(farthest))
        pivot_more(p, "; not the sum of its bits (off by up to %.3f)", farthest);
}

static const struct pivot_field kernel[] = {{"kernel", "kernel", PIVOT_PLAIN, NULL}},
                                readings[] = {{"event", "event", PIVOT_PLAIN, NULL},
                                              {"umask", "umask", PIVOT_PLAIN, NULL},
                                              {"counts", "reading", PIVOT_PLAIN, NULL},
                                              {"documented", NULL, PIVOT_PLAIN, put_documented}};
static const struct pivot_list views[] = {
    {.title = "share of the core cycles that the event counted; . = none, - = not measured",
     .each = "when",
     .n_names = 1,
     PIVOT_FIELDS(kernel),
     .across.column = "umask",
     .cell.put = put_share},
    {.title = "What each umask counts, and what is documented", .once = "umask", .n_names = 2, PIVOT_FIELDS(readings)},
};

static void fill_share(const struct table *t, size_t row, struct chart_cell *cell)
{
    const double share = table_number(t, row, "share");
    cell->state = CELL_VALUE;
    cell->value = share;
    snprintf(cell->text, sizeof cell->text, fabs(share) < 0.0005 ? "0" : fabs(share) < 0.005 ? "<.01" : "%.2f", share);
}

static const struct picture pictures[] = {
    {.panel = {.kind = CHART_CELLS,
               .title = "share of the core\xE2\x80\x99s cycles that the event counted",
               .y_label = "unit mask",
               .scale_label = "share of cycles; hatched: not measured",
               .scale_hi = 1},
     .each = "when",
     .value = "share",
     .name.column = "umask",
     .across.column = "kernel",
     .cell = fill_share},
};

/* Remarks at the right of each umask: its reading. */
static void umask_plot(const struct table *t, struct chart *c)
{
    char name[CHART_NAME_MAX];
    for (size_t i = 0; i < c->n_panels; i++)
        for (size_t k = 0; k < c->panels[i].categories.n; k++) {
            size_t row = 0;
            while (row < t->n_rows &&
                   strcmp(table_field_text(t, row, "umask", name, sizeof name), c->panels[i].categories.name[k]) != 0)
                row++;
            const char *reading = table_text(t, row, "reading"), *disagrees = table_text(t, row, "disagrees");
            snprintf(name, sizeof name, "%.100s%s", reading ? reading : "",
                     disagrees && *disagrees ? " (not as documented)" : "");
            chart_add_name(c, &c->panels[i].remarks, name);
        }
}

const struct table_kind table_umask = {
    .name = "umask",
    .title = "What the umask bits of an event count",
    .about = "each umask bit of an event (28H) and their combinations, under each kernel, and the meaning that follows",
    .method = "The event is counted with every single umask bit and their documented combinations while each kernel "
              "runs steadily, and through its transitions from and to a narrow one; the share of the core\xE2\x80\x99s "
              "cycles that it counts shows what a bit means (G 3.4, table 3.2).",
    TABLE_KIND_COLUMNS(columns),
    .promised = {"event", "umask", "kernel", "when", "share", "documented", "reading", "disagrees"},
    .drafted = {.keys = {"event", "umask", "kernel", "when"}, .values = {"share"}, .only = "when", .is = "steady"},
    .exported = EXPORT_LEVEL_EVENTS,
    .takes_event = true,
    .plan = umask_plan,
    .measure = umask_measure,
    .conclude = umask_conclude,
    TABLE_KIND_VIEWS(views),
    .findings = umask_findings,
    TABLE_KIND_PICTURES(pictures),
    .plot = umask_plot,
};
