/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readings of a first contact as JSON (characterize-readings/1), and read back. They may come from anybody: whatever
 * could not have been written here is refused.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/self_test/self_test.h"
#include "util/json_lines.h"
#include "util/plain_text.h"

/* Readings of a recording, at least and at most. */
enum { READINGS_LEAST = 8, READINGS_MAX = 20000 };
/* From one reading to the next: more than any counter is wide (48 bits), or than a TSC advances in a day. */
static const json_int_t STEP_MOST = INT64_C(1) << 52;

static const char *const counter_names[COUNTER_IDS] = {[COUNTER_CYCLES] = "cycles",
                                                       [COUNTER_REF_CYCLES] = "ref_cycles",
                                                       [COUNTER_INSTRUCTIONS] = "instructions",
                                                       [COUNTER_CHAIN_TICKS] = "chain_ticks",
                                                       [COUNTER_CHAIN_CYCLES] = "chain_cycles",
                                                       [COUNTER_READ_TICKS] = "read_ticks",
                                                       [COUNTER_LVL0] = "lvl0",
                                                       [COUNTER_LVL1] = "lvl1",
                                                       [COUNTER_LVL2] = "lvl2",
                                                       [COUNTER_THROTTLE] = "throttle",
                                                       [COUNTER_EVENT] = "event"};
static const char *const kind_names[SELF_TEST_KINDS] = {"short", "long", "steady", "switch", "event"};

/* Values must be within what any machine could have. */
static const struct json_member machine_members[] = {
    JSON_MEMBER_AS("name", self_test_readings, machine, MEMBER_CHARS),
    JSON_MEMBER(self_test_readings, cpu, MEMBER_CHARS),
    JSON_MEMBER(self_test_readings, source, MEMBER_CHARS),
    JSON_MEMBER(self_test_readings, notes, MEMBER_CHARS),
    JSON_MEMBER(self_test_readings, modelled, MEMBER_BOOL),
    JSON_MEMBER(self_test_readings, intel, MEMBER_BOOL),
    JSON_MEMBER_WITHIN(self_test_readings, family, MEMBER_UNSIGNED, 0, 0xffff),
    JSON_MEMBER_WITHIN(self_test_readings, model, MEMBER_UNSIGNED, 0, 0xffff),
    JSON_MEMBER_WITHIN(self_test_readings, cores, MEMBER_UNSIGNED, 0, 100000),
    JSON_MEMBER_WITHIN(self_test_readings, cpu_number, MEMBER_INT, -1, 100000),
    JSON_MEMBER_WITHIN(self_test_readings, features, MEMBER_UNSIGNED, 0, 0x7fffffff),
    JSON_MEMBER_WITHIN(self_test_readings, tsc_hz, MEMBER_REAL, 1e7, 1e11),
    JSON_MEMBER_WITHIN(self_test_readings, tsc_error, MEMBER_REAL, 0, 1),
    JSON_MEMBER(self_test_readings, tsc_origin, MEMBER_CHARS),
};
static const struct json_member stretch_members[] = {
    JSON_MEMBER(self_test_stretch, kernel, MEMBER_CHARS),
    JSON_MEMBER(self_test_stretch, from, MEMBER_CHARS),
    JSON_MEMBER_WITHIN(self_test_stretch, block, MEMBER_UNSIGNED, 0, 100000),
    JSON_MEMBER_WITHIN(self_test_stretch, period_us, MEMBER_REAL, 0.05, 1e6),
    JSON_MEMBER_WITHIN(self_test_stretch, disturbed, MEMBER_UNSIGNED, 0, 100000),
    JSON_MEMBER(self_test_stretch, why, MEMBER_CHARS),
    JSON_MEMBER(self_test_stretch, remedy, MEMBER_CHARS),
};
static const struct json_member energy_members[] = {
    JSON_MEMBER_WITHIN(energy_reading, joules, MEMBER_REAL, -1e12, 1e12),
    JSON_MEMBER_WITHIN(energy_reading, seconds, MEMBER_REAL, -1e9, 1e9),
};
static const struct json_member volts_words[] = {
    JSON_MEMBER_AS("why", self_test_readings, volts_why, MEMBER_CHARS),
    JSON_MEMBER_AS("remedy", self_test_readings, volts_remedy, MEMBER_CHARS),
};
static const struct json_member energy_words[] = {
    JSON_MEMBER_AS("source", self_test_readings, energy_source, MEMBER_CHARS),
    JSON_MEMBER_AS("why", self_test_readings, energy_why, MEMBER_CHARS),
    JSON_MEMBER_AS("remedy", self_test_readings, energy_remedy, MEMBER_CHARS),
};

json_t *self_test_machine_json(const struct self_test_readings *r, bool *failed)
{
    return json_members(JSON_MEMBERS(machine_members), r, failed);
}

/* ---- writing ---- */

/* The steps of one word from reading to reading; null where it is missing, and the next step is from the last known. */
static json_t *steps_json(const struct self_test_recording *rec, size_t stride, size_t column, bool *failed)
{
    json_t *array = json_array();
    uint64_t last = 0;
    for (size_t i = 0; i < rec->n; i++) {
        uint64_t word = rec->words[i * stride + column];
        bool missing = column >= 2 && word == COUNTER_MISSING;
        json_lines_push(array, missing ? json_null() : json_integer((json_int_t)(word - last)), failed);
        last = missing ? last : word;
    }
    return array;
}

static json_t *stretch_json(const struct self_test_stretch *s, bool *failed)
{
    json_t *o = json_object(), *event = json_null();
    json_lines_put(o, "kind", json_string(kind_names[s->kind]), failed);
    json_members_put(o, JSON_MEMBERS(stretch_members), s, failed);
    json_t *counters = json_lines_array(o, "counters", failed), *recordings = json_lines_array(o, "recordings", failed);
    for (size_t i = 0; i < s->n_counters; i++) {
        json_lines_push(counters, json_string(counter_names[s->counters[i].id]), failed);
        if (s->counters[i].id == COUNTER_EVENT)
            event = json_integer(s->counters[i].event);
    }
    json_lines_put(o, "event", event, failed);
    for (size_t i = 0; i < s->n; i++) {
        const struct self_test_recording *rec = &s->recordings[i];
        json_t *recording = json_pack("{s:I}", "zero", (json_int_t)rec->zero);
        json_t *columns = json_lines_array(recording, "steps", failed);
        for (size_t c = 0; c < 2 + s->n_counters; c++)
            json_lines_push(columns, steps_json(rec, 2 + s->n_counters, c, failed), failed);
        json_lines_push(recordings, recording, failed);
    }
    return o;
}

static void put_lacks(json_t *root, const struct self_test_readings *r, bool *failed)
{
    json_t *lacks = json_object();
    for (int id = 0; id < COUNTER_IDS; id++) {
        json_t *o = r->lacks[id][0] ? json_object() : NULL;
        if (!o)
            continue;
        json_lines_put_text(o, "why", r->lacks[id], failed);
        json_lines_put_text(o, "remedy", r->lacks_remedy[id], failed);
        json_lines_put(lacks, counter_names[id], o, failed);
    }
    json_lines_put(root, "lacks", lacks, failed);
}

json_t *self_test_readings_json(const struct self_test_readings *r)
{
    bool failed = false;
    json_t *root = json_pack("{s:s}", "format", "characterize-readings/1");
    json_lines_put(root, "machine", self_test_machine_json(r, &failed), &failed);
    put_lacks(root, r, &failed);
    json_t *stretches = json_lines_array(root, "stretches", &failed);
    for (size_t i = 0; i < r->n_stretches; i++)
        json_lines_push(stretches, stretch_json(&r->stretch[i], &failed), &failed);
    json_t *volts = json_members(JSON_MEMBERS(volts_words), r, &failed);
    json_t *list = json_lines_array(volts, "register_198", &failed);
    for (size_t i = 0; i < r->n_volts; i++)
        json_lines_push(list, json_sprintf("0x%llx", (unsigned long long)r->volts[i]), &failed);
    json_lines_put(root, "voltage", volts, &failed);
    json_t *energy = json_members(JSON_MEMBERS(energy_words), r, &failed);
    list = json_lines_array(energy, "readings", &failed);
    for (size_t i = 0; i < r->n_energy; i++) {
        const struct energy_reading e = {r->energy[i].joules, r->energy[i].seconds - r->energy[0].seconds};
        json_lines_push(list, json_members(JSON_MEMBERS(energy_members), &e, &failed), &failed);
    }
    json_lines_put(root, "energy", energy, &failed);
    if (!failed)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- reading ---- */

/* The value being read, and the first error. */
struct reader {
    char *why;
    size_t size;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct reader *in, const char *format, ...)
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
        wrong(in, "%s is not an object", key);
    return value;
}

/* At most `most` elements. Returns how many. */
static size_t array(struct reader *in, const json_t *from, const char *key, size_t most, const json_t **out)
{
    *out = json_object_get(from, key);
    if (!in->failed && json_is_array(*out) && json_array_size(*out) <= most)
        return json_array_size(*out);
    wrong(in, "%s is not a list of at most %zu", key, most);
    return 0;
}

static void members(struct reader *in, const json_t *from, const struct json_member *m, size_t n, void *out)
{
    if (!in->failed)
        in->failed = json_members_read(from, m, n, out, in->why, in->size) != 0;
}

static unsigned whole(struct reader *in, const json_t *from, const char *key, unsigned most)
{
    unsigned value = 0;
    const struct json_member m = {key, MEMBER_UNSIGNED, 0, sizeof value, 0, most, NULL};
    members(in, from, &m, 1, &value);
    return value;
}

/* The index of a name in a list; 0 where it is none of them. */
static int name_of(struct reader *in, const char *what, const json_t *value, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0)
            return i;
    wrong(in, "%s: unknown name", what);
    return 0;
}

static void read_lacks(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    for (int id = 0; id < COUNTER_IDS; id++) {
        const json_t *lack = json_object_get(from, counter_names[id]);
        const struct json_member words[] = {
            {"why", MEMBER_CHARS, (size_t)id * sizeof *out->lacks, sizeof *out->lacks, 0, 0, NULL},
            {"remedy", MEMBER_CHARS, (size_t)id * sizeof *out->lacks_remedy, sizeof *out->lacks_remedy, 0, 0, NULL}};
        if (!lack)
            continue;
        members(in, lack, &words[0], 1, out->lacks);
        members(in, lack, &words[1], 1, out->lacks_remedy);
        if (!out->lacks[id][0])
            wrong(in, "lacks: %s without a reason", counter_names[id]);
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
            wrong(in, "steps: number %zu of column %zu is not a whole number", i, column);
        else if (known && (value > STEP_MOST || value < -STEP_MOST))
            wrong(in, "steps: number %zu of column %zu is not within %lld of 0", i, column, (long long)STEP_MOST);
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
    if (n != stride || readings < READINGS_LEAST || readings > READINGS_MAX)
        wrong(in, "steps: not %zu columns of %d to %d", stride, READINGS_LEAST, READINGS_MAX);
    for (size_t c = 0; c < n && !in->failed; c++)
        if (!json_is_array(json_array_get(columns, c)) || json_array_size(json_array_get(columns, c)) != readings)
            wrong(in, "steps: columns of different lengths");
    struct self_test_recording *rec = in->failed ? NULL : self_test_append(s, readings, stride);
    if (!rec) {
        wrong(in, "out of memory");
        return;
    }
    for (size_t c = 0; c < stride; c++)
        read_steps(in, json_array_get(columns, c), rec, stride, c);
    rec->zero = whole(in, from, "zero", (unsigned)readings - 1);
}

static void read_stretch(struct reader *in, const json_t *from, struct self_test_stretch *s)
{
    const json_t *counters, *recordings;
    struct payload kernel;
    char why[300];
    s->kind = (enum self_test_kind)name_of(in, "kind", json_object_get(from, "kind"), kind_names, SELF_TEST_KINDS);
    members(in, from, JSON_MEMBERS(stretch_members), s);
    if (!in->failed && (kernel_parse(s->kernel, &kernel, why, sizeof why) != 0 ||
                        (s->from[0] && kernel_parse(s->from, &kernel, why, sizeof why) != 0)))
        wrong(in, "kernel: %.200s", why);
    s->n_counters = array(in, from, "counters", MACHINE_COUNTERS_MAX, &counters);
    for (size_t i = 0; i < s->n_counters; i++) {
        s->counters[i].id = (enum counter_id)name_of(in, "counters", json_array_get(counters, i), counter_names,
                                                     COUNTER_IDS);
        if (s->counters[i].id == COUNTER_EVENT)
            s->counters[i].event = whole(in, from, "event", 0x7fffffff);
    }
    size_t n = array(in, from, "recordings", SELF_TEST_RECORDINGS_MAX, &recordings);
    for (size_t i = 0; i < n && !in->failed; i++)
        read_recording(in, json_array_get(recordings, i), s);
}

static void read_volts(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    const json_t *values;
    out->n_volts = array(in, from, "register_198", SELF_TEST_VALUES_MAX, &values);
    for (size_t i = 0; i < out->n_volts; i++) {
        const char *value = json_string_value(json_array_get(values, i));
        char *end = NULL;
        out->volts[i] = value ? strtoull(value, &end, 16) : 0;
        if (!value || strncmp(value, "0x", 2) != 0 || strlen(value) > 18 || end == value + 2 || *end != '\0')
            wrong(in, "register_198: not a list of texts as 0x2000");
    }
    members(in, from, JSON_MEMBERS(volts_words), out);
}

static void read_energy(struct reader *in, const json_t *from, struct self_test_readings *out)
{
    const json_t *values;
    out->n_energy = array(in, from, "readings", SELF_TEST_VALUES_MAX, &values);
    for (size_t i = 0; i < out->n_energy; i++)
        members(in, json_array_get(values, i), JSON_MEMBERS(energy_members), &out->energy[i]);
    members(in, from, JSON_MEMBERS(energy_words), out);
}

int self_test_readings_read(const json_t *from, struct self_test_readings *out, char *why, size_t size)
{
    struct reader in = {why, size, false};
    const json_t *stretches;
    const char *format = json_string_value(json_object_get(from, "format"));
    memset(out, 0, sizeof *out);
    if (!format || strcmp(format, "characterize-readings/1") != 0)
        wrong(&in, "format is not characterize-readings/1");
    members(&in, object(&in, from, "machine"), JSON_MEMBERS(machine_members), out);
    const json_t *lacks = object(&in, from, "lacks");
    if (!in.failed)
        read_lacks(&in, lacks, out);
    size_t n = array(&in, from, "stretches", SELF_TEST_STRETCHES_MAX, &stretches);
    for (size_t i = 0; i < n && !in.failed; i++)
        read_stretch(&in, json_array_get(stretches, i), &out->stretch[out->n_stretches++]);
    read_volts(&in, object(&in, from, "voltage"), out);
    read_energy(&in, object(&in, from, "energy"), out);
    if (in.failed)
        self_test_free(out);
    return in.failed ? -1 : 0;
}
