/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of tables, from their CSV: of a thousand measurements JSON would take too long. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compare/compare_parts.h"
#include "tables/table/estimates.h"
#include "util/csv_field.h"
#include "util/error.h"
#include "util/list.h"
#include "util/plain_text.h"
#include "util/text_list.h"

enum { KEY_MAX = 400, FIELDS_MAX = TABLE_COLUMNS_MAX };

/* Counts and texts that say something of a processor. */
static const char *const counts[] = {"level", "halts"};
static const char *const texts[] = {"kind", "throttle"};

struct comparison *compare_new(void)
{
    struct comparison *c = calloc(1, sizeof *c);
    if (c && !(c->places = json_object())) {
        free(c);
        c = NULL;
    }
    return c;
}

void compare_free(struct comparison *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].name);
        json_decref(c->list[i].settings);
    }
    for (size_t i = 0; i < c->n_cells; i++) {
        free(c->cells[i].key);
        free(c->cells[i].values);
        json_decref(c->cells[i].texts);
    }
    json_decref(c->places);
    free(c->list);
    free(c->cells);
    free(c);
}

size_t compare_measurements(const struct comparison *c)
{
    return c->n;
}

int compare_add(struct comparison *c, const char *name)
{
    if (!list_room(&c->list, c->n, sizeof *c->list))
        return -1;
    struct measurement *new = &c->list[c->n];
    char plain[PATH_MAX];
    plain_text(name, plain, sizeof plain); /* names of files are no UTF-8, nor harmless to a terminal */
    *new = (struct measurement){.name = strdup(plain), .settings = json_object()};
    if (!new->name || !new->settings) {
        free(new->name);
        json_decref(new->settings);
        return -1;
    }
    return (int)c->n++;
}

void compare_drop(struct comparison *c)
{
    struct measurement *last = &c->list[--c->n];
    for (size_t i = 0; i < c->n_cells; i++)
        while (c->cells[i].n && c->cells[i].values[c->cells[i].n - 1].measurement == c->n)
            c->cells[i].n--;
    free(last->name);
    json_decref(last->settings);
}

/* ---- the head: what was measured how ---- */

/* "kernel 6.1; microcode 0x1": each for itself. */
static void note_setting(struct comparison *c, const char *key, const char *value)
{
    char plain[300];
    plain_text(value, plain, sizeof plain);
    if (json_object_set_new(c->list[c->n - 1].settings, key, json_string(plain)))
        c->failed = true;
}

static void note_environment_parts(struct comparison *c, char *value)
{
    for (char *part; (part = strsep(&value, ";"));) {
        part += strspn(part, " ");
        char *blank = strchr(part, ' ');
        if (!blank)
            continue;
        *blank = '\0';
        note_setting(c, part, blank + 1);
    }
}

/* A line of the head, "# key: value". Of settings those of the processor and of how it was measured; *moves: by which
 * part of a value the clock moves from one measurement to the next. */
static void take_head(struct comparison *c, const char *kind, char *line, double *moves)
{
    enum { OF_ALL = 5 }; /* whatever the table; the others are each table's own */
    static const char *const reported[] = {"cpu",          "machine",   "modelled",  "version",          "source",
                                           "runs",         "period_us", "base",      "turbo_limits_ghz", "observe_us",
                                           "warmup_us",    "siblings",  "companion", "measured_cpu",     "steps",
                                           FREQUENCY_MOVES};
    char *colon = strstr(line, ": ");
    if (strncmp(line, "# ", 2) != 0 || !colon)
        return;
    *colon = '\0';
    const char *key = line + 2;
    char *value = colon + 2;
    if (strcmp(key, "environment") == 0)
        note_environment_parts(c, value);
    if (strcmp(key, FREQUENCY_MOVES) == 0 && strtod(value, NULL) > 0)
        *moves = strtod(value, NULL) / 100;
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++) {
        char name[100];
        snprintf(name, sizeof name, i < OF_ALL ? "%s%s" : "%s of %s", key, i < OF_ALL ? "" : kind);
        if (strcmp(key, reported[i]) == 0)
            note_setting(c, name, value);
    }
}

/* ---- the rows ---- */

/* Fields of a line, in place. Returns how many, also where these are more than FIELDS_MAX; 0: a quote is missing. */
static size_t split_fields(char *line, char *fields[FIELDS_MAX])
{
    size_t n = 0;
    for (bool last = false; !last; n++) {
        char *field = csv_field_next(&line, &last);
        if (!field)
            return 0;
        if (n < FIELDS_MAX)
            fields[n] = field;
    }
    return n;
}

/* How the columns of a file are to be read. */
struct columns {
    size_t n;
    const struct table_column *own[FIELDS_MAX]; /* NULL: not one of this table */
    bool key[FIELDS_MAX];
    size_t lo[FIELDS_MAX], hi[FIELDS_MAX]; /* places of limits; 0: there are none */
    size_t place[TABLE_COLUMNS_MAX];       /* in the file of each of the table's own columns; n: it is not there */
    size_t runs;                           /* place of the number of repetitions; likewise */
    double moves;                          /* of a clock that floats: limits are at least so wide, relative */
    enum compare_sort sort[FIELDS_MAX];
    bool compared[FIELDS_MAX];
};

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static size_t place_of(char *const *names, size_t n, const char *name, const char *suffix)
{
    char full[100];
    snprintf(full, sizeof full, "%s%s", name, suffix);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], full) == 0)
            return i;
    return 0;
}

/* Which CPU was measured is chance, unless several are: then it is what was measured. */
static bool each_cpu(const struct table_kind *k)
{
    return strcmp(k->name, "cores") == 0;
}

static bool is_uncompared(const struct table_kind *k, const char *column)
{
    for (size_t i = 0; i < TABLES_UNCOMPARED && k->uncompared[i]; i++)
        if (strcmp(k->uncompared[i], column) == 0)
            return true;
    return false;
}

/* 0, or -1 with what is wrong in `why`. */
static int know_columns(const struct table_kind *k, char *const *names, size_t n, struct columns *out, char *why,
                        size_t size)
{
    *out = (struct columns){.n = n, .moves = out->moves};
    out->runs = place_of(names, n, "n", "");
    for (size_t own = 0; own < k->n_columns; own++) {
        out->place[own] = n;
        for (size_t i = 0; i < n; i++) {
            if (strcmp(names[i], k->columns[own].name) != 0)
                continue;
            if (out->place[own] < n)
                return error_line(why, size, "two columns are named %s", names[i]);
            out->place[own] = i;
        }
        if (out->place[own] == n && k->columns[own].key)
            return error_line(why, size, "there is no column %s", k->columns[own].name);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t own = 0; own < k->n_columns && !out->own[i]; own++)
            out->own[i] = strcmp(names[i], k->columns[own].name) == 0 ? &k->columns[own] : NULL;
        const struct table_column *column = out->own[i];
        if (!column)
            continue;
        /* the kind of core, where there are several, tells rows apart as well */
        out->key[i] = (column->key && strcmp(column->unit, "GHz") != 0 &&
                       (strcmp(names[i], "cpu") != 0 || each_cpu(k))) ||
                      (strcmp(names[i], "core") == 0 && !each_cpu(k));
        out->lo[i] = place_of(names, n, names[i], "_lo");
        out->hi[i] = place_of(names, n, names[i], "_hi");
        out->sort[i] = column->type == TABLE_TEXT ? COMPARE_TEXT
                       : out->lo[i] && out->hi[i] ? COMPARE_LIMITS
                                                  : COMPARE_COUNT;
        bool listed = out->sort[i] == COMPARE_LIMITS ||
                      (out->sort[i] == COMPARE_TEXT ? is_one_of(names[i], texts, sizeof texts / sizeof *texts)
                                                    : is_one_of(names[i], counts, sizeof counts / sizeof *counts));
        out->compared[i] = listed && !out->key[i] && !column->key && !is_uncompared(k, names[i]);
    }
    return 0;
}

static struct compare_cell *cell_of_key(struct comparison *c, const char *key)
{
    if (c->expected < c->n_cells && strcmp(c->cells[c->expected].key, key) == 0)
        return &c->cells[c->expected];
    const json_t *place = json_object_get(c->places, key);
    if (place)
        c->expected = (size_t)json_integer_value(place);
    return place ? &c->cells[c->expected] : NULL;
}

static struct compare_cell *new_cell(struct comparison *c, const char *key, const struct table_kind *k,
                                     const struct columns *columns, size_t i)
{
    char *copy = list_room(&c->cells, c->n_cells, sizeof *c->cells) ? strdup(key) : NULL;
    if (!copy || json_object_set_new(c->places, key, json_integer((json_int_t)c->n_cells))) {
        free(copy);
        c->failed = true;
        return NULL;
    }
    c->expected = c->n_cells;
    c->cells[c->n_cells] = (struct compare_cell){
        .key = copy, .kind = k, .column = columns->own[i], .sort = columns->sort[i], .texts = NULL};
    return &c->cells[c->n_cells++];
}

/* The place of a text in a cell's list. */
static double text_number(struct comparison *c, struct compare_cell *cell, const char *text)
{
    char plain[200];
    size_t i;
    const json_t *known;
    plain_text(text, plain, sizeof plain);
    if (!cell->texts)
        cell->texts = json_array();
    json_array_foreach(cell->texts, i, known) if (strcmp(json_string_value(known), plain) == 0) return (double)i;
    if (json_array_append_new(cell->texts, json_string(plain)))
        c->failed = true;
    return (double)i;
}

/* One more value; rows of one measurement that the key columns do not tell apart become one that holds them all. */
static void put_value(struct comparison *c, struct compare_cell *cell, double value, double lo, double hi,
                      unsigned runs)
{
    unsigned number = (unsigned)(c->n - 1);
    struct compare_value *last = cell->n ? &cell->values[cell->n - 1] : NULL;
    if (last && last->measurement == number) {
        if (cell->sort != COMPARE_LIMITS)
            return;
        lo = fmin(lo, last->value - (double)last->below);
        hi = fmax(hi, last->value + (double)last->above);
        last->value = (lo + hi) / 2;
        last->below = last->above = (float)((hi - lo) / 2);
        return;
    }
    if (!list_room(&cell->values, cell->n, sizeof *cell->values)) {
        c->failed = true;
        return;
    }
    cell->values[cell->n++] = (struct compare_value){.value = value,
                                                     .below = (float)(value - lo),
                                                     .above = (float)(hi - value),
                                                     .measurement = number,
                                                     .runs = runs};
}

static bool field_number(const char *text, double *out)
{
    return csv_field_number(text, out) && isfinite(*out);
}

/* Returns a row's field in the column that selects the rows that count (struct tables_drafted); NULL: the table has no
 * such column. */
static const char *part_of(const struct table_kind *k, const struct columns *columns, char *const *fields)
{
    for (size_t i = 0; k->drafted.only && i < columns->n; i++)
        if (columns->own[i] && strcmp(columns->own[i]->name, k->drafted.only) == 0)
            return fields[i];
    return NULL;
}

/* "frequency|kernel=512fma active_cores=4", in the table's own order, whatever the file's; numbers to four digits. */
static void row_key(const struct table_kind *k, const struct columns *columns, char *const *fields, char key[KEY_MAX])
{
    char where[KEY_MAX - 100] = "";
    const char *part = part_of(k, columns, fields);
    for (size_t own = 0; own < k->n_columns; own++) {
        double number;
        size_t i = columns->place[own];
        const struct table_column *column = &k->columns[own];
        if (i == columns->n || !columns->key[i] || !tables_drafted_key(&k->drafted, column->name, part) ||
            !*fields[i] || strcmp(fields[i], "-") == 0)
            continue;
        if (column->type != TABLE_TEXT && field_number(fields[i], &number) && table_is_code(column))
            text_list_add(where, sizeof where, " ", "%s=%02XH", column->name, (unsigned)number);
        else if (column->type != TABLE_TEXT && field_number(fields[i], &number))
            text_list_add(where, sizeof where, " ", "%s=%.4g", column->name, number);
        else
            text_list_add(where, sizeof where, " ", strchr(fields[i], ' ') ? "%s=\"%.60s\"" : "%s=%.60s", column->name,
                          fields[i]);
    }
    snprintf(key, KEY_MAX, "%s|%s|", k->name, where);
}

/*
 * The number in a field: 1; 0: there is none; -1: something that the column cannot hold, with `why`.
 */
static int take_number(const struct columns *columns, size_t i, char *const *fields, double *out, char *why,
                       size_t size)
{
    const struct table_column *column = columns->own[i];
    if (!*fields[i])
        return 0;
    bool number = field_number(fields[i], out);
    const char *range = number ? table_value_refused(column, *out) : NULL;
    const char *refused = !number ? "is no number" : range ? range : NULL;
    if (!refused && column->type == TABLE_WHOLE && *out != round(*out))
        refused = "is no whole number";
    if (!refused)
        return 1;
    char plain[80];
    plain_text(fields[i], plain, sizeof plain);
    return error_line(why, size, "%s '%.40s' %s%s", column->name, plain, range ? "must be " : "", refused);
}

/* 0, or -1 with what is wrong in `why`. */
static int take_row(struct comparison *c, const struct table_kind *k, const struct columns *columns,
                    char *const *fields, char *why, size_t size)
{
    char key[KEY_MAX];
    if (!tables_drafted_row(&k->drafted, part_of(k, columns, fields)))
        return 0;
    row_key(k, columns, fields, key);
    size_t length = strlen(key);
    double n;
    unsigned runs = columns->runs && field_number(fields[columns->runs], &n) && n >= 2 && n < 1e6 ? (unsigned)n : 0;
    for (size_t i = 0; i < columns->n && !c->failed; i++) {
        double value = NAN, lo = NAN, hi = NAN;
        if (!columns->compared[i] || !*fields[i])
            continue;
        bool text = columns->sort[i] == COMPARE_TEXT, limits = columns->sort[i] == COMPARE_LIMITS;
        if (!text && take_number(columns, i, fields, &value, why, size) < 0)
            return -1;
        int below = limits ? take_number(columns, columns->lo[i], fields, &lo, why, size) : 0;
        int above = limits ? take_number(columns, columns->hi[i], fields, &hi, why, size) : 0;
        if (below < 0 || above < 0)
            return -1;
        if (limits && below && above && !(lo <= value && value <= hi))
            return error_line(why, size, "%s %.9g is outside its limits, %.9g to %.9g", columns->own[i]->name, value,
                              lo, hi);
        if (limits && !(below && above))
            continue; /* nothing is known of how well it is known */
        if (limits && columns->moves > 0 && strcmp(k->name, "frequency") != 0) {
            lo = fmin(lo, value - fabs(value) * columns->moves * M_SQRT1_2);
            hi = fmax(hi, value + fabs(value) * columns->moves * M_SQRT1_2);
        }
        if (text && strncmp(fields[i], "undecided", 9) == 0)
            continue;
        snprintf(key + length, sizeof key - length, "%s", columns->own[i]->name);
        struct compare_cell *cell = cell_of_key(c, key);
        if (!cell)
            cell = new_cell(c, key, k, columns, i);
        if (!cell)
            return 0;
        if (text)
            value = text_number(c, cell, fields[i]);
        if (!limits)
            lo = hi = value;
        put_value(c, cell, value, lo, hi, runs);
        c->expected++;
    }
    return 0;
}

int compare_take(struct comparison *c, const char *kind_name, char *text, const char *file, char *why, size_t size)
{
    const struct table_kind *k = tables_find(kind_name);
    struct columns columns = {0};
    char *fields[FIELDS_MAX], *rest = text;
    unsigned number = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r')
            line[--length] = '\0';
        if (number == 1 && strcmp(line, "# format: characterize-table/1") != 0)
            return error_line(why, size,
                              "%s:1: not a table of characterize: the first line is not '# format: "
                              "characterize-table/1'",
                              file);
        if (!length)
            continue;
        if (strncmp(line, "# table: ", 9) == 0 && strcmp(line + 9, kind_name) != 0)
            return error_line(why, size, "%s:%u: holds the table %.40s, not %s", file, number, line + 9, kind_name);
        if (line[0] == '#') {
            take_head(c, kind_name, line, &columns.moves);
            continue;
        }
        size_t n = split_fields(line, fields);
        if (n == 0 || n > FIELDS_MAX || (columns.n && n != columns.n))
            return error_line(why, size, "%s:%u: %zu fields instead of %zu", file, number, n, columns.n);
        char what[200];
        if (columns.n && take_row(c, k, &columns, fields, what, sizeof what))
            return error_line(why, size, "%s:%u: %s", file, number, what);
        if (!columns.n && know_columns(k, fields, n, &columns, what, sizeof what))
            return error_line(why, size, "%s:%u: %s", file, number, what);
        if (c->failed)
            return error_line(why, size, "out of memory");
    }
    return columns.n ? 0 : error_line(why, size, "%s: has no line of column names", file);
}
