/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libFuzzer target: any bytes as a binary of --which. What is refused must be refused in one line; blocks must lie in
 * their functions, these in the file; what a block is rewritten into must pass the check of kernels from files, as a
 * whole and in parts.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/binary/binary.h"
#include "drivers/block/block_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void binary_insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* Without its kinds, and with every second one. */
static void check_parts(const struct binary_rewritten *r)
{
    static struct block_text text;
    struct binary_chosen c = {.code = r->code, .n = r->n};
    struct block_shape shape;
    struct machine_error err;
    for (; c.n_kinds < r->n_kinds && c.n_kinds < BINARY_WIDE_KINDS_MAX; c.n_kinds++)
        c.kind[c.n_kinds] = r->kind[c.n_kinds];
    for (uint64_t kept = 0, past = UINT64_C(0x555555555555); kept <= past; kept += past) {
        text.elsewhere = true;
        binary_insist(binary_part(&c, kept, text.code, &text.n, &err) == MACHINE_OK && text.n <= r->n, "it has parts");
        binary_insist(block_check("it", &text, &shape, &err) == MACHINE_OK, "a part can be run");
        block_shape_free(&shape);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t code[BLOCK_BYTES_MAX];
    static struct binary_rewritten r;
    struct binary b;
    struct machine_error err = {.text = ""};
    struct binary_block *blocks = NULL;
    char text[BINARY_TEXT_MAX];
    size_t n = 0;
    uint8_t *copy = malloc(size ? size : 1);
    binary_insist(copy != NULL, "memory");
    memcpy(copy, data, size); /* binary_of() frees it */
    if (binary_of("it", copy, size, NULL, &b, &err)) {
        binary_insist(*err.text && !strchr(err.text, '\n'), "a refusal is one line");
        return 0;
    }
    binary_insist(binary_blocks(&b, &blocks, &n) == 0, "memory");
    for (size_t i = 0; i < n; i++) {
        const struct binary_function *f = blocks[i].function;
        binary_insist(f->code >= b.bytes && f->code + f->n <= b.bytes + size, "a function lies in the file");
        binary_insist(blocks[i].at + (size_t)blocks[i].bytes <= f->n, "a block lies in its function");
        r.code = code;
        binary_insist(binary_rewrite(&blocks[i], &r) == 0, "memory");
        binary_insist(r.of == blocks[i].of && r.dropped <= r.of, "all instructions are kept or dropped");
        if (binary_instructions(&r, text) >= 256 && !r.too_long)
            check_parts(&r);
    }
    free(blocks);
    binary_free(&b);
    return 0;
}
