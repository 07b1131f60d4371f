/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/table_plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/plot/gnuplot.h"
#include "output/plot/table_plot_parts.h"

/* ---- reading rows ---- */

struct plot_value plot_value(const struct table *t, size_t row, const char *column)
{
    char lo[80], hi[80];
    snprintf(lo, sizeof lo, "%s_lo", column);
    snprintf(hi, sizeof hi, "%s_hi", column);
    return (struct plot_value){table_number(t, row, column), table_number(t, row, lo), table_number(t, row, hi)};
}

const char *plot_key(const struct table *t, size_t row, const char *column, char *out, size_t size)
{
    const char *text = table_text(t, row, column);
    double number = table_number(t, row, column);
    out[0] = '\0';
    if (text)
        snprintf(out, size, "%s", text);
    else if (isfinite(number))
        snprintf(out, size, "%.10g", number);
    return out;
}

bool plot_varies(const struct table *t, const char *column)
{
    for (size_t row = 1; row < t->n_rows; row++) {
        const char *first = table_text(t, 0, column), *text = table_text(t, row, column);
        double number = table_number(t, row, column), other = table_number(t, 0, column);
        bool same_text = first && text ? strcmp(first, text) == 0 : first == text;
        if (!same_text || !(number == other || (isnan(number) && isnan(other))))
            return true;
    }
    return false;
}

bool plot_has(const struct table *t, const char *column)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if (table_text(t, row, column) || isfinite(table_number(t, row, column)))
            return true;
    return false;
}

double plot_largest(const struct table *t, const char *column)
{
    double largest = NAN;
    for (size_t row = 0; row < t->n_rows; row++)
        largest = fmax(largest, table_number(t, row, column));
    return largest;
}

bool plot_is(const struct table *t, size_t row, const char *column, const char *value)
{
    const char *text = table_text(t, row, column);
    return !table_has(t, column) || (text && strcmp(text, value) == 0);
}

const char *plot_pair(const struct table *t, size_t row, bool cores, char *out, size_t size)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    double active = table_number(t, row, "active_cores");
    snprintf(out, size, "%s \xE2\x86\x92 %s", from ? from : "?", to ? to : "?");
    if (cores && isfinite(active)) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, ", %.0f core%s", active, active == 1 ? "" : "s");
    }
    return out;
}

void plot_tell_omitted(struct chart_panel *p, size_t shown, size_t n, const char *what)
{
    size_t used = strlen(p->note);
    if (shown < n)
        snprintf(p->note + used, sizeof p->note - used, "%sThe first %zu of %zu %s; the table has all.",
                 used ? " " : "", shown, n, what);
}

/* ---- all tables ---- */

static const struct {
    const char *table;
    void (*fill)(const struct table *t, struct chart *c);
} plots[] = {
    {"frequency", plot_frequency}, {"transitions", plot_transitions}, {"throttle", plot_throttle},
    {"trigger", plot_trigger},     {"relaxation", plot_relaxation},   {"overhead", plot_overhead},
    {"umask", plot_umask},         {"energy", plot_energy},           {"voltage", plot_voltage},
};

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
    size_t k = 0, n = sizeof plots / sizeof plots[0];
    while (k < n && (!t->name || strcmp(plots[k].table, t->name) != 0))
        k++;
    if (k == n || t->n_rows == 0) {
        snprintf(why, why_size, k == n ? "tables of this name have none" : "the table has no rows");
        return -1;
    }
    snprintf(c.title, sizeof c.title, "%s", title ? title : t->name);
    subtitle(t, c.subtitle, sizeof c.subtitle);
    plots[k].fill(t, &c);
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
