/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of the columns of tables: their ends, and just beyond them. */
#include "tables/table/table.h"
#include "tests/support/test.h"

static const struct {
    const char *name, *unit;
    double lo, hi;
    const char *text;
} columns[] = {
    {"duration_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"latency_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"wait_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"tau_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"sd_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"breakeven_us", "us", 0, 1e12, "0 to 1e12 us"},
    {"duration_us", "of a file", 0, 1e12, "0 to 1e12 us"}, /* the name tells */
    {"cost_us", "us", -1e12, 1e12, "-1e12 to 1e12 us"},
    {"_us", "", -1e12, 1e12, "-1e12 to 1e12 us"},
    {"x_watts", "", -1e5, 1e5, "-100000 to 100000 W"},
    {"watts", "W", -1e5, 1e5, "-100000 to 100000 W"},
    {"nj_each", "", -1e6, 1e6, "-1e6 to 1e6 nJ"},
    {"rate", "1/cycle", 0, 64, "0 to 64 a cycle"},
    {"bits_sum", "1", 0, 8, "0 to 8"},
    {"bits", "1", 0, 1, "0 to 1"},
    {"share", "", 0, 1, "0 to 1"},
    {"ipc_ratio", "", 0, 100, "0 to 100"},
    {"count", "", 0, 1e15, "0 to 1e15"},
    {"spread", "", 0, 1e6, "0 to 1e6"},
    {"event", "", 0, 4095, "0 to 4095"},
    {"umask", "", 0, 255, "0 to 255"},
    {"from_volts", "", 0.1, 3, NULL},
    {"lvl0", "", -0.5, 1.5, NULL},
    {"lvl2", "", -0.5, 1.5, NULL},
};

static void expect(const struct table_column *c, double value, const char *text)
{
    const char *refused = table_value_refused(c, value);
    if (!refused != !text || (text && text[0] && strcmp(refused, text) != 0))
        fail_msg("%s %.17g: %s", c->name, value, refused ? refused : "taken");
}

TEST(ends_of_ranges)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct table_column c = {.name = columns[i].name, .unit = columns[i].unit, .type = TABLE_REAL};
        const char *text = columns[i].text ? columns[i].text : "";
        const double lo = columns[i].lo, hi = columns[i].hi;
        char name[40];
        expect(&c, NAN, NULL);
        expect(&c, lo, NULL);
        expect(&c, hi, NULL);
        expect(&c, nextafter(lo, -INFINITY), text);
        expect(&c, nextafter(hi, INFINITY), text);
        expect(&c, INFINITY, text);
        /* limits, by as much as the range is wide */
        for (int k = 0; k < 2; k++) {
            strcpy(name, columns[i].name);
            strcat(name, k ? "_hi" : "_lo");
            c.name = name;
            if (strncmp(name, "lvl", 3) == 0)
                break;
            expect(&c, lo - (hi - lo), NULL);
            expect(&c, hi + (hi - lo), NULL);
            expect(&c, nextafter(lo - (hi - lo), -INFINITY), text);
            expect(&c, nextafter(hi + (hi - lo), INFINITY), text);
        }
    }
}

TEST(whole_numbers_and_others)
{
    struct table_column whole = {.name = "n", .unit = "", .type = TABLE_WHOLE},
                        other = {.name = "other", .unit = "", .type = TABLE_REAL},
                        text = {.name = "kernel", .unit = "", .type = TABLE_TEXT},
                        ghz = {.name = "freq_ghz", .unit = "", .type = TABLE_REAL};
    expect(&whole, 0, NULL);
    expect(&whole, 9007199254740992.0, NULL);
    expect(&whole, 9007199254740994.0, "whole numbers from 0 to 2^53");
    expect(&whole, -1, "whole numbers from 0 to 2^53");
    expect(&whole, 0.5, "whole numbers from 0 to 2^53");
    expect(&other, 1e300, NULL);
    expect(&other, INFINITY, "finite numbers");
    expect(&text, INFINITY, NULL);
    expect(&ghz, 0, ""); /* the one range without its lower end */
    expect(&ghz, 100, NULL);
    expect(&ghz, 100.001, "");
}
