/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which license counters are offered on each part that has events for them: by its own table, and by what its kernels
 * request, on a made PMU and through a made module.
 */
#include "drivers/helper/helper.h"
#include "tests/support/fake_helper.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

struct part {
    const char *name;
    unsigned model, stepping;
    bool throttle;  /* there is such an event */
    bool published; /* at which levels its kernels run: it must be these */
};
static const struct part parts[] = {
    {"Skylake-SP", 0x55, 4, true, true},        {"Cascade Lake", 0x55, 7, true, false},
    {"Cooper Lake", 0x55, 11, true, false},     {"Ice Lake client", 0x7e, 5, false, false},
    {"Ice Lake server", 0x6a, 6, false, false}, {"Ice Lake D", 0x6c, 1, false, false},
    {"Tiger Lake", 0x8c, 1, false, false},      {"Rocket Lake", 0xa7, 1, false, false},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Levels of scalar code, 256-bit FMA and 512-bit FMA, of which the first is always 0 on a part that works. */
static const unsigned mappings[][3] = {{0, 1, 2}, {0, 0, 1}, {0, 0, 0}, {0, 0, 2}, {0, 1, 1}, {0, 2, 2},
                                       {0, 1, 0}, {0, 2, 1}, {1, 1, 2}, {2, 1, 0}, {1, 0, 0}};
enum { MAPPINGS = sizeof mappings / sizeof *mappings };

/* Each case takes a tenth of a second, to measure the TSC: all mappings of two parts, of the others those that are
 * known of some part. */
enum { KNOWN_MAPPINGS = 3 };
static bool is_tried(const struct part *p, size_t mapping)
{
    return mapping < KNOWN_MAPPINGS || p->model == 0x7e || (p->model == 0x55 && p->published);
}

static bool possible(const struct part *p, const unsigned *m)
{
    bool orderly = m[0] == 0 && m[1] <= m[2];
    return p->published ? m[0] == 0 && m[1] == 1 && m[2] == 2 : orderly;
}

static void check(const struct machine *m, const struct part *p, const unsigned *at, bool avx512)
{
    bool good = possible(p, at) || (!avx512 && p->published && at[0] == 0 && at[1] == 1) ||
                (!avx512 && !p->published && at[0] == 0);
    for (unsigned level = 0; level < 3; level++) {
        const char *remedy = NULL, *why = m->ops->lacks(m, (enum counter_id)(COUNTER_LVL0 + level), &remedy);
        bool requested = level == at[0] || level == at[1] || (avx512 && level == at[2]);
        const char *says = !good       ? "levels 0, 1, 2 took"
                           : requested ? NULL
                           : avx512    ? "neither 256fma nor 512fma requests it"
                                       : "the CPU has no AVX-512";
        if (says == NULL ? why != NULL : why == NULL || strstr(why, says) == NULL || remedy == NULL) {
            fail_msg("%s, kernels at %u %u %u, level %u: \"%s\" instead of \"%s\"", p->name, at[0], at[1], at[2], level,
                     why != NULL ? why : "offered", says != NULL ? says : "offered");
        }
    }
    const char *why = m->ops->lacks(m, COUNTER_THROTTLE, NULL);
    if (good && at[1] > 0) {
        assert_true((why == NULL) == p->throttle);
        assert_true(p->throttle || strstr(why, "this processor has no event for throttled cycles") != NULL);
    }
}

/* A machine of such a part whose kernels run at these levels. */
typedef void open_part(const struct part *p, const unsigned *at, bool avx512, struct machine *out);

static void open_perf(const struct part *p, const unsigned *at, bool avx512, struct machine *out)
{
    struct perf_system system;
    static struct cpu_leaves leaves;
    struct machine_error err;
    fake_pmu_reset();
    fake_pmu_system(&system, &leaves);
    fake_pmu_identity(&leaves, "GenuineIntel", 6, p->model, p->stepping);
    system.license_features &= ~(avx512 ? 0u : (unsigned)KERNEL_NEEDS_AVX512F);
    memcpy(fake_pmu.level_of, at, sizeof fake_pmu.level_of);
    assert_int_equal(perf_open_at(&system, out, &err), MACHINE_OK);
}

static void open_helper(const struct part *p, const unsigned *at, bool avx512, struct machine *out)
{
    static struct cpu_leaves leaves;
    struct machine_error err;
    fake_helper_reset();
    fake_helper_skylake_sp(&leaves);
    fake_pmu_identity(&leaves, "GenuineIntel", 6, p->model, p->stepping);
    memcpy(fake_helper.level_of, at, sizeof fake_helper.level_of);
    fake_helper.hello.features &= ~(avx512 ? 0u : (unsigned)KERNEL_NEEDS_AVX512F);
    const struct helper_place place = {
        .device = "/dev/made-up", .sys = "/sys", .io = &fake_helper_io, .data_dir = "data", .leaves = &leaves};
    assert_int_equal(helper_open_at(&place, out, &err), MACHINE_OK);
}

/* The made-up counters go on while the CPU is somebody else's: then those of a reading are of different moments, and
 * the levels do not sum up to the cycles, which they do in each of these parts. */
enum { REPEATED_MOST = 3 };
static bool taken_away(const struct machine *m)
{
    const char *remedy, *why = m->ops->lacks(m, COUNTER_LVL0, &remedy);
    return why != NULL && strstr(why, "the three levels sum to") != NULL;
}

static void check_all(open_part *open_it, bool known_alone)
{
    for (size_t i = 0; i < PARTS * MAPPINGS; i++) {
        const struct part *p = &parts[i / MAPPINGS];
        const size_t mapping = i % MAPPINGS;
        const bool avx512 = i % 5 != 0;
        struct machine m;
        if (known_alone ? mapping >= KNOWN_MAPPINGS : !is_tried(p, mapping))
            continue;
        open_it(p, mappings[mapping], avx512, &m);
        for (int repeated = 0; repeated < REPEATED_MOST && taken_away(&m); repeated++) {
            print_message("the CPU was taken away between two readings: repeated\n");
            m.ops->close(&m);
            open_it(p, mappings[mapping], avx512, &m);
        }
        check(&m, p, mappings[mapping], avx512);
        m.ops->close(&m);
    }
}

TEST(test_perf)
{
    check_all(open_perf, false);
}

TEST(test_helper)
{
    check_all(open_helper, true);
    fake_helper_reset();
}
