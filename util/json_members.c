/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structs as objects of JSON and back. */
#include "util/json_members.h"

#include <string.h>

#include "util/error.h"
#include "util/json_lines.h"
#include "util/plain_text.h"

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
