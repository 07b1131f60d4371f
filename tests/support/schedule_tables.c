/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/schedule_tables.h"

#include <math.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))
#define TEXT_KEY(name)                                                                                                 \
    {                                                                                                                  \
        name, "", TABLE_TEXT, true, 0                                                                                  \
    }
#define TEXT(name)                                                                                                     \
    {                                                                                                                  \
        name, "", TABLE_TEXT, false, 0                                                                                 \
    }
#define WHOLE_KEY(name)                                                                                                \
    {                                                                                                                  \
        name, "", TABLE_WHOLE, true, 0                                                                                 \
    }
#define LIMITED(name, unit)                                                                                            \
    {name, unit, TABLE_REAL, false, 3}, {name "_lo", unit, TABLE_REAL, false, 3},                                      \
    {                                                                                                                  \
        name "_hi", unit, TABLE_REAL, false, 3                                                                         \
    }
#define N                                                                                                              \
    {                                                                                                                  \
        "n", "", TABLE_WHOLE, false, 0                                                                                 \
    }

const int gold_mhz[GOLD_LEVELS][GOLD_GROUPS] = {
    {3700, 3500, 3400, 3100, 2800}, {3600, 3400, 3100, 2600, 2400}, {3500, 3100, 2400, 2100, 1900}};
const int gold_last_core[GOLD_GROUPS] = {2, 4, 8, 12, 16};

int gold_group(int active_cores)
{
    int g = 0;
    while (gold_last_core[g] < active_cores)
        g++;
    return g;
}

static void begin(struct table *t, const char *name, const struct table_column *columns, size_t n)
{
    table_init(t, name, columns, n);
    table_set_meta(t, "cpu", "Intel Xeon Gold 6130 CPU @ 2.10GHz (06_55H, stepping 4)");
    table_set_meta(t, "machine", "model:by-hand");
    table_set_meta(t, "modelled", "yes");
    table_set_meta(t, "version", "0.1.0");
    table_set_setting_number(t, "runs", 30);
}

void frequency_table(struct table *t)
{
    static const struct table_column columns[] = {WHOLE_KEY("cpu"),           TEXT_KEY("kernel"),
                                                  WHOLE_KEY("active_cores"),  {"level", "", TABLE_WHOLE, false, 0},
                                                  LIMITED("freq_ghz", "GHz"), N};
    begin(t, "frequency", columns, LENGTH(columns));
}

void overhead_table(struct table *t)
{
    static const struct table_column columns[] = {TEXT_KEY("from"),
                                                  TEXT_KEY("to"),
                                                  WHOLE_KEY("active_cores"),
                                                  LIMITED("down_us", "us"),
                                                  LIMITED("up_us", "us"),
                                                  LIMITED("breakeven_us", "us"),
                                                  N};
    begin(t, "overhead", columns, LENGTH(columns));
}

void relaxation_table(struct table *t)
{
    static const struct table_column columns[] = {TEXT_KEY("from"),
                                                  TEXT_KEY("to"),
                                                  TEXT_KEY("what"),
                                                  {"mode", "", TABLE_WHOLE, false, 0},
                                                  LIMITED("wait_us", "us"),
                                                  LIMITED("share", ""),
                                                  N};
    begin(t, "relaxation", columns, LENGTH(columns));
}

void trigger_table(struct table *t)
{
    static const struct table_column columns[] = {
        TEXT_KEY("kernel"), WHOLE_KEY("density"), LIMITED("count", ""), {"level", "", TABLE_WHOLE, false, 0}, N};
    begin(t, "trigger", columns, LENGTH(columns));
}

void throttle_table(struct table *t)
{
    static const struct table_column columns[] = {
        TEXT_KEY("from"),         TEXT_KEY("to"),          WHOLE_KEY("active_cores"),
        TEXT_KEY("part"),         WHOLE_KEY("phase"),      LIMITED("duration_us", "us"),
        LIMITED("ipc_ratio", ""), LIMITED("distance", ""), N};
    begin(t, "throttle", columns, LENGTH(columns));
}

void umask_table(struct table *t)
{
    static const struct table_column columns[] = {WHOLE_KEY("event"), WHOLE_KEY("umask"),   TEXT_KEY("kernel"),
                                                  TEXT_KEY("when"),   LIMITED("share", ""), TEXT("documented"),
                                                  TEXT("reading"),    TEXT("disagrees"),    N};
    begin(t, "umask", columns, LENGTH(columns));
}

void switching_table(struct table *t)
{
    static const struct table_column columns[] = {
        TEXT_KEY("what"), LIMITED("us", "us"), LIMITED("null_us", "us"), N, {"discarded", "", TABLE_WHOLE, false, 0}};
    begin(t, "switching", columns, LENGTH(columns));
}

void switching_row(struct table *t, const char *what, double us, double half)
{
    table_add_row(t);
    table_put_text(t, "what", what);
    table_put_limits(t, "us", us, us - half, us + half);
    table_put_number(t, "n", 500);
}

void frequency_row(struct table *t, int cpu, const char *kernel, int cores, int level, double ghz)
{
    table_add_row(t);
    table_put_number(t, "cpu", cpu);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "active_cores", cores);
    if (level >= 0)
        table_put_number(t, "level", level);
    table_put_limits(t, "freq_ghz", ghz, ghz - 0.0002, ghz + 0.0002);
    table_put_number(t, "n", 30);
}

void overhead_row(struct table *t, const char *from, const char *to, int cores, double down, double up, double even)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", to);
    table_put_number(t, "active_cores", cores);
    table_put_limits(t, "down_us", down, down - 0.1, down + 0.1);
    table_put_limits(t, "up_us", up, up - 0.1, up + 0.1);
    table_put_limits(t, "breakeven_us", even, even - 1, even + 1);
    table_put_number(t, "n", 30);
}

void wait_row(struct table *t, const char *what, const char *from, double mode, double us, double share)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", "64add");
    table_put_text(t, "what", what);
    table_put_number(t, "mode", mode);
    table_put_limits(t, "wait_us", us, us - 1, us + 1);
    table_put_limits(t, "share", share, NAN, NAN);
}

void trigger_row(struct table *t, const char *kernel, double density, double count, int level)
{
    table_add_row(t);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "density", density);
    table_put_limits(t, "count", count, NAN, NAN);
    if (level >= 0)
        table_put_number(t, "level", level);
}

void gold_frequencies(struct table *t)
{
    static const struct {
        const char *name;
        int level;
    } kernels[] = {{"64add", 0}, {"256or", 0}, {"256fma", 1}, {"512or", 1}, {"512fma", 2}};
    frequency_table(t);
    for (int cores = 1; cores <= GOLD_CORES; cores++)
        for (size_t k = 0; k < LENGTH(kernels); k++)
            frequency_row(t, 0, kernels[k].name, cores, kernels[k].level,
                          gold_mhz[kernels[k].level][gold_group(cores)] / 1e3);
}
