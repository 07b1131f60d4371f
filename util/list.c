/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

bool list_room(void *list, size_t n, size_t size)
{
    void *old, *bigger;
    if (n & (n - 1)) /* there is room up to the next power of two */
        return true;
    memcpy(&old, list, sizeof old);
    bigger = realloc(old, (n ? 2 * n : 1) * size);
    if (bigger)
        memcpy(list, &bigger, sizeof bigger);
    return bigger != NULL;
}
