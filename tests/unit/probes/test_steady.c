/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steady experiment: on models, whose frequencies are known, and on a machine that is disturbed now and then. */
#include "analysis/phases/repetitions/steady.h"
#include "probes/sample_cost.h"
#include "probes/steady.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

static void measure(const struct model *model, const struct steady_setup *s, struct repetitions *out)
{
    struct machine m;
    struct machine_error err;
    assert_int_equal(machine_open_parsed_model(model, "test", &m, &err), MACHINE_OK);
    assert_int_equal(steady_run(&m, s, out, &err), MACHINE_OK);
    m.ops->close(&m);
}

static double mean(const struct trace *t, enum trace_channel c)
{
    double sum = 0;
    assert_non_null(t->channel[c]);
    for (size_t i = 0; i < t->n; i++)
        sum += t->channel[c][i];
    return sum / (double)t->n;
}

TEST(test_frequency_ipc_and_shares)
{
    static const struct {
        const char *kernel;
        unsigned level;
    } cases[] = {{"64add", 0}, {"256fma", 1}, {"512or", 1}, {"512fma", 2}};
    static const enum trace_channel shares[3] = {TRACE_LVL0, TRACE_LVL1, TRACE_LVL2};
    struct model model;
    rig_load("xeon-gold-6130", &model);
    rig_silence(&model);
    for (size_t k = 0; k < 4; k++)
        for (unsigned cores = 1; cores <= 16; cores += 5) {
            struct payload p = rig_payload(cases[k].kernel);
            struct machine_error err;
            struct model_need need;
            struct steady_setup s;
            struct repetitions r;
            steady_defaults(&s, &p);
            s.machine.active_cores = cores;
            s.runs = 2;
            measure(&model, &s, &r);
            assert_int_equal(model_need(&model, &p, &need, &err), MACHINE_OK);
            assert_true(fabs(mean(&r.trace, TRACE_FREQ) - model_ghz(&model, cases[k].level, cores)) < 1e-4);
            assert_true(fabs(mean(&r.trace, TRACE_IPC) - need.ipc) < 1e-3 * need.ipc);
            for (unsigned level = 0; level < 3; level++)
                assert_true(fabs(mean(&r.trace, shares[level]) - (level == cases[k].level)) < 1e-3);
            assert_true(mean(&r.trace, TRACE_THROTTLE) == 0); /* the transition is over */
            assert_string_equal(trace_get(&r.trace, "kernel"), cases[k].kernel);
            assert_int_equal(r.n_invalid, 0);
            repetitions_free(&r);
        }
}

/* A clock that approaches its frequency with 17 ms is not steady after a few milliseconds, by counters or chains: table
 * frequency read 2.695 [2.695, 2.695] GHz where it comes to 2.1. */
TEST(test_what_still_moves_is_reported)
{
    for (int chains = 0; chains < 2; chains++)
        for (int i = 0; i < 4; i++) { /* at rest; moves; the same half a second later; too few repetitions */
            struct model model;
            struct payload p = rig_payload("512fma");
            struct steady_setup s;
            struct repetitions r;
            double drift;
            rig_load("xeon-gold-6130", &model);
            model.no_counters = chains;
            model.counts_licenses = model.counts_throttle = model.counts_licenses && !chains;
            struct model_transition *up = &model.transitions[0][model.n_classes - 1];
            up->n_steps = 1;
            up->steps[0] = (struct model_step){
                .kind = MODEL_STEP_GRANT, .grant = (unsigned)model.n_classes - 1, .tau_us = i ? 17e3 : 0};
            steady_defaults(&s, &p);
            s.settle_us = 0;
            s.before_us = i == 2 ? 500e3 : s.before_us;
            s.runs = i == 3 ? 2 : 5;
            measure(&model, &s, &r);
            assert_int_equal(steady_drift(&r.trace, TRACE_FREQ, &drift), 0);
            if (i == 1)
                assert_true(drift < -0.005 && drift > -0.1);
            else
                assert_true(drift == 0);
            repetitions_free(&r);
        }
}

TEST(test_samples_cover_what_was_requested)
{
    struct model model;
    struct payload p = rig_payload("128fma");
    struct steady_setup s;
    struct repetitions r;
    rig_load("xeon-gold-6130", &model);
    rig_silence(&model);
    steady_defaults(&s, &p);
    s.runs = 3;
    s.observe_us = 1000;
    s.period_us = 10;
    s.licenses = false;
    s.n_events = 1;
    s.events[0].code = 0x1828;
    measure(&model, &s, &r);
    /* the run-in is left out */
    assert_true(r.trace.n >= 3 * 4 * 99 && r.trace.n <= 3 * 4 * 101);
    assert_int_equal(r.trace.run[0], 0);
    assert_int_equal(r.trace.run[r.trace.n - 1], 2);
    assert_true(r.trace.time_us[0] >= repetitions_run_in_us(10));
    assert_null(r.trace.channel[TRACE_LVL0]);
    assert_int_equal(r.trace.n_extra, 1);
    assert_string_equal(r.trace.text + r.trace.extra[0].offset[5], "0");
    repetitions_free(&r);
}

/* ---- a machine that is preempted now and then, in front of a model ---- */

struct disturbed {
    struct machine inner;
    unsigned good;  /* one repetition in so many is not disturbed; 0 = none is */
    unsigned runs;  /* sampled ones */
    double longest; /* of a repetition, us */
    double unsampled;
};

static int disturbed_run(struct machine *m, const struct run_request *r, struct recording *out,
                         struct machine_error *err)
{
    struct disturbed *d = m->state;
    double us = 0;
    bool sampled = false;
    if (r->repetition >= SAMPLE_COST_REPETITION)
        return d->inner.ops->run(&d->inner, r, out, err);
    for (size_t i = 0; i < r->n_segments; i++) {
        us += r->segments[i].duration_us;
        sampled |= r->segments[i].sampled;
    }
    d->longest = fmax(d->longest, us);
    d->unsampled += sampled ? 0 : us;
    int status = d->inner.ops->run(&d->inner, r, out, err);
    d->runs += sampled;
    if (sampled && (!d->good || d->runs % d->good))
        out->involuntary_switches = 1;
    return status;
}

static void disturbed_info(const struct machine *m, struct machine_info *out)
{
    const struct disturbed *d = m->state;
    d->inner.ops->info(&d->inner, out);
}

static const char *disturbed_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct disturbed *d = m->state;
    if (id == COUNTER_EVENT) {
        *remedy = "buy one";
        return "it cannot";
    }
    return d->inner.ops->lacks(&d->inner, id, remedy);
}

static int disturbed_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct disturbed *d = m->state;
    return d->inner.ops->prepare(&d->inner, s, err);
}

static void disturbed_finish(struct machine *m)
{
    struct disturbed *d = m->state;
    d->inner.ops->finish(&d->inner);
}

static const struct machine_ops disturbed_ops = {.info = disturbed_info,
                                                 .lacks = disturbed_lacks,
                                                 .prepare = disturbed_prepare,
                                                 .run = disturbed_run,
                                                 .finish = disturbed_finish};

static void open_disturbed(struct disturbed *d, struct machine *m, unsigned good)
{
    struct model model;
    struct machine_error err;
    rig_load("xeon-gold-6130", &model);
    rig_silence(&model);
    memset(d, 0, sizeof *d);
    d->good = good;
    assert_int_equal(machine_open_parsed_model(&model, "test", &d->inner, &err), MACHINE_OK);
    *m = (struct machine){.ops = &disturbed_ops, .state = d};
}

TEST(test_invalid_repetitions_are_made_up_for)
{
    struct disturbed d;
    struct machine m;
    struct machine_error err;
    struct payload p = rig_payload("512fma");
    struct steady_setup s;
    struct repetitions r;
    steady_defaults(&s, &p);
    s.runs = 4;
    s.observe_us = 500;
    for (unsigned good = 0; good <= 5; good++) {
        open_disturbed(&d, &m, good);
        assert_int_equal(steady_run(&m, &s, &r, &err), MACHINE_OK);
        unsigned kept = good == 0 ? 0 : good <= 4 ? 4 : 3; /* one in five: 3 of 16 */
        size_t runs = 0;
        for (size_t i = 0; i < r.trace.n; i++)
            runs += i == 0 || r.trace.run[i] != r.trace.run[i - 1];
        assert_int_equal(runs, kept);
        assert_int_equal(r.n_invalid, d.runs - kept);
        assert_int_equal(d.runs, good == 0 || good == 5 ? 16 : 4 * good);
        /* as much as a machine that masks interrupts allows; and the whole time to settle */
        assert_true(d.longest <= 10000);
        assert_true(fabs(d.unsampled - 20000) < 1e-6);
        repetitions_free(&r);
        d.inner.ops->close(&d.inner);
    }
}

TEST(test_events_where_there_are_none)
{
    struct disturbed d;
    struct machine m;
    struct machine_error err;
    struct payload p = rig_payload("512fma");
    struct steady_setup s;
    struct repetitions r;
    open_disturbed(&d, &m, 1);
    steady_defaults(&s, &p);
    s.n_events = 1;
    assert_int_equal(steady_run(&m, &s, &r, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "it cannot"));
    assert_string_equal(err.remedy, "buy one");
    assert_int_equal(r.trace.n, 0);
    s.n_events = 0;
    s.machine.active_cores = 17;
    assert_int_equal(steady_run(&m, &s, &r, &err), MACHINE_BAD_INPUT);
    d.inner.ops->close(&d.inner);
}

static int stop_at_two(void *data, unsigned done, unsigned wanted)
{
    *(unsigned *)data += 1;
    assert_int_equal(wanted, 5);
    return done >= 2;
}

TEST(test_stopping_keeps_what_there_is)
{
    unsigned calls = 0;
    struct model model;
    struct payload p = rig_payload("128fma");
    struct steady_setup s;
    struct repetitions r;
    rig_load("xeon-gold-6130", &model);
    steady_defaults(&s, &p);
    s.observe_us = 200;
    s.before_us = 0; /* recorded from the first instruction on */
    s.settle_us = 0;
    s.progress = stop_at_two;
    s.data = &calls;
    measure(&model, &s, &r);
    assert_int_equal(calls, 2);
    assert_int_equal(r.trace.run[r.trace.n - 1], 1);
    repetitions_free(&r);
}
