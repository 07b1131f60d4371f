/* SPDX-License-Identifier: GPL-3.0-or-later */
/* util/path.c: who decides where a path leads, and nothing that waits. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/path.h"
#include "tests/support/folder.h"

enum { NOBODY = 65534, OTHER = 65533, WHY_SIZE = 400 };

struct pinning {
    char directory[FOLDER_PATH_MAX], name[160], why[WHY_SIZE];
};

static int make_place(void **state)
{
    struct pinning *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    folder_make(p->directory);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct pinning *p = *state;
    folder_remove(p->directory);
    free(p);
    return 0;
}

/* DIRECTORY/NAME, valid until the next call. */
static const char *in(struct pinning *p, const char *name)
{
    snprintf(p->name, sizeof(p->name), "%s/%s", p->directory, name);
    return p->name;
}

static void put_file(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void need_root(void)
{
    if (geteuid() != 0) {
        print_message("skipped: files of other users need root\n");
        skip();
    }
}

TEST(descriptors_are_known_by_name)
{
    static const struct {
        const char *path;
        int fd;
    } cases[] = {
        {"/dev/stdin", 0},    {"/dev/stdout", 1},   {"/dev/stderr", 2}, {"/dev/fd/63", 63}, {"/proc/self/fd/7", 7},
        {"/dev/fd/", -1},     {"/dev/fd/1x", -1},   {"/dev/fd/-1", -1}, {"/dev/fd/1/", -1}, {"/dev/fd/9999999999", -1},
        {"/proc/1/fd/1", -1}, {"/dev/stdoutx", -1}, {"dev/fd/1", -1},   {"-", -1},          {"", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(path_descriptor(cases[i].path), cases[i].fd);
}

/* Every way of writing a directory's name leads to it. */
TEST_WITH(finds_directories, make_place, remove_place)
{
    static const char *const ways[] = {"a", "a/", "a//",    "./a",  "a/.", "a/b/..",
                                       "l", "l/", "l/../a", "up/a", "abs", "ll"};
    struct pinning *p = *state;
    struct stat wanted, found;
    char absolute[160];
    assert_int_equal(mkdir(in(p, "a"), 0700), 0);
    assert_int_equal(stat(p->name, &wanted), 0);
    snprintf(absolute, sizeof(absolute), "%s", p->name);
    assert_int_equal(mkdir(in(p, "a/b"), 0700), 0);
    assert_int_equal(symlink("a", in(p, "l")), 0);
    assert_int_equal(symlink("l", in(p, "ll")), 0);
    assert_int_equal(symlink("a/b/../..", in(p, "up")), 0);
    assert_int_equal(symlink(absolute, in(p, "abs")), 0);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        int fd = path_open_directory(in(p, ways[i]), p->why, sizeof(p->why));
        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &found), 0);
        assert_int_equal(found.st_ino, wanted.st_ino);
        close(fd);
    }
    put_file(in(p, "file"), "x");
    assert_int_equal(symlink("loop", in(p, "loop")), 0);
    static const struct {
        const char *name;
        int error;
    } wrong[] = {{"none", ENOENT}, {"file", ENOTDIR}, {"file/x", ENOTDIR}, {"loop", ELOOP}, {"a/none/..", ENOENT}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(path_open_directory(in(p, wrong[i].name), p->why, sizeof(p->why)), -1);
        assert_int_equal(errno, wrong[i].error);
    }
    assert_int_equal(path_open_directory("", p->why, sizeof(p->why)), -1);
}

TEST(finds_parents)
{
    static const struct {
        const char *path, *directory, *name;
    } cases[] = {{"/", "/", "."},
                 {"//", "/", "."},
                 {"/x", "/", "x"},
                 {"x", ".", "x"},
                 {"x//", ".", "x"},
                 {"/tmp/x/", "/tmp", "x"},
                 {"/tmp/../tmp//x", "/tmp", "x"},
                 {"..", ".", ".."}};
    char name[NAME_MAX + 1], why[WHY_SIZE], longer[NAME_MAX + 2];
    struct stat wanted, found;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = path_open_parent(cases[i].path, name, why, sizeof(why));
        assert_true(fd >= 0);
        assert_string_equal(name, cases[i].name);
        assert_int_equal(stat(cases[i].directory, &wanted), 0);
        assert_int_equal(fstat(fd, &found), 0);
        assert_int_equal(found.st_ino, wanted.st_ino);
        close(fd);
    }
    memset(longer, 'n', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(path_open_parent(longer, name, why, sizeof(why)), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

/* Who owns the link and who the directory it lies in: all nine, seen by root; it is followed for root's own alone. */
TEST_WITH(links_of_others_are_not_followed, make_place, remove_place)
{
    static const uid_t users[] = {0, NOBODY, OTHER};
    static const mode_t modes[] = {0755, 01777, 0777};
    struct pinning *p = *state;
    need_root();
    assert_int_equal(mkdir(in(p, "secret"), 0700), 0);
    for (size_t i = 0; i < 27; i++) {
        uid_t around = users[i % 3], link = users[i / 3 % 3];
        mode_t mode = modes[i / 9];
        assert_int_equal(mkdir(in(p, "d"), 0755), 0);
        assert_int_equal(chmod(p->name, mode), 0);
        assert_int_equal(symlink("../secret", in(p, "d/link")), 0);
        assert_int_equal(lchown(p->name, link, link), 0);
        assert_int_equal(chown(in(p, "d"), around, around), 0);
        int fd = path_open_directory(in(p, "d/link"), p->why, sizeof(p->why));
        assert_int_equal(fd >= 0, around == 0 && link == 0);
        if (fd < 0) {
            assert_int_equal(errno, ELOOP);
            assert_non_null(strstr(p->why, "'link' on the way is a symbolic link"));
        } else {
            close(fd);
        }
        assert_int_equal(unlink(in(p, "d/link")), 0);
        assert_int_equal(rmdir(in(p, "d")), 0);
    }
}

/* The same of one who is not root: in a child, whose user stays. */
static int walk_as(uid_t user, const char *path)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        char why[WHY_SIZE];
        _exit(setgid(user) != 0 || setuid(user) != 0 ? 77 : path_open_directory(path, why, sizeof(why)) < 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST_WITH(a_user_follows_own_links_and_those_of_root, make_place, remove_place)
{
    static const struct {
        uid_t link;
        int status;
    } cases[] = {{0, 0}, {NOBODY, 0}, {OTHER, 1}};
    struct pinning *p = *state;
    need_root();
    assert_int_equal(chmod(p->directory, 01777), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(symlink(".", in(p, "link")), 0);
        assert_int_equal(lchown(p->name, cases[i].link, cases[i].link), 0);
        assert_int_equal(walk_as(NOBODY, p->name), cases[i].status);
        assert_int_equal(unlink(p->name), 0);
    }
    assert_int_equal(chmod(p->directory, 0711), 0); /* may be passed, not listed */
    assert_int_equal(mkdir(in(p, "inner"), 0755), 0);
    assert_int_equal(walk_as(NOBODY, p->name), 0);
}

/* A directory and a link take turns in having one name, as fast as can be: the way never leads through the link. */
TEST_WITH(a_race_leads_nowhere_else, make_place, remove_place)
{
    enum { ROUNDS = 20000 };
    struct pinning *p = *state;
    char one[160], two[160];
    struct stat secret, found;
    need_root();
    assert_int_equal(mkdir(in(p, "secret"), 0700), 0);
    assert_int_equal(stat(p->name, &secret), 0);
    assert_int_equal(mkdir(in(p, "evil"), 0755), 0);
    assert_int_equal(chown(p->name, NOBODY, NOBODY), 0);
    assert_int_equal(mkdir(in(p, "evil/one"), 0755), 0);
    assert_int_equal(symlink("../secret", in(p, "evil/two")), 0);
    assert_int_equal(lchown(p->name, NOBODY, NOBODY), 0);
    snprintf(two, sizeof(two), "%s", p->name);
    snprintf(one, sizeof(one), "%s", in(p, "evil/one"));
    pid_t child = fork();
    while (child == 0)
        if (renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE) != 0)
            _exit(1);
    int opened = 0, wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int fd = path_open_directory(one, p->why, sizeof(p->why));
        if (fd >= 0) {
            opened++;
            wrong += fstat(fd, &found) != 0 || found.st_ino == secret.st_ino;
            close(fd);
        }
    }
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it did exchange them to the end */
    assert_int_equal(wrong, 0);
    assert_true(opened > 0 && opened < ROUNDS);
}

/* ---- reading ---- */

static int read_one(struct pinning *p, int (*open_it)(const char *, FILE **, char *, size_t), const char *name)
{
    FILE *stream = NULL;
    if (open_it(in(p, name), &stream, p->why, sizeof(p->why)) != 0) {
        assert_null(stream);
        return -1;
    }
    int c = getc(stream);
    fclose(stream);
    return c;
}

TEST_WITH(reads_what_is_named_and_what_is_found, make_place, remove_place)
{
    static const struct {
        const char *name, *why_named, *why_found; /* NULL: it is read */
    } cases[] = {{"file", NULL, NULL},
                 {"link", NULL, "symbolic link"},
                 {"way/file", NULL, NULL},
                 {"folder", "directory", "not a regular file"},
                 {"none", "No such file", "No such file"},
                 {"pipe", "no program is writing", "not a regular file"},
                 {"socket", "No such device", "No such device"}};
    struct pinning *p = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    put_file(in(p, "file"), "text");
    assert_int_equal(symlink("file", in(p, "link")), 0);
    assert_int_equal(symlink(".", in(p, "way")), 0);
    assert_int_equal(mkdir(in(p, "folder"), 0700), 0);
    assert_int_equal(mkfifo(in(p, "pipe"), 0600), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", in(p, "socket"));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int named = read_one(p, path_read_named, cases[i].name);
        assert_true(cases[i].why_named == NULL ? named == 't' : named == -1 && strstr(p->why, cases[i].why_named));
        int found = read_one(p, path_read_found, cases[i].name);
        assert_true(cases[i].why_found == NULL ? found == 't' : found == -1 && strstr(p->why, cases[i].why_found));
    }
    close(fd);
}

static pid_t write_later(const char *name, const char *text, unsigned before_us, unsigned after_us)
{
    pid_t child = fork();
    if (child == 0) {
        usleep(before_us);
        int fd = open(name, O_WRONLY);
        usleep(after_us);
        _exit(fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text));
    }
    return child;
}

/* A writer that comes soon, and one that is there but has nothing to say yet: nothing is lost, the end is the end. */
TEST_WITH(a_pipe_with_a_writer_is_read, make_place, remove_place)
{
    static const unsigned moments[][2] = {{0, 0}, {300000, 0}, {0, 300000}, {0, 1300000}};
    struct pinning *p = *state;
    FILE *stream;
    char line[64], name[160];
    int status;
    snprintf(name, sizeof(name), "%s", in(p, "pipe"));
    assert_int_equal(mkfifo(name, 0600), 0);
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        pid_t child = write_later(name, "first\nsecond\n", moments[i][0], moments[i][1]);
        assert_int_equal(path_read_named(name, &stream, p->why, sizeof(p->why)), 0);
        assert_non_null(fgets(line, sizeof(line), stream));
        assert_string_equal(line, "first\n");
        assert_non_null(fgets(line, sizeof(line), stream));
        assert_string_equal(line, "second\n");
        assert_null(fgets(line, sizeof(line), stream));
        fclose(stream);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

TEST_WITH(block_devices_are_refused, make_place, remove_place)
{
    struct pinning *p = *state;
    struct stat s;
    FILE *stream;
    if (mknod(in(p, "disk"), S_IFBLK | 0600, makedev(7, 999)) != 0) {
        print_message("skipped: no block device can be made: %s\n", strerror(errno));
        skip();
    }
    int directory = path_open_directory(p->directory, p->why, sizeof(p->why));
    assert_int_equal(path_open_existing(directory, "disk", &s, p->why, sizeof(p->why)), -1);
    assert_string_equal(p->why, "it is a block device");
    close(directory);
    assert_int_equal(path_read_named(in(p, "disk"), &stream, p->why, sizeof(p->why)), -1);
}

/* The file that is opened must be the one that was looked at; a pipe of somebody else is not written. */
TEST_WITH(pipes_of_others_are_not_written, make_place, remove_place)
{
    static const uid_t users[] = {0, NOBODY};
    struct pinning *p = *state;
    struct stat s;
    need_root();
    for (size_t i = 0; i < 4; i++) {
        uid_t around = users[i % 2], owner = users[i / 2];
        assert_int_equal(mkfifo(in(p, "pipe"), 0666), 0);
        assert_int_equal(chown(p->name, owner, owner), 0);
        assert_int_equal(chown(p->directory, around, around), 0);
        int reader = open(p->name, O_RDONLY | O_NONBLOCK);
        int directory = path_open_directory(p->directory, p->why, sizeof(p->why));
        int fd = path_open_existing(directory, "pipe", &s, p->why, sizeof(p->why));
        assert_int_equal(fd >= 0, around == 0 && owner == 0);
        assert_true(fd >= 0 || strstr(p->why, "another user") != NULL);
        close(reader);
        close(directory);
        if (fd >= 0) {
            assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
            close(fd);
        }
        assert_int_equal(unlink(p->name), 0);
    }
    assert_int_equal(chown(p->directory, 0, 0), 0);
}
