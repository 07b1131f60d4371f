/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view on a terminal: what is drawn, keys, and giving the terminal back. */
#include "profiler/output/live.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
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

#include "drivers/profile/profile_arithmetic.h"
#include "profiler/output/live_table.h"
#include "profiler/output/profile_parts.h"
#include "util/error.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* last: what curses calls its variables are macros, and two of them are names here */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns
#undef lines

/* ---- the screen, drawn with curses ---- */

/* Colours are to be had, and wanted. */
enum live_pair { LIVE_PLAIN, LIVE_SLOW, LIVE_SLOWER };

/* Lines around the table's rows, as far as the screen has room for them. */
struct live_layout {
    int head, title, columns, rows, detail, keys;
};

static struct live_layout lay_out(int lines)
{
    struct live_layout l = {.head = lines >= 14 ? 4 : 0,
                            .title = lines >= 3,
                            .columns = lines >= 4,
                            .detail = lines >= 18 ? 4 : 0,
                            .keys = lines >= 8};
    l.rows = lines - l.head - l.title - l.columns - l.detail - l.keys;
    l.rows = l.rows > 0 ? l.rows : 1;
    return l;
}

/* Rows of the table for which there is room on a screen of so many lines. */
static size_t draw_rows(int lines)
{
    return (size_t)lay_out(lines).rows;
}

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

/* A text in `width` cells from a column of a line, what is left of them blank; to the right on request. */
static void put_cells(int line, int column, int width, bool right, const char *text)
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

static void put_line(int line, chtype attributes, const char *text)
{
    (void)attrset((int)attributes);
    put_cells(line, 0, COLS, false, text);
    (void)attrset(A_NORMAL);
}

static void duration_text(double seconds, char out[32])
{
    unsigned long s = seconds >= 0 && seconds < 1e9 ? (unsigned long)seconds : 0;
    (void)snprintf(out, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

static void draw_head(const struct profile_result *r)
{
    char text[600], elapsed[32], name[200], cpu[200];
    uint64_t turns = 0;
    duration_text(r->totals.seconds, elapsed);
    (void)plain_text(r->info.cpu != NULL ? r->info.cpu : "", cpu, sizeof(cpu));
    (void)plain_text(r->info.name != NULL ? r->info.name : "", name, sizeof(name));
    (void)snprintf(text, sizeof(text), "%s  %s  %s", r->info.modelled ? "MODELLED" : "Profile", elapsed, name);
    text_list_add(text, sizeof(text), ", ", "%u cores, %u CPUs", r->info.cores, r->info.cpus);
    text_list_add(text, sizeof(text), ", ", "%s", cpu);
    put_line(0, A_BOLD, text);

    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        turns += r->turns[i];
    (void)snprintf(text, sizeof(text), "Turns %" PRIu64 ": %" PRIu64 " taken", turns, r->turns[PROFILE_TAKEN]);
    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        if (i != PROFILE_TAKEN && r->turns[i] > 0)
            text_list_add(text, sizeof(text), ", ", "%" PRIu64 " %s", r->turns[i], profile_outcome_names[i]);
    put_line(1, A_NORMAL, text);

    (void)snprintf(text, sizeof(text), "Cost: %.2f %% of all cores' time; longest pause %.2f ms",
                   profile_duty_ppm(&r->setup, r->info.cores) / 1e4, r->totals.pause_us_max / 1e3);
    if (r->totals.lost > 0)
        text_list_add(text, sizeof(text), "; ", "%" PRIu64 " records lost", r->totals.lost);
    if (r->setup.n_bins == 0)
        text_list_add(text, sizeof(text), "; ", "no frequency table");
    put_line(2, A_NORMAL, text);
}

static void draw_title(int line, const struct live_table *t, size_t rows)
{
    static const char *const kinds[PROFILE_KINDS] = {
        [PROFILE_TASK] = "Tasks", [PROFILE_CONTAINER] = "Containers", [PROFILE_CORE] = "Cores"};
    char text[300];
    size_t end = t->top + rows < t->n ? t->top + rows : t->n;
    (void)snprintf(text, sizeof(text), "%s%s by %s%s", t->paused ? "PAUSED  " : "", kinds[t->kind],
                   live_order_names[t->by], t->reversed ? ", reversed" : "");
    if (t->n > 0)
        text_list_add(text, sizeof(text), ", ", "%zu to %zu of %zu, in %%", t->top + 1, end, t->n);
    else
        text_list_add(text, sizeof(text), ", ", "none yet");
    put_line(line, A_BOLD, text);
}

/* A line of the table, or with row NULL its headings. */
static void draw_cells(int line, const struct live_table *t, const struct profile_row *row, chtype attributes)
{
    char text[PROFILE_NAME_MAX];
    bool shown[LIVE_COLUMNS];
    unsigned name, at = 0;
    live_table_columns((unsigned)COLS, shown, &name);
    (void)attrset((int)attributes);
    put_cells(line, 0, COLS, false, "");
    for (unsigned c = 0; c < LIVE_COLUMNS; c++) {
        if (!shown[c])
            continue;
        unsigned width = c == LIVE_NAME ? name : live_table_width(c);
        (void)snprintf(text, sizeof(text), "%s", live_table_heading(c, t->kind));
        if (row != NULL)
            live_table_cell(row, c, text, sizeof(text));
        /* a name that fills its column is not to touch the next */
        put_cells(line, (int)at, (int)(c == LIVE_NAME && name < (unsigned)COLS ? width - 1 : width), c != LIVE_NAME,
                  text);
        at += width;
    }
    (void)attrset(A_NORMAL);
}

/* Colours show what is certain: the lower limit. */
static chtype row_attributes(const struct profile_row *row, bool selected, bool colour)
{
    const double slow = 0.01, slower = 0.05;
    chtype a = selected ? A_REVERSE : A_NORMAL;
    if (row->chosen)
        a |= A_BOLD;
    if (colour && row->overhead.lo >= slow)
        a |= (chtype)COLOR_PAIR(row->overhead.lo >= slower ? LIVE_SLOWER : LIVE_SLOW);
    return a;
}

/* Ends a text at the last blank at which it fits on a line, in place; returns what is left of it, perhaps nothing. */
static char *break_line(char *text)
{
    char *blank = NULL;
    size_t length = strlen(text), most = (size_t)COLS; /* bytes: a line with others than ASCII ends a little early */
    for (size_t i = 0; length > most && i <= most; i++)
        blank = text[i] == ' ' ? text + i : blank;
    if (blank == NULL)
        return text + length;
    *blank = '\0';
    return blank + 1;
}

/* Draws the selected row: what it is, who slows it, what would help. */
static void draw_detail(int line, const struct profile_row *row, const struct profile_result *r)
{
    char text[1200] = "", plain[PROFILE_NAME_MAX];
    (void)plain_text(row->command[0] != '\0' ? row->command : row->name, plain, sizeof(plain));
    put_line(line, A_UNDERLINE, plain);
    for (size_t i = 0; i < row->n_culprits && i < PROFILE_CULPRITS_MAX; i++) {
        const char *name = profile_culprit_name(r, row, &row->culprits[i]);
        if (name != NULL)
            text_list_add(text, sizeof(text), ", ", "%s%s %.1f %%", text[0] == '\0' ? "slowed by " : "",
                          profile_short_name(name, PROFILE_NAME_SAID, plain), 100 * row->culprits[i].overhead);
    }
    if (row->unattributed >= 0.0005)
        text_list_add(text, sizeof(text), ", ", "unattributed %.1f %%", 100 * row->unattributed);
    put_line(line + 1, A_NORMAL, text);
    (void)plain_text(row->advice, plain, sizeof(plain));
    char *rest = break_line(plain);
    put_line(line + 2, A_NORMAL, plain);
    put_line(line + 3, A_NORMAL, rest);
}

static void draw_help(void)
{
    static const char *const lines[] = {
        "t c o  Tab    show tasks, containers, cores; the next of these",
        "I             sort by impact: overhead x share, what it costs the machine",
        "O S N C A     sort by overhead, share, samples, causes, name",
        "< >  r        sort by the previous, the next column; in reverse order",
        "up down  j k  select a row to see who slows it and what would help",
        "PgUp PgDn     one screen up, down;  g G  Home End  first, last row",
        "p  Space      freeze the display; profiling goes on",
        "h ?           this help;  q  end the profile and print it",
        "",
        "OVERHEAD      actual over ideal time, less 1, and its limits at 95 %",
        "SIBLING       the part that the other hyper-thread adds now",
        "DELAY         the part due to levels held after the code that needed them",
        "WIDE1 WIDE2   share of its samples in which its own code demands level 1, 2",
        "CAUSES        what it costs others, as a share of all overhead in the profile",
        "SHARE         of the turns in which anything ran;  -  unknown (SIBLING, DELAY: --sources)",
    };
    put_line(0, A_BOLD, "Help: any key returns");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        put_line((int)i + 1 + (LINES > 17), A_NORMAL, lines[i]);
}

/* Draws all. r as arranged for draw_rows() of the present size. */
static void draw(const struct live_table *t, const struct profile_result *r, bool colour)
{
    struct live_layout l = lay_out(LINES);
    (void)erase();
    if (t->help) {
        draw_help();
        return;
    }
    int line = l.head;
    if (l.head > 0)
        draw_head(r);
    if (l.title)
        draw_title(line++, t, (size_t)l.rows);
    if (l.columns)
        draw_cells(line++, t, NULL, A_REVERSE);
    for (size_t i = t->top; i < t->n && i < t->top + (size_t)l.rows; i++) {
        const struct profile_row *row = &r->rows[t->order[i].index];
        draw_cells(line++, t, row, row_attributes(row, i == t->selected, colour));
    }
    if (l.detail > 0 && t->n > 0)
        draw_detail(LINES - l.detail - l.keys, &r->rows[t->order[t->selected].index], r);
    if (l.keys)
        put_line(LINES - 1, A_DIM, "h help  q quit  p pause  t c o tasks containers cores  < > sort  r reverse");
}

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
static void guard_end(struct live_guard *g)
{
    (void)send(g->alive, "q", 1, MSG_NOSIGNAL);
    (void)close(g->alive);
    while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Starts it: fd is the terminal, modes those that it is to have again, and text what is written to it then. 0, or -1
 * with one clause in `why`. */
static int guard_start(struct live_guard *g, int fd, const struct termios *modes, const char *text, char *why,
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

/* ---- the view ---- */

struct profile_live {
    struct live_table table;
    struct live_guard guard;
    SCREEN *screen;
    locale_t locale; /* the user's characters, and nothing else of theirs; 0: the caller's */
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
static void stop_if_requested(struct profile_live *v)
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
    /* whoever changed the window's size meanwhile informed the shell */
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
        guard_start(&v->guard, STDOUT_FILENO, &modes, restore, why, size) != 0) {
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

/* Handles the keys since the last call. */
static void take_keys(struct profile_live *v)
{
    enum { KEYS_MAX = 256 }; /* whoever holds a key down, or pastes, does not keep the view from going on */
    int code;
    for (int i = 0; i < KEYS_MAX && (code = getch()) != ERR; i++)
        if (code != KEY_RESIZE)
            live_table_key(&v->table, key_pressed(code), draw_rows(LINES));
}

enum profile_live_wish profile_live_show(struct profile_live *v, const struct profile_result *r)
{
    struct pollfd tty = {.fd = STDOUT_FILENO, .events = POLLOUT};
    locale_t before = uselocale(v->locale);
    stop_if_requested(v);
    (void)live_table_arrange(&v->table, r, draw_rows(LINES));
    take_keys(v);
    const struct profile_result *shown = live_table_arrange(&v->table, r, draw_rows(LINES));
    /* a terminal that takes nothing now, since its line is slow or cut, will have a later one */
    if (shown != NULL && poll(&tty, 1, 0) > 0 && (tty.revents & POLLOUT) != 0) {
        draw(&v->table, shown, v->colour);
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
    guard_end(&v->guard);
    live_table_free(&v->table);
    free(v);
}
