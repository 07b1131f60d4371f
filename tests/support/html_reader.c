/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/html_reader.h"
#include "tests/support/test.h"

#include <ctype.h>

enum { DEPTH_MAX = 64, IDS_MAX = 20000 };

struct html_reader {
    char open[DEPTH_MAX][24];
    size_t depth, n_ids;
    char (*ids)[40], (*wanted)[40];
    size_t n_wanted;
};

static bool html_is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "br") == 0 || strcmp(name, "!DOCTYPE") == 0;
}

static void read_attribute(struct html_reader *r, const char *name, const char *value, size_t length)
{
    char text[200];
    snprintf(text, sizeof text, "%.*s", (int)length, value);
    assert_true(strncmp(name, "on", 2) != 0);
    assert_true(strcmp(name, "src") != 0 && strcmp(name, "action") != 0);
    assert_true(strcmp(name, "style") != 0 || strncmp(text, "fill:none; stroke:", 18) == 0); /* gnuplot's hatching */
    for (size_t i = 0; i < length; i++)
        assert_true(value[i] != '<');
    if (strcmp(name, "id") == 0) {
        for (size_t i = 0; i < r->n_ids; i++)
            if (strcmp(r->ids[i], text) == 0)
                fail_msg("the id %s stands twice", text);
        assert_true(r->n_ids < IDS_MAX);
        snprintf(r->ids[r->n_ids++], sizeof r->ids[0], "%.39s", text);
    }
    const char *reference = strstr(text, "url(#");
    bool local = strcmp(name, "href") == 0 && text[0] == '#', by_id = strcmp(name, "aria-labelledby") == 0;
    if (reference || local || by_id) {
        const char *wanted = reference ? reference + 5 : local ? text + 1 : text;
        snprintf(r->wanted[r->n_wanted++], sizeof r->wanted[0], "%.*s", (int)strcspn(wanted, ")"), wanted);
    }
    if (strcmp(name, "href") == 0) /* a file beside the page: no scheme, no host */
        assert_true(strchr(text, ':') == NULL && strncmp(text, "//", 2) != 0);
}

/* The attributes of a tag, up to its '>'. */
static const char *read_attributes(struct html_reader *r, const char *s)
{
    for (;;) {
        s += strspn(s, " \n\t");
        if (*s == '>' || *s == '/')
            return s + strcspn(s, ">");
        size_t length = strcspn(s, "= >/\n\t");
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)length, s);
        assert_true(length > 0);
        s += length;
        s += strspn(s, " ");
        if (*s != '=')
            continue;
        s += 1 + strspn(s + 1, " ");
        char quote = *s++;
        assert_true(quote == '"' || quote == '\'');
        const char *close = strchr(s, quote);
        assert_non_null(close);
        read_attribute(r, name, s, (size_t)(close - s));
        s = close + 1;
    }
}

static const char *read_tag(struct html_reader *r, const char *s)
{
    char name[24];
    bool closes = s[1] == '/';
    s += 1 + closes;
    size_t length = strcspn(s, " >\n/\t");
    assert_true(length > 0 && length < sizeof name);
    snprintf(name, sizeof name, "%.*s", (int)length, s);
    if (closes) {
        assert_true(r->depth > 0);
        assert_string_equal(r->open[r->depth - 1], name);
        r->depth--;
        return s + length;
    }
    assert_true(strcmp(name, "img") != 0 && strcmp(name, "link") != 0);
    if (strcmp(name, "script") == 0)
        assert_int_equal(s[length], '>'); /* one that has a source is elsewhere */
    s = read_attributes(r, s + length);
    if (s[-1] != '/' && !html_is_void(name)) {
        assert_true(r->depth < DEPTH_MAX);
        snprintf(r->open[r->depth++], sizeof r->open[0], "%s", name);
    }
    return s;
}

void html_must_be_well_formed(const char *page)
{
    struct html_reader r = {.ids = calloc(IDS_MAX, 40), .wanted = calloc(IDS_MAX * 4, 40)};
    assert_true(r.ids && r.wanted);
    for (const char *s = page; *s; s++) {
        if (*s == '<')
            s = read_tag(&r, s);
        else if (*s == '&')
            assert_true(isalnum((unsigned char)s[1]) || s[1] == '#');
        assert_true((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t');
    }
    assert_int_equal(r.depth, 0);
    for (size_t i = 0; i < r.n_wanted; i++) {
        size_t k = 0;
        while (k < r.n_ids && strcmp(r.ids[k], r.wanted[i]) != 0)
            k++;
        if (k == r.n_ids)
            fail_msg("nothing has the id %s", r.wanted[i]);
    }
    free(r.ids);
    free(r.wanted);
    assert_null(strstr(page, "http"));
    assert_null(strstr(page, "@import"));
}
