/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields and numbers of CSV. */
#include "util/csv_field.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool csv_field_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

char *csv_field_trim(char *text)
{
    while (csv_field_blank(*text))
        text++;
    for (char *end = text + strlen(text); end > text && csv_field_blank(end[-1]);)
        *--end = '\0';
    return text;
}

char *csv_field_next(char **at, bool *last)
{
    char *p = *at;
    while (csv_field_blank(*p))
        p++;
    if (*p == '"') {
        char *field = ++p, *out = field;
        for (; *p && (*p != '"' || p[1] == '"'); p++) {
            if (*p == '"')
                p++;
            *out++ = *p;
        }
        if (!*p)
            return NULL;
        p++;
        while (csv_field_blank(*p))
            p++;
        *out = '\0';
        if (*p && *p != ',')
            return NULL;
        *last = !*p;
        *at = *p ? p + 1 : p;
        return field;
    }
    char *end = p + strcspn(p, ",");
    *last = !*end;
    *at = *end ? end + 1 : end;
    *end = '\0';
    return csv_field_trim(p);
}

bool csv_field_number(const char *s, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = s;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    uint64_t digits = 0;
    int n = 0, scale = 0;
    for (; *p >= '0' && *p <= '9'; p++, n++)
        digits = digits * 10 + (uint64_t)(*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, n++, scale++)
            digits = digits * 10 + (uint64_t)(*p - '0');
    if (!*p && n > 0 && n <= 15) {
        *value = (negative ? -1.0 : 1.0) * ((double)digits / tens[scale]);
        return true;
    }
    if (!n && strcasecmp(p, "nan"))
        return false; /* "inf", "0x1p3" and words are no measurements */
    if (n && (*p == 'x' || *p == 'X'))
        return false;
    char *end;
    *value = strtod(s, &end);
    return !*end && end != s;
}
