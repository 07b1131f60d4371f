/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loss of scalar code beside neighbors, on a model whose other cores lower the frequency of all, and where they do
 * not. */
#include "analysis/brackets/brackets_limits.h"
#include "probes/beside.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

/* A machine whose frequency falls by `loss` where the neighbors run anything else than scalar code. */
struct shared_clock {
    struct machine inner;
    double loss;
};

static void shared_info(const struct machine *m, struct machine_info *out)
{
    const struct shared_clock *c = m->state;
    c->inner.ops->info(&c->inner, out);
}

static const char *shared_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    const struct shared_clock *c = m->state;
    return c->inner.ops->lacks(&c->inner, id, remedy);
}

static int shared_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct shared_clock *c = m->state;
    struct machine_setup own = *s;
    own.fixed_ghz = s->corunner.kernel->width > 64 ? 2.5 * (1 - c->loss) : 2.5;
    return c->inner.ops->prepare(&c->inner, &own, err);
}

static int shared_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct shared_clock *c = m->state;
    return c->inner.ops->run(&c->inner, r, out, err);
}

static void shared_finish(struct machine *m)
{
    struct shared_clock *c = m->state;
    c->inner.ops->finish(&c->inner);
}

static const struct machine_ops shared_ops = {
    .info = shared_info, .lacks = shared_lacks, .prepare = shared_prepare, .run = shared_run, .finish = shared_finish};

TEST(test_what_neighbors_cost)
{
    static const double losses[] = {0, 0.04};
    const struct payload scalar = rig_payload("64add"), wide = rig_payload("512fma");
    for (size_t i = 0; i < 2; i++) {
        struct shared_clock clock = {.loss = losses[i]};
        struct machine m = {.ops = &shared_ops, .state = &clock};
        struct machine_error err;
        struct beside_setup s;
        struct beside_result r;
        struct model model;
        rig_load("xeon-gold-6130", &model);
        assert_int_equal(machine_open_parsed_model(&model, "model:test", &clock.inner, &err), MACHINE_OK);
        beside_defaults(&s, &scalar, &wide);
        s.machine.active_cores = 4;
        s.machine.corunner = scalar;
        assert_int_equal(beside_run(&m, &s, &r, &err), MACHINE_OK);
        assert_true(fabs(r.ratio.value - (1 - losses[i])) < 1e-3 && fabs(r.null.value - 1) < 1e-3);
        assert_int_equal(brackets_differs(&r.ratio, &r.null), losses[i] > 0);
        assert_int_equal(r.rounds, s.least);
        clock.inner.ops->close(&clock.inner);
    }
}
