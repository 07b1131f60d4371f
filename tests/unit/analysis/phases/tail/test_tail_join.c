/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found behind the fine part, joined to phases made by hand. */
#include "analysis/phases/tail/tail.h"
#include "tests/support/phases_rig.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

/* ---- courses made by hand ---- */

static struct tail_course course(enum tail_kind kind, double from, double to, double begin, double tau)
{
    return (struct tail_course){.kind = kind,
                                .from = {from, from, from},
                                .to = {to, to, to},
                                .begin = {begin, begin, begin},
                                .tau = {tau, tau, tau},
                                .runs = 5};
}

static struct tail_course constant(double value)
{
    return course(TAIL_CONSTANT, value, value, 0, 0);
}

/* Of a recording of 150 us in its fine part and of 1000 us in all. */
static struct tail tail_of(struct tail_course clock, struct tail_course rate)
{
    return (struct tail){.begin = 150, .end = 1000, .n_runs = 6, .lost = 7, .course = {clock, rate}};
}

static struct phases phases_of(const struct phase *phase, size_t n)
{
    struct phases p = {.n_phases = n, .phases = malloc(n * sizeof *phase)};
    assert_non_null(p.phases);
    memcpy(p.phases, phase, n * sizeof *phase);
    return p;
}

/* A kernel of 3 GHz before the switch, and one phase behind it until the fine part ends. */
static struct phases behind(struct phase last)
{
    return phases_of((struct phase[]){rig_phase(PHASE_STEADY, -20, 20, 3, 1), last}, 2);
}

static void expect_phase(const struct phases *p, size_t i, enum phase_kind kind, double start, double end, double ghz)
{
    assert_in_range(i, 0, p->n_phases - 1);
    const struct phase *ph = &p->phases[i];
    assert_int_equal(ph->kind, kind);
    assert_close(ph->start_us, start, 1e-9);
    assert_close(ph->start_us + ph->duration_us.value, end, 1e-9);
    if (isnan(ghz))
        assert_true(isnan(ph->freq_ghz.value));
    else
        assert_close(ph->freq_ghz.value, ghz, 1e-9);
}

TEST(a_mean_is_that_of_what_it_lasts)
{
    const struct tail_course c = course(TAIL_RAMP, 2, 1, 10, 5), flat = course(TAIL_STEP, 2, 1, 10, 5);
    assert_close(tail_mean(&c, 0, 10), 2, 1e-12);
    assert_close(tail_mean(&c, 0, 5), 2, 1e-12);
    assert_close(tail_mean(&c, 10, 15), 1 + 5 * (1 - exp(-1)) / 5, 1e-12);
    assert_close(tail_mean(&c, 15, 20), 1 + 5 * (exp(-1) - exp(-2)) / 5, 1e-12);
    assert_close(tail_mean(&c, 0, 20), 1 + (10 + 5 * (1 - exp(-2))) / 20, 1e-12);
    assert_close(tail_mean(&c, 12, 12), 1, 0);
    assert_close(tail_mean(&flat, 0, 20), 1, 0);
}

/* It ends where it is within 0.1 % of its end. */
TEST(a_side_ends_where_it_has_arrived)
{
    struct tail_course c = course(TAIL_RAMP, 1.5, 2, 10, 5);
    c.begin = (struct estimate){10, 9, 12};
    c.tau = (struct estimate){5, 4, 7};
    c.from = (struct estimate){1.5, 1.4, 1.6};
    struct ramp_side s = tail_side(&c, false);
    double log_change = log(0.5 / 0.002);
    assert_close(s.begin_us.value, 10, 0);
    assert_close(s.end_us.value, 10 + 5 * log_change, 1e-9);
    assert_close(s.end_us.lo, 9 + 4 * log_change, 1e-9);
    assert_close(s.end_us.hi, 12 + 7 * log_change, 1e-9);
    assert_true(s.from.value == 1.5 && s.to.value == 2 && s.tau_us.hi == 7 && s.runs == 5);
    s = tail_side(&c, true);
    assert_close(s.from.value, 0.75, 1e-12);
    assert_close(s.from.lo, 0.7, 1e-12);
    assert_close(s.from.hi, 0.8, 1e-12);
    assert_close(s.to.value, 1, 0);
    c.from.value = 2.001; /* has arrived when it begins */
    assert_close(tail_side(&c, false).end_us.value, 10, 0);
    c.kind = TAIL_STEP;
    s = tail_side(&c, false);
    assert_true(s.runs == 0 && s.tau_us.value == 0);
}

/* ---- joining ---- */

TEST(what_is_not_there_adds_nothing)
{
    const struct tail_course missing = {.kind = TAIL_MISSING};
    struct phases none = {.n_phases = 0}, p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 2));
    struct tail x = tail_of(constant(3), constant(2));
    assert_int_equal(tail_join(&x, &none), 0);
    assert_true(none.n_phases == 0 && none.samples_lost == 7);
    x.n_runs = 0;
    assert_int_equal(tail_join(&x, &p), 0);
    x = tail_of(missing, missing);
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_phases, 2);
    expect_phase(&p, 1, PHASE_STEADY, 0, 150, 3);
    assert_int_equal(p.samples_lost, 7);
    phases_free(&p);
}

/* Chains that tell the frequency of the fine part may be off by 2 %. */
TEST(what_stays_goes_on)
{
    struct phase unknown = rig_phase(PHASE_UNKNOWN, 0, 150, 3, 2), nothing = unknown;
    nothing.freq_ghz = (struct estimate){NAN, NAN, NAN};
    const struct {
        struct phase last;
        double ghz;
        bool goes_on;
    } cases[] = {
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), 3, true},
        {rig_phase(PHASE_SLOW, 0, 150, 3, 2), 3, true},
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), 3 * exp(0.0199), true},
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), 3 * exp(0.0201), false},
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), 3 * exp(-0.0199), true},
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), 3 * exp(-0.0201), false},
        {rig_phase(PHASE_STEADY, 0, 150, 3, 2), NAN, true},
        {unknown, 3, false},
        {nothing, 3, true},
        {rig_phase(PHASE_THROTTLE, 0, 150, 3, 2), 3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct phases p = behind(cases[i].last);
        struct tail x = tail_of(constant(cases[i].ghz), constant(2));
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.n_phases, cases[i].goes_on ? 2 : 3);
        expect_phase(&p, 1, cases[i].last.kind, 0, cases[i].goes_on ? 1000 : 150, cases[i].last.freq_ghz.value);
        if (!cases[i].goes_on)
            expect_phase(&p, 2, PHASE_STEADY, 150, 1000, cases[i].ghz);
        phases_free(&p);
    }
}

/* Frequencies of what is steady are one level where they are as near as a clock wanders. */
TEST(levels_are_those_of_what_is_steady)
{
    for (int apart = 0; apart < 2; apart++) {
        double ghz = 3 * exp(apart ? -0.0036 : -0.0034);
        struct phases p = phases_of((struct phase[]){rig_phase(PHASE_STEADY, -20, 20, 3, 1),
                                                     rig_phase(PHASE_STEADY, 0, 60, ghz, 2),
                                                     rig_phase(PHASE_THROTTLE, 60, 90, 2, 1)},
                                    3);
        struct tail x = tail_of(constant(2.5), constant(2));
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.n_levels, apart ? 3 : 2);
        assert_true(p.levels_ghz[0] == 3 && p.levels_ghz[p.n_levels - 1] == 2.5);
        assert_true(p.levels[0].hi == 3 && p.levels[0].lo == (apart ? 3 : ghz));
        const int levels[] = {0, apart, -1, 1 + apart};
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(p.phases[i].level, levels[i]);
        phases_free(&p);
    }
}

TEST(what_moves_is_unknown)
{
    for (int c = 0; c < TAIL_COURSES; c++) {
        struct tail x = tail_of(c == TAIL_FREQ ? course(TAIL_MOVES, 3, 3.06, 0, 0) : constant(3),
                                c == TAIL_RATE ? course(TAIL_MOVES, 2, 1.9, 0, 0) : constant(2));
        struct phases p = behind(rig_phase(PHASE_STEADY, 0, 140, 3, 2));
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.n_phases, 3);
        expect_phase(&p, 1, PHASE_STEADY, 0, 150, 3);
        expect_phase(&p, 2, PHASE_UNKNOWN, 150, 1000, NAN);
        assert_string_equal(p.phases[2].why, c == TAIL_FREQ
                                                 ? "the frequency drifts by +2.0 %, in no way that is a ramp or a step"
                                                 : "the rate drifts by -5.0 %, in no way that is a ramp or a step");
        phases_free(&p);
    }
    struct tail x = tail_of(course(TAIL_MOVES, 3, 3.06, 0, 0), constant(2));
    struct phases p = behind(rig_phase(PHASE_HALT, 0, 140, 3, 2)); /* is no longer than it was */
    assert_int_equal(tail_join(&x, &p), 0);
    expect_phase(&p, 1, PHASE_HALT, 0, 140, 3);
    phases_free(&p);
}

TEST(a_step_of_the_clock_is_a_transition)
{
    struct tail x = tail_of(course(TAIL_STEP, 3, 2.8, 400, 0), constant(2));
    x.course[TAIL_FREQ].begin = (struct estimate){400, 390, 420};
    struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 2));
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_phases, 3);
    expect_phase(&p, 1, PHASE_STEADY, 0, 400, 3);
    expect_phase(&p, 2, PHASE_STEADY, 400, 1000, 2.8);
    assert_int_equal(p.n_transitions, 1);
    const struct transition *tr = &p.transitions[0];
    assert_true(tr->at_us == 400 && tr->latency_us.value == 0 && tr->latency_us.hi == 30 && tr->agreeing_runs == 5);
    assert_true(tr->from_ghz == 3 && tr->to_ghz == 2.8);
    phases_free(&p);
    x = tail_of(course(TAIL_STEP, 2.8, 3, 400, 0), constant(2)); /* up: slow until then */
    p = behind(rig_phase(PHASE_STEADY, 0, 150, 2.8, 2));
    assert_int_equal(tail_join(&x, &p), 0);
    expect_phase(&p, 1, PHASE_SLOW, 0, 400, 2.8);
    expect_phase(&p, 2, PHASE_STEADY, 400, 1000, 3);
    phases_free(&p);
}

/* Less than 95 % of the rate in the end is throttled; more than that is of it is not known what it is. */
TEST(a_step_of_the_rate_tells_what_was_before)
{
    const struct {
        double ratio;
        enum phase_kind kind;
    } cases[] = {{0.949, PHASE_THROTTLE}, {0.951, PHASE_STEADY}, {1.052, PHASE_STEADY}, {1.053, PHASE_UNKNOWN}};
    for (size_t i = 0; i < 4; i++) {
        struct tail x = tail_of(constant(3), course(TAIL_STEP, 2 * cases[i].ratio, 2, 400, 0));
        struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 2 * cases[i].ratio));
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.n_phases, 3);
        expect_phase(&p, 1, cases[i].kind, 0, 400, 3);
        expect_phase(&p, 2, PHASE_STEADY, 400, 1000, 3);
        assert_close(p.phases[2].ipc_ratio, 1, 1e-12);
        if (cases[i].kind == PHASE_UNKNOWN)
            assert_true(isnan(p.phases[1].ipc_ratio));
        else
            assert_close(p.phases[1].ipc_ratio, cases[i].ratio, 1e-12);
        if (cases[i].kind == PHASE_THROTTLE) {
            assert_int_equal(p.n_transitions, 1);
            assert_true(p.transitions[0].at_us == 0 && p.transitions[0].latency_us.value == 400);
        }
        phases_free(&p);
    }
}

/* Steps of clock and rate are two where their limits are apart, in whichever order. */
TEST(two_steps_make_three_pieces_where_they_are_apart)
{
    struct tail_course clock = course(TAIL_STEP, 3, 2.8, 400, 0), rate = course(TAIL_STEP, 1, 2, 300, 0);
    clock.begin = (struct estimate){400, 350, 450};
    for (int i = 0; i < 4; i++) {
        double at = i < 2 ? 300 : 500, half = i % 2 ? 51 : 49;
        rate.begin = (struct estimate){at, at - half, at + half};
        struct tail x = tail_of(clock, rate);
        struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 1));
        assert_int_equal(tail_join(&x, &p), 0);
        double first = fmin(at, 400), second = fmax(at, 400);
        assert_int_equal(p.n_phases, i % 2 ? 3 : 4);
        expect_phase(&p, 1, PHASE_THROTTLE, 0, first, 3);
        if (i % 2 == 0)
            expect_phase(&p, 2, at < 400 ? PHASE_STEADY : PHASE_THROTTLE, first, second, at < 400 ? 3 : 2.8);
        expect_phase(&p, p.n_phases - 1, PHASE_STEADY, i % 2 ? first : second, 1000, 2.8);
        phases_free(&p);
    }
}

/* The last is what runs in the end, even if one of two steps that are not told apart may be late. */
TEST(the_last_piece_is_behind_both_steps)
{
    struct tail x = tail_of(course(TAIL_STEP, 3, 2.8, 700, 0), course(TAIL_STEP, 1, 2, 300, 0));
    x.course[TAIL_FREQ].begin.lo = 300;
    struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 1));
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_phases, 3);
    expect_phase(&p, 1, PHASE_THROTTLE, 0, 300, 3);
    expect_phase(&p, 2, PHASE_STEADY, 300, 1000, 2.8);
    phases_free(&p);
}

TEST(a_ramp_that_is_over_ends_in_what_is_steady)
{
    struct tail x = tail_of(course(TAIL_RAMP, 3, 2.8, 200, 100), constant(2));
    double end = 200 + 100 * log(0.2 / 0.0028);
    for (int instant = 0; instant < 2; instant++) {
        struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 2));
        x.instant = instant;
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.n_phases, 4);
        expect_phase(&p, 1, PHASE_STEADY, 0, 200, 3);
        expect_phase(&p, 2, PHASE_RAMP, 200, end, tail_mean(&x.course[TAIL_FREQ], 200, end));
        expect_phase(&p, 3, PHASE_STEADY, end, 1000, 2.8);
        const struct phase *ramp = &p.phases[2];
        assert_true(ramp->from_ghz.value == 3 && ramp->to_ghz.value == 2.8 && ramp->tau_us.value == 100);
        assert_true(ramp->clock_unsure == instant && ramp->agreeing_runs == 5 && !(ramp->rate_ramp.tau_us.value > 0));
        assert_int_equal(p.n_transitions, 1);
        assert_close(p.transitions[0].at_us, 200, 0);
        assert_close(p.transitions[0].latency_us.value, end - 200, 1e-9);
        assert_true(p.transitions[0].from_ghz == 3 && p.transitions[0].to_ghz == 2.8);
        assert_int_equal(p.n_warnings, 0);
        phases_free(&p);
    }
}

TEST(a_ramp_that_goes_on_is_said_to)
{
    struct tail x = tail_of(course(TAIL_RAMP, 3, 2.8, 0, 400), course(TAIL_RAMP, 1, 2, 0, 100));
    x.course[TAIL_RATE].runs = 4;
    struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 1));
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_phases, 2);
    expect_phase(&p, 1, PHASE_RAMP, 0, 1000, tail_mean(&x.course[TAIL_FREQ], 0, 1000));
    assert_close(p.phases[1].ipc, tail_mean(&x.course[TAIL_RATE], 0, 1000), 1e-12);
    assert_true(p.phases[1].agreeing_runs == 4 && p.phases[1].rate_ramp.from.value == 0.5);
    assert_int_equal(p.n_transitions, 0);
    assert_int_equal(p.n_warnings, 2);
    assert_string_equal(p.warnings[0], "the ramp from 0.0 us goes on where the recording ends (time constant 400 us); "
                                       "a longer --observe would resolve it better");
    assert_string_equal(p.warnings[1], "the recording ends before the transition at 0.0 us does");
    phases_free(&p);
}

/* The rate from 1.5 to 2 from 30 us on with 100 us, behind a phase of the fine part that ends there. */
static size_t left_before_ramp(struct phase piece)
{
    struct tail x = tail_of(constant(3), course(TAIL_RAMP, 1.5, 2, 30, 100));
    struct phases p = behind(piece);
    assert_int_equal(tail_join(&x, &p), 0);
    size_t n = 0;
    while (n < p.n_phases && p.phases[n].kind != PHASE_RAMP)
        n++;
    assert_in_range(n, 1, p.n_phases - 1);
    double from = 1.5 - (n == 1 ? 0.5 * expm1(0.3) : 0);
    assert_close(p.phases[n].start_us, n == 1 ? 0 : 30, 1e-9);
    assert_close(p.phases[n].rate_ramp.from.value, from / 2, 1e-12);
    phases_free(&p);
    return n;
}

/* Pieces of the fine part, behind the switch, that lie within 2 % of the full rate on the curve are of the ramp. */
TEST(a_ramp_takes_in_the_steps_on_its_curve)
{
    double drawn = 2 - 0.5 * exp(0.15);
    struct phase piece = rig_phase(PHASE_THROTTLE, 0, 30, 3, drawn);
    assert_int_equal(left_before_ramp(piece), 1);
    assert_int_equal(left_before_ramp(rig_phase(PHASE_HALT, 0, 30, 3, drawn)), 2);
    for (int side = -1; side <= 1; side += 2) {
        piece.ipc = drawn + side * 0.039;
        assert_int_equal(left_before_ramp(piece), 1);
        piece.ipc = drawn + side * 0.041;
        assert_int_equal(left_before_ramp(piece), 2);
        piece.ipc = drawn;
        piece.freq_ghz.value = 3 * exp(side * 0.0034);
        assert_int_equal(left_before_ramp(piece), 1);
        piece.freq_ghz.value = 3 * exp(side * 0.0036);
        assert_int_equal(left_before_ramp(piece), 2);
        piece.freq_ghz.value = 3;
    }
    piece.ipc = NAN;
    assert_int_equal(left_before_ramp(piece), 2);
}

/* Even if it lies on the curve and goes on until the ramp begins. */
TEST(what_began_before_the_switch_is_of_no_ramp)
{
    struct phase before = rig_phase(PHASE_UNKNOWN, -10, 10, 3, 2 - 0.5 * exp(0.05));
    struct tail x = tail_of(constant(3), course(TAIL_RAMP, 1.5, 2, 0, 100));
    struct phases p = phases_of((struct phase[]){rig_phase(PHASE_STEADY, -40, 30, 3, 1), before}, 2);
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_phases, 4);
    expect_phase(&p, 1, PHASE_UNKNOWN, -10, 0, 3);
    expect_phase(&p, 2, PHASE_RAMP, 0, 100 * log(0.5 / 0.002), 3);
    assert_close(p.phases[2].rate_ramp.from.value, 0.75, 1e-12);
    phases_free(&p);
}

/* What the fine part took for the full rate is throttled where the rate rises in the end, and not where it falls. */
TEST(rates_of_the_fine_part_are_told_by_the_last)
{
    const struct {
        enum phase_kind was, is;
        double start, ipc, ratio;
    } cases[] = {
        {PHASE_STEADY, PHASE_STEADY, 0, 1.91, 0.955},    {PHASE_STEADY, PHASE_THROTTLE, 0, 1.89, 0.945},
        {PHASE_THROTTLE, PHASE_STEADY, 0, 2.1, 1.05},    {PHASE_THROTTLE, PHASE_THROTTLE, 0, 2.11, 1.055},
        {PHASE_THROTTLE, PHASE_THROTTLE, -2, 2.1, 0.75}, {PHASE_THROTTLE, PHASE_THROTTLE, 0, NAN, 0.75 * 1.9 / 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct phase was = rig_phase(cases[i].was, cases[i].start, 20, 3, cases[i].ipc);
        was.ipc_ratio = 0.75;
        struct phases p = phases_of(
            (struct phase[]){rig_phase(PHASE_STEADY, -20, 18, 3, 1), was, rig_phase(PHASE_STEADY, 20, 130, 3, 1.9)}, 3);
        struct tail x = tail_of(constant(3), course(TAIL_STEP, 1.9, 2, 400, 0));
        x.after = 20;
        assert_int_equal(tail_join(&x, &p), 0);
        assert_int_equal(p.phases[1].kind, cases[i].is);
        assert_close(p.phases[1].ipc_ratio, cases[i].ratio, 1e-12);
        assert_close(p.phases[0].ipc_ratio, 1, 0);
        phases_free(&p);
    }
}

/* Between two levels that are one nothing changes: what comes later is still told. */
TEST(transitions_behind_an_empty_one_are_kept)
{
    const struct transition tr[] = {{.at_us = 10, .from_ghz = 3, .to_ghz = 3},
                                    {.at_us = 20, .from_ghz = 3, .to_ghz = 2.8},
                                    {.at_us = 30, .from_ghz = 2.8, .to_ghz = 2.6}};
    struct tail x = {.n_runs = 1};
    struct phases p = {.n_phases = 1, .phases = malloc(sizeof *p.phases)};
    assert_non_null(p.phases);
    p.phases[0] = rig_phase(PHASE_STEADY, -20, 150, 3, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(phases_add_transition(&p, tr[i]), 0);
    assert_int_equal(tail_join(&x, &p), 0);
    assert_int_equal(p.n_transitions, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(p.transitions[i].at_us == tr[i + 1].at_us && p.transitions[i].to_ghz == tr[i + 1].to_ghz);
    phases_free(&p);
}

/* Wherever memory runs out it is said. */
TEST(what_has_no_memory_is_not_joined)
{
    const enum tail_kind kinds[] = {TAIL_CONSTANT, TAIL_RAMP, TAIL_STEP, TAIL_MOVES};
    for (size_t i = 0; i < 4; i++) {
        bool failed = true;
        for (unsigned long n = 1; failed; n++) {
            struct tail x = tail_of(course(kinds[i], 2.5, 2.8, 200, 400), constant(2));
            struct phases p = behind(rig_phase(PHASE_STEADY, 0, 150, 3, 2));
            strict_memory_fail(n);
            int status = tail_join(&x, &p);
            failed = strict_memory_failed();
            strict_memory_fail(0);
            if (status != (failed ? -1 : 0))
                fail_msg("kind %d, allocation %lu: %d", (int)kinds[i], n, status);
            phases_free(&p);
        }
    }
}
