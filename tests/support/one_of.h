/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One of a few values, each as likely; one that is listed twice is twice as likely. */
#pragma once

#include <stddef.h>

#include "tests/support/random_numbers.h"

#define ONE_OF(r, ...)                                                                                                 \
    (((const double[]){                                                                                                \
        __VA_ARGS__})[rng_int((r), 0, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)) - 1)])
