/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of characterize-export/1, as doc/export-format.md has them: checked on what was written, not on what was
 * meant. */
#include "tests/support/export_rules.h"

#include <jansson.h>

#include "output/export/export.h"
#include "tests/support/test.h"

/* Upper ends that depend on the file. */
enum { A_CLASS = -1, A_LEVEL = -2 };
enum use { KEY, NEEDED, OPTIONAL };
enum { FIELDS_MAX = 6, TIME_MAX = INT32_MAX };

struct field {
    const char *name;
    enum use use; /* KEY: rows ascend by these, the first one first, and no two rows have the same */
    long long lo, hi;
    bool limits; /* NAME_lo and NAME_hi may stand beside it, both or none */
};

struct list {
    const char *name;
    struct field fields[FIELDS_MAX]; /* whole numbers; the keys come first */
    const char *flag;                /* a key with true or false */
    const char *texts[4];            /* keys with text; such lists have no order */
    bool of_different;               /* from and to differ */
};

#define COST_FIELDS                                                                                                    \
    {"active_cores", KEY, 1, 65535, false}, {"down_ns", OPTIONAL, -TIME_MAX, TIME_MAX, true},                          \
        {"up_ns", OPTIONAL, -TIME_MAX, TIME_MAX, true},                                                                \
    {                                                                                                                  \
        "breakeven_ns", OPTIONAL, 0, TIME_MAX, true                                                                    \
    }
#define RELAXATION_FIELDS                                                                                              \
    {"mode", KEY, 1, 2, false}, {"wait_ns", NEEDED, 0, TIME_MAX, true},                                                \
    {                                                                                                                  \
        "share_permille", OPTIONAL, 0, 1000, true                                                                      \
    }
#define BETWEEN(what)                                                                                                  \
    {"from", KEY, 0, what, false},                                                                                     \
    {                                                                                                                  \
        "to", KEY, 0, what, false                                                                                      \
    }
#define MHZ                                                                                                            \
    {                                                                                                                  \
        "mhz", NEEDED, SCHEDULE_MHZ_MIN, SCHEDULE_MHZ_MAX, true                                                        \
    }

static const struct list lists[] = {
    {"level_events",
     {{"level", KEY, 0, A_LEVEL, false}, {"event", NEEDED, 0, 255, false}, {"umask", NEEDED, 0, 255, false}},
     NULL,
     {NULL},
     false},
    {"events", {{"code", NEEDED, 0, UINT32_MAX, false}}, NULL, {"what"}, false},
    {"cpus", {{"cpu", KEY, 0, 65535, false}, {"like", NEEDED, 0, 65535, false}}, NULL, {NULL}, false},
    {"constants", {{"value", NEEDED, 1, TIME_MAX, false}}, NULL, {"name", "source"}, false},
    {"classes",
     {{"class", KEY, 0, A_CLASS, false}, {"width", NEEDED, 1, 65535, false}, {"level", OPTIONAL, 0, A_LEVEL, false}},
     "heavy",
     {NULL},
     false},
    {"triggers",
     {{"class", KEY, 0, A_CLASS, false},
      {"one_in", KEY, 1, 65535, false},
      {"level", OPTIONAL, 0, A_LEVEL, false},
      {"count", OPTIONAL, 0, TIME_MAX, true}},
     NULL,
     {NULL},
     false},
    {"frequencies",
     {{"cpu", KEY, 0, 65535, false},
      {"active_cores", KEY, 1, 65535, false},
      {"level", KEY, 0, A_LEVEL, false},
      MHZ,
      {"ratio_ppm", OPTIONAL, 1, 4000000, true}},
     NULL,
     {NULL},
     false},
    {"turbo_levels",
     {{"cpu", KEY, 0, 65535, false},
      {"turbo", KEY, 0, 65535, false},
      {"level", KEY, 0, A_LEVEL, false},
      {"cores_lo", NEEDED, 1, 65535, false},
      {"cores_hi", NEEDED, 1, 65535, false},
      MHZ},
     NULL,
     {NULL},
     false},
    {"costs", {BETWEEN(A_CLASS), COST_FIELDS}, NULL, {NULL}, false},
    {"level_costs", {BETWEEN(A_LEVEL), COST_FIELDS}, NULL, {NULL}, true},
    {"relaxations", {BETWEEN(A_CLASS), RELAXATION_FIELDS}, NULL, {NULL}, false},
    {"level_relaxations", {BETWEEN(A_LEVEL), RELAXATION_FIELDS}, NULL, {NULL}, true},
    {"throttles",
     {BETWEEN(A_CLASS),
      {"active_cores", KEY, 1, 65535, false},
      {"phase", KEY, 0, 255, false},
      {"duration_ns", NEEDED, 0, TIME_MAX, true},
      {"ratio_permille", OPTIONAL, 0, 2000, true}},
     NULL,
     {NULL},
     false},
    {"switching", {{"ns", NEEDED, -TIME_MAX, TIME_MAX, true}}, NULL, {"what"}, false},
    {"settings", {{NULL, KEY, 0, 0, false}}, NULL, {"table", "key", "value"}, false},
    {"missing", {{"count", NEEDED, 1, TIME_MAX, false}}, NULL, {"table", "why"}, false},
};
static const size_t N_LISTS = sizeof lists / sizeof *lists;
/* of the head; the first two must be there */
static const char *const head_texts[] = {"cpu", "machine", "source", "version", "date_first", "date_last", "basis"};
enum { HEAD_TEXTS = 7, HEAD_TEXTS_NEEDED = 2 };

struct check {
    const json_t *root;
    long long n_classes, n_levels;
    const char *list; /* where we are */
    size_t row;
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static int export_check_wrong(struct check *c, const char *format, ...)
{
    int n = c->list ? snprintf(c->why, c->why_size, "inconsistent export: %s[%zu]: ", c->list, c->row)
                    : snprintf(c->why, c->why_size, "inconsistent export: ");
    size_t used = n > 0 && (size_t)n < c->why_size ? (size_t)n : 0;
    va_list args;
    va_start(args, format);
    vsnprintf(c->why + used, c->why_size - used, format, args);
    va_end(args);
    return -1;
}

static long long export_check_upper(const struct check *c, const struct field *f)
{
    return f->hi == A_CLASS ? c->n_classes - 1 : f->hi == A_LEVEL ? c->n_levels - 1 : f->hi;
}

static long long export_check_whole(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

static const json_t *export_check_limit(const json_t *row, const struct field *f, const char *suffix)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s", f->name, suffix);
    return json_object_get(row, name);
}

static int export_check_limits(struct check *c, const json_t *row, const struct field *f, size_t *known)
{
    const json_t *lo = export_check_limit(row, f, "_lo"), *hi = export_check_limit(row, f, "_hi");
    const json_t *value = json_object_get(row, f->name);
    if (!f->limits || (!lo && !hi))
        return 0;
    if (!json_is_integer(lo) || !json_is_integer(hi) || !value)
        return export_check_wrong(c, "%s_lo and %s_hi must be whole numbers, both given or neither, next to %s",
                                  f->name, f->name, f->name);
    if (json_integer_value(lo) > json_integer_value(value) || json_integer_value(hi) < json_integer_value(value))
        return export_check_wrong(c, "%s is %lld, outside its limits %lld to %lld", f->name,
                                  (long long)json_integer_value(value), (long long)json_integer_value(lo),
                                  (long long)json_integer_value(hi));
    *known += 2;
    return 0;
}

static int check_field(struct check *c, const json_t *row, const struct field *f, size_t *known)
{
    const json_t *value = json_object_get(row, f->name);
    if (!value && f->use == OPTIONAL)
        return export_check_limits(c, row, f, known);
    if (!json_is_integer(value))
        return export_check_wrong(c, "%s %s", f->name, value ? "is not a whole number" : "is not there");
    long long number = json_integer_value(value);
    if (number < f->lo || number > export_check_upper(c, f))
        return export_check_wrong(c, "%s is %lld, not in %lld to %lld", f->name, number, f->lo,
                                  export_check_upper(c, f));
    (*known)++;
    return export_check_limits(c, row, f, known);
}

static int check_row(struct check *c, const struct list *l, const json_t *row)
{
    size_t known = 0;
    if (!json_is_object(row))
        return export_check_wrong(c, "is not an object");
    for (size_t i = 0; i < FIELDS_MAX && l->fields[i].name; i++)
        if (check_field(c, row, &l->fields[i], &known) != 0)
            return -1;
    if (l->flag && !json_is_boolean(json_object_get(row, l->flag)))
        return export_check_wrong(c, "%s is not true or false", l->flag);
    known += l->flag != NULL;
    for (size_t i = 0; l->texts[i]; i++, known++)
        if (!json_is_string(json_object_get(row, l->texts[i])))
            return export_check_wrong(c, "%s is not a text", l->texts[i]);
    if (known != json_object_size(row))
        return export_check_wrong(c, "has an unknown key");
    if (l->of_different && export_check_whole(row, "from") == export_check_whole(row, "to"))
        return export_check_wrong(c, "is between level %lld and itself", export_check_whole(row, "from"));
    return 0;
}

/* Rows ascend by their keys; equal ones are one row too many. */
static int check_order(struct check *c, const struct list *l, const json_t *before, const json_t *row)
{
    bool has_keys = l->fields[0].name && l->fields[0].use == KEY;
    if (!before || !has_keys)
        return 0;
    for (size_t i = 0; i < FIELDS_MAX && l->fields[i].name && l->fields[i].use == KEY; i++) {
        long long a = export_check_whole(before, l->fields[i].name), b = export_check_whole(row, l->fields[i].name);
        if (a < b)
            return 0;
        if (a > b)
            return export_check_wrong(c, "%s goes back from %lld to %lld", l->fields[i].name, a, b);
    }
    return export_check_wrong(c, "appears twice");
}

static int check_list(struct check *c, const struct list *l)
{
    const json_t *list = json_object_get(c->root, l->name);
    c->list = NULL;
    if (!json_is_array(list))
        return export_check_wrong(c, "%s is not a list", l->name);
    c->list = l->name;
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const json_t *row = json_array_get(list, c->row);
        const json_t *before = c->row ? json_array_get(list, c->row - 1) : NULL;
        if (check_row(c, l, row) != 0 || check_order(c, l, before, row) != 0)
            return -1;
    }
    c->list = NULL;
    return 0;
}

/* ---- what rows say about each other ---- */

static const struct field mhz_field = MHZ;

static long long limit_or_value(const json_t *row, const char *suffix)
{
    const json_t *l = export_check_limit(row, &mhz_field, suffix);
    return json_integer_value(l ? l : json_object_get(row, "mhz"));
}

/* A higher level is never faster, by more than a part of a step of the clock and beyond both limits. */
static int check_levels(struct check *c, const char *name, const char *group)
{
    const json_t *list = json_object_get(c->root, name);
    c->list = name;
    for (c->row = 1; c->row < json_array_size(list); c->row++) {
        const json_t *a = json_array_get(list, c->row - 1), *b = json_array_get(list, c->row);
        if (export_check_whole(a, "cpu") != export_check_whole(b, "cpu") ||
            export_check_whole(a, group) != export_check_whole(b, group))
            continue;
        if (export_check_whole(b, "mhz") >= export_check_whole(a, "mhz") + SCHEDULE_SAME_MHZ &&
            limit_or_value(b, "_lo") > limit_or_value(a, "_hi"))
            return export_check_wrong(
                c, "level %lld at %lld MHz is faster than level %lld at %lld MHz (cpu %lld, %s %lld)",
                export_check_whole(b, "level"), export_check_whole(b, "mhz"), export_check_whole(a, "level"),
                export_check_whole(a, "mhz"), export_check_whole(a, "cpu"), group, export_check_whole(a, group));
    }
    return 0;
}

/* Turbo levels are ranges of core counts that ascend and do not overlap. */
static int check_ranges(struct check *c)
{
    const json_t *list = json_object_get(c->root, "turbo_levels");
    c->list = "turbo_levels";
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const json_t *b = json_array_get(list, c->row);
        const json_t *a = c->row ? json_array_get(list, c->row - 1) : NULL;
        long long lo = export_check_whole(b, "cores_lo"), hi = export_check_whole(b, "cores_hi");
        if (lo > hi)
            return export_check_wrong(c, "cores_lo %lld is above cores_hi %lld", lo, hi);
        if (!a || export_check_whole(a, "cpu") != export_check_whole(b, "cpu"))
            continue;
        bool same = export_check_whole(a, "turbo") == export_check_whole(b, "turbo");
        if (same ? lo != export_check_whole(a, "cores_lo") || hi != export_check_whole(a, "cores_hi")
                 : lo <= export_check_whole(a, "cores_hi"))
            return export_check_wrong(c, "active cores %lld to %lld do not follow %lld to %lld", lo, hi,
                                      export_check_whole(a, "cores_lo"), export_check_whole(a, "cores_hi"));
    }
    return 0;
}

/* At full rate a class requests its own level, and sparser no higher one. */
static int check_triggers(struct check *c)
{
    const json_t *list = json_object_get(c->root, "triggers"), *classes = json_object_get(c->root, "classes");
    c->list = "triggers";
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const json_t *t = json_array_get(list, c->row);
        const json_t *own = json_object_get(json_array_get(classes, (size_t)export_check_whole(t, "class")), "level");
        if (!own || !json_object_get(t, "level"))
            continue;
        long long level = export_check_whole(t, "level"), full = json_integer_value(own);
        if (export_check_whole(t, "one_in") == 1 ? level != full : level > full)
            return export_check_wrong(c, "one in %lld triggers level %lld, but class %lld is of level %lld",
                                      export_check_whole(t, "one_in"), level, export_check_whole(t, "class"), full);
    }
    return 0;
}

/* The least that a share can be, as its limits tell. */
static long long least_share(const json_t *row)
{
    const json_t *lo = json_object_get(row, "share_permille_lo");
    return lo ? json_integer_value(lo) : export_check_whole(row, "share_permille");
}

/* The modes of one wait are parts of a whole. */
static int check_shares(struct check *c, const char *name)
{
    const json_t *list = json_object_get(c->root, name);
    long long sum = 0;
    c->list = name;
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const json_t *b = json_array_get(list, c->row);
        const json_t *a = c->row ? json_array_get(list, c->row - 1) : NULL;
        bool same = a && export_check_whole(a, "from") == export_check_whole(b, "from") &&
                    export_check_whole(a, "to") == export_check_whole(b, "to");
        sum = (same ? sum : 0) + least_share(b);
        if (sum > 1000 + 1) /* each was rounded */
            return export_check_wrong(c, "the shares from %lld to %lld add up to more than 1000",
                                      export_check_whole(b, "from"), export_check_whole(b, "to"));
    }
    return 0;
}

/* Each class is at its index, and ascends by width, light before heavy. */
static int export_check_classes(struct check *c)
{
    const json_t *list = json_object_get(c->root, "classes");
    c->list = "classes";
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const json_t *b = json_array_get(list, c->row);
        if (export_check_whole(b, "class") != (long long)c->row)
            return export_check_wrong(c, "is called class %lld", export_check_whole(b, "class"));
        const json_t *a = c->row ? json_array_get(list, c->row - 1) : NULL;
        bool heavier = a && !json_is_true(json_object_get(a, "heavy")) && json_is_true(json_object_get(b, "heavy"));
        if (a && export_check_whole(b, "width") <= export_check_whole(a, "width") &&
            !(export_check_whole(b, "width") == export_check_whole(a, "width") && heavier))
            return export_check_wrong(c, "width %lld after %lld", export_check_whole(b, "width"),
                                      export_check_whole(a, "width"));
    }
    return 0;
}

/* Each once, in this order. */
static int check_switching(struct check *c)
{
    static const char *const names[] = {"switch", "migration", "fault"};
    const json_t *list = json_object_get(c->root, "switching");
    size_t next = 0;
    c->list = "switching";
    for (c->row = 0; c->row < json_array_size(list); c->row++) {
        const char *what = json_string_value(json_object_get(json_array_get(list, c->row), "what"));
        while (next < 3 && strcmp(what, names[next]) != 0)
            next++;
        if (next++ >= 3)
            return export_check_wrong(c, "what is %s, which is unknown, out of order, or there twice", what);
    }
    return 0;
}

static int check_head(struct check *c)
{
    const char *format = json_string_value(json_object_get(c->root, "format"));
    const json_t *levels = json_object_get(c->root, "levels");
    size_t known = 3 + N_LISTS; /* format, modelled, levels */
    if (!format || strcmp(format, "characterize-export/1") != 0)
        return export_check_wrong(c, "format is not characterize-export/1");
    if (!json_is_boolean(json_object_get(c->root, "modelled")))
        return export_check_wrong(c, "modelled is not true or false");
    for (size_t i = 0; i < HEAD_TEXTS; i++) {
        const json_t *text = json_object_get(c->root, head_texts[i]);
        if (text ? !json_is_string(text) : i < HEAD_TEXTS_NEEDED)
            return export_check_wrong(c, "%s %s", head_texts[i], text ? "is not a text" : "is not there");
        known += text != NULL;
    }
    static const char *const signature[] = {"family", "model", "stepping"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *part = json_object_get(c->root, signature[i]);
        if (part ? !json_is_integer(part) || json_integer_value(part) < 0 : json_object_get(c->root, "family") != NULL)
            return export_check_wrong(c, "%s is not there, or no whole number", signature[i]);
        known += part != NULL;
    }
    if (!json_is_integer(levels) || json_integer_value(levels) < 0 || json_integer_value(levels) > SCHEDULE_LEVELS_MAX)
        return export_check_wrong(c, "levels is not a whole number of 0 to %d", SCHEDULE_LEVELS_MAX);
    c->n_levels = json_integer_value(levels);
    c->n_classes = (long long)json_array_size(json_object_get(c->root, "classes"));
    for (size_t i = 0; i < N_LISTS; i++)
        if (check_list(c, &lists[i]) != 0)
            return -1;
    return known == json_object_size(c->root) ? 0 : export_check_wrong(c, "has an unknown key");
}

int export_rules_check(const char *text, size_t length, char *why, size_t why_size)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    struct check c = {.root = root, .why = why, .why_size = why_size};
    if (!root) {
        snprintf(why, why_size, "not JSON: line %d: %.100s", error.line, error.text);
        return -1;
    }
    int status = json_is_object(root) ? check_head(&c) : export_check_wrong(&c, "not an object");
    if (status == 0)
        status = export_check_classes(&c);
    if (status == 0)
        status = check_levels(&c, "frequencies", "active_cores");
    if (status == 0)
        status = check_levels(&c, "turbo_levels", "turbo");
    if (status == 0)
        status = check_switching(&c);
    if (status == 0)
        status = check_ranges(&c);
    if (status == 0)
        status = check_triggers(&c);
    if (status == 0)
        status = check_shares(&c, "relaxations");
    if (status == 0)
        status = check_shares(&c, "level_relaxations");
    json_decref(root);
    return status;
}

char *export_rules_json(const struct schedule *s)
{
    char why[300] = "";
    char *json = export_to_json(s, why, sizeof why);
    if (!json || export_rules_check(json, strlen(json), why, sizeof why) != 0)
        fail_msg("%s", why);
    return json;
}
