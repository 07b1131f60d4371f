/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timing machine: what it promises and refuses, and what it leaves after; how fast it is, is in test_timing.c. */
#include <sched.h>

#include "computer/cpu/cpu.h"
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_chains.h"
#include "computer/cpu/tsc.h"
#include "tests/support/test.h"
#include "tests/support/timing_rig.h"

/* ---- the machine ---- */

TEST(test_info_before_and_after_prepare)
{
    struct machine *m = *state;
    struct machine_info i;
    struct machine_setup s = timing_rig_setup(1);
    m->ops->info(m, &i);
    assert_string_equal(i.name, "timing");
    assert_false(i.modelled);
    assert_null(strstr(i.source, "modelled"));
    assert_int_equal(i.cpu_number, -1);
    assert_true(i.tsc_hz > 1e8 && i.tsc_error < 1e-3);
    assert_true(i.cores >= 1);
    assert_int_equal(i.features, kernel_cpu_features());
    timing_rig_prepare(m, &s);
    m->ops->info(m, &i);
    assert_int_equal(i.cpu_number, sched_getcpu());
    assert_int_equal(i.active_cores, 1);
    assert_null(strchr(i.notes, '\n'));
    m->ops->finish(m);
    m->ops->info(m, &i);
    assert_int_equal(i.cpu_number, -1);
}

TEST(test_it_lacks_every_counter_but_the_chain)
{
    struct machine *m = *state;
    for (int id = 0; id < COUNTER_IDS; id++) {
        const char *remedy = "";
        const char *why = m->ops->lacks(m, (enum counter_id)id, &remedy);
        bool chain = id >= COUNTER_CHAIN_TICKS && id <= COUNTER_READ_TICKS;
        assert_true(chain == (why == NULL));
        assert_true(chain == (remedy == NULL));
        m->ops->lacks(m, (enum counter_id)id, NULL);
    }
}

/* Everything that a recording promises, for one of two kernels. */
static void check_recording(const struct recording *rec, const struct payload *from, const struct payload *to,
                            double tsc_hz)
{
    assert_int_equal(rec->stride, 5);
    assert_true(rec->n > 50 && rec->n <= rec->capacity);
    assert_true(rec->zero_reading > 5 && rec->zero_reading < rec->n);
    assert_int_equal(rec->zero_tsc, rec->words[rec->zero_reading * rec->stride]);
    size_t chains = 0;
    for (size_t i = 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        uint64_t chain = now[3] - before[3];
        unsigned block = i <= rec->zero_reading ? from->instructions : to->instructions;
        assert_true(now[0] > before[0]);
        assert_true(now[1] > before[1]);
        /* each sample of a kernel is the same work */
        bool same = i > 1 && i != rec->zero_reading + 1;
        assert_true((now[1] - before[1]) % block == 0 &&
                    (!same || now[1] - before[1] == before[1] - (before - rec->stride)[1]));
        assert_int_equal(now[2], COUNTER_MISSING);
        assert_true(now[4] - before[4] < now[0] - before[0]);
        assert_true((chain > 0) == (now[4] > before[4]));
        /* the adds and at least 5 cycles for the reads, and less than 1000 */
        chains += chain > 0;
        assert_true(chain == 0 ||
                    (chain > (CHAIN_SHORT_ADDS + 5) * CHAIN_CYCLE_UNIT && chain < 1200 * CHAIN_CYCLE_UNIT));
    }
    assert_true(chains > rec->n / 10 && chains < rec->n / 2); /* one in four, at random */
    double span = (double)(rec->words[(rec->n - 1) * rec->stride] - rec->zero_tsc) / tsc_hz * 1e6;
    assert_true(span >= 99 && rec->words[1] > 0);
}

TEST(test_a_recording_keeps_its_promises)
{
    struct machine *m = *state;
    static const struct counter_spec three[3] = {
        {COUNTER_CYCLES, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_CHAIN_TICKS, 0}};
    struct payload from = timing_rig_payload("64add"), to = timing_rig_payload("64or");
    struct segment segments[3] = {{from, 300, false}, {from, 20, true}, {to, 100, true}};
    struct machine_setup s = timing_rig_setup(1);
    struct machine_error err;
    struct machine_info info;
    struct recording rec;
    s.counters = three;
    s.n_counters = 3;
    timing_rig_prepare(m, &s);
    m->ops->info(m, &info);
    for (unsigned i = 0; i < 30; i++) {
        struct run_request r = {segments, 3, 2, i, 0};
        assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_OK);
        assert_false(rec.migrated);
        /* interrupted beyond use: what remains to be checked is in the others */
        if (rec.n > 50 && rec.zero_reading > 5)
            check_recording(&rec, &from, &to, info.tsc_hz);
    }
    m->ops->finish(m);
}

TEST(test_bursts_of_so_many_blocks)
{
    struct machine *m = *state;
    static const struct counter_spec cycles = {COUNTER_CHAIN_CYCLES, 0};
    const struct payload plain = timing_rig_payload("64add"), other = timing_rig_payload("64or");
    struct machine_setup s = timing_rig_setup(1);
    struct machine_error err;
    struct recording rec;
    s.counters = &cycles;
    s.n_counters = 1;
    timing_rig_prepare(m, &s);
    for (unsigned i = 0; i < 60; i++) {
        const struct segment segments[] = {
            {plain, 100, false}, {.payload = other, .sampled = true, .blocks = 1 + i}, {plain, 20, true}};
        const struct run_request r = {.segments = segments, .n_segments = 3, .zero_segment = 2, .repetition = i};
        assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_OK);
        assert_true(rec.zero_reading > 0 && rec.zero_reading < rec.n);
        assert_int_equal(recording_at(&rec, rec.zero_reading)[RECORDING_INSTRUCTIONS] -
                             rec.words[RECORDING_INSTRUCTIONS],
                         (1 + i) * other.instructions);
    }
    m->ops->finish(m);
}

TEST(test_unsampled_runs_are_allowed)
{
    struct machine *m = *state;
    struct payload p = timing_rig_payload("64add");
    struct segment segment = {p, 100, false};
    struct machine_setup s = timing_rig_setup(1);
    struct run_request r = {&segment, 1, 0, 0, 0};
    struct machine_error err;
    struct recording rec;
    timing_rig_prepare(m, &s);
    assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_OK);
    assert_int_equal(rec.n, 0);
    assert_int_equal(rec.zero_reading, 0);
    m->ops->finish(m);
}

/* The cost of a reading is known before anything is recorded. */
TEST(test_the_cost_of_a_chain_is_known_at_once)
{
    struct machine *m = *state;
    struct machine_setup setup = timing_rig_setup(1);
    struct machine_info info;
    timing_rig_prepare(m, &setup);
    m->ops->info(m, &info);
    assert_true(info.chain_cycles > CHAIN_SHORT_ADDS + 5 && info.chain_cycles < 2 * CHAIN_SHORT_ADDS);
    assert_true(info.chain_error > 0 && info.chain_error < 0.02);
    m->ops->finish(m);
}

static void refuses_setup(struct machine *m, const struct machine_setup *s, int status, const char *text)
{
    struct machine_error err;
    struct cpu_mask before, after;
    assert_int_equal(cpu_get_affinity(&before), 0);
    assert_int_equal(m->ops->prepare(m, s, &err), status);
    assert_int_equal(err.status, status);
    if (strstr(err.text, text) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", err.text, text);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

TEST(test_setups_that_cannot_be)
{
    struct machine *m = *state;
    struct machine_setup s = timing_rig_setup(1);
    s.cpu = CPU_LIMIT - 1;
    refuses_setup(m, &s, MACHINE_BAD_INPUT, "does not exist");
    s = timing_rig_setup(1);
    s.active_cores = CPU_LIMIT;
    refuses_setup(m, &s, MACHINE_BAD_INPUT, "active cores requested");
    s = timing_rig_setup(1e-3);
    refuses_setup(m, &s, MACHINE_BAD_INPUT, "sampling period");
    s = timing_rig_setup(NAN);
    refuses_setup(m, &s, MACHINE_BAD_INPUT, "sampling period");
    s = timing_rig_setup(1);
    s.max_samples = 0;
    refuses_setup(m, &s, MACHINE_BAD_INPUT, "0 samples");
    s = timing_rig_setup(1);
    s.fixed_ghz = 2;
    refuses_setup(m, &s, MACHINE_CANNOT, "cannot fix a frequency");
}

static void refuses_run(struct machine *m, const struct run_request *r, int status, const char *text)
{
    struct machine_error err;
    struct recording rec;
    assert_int_equal(m->ops->run(m, r, &rec, &err), status);
    assert_int_equal(err.status, status);
    if (strstr(err.text, text) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", err.text, text);
}

TEST(test_requests_that_cannot_be)
{
    struct machine *m = *state;
    struct payload p = timing_rig_payload("64add");
    struct segment s[3] = {{p, 10, true}, {p, 10, false}, {p, 10, true}};
    struct run_request r = {s, 3, 0, 0, 0};
    struct machine_setup setup = timing_rig_setup(1);
    refuses_run(m, &r, MACHINE_FAILED, "not prepared");
    timing_rig_prepare(m, &setup);
    refuses_run(m, &r, MACHINE_BAD_INPUT, "must be consecutive");
    r.n_segments = 0;
    refuses_run(m, &r, MACHINE_BAD_INPUT, "0 segments");
    r.n_segments = 1;
    r.zero_segment = 1;
    refuses_run(m, &r, MACHINE_BAD_INPUT, "time 0");
    r.zero_segment = 0;
    s[0].duration_us = 1e5;
    refuses_run(m, &r, MACHINE_BAD_INPUT, "room for");
    s[0].duration_us = -1;
    refuses_run(m, &r, MACHINE_BAD_INPUT, "lasts -1 us");
    m->ops->finish(m);
}

/* A kernel that needs what no CPU has. */
TEST(test_a_kernel_that_the_cpu_lacks_is_refused_with_others)
{
    struct machine *m = *state;
    struct payload p = timing_rig_payload("64add");
    struct kernel impossible = *p.kernel;
    struct machine_setup setup = timing_rig_setup(1);
    struct machine_error err;
    unsigned missing = (KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AMX_BF16) & ~kernel_cpu_features();
    impossible.features = missing != 0 ? missing : 1u << 30;
    p.kernel = &impossible;
    struct segment s = {p, 10, true};
    struct run_request r = {&s, 1, 0, 0, 0};
    struct recording rec;
    timing_rig_prepare(m, &setup);
    assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "kernel 64add needs "));
    assert_non_null(strstr(err.remedy, "kernels that work here: "));
    assert_non_null(strstr(err.remedy, "64or"));
    m->ops->finish(m);
    setup.corunner = p;
    assert_int_equal(m->ops->prepare(m, &setup, &err), MACHINE_CANNOT);
}

TEST(test_affinity_and_policy_are_restored)
{
    struct machine *m = *state;
    struct cpu_mask before, after;
    struct payload p = timing_rig_payload("64add");
    struct segment s = {p, 50, true};
    struct run_request r = {&s, 1, 0, 0, 0};
    struct machine_setup setup = timing_rig_setup(1);
    struct machine_error err;
    struct recording rec;
    int policy = sched_getscheduler(0);
    assert_int_equal(cpu_get_affinity(&before), 0);
    timing_rig_prepare(m, &setup);
    assert_int_equal(sched_getscheduler(0), policy); /* only while a repetition runs */
    assert_int_equal(m->ops->run(m, &r, &rec, &err), MACHINE_OK);
    assert_int_equal(sched_getscheduler(0), policy);
    m->ops->finish(m);
    m->ops->finish(m);
    assert_int_equal(sched_getscheduler(0), policy);
    assert_int_equal(cpu_get_affinity(&after), 0);
    assert_memory_equal(&before, &after, sizeof before);
}

TEST_GROUP(timing_rig_open, timing_rig_close)
