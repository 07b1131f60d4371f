/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/output/profile_folded.h"

#include <inttypes.h>

int profile_folded(FILE *out, struct profile_stacks *s)
{
    size_t n;
    const struct profile_stack *stacks = profile_stacks_list(s, &n);
    if (stacks == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        (void)fprintf(out, "%s %" PRIu64 "\n", stacks[i].line, stacks[i].count);
    return 0;
}
