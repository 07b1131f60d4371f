/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the codes of raw events. */
#include "drivers/events/event_code.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0 to `most` at *at, up to a colon or the end; *at is moved there. */
static bool take_number(const char **at, uint32_t most, uint32_t *out)
{
    bool hex = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
    const char *digits = hex ? *at + 2 : *at;
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");

    if (n == 0 || n > 8 || (digits[n] != ':' && digits[n] != '\0'))
        return false;
    unsigned long value = strtoul(digits, NULL, hex ? 16 : 10);
    *at = digits + n;
    *out = (uint32_t)value;
    return value <= most;
}

/* One of the words after the umask, at *at. */
static const char *take_word(const char **at, uint64_t *code, bool seen[3])
{
    static const char *const words[3] = {"cmask=", "inv", "edge"};
    uint32_t cmask = 0;

    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(*at, words[i], length) != 0)
            continue;
        *at += length;
        if (seen[i])
            return "has the same condition twice";
        seen[i] = true;
        if (i == 0 && (!take_number(at, 0xff, &cmask) || cmask == 0))
            return "has a cmask that is not 1 to 255";
        *code |= i == 0 ? cmask << EVENT_CODE_CMASK_SHIFT : i == 1 ? EVENT_CODE_INV : EVENT_CODE_EDGE;
        return **at == ':' || **at == '\0' ? NULL : "has an unknown condition after the umask (cmask=N, inv, edge)";
    }
    return "has an unknown condition after the umask (cmask=N, inv, edge)";
}

const char *event_code_parse(const char *text, uint64_t *code)
{
    uint32_t event, umask;
    bool seen[3] = {false};
    const char *at = text;

    if (strchr(text, ':') == NULL)
        return "is not of the form EVENT:UMASK";
    if (!take_number(&at, EVENT_SELECT_MAX_AMD, &event) || *at != ':')
        return "has an event select that is not 0x00 to 0xff (0xfff on AMD)";
    at++;
    if (!take_number(&at, 0xff, &umask))
        return "has a umask that is not 0x00 to 0xff";
    *code = event_code_make(event, umask);
    while (*at == ':') {
        at++;
        const char *wrong = take_word(&at, code, seen);
        if (wrong != NULL)
            return wrong;
    }
    /* a comparison with 0 is none: the counter then adds, and the bit has no meaning (SDM, as above) */
    return seen[1] && !seen[0] ? "has inv without a cmask" : NULL;
}

static void format_with(uint64_t code, const char *start, const char *number, const char *equals, char *out,
                        size_t size)
{
    unsigned cmask = (unsigned)(code >> EVENT_CODE_CMASK_SHIFT & 0xff);
    char counter_mask[16] = "";
    const char *separator = number[0] == '\0' ? "_" : ":";

    if (cmask != 0)
        snprintf(counter_mask, sizeof counter_mask, "%scmask%s%u", separator, equals, cmask);
    snprintf(out, size, "%s%s%02x%s%s%02x%s%s%s%s%s", start, number, event_code_select(code), separator, number,
             event_code_umask(code), counter_mask, code & EVENT_CODE_INV ? separator : "",
             code & EVENT_CODE_INV ? "inv" : "", code & EVENT_CODE_EDGE ? separator : "",
             code & EVENT_CODE_EDGE ? "edge" : "");
}

void event_code_format(uint64_t code, char *out, size_t size)
{
    format_with(code, "", "0x", "=", out, size);
}

void event_code_column(uint64_t code, char out[EVENT_COLUMN_MAX])
{
    format_with(code, "event_", "", "", out, EVENT_COLUMN_MAX);
}
