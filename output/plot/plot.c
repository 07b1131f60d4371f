/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/atomic_file.h"
#include "output/plot/gnuplot.h"

int plot_form_of(const char *path, enum plot_form *form)
{
    size_t length = strlen(path);
    const char *ending = length > 4 ? path + length - 4 : "";
    if (strcasecmp(ending, ".svg") == 0) {
        *form = PLOT_SVG;
        return 0;
    }
    if (strcasecmp(ending, ".png") == 0) {
        *form = PLOT_PNG;
        return 0;
    }
    return -1;
}

int plot_possible(void)
{
    char path[4096];
    return gnuplot_find(path, sizeof(path)) == 0;
}

/* The script as text from malloc, *size bytes; NULL with a line in `why`. */
static char *script_text(const struct trace *t, const struct phases *p, enum plot_form form, size_t *size, char *why,
                         size_t why_size)
{
    char *script = NULL;
    FILE *out = open_memstream(&script, size);
    if (out == NULL) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    int status = plot_script(t, p, form, out, why, why_size);
    if (fclose(out) != 0 && status == 0) {
        snprintf(why, why_size, "out of memory");
        status = -1;
    }
    if (status != 0) {
        free(script);
        return NULL;
    }
    return script;
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

int plot_write(const struct trace *t, const struct phases *p, const char *path, char *why, size_t why_size)
{
    enum plot_form form;
    if (plot_form_of(path, &form) != 0) {
        snprintf(why, why_size, "%s: plots are drawn as .svg or .png", path);
        return -1;
    }
    size_t size = 0;
    char *script = script_text(t, p, form, &size, why, why_size);
    if (script == NULL)
        return -1;
    int status = -1, image = memfd_create("image", MFD_CLOEXEC);
    if (image < 0) {
        snprintf(why, why_size, "cannot create a memory file for the image: %s", strerror(errno));
    } else {
        status = gnuplot_run(script, size, image, why, why_size);
        errno = 0;
        status = status == 0 ? save_image(image, path, why, why_size) : status;
        close(image);
    }
    free(script);
    return status;
}
