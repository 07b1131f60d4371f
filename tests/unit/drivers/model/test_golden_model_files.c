/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a model file may say, and what is said of one that says something else: every line of a shipped model is left
 * out, given twice, and has each of its numbers changed, also to the ends of the range that is then named. What comes
 * of it is that of tests/golden/model.files.txt. After an intended change, `make golden` rewrites it.
 */
#include "drivers/model/model.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

enum { TEXT_SIZE = 1 << 16 };

static char base[TEXT_SIZE], changed[TEXT_SIZE + 1000];

static void read_base(const char *path)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t n = fread(base, 1, sizeof base - 1, in);
    base[n] = '\0';
    fclose(in);
}

/* The base text with `new` instead of the `length` characters at `at`. Returns what is said of it; "": accepted. */
static const char *said_of(const char *at, size_t length, const char *new)
{
    static struct model m;
    static struct machine_error err;
    int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - base), base, new, at + length);
    return model_parse(changed, (size_t)n, "a.model", &m, &err) == MACHINE_OK ? "" : err.text;
}

static void tell(FILE *out, const char *change, const char *said)
{
    const char *text = strncmp(said, "a.model:", 8) == 0 ? said + 8 : said;
    fprintf(out, "  %s -> %s\n", change, text[0] ? text : "accepted");
}

/* Where a range is named, its ends belong to it, and nothing beyond them does. False: none is. */
static bool try_ends(FILE *out, const char *at, size_t length, const char *said)
{
    const char *range = strstr(said, "out of range; ");
    double least, most;
    if (!range || sscanf(range, "out of range; %lf to %lf", &least, &most) != 2)
        return false;
    const double ends[4] = {least, most, least - 1e-3 * (least > 0 ? least : 1), most * (1 + 1e-3)};
    for (size_t i = 0; i < 4; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.12g", ends[i]);
        tell(out, text, said_of(at, length, text));
    }
    return true;
}

static void change_numbers(FILE *out, const char *line, const char *end)
{
    static const char *const numbers[] = {"0", "-7", "4000000000", "x"};
    const char *comment = memchr(line, '#', (size_t)(end - line)), *at = memchr(line, '=', (size_t)(end - line));
    if (!at)
        return;
    end = comment ? comment : end;
    while ((at = strpbrk(at, "0123456789")) != NULL && at < end) {
        size_t length = strspn(at, "0123456789.exabcdfXABCDF");
        bool ends_tried = false;
        fprintf(out, " %.*s\n", (int)length, at);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            char said[sizeof((struct machine_error *)0)->text];
            snprintf(said, sizeof said, "%s", said_of(at, length, numbers[i]));
            tell(out, numbers[i], said);
            if (!ends_tried)
                ends_tried = try_ends(out, at, length, said);
        }
        at += length;
    }
}

TEST(files)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    read_base("data/models/xeon-gold-6130.model");
    tell(out, "as it is", said_of(base, 0, ""));
    for (const char *line = base, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        size_t length = (size_t)(end - line);
        char twice[1000];
        if (length == 0 || line[0] == '#')
            continue;
        fprintf(out, "%.*s\n", (int)(strcspn(line, "#\n")), line);
        tell(out, "left out", said_of(line, length + 1, ""));
        snprintf(twice, sizeof twice, "%.*s\n%.*s\n", (int)length, line, (int)length, line);
        tell(out, "twice", said_of(line, length + 1, twice));
        if (line[0] == '[')
            tell(out, "unknown", said_of(line, length, "[such a thing]"));
        change_numbers(out, line, end);
    }
    golden_expect(&g, "model", "files.txt", false);
}
