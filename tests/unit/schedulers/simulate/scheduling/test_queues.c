/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ready tasks, timers and programs, against the plainest way to do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "schedulers/simulate/scheduling/dispatch.h"
#include "schedulers/simulate/timers.h"
#include "tests/support/memory_workload.h"
#include "tests/support/random_numbers.h"

enum { MANY = 37 };

static void ready_tasks_are_in_order(void **state)
{
    struct rng random;
    struct ready r;
    int64_t vruntime[MANY];
    bool there[MANY] = {false};
    size_t n = 0;
    (void)state;
    rng_init(&random, 3, 0);
    assert_true(ready_init(&r, MANY));
    for (int round = 0; round < 3000; round++) {
        uint32_t task = (uint32_t)rng_int(&random, 0, MANY - 1);
        if (there[task]) {
            ready_remove(&r, task, vruntime[task]);
        } else {
            vruntime[task] = rng_int(&random, -5, 5); /* many have the same */
            ready_add(&r, task, vruntime[task]);
        }
        there[task] = !there[task];
        n += there[task] ? 1 : (size_t)-1;
        assert_int_equal(r.n, n);
        for (size_t i = 0; i < n; i++) {
            const struct ready_task *t = &r.task[i];
            assert_true(there[t->task] && t->vruntime == vruntime[t->task]);
            assert_true(i == 0 || t[-1].vruntime < t->vruntime ||
                        (t[-1].vruntime == t->vruntime && t[-1].task < t->task));
        }
    }
    ready_free(&r);
}

static void the_first_timer_expires_first(void **state)
{
    struct rng random;
    (void)state;
    rng_init(&random, 3, 1);
    for (size_t n = 1; n <= MANY; n++) {
        struct timers t;
        int64_t at[MANY];
        size_t first;
        assert_true(timers_init(&t, n));
        assert_int_equal(timers_first(&t, &first), SIM_FOREVER);
        for (size_t i = 0; i < n; i++)
            at[i] = SIM_FOREVER;
        for (int round = 0; round < 300; round++) {
            size_t i = (size_t)rng_int(&random, 0, (int)n - 1), expected = 0;
            at[i] = rng_chance(&random, 0.2) ? SIM_FOREVER : rng_int(&random, 0, 20);
            timers_set(&t, i, at[i]);
            for (size_t k = 0; k < n; k++)
                expected = at[k] < at[expected] ? k : expected;
            assert_int_equal(timers_first(&t, &first), at[expected]);
            assert_true(at[expected] == SIM_FOREVER || first == expected);
        }
        timers_free(&t);
    }
}

static void add(struct memory_workload *m, int64_t ps, uint32_t task, bool syscall)
{
    memory_workload_add_work(m, 0, (struct sim_row){.ps = ps, .task = task, .syscall = syscall});
}

static void programs_sum_what_is_between(void **state)
{
    struct memory_workload m;
    struct programs p;
    struct sim_row row;
    int64_t blocked;
    (void)state;
    memory_workload_make(&m, 1, 1, false, 2, 28000);
    m.at_once = 2;
    add(&m, 5, SIM_IDLE, false);
    add(&m, 7, SIM_IDLE, false);
    add(&m, 0, 0, true); /* its system call is that of the next */
    add(&m, 3, 0, false);
    add(&m, 4, 0, false);
    add(&m, SIM_FOREVER, SIM_IDLE, false);
    add(&m, 1, SIM_IDLE, false);
    add(&m, 9, 0, true);
    add(&m, 9, SIM_IDLE, false); /* nothing follows */
    add(&m, 0, 0, false);
    assert_true(programs_init(&p, &m.w));
    assert_true(programs_next(&p, 0, &row, &blocked));
    assert_true(blocked == 12 && row.ps == 3 && row.syscall);
    assert_true(programs_next(&p, 0, &row, &blocked));
    assert_true(blocked == 0 && row.ps == 4 && !row.syscall);
    assert_true(programs_next(&p, 0, &row, &blocked));
    assert_true(blocked == SIM_FOREVER && row.ps == 9 && row.syscall);
    assert_false(programs_next(&p, 0, &row, &blocked));
    assert_false(programs_next(&p, 1, &row, &blocked));
    assert_int_equal(p.rows, 10);
    programs_free(&p);
    memory_workload_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_tasks_are_in_order),
        cmocka_unit_test(the_first_timer_expires_first),
        cmocka_unit_test(programs_sum_what_is_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
