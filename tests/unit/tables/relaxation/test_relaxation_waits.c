/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits found in repetitions that were made by hand, at the bounds of modes and shares and beside them. */
#include "tables/relaxation/relaxation_fit.h"
#include "tables/relaxation/relaxation_parts.h"
#include "tests/support/test.h"

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
                                              .last_us = last,
                                              .left = NAN};
        }
    }
    return n;
}

static void add(char *out, const char *before, int digits, double x, const char *after)
{
    if (x > 0)
        snprintf(out + strlen(out), 300 - strlen(out), "%s%.*g%s", before, digits, x, after);
}

/* "20 once, 670 us +-0.2 sd 1 (80 to 90 %); 5 twice, ..."; what is not there is left out. */
static void tell(const struct relaxation_waits *w, char *out)
{
    *out = '\0';
    for (int k = 0; k < 2; k++) {
        const struct relaxation_mode *m = &w->mode[k];
        add(out, "", 4, (double)m->n, k ? " twice, " : " once, ");
        add(out, "", 4, m->wait_us.value, " us");
        add(out, " +-", 2, m->wait_us.hi - m->wait_us.value, "");
        add(out, " sd ", 2, m->sd_us, "");
        add(out, " (", 3, 100 * m->share.value, "");
        add(out, " to ", 3, 100 * m->share.hi, " %); ");
    }
    add(out, "", 4, (double)w->others, " other ");
    add(out, "", 4, (double)w->close, " close ");
    add(out, "", 4, (double)w->at_once, " at once ");
    add(out, "", 4, (double)w->interrupted, w->kept ? " interrupted, kept " : " interrupted ");
    add(out, "", 4, (double)w->never, " never ");
    add(out, "", 4, (double)w->rearmed, " again ");
    add(out, "", 4, (double)w->not_rearmed, " not again ");
    add(out, "after ", 4, w->after_interrupt_us.value, "");
}

static const struct {
    const char *rises, *told;
} made[] = {
    {"", ""},
    {"1x670", "1 once, 670 us (100 to 100 %);  to 97.5 %); 1 close "},
    {"3x670~1", "3 once, 670 us +-2.5 sd 1 (100 to 100 %);  to 70.8 %); 3 close "},
    {"20x670~2", "20 once, 670 us +-0.58 sd 1.2 (100 to 100 %);  to 16.8 %); 20 close "},
    {"20x670~2 2xnever", "20 once, 670 us +-0.58 sd 1.2 (90.9 to 100 %);  to 16.8 %); 20 close 2 never "},
    /* rises at once tell no wait: up to 20 us */
    {"5x19.9 5x20", "5 once, 20 us (100 to 100 %);  to 52.2 %); 5 other 5 close 5 at once "},
    {"20x670 3x5", "20 once, 670 us (100 to 100 %);  to 16.8 %); 3 other 20 close 3 at once "},
    {"3x5", "3 other 3 at once "},
    /* twice the wait: three at least, and not by chance */
    {"20x670~2 2x1340~1", "20 once, 670 us +-0.58 sd 1.2 (90.9 to 100 %);  to 16.8 %); 2 other 20 close "},
    {"20x670~2 3x1340~1",
     "20 once, 670 us +-0.58 sd 1.2 (87 to 97.2 %); 3 twice, 1340 us +-2.5 sd 1 (13 to 33.6 %); 23 close "},
    {"20x670~2 5x1340~1",
     "20 once, 670 us +-0.58 sd 1.2 (80 to 93.2 %); 5 twice, 1340 us +-0.98 sd 0.79 (20 to 40.7 %); 25 close "},
    {"20x670~2 5x1340~300", "20 once, 670 us +-0.58 sd 1.2 (80 to 100 %);  to 16.8 %); 5 other 20 close "},
    {"20x670~2 3x1340~1 4x1000~200",
     "20 once, 670 us +-0.58 sd 1.2 (74.1 to 97.2 %); 3 twice, 1340 us +-2.5 sd 1 (11.1 to 33.6 %); 4 other 23 close "},
    {"20x670~2 3x1340~1 20x1000~200", "20 once, 670 us +-0.58 sd 1.2 (46.5 to 100 %);  to 16.8 %); 23 other 20 close "},
    /* the width of a mode: 6 standard deviations, 1 % or 4 us, 15 %, 40 % where waits scatter so much */
    {"20x100~0.1 1x103.9", "21 once, 100 us +-0.029 sd 0.87 (100 to 100 %);  to 16.1 %); 21 close "},
    {"20x100~0.1 1x104.1", "20 once, 100 us +-0.029 sd 0.062 (95.2 to 100 %);  to 16.8 %); 1 other 21 close "},
    {"20x1000~0.1 1x1009", "21 once, 1000 us +-0.029 sd 2 (100 to 100 %);  to 16.1 %); 21 close "},
    {"20x1000~0.1 1x1011", "20 once, 1000 us +-0.029 sd 0.062 (95.2 to 100 %);  to 16.8 %); 1 other 21 close "},
    {"20x1000~5 1x1025", "21 once, 1000 us +-1.5 sd 6.4 (100 to 100 %);  to 16.1 %); 21 close "},
    {"20x1000~5 1x1035", "20 once, 1000 us +-1.5 sd 3.1 (95.2 to 100 %);  to 16.8 %); 1 other 21 close "},
    {"20x1000~60 1x1149", "21 once, 1007 us +-22 sd 49 (100 to 100 %);  to 16.1 %); 21 close "},
    {"20x1000~60 1x1151", "21 once, 1007 us +-22 sd 49 (100 to 100 %);  to 16.1 %); 21 close "},
    {"30x1000~300 2x600 2x1390", "18 once, 826.8 us +-62 sd 1.2e+02 (52.9 to 100 %);  to 18.5 %); 16 other 10 close "},
    {"30x1000~140 1x1200", "31 once, 1006 us +-33 sd 91 (100 to 100 %);  to 11.2 %); 25 close "},
    /* the shortest wait that is not rare */
    {"40x670~1 3x300", "40 once, 670 us +-0.19 sd 0.6 (93 to 100 %);  to 8.81 %); 3 other 40 close "},
    {"40x670~1 4x300", "40 once, 670 us +-0.19 sd 0.6 (90.9 to 100 %);  to 8.81 %); 4 other 40 close "},
    {"40x670~1 11x300", "11 once, 300 us (21.6 to 100 %);  to 28.5 %); 40 other 11 close "},
    {"2x300 2x670", "2 once, 300 us (50 to 100 %);  to 84.2 %); 2 other 2 close "},
    {"1x300 3x670", "3 once, 670 us (75 to 100 %);  to 70.8 %); 1 other 3 close "},
    {"1x300 1x500 1x700", "1 once, 300 us (33.3 to 100 %);  to 97.5 %); 2 other 1 close "},
    {"10x100~4 10x110~4", "20 once, 105 us +-2.7 sd 5.8 (100 to 100 %);  to 16.8 %); 20 close "},
    {"10x40~1 10x44~1", "20 once, 42 us +-1 sd 2.2 (100 to 100 %);  to 16.8 %); 20 close "},
    /* limits of `close`: 15 % of the wait */
    {"20x1000~1 1x851 1x1149", "20 once, 1000 us +-0.29 sd 0.62 (90.9 to 100 %);  to 16.8 %); 2 other 22 close "},
    {"20x1000~1 1x849 1x1151", "20 once, 1000 us +-0.29 sd 0.62 (90.9 to 100 %);  to 16.8 %); 2 other 20 close "},
    {"20x1000~1 5x2000~1 1x1851 1x2149 1x1849 1x2151", "20 once, 1000 us +-0.29 sd 0.62 (69 to 93.2 %); 5 twice, 2000 "
                                                       "us +-0.98 sd 0.79 (17.2 to 40.7 %); 4 other 27 close "},
    /* interrupted ones are left out, unless fewer than one in five were left alone */
    {"20x670~2 10x700@300",
     "20 once, 670 us +-0.58 sd 1.2 (100 to 100 %);  to 16.8 %); 20 close 10 interrupted 10 not again "},
    {"5x670~2 20x670~2@300",
     "5 once, 670 us +-2 sd 1.6 (100 to 100 %);  to 52.2 %); 5 close 20 interrupted 20 not again "},
    {"4x670~2 20x670~2@300",
     "24 once, 670 us +-0.55 sd 1.3 (100 to 100 %);  to 14.2 %); 24 close 20 interrupted, kept 20 not again "},
    {"4x670~2 16x670~2@300",
     "4 once, 670 us +-2.7 sd 1.7 (100 to 100 %);  to 60.2 %); 4 close 16 interrupted 16 not again "},
    {"4x670~2 17x670~2@300 5xnever@100",
     "21 once, 670 us +-0.6 sd 1.3 (80.8 to 100 %);  to 16.1 %); 21 close 22 interrupted, kept 5 never 17 not again "},
    {"20x670~2 5xnever@300", "20 once, 670 us +-0.58 sd 1.2 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted "},
    /* whether it began anew: interruptions in the middle of the wait, 30 % from either end */
    {"20x1000~1 5x1500@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted 5 again after 1000"},
    {"20x1000~1 5x1301@301 5x1299@299",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 10 interrupted 5 again after 1000"},
    {"20x1000~1 5x1699@699 5x1701@701",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 10 interrupted 5 again after 1000"},
    {"20x1000~1 5x2500@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted 5 again "},
    {"20x1000~1 5x1000@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted 5 not again "},
    {"20x1000~1 5x2000@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted 5 not again "},
    {"20x1000~1 5x1250@500", "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted "},
    {"20x1000~1 5x1500@200-500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted 5 again after 1000"},
    {"20x1000~1 5x1649@500 5x1651@500 5x1351@500 5x1349@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 20 interrupted 10 again after 1000"},
    {"20x1000~1 5x1149@500 5x1151@500",
     "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 10 interrupted 5 not again "},
    /* shares: what nothing interrupted until 1.2 waits */
    {"20x1000~1 5x2000~1@1199", "20 once, 1000 us +-0.29 sd 0.62 (100 to 100 %);  to 16.8 %); 20 close 5 interrupted "},
    {"20x1000~1 5x2000~1@1201", "20 once, 1000 us +-0.29 sd 0.62 (80 to 100 %);  to 16.8 %); 20 close 5 interrupted "},
    {"20x1000~1 5x2000~1 5x2000~1@1500", "20 once, 1000 us +-0.29 sd 0.62 (66.7 to 82.7 %); 5 twice, 2000 us +-0.98 sd "
                                         "0.79 (33.3 to 52.8 %); 25 close 5 interrupted "},
    {"20x1000~1 5x2000~1 5x2600@1500 2xnever@1500", "20 once, 1000 us +-0.29 sd 0.62 (62.5 to 78.9 %); 5 twice, 2000 "
                                                    "us +-0.98 sd 0.79 (37.5 to 56.3 %); 25 close 7 interrupted "},
    {"20x1000~1 2x1199 2x1201", "20 once, 1000 us +-0.29 sd 0.62 (83.3 to 100 %);  to 16.8 %); 4 other 20 close "},
    {"20x1000~1 4x2000~1 4x1500 2x15", "20 once, 1000 us +-0.29 sd 0.62 (71.4 to 95.3 %); 4 twice, 2000 us +-1.4 sd "
                                       "0.86 (14.3 to 37.4 %); 6 other 24 close 2 at once "},
};

TEST(waits_of_made_repetitions)
{
    static struct relaxation_rise r[RISES_MOST];
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct relaxation_waits w;
        char told[300];
        assert_int_equal(relaxation_waits(r, read_rises(made[i].rises, r), &w), 0);
        tell(&w, told);
        if (strcmp(told, made[i].told) != 0)
            fail_msg("%s:\n%s, not\n%s", made[i].rises, told, made[i].told);
    }
}

/* After a burst in the middle of a wait of 1000 us the rise comes at multiples of a half, give or take 220 us. */
TEST(bursts_begin_the_wait_anew_or_not)
{
    static const struct {
        double at_us;
        int anew;
    } cases[] = {{281, 0},   {279, -1},  {500, 0},  {719, 0},  {721, -1}, {779, -1},  {781, 1},  {1000, 1}, {1219, 1},
                 {1221, -1}, {1279, -1}, {1281, 0}, {1500, 0}, {1719, 0}, {1721, -1}, {1781, 1}, {2219, 1}, {2221, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (relaxation_rearmed(cases[i].at_us, 500, 1000) != cases[i].anew)
            fail_msg("%g us: %d", cases[i].at_us, relaxation_rearmed(cases[i].at_us, 500, 1000));
    assert_string_equal(relaxation_verdict(&(struct estimate){0.6, 0.5, 0.7}), "undecided");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.6, 0.51, 0.7}), "yes");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.4, 0.3, 0.5}), "undecided");
    assert_string_equal(relaxation_verdict(&(struct estimate){0.4, 0.3, 0.49}), "no");
}

/* By the limits of both, and by more than equal frequencies differ: 0.45 %. */
TEST(waits_are_of_a_slower_core)
{
    static const struct {
        struct relaxation_step step;
        bool slower;
        const char *why;
    } cases[] = {
        {{{2, 1.99, 2.001}, {2.01, 2.002, 2.02}}, true, ""},
        {{{2, 1.99, 2.001}, {2.008, 2.002, 2.02}},
         false,
         "the frequency before the rise, 2.000 [1.990, 2.001] GHz, is indistinguishable from that of the same code "
         "alone, 2.008 [2.002, 2.020] GHz, so the rise does not end a wait"},
        {{{2, 1.9, 2.2}, {2.4, 2.1, 2.7}},
         false,
         "the frequency before the rise, 2.000 [1.900, 2.200] GHz, is indistinguishable from that of the same code "
         "alone, 2.400 [2.100, 2.700] GHz, so the rise does not end a wait"},
        {{{2, 1.9, 2.2}, {2.4, NAN, NAN}},
         false,
         "the frequency before the rise could not be compared with that of the same code alone: nearly all repetitions "
         "were interrupted; stop other programs, or choose another CPU with --cpu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[400] = "";
        assert_int_equal(relaxation_is_slower(&cases[i].step, why, sizeof why), cases[i].slower);
        assert_string_equal(why, cases[i].why);
    }
}
