/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --burst N,T: a number of instructions, and the time from one burst to the next. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options/option_parts.h"

struct burst_unit {
    const char *name;
    double factor;
};

/* A number and its unit, all of the text, times the unit's factor. Returns whether it is one from lo to hi. */
static bool with_unit(const char *text, const struct burst_unit *units, size_t n, double lo, double hi, double *out)
{
    char number[40];
    size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    for (size_t i = 0; i < n; i++)
        if (strcmp(text + length, units[i].name) == 0)
            return option_number(number, lo / units[i].factor, hi / units[i].factor, out) == NULL &&
                   (*out *= units[i].factor, true);
    return false;
}

int option_burst(const char *option, const char *text, struct tables_options *out)
{
    static const struct burst_unit counts[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
    static const struct burst_unit times[] = {{"", 1}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    const char *comma = strchr(text, ',');
    char count[40] = "";
    if (comma != NULL && (size_t)(comma - text) < sizeof count)
        memcpy(count, text, (size_t)(comma - text));
    if (comma == NULL || !with_unit(count, counts, 3, 1, 1e9, &out->burst_count) ||
        out->burst_count != floor(out->burst_count) || !with_unit(comma + 1, times, 4, 1, 1e6, &out->burst_every_us))
        return refuse(BAD_USAGE,
                      "--%s: '%s' is not of the form N,T: instructions (1 to 1e9, also 10k) every T (1 to 1000000 "
                      "microseconds, also 10us, 1ms, 0.1s), as in 1000,1ms",
                      option, text);
    return 0;
}
