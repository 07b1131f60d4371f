/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks from files: what is found in them, what of them is refused, and that their kernels run as kernels do. Machine
 * code alone: what the assembler has to do with it is shown by tests/cli/t_kernel_files.sh.
 */
#include <unistd.h>
#include <x86intrin.h>

#include "drivers/block/block.h"
#include "drivers/block/block_parts.h"
#include "tests/support/test.h"

static char folder[] = "/tmp/test_block.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Adds `code` (hexadecimal) as kernel NAME; returns the status. */
static int add_code(struct block_set *set, const char *name, const char *code, struct machine_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (unsigned byte; sscanf(code, " %2x", &byte) == 1; code += 2 + (code[2] == ' '))
        fputc((int)byte, out);
    assert_int_equal(fclose(out), 0);
    int status = block_set_add(set, path, err);
    unlink(path);
    return status;
}

static void skip_without_ptrace(void)
{
    struct block_set set = {.n = 0};
    struct machine_error err;
    if (add_code(&set, "nothing", "90", &err) == MACHINE_CANNOT) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    block_set_free(&set);
}

static struct block_shape shape_of_code(const char *code, struct block_text *text)
{
    struct block_shape shape;
    struct machine_error err;
    *text = (struct block_text){.n = 0};
    for (unsigned byte; sscanf(code, " %2x", &byte) == 1; code += 2 + (code[2] == ' '))
        text->code[text->n++] = (uint8_t)byte;
    if (block_check("it", text, &shape, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return shape;
}

TEST(test_shapes)
{
    static const struct {
        const char *code;
        unsigned n, counted, width;
        enum kernel_weight weight;
        unsigned features, written;
        bool jumps;
    } cases[] = {
        {"90", 1, 1, 64, KERNEL_LIGHT, 0, 0, false},                    /* nop */
        {"48 ff c0 0f af c1", 2, 1, 64, KERNEL_HEAVY, 0, 1, false},     /* inc rax; imul eax, ecx */
        {"f2 0f 58 c1 0f 57 c0", 2, 1, 128, KERNEL_LIGHT, 0, 0, false}, /* addsd xmm0, xmm1; xorps xmm0, xmm0 */
        {"f2 0f 58 c1", 1, 1, 64, KERNEL_HEAVY, 0, 0, false},           /* addsd xmm0, xmm1 */
        {"c5 fc 58 c1 c5 fd ef c0", 2, 1, 256, KERNEL_HEAVY,            /* vaddps, vpxor ymm */
         KERNEL_NEEDS_AVX | KERNEL_NEEDS_AVX2, 0, false},
        {"c4 e2 f5 b8 c2", 1, 1, 256, KERNEL_HEAVY, KERNEL_NEEDS_AVX | KERNEL_NEEDS_FMA, 0, false}, /* vfmadd231pd */
        {"62 f1 7d 48 fe c1", 1, 1, 512, KERNEL_LIGHT, KERNEL_NEEDS_AVX512F, 0, false},             /* vpaddd zmm */
        {"62 f1 7d 28 fe c1", 1, 1, 256, KERNEL_LIGHT, /* the same of ymm */
         KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AVX512VL, 0, false},
        {"4c 89 f6 ff c9 75 f9", 3, 3, 64, KERNEL_LIGHT, 0, 1 << 6 | 1 << 1, true}, /* mov rsi, r14; dec ecx; jnz */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_text text;
        struct block_shape s = shape_of_code(cases[i].code, &text);
        unsigned counted = 0;
        for (size_t k = 0; k < s.n; k++)
            counted += s.insn[k].counted;
        assert_int_equal(s.n, cases[i].n);
        assert_int_equal(counted, cases[i].counted);
        assert_int_equal(s.width, cases[i].width);
        assert_int_equal(s.weight, cases[i].weight);
        assert_int_equal(s.features, cases[i].features);
        assert_int_equal(s.written, cases[i].written);
        assert_int_equal(s.jumps, cases[i].jumps);
        block_shape_free(&s);
    }
}

TEST(test_memory_of_an_instruction)
{
    struct block_text text;
    /* movups [rsi + 4 * rcx - 0x10], xmm1; prefetcht0 [rsi]; lea rax, [rsi]; nop [rax] */
    struct block_shape s = shape_of_code("0f 11 4c 8e f0 0f 18 0e 48 8d 06 0f 1f 00", &text);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.insn[0].n_memory, 1);
    const struct block_memory *m = &s.insn[0].memory[0];
    assert_true(m->base == 6 && m->index == 1 && m->scale == 4 && m->write && m->bytes == 16);
    assert_int_equal(m->displacement, -16);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(s.insn[i].n_memory, 0);
    char insn[100];
    block_insn_text(&text, &s.insn[0], insn, sizeof insn);
    assert_non_null(strstr(insn, "movups"));
    block_shape_free(&s);
}

/* All that a block may do to registers, in a kernel: what is there, and what it gives back. */
TEST(test_a_kernel_like_others)
{
    skip_without_ptrace();
    struct block_set set = {.n = 0};
    struct machine_error err;
    struct payload p;
    char why[200];
    /* mov rsi, r14; movups xmm0, [rsi]; inc rbx; inc rbp; inc r12; inc r13; inc rax */
    assert_int_equal(add_code(&set, "Mine", "4c89f6 0f1006 48ffc3 48ffc5 49ffc4 49ffc5 48ffc0", &err), MACHINE_OK);
    assert_int_equal(kernel_parse_with(set.kernel, set.n, "MINE", &p, why, sizeof why), 0);
    assert_string_equal(p.name, "mine");
    assert_ptr_equal(p.kernel, set.kernel[0]);
    assert_string_equal(p.kernel->like, "128load"); /* it reads memory by them */
    /* around: dec, jnz, and six registers that are set again */
    assert_int_equal(p.instructions % 7, 0);
    assert_true(8 * 50 < p.instructions + 8);
    assert_int_equal(p.counted * 7, p.instructions);
    assert_int_equal(p.bytes, 6 * 3 + p.instructions / 7 * 21 + 3 + 6);
    assert_int_equal(p.run(1, 0, NULL, 0, NULL), 1);
    assert_int_equal(p.run(1000, 0, NULL, 1, NULL), 1000);
    uint64_t deadline = __rdtsc() + 3000000, done = p.run(10, deadline, NULL, 0, NULL);
    assert_true(__rdtsc() >= deadline && done >= 10 && done % 10 == 0);
    assert_int_equal(kernel_parse_with(set.kernel, set.n, "mine-dirty", &p, why, sizeof why), -1);
    assert_int_equal(kernel_parse_with(set.kernel, set.n, "mine@1/2", &p, why, sizeof why), -1);
    assert_int_equal(kernel_parse_with(set.kernel, set.n, "512fma@1/2", &p, why, sizeof why), 0);
    assert_int_equal(kernel_parse("mine", &p, why, sizeof why), -1);
    block_set_free(&set);
}

TEST(test_refusals)
{
    skip_without_ptrace();
    static const struct {
        const char *name, *code, *why;
    } cases[] = {
        {"loop", "eb fe", "has not ended after 20000 instructions"},
        {"out", "eb 10", "jumps out of the block"},
        {"into", "eb 01 90", "(none)"},
        {"within", "eb 01 48 90", "jumps into an instruction"},
        {"half", "48", "no instruction"},
        {"below", "49 89 46 f8", "writes 8 bytes at r14 - 0x8"},
        {"above", "49 8b 86 f9 3f 00 00", "reads 8 bytes at r14 + 0x3ff9"},
        {"within_it", "49 8b 86 f8 3f 00 00", "(none)"},
        {"drift", "49 8b 00 49 81 c0 00 20 00 00", "reads 8 bytes at r14 + 0x4000"}, /* mov rax, [r8]; add r8, 8192 */
        {"null", "31 c0 8b 00", "reads 4 bytes at r14 - "},
        {"fpe", "31 c9 f7 f1", "SIGFPE"},
        {"mov", "b8", "no instruction"},
        {"base", "49 8d 07", "r15 counts the blocks"},     /* lea rax, [r15] */
        {"index", "4a 8d 04 39", "r15 counts the blocks"}, /* lea rax, [rcx + r15] */
        {"name_too_long_for_it", "90", "16 letters"},
        {"512or", "90", "there is a kernel 512or already"},
        /* cmp byte [r14], 0; mov byte [r14], 0; je $: not in the first turn, but in all others */
        {"later", "41 80 3e 00 41 c6 06 00 74 fe", "has not ended"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_set set = {.n = 0};
        struct machine_error err = {.text = "(none)"};
        bool good = strcmp(cases[i].why, "(none)") == 0;
        int status = add_code(&set, cases[i].name, cases[i].code, &err);
        if ((status == MACHINE_OK) != good || (!good && strstr(err.text, cases[i].why) == NULL))
            fail_msg("%s: status %d, '%s', not '%s'", cases[i].name, status, err.text, cases[i].why);
        assert_int_equal(set.n, good ? 1 : 0);
        assert_null(strchr(err.text, '\n'));
        block_set_free(&set);
    }
}

TEST(test_as_many_as_fit)
{
    skip_without_ptrace();
    struct block_set set = {.n = 0};
    struct machine_error err;
    for (unsigned i = 0; i < BLOCK_FILES_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "k%u", i);
        assert_int_equal(add_code(&set, name, "90", &err), MACHINE_OK);
    }
    assert_int_equal(add_code(&set, "more", "90", &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "the limit is 8"));
    block_set_free(&set);
    assert_int_equal(add_code(&set, "k0", "90", &err), MACHINE_OK);
    assert_int_equal(add_code(&set, "K0", "90", &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "another file is kernel k0 already"));
    block_set_free(&set);
}

TEST_GROUP(make_folder, remove_folder)
