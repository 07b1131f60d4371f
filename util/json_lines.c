/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON with a line for each key and each element of a list. */
#include "util/json_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/plain_text.h"

enum { DIGITS = 15 };

void json_lines_put(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value) != 0)
        *failed = true;
}

void json_lines_push(json_t *array, json_t *value, bool *failed)
{
    if (json_array_append_new(array, value) != 0)
        *failed = true;
}

json_t *json_lines_array(json_t *object, const char *key, bool *failed)
{
    json_lines_put(object, key, json_array(), failed);
    return json_object_get(object, key);
}

json_t *json_lines_text(const char *text)
{
    char *plain = text ? plain_text_copy(text) : NULL;
    json_t *value = !text ? json_null() : plain ? json_string(plain) : NULL;
    free(plain);
    return value;
}

json_t *json_lines_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *json_lines_rounded(double x, int digits)
{
    if (!isfinite(x))
        return json_null();
    if (x == 0)
        return json_real(0); /* no -0.0 */
    double scale = pow(10.0, digits - 1 - (int)floor(log10(fabs(x))));
    return json_real(isfinite(scale) && scale > 0 ? round(x * scale) / scale : x);
}

void json_lines_put_text(json_t *object, const char *key, const char *text, bool *failed)
{
    json_lines_put(object, key, json_lines_text(text && *text ? text : NULL), failed);
}

void json_lines_put_real(json_t *object, const char *key, double x, bool *failed)
{
    json_lines_put(object, key, json_lines_real(x), failed);
}

void json_lines_put_whole(json_t *object, const char *key, json_int_t n, bool *failed)
{
    json_lines_put(object, key, json_integer(n), failed);
}

static int print_value(FILE *out, const json_t *value)
{
    return json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));
}

static int print_member(FILE *out, const char *key, const json_t *value)
{
    json_t *name = json_string(key);
    int status = print_value(out, name);
    json_decref(name);
    fputs(": ", out);
    if (json_array_size(value) == 0 || !(json_is_object(json_array_get(value, 0)) || strcmp(key, "rows") == 0))
        return print_value(out, value) | status;
    size_t i;
    json_t *element;
    json_array_foreach(value, i, element)
    {
        fputs(i ? ",\n    " : "[\n    ", out);
        status |= print_value(out, element);
    }
    fputs("\n  ]", out);
    return status;
}

static int print_object(FILE *out, json_t *root)
{
    int status = 0;
    const char *key, *separator = "{\n";
    json_t *value;
    json_object_foreach(root, key, value)
    {
        fprintf(out, "%s  ", separator);
        status |= print_member(out, key, value);
        separator = ",\n";
    }
    fputs("\n}\n", out);
    return ferror(out) ? -1 : status;
}

char *json_lines_dump(json_t *root, bool failed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = failed ? NULL : open_memstream(&text, &size);
    int status = out ? print_object(out, root) : -1;
    json_decref(root);
    if (out && fclose(out) == 0 && status == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- members of structs ---- */

static json_t *value_of(const struct json_member *m, const void *at)
{
    const char *text = m->kind == MEMBER_STRING ? *(const char *const *)at : at;
    switch (m->kind) {
    case MEMBER_CHARS:
    case MEMBER_STRING:
        return json_lines_text(text && *text ? text : NULL);
    case MEMBER_BOOL:
        return json_boolean(*(const bool *)at);
    case MEMBER_INT:
        return json_integer(*(const int *)at);
    case MEMBER_UNSIGNED:
        return json_integer(*(const unsigned *)at);
    case MEMBER_SIZE:
        return json_integer((json_int_t) * (const size_t *)at);
    case MEMBER_REAL:
        return json_lines_real(*(const double *)at);
    case MEMBER_OWN:
        break;
    }
    return NULL;
}

void json_members_put(json_t *o, const struct json_member *m, size_t n, const void *from, bool *failed)
{
    for (size_t i = 0; i < n; i++) {
        const void *at = (const char *)from + m[i].offset;
        if (m[i].kind == MEMBER_OWN)
            m[i].put(o, m[i].key, at, failed);
        else
            json_lines_put(o, m[i].key, value_of(&m[i], at), failed);
    }
}

json_t *json_members(const struct json_member *m, size_t n, const void *from, bool *failed)
{
    json_t *o = json_object();
    json_members_put(o, m, n, from, failed);
    return o;
}

static int read_text(const struct json_member *m, const json_t *value, char *out, char *why, size_t size)
{
    out[0] = '\0';
    if (json_is_string(value))
        plain_text(json_string_value(value), out, m->size);
    else if (!json_is_null(value))
        return error_line(why, size, "%s is neither text nor null", m->key);
    return 0;
}

static int read_number(const struct json_member *m, const json_t *value, void *out, char *why, size_t size)
{
    const double number = json_number_value(value);
    const bool real = m->kind == MEMBER_REAL;
    if (!(real ? json_is_number(value) : json_is_integer(value)) || !(number >= m->lo && number <= m->hi))
        return error_line(why, size, "%s is not a%s number from %g to %g", m->key, real ? "" : " whole", m->lo, m->hi);
    if (real)
        *(double *)out = number;
    else if (m->kind == MEMBER_INT)
        *(int *)out = (int)number;
    else if (m->kind == MEMBER_UNSIGNED)
        *(unsigned *)out = (unsigned)number;
    else
        *(size_t *)out = (size_t)number;
    return 0;
}

int json_members_read(const json_t *from, const struct json_member *m, size_t n, void *out, char *why, size_t size)
{
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        const json_t *value = json_object_get(from, m[i].key);
        void *at = (char *)out + m[i].offset;
        if (m[i].kind == MEMBER_CHARS)
            status = read_text(&m[i], value, at, why, size);
        else if (m[i].kind == MEMBER_BOOL && !json_is_boolean(value))
            status = error_line(why, size, "%s is neither true nor false", m[i].key);
        else if (m[i].kind == MEMBER_BOOL)
            *(bool *)at = json_is_true(value);
        else
            status = read_number(&m[i], value, at, why, size);
    }
    return status;
}
