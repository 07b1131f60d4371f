/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedulers on the Gold 6130: examples that can be shown by hand, and what holds for any workload. */
#include "schedulers/simulate/studies.h"
#include "tests/support/gold_6130.h"
#include "tests/support/memory_workload.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "tests/support/watched_run.h"

enum { MS = 1000, RECORDED = 28000 }; /* us; 0.1 MHz */

static struct sim_params *gold;

static int take_params(void **state)
{
    (void)state;
    gold = gold_6130_params();
    return 0;
}

static int free_params(void **state)
{
    (void)state;
    sim_params_free(gold);
    return 0;
}

static void begin(struct memory_workload *m, unsigned n_cpus, unsigned n_cores, unsigned n_tasks)
{
    memory_workload_make(m, n_cpus, n_cores, false, n_tasks, RECORDED);
    m->w.active_cores = 16;
    m->w.has_cookie = m->w.has_syscall = true;
}

static void runs(struct memory_workload *m, unsigned task, enum sim_class class, double us)
{
    memory_workload_add_work(
        m, task, (struct sim_row){.ps = llround(us * SIM_PS_PER_US), .task = task, .class = (uint16_t) class});
}

static void calls(struct memory_workload *m, unsigned task, enum sim_class class, double us)
{
    memory_workload_add_work(
        m, task,
        (struct sim_row){.ps = llround(us * SIM_PS_PER_US), .task = task, .class = (uint16_t) class, .syscall = 1});
}

static void sleeps(struct memory_workload *m, unsigned task, double us)
{
    memory_workload_add_work(m, task, (struct sim_row){.ps = llround(us * SIM_PS_PER_US), .task = SIM_IDLE});
}

/* "0:t1 6000-12000" in us, one piece a line. */
static void expect_ran(struct memory_workload *m, enum sim_scheduler scheduler, const char *expected)
{
    struct watched_run r;
    char text[4000];
    int n = 0;
    watched_make(&r, gold, m, scheduler);
    watched_check(&r, m);
    text[0] = '\0';
    for (size_t i = 0; i < r.ran.n; i++) {
        const struct watched_piece *p = &r.ran.piece[i];
        n += snprintf(text + n, sizeof text - (size_t)n, "%u:t%u %g-%g\n", p->where, p->task,
                      (double)p->from / SIM_PS_PER_US, (double)p->to / SIM_PS_PER_US);
    }
    assert_string_equal(text, expected);
    watched_free(&r);
    memory_workload_free(m);
}

/* ---- examples ---- */

TEST(two_tasks_take_turns)
{
    struct memory_workload m;
    begin(&m, 1, 1, 2);
    runs(&m, 0, SIM_NONE, 20 * MS);
    runs(&m, 1, SIM_NONE, 15 * MS);
    /* with as much virtual runtime the lower number goes first, and goes on */
    expect_ran(&m, SIM_FAIR,
               "0:t0 0-6000\n0:t1 6000-12000\n0:t0 12000-18000\n0:t1 18000-24000\n0:t0 24000-30000\n"
               "0:t1 30000-33000\n0:t0 33000-35000\n");
}

TEST(who_wakes_comes_first_if_far_enough_behind)
{
    struct memory_workload m;
    begin(&m, 1, 1, 2);
    runs(&m, 0, SIM_NONE, 20 * MS);
    sleeps(&m, 1, 10 * MS);
    runs(&m, 1, SIM_NONE, 1 * MS);
    sleeps(&m, 1, 500);
    runs(&m, 1, SIM_NONE, 4 * MS);
    /* wakes with 10 - 3 = 7 ms of virtual runtime at 10 ms; at 11.5 ms with 8, 2.5 less than the other; that goes on
     * when this one's is higher, and its slice has ended, or it is done */
    expect_ran(&m, SIM_FAIR, "0:t0 0-10000\n0:t1 10000-11000\n0:t0 11000-11500\n0:t1 11500-15500\n0:t0 15500-25000\n");
}

TEST(who_wakes_waits_if_not_far_behind)
{
    struct memory_workload m;
    begin(&m, 1, 1, 2);
    runs(&m, 0, SIM_NONE, 10 * MS);
    sleeps(&m, 1, 900);
    runs(&m, 1, SIM_NONE, 1 * MS);
    expect_ran(&m, SIM_FAIR, "0:t0 0-6000\n0:t1 6000-7000\n0:t0 7000-11000\n");
}

TEST(who_wakes_goes_where_nobody_is)
{
    struct memory_workload m;
    begin(&m, 4, 2, 3);
    runs(&m, 0, SIM_NONE, 3 * MS);
    sleeps(&m, 1, 1 * MS);
    runs(&m, 1, SIM_NONE, 1 * MS); /* the other core is idle */
    sleeps(&m, 1, 1 * MS);
    runs(&m, 1, SIM_NONE, 1 * MS); /* its last CPU */
    sleeps(&m, 2, 1500);
    runs(&m, 2, SIM_NONE, 250); /* no core is idle */
    expect_ran(&m, SIM_FAIR, "1:t2 1500-1750\n2:t1 1000-2000\n0:t0 0-3000\n2:t1 3000-4000\n");
}

TEST(who_wakes_is_compared_with_who_is_last)
{
    struct memory_workload m;
    begin(&m, 2, 2, 3);
    runs(&m, 0, SIM_NONE, 30 * MS);
    sleeps(&m, 1, 10 * MS);
    runs(&m, 1, SIM_NONE, 12 * MS);
    sleeps(&m, 2, 14 * MS);
    runs(&m, 2, SIM_NONE, 4 * MS);
    sleeps(&m, 2, 1);
    runs(&m, 2, SIM_NONE, 2 * MS);
    /* t1 wakes with 10 - 3 = 7, t2 with 11 - 3 = 8 and then has 12, where t0 has 14.001 and t1 15.001 */
    expect_ran(&m, SIM_FAIR,
               "0:t0 0-14000\n0:t2 14000-18000\n1:t1 10000-18001\n1:t2 18001-20001\n1:t1 20001-24000\n"
               "0:t0 18000-34000\n");
}

TEST(cookies_do_not_share_a_core)
{
    struct memory_workload m;
    begin(&m, 2, 1, 3);
    m.w.tasks[1].cookie = 7;
    runs(&m, 0, SIM_NONE, 10 * MS);
    runs(&m, 1, SIM_NONE, 4 * MS);
    sleeps(&m, 2, 1 * MS);
    runs(&m, 2, SIM_NONE, 2 * MS);
    /* t2 has the cookie of t0; when it is done, t1 is so far after that t0 must leave, and waits meanwhile */
    expect_ran(&m, SIM_CORE, "1:t2 1000-3000\n0:t0 0-3000\n1:t1 3000-7000\n1:t0 7000-14000\n");
}

TEST(who_is_behind_evicts_another_cookie)
{
    struct memory_workload m;
    begin(&m, 2, 1, 3);
    m.w.tasks[2].cookie = 7;
    runs(&m, 0, SIM_NONE, 10 * MS);
    runs(&m, 1, SIM_NONE, 10 * MS);
    sleeps(&m, 2, 3 * MS);
    runs(&m, 2, SIM_NONE, 2 * MS);
    expect_ran(&m, SIM_CORE, "0:t0 0-3000\n1:t1 0-3000\n0:t2 3000-5000\n0:t0 5000-12000\n1:t1 5000-12000\n");
}

TEST(wide_tasks_move_to_wide_cores_and_back)
{
    struct memory_workload m;
    begin(&m, 2, 2, 2);
    runs(&m, 0, SIM_NONE, 1 * MS);
    runs(&m, 0, SIM_512LIGHT, 100); /* faults on CPU 0, goes to CPU 1 in place of the other, which goes to CPU 0 */
    runs(&m, 0, SIM_NONE, 1 * MS);  /* not known to be over */
    calls(&m, 0, SIM_NONE, 1 * MS); /* not wide any more, and no CPU idles */
    runs(&m, 1, SIM_NONE, 8 * MS);
    /* 100 us at 2.4 GHz after a halt of 40; the level is held for 670 us, a halt of 10 */
    expect_ran(&m, SIM_SPECIALIZE,
               "0:t0 0-1000\n1:t1 0-1000\n1:t0 1000-2262.38\n1:t0 2262.38-3262.38\n0:t1 1000-8000\n");
}

TEST(what_idles_relieves_wide_cores)
{
    struct memory_workload m;
    begin(&m, 4, 2, 4);
    runs(&m, 0, SIM_NONE, 1 * MS);
    runs(&m, 1, SIM_NONE, 5 * MS);
    runs(&m, 2, SIM_NONE, 5 * MS);
    sleeps(&m, 3, 500);
    runs(&m, 3, SIM_NONE, 2 * MS);
    expect_ran(&m, SIM_SPECIALIZE,
               "0:t0 0-1000\n3:t3 500-1000\n0:t3 1000-2500\n2:t2 0-2500\n0:t2 2500-5000\n1:t1 0-5000\n");
}

/* "1+ 20.5", a core that became wide (+) or other (-) and when, in ms. */
static void expect_kinds(struct memory_workload *m, const char *expected)
{
    struct watched_run r;
    char text[400];
    int n = 0;
    watched_make(&r, gold, m, SIM_SPECIALIZE);
    watched_check(&r, m);
    text[0] = '\0';
    for (size_t i = 0; i < r.kinds.n; i++) {
        const struct watched_piece *p = &r.kinds.piece[i];
        n += snprintf(text + n, sizeof text - (size_t)n, "%u%c %g\n", p->where, p->permille ? '+' : '-',
                      (double)p->from / SIM_PS_PER_US / MS);
    }
    assert_string_equal(text, expected);
    watched_free(&r);
    memory_workload_free(m);
}

TEST(loads_say_how_many_cores_are_wide)
{
    struct memory_workload m;
    begin(&m, 4, 4, 15);
    for (unsigned task = 0; task < 15; task++)
        runs(&m, task, task < 8 ? SIM_512HEAVY : SIM_NONE, task < 8 ? 6 * MS : 60 * MS);
    /* one core is not enough for 8 wide tasks beside 7 others, two are, until the third of the four on a core is done,
     * after 3 x 8.842 ms and a slice of 6 of the fourth */
    expect_kinds(&m, "1+ 0\n1- 32.5263\n");
}

/* A task alone on a wide and another core, which changes between 512-bit code and a system call 20 times. */
static uint64_t toggling_migrations(double plain_us, enum sim_scheduler scheduler)
{
    struct memory_workload m;
    struct watched_run r;
    begin(&m, 2, 2, 1);
    for (int i = 0; i < 20; i++) {
        runs(&m, 0, SIM_512LIGHT, 10);
        calls(&m, 0, SIM_NONE, plain_us);
    }
    watched_make(&r, gold, &m, scheduler);
    watched_check(&r, &m);
    uint64_t migrations = r.result.migrations;
    watched_free(&r);
    memory_workload_free(&m);
    return migrations;
}

TEST(short_phases_are_not_worth_a_migration)
{
    /* the average of phases that were short is 1/4 (the first took no time), 7/16 and 37/64: then it stays wide */
    assert_int_equal(toggling_migrations(50, SIM_SPECIALIZE), 5);
    assert_int_equal(toggling_migrations(99.9, SIM_SPECIALIZE), 5);
    assert_int_equal(toggling_migrations(100, SIM_SPECIALIZE), 40);
    assert_int_equal(toggling_migrations(50, SIM_SPECIALIZE_ALWAYS), 40);
}

TEST(wide_cores_do_not_notice_wide_code)
{
    struct memory_workload m;
    begin(&m, 2, 2, 2);
    runs(&m, 0, SIM_NONE, 3 * MS);
    runs(&m, 1, SIM_NONE, 1 * MS); /* the wide core: there is no other */
    runs(&m, 1, SIM_512LIGHT, 2 * MS);
    calls(&m, 1, SIM_NONE, 1 * MS);
    /* after a halt of 40 us, 1960 us of it at 2.4 GHz; at 3 ms CPU 0 idles and takes it, where it faults and goes back
     * for the other 896 / 2.4 us, until its system call */
    expect_ran(&m, SIM_SPECIALIZE, "0:t0 0-3000\n1:t1 0-3000\n1:t1 3000-3373.33\n0:t1 3373.33-4373.33\n");
}

/* Work that costs time, each time, at 2.8 GHz as recorded. */
static void make_costly(double switch_us, double migration_us, double fault_us)
{
    gold->scheduling_ps[SIM_SWITCH] = llround(switch_us * SIM_PS_PER_US);
    gold->scheduling_ps[SIM_MIGRATION] = llround(migration_us * SIM_PS_PER_US);
    gold->scheduling_ps[SIM_FAULT] = llround(fault_us * SIM_PS_PER_US);
}

TEST(a_switch_comes_before_the_work)
{
    struct memory_workload m;
    begin(&m, 1, 1, 2);
    runs(&m, 0, SIM_NONE, 10 * MS);
    runs(&m, 1, SIM_NONE, 3 * MS);
    make_costly(100, 0, 0);
    expect_ran(&m, SIM_FAIR, "0:t0 0-6000\n0:t1 6000-9100\n0:t0 9100-13300\n");
    make_costly(-1, -1, -1);
}

TEST(faults_and_migrations_come_before_the_work)
{
    struct memory_workload m;
    struct watched_run r;
    begin(&m, 2, 2, 1);
    runs(&m, 0, SIM_NONE, 1 * MS);
    runs(&m, 0, SIM_512LIGHT, 120);
    calls(&m, 0, SIM_NONE, 1 * MS);
    make_costly(0, 200, 50);
    watched_make(&r, gold, &m, SIM_SPECIALIZE);
    watched_check(&r, &m);
    assert_int_equal(r.ran.n, 3);
    assert_int_equal(r.ran.piece[0].to, 1000 * SIM_PS_PER_US);
    /* 250 us, a halt of 40 and 140 us at 2.4 GHz; then 200 us on the core that has not been slow */
    assert_int_equal(r.ran.piece[1].to, 1430 * SIM_PS_PER_US);
    assert_int_equal(r.ran.piece[2].to, 2630 * SIM_PS_PER_US);
    assert_int_equal(r.result.all.scheduling_ps, 450 * SIM_PS_PER_US);
    assert_true(fabs(r.result.all.ideal_ps - 2120.0 * SIM_PS_PER_US) < 1);
    assert_int_equal(r.result.all.remote_ps, 2000 * SIM_PS_PER_US); /* others' wide code is not why it moved */
    watched_free(&r);
    memory_workload_free(&m);
    make_costly(-1, -1, -1);
}

TEST(wide_tasks_are_forgotten_after_10_ms)
{
    struct memory_workload m;
    begin(&m, 2, 2, 1);
    runs(&m, 0, SIM_512LIGHT, 8 * MS);
    runs(&m, 0, SIM_NONE, 30 * MS);
    struct watched_run r;
    watched_make(&r, gold, &m, SIM_SPECIALIZE);
    /* it faults on CPU 0 at once; then nobody notices what it runs */
    assert_int_equal(r.ran.n, 2);
    assert_true(r.ran.piece[0].where == 1 && r.ran.piece[1].where == 0);
    assert_int_equal(r.ran.piece[0].to, 10 * MS * SIM_PS_PER_US);
    watched_free(&r);
    memory_workload_free(&m);
}

TEST(what_is_missing_is_named)
{
    static const struct {
        enum sim_scheduler scheduler;
        const char *why;
    } cases[] = {{SIM_CORE, "scheduler core needs the column cookie, which in memory does not have"},
                 {SIM_SPECIALIZE, "scheduler specialize needs the column syscall, which in memory does not have"}};
    struct memory_workload m;
    struct sim_options o = {.policy = SIM_STOCK};
    char why[300];
    begin(&m, 2, 2, 1);
    m.w.has_cookie = m.w.has_syscall = false;
    runs(&m, 0, SIM_NONE, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        o.scheduler = cases[i].scheduler;
        assert_int_equal(sim_check(gold, &m.w, &o, why, sizeof why), -1);
        assert_string_equal(why, cases[i].why);
    }
    m.w.has_syscall = true;
    m.w.n_cores = 1;
    assert_int_equal(sim_check(gold, &m.w, &o, why, sizeof why), -1);
    assert_string_equal(why, "scheduler specialize needs at least two cores; in memory has one");
    o.scheduler = SIM_FAIR;
    assert_int_equal(sim_check(gold, &m.w, &o, why, sizeof why), 0);
    m.w.works.read = NULL;
    assert_int_equal(sim_check(gold, &m.w, &o, why, sizeof why), -1);
    assert_string_equal(why, "scheduler fair needs to know what each task does, which in memory does not contain");
    memory_workload_free(&m);
}

/* ---- any workload ---- */

/* Tasks with random rows; wide: some of them run wide code. */
static void make_random(struct memory_workload *m, struct rng *r, bool wide)
{
    static const enum sim_class classes[] = {SIM_256LIGHT, SIM_256HEAVY, SIM_512LIGHT, SIM_512HEAVY};
    unsigned n_cores = (unsigned)rng_int(r, 2, 4), per_core = (unsigned)rng_int(r, 1, 2);
    unsigned n_tasks = (unsigned)rng_int(r, 1, 14);
    begin(m, n_cores * per_core, n_cores, n_tasks);
    m->at_once = (size_t)rng_int(r, 0, 5);
    for (unsigned task = 0; task < n_tasks; task++) {
        bool uses = wide && rng_chance(r, 0.5);
        m->w.tasks[task].cookie = (uint32_t)rng_int(r, 0, 2);
        if (rng_chance(r, 0.3))
            sleeps(m, task, rng_log(r, 1, 20000));
        for (int k = rng_int(r, 0, 40); k > 0; k--) {
            enum sim_class class = uses && rng_chance(r, 0.4) ? classes[rng_int(r, 0, 3)] : SIM_NONE;
            double us = rng_chance(r, 0.05) ? 0 : rng_log(r, 1, 20000);
            if (rng_chance(r, 0.2))
                calls(m, task, class, us);
            else
                runs(m, task, class, us);
            if (rng_chance(r, 0.4))
                sleeps(m, task, rng_log(r, 1, 20000));
        }
    }
}

TEST(work_is_done_once_and_no_cpu_idles)
{
    struct rng random;
    struct memory_workload m;
    rng_init(&random, 12, 1);
    for (unsigned round = 0; round < rng_rounds(300); round++) {
        bool wide = round % 2 == 1;
        make_random(&m, &random, wide);
        for (int s = SIM_FAIR; s < SIM_SCHEDULERS; s++) {
            struct watched_run r;
            watched_make(&r, gold, &m, (enum sim_scheduler)s);
            watched_check(&r, &m);
            if (!wide && s != SIM_CORE)
                watched_check_busy(&r, &m);
            if (s < SIM_CORE || (!wide && s >= SIM_SPECIALIZE))
                assert_int_equal(r.result.forced_idle_ps, 0);
            watched_free(&r);
        }
        memory_workload_free(&m);
    }
}

/* All CPUs run at the recorded frequency: what is paid for is done once, also where it is interrupted. */
TEST(each_migration_costs_the_same)
{
    struct rng random;
    struct memory_workload m;
    rng_init(&random, 12, 5);
    make_costly(0, 700, 0);
    for (unsigned round = 0; round < rng_rounds(100); round++) {
        make_random(&m, &random, false);
        for (int s = SIM_FAIR; s < SIM_SCHEDULERS; s++) {
            struct watched_run r;
            watched_make(&r, gold, &m, (enum sim_scheduler)s);
            watched_check(&r, &m);
            assert_int_equal(r.result.all.scheduling_ps, (int64_t)r.result.migrations * 700 * SIM_PS_PER_US);
            watched_free(&r);
        }
        memory_workload_free(&m);
    }
    make_costly(-1, -1, -1);
}

TEST(the_same_again)
{
    struct rng random;
    struct memory_workload m;
    rng_init(&random, 12, 2);
    make_random(&m, &random, true);
    for (int s = SIM_FAIR; s < SIM_SCHEDULERS; s++) {
        struct watched_run a, b;
        watched_make(&a, gold, &m, (enum sim_scheduler)s);
        watched_make(&b, gold, &m, (enum sim_scheduler)s);
        assert_int_equal(a.ran.n, b.ran.n);
        assert_memory_equal(a.ran.piece, b.ran.piece, a.ran.n * sizeof *a.ran.piece);
        assert_memory_equal(a.result.tasks, b.result.tasks, m.w.n_tasks * sizeof *a.result.tasks);
        watched_free(&a);
        watched_free(&b);
    }
    memory_workload_free(&m);
}

static bool share_time(const struct watched_piece *a, const struct watched_piece *b)
{
    return a->from < b->to && b->from < a->to;
}

TEST(no_core_runs_two_cookies)
{
    struct rng random;
    struct memory_workload m;
    size_t together = 0;
    rng_init(&random, 12, 3);
    for (unsigned round = 0; round < rng_rounds(200); round++) {
        struct watched_run r;
        make_random(&m, &random, true);
        watched_make(&r, gold, &m, SIM_CORE);
        for (size_t i = 0; i < r.ran.n; i++)
            for (size_t k = 0; k < i; k++) {
                const struct watched_piece *a = &r.ran.piece[i], *b = &r.ran.piece[k];
                if (m.core[a->where] != m.core[b->where] || !share_time(a, b))
                    continue;
                assert_int_equal(m.w.tasks[a->task].cookie, m.w.tasks[b->task].cookie);
                together++;
            }
        watched_free(&r);
        memory_workload_free(&m);
    }
    assert_true(together > 100);
}

static bool core_is_wide(const struct watched_run *r, unsigned core, int64_t at, unsigned n_cores)
{
    bool wide = core == n_cores - 1;
    for (size_t i = 0; i < r->kinds.n && r->kinds.piece[i].from <= at; i++)
        if (r->kinds.piece[i].where == core)
            wide = r->kinds.piece[i].permille;
    return wide;
}

/* Changes down begin on wide cores alone, where no wide code is of 256 bits; kinds change seldom. */
TEST(wide_code_stays_on_wide_cores)
{
    struct rng random;
    struct memory_workload m;
    size_t downs = 0, kinds = 0;
    rng_init(&random, 12, 4);
    for (unsigned round = 0; round < rng_rounds(200); round++) {
        struct watched_run r;
        unsigned n_wide = 1;
        int64_t begins[MEMORY_CPUS_MAX] = {0};
        uint32_t level[MEMORY_CPUS_MAX] = {0};
        make_random(&m, &random, true);
        for (unsigned task = 0; task < m.w.n_tasks; task++)
            for (size_t k = 0; k < m.work[task].n; k++)
                if (m.work[task].rows[k].class == SIM_256HEAVY)
                    m.work[task].rows[k].class = SIM_512HEAVY;
        watched_make(&r, gold, &m, SIM_SPECIALIZE);
        assert_int_equal(r.kinds.n, r.result.core_changes);
        for (size_t i = 0; i < r.kinds.n; i++, kinds++) {
            assert_true(i == 0 || r.kinds.piece[i].from - r.kinds.piece[i - 1].from > 20 * MS * SIM_PS_PER_US);
            n_wide += r.kinds.piece[i].permille ? 1 : -1U;
            assert_in_range(n_wide, 1, m.w.n_cores - 1);
        }
        for (size_t i = 0; i < r.levels.n; i++) {
            const struct watched_piece *p = &r.levels.piece[i];
            if (p->task > level[p->where] && ++downs)
                assert_true(core_is_wide(&r, p->where, begins[p->where], m.w.n_cores));
            level[p->where] = p->task;
            if (p->permille == 1000)
                begins[p->where] = p->to; /* of a change that may follow */
        }
        watched_free(&r);
        memory_workload_free(&m);
    }
    assert_true(downs > rng_rounds(200) && 2 * kinds > rng_rounds(200));
}

/* ---- fairness ---- */

TEST(equal_tasks_get_as_much)
{
    struct memory_workload m;
    struct watched_run r;
    begin(&m, 4, 2, 7);
    for (unsigned task = 0; task < 7; task++)
        runs(&m, task, SIM_NONE, 300 * MS);
    watched_make(&r, gold, &m, SIM_FAIR);
    for (int64_t at = 1; at < 500; at++) {
        int64_t least = SIM_FOREVER, most = 0;
        for (uint32_t task = 0; task < 7; task++) {
            int64_t t = watched_cpu_time(&r, task, at * MS * SIM_PS_PER_US);
            least = t < least ? t : least;
            most = t > most ? t : most;
        }
        assert_true(most - least <= 6 * MS * SIM_PS_PER_US);
    }
    watched_free(&r);
    memory_workload_free(&m);
}

enum { WIDE_TASKS = 4, PLAIN_TASKS = 4 };

/* As many tasks with and without wide code on one core, which never wait. */
static void make_neighbours(struct memory_workload *m, unsigned n_cpus, enum sim_class wide)
{
    begin(m, n_cpus, 1, WIDE_TASKS + PLAIN_TASKS);
    for (unsigned task = 0; task < WIDE_TASKS + PLAIN_TASKS; task++) {
        m->w.tasks[task].cookie = task < WIDE_TASKS;
        sleeps(m, task, 1700 * (task % 4)); /* or both CPUs would always run the same kind */
        for (int i = task < WIDE_TASKS ? 3 : 1; i > 0; i--)
            runs(m, task, task < WIDE_TASKS ? wide : SIM_NONE, 20 * 1000 * MS);
    }
}

static void measure(struct memory_workload *m, enum sim_scheduler scheduler, struct sim_result *r)
{
    const struct sim_options o = {.policy = SIM_STOCK, .scheduler = scheduler};
    struct machine_error err;
    double base = NAN;
    assert_int_equal(sim_run(gold, &m->w, &o, r, &err), MACHINE_OK);
    assert_int_equal(sim_fairness_find(gold, &m->w, &o, &base, r, &err), MACHINE_OK);
}

/* G, 7.3: what a victim gets is as if it ran beside plain tasks; F, 3: everyone gets the same part of what it would get
 * alone. */
TEST(compensation_gives_what_it_promises)
{
    for (unsigned n_cpus = 1; n_cpus <= 3; n_cpus++)
        for (int class = SIM_256HEAVY; class <= SIM_512HEAVY; class += SIM_512HEAVY - SIM_256HEAVY) {
            struct memory_workload m;
            struct sim_result fair, subtract, attribute;
            make_neighbours(&m, n_cpus < 3 ? n_cpus : 2, (enum sim_class) class);
            if (n_cpus == 3) /* again, at another turbo level */
                m.w.active_cores = 8;
            measure(&m, SIM_FAIR, &fair);
            measure(&m, SIM_FAIR_SUBTRACT, &subtract);
            measure(&m, SIM_FAIR_ATTRIBUTE, &attribute);
            /* how much CPU time victims lose depends on who meets whom, which compensation changes as well */
            assert_true(fair.slowdown > 0.6 * fair.cpu_slowdown && fair.slowdown < fair.cpu_slowdown);
            assert_true(fabs(fair.unfairness - fair.slowdown) < 1e-12);
            assert_true(fabs(subtract.slowdown - subtract.cpu_slowdown / 2) < 0.001);
            /* halts are not seen, nor is throttling (G, 7.7.2) */
            assert_true(fabs(attribute.slowdown) < 0.003 && attribute.cpu_slowdown > 5 * attribute.slowdown);
            if (n_cpus == 2)
                assert_true(fair.slowdown > 0.07 && attribute.cpu_slowdown > 0.09);
            sim_result_free(&fair);
            sim_result_free(&subtract);
            sim_result_free(&attribute);
            memory_workload_free(&m);
        }
}

TEST(nothing_changes_without_wide_code)
{
    struct memory_workload m;
    struct sim_result fair, r;
    make_neighbours(&m, 2, SIM_256LIGHT);
    measure(&m, SIM_FAIR, &fair);
    for (int s = SIM_FAIR_SUBTRACT; s <= SIM_FAIR_ATTRIBUTE; s++) {
        measure(&m, (enum sim_scheduler)s, &r);
        assert_memory_equal(r.tasks, fair.tasks, r.n_tasks * sizeof *r.tasks);
        assert_true(r.slowdown == 0 && r.unfairness == 0 && fabs(r.mean_ghz - 2.8) < 1e-12);
        sim_result_free(&r);
    }
    sim_result_free(&fair);
    memory_workload_free(&m);
}

TEST_GROUP(take_params, free_params)
