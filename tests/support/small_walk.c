/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/small_walk.h"

enum { LANES = KERNEL_LINE / sizeof(double), LINES = SMALL_WALK_LINES + KERNEL_BLOCK_LINES - 1, ROUND_LINES = 12 };

double small_walk_value(size_t line, size_t lane)
{
    const size_t odd = line / ROUND_LINES % 2, number = (line - odd * ROUND_LINES) * LANES + lane;
    const double value = 1 + (double)(number * 2654435761u % (1u << 22) * 2 + 1) * 0x1p-23;
    return odd ? -(value - 0x1p-23) : value;
}

struct kernel_walk small_walk(void)
{
    static _Alignas(KERNEL_LINE) double lines[LINES][LANES];
    for (size_t i = 0; i < LINES; i++)
        for (size_t lane = 0; lane < LANES; lane++)
            lines[i][lane] = small_walk_value(i, lane);
    const uint8_t *begin = (const uint8_t *)lines;
    return (struct kernel_walk){begin, begin, begin + (size_t)SMALL_WALK_LINES * KERNEL_LINE};
}
