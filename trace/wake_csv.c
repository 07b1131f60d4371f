/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a CSV of first uses after idle times. */
#include "trace/wake_csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/csv_field.h"
#include "util/error.h"
#include "util/list.h"
#include "util/plain_text.h"

/* Columns of a line and its bytes. */
enum { WAKE_COLUMNS_MOST = 256, WAKE_LINE_MOST = 1 << 20 };

struct wake_reader {
    FILE *in;
    char *line;
    size_t number;               /* of the line, from 1 */
    bool ended;                  /* the line has an end */
    size_t idle, first, unit, n; /* columns from 1; 0: there is none; n: how many there are */
    struct trace_error *err;
};

#define wake_csv_fail(r, column, ...) trace_error_at((r)->err, (r)->number, column, __VA_ARGS__)

/* 1: a line, without its end; 0: there is none left. */
static int wake_csv_line(struct wake_reader *r)
{
    size_t length = 0;
    int c;
    r->number++;
    while ((c = getc_unlocked(r->in)) != EOF && c != '\n') {
        if (c == '\0' || length == WAKE_LINE_MOST)
            return wake_csv_fail(r, 0, c == '\0' ? "NUL byte: not a text file" : "the line is too long");
        r->line[length++] = (char)c;
    }
    r->line[length] = '\0';
    r->ended = c == '\n';
    if (ferror(r->in))
        return wake_csv_fail(r, 0, "reading failed: %s", strerror(errno));
    return c != EOF || length > 0;
}

static void wake_csv_header(struct wake_reader *r, char *line)
{
    bool last = false;
    for (char *name; !last && (name = csv_field_next(&line, &last)) != NULL;) {
        r->n++;
        size_t *column = strcmp(name, "idle_us") == 0    ? &r->idle
                         : strcmp(name, "first_us") == 0 ? &r->first
                         : strcmp(name, "unit") == 0     ? &r->unit
                                                         : NULL;
        if (column != NULL)
            *column = *column == 0 ? r->n : WAKE_COLUMNS_MOST + 1;
    }
}

bool wake_csv_is(const char *header_line)
{
    struct wake_reader r = {.n = 0};
    char *copy = strdup(header_line);
    if (copy == NULL)
        return false;
    wake_csv_header(&r, copy);
    free(copy);
    return r.idle > 0 && r.first > 0;
}

static int wake_csv_unit(struct wake_reader *r, struct wake_csv *w, size_t column, const char *unit)
{
    if ((w->n > 0 || w->unit[0] != '\0') && strcmp(w->unit, unit) != 0)
        return wake_csv_fail(r, column, "unit '%s' after '%s': one recording, one unit; split the file",
                             plain_shown(unit).text, plain_shown(w->unit).text);
    snprintf(w->unit, sizeof w->unit, "%s", unit);
    return strlen(unit) < sizeof w->unit ? 0 : wake_csv_fail(r, column, "the unit's name is too long");
}

static int comment(struct wake_reader *r, struct wake_csv *w, char *line)
{
    const struct {
        const char *key;
        char *value;
        size_t size;
    } known[] = {{"cpu", w->cpu, sizeof w->cpu},
                 {"machine", w->machine, sizeof w->machine},
                 {"environment", w->environment, sizeof w->environment}};
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return 0;
    *colon = '\0';
    const char *key = csv_field_trim(line + 1), *value = csv_field_trim(colon + 1);
    if (strcmp(key, "unit") == 0)
        return wake_csv_unit(r, w, 0, value);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(key, known[i].key) == 0)
            snprintf(known[i].value, known[i].size, "%s", value);
    return 0;
}

static int wake_csv_value(struct wake_reader *r, size_t column, const char *field, struct wake_row *row)
{
    bool idle = column == r->idle;
    double value;
    if (!csv_field_number(field, &value))
        return wake_csv_fail(r, column, "'%s' is not a number; %s is in microseconds", plain_shown(field).text,
                             idle ? "idle_us" : "first_us");
    if (!(value >= 0 && value <= 1e12) || (!idle && value == 0))
        return wake_csv_fail(r, column, "%s '%s' is outside its range, %s 0 to 1e12", idle ? "idle_us" : "first_us",
                             plain_shown(field).text, idle ? "from" : "above");
    *(idle ? &row->idle_us : &row->first_us) = value;
    return 0;
}

static int wake_csv_row(struct wake_reader *r, struct wake_csv *w)
{
    struct wake_row row = {0, 0};
    char *at = r->line;
    bool last = false;
    size_t column = 0;
    while (!last) {
        const char *field = csv_field_next(&at, &last);
        column++;
        if (field == NULL)
            return wake_csv_fail(r, column, "unterminated quote");
        if (column > r->n)
            return wake_csv_fail(r, column, "more fields than the %zu columns of the header line", r->n);
        int status = column == r->idle || column == r->first ? wake_csv_value(r, column, field, &row)
                     : column == r->unit                     ? wake_csv_unit(r, w, column, field)
                                                             : 0;
        if (status != 0)
            return -1;
    }
    if (column < r->n)
        return wake_csv_fail(r, column, "the line ends after %zu of %zu fields", column, r->n);
    if (!r->ended) { /* nor may its last number be whole */
        w->cut = true;
        return 0;
    }
    if (!list_room(&w->row, w->n, sizeof *w->row))
        return wake_csv_fail(r, 0, "out of memory");
    w->row[w->n++] = row;
    return 0;
}

static int read_all(struct wake_reader *r, struct wake_csv *w)
{
    int got;
    while ((got = wake_csv_line(r)) > 0) {
        char *line = r->line;
        if (r->number == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0)
            memmove(line, line + 3, strlen(line + 3) + 1);
        if (line[0] == '#' && comment(r, w, line) != 0)
            return -1;
        if (line[0] == '#')
            continue;
        if (line[strspn(line, " \t\r")] != '\0' && r->n == 0)
            wake_csv_header(r, line);
        else if (line[strspn(line, " \t\r")] != '\0' && wake_csv_row(r, w) != 0)
            return -1;
        if (r->n > 0 && (r->idle == 0 || r->first == 0 || r->idle > r->n || r->first > r->n || r->unit > r->n))
            return wake_csv_fail(r, 0, "the header line must name idle_us and first_us, each column once");
    }
    return got;
}

int wake_csv_read(FILE *in, struct wake_csv *w, struct trace_error *err)
{
    struct wake_reader r = {.in = in, .err = err, .line = malloc(WAKE_LINE_MOST + 1)};
    memset(err, 0, sizeof *err);
    memset(w, 0, sizeof *w);
    int status = r.line == NULL ? wake_csv_fail(&r, 0, "out of memory") : read_all(&r, w);
    free(r.line);
    if (status != 0)
        wake_csv_free(w);
    return status;
}

void wake_csv_free(struct wake_csv *w)
{
    free(w->row);
    memset(w, 0, sizeof *w);
}
