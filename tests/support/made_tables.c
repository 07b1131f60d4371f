/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/made_tables.h"

#include <unistd.h>

#include "tests/support/test.h"

struct made_reader {
    const char *path;
    size_t line;
    const struct table_kind *kind;
    char each[1000]; /* fields of all rows */
    struct made_case now;
};

static const struct table_column *made_column(const struct made_reader *r, const char *name, size_t length)
{
    for (size_t i = 0; i < r->now.table.n_columns; i++) {
        const struct table_column *c = &r->now.table.columns[i];
        if (strlen(c->name) == length && strncmp(c->name, name, length) == 0)
            return c;
    }
    fail_msg("%s:%zu: no column %.*s", r->path, r->line, (int)length, name);
    return NULL;
}

/* A number, with limits if any follow. */
static void put_made_number(struct made_reader *r, const char *column, const char *text)
{
    struct table *t = &r->now.table;
    char *end;
    double value = strtod(text, &end), lo, hi;
    int all = 0;
    for (size_t i = 0; i < t->n_columns; i++) /* whatever all rows have */
        if (table_base_length(t->columns[i].name) == strlen(column) &&
            strncmp(t->columns[i].name, column, strlen(column)) == 0)
            table_put_number(t, t->columns[i].name, NAN);
    if (*end == '~') {
        hi = strtod(end + 1, &end);
        table_put_limits(t, column, value, value - hi, value + hi);
    } else if (sscanf(end, "[%lf,%lf]%n", &lo, &hi, &all) == 2) {
        table_put_limits(t, column, value, lo, hi);
        end += all;
    } else if (*text)
        table_put_number(t, column, value);
    if (*end || (end == text && *text))
        fail_msg("%s:%zu: %s=%s is no number", r->path, r->line, column, text);
}

/* The fields at the beginning of `text`; returns what comes after them. */
static const char *put_made_fields(struct made_reader *r, const char *text)
{
    for (;;) {
        char value[400];
        text += strspn(text, " ");
        size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (name == 0 || text[name] != '=')
            return text;
        const struct table_column *c = made_column(r, text, name);
        bool quoted = text[name + 1] == '"';
        const char *begin = text + name + 1 + quoted;
        size_t length = strcspn(begin, quoted ? "\"" : " ");
        snprintf(value, sizeof value, "%.*s", (int)length, begin);
        text = begin + length + (quoted && begin[length]);
        if (c->type == TABLE_TEXT)
            table_put_text(&r->now.table, c->name, *value || quoted ? value : NULL);
        else
            put_made_number(r, c->name, value);
    }
}

/* The columns that a version did not have yet are left out. */
static void leave_columns_out(struct made_reader *r, char *names)
{
    struct table_column left[TABLE_COLUMNS_MAX];
    struct table *t = &r->now.table;
    size_t n = 0;
    char *save;
    assert_int_equal(t->n_rows + t->n_missing, 0);
    memcpy(left, r->kind->columns, r->kind->n_columns * sizeof *left);
    n = r->kind->n_columns;
    for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        size_t i = 0;
        while (i < n && strcmp(left[i].name, name) != 0)
            i++;
        if (i == n)
            fail_msg("%s:%zu: no column %s", r->path, r->line, name);
        memmove(&left[i], &left[i + 1], (--n - i) * sizeof *left);
    }
    table_free(t);
    table_init(t, r->kind->name, left, n);
}

static void add_made_row(struct made_reader *r, const char *line)
{
    table_add_row(&r->now.table);
    put_made_fields(r, r->each);
    if (*put_made_fields(r, line))
        fail_msg("%s:%zu: what is this? %s", r->path, r->line, line);
}

/* "FIRST LAST FIELDS": a row for each number, which stands for every # in the fields. */
static void add_made_rows(struct made_reader *r, const char *line)
{
    int first, last, fields = 0;
    if (sscanf(line, "%d %d %n", &first, &last, &fields) != 2)
        fail_msg("%s:%zu: from where to where?", r->path, r->line);
    for (int i = first; i <= last; i++) {
        char row[1000];
        size_t n = 0;
        for (const char *c = line + fields; *c && n + 20 < sizeof row; c++)
            if (*c == '#')
                n += (size_t)snprintf(row + n, sizeof row - n, "%d", i);
            else
                row[n++] = *c;
        row[n] = '\0';
        add_made_row(r, row);
    }
}

/* "WHAT KEY VALUE", the key in quotes where it has blanks; returns the value, NULL: it is something else. */
static const char *made_pair(const char *line, const char *what, char key[100])
{
    size_t length = strlen(what);
    if (strncmp(line, what, length) != 0)
        return NULL;
    bool quoted = line[length] == '"';
    const char *begin = line + length + quoted;
    size_t n = strcspn(begin, quoted ? "\"" : " ");
    snprintf(key, 100, "%.*s", (int)n, begin);
    begin += n + (quoted && begin[n]);
    return begin + strspn(begin, " ");
}

static void read_made_line(struct made_reader *r, char *line)
{
    struct table *t = &r->now.table;
    char key[100];
    const char *value;
    if (strncmp(line, "each ", 5) == 0)
        snprintf(r->each, sizeof r->each, "%s", line + 5);
    else if ((value = made_pair(line, "setting ", key)) != NULL)
        table_set_setting(t, key, value);
    else if ((value = made_pair(line, "detail ", key)) != NULL)
        table_set_detail(t, key, value);
    else if ((value = made_pair(line, "meta ", key)) != NULL)
        table_set_meta(t, key, value);
    else if (strcmp(line, "findings") == 0)
        r->now.findings = true;
    else if (strcmp(line, "counted") == 0)
        r->now.counted = true;
    else if (strncmp(line, "repeat ", 7) == 0)
        add_made_rows(r, line + 7);
    else if (strncmp(line, "without ", 8) == 0)
        leave_columns_out(r, line + 8);
    else if (strncmp(line, "missing ", 8) == 0) {
        table_add_missing(t, "%s", "");
        char *why = strdup(put_made_fields(r, line + 8));
        assert_non_null(why);
        free(t->missing[t->n_missing - 1].why);
        t->missing[t->n_missing - 1].why = why;
    } else
        add_made_row(r, line);
}

static void end_made_case(struct made_reader *r, void (*each)(void *data, struct made_case *c), void *data)
{
    if (!r->now.title[0])
        return;
    assert_false(r->now.table.failed);
    each(data, &r->now);
    table_free(&r->now.table);
    r->now.title[0] = '\0';
}

size_t made_tables(const char *path, const struct table_kind *k, void (*each)(void *data, struct made_case *c),
                   void *data)
{
    struct made_reader r = {.path = path, .kind = k};
    char *line = NULL;
    size_t size = 0, n = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot open %s", path);
    while (getline(&line, &size, in) >= 0) {
        r.line++;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "== ", 3) == 0) {
            end_made_case(&r, each, data);
            snprintf(r.now.title, sizeof r.now.title, "%s", line + 3);
            table_init(&r.now.table, k->name, k->columns, k->n_columns);
            r.each[0] = '\0';
            r.now.findings = r.now.counted = false;
            n++;
        } else if (*line && *line != '#')
            read_made_line(&r, line);
    }
    end_made_case(&r, each, data);
    free(line);
    assert_int_equal(fclose(in), 0);
    return n;
}

bool made_of(const struct table_kind *k)
{
    char path[100];
    snprintf(path, sizeof path, "tests/golden/made/%s.rows", k->name);
    return access(path, R_OK) == 0;
}
