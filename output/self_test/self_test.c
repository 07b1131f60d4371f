/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges readings line by line; here voltage and energy, which have known bounds and can be compared with what other
 * programs read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "computer/msr/msr_decode.h"
#include "output/self_test/self_test_parts.h"
#include "util/order.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* ---- voltage and energy ---- */

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
    snprintf(l->text, sizeof l->text, "%.4g J in %.1f ms of scalar code and the time between: %.3g W", joules,
             seconds * 1e3, watts);
    self_test_bound(l, fell > 0 ? NAN : watts, WATTS_LEAST, WATTS_MOST,
                    fell > 0 ? "it does not rise from reading to reading" : "no package takes this power");
}

/* ---- second opinions ---- */

/* dec and jnz after the 104 adds of a block. */
static const double CHAIN_INSTRUCTIONS = 106.0 / 104;
/* They count for longer than the readings took, so that the frequency may have moved; and the kernel's work is in what
 * likwid counts, a few percent of all. */
static const double IPC_OFF = 0.03, GHZ_OFF = 0.1, TSC_OFF = 0.005, VOLTS_OFF = 0.3;

/* Returns by how much the word of a counter grew for each of another in the long samples of the chain; NAN: not
 * counted. */
static double quotient(const struct self_test_readings *r, enum counter_id of, int by_column)
{
    double over = 0, under = 0;
    for (size_t i = 0; i < r->n_stretches; i++) {
        const struct self_test_stretch *s = &r->stretch[i];
        for (size_t k = 0; k < s->n && s->kind == SELF_TEST_LONG; k++) {
            double a = self_test_grown(s, &s->recordings[k], self_test_column(s, of), SELF_TEST_RUN_IN, 0);
            double b = self_test_grown(s, &s->recordings[k], by_column, SELF_TEST_RUN_IN, 0);
            if (isfinite(a) && isfinite(b)) {
                over += a;
                under += b;
            }
        }
    }
    return under > 0 ? over / under : NAN;
}

static double our_ghz(const struct self_test_readings *r)
{
    const struct self_test_stretch *s = self_test_find(r, SELF_TEST_LONG, NULL);
    double cycles = quotient(r, COUNTER_CYCLES, 0);
    if (!isnan(cycles) || !s)
        return cycles * r->tsc_hz * 1e-9;
    return quotient(r, COUNTER_CHAIN_CYCLES, self_test_column(s, COUNTER_CHAIN_TICKS)) / CHAIN_CYCLE_UNIT * r->tsc_hz *
           1e-9;
}

/* Adds a frequency's comparison to a line's text; fails the line where the two are too far apart. */
static void compare_ghz(struct self_test_line *l, double theirs, double ours)
{
    if (isnan(theirs) || isnan(ours))
        return;
    text_list_add(l->text, sizeof l->text, "; ", "%.3f GHz against %.3f (%+.2f %%)", theirs, ours,
                  plain_number(100 * (theirs / ours - 1), 2));
    if (l->verdict == SELF_TEST_PASS && !(fabs(theirs / ours - 1) <= GHZ_OFF)) {
        l->verdict = SELF_TEST_FAIL;
        snprintf(l->reason, sizeof l->reason, "the frequencies differ by more than %.0f %%", 100 * GHZ_OFF);
    }
}

static void judge_counts(const struct self_test_readings *r, const struct second_opinion *o, struct self_test_line *l)
{
    double ipc = o->counts.instructions / o->counts.cycles, ratio = ipc / CHAIN_INSTRUCTIONS;
    snprintf(l->text, sizeof l->text, "%.4f instructions a cycle, %.4f expected of the chain (%+.2f %%)", ipc,
             CHAIN_INSTRUCTIONS, plain_number(100 * (ratio - 1), 2));
    self_test_bound(l, ratio, 1 - IPC_OFF, 1 + IPC_OFF, "its counts do not match the chain");
    compare_ghz(l, o->counts.ghz, our_ghz(r));
}

static void judge_turbostat(const struct self_test_readings *r, const struct second_opinion *o,
                            struct self_test_line *l)
{
    double ratio = o->counts.tsc_ghz / (r->tsc_hz * 1e-9);
    snprintf(l->text, sizeof l->text, "TSC %.4f GHz against %.4f (%+.3f %%)", o->counts.tsc_ghz, r->tsc_hz * 1e-9,
             plain_number(100 * (ratio - 1), 3));
    self_test_bound(l, ratio, 1 - TSC_OFF, 1 + TSC_OFF, "the TSC does not run at the rate assumed here");
    compare_ghz(l, o->counts.ghz, our_ghz(r));
}

/* The voltage moves; all else is the same in both or wrong. */
static bool differs(uint32_t reg, uint64_t ours, uint64_t theirs)
{
    double a, b;
    const char *why;
    if (reg == MSR_PERF_STATUS && msr_volts(ours, &a, &why) && msr_volts(theirs, &b, &why))
        return fabs(a - b) > VOLTS_OFF;
    return reg != MSR_PERF_STATUS && ours != theirs;
}

static void judge_registers(const struct second_opinion *o, struct self_test_line *l)
{
    size_t different = 0;
    for (size_t i = 0; i < OPINION_REGISTERS; i++) {
        if (!o->registers[i].both)
            continue;
        different += differs(o->registers[i].reg, o->registers[i].ours, o->registers[i].theirs);
        text_list_add(l->text, sizeof l->text, "; ", "%XH: %llx here, %llx there", o->registers[i].reg,
                      (unsigned long long)o->registers[i].ours, (unsigned long long)o->registers[i].theirs);
    }
    self_test_bound(l, (double)different, NAN, 0, "the two read different values");
}

void self_test_judge_others(const struct self_test_readings *r, const struct second_opinion *o, size_t n,
                            struct self_test_lines *out)
{
    static const char *const units[OPINIONS] = {[OPINION_PERF] = "ratio",
                                                [OPINION_LIKWID] = "ratio",
                                                [OPINION_TURBOSTAT] = "ratio",
                                                [OPINION_RDMSR] = "differences"};
    out->n = 0;
    for (size_t i = 0; i < n && i < OPINIONS; i++) {
        struct self_test_line *l = self_test_add(out, o[i].program, units[i]);
        if (o[i].why[0])
            self_test_cannot(l, o[i].why, o[i].remedy);
        else if (i == OPINION_RDMSR)
            judge_registers(&o[i], l);
        else if (i == OPINION_TURBOSTAT)
            judge_turbostat(r, &o[i], l);
        else
            judge_counts(r, &o[i], l);
    }
}

/* ---- all of it ---- */

void self_test_judge(const struct self_test_readings *r, struct self_test_lines *out)
{
    memset(out, 0, sizeof *out);
    self_test_judge_clock(r, out);
    self_test_judge_counts(r, out);
    self_test_judge_levels(r, out);
    self_test_judge_event(r, out);
    judge_volts(r, out);
    judge_energy(r, out);
}

size_t self_test_count(const struct self_test_lines *l, enum self_test_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->line[i].verdict == verdict;
    return n;
}

const char *self_test_word(enum self_test_verdict verdict)
{
    return verdict == SELF_TEST_PASS ? "pass" : verdict == SELF_TEST_FAIL ? "fail" : "cannot";
}
