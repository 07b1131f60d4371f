/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instead of block_check.c in a program that has no disassembler: the static one, where Zydis is a shared library. */
#ifdef WITHOUT_ZYDIS
#include "drivers/block/block_check.h"

int block_check_can(const char *file, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT, "use the program of the package or of 'make', which have it",
                        "%.200s: this static program has no disassembler (Zydis) to check blocks by before they run",
                        file);
}

int block_check(const char *file, const struct block_text *text, struct block_shape *out, struct machine_error *err)
{
    (void)text;
    *out = (struct block_shape){0};
    return block_check_can(file, err);
}

void block_shape_free(struct block_shape *s)
{
    (void)s;
}

void block_insn_text(const struct block_text *text, const struct block_insn *insn, char *out, size_t size)
{
    (void)text;
    (void)insn;
    if (size > 0)
        out[0] = '\0';
}
#endif
