/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/switches/switches.h"
#include "tables/switches/transitions/transitions.h"
#include "tables/table/pivot.h"
#include "util/text_list.h"

enum { KERNELS = 64, PHASES_LISTED = 30 };
#define NO_ROW SIZE_MAX
#define SAME_GHZ 0.01
#define SAME_LATENCY 0.05
#define SAME_LATENCY_US 1.5

struct matrix {
    const struct table *table;
    const struct transition_verdict *verdict; /* of each row */
    size_t n;
    const char *name[KERNELS];
    size_t row[KERNELS][KERNELS]; /* [from][to] */
    size_t n_groups;
    size_t group[KERNELS]; /* of each kernel */
    size_t first[KERNELS]; /* kernel of each group, and how many it has */
    size_t size[KERNELS];
};

static void fill(struct matrix *m, const struct table *t, const struct transition_verdict *v, unsigned cores)
{
    memset(m, 0, sizeof *m);
    m->table = t;
    m->verdict = v;
    for (size_t i = 0; i < KERNELS; i++)
        for (size_t j = 0; j < KERNELS; j++)
            m->row[i][j] = NO_ROW;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
        if (!from || !to || table_number(t, row, "active_cores") != (double)cores)
            continue;
        size_t a = transition_name_number(m->name, &m->n, KERNELS, from),
               b = transition_name_number(m->name, &m->n, KERNELS, to);
        if (a < KERNELS && b < KERNELS)
            m->row[a][b] = row;
    }
}

/* ---- which kernels behave alike ---- */

static bool transition_matrix_near(double a, double b, double relative, double absolute)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= fmax(absolute, relative * fmax(fabs(a), fabs(b)));
}

static bool is_kind(const struct matrix *m, size_t row, enum switch_kind k)
{
    return row != NO_ROW && transition_row_kind(m->table, row) == k;
}

static bool transition_matrix_same_cell(const struct matrix *m, size_t a, size_t b)
{
    const struct table *t = m->table;
    if (a == NO_ROW || b == NO_ROW)
        return a == b;
    return transition_row_kind(t, a) == transition_row_kind(t, b) &&
           transition_matrix_near(table_number(t, a, "halts"), table_number(t, b, "halts"), 0, 0) &&
           transition_matrix_near(table_number(t, a, "latency_us"), table_number(t, b, "latency_us"), SAME_LATENCY,
                                  SAME_LATENCY_US) &&
           transition_matrix_near(table_number(t, a, "from_ghz"), table_number(t, b, "from_ghz"), SAME_GHZ, 0) &&
           transition_matrix_near(table_number(t, a, "to_ghz"), table_number(t, b, "to_ghz"), SAME_GHZ, 0);
}

static bool transition_matrix_alike(const struct matrix *m, size_t a, size_t b)
{
    if (!is_kind(m, m->row[a][b], SWITCH_NONE) || !is_kind(m, m->row[b][a], SWITCH_NONE))
        return false;
    for (size_t k = 0; k < m->n; k++)
        if (k != a && k != b &&
            (!transition_matrix_same_cell(m, m->row[a][k], m->row[b][k]) ||
             !transition_matrix_same_cell(m, m->row[k][a], m->row[k][b])))
            return false;
    return true;
}

static void find_groups(struct matrix *m)
{
    for (size_t i = 0; i < m->n; i++) {
        size_t g = 0;
        while (g < m->n_groups && !transition_matrix_alike(m, m->first[g], i))
            g++;
        if (g == m->n_groups)
            m->first[m->n_groups++] = i;
        m->group[i] = g;
        m->size[g]++;
    }
}

/* ---- printing ---- */

/* "64add", or "64add+2" of three kernels. */
static void put_group(struct pivot *p, const struct matrix *m, size_t g)
{
    pivot_word(p, m->name[m->first[g]]);
    if (m->size[g] > 1)
        pivot_more(p, "+%zu", m->size[g] - 1);
}

/* Any row from one group to another: that of their first kernels, or of the first two within one group. */
static size_t row_between(const struct matrix *m, size_t from, size_t to)
{
    if (from != to)
        return m->row[m->first[from]][m->first[to]];
    for (size_t i = m->first[from] + 1; i < m->n; i++)
        if (m->group[i] == from)
            return m->row[m->first[from]][i];
    return NO_ROW;
}

static void put_latency(struct pivot *p, const struct matrix *m, size_t row)
{
    const char *mark = "";
    if (row == NO_ROW || is_kind(m, row, SWITCH_UNDECIDED)) {
        pivot_mark(p, row == NO_ROW ? "" : "?");
        return;
    }
    if (is_kind(m, row, SWITCH_NONE)) {
        pivot_mark(p, ".");
        return;
    }
    if (isfinite(table_number(m->table, row, "wait_us")))
        mark = m->verdict[row].wait == TRANSITION_TOLD ? "w" : "!";
    else if (!is_kind(m, row, SWITCH_FREQUENCY))
        mark = is_kind(m, row, SWITCH_VOLTAGE_ONLY) || is_kind(m, row, SWITCH_LICENSE_ONLY) ? "v" : "t";
    pivot_number(p, table_number(m->table, row, "latency_us"), 1);
    pivot_more(p, "%s", mark);
}

static void print_latencies(FILE *out, bool colour, const struct matrix *m, unsigned cores)
{
    char with[ESTIMATE_TEXT_MAX];
    struct pivot p;
    pivot_init(&p, 1, "Latency in us, from the first sign to full speed; %s", estimates_cores_text(cores, with));
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "from \\ to");
    for (size_t to = 0; to < m->n_groups; to++)
        put_group(&p, m, to);
    for (size_t from = 0; from < m->n_groups; from++) {
        pivot_line(&p, PIVOT_ROW);
        put_group(&p, m, from);
        for (size_t to = 0; to < m->n_groups; to++)
            put_latency(&p, m, row_between(m, from, to));
    }
    pivot_print(out, colour, &p);
}

static void print_groups(FILE *out, bool colour, const struct matrix *m)
{
    struct pivot p;
    pivot_init(&p, 1, "Kernels that behave alike");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "group");
    pivot_word(&p, "kernels");
    for (size_t g = 0; g < m->n_groups; g++) {
        if (m->size[g] < 2)
            continue;
        pivot_line(&p, PIVOT_ROW);
        put_group(&p, m, g);
        pivot_word(&p, m->name[m->first[g]]);
        for (size_t i = m->first[g] + 1; i < m->n; i++)
            if (m->group[i] == g)
                pivot_more(&p, " %s", m->name[i]);
    }
    pivot_print(out, colour, &p);
}

/* What happens in a pair, or why that is not known; NULL: nothing is to be said of it. */
static const char *phases_text(const struct matrix *m, size_t row)
{
    const char *text = row == NO_ROW ? NULL : table_text(m->table, row, "phases");
    return !text && is_kind(m, row, SWITCH_UNDECIDED) ? table_text(m->table, row, "note") : text;
}

static void put_phases(struct pivot *p, const struct matrix *m, size_t row)
{
    char cost[TRANSITION_COST_MAX];
    pivot_line(p, PIVOT_ROW);
    pivot_pair(p, m->table, row);
    pivot_mark(p, transition_cost_text(m->table, row, &m->verdict[row], cost)[0] ? cost : "-");
    pivot_word(p, phases_text(m, row));
}

static void transition_matrix_print_phases(FILE *out, bool colour, const struct matrix *m)
{
    struct pivot p;
    size_t pairs = 0;
    pivot_init(&p, 1, "What happens, and what it costs");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "from -> to");
    pivot_word(&p, "costs");
    pivot_word(&p, "phases");
    for (size_t from = 0; from < m->n_groups; from++)
        for (size_t to = 0; to < m->n_groups; to++)
            if (from != to && phases_text(m, row_between(m, from, to)) && pairs++ < PHASES_LISTED)
                put_phases(&p, m, row_between(m, from, to));
    pivot_print(out, colour, &p);
    if (pairs > PHASES_LISTED)
        pivot_note(out, 2, "... those of all pairs are in the table's CSV and JSON");
}

static void transition_matrix_print_counts(FILE *out, const struct matrix *m)
{
    size_t count[SWITCH_KINDS] = {0}, n = 0, none = NO_ROW;
    double least = INFINITY, most = 0;
    bool doubtful = false;
    char kinds[300] = "";
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            size_t row = m->row[i][j];
            double wait = row == NO_ROW ? NAN : table_number(m->table, row, "wait_us");
            if (isfinite(wait) && m->verdict[row].wait != TRANSITION_TOLD) {
                wait = NAN;
                doubtful = true;
            }
            n += row != NO_ROW;
            if (row != NO_ROW)
                count[transition_row_kind(m->table, row)]++;
            if (is_kind(m, row, SWITCH_NONE) && none == NO_ROW)
                none = row;
            if (isfinite(wait)) {
                least = fmin(least, wait);
                most = fmax(most, wait);
            }
        }
    for (enum switch_kind k = 0; k < SWITCH_KINDS; k++)
        if (count[k])
            text_list_add(kinds, sizeof kinds, ", ", "%zu %s", count[k], transition_switch_kind_name(k));
    pivot_note(out, 2, "%zu pair%s: %s", n, n == 1 ? "" : "s", kinds);
    if (most > 0 && round(most) > round(least))
        fprintf(out, "w: after a wait at the lower frequency, %.0f to %.0f us\n", least, most);
    else if (most > 0)
        fprintf(out, "w: after a wait at the lower frequency, %.0f us\n", most);
    if (doubtful)
        fprintf(out, "!: after a wait that its limits or other rows do not support\n");
    if (count[SWITCH_THROTTLE_ONLY] + count[SWITCH_HALT_ONLY])
        fprintf(out, "t: throttled or halted, without a change of frequency\n");
    if (count[SWITCH_VOLTAGE_ONLY] + count[SWITCH_LICENSE_ONLY])
        fprintf(out, "v: only the voltage or the license level changes\n");
    if (count[SWITCH_UNDECIDED])
        fprintf(out, "?: the data do not decide; reasons below\n");
    if (none == NO_ROW || !table_text(m->table, none, "detectable"))
        return;
    pivot_note(out, 3, ".: nothing found; the smallest effects that would have been detected (%s -> %s): %s",
               table_text(m->table, none, "from"), table_text(m->table, none, "to"),
               table_text(m->table, none, "detectable"));
}

void transition_matrix_print(FILE *out, bool colour, const struct table *t, unsigned cores)
{
    struct matrix *m = malloc(sizeof *m);
    struct transition_verdict *v = transition_verdicts(t);
    if (!m || !v) {
        free(m);
        free(v);
        return;
    }
    fill(m, t, v, cores);
    find_groups(m);
    print_latencies(out, colour, m, cores);
    transition_matrix_print_counts(out, m);
    print_groups(out, colour, m);
    transition_matrix_print_phases(out, colour, m);
    free(m);
    free(v);
}
