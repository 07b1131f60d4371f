/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --analyze FILE: the answer from a recorded trace. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "library/measure.h"
#include "util/path.h"
#include "util/text_list.h"

static bool is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

static int unreadable(const char *name, const char *why)
{
    return refuse(BAD_USAGE, "cannot read %s: %s", name, why);
}

static int read_stream(FILE *in, const char *name, struct trace *t)
{
    struct machine_error error;
    if (measure_read_trace(in, t, &error) == MACHINE_OK)
        return DONE;
    return refuse(BAD_USAGE, "%s%s", name, error.text);
}

static int read_trace(const char *name, struct trace *t)
{
    char why[400];
    FILE *in;
    if (is_stdin(name))
        return read_stream(stdin, "standard input", t);
    if (path_read_named(name, &in, why, sizeof(why)) != 0)
        return unreadable(name, why);
    int status = read_stream(in, name, t);
    fclose(in);
    return status;
}

/* File names after the kernels, or after the file where the trace does not name any. */
static void stem_of(const char *name, const struct trace *t, char *stem, size_t size)
{
    const char *from = trace_get(t, "from"), *to = trace_get(t, "to");
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

/* The recording itself is never written over: not at all when it was named, silently when only its directory was. */
static int spare_input(const struct options *o, struct outputs *out)
{
    const char *input = o->job_argument;
    for (int i = 0; i < OUTPUT_FORMS; i++) {
        if (out->path[i] == NULL || is_stdin(input) || !file_is_same(out->path[i], input))
            continue;
        if (i != OUTPUT_CSV || o->csv != NULL)
            return refuse(BAD_USAGE, "%s is the trace to be analysed and will not be overwritten", input);
        free(out->path[i]);
        out->path[i] = NULL;
    }
    return DONE;
}

static void job_analyze_tell_missing(const struct trace *t, char *out, size_t size)
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
        return complain_of_machine(is_stdin(o->job_argument) ? "standard input" : o->job_argument, &error);
    stop_only_asks(true); /* files that are begun are finished */
    job_analyze_tell_missing(t, missing, sizeof(missing));
    int status = answers_tell_trace(out, t, &phases, missing);
    phases_free(&phases);
    return status;
}

int job_analyze(const struct options *o)
{
    struct trace trace;
    struct outputs out;
    char stem[256];
    int status = read_trace(o->job_argument, &trace);
    if (status != DONE)
        return status;
    stem_of(o->job_argument, &trace, stem, sizeof(stem));
    status = outputs_choose(o, &answers_trace, stem, NULL, &out);
    if (status == DONE)
        status = spare_input(o, &out);
    if (status == DONE)
        status = answers_check_trace(&out, trace.n);
    if (status == DONE)
        status = show_and_write(o, &trace, &out);
    outputs_free(&out);
    trace_free(&trace);
    return status;
}
