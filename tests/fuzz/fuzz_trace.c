/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libFuzzer target: any bytes as a trace file. What is refused must be refused with a place and a reason; what is read
 * must survive writing, reading again, the analysis and the output of its answer.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

static size_t lines_of(const uint8_t *data, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n';
    return n;
}

static void write_and_read(const struct trace *t)
{
    char *text = NULL;
    size_t size = 0;
    struct trace back;
    struct trace_error err;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    insist(!trace_write_csv(out, t), "a trace that was read can be written");
    fclose(out);
    FILE *in = fmemopen(text, size, "r");
    if (in) {
        insist(!trace_read_csv(in, &back, &err), "a trace that was written can be read");
        insist(back.n == t->n && back.n_extra == t->n_extra, "it has the same samples and columns");
        trace_free(&back);
        fclose(in);
    }
    free(text);
}

static void analyse(const struct trace *t)
{
    struct phases p;
    char why[300] = "";
    if (phases_find(t, &p, why, sizeof why)) {
        insist(*why != '\0', "a refusal has a reason");
        return;
    }
    insist(p.n_phases > 0 || p.n_warnings > 0 || p.n_discarded > 0, "an answer says something");
    char *json = phases_to_json(&p);
    insist(json != NULL, "an answer can be written");
    free(json);
    phases_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t;
    struct trace_error err;
    if (!size)
        return 0;
    char *copy = malloc(size); /* fmemopen wants memory that it could write to */
    FILE *in = copy ? fmemopen(memcpy(copy, data, size), size, "r") : NULL;
    if (!in) {
        free(copy);
        return 0;
    }
    if (trace_read_csv(in, &t, &err)) {
        insist(*err.text != '\0' && !strchr(err.text, '\n'), "a refusal is one line");
        insist(err.line <= lines_of(data, size), "a refusal names a line of the file");
    } else {
        write_and_read(&t);
        analyse(&t);
        trace_free(&t);
    }
    fclose(in);
    free(copy);
    return 0;
}
