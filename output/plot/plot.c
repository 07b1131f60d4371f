/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/atomic_file.h"
#include "util/command.h"
#include "output/plot/chart_script.h"
#include "output/plot/gnuplot.h"
#include "util/error.h"

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

/* What gnuplot makes of a script, malloc'ed, with a NUL behind its *size bytes; NULL with a line in `why`. */
static char *image_of(const char *script, size_t length, size_t *size, char *why, size_t why_size)
{
    char *bytes = NULL;
    int image = memfd_create("image", MFD_CLOEXEC);
    if (image < 0)
        snprintf(why, why_size, "out of memory for the plot");
    else if (gnuplot_run(script, length, image, why, why_size) == 0) {
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
    char *script = NULL, *told = NULL, *bytes = NULL;
    size_t length = 0, told_length = 0;
    if (!plot_possible()) {
        snprintf(why, why_size, "gnuplot is not installed: %s", gnuplot_remedy);
        return NULL;
    }
    FILE *out = open_memstream(&script, &length), *tips = open_memstream(&told, &told_length);
    bool drawn = out != NULL && tips != NULL && chart_script(c, form, out, tips) == 0;
    drawn = (out == NULL || fclose(out) == 0) && drawn;
    drawn = (tips == NULL || fclose(tips) == 0) && drawn;
    if (drawn)
        bytes = image_of(script, length, size, why, why_size);
    if (!drawn || (bytes != NULL && form == PLOT_SVG && !add_tips(&bytes, size, told))) {
        snprintf(why, why_size, "out of memory for the plot");
        free(bytes);
        bytes = NULL;
    }
    free(script);
    free(told);
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
