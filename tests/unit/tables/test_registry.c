/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptions of the kinds of tables are consistent. */
#include "tables/table/tables.h"
#include "tests/support/test.h"

TEST(each_table_describes_itself)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        const struct table_kind *k = kinds[i];
        assert_ptr_equal(tables_find(k->name), k); /* the first of its name */
        assert_non_null(k->title);
        assert_non_null(k->about);
        assert_non_null(k->plan);
        assert_non_null(k->measure);
        assert_in_range(k->n_columns, 1, TABLE_COLUMNS_MAX);
        assert_true(k->columns[0].key);
    }
    assert_null(tables_find("none"));
    assert_null(tables_find(""));
}

TEST(promised_columns_are_there)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    for (size_t i = 0; i < n; i++) {
        struct table t;
        table_init(&t, kinds[i]->name, kinds[i]->columns, kinds[i]->n_columns);
        for (size_t c = 0; c < TABLES_PROMISED_MAX && kinds[i]->promised[c]; c++)
            if (!table_has(&t, kinds[i]->promised[c]))
                fail_msg("%s has no column %s", kinds[i]->name, kinds[i]->promised[c]);
        table_free(&t);
    }
}

TEST(each_exported_part_has_one_source)
{
    size_t n, sources = 0;
    const struct table_kind *const *kinds = tables_all(&n);
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++)
        assert_non_null(tables_exported(part));
    for (size_t i = 0; i < n; i++)
        sources += kinds[i]->exported != EXPORT_NOTHING;
    assert_int_equal(sources, TABLES_EXPORTS - 1);
}

/* ---- what files promise to those who read them ---- */

/* NAME, * with limits, ! a key, $ text, /UNIT, .DECIMALS on the screen of what is no whole number. */
static const struct {
    const char *table, *columns;
} promised[] = {
    {"frequency",
     "cpu! kernel!$ active_cores! core$ level freq_ghz*/GHz.4 ipc*.3 ratio*.4 n discarded level_source$ group$ lvl0.3 "
     "lvl1.3 lvl2.3 turbo_limit_ghz/GHz.1 uncore_ghz/GHz.2 priority$"},
    {"transitions", "from!$ to!$ active_cores! kind$ latency_us*/us.1 wait_us*/us.1 overhead_us*/us.1 halts "
                    "from_ghz*/GHz.3 to_ghz*/GHz.3 n runs discarded phases$ detectable$ note$"},
    {"throttle", "from!$ to!$ active_cores! part!$ phase! duration_us*/us.1 ipc_ratio*.3 distance*/instructions.1 "
                 "n runs discarded detectable$ note$"},
    {"trigger", "kernel!$ density! active_cores! what!$ asks!$ with!$ count*.0 spread.2 level "
                "rate_per_cycle*/1/cycle.4 freq_ghz*/GHz.3 plain_ghz*/GHz.3 level_kernel level_with "
                "freq_kernel_ghz/GHz.3 freq_with_ghz/GHz.3 ipc_ratio*.3 longest_us/us.0 window_from_us/us.0 "
                "window_to_us/us.0 warmup_us/us.0 period_us/us.2 n discarded detectable$ ratio*.4"},
    {"relaxation", "from!$ to!$ active_cores! what!$ by!$ mode! wait_us*/us.1 sd_us/us.1 share*.3 rearmed$ "
                   "duty_us/us.1 trend_us*/us.2 slow_ghz*/GHz.3 plain_ghz*/GHz.3 fast_ghz/GHz.3 tau_us*/us.1 n "
                   "others discarded kept"},
    {"overhead", "from!$ to!$ active_cores! down_us*/us.1 up_us*/us.1 breakeven_us*/us.0 high_ghz*/GHz.3 "
                 "low_ghz*/GHz.3 n up_n "
                 "dropped assumption$"},
    {"umask", "event! umask! kernel!$ when!$ share*/1.3 n slow_share/1.3 slow_other/1.3 bits_sum/1.3 "
              "documented$ reading$ disagrees$"},
    {"energy", "kernel!$ freq_ghz!/GHz.3 active_cores! mode!$ watts*/W.2 nj_per_op*/nJ.3 nj_per_lane*/nJ.3 "
               "package_watts*/W.1 idle_watts*/W.1 idle_ghz/GHz.3 counted_cores n discarded"},
    {"voltage", "from!$ to!$ active_cores! time_us!/us.1 volts*/V.4 n level_ghz/GHz.3 note$"},
    {"variability",
     "workload!$ refinement!$ trials unit$ mode.1 spread.9 p50.9 p90.9 p99.9 max.9 to_mode resolution.9 "
     "interrupts faults switches steal_ms/ms.0 smis discarded branches mispredicted_first mispredicted_last "
     "bytes per_access.2 start_rate.4 ramp_ms/ms.2 ramp_steps"},
    {"wake", "unit!$ idle_us!/us.2 first_us*/us.4 full_rate_us*/us.2 stage n discarded"},
    {"switching", "what!$ us*/us.3 null_us*/us.3 n discarded"},
    {"cores",
     "cpu! kernel!$ core$ freq_ghz*/GHz.4 ratio*.4 freq_all_ghz*/GHz.4 throttle$ first_rate*.3 group n discarded"},
    {"burst", "kernel!$ count! every_us!/us.0 loss*.4 cold_us*/us.3 warm_us*/us.3 saves_us*/us.3 saves128_us*/us.3 "
              "breakeven*.0 breakeven128*.0 n discarded interrupted null*.4"},
    {"classes", "kernel!$ density! ratio*.4 class level n discarded"},
};

static void describe_columns(const struct table_kind *k, char *text, size_t size)
{
    size_t used = 0;
    for (size_t c = 0; c < k->n_columns; c++) {
        const struct table_column *x = &k->columns[c];
        char decimals[16] = "";
        bool limits = c + 2 < k->n_columns && strlen(k->columns[c + 1].name) == strlen(x->name) + 3 &&
                      table_base_length(k->columns[c + 1].name) == strlen(x->name);
        if (x->type == TABLE_REAL)
            snprintf(decimals, sizeof decimals, ".%d", x->decimals);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s%s%s%s", c ? " " : "", x->name, limits ? "*" : "",
                                 x->key ? "!" : "", x->type == TABLE_TEXT ? "$" : "", x->unit[0] ? "/" : "", x->unit,
                                 decimals);
        for (size_t l = 1; limits && l <= 2; l++) {
            const struct table_column *of = &k->columns[c + l];
            assert_int_equal(table_base_length(of->name), strlen(x->name));
            assert_memory_equal(of->name, x->name, strlen(x->name));
            assert_string_equal(of->name + strlen(x->name), l == 1 ? "_lo" : "_hi");
            assert_string_equal(of->unit, x->unit);
            assert_int_equal(of->type, x->type);
            assert_int_equal(of->key, x->key);
            assert_int_equal(of->decimals, x->decimals);
        }
        c += limits ? 2 : 0;
    }
}

/* A program that reads a file by its columns can also read later versions. */
TEST(columns_and_keys_stay)
{
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
        char text[2000];
        const struct table_kind *k = tables_find(promised[i].table);
        assert_non_null(k);
        describe_columns(k, text, sizeof text);
        assert_string_equal(text, promised[i].columns);
    }
}
