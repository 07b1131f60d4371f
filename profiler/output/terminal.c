/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A terminal to draw on: cells, keys, and giving it back. */
#include "profiler/output/terminal.h"

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
#include <wchar.h>
#include <wctype.h>

#include "util/error.h"

/* last: what curses calls its variables are macros */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns
#undef lines

/* ---- cells ---- */

/*
 * UTF-8 as so many cells of this locale's terminal; returns how many are used. What it cannot show is a '?'; marks
 * without a width are left out. Nothing is cut through the middle.
 */
static int fit_cells(const char *text, int width, wchar_t out[], size_t max, size_t *length)
{
    int used = 0;
    mbstate_t state = {0};
    const char *at = text, *end = text + strlen(text);
    for (*length = 0; at < end && *length + 1 < max;) {
        wchar_t c;
        size_t bytes = mbrtowc(&c, at, (size_t)(end - at), &state);
        int cells = 1;
        if (bytes == 0 || bytes > (size_t)(end - at)) {
            memset(&state, 0, sizeof(state));
            c = L'?';
            for (bytes = 1; ((unsigned char)at[bytes] & 0xC0) == 0x80; bytes++) {
            }
        } else {
            cells = wcwidth(c);
        }
        if (cells < 0) {
            c = L'?';
            cells = 1;
        }
        if (used + cells > width)
            break;
        at += bytes;
        used += cells;
        if (cells > 0)
            out[(*length)++] = c;
    }
    out[*length] = L'\0';
    return used;
}

void terminal_put_cells(int line, int column, int width, bool right, const char *text)
{
    wchar_t cells[512];
    size_t length;
    if (line < 0 || line >= LINES || column >= COLS)
        return;
    width = column + width > COLS ? COLS - column : width;
    int used = fit_cells(text, width, cells, sizeof(cells) / sizeof(cells[0]), &length);
    (void)mvhline(line, column, ' ', width);
    (void)mvaddnwstr(line, column + (right ? width - used : 0), cells, (int)length);
}

void terminal_put_line(int line, unsigned attributes, const char *text)
{
    (void)attrset((int)attributes);
    terminal_put_cells(line, 0, COLS, false, text);
    (void)attrset(A_NORMAL);
}

/* ---- the guard ---- */

/*
 * A process that gives the terminal back when another one ends without having done so, however it ends: by a signal
 * that nothing can catch, by a failed assertion, by exit() in the middle. It holds nothing but the terminal and one end
 * of a connection, so that it keeps no device open, and does nothing until the other end is closed.
 */
struct terminal_guard {
    pid_t pid;
    int alive; /* closed with the process */
};

/* In the guard, between fork() and _exit(): only what a signal handler might call, too. */
static _Noreturn void stand_guard(int tty, int end, const struct termios *modes, const char *text)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    char c;
    ssize_t got;
    /* signals that end the terminal's processes do not end this one; whoever owns the terminal then, it may write */
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
static void guard_end(struct terminal_guard *g)
{
    (void)send(g->alive, "q", 1, MSG_NOSIGNAL);
    (void)close(g->alive);
    while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Starts it: fd is the terminal, modes those that it is to have again, and text what is written to it then. 0, or -1
 * with one clause in `why`. */
static int guard_start(struct terminal_guard *g, int fd, const struct termios *modes, const char *text, char *why,
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
    guard_end(g);
    return error_line(why, size, "no process to restore the terminal: %s", strerror(g->pid < 0 ? error : ECHILD));
}

/* ---- the terminal ---- */

struct terminal {
    struct terminal_guard guard;
    SCREEN *screen;
    locale_t locale; /* the user's characters, and nothing else of theirs; 0: the caller's */
    locale_t others; /* the caller's, during a turn */
    int stops;       /* tells of SIGTSTP, which is blocked; -1: it cannot */
    sigset_t before; /* the signals blocked before */
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

/* Checks that there is a terminal to draw on; `restore` receives what it is to be sent in the end. */
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
static void set_modes(struct terminal *t)
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
    t->colour = wants_colour();
    if (t->colour) {
        (void)init_pair(TERMINAL_YELLOW, COLOR_YELLOW, -1);
        (void)init_pair(TERMINAL_RED, COLOR_RED, -1);
    }
}

/*
 * Curses has a handler for SIGTSTP that does everything within, wherever the program happens to be, perhaps in
 * malloc(). Here the signal waits until the view is shown.
 */
static void watch_stops(struct terminal *t)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    (void)pthread_sigmask(SIG_BLOCK, &stop, &t->before);
    t->stops = signalfd(-1, &stop, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Input that curses has not handled yet is not its to handle. */
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
static void stop_if_requested(struct terminal *t)
{
    struct signalfd_siginfo info;
    sigset_t stop;
    struct winsize size;
    if (t->stops < 0 || read(t->stops, &info, sizeof(info)) != sizeof(info))
        return;
    (void)endwin();
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    (void)raise(SIGTSTP);
    (void)pthread_sigmask(SIG_UNBLOCK, &stop, NULL); /* here it stops */
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
    /* whoever changed the window's size meanwhile informed the shell */
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        (void)resizeterm(size.ws_row, size.ws_col);
}

int terminal_begin(struct terminal **out, char *why, size_t size)
{
    char restore[256] = "";
    struct termios modes;
    if (find_terminal(restore, sizeof(restore), why, size) != 0)
        return -1;
    struct terminal *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return error_line(why, size, "out of memory");
    if (tcgetattr(STDOUT_FILENO, &modes) != 0 ||
        guard_start(&t->guard, STDOUT_FILENO, &modes, restore, why, size) != 0) {
        free(t);
        return -1;
    }
    t->locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    locale_t before = uselocale(t->locale);
    (void)fflush(stdout);
    watch_stops(t);
    t->screen = new_screen();
    if (t->screen != NULL)
        set_modes(t);
    (void)uselocale(before);
    *out = t;
    if (t->screen != NULL)
        return 0;
    terminal_end(t);
    return error_line(why, size, "the terminal cannot be used");
}

static int key_pressed(int code)
{
    static const int keys[][2] = {
        {KEY_UP, TERMINAL_KEY_UP},           {KEY_DOWN, TERMINAL_KEY_DOWN},   {KEY_PPAGE, TERMINAL_KEY_PAGE_UP},
        {KEY_NPAGE, TERMINAL_KEY_PAGE_DOWN}, {KEY_HOME, TERMINAL_KEY_FIRST},  {KEY_END, TERMINAL_KEY_LAST},
        {KEY_LEFT, TERMINAL_KEY_LEFT},       {KEY_RIGHT, TERMINAL_KEY_RIGHT}, {KEY_BTAB, '\t'}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] == code)
            return keys[i][1];
    return code < 0x80 ? code : 0;
}

int terminal_key(void)
{
    int code;
    do
        code = getch();
    while (code == KEY_RESIZE);
    return code == ERR ? -1 : key_pressed(code);
}

void terminal_turn_begin(struct terminal *t)
{
    t->others = uselocale(t->locale);
    stop_if_requested(t);
}

bool terminal_ready(void)
{
    struct pollfd tty = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&tty, 1, 0) > 0 && (tty.revents & POLLOUT) != 0;
}

void terminal_turn_end(struct terminal *t)
{
    (void)uselocale(t->others);
}

bool terminal_colour(const struct terminal *t)
{
    return t->colour;
}

void terminal_end(struct terminal *t)
{
    if (t == NULL)
        return;
    locale_t before = uselocale(t->locale);
    if (t->screen != NULL) {
        (void)endwin();
        delscreen(t->screen);
    }
    (void)uselocale(before);
    if (t->locale != (locale_t)0)
        freelocale(t->locale);
    if (t->stops >= 0)
        (void)close(t->stops);
    (void)pthread_sigmask(SIG_SETMASK, &t->before, NULL);
    guard_end(&t->guard);
    free(t);
}
