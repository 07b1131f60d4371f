/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/chart_scale.h"

#include <math.h>

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

/*
 * One hue from pale to dark, so that order is shown by lightness alone: readable in grey and by colour-blind readers.
 * The stations are ColorBrewer's sequential YlGnBu, 9 classes, without the first, which paper hides (C. Brewer).
 */
static const unsigned stations[] = {0xedf8b1, 0xc7e9b4, 0x7fcdbb, 0x41b6c4, 0x1d91c0, 0x225ea8, 0x253494, 0x081d58};
enum { LAST_STATION = sizeof stations / sizeof stations[0] - 1 };

static unsigned chart_scale_channel(unsigned a, unsigned b, double part, int shift)
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
        colour |= chart_scale_channel(stations[i], stations[i + 1], at - i, shift);
    /* 0.179: where black and white text have equal contrast */
    *black_text = luminance(colour) > 0.179;
    return colour;
}
