/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_export.h"
#include "tests/support/test.h"

enum { CLASSES_MAX = 6 };

struct drawn {
    struct rng *r;
    FILE *f;
    int levels, classes, cores;
    int class_level[CLASSES_MAX]; /* -1: absent */
    bool whole;
    bool first; /* row of a list */
};

static bool chance(struct drawn *d, double p)
{
    return rng_chance(d->r, p);
}

/* A value is absent: never those that must be there. */
static bool is_absent(struct drawn *d, double p, bool needed)
{
    return chance(d, p) && !(needed && d->whole);
}

__attribute__((format(printf, 2, 3))) static void begin_row(struct drawn *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs(d->first ? "\n    {" : ",\n    {", d->f);
    vfprintf(d->f, format, args);
    va_end(args);
    d->first = false;
}

static void begin_list(struct drawn *d, const char *name)
{
    fprintf(d->f, ",\n  \"%s\": [", name);
    d->first = true;
}

/* With limits, at times. */
static void put_value(struct drawn *d, const char *name, long long value)
{
    fprintf(d->f, ", \"%s\": %lld", name, value);
    if (chance(d, 0.3))
        fprintf(d->f, ", \"%s_lo\": %lld, \"%s_hi\": %lld", name, value - 1, name, value + 2);
}

/* Nanoseconds up to most: whole microseconds as often as not, and 0. */
static long long draw_ns(struct drawn *d, double most)
{
    if (chance(d, 0.08))
        return 0;
    long long ns = (long long)rng_log(d->r, most / 100, most);
    return chance(d, 0.5) ? ns / 1000 * 1000 : ns;
}

static void put_classes(struct drawn *d)
{
    static const struct {
        int width;
        bool heavy;
    } of[CLASSES_MAX] = {{64, false}, {128, true}, {256, false}, {256, true}, {512, false}, {512, true}};
    int first = rng_int(d->r, 0, 2), level = 0;
    begin_list(d, "classes");
    for (int i = first; i < CLASSES_MAX; i++) {
        int c = d->classes++;
        if (chance(d, 0.6))
            level = rng_int(d->r, level, d->levels - 1);
        if (i == CLASSES_MAX - 1)
            level = d->levels - 1;
        d->class_level[c] = is_absent(d, 0.05, true) ? -1 : chance(d, 0.1) ? rng_int(d->r, 0, d->levels - 1) : level;
        begin_row(d, "\"class\": %d, \"width\": %d, \"heavy\": %s", c, of[i].width, of[i].heavy ? "true" : "false");
        if (d->class_level[c] >= 0)
            fprintf(d->f, ", \"level\": %d", d->class_level[c]);
        fputc('}', d->f);
    }
    fputs("]", d->f);
}

static void put_triggers(struct drawn *d)
{
    begin_list(d, "triggers");
    for (int c = 0; c < d->classes; c++)
        for (int one_in = 1; one_in <= 8; one_in *= 2) {
            if (chance(d, 0.4) || d->class_level[c] < 0)
                continue;
            begin_row(d, "\"class\": %d, \"one_in\": %d", c, one_in);
            if (chance(d, 0.9))
                fprintf(d->f, ", \"level\": %d", one_in == 1 ? d->class_level[c] : 0);
            if (chance(d, 0.8)) {
                int count = (int)rng_log(d->r, 2, 400000);
                fprintf(d->f, ", \"count\": %d", count);
                if (chance(d, 0.8))
                    fprintf(d->f, ", \"count_lo\": %d, \"count_hi\": %d", chance(d, 0.2) ? 1 : count - count / 3,
                            count + 5);
            }
            fputc('}', d->f);
        }
    fputs("]", d->f);
}

static void put_frequencies(struct drawn *d, int least_cores)
{
    int cpu = rng_int(d->r, 0, 3), cpus = rng_int(d->r, 1, 2);
    d->cores = least_cores + rng_int(d->r, 0, 3);
    begin_list(d, "frequencies");
    for (int i = 0; i < cpus; i++) {
        int top = rng_int(d->r, 20, 40) * 100, step = rng_int(d->r, 0, 4) * 50, fall = rng_int(d->r, 0, 6) * 100;
        bool odd = chance(d, 0.5);
        for (int n = 1; n <= d->cores; n++)
            for (int level = 0; level < d->levels; level++) {
                int mhz = top - step * (n - 1) - fall * level + (odd ? rng_int(d->r, -12, 12) : 0);
                if (mhz < 800)
                    mhz = 800 + d->levels - level;
                if (is_absent(d, 0.3, n == d->cores))
                    continue;
                begin_row(d, "\"cpu\": %d, \"active_cores\": %d, \"level\": %d", cpu + i, n, level);
                put_value(d, "mhz", mhz);
                fputc('}', d->f);
            }
    }
    fputs("]", d->f);
}

/* Costs, or none of a pair, at some numbers of active cores; `needed`: both ways, at the last number at the latest. */
static void put_costs_between(struct drawn *d, int from, int to, bool needed)
{
    bool down = false, up = false;
    if (is_absent(d, 0.4, needed))
        return;
    for (int n = 1; n <= d->cores + 1; n++) {
        bool last = needed && n == d->cores + 1;
        if (is_absent(d, 0.6, last && !(down && up)))
            continue;
        begin_row(d, "\"from\": %d, \"to\": %d, \"active_cores\": %d", from, to, n);
        if (!is_absent(d, 0.15, last && !down)) {
            put_value(d, "down_ns", chance(d, 0.05) ? -500 : draw_ns(d, 60000));
            down = true;
        }
        if (!is_absent(d, 0.15, last && !up)) {
            put_value(d, "up_ns", chance(d, 0.05) ? -700 : draw_ns(d, 30000));
            up = true;
        }
        if (chance(d, 0.5))
            put_value(d, "breakeven_ns", draw_ns(d, 800000));
        fputc('}', d->f);
    }
}

static void put_costs(struct drawn *d)
{
    bool some = chance(d, 0.8);
    begin_list(d, "costs");
    for (int from = 0; from < d->classes && some; from++)
        for (int to = 0; to < d->classes; to++)
            if (to != from && (d->class_level[to] > d->class_level[from] || chance(d, 0.1)))
                put_costs_between(d, from, to, false);
    fputs("]", d->f);
    begin_list(d, "level_costs");
    for (int from = 0; from < d->levels; from++)
        for (int to = from + 1; to < d->levels; to++)
            put_costs_between(d, from, to, from == 0);
    fputs("]", d->f);
}

static void put_wait(struct drawn *d, int from, int to, int mode, int share)
{
    begin_row(d, "\"from\": %d, \"to\": %d, \"mode\": %d", from, to, mode);
    put_value(d, "wait_ns", mode * draw_ns(d, 700000));
    if (share >= 0)
        fprintf(d->f, ", \"share_permille\": %d", share);
    fputc('}', d->f);
}

static void put_waits(struct drawn *d)
{
    begin_list(d, "relaxations");
    fputs("]", d->f);
    begin_list(d, "level_relaxations");
    for (int from = 1; from < d->levels; from++)
        for (int to = 0; to < from; to++) {
            int share = rng_int(d->r, 0, 1000);
            bool last = from == d->levels - 1 && to == from - 1;
            if (is_absent(d, 0.3, last))
                continue;
            if (!is_absent(d, 0.1, last))
                put_wait(d, from, to, 1, chance(d, 0.8) ? 1000 - share : -1);
            if (chance(d, 0.5))
                put_wait(d, from, to, 2, chance(d, 0.8) ? share : -1);
        }
    fputs("]", d->f);
}

static void put_throttles(struct drawn *d)
{
    bool some = chance(d, 0.8);
    begin_list(d, "throttles");
    for (int from = 0; from < d->classes && some; from++)
        for (int to = 0; to < d->classes; to++) {
            if (to == from || (d->class_level[to] <= d->class_level[from] && chance(d, 0.9)))
                continue;
            for (int n = 1; n <= d->cores; n++) {
                int phases = rng_int(d->r, -3, 3);
                for (int phase = 0; phase < phases; phase++) {
                    begin_row(d, "\"from\": %d, \"to\": %d, \"active_cores\": %d, \"phase\": %d", from, to, n, phase);
                    put_value(d, "duration_ns", draw_ns(d, 30000));
                    if (chance(d, 0.85))
                        put_value(d, "ratio_permille",
                                  chance(d, 0.1) ? 0 : rng_int(d->r, 1, chance(d, 0.1) ? 1200 : 900));
                    fputc('}', d->f);
                }
            }
        }
    fputs("]", d->f);
}

void random_export_write(const char *path, struct rng *r, unsigned cores, bool whole)
{
    struct drawn d = {
        .r = r, .f = fopen(path, "w"), .levels = rng_chance(r, 0.05) ? 1 : rng_int(r, 2, 4), .whole = whole};
    assert_non_null(d.f);
    fprintf(d.f,
            "{\n  \"format\": \"characterize-export/1\",\n  \"cpu\": \"Drawn\",\n  \"machine\": \"test\",\n"
            "  \"modelled\": true,\n  \"levels\": %d,\n  \"level_events\": []",
            d.levels);
    put_classes(&d);
    put_triggers(&d);
    put_frequencies(&d, (int)cores);
    begin_list(&d, "turbo_levels");
    fputs("]", d.f);
    put_costs(&d);
    put_waits(&d);
    put_throttles(&d);
    fputs(",\n  \"settings\": [],\n  \"missing\": []\n}\n", d.f);
    assert_int_equal(fclose(d.f), 0);
}
