/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: the results of a measurement, sample by sample, but not how they were obtained. It separates measurement
 * from analysis and depends on neither. The CSV form is described in doc/formats.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The measured columns. A missing value is NaN. */
enum trace_channel {
    TRACE_FREQ,  /* freq_ghz: GHz, mean core frequency since the sample before */
    TRACE_IPC,   /* ipc: payload instructions per core cycle since the sample before */
    TRACE_VOLTS, /* volts: V */
    TRACE_LVL0,  /* lvl0, lvl1, lvl2, throttle: share of cycles, 0..1 */
    TRACE_LVL1,
    TRACE_LVL2,
    TRACE_THROTTLE,
    TRACE_CHANNELS
};

struct trace_meta {
    char *key;
    char *value;
    double number; /* of the value; NaN: it is none */
};

/* A column that the analysis does not know: kept as text, so that it can be written out again. */
struct trace_extra {
    char *name;
    uint64_t *offset; /* per sample: position of the NUL-terminated text in trace.text */
};

struct trace {
    size_t n, capacity;
    uint32_t *run;                  /* repetition of each sample; NULL where the file has no such column */
    double *time_us;                /* end of the sample, microseconds; within a run it never decreases */
    float *channel[TRACE_CHANNELS]; /* NULL = no such column */
    struct trace_meta *meta;
    size_t n_meta;
    struct trace_extra *extra;
    size_t n_extra;
    bool cut;   /* the file's last line had no end, may have been cut, and was left out */
    char *text; /* arena of the unknown columns; begins with an empty text */
    size_t text_used, text_capacity;
};

/* Where and why reading failed. line and column count from 1; 0 = not about a place. */
struct trace_error {
    size_t line, column;
    char text[240];
};
/* Fills it, the text as printf does. Returns -1. */
#define trace_error_at(e, at_line, at_column, ...)                                                                     \
    ((e)->line = (at_line), (e)->column = (at_column), error_line((e)->text, sizeof(e)->text, __VA_ARGS__))

/* The name of a channel's column, as in the CSV. */
const char *trace_channel_name(enum trace_channel c);

/* The range of a column: lo to hi, above lo where `open`. No core can have a value outside it, however noisy the
 * measurement (doc/formats.md gives the reasons). A missing value (NaN) is always within. */
struct trace_range {
    double lo, hi;
    bool open;
    const char *text; /* for a person, with the unit */
};
const struct trace_range *trace_channel_range(enum trace_channel c);
extern const struct trace_range trace_time_range; /* of time_us */
/* The range of lvl0 + lvl1 + lvl2, where all three are there: a core is at one level at a time. */
extern const struct trace_range trace_levels_range;
bool trace_within(const struct trace_range *r, double value);
/* Returns true if the values of sample i lie within their ranges; otherwise one line in `why` names the first that does
 * not: "ipc '-1' ...". Times are not checked. */
bool trace_sample_within(const struct trace *t, size_t i, char *why, size_t size);
/* Makes all values of sample i missing; its time stays. */
void trace_blank_sample(struct trace *t, size_t i);
/* Samples outside are left out only if they are fewer than one in this many, thus only in long recordings. */
enum { TRACE_OUTSIDE_ONE_IN = 1000 };
/* The key of the metadata that counts them: `samples_discarded: N of M`. */
extern const char trace_discarded_key[];
/* Reads it. Returns whether there is such a count: then 0 < *n, TRACE_OUTSIDE_ONE_IN * *n < *of. */
bool trace_samples_discarded(const char *value, uint64_t *n, uint64_t *of);

/* An empty trace; channels are added with trace_add_channel before samples are appended. */
void trace_init(struct trace *t);
void trace_free(struct trace *t);
/* Adds a channel (or, trace_add_run, the run column), all missing so far. Returns 0, or -1 when out of memory. */
int trace_add_channel(struct trace *t, enum trace_channel c);
int trace_add_run(struct trace *t);
/* Appends a sample with all channels missing; the caller fills them in at index t->n - 1. Times are rounded to
 * 0.1 ns, as files have them. 0, or -1: out of memory. */
int trace_append(struct trace *t, uint32_t run, double time_us);

/* One past the last sample of the repetition that sample i is of; how many repetitions there are. */
size_t trace_run_end(const struct trace *t, size_t i);
size_t trace_count_runs(const struct trace *t);
/* Returns true if one of the samples begin..end has more than a voltage: scattered readings of that come one a
 * repetition. */
bool trace_measured(const struct trace *t, size_t begin, size_t end);
/* Returns the share of the samples with an IPC that have a frequency, too; 0 where none has an IPC. */
double trace_frequency_share(const struct trace *t);
/* The first of the samples first..past, of one repetition, whose time is after `time_us`; past: none is. */
size_t trace_first_after(const struct trace *t, size_t first, size_t past, double time_us);

/*
 * Adds a column of text, all empty so far. Returns 0, or -1 when out of memory. Its number is t->n_extra - 1;
 * trace_put_extra() sets its text in the last sample, likewise.
 */
int trace_add_extra(struct trace *t, const char *name);
int trace_put_extra(struct trace *t, size_t extra, const char *text);

/* Metadata: the value of a key, or NULL; as a number, NaN where it is none or not stated. Setting replaces. Keys and
 * values are one line each. */
const char *trace_get(const struct trace *t, const char *key);
double trace_number(const struct trace *t, const char *key);
int trace_set(struct trace *t, const char *key, const char *value);
int trace_set_number(struct trace *t, const char *key, double value); /* to 15 digits */
/* NULL if a key may have this value, as any unknown key may; otherwise the allowed values, in words. doc/formats.md
 * lists the keys and their values. */
const char *trace_key_refuses(const char *key, const char *value);

/*
 * Reads the CSV form. Returns 0, or -1 with *err filled; then *t is empty. If fewer than one sample in
 * TRACE_OUTSIDE_ONE_IN has a value outside its column's range, the values of these samples become missing, or the
 * sample is left out if its time or run is wrong; the metadata count them (trace_discarded_key).
 */
int trace_read_csv(FILE *in, struct trace *t, struct trace_error *err);
/* Writes it. Returns 0, or -1 when the stream reports an error (errno as it left it). */
int trace_write_csv(FILE *out, const struct trace *t);
/* A text as a field of CSV (RFC 4180): in quotes where it needs them. */
void trace_write_csv_text(FILE *out, const char *text);
