/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/values.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/events/event_code.h"

static const char out_of_range[] = "is out of range";

const char *value_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
    if (text[0] == '\0')
        return "is empty";
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return "is not a whole number";
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, 10);
    bool negative = digits != text && value != 0;
    if (errno == ERANGE || negative || value < lo || value > hi)
        return out_of_range;
    *out = value;
    return NULL;
}

/* [-+] digits [. digits] [e [-+] digits], with at least one digit before the exponent. */
static bool is_decimal(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t whole = strspn(s, "0123456789"), fraction = 0;
    s += whole;
    if (*s == '.') {
        fraction = strspn(++s, "0123456789");
        s += fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        size_t exponent = strspn(s, "0123456789");
        s += exponent;
        return exponent > 0 && *s == '\0';
    }
    return *s == '\0';
}

const char *value_number(const char *text, double lo, double hi, double *out)
{
    if (text[0] == '\0')
        return "is empty";
    if (!is_decimal(text))
        return "is not a number";
    double value = strtod(text, NULL);
    if (!(value >= lo && value <= hi))
        return out_of_range;
    *out = value;
    return NULL;
}

const char *value_select(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!hex)
        return value_whole(text, 0, EVENT_SELECT_MAX_AMD, out);
    size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 3 || text[2 + digits] != '\0')
        return "is not a number of up to three hexadecimal digits";
    *out = strtoull(text + 2, NULL, 16);
    return NULL;
}
