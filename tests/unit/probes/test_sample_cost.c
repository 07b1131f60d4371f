/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a sample takes from the code, on models that state it. */
#include <unistd.h>

#include "probes/repetitions.h"
#include "probes/sample_cost.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_model.h"
#include "tests/support/test.h"

static struct model model; /* too large for the stack */

static struct sample_cost cost_of(struct machine *m, const char *kernel, uint64_t seed)
{
    struct counter_spec counters[REPETITIONS_COUNTERS_MAX];
    struct machine_error err;
    struct payload p = rig_payload(kernel);
    struct machine_setup setup = {.cpu = -1, .active_cores = 1, .seed = seed, .counters = counters};
    struct sample_cost cost = {NAN, NAN};
    setup.n_counters = repetitions_counters(m, true, NULL, 0, counters);
    if (sample_cost_of(m, &setup, &p, &cost, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return cost;
}

static struct sample_cost cost_on_model(const char *kernel, uint64_t seed)
{
    struct machine machine;
    struct machine_error err;
    assert_int_equal(machine_open_parsed_model(&model, "model:random", &machine, &err), MACHINE_OK);
    struct sample_cost cost = cost_of(&machine, kernel, seed);
    machine.ops->close(&machine);
    return cost;
}

/* Whatever interrupts, jitter and neighbors do: within 2 ns on quiet cores, within 8 beside siblings, which slow a
 * reading, too. The instructions are those that fit into its cycles. */
TEST(it_comes_back)
{
    static const char *const kernels[] = {"64add", "256fma", "128or"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        if (seed % 2)
            wild_model(&model, seed);
        else
            scenario_model(&model, seed);
        const char *kernel = kernels[seed % 3];
        struct model_need need;
        struct machine_error err;
        struct payload p = rig_payload(kernel);
        assert_int_equal(model_need(&model, &p, &need, &err), MACHINE_OK);
        struct sample_cost cost = cost_on_model(kernel, seed);
        double cycles = model.split_read_ns * 1e-9 * model.tsc_hz, bound = seed % 2 ? 2 : 8;
        double off = cost.instructions / need.ipc / model.tsc_hz * 1e9 - model.split_read_ns;
        if (!(fabs(off) < bound))
            fail_msg("model %d, %s: %.1f instructions at %.2f a cycle, not in %.0f cycles: off by %.2f ns", (int)seed,
                     kernel, cost.instructions, need.ipc, cycles, off);
        assert_true(cost.us >= 0 && cost.us < 0.5);
    }
}

/* A clock that moves by 12 % every 3 to 24 ms: both sizes are compared within less. */
TEST(it_comes_back_where_the_clock_floats)
{
    static const char *const kernels[] = {"64add", "256fma", "512fma"};
    for (int k = 0; k < 8; k++) {
        rig_load("cloud-guest", &model);
        model.scenario.wander.step_us = 3000 * (k + 1);
        double off = cost_on_model(kernels[k % 3], 0).us * 1e3 - model.split_read_ns;
        if (!(fabs(off) < 4))
            fail_msg("%s, a step every %d ms: off by %.2f ns", kernels[k % 3], 3 * (k + 1), off);
    }
}

/* The order of requests does not matter, and the machine does not measure again. */
TEST(it_is_remembered)
{
    struct machine machine;
    struct machine_error err;
    wild_model(&model, 3);
    assert_int_equal(machine_open_parsed_model(&model, "model:random", &machine, &err), MACHINE_OK);
    struct sample_cost first = cost_of(&machine, "64add", 7), other = cost_of(&machine, "256fma", 7);
    assert_int_equal(machine.next_cost, 2);
    struct sample_cost again = cost_of(&machine, "64add", 7);
    assert_int_equal(machine.next_cost, 2);
    assert_true(again.us == first.us && again.instructions == first.instructions);
    /* other counters are another measurement, also of as many: a run that is resumed asks for these first */
    const struct counter_spec cycles = {.id = COUNTER_CYCLES}, reference = {.id = COUNTER_REF_CYCLES};
    struct machine_setup setup = {.cpu = -1, .active_cores = 1, .counters = &cycles, .n_counters = 1};
    struct payload p = rig_payload("64add");
    for (int i = 0; i < 4; i++) {
        setup.counters = i % 2 ? &reference : &cycles;
        assert_int_equal(sample_cost_of(&machine, &setup, &p, &again, &err), MACHINE_OK);
    }
    assert_int_equal(machine.next_cost, 4);
    machine.ops->close(&machine);
    struct sample_cost alone = cost_on_model("256fma", 7);
    assert_true(alone.us == other.us && alone.instructions == other.instructions);
}

/* Now and then a count is missing, as where something else uses the counters: what is left tells the same. */
static const struct machine_ops *counts_all;

static int run_with_gaps(struct machine *m, const struct run_request *r, struct recording *out,
                         struct machine_error *err)
{
    int status = counts_all->run(m, r, out, err);
    for (size_t k = r->repetition % 7; !status && k < out->n; k += 211)
        out->words[k * out->stride + RECORDING_COUNTERS] = COUNTER_MISSING;
    if (!status && r->repetition % 5 == 0)
        out->words[RECORDING_COUNTERS] = COUNTER_MISSING;
    return status;
}

TEST(missing_counts_are_left_out)
{
    struct machine machine;
    struct machine_error err;
    wild_model(&model, 3);
    const struct sample_cost whole = cost_on_model("64add", 3);
    assert_int_equal(machine_open_parsed_model(&model, "model:random", &machine, &err), MACHINE_OK);
    struct machine_ops ops = *machine.ops;
    counts_all = machine.ops;
    ops.run = run_with_gaps;
    machine.ops = &ops;
    const struct sample_cost cost = cost_of(&machine, "64add", 3);
    machine.ops->close(&machine);
    assert_true(fabs(cost.instructions / whole.instructions - 1) < 0.05);
    assert_true(fabs(cost.us / whole.us - 1) < 0.05);
}

/* Late in a long series the rest of a reading is less than the time can tell: the model waited for its end for ever. */
TEST(a_long_series_ends)
{
    wild_model(&model, 2);
    assert_true(model.split_read_ns > 0);
    model.scenario.carries = true;
    model.scenario.gap_us = 5e7;
    alarm(60);
    cost_on_model("64add", 2);
    alarm(0);
}
