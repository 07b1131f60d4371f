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

/* ---- the license counters: each must move with the width of the code; and the throttling on the way ---- */

enum { LEVELS = 3, KERNELS_MAX = 8 };
/* Shares of the core's cycles: a level takes nearly all in one kernel and hardly any in another. */
static const double NEARLY_ALL = 0.9, HARDLY_ANY = 0.1, MORE_THAN_ALL = 1.05;
/* The same of ticks of the TSC, where the counter of cycles is the one that is wrong: cores run at a fifth of it to
 * three times as fast. */
static const double TICKS_ALL = 0.18, TICKS_ANY = 0.05, TICKS_MOST = 4;

/* The counts of each level's counter in each kernel, in cycles per cycle or per tick. NAN: not counted. */
struct shares {
    size_t n;
    const char *kernel[KERNELS_MAX];
    double share[KERNELS_MAX][LEVELS];
    double all, any, most; /* the bounds */
};

static double share_of(const struct self_test_stretch *s, enum counter_id id, bool of_cycles)
{
    double values[SELF_TEST_RECORDINGS_MAX];
    size_t n = 0;
    int column = self_test_column(s, id), base = of_cycles ? self_test_column(s, COUNTER_CYCLES) : 0;
    for (size_t k = 0; k < s->n && n < SELF_TEST_RECORDINGS_MAX; k++) {
        double share = self_test_grown(s, &s->recordings[k], column, 1, 0) /
                       self_test_grown(s, &s->recordings[k], base, 1, 0);
        if (isfinite(share))
            values[n++] = share;
    }
    return n > 0 ? order_median(values, n) : NAN;
}

static bool cycles_are_right(const struct self_test_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].name, "cycles") == 0)
            return l->line[i].verdict == SELF_TEST_PASS;
    return false;
}

static void collect(const struct self_test_readings *r, bool of_cycles, struct shares *out)
{
    *out = (struct shares){.all = of_cycles ? NEARLY_ALL : TICKS_ALL,
                           .any = of_cycles ? HARDLY_ANY : TICKS_ANY,
                           .most = of_cycles ? MORE_THAN_ALL : TICKS_MOST};
    for (size_t i = 0; i < r->n_stretches && out->n < KERNELS_MAX; i++) {
        const struct self_test_stretch *s = &r->stretch[i];
        if (s->kind != SELF_TEST_STEADY || s->n == 0)
            continue;
        out->kernel[out->n] = s->kernel;
        for (int level = 0; level < LEVELS; level++)
            out->share[out->n][level] = share_of(s, (enum counter_id)(COUNTER_LVL0 + level), of_cycles);
        out->n++;
    }
}

/* The kernels in which a level's counter counts most and least; false: it was not counted in any. */
static bool extremes(const struct shares *s, int level, size_t *most, size_t *least)
{
    bool any = false;
    for (size_t k = 0; k < s->n; k++) {
        double share = s->share[k][level];
        if (isnan(share))
            continue;
        *most = !any || share > s->share[*most][level] ? k : *most;
        *least = !any || share < s->share[*least][level] ? k : *least;
        any = true;
    }
    return any;
}

static bool moves(const struct shares *s, int level)
{
    size_t most = 0, least = 0;
    return extremes(s, level, &most, &least) && s->share[most][level] >= s->all && s->share[least][level] <= s->any;
}

static bool silent(const struct shares *s, int level)
{
    size_t most = 0, least = 0;
    return extremes(s, level, &most, &least) && s->share[most][level] <= s->any;
}

/* A kernel whose cycles are counted at no level; NULL: there is none. */
static const char *uncounted(const struct shares *s)
{
    for (size_t k = 0; k < s->n; k++) {
        bool none = true; /* false also where one of them was not counted */
        for (int level = 0; level < LEVELS; level++)
            none = none && s->share[k][level] <= s->any;
        if (none)
            return s->kernel[k];
    }
    return NULL;
}

/*
 * A counter that never moves is wrong where the cycles of some kernel are counted at no level. Levels are used from the
 * lowest on: of several such counters it is the lowest one's fault, and the others were just not requested.
 */
static bool to_blame(const struct shares *s, int level)
{
    for (int below = 0; below < level; below++)
        if (silent(s, below))
            return false;
    return uncounted(s) != NULL;
}

/* Returns true if every kernel's cycles are counted at level 0 and none at another. */
static bool one_level_alone(const struct shares *s)
{
    size_t most = 0, least = 0;
    return extremes(s, 0, &most, &least) && s->share[least][0] >= s->all && s->share[most][0] <= s->most &&
           (!extremes(s, 1, &most, &least) || silent(s, 1)) && (!extremes(s, 2, &most, &least) || silent(s, 2));
}

static void judge_level(const struct self_test_readings *r, const struct shares *s, int level, bool of_cycles,
                        struct self_test_lines *out)
{
    enum counter_id id = (enum counter_id)(COUNTER_LVL0 + level);
    char name[16];
    size_t most = 0, least = 0;
    snprintf(name, sizeof name, "level %d", level);
    struct self_test_line *l = self_test_add(out, name, of_cycles ? "of cycles" : "of ticks");
    if (self_test_lacks(l, r, id))
        return;
    if (!extremes(s, level, &most, &least)) {
        self_test_no_stretch(l, r, SELF_TEST_STEADY);
        return;
    }
    bool scalar = strcmp(s->kernel[most], "64add") == 0 || s->share[0][level] > s->any;
    snprintf(l->text, sizeof l->text, "%.1f %% of the %s with %s, %.1f %% with %s", 100 * s->share[most][level],
             of_cycles ? "cycles" : "ticks", s->kernel[most], 100 * s->share[least][level], s->kernel[least]);
    if (level == 0 && one_level_alone(s)) {
        self_test_cannot(l,
                         "it counts all cycles of every kernel: either no kernel that runs here needs another license "
                         "level, or it only counts cycles",
                         "--table frequency shows whether wide code runs slower");
    } else if (silent(s, level) && !to_blame(s, level)) {
        self_test_cannot(l, "no kernel that runs here needed this license level",
                         "none needed: processors with fewer levels, or without AVX-512, never use it");
    } else if (silent(s, level)) {
        char why[200];
        snprintf(why, sizeof why, "it never counts, and the cycles of %s are counted at no level", uncounted(s));
        self_test_bound(l, s->share[most][level], s->all, s->most, why);
    } else if (moves(s, level) && scalar == (level == 0)) {
        self_test_bound(l, s->share[most][level], s->all, s->most, "it counts more cycles than there are");
    } else {
        self_test_bound(l, NAN, s->all, s->most,
                        level == 0 ? "only scalar code may count at level 0"
                                   : "only wide code may count at this level");
    }
}

/* ---- throttling ---- */

/* Scalar code is never throttled; of a sample in which wide code runs below this part of its rate it is. */
static const double SCALAR_THROTTLED = 0.01, SLOW_RATE = 0.7;
/* The first microsecond or two of new code run slowly because it is fetched: so little shows no throttling. */
static const double SLOW_LEAST_US = 4, THROTTLED_LEAST = 0.1;
/* The longest throttled sample of 1 us; longer ones were a halt, which is no throttling, or something else ran. */
static const double SLOW_MOST_US = 3;

enum { SWITCH_US_MOST = 1024, ALL_BUT_ONE_OF = 6 };

/* The wide kernel's behavior after the switch. */
struct throttling {
    double slow_us;   /* ran slowly in nearly all repetitions at the same time: what else runs on the core does not */
    double late_us;   /* of it in the last quarter: that is not the switch's doing */
    double throttled; /* cycles of throttling counted: the median of the repetitions */
};

/* Adds one repetition: which microseconds of it were slow. Returns when its last quarter begins, us. */
static double add_slow(const struct self_test_readings *r, const struct self_test_stretch *s,
                       const struct self_test_recording *rec, unsigned slow[SWITCH_US_MOST])
{
    double us = 1e6 / r->tsc_hz;
    bool seen[SWITCH_US_MOST] = {false};
    size_t last_quarter = rec->zero + 1;
    double all = rec->n > rec->zero ? self_test_grown(s, rec, 0, rec->zero, rec->n - 1) : 0;
    while (last_quarter + 1 < rec->n && self_test_grown(s, rec, 0, rec->zero, last_quarter) < 0.75 * all)
        last_quarter++;
    double usual = self_test_grown(s, rec, 1, last_quarter, 0) / self_test_grown(s, rec, 0, last_quarter, 0);
    for (size_t i = rec->zero; i + 1 < rec->n; i++) {
        double ticks = self_test_grown(s, rec, 0, i, i + 1), middle = 0.5 * ticks;
        middle += i > rec->zero ? self_test_grown(s, rec, 0, rec->zero, i) : 0;
        bool slowly = self_test_grown(s, rec, 1, i, i + 1) < SLOW_RATE * usual * ticks && ticks * us < SLOW_MOST_US;
        if (slowly && middle * us < SWITCH_US_MOST)
            seen[(size_t)(middle * us)] = true;
    }
    for (size_t i = 0; i < SWITCH_US_MOST; i++)
        slow[i] += seen[i];
    return last_quarter > rec->zero ? self_test_grown(s, rec, 0, rec->zero, last_quarter) * us : INFINITY;
}

static struct throttling after_switch(const struct self_test_readings *r, const struct self_test_stretch *s)
{
    struct throttling t = {0, 0, 0};
    double count[SELF_TEST_RECORDINGS_MAX], last_quarter = INFINITY;
    unsigned slow[SWITCH_US_MOST] = {0};
    int column = self_test_column(s, COUNTER_THROTTLE);
    size_t n = 0, counted = 0;
    for (; n < s->n && n < SELF_TEST_RECORDINGS_MAX; n++) {
        last_quarter = fmin(last_quarter, add_slow(r, s, &s->recordings[n], slow));
        count[counted] = self_test_grown(s, &s->recordings[n], column, s->recordings[n].zero, 0);
        counted += !isnan(count[counted]);
    }
    for (size_t i = 0; n && i < SWITCH_US_MOST; i++)
        if (slow[i] >= n - n / ALL_BUT_ONE_OF) {
            t.slow_us++;
            t.late_us += (double)i >= last_quarter;
        }
    t.throttled = counted > 0 ? order_median(count, counted) : 0;
    return t;
}

static void judge_throttle(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct self_test_line *l = self_test_add(out, "throttle", "cycles");
    const struct self_test_stretch *s = self_test_find(r, SELF_TEST_SWITCH, NULL);
    const struct self_test_stretch *scalar = self_test_find(r, SELF_TEST_STEADY, "64add");
    double idle = scalar ? share_of(scalar, COUNTER_THROTTLE, false) : NAN;
    if (self_test_lacks(l, r, COUNTER_THROTTLE))
        return;
    if (!s || isnan(idle)) {
        self_test_no_stretch(l, r, s ? SELF_TEST_STEADY : SELF_TEST_SWITCH);
        return;
    }
    const struct throttling t = after_switch(r, s);
    snprintf(l->text, sizeof l->text,
             "%.0f cycles after %s to %s, which ran slowly for %.1f us; %.2f %% of the ticks in scalar code",
             t.throttled, s->from, s->kernel, t.slow_us, 100 * idle);
    if (idle > SCALAR_THROTTLED)
        self_test_bound(l, NAN, NAN, NAN, "it counts in scalar code, which is never throttled");
    else if (t.slow_us < SLOW_LEAST_US && t.throttled <= 0)
        self_test_cannot(l, "switching to wide code causes no throttling here", "");
    else if (t.late_us > 0 && t.throttled <= 0)
        self_test_cannot(l, "wide code runs slowly long after the switch, too: another thread on the core?",
                         "leave the core's SMT sibling idle");
    else
        self_test_bound(l, t.throttled,
                        t.slow_us < SLOW_LEAST_US ? NAN : THROTTLED_LEAST * t.slow_us * r->tsc_hz * 1e-6, NAN,
                        "the code ran slowly, and hardly any throttled cycles were counted");
}

static void self_test_judge_levels(const struct self_test_readings *r, struct self_test_lines *out)
{
    struct shares s;
    bool of_cycles = cycles_are_right(out);
    collect(r, of_cycles, &s);
    for (int level = 0; level < LEVELS; level++)
        judge_level(r, &s, level, of_cycles, out);
    judge_throttle(r, out);
}

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
