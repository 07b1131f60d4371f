/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory in huge pages. */
#include "drivers/native/huge_buffer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 }; /* the size of x86's large pages */

int huge_buffer_map(size_t bytes, struct huge_buffer *out, struct machine_error *err)
{
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    *out = (struct huge_buffer){NULL, whole + HUGE_PAGE, NULL};
    void *p = mmap(NULL, out->mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return machine_fail(err, MACHINE_CANNOT, "free some memory, or raise the limit (ulimit -v)",
                            "no memory for a buffer of %.3g MB: %s", (double)bytes / 1e6, strerror(errno));
    }
    out->mapped = p;
    out->start = (char *)p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    madvise(out->start, whole, MADV_HUGEPAGE);
    return MACHINE_OK;
}

void huge_buffer_free(struct huge_buffer *b)
{
    if (b->mapped != NULL)
        munmap(b->mapped, b->mapped_size);
    *b = (struct huge_buffer){NULL, 0, NULL};
}
