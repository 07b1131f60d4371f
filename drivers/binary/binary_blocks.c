/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the blocks of functions that hold wide instructions. */
#include "drivers/binary/binary.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"

#ifndef WITHOUT_ZYDIS
#include <Zydis/Zydis.h>

/* An instruction as far as it matters where blocks begin and end. */
struct place {
    uint32_t at;     /* first, for find_place() */
    uint32_t target; /* of a jump within the function; NOWHERE */
    uint8_t length, features;
    bool wide, tile, label; /* label: a jump leads here */
    bool ends;              /* what follows is another piece: a jump, a return, or no instruction at all */
    bool leaves;            /* what follows is not executed after it: a return, an unconditional jump */
    bool taken;             /* it is part of a loop */
};

enum { FROM_VEX = 1, FROM_EVEX = 2 };
#define NOWHERE UINT32_MAX

struct places {
    struct place *list;
    size_t n;
};

static void note_operands(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands, struct place *out)
{
    for (size_t k = 0; k < i->operand_count_visible; k++) {
        if (operands[k].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        const ZydisRegisterClass class = ZydisRegisterGetClass(operands[k].reg.value);
        out->tile |= class == ZYDIS_REGCLASS_TMM;
        out->wide |= class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM || class == ZYDIS_REGCLASS_TMM;
    }
    out->features = i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX  ? FROM_EVEX
                    : i->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ? FROM_VEX
                                                                    : 0;
}

static void note_jump(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operands, size_t n,
                      struct place *out)
{
    const ZydisInstructionCategory c = i->meta.category;
    const bool jumps = c == ZYDIS_CATEGORY_COND_BR || c == ZYDIS_CATEGORY_UNCOND_BR;
    out->ends = jumps || c == ZYDIS_CATEGORY_RET;
    out->leaves = c == ZYDIS_CATEGORY_RET || c == ZYDIS_CATEGORY_UNCOND_BR;
    if (!jumps || operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative)
        return;
    const int64_t target = (int64_t)out->at + out->length + operands[0].imm.value.s;
    if (target >= 0 && target < (int64_t)n)
        out->target = (uint32_t)target;
}

/* Decodes a function from its beginning; a byte that begins no instruction ends a piece. 0, or -1: out of memory. */
static int decode_function(const ZydisDecoder *decoder, const struct binary_function *f, struct places *out)
{
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    out->n = 0;
    for (size_t at = 0; at < f->n; at += out->list[out->n++].length) {
        if (!list_room(&out->list, out->n, sizeof *out->list))
            return -1;
        struct place *p = &out->list[out->n];
        *p = (struct place){.at = (uint32_t)at, .target = NOWHERE, .length = 1, .ends = true};
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, f->code + at, f->n - at, &i, operands)))
            continue;
        p->length = i.length;
        note_operands(&i, operands, p);
        note_jump(&i, operands, f->n, p);
    }
    return 0;
}

static int order_places(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = ((const struct place *)b)->at;
    return (x > y) - (x < y);
}

/* Notes where jumps lead to; a jump into an instruction leads nowhere. */
static void note_labels(struct places *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct place *target = p->list[i].target == NOWHERE
                                   ? NULL
                                   : bsearch(&p->list[i].target, p->list, p->n, sizeof *p->list, order_places);
        if (target != NULL)
            target->label = true;
        p->list[i].target = target != NULL ? (uint32_t)(target - p->list) : NOWHERE; /* from here on an index */
    }
}

static int add_block(const struct binary_function *f, const struct place *from, const struct place *past,
                     struct binary_block **out, size_t *n)
{
    struct binary_block b = {.function = f, .at = from->at, .of = (unsigned)(past - from)};
    for (const struct place *p = from; p < past; p++) {
        b.wide += p->wide;
        b.tiles |= p->tile;
        b.features |= p->features == FROM_EVEX ? KERNEL_NEEDS_AVX512F : p->features == FROM_VEX ? KERNEL_NEEDS_AVX : 0u;
    }
    b.bytes = past[-1].at + past[-1].length - from->at;
    if (b.wide == 0)
        return 0;
    if (!list_room(out, *n, sizeof **out))
        return -1;
    (*out)[(*n)++] = b;
    return 0;
}

/* True: what stands between a jump back and its target leads there. It does not where a return or a jump out lies in
 * between: then code that is seldom executed jumps back to where it was left; compilers place it behind a function. */
static bool is_loop(const struct places *p, size_t target, size_t jump)
{
    for (size_t k = target; k < jump; k++) {
        const struct place *at = &p->list[k];
        if (at->leaves && (at->target == NOWHERE || at->target < target || at->target > jump))
            return false;
    }
    return true;
}

/* Takes innermost loops: the last backward jump before this one stands before the target of this one. */
static int add_loops(const struct binary_function *f, struct places *p, struct binary_block **out, size_t *n)
{
    size_t past = 0; /* after the last backward jump */
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t target = p->list[i].target;
        if (target == NOWHERE || target > i || !is_loop(p, target, i))
            continue;
        const bool innermost = target >= past;
        past = i + 1;
        if (!innermost)
            continue;
        for (size_t k = target; k <= i; k++)
            p->list[k].taken = true;
        if (add_block(f, &p->list[target], &p->list[i] + 1, out, n) != 0)
            return -1;
    }
    return 0;
}

static int add_pieces(const struct binary_function *f, const struct places *p, struct binary_block **out, size_t *n)
{
    size_t from = 0;
    for (size_t i = 0; i < p->n; i++) {
        const bool ends = p->list[i].ends || i + 1 == p->n || p->list[i + 1].label || p->list[i + 1].taken;
        if (p->list[i].taken) {
            from = i + 1;
        } else if (ends) {
            if (add_block(f, &p->list[from], &p->list[i] + 1, out, n) != 0)
                return -1;
            from = i + 1;
        }
    }
    return 0;
}

static int order_blocks(const void *a, const void *b)
{
    const struct binary_block *x = a, *y = b;
    if (x->wide != y->wide)
        return x->wide > y->wide ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

int binary_blocks(const struct binary *b, struct binary_block **out, size_t *n)
{
    struct places places = {0};
    ZydisDecoder decoder;
    int bad = ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ? 0 : -1;
    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < b->n && bad == 0; i++) {
        const struct binary_function *f = &b->function[i];
        bad = decode_function(&decoder, f, &places);
        if (bad == 0)
            note_labels(&places);
        bad = bad != 0 || add_loops(f, &places, out, n) != 0 || add_pieces(f, &places, out, n) != 0 ? -1 : 0;
    }
    free(places.list);
    if (bad == 0 && *n > 0)
        qsort(*out, *n, sizeof **out, order_blocks);
    if (bad != 0) {
        free(*out);
        *out = NULL;
        *n = 0;
    }
    return bad;
}

#else /* the static program has no disassembler: binary_choose() says so */

int binary_blocks(const struct binary *b, struct binary_block **out, size_t *n)
{
    (void)b;
    *out = NULL;
    *n = 0;
    return 0;
}
#endif
