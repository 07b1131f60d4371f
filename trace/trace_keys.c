/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metadata that a trace may have, and what each key accepts. */
#include "trace/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/discarded.h"

enum form {
    FORM_TEXT,   /* anything */
    FORM_WORD,   /* one of `allowed` */
    FORM_NUMBER, /* lo to hi; above lo where `open` */
    FORM_WHOLE,  /* lo to most */
    FORM_RUNS,   /* REASON = 3,17; REASON = 4 */
    FORM_SAMPLES /* 3 of 20000 */
};

struct trace_key {
    const char *name;
    enum form form;
    const char *allowed; /* for a person */
    double lo, hi;
    bool open;
    uint64_t most;
};

#define WHOLE(key, least, greatest)                                                                                    \
    {                                                                                                                  \
        .name = key, .form = FORM_WHOLE, .allowed = #least " to " #greatest, .lo = least, .most = UINT64_C(greatest)   \
    }
#define TEXT(key)                                                                                                      \
    {                                                                                                                  \
        .name = key, .form = FORM_TEXT, .allowed = "a text"                                                            \
    }

/*
 * Ranges are wide: what no clock, no core and no recording can be lies outside. Periods and times are those of the
 * options, and of recordings of other tools that last for up to a quarter of an hour.
 */
static const struct trace_key keys[] = {
    {.name = "format", .form = FORM_WORD, .allowed = "characterize-trace/1"},
    TEXT("cpu"),
    TEXT("machine"),
    TEXT("source"),
    {.name = "modelled", .form = FORM_WORD, .allowed = "yes, no"},
    WHOLE("seed", 0, 18446744073709551615),
    TEXT("from"),
    TEXT("to"),
    TEXT("kernel"),
    {.name = "tsc_hz", .form = FORM_NUMBER, .allowed = "1e6 to 1e11", .lo = 1e6, .hi = 1e11},
    TEXT("tsc_origin"),
    {.name = "period_us", .form = FORM_NUMBER, .allowed = "above 0, up to 1e6", .hi = 1e6, .open = true},
    {.name = "warmup_us", .form = FORM_NUMBER, .allowed = "0 to 1e9", .hi = 1e9},
    {.name = "observe_us", .form = FORM_NUMBER, .allowed = "above 0, up to 1e9", .hi = 1e9, .open = true},
    {.name = "null_cold_us", .form = FORM_NUMBER, .allowed = "0 to 1000", .lo = 0, .hi = 1000},
    {.name = "null_lost_us", .form = FORM_NUMBER, .allowed = "0 to 1000", .lo = 0, .hi = 1000},
    {.name = "fine_us", .form = FORM_NUMBER, .allowed = "above 0, up to 1e9", .hi = 1e9, .open = true},
    WHOLE("repetitions", 1, 4294967295),
    WHOLE("cpu_number", 0, 65535),
    WHOLE("active_cores", 1, 65535),
    {.name = "frequency", .form = FORM_WORD, .allowed = "instantaneous, mean"},
    {.name = "clock_step_ns", .form = FORM_NUMBER, .allowed = "0.01 to 10000", .lo = 0.01, .hi = 1e4},
    {.name = "chain_cycles", .form = FORM_NUMBER, .allowed = "1 to 1e6", .lo = 1, .hi = 1e6},
    {.name = "reading_us", .form = FORM_NUMBER, .allowed = "0 to 1000", .hi = 1000},
    {.name = "frequency_error", .form = FORM_NUMBER, .allowed = "0 to 0.5", .hi = 0.5},
    {.name = "sampler", .form = FORM_WORD, .allowed = "resumes at once, fixed work"},
    TEXT("unsettled"),
    TEXT("events"),
    TEXT("notes"),
    TEXT("settings"),
    TEXT("environment"),
    TEXT("volts_missing"),
    {.name = "volts_late_us", .form = FORM_NUMBER, .allowed = "0 to 1000", .hi = 1000},
    {.name = "discarded", .form = FORM_RUNS, .allowed = "REASON = RUN,RUN; REASON = RUN, runs from 0 to 4294967295"},
    {.name = "samples_discarded", .form = FORM_SAMPLES, .allowed = "N of M, above 0 and fewer than one in 1000"},
    TEXT("date"),
    TEXT("version"),
};
_Static_assert(TRACE_OUTSIDE_ONE_IN == 1000, "the text above says so");

static bool is_word(const char *value, const char *words)
{
    size_t length = strlen(value);
    for (const char *at = words; at; at = strchr(at, ','), at = at ? at + 2 : NULL)
        if (strcspn(at, ",") == length && strncmp(at, value, length) == 0)
            return true;
    return false;
}

/* A decimal number at *at, which is moved after it. */
static bool take_number(const struct trace_key *k, const char **at, double *value)
{
    const char *digits = *at + strspn(*at, "+-");
    char *end;
    if (digits - *at > 1 || strspn(digits, ".0123456789") == 0 || strncasecmp(digits, "0x", 2) == 0)
        return false; /* "nan", "inf" and hexadecimal numbers are none here */
    *value = strtod(*at, &end);
    bool within = k->open ? *value > k->lo : *value >= k->lo;
    bool ok = end != *at && within && *value <= k->hi;
    *at = end;
    return ok;
}

static bool is_whole(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && errno == 0 && value >= least && value <= most;
}

static bool are_runs(const char *value)
{
    struct discarded_list l = {.at = value};
    int got;
    while ((got = discarded_next(&l)) > 0)
        ;
    return got == 0;
}

static bool may_be(const struct trace_key *k, const char *value)
{
    const char *at = value;
    double number;
    switch (k->form) {
    case FORM_WORD:
        return is_word(value, k->allowed);
    case FORM_NUMBER:
        return take_number(k, &at, &number) && !*at;
    case FORM_WHOLE:
        return is_whole(value, (uint64_t)k->lo, k->most);
    case FORM_RUNS:
        return are_runs(value);
    case FORM_SAMPLES:
        return trace_samples_discarded(value, &(uint64_t){0}, &(uint64_t){0});
    default:
        return true;
    }
}

static const struct trace_key *trace_key_named(const char *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i].name) == 0)
            return &keys[i];
    return NULL;
}

const char *trace_key_refuses(const char *key, const char *value)
{
    const struct trace_key *k = trace_key_named(key);
    return !k || may_be(k, value) ? NULL : k->allowed;
}
