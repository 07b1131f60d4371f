/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on the license events, from made counts. */
#include "drivers/perf/perf.h"
#include "tests/support/test.h"

enum { SCALAR = PERF_SCALAR, FMA256 = PERF_256FMA, FMA512 = PERF_512FMA };

/* A Skylake-SP as the dissertation describes it (section 3.2.1, table 3.2): each kernel at its level. */
static struct perf_license_counts skylake_sp(void)
{
    struct perf_license_counts c = {.ran = {true, true, true}, .has_throttle = true};
    for (int k = 0; k < 3; k++) {
        c.cycles[k] = 5600000 - 400000 * (uint64_t)k;
        c.level[k][k] = c.cycles[k] - 100;
        c.throttle[k] = k > 0 ? 110000 : 0;
    }
    return c;
}

static void judged_by(const struct perf_license_counts *c, const int *level_of,
                      const char *const expected[EVENTS_LICENSES])
{
    struct perf_license_verdict v;
    perf_license_judge(c, level_of, &v);
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        bool good = expected[i][0] == '\0' ? v.why[i][0] == '\0' : strstr(v.why[i], expected[i]) != NULL;
        if (!good)
            fail_msg("%d: \"%s\" instead of \"%s\"", i, v.why[i], expected[i]);
        assert_null(strchr(v.why[i], '\n'));
    }
}

/* By what is published of a Skylake-SP. */
static void judged(const struct perf_license_counts *c, const char *levels, const char *lvl2, const char *throttle)
{
    static const int published[] = {0, 1, 2};
    const char *expected[EVENTS_LICENSES] = {levels, levels, lvl2, throttle};
    judged_by(c, published, expected);
}

/* A part of which nothing is published, with these kernels at these levels. */
static struct perf_license_counts part_with(unsigned fma256, unsigned fma512)
{
    struct perf_license_counts c = skylake_sp();
    const unsigned at[] = {0, fma256, fma512};
    memset(c.level, 0, sizeof c.level);
    for (int k = 0; k < 3; k++)
        c.level[k][at[k]] = c.cycles[k] - 100;
    c.has_throttle = false;
    return c;
}

/* Ice Lake client: two levels, Rocket Lake: one (Downs, by their frequencies), and all that may be. */
TEST(test_parts_with_fewer_levels)
{
    static const int none[] = {-1, -1, -1};
    static const char *const asks = "neither 256fma nor 512fma requests it";
    for (unsigned fma256 = 0; fma256 < 3; fma256++) {
        for (unsigned fma512 = 0; fma512 < 3; fma512++) {
            struct perf_license_counts c = part_with(fma256, fma512);
            const char *expected[EVENTS_LICENSES] = {"", "", "", "no event for throttled cycles"};
            for (unsigned level = 1; level < 3; level++)
                expected[level] = level == fma256 || level == fma512 ? "" : asks;
            for (int i = 0; i < EVENTS_LICENSES && fma512 < fma256; i++)
                expected[i] = "the license-event test failed: with 512fma levels 0, 1, 2 took";
            judged_by(&c, none, expected);
            judged_by(&c, NULL, expected);
        }
    }
    struct perf_license_counts c = part_with(0, 1);
    const char *failed[EVENTS_LICENSES] = {"with 64add levels 0, 1, 2 took 0.0, 100.0, 0.0 %", "64add", "64add",
                                           "64add"};
    c.level[SCALAR][1] = c.level[SCALAR][0];
    c.level[SCALAR][0] = 0; /* scalar code at another level: the event is something else */
    judged_by(&c, none, failed);
    c = part_with(0, 1);
    c.level[FMA512][1] = c.level[FMA512][2] = c.cycles[FMA512] / 2; /* at no level */
    const char *split[EVENTS_LICENSES] = {"with 512fma levels 0, 1, 2 took 0.0, 50.0, 50.0 %", "512fma", "512fma",
                                          "512fma"};
    judged_by(&c, none, split);
}

TEST(test_each_level_takes_its_turn)
{
    struct perf_license_counts c = skylake_sp();
    judged(&c, "", "", "");
    /* the last 10 % of the warm-up may have been at the level before */
    c.level[FMA512][1] = c.cycles[FMA512] / 11;
    c.level[FMA512][2] = c.cycles[FMA512] - c.level[FMA512][1];
    judged(&c, "", "", "");
}

TEST(test_without_avx512_level_2_is_not_offered)
{
    struct perf_license_counts c = skylake_sp();
    c.ran[FMA512] = false;
    c.cycles[FMA512] = c.level[FMA512][2] = c.throttle[FMA512] = 0;
    judged(&c, "", "no AVX-512", "");
}

TEST(test_without_256_bit_fma_nothing_can_be_tested)
{
    struct perf_license_counts c = skylake_sp();
    c.ran[FMA256] = c.ran[FMA512] = false;
    judged(&c, "no 256-bit FMA", "no 256-bit FMA", "no 256-bit FMA");
}

/* An Ice Lake client by its frequencies (Downs, Ice Lake AVX-512 Downclocking): 256 bits at level 0. */
TEST(test_a_level_that_never_comes)
{
    struct perf_license_counts c = skylake_sp();
    c.level[FMA256][0] = c.cycles[FMA256];
    c.level[FMA256][1] = 0;
    const char *why = "with 256fma levels 0, 1, 2 took 100.0, 0.0, 0.0 % of the cycles";
    judged(&c, why, why, why);
}

TEST(test_a_level_that_shares_its_turn)
{
    struct perf_license_counts c = skylake_sp();
    c.level[FMA512][1] = c.cycles[FMA512] / 8;
    c.level[FMA512][2] = c.cycles[FMA512] - c.level[FMA512][1];
    judged(&c, "with 512fma levels 0, 1, 2 took 0.0, 12.5, 87.5 %", "with 512fma", "with 512fma");
}

/* An event that counts something else. */
TEST(test_levels_that_do_not_sum_to_the_cycles)
{
    struct perf_license_counts c = skylake_sp();
    c.level[SCALAR][1] = c.cycles[SCALAR] / 2;
    judged(&c, "with 64add the three levels sum to 150.0 % of the cycles", "sum to", "sum to");
    c = skylake_sp();
    memset(c.level, 0, sizeof c.level); /* the event exists and counts nothing */
    judged(&c, "sum to 0.0 % of the cycles", "sum to", "sum to");
    c = skylake_sp();
    c.level[FMA256][1] = UINT64_MAX / 2; /* nonsense */
    judged(&c, "with 256fma the three levels sum to", "sum to", "sum to");
}

TEST(test_what_was_not_counted)
{
    struct perf_license_counts c = skylake_sp();
    c.level[FMA512][0] = COUNTER_MISSING;
    judged(&c, "not everything was counted with 512fma", "512fma", "512fma");
    c = skylake_sp();
    c.cycles[SCALAR] = COUNTER_MISSING;
    judged(&c, "not everything was counted with 64add", "64add", "64add");
    c = skylake_sp();
    c.cycles[FMA256] = c.level[FMA256][1] = 3;
    judged(&c, "256fma took at most 3 cycles", "256fma", "256fma");
    memset(&c.cycles, 0, sizeof c.cycles);
    judged(&c, "64add took at most 0 cycles", "64add", "64add");
}

TEST(test_throttling)
{
    struct perf_license_counts c = skylake_sp();
    c.throttle[FMA256] = 0; /* seen with one of them: enough */
    judged(&c, "", "", "");
    c.throttle[FMA512] = 0;
    judged(&c, "", "", "it counted nothing");
    c.throttle[FMA512] = COUNTER_MISSING;
    judged(&c, "", "", "more throttled cycles");
    c = skylake_sp();
    c.throttle[FMA256] = c.cycles[FMA256] + 1;
    judged(&c, "", "", "more throttled cycles");
    c = skylake_sp();
    c.has_throttle = false;
    judged(&c, "", "", "no event for throttled cycles");
}
