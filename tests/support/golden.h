/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that are held as files in tests/golden/, in which a diff shows what changed. */
#pragma once

#include <stdbool.h>

/*
 * Whether a text is that of the file MODEL.WHAT; where GOLDEN=write, the file is written instead. Else the first line
 * that differs is printed. Numbers may differ by a millionth, as compilers and C libraries round differently; `rounded`:
 * those with a fraction also by one unit of their last digit.
 */
bool golden_is(const char *model, const char *what, const char *text, bool rounded);
