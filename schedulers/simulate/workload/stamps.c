/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads begins and ends of wide phases, as an instrumented library writes them, thread by thread. */
#include "schedulers/simulate/workload/stamps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/lines.h"
#include "schedulers/simulate/workload/names.h"
#include "schedulers/simulate/workload/spool.h"
#include "schedulers/simulate/workload/values.h"
#include "util/list.h"

enum stamps_column { STAMPS_TID, STAMPS_BEGIN, STAMPS_END, STAMPS_CLASS, STAMPS_COLUMNS };
/* Rows that are read at a time, of each thread; columns of a file. */
enum { STAMPS_AHEAD = 16, STAMPS_FIELDS_MAX = 64 };

struct stamps_thread {
    int64_t at; /* end of the last phase; when it is read again: begin of the present row */
    size_t i, n;
    struct sim_row row[STAMPS_AHEAD];
};

struct sim_stamps {
    struct sim_names threads; /* their numbers' bytes */
    struct stamps_thread *thread;
    struct sim_spool *spool; /* phases and, idle, the time between them, by thread */
    struct sim_source rows;
    uint64_t met;
    /* while it is read */
    struct sim_lines in;
    enum sim_class fallback;
    int64_t origin;
    int place[STAMPS_COLUMNS];
    unsigned decimals; /* of the unit in ns */
    char *field[STAMPS_FIELDS_MAX];
    size_t n_fields;
};

/* Fields between commas or blanks. Returns how many, at most STAMPS_FIELDS_MAX. */
static size_t stamps_fields(struct sim_stamps *s)
{
    size_t n = 0;
    char *at = s->in.line + strspn(s->in.line, " \t");
    for (bool comma = false; (*at || comma) && n < STAMPS_FIELDS_MAX; n++) {
        s->field[n] = at;
        at += strcspn(at, ", \t");
        char *end = at;
        at += strspn(at, " \t");
        comma = *at == ',';
        at += comma;
        at += strspn(at, " \t");
        *end = '\0';
    }
    return n;
}

static int stamps_header(struct sim_stamps *s)
{
    static const char *const names[] = {"tid", "begin_s", "end_s", "class", "begin_us", "end_us"};
    static const int column[] = {STAMPS_TID, STAMPS_BEGIN, STAMPS_END, STAMPS_CLASS, STAMPS_BEGIN, STAMPS_END};
    unsigned micro = 0, seconds = 0;
    for (size_t f = 0; f < s->n_fields; f++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strcmp(s->field[f], names[i])) {
                if (s->place[column[i]] >= 0)
                    return sim_lines_fail(&s->in, s->in.number, "column %s is given twice", names[i]);
                s->place[column[i]] = (int)f;
                micro += i >= 4;
                seconds += i == STAMPS_BEGIN || i == STAMPS_END;
            }
    if (s->place[STAMPS_TID] < 0 || (micro != 2 && seconds != 2))
        return sim_lines_fail(&s->in, s->in.number,
                              "the header must name the columns tid, begin_s, end_s (or begin_us, end_us) and may name "
                              "class");
    s->decimals = micro ? 3 : 9;
    return 0;
}

static int stamps_time(struct sim_stamps *s, enum stamps_column column, int64_t *ps)
{
    const char *text = s->field[s->place[column]];
    char shown[SIM_SHOWN_SIZE];
    int64_t ns;
    if (!sim_value_decimal(text, s->decimals, &ns) || ns - s->origin > SIM_VALUE_MOST / 1000)
        return sim_lines_fail(
            &s->in, s->in.number,
            "column %s_%s: '%s' is not a time; allowed: from 0 to 106 days after the first event, with at "
            "most %u decimals",
            column == STAMPS_BEGIN ? "begin" : "end", s->decimals == 3 ? "us" : "s", sim_lines_shown(text, shown),
            s->decimals);
    *ps = ns > s->origin ? (ns - s->origin) * 1000 : 0;
    return 0;
}

static int stamps_line(struct sim_stamps *s)
{
    struct sim_lines *in = &s->in;
    char shown[SIM_SHOWN_SIZE];
    uint32_t tid;
    int64_t begin, end;
    enum sim_class class = s->fallback;
    size_t n = stamps_fields(s);
    if (!s->n_fields) {
        bool header = n && (*s->field[0] < '0' || *s->field[0] > '9');
        s->n_fields = n;
        for (int i = 0; i < STAMPS_COLUMNS; i++)
            s->place[i] = header || (size_t)i >= n ? -1 : i;
        if (header)
            return stamps_header(s);
    }
    if (n != s->n_fields || n <= STAMPS_END)
        return sim_lines_fail(in, in->number, "%zu field%s; allowed: tid, begin, end and maybe class, in all lines", n,
                              n == 1 ? "" : "s");
    const char *number = s->field[s->place[STAMPS_TID]];
    if (!sim_value_number(number, INT32_MAX, &tid))
        return sim_lines_fail(in, in->number, "column tid: '%s' is not a thread; allowed: 0 to 2147483647",
                              sim_lines_shown(number, shown));
    if (stamps_time(s, STAMPS_BEGIN, &begin) || stamps_time(s, STAMPS_END, &end))
        return -1;
    const char *text = s->place[STAMPS_CLASS] >= 0 ? s->field[s->place[STAMPS_CLASS]] : "";
    if ((*text || class == SIM_NONE) && !sim_parse_class(text, &class))
        return sim_lines_fail(in, in->number, "column class: '%s' is not a class; allowed: " SIM_CLASSES_ALLOWED,
                              sim_lines_shown(text, shown));
    size_t before = s->threads.n;
    uint32_t i = sim_names_number(&s->threads, &tid, sizeof tid);
    if (i == SIM_NAME_NONE || (i == before && !list_room(&s->thread, before, sizeof *s->thread)))
        return sim_lines_memory(in);
    if (i == before)
        s->thread[i] = (struct stamps_thread){0};
    if (end < begin || begin < s->thread[i].at)
        return sim_lines_fail(in, in->number, "thread %u: the phase %s", tid,
                              end < begin ? "ends before it begins" : "begins before the previous one ends");
    struct sim_row gap = {.ps = begin - s->thread[i].at, .task = SIM_IDLE}, phase = {.ps = end - begin, .class = class};
    s->thread[i].at = end;
    return sim_spool_push(s->spool, i, gap, in->err) || sim_spool_push(s->spool, i, phase, in->err) ? -1 : 0;
}

static int stamps_lines(struct sim_stamps *s)
{
    uint64_t rows;
    int got;
    while ((got = sim_lines_next(&s->in)) > 0)
        if (s->in.line[strspn(s->in.line, " \t")] && *s->in.line != '#' && stamps_line(s))
            return -1;
    if (got < 0)
        return -1;
    if (!s->threads.n)
        return sim_lines_fail(&s->in, 0, "contains no phases: lines of tid, begin, end");
    if (sim_spool_done(s->spool, NULL, (unsigned)s->threads.n, &s->rows, &rows, s->in.err))
        return -1;
    s->spool = NULL;
    for (size_t i = 0; i < s->threads.n; i++)
        s->thread[i].at = 0;
    return 0;
}

int sim_stamps_read(struct sim_stamps **out, const char *path, enum sim_class fallback, int64_t origin_ns,
                    struct machine_error *err)
{
    struct sim_stamps *s = *out = calloc(1, sizeof *s);
    if (!s)
        return machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", path);
    s->fallback = fallback;
    s->origin = origin_ns;
    s->decimals = 9;
    s->spool = sim_spool_new();
    int bad = sim_lines_open(&s->in, path, err) || (s->spool ? stamps_lines(s) : sim_lines_memory(&s->in));
    sim_lines_close(&s->in);
    return bad ? (int)err->status : MACHINE_OK;
}

void sim_stamps_free(struct sim_stamps *s)
{
    if (!s)
        return;
    sim_names_free(&s->threads);
    sim_spool_free(s->spool);
    if (s->rows.close)
        s->rows.close(s->rows.self);
    free(s->thread);
    free(s);
}

int64_t sim_stamps_until(struct sim_stamps *s, uint32_t thread, int64_t at, enum sim_class *class)
{
    uint32_t i = sim_names_find(&s->threads, &thread, sizeof thread);
    if (i == SIM_NAME_NONE)
        return SIM_FOREVER;
    for (struct stamps_thread *t = &s->thread[i];;) {
        if (t->i == t->n) {
            t->i = 0;
            t->n = s->rows.read(s->rows.self, i, t->row, STAMPS_AHEAD);
            if (!t->n)
                return SIM_FOREVER;
        }
        const struct sim_row *row = &t->row[t->i];
        if (at < t->at + row->ps) {
            bool inside = at >= t->at && row->task != SIM_IDLE;
            if (inside) {
                *class = row->class;
                s->met++;
            }
            return inside || row->task == SIM_IDLE ? t->at + row->ps : t->at;
        }
        t->at += row->ps;
        t->i++;
    }
}

uint64_t sim_stamps_met(const struct sim_stamps *s)
{
    return s->met;
}

const char *sim_stamps_error(const struct sim_stamps *s)
{
    return s->rows.error(s->rows.self);
}
