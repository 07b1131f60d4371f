/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refuses outputs that would replace what the run reads: files, and what --all left in folders. */
#include "cli/inputs.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "util/data_file.h"

static const struct options *noted;

void inputs_note(const struct options *o)
{
    noted = o;
}

bool inputs_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && (S_ISREG(x.st_mode) || S_ISDIR(x.st_mode)) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Whether a file that is there belongs to a run of --all, which may be in `folder`. */
static bool is_of_run(const char *folder, const char *file)
{
    static const char *const parts[] = {"run.json", "report.html", "tables", "plots", "cells"};
    char part[PATH_MAX + 20], copy[PATH_MAX], two_above[PATH_MAX + 4];
    snprintf(copy, sizeof(copy), "%s", file);
    const char *above = dirname(copy);
    snprintf(two_above, sizeof(two_above), "%s/..", above);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        snprintf(part, sizeof(part), "%s/%s", folder, parts[i]);
        if (inputs_same(part, file) || inputs_same(part, above) || inputs_same(part, two_above))
            return true;
    }
    return false;
}

/* The option that named the output; where none did, the one that said where all go, or the job. */
static const char *option_of(const char *output, const char *input)
{
    for (size_t i = 0; i < noted->n_given; i++) {
        const struct given_option *g = &noted->given[i];
        if (g->text != NULL && strcmp(g->text, output) == 0 && strcmp(g->name, input) != 0)
            return g->name;
    }
    return noted->output != NULL ? "output" : noted->job_option;
}

/* One input; `folder`: of shipped files that it may name, which end so; NULL: it is a file or a folder in any case. */
static int spare(const char *output, const char *option, const char *input, const char *folder, const char *suffix)
{
    char path[DATA_FILE_PATH_SIZE] = "/dev/stdin";
    if (input == NULL)
        return DONE;
    if (folder != NULL && strcmp(input, "-") != 0)
        (void)data_file_path(input, NULL, folder, suffix, path);
    else if (strcmp(input, "-") != 0)
        snprintf(path, sizeof(path), "%s", input);
    if (!inputs_same(path, output) && !is_of_run(path, output))
        return DONE;
    return refuse(BAD_USAGE, "--%s and --%s both name '%s', which would be overwritten", option,
                  option_of(output, option), output);
}

/* FILE or FILE:FUNCTION */
static int spare_block(const char *output, const char *text)
{
    const char *slash = strrchr(text, '/'), *base = slash != NULL ? slash + 1 : text;
    char *file = strndup(text, (size_t)(base - text) + strcspn(base, ":"));
    int status = file != NULL ? spare(output, "kernel-file", file, NULL, NULL) : complain_out_of_memory();
    free(file);
    return status;
}

static int spare_argument(const char *output)
{
    const char *argument = noted->job_argument;
    if (noted->job == JOB_VALIDATE)
        return spare(output, "validate", argument, "skus", ".sku");
    if (noted->job == JOB_SIMULATE)
        return spare(output, "simulate", argument, "workloads", ".workload");
    bool read = noted->job == JOB_ANALYZE || noted->job == JOB_COMPARE;
    return read ? spare(output, noted->job_option, argument, NULL, NULL) : DONE;
}

int inputs_spare(const char *output)
{
    struct stat s;
    if (noted == NULL || output == NULL || stat(output, &s) != 0 || !S_ISREG(s.st_mode))
        return DONE;
    int status = spare_argument(output);
    if (status == DONE)
        status = spare(output, "machine", options_model(noted), "models", ".model");
    if (status == DONE)
        status = spare(output, "params", noted->params, NULL, NULL);
    if (status == DONE)
        status = spare(output, "stamps", noted->simulate.stamps, NULL, NULL);
    if (status == DONE)
        status = spare(output, "input", noted->input, NULL, NULL);
    for (size_t i = 0; i < noted->n_others && status == DONE; i++)
        status = spare(output, noted->job_option, noted->others[i], NULL, NULL);
    for (size_t i = 0; i < noted->n_given && status == DONE; i++)
        if (strcmp(noted->given[i].name, "kernel-file") == 0)
            status = spare_block(output, noted->given[i].text);
    return status;
}
