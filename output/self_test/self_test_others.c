/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What other programs say of the same: second opinions. */
#include <math.h>
#include <stdio.h>

#include "computer/msr/msr_decode.h"
#include "output/self_test/self_test_parts.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* dec and jnz behind the 104 adds of a block. */
static const double CHAIN_INSTRUCTIONS = 106.0 / 104;
/* They count for longer than the readings took, so that the frequency may have moved; and the kernel's work is in what
 * likwid counts, a few percent of all. */
static const double IPC_OFF = 0.03, GHZ_OFF = 0.1, TSC_OFF = 0.005, VOLTS_OFF = 0.3;

/* By how much the word of a counter grew for each of another in the long samples of the chain; NAN: not counted. */
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
static bool self_test_others_differs(uint32_t reg, uint64_t ours, uint64_t theirs)
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
        different += self_test_others_differs(o->registers[i].reg, o->registers[i].ours, o->registers[i].theirs);
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
