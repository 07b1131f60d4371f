/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/sample_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char sample_nasty[] = "<script>alert(\"1\")</script>&amp;'`$(x)` \x1b[31m\xff\n</table><img src=http://x/y>";

#define LIMITS(name, unit, decimals)                                                                                   \
    {name, unit, TABLE_REAL, false, decimals}, {name "_lo", unit, TABLE_REAL, false, decimals},                        \
    {                                                                                                                  \
        name "_hi", unit, TABLE_REAL, false, decimals                                                                  \
    }
#define TEXT_KEY(name)                                                                                                 \
    {                                                                                                                  \
        name, "", TABLE_TEXT, true, 0                                                                                  \
    }
#define WHOLE_KEY(name)                                                                                                \
    {                                                                                                                  \
        name, "", TABLE_WHOLE, true, 0                                                                                 \
    }
#define WHOLE(name)                                                                                                    \
    {                                                                                                                  \
        name, "", TABLE_WHOLE, false, 0                                                                                \
    }
#define TEXT(name)                                                                                                     \
    {                                                                                                                  \
        name, "", TABLE_TEXT, false, 0                                                                                 \
    }

static const struct table_column frequency[] = {
    WHOLE_KEY("cpu"), TEXT_KEY("kernel"),           WHOLE_KEY("active_cores"),
    WHOLE("level"),   LIMITS("freq_ghz", "GHz", 2), {"turbo_limit_ghz", "GHz", TABLE_REAL, false, 2},
    WHOLE("n")};
static const struct table_column transitions[] = {TEXT_KEY("from"),
                                                  TEXT_KEY("to"),
                                                  WHOLE_KEY("active_cores"),
                                                  TEXT("kind"),
                                                  LIMITS("latency_us", "us", 1),
                                                  LIMITS("wait_us", "us", 1),
                                                  LIMITS("overhead_us", "us", 1),
                                                  WHOLE("halts"),
                                                  LIMITS("from_ghz", "GHz", 3),
                                                  LIMITS("to_ghz", "GHz", 3),
                                                  WHOLE("n"),
                                                  TEXT("phases"),
                                                  TEXT("note")};
static const struct table_column throttle[] = {TEXT_KEY("from"),           TEXT_KEY("to"),
                                               WHOLE_KEY("active_cores"),  WHOLE_KEY("phase"),
                                               WHOLE("distance"),          LIMITS("duration_us", "us", 1),
                                               LIMITS("ipc_ratio", "", 3), WHOLE("n")};
static const struct table_column trigger[] = {TEXT_KEY("kernel"), WHOLE_KEY("density"), LIMITS("count", "", 0),
                                              WHOLE("level"), WHOLE("n")};
static const struct table_column relaxation[] = {TEXT_KEY("from"), TEXT_KEY("to"),         LIMITS("wait_us", "us", 1),
                                                 WHOLE("mode"),    LIMITS("share", "", 3), WHOLE("n")};
static const struct table_column overhead[] = {TEXT_KEY("from"),
                                               TEXT_KEY("to"),
                                               WHOLE_KEY("active_cores"),
                                               LIMITS("down_us", "us", 1),
                                               LIMITS("up_us", "us", 1),
                                               LIMITS("breakeven_us", "us", 0),
                                               WHOLE("n"),
                                               TEXT("assumption")};
static const struct table_column umask[] = {
    WHOLE_KEY("event"), WHOLE_KEY("umask"), TEXT_KEY("kernel"), LIMITS("share", "", 3),
    TEXT("documented"), TEXT("reading"),    WHOLE("n")};
static const struct table_column energy[] = {TEXT_KEY("kernel"),
                                             {"freq_ghz", "GHz", TABLE_REAL, true, 2},
                                             WHOLE_KEY("active_cores"),
                                             TEXT_KEY("mode"),
                                             LIMITS("watts", "W", 2),
                                             LIMITS("nj_per_op", "nJ", 3),
                                             WHOLE("n")};
static const struct table_column voltage[] = {
    TEXT_KEY("from"), TEXT_KEY("to"), {"time_us", "us", TABLE_REAL, true, 1}, LIMITS("volts", "V", 4), WHOLE("n")};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static const struct {
    const char *name;
    const struct table_column *columns;
    size_t n;
} samples[] = {
    {"frequency", frequency, COUNT(frequency)},
    {"transitions", transitions, COUNT(transitions)},
    {"throttle", throttle, COUNT(throttle)},
    {"trigger", trigger, COUNT(trigger)},
    {"relaxation", relaxation, COUNT(relaxation)},
    {"overhead", overhead, COUNT(overhead)},
    {"umask", umask, COUNT(umask)},
    {"energy", energy, COUNT(energy)},
    {"voltage", voltage, COUNT(voltage)},
};

/* Kernels with the level that G 3.2.1 names for them. */
static const struct {
    const char *name;
    int level;
} kernels[] = {
    {"64add", 0},
    {"128fma", 0},
    {"256or", 0},
    {"256fma", 1},
    {"512or", 1},
    {"512fma", 2},
    {"64fma", 0},
    {"64mul", 0},
    {"128or", 0},
    {"128add", 0},
    {"128mul", 0},
    {"256add", 0},
    {"256mul", 1},
    {"256perm", 0},
    {"512add", 1},
    {"512mul", 2},
    {"512perm", 1},
    {"amx", 2},
    {"512fma@1/8-dirty", 1},
    {"512or-dirty", 1},
};

/* G table 3.1: by level and 1-2, 3-4, 5-8, 9-12, 13-16 active cores. */
static double ghz(int level, unsigned cores)
{
    static const double table[3][5] = {{3.7, 3.5, 3.4, 3.1, 2.8}, {3.6, 3.4, 3.1, 2.6, 2.4}, {3.5, 3.1, 2.4, 2.1, 1.9}};
    return table[level][cores <= 2 ? 0 : cores <= 4 ? 1 : cores <= 8 ? 2 : cores <= 12 ? 3 : 4];
}

static void put(struct table *t, const char *column, double value, double half)
{
    table_put_limits(t, column, value, value - half, value + half);
}

static void pair(struct table *t, size_t a, size_t b)
{
    table_add_row(t);
    table_put_text(t, "from", kernels[a].name);
    table_put_text(t, "to", kernels[b].name);
    if (table_has(t, "n"))
        table_put_number(t, "n", 100);
}

static void fill_frequency(struct table *t, size_t n, unsigned cores)
{
    for (size_t k = 0; k < n; k++)
        for (unsigned c = 1; c <= cores; c++) {
            table_add_row(t);
            table_put_number(t, "cpu", 3);
            table_put_text(t, "kernel", kernels[k].name);
            table_put_number(t, "active_cores", c);
            table_put_number(t, "level", kernels[k].level);
            put(t, "freq_ghz", ghz(kernels[k].level, c) + 0.002 * (double)k, 0.01);
            table_put_number(t, "turbo_limit_ghz", ghz(kernels[k].level, c));
            table_put_number(t, "n", 20);
        }
}

static void fill_transition(struct table *t, size_t a, size_t b, unsigned cores)
{
    int from = kernels[a].level, to = kernels[b].level;
    bool wider = strncmp(kernels[b].name, "256", 3) == 0 && strncmp(kernels[a].name, "128", 3) == 0;
    pair(t, a, b);
    table_put_number(t, "active_cores", cores);
    table_put_text(t, "kind", from != to ? "frequency" : wider ? "throttle only" : "none");
    put(t, "from_ghz", ghz(from, cores), 0.003);
    put(t, "to_ghz", ghz(to, cores), 0.003);
    table_put_number(t, "halts", abs(from - to) == 2 && to > from ? 2 : from != to);
    if (to > from) {
        put(t, "latency_us", 31.2 + 20 * (to - from), 0.4);
        put(t, "overhead_us", 15 + 14.0 * (to - from), 0.9);
        table_put_text(t, "phases", "throttle 20.1 us at 0.25, halt 10.2 us, throttle 20.0 us at 0.50, halt 10.1 us");
    } else if (to < from) {
        put(t, "latency_us", 10.1, 0.2);
        put(t, "wait_us", 671, 4);
        put(t, "overhead_us", 10.3, 0.3);
        table_put_text(t, "phases", "slow 671 us, halt 10.1 us");
    }
}

static void fill_transitions(struct table *t, size_t n, unsigned cores)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            if (a != b && !(a == 1 && b == 3)) /* one was not measured */
                fill_transition(t, a, b, cores);
}

static void fill_throttle(struct table *t, size_t n, unsigned cores)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            for (int phase = 1; kernels[b].level > kernels[a].level && phase <= kernels[b].level; phase++) {
                pair(t, a, b);
                table_put_number(t, "active_cores", cores);
                table_put_number(t, "phase", phase);
                put(t, "duration_us", 20.3 - phase, 0.4);
                put(t, "ipc_ratio", 0.25 * phase, 0.004);
            }
    for (int distance = 2; distance <= 200; distance = distance * 3 / 2 + 1) {
        pair(t, 0, n - 1);
        table_put_number(t, "active_cores", cores);
        table_put_number(t, "phase", 1);
        table_put_number(t, "distance", distance);
        put(t, "ipc_ratio", distance < 100 ? 0.25 + 0.002 * distance : 1, 0.01);
    }
}

static void fill_trigger(struct table *t, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (int density = 1; density <= 256; density *= 2) {
            table_add_row(t);
            table_put_text(t, "kernel", kernels[k].name);
            table_put_number(t, "density", density);
            table_put_number(t, "level", density <= 2 ? kernels[k].level : kernels[k].level == 2);
            if (kernels[k].level > 0 && density == 1)
                put(t, "count", kernels[k].level == 1 ? 13000 : 1, kernels[k].level == 1 ? 900 : 0);
            table_put_number(t, "n", 12);
        }
}

static void fill_relaxation(struct table *t, size_t n)
{
    for (size_t a = 0; a < n; a++)
        for (int mode = 1; kernels[a].level > 0 && mode <= 2; mode++) {
            pair(t, a, 0);
            put(t, "wait_us", 668.0 * mode + (double)a, 3.1);
            table_put_number(t, "mode", mode);
            put(t, "share", mode == 1 ? 0.93 : 0.07, 0.03);
        }
}

static void fill_overhead(struct table *t, size_t n, unsigned cores)
{
    for (size_t b = 0; b < n; b++)
        for (unsigned c = 1; kernels[b].level > 0 && c <= cores; c = c < cores && 2 * c > cores ? cores : 2 * c) {
            double high = ghz(0, c), low = ghz(kernels[b].level, c), down = 20 + 12.0 * kernels[b].level;
            pair(t, 1, b);
            table_put_number(t, "active_cores", c);
            put(t, "down_us", down, 0.8);
            put(t, "up_us", 10.2, 0.3);
            put(t, "breakeven_us", high * (down + 10.2) / (high - low), 9);
            table_put_text(t, "assumption", "performance proportional to the frequency");
        }
}

static void fill_umask(struct table *t, size_t n)
{
    static const char *const readings[] = {"nothing",   "up to 128 bit", "light 256", "heavy 256",
                                           "light 512", "heavy 512",     "throttled", "nothing"};
    for (unsigned bit = 0; bit < 8; bit++)
        for (size_t k = 0; k < n; k++) {
            unsigned of_kernel = kernels[k].level == 2 ? 5 : kernels[k].level == 1 ? 3 + (k == 4) : 1 + (k == 2);
            table_add_row(t);
            table_put_number(t, "event", 0x28);
            table_put_number(t, "umask", 1u << bit);
            table_put_text(t, "kernel", kernels[k].name);
            put(t, "share", bit == of_kernel ? 0.998 : bit == 6 ? 0.002 : 0, 0.001);
            table_put_text(t, "reading", readings[bit]);
            if (bit == 5)
                table_put_text(t, "documented", "LVL2_TURBO_LICENSE");
            table_put_number(t, "n", 10);
        }
}

static void fill_energy(struct table *t, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 2; i++) {
            table_add_row(t);
            table_put_text(t, "kernel", kernels[k].name);
            table_put_number(t, "freq_ghz", i ? 3.5 : 2.1);
            table_put_number(t, "active_cores", 1);
            table_put_text(t, "mode", "fixed");
            put(t, "watts", (4.1 + 2.7 * kernels[k].level) * (i ? 1.9 : 1), 0.2);
            put(t, "nj_per_op", 0.21 + 0.1 * (double)k, 0.01);
            table_put_number(t, "n", 8);
        }
}

static void fill_voltage(struct table *t, size_t n)
{
    for (size_t b = 1; b < n && b < 10; b++)
        for (int time = -50; time <= 150; time += 2) {
            double up = 0.007 * kernels[b].level;
            pair(t, 0, b);
            table_put_number(t, "time_us", time);
            put(t, "volts", 0.951 + (time < 0 ? 0 : time < 20 ? up * time / 20 : up) + 0.0004 * sin(time), 0.0006);
        }
}

const char *const *sample_table_names(size_t *n)
{
    static const char *const names[] = {"frequency", "transitions", "throttle", "trigger", "relaxation",
                                        "overhead",  "umask",       "energy",   "voltage"};
    *n = COUNT(names);
    return names;
}

void sample_table_empty(struct table *t, const char *name)
{
    for (size_t i = 0; i < COUNT(samples); i++)
        if (strcmp(samples[i].name, name) == 0)
            table_init(t, name, samples[i].columns, samples[i].n);
    table_set_meta(t, "cpu", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz");
    table_set_meta(t, "machine", "model:xeon-gold-6130");
    table_set_meta(t, "source", "a simulated core");
    table_set_meta(t, "modelled", "yes");
    table_set_meta(t, "date", "2026-11-22T05:43:00Z");
    table_set_meta(t, "version", "0.1.0");
    table_set_setting_number(t, "runs", 100);
    table_set_setting_number(t, "period_us", 1);
    table_set_setting_number(t, "seed", 7);
}

void sample_table(struct table *t, const char *name, size_t n_kernels, unsigned cores)
{
    size_t n = n_kernels > COUNT(kernels) ? COUNT(kernels) : n_kernels;
    sample_table_empty(t, name);
    if (strcmp(name, "frequency") == 0)
        fill_frequency(t, n, cores);
    else if (strcmp(name, "transitions") == 0)
        fill_transitions(t, n, cores);
    else if (strcmp(name, "throttle") == 0)
        fill_throttle(t, n, cores);
    else if (strcmp(name, "trigger") == 0)
        fill_trigger(t, n);
    else if (strcmp(name, "relaxation") == 0)
        fill_relaxation(t, n);
    else if (strcmp(name, "overhead") == 0)
        fill_overhead(t, n, cores);
    else if (strcmp(name, "umask") == 0)
        fill_umask(t, n);
    else if (strcmp(name, "energy") == 0)
        fill_energy(t, n);
    else
        fill_voltage(t, n);
    table_add_missing(t, "amx: the processor has no AMX unit; a Sapphire Rapids or later server processor has one");
    table_put_text(t, table_has(t, "kernel") ? "kernel" : "to", "amx");
}
