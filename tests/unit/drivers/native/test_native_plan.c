/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests for a repetition as a native machine plans or refuses them: on a fake state, without a clock; and on which
 * CPUs it looks when it is opened. */
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/native/native.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

static struct native made; /* large */

static int make_native(void **state)
{
    (void)state;
    made = (struct native){.name = "made", .prepared = true, .features = kernel_cpu_features(), .cpu = 5};
    made.tsc.hz = 2e9;
    made.setup.period_us = 5;
    made.setup.max_samples = 1000;
    return 0;
}

static struct segment segments[SAMPLING_STRETCHES_MAX + 1];

static struct run_request request_of(const char *sampled, size_t zero)
{
    struct run_request r = {.segments = segments, .n_segments = strlen(sampled), .zero_segment = zero};
    for (size_t i = 0; i < r.n_segments; i++)
        segments[i] = (struct segment){
            .payload = kernel_named(i % 2 ? "64or" : "64add"), .duration_us = 10, .sampled = sampled[i] == 's'};
    return r;
}

static void is_refused(const struct run_request *r, int status, const char *text)
{
    struct machine_error err = {.status = MACHINE_OK};
    assert_int_equal(native_check_request(&made, r, &err), status);
    assert_string_equal(status == MACHINE_OK ? "" : err.text, text);
}

TEST_WITH(test_requests, make_native, NULL)
{
    struct run_request r = request_of("-s-", 2);
    is_refused(&r, MACHINE_OK, "");
    r = request_of("ss", 0);
    is_refused(&r, MACHINE_OK, "");
    r = request_of("s-s", 0);
    is_refused(&r, MACHINE_BAD_INPUT, "sampled segments must be consecutive: they form one recording");
    r = request_of("", 0);
    is_refused(&r, MACHINE_BAD_INPUT, "0 segments with time 0 at number 0: 1 to 16 are possible");
    r = request_of("--", 2);
    is_refused(&r, MACHINE_BAD_INPUT, "2 segments with time 0 at number 2: 1 to 16 are possible");
    r = request_of("----------------", 15);
    is_refused(&r, MACHINE_OK, "");
    r = request_of("-----------------", 15);
    is_refused(&r, MACHINE_BAD_INPUT, "17 segments with time 0 at number 15: 1 to 16 are possible");
    static const double good[] = {0, 1e9}, bad[] = {-1e-3, 1000000100, NAN};
    for (size_t i = 0; i < 2; i++) {
        r = request_of("-s", 1);
        segments[1].duration_us = good[i];
        is_refused(&r, MACHINE_OK, "");
    }
    for (size_t i = 0; i < 3; i++) {
        char text[80];
        r = request_of("-s", 1);
        segments[1].duration_us = bad[i];
        snprintf(text, sizeof text, "segment 1 lasts %g us: it must be 0 to 1e9", bad[i]);
        is_refused(&r, MACHINE_BAD_INPUT, text);
    }
    made.prepared = false;
    is_refused(&r, MACHINE_FAILED, "the made machine was not prepared");
}

static void cut_short(struct native *s, const struct sampling *plan, struct sampling_log *log)
{
    (void)s;
    (void)plan;
    log->cut = true;
}

TEST_WITH(test_a_plan, make_native, NULL)
{
    struct sampling p;
    struct machine_error err;
    struct run_request r = request_of("-ss-", 2);
    r.fine_us = 7;
    segments[0].duration_us = 300;
    segments[3].payload.dirty = true;
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_int_equal(made.n_lanes, 3); /* two kernels, one of them dirty as well */
    assert_int_equal(p.n, 4);
    assert_int_equal(p.zero, 2);
    assert_int_equal(p.usual, 2500); /* a quarter of a period */
    assert_int_equal(p.fine, 14000);
    assert_int_equal(p.most, 500000);
    assert_true(p.limit == SAMPLING_NEVER);
    assert_int_equal(p.room, 6001);
    static const uint64_t ticks[] = {600000, 20000, 20000, 20000}, lanes[] = {0, 1, 0, 2};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(p.stretch[i].ticks, ticks[i]);
        assert_int_equal(p.stretch[i].sampled, i == 1 || i == 2);
        assert_ptr_equal(p.stretch[i].lane, &made.lanes[lanes[i]]);
        assert_ptr_equal(p.stretch[i].lane->run, segments[i].payload.run);
    }
    /* a payload is not measured again, unless a recording was cut: it may have become faster */
    made.lanes[0].blocks = 12345;
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_int_equal(p.stretch[0].lane->blocks, 12345);
    struct recording rec;
    struct sampling_log log;
    assert_int_equal(native_run(&made, &r, cut_short, &log, NULL, &rec, &err), MACHINE_OK);
    assert_true(rec.cut);
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_true(p.stretch[0].lane->blocks != 12345 && made.n_lanes == 3);
}

/* The same code with operands from another level is another payload, with a buffer and a pace of its own. */
TEST_WITH(test_levels, make_native, NULL)
{
    static const char *const names[] = {"128load@l2", "128load@l3", "128load", "128load@l2"};
    static const size_t lanes[] = {0, 1, 2, 0};
    struct sampling p;
    struct machine_error err;
    struct run_request r = request_of("ssss", 1);
    for (size_t i = 0; i < 4; i++)
        segments[i].payload = kernel_named(names[i]);
    if ((segments[0].payload.kernel->features & ~made.features) != 0)
        skip();
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_CANNOT); /* no size is known */
    made.caches = (struct cpu_caches){.l1 = 32 << 10, .l2 = 256 << 10, .l3 = 2 << 20};
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_ptr_equal(p.stretch[i].lane, &made.lanes[lanes[i]]);
        assert_ptr_equal(p.stretch[i].lane->walk, walks_of(&made.walks, &segments[i].payload));
    }
    assert_ptr_equal(made.lanes[0].run, made.lanes[1].run);
    assert_true(made.lanes[0].walk != made.lanes[1].walk && made.lanes[2].walk == NULL);
    assert_true(made.lanes[0].blocks > 0 && made.lanes[1].blocks > 0); /* measured: whole laps come back to the begin */
    walks_free(&made.walks);
}

/* A copy of a kernel is a payload of its own, whose code lies elsewhere. */
TEST_WITH(test_a_copy, make_native, NULL)
{
    struct sampling p;
    struct machine_error err;
    struct run_request r = request_of("ss", 1);
    segments[1].payload = kernel_copy(&segments[0].payload);
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_int_equal(made.n_lanes, 2);
    assert_true(p.stretch[0].lane->code != p.stretch[1].lane->code);
    assert_true(p.stretch[0].lane->lines * SAMPLING_LINE >= segments[0].payload.bytes);
}

TEST_WITH(test_room_for_periods, make_native, NULL)
{
    struct sampling p;
    struct machine_error err;
    struct run_request r = request_of("-s", 1);
    made.setup.max_samples = 2;
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    made.setup.max_samples = 1;
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "a repetition needs room for 2 samples, but only 1 were prepared");
    r.fine_us = 5; /* the rest grows */
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
}

/* There is room for all lanes of some repetitions; then they are measured again. */
TEST_WITH(test_lanes_are_forgotten, make_native, NULL)
{
    struct sampling p;
    struct machine_error err;
    struct run_request r = request_of("ss", 0);
    made.n_lanes = NATIVE_LANES_MAX - 2;
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_int_equal(made.n_lanes, NATIVE_LANES_MAX);
    assert_int_equal(native_plan(&made, &r, &p, &err), MACHINE_OK);
    assert_int_equal(made.n_lanes, 2);
}

TEST_WITH(test_kernels_that_cannot_run, make_native, NULL)
{
    struct machine_error err;
    struct payload p = kernel_named("512fma");
    made.features = 0;
    assert_int_equal(native_check_features(&made, &p, &err), MACHINE_CANNOT);
    assert_string_equal(err.text,
                        "kernel 512fma needs avx512f, which this CPU, operating system or hypervisor does not "
                        "support");
    assert_non_null(strstr(err.remedy, "kernels that work here: 64or 64add 64mul"));
    assert_non_null(strstr(err.remedy, " pause chain"));
    assert_null(strstr(err.remedy, "256"));
    assert_null(strstr(err.remedy, "-lat"));
    p = kernel_named("64add");
    assert_int_equal(native_check_features(&made, &p, &err), MACHINE_OK);
    /* of a hybrid part the other kind of core may have it */
    made.features = KERNEL_NEEDS_AVX | KERNEL_NEEDS_AVX2 | KERNEL_NEEDS_FMA | KERNEL_NEEDS_AVX512F;
    made.lacking = KERNEL_NEEDS_AVX512F;
    p = kernel_named("512fma");
    assert_int_equal(native_check_features(&made, &p, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "kernel 512fma needs avx512f, which other cores support, but not CPU 5");
    assert_null(strstr(err.remedy, "512"));
    p = kernel_named("256fma");
    assert_int_equal(native_check_features(&made, &p, &err), MACHINE_OK);
    made.lacking = 0;
}

TEST_WITH(test_what_it_tells, make_native, NULL)
{
    struct machine_info i;
    made.active_cores = 4;
    made.active_in_package = 3;
    made.active_in_die = 2;
    made.cores = 9;
    made.usable_cores = 8;
    made.tsc_step = 26;
    made.core_class = "P";
    made.caches.l1 = 7;
    made.id.intel = true;
    made.id.family = 6;
    made.id.model = 85;
    native_info(&made, &i);
    assert_string_equal(i.name, "made");
    assert_true(i.cpu_number == 5 && i.energy_cores == 3 && i.tsc_step == 26 && i.caches.l1 == 7);
    assert_true(i.cores == 9 && i.usable_cores == 8 && i.active_cores == 4 && i.intel && i.family == 6 &&
                i.model == 85);
    assert_string_equal(i.core_class, "P");
    assert_false(i.modelled);
    made.energy.of_die = true;
    made.contradicts = true;
    native_info(&made, &i);
    assert_true(i.energy_cores == 2 && i.family == 0 && i.model == 0);
    made.prepared = false;
    native_info(&made, &i);
    assert_true(i.cpu_number == -1 && i.energy_cores == 0 && i.tsc_step == 0 && i.caches.l1 == 0);
    assert_string_equal(i.core_class, "");
}

/* ---- which CPUs are looked at ---- */

static unsigned affinities_set; /* stands before that of the C library */

int sched_setaffinity(pid_t task, size_t size, const cpu_set_t *set)
{
    affinities_set++;
    return (int)syscall(SYS_sched_setaffinity, task, size, set);
}

/* One CPU of each kind: where all cores are alike none but the one it is on, however many there are. */
TEST_WITH(test_cores_that_are_alike_are_left_alone, make_native, NULL)
{
    char root[FOLDER_PATH_MAX], list[2][40] = {""};
    struct cpu_leaves leaves;
    struct cpu_mask allowed;
    struct machine_error err;
    assert_int_equal(cpu_get_affinity(&allowed), 0);
    int first = 0;
    while (!cpu_mask_has(&allowed, first))
        first++;
    snprintf(list[0], sizeof list[0], "%d", first);
    snprintf(list[1], sizeof list[1], "%d-%d", first + 1, CPU_LIMIT - 1);
    if (cpu_mask_count(&allowed) < 2) {
        print_message("skipped: a single CPU\n");
        skip();
    }
    cpu_read_leaves(&leaves);
    leaves.power.edx |= 1u << 8; /* an invariant TSC */
    folder_make(root);
    for (int kinds = 1; kinds <= 2; kinds++) {
        affinities_set = 0;
        if (native_open(&made, "made", root, &leaves, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(affinities_set, kinds == 1 ? 0 : 2 * kinds); /* there and back */
        assert_int_equal(made.features & kernel_cpu_features(), kernel_cpu_features());
        folder_put_line(root, "devices/cpu_atom/cpus", list[0]);
        folder_put_line(root, "devices/cpu_core/cpus", list[1]);
    }
    folder_remove(root);
}
