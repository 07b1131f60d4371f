/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rewritten block without some of its wide instructions. */
#include "drivers/binary/binary.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/block/block_parts.h"

/* Puts one NOP in the place of `length` bytes, as long if there is such a one; returns its length. Wide instructions
 * have four bytes and more. Intel SDM volume 2B, NOP, table 4-12. */
static size_t put_nop(uint8_t *to, size_t length)
{
    enum { SHORTEST = 4, LONGEST = 9 };
    static const uint8_t nops[][LONGEST] = {{0x0f, 0x1f, 0x40}, {0x0f, 0x1f, 0x44}, {0x66, 0x0f, 0x1f, 0x44},
                                            {0x0f, 0x1f, 0x80}, {0x0f, 0x1f, 0x84}, {0x66, 0x0f, 0x1f, 0x84}};
    const size_t n = length < LONGEST ? length : LONGEST;
    memcpy(to, nops[n - SHORTEST], n);
    return n;
}

static bool is_left_out(const struct binary_chosen *b, const struct block_insn *insn, uint64_t kept)
{
    for (size_t k = 0; k < b->n_kinds && insn->width >= 256; k++)
        if (b->kind[k].mnemonic == insn->mnemonic && b->kind[k].width == insn->width)
            return (kept >> k & 1) == 0;
    return false;
}

int binary_part(const struct binary_chosen *b, uint64_t kept, uint8_t *out, size_t *n, struct machine_error *err)
{
    struct block_shape shape;
    struct block_text *text = calloc(1, sizeof *text);
    *n = 0;
    if (text == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    text->elsewhere = true; /* the block as a whole has been checked */
    text->n = b->n;
    memcpy(text->code, b->code, b->n);
    const int status = block_check("as rewritten", text, &shape, err);
    free(text);
    if (status != MACHINE_OK)
        return status;
    for (size_t i = 0; i < shape.n; i++) {
        const struct block_insn *insn = &shape.insn[i];
        if (is_left_out(b, insn, kept)) {
            *n += put_nop(out + *n, insn->length);
        } else {
            memcpy(out + *n, b->code + insn->offset, insn->length);
            *n += insn->length;
        }
    }
    block_shape_free(&shape);
    return MACHINE_OK;
}
