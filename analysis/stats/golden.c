/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Golden-section search for the highest point of a function. */
#include "analysis/stats/golden.h"

#include <math.h>

#define GOLDEN 0.6180339887498949 /* (sqrt(5) - 1) / 2 */

double golden_highest(double (*f)(void *data, double x), void *data, double *a, double *b, double least, int steps)
{
    double c = *b - GOLDEN * (*b - *a), d = *a + GOLDEN * (*b - *a), fc = f(data, c), fd = f(data, d);
    for (int i = 0; i<steps && * b - *a> least; i++) {
        if (fc > fd) {
            *b = d;
            d = c;
            fd = fc;
            c = *b - GOLDEN * (*b - *a);
            fc = f(data, c);
        } else {
            *a = c;
            c = d;
            fc = fd;
            d = *a + GOLDEN * (*b - *a);
            fd = f(data, d);
        }
    }
    return fmax(fc, fd);
}
