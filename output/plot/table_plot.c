/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/table_plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/plot/gnuplot.h"
#include "output/plot/chart_draw.h"
#include "tables/table/tables.h"

static void subtitle(const struct table *t, char *out, size_t size)
{
    static const char *const keys[] = {"cpu", "machine", "date"};
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = table_meta(t, keys[i]);
        if (value && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", value);
    }
}

int table_plot_script(const struct table *t, const char *title, FILE *out, char *why, size_t why_size)
{
    struct chart c = {.modelled = table_modelled(t)};
    const struct table_kind *k = t->name ? tables_find(t->name) : NULL;
    bool drawn = k && k->plot;
    if (!drawn || t->n_rows == 0) {
        snprintf(why, why_size, drawn ? "the table has no rows" : "tables of this name have no plot");
        return -1;
    }
    snprintf(c.title, sizeof c.title, "%s", title ? title : t->name);
    subtitle(t, c.subtitle, sizeof c.subtitle);
    k->plot(t, &c);
    int status = c.failed ? -1 : chart_script(&c, out);
    if (status != 0)
        snprintf(why, why_size, c.failed ? "out of memory" : "the table has no values to draw");
    chart_free(&c);
    return status;
}

static char *table_plot_read_all(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (text && pread(fd, text, (size_t)size, 0) == (ssize_t)size) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

char *table_plot_svg(const struct table *t, const char *title, char *why, size_t why_size)
{
    char path[4096], *script = NULL, *svg = NULL;
    size_t size = 0;
    if (gnuplot_find(path, sizeof path) != 0) {
        snprintf(why, why_size, "gnuplot is not installed: %s", gnuplot_remedy);
        return NULL;
    }
    FILE *out = open_memstream(&script, &size);
    int image = memfd_create("plot", MFD_CLOEXEC);
    int status = out ? table_plot_script(t, title, out, why, why_size) : -1;
    if (!out || fclose(out) != 0 || image < 0) {
        snprintf(why, why_size, "no memory for the plot: %s", strerror(errno));
        status = -1;
    }
    if (status == 0 && gnuplot_run(script, size, image, why, why_size) == 0) {
        svg = table_plot_read_all(image);
        if (!svg)
            snprintf(why, why_size, "gnuplot drew nothing");
    }
    if (image >= 0)
        close(image);
    free(script);
    return svg;
}
