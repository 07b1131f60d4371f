/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of gnuplot scripts: labels, parts of plots, tips, colors, marks, and positions of values. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "output/plot/chart_script.h"
#include "util/plain_text.h"

/* Pixels of a box that is easily pointed at. */
enum { TIP_LEAST = 8 };

/* Between single quotes nothing is interpreted but the quote itself, and no command is substituted (gnuplot 5.4 manual,
 * "Quotes", "Substitution"): quotes and backquotes become typographic ones. */
void chart_text_put(FILE *out, const char *text, size_t most)
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

void chart_label(const struct canvas *k, const char *text, size_t most, double x, double y,
                 enum plot_colour_name colour, const char *style)
{
    fputs("set label ", k->out);
    chart_text_put(k->out, text, most);
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

static void widen_tip(double *from, double *to)
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
    widen_tip(&left, &right);
    widen_tip(&top, &bottom);
    fprintf(k->tips, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>", left, top, right - left,
            bottom - top);
    plain_xml_text(k->tips, text);
    fputs("</title></rect>\n", k->tips);
}

const char *chart_limits(double lo, double hi, char out[CHART_LIMITS_MAX])
{
    out[0] = '\0';
    if (isfinite(lo) && isfinite(hi))
        snprintf(out, CHART_LIMITS_MAX, " [%.4g, %.4g]", lo, hi);
    return out;
}

double chart_part(const struct axis *a, double value)
{
    return a->log_scale ? log(value / a->lo) / log(a->hi / a->lo) : (value - a->lo) / (a->hi - a->lo);
}

size_t chart_log_tics(double lo, double hi, double *out, size_t max)
{
    static const double steps[] = {1, 2, 5};
    size_t n = 0;
    if (!(lo > 0) || !(hi >= lo) || !isfinite(hi))
        return 0;
    const size_t n_steps = log10(hi / lo) > 4 ? 1 : 3;
    for (double ten = pow(10, floor(log10(lo))); ten <= hi && n < max; ten *= 10)
        for (size_t i = 0; i < n_steps && n < max; i++)
            if (ten * steps[i] >= lo * 0.999 && ten * steps[i] <= hi * 1.001)
                out[n++] = ten * steps[i];
    return n;
}

const char *chart_colour(int number)
{
    static const int others[] = {PLOT_MUTED, PLOT_INK, PLOT_GRID};
    return plot_colours[number < 0 ? others[CHART_MUTED - number] : PLOT_SERIES + number % PLOT_N_SERIES].plain;
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
