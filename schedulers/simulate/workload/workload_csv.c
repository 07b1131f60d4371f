/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads as CSV (doc/simulation.md): from each row's time on, a CPU runs what the row says, until its next row. What
 * cannot be taken is named by line and column.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/names.h"
#include "schedulers/simulate/workload/recording.h"
#include "schedulers/simulate/workload/values.h"
#include "util/list.h"
#include "util/plain_text.h"

enum csv_column {
    CSV_CPU,
    CSV_TIME,
    CSV_TASK,
    CSV_CLASS,
    CSV_NEEDED,
    CSV_IPC = CSV_NEEDED,
    CSV_STALL,
    CSV_COOKIE,
    CSV_SYSCALL,
    CSV_COLUMNS
};
static const char *const csv_names[CSV_COLUMNS] = {"cpu", "time_us", "task",   "class",
                                                   "ipc", "stall",   "cookie", "syscall"};

/* Columns of a file, those that are not ours included. */
enum { CSV_FIELDS_MAX = 256 };

/* The row of a CPU since `at`. */
struct csv_cpu {
    int64_t first; /* it was idle until then */
    int64_t at;
    struct sim_row row;
};

struct csv {
    struct sim_recording *r;
    size_t n_fields;             /* of the header */
    int place[CSV_COLUMNS];      /* of a column among the fields; -1: it is not there */
    char *field[CSV_FIELDS_MAX]; /* of the present line */
    struct csv_cpu *cpu;         /* by stream */
    uint64_t rows;
    int64_t first, last; /* times of the file */
    struct sim_names tasks, cookies;
    uint32_t *cookie; /* by task */
};

static int csv_wrong(struct csv *c, enum csv_column column, const char *is, const char *allowed)
{
    char shown[SIM_SHOWN_SIZE];
    return sim_lines_fail(&c->r->in, c->r->in.number, "column %s: '%s' is %s; allowed: %s", csv_names[column],
                          sim_lines_shown(c->field[c->place[column]], shown), is, allowed);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts the line into fields, without the blanks around them. Returns how many there are, at most CSV_FIELDS_MAX + 1. */
static size_t cut_fields(struct csv *c)
{
    char *at = c->r->in.line, *end = at + c->r->in.length;
    for (size_t n = 0;;) {
        char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        if (n == CSV_FIELDS_MAX)
            return n + 1;
        while (is_space(*at))
            at++;
        while (stop > at && is_space(stop[-1]))
            stop--;
        *stop = '\0';
        c->field[n++] = at;
        if (!comma)
            return n;
        at = comma + 1;
    }
}

static int csv_read_header(struct csv *c)
{
    struct sim_lines *in = &c->r->in;
    for (int i = 0; i < CSV_COLUMNS; i++)
        c->place[i] = -1;
    c->n_fields = cut_fields(c);
    if (c->n_fields > CSV_FIELDS_MAX)
        return sim_lines_fail(in, in->number, "more than %d columns", CSV_FIELDS_MAX);
    for (size_t f = 0; f < c->n_fields; f++)
        for (int i = 0; i < CSV_COLUMNS; i++)
            if (!strcmp(c->field[f], csv_names[i])) {
                if (c->place[i] >= 0)
                    return sim_lines_fail(in, in->number, "column %s is given twice", csv_names[i]);
                c->place[i] = (int)f;
            }
    for (int i = 0; i < CSV_NEEDED; i++)
        if (c->place[i] < 0)
            return sim_lines_fail(in, in->number, "the header lacks column %s; needed: cpu, time_us, task, class",
                                  csv_names[i]);
    struct sim_workload *w = c->r->w;
    w->has_ipc = c->place[CSV_IPC] >= 0;
    w->has_stall = c->place[CSV_STALL] >= 0;
    w->has_cookie = c->place[CSV_COOKIE] >= 0;
    w->has_syscall = c->place[CSV_SYSCALL] >= 0;
    return 0;
}

static const char *csv_text(const struct csv *c, enum csv_column column)
{
    return c->field[c->place[column]];
}

/* A task's cookie is that of its first row. */
static int check_cookie(struct csv *c, uint32_t task, bool new_task)
{
    const char *text = csv_text(c, CSV_COOKIE);
    uint32_t cookie = sim_names_number(&c->cookies, text, strlen(text));
    if (cookie == SIM_NAME_NONE || (new_task && !list_room(&c->cookie, task, sizeof *c->cookie)))
        return sim_lines_memory(&c->r->in);
    if (new_task)
        c->cookie[task] = cookie;
    else if (c->cookie[task] != cookie) {
        char before[SIM_SHOWN_SIZE], allowed[80];
        snprintf(allowed, sizeof allowed, "'%s', as in the task's first row",
                 sim_lines_shown(c->cookies.entry[c->cookie[task]].key, before));
        return csv_wrong(c, CSV_COOKIE, "a different cookie", allowed);
    }
    return 0;
}

/* Reads the columns of work, which idle time has not. */
static int read_work(struct csv *c, struct sim_row *row)
{
    const struct sim_workload *w = c->r->w;
    const char *task = csv_text(c, CSV_TASK);
    enum sim_class class;
    int64_t value;
    if (!*task)
        return csv_wrong(c, CSV_TASK, "empty", "a name, or - for idle time");
    if (!sim_parse_class(csv_text(c, CSV_CLASS), &class))
        return csv_wrong(c, CSV_CLASS, "not a class", SIM_CLASSES_ALLOWED);
    row->class = class;
    if (w->has_ipc) {
        if (!sim_value_rounded(csv_text(c, CSV_IPC), 3, &value) || value < 1 || value > 16000)
            return csv_wrong(c, CSV_IPC, "not a number of instructions per cycle", "0.001 to 16");
        row->ipc = (uint16_t)value;
    }
    if (w->has_stall) {
        if (!sim_value_rounded(csv_text(c, CSV_STALL), 3, &value) || value > 1000)
            return csv_wrong(c, CSV_STALL, "not a share", "0 to 1");
        row->stall = (uint16_t)value & 0x3ff;
    }
    if (w->has_syscall) {
        const char *text = csv_text(c, CSV_SYSCALL);
        if ((*text != '0' && *text != '1') || text[1])
            return csv_wrong(c, CSV_SYSCALL, "neither 0 nor 1", "1 if the row begins with a system call, else 0");
        row->syscall = *text == '1';
    }
    size_t before = c->tasks.n;
    row->task = sim_names_number(&c->tasks, task, strlen(task));
    if (row->task == SIM_NAME_NONE)
        return sim_lines_memory(&c->r->in);
    return w->has_cookie ? check_cookie(c, row->task, row->task == before) : 0;
}

/* Ends the row of a CPU. Idle time ahead of all work is part of what is ahead of its first row. */
static int end_row(struct csv *c, unsigned stream, int64_t now)
{
    struct csv_cpu *s = &c->cpu[stream];
    if (s->row.task == SIM_IDLE && s->first == s->at) {
        s->first = now;
        return 0;
    }
    s->row.ps = now - s->at;
    return sim_recording_row(c->r, stream, s->row);
}

static int read_row(struct csv *c)
{
    struct sim_lines *in = &c->r->in;
    uint32_t cpu;
    int64_t at;
    const char *quote = memchr(in->line, '"', in->length);
    size_t n = quote ? 0 : cut_fields(c);
    if (quote)
        return sim_lines_fail(in, in->number, "a quote (\"); allowed: fields without commas and quotes");
    if (n != c->n_fields)
        return sim_lines_fail(in, in->number, "%zu field%s%s; allowed: the %zu of the header", n, n == 1 ? "" : "s",
                              n > CSV_FIELDS_MAX ? " or more" : "", c->n_fields);
    if (!sim_value_number(csv_text(c, CSV_CPU), SIM_CPU_NUMBERS - 1, &cpu))
        return csv_wrong(c, CSV_CPU, "not a CPU number", "0 to 8191");
    if (!sim_value_rounded(csv_text(c, CSV_TIME), 6, &at))
        return csv_wrong(c, CSV_TIME, "not a time", "0 to 9200000000000");
    struct sim_row row = {.task = SIM_IDLE};
    if (strcmp(csv_text(c, CSV_TASK), "-") && read_work(c, &row))
        return -1;
    bool seen = c->r->stream[cpu];
    unsigned stream = sim_recording_stream(c->r, cpu);
    if (!seen && !list_room(&c->cpu, stream, sizeof *c->cpu))
        return sim_lines_memory(in);
    struct csv_cpu *s = &c->cpu[stream];
    if (!seen)
        *s = (struct csv_cpu){.first = at, .at = at, .row = {.task = SIM_IDLE}};
    if (at < s->at) {
        char allowed[80];
        snprintf(allowed, sizeof allowed, "%" PRId64 ".%06" PRId64 " or later, like the previous row of CPU %u",
                 s->at / SIM_PS_PER_US, s->at % SIM_PS_PER_US, cpu);
        return csv_wrong(c, CSV_TIME, "back in time", allowed);
    }
    if (end_row(c, stream, at))
        return -1;
    s->at = at;
    s->row = row;
    c->first = !c->rows || at < c->first ? at : c->first;
    c->last = !c->rows || at > c->last ? at : c->last;
    c->rows++;
    return 0;
}

/* All CPUs from the first time to the last, and the tasks. */
static int end_rows(struct csv *c)
{
    struct sim_recording *r = c->r;
    struct sim_workload *w = r->w;
    if (!c->rows)
        return sim_lines_fail(&r->in, 0, "%s",
                              c->n_fields ? "has a header but no rows"
                                          : "has no header, which names the columns cpu, time_us, task, class");
    if (c->first == c->last)
        return sim_lines_fail(&r->in, 0, "all rows have the same time: the recording has no duration");
    for (unsigned i = 0; i < w->n_cpus; i++) {
        struct csv_cpu *s = &c->cpu[i];
        if (end_row(c, i, c->last) || sim_spool_lead(r->rows, i, s->first - c->first, r->in.err))
            return -1;
    }
    r->length = c->last - c->first;
    w->tasks = calloc(c->tasks.n + 1, sizeof *w->tasks);
    if (!w->tasks)
        return sim_lines_memory(&r->in);
    for (; w->n_tasks < c->tasks.n; w->n_tasks++) {
        w->tasks[w->n_tasks].cookie = c->cookie ? c->cookie[w->n_tasks] + 1 : 0;
        w->tasks[w->n_tasks].name = plain_text_copy(c->tasks.entry[w->n_tasks].key);
        if (!w->tasks[w->n_tasks].name)
            return sim_lines_memory(&r->in);
    }
    return 0;
}

static int read_lines(struct csv *c)
{
    struct sim_lines *in = &c->r->in;
    int got;
    while ((got = sim_lines_next(in)) > 0) {
        if (!in->line[strspn(in->line, " \t")])
            continue;
        int bad = c->n_fields              ? read_row(c)
                  : *in->line == '#'       ? sim_recording_comment(c->r)
                  : csv_read_header(c) < 0 ? -1
                                           : sim_recording_settle(c->r);
        if (bad)
            return -1;
    }
    return got;
}

int sim_csv_read(struct sim_recording *r)
{
    struct csv c = {.r = r};
    r->w->kind = "csv";
    int bad = read_lines(&c) || end_rows(&c);
    free(c.cpu);
    free(c.cookie);
    sim_names_free(&c.tasks);
    sim_names_free(&c.cookies);
    if (bad)
        return -1;
    if (r->options->n_marks || r->options->stamps)
        return sim_lines_fail(
            &r->in, 0, "is CSV, whose column class says what is wide: --wide and --stamps are for perf script text");
    return 0;
}
