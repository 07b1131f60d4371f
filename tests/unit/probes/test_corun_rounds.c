/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What work costs beside background code: known costs are given back, also while the clock drifts; none is made up. */
#include "probes/corun_kernel.h"
#include "probes/corun_rounds.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"
#include "util/splitmix64.h"

/* Work of 10 ms on a guest whose clock drifts by a fifth and whose runs scatter; wide code costs more. */
struct guest {
    double cost512, scatter, stall; /* the last: a share of its cycles at 2.8 GHz, with clocks */
    unsigned runs, stop_after, beside_nothing;
};

static int guest_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err)
{
    struct guest *g = data;
    const double noise = (double)(splitmix64(g->runs * SPLITMIX64_STEP) >> 11) * 0x1p-53 - 0.5;
    const double drift = 1 + 0.1 * sin(g->runs / 7.0);
    if (g->stop_after > 0 && g->runs == g->stop_after)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "it failed");
    const unsigned width = b->code.kernel ? b->code.kernel->width : 0;
    g->beside_nothing += width == 0;
    g->runs++;
    out->cpu_s = 0.01 * drift * (1 + g->scatter * noise) * (width == 512 ? 1 + g->cost512 : 1);
    out->time_s = out->cpu_s * (width ? 2 : 1);
    out->ghz = 3 / drift;
    if (b->fixed_ghz > 0) {
        out->ghz = b->fixed_ghz / drift;
        out->cpu_s *= (1 - g->stall) * 2.8 / b->fixed_ghz + g->stall / drift;
    }
    return MACHINE_OK;
}

static int never(void *data, double part)
{
    (void)data;
    assert_true(part >= 0 && part <= 1);
    return 0;
}

static int at_once(void *data, double part)
{
    (void)data;
    (void)part;
    return 1;
}

static struct corun_setup setup_of(const struct corun *work, const struct payload *codes)
{
    return (struct corun_setup){.work = work,
                                .codes = codes,
                                .n_codes = 3,
                                .least = 6,
                                .most = 100000,
                                .seconds = 300,
                                .patience = INFINITY,
                                .enough = 0.004,
                                .progress = never};
}

TEST(test_costs_are_given_back)
{
    static const double costs[] = {0, 0.02, 0.3, -0.05};
    const struct payload codes[] = {rig_payload("128fma"), rig_payload("256fma"), rig_payload("512fma")};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct guest g = {.cost512 = costs[i], .scatter = 0.02};
        const struct corun work = {guest_run, &g, true};
        const struct corun_setup s = setup_of(&work, codes);
        struct corun_result r;
        struct machine_error err;
        assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
        const struct estimate *wide = &r.of[CORUN_WIDE + 1].cpu_cost, *narrow = &r.of[CORUN_WIDE].cpu_cost;
        assert_close(wide->value, costs[i], 0.006);
        assert_true(wide->lo <= costs[i] && wide->hi >= costs[i]);
        assert_true(narrow->lo <= 0 && narrow->hi >= 0);
        assert_true(r.of[CORUN_NULL].cpu_cost.lo <= 0 && r.of[CORUN_NULL].cpu_cost.hi >= 0);
        assert_close(r.of[CORUN_NARROW].time_cost.value, 1, 0.02); /* beside any code, twice the time of that alone */
        assert_close(r.of[CORUN_NARROW].cpu_cost.value, 0, 0.01);
        assert_true(isnan(r.of[CORUN_NOTHING].cpu_cost.value));
        assert_close(r.of[CORUN_NOTHING].cpu_s.value, 0.01, 0.0015);
        assert_close(r.of[CORUN_NOTHING].ghz.value, 3, 0.4);
        /* it stopped for the limits, not for the time, which the work's own is */
        assert_true(estimate_half(wide) <= s.enough && r.seconds < s.seconds && r.rounds < s.most);
        assert_int_equal(g.runs, 1 + 5 * r.rounds);
        assert_int_equal(g.beside_nothing, r.rounds);
    }
}

TEST(test_time_and_rounds_end_it)
{
    const struct payload codes[] = {rig_payload("128fma"), rig_payload("256fma"), rig_payload("512fma")};
    struct guest g = {.scatter = 0.5};
    const struct corun work = {guest_run, &g, true};
    struct corun_setup s = setup_of(&work, codes);
    struct corun_result r;
    struct machine_error err;
    s.seconds = 1; /* a round takes 90 ms */
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
    assert_in_range(r.rounds, 9, 14);
    s.seconds = 0.01; /* nothing has limits before six */
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
    assert_int_equal(r.rounds, 6);
    assert_true(isfinite(r.of[CORUN_WIDE].cpu_cost.lo));
    s.patience = 10; /* 6 rounds of 5 runs take 0.5 s */
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_BAD_INPUT);
    s.seconds = 0.1;
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
    s.least = s.most = 3;
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
    assert_int_equal(r.rounds, 3);
    assert_true(isfinite(r.of[CORUN_WIDE].cpu_cost.value) && isnan(r.of[CORUN_WIDE].cpu_cost.lo));
}

TEST(test_what_fails_and_who_stops)
{
    const struct payload codes[] = {rig_payload("128fma"), rig_payload("256fma"), rig_payload("512fma")};
    struct corun_result r;
    struct machine_error err;
    for (unsigned after = 1; after < 8; after += 2) {
        struct guest g = {.stop_after = after};
        const struct corun work = {guest_run, &g, true};
        const struct corun_setup s = setup_of(&work, codes);
        assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_BAD_INPUT);
        assert_string_equal(err.text, "it failed");
    }
    struct guest g = {.scatter = 0};
    const struct corun work = {guest_run, &g, true};
    struct corun_setup s = setup_of(&work, codes);
    s.progress = at_once;
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_FAILED);
    assert_int_equal(g.runs, 2);
}

TEST(test_stall_shares_are_given_back)
{
    static const double clocks[] = {2.8, 1.9, 2.82};
    for (double stall = 0; stall <= 1; stall += 0.25) {
        struct guest g = {.scatter = 0.02, .stall = stall};
        const struct corun work = {guest_run, &g, true};
        struct corun_setup s = setup_of(&work, NULL);
        struct corun_result r;
        struct machine_error err;
        s.clocks = clocks;
        assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
        const struct estimate *share = &r.of[CORUN_WIDE].stall;
        assert_close(share->value, stall, 0.025);
        assert_true(share->lo <= stall && share->hi >= stall);
        assert_true(isnan(r.of[CORUN_WIDE + 1].stall.value)); /* a hundredth is no other clock */
        assert_true(isnan(r.of[CORUN_NARROW].stall.value));
        assert_close(r.of[CORUN_WIDE].cpu_cost.value, (1 - stall) * (2.8 / 1.9 - 1), 0.02);
    }
}

/* ---- a kernel on a model as the work ---- */

static struct corun_result on_model(enum corun_place place, const char *wide)
{
    const struct payload codes[] = {rig_payload("128fma"), rig_payload(wide)};
    struct model model;
    struct machine m;
    struct machine_error err;
    struct corun_result r;
    rig_load("xeon-gold-6130", &model);
    rig_silence(&model);
    assert_int_equal(machine_open_parsed_model(&model, "model:test", &m, &err), MACHINE_OK);
    struct corun_kernel k = {
        .m = &m, .work = rig_payload("64add"), .place = place, .cpu = -1, .slice_us = 3000, .slices = 3};
    const struct corun work = {corun_kernel_run, &k, true};
    struct corun_setup s = setup_of(&work, codes);
    s.n_codes = 2;
    assert_int_equal(corun_rounds(&s, &r, &err), MACHINE_OK);
    m.ops->close(&m);
    return r;
}

TEST(test_the_costs_of_a_model_are_its_parameters)
{
    /* other cores: only their number counts, 2.8 instead of 3.7 GHz */
    struct corun_result r = on_model(CORUN_CORE, "512fma");
    assert_close(r.of[CORUN_WIDE].cpu_cost.value, 0, 0.003);
    assert_close(r.of[CORUN_NARROW].cpu_cost.value, 3.7 / 2.8 - 1, 0.003);
    assert_close(r.of[CORUN_NARROW].ghz.value, 2.8, 0.01);
    /* of each slice of 3 ms at 2.8 GHz, 0.67 ms are spent at 1.9 GHz, and a halt of 10 us follows */
    r = on_model(CORUN_PACKAGE, "512fma");
    assert_close(r.of[CORUN_WIDE].cpu_cost.value, (670 * (1 - 1.9 / 2.8) + 10) / 3000, 0.008);
    assert_close(r.of[CORUN_WIDE].time_cost.value, (670 * (1 - 1.9 / 2.8) + 10) / 6000, 0.004);
    /* alone on its core at 3.5 GHz, after it 3.7 */
    r = on_model(CORUN_SAME, "512fma");
    assert_close(r.of[CORUN_WIDE].cpu_cost.value, (670 * (1 - 3.5 / 3.7) + 10) / 3000, 0.004);
    assert_close(r.of[CORUN_NARROW].time_cost.value, 1, 0.003);
}

TEST(test_what_models_cannot)
{
    const struct corun_background pauses = {.code = rig_payload("512fma"), .on_us = 10, .every_us = 100};
    const struct corun_background plain = {.code = rig_payload("512fma")};
    struct corun_kernel k = {.place = CORUN_SIBLING, .work = rig_payload("64add")};
    struct corun_seen seen;
    struct machine_error err;
    assert_int_equal(corun_kernel_run(&k, &pauses, &seen, &err), MACHINE_CANNOT);
    assert_int_equal(corun_kernel_run(&k, &plain, &seen, &err), MACHINE_CANNOT);
}
