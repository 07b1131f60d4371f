/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of unit tests, which takes the place of the C library's: what is allocated is full of bytes 255 (NaN as a
 * number, far off as an index or a pointer), and so is what lies after it and what was given back, so that one who
 * reads there notices; who writes after what he has is reported when he gives it back. What the tested code and
 * the helpers of tests allocated must be given back when the program ends, or it fails. Not where sanitizers run, which
 * see more. Allocations that succeed leave EUCLEAN in errno, which means nothing after a success.
 */
#pragma once

#include <stdbool.h>

/*
 * In this thread, the first allocation of the nth kind from now on fails (from 1), or none (0): kinds differ in where
 * they are made, in the library of all that is tested, or in their size; what other libraries allocate does not count.
 */
void strict_memory_fail(unsigned long n);
/* Returns true if it has failed since. Always false where sanitizers run. */
bool strict_memory_failed(void);
