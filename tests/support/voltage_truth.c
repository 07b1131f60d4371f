/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/test.h"
#include "tests/support/voltage_truth.h"

/* cmocka needs the four above first */
#include "tests/support/model_rig.h"
#include "tests/support/model_truth.h"

enum { STEPS = 400 };

/* All boosts of ways to a class that is not above the one held at a time, V. */
static double boosts_at(const struct model *m, const struct model_truth *t, unsigned cores, double us)
{
    size_t i = 0;
    double volts = 0;
    while (i + 1 < t->n && t->phases[i + 1].start_us <= us)
        i++;
    for (size_t k = 0; k < m->n_boosts; k++) {
        const struct model_boost *b = &m->boosts[k];
        if (b->to <= t->phases[i].class_ && cores >= b->cores.lo && cores <= b->cores.hi)
            volts += b->volts;
    }
    return volts;
}

void voltage_range(const struct model *m, const char *from, const char *to, unsigned cores, const struct model_truth *t,
                   double time_us, double reach_us, double *lo, double *hi)
{
    static struct model plain; /* too large for the stack */
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct model_truth bare;
    struct machine_error error;
    bool carries = m->scenario.carries && m->scenario.gap_us < 2 * m->wait_us;
    plain = *m;
    plain.n_boosts = 0;
    if (model_truth(&plain, &a, &b, cores, &bare, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = -STEPS; i <= STEPS; i++) {
        double us = time_us + reach_us * i / STEPS, volts = model_truth_volts(t, us);
        double least = carries ? model_truth_volts(&bare, us) : volts;
        *lo = fmin(*lo, fmin(volts, least));
        *hi = fmax(*hi, fmax(volts, carries ? least + boosts_at(m, t, cores, us) : volts));
    }
}
