/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_ESTIMATE_H
#define CHARACTERIZE_ESTIMATE_H

/* A value with its 95 % limits; all NaN = not measured. */
struct estimate {
    double value, lo, hi;
};

#endif
