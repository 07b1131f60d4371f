/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of containers from a tree that looks like the unified hierarchy, of tasks from one that looks like /proc. */
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/names.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#define HEX64 "3f4a9c1d2b7e00112233445566778899aabbccddeeff00112233445566778899"
#define OTHER64 "3f4a9c1d2b7eff112233445566778899aabbccddeeff00112233445566778899"
#define POD "8c1f2e7a_0a1b_4c2d_9e8f_001122334455"

static void shortens_to(const char *path, const char *want)
{
    char out[256];
    profile_names_shorten(path, out, sizeof(out));
    assert_string_equal(out, want);
}

TEST(paths_are_shortened_as_people_call_them)
{
    shortens_to("/system.slice/docker-" HEX64 ".scope", "docker-3f4a9c1d2b7e");
    shortens_to("/docker/" HEX64, "docker/3f4a9c1d2b7e");
    shortens_to("/docker/" HEX64 "/init.scope", "docker/3f4a9c1d2b7e/init.scope");
    shortens_to("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD ".slice/cri-containerd-" HEX64
                ".scope",
                "pod-8c1f2e7a/containerd-3f4a9c1d2b7e");
    shortens_to("/kubepods/besteffort/pod8c1f2e7a-0a1b-4c2d-9e8f-001122334455/" HEX64,
                "kubepods/besteffort/pod-8c1f2e7a/3f4a9c1d2b7e");
    shortens_to("/kubepods.slice/kubepods-pod" POD ".slice/crio-" HEX64 ".scope", "pod-8c1f2e7a/crio-3f4a9c1d2b7e");
    shortens_to("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" HEX64 ".scope",
                "user-1000/podman-3f4a9c1d2b7e");
    shortens_to("/machine.slice/libpod-" HEX64 ".scope/container", "podman-3f4a9c1d2b7e/container");
    shortens_to("/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", "qemu-1-web.scope");
    shortens_to("/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator",
                "qemu-1-web.scope/libvirt/emulator");
    shortens_to("/lxc.payload.web", "lxc-web");
    shortens_to("/system.slice/nginx.service", "nginx.service");
    shortens_to("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service");
    shortens_to("/user.slice/user-1000.slice/session-3.scope", "user-1000/session-3.scope");
    shortens_to("/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.scope", "user-1000/firefox.scope");
    shortens_to("/user.slice/user-1000.slice/user@1000.service", "user-1000/user@1000.service");
    shortens_to("/init.scope", "init.scope");
    shortens_to("/system.slice", "system.slice");
    shortens_to("/batch/job_12/step", "batch/job_12/step");
    shortens_to("/", "/");
    shortens_to("", "/");
}

TEST(hostile_paths_stay_harmless)
{
    char path[6000], out[64];
    shortens_to("/a\033[2Jb\n/\\x1b\\x07\\x00\\xzz", "a?[2Jb /?"
                                                     "?\\x00\\xzz");
    shortens_to("/\\x2e\\x2e\\x2fetc", "../etc"); /* text, which nobody opens */
    shortens_to("/pod/podpodpod/pod8c1f2e7a", "pod/podpodpod/pod8c1f2e7a");
    shortens_to("/.slice/user-.slice/user-/user-x/x", ".slice/user-/user-x/x");
    for (size_t length = 0; length < sizeof(path); length = length * 3 / 2 + 1) {
        memset(path, length % 2 ? 'f' : '/', sizeof(path));
        path[length] = '\0';
        profile_names_shorten(path, out, sizeof(out));
        assert_true(strlen(out) > 0 && strlen(out) < sizeof(out));
        memset(path, 'x', sizeof(path));
        for (size_t i = 0; i < length; i += 5)
            path[i] = '/';
        path[length] = '\0';
        profile_names_shorten(path, out, sizeof(out));
        assert_true(strlen(out) > 0 && strlen(out) < sizeof(out));
    }
}

static uint64_t make_group(const char *root, const char *path)
{
    char file[8192];
    struct stat s;
    folder_put(root, path, "");
    (void)snprintf(file, sizeof(file), "%s/%s", root, path);
    *strrchr(file, '/') = '\0';
    assert_int_equal(stat(file, &s), 0);
    return s.st_ino;
}

static struct profile_record of_group(uint64_t cgroup)
{
    struct profile_record r;
    memset(&r, 0, sizeof(r));
    r.sight.task.cgroup = cgroup;
    return r;
}

static const char *name_of(struct profile_names *n, uint64_t cgroup)
{
    static struct profile_row row;
    struct profile_result r = {.n_rows = 1, .rows = &row};
    memset(&row, 0, sizeof(row));
    row.kind = PROFILE_CONTAINER;
    row.cgroup = cgroup;
    profile_names_fill(n, &r);
    return row.name;
}

static void note_group(struct profile_names *n, uint64_t cgroup)
{
    const struct profile_record r = of_group(cgroup);
    assert_true(profile_names_note(n, &r));
}

TEST(containers_are_named_by_number)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    uint64_t nginx = make_group(root, "system.slice/nginx.service/cgroup.procs");
    uint64_t docker = make_group(root, "system.slice/docker-" HEX64 ".scope/cgroup.procs");
    struct profile_names *n = profile_names_new(NULL, "/nonexistent", root);
    assert_non_null(n);
    char number[64];
    (void)snprintf(number, sizeof(number), "cgroup %llu", (unsigned long long)nginx);
    assert_string_equal(name_of(n, nginx), number); /* nobody has looked yet */
    note_group(n, nginx);
    assert_string_equal(name_of(n, nginx), "nginx.service");
    assert_string_equal(name_of(n, docker), "docker-3f4a9c1d2b7e");
    assert_string_equal(name_of(n, 1), "cgroup 1");
    /* one that is gone keeps its name */
    folder_remove(root);
    assert_string_equal(name_of(n, nginx), "nginx.service");
    profile_names_free(n);
}

TEST(those_made_later_are_found)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    uint64_t first = make_group(root, "system.slice/docker-" HEX64 ".scope/cgroup.procs");
    struct profile_names *n = profile_names_new(NULL, "/nonexistent", root);
    note_group(n, first);
    assert_string_equal(name_of(n, first), "docker-3f4a9c1d2b7e");
    uint64_t later = make_group(root, "system.slice/later.service/cgroup.procs");
    /* two of one name: both by their path */
    uint64_t twin = make_group(root, "machine.slice/docker-" OTHER64 ".scope/cgroup.procs");
    for (int i = 0; i < 1000 && strncmp(name_of(n, later), "cgroup", 6) == 0; i++) {
        note_group(n, later);
        (void)usleep(10000);
    }
    assert_string_equal(name_of(n, later), "later.service");
    assert_string_equal(name_of(n, first), "/system.slice/docker-" HEX64 ".scope");
    assert_string_equal(name_of(n, twin), "/machine.slice/docker-" OTHER64 ".scope");
    profile_names_free(n);
    folder_remove(root);
}

TEST(an_ambiguous_path_that_is_too_long_keeps_its_end)
{
    char root[FOLDER_PATH_MAX], one[600], two[600], tail[131];
    folder_make(root);
    memset(tail, 'y', sizeof(tail) - 1);
    tail[sizeof(tail) - 1] = '\0';
    (void)snprintf(one, sizeof(one), "a%s.slice/b.slice/%s/procs", tail, tail);
    (void)snprintf(two, sizeof(two), "a%s.slice/c.slice/%s/procs", tail, tail);
    uint64_t first = make_group(root, one), second = make_group(root, two);
    struct profile_names *n = profile_names_new(NULL, "/nonexistent", root);
    note_group(n, first);
    char name[256];
    (void)snprintf(name, sizeof(name), "%s", name_of(n, first));
    assert_int_equal(strlen(name), sizeof(name) - 1);
    assert_memory_equal(name, "...yy", 5);
    assert_non_null(strstr(name, "/b.slice/yyyy"));
    assert_non_null(strstr(name_of(n, second), "/c.slice/yyyy"));
    profile_names_free(n);
    folder_remove(root);
}

/* No links are followed, and the depth is bounded. */
TEST(odd_trees_end)
{
    char root[FOLDER_PATH_MAX], path[1024] = "", link[2048];
    folder_make(root);
    for (int i = 0; i < PROFILE_NAMES_DEPTH_MAX + 3; i++)
        (void)strcat(path, "d/");
    (void)strcat(path, "procs");
    uint64_t deep = make_group(root, path), shallow = make_group(root, "d/procs");
    (void)snprintf(link, sizeof(link), "%s/d/loop", root);
    assert_int_equal(symlink(root, link), 0);
    struct profile_names *n = profile_names_new(NULL, "/nonexistent", root);
    note_group(n, shallow);
    assert_string_equal(name_of(n, shallow), "d");
    for (int i = 0; i < 20; i++, (void)usleep(10000))
        note_group(n, deep);
    assert_memory_equal(name_of(n, deep), "cgroup ", 7);
    profile_names_free(n);
    folder_remove(root);
    n = profile_names_new(NULL, "/nonexistent", root);
    note_group(n, shallow);
    assert_memory_equal(name_of(n, shallow), "cgroup ", 7);
    profile_names_free(n);
}

/* A fake /proc: the start time is in hundredths of a second (sysconf's _SC_CLK_TCK is 100 on all x86). */
static void put_task(const char *proc, uint32_t pid, const char *comm, unsigned long long start)
{
    char name[64], text[512];
    (void)snprintf(name, sizeof(name), "%u/stat", pid);
    (void)snprintf(text, sizeof(text), "%u (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %llu 20 21 22 23 24\n",
                   pid, comm, start);
    folder_put(proc, name, text);
}

static void put_command(const char *proc, uint32_t pid, const char *words, size_t length)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%u/cmdline", proc, pid);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(words, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

static const char *command_of(struct profile_names *n, uint32_t pid, uint64_t start_ns)
{
    static struct profile_row row;
    struct profile_result r = {.n_rows = 1, .rows = &row};
    memset(&row, 0, sizeof(row));
    row.kind = PROFILE_TASK;
    row.pid = pid;
    row.start_ns = start_ns;
    profile_names_fill(n, &r);
    return row.command;
}

TEST(commands_are_those_of_the_task_that_is_meant)
{
    char proc[FOLDER_PATH_MAX];
    folder_make(proc);
    put_task(proc, 41, "a) b (c", 1234);
    static const char words[] = "python3\0train.py\0--x=1 2\0";
    put_command(proc, 41, words, sizeof(words) - 1);
    put_task(proc, 42, "reused", 9999);
    put_command(proc, 42, "wrong", 6);
    put_task(proc, 43, "kworker", 5);
    put_command(proc, 43, "", 0);
    put_task(proc, 44, "evil", 7);
    static const char evil[] = "\033[2J\0\n\xff\0\0\0";
    put_command(proc, 44, evil, sizeof(evil) - 1);
    struct profile_names *n = profile_names_new(NULL, proc, "/nonexistent");
    struct profile_record r;
    memset(&r, 0, sizeof(r));
    r.sight.task = (struct profile_task){.pid = 41, .tgid = 41, .start_ns = 12345678901};
    r.sight.other = (struct profile_task){.pid = 42, .tgid = 42, .start_ns = 12345678901};
    assert_true(profile_names_note(n, &r));
    r.sight.task = (struct profile_task){.pid = 43, .tgid = 43, .start_ns = 0};
    r.sight.other = (struct profile_task){.pid = 44, .tgid = 44, .start_ns = 79999999};
    assert_true(profile_names_note(n, &r));
    r.sight.task = (struct profile_task){.pid = 45, .tgid = 45, .start_ns = 1};
    r.sight.other.pid = 0;
    assert_true(profile_names_note(n, &r));
    assert_string_equal(command_of(n, 41, 12345678901), "python3 train.py --x=1 2");
    assert_string_equal(command_of(n, 41, 12345678902), "");
    assert_string_equal(command_of(n, 42, 12345678901), "");
    assert_string_equal(command_of(n, 43, 0), "");
    assert_string_equal(command_of(n, 44, 79999999), "?[2J  \xEF\xBF\xBD");
    assert_string_equal(command_of(n, 45, 1), "");
    /* a known name stays known when the task has gone */
    folder_remove(proc);
    r.sight.task = (struct profile_task){.pid = 41, .tgid = 41, .start_ns = 12345678901};
    assert_true(profile_names_note(n, &r));
    assert_string_equal(command_of(n, 41, 12345678901), "python3 train.py --x=1 2");
    profile_names_free(n);
}

/* The real /proc: this very test. */
TEST(this_program_has_a_command_line)
{
    struct profile_names *n = profile_names_new(NULL, NULL, NULL);
    struct profile_record r;
    memset(&r, 0, sizeof(r));
    r.sight.task.pid = (uint32_t)getpid();
    assert_true(profile_names_note(n, &r));
    assert_non_null(strstr(command_of(n, (uint32_t)getpid(), 0), "test_names"));
    profile_names_free(n);
}

static char *modelled_name(const struct profile_source *s, uint64_t cgroup)
{
    (void)s;
    return cgroup == 3 ? strdup("batch\n") : NULL;
}

/* A model's tasks have numbers that are others' on this system. */
TEST(a_models_names_are_its_own)
{
    const struct profile_source_ops ops = {.container = modelled_name};
    const struct profile_source source = {.ops = &ops};
    struct profile_names *n = profile_names_new(&source, NULL, NULL);
    struct profile_record r = of_group(3);
    r.sight.task.pid = (uint32_t)getpid();
    assert_true(profile_names_note(n, &r));
    assert_string_equal(command_of(n, (uint32_t)getpid(), 0), "");
    assert_string_equal(name_of(n, 3), "batch ");
    assert_string_equal(name_of(n, 4), "cgroup 4");
    profile_names_free(n);
    profile_names_free(NULL);
}
