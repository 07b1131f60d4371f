/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile as one document, for the screen and the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/document/document.h"
#include "profiler/output/profile_parts.h"
#include "tables/table/pivot.h"

/* Characters of a name in the first column: with the widest figures all columns stand beside each other; lines of
 * advice in a text, of which the page has all. */
enum { NAME_SHOWN = 20, ADVICE_MOST = 8 };

/* ---- rows of a text ---- */

static void put_short_name(struct pivot *p, const char *name)
{
    char text[PROFILE_NAME_MAX];
    pivot_word(p, profile_short_name(name, NAME_SHOWN, text));
}

static void put_short_percent(struct pivot *p, double fraction)
{
    char text[PROFILE_PERCENT_MAX];
    pivot_mark(p, profile_percent_alone(fraction, text));
}

/* Columns that not every profile has, or not every kind of rows. */
struct shown_parts {
    bool causes, parts; /* overhead that it causes; by sibling and delay */
};

static void put_row(struct pivot *p, const struct profile_row *row, struct shown_parts shown)
{
    char text[PROFILE_PERCENT_MAX];
    bool nothing = isfinite(row->overhead.lo) && !(row->overhead.lo > 0);
    pivot_line(p, nothing ? PIVOT_ASIDE : PIVOT_ROW);
    put_short_name(p, row->name);
    put_short_percent(p, row->share);
    pivot_mark(p, profile_percent(&row->overhead, text));
    if (shown.parts) {
        put_short_percent(p, row->sibling.value);
        put_short_percent(p, row->delay.value);
    }
    for (unsigned level = 1; level < PROFILE_LEVELS; level++)
        put_short_percent(p, row->by_level[level].value);
    put_short_percent(p, row->demands[1].value + row->demands[2].value);
    if (shown.causes)
        put_short_percent(p, row->causes);
    pivot_mark(p, "");
    pivot_more(p, "%llu", (unsigned long long)row->samples);
}

/* The rows that are not shown, in a sentence. */
static void describe_others(struct document *d, const struct profile_row *rows, size_t n, const size_t *shown,
                            size_t n_shown)
{
    char of_time[PROFILE_PERCENT_MAX], overhead[PROFILE_PERCENT_MAX];
    double share = 0, lost = 0;
    for (size_t i = 0, next = 0; i < n; i++) {
        if (next < n_shown && shown[next] == i) {
            next++;
            continue;
        }
        share += isfinite(rows[i].share) ? rows[i].share : 0;
        lost += isfinite(rows[i].share * rows[i].overhead.value) ? rows[i].share * rows[i].overhead.value : 0;
    }
    if (n > n_shown)
        document_note(d, "and %zu other%s, together %s %% of the time, with an overhead of %s %%", n - n_shown,
                      n - n_shown == 1 ? "" : "s", profile_percent_alone(share, of_time),
                      profile_percent_alone(share > 0 ? lost / share : 0, overhead));
}

static void describe_rows(const struct profile_result *r, enum profile_kind kind, size_t most, struct document *d)
{
    static const char *const titles[PROFILE_KINDS] = {
        [PROFILE_TASK] = "Tasks", [PROFILE_CONTAINER] = "Containers", [PROFILE_CORE] = "Cores", [PROFILE_ALL] = "All"};
    static const char *const headings[] = {"share", "overhead", "sibling", "delay",  "L1",
                                           "L2",    "wide",     "causes",  "samples"};
    enum { SIBLING = 2, DELAY = 3, CAUSES = 7 };
    struct pivot p;
    size_t n, n_shown;
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    struct shown_parts columns = {.parts = profile_knows_parts(rows, n)};
    for (size_t i = 0; i < n; i++)
        columns.causes = columns.causes || isfinite(rows[i].causes);
    size_t *shown = profile_rows_shown(rows, n, most, &n_shown);
    pivot_init(&p, 1, "%s, %%", titles[kind]);
    p.failed = p.failed || !shown;
    pivot_line(&p, PIVOT_HEADING);
    pivot_text(&p, "%s", "");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (i == CAUSES ? columns.causes : columns.parts || (i != SIBLING && i != DELAY))
            pivot_text(&p, "%s", headings[i]);
    for (size_t i = 0; i < n_shown; i++)
        put_row(&p, &rows[shown[i]], columns);
    document_section(d, DOCUMENT_EVERYWHERE, NULL, NULL);
    document_pivot(d, &p);
    if (n_shown)
        describe_others(d, rows, n, shown, n_shown);
    free(shown);
}

/* ---- who slows whom ---- */

static void put_culprits(struct pivot *p, const struct profile_result *r, const struct profile_row *row)
{
    const char *between = "";
    char name[PROFILE_NAME_MAX], percent[PROFILE_PERCENT_MAX];
    pivot_text(p, "%s", "");
    for (size_t i = 0; i < row->n_culprits; i++) {
        const char *by = profile_culprit_name(r, row, &row->culprits[i]);
        if (!by || !(row->culprits[i].overhead > PROFILE_PART_LEAST))
            continue;
        pivot_more(p, "%s%s %s", between, profile_short_name(by, PROFILE_NAME_SAID, name),
                   profile_percent_alone(row->culprits[i].overhead, percent));
        between = ", ";
    }
    if (row->unattributed > PROFILE_PART_LEAST)
        pivot_more(p, "%sunattributed %s", between, profile_percent_alone(row->unattributed, percent));
}

static void describe_culprits(const struct profile_result *r, size_t most, struct document *d)
{
    struct pivot p;
    size_t n, reported = 0;
    const struct profile_row *rows = profile_rows_of(r, PROFILE_TASK, &n);
    pivot_init(&p, 1, "Who slows them, in %% of their ideal time");
    pivot_line(&p, PIVOT_HEADING);
    pivot_text(&p, "%s", "");
    pivot_text(&p, "slowed by");
    for (size_t i = 0; i < n && reported < most; i++) {
        if (!profile_is_victim(&rows[i]))
            continue;
        reported++;
        pivot_line(&p, PIVOT_ROW);
        put_short_name(&p, rows[i].name);
        put_culprits(&p, r, &rows[i]);
    }
    document_section(d, DOCUMENT_EVERYWHERE, NULL, NULL);
    document_pivot(d, &p);
}

/* ---- tables of the page ---- */

static void put_percents(struct table *t, const char *column, const struct profile_estimate *e)
{
    table_put_limits(t, column, 100 * e->value, 100 * e->lo, 100 * e->hi);
}

static void make_kind(const struct profile_result *r, enum profile_kind kind, struct table *t)
{
    static const struct table_column columns[] = {{"name", "", TABLE_TEXT, true, 0},
                                                  {"share", "%", TABLE_REAL, false, 1},
                                                  TABLE_LIMITS("overhead", "%", 2),
                                                  TABLE_LIMITS("sibling", "%", 2),
                                                  TABLE_LIMITS("delay", "%", 2),
                                                  {"level_1", "%", TABLE_REAL, false, 2},
                                                  {"level_2", "%", TABLE_REAL, false, 2},
                                                  {"demands_1", "%", TABLE_REAL, false, 1},
                                                  {"demands_2", "%", TABLE_REAL, false, 1},
                                                  {"reduced", "%", TABLE_REAL, false, 1},
                                                  {"not_limited", "%", TABLE_REAL, false, 1},
                                                  {"samples", "", TABLE_WHOLE, false, 0},
                                                  {"causes", "%", TABLE_REAL, false, 1}};
    static const char *const names[PROFILE_KINDS] = {"tasks", "containers", "cores", "all"};
    /* of the last columns: cores cause nothing */
    static const size_t lacks[PROFILE_KINDS] = {[PROFILE_CORE] = 1, [PROFILE_ALL] = 1};
    size_t n;
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    table_init(t, names[kind], columns, sizeof columns / sizeof *columns - lacks[kind]);
    for (size_t i = 0; i < n && !t->failed; i++) {
        const struct profile_row *row = &rows[i];
        table_add_row(t);
        table_put_text(t, "name", row->name);
        table_put_number(t, "share", 100 * row->share);
        put_percents(t, "overhead", &row->overhead);
        put_percents(t, "sibling", &row->sibling);
        put_percents(t, "delay", &row->delay);
        table_put_number(t, "level_1", 100 * row->by_level[1].value);
        table_put_number(t, "level_2", 100 * row->by_level[2].value);
        table_put_number(t, "demands_1", 100 * row->demands[1].value);
        table_put_number(t, "demands_2", 100 * row->demands[2].value);
        table_put_number(t, "reduced", 100 * row->reduced.value);
        table_put_number(t, "not_limited", 100 * row->not_limited);
        table_put_number(t, "samples", (double)row->samples);
        if (table_has(t, "causes"))
            table_put_number(t, "causes", 100 * row->causes);
    }
}

static void make_commands(const struct profile_result *r, struct table *t)
{
    static const struct table_column columns[] = {{"name", "", TABLE_TEXT, true, 0},
                                                  {"command", "", TABLE_TEXT, false, 0}};
    size_t n;
    const struct profile_row *rows = profile_rows_of(r, PROFILE_TASK, &n);
    table_init(t, "commands", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n && !t->failed; i++) {
        if (!*rows[i].command)
            continue;
        table_add_row(t);
        table_put_text(t, "name", rows[i].name);
        table_put_text(t, "command", rows[i].command);
    }
}

static void put_culprit(struct table *t, const struct profile_row *victim, const char *by, double overhead)
{
    table_add_row(t);
    table_put_text(t, "victim", victim->name);
    table_put_text(t, "slowed_by", by);
    table_put_number(t, "overhead", 100 * overhead);
}

static void make_culprits(const struct profile_result *r, struct table *t)
{
    static const struct table_column columns[] = {{"victim", "", TABLE_TEXT, true, 0},
                                                  {"slowed_by", "", TABLE_TEXT, true, 0},
                                                  {"overhead", "%", TABLE_REAL, false, 2}};
    size_t n;
    const struct profile_row *rows = profile_rows_of(r, PROFILE_TASK, &n);
    table_init(t, "culprits", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n && !t->failed; i++) {
        for (size_t k = 0; k < rows[i].n_culprits; k++) {
            const char *by = profile_culprit_name(r, &rows[i], &rows[i].culprits[k]);
            if (by && rows[i].culprits[k].overhead > PROFILE_PART_LEAST)
                put_culprit(t, &rows[i], by, rows[i].culprits[k].overhead);
        }
        if (rows[i].unattributed > PROFILE_PART_LEAST)
            put_culprit(t, &rows[i], "unattributed", rows[i].unattributed);
    }
}

/* ---- the document ---- */

static void describe_said(const struct profile_result *r, struct document *d, profile_sayer *say)
{
    FILE *notes = document_notes(d);
    if (notes)
        say(r, notes);
}

/* One line that is said, as a fact. */
static void describe_fact(const struct profile_result *r, struct document *d, const char *name, profile_sayer *say)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (line)
        say(r, line);
    d->failed = d->failed || !line || fclose(line) != 0;
    if (!d->failed)
        document_fact(d, name, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

static void describe_head(const struct profile_result *r, struct document *d)
{
    const char *command = r->head.command, *version = r->head.version ? r->head.version : "";
    char title[600], cpu[400];
    snprintf(title, sizeof title, "Remote overhead%s%s%s", command ? ": " : "", command ? command : "",
             r->info.modelled ? " (modelled, not measured)" : "");
    snprintf(cpu, sizeof cpu, "%s, %s; %u core%s, %u CPU%s", r->info.cpu ? r->info.cpu : "unknown processor",
             r->info.name ? r->info.name : "unknown source", r->info.cores, r->info.cores == 1 ? "" : "s", r->info.cpus,
             r->info.cpus == 1 ? "" : "s");
    document_begin(d, title, cpu, NULL);
    d->modelled = r->info.modelled;
    describe_said(r, d, profile_say_sampling);
    describe_said(r, d, profile_say_turns);
    describe_said(r, d, profile_say_cost);
    document_section(d, DOCUMENT_ON_PAGE, "FACTS", NULL);
    document_fact(d, "processor", "%s", r->info.cpu ? r->info.cpu : "");
    document_fact(d, "cores", "%u, with %u CPU%s", r->info.cores, r->info.cpus, r->info.cpus == 1 ? "" : "s");
    document_fact(d, "machine", "%s", r->info.name ? r->info.name : "");
    document_fact(d, "command", "%s", command ? command : "none: everything that ran");
    describe_fact(r, d, "sampling", profile_say_sampling);
    describe_fact(r, d, "turns", profile_say_turns);
    describe_fact(r, d, "cost", profile_say_cost);
    document_value(d, "ABOUT", "%s", command ? command : "Remote overhead");
    document_value(d, "CPU", "%s", r->info.cpu ? r->info.cpu : "");
    document_value(d, "VERSION", "%s", version);
    document_value(d, "FOOT", "characterize %s \xC2\xB7 profile%s", version,
                   r->info.modelled ? " \xC2\xB7 modelled, not measured" : "");
}

/* The texts of both, and rows of the screen: at most so many of each kind. */
static void describe(const struct profile_result *r, size_t most, struct document *d)
{
    static const enum profile_kind kinds[] = {PROFILE_TASK, PROFILE_CONTAINER, PROFILE_CORE};
    describe_head(r, d);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        describe_rows(r, kinds[i], most, d);
    document_section(d, DOCUMENT_EVERYWHERE, NULL, "");
    if (r->n_rows)
        document_note(d,
                      "L1, L2: overhead by the license level before the pause; wide: samples whose own code demands a "
                      "level; causes: what it costs others, as a share of all overhead in this profile.");
    describe_culprits(r, most, d);
    document_section(d, DOCUMENT_EVERYWHERE, "ADVICE", "What would help");
    document_notes_most(d, most < ADVICE_MOST ? most : ADVICE_MOST);
    describe_said(r, d, profile_say_advice);
    document_section(d, DOCUMENT_EVERYWHERE, "UNKNOWN", "What limits these figures");
    describe_said(r, d, profile_say_unknown);
    document_section(d, DOCUMENT_EVERYWHERE, "FINDINGS", "");
    describe_said(r, d, profile_say_findings);
}

void profile_print(FILE *out, bool colour, const struct profile_result *r, size_t most_rows)
{
    struct document d;
    describe(r, most_rows, &d);
    document_print(out, colour, &d);
    document_free(&d);
}

/* ---- the page ---- */

static void put_table(const struct profile_result *r, struct document *d, struct table *t, const char *caption)
{
    table_set_meta(t, "modelled", r->info.modelled ? "yes" : "no");
    document_table(d, t, caption, NULL);
}

static void describe_tables(const struct profile_result *r, struct document *d)
{
    struct table t;
    document_section(d, DOCUMENT_ON_PAGE, "TASKS", NULL);
    make_kind(r, PROFILE_TASK, &t);
    put_table(r, d, &t, "Remote overhead of tasks");
    make_commands(r, &t);
    put_table(r, d, &t, "Command lines");
    document_section(d, DOCUMENT_ON_PAGE, "CULPRIT_ROWS", NULL);
    make_culprits(r, &t);
    put_table(r, d, &t, "Who causes how much of each task's overhead");
    document_section(d, DOCUMENT_ON_PAGE, "CONTAINERS", NULL);
    make_kind(r, PROFILE_CONTAINER, &t);
    put_table(r, d, &t, "Remote overhead of containers");
    document_section(d, DOCUMENT_ON_PAGE, "CORES", NULL);
    make_kind(r, PROFILE_CORE, &t);
    put_table(r, d, &t, "Remote overhead of cores");
}

static void describe_pictures(const struct profile_result *r, struct document *d)
{
    static const struct {
        const char *place, *title;
        int (*make)(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                    size_t why_size);
        enum profile_kind kind;
    } pictures[] = {
        {"TASK_CAUSES", "Remote overhead of tasks by cause; the figures are in the table below", profile_chart_causes,
         PROFILE_TASK},
        {"TASK_LEVELS", "Remote overhead of tasks by license level", profile_chart_levels, PROFILE_TASK},
        {"CULPRITS", "Who slows whom: a matrix; its figures are in the table below", profile_chart_culprits,
         PROFILE_TASK},
        {"CONTAINER_CAUSES", "Remote overhead of containers by cause", profile_chart_causes, PROFILE_CONTAINER},
        {"CORE_CAUSES", "Remote overhead of cores by cause", profile_chart_causes, PROFILE_CORE},
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct chart c;
        char why[400];
        int made = pictures[i].make(r, pictures[i].kind, &c, why, sizeof why);
        document_section(d, DOCUMENT_ON_PAGE, pictures[i].place, NULL);
        document_chart(d, &c, pictures[i].title, made, why);
    }
}

int profile_html(const struct profile_result *r, FILE *out, char *why, size_t why_size)
{
    struct document d;
    describe(r, 1, &d);
    describe_tables(r, &d);
    describe_pictures(r, &d);
    int status = document_page(out, &d, "profile", why, why_size);
    document_free(&d);
    return status;
}
