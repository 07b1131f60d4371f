/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core voltage and energy: no kernel says what they must be, but what they cannot be is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "computer/msr/msr_decode.h"
#include "output/self_test/self_test_parts.h"
#include "util/order.h"

/* Volts of a core that runs: below the least retention voltages and above the 1.52 V that Intel's VID tables end with
 * (datasheets, "VccIN" and "VID"), with a margin for overclockers. */
static const double VOLTS_LEAST = 0.4, VOLTS_MOST = 1.7;
/* Watts of a package with one busy core. */
static const double WATTS_LEAST = 0.1, WATTS_MOST = 1500;

static void judge_volts(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "voltage", "V");
    double volts[SELF_TEST_VALUES_MAX], least = INFINITY, most = 0;
    const char *why = "";
    size_t n = 0;
    if (r->n_volts == 0) {
        self_test_cannot(l, r->volts_why, r->volts_remedy);
        return;
    }
    for (size_t i = 0; i < r->n_volts; i++) {
        if (!msr_volts(r->volts[i], &volts[n], &why))
            continue;
        least = fmin(least, volts[n]);
        most = fmax(most, volts[n]);
        n++;
    }
    if (n == 0 && (r->volts[0] >> 32 & 0xffff) != 0) { /* refused although the field is not 0: an emulator's constant */
        self_test_cannot(l, why, "measure on the host");
        return;
    }
    if (n == 0) {
        snprintf(l->text, sizeof l->text, "none of %zu readings of 198H holds a voltage", r->n_volts);
        self_test_bound(l, NAN, VOLTS_LEAST, VOLTS_MOST, why);
        return;
    }
    double volt = order_median(volts, n);
    snprintf(l->text, sizeof l->text, "%.4f V, %zu of %zu readings from %.4f to %.4f V", volt, n, r->n_volts, least,
             most);
    self_test_bound(l, volt, VOLTS_LEAST, VOLTS_MOST, "no core runs at this voltage");
    if (l->verdict == SELF_TEST_PASS && (least < VOLTS_LEAST || most > VOLTS_MOST || 2 * n < r->n_volts))
        self_test_bound(l, NAN, VOLTS_LEAST, VOLTS_MOST, "some readings cannot be the voltage of a running core");
}

static void judge_energy(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "energy", "W");
    if (r->n_energy < 2) {
        self_test_cannot(l, r->energy_why[0] ? r->energy_why : "it could not be read twice", r->energy_remedy);
        return;
    }
    const struct energy_reading *first = &r->energy[0], *last = &r->energy[r->n_energy - 1];
    size_t fell = 0;
    for (size_t i = 1; i < r->n_energy; i++)
        fell += !(r->energy[i].joules > r->energy[i - 1].joules) || !(r->energy[i].seconds > r->energy[i - 1].seconds);
    double joules = last->joules - first->joules, seconds = last->seconds - first->seconds, watts = joules / seconds;
    snprintf(l->text, sizeof l->text, "%.4g J in %.1f ms of scalar code and what lay between: %.3g W", joules,
             seconds * 1e3, watts);
    self_test_bound(l, fell > 0 ? NAN : watts, WATTS_LEAST, WATTS_MOST,
                    fell > 0 ? "it does not rise from reading to reading" : "no package takes this power");
}

void self_test_judge_power(const struct self_test_readings *r, struct self_test_lines *out)
{
    judge_volts(r, out);
    judge_energy(r, out);
}
