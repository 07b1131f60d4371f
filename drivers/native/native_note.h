/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line in which machines remark what limits their results. */
#ifndef CHARACTERIZE_NATIVE_NOTE_H
#define CHARACTERIZE_NATIVE_NOTE_H

#include <stddef.h>

/* Adds to a line of notes (`size` bytes), behind "; ", as printf does. What does not fit is truncated; an empty text
 * adds nothing. */
__attribute__((format(printf, 3, 4))) void native_note(char *notes, size_t size, const char *text, ...);

#endif
