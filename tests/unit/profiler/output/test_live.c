/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live view on terminals: what they show, what keys and new sizes do, and that they are as they were afterwards,
 * however the program ends. A pseudo-terminal's session has a shell of its own here, which starts the program in a
 * group of its own and takes the terminal back, as shells do.
 */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "profiler/output/live.h"
#include "tests/support/live_sample.h"
#include "tests/support/test.h"
#include "tests/support/vt_screen.h"

enum { TASKS = 40, LINES = 24, COLUMNS = 100, PATIENCE_S = 20 };

/* How the program ends when it is to quit. */
enum ending { END_PROPERLY, END_BY_EXIT, END_BY_ABORT };

struct terminal {
    int master;
    pid_t shell;
    int report, order; /* from the shell: 'S' stopped, 'E' ended; to it: go on */
    pid_t program;
    struct vt_screen *screen;
    struct termios modes; /* of before */
};

/* ---- in the session ---- */

/* Shows results until it is to quit. */
static _Noreturn void run_program(enum ending ending)
{
    struct profile_live *view;
    char why[300];
    struct profile_result *r = live_sample(TASKS);
    if (getenv("LIVE_HOSTILE") != NULL)
        (void)snprintf(r->rows[20].name, sizeof(r->rows[20].name), "\033[2J\033]0;x\a\xff\xc3\xa9\xe4\xb8\xad-9");
    if (profile_live_begin(&view, why, sizeof(why)) != 0) {
        (void)printf("no view: %s.\n", why);
        (void)fflush(stdout);
        _exit(3);
    }
    const struct timespec pause = {.tv_nsec = 10000000};
    while (profile_live_show(view, r) == LIVE_GO_ON) {
        (void)nanosleep(&pause, NULL);
        r->totals.seconds += 0.01;
    }
    if (ending == END_BY_ABORT)
        abort();
    if (ending == END_BY_EXIT)
        exit(7);
    profile_live_end(view);
    live_sample_free(r);
    (void)printf("all is well\n");
    (void)fflush(stdout);
    _exit(0);
}

static _Noreturn void run_shell(int report, int order, enum ending ending)
{
    int status;
    char c;
    (void)signal(SIGTTOU, SIG_IGN);
    (void)signal(SIGTTIN, SIG_IGN);
    pid_t program = fork();
    if (program == 0) {
        (void)setpgid(0, 0);
        (void)tcsetpgrp(STDIN_FILENO, getpid());
        for (int number = 1; number < NSIG; number++) /* cmocka has handlers of its own */
            (void)signal(number, SIG_DFL);
        (void)close(report);
        (void)close(order);
        run_program(ending);
    }
    (void)!write(report, &program, sizeof(program));
    while (waitpid(program, &status, WUNTRACED) == program) {
        (void)tcsetpgrp(STDIN_FILENO, getpid());
        c = WIFSTOPPED(status) ? 'S' : 'E';
        (void)!write(report, &c, 1);
        if (!WIFSTOPPED(status)) {
            (void)!write(report, &status, sizeof(status));
            (void)!read(order, &c, 1);
            _exit(0);
        }
        (void)!read(order, &c, 1);
        (void)tcsetpgrp(STDIN_FILENO, program);
        (void)kill(-program, SIGCONT);
    }
    _exit(1);
}

/* ---- outside ---- */

static struct terminal open_terminal(const char *term, int lines, int columns, enum ending ending)
{
    struct terminal t;
    int report[2], order[2];
    const struct winsize size = {.ws_row = (unsigned short)lines, .ws_col = (unsigned short)columns};
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    assert_int_equal(pipe2(order, O_CLOEXEC), 0);
    t.screen = malloc(sizeof(*t.screen));
    assert_non_null(t.screen);
    vt_init(t.screen, lines, columns);
    int slave;
    assert_int_equal(openpty(&t.master, &slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(slave, &t.modes), 0);
    t.shell = fork();
    assert_true(t.shell >= 0);
    if (t.shell == 0) {
        if (term != NULL)
            (void)setenv("TERM", term, 1);
        else
            (void)unsetenv("TERM");
        (void)unsetenv("LINES");
        (void)unsetenv("COLUMNS");
        (void)close(t.master);
        (void)close(report[0]);
        (void)close(order[1]);
        if (login_tty(slave) != 0)
            _exit(9);
        run_shell(report[1], order[0], ending);
    }
    (void)close(slave);
    (void)close(report[1]);
    (void)close(order[0]);
    t.report = report[0];
    t.order = order[1];
    assert_int_equal(read(t.report, &t.program, sizeof(t.program)), sizeof(t.program));
    return t;
}

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads what comes within a moment. False: nothing came. */
static bool listen_once(struct terminal *t, int ms)
{
    char bytes[4096];
    struct pollfd p = {.fd = t->master, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0 || (p.revents & POLLIN) == 0)
        return false;
    ssize_t got = read(t->master, bytes, sizeof(bytes));
    if (got <= 0)
        return false;
    vt_feed(t->screen, bytes, (size_t)got);
    return true;
}

static void print_screen(const struct terminal *t)
{
    for (int i = 0; i < t->screen->lines; i++)
        print_message("|%s\n", vt_line(t->screen, i));
}

/* Waits until a line contains a text, and returns which. */
static int wait_for(struct terminal *t, const char *text)
{
    for (double end = now_s() + PATIENCE_S; now_s() < end;) {
        int line = vt_find(t->screen, 0, text);
        if (line >= 0)
            return line;
        (void)listen_once(t, 50);
    }
    print_screen(t);
    fail_msg("the terminal does not show: %s", text);
    return -1;
}

static void wait_until_gone(struct terminal *t, const char *text)
{
    double end = now_s() + PATIENCE_S;
    while (vt_find(t->screen, 0, text) >= 0 && now_s() < end)
        (void)listen_once(t, 50);
    if (vt_find(t->screen, 0, text) >= 0) {
        print_screen(t);
        fail_msg("the terminal still shows: %s", text);
    }
}

static void type(struct terminal *t, const char *keys)
{
    assert_int_equal(write(t->master, keys, strlen(keys)), strlen(keys));
}

static void resize(struct terminal *t, int lines, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)lines, .ws_col = (unsigned short)columns};
    vt_resize(t->screen, lines, columns);
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
}

/* Returns the next byte from the shell. */
static char hear_report(struct terminal *t)
{
    char c = '\0';
    struct pollfd p = {.fd = t->report, .events = POLLIN};
    for (double end = now_s() + PATIENCE_S; now_s() < end;) {
        (void)listen_once(t, 10);
        if (poll(&p, 1, 0) > 0) {
            assert_int_equal(read(t->report, &c, 1), 1);
            return c;
        }
    }
    fail_msg("the program neither ends nor stops");
    return c;
}

static bool modes_are_back(const struct terminal *t)
{
    struct termios m;
    assert_int_equal(tcgetattr(t->master, &m), 0);
    return m.c_iflag == t->modes.c_iflag && m.c_oflag == t->modes.c_oflag && m.c_lflag == t->modes.c_lflag &&
           m.c_cflag == t->modes.c_cflag && memcmp(m.c_cc, t->modes.c_cc, sizeof(m.c_cc)) == 0;
}

static bool screen_is_back(const struct terminal *t)
{
    const struct vt_screen *v = t->screen;
    return !v->alternate && !v->hidden && !v->application_keys && !v->pen.bold && !v->pen.reverse && v->pen.colour < 0;
}

/* It has ended: the terminal is as it was. Returns its wait status. */
static int close_terminal(struct terminal *t)
{
    int status;
    assert_int_equal(hear_report(t), 'E');
    assert_int_equal(read(t->report, &status, sizeof(status)), sizeof(status));
    for (double end = now_s() + PATIENCE_S; now_s() < end && (!modes_are_back(t) || !screen_is_back(t));)
        (void)listen_once(t, 10);
    assert_true(modes_are_back(t));
    assert_true(screen_is_back(t));
    while (listen_once(t, 50)) {
    }
    assert_int_equal(t->screen->strange, 0);
    (void)close(t->order);
    (void)close(t->report);
    int ended;
    assert_int_equal(waitpid(t->shell, &ended, 0), t->shell);
    (void)close(t->master);
    return status;
}

static void close_quietly(struct terminal *t)
{
    int status = close_terminal(t);
    free(t->screen);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(it_shows_what_there_is)
{
    static const char *const terms[] = {"xterm-256color", "xterm", "vt100", "linux", "screen", "tmux-256color"};
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        struct terminal t = open_terminal(terms[i], LINES, COLUMNS, END_PROPERLY);
        (void)wait_for(&t, "h help");
        assert_non_null(strstr(vt_line(t.screen, 0), "Profile  1:02:0"));
        assert_non_null(
            strstr(vt_line(t.screen, 0), "  helper, 4 cores, 8 CPUs, Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"));
        assert_string_equal(vt_line(t.screen, 1), "Turns 5000: 3200 taken, 1700 idle, 100 switched");
        assert_string_equal(vt_line(t.screen, 2),
                            "Cost: 0.88 % of all cores' time; longest pause 0.73 ms; 2 records lost");
        assert_string_equal(vt_line(t.screen, 4), "Tasks by impact (overhead x share), 1 to 13 of 40, in %");
        int heading = wait_for(&t, "TASK");
        assert_string_equal(
            vt_line(t.screen, heading),
            "TASK                              SHARE     OVERHEAD (95 %) SIBLING DELAY WIDE1 WIDE2 CAUSES SAMPLES");
        assert_string_equal(
            vt_line(t.screen, heading + 1),
            "task-1019                           5.0 21.0 (16.8 to 26.2)    15.8   5.3   2.0     -    0.0      20");
        assert_true(t.screen->cell[heading][0].reverse && t.screen->cell[heading + 1][0].reverse);
        assert_false(t.screen->cell[heading + 2][0].reverse);
        type(&t, "q");
        close_quietly(&t);
    }
}

TEST(keys_do_what_the_help_says)
{
    struct terminal t = open_terminal("xterm-256color", LINES, COLUMNS, END_PROPERLY);
    (void)wait_for(&t, "h help");
    type(&t, "O");
    int first = wait_for(&t, "task-1000 ");
    assert_int_equal(wait_for(&t, "by overhead, 1 to 13"), first - 2);
    (void)wait_for(&t, "/usr/sbin/task --first");
    (void)wait_for(&t, "slowed by task-1039 30.0 %, unattributed 10.0 %");
    int advice = wait_for(&t, "Keep the last one off");
    assert_int_equal(wait_for(&t, "scheduling."), advice + 1);
    type(&t, "\033[B\033OB"); /* down, as cursor and as application key */
    wait_until_gone(&t, "Keep the last one off");
    type(&t, "\033[6~");
    (void)wait_for(&t, " of 40");
    type(&t, "G");
    (void)wait_for(&t, "28 to 40 of 40");
    (void)wait_for(&t, "task-1039 ");
    type(&t, "r");
    (void)wait_for(&t, "by overhead, reversed");
    type(&t, "g");
    (void)wait_for(&t, "1 to 13 of 40");
    type(&t, "c");
    (void)wait_for(&t, "Containers by overhead");
    (void)wait_for(&t, "box-2");
    type(&t, "\t");
    (void)wait_for(&t, "core 3");
    type(&t, "tA");
    (void)wait_for(&t, "Tasks by name");
    type(&t, "h");
    (void)wait_for(&t, "Help: any key returns");
    (void)wait_for(&t, "(SIBLING, DELAY: --sources)");
    type(&t, "z");
    wait_until_gone(&t, "Help: any key");
    type(&t, "p");
    (void)wait_for(&t, "PAUSED");
    char before[400];
    (void)snprintf(before, sizeof(before), "%s", vt_line(t.screen, 0));
    for (int i = 0; i < 60; i++)
        (void)listen_once(&t, 20);
    assert_string_equal(vt_line(t.screen, 0), before); /* time stands still */
    type(&t, " ");
    wait_until_gone(&t, "PAUSED");
    wait_until_gone(&t, strstr(before, "1:"));
    type(&t, "\023"); /* Ctrl-S does not stop the terminal */
    type(&t, "o");
    (void)wait_for(&t, "core 3");
    type(&t, "q");
    (void)wait_for(&t, "all is well");
    close_quietly(&t);
}

TEST(every_size_is_drawn)
{
    static const int sizes[][2] = {{24, 80}, {50, 200}, {14, 60}, {8, 40}, {5, 30}, {4, 20},
                                   {3, 12},  {2, 9},    {1, 5},   {1, 1},  {60, 3}, {100, 300}};
    struct terminal t = open_terminal("xterm", LINES, COLUMNS, END_PROPERLY);
    (void)wait_for(&t, "h help");
    type(&t, "O");
    (void)wait_for(&t, "by overhead");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        resize(&t, sizes[i][0], sizes[i][1]);
        (void)wait_for(&t, sizes[i][1] >= 9 ? "task-10" : "t");
        for (int k = 0; k < 5; k++)
            (void)listen_once(&t, 20);
        if (sizes[i][0] >= 4 && sizes[i][1] >= 40)
            (void)wait_for(&t, "OVERHEAD");
        type(&t, "h");
        (void)wait_for(&t, sizes[i][1] >= 5 ? "Help" : "H");
        type(&t, "h");
        (void)wait_for(&t, sizes[i][1] >= 9 ? "task-10" : "t");
    }
    resize(&t, LINES, COLUMNS);
    (void)wait_for(&t, "h help");
    type(&t, "q");
    close_quietly(&t);
}

/* Names cannot move the cursor; those in the user's own characters are shown. */
TEST(hostile_names_are_shown_plain)
{
    (void)setenv("LIVE_HOSTILE", "1", 1);
    for (int utf8 = 0; utf8 < 2; utf8++) {
        (void)setenv("LC_ALL", utf8 ? "C.UTF-8" : "C", 1);
        struct terminal t = open_terminal("xterm-256color", LINES, COLUMNS, END_PROPERLY);
        int line = wait_for(&t, utf8 ? "?[2J?]0;x?\xEF\xBF\xBD\xc3\xa9\xe4\xb8\xad-9"
                                     : "?[2J?]0;x??"
                                       "?"
                                       "?-9");
        (void)wait_for(&t, "h help");
        /* the rest is in the same place in all lines */
        const struct vt_cell *cell = t.screen->cell[line];
        assert_string_equal(cell[COLUMNS - 1].text, "0");
        assert_string_equal(cell[COLUMNS - 2].text, "2");
        type(&t, "q");
        close_quietly(&t);
    }
    (void)unsetenv("LIVE_HOSTILE");
    (void)unsetenv("LC_ALL");
}

static bool has_colour(const struct vt_screen *v)
{
    for (int i = 0; i < v->lines; i++)
        for (int k = 0; k < v->columns; k++)
            if (v->cell[i][k].colour >= 0)
                return true;
    return false;
}

TEST(colours_are_where_they_are_wanted)
{
    for (int i = 0; i < 4; i++) {
        (void)setenv("NO_COLOR", i == 1 ? "1" : "", 1);
        struct terminal t = open_terminal(i == 2 ? "vt100" : "xterm", LINES, COLUMNS, END_PROPERLY);
        (void)wait_for(&t, "h help");
        if (i == 1 || i == 2)
            assert_false(has_colour(t.screen));
        else
            assert_int_equal(t.screen->cell[wait_for(&t, "task-1020")][0].colour, 1); /* red: above 5 % for sure */
        type(&t, "q");
        close_quietly(&t);
    }
    (void)unsetenv("NO_COLOR");
}

TEST(without_a_terminal_it_says_why)
{
    static const char *const cases[][2] = {
        {"dumb", "no view: the terminal cannot move its cursor (TERM is dumb)."},
        {"", "no view: TERM is not set."},
        {NULL, "no view: TERM is not set."},
        {"no-such-thing", "no view: TERM names an unknown terminal: no-such-thing."}};
    struct profile_live *view;
    char why[200];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct terminal t = open_terminal(cases[i][0], LINES, COLUMNS, END_PROPERLY);
        assert_int_equal(wait_for(&t, cases[i][1]), 0); /* and nothing before */
        int status = close_terminal(&t);
        free(t.screen);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), out = dup(STDOUT_FILENO);
    assert_true(null >= 0 && out >= 0);
    assert_true(dup2(null, STDOUT_FILENO) == STDOUT_FILENO);
    int got = profile_live_begin(&view, why, sizeof(why));
    assert_true(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    (void)close(out);
    (void)close(null);
    assert_int_equal(got, -1);
    assert_string_equal(why, "standard output is not a terminal");
    profile_live_end(NULL);
}

TEST(stopped_and_continued)
{
    struct terminal t = open_terminal("vt100", LINES, COLUMNS, END_PROPERLY); /* which has no other screen */
    for (int i = 0; i < 3; i++) {
        (void)wait_for(&t, "h help");
        type(&t, "\032");
        assert_int_equal(hear_report(&t), 'S');
        for (int k = 0; k < 100 && !(modes_are_back(&t) && screen_is_back(&t)); k++)
            (void)listen_once(&t, 20);
        assert_true(modes_are_back(&t));
        assert_true(screen_is_back(&t));
        vt_init(t.screen, LINES, COLUMNS); /* the shell writes what it likes */
        vt_feed(t.screen, "junk\r\njunk\r\n", 12);
        assert_int_equal(write(t.order, "c", 1), 1);
    }
    (void)wait_for(&t, "h help");
    wait_until_gone(&t, "junk");
    assert_false(modes_are_back(&t));
    type(&t, "q");
    close_quietly(&t);
}

static int ends_by(enum ending ending, int signal)
{
    struct terminal t = open_terminal("xterm-256color", LINES, COLUMNS, ending);
    (void)wait_for(&t, "h help");
    assert_true(t.screen->alternate && t.screen->hidden && !modes_are_back(&t));
    if (signal != 0)
        assert_int_equal(kill(t.program, signal), 0);
    else
        type(&t, "q");
    int status = close_terminal(&t);
    free(t.screen);
    return status;
}

TEST(the_terminal_is_given_back_however_it_ends)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGABRT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS};
    assert_int_equal(ends_by(END_BY_EXIT, 0), 7 << 8);
    int status = ends_by(END_BY_ABORT, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        status = ends_by(END_PROPERLY, signals[i]);
        if (signals[i] != SIGTERM) /* that one is curses' own */
            assert_int_equal(status & 0x7F, signals[i]);
    }
}

/* The process that waits for the end keeps nothing open. */
TEST(the_guard_holds_nothing_but_the_terminal)
{
    char path[200];
    struct terminal t = open_terminal("xterm", LINES, COLUMNS, END_PROPERLY);
    (void)wait_for(&t, "h help");
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)t.program, (int)t.program);
    FILE *in = fopen(path, "r");
    int guard = 0;
    if (in == NULL || fscanf(in, "%d", &guard) != 1)
        fail_msg("no child in %s", path);
    (void)fclose(in);
    size_t others = 0;
    for (int fd = 0; fd < 256; fd++) {
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", guard, fd);
        others += fd > 1 && access(path, F_OK) == 0;
    }
    assert_int_equal(others, 0);
    type(&t, "q");
    close_quietly(&t);
    assert_int_equal(kill(guard, 0), -1);
    assert_int_equal(errno, ESRCH);
}
