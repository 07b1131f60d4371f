/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin made plain. */
#include "util/plain_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool continues(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* Length of the well-formed UTF-8 character at s and its code point; 0: not well-formed (RFC 3629, section 4). */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF && continues(s[1])) {
        *code = (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F);
        return 2;
    }
    if ((s[0] & 0xF0) == 0xE0 && continues(s[1]) && continues(s[2])) {
        *code = (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
        bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
        return *code >= 0x800 && !surrogate ? 3 : 0;
    }
    if ((s[0] & 0xF8) == 0xF0 && continues(s[1]) && continues(s[2]) && continues(s[3])) {
        *code = (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 | (uint32_t)(s[2] & 0x3F) << 6 |
                (s[3] & 0x3F);
        return *code >= 0x10000 && *code <= 0x10FFFF ? 4 : 0;
    }
    return 0;
}

/* Characters that move the cursor, end a line or change the order in which text is shown. */
static bool unruly(uint32_t code)
{
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    bool separator = code == 0x2028 || code == 0x2029;
    bool reorders = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                    (code >= 0x2066 && code <= 0x2069);
    return control || separator || reorders;
}

size_t plain_text(const char *in, char *out, size_t size)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    const unsigned char *s = (const unsigned char *)in;
    size_t used = 0;
    while (*s != '\0') {
        uint32_t code = 0;
        size_t length = decode(s, &code), put = length;
        const char *text = (const char *)s;
        if (length == 0) {
            text = replacement;
            put = sizeof(replacement) - 1;
            length = 1;
        } else if (code == '\t' || code == '\n' || code == '\r') {
            text = " ";
            put = 1;
        } else if (unruly(code)) {
            text = "?";
            put = 1;
        }
        if (used + put >= size)
            break;
        memcpy(out + used, text, put);
        used += put;
        s += length;
    }
    out[used] = '\0';
    return used;
}

char *plain_text_copy(const char *in)
{
    size_t size = 3 * strlen(in) + 1; /* U+FFFD takes three bytes, the most that one byte becomes */
    char *out = malloc(size);
    if (out != NULL)
        plain_text(in, out, size);
    return out;
}

struct plain_shown plain_shown(const char *text)
{
    char all[PLAIN_SHOWN_MAX + 8]; /* room for two more characters: whether there is more */
    struct plain_shown s;
    size_t length = plain_text(text, all, sizeof all), n = length;
    if (length > PLAIN_SHOWN_MAX)
        for (n = PLAIN_SHOWN_MAX; continues((unsigned char)all[n]);)
            n--;
    memcpy(s.text, all, n);
    strcpy(s.text + n, n < length ? "..." : "");
    return s;
}

double plain_number(double value, int decimals)
{
    return value <= 0 && value >= -0.5 * pow(10, -decimals) ? 0 : value;
}

struct plain_time plain_time(double us, int decimals)
{
    struct plain_time t;
    if (fabs(us) < 1e6)
        snprintf(t.text, sizeof t.text, "%.*f us", decimals, plain_number(us, decimals));
    else
        snprintf(t.text, sizeof t.text, "%.3f s", us / 1e6);
    return t;
}

static void escaped(FILE *out, const char *plain)
{
    static const char special[] = "&<>\"'";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (const char *c = plain; *c; c++) {
        const char *found = strchr(special, *c);
        if (found)
            fputs(references[found - special], out);
        else
            putc(*c, out);
    }
}

void plain_xml_text(FILE *out, const char *text)
{
    char *plain = text ? plain_text_copy(text) : NULL;
    if (plain)
        escaped(out, plain);
    free(plain);
}
