/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces as CSV (doc/formats.md). The reader takes recordings of other tools: columns in any order, unknown columns,
 * CRLF, a byte order mark, quoted fields, runs that are interleaved. Errors name line and column. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/discarded.h"
#include "trace/trace.h"
#include "util/csv_field.h"
#include "util/edit_distance.h"
#include "util/error.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { COLUMN_RUN = TRACE_CHANNELS, COLUMN_TIME, COLUMN_EXTRA }; /* COLUMN_EXTRA + i: the i-th unknown column */
enum { COLUMNS_MAX = 256, KEYS_MAX = 1000, LINE_MAX_BYTES = 1 << 20 };

struct reader {
    FILE *in;
    char *line;
    size_t length, number; /* of the line; from 1 */
    bool ended;            /* the line has an end; the last one of a truncated file has none */
    int column[COLUMNS_MAX];
    size_t n_columns;
    bool have_channel;
    size_t discarded_line;      /* of the metadata's list of repetitions */
    size_t samples;             /* lines of them */
    size_t outside;             /* of these, with a value outside its column's range */
    bool is_outside, misplaced; /* this one; and it is the run or the time */
    struct trace_error first;   /* the first of them */
    struct trace_error *err;
};

#define trace_csv_fail(r, column, ...) trace_error_at((r)->err, (r)->number, column, __VA_ARGS__)

/* A value outside its column's range: may be borne, see settle_outside(). */
#define trace_csv_outside(r, column, ...)                                                                              \
    ((void)((r)->outside || (r)->is_outside || trace_error_at(&(r)->first, (r)->number, column, __VA_ARGS__)),         \
     (r)->is_outside = true)

/* Returns true if lines end within this one: it has a CR between two fields, not beside the comma as CRLF tools leave
 * it. */
static bool ends_within(const struct reader *r)
{
    for (size_t i = 1; i + 1 < r->length && !r->samples; i++)
        if (r->line[i] == '\r' && !memchr(",\r\t ", r->line[i - 1], 4) && !memchr(",\r\t ", r->line[i + 1], 4))
            return true;
    return false;
}

/* Refuses a line that is not text: says what the file is instead. */
static int refuse_bytes(struct reader *r, const char *what)
{
    if (r->number == 1 && r->length > 2 && !memcmp(r->line, "\x1f\x8b", 2))
        return trace_csv_fail(r, 0, "compressed by gzip; zcat FILE | characterize --analyze - reads it");
    if (ends_within(r))
        return trace_csv_fail(r, 0, "lines end with CR alone; LF or CRLF would work (tr '\\r' '\\n')");
    return trace_csv_fail(r, 0, "%s", what);
}

/* The next line without its line end. 1 = got one, 0 = end of file, -1 = failed. */
static int next_line(struct reader *r)
{
    int c;
    r->length = 0;
    r->number++;
    while ((c = getc_unlocked(r->in)) != EOF && c != '\n') {
        if (!c) /* it would hide what follows from every string function */
            return refuse_bytes(r, "NUL byte: not a text file");
        if (r->length == LINE_MAX_BYTES)
            return refuse_bytes(r, "the line is longer than 1 MiB: not a trace");
        r->line[r->length++] = (char)c;
    }
    if (ferror(r->in))
        return trace_csv_fail(r, 0, "reading failed: %s", strerror(errno));
    if (c == EOF && !r->length)
        return 0;
    r->ended = c == '\n';
    while (r->length && r->line[r->length - 1] == '\r')
        r->length--;
    r->line[r->length] = '\0';
    return ends_within(r) ? refuse_bytes(r, "") : 1;
}

/* The name of a known column. */
static const char *column_name(int column)
{
    return column == COLUMN_RUN    ? "run"
           : column == COLUMN_TIME ? "time_us"
                                   : trace_channel_name((enum trace_channel)column);
}

/* Returns the column that a header field names; -1 after an error. */
static int trace_csv_column_of(struct reader *r, struct trace *t, const char *name, size_t number)
{
    if (!strcmp(name, "run"))
        return trace_add_run(t) ? trace_csv_fail(r, 0, "out of memory") : COLUMN_RUN;
    if (!strcmp(name, "time_us"))
        return COLUMN_TIME;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (!strcmp(name, trace_channel_name((enum trace_channel)c))) {
            r->have_channel = true;
            return trace_add_channel(t, (enum trace_channel)c) ? trace_csv_fail(r, 0, "out of memory") : c;
        }
    double ignored;
    if (!*name)
        return trace_csv_fail(r, number, "the header line has a column without a name");
    if (csv_field_number(name, &ignored))
        return trace_csv_fail(r, number,
                              "'%s' in place of a column name: the header line is missing (it names time_us and at "
                              "least one of freq_ghz, ipc, volts, lvl0, lvl1, lvl2, throttle)",
                              plain_shown(name).text);
    return trace_add_extra(t, name) ? trace_csv_fail(r, 0, "out of memory") : COLUMN_EXTRA + (int)t->n_extra - 1;
}

/* The unknown column that is called almost `wanted`; NULL: none is. */
static const char *almost(const struct trace *t, const char *wanted)
{
    const char *nearest = NULL;
    unsigned least = 3;
    for (size_t i = 0; i < t->n_extra; i++)
        if (edit_nearer(t->extra[i].name, strlen(t->extra[i].name), wanted, &least))
            nearest = t->extra[i].name;
    return nearest;
}

/* Refuses a header line, `shown`, that lacks a needed column. */
static int refuse_header(struct reader *r, const struct trace *t, bool have_time, struct plain_shown shown)
{
    const char *near = have_time ? NULL : almost(t, "time_us");
    for (int c = 0; c < TRACE_CHANNELS && have_time && !near; c++)
        near = almost(t, trace_channel_name((enum trace_channel)c));
    const char separator = t->n_extra == 1 && r->n_columns == 1 ? t->extra[0].name[strcspn(t->extra[0].name, ";\t|")]
                                                                : '\0';
    if (separator)
        return trace_csv_fail(r, 0, "the header line is one column, '%s': fields are separated by commas, not by %s",
                              shown.text,
                              separator == '\t'  ? "tabs"
                              : separator == ';' ? "';'"
                                                 : "'|'");
    return trace_csv_fail(r, 0, "the header line, '%s', names no %s%s%s%s", shown.text,
                          have_time ? "measured column (freq_ghz, ipc, volts, lvl0, lvl1, lvl2, throttle)"
                                    : "column time_us (microseconds), nor idle_us and first_us",
                          near ? "; nearest is '" : "", near ? plain_shown(near).text : "", near ? "'" : "");
}

static int read_header(struct reader *r, struct trace *t)
{
    const struct plain_shown shown = plain_shown(r->line);
    char *at = r->line;
    bool last = false, have_time = false;
    while (!last) {
        size_t number = r->n_columns + 1;
        char *name = csv_field_next(&at, &last);
        if (!name)
            return trace_csv_fail(r, number, "unterminated quote in the header line");
        if (r->n_columns == COLUMNS_MAX)
            return trace_csv_fail(r, number, "more than %d columns", COLUMNS_MAX);
        int column = trace_csv_column_of(r, t, name, number);
        if (column < 0)
            return -1;
        for (size_t i = 0; i < r->n_columns; i++)
            if (r->column[i] == column || (column >= COLUMN_EXTRA && r->column[i] >= COLUMN_EXTRA &&
                                           !strcmp(t->extra[r->column[i] - COLUMN_EXTRA].name, name)))
                return trace_csv_fail(r, number, "column '%s' appears twice in the header line",
                                      plain_shown(name).text);
        have_time |= column == COLUMN_TIME;
        r->column[r->n_columns++] = column;
    }
    return have_time && r->have_channel ? 0 : refuse_header(r, t, have_time, shown);
}

/* "# key: value" becomes metadata; other comment lines are comments. */
static int read_comment(struct reader *r, struct trace *t)
{
    char *key = r->line + 1, *colon = strchr(key, ':');
    if (!colon)
        return 0;
    *colon = '\0';
    key = csv_field_trim(key);
    char *value = csv_field_trim(colon + 1);
    if (!*key)
        return 0;
    if (t->n_meta >= KEYS_MAX && !trace_get(t, key))
        return trace_csv_fail(r, 0, "%s: more than %d metadata keys", plain_shown(key).text, KEYS_MAX);
    const char *allowed = trace_key_refuses(key, value);
    if (allowed)
        return trace_csv_fail(r, 0, "%s: '%s' is not allowed; allowed: %s", key, plain_shown(value).text, allowed);
    if (!strcmp(key, "discarded"))
        r->discarded_line = r->number;
    return trace_set(t, key, value) ? trace_csv_fail(r, 0, "out of memory") : 0;
}

static int read_field(struct reader *r, struct trace *t, size_t number, const char *field)
{
    int column = r->column[number - 1];
    size_t i = t->n - 1;
    double value;
    if (column >= COLUMN_EXTRA)
        return trace_put_extra(t, (size_t)(column - COLUMN_EXTRA), field) ? trace_csv_fail(r, 0, "out of memory") : 0;
    if (!*field) {
        if (column == COLUMN_TIME || column == COLUMN_RUN)
            return trace_csv_fail(r, number, "%s is empty", column_name(column));
        return 0; /* missing: NaN already */
    }
    if (!csv_field_number(field, &value) || (column >= COLUMN_RUN && isnan(value)))
        return trace_csv_fail(r, number, "'%s' is not a number", plain_shown(field).text);
    static const struct trace_range runs = {0, UINT32_MAX, false, "whole numbers from 0 to 4294967295"};
    const struct trace_range *range = column == COLUMN_RUN    ? &runs
                                      : column == COLUMN_TIME ? &trace_time_range
                                                              : trace_channel_range((enum trace_channel)column);
    double kept = column == COLUMN_RUN ? floor(value) : column == COLUMN_TIME ? value : (double)(float)value;
    if (!trace_within(range, value) || !trace_within(range, kept) || (column == COLUMN_RUN && kept < value)) {
        trace_csv_outside(r, number, "%s '%s' is outside its range, %s", column_name(column), plain_shown(field).text,
                          range->text);
        r->misplaced |= column >= COLUMN_RUN;
    } else if (column == COLUMN_RUN) {
        t->run[i] = (uint32_t)value;
    } else if (column == COLUMN_TIME) {
        t->time_us[i] = value;
    } else {
        t->channel[column][i] = (float)value;
    }
    return 0;
}

/* Keeps the sample that has been read, or only its time, or nothing. */
static void take_sample(struct reader *r, struct trace *t)
{
    char why[sizeof r->first.text];
    if (!r->is_outside && !trace_sample_within(t, t->n - 1, why, sizeof why))
        trace_csv_outside(r, 0, "%s", why);
    r->outside += r->is_outside;
    if (r->is_outside)
        trace_blank_sample(t, t->n - 1);
    if (r->misplaced)
        t->n--;
}

static int read_sample(struct reader *r, struct trace *t)
{
    r->samples++;
    r->is_outside = r->misplaced = false;
    if (trace_append(t, 0, 0))
        return trace_csv_fail(r, 0, "out of memory after %zu samples", t->n);
    char *at = r->line;
    bool last = false;
    size_t number = 0;
    while (!last) {
        char *field = csv_field_next(&at, &last);
        number++;
        if (!field)
            return trace_csv_fail(r, number, "unterminated quote");
        if (number > r->n_columns)
            return trace_csv_fail(r, number, "more fields than the %zu columns of the header line", r->n_columns);
        if (read_field(r, t, number, field))
            return -1;
    }
    if (number < r->n_columns)
        return trace_csv_fail(r, number, "the line ends after %zu of %zu fields%s", number, r->n_columns,
                              feof(r->in) ? ": the file is truncated" : "");
    take_sample(r, t);
    if (r->misplaced)
        return 0;
    size_t i = t->n - 1;
    if (i && t->time_us[i] < t->time_us[i - 1] && (!t->run || t->run[i] == t->run[i - 1]))
        return trace_csv_fail(r, 0, "time_us goes backwards from %.10g to %.10g (repetitions need a column 'run')",
                              t->time_us[i - 1], t->time_us[i]);
    return 0;
}

/* A line without an end may lack the end of its last number, too: it is checked, and left out. */
static int read_cut_sample(struct reader *r, struct trace *t)
{
    const size_t n = t->n, samples = r->samples, outside = r->outside;
    int bad = read_sample(r, t);
    t->n = n;
    t->cut = true;
    r->samples = samples;
    r->outside = outside;
    return bad;
}

static int permute(void *column, size_t size, const struct order_key *o, size_t n)
{
    char *from = column, *copy = malloc(n * size);
    if (!copy)
        return -1;
    memcpy(copy, from, n * size);
    for (size_t i = 0; i < n; i++)
        memcpy(from + i * size, copy + o[i].index * size, size);
    free(copy);
    return 0;
}

/* Puts interleaved repetitions together, each in its order of time. */
static int group_runs(struct reader *r, struct trace *t)
{
    bool grouped = true;
    if (!t->run)
        return 0;
    for (size_t i = 1; i < t->n && grouped; i++)
        grouped = t->run[i] >= t->run[i - 1];
    if (grouped)
        return 0;
    struct order_key *o = malloc(t->n * sizeof *o);
    if (!o)
        return trace_csv_fail(r, 0, "out of memory");
    for (size_t i = 0; i < t->n; i++)
        o[i] = (struct order_key){t->run[i], i};
    qsort(o, t->n, sizeof *o, order_by_key);
    int bad = permute(t->run, sizeof *t->run, o, t->n) | permute(t->time_us, sizeof *t->time_us, o, t->n);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            bad |= permute(t->channel[c], sizeof(float), o, t->n);
    for (size_t e = 0; e < t->n_extra; e++)
        bad |= permute(t->extra[e].offset, sizeof *t->extra[e].offset, o, t->n);
    free(o);
    if (bad)
        return trace_csv_fail(r, 0, "out of memory");
    r->number = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->run[i] == t->run[i - 1] && t->time_us[i] < t->time_us[i - 1])
            return trace_csv_fail(r, 0, "time_us goes backwards from %.10g to %.10g in run %" PRIu32, t->time_us[i - 1],
                                  t->time_us[i], t->run[i]);
    return 0;
}

/* A few values outside their ranges among very many are glitches of the recorder, to be counted; more are nonsense. */
static int settle_outside(struct reader *r, struct trace *t)
{
    uint64_t before = 0, of = 0, all, here; /* those of whoever wrote the file; of this file */
    char text[60];
    if (!r->outside)
        return 0;
    if (!trace_samples_discarded(trace_get(t, trace_discarded_key), &before, &of))
        before = of = 0;
    snprintf(text, sizeof text, "%zu of %zu", r->outside, r->samples);
    bool few = trace_samples_discarded(text, &here, &all);
    if (few && before) { /* both together, too */
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64, before + here, of > all ? of : all);
        few = trace_samples_discarded(text, &here, &all);
    }
    if (!few) {
        *r->err = r->first;
        size_t used = strlen(r->err->text);
        snprintf(r->err->text + used, sizeof r->err->text - used, "; %s samples have such values", text);
        return -1;
    }
    return trace_set(t, trace_discarded_key, text) ? trace_csv_fail(r, 0, "out of memory") : 0;
}

/* Samples in which no time passes, in the decimals that are written, have no frequency and no rate, nor has a recording
 * most of whose samples are such. */
static int check_times(struct reader *r, const struct trace *t)
{
    size_t all = 0, still = 0;
    for (size_t i = 1; i < t->n; i++) {
        if (t->run && t->run[i] != t->run[i - 1])
            continue;
        all++;
        still += round(t->time_us[i] * 1e4) <= round(t->time_us[i - 1] * 1e4);
    }
    r->number = 0;
    return still * 2 > all
               ? trace_csv_fail(r, 0,
                                "time_us does not advance in %zu of %zu samples: samples need distinct times, in us",
                                still, all)
               : 0;
}

static int check_discarded(struct reader *r, const struct trace *t)
{
    uint32_t run;
    int wrong = discarded_contradicts(t, &run);
    r->number = r->discarded_line;
    return wrong < 0   ? trace_csv_fail(r, 0, "out of memory")
           : wrong > 0 ? trace_csv_fail(r, 0, "discarded: run %" PRIu32 " %s", run,
                                        wrong > 1 ? "is listed twice" : "is not discarded: the file has samples of it")
                       : 0;
}

static int read_all(struct reader *r, struct trace *t)
{
    int got;
    while ((got = next_line(r)) > 0) {
        if (r->number == 1 && !strncmp(r->line, "\xef\xbb\xbf", 3))
            memmove(r->line, r->line + 3, r->length - 2);
        int bad;
        if (r->line[0] == '#')
            bad = read_comment(r, t);
        else if (!r->line[strspn(r->line, " \t")])
            continue;
        else
            bad = !r->n_columns ? read_header(r, t) : r->ended ? read_sample(r, t) : read_cut_sample(r, t);
        if (bad)
            return -1;
    }
    if (got < 0)
        return -1;
    if (!r->n_columns) {
        r->number = 0;
        return trace_csv_fail(
            r, 0, "the file has no header line (expected one that names time_us and freq_ghz, ipc or volts)");
    }
    if (!r->samples) {
        r->number = 0;
        return trace_csv_fail(r, 0, "the file has a header line but no samples");
    }
    return settle_outside(r, t) || group_runs(r, t) || check_times(r, t) || check_discarded(r, t) ? -1 : 0;
}

int trace_read_csv(FILE *in, struct trace *t, struct trace_error *err)
{
    struct reader r = {.in = in, .err = err, .line = malloc(LINE_MAX_BYTES + 1)};
    memset(err, 0, sizeof *err);
    trace_init(t);
    int bad = r.line ? read_all(&r, t) : trace_csv_fail(&r, 0, "out of memory");
    free(r.line);
    if (bad)
        trace_free(t);
    return bad;
}

void trace_write_csv_text(FILE *out, const char *s)
{
    size_t length = strlen(s);
    if (!strpbrk(s, ",\"\n\r") && !(length && (csv_field_blank(s[0]) || csv_field_blank(s[length - 1])))) {
        fputs(s, out);
        return;
    }
    putc('"', out);
    for (; *s; s++) {
        if (*s == '"')
            putc('"', out);
        putc(*s, out);
    }
    putc('"', out);
}

int trace_write_csv(FILE *out, const struct trace *t)
{
    for (size_t i = 0; i < t->n_meta; i++)
        fprintf(out, "# %s: %s\n", t->meta[i].key, t->meta[i].value);
    fputs(t->run ? "run,time_us" : "time_us", out);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            fprintf(out, ",%s", trace_channel_name((enum trace_channel)c));
    for (size_t e = 0; e < t->n_extra; e++) {
        putc(',', out);
        trace_write_csv_text(out, t->extra[e].name);
    }
    putc('\n', out);
    for (size_t i = 0; i < t->n; i++) {
        if (t->run)
            fprintf(out, "%" PRIu32 ",", t->run[i]);
        fprintf(out, "%.4f", plain_number(t->time_us[i], 4));
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                isnan(t->channel[c][i]) ? (void)putc(',', out) : (void)fprintf(out, ",%.9g", t->channel[c][i]);
        for (size_t e = 0; e < t->n_extra; e++) {
            putc(',', out);
            trace_write_csv_text(out, t->text + t->extra[e].offset[i]);
        }
        putc('\n', out);
    }
    return fflush(out) || ferror(out) ? -1 : 0;
}
