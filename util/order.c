/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/order.h"

#include <stddef.h>

int order_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int order_double_descending(const void *a, const void *b)
{
    return order_double(b, a);
}

int order_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

int order_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}
