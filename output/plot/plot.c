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

/* Lets gnuplot draw into a memory file, which is returned; -1 with a line in `why`. */
static int plot_image(const struct chart *c, enum plot_form form, char *why, size_t why_size)
{
    char *script = NULL;
    size_t size = 0;
    if (!plot_possible())
        return error_line(why, why_size, "gnuplot is not installed: %s", gnuplot_remedy);
    FILE *out = open_memstream(&script, &size);
    int drawn = out != NULL ? chart_script(c, form, out) : -1, image = memfd_create("image", MFD_CLOEXEC);
    if (out == NULL || fclose(out) != 0 || drawn != 0 || image < 0) {
        snprintf(why, why_size, "out of memory for the plot");
        drawn = -1;
    }
    if (drawn == 0)
        drawn = gnuplot_run(script, size, image, why, why_size);
    free(script);
    if (drawn == 0)
        return image;
    if (image >= 0)
        close(image);
    return -1;
}

/* Copies a whole file into a stream. gnuplot itself does not notice a full disk; this does, when it is committed. */
static int plot_copy(int from, FILE *to)
{
    char block[1 << 16];
    off_t at = 0;
    ssize_t n;
    while ((n = pread(from, block, sizeof(block), at)) > 0) {
        if (fwrite(block, 1, (size_t)n, to) != (size_t)n)
            return -1;
        at += n;
    }
    return n == 0 && at > 0 ? 0 : -1;
}

static int save_image(int image, const char *path, char *why, size_t why_size)
{
    struct atomic_file file;
    if (atomic_open(&file, path, why, why_size) != 0)
        return -1;
    errno = 0;
    if (plot_copy(image, file.stream) != 0) {
        snprintf(why, why_size, "cannot write %s: %s", path, errno != 0 ? strerror(errno) : "gnuplot drew nothing");
        atomic_abandon(&file);
        return -1;
    }
    return atomic_commit(&file, why, why_size);
}

int plot_write(const struct chart *c, const char *path, char *why, size_t why_size)
{
    enum plot_form form;
    if (plot_form_of(path, &form) != 0)
        return error_line(why, why_size, "%s: plots are drawn as .svg or .png", path);
    int image = plot_image(c, form, why, why_size);
    if (image < 0)
        return -1;
    int status = save_image(image, path, why, why_size);
    close(image);
    return status == 0 ? 0 : -2;
}

char *plot_svg(const struct chart *c, char *why, size_t why_size)
{
    int image = plot_image(c, PLOT_SVG, why, why_size);
    if (image < 0)
        return NULL;
    off_t size = lseek(image, 0, SEEK_END);
    char *text = size > 0 ? calloc(1, (size_t)size + 1) : NULL;
    if (text == NULL || pread(image, text, (size_t)size, 0) != (ssize_t)size) {
        snprintf(why, why_size, "gnuplot drew nothing");
        free(text);
        text = NULL;
    }
    close(image);
    return text;
}
