/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small recordings made by hand, each with one thing in it that an analysis could get wrong. Samples end at whole
 * microseconds unless said otherwise; noise is a fixed pattern.
 */
#include "analysis/phases/phases.h"
#include "tests/support/test.h"

static double wobble(size_t i, unsigned run)
{
    static const double pattern[] = {0.3, -0.7, 0.1, 0.9, -0.4, 0.6, -1.0, 0.2, -0.1, 0.5, -0.6, 0.2};
    return pattern[(i * 5 + run * 7) % 12];
}

/* A repetition: frequency and IPC as functions of time. */
struct state {
    double ghz, ipc;
};
typedef struct state story(double t, unsigned run);

static void record(struct trace *t, story *tell, unsigned runs, double from, double to, const char *a, const char *b)
{
    trace_init(t);
    if (trace_add_run(t) || trace_add_channel(t, TRACE_FREQ) || trace_add_channel(t, TRACE_IPC))
        fail();
    if (a && (trace_set(t, "from", a) || trace_set(t, "to", b)))
        fail();
    for (unsigned r = 0; r < runs; r++)
        for (double end = from + 1; end <= to; end += 1) {
            struct state s = tell(end - 0.5, r);
            if (trace_append(t, r, end))
                fail();
            t->channel[TRACE_FREQ][t->n - 1] = (float)(s.ghz * (1 + 0.002 * wobble(t->n, r)));
            t->channel[TRACE_IPC][t->n - 1] = (float)(s.ipc * (1 + 0.01 * wobble(t->n + 3, r)));
        }
}

static void analyse(struct trace *t, struct phases *p)
{
    char why[200];
    if (phases_find(t, p, why, sizeof why))
        fail_msg("%s", why);
    trace_free(t);
}

static const char *kinds(const struct phases *p, char out[200])
{
    out[0] = '\0';
    for (size_t i = 0; i < p->n_phases && strlen(out) < 180; i++)
        sprintf(out + strlen(out), "%s%s", i ? " " : "", phases_kind_name(p->phases[i].kind));
    return out;
}

static struct state throttled(double t, unsigned run)
{
    (void)run;
    return (struct state){3.0, t < 0 ? 1.0 : t < 10 ? 0.5 : 2.0};
}

TEST(throttle_of_the_second_kernel)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, throttled, 10, -30, 60, "a", "b");
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady throttle steady");
    assert_true(fabs(p.phases[1].start_us) < 0.05 && fabs(p.phases[1].duration_us.value - 10) < 0.05);
    assert_true(fabs(p.phases[1].ipc_ratio - 0.25) < 0.003);
    assert_int_equal(p.n_levels, 1);
    assert_int_equal(p.n_transitions, 1);
    assert_int_equal(p.transitions[0].halts, 0);
    phases_free(&p);
}

static struct state idle_around(double t, unsigned run)
{
    (void)run;
    return (struct state){3.0, t < 0 || t > 40 ? 0.5 : 1.0};
}

TEST(an_idle_loop_is_no_throttle)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, idle_around, 3, -30, 80, NULL, NULL);
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady");
    assert_true(isnan(p.phases[0].ipc)); /* of two codes: no one IPC */
    assert_int_equal(p.n_transitions, 0);
    phases_free(&p);
}

static struct state almost_stopped(double t, unsigned run)
{
    (void)run;
    return (struct state){3.0, t < 0 ? 1.0 : t < 20 ? 0.04 : 1.0};
}

TEST(a_ratio_unlike_any_throttle_is_unknown)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, almost_stopped, 10, -30, 60, "a", "b");
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady unknown steady");
    assert_true(p.phases[1].why[0]);
    assert_int_equal(p.n_transitions, 0);
    phases_free(&p);
}

static struct state short_before_two(double t, unsigned run)
{
    (void)run;
    return (struct state){3.0, t < 2.3 ? 2.0 : t < 11.4 ? 0.5 : t < 20.5 ? 1.0 : 2.0};
}

/* A phase too short to be a state must not swallow the step after it. */
TEST(a_short_state_hides_no_step)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, short_before_two, 20, -30, 60, "a", "b");
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady throttle throttle steady");
    assert_true(fabs(p.phases[2].start_us - 11.4) < 0.5 && fabs(p.phases[2].ipc_ratio - 0.5) < 0.01);
    phases_free(&p);
}

/* After the switch each repetition falls at another time, many not at all: the mean falls, but nowhere. */
static struct state wandering(double t, unsigned run)
{
    double fall = 5 + 29.0 * (run * 7 % 20);
    return (struct state){t > fall ? 2.5 : 3.0, 1.0};
}

TEST(a_frequency_that_wanders_is_no_transition_at_the_switch)
{
    struct trace t;
    struct phases p;
    record(&t, wandering, 20, -30, 300, "a", "b");
    analyse(&t, &p);
    for (size_t i = 0; i < p.n_transitions; i++)
        assert_false(fabs(p.transitions[i].at_us) < 1);
    phases_free(&p);
}

static struct state one_percent(double t, unsigned run)
{
    (void)run;
    return (struct state){t < 50 ? 3.0 : 2.97, 1.0};
}

TEST(levels_one_percent_apart_are_two)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, one_percent, 20, 0, 100, NULL, NULL);
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady steady");
    assert_int_equal(p.n_levels, 2);
    assert_true(fabs(p.levels_ghz[0] - 3.0) < 0.003 && fabs(p.levels_ghz[1] - 2.97) < 0.003);
    assert_true(p.levels[0].lo <= 3.0 && p.levels[0].hi >= 3.0);
    phases_free(&p);
}

/* One run in four stays down twice as long: two modes, and the mean of the two is nowhere. */
static struct state relaxing(double t, unsigned run)
{
    return (struct state){t < (run % 4 ? 100 : 200) ? 2.5 : 3.0, 1.0};
}

TEST(two_modes_are_not_their_mean)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, relaxing, 40, 0, 300, NULL, NULL);
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "slow steady");
    assert_true(fabs(p.phases[0].duration_us.value - 100) < 1.1);
    assert_int_equal(p.phases[0].n_modes, 2);
    assert_true(fabs(p.phases[0].modes[1].duration_us - 200) < 1.1 && fabs(p.phases[0].modes[1].share - 0.25) < 1e-9);
    phases_free(&p);
}

/* A halt from 20 us on for 9.4 us: the sample that spans it is long, its mean frequency low, and the level is lower
 * after it. */
static void record_halts(struct trace *t, unsigned runs, double level_after)
{
    trace_init(t);
    if (trace_add_run(t) || trace_add_channel(t, TRACE_FREQ))
        fail();
    for (unsigned r = 0; r < runs; r++) {
        double grid = 0.13 * (r % 7), last = grid - 30;
        for (double end = last + 1; end < 80; end += 1) {
            if (end > 20 && end < 29.4)
                continue;
            double cycles = 0;
            for (int k = 0; k < 1000; k++) {
                double at = last + (end - last) * (k + 0.5) / 1000;
                cycles += (at < 20 ? 3.0 : at < 29.4 ? 0 : level_after) / 1000;
            }
            if (trace_append(t, r, end))
                fail();
            t->channel[TRACE_FREQ][t->n - 1] = (float)(cycles * (1 + 0.001 * wobble(t->n, r)));
            last = end;
        }
    }
}

TEST(a_halt_by_accounting)
{
    struct trace t;
    struct phases p;
    char text[200];
    record_halts(&t, 21, 2.6);
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady halt steady");
    assert_true(fabs(p.phases[1].start_us - 20) < 0.2 && fabs(p.phases[1].duration_us.value - 9.4) < 0.1);
    assert_true(isnan(p.phases[1].freq_ghz.value) && p.phases[1].level == -1);
    phases_free(&p);
}

TEST(a_halt_without_a_step_is_one_if_it_comes_back)
{
    struct trace t;
    struct phases p;
    char text[200];
    record_halts(&t, 21, 3.0);
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady halt steady");
    assert_int_equal(p.n_levels, 1);
    phases_free(&p);
    record_halts(&t, 1, 3.0); /* once, it could have been anything */
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady");
    assert_int_equal(p.n_warnings, 1);
    phases_free(&p);
}

/* A clock read that falls into the halt leaves two long samples: still one halt, as long as it was. */
TEST(a_halt_cut_in_two_is_one)
{
    struct trace t, cut;
    struct phases p;
    char text[200];
    record_halts(&t, 20, 2.6);
    trace_init(&cut);
    if (trace_add_run(&cut) || trace_add_channel(&cut, TRACE_FREQ))
        fail();
    for (size_t i = 0; i < t.n; i++) {
        double begin = i && t.run[i] == t.run[i - 1] ? t.time_us[i - 1] : t.time_us[i] - 1;
        double dt = t.time_us[i] - begin, first = 0.2 * dt + 0.1 * (double)(t.run[i] % 5);
        double mean = (double)t.channel[TRACE_FREQ][i];
        if (dt > 5) { /* the cycles before the halt are in its first part, those after it in the second */
            double before = fmin(1, 20 - begin) * 3.0;
            if (trace_append(&cut, t.run[i], begin + first))
                fail();
            cut.channel[TRACE_FREQ][cut.n - 1] = (float)(before / first);
            mean = (mean * dt - before) / (dt - first);
        }
        if (trace_append(&cut, t.run[i], t.time_us[i]))
            fail();
        cut.channel[TRACE_FREQ][cut.n - 1] = (float)mean;
    }
    trace_free(&t);
    analyse(&cut, &p);
    assert_string_equal(kinds(&p, text), "steady halt steady");
    assert_true(fabs(p.phases[1].duration_us.value - 9.4) < 0.2);
    phases_free(&p);
}

/* Readings of a voltage that falls at 20 us and at 50 us, at once or along a ramp between the two. */
static void read_volts(bool ramp, struct phases *p)
{
    struct trace t;
    trace_init(&t);
    if (trace_add_channel(&t, TRACE_VOLTS))
        fail();
    for (size_t i = 0; i < 400; i++) {
        double at = -50 + 0.5 * (double)i, part = fmax(0, fmin(1, (at - 20) / 30));
        double volts = ramp ? 0.88 - 0.13 * part : at < 20 ? 0.88 : at < 50 ? 0.82 : 0.75;
        if (trace_append(&t, 0, at))
            fail();
        t.channel[TRACE_VOLTS][i] = (float)(volts + 0.0006 * wobble(i, 0));
    }
    analyse(&t, p);
}

TEST(two_falls_of_the_voltage_are_no_ramp)
{
    struct phases p;
    read_volts(false, &p);
    assert_int_equal(p.n_volt_steps, 2);
    assert_true(fabs(p.volt_steps[0].begin_us - 20) < 1 && fabs(p.volt_steps[0].end_us - 20) < 1);
    assert_true(fabs(p.volt_steps[1].begin_us - 50) < 1 && fabs(p.volt_steps[1].end_us - 50) < 1);
    assert_true(fabs(p.volt_steps[0].to_v - 0.82) < 0.001);
    phases_free(&p);
    read_volts(true, &p);
    assert_int_equal(p.n_volt_steps, 1);
    assert_true(fabs(p.volt_steps[0].begin_us - 20) < 3 && fabs(p.volt_steps[0].end_us - 50) < 3);
    phases_free(&p);
}

/* However long it halts in between, the full rate is that of what comes after all throttling. */
static struct state throttled_twice(double t, unsigned run)
{
    (void)run;
    return (struct state){t < 20 ? 3.0 : 2.4, t < 0 ? 1.0 : t < 20 ? 0.25 : t < 40 ? 0.5 : 1.0};
}

TEST(throttling_around_a_long_halt)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, throttled_twice, 10, -30, 200, "a", "b");
    for (size_t i = 0; i < t.n; i++) { /* the clock stands between the two, for most of one sample */
        if (t.time_us[i] > 20.5 && t.time_us[i] < 21.5)
            t.channel[TRACE_FREQ][i] /= 901;
        t.time_us[i] += t.time_us[i] > 20.5 ? 900 : 0;
    }
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady throttle halt throttle steady");
    assert_true(fabs(p.phases[1].ipc_ratio - 0.25) < 0.003);
    assert_true(fabs(p.phases[3].ipc_ratio - 0.5) < 0.005);
    phases_free(&p);
}

/* Half the rate for longer than anything is throttled, and then the whole: not full rate, but who knows what. */
static struct state half_for_long(double t, unsigned run)
{
    (void)run;
    return (struct state){t < 700 ? 2.4 : 1.9, t < 0 ? 4.0 : t < 700 ? 1.0 : 2.0};
}

TEST(a_lower_rate_that_lasts_is_no_full_rate)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, half_for_long, 10, -30, 900, "a", "b");
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady unknown steady");
    assert_true(fabs(p.phases[1].ipc_ratio - 0.5) < 0.005);
    assert_non_null(strstr(p.phases[1].why, "0.5 of what follows, for longer than any known throttling"));
    assert_int_equal(p.n_transitions, 0);
    phases_free(&p);
}

/* Where the processor counts throttled cycles, mild throttling is found, too, and reported like any other. */
static struct state almost_full(double t, unsigned run)
{
    (void)run;
    return (struct state){t < 20 ? 2.8 : 2.795, t < 0 ? 1.0 : t < 20 ? 0.97 : 1.0};
}

TEST(counted_throttling_has_its_ratio)
{
    struct trace t;
    struct phases p;
    char text[200];
    record(&t, almost_full, 40, -30, 100, "a", "b");
    if (trace_add_channel(&t, TRACE_THROTTLE))
        fail();
    for (size_t i = 0; i < t.n; i++)
        t.channel[TRACE_THROTTLE][i] = t.time_us[i] > 0 && t.time_us[i] < 20.5;
    analyse(&t, &p);
    assert_string_equal(kinds(&p, text), "steady throttle steady");
    assert_true(fabs(p.phases[1].ipc_ratio - 0.97) < 0.003);
    /* all three are one level, whose limits hold the throttled frequency, too */
    assert_int_equal(p.n_levels, 1);
    assert_true(p.levels[0].hi > 2.7995 && p.levels[0].lo < 2.7955);
    phases_free(&p);
}

static size_t analyse_samples(size_t n, char why[200], struct phases *p)
{
    struct trace t;
    trace_init(&t);
    if (trace_add_channel(&t, TRACE_FREQ))
        fail();
    for (size_t i = 0; i < n; i++) {
        if (trace_append(&t, 0, (double)i))
            fail();
        t.channel[TRACE_FREQ][i] = 3.0f;
    }
    int bad = phases_find(&t, p, why, 200);
    trace_free(&t);
    return bad ? 0 : p->n_phases;
}

/* A few samples do not say what they scatter by; a recording detects nothing that is longer than itself. */
TEST(short_recordings_promise_nothing)
{
    char why[200];
    struct phases p;
    assert_int_equal(analyse_samples(1, why, &p), 0);
    assert_string_equal(why, "the trace has only 1 sample: too few to analyze; 10 would do");
    assert_int_equal(analyse_samples(9, why, &p), 0);
    assert_int_equal(analyse_samples(10, why, &p), 1);
    assert_int_equal(p.n_transitions, 0);
    assert_true(isnan(p.detectable_freq) && isnan(p.detectable_freq_us));
    phases_free(&p);
    assert_int_equal(analyse_samples(39, why, &p), 1);
    assert_true(isnan(p.detectable_freq));
    phases_free(&p);
    assert_int_equal(analyse_samples(40, why, &p), 1);
    assert_true(p.detectable_freq > 0 && p.detectable_freq_us == 20);
    assert_true(isnan(p.detectable_throttle));
    phases_free(&p);
}

/* Means over a minute each, evenly spaced: no time is missing, and a clock that floats has no halts and no level. */
TEST(a_floating_clock_neither_halts_nor_stays)
{
    static const float ghz[] = {3.54F, 3.54F, 3.53F, 3.51F, 3.51F, 3.53F, 2.7F, 1.95F, 3.01F, 2.14F, 2.9F, 1.8F};
    struct trace t;
    struct phases p;
    trace_init(&t);
    if (trace_add_channel(&t, TRACE_FREQ))
        fail();
    for (size_t i = 0; i < sizeof ghz / sizeof *ghz; i++) {
        if (trace_append(&t, 0, 6e7 * (double)(i + 1)))
            fail();
        t.channel[TRACE_FREQ][i] = ghz[i];
    }
    analyse(&t, &p);
    for (size_t k = 0; k < p.n_phases; k++) {
        const struct phase *ph = &p.phases[k];
        size_t within = 0, n = 0;
        assert_int_not_equal(ph->kind, PHASE_HALT);
        for (size_t i = 0; i < sizeof ghz / sizeof *ghz; i++) {
            double middle = 6e7 * ((double)i + 0.5);
            if (middle < ph->start_us || middle > ph->start_us + ph->duration_us.value)
                continue;
            n++;
            within += (double)ghz[i] >= ph->freq_ghz.lo && (double)ghz[i] <= ph->freq_ghz.hi;
        }
        assert_true(2 * within >= n);
    }
    assert_int_equal(p.n_transitions, 0);
    phases_free(&p);
}
