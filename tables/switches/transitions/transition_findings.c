/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/transitions/transitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/estimates.h"
#include "kernels/kernels.h"
#include "tables/switches/switches.h"

#define WAIT_SLACK 0.05 /* rows of one kernel see the same timer, by way of different code */
#define WAIT_SLACK_US 5.0

/* ---- which rows agree ---- */

/* A row, read once: names as numbers of the first row that has them. */
struct entry {
    enum switch_kind kind;
    unsigned cores, width; /* width: of `from` */
    bool dirty;            /* `from` leaves upper halves in use, which changes at what the code behind it runs */
    size_t from, to;
    struct estimate from_ghz, to_ghz, wait_us;
};

enum switch_kind transition_row_kind(const struct table *t, size_t row)
{
    enum switch_kind k = 0;
    while (k < SWITCH_KINDS && !table_says(t, row, "kind", transition_switch_kind_name(k)))
        k++;
    return k < SWITCH_KINDS ? k : SWITCH_UNDECIDED;
}

static size_t name_number(const char **names, size_t *n, const char *name)
{
    size_t i = 0;
    while (i < *n && strcmp(names[i], name) != 0)
        i++;
    if (i == *n)
        names[(*n)++] = name;
    return i;
}

static void read_entry(const struct table *t, size_t row, const char **names, size_t *n, struct entry *e)
{
    struct payload p;
    char unused[200];
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    from = from ? from : "";
    e->kind = transition_row_kind(t, row);
    e->cores = switches_cores(t, row);
    e->width = kernel_parse(from, &p, unused, sizeof unused) == 0 ? p.kernel->width : 0;
    e->dirty = strstr(from, "-dirty") != NULL;
    e->from = name_number(names, n, from);
    e->to = name_number(names, n, to ? to : "");
    e->from_ghz = estimates_of_table(t, row, "from_ghz");
    e->to_ghz = estimates_of_table(t, row, "to_ghz");
    e->wait_us = estimates_of_table(t, row, "wait_us");
}

/* Rows for and against what a row says, not counting itself. */
struct votes {
    size_t pro, contra, against; /* the last: the first of contra */
};

static void vote(struct votes *v, bool agrees, size_t row)
{
    if (!agrees && !v->contra)
        v->against = row;
    v->pro += agrees;
    v->contra += !agrees;
}

static bool transition_findings_lost(const struct votes *v, size_t *against)
{
    if (!v->contra || v->contra < v->pro)
        return false;
    *against = v->against;
    return true;
}

/* At what a kernel runs by a row, against what all other rows say of the same kernel. */
static struct votes votes_on_frequency(const struct entry *e, size_t n, size_t row, bool of_to)
{
    const struct estimate *mine = of_to ? &e[row].to_ghz : &e[row].from_ghz;
    size_t kernel = of_to ? e[row].to : e[row].from;
    struct votes v = {0, 0, n};
    for (size_t i = 0; i < n; i++) {
        if (i == row || e[i].cores != e[row].cores)
            continue;
        if (e[i].from == kernel && estimates_known(&e[i].from_ghz))
            vote(&v, estimates_frequencies_agree(mine, &e[i].from_ghz), i);
        if (e[i].to == kernel && !e[i].dirty && estimates_known(&e[i].to_ghz))
            vote(&v, estimates_frequencies_agree(mine, &e[i].to_ghz), i);
    }
    return v;
}

static struct votes votes_on_throttling(const struct entry *e, size_t n, size_t row)
{
    struct votes v = {0, 0, n};
    for (size_t i = 0; i < n; i++)
        if (i != row && e[i].to == e[row].to && e[i].width <= e[row].width && e[i].cores == e[row].cores &&
            e[i].kind != SWITCH_UNDECIDED)
            vote(&v, e[i].kind != SWITCH_NONE, i);
    return v;
}

static struct votes votes_on_wait(const struct entry *e, size_t n, size_t row)
{
    double slack = fmax(WAIT_SLACK_US, WAIT_SLACK * e[row].wait_us.value);
    struct votes v = {0, 0, n};
    for (size_t i = 0; i < n; i++)
        if (i != row && e[i].from == e[row].from && e[i].cores == e[row].cores && estimates_known(&e[i].wait_us) &&
            estimates_frequencies_agree(&e[i].to_ghz, &e[row].to_ghz))
            vote(&v, estimates_agree(&e[row].wait_us, &e[i].wait_us, slack), i);
    return v;
}

static enum transition_support support_of(const struct table *t, const struct entry *e, size_t row, bool levels,
                                          size_t *against)
{
    const struct estimate *from = &e[row].from_ghz, *to = &e[row].to_ghz;
    if (e[row].kind == SWITCH_NONE || e[row].kind == SWITCH_UNDECIDED)
        return TRANSITION_NOTHING;
    if (e[row].kind == SWITCH_FREQUENCY) {
        struct votes before = votes_on_frequency(e, t->n_rows, row, false);
        struct votes after = votes_on_frequency(e, t->n_rows, row, true);
        if (!levels)
            return TRANSITION_NO_LEVELS;
        if (!estimates_above(from, to) && !estimates_above(to, from))
            return TRANSITION_NO_LIMITS;
        return transition_findings_lost(&before, against) ||
                       (!e[row].dirty && transition_findings_lost(&after, against))
                   ? TRANSITION_CONTRADICTED
                   : TRANSITION_TOLD;
    }
    if (e[row].kind != SWITCH_THROTTLE_ONLY && e[row].kind != SWITCH_HALT_ONLY)
        return TRANSITION_TOLD;
    struct estimate latency = estimates_of_table(t, row, "latency_us");
    struct votes v = votes_on_throttling(e, t->n_rows, row);
    if (!estimates_known(&latency) || !(latency.lo > 0))
        return TRANSITION_NO_LIMITS;
    return transition_findings_lost(&v, against) ? TRANSITION_CONTRADICTED : TRANSITION_TOLD;
}

static void transition_findings_judge(const struct table *t, const struct entry *e, size_t row, bool levels,
                                      struct transition_verdict *v)
{
    v->against = t->n_rows;
    v->support = v->wait = support_of(t, e, row, levels, &v->against);
    if (v->support != TRANSITION_TOLD)
        return;
    struct votes on_wait = votes_on_wait(e, t->n_rows, row);
    if (!estimates_known(&e[row].wait_us) || !(e[row].wait_us.lo > 0) ||
        !estimates_above(&e[row].to_ghz, &e[row].from_ghz))
        v->wait = TRANSITION_NO_LIMITS;
    else if (transition_findings_lost(&on_wait, &v->against))
        v->wait = TRANSITION_CONTRADICTED;
}

struct transition_verdict *transition_verdicts(const struct table *t)
{
    struct transition_verdict *v = calloc(t->n_rows + 1, sizeof *v);
    struct entry *e = calloc(t->n_rows + 1, sizeof *e);
    const char **names = calloc(2 * t->n_rows + 1, sizeof *names);
    bool levels = !estimates_no_levels(t), room = v && e && names;
    size_t n_names = 0;
    for (size_t row = 0; room && row < t->n_rows; row++)
        read_entry(t, row, names, &n_names, &e[row]);
    for (size_t row = 0; room && row < t->n_rows; row++)
        transition_findings_judge(t, e, row, levels, &v[row]);
    free(e);
    free(names);
    if (room)
        return v;
    free(v);
    return NULL;
}

const char *transition_cost_text(const struct table *t, size_t row, const struct transition_verdict *v,
                                 char out[TRANSITION_COST_MAX])
{
    char text[ESTIMATE_TEXT_MAX];
    struct estimate cost = estimates_of_table(t, row, "overhead_us");
    out[0] = '\0';
    if (v->support == TRANSITION_TOLD && estimates_known(&cost) && cost.lo > 0 && !estimates_noted_floating(t))
        snprintf(out, TRANSITION_COST_MAX, "%s us", estimates_text(&cost, 1, text));
    return out;
}

/* ---- in words ---- */

/* The row of the largest value of a column among those that may be told, with (or without) a wait; n_rows: none. */
static size_t transition_findings_largest(const struct table *t, const struct transition_verdict *v, const char *column,
                                          bool wait)
{
    size_t best = t->n_rows;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate e = estimates_of_table(t, row, column);
        if (isfinite(table_number(t, row, "wait_us")) != wait || !estimates_known(&e) || !(e.lo > 0) ||
            (wait ? v[row].wait : v[row].support) != TRANSITION_TOLD)
            continue;
        if (best == t->n_rows || e.value > table_number(t, best, column))
            best = row;
    }
    return best;
}

static void tell_cores(FILE *out, const struct table *t, size_t row)
{
    char cores[ESTIMATE_TEXT_MAX];
    fprintf(out, " with %s", estimates_cores_text(switches_cores(t, row), cores));
}

static void tell_frequencies(FILE *out, const struct table *t, size_t row)
{
    char before[ESTIMATE_TEXT_MAX], after[ESTIMATE_TEXT_MAX];
    fprintf(out, ", %s to %s GHz", estimates_field_text(t, row, "from_ghz", 3, before),
            estimates_field_text(t, row, "to_ghz", 3, after));
}

static void transition_findings_tell_down(FILE *out, const struct table *t, const struct transition_verdict *v)
{
    char latency[ESTIMATE_TEXT_MAX], cost[TRANSITION_COST_MAX];
    size_t row = transition_findings_largest(t, v, "latency_us", false);
    if (row == t->n_rows)
        return;
    const char *phases = table_text(t, row, "phases");
    fprintf(out, "Longest transition: %s to %s, %s us", table_text(t, row, "from"), table_text(t, row, "to"),
            estimates_field_text(t, row, "latency_us", 1, latency));
    tell_cores(out, t, row);
    if (phases)
        fprintf(out, " (%s)", phases);
    if (transition_row_kind(t, row) == SWITCH_FREQUENCY)
        tell_frequencies(out, t, row);
    if (transition_cost_text(t, row, &v[row], cost)[0])
        fprintf(out, "; it costs %s", cost);
    fprintf(out, ".\n");
}

static void transition_findings_tell_up(FILE *out, const struct table *t, const struct transition_verdict *v)
{
    char wait[ESTIMATE_TEXT_MAX], latency[ESTIMATE_TEXT_MAX];
    size_t row = transition_findings_largest(t, v, "wait_us", true);
    if (row == t->n_rows)
        return;
    struct estimate then = estimates_of_table(t, row, "latency_us");
    fprintf(out, "Back up: %s to %s waits %s us at the lower frequency", table_text(t, row, "from"),
            table_text(t, row, "to"), estimates_field_text(t, row, "wait_us", 1, wait));
    if (estimates_known(&then) && then.lo > 0)
        fprintf(out, ", then takes %s us", estimates_text(&then, 1, latency));
    tell_cores(out, t, row);
    tell_frequencies(out, t, row);
    fprintf(out, ".\n");
}

static void tell_row(FILE *out, const struct table *t, size_t row)
{
    char text[ESTIMATE_TEXT_MAX];
    fprintf(out, "%s to %s (%s", table_text(t, row, "from"), table_text(t, row, "to"), table_text(t, row, "kind"));
    if (table_number(t, row, "wait_us_lo") > 0)
        fprintf(out, ", waits %s us", estimates_field_text(t, row, "wait_us", 1, text));
    if (isfinite(table_number(t, row, "from_ghz")) || isfinite(table_number(t, row, "to_ghz")))
        tell_frequencies(out, t, row);
    fprintf(out, ")");
}

/* What was measured and cannot be right: the first of it, with what speaks against it. */
static void tell_contradictions(FILE *out, const struct table *t, const struct transition_verdict *v)
{
    size_t n = 0, first = t->n_rows;
    for (size_t row = t->n_rows; row-- > 0;) {
        bool waits = isfinite(table_number(t, row, "wait_us"));
        if ((waits ? v[row].wait : v[row].support) != TRANSITION_CONTRADICTED)
            continue;
        n++;
        first = row;
    }
    if (!n)
        return;
    fprintf(out, "Rows contradict each other; %zu %s not reported: ", n, n == 1 ? "is" : "are");
    tell_row(out, t, first);
    fprintf(out, " against ");
    tell_row(out, t, v[first].against);
    fprintf(out, ".\n");
}

static void tell_counts(FILE *out, const struct table *t, const struct transition_verdict *v)
{
    size_t changes = 0, stopped = 0, others = 0, none = 0, undecided = 0, unsupported = 0, first = t->n_rows;
    for (size_t row = t->n_rows; row-- > 0;) {
        enum switch_kind kind = transition_row_kind(t, row);
        bool told = v[row].support == TRANSITION_TOLD;
        changes += told && kind == SWITCH_FREQUENCY;
        stopped += told && (kind == SWITCH_THROTTLE_ONLY || kind == SWITCH_HALT_ONLY);
        others += told && (kind == SWITCH_VOLTAGE_ONLY || kind == SWITCH_LICENSE_ONLY);
        undecided += kind == SWITCH_UNDECIDED;
        unsupported += !told && v[row].support != TRANSITION_NOTHING;
        none += kind == SWITCH_NONE;
        first = kind == SWITCH_NONE ? row : first;
    }
    fprintf(out,
            "Of %zu switches between kernels, %zu change the frequency, %zu throttle or halt at one frequency, and %zu "
            "show nothing",
            t->n_rows, changes, stopped, none);
    if (others)
        fprintf(out, ", in %zu only the voltage or the license level changes", others);
    if (undecided)
        fprintf(out, ", %zu %s undecided", undecided, undecided == 1 ? "is" : "are");
    if (unsupported)
        fprintf(out, ", %zu %s not supported by %s limits or by other rows", unsupported,
                unsupported == 1 ? "is" : "are", unsupported == 1 ? "its" : "their");
    if (none && table_text(t, first, "detectable"))
        fprintf(out, "; smallest detectable: %s", table_text(t, first, "detectable"));
    fprintf(out, ".\n");
}

/* Whether a row has what is not told without levels. */
static bool any_withheld(const struct table *t, const struct transition_verdict *v)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (v[row].support == TRANSITION_NO_LEVELS || isfinite(table_number(t, row, "wait_us")) ||
            isfinite(table_number(t, row, "overhead_us")))
            return true;
    return false;
}

void transition_findings(FILE *out, const struct table *t)
{
    struct transition_verdict *v = t->n_rows ? transition_verdicts(t) : NULL;
    if (!v)
        return;
    transition_findings_tell_down(out, t, v);
    transition_findings_tell_up(out, t, v);
    tell_contradictions(out, t, v);
    if (estimates_no_levels(t) && any_withheld(t, v))
        fprintf(out, "No frequency change, wait or cost is reported: %s.\n", estimates_no_levels(t));
    tell_counts(out, t, v);
    free(v);
}
