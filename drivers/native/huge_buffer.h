/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory in huge pages where they are to be had, so that translations of addresses have the least share in what is
 * measured. */
#pragma once

#include <stddef.h>

#include "util/error.h"

/* All zero: none. */
struct huge_buffer {
    void *mapped;
    size_t mapped_size;
    void *start; /* on a border of 2 MB */
};

/* At least `bytes` (> 0) of memory, none of which is there before it is written to. MACHINE_CANNOT: there is not so
 * much. */
int huge_buffer_map(size_t bytes, struct huge_buffer *out, struct machine_error *err);
/* Also of none. */
void huge_buffer_free(struct huge_buffer *b);
