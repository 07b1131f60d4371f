/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a profile or a simulation: chosen, checked and written. */
#include "cli/job_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "output/plot/plot.h"
#include "util/text_list.h"

/*
 * Room for a simulation, or a profile of some fifty tasks; larger ones, and folded stacks, fail when they do not fit.
 */
enum { SIMULATION_BYTES = 1000000 };
static const uint64_t profile_bytes[JOB_FORMS] = {
    [FORM_JSON] = 100000, [FORM_CSV] = 100000, [FORM_PAGE] = 1000000, [FORM_FOLDED] = 100000, [FORM_PLOT] = 100000};

int job_files_choose(const struct options *o, struct job_files *f)
{
    const char *const given[JOB_FORMS] = {o->json, o->csv, NULL, o->profile.folded, o->plot},
                      *const endings[JOB_FORMS] = {".json", ".csv", ".html", ".folded", NULL};
    bool simulation = o->job == JOB_SIMULATE;
    int status = o->output != NULL ? directories_make(o->output, "--output", &f->directories) : DONE;
    if (status != DONE)
        return status;
    for (int i = 0; i < JOB_FORMS; i++) {
        bool has = simulation ? i == FORM_JSON || i == FORM_PAGE : i != FORM_FOLDED || !o->profile.rehearsal;
        bool listed = o->output != NULL && endings[i] != NULL && has;
        if (given[i] == NULL && !listed)
            continue;
        f->path[i] = given[i] != NULL ? strdup(given[i])
                                      : file_in(o->output, simulation ? "simulation" : "profile", endings[i]);
        if (f->path[i] == NULL)
            return complain_out_of_memory();
    }
    if (o->plot != NULL && !plot_possible())
        return refuse(CANNOT, "--plot needs gnuplot, which is not installed: apt install gnuplot-nox");
    for (int i = 0; i < JOB_FORMS && status == DONE; i++)
        status = file_check(f->path[i], simulation ? SIMULATION_BYTES : profile_bytes[i]);
    return status;
}

FILE *job_files_screen(const struct job_files *f)
{
    for (int i = 0; i < JOB_FORMS; i++)
        if (file_is_stdout(f->path[i]))
            return stderr;
    return stdout;
}

/* After a file that was not written: which were, and which thus were not. */
static void tell_left(const struct job_files *f, file_printer *const print[JOB_FORMS], int failed)
{
    char written[500] = "", left[500] = "";
    for (int i = 0; i < JOB_FORMS; i++) {
        bool before = i < failed;
        if (f->path[i] != NULL && (print[i] != NULL || i == FORM_PLOT))
            text_list_add(before ? written : left, sizeof(left), ", ", "%s",
                          file_is_stdout(f->path[i]) ? "standard output" : f->path[i]);
    }
    complain("written: %s; not written: %s", written[0] != '\0' ? written : "nothing", left);
}

int job_files_write(const struct job_files *f, file_printer *const print[JOB_FORMS], const void *data, bool quiet)
{
    static const char *const what[JOB_FORMS] = {"profile", "profile", "page", "stacks of code that demands levels",
                                                "plot"};
    FILE *screen = job_files_screen(f);
    const char *before = "\n", *heading = "Written";
    for (int i = 0; i < JOB_FORMS; i++) {
        if (f->path[i] == NULL || print[i] == NULL)
            continue;
        if (file_write(f->path[i], print[i], data) != DONE) {
            tell_left(f, print, i);
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

void job_files_free(struct job_files *f)
{
    directories_tidy(&f->directories);
    for (int i = 0; i < JOB_FORMS; i++)
        free(f->path[i]);
}
