/* SPDX-License-Identifier: GPL-3.0-or-later */
/* analysis/phases/phases.c: the phases file has the keys of doc/formats.md, null for what was not measured, and
 * numbers that come back as they went in. */
#include <float.h>

#include <jansson.h>

#include "analysis/phases/phases.h"
#include "tests/support/test.h"

static const struct estimate none = {NAN, NAN, NAN};

static struct phase unmeasured_phase(enum phase_kind kind, double start_us)
{
    struct phase p = {.kind = kind,
                      .start_us = start_us,
                      .duration_us = none,
                      .freq_ghz = none,
                      .ipc = NAN,
                      .ipc_ratio = NAN,
                      .volts = NAN,
                      .share = {NAN, NAN, NAN, NAN},
                      .level = -1};
    return p;
}

/* Parses what phases_to_json says; it must be JSON that ends in a newline. */
static json_t *parsed(const struct phases *p)
{
    char *text = phases_to_json(p);
    assert_non_null(text);
    assert_int_equal(text[strlen(text) - 1], '\n');
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        print_error("%s at %d:%d in\n%s\n", error.text, error.line, error.column, text);
    assert_non_null(root);
    free(text);
    return root;
}

static void assert_keys(const json_t *object, const char *const *keys, size_t n)
{
    assert_int_equal(json_object_size(object), n);
    for (size_t i = 0; i < n; i++) {
        if (json_object_get(object, keys[i]) == NULL)
            print_error("no key '%s'\n", keys[i]);
        assert_non_null(json_object_get(object, keys[i]));
    }
}

#define ASSERT_KEYS(object, ...)                                                                                       \
    do {                                                                                                               \
        static const char *const keys_[] = {__VA_ARGS__};                                                              \
        assert_keys(object, keys_, sizeof(keys_) / sizeof(keys_[0]));                                                  \
    } while (0)

static double real_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_real(value));
    return json_real_value(value);
}

static void assert_null_member(const json_t *object, const char *key)
{
    if (!json_is_null(json_object_get(object, key)))
        print_error("'%s' is not null\n", key);
    assert_true(json_is_null(json_object_get(object, key)));
}

TEST(an_empty_answer_has_all_keys)
{
    struct phases p = {.detectable_freq = NAN,
                       .detectable_freq_us = NAN,
                       .detectable_throttle = NAN,
                       .detectable_throttle_us = NAN,
                       .detectable_halt_us = NAN};
    json_t *root = parsed(&p);
    ASSERT_KEYS(root, "format", "cpu", "machine", "modelled", "from", "to", "runs", "runs_used", "samples",
                "samples_discarded", "levels_ghz", "levels_ci95_ghz", "phases", "transitions", "volt_steps",
                "discarded", "warnings", "detectable");
    assert_string_equal(json_string_value(json_object_get(root, "format")), "characterize-phases/1");
    assert_null_member(root, "cpu");
    assert_null_member(root, "machine");
    assert_null_member(root, "from");
    assert_null_member(root, "to");
    assert_true(json_is_false(json_object_get(root, "modelled")));
    const char *lists[] = {"levels_ghz", "levels_ci95_ghz", "phases",  "transitions",
                           "volt_steps", "discarded",       "warnings"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        assert_true(json_is_array(json_object_get(root, lists[i])));
        assert_int_equal(json_array_size(json_object_get(root, lists[i])), 0);
    }
    json_t *detectable = json_object_get(root, "detectable");
    ASSERT_KEYS(detectable, "freq_step", "freq_step_us", "throttle_ipc_ratio", "throttle_us", "halt_us");
    assert_null_member(detectable, "freq_step");
    assert_null_member(detectable, "throttle_ipc_ratio");
    assert_null_member(detectable, "halt_us");
    json_decref(root);
}

TEST(what_was_not_measured_is_null)
{
    struct phase phase = unmeasured_phase(PHASE_HALT, 20);
    struct transition transition = {.at_us = 0, .latency_us = none, .from_ghz = NAN, .to_ghz = NAN};
    struct volt_step step = {NAN, NAN, NAN, NAN, 0};
    double level = NAN;
    struct estimate level_limits = none;
    struct phases p = {.phases = &phase,
                       .n_phases = 1,
                       .transitions = &transition,
                       .n_transitions = 1,
                       .volt_steps = &step,
                       .n_volt_steps = 1,
                       .levels_ghz = &level,
                       .levels = &level_limits,
                       .n_levels = 1};
    json_t *root = parsed(&p);
    json_t *first = json_array_get(json_object_get(root, "phases"), 0);
    ASSERT_KEYS(first, "kind", "start_us", "duration_us", "duration_ci95_us", "freq_ghz", "freq_ci95_ghz", "ipc",
                "ipc_ratio", "volts", "level", "agreeing_runs", "lvl0", "lvl1", "lvl2", "throttle");
    assert_string_equal(json_string_value(json_object_get(first, "kind")), "halt");
    const char *unknown[] = {"duration_us", "duration_ci95_us",
                             "freq_ghz",    "freq_ci95_ghz",
                             "ipc",         "ipc_ratio",
                             "volts",       "level",
                             "lvl0",        "lvl1",
                             "lvl2",        "throttle"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        assert_null_member(first, unknown[i]);
    assert_int_equal(json_integer_value(json_object_get(first, "agreeing_runs")), 0);
    json_t *change = json_array_get(json_object_get(root, "transitions"), 0);
    ASSERT_KEYS(change, "at_us", "latency_us", "latency_ci95_us", "from_ghz", "to_ghz", "halts", "agreeing_runs");
    assert_null_member(change, "latency_us");
    assert_null_member(change, "latency_ci95_us");
    assert_null_member(change, "from_ghz");
    json_t *volts = json_array_get(json_object_get(root, "volt_steps"), 0);
    ASSERT_KEYS(volts, "begin_us", "end_us", "from_v", "to_v", "agreeing_runs");
    assert_null_member(volts, "from_v");
    assert_true(json_is_null(json_array_get(json_object_get(root, "levels_ghz"), 0)));
    assert_true(json_is_null(json_array_get(json_object_get(root, "levels_ci95_ghz"), 0)));
    json_decref(root);
}

TEST(values_come_back)
{
    struct phase phase = {.kind = PHASE_THROTTLE,
                          .start_us = -0.125,
                          .duration_us = {20.0625, 19.875, 20.25},
                          .freq_ghz = {2.4, 2.3995, 2.4005},
                          .ipc = 0.4903721,
                          .ipc_ratio = 0.25,
                          .volts = 0.82,
                          .share = {0, 1, 0.5, 0.25},
                          .level = 1,
                          .agreeing_runs = 98};
    double levels[] = {2.8, 1.9};
    struct estimate level_limits[] = {{2.8, 2.7997, 2.8003}, {1.9, 1.89, NAN}};
    struct discarded_run discarded = {17, "interrupted: 2900 us at 41 us"};
    char text[] = "a warning", from[] = "128fma";
    char *warnings[] = {text};
    struct phases p = {.from = from,
                       .modelled = true,
                       .runs = 100,
                       .runs_used = 99,
                       .levels_ghz = levels,
                       .levels = level_limits,
                       .n_levels = 2,
                       .phases = &phase,
                       .n_phases = 1,
                       .discarded = &discarded,
                       .n_discarded = 1,
                       .warnings = warnings,
                       .n_warnings = 1,
                       .detectable_freq = 0.004,
                       .detectable_throttle = 0.942,
                       .detectable_halt_us = 1.5};
    json_t *root = parsed(&p);
    json_t *first = json_array_get(json_object_get(root, "phases"), 0);
    /* times are given to the nanosecond */
    assert_true(real_of(first, "start_us") == -0.125);
    assert_true(fabs(real_of(first, "duration_us") - 20.0625) <= 0.0005);
    assert_true(json_real_value(json_array_get(json_object_get(first, "duration_ci95_us"), 0)) == 19.875);
    assert_true(json_real_value(json_array_get(json_object_get(first, "duration_ci95_us"), 1)) == 20.25);
    assert_true(real_of(first, "freq_ghz") == 2.4);
    assert_true(real_of(first, "ipc") == 0.4903721);
    assert_true(real_of(first, "ipc_ratio") == 0.25);
    assert_true(real_of(first, "volts") == 0.82);
    assert_true(real_of(first, "lvl0") == 0);
    assert_true(real_of(first, "throttle") == 0.25);
    assert_int_equal(json_integer_value(json_object_get(first, "level")), 1);
    assert_int_equal(json_integer_value(json_object_get(first, "agreeing_runs")), 98);
    assert_string_equal(json_string_value(json_object_get(root, "from")), "128fma");
    assert_true(json_is_true(json_object_get(root, "modelled")));
    assert_int_equal(json_integer_value(json_object_get(root, "runs")), 100);
    assert_int_equal(json_integer_value(json_object_get(root, "runs_used")), 99);
    json_t *half = json_array_get(json_object_get(root, "levels_ci95_ghz"), 1);
    assert_true(json_real_value(json_array_get(half, 0)) == 1.89);
    assert_true(json_is_null(json_array_get(half, 1)));
    json_t *gone = json_array_get(json_object_get(root, "discarded"), 0);
    ASSERT_KEYS(gone, "run", "why");
    assert_int_equal(json_integer_value(json_object_get(gone, "run")), 17);
    assert_string_equal(json_string_value(json_object_get(gone, "why")), "interrupted: 2900 us at 41 us");
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "warnings"), 0)), "a warning");
    assert_true(real_of(json_object_get(root, "detectable"), "halt_us") == 1.5);
    json_decref(root);
}

TEST(numbers_are_short)
{
    struct phase phase = unmeasured_phase(PHASE_STEADY, -0.0);
    struct phases p = {.phases = &phase, .n_phases = 1};
    phase.ipc = 1.0 / 3;
    phase.volts = 0.1 + 0.2;
    phase.freq_ghz.value = 2.7999999999999998;
    char *text = phases_to_json(&p);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"ipc\": 0.3333333,"));
    assert_non_null(strstr(text, "\"volts\": 0.3,"));
    assert_non_null(strstr(text, "\"freq_ghz\": 2.8,"));
    assert_non_null(strstr(text, "\"start_us\": 0.0,"));
    free(text);
}

/* However late a phase begins: rounded times must still tell it from the next one. */
TEST(long_recordings_keep_their_nanoseconds)
{
    struct phase phase = unmeasured_phase(PHASE_HALT, 3600e6 + 0.125);
    struct phases p = {.phases = &phase, .n_phases = 1};
    json_t *root = parsed(&p);
    assert_true(real_of(json_array_get(json_object_get(root, "phases"), 0), "start_us") == 3600e6 + 0.125);
    json_decref(root);
}

TEST(extreme_numbers_stay_numbers)
{
    const double values[] = {DBL_MIN, DBL_MAX, -DBL_MAX, 4.9e-324, 1e300, -1e-300};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct phase phase = unmeasured_phase(PHASE_STEADY, values[i]);
        struct phases p = {.phases = &phase, .n_phases = 1};
        phase.ipc = values[i];
        json_t *root = parsed(&p);
        double back = real_of(json_array_get(json_object_get(root, "phases"), 0), "ipc");
        assert_true(fabs(back - values[i]) <= 1e-6 * fabs(values[i]));
        json_decref(root);
    }
    struct phase infinite = unmeasured_phase(PHASE_STEADY, INFINITY);
    struct phases p = {.phases = &infinite, .n_phases = 1};
    json_t *root = parsed(&p);
    assert_null_member(json_array_get(json_object_get(root, "phases"), 0), "start_us");
    json_decref(root);
}

TEST(modes_and_reasons_where_there_are_any)
{
    struct phase phase = unmeasured_phase(PHASE_UNKNOWN, 0);
    struct phases p = {.phases = &phase, .n_phases = 1};
    strcpy(phase.why, "the runs disagree");
    phase.n_modes = 2;
    phase.modes[0] = (struct phase_mode){670, 0.9};
    phase.modes[1] = (struct phase_mode){1340, 0.1};
    json_t *root = parsed(&p);
    json_t *first = json_array_get(json_object_get(root, "phases"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "why")), "the runs disagree");
    json_t *modes = json_object_get(first, "modes");
    assert_int_equal(json_array_size(modes), 2);
    ASSERT_KEYS(json_array_get(modes, 1), "duration_us", "share");
    assert_true(real_of(json_array_get(modes, 1), "duration_us") == 1340);
    assert_true(real_of(json_array_get(modes, 1), "share") == 0.1);
    json_decref(root);
    phase.n_modes = 1;
    root = parsed(&p);
    assert_null(json_object_get(json_array_get(json_object_get(root, "phases"), 0), "modes"));
    json_decref(root);
}

/* Metadata of a file may hold any bytes. */
TEST(any_bytes_become_valid_text)
{
    char cpu[] = "caf\xE9 \x1b[31m\xF0\x9F\x98\x80 \xED\xA0\x80 \xC3", from[] = "quote\" back\\slash";
    struct phases p = {.cpu = cpu, .from = from};
    json_t *root = parsed(&p);
    assert_string_equal(json_string_value(json_object_get(root, "cpu")),
                        "caf\xEF\xBF\xBD ?[31m\xF0\x9F\x98\x80 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD");
    assert_string_equal(json_string_value(json_object_get(root, "from")), "quote\" back\\slash");
    json_decref(root);
    /* every single byte by itself */
    for (int byte = 1; byte < 256; byte++) {
        char one[] = {(char)byte, '\0'};
        struct phases q = {.cpu = one};
        json_decref(parsed(&q));
    }
}

/* One line a phase: long lists stay readable, and a difference between two files is a difference between lines. */
TEST(a_phase_takes_one_line)
{
    struct phase list[3];
    struct phases p = {.phases = list, .n_phases = 3};
    for (int i = 0; i < 3; i++)
        list[i] = unmeasured_phase(PHASE_STEADY, i);
    char *text = phases_to_json(&p);
    assert_non_null(text);
    int lines = 0;
    for (const char *c = text; (c = strstr(c, "\n    {\"kind\"")) != NULL; c++)
        lines++;
    assert_int_equal(lines, 3);
    free(text);
}
