/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random or rare behavior of the modelled CPU: doubled waits, interrupts, thresholds, mixtures, dirty registers. */
#include "drivers/model/model_random.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

static struct model quiet(const char *name)
{
    struct model m;
    rig_load(name, &m);
    rig_silence(&m);
    return m;
}

/* When the sample ends that holds the halt, after time 0; NaN if there is none. */
static double release_time(const struct rig *r, const struct recording *rec)
{
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        struct rig_sample s = rig_sample(r, rec, i);
        if (s.cycles > 0 && s.lvl[0] > 0.01)
            return s.end;
    }
    return NAN;
}

/* The level that counts most cycles in the last 50 us. */
static unsigned final_level(const struct rig *r, const struct recording *rec)
{
    double sum[3] = {0};
    double end = rig_sample(r, rec, rec->n - 1).end;
    for (size_t i = rec->zero_reading + 1; i < rec->n; i++) {
        struct rig_sample s = rig_sample(r, rec, i);
        for (size_t k = 0; k < 3 && s.begin > end - 50; k++)
            sum[k] += s.lvl[k] * s.cycles;
    }
    return sum[2] > sum[1] && sum[2] > sum[0] ? 2 : sum[1] > sum[0];
}

static unsigned settled_level(const struct model *m, const char *kernel)
{
    struct rig r;
    rig_open(&r, m, 0, 1, 1);
    struct recording rec = rig_switch(&r, kernel, kernel, 200, 0);
    unsigned level = final_level(&r, &rec);
    rig_close(&r);
    return level;
}

/* ---- waits ---- */

TEST(waits_scatter_by_their_sigma)
{
    enum { N = 1000 };
    struct model m = quiet("xeon-gold-6130");
    struct rig r;
    m.wait_sigma_us = 6;
    rig_open(&r, &m, 16, 1, 9);
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct recording rec = rig_switch(&r, "512fma", "128fma", 750, i);
        double wait = release_time(&r, &rec) - 680;
        assert_true(fabs(wait) < 3 * 6 + 2);
        sum += wait;
        squares += wait * wait;
    }
    assert_true(fabs(sum / N) < 1); /* the samples are 1 us apart */
    assert_true(fabs(sqrt(squares / N - sum * sum / N / N) - 6) < 0.6);
    rig_close(&r);
}

/* K, Findings (G 5.2.2, footnote 3: longer): a share of the releases takes twice the wait. Within five standard errors
 * of a share of 0.3. */
TEST(a_share_of_the_waits_is_doubled)
{
    enum { N = 1000 };
    struct model m = quiet("xeon-gold-6130");
    struct rig r;
    m.classes[model_class_index(&m, "light512")].wait_double = 0.3;
    rig_open(&r, &m, 16, 2, 9);
    unsigned once = 0, twice = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct recording rec = rig_switch(&r, "512or", "128fma", 1500, i);
        double t = release_time(&r, &rec);
        once += fabs(t - 680) < 3;
        twice += fabs(t - 1350) < 3;
    }
    assert_int_equal(once + twice, N);
    assert_true(fabs((double)twice / N - 0.3) < 5 * sqrt(0.3 * 0.7 / N));
    /* by class: heavy 512 bits have no such probability here */
    for (uint64_t i = 0; i < 100; i++) {
        struct recording rec = rig_switch(&r, "512fma", "128fma", 1500, i);
        assert_true(fabs(release_time(&r, &rec) - 680) < 3);
    }
    rig_close(&r);
}

TEST(a_class_needed_again_in_time_is_kept)
{
    struct model m = quiet("xeon-gold-6130");
    struct rig r;
    rig_open(&r, &m, 16, 1, 1);
    struct payload wide = rig_payload("512fma"), narrow = rig_payload("128fma");
    struct segment segments[4] = {{wide, 1000, true}, {narrow, 400, true}, {wide, 1, true}, {narrow, 900, true}};
    struct run_request request = {.segments = segments, .n_segments = 4, .zero_segment = 3};
    struct recording rec;
    struct machine_error err;
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    assert_true(fabs(release_time(&r, &rec) - 680) < 2);
    for (size_t i = 1; i <= rec.zero_reading; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        assert_true(s.begin < -800 || s.lvl[2] > 0.99); /* never released before, no halt in between */
    }
    rig_close(&r);
}

/* G 3.2.3: what is needed is released by itself: L2 first to L1 while 256-bit FMA was needed later, then to L0. */
TEST(each_class_has_its_own_wait)
{
    struct model m = quiet("xeon-gold-6130");
    struct rig r;
    rig_open(&r, &m, 16, 1, 1);
    struct segment segments[3] = {
        {rig_payload("512fma"), 1000, false}, {rig_payload("256fma"), 300, true}, {rig_payload("128fma"), 1000, true}};
    struct run_request request = {.segments = segments, .n_segments = 3, .zero_segment = 1};
    struct recording rec;
    struct machine_error err;
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        unsigned level = s.end < 670 ? 2 : s.begin > 681 && s.end < 970 ? 1 : s.begin > 981 ? 0 : 3;
        if (level < 3 && s.lvl[level] < 0.99)
            fail_msg("at %.2f us: level shares %.2f %.2f %.2f", s.end, s.lvl[0], s.lvl[1], s.lvl[2]);
    }
    rig_close(&r);
}

/* ---- interrupts ---- */

TEST(interrupts_are_gaps_without_cycles)
{
    enum { N = 200 };
    struct model m = quiet("xeon-gold-6130");
    m.n_interrupts = 1;
    m.interrupts[0] = (struct model_interrupt){"t", 1000, 20, 40, 0, 0, 0};
    struct rig r;
    rig_open(&r, &m, 16, 1, 3);
    unsigned gaps = 0;
    double lost = 0, observed = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct recording rec = rig_switch(&r, "128fma", "128fma", 950, i);
        for (size_t k = 1; k < rec.n; k++) {
            struct rig_sample s = rig_sample(&r, &rec, k);
            double missing = s.end - s.begin - s.cycles / 2.8e3;
            assert_true(fabs(s.ipc - 2) < 0.02 && s.lvl[0] > 0.99);
            gaps += missing > 1;
            lost += missing > 1 ? missing : 0;
            observed += s.end - s.begin;
        }
        assert_int_equal(rec.involuntary_switches, 0);
    }
    /* one a millisecond while none runs, 30 us on average: mean of a Poisson number, five standard deviations */
    double expected = observed * 1e-3 / 1.03;
    assert_true(fabs(gaps - expected) < 5 * sqrt(expected));
    assert_true(fabs(lost / gaps - 30) < 3);
    rig_close(&r);
}

TEST(counting_all_modes_leaves_no_gap_in_the_cycles)
{
    struct model m = quiet("xeon-gold-6130");
    m.counts_kernel_mode = true;
    m.n_interrupts = 1;
    m.interrupts[0] = (struct model_interrupt){"t", 5000, 20, 40, 0, 0, 0};
    struct rig r;
    rig_open(&r, &m, 16, 1, 3);
    struct recording rec = rig_switch(&r, "128fma", "128fma", 950, 0);
    unsigned slow = 0;
    for (size_t k = 1; k < rec.n; k++) {
        struct rig_sample s = rig_sample(&r, &rec, k);
        assert_true(fabs(s.ghz / 2.8 - 1) < 0.01);
        slow += s.ipc < 1;
    }
    assert_true(slow > 0);
    rig_close(&r);
}

TEST(long_interrupts_take_the_thread_off)
{
    struct model m = quiet("xeon-gold-6130");
    m.n_interrupts = 1;
    m.interrupts[0] = (struct model_interrupt){"t", 2000, 50, 50, 0, 0.5, 0};
    struct rig r;
    rig_open(&r, &m, 16, 1, 3);
    unsigned off = 0;
    enum { N = 300 };
    for (uint64_t i = 0; i < N; i++)
        off += rig_switch(&r, "128fma", "128fma", 200, i).involuntary_switches;
    /* 1.2 ms at 2 kHz while none runs (1/550 us), half of them */
    double expected = N * 1200 / 550.0 / 2;
    assert_true(fabs(off - expected) < 5 * sqrt(expected));
    rig_close(&r);
}

/* D: interrupts in the low phase restart the wait. */
TEST(an_interrupt_restarts_the_wait_only_with_rearm)
{
    struct model m = quiet("xeon-gold-6130");
    m.n_interrupts = 1;
    for (int rearm = 0; rearm <= 1; rearm++) {
        m.interrupts[0] = (struct model_interrupt){"t", 700, 3, 3, rearm, 0, 0};
        struct rig r;
        rig_open(&r, &m, 16, 1, 4);
        unsigned late = 0, with_gap = 0;
        for (uint64_t i = 0; i < 200; i++) {
            struct recording rec = rig_switch(&r, "512fma", "128fma", 3000, i);
            double last_gap = 0, released = release_time(&r, &rec);
            for (size_t k = rec.zero_reading + 1; k < rec.n; k++) {
                struct rig_sample s = rig_sample(&r, &rec, k);
                double ghz = s.lvl[2] > 0.5 ? 1.9 : 2.8, missing = s.end - s.begin - s.cycles / (ghz * 1e3);
                if (s.lvl[2] > 0.99 && missing > 1 && missing < 9 && s.end < released - 14)
                    last_gap = s.end - missing;
            }
            if (isnan(released))
                continue;
            with_gap += last_gap > 0;
            late += last_gap > 0 && fabs(released - (last_gap + 680)) < 5;
            if (!rearm) /* an interrupt may hide the moment itself */
                assert_true(released < 700);
        }
        assert_true(with_gap > 40);
        assert_true(rearm ? late > with_gap * 0.9 : late < with_gap * 0.1);
        rig_close(&r);
    }
}

/* ---- thresholds ---- */

/* G 3.2.1: heavy 512 bits need L2 from one per two cycles on, below that L1; light 512 bits L1 however rare. */
TEST(density_decides_the_level)
{
    struct model m = quiet("xeon-gold-6130");
    static const struct {
        const char *kernel;
        unsigned level;
    } cases[] = {{"512fma", 2},     {"512fma@1/2", 2},  {"512fma@1/8", 2}, {"512fma@1/9", 1}, {"512fma@1/256", 1},
                 {"512fma-lat", 1}, {"512or@1/256", 1}, {"256fma", 1},     {"256fma@1/8", 1}, {"256fma@1/16", 0},
                 {"256fma-lat", 0}, {"256or", 0},       {"128fma", 0},     {"64add", 0},      {"512mul", 2},
                 {"512perm", 1},    {"256mul", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned level = settled_level(&m, cases[i].kernel);
        if (level != cases[i].level)
            fail_msg("%s: level %u, expected %u", cases[i].kernel, level, cases[i].level);
    }
}

/* K by way of G 3.2.2: about 13000 256-bit FMAs until the level is requested; fewer leave it alone. */
TEST(a_count_of_instructions_comes_before_the_level)
{
    struct model m = quiet("xeon-gold-6130");
    struct payload narrow = rig_payload("128fma"), wide = rig_payload("256fma");
    struct rig r;
    rig_open(&r, &m, 16, 0.2, 1);
    /* throttled to a quarter, 2.8 GHz * 2 * 1/4 = 1400 FMAs a microsecond */
    static const struct {
        double us;
        unsigned level;
    } cases[] = {{5, 0}, {9, 0}, {9.6, 1}, {15, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct segment segments[3] = {{narrow, 1000, false}, {wide, cases[i].us, false}, {narrow, 200, true}};
        struct run_request request = {.segments = segments, .n_segments = 3, .zero_segment = 2};
        struct recording rec;
        struct machine_error err;
        assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
        if (final_level(&r, &rec) != cases[i].level)
            fail_msg("%g us of 256fma: level %u", cases[i].us, final_level(&r, &rec));
    }
    rig_close(&r);
}

/* D: throttling does not reach instructions further than 75 from a wide one. */
TEST(sparse_wide_code_is_throttled_less)
{
    struct model m = quiet("xeon-w-2104");
    struct payload p = rig_payload("512or@1/256"), q = rig_payload("64add");
    struct model_throttle sparse = model_throttle(&m, &p, true, 0.25), none = model_throttle(&m, &q, false, 0.25);
    /* 75 of 256 instructions at a quarter of the rate */
    assert_true(fabs(sparse.factor - 1 / (75.0 / 256 * 4 + 181.0 / 256)) < 1e-9);
    assert_true(none.factor == 1 && none.share == 0);
    m.throttle_distance = 0;
    assert_true(model_throttle(&m, &q, false, 0.25).factor == 0.25);
    struct rig r;
    m.throttle_distance = 75;
    rig_open(&r, &m, 0, 0.5, 1);
    struct recording rec = rig_switch(&r, "64add", "512or@1/256", 30, 0);
    struct model_need need;
    struct machine_error err;
    assert_int_equal(model_need(&m, &p, &need, &err), MACHINE_OK);
    for (size_t i = rec.zero_reading + 2; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        if (s.end < 9)
            assert_true(fabs(s.ipc / need.ipc - sparse.factor) < 0.01);
    }
    rig_close(&r);
}

/* ---- mixtures and dirty registers ---- */

static unsigned mixed_level(const struct model *m, const char *one, const char *other, double us, unsigned n)
{
    struct segment segments[200];
    struct rig r;
    struct recording rec;
    struct machine_error err;
    assert_true(n < 199);
    for (unsigned i = 0; i < n; i++)
        segments[i] = (struct segment){rig_payload(i % 2 ? one : other), us, false};
    segments[n] = (struct segment){rig_payload("64add"), 100, true};
    struct run_request request = {.segments = segments, .n_segments = n + 1, .zero_segment = n};
    rig_open(&r, m, 16, 1, 1);
    assert_int_equal(r.machine.ops->run(&r.machine, &request, &rec, &err), MACHINE_OK);
    unsigned level = final_level(&r, &rec);
    rig_close(&r);
    return level;
}

/* G 3.2.1, 6.5.1 */
TEST(mixtures_need_more_than_their_parts)
{
    struct model m = quiet("xeon-gold-6130");
    assert_int_equal(mixed_level(&m, "256fma@1/16", "512or", 3, 100), 2);
    assert_int_equal(mixed_level(&m, "128fma", "256or", 3, 100), 1);
    assert_int_equal(mixed_level(&m, "256fma@1/16", "512or", 30, 20), 1); /* too slow an alternation */
    assert_int_equal(mixed_level(&m, "128fma", "256or", 30, 20), 0);
    assert_int_equal(mixed_level(&m, "128fma", "256or", 300, 2), 0);
    assert_int_equal(mixed_level(&m, "128or", "256or", 3, 100), 0); /* not a mixture of the file */
    m.n_mixtures = 0;
    assert_int_equal(mixed_level(&m, "256fma@1/16", "512or", 3, 100), 1);
    assert_int_equal(mixed_level(&m, "128fma", "256or", 3, 100), 0);
}

/* As many as the file says: n segments alternate n - 1 times. */
TEST(mixtures_count_their_switches)
{
    struct model m = quiet("xeon-gold-6130");
    for (size_t i = 0; i < m.n_mixtures; i++)
        m.mixtures[i].switches = 5;
    assert_int_equal(mixed_level(&m, "128fma", "256or", 3, 5), 0);
    assert_int_equal(mixed_level(&m, "128fma", "256or", 3, 6), 1);
    /* a switch that has one of the two kinds alone is none of them */
    for (size_t i = 0; i < m.n_mixtures; i++)
        m.mixtures[i].switches = 1;
    assert_int_equal(mixed_level(&m, "128fma", "256or", 3, 2), 1);
    assert_int_equal(mixed_level(&m, "128or", "256or", 3, 3), 0);
    assert_int_equal(mixed_level(&m, "256or", "128or", 3, 3), 0);
    assert_int_equal(mixed_level(&m, "128fma", "128or", 3, 3), 0);
    assert_int_equal(mixed_level(&m, "128or", "128fma", 3, 3), 0);
}

/* G 3.2.1: upper halves in use keep narrow code at a lower level, until VZEROUPPER. */
TEST(dirty_upper_halves_keep_the_level)
{
    struct model m = quiet("xeon-gold-6130");
    struct rig r;
    rig_open(&r, &m, 16, 2, 1);
    struct recording rec = rig_switch(&r, "512or-dirty", "64add", 2000, 0);
    assert_int_equal(final_level(&r, &rec), 1);
    rec = rig_switch(&r, "512or", "64add", 2000, 0);
    assert_int_equal(final_level(&r, &rec), 0);
    rec = rig_switch(&r, "512fma-dirty", "128fma", 2000, 0);
    assert_int_equal(final_level(&r, &rec), 1);
    /* clean 256-bit code executes VZEROUPPER */
    rec = rig_switch(&r, "512or-dirty", "256or", 2000, 0);
    assert_int_equal(final_level(&r, &rec), 0);
    rig_close(&r);
}

/* Tiles in use keep any code at their level until TILERELEASE, which only amx executes. A class may have a wait of its
 * own, as short as none. */
TEST(dirty_tiles_keep_the_level)
{
    static const struct {
        const char *from, *to;
        double wait_us, early_ghz, late_ghz; /* after 20 us and after 2 ms */
    } cases[] = {{"amx", "64add", 0, 3.3, 3.8},         {"amx", "64add", 0.1, 3.8, 3.8},
                 {"amx-dirty", "64add", 0.1, 3.3, 3.3}, {"amx-dirty", "512fma", 0.1, 3.3, 3.3},
                 {"amx-dirty", "64add", 0, 3.3, 3.3},   {"512fma@l3", "64add", 0.1, 3.8, 3.8}};
    struct model m = quiet("xeon-platinum-8480+");
    m.counts_licenses = m.counts_throttle = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        m.classes[model_class_index(&m, "amx")].wait_us = cases[i].wait_us;
        rig_open(&r, &m, 1, 1, 1);
        struct recording rec = rig_switch(&r, cases[i].from, cases[i].to, 20, 0);
        double early = rig_sample(&r, &rec, rec.n - 1).ghz;
        rec = rig_switch(&r, cases[i].from, cases[i].to, 2000, 0);
        double late = rig_sample(&r, &rec, rec.n - 1).ghz;
        if (!(fabs(early - cases[i].early_ghz) < 0.01 && fabs(late - cases[i].late_ghz) < 0.01))
            fail_msg("%s to %s: %.3f, %.3f GHz", cases[i].from, cases[i].to, early, late);
        struct payload from = rig_payload(cases[i].from), to = rig_payload(cases[i].to);
        struct model_truth truth;
        struct machine_error err;
        assert_int_equal(model_truth(&m, &from, &to, 1, &truth, &err), MACHINE_OK);
        assert_int_equal(rig_compare(&r, &rec, &truth), 0);
        rig_close(&r);
    }
}

/* ---- the random numbers themselves ---- */

TEST(random_numbers_have_their_moments)
{
    enum { N = 200000 };
    struct model_random r;
    double uniform = 0, normal = 0, squares = 0, exponential = 0, exponential2 = 0;
    model_random_init(&r, 1, 2, 3);
    for (int i = 0; i < N; i++) {
        double u = model_random_uniform(&r), n = model_random_normal(&r), e = model_random_exponential(&r);
        assert_true(u >= 0 && u < 1 && n >= -3 && n <= 3 && e >= 0);
        uniform += u;
        normal += n;
        squares += n * n;
        exponential += e;
        exponential2 += e * e;
    }
    assert_true(fabs(uniform / N - 0.5) < 0.004);
    assert_true(fabs(normal / N) < 0.012);
    assert_true(fabs(sqrt(squares / N) - 1) < 0.02);
    assert_true(fabs(exponential / N - 1) < 0.012);
    assert_true(fabs(exponential2 / N - 2) < 0.07);
}

TEST(streams_are_independent_of_each_other)
{
    struct model_random a, b, c, d;
    model_random_init(&a, 1, 0, 0);
    model_random_init(&b, 0, 1, 0);
    model_random_init(&c, 0, 0, 1);
    model_random_init(&d, 1, 0, 0);
    for (int i = 0; i < 100; i++) {
        double x = model_random_uniform(&a), y = model_random_uniform(&b), z = model_random_uniform(&c);
        assert_true(x != y && y != z && x != z);
        assert_true(model_random_uniform(&d) == x);
    }
}

/* D: 3.200 GHz with spread-spectrum clocking measures as 3.192 on average, with samples between 3.184 and 3.200. */
TEST(spread_spectrum_lowers_the_mean)
{
    struct model m = quiet("xeon-w-2104");
    struct rig r;
    m.spread = 0.005;
    rig_open(&r, &m, 1, 1, 1);
    struct recording rec = rig_switch(&r, "64add", "64add", 3170, 0);
    double lowest = 9, highest = 0;
    for (size_t i = 1; i < rec.n; i++) {
        struct rig_sample s = rig_sample(&r, &rec, i);
        lowest = fmin(lowest, s.ghz);
        highest = fmax(highest, s.ghz);
    }
    const uint64_t *first = rec.words, *last = rec.words + (rec.n - 1) * rec.stride;
    double mean = (double)(last[RIG_CYCLES] - first[RIG_CYCLES]) / (double)(last[RIG_TSC] - first[RIG_TSC]) * 3.2;
    assert_true(fabs(mean - 3.192) < 0.0005);
    assert_true(lowest > 3.179 && lowest < 3.188 && highest > 3.196 && highest < 3.205);
    rig_close(&r);
}
