/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/golden.h"

#include <ctype.h>

#include "tests/support/test.h"

#define FOLDER "tests/golden"
#define ALIKE 1e-6

/* Returns where the number that begins at `at` in `text` ends, sign included; NULL: there is none. *unit: of its last
 * digit. */
static const char *number_end(const char *text, const char *at, double *value, double *unit)
{
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '.' || at[-1] == '#'))
        return NULL;
    const char *digits = at + (*at == '-');
    size_t whole = strspn(digits, "0123456789");
    if (whole == 0)
        return NULL;
    char *end;
    *value = strtod(at, &end);
    *unit = digits[whole] == '.' ? pow(10, -(double)strspn(digits + whole + 1, "0123456789")) : 0;
    return end;
}

/* The number of the first line that differs, 0: none. `rounded`: numbers with a fraction may by their last digit. */
static size_t first_difference(const char *is, const char *was, bool rounded)
{
    const char *a = is, *b = was;
    size_t line = 1;
    while (*a && *b) {
        double x, y, unit, other;
        const char *after_a = number_end(is, a, &x, &unit), *after_b = number_end(was, b, &y, &other);
        if (after_a && after_b && fabs(x - y) <= fmax(ALIKE * fabs(y), rounded ? 1.001 * unit : 0)) {
            a = after_a;
            b = after_b;
        } else if (*a == *b) {
            line += *a++ == '\n';
            b++;
        } else
            return line;
    }
    return *a == *b ? 0 : line;
}

static void line_of(const char *text, size_t line, char *out, size_t size)
{
    while (--line > 0)
        text += strcspn(text, "\n") + 1;
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

bool golden_is(const char *model, const char *what, const char *text, bool rounded)
{
    char path[200], *was = NULL, is_line[160], was_line[160];
    size_t size = 0;
    const char *mode = getenv("GOLDEN");
    bool write = mode && strcmp(mode, "write") == 0;
    snprintf(path, sizeof path, "%s/%s.%s", FOLDER, model, what);
    FILE *f = fopen(path, write ? "w" : "r");
    if (!f)
        fail_msg("cannot open %s", path);
    if (write)
        fputs(text, f);
    else if (getdelim(&was, &size, '\0', f) < 0)
        fail_msg("%s is empty", path);
    assert_int_equal(fclose(f), 0);
    size_t line = write ? 0 : first_difference(text, was, rounded);
    if (line) {
        line_of(was, line, was_line, sizeof was_line);
        line_of(text, line, is_line, sizeof is_line);
        print_error("%s:%zu: was: %s\n  is: %s\n", path, line, was_line, is_line);
    }
    free(was);
    return line == 0;
}

FILE *golden_begin(struct golden *g)
{
    *g = (struct golden){.out = NULL};
    g->out = open_memstream(&g->text, &g->size);
    assert_non_null(g->out);
    return g->out;
}

void golden_expect(struct golden *g, const char *model, const char *what, bool rounded)
{
    assert_int_equal(fclose(g->out), 0);
    bool same = golden_is(model, what, g->text, rounded);
    free(g->text);
    if (!same)
        fail_msg("if the change is intended, run make golden");
}
