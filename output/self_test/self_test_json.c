/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "output/self_test/self_test_parts.h"
#include "util/json_lines.h"

const char *const self_test_counter_names[COUNTER_IDS] = {[COUNTER_CYCLES] = "cycles",
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
const char *const self_test_kind_names[SELF_TEST_KINDS] = {"short", "long", "steady", "switch", "event"};

/* A new string, or null for "". */
static json_t *self_test_json_text(const char *from)
{
    return json_lines_text(from[0] ? from : NULL);
}

/* The array with one more value; NULL, and nothing left of either: out of memory. */
static json_t *self_test_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *line_json(const struct self_test_line *l)
{
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", l->name, "verdict",
                     self_test_word(l->verdict), "value", json_lines_real(l->value), "unit", l->unit, "lo",
                     json_lines_real(l->lo), "hi", json_lines_real(l->hi), "text", self_test_json_text(l->text),
                     "reason", self_test_json_text(l->reason), "remedy", self_test_json_text(l->remedy));
}

static json_t *lines_array(const struct self_test_lines *l)
{
    json_t *array = json_array();
    for (size_t i = 0; l && i < l->n; i++)
        array = self_test_json_append(array, line_json(&l->line[i]));
    return array;
}

static json_t *machine_json(const struct self_test_readings *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:o}", "name",
                     self_test_json_text(r->machine), "cpu", self_test_json_text(r->cpu), "source",
                     self_test_json_text(r->source), "notes", self_test_json_text(r->notes), "modelled", r->modelled,
                     "intel", r->intel, "family", (int)r->family, "model", (int)r->model, "cores", (int)r->cores,
                     "cpu_number", r->cpu_number, "features", (int)r->features, "tsc_hz", r->tsc_hz, "tsc_error",
                     r->tsc_error, "tsc_origin", self_test_json_text(r->tsc_origin));
}

json_t *self_test_lines_json(const struct self_test_readings *r, const struct self_test_lines *l,
                             const struct self_test_lines *others)
{
    return json_pack("{s:s, s:o, s:i, s:i, s:i, s:o, s:o}", "format", "characterize-self-test/1", "machine",
                     machine_json(r), "pass", (int)self_test_count(l, SELF_TEST_PASS), "fail",
                     (int)self_test_count(l, SELF_TEST_FAIL), "cannot", (int)self_test_count(l, SELF_TEST_CANNOT),
                     "lines", lines_array(l), "second_opinions", lines_array(others));
}

/* ---- the readings ---- */

/* The steps of one word from reading to reading; null where it is missing, and the next step is from the last known. */
static json_t *steps(const struct self_test_recording *rec, size_t stride, size_t column)
{
    json_t *array = json_array();
    uint64_t last = 0;
    for (size_t i = 0; i < rec->n; i++) {
        uint64_t word = rec->words[i * stride + column];
        bool missing = column >= 2 && word == COUNTER_MISSING;
        array = self_test_json_append(array, missing ? json_null() : json_integer((json_int_t)(word - last)));
        last = missing ? last : word;
    }
    return array;
}

static json_t *recording_json(const struct self_test_recording *rec, size_t stride)
{
    json_t *columns = json_array();
    for (size_t c = 0; c < stride; c++)
        columns = self_test_json_append(columns, steps(rec, stride, c));
    return json_pack("{s:I, s:o}", "zero", (json_int_t)rec->zero, "steps", columns);
}

static json_t *stretch_json(const struct self_test_stretch *s)
{
    json_t *counters = json_array(), *recordings = json_array(), *event = json_null();
    for (size_t i = 0; i < s->n_counters; i++) {
        counters = self_test_json_append(counters, json_string(self_test_counter_names[s->counters[i].id]));
        if (s->counters[i].id == COUNTER_EVENT)
            event = json_integer(s->counters[i].event);
    }
    for (size_t i = 0; i < s->n; i++)
        recordings = self_test_json_append(recordings, recording_json(&s->recordings[i], 2 + s->n_counters));
    return json_pack("{s:s, s:s, s:o, s:i, s:f, s:o, s:o, s:i, s:o, s:o, s:o}", "kind", self_test_kind_names[s->kind],
                     "kernel", s->kernel, "from", self_test_json_text(s->from), "block", (int)s->block, "period_us",
                     s->period_us, "counters", counters, "event", event, "disturbed", (int)s->disturbed, "why",
                     self_test_json_text(s->why), "remedy", self_test_json_text(s->remedy), "recordings", recordings);
}

static json_t *lacks_json(const struct self_test_readings *r)
{
    json_t *out = json_object();
    for (int id = 0; id < COUNTER_IDS; id++)
        if (r->lacks[id][0] &&
            json_object_set_new(out, self_test_counter_names[id],
                                json_pack("{s:o, s:o}", "why", self_test_json_text(r->lacks[id]), "remedy",
                                          self_test_json_text(r->lacks_remedy[id]))) != 0) {
            json_decref(out);
            return NULL;
        }
    return out;
}

static json_t *volts_json(const struct self_test_readings *r)
{
    json_t *values = json_array();
    for (size_t i = 0; i < r->n_volts; i++)
        values = self_test_json_append(values, json_sprintf("0x%llx", (unsigned long long)r->volts[i]));
    return json_pack("{s:o, s:o, s:o}", "register_198", values, "why", self_test_json_text(r->volts_why), "remedy",
                     self_test_json_text(r->volts_remedy));
}

static json_t *energy_json(const struct self_test_readings *r)
{
    json_t *values = json_array();
    for (size_t i = 0; i < r->n_energy; i++)
        values = self_test_json_append(values, json_pack("{s:f, s:f}", "joules", r->energy[i].joules, "seconds",
                                                         r->energy[i].seconds - r->energy[0].seconds));
    return json_pack("{s:o, s:o, s:o, s:o}", "readings", values, "source", self_test_json_text(r->energy_source), "why",
                     self_test_json_text(r->energy_why), "remedy", self_test_json_text(r->energy_remedy));
}

json_t *self_test_readings_json(const struct self_test_readings *r)
{
    json_t *stretches = json_array();
    for (size_t i = 0; i < r->n_stretches; i++)
        stretches = self_test_json_append(stretches, stretch_json(&r->stretch[i]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "format", "characterize-readings/1", "machine", machine_json(r),
                     "lacks", lacks_json(r), "stretches", stretches, "voltage", volts_json(r), "energy",
                     energy_json(r));
}
