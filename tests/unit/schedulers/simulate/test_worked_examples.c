/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small simulations that were worked out by hand from doc/simulation.md, in both simulators. Times below are in
 * us; work is in cycles: 1 us at 3000 MHz is 3000.
 */
#include <inttypes.h>

#include "schedulers/simulate/simulate.h"
#include "tests/support/folder.h"
#include "tests/support/memory_workload.h"
#include "tests/support/slow_simulator.h"
#include "tests/support/test.h"

#define US SIM_PS_PER_US

/* Levels at 3000, 2500 and 2000 MHz; 2700, 2250, 1800 with two active cores. 512light: level 1; 256heavy: level 1,
 * after 100 instructions if the workload says how many it executes; 512heavy: level 2, after 150000. 20 us down, 10 us
 * up, 100 us of waiting. */
static const char example_export[] =
    "{\"format\": \"characterize-export/1\", \"cpu\": \"Example\", \"machine\": \"test\", \"modelled\": true,\n"
    "\"levels\": 3, \"level_events\": [],\n"
    "\"classes\": [{\"class\": 0, \"width\": 64, \"heavy\": false, \"level\": 0},\n"
    "  {\"class\": 1, \"width\": 256, \"heavy\": false, \"level\": 0},\n"
    "  {\"class\": 2, \"width\": 256, \"heavy\": true, \"level\": 1},\n"
    "  {\"class\": 3, \"width\": 512, \"heavy\": false, \"level\": 1},\n"
    "  {\"class\": 4, \"width\": 512, \"heavy\": true, \"level\": 2}],\n"
    "\"triggers\": [{\"class\": 2, \"one_in\": 1, \"level\": 1, \"count\": 100},\n"
    "  {\"class\": 4, \"one_in\": 1, \"level\": 2, \"count\": 150000, \"count_lo\": 149000,\n"
    "    \"count_hi\": 151000}],\n"
    "\"frequencies\": [{\"cpu\": 0, \"active_cores\": 1, \"level\": 0, \"mhz\": 3000},\n"
    "  {\"cpu\": 0, \"active_cores\": 1, \"level\": 1, \"mhz\": 2500},\n"
    "  {\"cpu\": 0, \"active_cores\": 1, \"level\": 2, \"mhz\": 2000},\n"
    "  {\"cpu\": 0, \"active_cores\": 2, \"level\": 0, \"mhz\": 2700},\n"
    "  {\"cpu\": 0, \"active_cores\": 2, \"level\": 1, \"mhz\": 2250},\n"
    "  {\"cpu\": 0, \"active_cores\": 2, \"level\": 2, \"mhz\": 1800}],\n"
    "\"turbo_levels\": [], \"costs\": [],\n"
    "\"level_costs\": [{\"from\": 0, \"to\": 1, \"active_cores\": 2, \"down_ns\": 20000, \"up_ns\": 10000},\n"
    "  {\"from\": 0, \"to\": 2, \"active_cores\": 2, \"down_ns\": 20000, \"up_ns\": 10000},\n"
    "  {\"from\": 1, \"to\": 2, \"active_cores\": 2, \"down_ns\": 20000, \"up_ns\": 10000}],\n"
    "\"relaxations\": [], \"level_relaxations\": [{\"from\": 1, \"to\": 0, \"mode\": 1, \"wait_ns\": 100000},\n"
    "  {\"from\": 2, \"to\": 0, \"mode\": 1, \"wait_ns\": 100000}],\n"
    "\"throttles\": [{\"from\": 0, \"to\": 4, \"active_cores\": 1, \"phase\": 1, \"duration_ns\": 10000,\n"
    "    \"ratio_permille\": 250}],\n"
    "\"settings\": [], \"missing\": []}\n";

struct example {
    char folder[FOLDER_PATH_MAX];
    struct sim_params *fast;
    struct slow_params *slow;
    struct memory_workload m;
};

static void example_make(struct example *e, unsigned n_cpus, unsigned n_cores, size_t n_tasks)
{
    char path[FOLDER_PATH_MAX + 20];
    struct machine_error err;
    folder_make(e->folder);
    folder_put(e->folder, "export.json", example_export);
    snprintf(path, sizeof path, "%s/export.json", e->folder);
    assert_int_equal(sim_params_read(path, &e->fast, &err), MACHINE_OK);
    e->slow = slow_params_read(path);
    memory_workload_make(&e->m, n_cpus, n_cores, false, n_tasks, 30000);
}

static void example_end(struct example *e)
{
    memory_workload_free(&e->m);
    slow_params_free(e->slow);
    sim_params_free(e->fast);
    folder_remove(e->folder);
}

/* So many ps, as recorded at 3 GHz. */
static void example_work(struct example *e, unsigned cpu, uint32_t task, enum sim_class class, int64_t ps)
{
    memory_workload_add(
        &e->m, cpu,
        (struct sim_row){.ps = ps, .task = task, .class = class & 7, .ipc = (uint16_t)(e->m.w.has_ipc ? 2000 : 0)});
}

static void example_idle(struct example *e, unsigned cpu, int64_t ps)
{
    memory_workload_add(&e->m, cpu, (struct sim_row){.ps = ps, .task = SIM_IDLE});
}

/* Expected values of one task: CPU time at levels, and of it throttled and halted; the end; ideal time; the loss to
 * siblings. */
struct expected {
    int64_t level[3], throttled, halted, end;
    double ideal, smt;
};

static void expect_task(const struct sim_times *t, const struct expected *x)
{
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(t->level_ps[k], x->level[k]);
    assert_int_equal(t->throttled_ps, x->throttled);
    assert_int_equal(t->halted_ps, x->halted);
    assert_int_equal(t->end_ps, x->end);
    assert_true(fabs(t->ideal_ps - x->ideal) < 3);
    assert_true(fabs(t->remote_smt_ps - x->smt) < 3);
}

static void expect(struct example *e, enum sim_policy policy, int64_t timeout_ps, const struct expected *tasks,
                   uint64_t down, uint64_t up)
{
    struct sim_options o = {.policy = policy, .timeout_given = timeout_ps > 0, .timeout_ps = timeout_ps};
    struct sim_result fast, slow;
    struct slow_counts counts;
    struct machine_error err;
    assert_int_equal(sim_run(e->fast, &e->m.w, &o, &fast, &err), MACHINE_OK);
    assert_true(slow_simulate(e->slow, &e->m.w, &o, &slow, &counts));
    for (size_t i = 0; i < e->m.w.n_tasks; i++) {
        expect_task(&slow.tasks[i], &tasks[i]);
        expect_task(&fast.tasks[i], &tasks[i]);
    }
    assert_int_equal(counts.down, down);
    assert_int_equal(counts.up, up);
    assert_int_equal(fast.down, down);
    assert_int_equal(fast.up, up);
    sim_result_free(&fast);
    free(slow.tasks);
}

/*
 * 100 us of plain code, 30 us of 512heavy, 100 us of plain code. The change begins at 100: 10 us throttled to 750 MHz
 * cost 10 (1 - 0.25 * 3000 / 2000) = 6.25, the halt takes the other 13.75 of the 20. Of 90000 cycles 7500 are done in
 * it, the other 82500 take 41.25 at 2000 MHz, until 165. With a timeout of 40 the core stays at level 2 until 205;
 * 80000 cycles of 300000 are done by then; it halts for 10, until 215; 220000 take 73.333334 at 3000 MHz.
 */
TEST(one_wide_row_between_two_plain_ones)
{
    struct example e;
    example_make(&e, 1, 1, 2);
    example_work(&e, 0, 0, SIM_NONE, 100 * US);
    example_work(&e, 0, 1, SIM_512HEAVY, 30 * US);
    example_work(&e, 0, 0, SIM_NONE, 100 * US);
    expect(&e, SIM_TIMEOUT, 40 * US,
           (struct expected[]){{{173333334, 0, 50 * US}, 0, 10 * US, 288333334, 200e6, 0},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 165 * US, 30e6, 0}},
           1, 1);
    /* measured wait: until 265; 200000 cycles done; 10 halted, 100000 cycles take 33.333334 */
    expect(&e, SIM_STOCK, 0,
           (struct expected[]){{{133333334, 0, 110 * US}, 0, 10 * US, 308333334, 200e6, 0},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 165 * US, 30e6, 0}},
           1, 1);
    /* 300000 cycles at 2000 MHz take 150 */
    expect(&e, SIM_NEVER, 0,
           (struct expected[]){{{100 * US, 0, 150 * US}, 0, 0, 315 * US, 200e6, 0},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 165 * US, 30e6, 0}},
           1, 0);
    /* at once, for the rows end before anything wide comes: 300000 cycles gain 50 and cost 10 */
    expect(&e, SIM_ORACLE, 0,
           (struct expected[]){{{200 * US, 0, 10 * US}, 0, 10 * US, 275 * US, 200e6, 0},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 165 * US, 30e6, 0}},
           1, 1);
    /* the break-even time is 3000 (20 + 10) / (3000 - 2000) = 90: level 2 until 255, 180000 cycles; halted until 265;
     * 120000 cycles take 40 */
    expect(&e, SIM_TIMEOUT, 0,
           (struct expected[]){{{140 * US, 0, 100 * US}, 0, 10 * US, 305 * US, 200e6, 0},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 165 * US, 30e6, 0}},
           1, 1);
    example_end(&e);
}

/*
 * The same change while a sibling runs plain code, from 50 on. The sibling loses 23.75 - 2.5 in it (it is throttled,
 * too, and does 7500 cycles), all for its sibling's sake; then it runs at 2000 MHz instead of 3000, for 41.25 as
 * long as the sibling demands it (a loss of 41.25 / 3), for 180 more as nobody goes up: 200 * 3000 - 150000 - 7500
 * = 442500 cycles take 221.25, until 295.
 */
TEST(a_halt_stops_the_sibling)
{
    struct example e;
    example_make(&e, 2, 1, 2);
    example_work(&e, 0, 0, SIM_NONE, 200 * US);
    example_idle(&e, 1, 50 * US);
    example_work(&e, 1, 1, SIM_512HEAVY, 30 * US);
    expect(&e, SIM_NEVER, 0,
           (struct expected[]){{{73750000, 0, 221250000}, 10 * US, 13750000, 295 * US, 200e6, 35e6},
                               {{23750000, 0, 41250000}, 10 * US, 13750000, 115 * US, 30e6, 0}},
           1, 0);
    example_end(&e);
}

/*
 * 150000 instructions at 2 a cycle are 75000 cycles, 25 us at 3000 MHz. 20 us of 512heavy code end before that, 25 us
 * just then. Of 30 us, 15000 cycles remain when the change begins, at 125; 7500 are done throttled, and the other 7500
 * take 3.75 at 2000 MHz, from 148.75 on.
 */
TEST(wide_code_is_noticed_after_its_count)
{
    struct example e;
    example_make(&e, 1, 1, 2);
    e.m.w.has_ipc = true;
    example_work(&e, 0, 0, SIM_NONE, 10 * US);
    example_work(&e, 0, 1, SIM_512HEAVY, 20 * US);
    example_work(&e, 0, 0, SIM_NONE, 45 * US);
    example_work(&e, 0, 1, SIM_512HEAVY, 25 * US);
    example_work(&e, 0, 1, SIM_512HEAVY, 30 * US);
    expect(&e, SIM_STOCK, 0,
           (struct expected[]){{{55 * US, 0, 0}, 0, 0, 75 * US, 55e6, 0},
                               {{93750000, 0, 3750000}, 10 * US, 13750000, 152500000, 75e6, 0}},
           1, 0);
    example_end(&e);
}

/*
 * 100 instructions at 10.001 a cycle are 99990000.9999 units of 10^-7 cycles, rounded up, of which 3333 ps at 3000 MHz
 * do one too few. So the change begins at 3334 ps; 300000000 - 100020000 units take 7999.2 ps at 2500 MHz.
 */
TEST(counts_end_at_whole_units_of_work)
{
    struct example e;
    example_make(&e, 1, 1, 1);
    e.m.w.has_ipc = true;
    memory_workload_add(&e.m, 0, (struct sim_row){.ps = 10000, .task = 0, .class = SIM_256HEAVY, .ipc = 10001});
    expect(&e, SIM_STOCK, 0, (struct expected[]){{{20 * US + 3334, 8000, 0}, 0, 20 * US, 20 * US + 11334, 10000, 0}}, 1,
           0);
    example_end(&e);
}

/*
 * 512light for 30 us: the change is a halt of 20, then 90000 cycles take 36 at 2500 MHz, until 56. A timeout of 40 ends
 * at 96: the core goes up there if the next wide row comes later, and not if it comes at this picosecond.
 */
TEST(a_timeout_that_ends_as_wide_code_begins)
{
    for (int64_t late = 0; late <= 1; late++) {
        struct example e;
        (void)state;
        example_make(&e, 1, 1, 1);
        example_work(&e, 0, 0, SIM_512LIGHT, 30 * US);
        example_idle(&e, 0, 40 * US + late);
        example_work(&e, 0, 0, SIM_512LIGHT, 30 * US);
        /* else the halt up goes on until 106, and 20 down follow: 10 (less a picosecond) and 20 more */
        if (late)
            expect(&e, SIM_TIMEOUT, 40 * US,
                   (struct expected[]){{{40 * US, 82 * US - 1, 0}, 0, 50 * US - 1, 162 * US, 60e6, 0}}, 2, 1);
        else
            expect(&e, SIM_TIMEOUT, 40 * US,
                   (struct expected[]){{{20 * US, 72 * US, 0}, 0, 20 * US, 132 * US, 60e6, 0}}, 1, 0);
        example_end(&e);
    }
}

/*
 * A core works for 100 us as recorded, from 40 us on beside another, for whose 27 us both run at 2700 MHz: 81000
 * cycles, 30 us. 300000 - 120000 - 81000 = 99000 cycles remain, 33 us. At 2700 MHz nothing is lost: that is level
 * 0.
 */
TEST(another_core_changes_the_turbo_level_in_mid_row)
{
    struct example e;
    example_make(&e, 2, 2, 2);
    example_work(&e, 0, 0, SIM_NONE, 100 * US);
    example_idle(&e, 1, 40 * US);
    example_work(&e, 1, 1, SIM_256LIGHT, 27 * US);
    expect(&e, SIM_STOCK, 0,
           (struct expected[]){{{103 * US, 0, 0}, 0, 0, 103 * US, 103e6, 0}, {{30 * US, 0, 0}, 0, 0, 70 * US, 30e6, 0}},
           0, 0);
    /* fixed: 300000 cycles take 111.111112 */
    e.m.w.active_cores = 2;
    expect(&e, SIM_STOCK, 0,
           (struct expected[]){{{111111112, 0, 0}, 0, 0, 111111112, 111111111, 0},
                               {{30 * US, 0, 0}, 0, 0, 70 * US, 30e6, 0}},
           0, 0);
    example_end(&e);
}

/*
 * The oracle between two wide rows: to go up costs 10 and to come back 20, and a cycle at 2500 MHz takes 1/15000
 * us more than at 3000 MHz, so 450000 cycles, 150 us at 3000 MHz, are as good either way. Going up for 160 us
 * (480000 cycles) pays: 30 more of halts, 32 less of work.
 */
TEST(the_oracle_goes_up_where_it_pays)
{
    struct example e;
    example_make(&e, 1, 1, 2);
    example_work(&e, 0, 1, SIM_512LIGHT, 30 * US); /* until 56 */
    example_work(&e, 0, 0, SIM_NONE, 160 * US);    /* halted until 66, until 226 */
    example_work(&e, 0, 1, SIM_512LIGHT, 30 * US); /* halted until 246, until 282 */
    example_work(&e, 0, 0, SIM_NONE, 140 * US);    /* 420000 cycles at 2500 MHz: 168, until 450 */
    example_work(&e, 0, 1, SIM_512LIGHT, 30 * US); /* 36, until 486 */
    expect(&e, SIM_ORACLE, 0,
           (struct expected[]){{{160 * US, 178 * US, 0}, 0, 10 * US, 450 * US, 300e6, 0},
                               {{40 * US, 108 * US, 0}, 0, 40 * US, 486 * US, 90e6, 0}},
           2, 1);
    example_end(&e);
}

/*
 * Policy software, 512heavy code of 1.2 instructions a cycle from 10 us on: level 1 at once, a halt of 20; a first look
 * at 110, after 80 us at 2500 MHz, sees 1.2 a cycle: level 2, a halt of 20. 300 us are 900000 cycles; 200000 are
 * done at 110, 700000 at 2000 MHz take 350 from 130 on, until 480. 480 + 666 = 1146: at level 2 until 1210, then
 * 10 up.
 */
TEST(software_looks_every_100_us)
{
    struct example e;
    example_make(&e, 1, 1, 2);
    e.m.w.has_ipc = true;
    example_idle(&e, 0, 10 * US);
    memory_workload_add(&e.m, 0, (struct sim_row){.ps = 300 * US, .task = 0, .class = SIM_512HEAVY, .ipc = 1200});
    example_work(&e, 0, 1, SIM_NONE, 1000 * US); /* 730 at 2000 MHz: 1460000 cycles; 1540000 at 3000: 513.333334 */
    expect(&e, SIM_SOFTWARE, 0,
           (struct expected[]){{{20 * US, 100 * US, 350 * US}, 0, 40 * US, 480 * US, 300e6, 0},
                               {{513333334, 0, 740 * US}, 0, 10 * US, 1733333334, 1000e6, 0}},
           2, 1);
    /* at 1 instruction a cycle it does not exceed 1: level 1 throughout, 900000 cycles take 360 after 30, until 390;
     * 390 + 666 = 1056: level 1 until 1110; 720 at 2500 MHz: 1800000 cycles; 1200000 at 3000: 400 */
    e.m.stream[0].rows[1].ipc = 1000;
    expect(&e, SIM_SOFTWARE, 0,
           (struct expected[]){{{20 * US, 360 * US, 0}, 0, 20 * US, 390 * US, 300e6, 0},
                               {{400 * US, 730 * US, 0}, 0, 10 * US, 1520 * US, 1000e6, 0}},
           1, 1);
    /* 345 us are 1035000 cycles, until 444, and 444 + 666 = 1110 is a look: 666 at 2500 MHz are 1665000 cycles; 1335000
     * at 3000: 445 */
    e.m.stream[0].rows[1].ps = 345 * US;
    expect(&e, SIM_SOFTWARE, 0,
           (struct expected[]){{{20 * US, 414 * US, 0}, 0, 20 * US, 444 * US, 345e6, 0},
                               {{445 * US, 676 * US, 0}, 0, 10 * US, 1565 * US, 1000e6, 0}},
           1, 1);
    example_end(&e);
}
