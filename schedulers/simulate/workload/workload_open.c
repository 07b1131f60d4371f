/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a workload of whichever kind the file or the name is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/drawn.h"
#include "schedulers/simulate/workload/perf_line.h"
#include "schedulers/simulate/workload/recording.h"
#include "util/path.h"

/* The rest of the file, with a NUL after it, to be freed; NULL after filling the error. */
static char *rest_of_file(struct sim_recording *r, size_t *length)
{
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST + 1);
    int got = text ? 1 : sim_lines_memory(&r->in);
    for (*length = 0; got > 0 && (got = sim_lines_next(&r->in)) > 0; text[(*length)++] = '\n') {
        if (*length + r->in.length >= MOST) {
            got = sim_lines_fail(&r->in, 0, "larger than 1 MiB; a description is a few KiB");
            break;
        }
        memcpy(text + *length, r->in.line, r->in.length);
        *length += r->in.length;
    }
    if (got == 0) {
        text[*length] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static int read_description(struct sim_recording *r, struct sim_workload **out)
{
    size_t length;
    char *text = rest_of_file(r, &length);
    int status = text ? sim_drawn_read(text, length, r->in.file, r->in.file, r->options, out, r->in.err)
                      : (int)r->in.err->status;
    free(text);
    return status;
}

/* True: a line, which need not end in a NUL, is the header of a CSV; or one of perf script. */
static bool sim_csv_is_header(const char *line, size_t length)
{
    return memchr(line, ',', length) && (memmem(line, length, "time_us", 7) || memmem(line, length, "task", 4));
}

/* True: a line, which need not end in a NUL, is the header of a CSV, or one of perf script. */
static bool sim_perf_is_line(const char *line, size_t length)
{
    struct sim_perf_line parsed;
    char text[512];
    if (length >= sizeof text)
        length = sizeof text - 1;
    memcpy(text, line, length);
    text[length] = '\0';
    sim_perf_parse(text, strlen(text), &parsed);
    return parsed.event != SIM_PERF_NOTHING;
}

static int read_as_recorded(struct sim_recording *r, const char *line, size_t length)
{
    if (!line)
        return sim_lines_fail(&r->in, 0, "is empty");
    if (r->in.json || line[strspn(line, " \t")] == '<') /* JSON, HTML: the events may come late */
        return sim_perf_read(r);
    if (sim_csv_is_header(line, length) && !sim_perf_is_line(line, length))
        return sim_csv_read(r);
    for (const char *at = line; at; at = sim_lines_peek(&r->in, at + length, &length))
        if (sim_perf_is_line(at, length))
            return sim_perf_read(r);
    int got; /* to the line that this was decided by: it may be binary */
    while ((got = sim_lines_next(&r->in)) > 0 && (*r->in.line == '#' || !r->in.line[strspn(r->in.line, " \t")]))
        ;
    if (got < 0)
        return -1;
    return sim_lines_fail(&r->in, 0,
                          "is not a workload: neither CSV with a header of cpu,time_us,task,class nor perf script text "
                          "nor a description that begins with format = characterize-workload/1");
}

/* True: the first line that is no comment, which need not end in a NUL, is that of a description. */
static bool sim_drawn_is_line(const char *line, size_t length)
{
    static const char key[] = "format";
    return length >= sizeof key - 1 && memcmp(line, key, sizeof key - 1) == 0;
}

static int read_workload(struct sim_recording *r, struct sim_workload **out)
{
    size_t length = 0;
    const char *line = sim_lines_peek(&r->in, NULL, &length);
    if (line && sim_drawn_is_line(line, length)) {
        if (path_descriptor(r->in.file) == STDIN_FILENO)
            return sim_lines_fail(&r->in, 0, "a description is re-read for each seed: it must be a file"),
                   r->in.err->status;
        return read_description(r, out);
    }
    if (read_as_recorded(r, line, length) || sim_recording_end(r))
        return r->in.err->status;
    *out = r->w;
    r->w = NULL;
    return MACHINE_OK;
}

int sim_workload_open(const char *path, const struct sim_workload_options *o, struct sim_workload **out,
                      struct machine_error *err)
{
    *out = NULL;
    if (strcmp(path, "-") == 0)
        path = "/dev/stdin";
    if (!strpbrk(path, "/."))
        return sim_drawn_open(path, o, out, err);
    struct sim_recording *r = malloc(sizeof *r);
    if (!r)
        return machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", path);
    int status = sim_recording_open(r, path, o, err);
    if (status == MACHINE_OK)
        status = read_workload(r, out);
    sim_recording_close(r);
    free(r);
    return status;
}
