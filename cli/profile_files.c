/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/profile_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "output/plot/plot.h"
#include "util/text_list.h"

/* What a profile of some fifty tasks takes; larger ones, and folded stacks, are told of when they do not fit. */
static const uint64_t profile_bytes[PROFILE_FORMS] = {
    [FORM_JSON] = 100000, [FORM_CSV] = 100000, [FORM_PAGE] = 1000000, [FORM_FOLDED] = 100000, [FORM_PLOT] = 100000};

/* What is read is not written over. */
static int profile_spare_inputs(const struct options *o, const struct profile_files *f)
{
    static const char *const options[PROFILE_FORMS] = {"--json", "--csv", "--output", "--folded", "--plot"};
    const char *const in[] = {o->params,
                              o->machine != NULL && strncmp(o->machine, "model:", 6) == 0 ? o->machine + 6 : NULL},
                      *const names[] = {"--params", "--machine"};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < PROFILE_FORMS; k++)
            if (in[i] != NULL && f->path[k] != NULL && file_is_same(in[i], f->path[k]))
                return refuse(BAD_USAGE, "%s and %s both name '%s', which would be overwritten", names[i], options[k],
                              in[i]);
    return DONE;
}

int profile_files_choose(const struct options *o, struct profile_files *f)
{
    const char *const given[PROFILE_FORMS] = {o->json, o->csv, NULL, o->profile.folded, o->plot},
                      *const endings[PROFILE_FORMS] = {".json", ".csv", ".html", ".folded", NULL};
    int status = o->output != NULL ? directories_make(o->output, "--output", &f->directories) : DONE;
    if (status != DONE)
        return status;
    for (int i = 0; i < PROFILE_FORMS; i++) {
        bool listed = o->output != NULL && endings[i] != NULL && !(o->profile.rehearsal && i == FORM_FOLDED);
        if (given[i] == NULL && !listed)
            continue;
        f->path[i] = given[i] != NULL ? strdup(given[i]) : file_in(o->output, "profile", endings[i]);
        if (f->path[i] == NULL)
            return complain_out_of_memory();
    }
    if (o->plot != NULL && !plot_possible())
        return refuse(CANNOT, "--plot needs gnuplot, which is not installed: apt install gnuplot-nox");
    status = profile_spare_inputs(o, f);
    for (int i = 0; i < PROFILE_FORMS && status == DONE; i++)
        status = file_check(f->path[i], profile_bytes[i]);
    return status;
}

FILE *profile_files_screen(const struct profile_files *f)
{
    for (int i = 0; i < PROFILE_FORMS; i++)
        if (file_is_stdout(f->path[i]))
            return stderr;
    return stdout;
}

/* After a file that was not written: which were, and which thus were not. */
static void profile_files_tell_left(const struct profile_files *f, file_printer *const print[PROFILE_FORMS], int failed)
{
    char written[500] = "", left[500] = "";
    for (int i = 0; i < PROFILE_FORMS; i++) {
        bool before = i < failed;
        if (f->path[i] != NULL && (print[i] != NULL || i == FORM_PLOT))
            text_list_add(before ? written : left, sizeof(left), ", ", "%s",
                          file_is_stdout(f->path[i]) ? "standard output" : f->path[i]);
    }
    complain("written: %s; not written: %s", written[0] != '\0' ? written : "nothing", left);
}

int profile_files_write(const struct profile_files *f, file_printer *const print[PROFILE_FORMS], const void *data,
                        bool quiet)
{
    static const char *const what[PROFILE_FORMS] = {"profile", "profile", "page", "stacks of code that demands levels",
                                                    "plot"};
    FILE *screen = profile_files_screen(f);
    const char *before = "\n", *heading = "Written";
    for (int i = 0; i < PROFILE_FORMS; i++) {
        if (f->path[i] == NULL || print[i] == NULL)
            continue;
        if (file_write(f->path[i], print[i], data) != DONE) {
            profile_files_tell_left(f, print, i);
            return FAILED;
        }
        if (quiet || file_is_stdout(f->path[i]))
            continue;
        fputs(before, screen);
        messages_print(screen, "%-12s %s (%s)", heading, f->path[i], what[i]);
        before = heading = "";
    }
    return DONE;
}

void profile_files_free(struct profile_files *f)
{
    directories_tidy(&f->directories);
    for (int i = 0; i < PROFILE_FORMS; i++)
        free(f->path[i]);
}
