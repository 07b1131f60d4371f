/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --kernel-file, and names of kernels, which may be those of files. */
#include <string.h>

#include "cli/messages.h"
#include "cli/options/option_parts.h"

int option_kernel(const struct options *o, const char *name, struct payload *out, char *why, size_t size)
{
    return kernel_parse_with(o->blocks.kernel, o->blocks.n, name, out, why, size);
}

int option_load_block(const char *file, struct options *o)
{
    struct machine_error e = {.status = MACHINE_OK};
    return block_set_add(&o->blocks, file, &e) == MACHINE_OK ? 0 : complain_of_machine("--kernel-file", &e);
}

int option_take_block(const struct option_row *p, const char *text, struct options *o)
{
    (void)p, (void)text, (void)o; /* before all others: they name it */
    return 0;
}
