/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a picture from its description: gnuplot, found in PATH, runs its script without a shell. */
#include "output/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/plot/chart_script.h"
#include "util/atomic_file.h"
#include "util/child.h"
#include "util/command.h"
#include "util/error.h"
#include "util/plain_text.h"

const char plot_remedy[] = "apt-get install gnuplot-nox, or your system's package of gnuplot";

/* ---- gnuplot ---- */

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

static int wait_for(pid_t pid, int *status)
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
    if (wait_for(pid, &status) != 0)
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

/* Runs the script with its standard output on image_fd, without reading the user's start-up files. Returns 0, or -1
 * with one line in `why`: what gnuplot said, or why it could not be started. */
static int run(const char *script, size_t size, int image_fd, char *why, size_t why_size)
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

/* ---- pictures ---- */

int plot_form_of(const char *path, enum plot_form *form)
{
    size_t length = strlen(path);
    const char *ending = length > 4 ? path + length - 4 : "";
    *form = strcasecmp(ending, ".png") == 0 ? PLOT_PNG : PLOT_SVG;
    return *form == PLOT_PNG || strcasecmp(ending, ".svg") == 0 ? 0 : -1;
}

int plot_possible(void)
{
    return command_installed("gnuplot");
}

int plot_worth(const struct chart *c, const char *nothing, char *why, size_t why_size)
{
    for (size_t i = 0; i < c->n_panels && !c->failed; i++)
        if (!chart_panel_empty(&c->panels[i]))
            return 0;
    return error_line(why, why_size, "%s", c->failed ? "out of memory" : nothing);
}

/* An SVG image with these boxes over all else, in place of *image, whose *size grows. False: out of memory. */
static bool add_tips(char **image, size_t *size, const char *tips)
{
    const char *end = strstr(*image, "</svg>");
    char *both = NULL;
    int length = end == NULL ? -1
                             : asprintf(&both, "%.*s<g class='tips' fill='none' pointer-events='all'>\n%s</g>\n%s",
                                        (int)(end - *image), *image, tips, end);
    if (length < 0)
        return end == NULL;
    free(*image);
    *image = both;
    *size = (size_t)length;
    return true;
}

/* Returns the image that gnuplot makes of a script, malloc'ed, with a NUL after its *size bytes; NULL with a line in
 * `why`. */
static char *image_of(const char *script, size_t length, size_t *size, char *why, size_t why_size)
{
    char *bytes = NULL;
    int image = memfd_create("image", MFD_CLOEXEC);
    if (image < 0)
        snprintf(why, why_size, "out of memory for the plot");
    else if (run(script, length, image, why, why_size) == 0) {
        off_t end = lseek(image, 0, SEEK_END);
        *size = end > 0 ? (size_t)end : 0;
        bytes = *size > 0 ? calloc(1, *size + 1) : NULL;
        if (bytes == NULL || pread(image, bytes, *size, 0) != (ssize_t)*size) {
            snprintf(why, why_size, "gnuplot drew nothing");
            free(bytes);
            bytes = NULL;
        }
    }
    if (image >= 0)
        close(image);
    return bytes;
}

/* The image of a chart, as image_of(). */
static char *plot_image(const struct chart *c, enum plot_form form, size_t *size, char *why, size_t why_size)
{
    char *script = NULL, *tip_text = NULL, *bytes = NULL;
    size_t length = 0, tip_text_length = 0;
    if (!plot_possible()) {
        snprintf(why, why_size, "gnuplot is not installed: %s", plot_remedy);
        return NULL;
    }
    FILE *out = open_memstream(&script, &length), *tips = open_memstream(&tip_text, &tip_text_length);
    bool drawn = out != NULL && tips != NULL && chart_script(c, form, out, tips) == 0;
    drawn = (out == NULL || fclose(out) == 0) && drawn;
    drawn = (tips == NULL || fclose(tips) == 0) && drawn;
    if (drawn)
        bytes = image_of(script, length, size, why, why_size);
    if (!drawn || (bytes != NULL && form == PLOT_SVG && !add_tips(&bytes, size, tip_text))) {
        snprintf(why, why_size, "out of memory for the plot");
        free(bytes);
        bytes = NULL;
    }
    free(script);
    free(tip_text);
    return bytes;
}

/* A full disk is noticed at the latest when it is committed. */
static int save_image(const char *image, size_t size, const char *path, char *why, size_t why_size)
{
    struct atomic_file file;
    if (atomic_open(&file, path, why, why_size) != 0)
        return -1;
    if (fwrite(image, 1, size, file.stream) == size)
        return atomic_commit(&file, why, why_size);
    snprintf(why, why_size, "cannot write %s: %s", path, strerror(errno));
    atomic_abandon(&file);
    return -1;
}

int plot_write(const struct chart *c, const char *path, char *why, size_t why_size)
{
    enum plot_form form;
    size_t size;
    if (plot_form_of(path, &form) != 0)
        return error_line(why, why_size, "%s: plots are drawn as .svg or .png", path);
    char *image = plot_image(c, form, &size, why, why_size);
    int status = image == NULL ? -1 : save_image(image, size, path, why, why_size) == 0 ? 0 : -2;
    free(image);
    return status;
}

char *plot_svg(const struct chart *c, char *why, size_t why_size)
{
    size_t size;
    return plot_image(c, PLOT_SVG, &size, why, why_size);
}
