/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/output/live.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "profiler/output/live_table.h"
#include "util/error.h"

/* last: what curses calls its variables are macros, `lines` and `columns` among them */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/* ---- the guard ---- */

/*
 * A process that gives the terminal back when another one ends without having done so, however it ends: by a signal
 * that nothing can catch, by a failed assertion, by exit() in the middle. It holds nothing but the terminal and one end
 * of a connection, so that it keeps no device open, and does nothing until the other end is closed.
 */
struct live_guard {
    pid_t pid;
    int alive; /* closed with the process */
};

/* In the guard, between fork() and _exit(): only what a signal handler might call, too. */
static _Noreturn void stand_guard(int tty, int end, const struct termios *modes, const char *text)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    char c;
    ssize_t got;
    /* what ends the terminal's processes does not end it; whoever owns the terminal then, it may write */
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &ignore, NULL);
    (void)setpgid(0, 0);
    if (dup2(tty, STDIN_FILENO) < 0 || dup2(end, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO, UINT_MAX, 0) != 0)
        _exit(1);
    (void)send(STDOUT_FILENO, "r", 1, MSG_NOSIGNAL);
    do
        got = read(STDOUT_FILENO, &c, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0) { /* nobody has said that all is well */
        got = write(STDIN_FILENO, text, strlen(text));
        (void)tcsetattr(STDIN_FILENO, TCSANOW, modes);
    }
    _exit(0);
}

/* Ends it: the terminal has been given back. */
static void live_guard_end(struct live_guard *g)
{
    (void)send(g->alive, "q", 1, MSG_NOSIGNAL);
    (void)close(g->alive);
    while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Starts it: fd is the terminal, modes those that it is to have again, and text what is written to it then. 0, or -1
 * with one clause in `why`. */
static int live_guard_start(struct live_guard *g, int fd, const struct termios *modes, const char *text, char *why,
                            size_t size)
{
    int ends[2];
    /* not a pipe, since writing to one whose reader has been killed is a signal */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_line(why, size, "no socket: %s", strerror(errno));
    g->alive = ends[1];
    g->pid = fork();
    if (g->pid == 0) {
        (void)close(ends[1]);
        stand_guard(fd, ends[0], modes, text);
    }
    int error = errno;
    char ready;
    ssize_t got;
    (void)close(ends[0]);
    /* from then on nothing ends it but its task */
    do
        got = g->pid > 0 ? read(ends[1], &ready, 1) : 0;
    while (got < 0 && errno == EINTR);
    if (got == 1)
        return 0;
    live_guard_end(g);
    return error_line(why, size, "no process to restore the terminal: %s", strerror(g->pid < 0 ? error : ECHILD));
}

/* ---- the view ---- */

struct profile_live {
    struct live_table table;
    struct live_guard guard;
    SCREEN *screen;
    locale_t locale; /* the user's characters, and nothing else of theirs; 0: the caller's */
    int stops;       /* tells of SIGTSTP, which is blocked; -1: it cannot */
    sigset_t before; /* what was blocked before */
    bool colour;
};

/* Appends one of the terminal's strings, without the pauses "$<5>" that ancient terminals need (terminfo(5)). */
static void add_capability(char *out, size_t size, const char *name)
{
    const char *text = tigetstr(name);
    size_t used = strlen(out);
    if (text == NULL || text == (const char *)-1)
        return;
    for (const char *end; *text != '\0' && used + 1 < size; text++)
        if (text[0] == '$' && text[1] == '<' && (end = strchr(text, '>')) != NULL)
            text = end;
        else
            out[used++] = *text;
    out[used] = '\0';
}

/* Whether there is a terminal to draw on; `restore` receives what it is to be sent in the end. */
static int find_terminal(char *restore, size_t size, char *why, size_t why_size)
{
    static const char *const capabilities[] = {"sgr0", "op", "rmkx", "cnorm", "rmcup"};
    const char *name = getenv("TERM");
    int found;
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return error_line(why, why_size, "standard %s is not a terminal", isatty(STDOUT_FILENO) ? "input" : "output");
    if (tcgetpgrp(STDOUT_FILENO) != getpgrp())
        return error_line(why, why_size, "it runs in the background");
    if (name == NULL || name[0] == '\0')
        return error_line(why, why_size, "TERM is not set");
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
        return error_line(why, why_size, "TERM names an unknown terminal: %s", name);
    const char *move_cursor = tigetstr("cup");
    bool can = move_cursor != NULL && move_cursor != (const char *)-1;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
        add_capability(restore, size, capabilities[i]);
    (void)del_curterm(cur_term);
    return can ? 0 : error_line(why, why_size, "the terminal cannot move its cursor (TERM is %s)", name);
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"); /* no-color.org */
    return (no == NULL || no[0] == '\0') && has_colors() && start_color() == OK && use_default_colors() == OK;
}

/* Keys are for the view; Ctrl-C and Ctrl-Z stay signals, but Ctrl-S is not to stop who reads the records. */
static void set_modes(struct profile_live *v)
{
    struct termios modes;
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)intrflush(stdscr, FALSE);
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(25);
    (void)curs_set(0);
    if (tcgetattr(STDOUT_FILENO, &modes) == 0) {
        modes.c_iflag &= ~(tcflag_t)IXON;
        (void)tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
        (void)def_prog_mode();
    }
    v->colour = wants_colour();
    if (v->colour) {
        (void)init_pair(LIVE_SLOW, COLOR_YELLOW, -1);
        (void)init_pair(LIVE_SLOWER, COLOR_RED, -1);
    }
}

/*
 * Curses has a handler for SIGTSTP that does everything within, wherever the program happens to be, perhaps in
 * malloc(). Here the signal waits until the view is shown.
 */
static void watch_stops(struct profile_live *v)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    (void)pthread_sigmask(SIG_BLOCK, &stop, &v->before);
    v->stops = signalfd(-1, &stop, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* What curses has not handled yet is not its to handle. */
static SCREEN *new_screen(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    bool had = sigaction(SIGTSTP, &ignore, &before) == 0;
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (had)
        (void)sigaction(SIGTSTP, &before, NULL);
    return screen;
}

/* Ctrl-Z: the terminal is the shell's until somebody says "fg". */
static void stop_if_asked(struct profile_live *v)
{
    struct signalfd_siginfo info;
    sigset_t stop;
    struct winsize size;
    if (v->stops < 0 || read(v->stops, &info, sizeof(info)) != sizeof(info))
        return;
    (void)endwin();
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    (void)raise(SIGTSTP);
    (void)pthread_sigmask(SIG_UNBLOCK, &stop, NULL); /* here it stops */
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
    /* whoever changed the window's size meanwhile told the shell */
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        (void)resizeterm(size.ws_row, size.ws_col);
}

int profile_live_begin(struct profile_live **out, char *why, size_t size)
{
    char restore[256] = "";
    struct termios modes;
    if (find_terminal(restore, sizeof(restore), why, size) != 0)
        return -1;
    struct profile_live *v = calloc(1, sizeof(*v));
    if (v == NULL)
        return error_line(why, size, "out of memory");
    if (tcgetattr(STDOUT_FILENO, &modes) != 0 ||
        live_guard_start(&v->guard, STDOUT_FILENO, &modes, restore, why, size) != 0) {
        free(v);
        return -1;
    }
    live_table_init(&v->table);
    v->locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    locale_t before = uselocale(v->locale);
    (void)fflush(stdout);
    watch_stops(v);
    v->screen = new_screen();
    if (v->screen != NULL)
        set_modes(v);
    (void)uselocale(before);
    *out = v;
    if (v->screen != NULL)
        return 0;
    profile_live_end(v);
    return error_line(why, size, "the terminal cannot be used");
}

static int key_pressed(int code)
{
    static const int keys[][2] = {
        {KEY_UP, LIVE_KEY_UP},           {KEY_DOWN, LIVE_KEY_DOWN},   {KEY_PPAGE, LIVE_KEY_PAGE_UP},
        {KEY_NPAGE, LIVE_KEY_PAGE_DOWN}, {KEY_HOME, LIVE_KEY_FIRST},  {KEY_END, LIVE_KEY_LAST},
        {KEY_LEFT, LIVE_KEY_LEFT},       {KEY_RIGHT, LIVE_KEY_RIGHT}, {KEY_BTAB, '\t'}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] == code)
            return keys[i][1];
    return code < 0x80 ? code : 0;
}

/* What was typed since the last time. */
static void take_keys(struct profile_live *v)
{
    enum { KEYS_MAX = 256 }; /* whoever holds a key down, or pastes, does not keep the view from going on */
    int code;
    for (int i = 0; i < KEYS_MAX && (code = getch()) != ERR; i++)
        if (code != KEY_RESIZE)
            live_table_key(&v->table, key_pressed(code), live_draw_rows(LINES));
}

enum profile_live_wish profile_live_show(struct profile_live *v, const struct profile_result *r)
{
    struct pollfd tty = {.fd = STDOUT_FILENO, .events = POLLOUT};
    locale_t before = uselocale(v->locale);
    stop_if_asked(v);
    (void)live_table_arrange(&v->table, r, live_draw_rows(LINES));
    take_keys(v);
    const struct profile_result *shown = live_table_arrange(&v->table, r, live_draw_rows(LINES));
    /* a terminal that takes nothing now, since its line is slow or cut, will have a later one */
    if (shown != NULL && poll(&tty, 1, 0) > 0 && (tty.revents & POLLOUT) != 0) {
        live_draw(&v->table, shown, v->colour);
        (void)refresh();
    }
    (void)uselocale(before);
    return v->table.quit ? LIVE_QUIT : LIVE_GO_ON;
}

void profile_live_end(struct profile_live *v)
{
    if (v == NULL)
        return;
    locale_t before = uselocale(v->locale);
    if (v->screen != NULL) {
        (void)endwin();
        delscreen(v->screen);
    }
    (void)uselocale(before);
    if (v->locale != (locale_t)0)
        freelocale(v->locale);
    if (v->stops >= 0)
        (void)close(v->stops);
    (void)pthread_sigmask(SIG_SETMASK, &v->before, NULL);
    live_guard_end(&v->guard);
    live_table_free(&v->table);
    free(v);
}
