/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmocka's assert_float_equal takes NaN and infinity for equal to anything. */
#pragma once

#include <math.h>

/* For tests that include cmocka.h before this: fails where `is` lies farther from `expected` than `within`. */
#define assert_close(is, expected, within)                                                                             \
    do {                                                                                                               \
        double is_ = (is), expected_ = (expected);                                                                     \
        if (!(fabs(is_ - expected_) <= (within)))                                                                      \
            fail_msg("%s: %.12g, not %.12g", #is, is_, expected_);                                                     \
    } while (0)
