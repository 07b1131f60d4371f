/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/overhead_truth.h"

/* cmocka needs the four above first */
#include <gsl/gsl_cdf.h>

#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"
#include "tests/support/test.h"

enum { SCATTER = 41 }; /* counts that stand for the distribution of the count */

static void phases(const struct model *m, const struct payload *from, const struct payload *to, unsigned cores,
                   struct model_truth *out)
{
    struct machine_error err;
    if (model_truth(m, from, to, cores, out, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

/* Time lost until the last phase, against the same work at its rate, beyond what code loses that is cold. */
static double lost(const struct model *m, const struct model_truth *t)
{
    const struct model_phase *last = &t->phases[t->n - 1];
    double rate = last->ghz * last->ipc, us = -m->scenario.cold_us * (1 - m->scenario.cold_factor);
    for (size_t i = 0; i + 1 < t->n; i++)
        us += t->phases[i].duration_us * (1 - t->phases[i].ghz * t->phases[i].ipc / rate);
    return us;
}

void overhead_truth(const struct model *m, const char *from, const char *to, unsigned cores, struct overhead_truth *out)
{
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct model *scaled = malloc(sizeof *scaled);
    struct model_truth t;
    assert_non_null(scaled);
    double sum = 0;
    for (int i = 0; i < SCATTER; i++) {
        *scaled = *m;
        for (size_t k = 0; k < m->n_demands; k++)
            scaled->demands[k].count *= 1 + m->demands[k].count_sigma * gsl_cdf_ugaussian_Pinv((i + 0.5) / SCATTER);
        phases(scaled, &a, &b, cores, &t);
        sum += lost(m, &t);
    }
    free(scaled);
    *out = (struct overhead_truth){sum / SCATTER, NAN, t.from_ghz, t.phases[t.n - 1].ghz, NAN};
    if (!(out->high_ghz > out->low_ghz))
        return;
    phases(m, &b, &a, cores, &t);
    out->up_us = 0;
    for (size_t i = 0; i < t.n; i++)
        if (t.phases[i].kind == MODEL_HALTED)
            out->up_us += t.phases[i].duration_us;
    out->breakeven_us = out->high_ghz / (out->high_ghz - out->low_ghz) * (out->down_us + out->up_us);
}
