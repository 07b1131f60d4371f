/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The snapshot that results carry: its members, its line, and lines compared. */
#include <unistd.h>

#include "computer/environment/environment.h"
#include "computer/environment/snapshot.h"
#include "tests/support/fake_environment.h"
#include "tests/support/test.h"

static int make_shown(void **state)
{
    static char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    *state = root;
    return 0;
}

static int remove_shown(void **state)
{
    folder_remove(*state);
    return 0;
}

static void expect_line(const char *root, int cpu, const char *line)
{
    struct environment e;
    char is[1000];
    environment_read_facts(root, cpu, &e);
    snapshot_line(&e, is, sizeof is);
    assert_string_equal(is, line);
}

TEST_WITH(the_line, make_shown, remove_shown)
{
    expect_line(*state, 3,
                "kernel 6.1.0; microcode 0x2b000590; BIOS 2.1 2024-03-01; SMT on; governor powersave; "
                "driver intel_pstate; turbo on; EPP balance_performance; hypervisor none; mitigations default; "
                "isolated yes; nohz_full no");
    folder_put_line(*state, "sys/devices/system/cpu/smt/control", "forceoff");
    folder_put_line(*state, "sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    folder_put_line(*state, "sys/class/dmi/id/bios_date", "yesterday; or so");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "a; turbo off");
    folder_put_line(*state, "proc/cmdline", "mitigations=off");
    folder_put(*state, "proc/cpuinfo", "flags\t: hypervisor\n");
    expect_line(*state, 2,
                "kernel 6.1.0; microcode 0x2b000590; BIOS 2.1 yesterday, or so; SMT off; governor a, turbo off; "
                "driver intel_pstate; turbo off; EPP balance_performance; hypervisor unnamed; mitigations off; "
                "isolated no; nohz_full no");
}

/* The control says it where there is one: "active" only tells whether a sibling is online at the moment. */
TEST_WITH(whether_threads_share_cores, make_shown, remove_shown)
{
    static const struct {
        const char *control, *active, *is;
    } cases[] = {
        {"on", "1", "; SMT on;"},
        {"on", "0", "; SMT on;"},
        {"off", "0", "; SMT off;"},
        {"forceoff", "1", "; SMT off;"},
        {"notsupported", "0", "; SMT notsupported;"},
        {"notimplemented", "1", "; SMT notsupported;"},
        {"", "1", "; SMT on;"},
        {"", "0", "; SMT off;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char is[1000];
        struct environment e;
        folder_put_line(*state, "sys/devices/system/cpu/smt/control", cases[i].control);
        folder_put_line(*state, "sys/devices/system/cpu/smt/active", cases[i].active);
        environment_read_facts(*state, 3, &e);
        snapshot_line(&e, is, sizeof is);
        if (!strstr(is, cases[i].is))
            fail_msg("control \"%s\", active %s: %s", cases[i].control, cases[i].active, is);
    }
}

TEST_WITH(turbo_of_other_drivers, make_shown, remove_shown)
{
    char path[300], is[1000];
    struct environment e;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/intel_pstate/no_turbo", (char *)*state);
    assert_int_equal(unlink(path), 0);
    folder_put_line(*state, "sys/devices/system/cpu/cpufreq/boost", "1");
    environment_read_facts(*state, 2, &e);
    snapshot_line(&e, is, sizeof is);
    assert_non_null(strstr(is, "; turbo on;"));
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpufreq/boost", "0");
    environment_read_facts(*state, 2, &e);
    snapshot_line(&e, is, sizeof is);
    assert_non_null(strstr(is, "; turbo off;"));
}

TEST_WITH(the_members, make_shown, remove_shown)
{
    struct environment e;
    environment_read_facts(*state, 3, &e);
    json_t *json = snapshot_json(&e);
    assert_int_equal(json_object_size(json), 12);
    assert_string_equal(json_string_value(json_object_get(json, "bios")), "2.1 2024-03-01");
    assert_string_equal(json_string_value(json_object_get(json, "epp")), "balance_performance");
    assert_true(json_is_true(json_object_get(json, "isolated")));
    assert_true(json_is_false(json_object_get(json, "nohz_full")));
    json_decref(json);
    environment_read_facts("/nonexistent", 3, &e);
    json = snapshot_json(&e);
    assert_int_equal(json_object_size(json), 12);
    for (void *i = json_object_iter(json); i != NULL; i = json_object_iter_next(json, i))
        assert_true(json_is_null(json_object_iter_value(i)));
    json_decref(json);
    char line[10] = "x";
    snapshot_line(&e, line, sizeof line);
    assert_string_equal(line, "");
}

TEST(lines_compared)
{
    static const struct {
        const char *here, *there, *differs;
    } cases[] = {
        {"kernel 6.1; SMT on", "kernel 6.1; SMT on", ""},
        {"SMT on; kernel 6.1", "kernel 6.1; SMT on", ""},
        {"governor powersave; turbo on", "governor performance; turbo on", "governor powersave, there performance"},
        {"kernel 6.1; EPP performance", "kernel 6.1", "EPP performance, there unknown"},
        {"kernel 6.1", "kernel 6.1; BIOS 2.1 2024-03-01", "BIOS unknown, there 2.1 2024-03-01"},
        {"SMT on; turbo on", "SMT off; turbo off", "SMT on, there off; turbo on, there off"},
        {"turbo o", "turbo on", "turbo o, there on"},
        {"", "kernel 6.1", ""},
        {"kernel 6.1", "", ""},
        {"; ;;  ; SMT on", "SMT on;", ""},
    };
    char text[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(snapshot_differs(cases[i].here, cases[i].there, text, sizeof text), *cases[i].differs != '\0');
        assert_string_equal(text, cases[i].differs);
    }
    char little[12];
    assert_true(snapshot_differs("governor powersave", "governor performance", little, sizeof little));
    assert_string_equal(little, "governor po");
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
