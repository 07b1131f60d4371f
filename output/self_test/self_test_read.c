/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readings that somebody else took, read back. They may come from anybody: whatever could not have been written by
 * self_test_json.c is refused.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"
#include "output/self_test/self_test_parts.h"

enum { READINGS_MAX = 20000, BLOCK_MAX = 100000 };
/* From one reading to the next: more than any counter is wide (48 bits), or than a TSC advances in a day. */
static const json_int_t STEP_MOST = INT64_C(1) << 52;
static const double TSC_HZ_LEAST = 1e7, TSC_HZ_MOST = 1e11;

/* What is being read, and what was wrong first. */
struct reader {
    char *why;
    size_t size;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void self_test_read_wrong(struct reader *in, const char *format, ...)
{
    va_list args;
    if (in->failed)
        return;
    in->failed = true;
    va_start(args, format);
    vsnprintf(in->why, in->size, format, args);
    va_end(args);
}

static const json_t *object(struct reader *in, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    if (!json_is_object(value))
        self_test_read_wrong(in, "%s is not an object", key);
    return value;
}

/* At most `most` elements. Returns how many. */
static size_t array(struct reader *in, const json_t *from, const char *key, size_t most, const json_t **out)
{
    *out = json_object_get(from, key);
    if (!json_is_array(*out) || json_array_size(*out) > most) {
        self_test_read_wrong(in, "%s is not a list of at most %zu", key, most);
        return 0;
    }
    return json_array_size(*out);
}

/* A string or null. */
static void self_test_read_text(struct reader *in, const json_t *from, const char *key, char *out, size_t size)
{
    const json_t *value = json_object_get(from, key);
    out[0] = '\0';
    if (json_is_string(value))
        plain_text(json_string_value(value), out, size);
    else if (!json_is_null(value))
        self_test_read_wrong(in, "%s is neither text nor null", key);
}

static double self_test_read_number(struct reader *in, const json_t *from, const char *key, double lo, double hi)
{
    const json_t *value = json_object_get(from, key);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= lo && number <= hi)) {
        self_test_read_wrong(in, "%s is not a number from %g to %g", key, lo, hi);
        return lo;
    }
    return number;
}

static unsigned self_test_read_whole(struct reader *in, const json_t *from, const char *key, unsigned most)
{
    const json_t *value = json_object_get(from, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > (json_int_t)most) {
        self_test_read_wrong(in, "%s is not a whole number up to %u", key, most);
        return 0;
    }
    return (unsigned)number;
}

static bool flag(struct reader *in, const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    if (!json_is_boolean(value))
        self_test_read_wrong(in, "%s is neither true nor false", key);
    return json_is_true(value);
}

/* The index of a name in a list; 0 where it is none of them. */
static int name_of(struct reader *in, const char *what, const json_t *value, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0)
            return i;
    self_test_read_wrong(in, "%s: unknown name", what);
    return 0;
}

static void read_machine(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    self_test_read_text(in, from, "name", out->machine, sizeof out->machine);
    self_test_read_text(in, from, "cpu", out->cpu, sizeof out->cpu);
    self_test_read_text(in, from, "source", out->source, sizeof out->source);
    self_test_read_text(in, from, "notes", out->notes, sizeof out->notes);
    self_test_read_text(in, from, "tsc_origin", out->tsc_origin, sizeof out->tsc_origin);
    out->modelled = flag(in, from, "modelled");
    out->intel = flag(in, from, "intel");
    out->family = self_test_read_whole(in, from, "family", 0xffff);
    out->model = self_test_read_whole(in, from, "model", 0xffff);
    out->cores = self_test_read_whole(in, from, "cores", 100000);
    out->cpu_number = (int)self_test_read_number(in, from, "cpu_number", -1, 100000);
    out->features = self_test_read_whole(in, from, "features", 0x7fffffff);
    out->tsc_hz = self_test_read_number(in, from, "tsc_hz", TSC_HZ_LEAST, TSC_HZ_MOST);
    out->tsc_error = self_test_read_number(in, from, "tsc_error", 0, 1);
}

static void read_lacks(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    for (int id = 0; id < COUNTER_IDS; id++) {
        const json_t *lack = json_object_get(from, self_test_counter_names[id]);
        if (!lack)
            continue;
        self_test_read_text(in, lack, "why", out->lacks[id], sizeof out->lacks[id]);
        self_test_read_text(in, lack, "remedy", out->lacks_remedy[id], sizeof out->lacks_remedy[id]);
        if (!out->lacks[id][0])
            self_test_read_wrong(in, "lacks: %s without a reason", self_test_counter_names[id]);
    }
}

static void read_steps(struct reader *in, const json_t *steps, struct self_test_recording *rec, size_t stride,
                       size_t column)
{
    uint64_t word = 0;
    bool known = false; /* the first is the word itself */
    for (size_t i = 0; i < rec->n; i++) {
        const json_t *step = json_array_get(steps, i);
        bool missing = column >= 2 && json_is_null(step);
        json_int_t value = json_integer_value(step);
        if (!missing && !json_is_integer(step))
            self_test_read_wrong(in, "steps: number %zu of column %zu is not a whole number", i, column);
        else if (known && (value > STEP_MOST || value < -STEP_MOST))
            self_test_read_wrong(in, "steps: number %zu of column %zu is not within %lld of 0", i, column,
                                 (long long)STEP_MOST);
        known = known || !missing;
        word += (uint64_t)value;
        rec->words[i * stride + column] = missing ? COUNTER_MISSING : word;
    }
}

static void read_recording(struct reader *in, const json_t *from, struct self_test_stretch *s)
{
    const json_t *columns;
    size_t stride = 2 + s->n_counters, n = array(in, from, "steps", stride, &columns);
    size_t readings = json_array_size(json_array_get(columns, 0));
    if (n != stride || readings < 8 || readings > READINGS_MAX)
        self_test_read_wrong(in, "steps: not %zu columns of 8 to %d", stride, READINGS_MAX);
    for (size_t c = 0; c < n && !in->failed; c++)
        if (!json_is_array(json_array_get(columns, c)) || json_array_size(json_array_get(columns, c)) != readings)
            self_test_read_wrong(in, "steps: columns of different lengths");
    if (in->failed)
        return;
    struct self_test_recording *rec = self_test_append(s, readings, stride);
    if (!rec) {
        self_test_read_wrong(in, "out of memory");
        return;
    }
    for (size_t c = 0; c < stride; c++)
        read_steps(in, json_array_get(columns, c), rec, stride, c);
    rec->zero = self_test_read_whole(in, from, "zero", (unsigned)readings - 1);
}

static void read_stretch(struct reader *in, const json_t *from, struct self_test_stretch *s)
{
    const json_t *counters, *recordings;
    struct payload kernel;
    char why[300];
    s->kind = (enum self_test_kind)name_of(in, "kind", json_object_get(from, "kind"), self_test_kind_names,
                                           SELF_TEST_KINDS);
    self_test_read_text(in, from, "kernel", s->kernel, sizeof s->kernel);
    self_test_read_text(in, from, "from", s->from, sizeof s->from);
    if (!in->failed && (kernel_parse(s->kernel, &kernel, why, sizeof why) != 0 ||
                        (s->from[0] && kernel_parse(s->from, &kernel, why, sizeof why) != 0)))
        self_test_read_wrong(in, "kernel: %.200s", why);
    s->block = self_test_read_whole(in, from, "block", BLOCK_MAX);
    s->period_us = self_test_read_number(in, from, "period_us", 0.05, 1e6);
    s->disturbed = self_test_read_whole(in, from, "disturbed", 100000);
    self_test_read_text(in, from, "why", s->why, sizeof s->why);
    self_test_read_text(in, from, "remedy", s->remedy, sizeof s->remedy);
    size_t n = array(in, from, "counters", MACHINE_COUNTERS_MAX, &counters);
    for (size_t i = 0; i < n; i++) {
        s->counters[i].id = (enum counter_id)name_of(in, "counters", json_array_get(counters, i),
                                                     self_test_counter_names, COUNTER_IDS);
        if (s->counters[i].id == COUNTER_EVENT)
            s->counters[i].event = self_test_read_whole(in, from, "event", 0x7fffffff);
    }
    s->n_counters = n;
    n = array(in, from, "recordings", SELF_TEST_RECORDINGS_MAX, &recordings);
    for (size_t i = 0; i < n && !in->failed; i++)
        read_recording(in, json_array_get(recordings, i), s);
}

static void self_test_read_volts(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    const json_t *values;
    size_t n = array(in, from, "register_198", SELF_TEST_VALUES_MAX, &values);
    for (size_t i = 0; i < n; i++) {
        const char *value = json_string_value(json_array_get(values, i));
        char *end = NULL;
        out->volts[out->n_volts++] = value ? strtoull(value, &end, 16) : 0;
        if (!value || strncmp(value, "0x", 2) != 0 || strlen(value) > 18 || end == value + 2 || *end != '\0')
            self_test_read_wrong(in, "register_198: not a list of texts as 0x2000");
    }
    self_test_read_text(in, from, "why", out->volts_why, sizeof out->volts_why);
    self_test_read_text(in, from, "remedy", out->volts_remedy, sizeof out->volts_remedy);
}

static void self_test_read_energy(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    const json_t *values;
    size_t n = array(in, from, "readings", SELF_TEST_VALUES_MAX, &values);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(values, i);
        out->energy[out->n_energy++] = (struct energy_reading){self_test_read_number(in, value, "joules", -1e12, 1e12),
                                                               self_test_read_number(in, value, "seconds", -1e9, 1e9)};
    }
    self_test_read_text(in, from, "source", out->energy_source, sizeof out->energy_source);
    self_test_read_text(in, from, "why", out->energy_why, sizeof out->energy_why);
    self_test_read_text(in, from, "remedy", out->energy_remedy, sizeof out->energy_remedy);
}

int self_test_readings_read(const json_t *from, struct self_test_readings *out, char *why, size_t size)
{
    struct reader in = {why, size, false};
    const json_t *stretches;
    const char *format = json_string_value(json_object_get(from, "format"));
    memset(out, 0, sizeof *out);
    if (!format || strcmp(format, "characterize-readings/1") != 0)
        self_test_read_wrong(&in, "format is not characterize-readings/1");
    if (!in.failed)
        read_machine(&in, object(&in, from, "machine"), out);
    if (!in.failed)
        read_lacks(&in, object(&in, from, "lacks"), out);
    size_t n = in.failed ? 0 : array(&in, from, "stretches", SELF_TEST_STRETCHES_MAX, &stretches);
    for (size_t i = 0; i < n && !in.failed; i++)
        read_stretch(&in, json_array_get(stretches, i), &out->stretch[out->n_stretches++]);
    if (!in.failed)
        self_test_read_volts(&in, object(&in, from, "voltage"), out);
    if (!in.failed)
        self_test_read_energy(&in, object(&in, from, "energy"), out);
    if (in.failed)
        self_test_free(out);
    return in.failed ? -1 : 0;
}
