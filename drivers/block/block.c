/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes kernels of a user's blocks of instructions and keeps those of a run. */
#include "drivers/block/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/block/block_parts.h"

/* A kernel, and all that it points to. */
struct block {
    struct kernel kernel;
    struct block_text text;
    struct block_code code;
    char description[160];
    kernel_fn *variants[2]; /* by density: 1 is the only one */
    uint16_t instructions[2], counted[2];
    uint32_t bytes[2];
};

/* The listed kernel that models take its rate and demands from. */
static const char *blocks_alike(const struct block_shape *s)
{
    static const char *const names[][4] = {{"64add", "64fma", "64add", "64fma"},
                                           {"128or", "128fma", "128load", "128fma@mem"},
                                           {"256or", "256fma", "256load", "256fma@mem"},
                                           {"512or", "512fma", "512load", "512fma@mem"}};
    bool loads = false; /* some processors have a class of its own for it */
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->insn[i].n_memory; k++)
            loads = loads || (s->insn[i].width == s->width && !s->insn[i].memory[k].write);
    return names[s->width == 64    ? 0
                 : s->width == 128 ? 1
                 : s->width == 256 ? 2
                                   : 3][2 * loads + (s->weight == KERNEL_HEAVY)];
}

/* The instructions of a turn; where it was not tried, as decoded, or declared. */
static int count_untried(const char *file, const struct block_text *t, const struct block_shape *s,
                         struct block_steps *out, struct machine_error *err)
{
    *out = (struct block_steps){(unsigned)s->n, 0};
    for (size_t i = 0; i < s->n; i++)
        out->counted += s->insn[i].counted;
    if (s->jumps && t->instructions == 0)
        return machine_fail(err, MACHINE_CANNOT, "declare how many it runs: '; instructions: N'",
                            "%.200s: has jumps, and this CPU cannot run it to count its instructions", file);
    if (t->instructions > 0)
        *out = (struct block_steps){t->instructions, t->instructions};
    return MACHINE_OK;
}

static int count_tried(const char *file, struct block *b, const struct block_shape *s, struct block_steps *out,
                       struct machine_error *err)
{
    int status = block_code_make(&b->text, s, 1, &b->code, err);
    if (status != MACHINE_OK)
        return status;
    status = block_try_steps(file, &b->text, s, &b->code, out, err);
    block_code_free(&b->code);
    if (status == MACHINE_OK && b->text.instructions != 0 && b->text.instructions != out->instructions)
        status = machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: declares %u instructions, but runs %u", file,
                              b->text.instructions, out->instructions);
    return status;
}

/* Tried once alone, to know how many copies it takes, then with all of them. */
static int build(const char *file, struct block *b, const struct block_shape *s, struct machine_error *err)
{
    struct block_steps steps;
    bool runs = (s->features & ~kernel_cpu_features()) == 0 && !s->elsewhere;
    int status = runs ? count_tried(file, b, s, &steps, err) : count_untried(file, &b->text, s, &steps, err);
    if (status != MACHINE_OK)
        return status;
    unsigned copies = block_code_copies(s, steps.instructions);
    status = block_code_make(&b->text, s, copies, &b->code, err);
    if (status == MACHINE_OK && runs)
        status = block_try_steps(file, &b->text, s, &b->code, &steps, err);
    else
        steps = (struct block_steps){steps.instructions * copies, steps.counted * copies};
    if (status == MACHINE_OK && runs)
        status = block_try_run(file, &b->code, err);
    b->instructions[1] = (uint16_t)steps.instructions;
    b->counted[1] = (uint16_t)steps.counted;
    return status;
}

static void describe(const char *file, struct block *b, const struct block_shape *s)
{
    const char *base = strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file;
    snprintf(b->description, sizeof b->description, "%.60s: %u instructions, %u of its width and weight; %u cop%s",
             base, b->instructions[1] / b->code.n_copies, b->counted[1] / b->code.n_copies, b->code.n_copies,
             b->code.n_copies == 1 ? "y" : "ies");
    b->variants[1] = b->code.run;
    b->bytes[1] = b->code.bytes;
    b->kernel = (struct kernel){.name = b->text.name,
                                .width = s->width,
                                .weight = s->weight,
                                .features = s->features,
                                .by_name = true,
                                .mnemonic = "",
                                .description = b->description,
                                .like = blocks_alike(s),
                                .variants = b->variants,
                                .block_instructions = b->instructions,
                                .block_counted = b->counted,
                                .block_bytes = b->bytes};
}

static void block_free(struct block *b)
{
    if (b != NULL)
        block_code_free(&b->code);
    free(b);
}

/* Checks, tries and keeps a block that was read; frees it where it is refused. */
static int keep_block(struct block_set *set, const char *file, struct block *b, unsigned uses,
                      struct machine_error *err)
{
    struct block_shape shape = {0};
    int status = block_check(file, &b->text, &shape, err);
    shape.uses |= uses;
    if (status == MACHINE_OK)
        status = build(file, b, &shape, err);
    if (status == MACHINE_OK) {
        describe(file, b, &shape);
        set->block[set->n] = b;
        set->kernel[set->n++] = &b->kernel;
    } else {
        block_free(b);
    }
    block_shape_free(&shape);
    return status;
}

int block_set_add(struct block_set *set, const char *file, struct machine_error *err)
{
    if (set->n == BLOCK_FILES_MAX)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: one file of a kernel too many; the limit is %d", file,
                            BLOCK_FILES_MAX);
    struct block *b = calloc(1, sizeof *b);
    if (b == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    int status = block_read(file, &b->text, err);
    for (size_t i = 0; i < set->n && status == MACHINE_OK; i++)
        if (strcmp(set->kernel[i]->name, b->text.name) == 0)
            status = machine_fail(err, MACHINE_BAD_INPUT, "rename one", "%.200s: another file is kernel %s already",
                                  file, b->text.name);
    if (status == MACHINE_OK)
        return keep_block(set, file, b, 0, err);
    block_free(b);
    return status;
}

int block_set_add_code(struct block_set *set, const char *what, const char *name, const void *code, size_t n,
                       bool elsewhere, struct machine_error *err)
{
    struct block *b = set->n < BLOCK_SET_MAX && n <= BLOCK_BYTES_MAX ? calloc(1, sizeof *b) : NULL;
    if (b == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "%.200s: no room for a block of %zu bytes", what, n);
    snprintf(b->text.name, sizeof b->text.name, "%s", name);
    memcpy(b->text.code, code, n);
    b->text.n = n;
    b->text.elsewhere = elsewhere;
    return keep_block(set, what, b, BLOCK_FLUSHED, err);
}

const void *block_set_code(const struct block_set *set, size_t i, size_t *n)
{
    *n = set->block[i]->text.n;
    return set->block[i]->text.code;
}

void block_set_free(struct block_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        block_free(set->block[i]);
    set->n = 0;
}
