/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/json_changes.h"
#include "tests/support/test.h"

enum json_change {
    CHANGE_LEFT_OUT,
    CHANGE_NULL,
    CHANGE_NEGATIVE,
    CHANGE_HUGE,
    CHANGE_TEXT,
    CHANGE_LIST,
    CHANGE_OBJECT,
    CHANGE_TWICE,
    JSON_CHANGES
};
static const char *const change_names[JSON_CHANGES] = {"left out", "null", "-1",     "1e300",
                                                       "text",     "list", "object", "twice"};
enum { CHANGE_WHY = 600, CHANGE_PATH = 200 };

struct changer {
    FILE *out;
    json_t *root;
    void (*read)(void *data, const json_t *root, char *why, size_t size);
    void *data;
};

/* A list or text twice, else the value itself. */
static json_t *twice(json_t *was)
{
    if (json_is_string(was))
        return json_sprintf("%s%s", json_string_value(was), json_string_value(was));
    json_t *copy = json_deep_copy(was);
    if (json_is_array(was))
        json_array_extend(copy, was);
    return copy;
}

static json_t *changed(json_t *was, enum json_change c)
{
    switch (c) {
    case CHANGE_NULL:
        return json_null();
    case CHANGE_NEGATIVE:
        return json_integer(-1);
    case CHANGE_HUGE:
        return json_real(1e300);
    case CHANGE_TEXT:
        return json_string("x");
    case CHANGE_LIST:
        return json_array();
    case CHANGE_OBJECT:
        return json_object();
    default:
        return twice(was);
    }
}

static void put_change(json_t *parent, const char *key, json_t *was, enum json_change c)
{
    if (key && c == CHANGE_LEFT_OUT)
        json_object_del(parent, key);
    else if (key)
        json_object_set_new(parent, key, changed(was, c));
    else if (c == CHANGE_LEFT_OUT)
        json_array_remove(parent, 0);
    else
        json_array_set_new(parent, 0, changed(was, c));
}

static void undo_change(json_t *parent, const char *key, json_t *was, enum json_change c)
{
    if (key)
        json_object_set(parent, key, was);
    else if (c == CHANGE_LEFT_OUT)
        json_array_insert(parent, 0, was);
    else
        json_array_set(parent, 0, was);
}

/* Equal answers together: "path: taken (null, list); x is not a number (left out, -1)" */
static void write_answers(FILE *out, const char *path, char why[JSON_CHANGES][CHANGE_WHY])
{
    fprintf(out, "%s:", path);
    for (int c = 0, told = 0; c < JSON_CHANGES; c++) {
        bool before = false;
        for (int k = 0; k < c && !before; k++)
            before = strcmp(why[k], why[c]) == 0;
        if (before)
            continue;
        fprintf(out, "%s %s (%s", told++ ? ";" : "", why[c][0] ? why[c] : "taken", change_names[c]);
        for (int k = c + 1; k < JSON_CHANGES; k++)
            if (strcmp(why[k], why[c]) == 0)
                fprintf(out, ", %s", change_names[k]);
        fprintf(out, ")");
    }
    fprintf(out, "\n");
}

static void change_value(struct changer *x, json_t *parent, const char *key, json_t *was, const char *path)
{
    static char why[JSON_CHANGES][CHANGE_WHY];
    json_incref(was);
    for (enum json_change c = 0; c < JSON_CHANGES; c++) {
        why[c][0] = '\0';
        put_change(parent, key, was, c);
        x->read(x->data, x->root, why[c], CHANGE_WHY);
        undo_change(parent, key, was, c);
    }
    json_decref(was);
    write_answers(x->out, path, why);
}

/* Depth first; keys in the order of the file. */
static void change_all(struct changer *x, json_t *in, const char *path)
{
    char below[CHANGE_PATH];
    const char *key;
    json_t *value;
    void *safe;
    if (json_is_array(in) && json_array_size(in) > 0) {
        snprintf(below, sizeof below, "%s[0]", path);
        change_value(x, in, NULL, json_array_get(in, 0), below);
        change_all(x, json_array_get(in, 0), below);
    }
    char keys[64][64];
    size_t n = 0;
    json_object_foreach_safe(in, safe, key, value)
    {
        assert_true(n < 64);
        snprintf(keys[n++], sizeof keys[0], "%s", key);
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(below, sizeof below, "%.100s%s%.60s", path, *path ? "." : "", keys[i]);
        change_value(x, in, keys[i], json_object_get(in, keys[i]), below);
        change_all(x, json_object_get(in, keys[i]), below);
    }
}

void json_changes_write(FILE *out, json_t *root, void (*read)(void *data, const json_t *root, char *why, size_t size),
                        void *data)
{
    struct changer x = {out, root, read, data};
    change_all(&x, root, "");
}
