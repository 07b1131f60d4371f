/* SPDX-License-Identifier: GPL-3.0-or-later */
/* util/atomic_file.c: whole or not at all, on every way out. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/atomic_file.h"
#include "tests/support/folder.h"

struct place {
    char directory[FOLDER_PATH_MAX];
    char file[128];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    folder_make(p->directory);
    snprintf(p->file, sizeof(p->file), "%s/target", p->directory);
    *state = p;
    return 0;
}

/* Entries of a directory without the two dots. */
static int entries(const char *directory)
{
    int n = 0;
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    folder_remove(p->directory);
    free(p);
    return 0;
}

static void put_file(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void assert_holds(const char *name, const char *text)
{
    char found[256] = "";
    FILE *in = fopen(name, "r");
    assert_non_null(in);
    size_t n = fread(found, 1, sizeof(found) - 1, in);
    found[n] = '\0';
    fclose(in);
    assert_string_equal(found, text);
}

static void write_whole(const char *name, const char *text)
{
    struct atomic_file f;
    char why[400];
    assert_int_equal(atomic_open(&f, name, why, sizeof(why)), 0);
    assert_true(fputs(text, f.stream) >= 0);
    assert_int_equal(atomic_commit(&f, why, sizeof(why)), 0);
}

TEST_WITH(appears_only_when_committed, make_place, remove_place)
{
    struct place *p = *state;
    struct atomic_file f;
    char why[400];
    assert_int_equal(atomic_open(&f, p->file, why, sizeof(why)), 0);
    fputs("all of it\n", f.stream);
    fflush(f.stream);
    assert_int_equal(access(p->file, F_OK), -1);
    assert_int_equal(atomic_commit(&f, why, sizeof(why)), 0);
    assert_holds(p->file, "all of it\n");
    assert_int_equal(entries(p->directory), 1);
}

TEST_WITH(respects_umask, make_place, remove_place)
{
    struct place *p = *state;
    struct stat s;
    mode_t before = umask(027);
    write_whole(p->file, "x");
    umask(before);
    assert_int_equal(stat(p->file, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
}

TEST_WITH(replaces_and_keeps_permissions, make_place, remove_place)
{
    struct place *p = *state;
    struct stat s;
    put_file(p->file, "a longer text than the new one", 0604);
    write_whole(p->file, "new\n");
    assert_holds(p->file, "new\n");
    assert_int_equal(stat(p->file, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0604);
    assert_int_equal(entries(p->directory), 1);
}

TEST_WITH(abandoning_leaves_the_old_file, make_place, remove_place)
{
    struct place *p = *state;
    struct atomic_file f;
    char why[400];
    put_file(p->file, "old", 0644);
    assert_int_equal(atomic_open(&f, p->file, why, sizeof(why)), 0);
    fputs("new", f.stream);
    atomic_abandon(&f);
    assert_holds(p->file, "old");
    assert_int_equal(entries(p->directory), 1);
}

static void assert_refused(const char *name, const char *reason)
{
    struct atomic_file f;
    char why[400] = "";
    assert_int_equal(atomic_open(&f, name, why, sizeof(why)), -1);
    assert_non_null(strstr(why, reason));
    assert_null(strchr(why, '\n'));
    why[0] = '\0';
    assert_int_equal(atomic_check(name, 0, why, sizeof(why)), -1);
    assert_non_null(strstr(why, reason));
}

TEST_WITH(refuses_a_symbolic_link, make_place, remove_place)
{
    struct place *p = *state;
    char link[160];
    struct stat s;
    snprintf(link, sizeof(link), "%s/link", p->directory);
    put_file(p->file, "old", 0644);
    assert_int_equal(symlink("target", link), 0);
    assert_refused(link, "symbolic link");
    assert_holds(p->file, "old");
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
}

TEST_WITH(follows_own_links_on_the_way, make_place, remove_place)
{
    struct place *p = *state;
    char link[160], name[200];
    snprintf(link, sizeof(link), "%s/here", p->directory);
    assert_int_equal(symlink(".", link), 0);
    snprintf(name, sizeof(name), "%s/here/here/target", p->directory);
    write_whole(name, "text");
    assert_holds(p->file, "text");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("here", link), 0);
    assert_refused(name, strerror(ELOOP));
}

TEST_WITH(refuses_what_cannot_be_written, make_place, remove_place)
{
    struct place *p = *state;
    char name[200];
    put_file(p->file, "x", 0644);
    assert_refused("", "empty");
    assert_refused(p->directory, "directory");
    snprintf(name, sizeof(name), "%s/none/file", p->directory);
    assert_refused(name, strerror(ENOENT));
    snprintf(name, sizeof(name), "%s/under", p->file);
    assert_refused(name, strerror(ENOTDIR));
    snprintf(name, sizeof(name), "%s/new/", p->directory);
    assert_refused(name, "/");
    snprintf(name, sizeof(name), "%s/dangling", p->directory);
    assert_int_equal(symlink("nowhere", name), 0);
    assert_refused(name, "symbolic link");
    assert_int_equal(entries(p->directory), 2);
}

TEST_WITH(long_names_work, make_place, remove_place)
{
    struct place *p = *state;
    char name[64 + NAME_MAX + 2];
    size_t used = (size_t)snprintf(name, sizeof(name), "%s/", p->directory);
    memset(name + used, 'n', NAME_MAX);
    name[used + NAME_MAX] = '\0';
    write_whole(name, "first");
    write_whole(name, "second");
    assert_holds(name, "second");
}

TEST(a_device_is_written_not_replaced)
{
    struct stat before, after;
    assert_int_equal(stat("/dev/null", &before), 0);
    write_whole("/dev/null", "nobody reads this");
    assert_int_equal(stat("/dev/null", &after), 0);
    assert_true(S_ISCHR(after.st_mode));
    assert_int_equal(before.st_ino, after.st_ino);
}

TEST(a_full_device_is_an_error)
{
    struct atomic_file f;
    char why[400] = "";
    assert_int_equal(atomic_open(&f, "/dev/full", why, sizeof(why)), 0);
    fputs("text", f.stream);
    assert_int_equal(atomic_commit(&f, why, sizeof(why)), -1);
    assert_non_null(strstr(why, strerror(ENOSPC)));
}

/* A killed process cannot clean up: nothing may be left that it would have had to remove. */
TEST_WITH(a_kill_leaves_nothing, make_place, remove_place)
{
    struct place *p = *state;
    char why[400];
    struct atomic_file f;
    int ready[2];
    assert_int_equal(atomic_open(&f, p->file, why, sizeof(why)), 0);
    bool nameless = f.temporary == NULL;
    atomic_abandon(&f);
    if (!nameless) {
        print_message("skipped: the file system of /tmp has no nameless files\n");
        skip();
    }
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool good = atomic_open(&f, p->file, why, sizeof(why)) == 0 && fputs("half", f.stream) >= 0 &&
                    fflush(f.stream) == 0 && write(ready[1], "r", 1) == 1;
        for (;;) {
            if (!good)
                _exit(1);
            pause();
        }
    }
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(entries(p->directory), 0);
}

/* Without /proc a nameless file cannot be given its name: then a temporary name is used. In a child: chroot stays. */
static int use_named_form(const char *directory)
{
    struct atomic_file f;
    char why[400];
    if (chroot(directory) != 0 || chdir("/") != 0)
        return 77;
    if (atomic_open(&f, "/target", why, sizeof(why)) != 0 || f.temporary == NULL || entries("/") != 1)
        return 1;
    fputs("first", f.stream);
    if (atomic_commit(&f, why, sizeof(why)) != 0 || entries("/") != 1)
        return 2;
    if (atomic_open(&f, "/target", why, sizeof(why)) != 0 || entries("/") != 2)
        return 3;
    fputs("second", f.stream);
    atomic_abandon(&f);
    if (entries("/") != 1)
        return 4;
    return atomic_check("/target", 0, why, sizeof(why)) == 0 && entries("/") == 1 ? 0 : 5;
}

TEST_WITH(a_temporary_name_where_needed, make_place, remove_place)
{
    struct place *p = *state;
    pid_t child = fork();
    if (child == 0)
        _exit(use_named_form(p->directory));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("skipped: changing the root directory needs root\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_holds(p->file, "first");
}

TEST_WITH(a_full_disk_leaves_the_old_file, make_place, remove_place)
{
    struct place *p = *state;
    struct atomic_file f;
    char why[400] = "", block[1 << 12];
    if (mount("tmpfs", p->directory, "tmpfs", 0, "size=64k") != 0) {
        print_message("skipped: no small file system to fill: mount: %s\n", strerror(errno));
        skip();
    }
    put_file(p->file, "old", 0644);
    int checked = atomic_check(p->file, 1 << 20, why, sizeof(why));
    bool reported_room = strstr(why, "MB needed") != NULL;
    int opened = atomic_open(&f, p->file, why, sizeof(why)), committed = 0;
    if (opened == 0) {
        memset(block, 'x', sizeof(block));
        for (int i = 0; i < 64; i++)
            (void)!fwrite(block, 1, sizeof(block), f.stream);
        committed = atomic_commit(&f, why, sizeof(why));
    }
    int left = entries(p->directory);
    struct stat s;
    int there = stat(p->file, &s);
    umount(p->directory);
    assert_int_equal(checked, -1);
    assert_true(reported_room);
    assert_int_equal(opened, 0);
    assert_int_equal(committed, -1);
    assert_non_null(strstr(why, strerror(ENOSPC)));
    assert_int_equal(left, 1);
    assert_int_equal(there, 0);
    assert_int_equal(s.st_size, 3);
}

TEST_WITH(checking_changes_nothing, make_place, remove_place)
{
    struct place *p = *state;
    char why[400];
    assert_int_equal(atomic_check(p->file, 1000, why, sizeof(why)), 0);
    assert_int_equal(entries(p->directory), 0);
    put_file(p->file, "old", 0600);
    assert_int_equal(atomic_check(p->file, 1000, why, sizeof(why)), 0);
    assert_holds(p->file, "old");
    assert_int_equal(entries(p->directory), 1);
}

/* Nobody reads: refused after a while, not waited for. With a reader it is reported the text, and no end before
 * that. */
TEST_WITH(a_pipe_needs_a_reader, make_place, remove_place)
{
    struct place *p = *state;
    char text[16] = "", why[400] = "";
    assert_int_equal(mkfifo(p->file, 0600), 0);
    assert_refused(p->file, "no program is reading");
    int reader = open(p->file, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(atomic_check(p->file, 1000, why, sizeof(why)), 0);
    assert_int_equal(read(reader, text, sizeof(text)), -1); /* 0 would be the end */
    assert_int_equal(errno, EAGAIN);
    write_whole(p->file, "text");
    assert_int_equal(read(reader, text, sizeof(text)), 4);
    assert_string_equal(text, "text");
    close(reader);
    assert_int_equal(entries(p->directory), 1);
}

TEST_WITH(a_descriptor_is_written_where_it_stands, make_place, remove_place)
{
    struct place *p = *state;
    char name[40];
    int fd = open(p->file, O_CREAT | O_RDWR, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "before ", 7), 7);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    write_whole(name, "within ");
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    write_whole(name, "after");
    assert_holds(p->file, "before within after");
    close(fd);
    assert_refused(name, "not open");
    fd = open(p->file, O_RDONLY);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    assert_refused(name, "not open for writing");
    close(fd);
}

static void assert_belongs(const char *name, uid_t user, mode_t mode)
{
    struct stat s;
    assert_int_equal(stat(name, &s), 0);
    assert_int_equal(s.st_uid, user);
    assert_int_equal(s.st_mode & 0777, mode);
}

/* A new file is given to the owner of the old one, another user, only where that user cannot have put it there. */
TEST_WITH(another_user_gets_nothing, make_place, remove_place)
{
    enum { NOBODY = 65534 };
    static const struct {
        uid_t owner;
        mode_t mode;
        bool kept;
    } directories[] = {{0, 0755, true}, {0, 01777, false}, {0, 0775, false}, {NOBODY, 0755, false}};
    struct place *p = *state;
    if (geteuid() != 0) {
        print_message("skipped: files of another user need root\n");
        skip();
    }
    mode_t before = umask(022);
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        put_file(p->file, "old", 0666);
        assert_int_equal(chown(p->file, NOBODY, NOBODY), 0);
        assert_int_equal(chown(p->directory, directories[i].owner, 0), 0);
        assert_int_equal(chmod(p->directory, directories[i].mode), 0);
        write_whole(p->file, "new");
        assert_holds(p->file, "new");
        assert_belongs(p->file, directories[i].kept ? NOBODY : 0, directories[i].kept ? 0666 : 0644);
        assert_int_equal(unlink(p->file), 0);
    }
    umask(before);
}

/* Where others can make names, one of them may be the second name of a file that was not meant. */
TEST_WITH(a_file_with_two_names_gives_no_permissions, make_place, remove_place)
{
    struct place *p = *state;
    char second[160];
    mode_t before = umask(077);
    snprintf(second, sizeof(second), "%s/second", p->directory);
    put_file(second, "old", 0666);
    assert_int_equal(link(second, p->file), 0);
    assert_int_equal(chmod(p->directory, 01777), 0);
    write_whole(p->file, "new");
    assert_belongs(p->file, geteuid(), 0600);
    assert_holds(second, "old");
    umask(before);
}

/* As another user: a file that may be read but not written stays, although the directory would allow a move. */
static int try_as_nobody(const char *file)
{
    struct atomic_file f;
    char why[400] = "";
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 77;
    return atomic_open(&f, file, why, sizeof(why)) == -1 && strstr(why, strerror(EACCES)) != NULL ? 0 : 1;
}

TEST_WITH(a_protected_file_is_not_replaced, make_place, remove_place)
{
    struct place *p = *state;
    if (geteuid() != 0) {
        print_message("skipped: becoming another user needs root\n");
        skip();
    }
    put_file(p->file, "old", 0444);
    assert_int_equal(chmod(p->directory, 0777), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(try_as_nobody(p->file));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_holds(p->file, "old");
}

/* Files that a kill at a bad moment leaves: only names of that form are removed, and only those of the file that is
 * named. */
TEST_WITH(temporary_names_are_swept, make_place, remove_place)
{
    static const char *const names[] = {".file.0123456789abcdef.tmp",
                                        ".run.json.00000000000000ff.tmp",
                                        ".file.0123456789abcdeg.tmp",
                                        "file.0123456789abcdef.tmp",
                                        ".file.0123456789abcdef.tmp~",
                                        ".0123456789abcdef.tmp",
                                        "ordinary"};
    enum { N = sizeof names / sizeof *names };
    const struct place *p = *state;
    char path[N][300];
    for (size_t i = 0; i < N; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", p->directory, names[i]);
        put_file(path[i], "x", 0644);
    }
    int fd = open(p->directory, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    assert_int_equal(atomic_sweep(fd, "run.json"), 1);
    assert_int_equal(access(path[0], F_OK), 0);
    assert_int_not_equal(access(path[1], F_OK), 0);
    assert_int_equal(atomic_sweep(fd, NULL), 1);
    assert_int_not_equal(access(path[0], F_OK), 0);
    close(fd);
    assert_int_equal(atomic_sweep(fd, NULL), 0);
    for (size_t i = 2; i < N; i++)
        assert_int_equal(unlink(path[i]), 0);
}
