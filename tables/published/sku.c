/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published figures: the text of their files (doc/sku-format.md), what is inherited, and the figures of a processor. */
#include "tables/published/sku.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "kernels/kernels.h"
#include "tables/table/tables.h"
#include "util/data_file.h"
#include "util/edit_distance.h"
#include "util/error.h"
#include "util/sourced_ini.h"

struct parser {
    struct sourced_ini ini;
    struct sku *sku;
};
/* Refuses the present line: (format, ...). */
#define sku_wrong(p, ...) sourced_ini_fail(&(p)->ini, (p)->ini.line, NULL, __VA_ARGS__)

static int copy(struct parser *p, char *to, size_t size, const char *from, const char *what)
{
    if (strlen(from) >= size)
        return sku_wrong(p, "%s is longer than %zu characters", what, size - 1);
    memcpy(to, from, strlen(from) + 1);
    return 0;
}

/* ---- numbers ---- */

/* Digits, perhaps a point and more digits; strtod alone would take the first point of 8..20, too. */
static bool decimal(const char *text, const char **end, double *out)
{
    static const char digits[] = "0123456789";
    char number[40];
    size_t sign = *text == '-', n = sign + strspn(text + sign, digits);
    if (n == sign)
        return false;
    if (text[n] == '.' && isdigit((unsigned char)text[n + 1]))
        n += 1 + strspn(text + n + 1, digits);
    if (n >= sizeof number)
        return false;
    memcpy(number, text, n);
    number[n] = '\0';
    *out = strtod(number, NULL);
    *end = text + n;
    return true;
}

/* Decimal, or hexadecimal as 0x28, or a fraction; *end is after it. False: none is there. */
static bool one_number(const char *text, const char **end, double *out)
{
    if (text[0] == '0' && text[1] == 'x') {
        char *after;
        *out = (double)strtoul(text, &after, 16);
        *end = after;
        return isxdigit((unsigned char)text[2]);
    }
    if (!decimal(text, end, out))
        return false;
    if (**end != '/')
        return true;
    double below;
    if (!decimal(*end + 1, end, &below) || !(below > 0))
        return false;
    *out /= below;
    return true;
}

/* A number, or two with - between them, in whatever order. */
static bool two_numbers(const char *text, double *lo, double *hi)
{
    const char *end;
    if (!one_number(text, &end, lo))
        return false;
    *hi = *lo;
    if (*end == '-' && !one_number(end + 1, &end, hi))
        return false;
    return *end == '\0';
}

/*
 * How far from the truth a number may be that is printed as text..end: half a unit of its last digit. What was printed
 * as approximate, one such unit, zeros at the end of a whole number being no digits, and at most a tenth of it
 * (`about indicates a quantity within 10 %`: United States Pharmacopeia, General Notices 8.20). A fraction is exact,
 * unless it is approximate: a tenth.
 */
static double rounding_of(const char *text, const char *end, double value, bool about)
{
    size_t n = (size_t)(end - text);
    const char *point = memchr(text, '.', n);
    double unit = 1, tenth = 0.1 * fabs(value);
    if (memchr(text, '/', n))
        return about ? tenth : 0;
    if (point)
        unit = pow(10, -(double)(end - point - 1));
    else if (about)
        for (const char *digit = end - 1; digit > text && *digit == '0'; digit--)
            unit *= 10;
    return about ? fmin(unit, tenth) : unit / 2;
}

/* NUMBER or NUMBER..NUMBER, the second not below the first. */
static bool read_range(const char *text, bool about, struct sku_figure *f)
{
    const char *end;
    if (!one_number(text, &end, &f->lo))
        return false;
    f->hi = f->lo;
    f->rounding = rounding_of(text, end, f->lo, about);
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        if (!one_number(text, &end, &f->hi))
            return false;
        f->rounding = fmax(f->rounding, rounding_of(text, end, f->hi, about));
    }
    return *end == '\0' && f->lo <= f->hi;
}

/* ---- lines ---- */

static bool is_name(const char *text)
{
    return islower((unsigned char)*text) && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static int add_key(struct parser *p, struct sku_figure *f, char *word)
{
    char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return sku_wrong(p, "'%.60s' is not COLUMN=VALUE, which selects the rows", word);
    if (f->n_keys == SKU_KEYS_MAX)
        return sku_wrong(p, "more than %d columns select the rows", SKU_KEYS_MAX);
    *equals = '\0';
    if (!is_name(word))
        return sku_wrong(p, "'%.60s' is not a column name", word);
    for (size_t i = 0; i < f->n_keys; i++)
        if (strcmp(f->keys[i].column, word) == 0)
            return sku_wrong(p, "the column %.40s is given twice", word);
    struct sku_key *k = &f->keys[f->n_keys];
    char *value = equals + 1;
    bool quoted = *value == '"';
    if (quoted) {
        char *closing = strchr(++value, '"');
        if (!closing || closing == value || closing[1])
            return sku_wrong(p, "%.40s=\"%.60s: a value with blanks needs a closing \"", word, value);
        *closing = '\0';
    }
    if (copy(p, k->column, sizeof k->column, word, "the name of a column") != 0 ||
        copy(p, k->text, sizeof k->text, value, "a value") != 0)
        return -1;
    k->is_number = two_numbers(k->text, &k->lo, &k->hi);
    if (k->is_number && k->lo > k->hi)
        return sku_wrong(p, "'%.60s' ends before it begins", k->text);
    size_t used = strlen(f->where);
    int n = snprintf(f->where + used, sizeof f->where - used, "%s%s=%s%s%s", used ? " " : "", k->column,
                     quoted ? "\"" : "", k->text, quoted ? "\"" : "");
    if (n < 0 || (size_t)n >= sizeof f->where - used)
        return sku_wrong(p, "the selection of rows is longer than %d characters", SKU_TEXT_MAX - 1);
    f->n_keys++;
    return 0;
}

/* Ends the word at the next blank that is not between quotes. Returns what follows. */
static char *end_word(char *word)
{
    bool quoted = false;
    for (; *word && (quoted || !isspace((unsigned char)*word)); word++)
        quoted = quoted != (*word == '"');
    if (*word)
        *word++ = '\0';
    return word;
}

static int read_keys(struct parser *p, struct sku_figure *f, char *text)
{
    for (char *word = sourced_ini_trim(text); *word; word = sourced_ini_trim(text)) {
        text = end_word(word);
        if (add_key(p, f, word) != 0)
            return -1;
    }
    return 0;
}

/* ~ NUMBER or ~ NUMBER% */
static int read_tolerance(struct parser *p, struct sku_figure *f, const char *text)
{
    const char *end;
    double size = fmax(fabs(f->lo), fabs(f->hi));
    if (!f->published || !one_number(text, &end, &f->tolerance) || f->tolerance < 0 || (*end && strcmp(end, "%") != 0))
        return sku_wrong(p, "'~ %.60s' is not a tolerance; 0.5 or 10%% would work", text);
    if (*end && size == 0)
        return sku_wrong(p, "'~ %.60s' of 0 is 0; without %% it is in the unit of the column", text);
    if (*end)
        f->tolerance *= size / 100;
    if (size > 0 && f->tolerance >= size)
        return sku_wrong(p, "'~ %.60s': even 0 would agree; a tolerance must be smaller than its figure", text);
    return 0;
}

/* [about] FIGURE [~ TOLERANCE], or - */
static int read_value(struct parser *p, struct sku_figure *f, char *text)
{
    static const char word[] = "about ";
    char *tilde = strchr(text, '~');
    if (tilde)
        *tilde = '\0';
    text = sourced_ini_trim(text);
    bool about = strncmp(text, word, sizeof word - 1) == 0;
    if (about)
        text = sourced_ini_trim(text + sizeof word - 1);
    f->published = about || strcmp(text, "-") != 0;
    f->lo = f->hi = f->rounding = f->tolerance = NAN;
    if (f->published && !read_range(text, about, f))
        return sku_wrong(p, "'%.60s' is neither a number, nor a range like 650..680, nor - (not published)", text);
    if (about && tilde)
        return sku_wrong(p, "both 'about' and '~': use one of them, as a tolerance already says how far off it may be");
    return tilde ? read_tolerance(p, f, sourced_ini_trim(tilde + 1)) : 0;
}

static int keep_figure(struct parser *p, const struct sku_figure *f)
{
    struct sku *s = p->sku;
    for (const struct sku_figure *same = s->figures; same < s->figures + s->n_figures; same++)
        if (strcmp(same->table, f->table) == 0 && strcmp(same->where, f->where) == 0 &&
            strcmp(same->column, f->column) == 0 && same->mean == f->mean)
            return sku_wrong(p, "the same figure is in line %u", same->line);
    struct sku_figure *bigger = realloc(s->figures, (s->n_figures + 1) * sizeof *bigger);
    if (!bigger)
        return sku_wrong(p, "out of memory");
    s->figures = bigger;
    s->figures[s->n_figures++] = *f;
    return 0;
}

/* KEY=VALUE ... : [mean] COLUMN = [about] FIGURE [~ TOLERANCE] */
static int read_figure(struct parser *p, char *text, const char *source)
{
    struct sku_figure f = {.line = p->ini.line};
    char *colon = strchr(text, ':'), *equals = colon ? strchr(colon, '=') : NULL;
    if (!equals)
        return sku_wrong(p, "not COLUMN=VALUE ... : COLUMN = FIGURE");
    *colon = *equals = '\0';
    char *column = sourced_ini_trim(colon + 1);
    f.mean = strncmp(column, "mean ", 5) == 0;
    if (f.mean)
        column = sourced_ini_trim(column + 5);
    if (!is_name(column))
        return sku_wrong(p, "'%.60s' is not a column name", column);
    if (copy(p, f.table, sizeof f.table, p->ini.header, "the section") != 0 ||
        copy(p, f.column, sizeof f.column, column, "the name of a column") != 0 ||
        copy(p, f.source, sizeof f.source, source, "a source") != 0 || read_keys(p, &f, text) != 0 ||
        read_value(p, &f, equals + 1) != 0)
        return -1;
    const char *other = strstr(f.source, "contradicted by ");
    f.disputed = other != NULL;
    if (other)
        snprintf(f.contradicts, sizeof f.contradicts, "%s", other);
    return keep_figure(p, &f);
}

static int read_head(struct parser *p)
{
    char *key, *value;
    if (sourced_ini_pair(&p->ini, &key, &value) != MACHINE_OK || sourced_ini_once(&p->ini, key) != MACHINE_OK)
        return -1;
    if (strcmp(key, "kind") == 0) {
        p->sku->modelled = strcmp(value, "modelled") == 0;
        p->sku->measured = p->sku->modelled || strcmp(value, "measured") == 0;
        return p->sku->measured || strcmp(value, "published") == 0
                   ? 0
                   : sourced_ini_fail(&p->ini, p->ini.line, key, "neither published, measured nor modelled");
    }
    if (strcmp(key, "inherits") == 0)
        return copy(p, p->sku->inherits, SKU_NAME_MAX, value, key);
    char *to = strcmp(key, "name") == 0 ? p->sku->name : strcmp(key, "brand") == 0 ? p->sku->brand : NULL;
    return to ? copy(p, to, SKU_TEXT_MAX, value, key)
              : sourced_ini_fail(&p->ini, p->ini.line, key,
                                 "no such key in section [sku]; known keys: name brand kind inherits");
}

/* Checks what only the complete file shows. */
static int check_whole(struct parser *p)
{
    if (!p->sku->name[0] || !p->sku->brand[0])
        return sku_wrong(p, "[sku] lacks %s", p->sku->name[0] ? "brand" : "name");
    return p->sku->n_figures ? 0 : sku_wrong(p, "no figures");
}

static int sku_read(struct parser *p)
{
    int status = 0;
    while (!status) {
        enum sourced_ini_item item = sourced_ini_next(&p->ini);
        bool head = strcmp(p->ini.header, "sku") == 0;
        if (item == SOURCED_INI_WRONG)
            return -1;
        if (item == SOURCED_INI_END)
            return check_whole(p);
        if (item == SOURCED_INI_LINE)
            status = head ? read_head(p) : read_figure(p, p->ini.text, p->ini.source);
        else if (!head && !tables_find(p->ini.header))
            status = sku_wrong(p, "'[%.60s]': sections are [sku] and the names of tables", p->ini.header);
    }
    return status;
}

int sku_parse(const char *text, size_t length, const char *file, struct sku *out, struct machine_error *err)
{
    struct parser p = {.sku = out};
    memset(out, 0, sizeof *out);
    sourced_ini_begin(&p.ini, text, length, file, "characterize-sku/1", false, err);
    if (sku_read(&p) == 0)
        return MACHINE_OK;
    sku_free(out);
    return (int)err->status;
}

/* "06_55H", "19_1": family and model, or the beginning of it. */
static bool is_signature(const char *text)
{
    return isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]) && text[2] == '_';
}

bool sku_is_of(const struct sku *s, const char *cpu)
{
    char brands[SKU_TEXT_MAX], *rest = brands;
    bool doubtful = cpu && *cpu && strcmp(cpu + strlen(cpu) - 1, CPU_DOUBTFUL) == 0;
    snprintf(brands, sizeof brands, "%s", strcmp(s->brand, SKU_UNNAMED) == 0 ? "" : s->brand);
    for (char *brand = strsep(&rest, "|"); cpu && brand; brand = strsep(&rest, "|")) {
        const char *text = sourced_ini_trim(brand);
        if (*text && strstr(cpu, text) && !(doubtful && is_signature(text)))
            return true;
    }
    return false;
}

size_t sku_published(const struct sku *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_figures; i++)
        n += s->figures[i].published;
    return n;
}

void sku_free(struct sku *s)
{
    free(s->figures);
    memset(s, 0, sizeof *s);
}

/* ---- files ---- */

static const struct data_kind skus = {"SKU", "skus", ".sku", "doc/sku-format.md"},
                              common = {"microarchitecture", "microarchs", ".sku", "doc/sku-format.md"};

enum { WHY_SIZE = 400 };

static const struct table_column *column_of(const struct table_kind *k, const char *name)
{
    for (size_t i = 0; i < k->n_columns; i++)
        if (strcmp(k->columns[i].name, name) == 0)
            return &k->columns[i];
    return NULL;
}

/* Writes that there is no such column, and the nearest one. Returns -1. */
static int no_column(const struct table_kind *k, const char *name, char *why, size_t size)
{
    const char *nearest = "";
    unsigned least = edit_guess(strlen(name));
    for (size_t i = 0; i < k->n_columns; i++)
        if (edit_nearer(name, strlen(name), k->columns[i].name, &least))
            nearest = k->columns[i].name;
    return error_line(why, size, "the table %s has no column %s%s%s", k->name, name, nearest[0] ? "; nearest is " : "",
                      nearest);
}

static bool holds_kernels(const char *column)
{
    static const char *const columns[] = {"kernel", "from", "to", "with"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(column, columns[i]) == 0)
            return true;
    return false;
}

/* Each of the comma separated names is one of a kernel; else writes why not. */
static int check_kernels(const char *names, char *why, size_t size)
{
    for (const char *at = names;;) {
        char name[SKU_TEXT_MAX];
        struct payload p;
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (kernel_parse(name, &p, why, size) != 0)
            return -1;
        if (!at[n])
            return 0;
        at += n + 1;
    }
}

static int check_key(const struct table_kind *k, const struct sku_key *key, char *why, size_t size)
{
    const struct table_column *c = column_of(k, key->column);
    if (!c)
        return no_column(k, key->column, why, size);
    if (c->type != TABLE_TEXT && !key->is_number)
        return error_line(why, size, "%s=%.60s: neither a number nor a range like 1-4", key->column, key->text);
    return holds_kernels(key->column) ? check_kernels(key->text, why, size) : 0;
}

static int check_figure(const struct sku_figure *f, char *why, size_t size)
{
    const struct table_kind *k = tables_find(f->table); /* there: sku_parse() knows the tables */
    for (size_t i = 0; i < f->n_keys; i++)
        if (check_key(k, &f->keys[i], why, size) != 0)
            return -1;
    const struct table_column *c = column_of(k, f->column);
    if (!c)
        return no_column(k, f->column, why, size);
    if (c->type == TABLE_TEXT)
        return error_line(why, size, "the column %s holds text, not figures", f->column);
    const char *range = table_value_refused(c, f->lo); /* NaN, not published, is never refused */
    if (!range)
        range = table_value_refused(c, f->hi);
    return range ? error_line(why, size, "%s of %s is outside its range, %s", f->column, f->table, range) : 0;
}

/* A figure of what does not exist would for ever be not measured, and nobody would see the slip. */
static int check_figures(struct sku *s, const char *path, struct machine_error *err)
{
    char why[WHY_SIZE];
    for (size_t i = 0; i < s->n_figures; i++) {
        unsigned line = s->figures[i].line;
        if (check_figure(&s->figures[i], why, sizeof why) != 0) {
            sku_free(s);
            return machine_fail(err, MACHINE_BAD_INPUT, "", "%.160s:%u: %s", path, line, why);
        }
    }
    return MACHINE_OK;
}

static int load_own(const char *name, const char *data_dir, const struct data_kind *kind, struct sku *out,
                    struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    memset(out, 0, sizeof *out);
    char *text = data_file_read(name, data_dir, kind, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sku_parse(text, length, path, out, err);
    free(text);
    return status == MACHINE_OK ? check_figures(out, path, err) : status;
}

/* ---- what is inherited ---- */

static double precision_of(const struct sku_figure *f)
{
    return isnan(f->tolerance) ? f->rounding : f->tolerance;
}

/* An own figure of the same takes precedence; where it is another beyond both precisions, it says so. */
static struct sku_figure *own_of(struct sku *s, const struct sku_figure *f)
{
    for (size_t i = 0; i < s->n_figures; i++) {
        struct sku_figure *own = &s->figures[i];
        if (own->inherited || own->mean != f->mean || strcmp(own->table, f->table) || strcmp(own->where, f->where) ||
            strcmp(own->column, f->column))
            continue;
        double apart = fmax(own->lo - f->hi, f->lo - own->hi), both = precision_of(own) + precision_of(f);
        if (apart > both) /* NaN where one of them is not published */
            snprintf(own->contradicts, sizeof own->contradicts, "%.40s has %.9g: %.120s", s->inherits, f->lo,
                     f->source);
        return own;
    }
    return NULL;
}

static int inherit(struct sku *s, const char *data_dir, struct machine_error *err)
{
    struct sku from;
    int status = load_own(s->inherits, data_dir, &common, &from, err);
    if (status != MACHINE_OK)
        return status;
    struct sku_figure *more = realloc(s->figures, (s->n_figures + from.n_figures) * sizeof *more);
    if (!more) {
        sku_free(&from);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    s->figures = more;
    for (size_t i = 0; i < from.n_figures; i++)
        if (!own_of(s, &from.figures[i])) {
            more[s->n_figures] = from.figures[i];
            more[s->n_figures++].inherited = true;
        }
    sku_free(&from);
    return MACHINE_OK;
}

/* True if there is a microarchitecture of that name, and no SKU. */
static bool is_common(const char *name, const char *data_dir)
{
    char **names;
    size_t n;
    bool found = false;
    if (strpbrk(name, "/.") || sku_list_common(data_dir, &names, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        found = found || strcmp(names[i], name) == 0;
    data_file_list_free(names, n);
    return found;
}

int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err)
{
    int status = load_own(name_or_file, data_dir, is_common(name_or_file, data_dir) ? &common : &skus, out, err);
    if (status == MACHINE_OK && out->inherits[0])
        status = inherit(out, data_dir, err);
    if (status != MACHINE_OK)
        sku_free(out);
    return status;
}

int sku_list_common(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &common, names, n);
}

int sku_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &skus, names, n);
}

/* ---- beside what is measured ---- */

/* Finds the one of these names for this CPU. MACHINE_CANNOT: there is none; *broken: the first that could not be
 * read. */
static int find_among(char **names, size_t n, const char *cpu, const char *data_dir, struct sku *out,
                      struct machine_error *broken, struct machine_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int status = sku_load(names[i], data_dir, out, err);
        if (status == MACHINE_OK && sku_is_of(out, cpu))
            return status;
        if (status == MACHINE_OK)
            sku_free(out);
        else if (broken->status == MACHINE_OK)
            *broken = *err; /* it may be of another processor: the others are looked at, too */
    }
    return MACHINE_CANNOT;
}

int tables_find_sku(const char *cpu, const char *data_dir, struct sku *out, struct machine_error *err)
{
    struct machine_error broken = {.status = MACHINE_OK};
    int status = MACHINE_CANNOT;
    memset(out, 0, sizeof *out);
    for (int all = 0; all < 2 && status != MACHINE_OK; all++) {
        char **names;
        size_t n;
        if (all ? sku_list_common(data_dir, &names, &n) : sku_list(data_dir, &names, &n))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        status = find_among(names, n, cpu, data_dir, out, &broken, err);
        data_file_list_free(names, n);
    }
    if (status == MACHINE_OK)
        return status;
    if (broken.status != MACHINE_OK) {
        *err = broken;
        return (int)broken.status;
    }
    return machine_fail(err, MACHINE_CANNOT, "", "no published figures are known for %.200s",
                        cpu ? cpu : "this processor");
}

/* {"keys": {"from": "128fma", "active_cores": 1}, "column": ..., "value": ..., "mean": ..., "source": ...}; keys that
 * are ranges are [lo, hi]. */
static json_t *figure_object(const struct sku_figure *f)
{
    json_t *keys = json_object();
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct sku_key *k = &f->keys[i];
        json_object_set_new(keys, k->column,
                            !k->is_number    ? json_string(k->text)
                            : k->lo == k->hi ? json_real(k->lo)
                                             : json_pack("[f,f]", k->lo, k->hi));
    }
    return json_pack("{s:o, s:s, s:f, s:b, s:s}", "keys", keys, "column", f->column, "value", 0.5 * (f->lo + f->hi),
                     "mean", (int)f->mean, "source", f->source);
}

void tables_note_published(struct table *t, const char *data_dir)
{
    struct sku sku;
    struct machine_error error;
    json_t *list = json_array();
    int status = list ? tables_find_sku(table_meta(t, "cpu"), data_dir, &sku, &error) : MACHINE_FAILED;
    if (list && status == MACHINE_OK) {
        for (size_t i = 0; i < sku.n_figures; i++)
            if (sku.figures[i].published && strcmp(sku.figures[i].table, t->name) == 0)
                json_array_append_new(list, figure_object(&sku.figures[i]));
        sku_free(&sku);
    } else if (list && status != MACHINE_CANNOT) {
        table_set_setting(t, "published_figures", error.text); /* why none stand beside */
    }
    char *text = json_array_size(list) ? json_dumps(list, JSON_REAL_PRECISION(9)) : NULL;
    if (text)
        table_set_detail(t, "published", text);
    free(text);
    json_decref(list);
}
