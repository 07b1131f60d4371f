/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages on standard error, a line each, and the exit status that belongs to them. */
#include "cli/messages.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/plain_text.h"

enum { LINE_SIZE = 1200 };

static volatile sig_atomic_t reported; /* lines */
static const char *program_name = "characterize";

void messages_begin(const char *program)
{
    if (strcmp(program_invocation_short_name, program_name) != 0)
        program_name = program;
}

const char *messages_program(void)
{
    return program_name;
}

int messages_reported(void)
{
    return reported;
}

static void messages_line(const char *format, va_list arguments)
{
    char text[LINE_SIZE], plain[LINE_SIZE];
    vsnprintf(text, sizeof(text), format, arguments);
    plain_text(text, plain, sizeof(plain));
    flockfile(stderr); /* cli/stop.c: whoever has it knows whether the line is written */
    fprintf(stderr, "%s: %s\n", program_name, plain);
    reported = reported + 1;
    funlockfile(stderr);
}

void messages_print(FILE *out, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    char *plain = length >= 0 ? plain_text_copy(text) : NULL;
    fprintf(out, "%s\n", plain != NULL ? plain : "out of memory");
    free(plain);
    if (length >= 0)
        free(text);
}

int refuse(enum exit_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    messages_line(format, arguments);
    va_end(arguments);
    return (int)status;
}

int complain_out_of_memory(void)
{
    return refuse(FAILED, "out of memory");
}

void complain_with_remedy(const char *text, const char *remedy)
{
    if (remedy != NULL && remedy[0] != '\0')
        complain("%s; %s", text, remedy);
    else
        complain("%s", text);
}

int complain_of_machine(const char *about, const struct machine_error *e)
{
    char text[600];
    snprintf(text, sizeof(text), "%s%s%s", about, about[0] != '\0' ? ": " : "", e->text);
    complain_with_remedy(text, e->remedy);
    return e->status == MACHINE_OK ? FAILED : (int)e->status;
}

bool messages_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return isatty(fileno(out)) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* ---- progress ---- */

/* Seconds between two updates: more often would only disturb what is measured. */
static const double UPDATE_SECONDS = 0.25;

enum { LINE_WIDTH = 70 };

void progress_begin(struct progress *p, bool quiet)
{
    p->shown = !quiet && isatty(STDERR_FILENO);
    p->begin = p->last = clock_seconds(CLOCK_MONOTONIC);
}

double progress_due(struct progress *p)
{
    double t = p->shown ? clock_seconds(CLOCK_MONOTONIC) : 0;
    if (!p->shown || t - p->last < UPDATE_SECONDS)
        return 0;
    p->last = t;
    return t - p->begin;
}

void progress_show(double left, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputc('\r', stderr);
    int length = vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (isfinite(left))
        length += left < 90     ? fprintf(stderr, ", %.0f s left", ceil(left) + 0.0) /* no "-0" */
                  : left < 5400 ? fprintf(stderr, ", %.0f min left", ceil(left / 60))
                                : fprintf(stderr, ", %.1f h left", left / 3600);
    fprintf(stderr, "%*s", length < LINE_WIDTH ? LINE_WIDTH - length : 0, "");
    fflush(stderr);
}

void progress_end(const struct progress *p)
{
    if (p->shown && p->last > p->begin) {
        fprintf(stderr, "\r%*s\r", LINE_WIDTH + 5, "");
        fflush(stderr);
    }
}
