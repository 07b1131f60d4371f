/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of a simulated processor, read twice from random exports: by the simulator and by
 * tests/support/slow_params.c. */
#include <inttypes.h>

#include "schedulers/simulate/params.h"
#include "tests/support/folder.h"
#include "tests/support/random_export.h"
#include "tests/support/slow_params.h"
#include "tests/support/test.h"

enum { EXPORTS = 3000 };

struct both {
    uint64_t seed;
    struct sim_params *fast;
    struct slow_params *slow;
    unsigned refused, known;
};

static void says_same(struct both *b, const char *what, unsigned from, unsigned to, unsigned n, double fast,
                      double slow)
{
    if (fast != slow)
        fail_msg("export %" PRIu64 ": %s from %u to %u at %u: %.17g, but the page says %.17g", b->seed, what, from, to,
                 n, fast, slow);
}

/* Phases of no length happen in neither. */
static void compare_change(struct both *b, unsigned from, unsigned to, enum sim_class c, unsigned n)
{
    const char *why = "";
    const struct sim_change *fast = sim_params_down(b->fast, from, to, c, n, &why);
    struct sim_change slow, shown = {0};
    bool is_known = slow_params_down(b->slow, from, to, c, n, &slow);
    says_same(b, "a change down is known", from, to, n, fast != NULL, is_known);
    b->refused += !is_known;
    b->known += is_known;
    if (!fast) {
        assert_true(strlen(why) > 0);
        return;
    }
    for (unsigned i = 0; i < fast->n; i++)
        if (fast->phase[i].ps != 0)
            shown.phase[shown.n++] = fast->phase[i];
    says_same(b, "the cost", from, to, n, fast->total_ps, slow.total_ps);
    says_same(b, "the number of phases", from, to, n, shown.n, slow.n);
    for (unsigned i = 0; i < slow.n; i++) {
        says_same(b, "the length of a phase", from, to, n, (double)shown.phase[i].ps, (double)slow.phase[i].ps);
        says_same(b, "the ratio of a phase", from, to, n, shown.phase[i].permille, slow.phase[i].permille);
    }
}

static void compare_levels(struct both *b, unsigned fast, unsigned slow, unsigned n)
{
    const char *why = "";
    struct sim_wait wait = {0}, other = {0};
    bool has_wait = sim_params_wait(b->fast, slow, fast, &wait, &why) == 0;
    says_same(b, "the halt up", slow, fast, n, (double)sim_params_up(b->fast, slow, fast, n, &why),
              (double)slow_params_up(b->slow, slow, fast, n));
    says_same(b, "the break-even time", fast, slow, n, (double)sim_params_breakeven(b->fast, fast, slow, n, &why),
              (double)slow_params_breakeven(b->slow, fast, slow, n));
    says_same(b, "a wait is known", slow, fast, n, has_wait, slow_params_wait(b->slow, slow, fast, &other));
    if (!has_wait)
        return;
    says_same(b, "the wait", slow, fast, n, (double)wait.usual_ps, (double)other.usual_ps);
    says_same(b, "the share of the long wait", slow, fast, n, wait.long_share, other.long_share);
    if (other.long_share > 0)
        says_same(b, "the long wait", slow, fast, n, (double)wait.long_ps, (double)other.long_ps);
}

static void compare_export(struct both *b)
{
    unsigned levels = slow_params_levels(b->slow), cores = slow_params_cores(b->slow);
    says_same(b, "levels", 0, 0, 0, b->fast->levels, levels);
    says_same(b, "cores", 0, 0, 0, b->fast->cores, cores);
    for (enum sim_class c = SIM_NONE; c < SIM_CLASSES; c++) {
        says_same(b, "demand", 0, c, 0, sim_params_demand(b->fast, c), slow_params_demand(b->slow, c));
        says_same(b, "trigger", 0, c, 0, sim_params_trigger(b->fast, c), (double)slow_params_trigger(b->slow, c));
    }
    for (unsigned n = 1; n <= cores; n++)
        for (unsigned to = 0; to < levels; to++) {
            says_same(b, "speed", to, to, n, sim_params_speed(b->fast, to, n), slow_params_speed(b->slow, to, n));
            for (unsigned from = 0; from < to; from++) {
                compare_levels(b, from, to, n);
                compare_change(b, from, to, SIM_NONE, n);
                for (enum sim_class c = SIM_256LIGHT; c < SIM_CLASSES; c++)
                    if (slow_params_demand(b->slow, c) == (int)to)
                        compare_change(b, from, to, c, n);
            }
        }
}

TEST(random_exports_are_read_as_the_page_says)
{
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    unsigned refused = 0, known = 0, unread = 0;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/export.json", folder);
    for (uint64_t seed = 0; seed < rng_rounds(EXPORTS); seed++) {
        struct rng r;
        struct machine_error err;
        struct both b = {.seed = seed};
        rng_init(&r, seed, 120);
        bool whole = rng_chance(&r, 0.5);
        random_export_write(path, &r, (unsigned)rng_int(&r, 1, 6), whole);
        b.slow = slow_params_read(path);
        bool is_read = sim_params_read(path, &b.fast, &err) == MACHINE_OK;
        if (is_read != slow_params_usable(b.slow))
            fail_msg("export %" PRIu64 ": %s", seed, is_read ? "read, though a level lacks a frequency" : err.text);
        if (is_read) {
            compare_export(&b);
            sim_params_free(b.fast);
        }
        unread += !is_read;
        slow_params_free(b.slow);
        refused += b.refused;
        known += b.known;
    }
    folder_remove(folder);
    print_message("changes down: %u known, %u refused; %u exports without a level's frequency\n", known, refused,
                  unread);
    assert_true(refused > rng_fewer_sanitized(100) && known > rng_fewer_sanitized(10000));
}

TEST(stalled_speed_is_that_of_the_page)
{
    struct rng r;
    rng_init(&r, 1, 121);
    /* half of the cycles wait, at 2 GHz: 2 * 3 / (0.5 * (3 - 2) + 2) = 2.4 GHz */
    assert_int_equal(sim_stalled_speed(30000, 20000, 500), 24000);
    assert_int_equal(sim_stalled_speed(30000, 20000, 0), 30000);
    assert_int_equal(sim_stalled_speed(30000, 20000, 1000), 20000);
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t speed = (uint32_t)rng_int(&r, 2500, 160000), recorded = (uint32_t)rng_int(&r, 2500, 160000);
        unsigned stall = (unsigned)rng_int(&r, 0, 1000);
        assert_int_equal(sim_stalled_speed(speed, recorded, stall), slow_stalled_speed(speed, recorded, stall));
    }
}
