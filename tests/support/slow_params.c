/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/slow_params.h"
#include "tests/support/test.h"

#include <jansson.h>

/* Stands for a value that a row lacks: no number of an export is that small. */
#define ABSENT INT64_MIN

/* A row of any list: what it is about, and what it says. */
struct export_row {
    int64_t from, to, cores; /* classes or levels */
    int64_t which;           /* phase, mode */
    int64_t cpu, level, mhz;
    int64_t class, width, heavy, one_in, count, count_lo;
    int64_t down, up, breakeven; /* ns */
    int64_t wait, share;
    int64_t duration, ratio;
};

struct export_rows {
    size_t n;
    struct export_row *row;
};

struct slow_params {
    unsigned levels;
    struct export_rows classes, triggers, frequencies, costs, level_costs, waits, throttles;
};

/* ---- reading ---- */

static int64_t row_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_boolean(value) ? json_is_true(value) : value ? json_integer_value(value) : ABSENT;
}

static struct export_rows read_rows(const json_t *root, const char *name, const char *which)
{
    const json_t *list = json_object_get(root, name);
    assert_true(json_is_array(list));
    struct export_rows rows = {json_array_size(list), NULL};
    rows.row = calloc(rows.n + 1, sizeof *rows.row);
    assert_non_null(rows.row);
    for (size_t i = 0; i < rows.n; i++) {
        const json_t *r = json_array_get(list, i);
        rows.row[i] = (struct export_row){
            .from = row_number(r, "from"),
            .to = row_number(r, "to"),
            .cores = row_number(r, "active_cores"),
            .which = row_number(r, which),
            .cpu = row_number(r, "cpu"),
            .level = row_number(r, "level"),
            .mhz = row_number(r, "mhz"),
            .class = row_number(r, "class"),
            .width = row_number(r, "width"),
            .heavy = row_number(r, "heavy"),
            .one_in = row_number(r, "one_in"),
            .count = row_number(r, "count"),
            .count_lo = row_number(r, "count_lo"),
            .down = row_number(r, "down_ns"),
            .up = row_number(r, "up_ns"),
            .breakeven = row_number(r, "breakeven_ns"),
            .wait = row_number(r, "wait_ns"),
            .share = row_number(r, "share_permille"),
            .duration = row_number(r, "duration_ns"),
            .ratio = row_number(r, "ratio_permille"),
        };
    }
    return rows;
}

struct slow_params *slow_params_read(const char *path)
{
    struct slow_params *p = calloc(1, sizeof *p);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(p);
    assert_non_null(root);
    p->levels = (unsigned)row_number(root, "levels");
    p->classes = read_rows(root, "classes", "class");
    p->triggers = read_rows(root, "triggers", "class");
    p->frequencies = read_rows(root, "frequencies", "level");
    p->costs = read_rows(root, "costs", "from");
    p->level_costs = read_rows(root, "level_costs", "from");
    p->waits = read_rows(root, "level_relaxations", "mode");
    p->throttles = read_rows(root, "throttles", "phase");
    json_decref(root);
    return p;
}

void slow_params_free(struct slow_params *p)
{
    struct export_rows *lists[] = {&p->classes,     &p->triggers, &p->frequencies, &p->costs,
                                   &p->level_costs, &p->waits,    &p->throttles};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->row);
    free(p);
}

/* ---- frequencies and classes ---- */

unsigned slow_params_levels(const struct slow_params *p)
{
    return p->levels;
}

uint32_t slow_params_speed(const struct slow_params *p, unsigned level, unsigned n)
{
    const struct export_row *best = NULL;
    int64_t cpu = INT64_MAX;
    for (size_t i = 0; i < p->frequencies.n; i++)
        if (p->frequencies.row[i].cpu < cpu)
            cpu = p->frequencies.row[i].cpu;
    for (size_t i = 0; i < p->frequencies.n; i++) {
        const struct export_row *r = &p->frequencies.row[i];
        if (r->cpu == cpu && r->level == level && r->cores >= n && (!best || r->cores < best->cores))
            best = r;
    }
    return best ? (uint32_t)best->mhz * SIM_UNITS_PER_MHZ : 0;
}

unsigned slow_params_cores(const struct slow_params *p)
{
    unsigned most = 0;
    for (unsigned level = 0; level < p->levels; level++)
        while (slow_params_speed(p, level, most + 1))
            most++;
    return most;
}

bool slow_params_usable(const struct slow_params *p)
{
    unsigned most = slow_params_cores(p);
    for (unsigned level = 0; level < p->levels; level++)
        if (!slow_params_speed(p, level, most))
            return false;
    return most > 0;
}

uint32_t slow_stalled_speed(uint32_t speed, uint32_t recorded, unsigned stall_permille)
{
    /* s = r F / (q (F - r) + r), q in thousandths; floor(a / b + 1/2) = floor((2 a + b) / 2 b) */
    int64_t f = speed, r = recorded, q = stall_permille;
    int64_t above = 1000 * r * f, below = q * (f - r) + 1000 * r;
    return (uint32_t)((2 * above + below) / (2 * below));
}

/* The class of the export that is a class of the workload, or -1. */
static int64_t class_number(const struct slow_params *p, enum sim_class c)
{
    static const struct {
        int64_t width, heavy;
    } is[SIM_CLASSES] = {
        [SIM_256LIGHT] = {256, 0}, [SIM_256HEAVY] = {256, 1}, [SIM_512LIGHT] = {512, 0}, [SIM_512HEAVY] = {512, 1}};
    for (size_t i = 0; c != SIM_NONE && i < p->classes.n; i++)
        if (p->classes.row[i].width == is[c].width && p->classes.row[i].heavy == is[c].heavy)
            return p->classes.row[i].class;
    return -1;
}

static int64_t level_of_class(const struct slow_params *p, int64_t number)
{
    for (size_t i = 0; i < p->classes.n; i++)
        if (p->classes.row[i].class == number)
            return p->classes.row[i].level;
    return ABSENT;
}

int slow_params_demand(const struct slow_params *p, enum sim_class c)
{
    int64_t level = c == SIM_NONE ? 0 : level_of_class(p, class_number(p, c));
    return level == ABSENT ? -1 : (int)level;
}

int64_t slow_params_trigger(const struct slow_params *p, enum sim_class c)
{
    for (size_t i = 0; c != SIM_NONE && i < p->triggers.n; i++) {
        const struct export_row *r = &p->triggers.row[i];
        if (r->class == class_number(p, c) && r->one_in == 1 && (r->count_lo == ABSENT ? r->count : r->count_lo) > 1)
            return r->count;
    }
    return 0;
}

/* ---- costs ---- */

/* Returns true if this is the row that is searched for. */
typedef bool (*row_says)(const struct export_row *r);

static bool says_down(const struct export_row *r)
{
    return r->down != ABSENT;
}

static bool says_up(const struct export_row *r)
{
    return r->up != ABSENT;
}

static bool says_throttle(const struct export_row *r)
{
    return r->duration != ABSENT;
}

/* Finds, among the rows between two that have the value, those at n, else at the next higher, else at the highest;
 * returns the first of them. */
static const struct export_row *row_at(const struct export_rows *rows, int64_t from, int64_t to, unsigned n,
                                       row_says says)
{
    const struct export_row *above = NULL, *highest = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        const struct export_row *r = &rows->row[i];
        if (r->from != from || r->to != to || !says(r))
            continue;
        if (r->cores >= n && (!above || r->cores < above->cores))
            above = r;
        if (!highest || r->cores > highest->cores)
            highest = r;
    }
    return above ? above : highest;
}

/* The same of the first class `from` of a level in whose rows to class K something is said. */
static const struct export_row *row_of_class(const struct slow_params *p, const struct export_rows *rows,
                                             unsigned from_level, int64_t k, unsigned n, row_says says)
{
    for (size_t i = 0; k >= 0 && i < rows->n; i++)
        if (rows->row[i].to == k && level_of_class(p, rows->row[i].from) == from_level && says(&rows->row[i]))
            return row_at(rows, rows->row[i].from, k, n, says);
    return NULL;
}

static int64_t ps_of_ns(int64_t ns)
{
    return ns > 0 ? 1000 * ns : 0;
}

static int64_t whole(double ps)
{
    return (int64_t)floor(ps + 0.5);
}

static void add_phase(struct sim_change *c, int64_t ps, unsigned permille)
{
    assert_true(c->n < SIM_PHASES_MAX);
    if (ps > 0) {
        c->phase[c->n].ps = ps;
        c->phase[c->n++].permille = permille;
    }
}

bool slow_params_down(const struct slow_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n,
                      struct sim_change *out)
{
    int64_t k = class_number(p, c);
    const struct export_row *cost = row_of_class(p, &p->costs, from, k, n, says_down);
    for (int64_t a = from; !cost && a >= 0; a--)
        cost = row_at(&p->level_costs, a, to, n, says_down);
    if (!cost)
        return false;
    *out = (struct sim_change){.total_ps = (double)ps_of_ns(cost->down)};

    const struct export_row *first = row_of_class(p, &p->throttles, from, k, n, says_throttle);
    double slower = (double)slow_params_speed(p, from, n) / (double)slow_params_speed(p, to, n), sum = 0;
    for (int pass = 0; pass < 2; pass++) { /* the sum of the throttles, then the phases */
        double scale = sum > out->total_ps ? out->total_ps / sum : 1;
        for (size_t i = 0; first && i < p->throttles.n; i++) {
            const struct export_row *r = &p->throttles.row[i];
            if (r->from != first->from || r->to != first->to || r->cores != first->cores || r->ratio == ABSENT)
                continue;
            double duration = (double)ps_of_ns(r->duration);
            if (pass == 0)
                sum += duration * (1 - (double)r->ratio / 1000 * slower);
            else
                add_phase(out, whole(duration * scale), (unsigned)r->ratio);
        }
    }
    if (sum < out->total_ps)
        add_phase(out, whole(out->total_ps - sum), 0);
    return true;
}

int64_t slow_params_up(const struct slow_params *p, unsigned from, unsigned to, unsigned n)
{
    const struct export_row *row = row_at(&p->level_costs, to, from, n, says_up);
    if (row)
        return ps_of_ns(row->up);
    for (int same = 1; same >= 0; same--) {
        int64_t most = -1;
        for (size_t i = 0; i < p->level_costs.n; i++) {
            const struct export_row *r = &p->level_costs.row[i];
            if (says_up(r) && (!same || r->to == from) && ps_of_ns(r->up) > most)
                most = ps_of_ns(r->up);
        }
        if (most >= 0)
            return most;
    }
    return -1;
}

/* ---- waits and break-even times ---- */

bool slow_params_wait(const struct slow_params *p, unsigned from, unsigned to, struct sim_wait *out)
{
    const struct export_row *usual = NULL;
    int rank = 0; /* 3: between these levels, 2: from this level, 1: any */
    for (size_t i = 0; i < p->waits.n; i++) {
        const struct export_row *r = &p->waits.row[i];
        int its = r->from != from ? 1 : r->to != to ? 2 : 3;
        if (r->which == 1 && r->wait != ABSENT &&
            (its > rank || (its == 1 && rank == 1 && usual && r->wait > usual->wait))) {
            usual = r;
            rank = its;
        }
    }
    if (!usual)
        return false;
    *out = (struct sim_wait){.usual_ps = ps_of_ns(usual->wait), .long_ps = ps_of_ns(usual->wait)};
    for (size_t i = 0; i < p->waits.n; i++) {
        const struct export_row *r = &p->waits.row[i];
        if (r->from == usual->from && r->to == usual->to && r->which == 2 && r->wait != ABSENT && r->share != ABSENT) {
            out->long_ps = ps_of_ns(r->wait);
            out->long_share = (double)r->share / 1000;
        }
    }
    return true;
}

int64_t slow_params_breakeven(const struct slow_params *p, unsigned fast, unsigned slow, unsigned n)
{
    double a = slow_params_speed(p, fast, n), b = slow_params_speed(p, slow, n);
    struct sim_change down;
    int64_t up = slow_params_up(p, slow, fast, n);
    if (a <= b)
        return SIM_FOREVER;
    for (size_t i = 0; i < p->level_costs.n; i++) {
        const struct export_row *r = &p->level_costs.row[i];
        if (r->from == fast && r->to == slow && r->cores == n && r->breakeven != ABSENT)
            return ps_of_ns(r->breakeven);
    }
    if (up < 0 || !slow_params_down(p, fast, slow, SIM_NONE, n, &down))
        return -1;
    return whole(a * (down.total_ps + (double)up) / (a - b));
}
