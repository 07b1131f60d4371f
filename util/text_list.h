/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of text that grows by items. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Adds an item to a list of `size` bytes, after `separator` where there is one already, as printf does. What does not
 * fit is truncated; an empty item adds nothing. */
__attribute__((format(printf, 4, 5))) void text_list_add(char *list, size_t size, const char *separator,
                                                         const char *item, ...);
/* Returns whether `text` is one of the words between commas. */
bool text_list_has(const char *words, const char *text);
