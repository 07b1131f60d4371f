/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --analyze FILE: the answer from a recorded trace, or from recorded first uses after idle times. */
#include <stdlib.h>
#include <string.h>

#include "cli/inputs.h"
#include "cli/outputs.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "library/measure.h"
#include "trace/wake_csv.h"
#include "util/path.h"
#include "util/text_list.h"

static bool is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

static const char *analyze_shown(const struct options *o)
{
    return is_stdin(o->job_argument) ? "standard input" : o->job_argument;
}

/* Warns if the last line of the file was left out. */
static void tell_cut(const struct options *o, bool cut)
{
    if (cut)
        complain("warning: %s: the last line has no end, may have been cut, and is left out", analyze_shown(o));
}

static int read_stream(FILE *in, const char *name, struct trace *t)
{
    struct machine_error error;
    if (measure_read_trace(in, t, &error) == MACHINE_OK)
        return DONE;
    return refuse(BAD_USAGE, "%s%s", name, error.text);
}

/* File names after the kernels, or after the file where the trace does not name any. */
static void stem_of(const char *name, const struct trace *t, char *stem, size_t size)
{
    const char *from = t != NULL ? trace_get(t, "from") : NULL, *to = t != NULL ? trace_get(t, "to") : NULL;
    if (from != NULL && to != NULL && from[0] != '\0' && to[0] != '\0') {
        outputs_stem(from, to, stem, size);
        return;
    }
    char base[100];
    const char *slash = strrchr(name, '/');
    snprintf(base, sizeof(base), "%s", is_stdin(name) ? "stdin" : slash != NULL ? slash + 1 : name);
    char *dot = strrchr(base, '.');
    if (dot != NULL && dot != base)
        *dot = '\0';
    outputs_stem(base, NULL, stem, size);
}

/* The recording itself is never written over: silently where only its directory was named. */
static void spare_input(const struct options *o, struct outputs *out)
{
    char **csv = &out->path[OUTPUT_CSV];
    if (*csv != NULL && o->csv == NULL && inputs_same(*csv, o->job_argument)) {
        free(*csv);
        *csv = NULL;
    }
}

static void tell_missing(const struct trace *t, char *out, size_t size)
{
    static const struct {
        enum trace_channel channel;
        const char *name;
    } wanted[] = {
        {TRACE_FREQ, "frequency"}, {TRACE_IPC, "IPC"}, {TRACE_VOLTS, "core voltage"}, {TRACE_LVL0, "license counters"}};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (t->channel[wanted[i].channel] == NULL)
            text_list_add(out, size, ", ", "%s", wanted[i].name);
    if (out[0] != '\0')
        text_list_add(out, size, " ", "(not in the trace)");
}

static int show_and_write(const struct options *o, const struct trace *t, struct outputs *out)
{
    struct phases phases;
    struct machine_error error;
    char missing[200];
    if (measure_recorded(t, &phases, &error) != MACHINE_OK)
        return complain_of_machine(analyze_shown(o), &error);
    stop_only_asks(true); /* files that are begun are finished */
    tell_missing(t, missing, sizeof(missing));
    int status = answers_tell_trace(out, t, &phases, missing);
    phases_free(&phases);
    return status;
}

static int analyze_trace(const struct options *o, FILE *in)
{
    struct trace trace;
    struct outputs out;
    char stem[256];
    int status = read_stream(in, analyze_shown(o), &trace);
    if (status != DONE)
        return status;
    tell_cut(o, trace.cut);
    stem_of(o->job_argument, &trace, stem, sizeof(stem));
    status = outputs_choose(o, &answers_trace, stem, NULL, &out);
    if (status == DONE)
        spare_input(o, &out);
    if (status == DONE)
        status = answers_check_trace(&out, trace.n);
    if (status == DONE)
        status = show_and_write(o, &trace, &out);
    outputs_free(&out);
    trace_free(&trace);
    return status;
}

static const char *given_text(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* Shows and writes the stages of a recording of first uses. */
static int show_wake(const struct options *o, const struct wake_csv *w, struct outputs *out)
{
    const struct wake_source source = {given_text(w->unit), given_text(w->cpu), given_text(w->machine),
                                       given_text(w->environment)};
    struct wake_stages stages;
    char why[200];
    struct wake_point *points = malloc(w->n * sizeof(*points) + 1);
    if (points == NULL)
        return complain_out_of_memory();
    for (size_t i = 0; i < w->n; i++)
        points[i] = (struct wake_point){w->row[i].idle_us, w->row[i].first_us};
    int status = wake_find(points, w->n, &stages, why, sizeof(why)) != 0
                     ? refuse(BAD_USAGE, "%s: %s", analyze_shown(o), why)
                     : DONE;
    stop_only_asks(true);
    if (status == DONE)
        status = answers_tell_wake(out, &(struct answered_wake){points, w->n, &stages, &source});
    free(points);
    return status;
}

static int analyze_wake(const struct options *o, FILE *in)
{
    enum { WAKE_BYTES = 4000000 };
    struct wake_csv wake;
    struct trace_error e;
    struct outputs out;
    char stem[256], at[60] = "";
    if (o->csv != NULL)
        return refuse(BAD_USAGE, "--csv: stages of first uses are written as JSON; use --json FILE");
    if (wake_csv_read(in, &wake, &e) != 0) {
        if (e.line > 0 && e.column > 0)
            snprintf(at, sizeof(at), ":%zu:%zu", e.line, e.column);
        else if (e.line > 0)
            snprintf(at, sizeof(at), ":%zu", e.line);
        return refuse(BAD_USAGE, "%s%s: %s", analyze_shown(o), at, e.text);
    }
    tell_cut(o, wake.cut);
    stem_of(o->job_argument, NULL, stem, sizeof(stem));
    int status = outputs_choose(o, &answers_wake, stem, NULL, &out);
    if (status == DONE)
        status = outputs_check(&out, (const uint64_t[OUTPUT_FORMS]){0, WAKE_BYTES, 0, WAKE_BYTES});
    if (status == DONE)
        status = show_wake(o, &wake, &out);
    outputs_free(&out);
    wake_csv_free(&wake);
    return status;
}

/* A stream of which the beginning has been read, as if it had not been. */
struct replayed {
    FILE *in;
    char *head;
    size_t length, at;
};

static ssize_t replayed_read(void *cookie, char *out, size_t size)
{
    struct replayed *r = cookie;
    size_t left = r->length - r->at, n = left < size ? left : size;
    if (left == 0) {
        n = fread(out, 1, size, r->in);
        return n == 0 && ferror(r->in) ? -1 : (ssize_t)n;
    }
    memcpy(out, r->head + r->at, n);
    r->at += n;
    return (ssize_t)n;
}

/* Reads up to the line of the columns' names, or as far as a recording may reach without one; *wake: what that says. */
static bool read_replayed_head(struct replayed *r, bool *wake)
{
    enum { HEAD_MOST = 1 << 21 };
    size_t begin = 0, size;
    FILE *head = open_memstream(&r->head, &size);
    *wake = false;
    for (int c = 0; head != NULL && r->length < HEAD_MOST && (c = getc(r->in)) != EOF;) {
        putc(c, head);
        r->length++;
        if (c == '\0')
            break;
        if (c != '\n' || fflush(head) != 0)
            continue;
        const char *line = r->head + begin + (begin == 0 && strncmp(r->head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
        if (line[0] != '#' && line[strspn(line, " \t\r\n")] != '\0') {
            char *names = strndup(line, strcspn(line, "\n"));
            *wake = names != NULL && wake_csv_is(names);
            free(names);
            break;
        }
        begin = r->length;
    }
    return head != NULL && fclose(head) == 0;
}

static int analyze_stream(const struct options *o, FILE *in)
{
    struct replayed r = {.in = in};
    bool wake;
    bool whole = read_replayed_head(&r, &wake);
    FILE *again = whole ? fopencookie(&r, "r", (cookie_io_functions_t){.read = replayed_read}) : NULL;
    int status = again == NULL ? complain_out_of_memory() : wake ? analyze_wake(o, again) : analyze_trace(o, again);
    if (again != NULL)
        fclose(again);
    free(r.head);
    return status;
}

int job_analyze(const struct options *o)
{
    char why[400];
    FILE *in;
    if (is_stdin(o->job_argument))
        return analyze_stream(o, stdin);
    if (path_read_named(o->job_argument, &in, why, sizeof(why)) != 0)
        return refuse(BAD_USAGE, "cannot read %s: %s", o->job_argument, why);
    int status = analyze_stream(o, in);
    fclose(in);
    return status;
}
