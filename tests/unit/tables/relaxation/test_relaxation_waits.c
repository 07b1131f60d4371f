/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits found in repetitions that were made by hand, at the bounds of modes and shares and beside them: the answers are
 * tests/golden/waits.made. After an intended change `make golden` rewrites it, and the diff shows what changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/relaxation/relaxation.h"
#include "tests/support/golden.h"

enum { RISES_MOST = 400 };

/*
 * "20x670~2 5x1340 3xnever 4x990@300 2x990@300-400": 20 rises from 668 to 672 us, 5 at 1340, 3 that do not come, 4
 * with an interruption at 300 us, 2 with one there and another at 400.
 */
static size_t read_rises(const char *text, struct relaxation_rise *r)
{
    size_t n = 0;
    for (int used = 0; *text; text += used + strspn(text + used, " ")) {
        double times, at = NAN, spread = 0, first = NAN, last = NAN;
        int k;
        assert_int_equal(sscanf(text, "%lfx%n", &times, &used), 1);
        if (strncmp(text + used, "never", 5) == 0)
            used += 5;
        else if (sscanf(text + used, "%lf%n", &at, &k) == 1)
            used += k;
        if (sscanf(text + used, "~%lf%n", &spread, &k) == 1)
            used += k;
        if (sscanf(text + used, "@%lf%n", &first, &k) == 1) {
            used += k;
            last = first;
        }
        if (sscanf(text + used, "-%lf%n", &last, &k) == 1)
            used += k;
        assert_true(text[used] == ' ' || text[used] == '\0');
        for (int i = 0; i < (int)times; i++) {
            assert_true(n < RISES_MOST);
            double off = times > 1 ? spread * (2 * i / (times - 1) - 1) : 0;
            r[n++] = (struct relaxation_rise){.at_us = at + off,
                                              .interruptions = (size_t)(!isnan(first) + (last > first)),
                                              .first_us = first,
                                              .last_us = last};
        }
    }
    return n;
}

/* What is not there is left out. */
static void write_estimate(FILE *out, const char *name, const struct estimate *e)
{
    if (!isnan(e->value))
        fprintf(out, " %s %.5g", name, e->value);
    if (!isnan(e->lo) && !isnan(e->hi))
        fprintf(out, " [%.5g, %.5g]", e->lo, e->hi);
}

static void write_count(FILE *out, const char *name, size_t n)
{
    if (n)
        fprintf(out, " %zu %s", n, name);
}

static void write_waits(FILE *out, const char *text)
{
    static struct relaxation_rise r[RISES_MOST];
    struct relaxation_waits w;
    assert_int_equal(relaxation_waits(r, read_rises(text, r), &w), 0);
    fprintf(out, "%s\n ", text);
    for (int k = 0; k < 2; k++) {
        write_count(out, k ? "twice" : "once", w.mode[k].n);
        write_estimate(out, "after", &w.mode[k].wait_us);
        write_estimate(out, k ? "share of twice" : "share", &w.mode[k].share);
        if (!isnan(w.mode[k].sd_us))
            fprintf(out, " sd %.4g;", w.mode[k].sd_us);
    }
    write_count(out, "others", w.others);
    write_count(out, "close", w.close);
    write_count(out, "at once", w.at_once);
    write_count(out, w.kept ? "interrupted and kept" : "interrupted", w.interrupted);
    write_count(out, "never", w.never);
    write_count(out, "begun anew", w.rearmed);
    write_count(out, "not anew", w.not_rearmed);
    write_estimate(out, "after an interruption", &w.after_interrupt_us);
    fprintf(out, "\n");
}

static const char *const made_rises[] = {
    "",
    "1x670",
    "3x670~1",
    "20x670~2",
    "20x670~2 2xnever",
    /* rises at once tell no wait: up to 20 us */
    "5x19.9 5x20",
    "20x670 3x5",
    "3x5",
    /* twice the wait: three at least, and not by chance */
    "20x670~2 2x1340~1",
    "20x670~2 3x1340~1",
    "20x670~2 5x1340~1",
    "20x670~2 5x1340~300",
    "20x670~2 3x1340~1 4x1000~200",
    "20x670~2 3x1340~1 20x1000~200",
    /* the width of a mode: 6 standard deviations, 1 % or 4 us, 15 %, 40 % where waits scatter so much */
    "20x100~0.1 1x103.9",
    "20x100~0.1 1x104.1",
    "20x1000~0.1 1x1009",
    "20x1000~0.1 1x1011",
    "20x1000~5 1x1025",
    "20x1000~5 1x1035",
    "20x1000~60 1x1149",
    "20x1000~60 1x1151",
    "30x1000~300 2x600 2x1390",
    "30x1000~140 1x1200",
    /* the shortest wait that is not rare */
    "40x670~1 3x300",
    "40x670~1 4x300",
    "40x670~1 11x300",
    "2x300 2x670",
    "1x300 3x670",
    "1x300 1x500 1x700",
    "10x100~4 10x110~4",
    "10x40~1 10x44~1",
    /* limits of `close`: 15 % of the wait */
    "20x1000~1 1x851 1x1149",
    "20x1000~1 1x849 1x1151",
    "20x1000~1 5x2000~1 1x1851 1x2149 1x1849 1x2151",
    /* interrupted ones are left out, unless fewer than one in five were left alone */
    "20x670~2 10x700@300",
    "5x670~2 20x670~2@300",
    "4x670~2 20x670~2@300",
    "4x670~2 16x670~2@300",
    "4x670~2 17x670~2@300 5xnever@100",
    "20x670~2 5xnever@300",
    /* whether it began anew: interruptions in the middle of the wait, 30 % from either end */
    "20x1000~1 5x1500@500",
    "20x1000~1 5x1301@301 5x1299@299",
    "20x1000~1 5x1699@699 5x1701@701",
    "20x1000~1 5x2500@500",
    "20x1000~1 5x1000@500",
    "20x1000~1 5x2000@500",
    "20x1000~1 5x1250@500",
    "20x1000~1 5x1500@200-500",
    "20x1000~1 5x1649@500 5x1651@500 5x1351@500 5x1349@500",
    "20x1000~1 5x1149@500 5x1151@500",
    /* shares: what nothing interrupted until 1.2 waits */
    "20x1000~1 5x2000~1@1199",
    "20x1000~1 5x2000~1@1201",
    "20x1000~1 5x2000~1 5x2000~1@1500",
    "20x1000~1 5x2000~1 5x2600@1500 2xnever@1500",
    "20x1000~1 2x1199 2x1201",
    "20x1000~1 4x2000~1 4x1500 2x15",
};

static void waits_of_made_repetitions(void **state)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    for (size_t i = 0; i < sizeof made_rises / sizeof *made_rises; i++)
        write_waits(out, made_rises[i]);
    golden_expect(&g, "waits", "made", true);
}

/* After a burst in the middle of a wait of 1000 us the rise comes at multiples of a half, give or take 220 us. */
static void bursts_begin_the_wait_anew_or_not(void **state)
{
    static const struct {
        double at_us;
        int anew;
    } cases[] = {{281, 0},   {279, -1},  {500, 0},  {719, 0},  {721, -1}, {779, -1},  {781, 1},  {1000, 1}, {1219, 1},
                 {1221, -1}, {1279, -1}, {1281, 0}, {1500, 0}, {1719, 0}, {1721, -1}, {1781, 1}, {2219, 1}, {2221, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (relaxation_rearmed(cases[i].at_us, 500, 1000) != cases[i].anew)
            fail_msg("%g us: %d", cases[i].at_us, relaxation_rearmed(cases[i].at_us, 500, 1000));
    assert_string_equal(relaxation_verdict(&(struct estimate){0.6, 0.5, 0.7}), "undecided");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.6, 0.51, 0.7}), "yes");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.4, 0.3, 0.5}), "undecided");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.4, 0.3, 0.49}), "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_of_made_repetitions),
        cmocka_unit_test(bursts_begin_the_wait_anew_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
