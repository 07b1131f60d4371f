/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the blocks of a binary that are measured, and makes kernels of them. */
#include "drivers/binary/binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/block/block_parts.h"
#include "util/text_list.h"

struct choosing {
    const struct binary_target *target;
    struct binary_choice *out;
    struct binary_rewritten rewritten;
};

/* Of an instruction stream of which more is dropped than this, one in so many, too little is left of the original. */
enum { DROPPED_MOST = 3 };

/* Notes a block that is not measured. */
static void refuse_block(struct binary_choice *c, const struct binary_block *b, const char *why)
{
    struct binary_refused *r = c->refused;
    for (; r < c->refused + c->n_refused; r++)
        if (r->function == b->function && strcmp(r->why, why) == 0) {
            r->count++;
            return;
        }
    if (c->n_refused == BINARY_REFUSED_MAX) {
        c->refused_more++;
        return;
    }
    *r = (struct binary_refused){.function = b->function, .address = b->function->address + b->at, .count = 1};
    snprintf(r->why, sizeof r->why, "%s", why);
    c->n_refused++;
}

/* Returns whether features are lacking, and notes it. */
static bool lacks(struct choosing *g, const struct binary_block *b, unsigned features)
{
    char names[100], why[BINARY_WHY_MAX];
    const unsigned lacking = features & ~g->target->features;
    if (lacking == 0)
        return false;
    kernel_feature_names(lacking, names, sizeof names);
    snprintf(why, sizeof why, "needs %s, which %.150s does not support", names, g->target->cpu);
    refuse_block(g->out, b, why);
    return true;
}

static const char *unfit(const struct binary_block *b, struct binary_rewritten *r, unsigned width)
{
    if (r->too_long)
        return "its code is longer than 16384 bytes, the most that a kernel may have";
    if (b->tiles && width < 256)
        return "tiles cannot be set up for it; --table classes --kernels amx measures them";
    if (width < 256)
        return "all its wide instructions would be dropped (gathers, scatters and the like)";
    if (DROPPED_MOST * r->dropped > r->of)
        return "more than a third of its instructions would be dropped (jumps, calls, gathers and the like)";
    return NULL;
}

/* Counts it with an equal one, if there is one. Blocks of a function come one after the other. */
static bool is_known(struct binary_choice *c, const struct binary_block *b, const struct binary_rewritten *r)
{
    for (size_t i = 0; i < c->n; i++) {
        struct binary_chosen *known = &c->chosen[i];
        if (known->n != r->n || memcmp(known->code, r->code, r->n) != 0)
            continue;
        if (known->last != b->function)
            text_list_add(known->also, sizeof known->also, ", ", "%s", b->function->name);
        known->last = b->function;
        known->count++;
        return true;
    }
    return false;
}

int binary_add_kernel(struct block_set *set, const uint8_t *code, size_t n, bool modelled, struct payload *out,
                      struct machine_error *err)
{
    char name[KERNEL_NAME_MAX];
    snprintf(name, sizeof name, "block%zu", set->n + 1);
    const int status = block_set_add_code(set, "as rewritten", name, code, n, modelled, err);
    if (status == MACHINE_OK && kernel_parse_with(set->kernel, set->n, name, out, NULL, 0) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "no kernel %s", name);
    return status;
}

static int add_kernel(struct choosing *g, const struct binary_block *b, struct binary_chosen *chosen,
                      struct machine_error *err)
{
    struct binary_choice *c = g->out;
    const struct binary_rewritten *r = &g->rewritten;
    const int status = binary_add_kernel(&c->set, r->code, r->n, g->target->modelled, &chosen->payload, err);
    if (status == MACHINE_BAD_INPUT || status == MACHINE_CANNOT) {
        refuse_block(c, b, err->text);
        return MACHINE_OK;
    }
    if (status != MACHINE_OK)
        return status;
    chosen->code = malloc(r->n);
    if (chosen->code == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    memcpy(chosen->code, r->code, r->n);
    chosen->n = r->n;
    for (size_t k = 0; k < r->n_kinds && r->kind[k].width >= 256; k++)
        if (chosen->n_kinds++ < BINARY_WIDE_KINDS_MAX)
            chosen->kind[k] = r->kind[k];
    c->chosen[c->n++] = *chosen;
    return MACHINE_OK;
}

static int choose_block(struct choosing *g, const struct binary_block *b, struct machine_error *err)
{
    struct binary_choice *c = g->out;
    struct binary_rewritten *r = &g->rewritten;
    struct binary_chosen chosen = {.function = b->function,
                                   .last = b->function,
                                   .address = b->function->address + b->at,
                                   .wide = b->wide,
                                   .count = 1};
    if (lacks(g, b, b->features))
        return MACHINE_OK;
    if (binary_rewrite(b, r) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    const char *why = unfit(b, r, binary_instructions(r, chosen.instructions));
    if (why != NULL) {
        refuse_block(c, b, why);
        return MACHINE_OK;
    }
    chosen.of = r->of;
    chosen.dropped = r->dropped;
    if (lacks(g, b, r->features) || is_known(c, b, r))
        return MACHINE_OK;
    if (c->n == BLOCK_SET_MAX) {
        c->left_out++;
        return MACHINE_OK;
    }
    return add_kernel(g, b, &chosen, err);
}

int binary_choose(const struct binary *b, const struct binary_target *target, struct binary_choice *out,
                  struct machine_error *err)
{
    struct binary_block *blocks = NULL;
    struct choosing *g = calloc(1, sizeof *g);
    int status = MACHINE_OK;
    memset(out, 0, sizeof *out);
#ifdef WITHOUT_ZYDIS
    status = machine_fail(err, MACHINE_CANNOT, "use the program of the package or of 'make', which have it",
                          "this static program has no disassembler (Zydis) to find wide code with");
#endif
    if (g != NULL) {
        g->target = target;
        g->out = out;
        g->rewritten.code = malloc(BLOCK_BYTES_MAX);
    }
    const bool ready = g != NULL && g->rewritten.code != NULL;
    if (status == MACHINE_OK && (!ready || binary_blocks(b, &blocks, &out->n_blocks) != 0))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < out->n_blocks && status == MACHINE_OK; i++) {
        /* equal ones have as many wide instructions */
        if (out->n == BLOCK_SET_MAX && blocks[i].wide < out->chosen[out->n - 1].wide) {
            out->left_out += out->n_blocks - i;
            break;
        }
        status = choose_block(g, &blocks[i], err);
    }
    if (g != NULL)
        free(g->rewritten.code);
    free(g);
    free(blocks);
    if (status != MACHINE_OK)
        binary_choice_free(out);
    return status;
}

void binary_choice_free(struct binary_choice *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->chosen[i].code);
    c->n = 0;
    block_set_free(&c->set);
}
