/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any file of the tree may be anything: garbage, a folder, a pipe, a loop of links, forbidden, gone. Whatever is read
 * of it must be fit to show, and parts of the time must be parts.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "computer/environment/environment.h"
#include "computer/environment/tree.h"
#include "computer/environment/snapshot.h"
#include "tests/support/fake_environment.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/plain_text.h"

enum { PATHS_MAX = 600, PATH_ROOM = 200, GARBAGE_MAX = 20000 };

/* ---- all files of a tree ---- */

/* nftw() hands nothing through */
static struct {
    char path[PATHS_MAX][PATH_ROOM];
    size_t n;
} found;

static int take_path(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    (void)f;
    if (type == FTW_F && found.n < PATHS_MAX)
        snprintf(found.path[found.n++], PATH_ROOM, "%s", path);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void find_files(const char *root)
{
    found.n = 0;
    assert_int_equal(nftw(root, take_path, 8, FTW_PHYS), 0);
    assert_true(found.n > 200 && found.n < PATHS_MAX);
    qsort(found.path, found.n, PATH_ROOM, by_path);
}

/* ---- what is put in their place ---- */

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
}

/* Bytes of all kinds, digits, or pieces of what such files say. */
static void write_garbage(const char *path, struct rng *r)
{
    static const char *const pieces[] = {
        "\n",           " ",  ":", "cpu2 ",       "CPU2 ", "0-8191,", "(x) R ", "LOC:", "-1", "0::/",
        "cpuset",       "..", "/", " - cgroup2 ", "max ",  "flags: ", "\\040",  "-",    ",",  "99999999999999999999999",
        "mitigations=", "nan"};
    static char bytes[GARBAGE_MAX + 64];
    size_t n = 0, length = (size_t)rng_log(r, 1, GARBAGE_MAX);
    int kind = rng_int(r, 0, 2);
    while (n < length) {
        const char *piece = pieces[rng_int(r, 0, (int)(sizeof pieces / sizeof *pieces) - 1)];
        if (kind == 0)
            bytes[n++] = (char)rng_int(r, 0, 255);
        else if (kind == 1 || rng_chance(r, 0.3))
            bytes[n++] = (char)rng_int(r, '0', '9');
        else
            n += (size_t)snprintf(bytes + n, 64, "%s", piece);
    }
    write_bytes(path, bytes, n);
}

enum oddity { GARBAGE, EMPTY, FOLDER, PIPE, LOOP, DANGLING, FORBIDDEN, GONE, ODDITIES };

static void make_odd(const char *path, enum oddity oddity, struct rng *r)
{
    assert_int_equal(unlink(path), 0);
    if (oddity == GARBAGE || oddity == FORBIDDEN)
        write_garbage(path, r);
    if (oddity == EMPTY)
        write_bytes(path, "", 0);
    if (oddity == FOLDER)
        assert_int_equal(mkdir(path, 0700), 0);
    if (oddity == PIPE)
        assert_int_equal(mkfifo(path, 0600), 0);
    if (oddity == LOOP || oddity == DANGLING)
        assert_int_equal(symlink(oddity == LOOP ? path : "/nowhere", path), 0);
    if (oddity == FORBIDDEN)
        assert_int_equal(chmod(path, 0), 0);
}

/* ---- what must hold whatever is read ---- */

static void expect_plain(const char *text, size_t size)
{
    char plain[4 * ENVIRONMENT_TEXT];
    assert_non_null(memchr(text, '\0', size));
    plain_text(text, plain, sizeof plain);
    assert_string_equal(text, plain);
}

static void expect_part(double part)
{
    assert_true(isnan(part) || (part >= 0 && part <= 1));
}

static void expect_amount(double amount)
{
    assert_true(isnan(amount) || (amount >= 0 && isfinite(amount)));
}

static void check_environment(const struct environment *e)
{
    for (size_t i = 0; i < ENV_FACTS; i++) {
        expect_plain(e->fact[i].text, sizeof e->fact[i].text);
        assert_true(e->fact[i].error == 0 || e->fact[i].text[0] == '\0');
    }
    for (size_t i = 0; i < e->n_states; i++) {
        expect_plain(e->states[i].name, sizeof e->states[i].name);
        assert_true(e->states[i].exit_us >= -1);
    }
    for (size_t i = 0; i < e->n_irqs; i++) {
        expect_plain(e->irqs[i].name, sizeof e->irqs[i].name);
        expect_plain(e->irqs[i].device, sizeof e->irqs[i].device);
        assert_true(e->irqs[i].counted <= e->irqs[i].since_boot);
    }
    for (size_t i = 0; i < e->n_tasks; i++) {
        expect_plain(e->tasks[i].name, sizeof e->tasks[i].name);
        assert_true(e->tasks[i].pid > 0 && e->tasks[i].on_cpu != e->tasks[i].on_sibling);
        expect_amount(e->tasks[i].cpu_ms);
    }
    for (size_t i = 0; i < e->n_weaknesses; i++)
        expect_plain(e->weaknesses[i].text, sizeof e->weaknesses[i].text);
    expect_plain(e->cgroup_cpus, sizeof e->cgroup_cpus);
    expect_plain(e->microcode, sizeof e->microcode);
    expect_plain(e->mitigations, sizeof e->mitigations);
    expect_plain(e->hypervisor_name, sizeof e->hypervisor_name);
    expect_part(e->steal);
    expect_part(e->busy_here);
    expect_part(e->busy_sibling);
    expect_part(e->busy_others);
    expect_amount(e->begun);
    expect_amount(e->timer_hz);
    expect_amount(e->thermal_now);
    expect_amount(e->thermal_boot);
    assert_true(isnan(e->cgroup_quota) || (e->cgroup_quota > 0 && isfinite(e->cgroup_quota)));
    assert_true(e->secure_boot >= -1 && e->secure_boot <= 1 && e->config_hz >= 0);
}

/* While it waits, another file becomes garbage. */
static int make_mess(void *data)
{
    struct rng *r = data;
    struct stat s;
    const char *path = found.path[rng_int(r, 0, (int)found.n - 1)];
    if (lstat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_mode & S_IWUSR)
        write_garbage(path, r);
    return 1;
}

static void read_and_check(const char *root, struct rng *r)
{
    struct environment e;
    struct machine_error err = {0};
    char line[1000];
    if (environment_read(root, 2, 0.001, make_mess, r, &e, &err) != MACHINE_OK) {
        assert_true(strchr(err.text, '\n') == NULL);
        return;
    }
    check_environment(&e);
    snapshot_line(&e, line, sizeof line);
    expect_plain(line, sizeof line);
    json_t *json = snapshot_json(&e);
    assert_int_equal(json_object_size(json), 12);
    json_decref(json);
    environment_free(&e);
}

/* ---- tests ---- */

static const uint64_t SEED = 14;

/* A tree, of which one file after the other is made odd, each of another kind, until all are. */
TEST(each_file_becomes_odd)
{
    for (unsigned round = 0; round < rng_rounds(ODDITIES); round++) {
        char root[FOLDER_PATH_MAX];
        struct rng r;
        rng_init(&r, SEED, round);
        fake_environment_make(root);
        find_files(root);
        for (size_t i = 0; i < found.n; i++) {
            make_odd(found.path[i], (enum oddity)((i + 3 * round) % ODDITIES), &r);
            if (i % 8 == 0 || i + 1 == found.n)
                read_and_check(root, &r);
        }
        folder_remove(root);
    }
}

/* All files are garbage at once, time and again. */
TEST(all_files_are_garbage)
{
    char root[FOLDER_PATH_MAX];
    struct rng r;
    rng_init(&r, SEED, 100);
    fake_environment_make(root);
    find_files(root);
    for (unsigned round = 0; round < rng_rounds(12); round++) {
        for (size_t i = 0; i < found.n; i++)
            write_garbage(found.path[i], &r);
        read_and_check(root, &r);
    }
    folder_remove(root);
}

/* ---- files of any size ---- */

/* Files of /proc have no size to request: they are read in pieces of 4 KiB, then of twice as much. */
TEST(whole_files_of_any_size)
{
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 40000};
    char root[FOLDER_PATH_MAX], *text = malloc(40001);
    struct tree t;
    assert_non_null(text);
    folder_make(root);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            text[k] = (char)('a' + k % 23);
        text[sizes[i]] = '\0';
        folder_put(root, "file", text);
        assert_int_equal(tree_open(root, &t), 0);
        char *whole = tree_whole(&t, "file");
        assert_non_null(whole);
        assert_int_equal(strlen(whole), sizes[i]);
        assert_string_equal(whole, text);
        free(whole);
        char some[4097];
        long length = tree_text(&t, "file", some, sizeof some);
        assert_int_equal(length, sizes[i] < 4096 ? sizes[i] : 4096);
        assert_memory_equal(some, text, (size_t)length);
        assert_int_equal(some[length], '\0');
        assert_null(tree_whole(&t, "another"));
        assert_int_equal(errno, ENOENT);
        tree_close(&t);
    }
    folder_remove(root);
    free(text);
}
