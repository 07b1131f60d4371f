/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/transition_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/switches/switches.h"
#include "tables/switches/transition_findings.h"

enum { KERNELS = 64, WIDTH = SWITCHES_SCREEN, FIELD = 9, PHASES_LISTED = 30 };
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

static size_t transition_matrix_kernel_number(struct matrix *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->name[i], name) == 0)
            return i;
    if (m->n == KERNELS)
        return KERNELS;
    m->name[m->n] = name;
    return m->n++;
}

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
        size_t a = transition_matrix_kernel_number(m, from), b = transition_matrix_kernel_number(m, to);
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
    const char *kind = row == NO_ROW ? NULL : table_text(m->table, row, "kind");
    return kind && strcmp(kind, transition_switch_kind_name(k)) == 0;
}

static bool transition_matrix_same_cell(const struct matrix *m, size_t a, size_t b)
{
    const struct table *t = m->table;
    if (a == NO_ROW || b == NO_ROW)
        return a == b;
    const char *kind_a = table_text(t, a, "kind"), *kind_b = table_text(t, b, "kind");
    return kind_a && kind_b && strcmp(kind_a, kind_b) == 0 &&
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

static void group_label(const struct matrix *m, size_t g, char *out, size_t size)
{
    if (m->size[g] > 1)
        snprintf(out, size, "%s+%zu", m->name[m->first[g]], m->size[g] - 1);
    else
        snprintf(out, size, "%s", m->name[m->first[g]]);
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

static void transition_matrix_field(const struct matrix *m, size_t row, char *out, size_t size)
{
    double latency = row == NO_ROW ? NAN : table_number(m->table, row, "latency_us");
    const char *mark = "";
    if (row == NO_ROW || is_kind(m, row, SWITCH_UNDECIDED)) {
        snprintf(out, size, "%s", row == NO_ROW ? "" : "?");
        return;
    }
    if (is_kind(m, row, SWITCH_NONE)) {
        snprintf(out, size, ".");
        return;
    }
    if (isfinite(table_number(m->table, row, "wait_us")))
        mark = m->verdict[row].wait == TRANSITION_TOLD ? "w" : "!";
    else if (!is_kind(m, row, SWITCH_FREQUENCY))
        mark = is_kind(m, row, SWITCH_VOLTAGE_ONLY) || is_kind(m, row, SWITCH_LICENSE_ONLY) ? "v" : "t";
    snprintf(out, size, "%.1f%s", switches_tenths(latency), mark);
}

static size_t label_width(const struct matrix *m)
{
    size_t width = FIELD - 1;
    for (size_t g = 0; g < m->n_groups; g++) {
        char label[KERNEL_NAME_MAX + 24];
        group_label(m, g, label, sizeof label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return width;
}

static void print_columns(FILE *out, const struct matrix *m, size_t begin, size_t end, int width)
{
    char text[KERNEL_NAME_MAX + 24];
    fprintf(out, "%-*s", width, "from \\ to");
    for (size_t g = begin; g < end; g++) {
        group_label(m, g, text, sizeof text);
        fprintf(out, " %*s", width, text);
    }
    for (size_t from = 0; from < m->n_groups; from++) {
        group_label(m, from, text, sizeof text);
        fprintf(out, "\n%-*s", width, text);
        for (size_t to = begin; to < end; to++) {
            transition_matrix_field(m, row_between(m, from, to), text, sizeof text);
            fprintf(out, " %*s", width, text);
        }
    }
    fprintf(out, "\n");
}

static void print_groups(FILE *out, const struct matrix *m)
{
    for (size_t g = 0; g < m->n_groups; g++) {
        char label[KERNEL_NAME_MAX + 24];
        if (m->size[g] < 2)
            continue;
        group_label(m, g, label, sizeof label);
        int column = fprintf(out, "%s, alike:", label);
        for (size_t i = 0; i < m->n; i++) {
            if (m->group[i] != g)
                continue;
            if (column + (int)strlen(m->name[i]) + 1 > WIDTH)
                column = fprintf(out, "\n   ") - 1;
            column += fprintf(out, " %s", m->name[i]);
        }
        fprintf(out, "\n");
    }
}

static void transition_matrix_print_phases(FILE *out, const struct matrix *m)
{
    size_t listed = 0;
    for (size_t from = 0; from < m->n_groups; from++)
        for (size_t to = 0; to < m->n_groups; to++) {
            size_t row = row_between(m, from, to);
            const char *phases = row == NO_ROW ? NULL : table_text(m->table, row, "phases");
            const char *why = is_kind(m, row, SWITCH_UNDECIDED) ? table_text(m->table, row, "note") : NULL;
            if (!phases)
                phases = why;
            if (!phases || from == to)
                continue;
            if (listed++ == PHASES_LISTED) {
                fprintf(out, "  ... and more: see the table's CSV or JSON\n");
                return;
            }
            char text[600], cost[TRANSITION_COST_MAX];
            snprintf(text, sizeof text, "%.450s", phases);
            if (transition_cost_text(m->table, row, &m->verdict[row], cost)[0])
                snprintf(text + strlen(text), sizeof text - strlen(text), "; costs %s", cost);
            int column = fprintf(out, "  %s -> %s:", m->name[m->first[from]], m->name[m->first[to]]);
            switches_print_wrapped(out, text, column, 6);
        }
}

static void transition_matrix_print_counts(FILE *out, const struct matrix *m)
{
    size_t count[SWITCH_KINDS] = {0}, n = 0, none = NO_ROW;
    double least = INFINITY, most = 0;
    bool doubtful = false;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            size_t row = m->row[i][j];
            double wait = row == NO_ROW ? NAN : table_number(m->table, row, "wait_us");
            if (isfinite(wait) && m->verdict[row].wait != TRANSITION_TOLD) {
                wait = NAN;
                doubtful = true;
            }
            n += row != NO_ROW;
            for (enum switch_kind k = 0; k < SWITCH_KINDS; k++)
                count[k] += is_kind(m, row, k);
            if (is_kind(m, row, SWITCH_NONE) && none == NO_ROW)
                none = row;
            if (isfinite(wait)) {
                least = fmin(least, wait);
                most = fmax(most, wait);
            }
        }
    fprintf(out, "%zu pair%s:", n, n == 1 ? "" : "s");
    for (enum switch_kind k = 0, listed = 0; k < SWITCH_KINDS; k++)
        if (count[k])
            fprintf(out, "%s %zu %s", listed++ ? "," : "", count[k], transition_switch_kind_name(k));
    fprintf(out, "\n");
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
    int column = fprintf(out, ".: nothing found; smallest detectable (%s to %s):", table_text(m->table, none, "from"),
                         table_text(m->table, none, "to"));
    switches_print_wrapped(out, table_text(m->table, none, "detectable"), column, 3);
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
    size_t width = label_width(m), columns = WIDTH / (width + 1) - 1;
    fprintf(out, "\n%sLatency in us, from the first sign to full speed; %u active core%s%s\n", colour ? "\033[1m" : "",
            cores, cores == 1 ? "" : "s", colour ? "\033[0m" : "");
    columns = columns ? columns : 1;
    for (size_t begin = 0; begin < m->n_groups; begin += columns) {
        size_t end = begin + columns < m->n_groups ? begin + columns : m->n_groups;
        print_columns(out, m, begin, end, (int)width);
    }
    print_groups(out, m);
    transition_matrix_print_counts(out, m);
    transition_matrix_print_phases(out, m);
    free(m);
    free(v);
}
