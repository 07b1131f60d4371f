/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of license levels: added up by task and container, and how they are shown and written. */
#include <sys/stat.h>
#include <unistd.h>
#include <jansson.h>

#include "profiler/names.h"
#include "profiler/shares.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

static char folder[FOLDER_PATH_MAX];
static struct shares *shares;
static struct profile_names *names;
static struct shares_result result;

static int begin(void **state)
{
    (void)state;
    folder_make(folder);
    folder_put_line(folder, "500/task/501/comm", "nginx worker");
    folder_put_line(folder, "cgroup/web.service/cgroup.procs", "");
    shares = shares_new();
    char groups[FOLDER_PATH_MAX + 10];
    snprintf(groups, sizeof groups, "%s/cgroup", folder);
    names = profile_names_new(NULL, folder, groups);
    assert_non_null(shares);
    assert_non_null(names);
    memset(&result, 0, sizeof result);
    return 0;
}

static int end(void **state)
{
    (void)state;
    shares_result_free(&result);
    shares_free(shares);
    profile_names_free(names);
    folder_remove(folder);
    return 0;
}

static uint64_t web_service(void)
{
    char path[FOLDER_PATH_MAX + 40];
    struct stat s;
    snprintf(path, sizeof path, "%s/cgroup/web.service", folder);
    assert_int_equal(stat(path, &s), 0);
    return s.st_ino;
}

static void ran(uint32_t tgid, uint32_t pid, uint64_t cgroup, uint64_t cycles, uint64_t l1, uint64_t l2, bool known)
{
    const struct perf_stretch s = {
        .pid = pid, .tgid = tgid, .cgroup = cgroup, .known = known, .counts = {cycles, l1, l2}};
    const struct profile_record r = {.outcome = PROFILE_TAKEN,
                                     .sight = {.task = {.pid = pid, .tgid = tgid, .cgroup = cgroup}}};
    assert_true(shares_add(shares, folder, &s));
    assert_true(profile_names_note(names, &r));
}

static void named(uint32_t pid, const char *comm)
{
    struct perf_stretch s = {.named = true, .pid = pid, .tgid = pid};
    snprintf(s.comm, sizeof s.comm, "%s", comm);
    assert_true(shares_add(shares, folder, &s));
}

/* Two tasks, one of them in a container, idle time, and readings that were lost. */
static void make(void)
{
    named(600, "x265");
    ran(600, 600, 0, 4000, 1000, 3000, true);
    ran(500, 501, web_service(), 5000, 2500, 0, true);
    ran(0, 0, 0, 700, 700, 0, true);
    ran(500, 501, web_service(), 1000, 500, 0, false);
    ran(500, 501, web_service(), 1000, 0, 0, true);
    if (shares_result(shares, names, &result) != 0)
        fail_msg("out of memory");
    result.cpu = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz 06_55H-4";
    result.cpus = 64;
    result.seconds = 12.5;
    result.lost = 9;
    result.head.version = "1.2.3";
}

static void expect(size_t i, enum profile_kind kind, const char *name, double cycles, double share, double l1,
                   double l2)
{
    assert_true(i < result.n_rows);
    const struct shares_row *r = &result.rows[i];
    assert_int_equal(r->who.kind, kind);
    assert_string_equal(r->who.name, name);
    assert_close(r->cycles, cycles, 0);
    assert_close(r->who.share, share, 1e-12);
    assert_close(r->at_level[1], l1, 1e-12);
    assert_close(r->at_level[2], l2, 1e-12);
    assert_close(r->at_level[0], 1 - l1 - l2, 1e-12);
}

TEST_WITH(test_what_is_added_up, begin, end)
{
    make();
    assert_int_equal(result.n_rows, 4);
    expect(0, PROFILE_ALL, "all", 11000, 1, 4000.0 / 11000, 3000.0 / 11000);
    expect(1, PROFILE_TASK, "x265-600", 4000, 4.0 / 11, 0.25, 0.75); /* most at lower levels first */
    expect(2, PROFILE_TASK, "nginx worker-501", 6000, 6.0 / 11, 2500.0 / 6000, 0);
    assert_int_equal(result.rows[2].who.tgid, 500);
    expect(3, PROFILE_CONTAINER, "web.service", 6000, 6.0 / 11, 2500.0 / 6000, 0);
    assert_close(result.unknown, 1.0 / 11, 1e-12);
}

/* Counters are read one after the other: by a few cycles the levels may exceed all. */
TEST_WITH(test_levels_beyond_the_cycles, begin, end)
{
    ran(1, 1, 0, 1000, 600, 410, true);
    ran(2, 2, 0, 1000, 1001, 0, true);
    assert_int_equal(shares_result(shares, names, &result), 0);
    for (size_t i = 0; i < result.n_rows; i++)
        for (int level = 0; level < PROFILE_LEVELS; level++)
            assert_true(result.rows[i].at_level[level] >= 0 && result.rows[i].at_level[level] <= 1);
}

TEST_WITH(test_nothing_ran, begin, end)
{
    char *text = NULL;
    size_t size;
    assert_int_equal(shares_result(shares, names, &result), 0);
    result.cpu = "";
    FILE *out = open_memstream(&text, &size);
    shares_print(out, false, &result, 5);
    fclose(out);
    assert_non_null(strstr(text, "Nothing ran."));
    assert_null(strstr(text, "nan"));
    free(text);
}

static char *printed(bool colour, size_t rows)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    shares_print(out, colour, &result, rows);
    fclose(out);
    return text;
}

TEST_WITH(test_for_a_person, begin, end)
{
    make();
    result.rows[1].who.chosen = true;
    char *text = printed(false, 15);
    assert_non_null(strstr(text, "not overhead"));
    assert_non_null(strstr(text, "hyper-thread"));
    assert_non_null(strstr(text, "9.1 % of the cycles are unattributed"));
    assert_non_null(strstr(text, "\n* x265-600 "));
    assert_non_null(strstr(text, "    36.4      0.0     25.0     75.0\n"));
    assert_non_null(strstr(text, "* belongs to the command"));
    assert_null(strchr(text, '\033'));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(text);
    text = printed(true, 1);
    assert_non_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "  and 1 other, together 54.5 % of all cycles\n"));
    free(text);
}

TEST_WITH(test_hostile_names, begin, end)
{
    named(7, "\033[2J\n\xff,\"");
    ran(7, 7, 0, 1000, 0, 0, true);
    named(8, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
    ran(8, 8, 0, 900, 0, 0, true);
    assert_int_equal(shares_result(shares, names, &result), 0);
    result.cpu = "";
    memset(result.rows[2].who.name, 'n', 200);
    char *text = printed(false, 15);
    assert_null(strchr(text, '\033'));
    assert_null(strstr(text, "\xff"));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t characters = 0;
        for (size_t i = 0; i < strcspn(line, "\n"); i++)
            characters += ((unsigned char)line[i] & 0xc0) != 0x80;
        assert_true(characters <= 100);
    }
    free(text);
    text = shares_json(&result);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_decref(root);
    free(text);
}

TEST_WITH(test_for_programs, begin, end)
{
    make();
    char *text = shares_json(&result);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "format")), "characterize-profile/1");
    assert_string_equal(json_string_value(json_object_get(root, "kind")), "shares");
    assert_null(json_object_get(root, "overhead"));
    assert_int_equal(json_array_size(json_object_get(root, "warnings")), 1);
    const json_t *task = json_array_get(json_object_get(root, "tasks"), 0);
    assert_string_equal(json_string_value(json_object_get(task, "name")), "x265-600");
    assert_int_equal(json_integer_value(json_object_get(task, "pid")), 600);
    assert_close(json_real_value(json_array_get(json_object_get(task, "at_level"), 2)), 0.75, 1e-12);
    assert_int_equal(json_array_size(json_object_get(root, "containers")), 1);
    json_decref(root);
    free(text);

    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(shares_csv(out, &result), 0);
    fclose(out);
    assert_non_null(strstr(text, "# caution: Shares of cycles at a level, not overhead"));
    assert_non_null(strstr(text, "\nkind,name,command,pid,tgid,cgroup,chosen,cycles,share,at_level_0,at_level_1,"
                                 "at_level_2\n"));
    assert_non_null(strstr(text, "\ntask,x265-600,,600,600,,no,4000,"));
    free(text);
}
