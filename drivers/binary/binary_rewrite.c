/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes of a block from a binary one that runs by itself. */
#include "drivers/binary/binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/block/block_parts.h"
#include "util/text_list.h"

#ifndef WITHOUT_ZYDIS
#include <Zydis/Zydis.h>

/* Operands lie a line of the cache apart, so that none crosses lines and each is aligned to its size; loads use the
 * lower half of the buffer, stores the upper one: nothing that was stored is loaded, as floats or otherwise. */
enum { LINE_BYTES = 64, LINES = BLOCK_BUFFER_BYTES / LINE_BYTES, HALF = LINES / 2 };

/* Prefixes of addresses that become others. */
#define SEGMENTS                                                                                                       \
    (ZYDIS_ATTRIB_HAS_SEGMENT_CS | ZYDIS_ATTRIB_HAS_SEGMENT_SS | ZYDIS_ATTRIB_HAS_SEGMENT_DS |                         \
     ZYDIS_ATTRIB_HAS_SEGMENT_ES | ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS)

/* Registers that the frame has for itself (doc/kernel-files.md). */
static const unsigned reserved[] = {BLOCK_RSP, BLOCK_BUFFER, BLOCK_COUNTER};
enum { N_RESERVED = sizeof reserved / sizeof reserved[0] };

struct rewriting {
    ZydisDecoder decoder;
    struct block_text *one; /* an instruction alone, to be checked */
    unsigned instead[BLOCK_GPRS];
    unsigned loads, stores;
    struct binary_rewritten *out;
};

/* The number of the 64-bit register that it is part of; -1: none. */
static int number_of(ZydisRegister r)
{
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

/* The register that takes the place of this one, of the same size. */
static ZydisRegister renamed(const struct rewriting *r, ZydisRegister reg)
{
    const int old = number_of(reg);
    const unsigned number = old >= 0 ? r->instead[old] : 0;
    if (old < 0 || (int)number == old)
        return reg;
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR64:
        return (ZydisRegister)(ZYDIS_REGISTER_RAX + number);
    case ZYDIS_REGCLASS_GPR32:
        return (ZydisRegister)(ZYDIS_REGISTER_EAX + number);
    case ZYDIS_REGCLASS_GPR16:
        return (ZydisRegister)(ZYDIS_REGISTER_AX + number);
    default: /* AH, CH, DH and BH lie between BL and SPL */
        return (ZydisRegister)(number < 4 ? ZYDIS_REGISTER_AL + number : ZYDIS_REGISTER_SPL + number - 4);
    }
}

static void note_register(unsigned *used, ZydisRegister reg)
{
    const int number = number_of(reg);
    if (number >= 0)
        *used |= 1u << number;
}

/* Takes for each reserved register one that the block does not use, the last ones where it uses all. */
static void choose_registers(struct rewriting *r, const uint8_t *code, size_t n)
{
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    unsigned used = 0, next = BLOCK_BUFFER;
    for (size_t at = 0; at < n; at += i.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, code + at, n - at, &i, o))) {
            i.length = 1;
            continue;
        }
        for (size_t k = 0; k < i.operand_count; k++)
            if (o[k].type == ZYDIS_OPERAND_TYPE_REGISTER)
                note_register(&used, o[k].reg.value);
    }
    for (unsigned k = 0; k < BLOCK_GPRS; k++)
        r->instead[k] = k;
    for (unsigned k = 0; k < N_RESERVED; k++) {
        unsigned number = next;
        do
            number--;
        while (number > 0 && (number == BLOCK_RSP || (used >> number & 1) != 0));
        const bool found = number > 0 || (used & 1) == 0;
        r->instead[reserved[k]] = found ? number : BLOCK_BUFFER - 1 - k;
        next = found ? number : next;
        used |= found ? 1u << number : 0;
    }
}

/* What a block may not hold, or would do something else in it. */
static bool is_dropped(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    static const ZydisInstructionCategory categories[] = {ZYDIS_CATEGORY_COND_BR, ZYDIS_CATEGORY_UNCOND_BR,
                                                          ZYDIS_CATEGORY_AVX2GATHER, ZYDIS_CATEGORY_GATHER,
                                                          ZYDIS_CATEGORY_SCATTER};
    for (size_t k = 0; k < sizeof categories / sizeof categories[0]; k++)
        if (i->meta.category == categories[k])
            return true;
    for (size_t k = i->operand_count_visible; k < i->operand_count; k++)
        if (o[k].type == ZYDIS_OPERAND_TYPE_MEMORY || number_of(o[k].reg.value) == BLOCK_RSP)
            return true;                                                            /* the stack, strings */
    return i->mnemonic == ZYDIS_MNEMONIC_DIV || i->mnemonic == ZYDIS_MNEMONIC_IDIV; /* the quotient may not fit */
}

/* An address that is only computed, or a hint that does not matter. */
static bool is_no_access(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    return o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || i->meta.category == ZYDIS_CATEGORY_NOP ||
           i->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

/* The next line of the buffer: of loads, or of what is stored. Returns the displacement. */
static int64_t next_line(struct rewriting *r, const ZydisDecodedOperand *o)
{
    const bool writes = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    const unsigned line = writes ? LINES - 1 - r->stores++ % HALF : r->loads++ % HALF;
    return (int64_t)line * LINE_BYTES;
}

static bool request_of(struct rewriting *r, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o,
                       ZydisEncoderRequest *q)
{
    if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(i, o, i->operand_count_visible, q)))
        return false;
    q->prefixes &= ~(ZydisInstructionAttributes)SEGMENTS;
    for (size_t k = 0; k < q->operand_count; k++) {
        ZydisEncoderOperand *to = &q->operands[k];
        if (to->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            to->reg.value = renamed(r, to->reg.value);
        } else if (to->type == ZYDIS_OPERAND_TYPE_MEMORY && is_no_access(i, &o[k]) &&
                   to->mem.base != ZYDIS_REGISTER_RIP) {
            to->mem.base = renamed(r, to->mem.base);
            to->mem.index = renamed(r, to->mem.index);
        } else if (to->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            if (to->mem.size > LINE_BYTES)
                return false;
            to->mem.base = ZYDIS_REGISTER_R14;
            to->mem.index = ZYDIS_REGISTER_NONE;
            to->mem.scale = 0;
            to->mem.displacement = is_no_access(i, &o[k]) ? 0 : next_line(r, &o[k]);
        }
    }
    return true;
}

/* Returns whether what was encoded is the same instruction with operands of the same kinds and sizes. */
static bool is_same(const struct rewriting *r, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    ZydisDecodedInstruction j;
    ZydisDecodedOperand p[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r->decoder, r->one->code, r->one->n, &j, p)) || j.length != r->one->n ||
        j.mnemonic != i->mnemonic || j.encoding != i->encoding || j.operand_count_visible != i->operand_count_visible ||
        j.avx.broadcast.mode != i->avx.broadcast.mode || j.avx.mask.mode != i->avx.mask.mode)
        return false;
    for (size_t k = 0; k < i->operand_count_visible; k++)
        if (p[k].type != o[k].type || p[k].size != o[k].size ||
            (o[k].type == ZYDIS_OPERAND_TYPE_REGISTER && p[k].reg.value != renamed(r, o[k].reg.value)) ||
            (o[k].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && p[k].imm.value.u != o[k].imm.value.u))
            return false;
    return true;
}

static void count_kind(struct binary_rewritten *out, const struct block_insn *insn)
{
    size_t k = 0;
    while (k < out->n_kinds && !(out->kind[k].mnemonic == insn->mnemonic && out->kind[k].width == insn->width))
        k++;
    if (k == BINARY_KINDS_MAX)
        return;
    if (k == out->n_kinds)
        out->kind[out->n_kinds++] = (struct binary_kind){
            .mnemonic = insn->mnemonic, .width = insn->width, .heavy = insn->heavy};
    out->kind[k].n++;
}

/* Appends what is made of an instruction. Returns whether it is kept. */
static bool keep_insn(struct rewriting *r, const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o)
{
    ZydisEncoderRequest q;
    struct block_shape shape;
    struct machine_error err;
    ZyanUSize length = ZYDIS_MAX_INSTRUCTION_LENGTH;
    if (is_dropped(i, o) || !request_of(r, i, o, &q) ||
        !ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&q, r->one->code, &length)))
        return false;
    r->one->n = length;
    if (!is_same(r, i, o) || block_check("", r->one, &shape, &err) != MACHINE_OK)
        return false;
    const size_t n = r->out->n + length;
    r->out->features |= shape.features;
    r->out->too_long |= n > BLOCK_BYTES_MAX;
    if (!r->out->too_long) {
        memcpy(r->out->code + r->out->n, r->one->code, length);
        r->out->n = n;
        count_kind(r->out, &shape.insn[0]);
    }
    block_shape_free(&shape);
    return true;
}

int binary_rewrite(const struct binary_block *block, struct binary_rewritten *out)
{
    struct rewriting r = {.out = out, .one = calloc(1, sizeof *r.one)};
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    const uint8_t *code = block->function->code + block->at;
    if (r.one == NULL)
        return -1;
    *out = (struct binary_rewritten){.code = out->code};
    r.one->elsewhere = true; /* sets that this CPU lacks are no matter of single instructions */
    ZydisDecoderInit(&r.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    choose_registers(&r, code, block->bytes);
    for (size_t at = 0; at < block->bytes; at += i.length) {
        const bool known = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r.decoder, code + at, block->bytes - at, &i, o));
        out->of++;
        out->dropped += !known || !keep_insn(&r, &i, o);
        i.length = known ? i.length : 1;
    }
    free(r.one);
    return 0;
}
#else

int binary_rewrite(const struct binary_block *block, struct binary_rewritten *out)
{
    *out = (struct binary_rewritten){.code = out->code, .of = block->of, .dropped = block->of};
    return 0;
}
#endif

static int order_kinds(const void *a, const void *b)
{
    const struct binary_kind *x = a, *y = b;
    if (x->width != y->width)
        return x->width > y->width ? -1 : 1;
    if (x->heavy != y->heavy)
        return x->heavy ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return strcmp(x->mnemonic, y->mnemonic);
}

unsigned binary_instructions(struct binary_rewritten *r, char text[BINARY_TEXT_MAX])
{
    text[0] = '\0';
    if (r->n_kinds == 0)
        return 64;
    qsort(r->kind, r->n_kinds, sizeof r->kind[0], order_kinds);
    for (size_t k = 0; k < r->n_kinds; k++)
        if (r->kind[k].width == r->kind[0].width && r->kind[k].heavy == r->kind[0].heavy)
            text_list_add(text, BINARY_TEXT_MAX, ", ", "%s %u", r->kind[k].mnemonic, r->kind[k].n);
    return r->kind[0].width;
}
