/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room for one more element of a list. */
#include "util/list.h"

#include <stdlib.h>

typedef void *any_pointer __attribute__((may_alias)); /* the list's own type is not void * */

bool list_room(void *list, size_t n, size_t size)
{
    any_pointer *at = list;
    if (n & (n - 1)) /* there is room up to the next power of two */
        return true;
    void *bigger = realloc(*at, (n ? 2 * n : 1) * size);
    if (!bigger)
        return false;
    *at = bigger;
    return true;
}
