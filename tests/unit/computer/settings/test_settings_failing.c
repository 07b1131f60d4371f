/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every call for a file fails once, while settings are shown, changed, put back and put back after a killed run: what
 * is told is held in tests/golden/machine/settings.failing, sorted and counted; in the end everything is as it was.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "computer/settings/settings.h"
#include "tests/support/failing_files.h"
#include "tests/support/golden.h"
#include "tests/support/quiet_rig.h"
#include "tests/support/test.h"

enum { LINES_MOST = 1000, LINE_LENGTH = 700, ALL_PARTS = (QUIET_DEFAULT | QUIET_TURBO | QUIET_SMT) & ~QUIET_ISOLATE };
static struct line {
    char text[LINE_LENGTH];
    unsigned times;
} lines[LINES_MOST];
static size_t n_lines;

/* Without the folder, which has another name each time. */
static void add_line(const struct quiet_tree *t, const char *what, int status, const char *text)
{
    char line[LINE_LENGTH];
    size_t i = 0;
    snprintf(line, LINE_LENGTH, "%s %s: %d %s", what, failing_files.failed, status, text);
    for (char *at = strstr(line, t->root); at != NULL; at = strstr(at, t->root))
        memmove(at, at + strlen(t->root), strlen(at + strlen(t->root)) + 1);
    for (char *c = line; *c != '\0'; c++)
        *c = *c == '\n' ? '|' : *c;
    while (i < n_lines && strcmp(lines[i].text, line) != 0)
        i++;
    assert_true(i < LINES_MOST);
    memcpy(lines[i].text, line, sizeof line);
    lines[i].times++;
    n_lines += i == n_lines;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void begin_failing(unsigned at)
{
    failing_files.calls = 0;
    failing_files.fails_at = at;
    failing_files.failed = NULL;
    failing_files.off = false;
}

/* Whether the call came; else nothing has failed, and all have had their turn. */
static bool end_failing(void)
{
    failing_files.off = true;
    return failing_files.failed != NULL;
}

static void take_line(void *data, const struct settings_line *line)
{
    char *text = data;
    size_t length = strlen(text);
    if (line->name == NULL)
        snprintf(text + length, LINE_LENGTH - length, "%s: %s|", settings_part_names[__builtin_ctz(line->part)],
                 line->why);
}

static const struct settings_wish wish = {.turbo = -1, .quiet = ALL_PARTS, .cpu = 3};

/* Back as it was; what failed while it was put back is put back from the journal. */
static void all_is_as_it_was(const struct quiet_tree *t)
{
    char text[800];
    bool lives = false;
    struct machine_error err;
    if (settings_recover(&t->roots, text, sizeof text, &lives, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    quiet_all_are(t, 0);
    assert_string_equal(folder_get(t->root, "state"), "(not there)");
}

static void shown(const struct quiet_tree *t)
{
    bool failed = true;
    for (unsigned at = 1; failed; at++) {
        struct machine_error err = {.text = ""};
        char left[LINE_LENGTH] = "";
        begin_failing(at);
        int status = settings_show(&t->roots, &wish, take_line, left, &err);
        failed = end_failing();
        if (failed)
            add_line(t, "shown", status, status == MACHINE_OK ? left : err.text);
    }
}

static void applied(const struct quiet_tree *t)
{
    bool failed = true;
    for (unsigned at = 1; failed; at++) {
        struct machine_error err = {.text = ""};
        struct settings *s = NULL;
        begin_failing(at);
        int status = settings_apply(&t->roots, &wish, &s, &err);
        failed = end_failing();
        if (failed)
            add_line(t, "applied", status, status == MACHINE_OK ? settings_left(s) : err.text);
        if (status == MACHINE_OK && settings_restore(s, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        all_is_as_it_was(t);
    }
}

static void restored(const struct quiet_tree *t)
{
    bool failed = true;
    for (unsigned at = 1; failed; at++) {
        struct machine_error err = {.text = ""};
        struct settings *s = NULL;
        failing_files.off = true;
        assert_int_equal(settings_apply(&t->roots, &wish, &s, &err), MACHINE_OK);
        begin_failing(at);
        int status = settings_restore(s, &err);
        failed = end_failing();
        if (failed)
            add_line(t, "restored", status, err.text);
        all_is_as_it_was(t);
    }
}

static void left_by_a_killed_run(const struct quiet_tree *t)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct settings *s = NULL;
        struct machine_error err;
        _exit(settings_apply(&t->roots, &wish, &s, &err));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == MACHINE_OK);
}

static void recovered(const struct quiet_tree *t)
{
    bool failed = true;
    for (unsigned at = 1; failed; at++) {
        struct machine_error err = {.text = ""};
        char text[LINE_LENGTH] = "";
        bool lives = false;
        failing_files.off = true;
        left_by_a_killed_run(t);
        begin_failing(at);
        int status = settings_recover(&t->roots, text, sizeof text, &lives, &err);
        failed = end_failing();
        if (failed) {
            char *pid = strstr(text, "process ");
            if (pid != NULL)
                memmove(pid + 8, pid + 8 + strspn(pid + 8, "0123456789"),
                        strlen(pid + 8) + 1 - strspn(pid + 8, "0123456789"));
            add_line(t, lives ? "recovered, lives" : "recovered", status, status == MACHINE_OK ? text : err.text);
        }
        all_is_as_it_was(t);
    }
}

TEST_WITH(whatever_fails_is_told, quiet_grow, quiet_fell)
{
    const struct quiet_tree *t = *state;
    struct golden g;
    shown(t);
    applied(t);
    restored(t);
    recovered(t);
    qsort(lines, n_lines, sizeof *lines, by_text);
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < n_lines; i++)
        fprintf(out, "%u * %s\n", lines[i].times, lines[i].text);
    golden_expect(&g, "machine/settings", "failing", false);
}

BEFORE_TESTS
{
    failing_files.off = true;
    close(STDIN_FILENO); /* what is opened may have descriptor 0, which is as good as any */
}
