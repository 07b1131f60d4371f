/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/plain_text.h"
#include "util/child.h"
#include "util/command.h"
#include "util/error.h"

const char gnuplot_remedy[] = "apt-get install gnuplot-nox, or your system's package of gnuplot";

void gnuplot_text(FILE *out, const char *text, size_t most)
{
    char plain[1024];
    plain_text(text, plain, sizeof(plain));
    size_t characters = 0;
    fputc('\'', out);
    for (const char *c = plain; *c != '\0'; c++) {
        characters += ((unsigned char)*c & 0xC0) != 0x80;
        if (characters > most) {
            fputs("...", out);
            break;
        }
        if (*c == '\'' || *c == '`')
            fputs("\xE2\x80\x99", out);
        else
            fputc(*c, out);
    }
    fputc('\'', out);
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        size -= (size_t)n;
    }
    return lseek(fd, 0, SEEK_SET) == 0 ? 0 : -1;
}

/* The line of gnuplot's complaint that says what is wrong: the last that is neither empty nor a mark under a column. */
static void first_complaint(int fd, char *out, size_t size)
{
    char text[4096], *rest = text, *line;
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    snprintf(out, size, "no reason given");
    while ((line = strsep(&rest, "\n")) != NULL) {
        line += strspn(line, " \t");
        if (strlen(line) > 1)
            plain_text(line, out, size);
    }
}

static int gnuplot_wait_for(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static int run_with(const char *path, int script_fd, int image_fd, int complaint_fd, char *why, size_t why_size)
{
    pid_t pid;
    int status = 0;
    /* by name where there is one: of its standard input gnuplot reads a byte at a time */
    char name[] = "gnuplot", no_startup[] = "-d", by_name[] = "/proc/self/fd/0", nameless[] = "-";
    char *const arguments[] = {name, no_startup, access(by_name, R_OK) == 0 ? by_name : nameless, NULL};
    int error = child_start(path, arguments, environ, script_fd, image_fd, complaint_fd, false, &pid);
    if (error != 0)
        return error_line(why, why_size, "%s cannot be started: %s", path, strerror(error));
    if (gnuplot_wait_for(pid, &status) != 0)
        return error_line(why, why_size, "waiting for gnuplot failed: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return error_line(why, why_size, "gnuplot was ended by signal %d (%s)", WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) {
        char complaint[200];
        first_complaint(complaint_fd, complaint, sizeof(complaint));
        return error_line(why, why_size, "gnuplot failed: %s", complaint);
    }
    return 0;
}

int gnuplot_run(const char *script, size_t size, int image_fd, char *why, size_t why_size)
{
    char path[4096];
    if (!command_find("gnuplot", path, sizeof(path)))
        return error_line(why, why_size, "gnuplot is not in PATH");
    int script_fd = memfd_create("script", MFD_CLOEXEC), complaint_fd = memfd_create("complaint", MFD_CLOEXEC);
    int result = -1;
    if (script_fd < 0 || complaint_fd < 0 || write_all(script_fd, script, size) != 0)
        snprintf(why, why_size, "cannot create a memory file for gnuplot's script: %s", strerror(errno));
    else
        result = run_with(path, script_fd, image_fd, complaint_fd, why, why_size);
    if (script_fd >= 0)
        close(script_fd);
    if (complaint_fd >= 0)
        close(complaint_fd);
    return result;
}
