/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that grow by one element at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for one more element of `size` bytes (above 0) after the n of a list that this function alone has made,
 * from NULL; it may have become shorter meanwhile. list: the address of the pointer to it. O(1) on average. False: out
 * of memory, and the list is as it was.
 */
bool list_room(void *list, size_t n, size_t size);
