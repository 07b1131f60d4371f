/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace as a container: columns that grow together, and metadata. Reading and writing CSV is in trace_csv.c. */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

/* Counters are read one after the other: the time between them is a large part of a short sample. */
#define SHARE                                                                                                          \
    {                                                                                                                  \
        -0.5, 1.5, false, "-0.5 to 1.5"                                                                                \
    }

static const struct {
    const char *name;
    struct trace_range range;
} columns[TRACE_CHANNELS] = {
    [TRACE_FREQ] = {"freq_ghz", {0, 100, true, "above 0, up to 100 GHz"}},
    [TRACE_IPC] = {"ipc", {0, 64, false, "0 to 64 a cycle"}},
    [TRACE_VOLTS] = {"volts", {0.1, 3, false, "0.1 to 3 V"}},
    [TRACE_LVL0] = {"lvl0", SHARE},
    [TRACE_LVL1] = {"lvl1", SHARE},
    [TRACE_LVL2] = {"lvl2", SHARE},
    [TRACE_THROTTLE] = {"throttle", SHARE},
};
/* Eleven days, in steps of 0.1 ns, which a double tells apart up to about there (2^53 of them). */
const struct trace_range trace_time_range = {-1e12, 1e12, false, "-1e12 to 1e12 us from time 0"};
const struct trace_range trace_levels_range = SHARE;
const char trace_discarded_key[] = "samples_discarded";

const char *trace_channel_name(enum trace_channel c)
{
    return columns[c].name;
}

const struct trace_range *trace_channel_range(enum trace_channel c)
{
    return &columns[c].range;
}

bool trace_within(const struct trace_range *r, double value)
{
    return isnan(value) || ((r->open ? value > r->lo : value >= r->lo) && value <= r->hi);
}

bool trace_sample_within(const struct trace *t, size_t i, char *why, size_t size)
{
    double levels = 0;
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double value = t->channel[c] ? (double)t->channel[c][i] : NAN;
        if (!trace_within(&columns[c].range, value)) {
            snprintf(why, size, "%s '%.9g' is outside its range, %s", columns[c].name, value, columns[c].range.text);
            return false;
        }
        levels += c >= TRACE_LVL0 && c <= TRACE_LVL2 ? value : 0;
    }
    if (!trace_within(&trace_levels_range, levels)) {
        snprintf(why, size, "lvl0 + lvl1 + lvl2 '%.9g' is outside its range, %s", levels, trace_levels_range.text);
        return false;
    }
    return true;
}

void trace_blank_sample(struct trace *t, size_t i)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            t->channel[c][i] = NAN;
}

bool trace_samples_discarded(const char *value, uint64_t *n, uint64_t *of)
{
    static const char digits[] = "0123456789";
    enum { DIGITS_MAX = 15 }; /* times 1000 without an overflow */
    size_t first = value ? strspn(value, digits) : 0;
    if (first < 1 || first > DIGITS_MAX || strncmp(value + first, " of ", 4) != 0)
        return false;
    const char *all = value + first + 4;
    size_t second = strspn(all, digits);
    if (second < 1 || second > DIGITS_MAX || all[second])
        return false;
    *n = strtoull(value, NULL, 10);
    *of = strtoull(all, NULL, 10);
    return *n > 0 && *n * TRACE_OUTSIDE_ONE_IN < *of;
}

void trace_init(struct trace *t)
{
    memset(t, 0, sizeof *t);
}

void trace_free(struct trace *t)
{
    free(t->run);
    free(t->time_us);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        free(t->channel[c]);
    for (size_t i = 0; i < t->n_meta; i++) {
        free(t->meta[i].key);
        free(t->meta[i].value);
    }
    free(t->meta);
    for (size_t i = 0; i < t->n_extra; i++) {
        free(t->extra[i].name);
        free(t->extra[i].offset);
    }
    free(t->extra);
    free(t->text);
    trace_init(t);
}

int trace_add_channel(struct trace *t, enum trace_channel c)
{
    if (t->channel[c])
        return 0;
    t->channel[c] = malloc((t->capacity ? t->capacity : 1) * sizeof(float));
    if (!t->channel[c])
        return -1;
    for (size_t i = 0; i < t->n; i++)
        t->channel[c][i] = NAN;
    return 0;
}

int trace_add_run(struct trace *t)
{
    if (!t->run)
        t->run = calloc(t->capacity ? t->capacity : 1, sizeof *t->run);
    return t->run ? 0 : -1;
}

static int grow_column(void *column, size_t capacity, size_t size)
{
    void **p = column;
    void *bigger = realloc(*p, capacity * size);
    if (!bigger)
        return -1;
    *p = bigger;
    return 0;
}

static int grow(struct trace *t)
{
    size_t capacity = t->capacity ? t->capacity + t->capacity / 2 : 1024;
    if (grow_column(&t->time_us, capacity, sizeof *t->time_us))
        return -1;
    if (t->run && grow_column(&t->run, capacity, sizeof *t->run))
        return -1;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c] && grow_column(&t->channel[c], capacity, sizeof(float)))
            return -1;
    for (size_t i = 0; i < t->n_extra; i++)
        if (grow_column(&t->extra[i].offset, capacity, sizeof *t->extra[i].offset))
            return -1;
    t->capacity = capacity;
    return 0;
}

/* Steps of a microsecond: the four decimals of the file, so that the analysed values are written. */
#define TIME_STEPS 1e4

int trace_append(struct trace *t, uint32_t run, double time_us)
{
    if (t->n == t->capacity && grow(t))
        return -1;
    t->time_us[t->n] = round(time_us * TIME_STEPS) / TIME_STEPS;
    if (t->run)
        t->run[t->n] = run;
    trace_blank_sample(t, t->n);
    for (size_t i = 0; i < t->n_extra; i++)
        t->extra[i].offset[t->n] = 0;
    t->n++;
    return 0;
}

size_t trace_run_end(const struct trace *t, size_t i)
{
    size_t end = i + 1;
    while (end < t->n && (!t->run || t->run[end] == t->run[i]))
        end++;
    return end;
}

size_t trace_count_runs(const struct trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i = trace_run_end(t, i))
        n++;
    return n;
}

bool trace_measured(const struct trace *t, size_t begin, size_t end)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        for (size_t i = begin; c != TRACE_VOLTS && t->channel[c] && i < end; i++)
            if (!isnan(t->channel[c][i]))
                return true;
    return false;
}

double trace_frequency_share(const struct trace *t)
{
    const float *freq = t->channel[TRACE_FREQ], *ipc = t->channel[TRACE_IPC];
    size_t all = 0, with = 0;
    for (size_t i = 0; ipc && i < t->n; i++) {
        all += ipc[i] > 0;
        with += ipc[i] > 0 && freq && freq[i] > 0;
    }
    return all ? (double)with / (double)all : 0;
}

size_t trace_first_after(const struct trace *t, size_t first, size_t past, double time_us)
{
    while (first < past) {
        size_t middle = first + (past - first) / 2;
        if (t->time_us[middle] > time_us)
            past = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* Appends a text to the arena; *offset is set to where it stands. */
static int keep_text(struct trace *t, const char *text, uint64_t *offset)
{
    size_t length = strlen(text) + 1;
    if (t->text_capacity - t->text_used < length) {
        size_t capacity = t->text_capacity * 2 + length + 4096;
        char *bigger = realloc(t->text, capacity);
        if (!bigger)
            return -1;
        t->text = bigger;
        t->text_capacity = capacity;
    }
    memcpy(t->text + t->text_used, text, length);
    *offset = t->text_used;
    t->text_used += length;
    return 0;
}

int trace_add_extra(struct trace *t, const char *name)
{
    uint64_t first = 0;
    if ((t->text_used == 0 && keep_text(t, "", &first)) || !list_room(&t->extra, t->n_extra, sizeof *t->extra))
        return -1;
    struct trace_extra *e = &t->extra[t->n_extra];
    *e = (struct trace_extra){.name = strdup(name), .offset = calloc(t->capacity ? t->capacity : 1, sizeof *e->offset)};
    t->n_extra++; /* whatever failed, trace_free frees the rest */
    return e->name && e->offset ? 0 : -1;
}

int trace_put_extra(struct trace *t, size_t extra, const char *text)
{
    return *text ? keep_text(t, text, &t->extra[extra].offset[t->n - 1]) : 0;
}

static struct trace_meta *find_meta(const struct trace *t, const char *key)
{
    for (size_t i = 0; i < t->n_meta; i++)
        if (!strcmp(t->meta[i].key, key))
            return &t->meta[i];
    return NULL;
}

const char *trace_get(const struct trace *t, const char *key)
{
    const struct trace_meta *m = find_meta(t, key);
    return m ? m->value : NULL;
}

double trace_number(const struct trace *t, const char *key)
{
    const struct trace_meta *m = find_meta(t, key);
    return m ? m->number : NAN;
}

static double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && !*end ? value : NAN;
}

int trace_set(struct trace *t, const char *key, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -1;
    for (char *p = copy; *p; p++) /* one line each: a line break would forge the next line of the file */
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    struct trace_meta *m = find_meta(t, key);
    if (m) {
        free(m->value);
        m->value = copy;
        m->number = number_of(copy);
        return 0;
    }
    char *name = strdup(key);
    if (!name || !list_room(&t->meta, t->n_meta, sizeof *t->meta)) {
        free(name);
        free(copy);
        return -1;
    }
    t->meta[t->n_meta++] = (struct trace_meta){name, copy, number_of(copy)};
    return 0;
}

int trace_set_number(struct trace *t, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    return trace_set(t, key, text);
}
