/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads characterize-export/1 (doc/export-format.md). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/params.h"
#include "util/list.h"
#include "util/path.h"

/* One ns in ps. */
enum { NS = 1000 };

/* A file, and an element of one of its lists. */
struct params_row {
    const char *path, *list;
    const json_t *root, *all; /* the file; the list */
    size_t index;
    json_t *json;
    struct machine_error *err;
};

static int row_wrong(const struct params_row *r, const char *key, const char *what)
{
    return machine_fail(r->err, MACHINE_BAD_INPUT, "", "%s: %s[%zu]: '%s' %s", r->path, r->list, r->index, key, what);
}

/* A whole number within limits. *out stays as it is where there is none and none is required. */
static int row_number(const struct params_row *r, const char *key, bool required, double lo, double hi, double *out)
{
    json_t *value = json_object_get(r->json, key);
    if (value == NULL)
        return required ? row_wrong(r, key, "is missing") : MACHINE_OK;
    if (!json_is_integer(value) || (double)json_integer_value(value) < lo || (double)json_integer_value(value) > hi)
        return row_wrong(r, key, "is not a whole number in its range (doc/export-format.md)");
    *out = (double)json_integer_value(value);
    return MACHINE_OK;
}

/* The same with its 95 % limits, NAME_lo and NAME_hi: both or neither, around it. lo, hi: what it may be. */
static int row_limited(const struct params_row *r, const char *key, bool required, double lo, double hi,
                       double limits[2], double *out)
{
    static const char *const ends[2] = {"_lo", "_hi"};
    char name[40];
    int status = row_number(r, key, required, lo, hi, out);
    for (int i = 0; i < 2 && status == MACHINE_OK; i++) {
        snprintf(name, sizeof(name), "%s%s", key, ends[i]);
        limits[i] = NAN;
        status = row_number(r, name, false, -1e15, 1e15, &limits[i]);
    }
    if (status != MACHINE_OK)
        return status;
    if (isnan(limits[0]) != isnan(limits[1]) || (!isnan(limits[0]) && json_object_get(r->json, key) == NULL))
        return row_wrong(r, key, "has only one limit, or limits but no value");
    return limits[0] > *out || limits[1] < *out ? row_wrong(r, key, "lies outside its limits") : MACHINE_OK;
}

/* A reference to one of `below` things. */
static int row_index(const struct params_row *r, const char *key, unsigned below, unsigned *out)
{
    double value = 0;
    int status = row_number(r, key, true, 0, (double)below - 1, &value);
    *out = (unsigned)value;
    return status;
}

static int row_cores(const struct params_row *r, unsigned *out)
{
    double value = 0;
    int status = row_number(r, "active_cores", true, 1, SIM_CORES_MAX, &value);
    *out = (unsigned)value;
    return status;
}

static int no_memory(const struct params_row *r)
{
    return machine_fail(r->err, MACHINE_FAILED, "", "out of memory");
}

/* ---- the lists ---- */

static int read_class(const struct params_row *r, struct sim_params *p)
{
    struct sim_export_class c = {.level = -1};
    double width = 0, level = -1;
    json_t *heavy = json_object_get(r->json, "heavy");
    unsigned number;
    if (row_index(r, "class", (unsigned)r->index + 1, &number) != MACHINE_OK ||
        row_number(r, "width", true, 1, 1e6, &width) != MACHINE_OK ||
        row_number(r, "level", false, 0, p->levels - 1.0, &level) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    if (!json_is_boolean(heavy))
        return row_wrong(r, "heavy", "is neither true nor false");
    c.width = (unsigned)width;
    c.heavy = json_is_true(heavy);
    c.level = (int)level;
    if (!list_room(&p->classes, p->n_classes, sizeof(c)))
        return no_memory(r);
    p->classes[p->n_classes++] = c;
    return MACHINE_OK;
}

static int read_trigger(const struct params_row *r, struct sim_params *p)
{
    unsigned class = 0;
    double one_in = 0, count = 0, limits[2];
    if (row_index(r, "class", (unsigned)p->n_classes, &class) != MACHINE_OK ||
        row_number(r, "one_in", true, 1, 1e9, &one_in) != MACHINE_OK ||
        row_limited(r, "count", false, 0, 1e15, limits, &count) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    double first = isnan(limits[0]) ? count : limits[0];
    /* the shortest burst that was tried requests it already: at once */
    if (one_in == 1)
        p->classes[class].trigger = first > 1 ? count : 0;
    return MACHINE_OK;
}

static int read_frequency(const struct params_row *r, struct sim_params *p)
{
    struct sim_frequency f = {0};
    double cpu = 0, limits[2];
    if (row_number(r, "cpu", true, 0, 1e6, &cpu) != MACHINE_OK || row_cores(r, &f.n) != MACHINE_OK ||
        row_index(r, "level", p->levels, &f.level) != MACHINE_OK ||
        row_limited(r, "mhz", true, 250, 16000, limits, &f.mhz) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    f.lo = isnan(limits[0]) ? f.mhz : limits[0];
    f.hi = isnan(limits[1]) ? f.mhz : limits[1];
    if (cpu != json_number_value(json_object_get(json_array_get(r->all, 0), "cpu"))) /* rows ascend by CPU */
        return MACHINE_OK;
    if (f.n > p->cores)
        p->cores = f.n;
    if (!list_room(&p->frequencies, p->n_frequencies, sizeof(f)))
        return no_memory(r);
    p->frequencies[p->n_frequencies++] = f;
    return MACHINE_OK;
}

static int read_cost(const struct params_row *r, unsigned below, struct sim_cost **list, size_t *n)
{
    struct sim_cost c = {.down = SIM_ABSENT, .up = SIM_ABSENT, .breakeven = SIM_ABSENT};
    double *const values[] = {&c.down, &c.up, &c.breakeven}, limits[2];
    const char *const keys[] = {"down_ns", "up_ns", "breakeven_ns"};
    if (row_index(r, "from", below, &c.from) != MACHINE_OK || row_index(r, "to", below, &c.to) != MACHINE_OK ||
        row_cores(r, &c.n) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    for (size_t i = 0; i < 3; i++) {
        if (row_limited(r, keys[i], false, -1e12, 1e12, limits, values[i]) != MACHINE_OK)
            return MACHINE_BAD_INPUT;
        if (json_object_get(r->json, keys[i]) != NULL)
            *values[i] = fmax(0, *values[i]) * NS;
    }
    if (!list_room(list, *n, sizeof(c)))
        return no_memory(r);
    (*list)[(*n)++] = c;
    return MACHINE_OK;
}

static int read_class_cost(const struct params_row *r, struct sim_params *p)
{
    return read_cost(r, (unsigned)p->n_classes, &p->costs, &p->n_costs);
}

static int read_level_cost(const struct params_row *r, struct sim_params *p)
{
    return read_cost(r, p->levels, &p->level_costs, &p->n_level_costs);
}

static int read_relaxation(const struct params_row *r, struct sim_params *p)
{
    struct sim_relaxation x = {.share = SIM_ABSENT};
    double mode = 0, limits[2];
    if (row_index(r, "from", p->levels, &x.from) != MACHINE_OK || row_index(r, "to", p->levels, &x.to) != MACHINE_OK ||
        row_number(r, "mode", true, 1, 2, &mode) != MACHINE_OK ||
        row_limited(r, "wait_ns", true, 0, 1e12, limits, &x.wait) != MACHINE_OK ||
        row_limited(r, "share_permille", false, 0, 1000, limits, &x.share) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    x.mode = (unsigned)mode;
    x.wait *= NS;
    if (x.share != SIM_ABSENT)
        x.share /= 1000;
    if (!list_room(&p->relaxations, p->n_relaxations, sizeof(x)))
        return no_memory(r);
    p->relaxations[p->n_relaxations++] = x;
    return MACHINE_OK;
}

static int read_throttle(const struct params_row *r, struct sim_params *p)
{
    struct sim_throttle t = {.ratio = SIM_ABSENT};
    double phase = 0, limits[2];
    if (row_index(r, "from", (unsigned)p->n_classes, &t.from) != MACHINE_OK ||
        row_index(r, "to", (unsigned)p->n_classes, &t.to) != MACHINE_OK || row_cores(r, &t.n) != MACHINE_OK ||
        row_number(r, "phase", true, 0, UINT8_MAX, &phase) != MACHINE_OK ||
        row_limited(r, "duration_ns", true, 0, 1e12, limits, &t.ps) != MACHINE_OK ||
        row_limited(r, "ratio_permille", false, 0, 1e6, limits, &t.ratio) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    t.phase = (unsigned)phase;
    t.ps *= NS;
    if (!list_room(&p->throttles, p->n_throttles, sizeof(t)))
        return no_memory(r);
    p->throttles[p->n_throttles++] = t;
    return MACHINE_OK;
}

/* One of the costs of a scheduler's work, in the order of their names. */
static int read_switching(const struct params_row *r, struct sim_params *p)
{
    const char *what = json_string_value(json_object_get(r->json, "what"));
    double ns = 0, limits[2];
    size_t i = 0;
    while (what != NULL && i < SIM_SCHEDULING_COSTS && strcmp(what, sim_scheduling_cost_names[i]) != 0)
        i++;
    if (what == NULL || i == SIM_SCHEDULING_COSTS)
        return row_wrong(r, "what", "is not one of: switch, migration, fault");
    for (size_t k = i; k < SIM_SCHEDULING_COSTS; k++)
        if (p->scheduling_ps[k] >= 0)
            return row_wrong(r, "what", "is not in the order switch, migration, fault, each once");
    int status = row_limited(r, "ns", true, -1e9, 1e9, limits, &ns);
    p->scheduling_ps[i] = (int64_t)fmax(0, ns) * NS;
    return status;
}

/* in an order in which what a row refers to has been read; keys: those by which its rows ascend */
static const struct export_list {
    const char *name;
    int (*read)(const struct params_row *r, struct sim_params *p);
    const char *keys[4];
} export_lists[] = {{"classes", read_class, {"class"}},
                    {"triggers", read_trigger, {"class", "one_in"}},
                    {"frequencies", read_frequency, {"cpu", "active_cores", "level"}},
                    {"costs", read_class_cost, {"from", "to", "active_cores"}},
                    {"level_costs", read_level_cost, {"from", "to", "active_cores"}},
                    {"level_relaxations", read_relaxation, {"from", "to", "mode"}},
                    {"throttles", read_throttle, {"from", "to", "active_cores", "phase"}},
                    {"switching", read_switching, {NULL}}};

/* Checks that a row comes after the one before it. */
static int check_order(const struct params_row *r, const struct export_list *list)
{
    for (size_t i = 0; i < 4 && list->keys[i] != NULL; i++) {
        json_int_t was = json_integer_value(json_object_get(json_array_get(r->all, r->index - 1), list->keys[i]));
        json_int_t is = json_integer_value(json_object_get(r->json, list->keys[i]));
        if (is != was)
            return is > was ? MACHINE_OK : row_wrong(r, list->keys[i], "is not in ascending order");
    }
    return list->keys[0] == NULL ? MACHINE_OK
                                 : row_wrong(r, list->keys[0], "and the other keys equal those of the previous row");
}

static int read_lists(struct params_row *r, struct sim_params *p)
{
    for (const struct export_list *l = export_lists; l < export_lists + sizeof(export_lists) / sizeof(*l); l++) {
        r->list = l->name;
        r->all = json_object_get(r->root, l->name);
        if (r->all != NULL && !json_is_array(r->all)) /* NULL: nothing of it was measured; who needs it says so */
            return machine_fail(r->err, MACHINE_BAD_INPUT, "", "%s: '%s' is not a list", r->path, l->name);
        for (r->index = 0; r->index < json_array_size(r->all); r->index++) {
            r->json = json_array_get(r->all, r->index);
            int status = l->read(r, p);
            if (status == MACHINE_OK && r->index > 0)
                status = check_order(r, l);
            if (status != MACHINE_OK)
                return status;
        }
    }
    return MACHINE_OK;
}

/* ---- all of it ---- */

/* True: the reason is one that the table module (tables/table/choice.c) gives for a single kernel, not for the
 * others. */
static bool missing_of_kernel(const char *why)
{
    return strncmp(why, "needs ", 6) == 0 && strstr(why, "does not support") != NULL;
}

/* Why a table gave nothing, as the file says; "" where it does not. */
static const char *missing_reason(const json_t *root, const char *table)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, "missing"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "table"));
        const char *why = json_string_value(json_object_get(row, "why"));
        if (name != NULL && why != NULL && strcmp(name, table) == 0 && !missing_of_kernel(why))
            return why;
    }
    return "";
}

static int lacks(const struct params_row *r, const char *what)
{
    const char *why = missing_reason(r->root, "frequency");
    return machine_fail(r->err, MACHINE_BAD_INPUT, "", "%s: the export has no %s%s%.300s", r->path, what,
                        why[0] != '\0' ? "; its list 'missing' says why: " : "", why);
}

/* doc/export-format.md: "no level is faster than the one before it by 25 MHz or more beyond the limits of both" */
static int check_levels(const struct params_row *r, const struct sim_params *p)
{
    for (size_t i = 1; i < p->n_frequencies; i++) {
        const struct sim_frequency *fast = &p->frequencies[i - 1], *slow = &p->frequencies[i];
        if (slow->n == fast->n && slow->lo - fast->hi >= 25)
            return machine_fail(r->err, MACHINE_BAD_INPUT, "",
                                "%s: frequencies: level %u is faster than level %u with %u active core%s", r->path,
                                slow->level, fast->level, slow->n, slow->n == 1 ? "" : "s");
    }
    return MACHINE_OK;
}

/* Every level has a frequency with as many active cores as any. */
static int check_frequencies(const struct params_row *r, const struct sim_params *p)
{
    if (p->n_frequencies == 0)
        return lacks(r, "frequencies");
    for (unsigned level = 0; level < p->levels; level++) {
        bool there = false;
        for (size_t i = 0; i < p->n_frequencies; i++)
            there = there || (p->frequencies[i].level == level && p->frequencies[i].n == p->cores);
        if (!there)
            return machine_fail(r->err, MACHINE_BAD_INPUT, "",
                                "%s: frequencies: level %u is missing with %u active core%s", r->path, level, p->cores,
                                p->cores == 1 ? "" : "s");
    }
    return check_levels(r, p);
}

static int read_root(struct params_row *r, struct sim_params *p)
{
    const char *format = json_string_value(json_object_get(r->root, "format"));
    const char *cpu = json_string_value(json_object_get(r->root, "cpu"));
    const char *source = json_string_value(json_object_get(r->root, "source"));
    json_t *levels = json_object_get(r->root, "levels"), *modelled = json_object_get(r->root, "modelled");
    if (format == NULL || strcmp(format, "characterize-export/1") != 0)
        return machine_fail(
            r->err, MACHINE_BAD_INPUT, "",
            "%s: 'format' is not characterize-export/1; characterize --export json FILE writes such files", r->path);
    if (cpu == NULL || !json_is_boolean(modelled))
        return machine_fail(r->err, MACHINE_BAD_INPUT, "", "%s: '%s' is missing", r->path,
                            cpu == NULL ? "cpu" : "modelled");
    if (!json_is_integer(levels) || json_integer_value(levels) < 0 || json_integer_value(levels) > SIM_LEVELS_MAX)
        return machine_fail(r->err, MACHINE_BAD_INPUT, "", "%s: 'levels' is not a whole number from 0 to %d", r->path,
                            SIM_LEVELS_MAX);
    p->levels = (unsigned)json_integer_value(levels);
    p->modelled = json_is_true(modelled);
    p->cpu = strdup(cpu);
    p->source = strdup(source != NULL ? source : "");
    if (p->cpu == NULL || p->source == NULL)
        return no_memory(r);
    if (p->levels == 0)
        return lacks(r, "license levels");
    int status = read_lists(r, p);
    return status == MACHINE_OK ? check_frequencies(r, p) : status;
}

int sim_params_read(const char *path, struct sim_params **out, struct machine_error *err)
{
    char why[400];
    FILE *in;
    json_error_t error;
    *out = NULL;
    if (path_read_named(path, &in, why, sizeof(why)) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "cannot read %s: %s", path, why);
    json_t *root = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
    struct params_row r = {.path = path, .root = root, .err = err};
    struct sim_params *p = calloc(1, sizeof(*p));
    for (size_t i = 0; p != NULL && i < SIM_SCHEDULING_COSTS; i++)
        p->scheduling_ps[i] = -1;
    int status = p == NULL      ? no_memory(&r)
                 : root == NULL ? machine_fail(err, MACHINE_BAD_INPUT, "", "%s:%d:%d: not JSON: %s", path, error.line,
                                               error.column, error.text)
                                : read_root(&r, p);
    fclose(in);
    json_decref(root);
    if (status == MACHINE_OK && !sim_params_prepare(p))
        status = no_memory(&r);
    if (status == MACHINE_OK)
        *out = p;
    else
        sim_params_free(p);
    return status;
}
