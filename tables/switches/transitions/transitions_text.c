/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table transitions for a person: which of its rows may be reported, findings in words, and matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tables/switches/switches.h"
#include "tables/switches/transitions/transitions.h"
#include "tables/table/estimates.h"
#include "tables/table/pivot.h"
#include "util/text_list.h"

#define WAIT_SLACK 0.05 /* rows of one kernel see the same timer, by way of different code */
#define WAIT_SLACK_US 5.0

enum { TRANSITION_COST_MAX = 100 };

enum transition_support {
    TRANSITION_REPORTED,
    TRANSITION_NOTHING,   /* nothing was found, or it is undecided */
    TRANSITION_NO_LEVELS, /* the frequency is said to change where the table frequency has no levels */
    TRANSITION_NO_LIMITS, /* the frequencies, or how long it takes, are not distinguished from none by their limits */
    TRANSITION_CONTRADICTED, /* by other rows */
};
/* The verdict of the other rows on one. */
struct verdict {
    /*
     * May it be reported? A change of the frequency needs frequencies before and after that differ beyond their limits;
     * and more of the other rows at this number of active cores must give each kernel this frequency than another one
     * (within limits, or FREQUENCY_SAME), if any do. Throttling or a halt at one frequency must not be missing in half
     * of the switches to the same kernel from others that are no wider than this one.
     */
    enum transition_support support;
    /* May its wait be reported, too? The frequency must rise, and more rows from the same kernel to the same frequency
     * must have the same wait (within limits, 5 % and 5 us) than another, if any do. */
    enum transition_support wait;
    size_t against; /* where either is contradicted: a row that does it */
};

/* ---- which rows agree ---- */

/* A row, read once: names as numbers of the first row that has them. */
struct entry {
    enum switch_kind kind;
    unsigned cores, width; /* width: of `from` */
    bool dirty;            /* `from` leaves upper halves in use, which changes at what the code after it runs */
    size_t from, to;
    struct estimate from_ghz, to_ghz, wait_us;
};

/* The kind of change that a row states; SWITCH_UNDECIDED where it states none that is known. */
static enum switch_kind row_kind(const struct table *t, size_t row)
{
    enum switch_kind k = 0;
    while (k < SWITCH_KINDS && !table_says(t, row, "kind", transition_switch_kind_name(k)))
        k++;
    return k < SWITCH_KINDS ? k : SWITCH_UNDECIDED;
}

/* The number of a name in a list, where it is put if it is new; `most`: there are so many already. */
static size_t name_number(const char **names, size_t *n, size_t most, const char *name)
{
    size_t i = 0;
    while (i < *n && strcmp(names[i], name) != 0)
        i++;
    if (i == *n && i < most)
        names[(*n)++] = name;
    return i;
}

static void read_entry(const struct table *t, size_t row, const char **names, size_t *n, struct entry *e)
{
    struct payload p;
    char unused[200];
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    from = from ? from : "";
    e->kind = row_kind(t, row);
    e->cores = switches_cores(t, row);
    e->width = kernel_parse(from, &p, unused, sizeof unused) == 0 ? p.kernel->width : 0;
    e->dirty = strstr(from, "-dirty") != NULL;
    e->from = name_number(names, n, SIZE_MAX, from);
    e->to = name_number(names, n, SIZE_MAX, to ? to : "");
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

static bool lost(const struct votes *v, size_t *against)
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
        return lost(&before, against) || (!e[row].dirty && lost(&after, against)) ? TRANSITION_CONTRADICTED
                                                                                  : TRANSITION_REPORTED;
    }
    if (e[row].kind != SWITCH_THROTTLE_ONLY && e[row].kind != SWITCH_HALT_ONLY)
        return TRANSITION_REPORTED;
    struct estimate latency = estimates_of_table(t, row, "latency_us");
    struct votes v = votes_on_throttling(e, t->n_rows, row);
    if (!estimates_known(&latency) || !(latency.lo > 0))
        return TRANSITION_NO_LIMITS;
    return lost(&v, against) ? TRANSITION_CONTRADICTED : TRANSITION_REPORTED;
}

static void judge(const struct table *t, const struct entry *e, size_t row, bool levels, struct verdict *v)
{
    v->against = t->n_rows;
    v->support = v->wait = support_of(t, e, row, levels, &v->against);
    if (v->support != TRANSITION_REPORTED)
        return;
    struct votes on_wait = votes_on_wait(e, t->n_rows, row);
    if (!estimates_known(&e[row].wait_us) || !(e[row].wait_us.lo > 0) ||
        !estimates_above(&e[row].to_ghz, &e[row].from_ghz))
        v->wait = TRANSITION_NO_LIMITS;
    else if (lost(&on_wait, &v->against))
        v->wait = TRANSITION_CONTRADICTED;
}

/* One for each row, free(); NULL: out of memory. O(n_rows^2). */
static struct verdict *verdicts(const struct table *t)
{
    struct verdict *v = calloc(t->n_rows + 1, sizeof *v);
    struct entry *e = calloc(t->n_rows + 1, sizeof *e);
    const char **names = calloc(2 * t->n_rows + 1, sizeof *names);
    bool levels = !estimates_no_levels(t), room = v && e && names;
    size_t n_names = 0;
    for (size_t row = 0; room && row < t->n_rows; row++)
        read_entry(t, row, names, &n_names, &e[row]);
    for (size_t row = 0; room && row < t->n_rows; row++)
        judge(t, e, row, levels, &v[row]);
    free(e);
    free(names);
    if (room)
        return v;
    free(v);
    return NULL;
}

/* The cost of a row with its limits, us; "" where it is not to be reported: without limits, or none by them. */
static const char *cost_text(const struct table *t, size_t row, const struct verdict *v, char out[TRANSITION_COST_MAX])
{
    char text[ESTIMATE_TEXT_MAX];
    struct estimate cost = estimates_of_table(t, row, "overhead_us");
    out[0] = '\0';
    if (v->support == TRANSITION_REPORTED && estimates_known(&cost) && cost.lo > 0 && !estimates_noted_floating(t))
        snprintf(out, TRANSITION_COST_MAX, "%s us", estimates_text(&cost, 1, text));
    return out;
}

/* ---- in words ---- */

/* The row of the largest value of a column among those that may be reported, with (or without) a wait; n_rows: none. */
static size_t largest(const struct table *t, const struct verdict *v, const char *column, bool wait)
{
    size_t best = t->n_rows;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate e = estimates_of_table(t, row, column);
        if (isfinite(table_number(t, row, "wait_us")) != wait || !estimates_known(&e) || !(e.lo > 0) ||
            (wait ? v[row].wait : v[row].support) != TRANSITION_REPORTED)
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

static void tell_down(FILE *out, const struct table *t, const struct verdict *v)
{
    char latency[ESTIMATE_TEXT_MAX], cost[TRANSITION_COST_MAX];
    size_t row = largest(t, v, "latency_us", false);
    if (row == t->n_rows)
        return;
    const char *phases = table_text(t, row, "phases");
    fprintf(out, "Longest transition: %s to %s, %s us", table_text(t, row, "from"), table_text(t, row, "to"),
            estimates_field_text(t, row, "latency_us", 1, latency));
    tell_cores(out, t, row);
    if (phases)
        fprintf(out, " (%s)", phases);
    if (row_kind(t, row) == SWITCH_FREQUENCY)
        tell_frequencies(out, t, row);
    if (cost_text(t, row, &v[row], cost)[0])
        fprintf(out, "; it costs %s", cost);
    fprintf(out, ".\n");
}

static void tell_up(FILE *out, const struct table *t, const struct verdict *v)
{
    char wait[ESTIMATE_TEXT_MAX], latency[ESTIMATE_TEXT_MAX];
    size_t row = largest(t, v, "wait_us", true);
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

/* Reports measurements that cannot be right: the first one, with the row that contradicts it. */
static void tell_contradictions(FILE *out, const struct table *t, const struct verdict *v)
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

static void tell_counts(FILE *out, const struct table *t, const struct verdict *v)
{
    size_t changes = 0, stopped = 0, others = 0, none = 0, undecided = 0, unsupported = 0, first = t->n_rows;
    for (size_t row = t->n_rows; row-- > 0;) {
        enum switch_kind kind = row_kind(t, row);
        bool reported = v[row].support == TRANSITION_REPORTED;
        changes += reported && kind == SWITCH_FREQUENCY;
        stopped += reported && (kind == SWITCH_THROTTLE_ONLY || kind == SWITCH_HALT_ONLY);
        others += reported && (kind == SWITCH_VOLTAGE_ONLY || kind == SWITCH_LICENSE_ONLY);
        undecided += kind == SWITCH_UNDECIDED;
        unsupported += !reported && v[row].support != TRANSITION_NOTHING;
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

/* Returns true if a row has results that are not reported without levels. */
static bool any_withheld(const struct table *t, const struct verdict *v)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (v[row].support == TRANSITION_NO_LEVELS || isfinite(table_number(t, row, "wait_us")) ||
            isfinite(table_number(t, row, "overhead_us")))
            return true;
    return false;
}

void transitions_findings(FILE *out, const struct table *t)
{
    struct verdict *v = t->n_rows ? verdicts(t) : NULL;
    if (!v)
        return;
    tell_down(out, t, v);
    tell_up(out, t, v);
    tell_contradictions(out, t, v);
    if (estimates_no_levels(t) && any_withheld(t, v))
        fprintf(out, "No frequency change, wait or cost is reported: %s.\n", estimates_no_levels(t));
    tell_counts(out, t, v);
    free(v);
}

/* ---- matrices ---- */

enum { KERNELS = 64, PHASES_LISTED = 30 }; /* of a matrix; pairs whose phases are listed below it */
#define NO_ROW SIZE_MAX
/* Kernels behave alike whose switches to all others have frequencies within the first (relative) and latencies within
 * the second (relative) or the third (us): what two measurements of one switch differ by. */
#define SAME_GHZ 0.01
#define SAME_LATENCY 0.05
#define SAME_LATENCY_US 1.5

struct matrix {
    const struct table *table;
    const struct verdict *verdict; /* of each row */
    size_t n;
    const char *name[KERNELS];
    size_t row[KERNELS][KERNELS]; /* [from][to] */
    size_t n_groups;
    size_t group[KERNELS]; /* of each kernel */
    size_t first[KERNELS]; /* kernel of each group, and how many it has */
    size_t size[KERNELS];
};

static void fill(struct matrix *m, const struct table *t, const struct verdict *v, unsigned cores)
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
        size_t a = name_number(m->name, &m->n, KERNELS, from), b = name_number(m->name, &m->n, KERNELS, to);
        if (a < KERNELS && b < KERNELS)
            m->row[a][b] = row;
    }
}

/* ---- which kernels behave alike ---- */

static bool near(double a, double b, double relative, double absolute)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= fmax(absolute, relative * fmax(fabs(a), fabs(b)));
}

static bool is_kind(const struct matrix *m, size_t row, enum switch_kind k)
{
    return row != NO_ROW && row_kind(m->table, row) == k;
}

static bool same_cell(const struct matrix *m, size_t a, size_t b)
{
    const struct table *t = m->table;
    if (a == NO_ROW || b == NO_ROW)
        return a == b;
    return row_kind(t, a) == row_kind(t, b) && near(table_number(t, a, "halts"), table_number(t, b, "halts"), 0, 0) &&
           near(table_number(t, a, "latency_us"), table_number(t, b, "latency_us"), SAME_LATENCY, SAME_LATENCY_US) &&
           near(table_number(t, a, "from_ghz"), table_number(t, b, "from_ghz"), SAME_GHZ, 0) &&
           near(table_number(t, a, "to_ghz"), table_number(t, b, "to_ghz"), SAME_GHZ, 0);
}

static bool alike(const struct matrix *m, size_t a, size_t b)
{
    if (!is_kind(m, m->row[a][b], SWITCH_NONE) || !is_kind(m, m->row[b][a], SWITCH_NONE))
        return false;
    for (size_t k = 0; k < m->n; k++)
        if (k != a && k != b &&
            (!same_cell(m, m->row[a][k], m->row[b][k]) || !same_cell(m, m->row[k][a], m->row[k][b])))
            return false;
    return true;
}

static void find_groups(struct matrix *m)
{
    for (size_t i = 0; i < m->n; i++) {
        size_t g = 0;
        while (g < m->n_groups && !alike(m, m->first[g], i))
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
        mark = m->verdict[row].wait == TRANSITION_REPORTED ? "w" : "!";
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

/* Says what happens in a pair, or why that is not known; NULL: there is nothing to say. */
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
    pivot_mark(p, cost_text(m->table, row, &m->verdict[row], cost)[0] ? cost : "-");
    pivot_word(p, phases_text(m, row));
}

static void print_phases(FILE *out, bool colour, const struct matrix *m)
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

static void print_counts(FILE *out, const struct matrix *m)
{
    size_t count[SWITCH_KINDS] = {0}, n = 0, none = NO_ROW;
    double least = INFINITY, most = 0;
    bool doubtful = false;
    char kinds[300] = "";
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            size_t row = m->row[i][j];
            double wait = row == NO_ROW ? NAN : table_number(m->table, row, "wait_us");
            if (isfinite(wait) && m->verdict[row].wait != TRANSITION_REPORTED) {
                wait = NAN;
                doubtful = true;
            }
            n += row != NO_ROW;
            if (row != NO_ROW)
                count[row_kind(m->table, row)]++;
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

/*
 * The table at one number of active cores: a matrix of latencies, from x to, at most 100 columns wide. Kernels that
 * behave alike towards all others (kind, halts, frequencies within 1 %, latencies within 5 % or 1.5 us) and show
 * nothing among themselves share a line; what does not fit goes into further matrices. Then the phases found, and the
 * effects that would have been found where nothing was.
 */
static void print_matrix(FILE *out, bool colour, const struct table *t, unsigned cores)
{
    struct matrix *m = malloc(sizeof *m);
    struct verdict *v = verdicts(t);
    if (!m || !v) {
        free(m);
        free(v);
        return;
    }
    fill(m, t, v, cores);
    find_groups(m);
    print_latencies(out, colour, m, cores);
    print_counts(out, m);
    print_groups(out, colour, m);
    print_phases(out, colour, m);
    free(m);
    free(v);
}

void transitions_print(FILE *out, bool colour, const struct table *t)
{
    unsigned cores[TABLES_CORES_MAX];
    size_t n = switches_core_counts(t, cores, TABLES_CORES_MAX);
    for (size_t i = 0; i < n; i++)
        print_matrix(out, colour, t, cores[i]);
}
