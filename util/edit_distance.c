/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distance between two names. */
#include "util/edit_distance.h"

#include <string.h>

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

unsigned edit_guess(size_t length)
{
    return 1 + (length < 9 ? (unsigned)length / 3 : 3);
}

unsigned edit_distance(const char *a, size_t length, const char *b)
{
    unsigned rows[3][EDIT_NAME_MAX] = {{0}};
    size_t n = strnlen(b, EDIT_NAME_MAX - 1);
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= length; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned same = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                two_before[j - 2] + 1 < now[j])
                now[j] = two_before[j - 2] + 1;
        }
    }
    return rows[length % 3][n];
}

bool edit_nearer(const char *a, size_t length, const char *b, unsigned *least)
{
    unsigned edits = edit_distance(a, length, b);
    if (edits >= *least)
        return false;
    *least = edits;
    return true;
}
