/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/chart_canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "output/plot/gnuplot.h"
#include "util/xml_text.h"

void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y,
                 enum plot_colour_name colour, const char *style)
{
    fputs("set label ", k->out);
    gnuplot_text(k->out, text, most);
    fprintf(k->out, " at screen %.6f, screen %.6f %s tc rgb '%s'\n", x / CHART_WIDTH, 1 - y / k->height, style,
            plot_colours[colour].plain);
}

void chart_plot(const struct canvas *k, size_t *n, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs((*n)++ ? ", \\\n  " : "plot ", k->out);
    vfprintf(k->out, format, arguments);
    va_end(arguments);
}

enum { TIP_LEAST = 8 }; /* pixels of a box that is easily pointed at */

static void tip_range(double *from, double *to)
{
    double lacking = fmax(0, TIP_LEAST - fabs(*to - *from)), low = fmin(*from, *to), high = fmax(*from, *to);
    *from = low - lacking / 2;
    *to = high + lacking / 2;
}

void chart_tip(const struct canvas *k, double left, double top, double right, double bottom, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (!k->tips || !isfinite(left + top + right + bottom))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tip_range(&left, &right);
    tip_range(&top, &bottom);
    fprintf(k->tips, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>", left, top, right - left,
            bottom - top);
    xml_text(k->tips, text);
    fputs("</title></rect>\n", k->tips);
}

double chart_pixel(double value, double lo, double hi, bool log_scale, double at_lo, double at_hi)
{
    double part = log_scale ? log(value / lo) / log(hi / lo) : (value - lo) / (hi - lo);
    return at_lo + fmin(fmax(part, 0), 1) * (at_hi - at_lo);
}

void chart_box(const struct canvas *k, double left, double top, double right, double bottom, unsigned colour)
{
    fprintf(k->out,
            "set object rectangle from screen %.6f, screen %.6f to screen %.6f, screen %.6f fc rgb '#%06x' fs solid "
            "1.0 noborder\n",
            left / CHART_WIDTH, 1 - top / k->height, right / CHART_WIDTH, 1 - bottom / k->height, colour);
}

const char *chart_colour(int number)
{
    static const int others[] = {PLOT_MUTED, PLOT_INK, PLOT_GRID};
    return plot_colours[number < 0 ? others[CHART_MUTED - number] : PLOT_SERIES + number % PLOT_N_SERIES].plain;
}

unsigned chart_colour_value(int number)
{
    return (unsigned)strtoul(chart_colour(number) + 1, NULL, 16);
}

int chart_mark(int number)
{
    static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12};
    return marks[number % (int)(sizeof marks / sizeof marks[0])];
}

size_t chart_characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

size_t chart_longest(const struct chart_names *names)
{
    size_t longest = 0;
    for (size_t i = 0; i < names->n; i++) {
        size_t length = chart_characters(names->name[i]);
        longest = length > longest ? length : longest;
    }
    return longest > CHART_LABEL_MAX ? CHART_LABEL_MAX + 3 : longest;
}

void chart_x_label(const struct canvas *k, const char *text)
{
    fputs("set xlabel ", k->out);
    gnuplot_text(k->out, text, 100);
    fprintf(k->out, " offset 0,0.4 textcolor rgb '%s'\n", plot_colours[PLOT_INK].plain);
}

size_t chart_log_tics(double lo, double hi, double *out, size_t max)
{
    static const double steps[] = {1, 2, 5};
    size_t n = 0;
    if (!(lo > 0) || !(hi >= lo) || !isfinite(hi))
        return 0;
    bool tens_only = log10(hi / lo) > 4;
    for (double ten = pow(10, floor(log10(lo))); ten <= hi && n < max; ten *= 10)
        for (size_t i = 0; i < (tens_only ? 1u : 3u) && n < max; i++)
            if (ten * steps[i] >= lo * 0.999 && ten * steps[i] <= hi * 1.001)
                out[n++] = ten * steps[i];
    return n;
}

void chart_axis(const struct canvas *k, char axis, double lo, double hi, bool log_scale, bool labelled)
{
    double tics[24];
    size_t n = log_scale ? chart_log_tics(lo, hi, tics, sizeof tics / sizeof tics[0]) : 0;
    fprintf(k->out, "%sset logscale %c\nset %crange [%.10g:%.10g]\n", log_scale ? "" : "un", axis, axis, lo, hi);
    if (n < 2) {
        fprintf(k->out, "set %ctics autofreq\n", axis);
        return;
    }
    fprintf(k->out, "set %ctics (", axis);
    for (size_t i = 0; i < n; i++)
        if (labelled)
            fprintf(k->out, "%s'%.10g' %.10g", i ? ", " : "", tics[i], tics[i]);
        else
            fprintf(k->out, "%s'' %.10g", i ? ", " : "", tics[i]);
    fputs(")\n", k->out);
}

/*
 * One hue from pale to dark, so that order is shown by lightness alone: readable in grey and by colour-blind readers.
 * The stations are ColorBrewer's sequential YlGnBu, 9 classes, without the first, which paper hides (C. Brewer).
 */
static const unsigned stations[] = {0xedf8b1, 0xc7e9b4, 0x7fcdbb, 0x41b6c4, 0x1d91c0, 0x225ea8, 0x253494, 0x081d58};
enum { LAST_STATION = sizeof stations / sizeof stations[0] - 1 };

static unsigned chart_canvas_channel(unsigned a, unsigned b, double part, int shift)
{
    double x = (double)(a >> shift & 255), y = (double)(b >> shift & 255);
    return (unsigned)lround(x + part * (y - x)) << shift;
}

/* Relative luminance (WCAG 2.1). */
static double luminance(unsigned colour)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double v = (double)(colour >> 8 * i & 255) / 255;
        sum += weights[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

unsigned chart_heat(double value, double lo, double hi, bool log_scale, bool *black_text)
{
    double part = log_scale ? log(value / lo) / log(hi / lo) : (value - lo) / (hi - lo);
    if (!isfinite(part))
        part = 0.5;
    double at = fmin(fmax(part, 0), 1) * LAST_STATION;
    int i = at >= LAST_STATION ? LAST_STATION - 1 : (int)at;
    unsigned colour = 0;
    for (int shift = 0; shift < 24; shift += 8)
        colour |= chart_canvas_channel(stations[i], stations[i + 1], at - i, shift);
    /* 0.179: where black and white text have equal contrast */
    *black_text = luminance(colour) > 0.179;
    return colour;
}
