/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that are held exactly: texts of tests/golden/. */
#pragma once

#include <stdbool.h>

/*
 * Whether the text is that of tests/golden/MODEL.WHAT, which is written where GOLDEN=write; the first line that differs
 * is printed. Numbers may differ by a millionth, those with a fraction, where `rounded`, by one unit of their last
 * digit: compilers and C libraries round differently.
 */
bool golden_same(const char *model, const char *what, const char *text, bool rounded);
