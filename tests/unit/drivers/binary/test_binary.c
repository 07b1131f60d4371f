/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binaries that NASM makes here: their functions, blocks, and what is made of these; and damaged ones. */
#include <elf.h>

#include "drivers/binary/binary.h"
#include "drivers/block/block_parts.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/command.h"
#include "util/text_list.h"

FOLDER_GROUP(folder)

/* The path of the object file of a source, until the next call. */
static const char *assembled(const char *source)
{
    static char from[FOLDER_PATH_MAX + 20], to[FOLDER_PATH_MAX + 20];
    static struct command_output said;
    const char *const argv[] = {"nasm", "-f", "elf64", "-o", to, from, NULL};
    char why[400] = "";
    snprintf(from, sizeof from, "%s/it.asm", folder);
    snprintf(to, sizeof to, "%s/it.o", folder);
    folder_put(folder, "it.asm", source);
    if (command_run(argv, 20, &said, why, sizeof why) != 0)
        fail_msg("%s", why);
    return to;
}

static struct binary read_object(const char *source)
{
    struct binary b;
    struct machine_error err = {.text = ""};
    if (binary_read(assembled(source), &b, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return b;
}

/* "f+4 3/5, g+0 1/1": function, place, wide instructions of all. */
static const char *blocks_text(const char *source)
{
    static char text[600];
    struct binary b = read_object(source);
    struct binary_block *blocks;
    size_t n;
    text[0] = '\0';
    assert_int_equal(binary_blocks(&b, &blocks, &n), 0);
    for (size_t i = 0; i < n; i++)
        text_list_add(text, sizeof text, ", ", "%s+%u %u/%u", blocks[i].function->name, blocks[i].at, blocks[i].wide,
                      blocks[i].of);
    free(blocks);
    binary_free(&b);
    return text;
}

#define HEAD "default rel\nsection .text\nglobal f:function\nf:\n"

TEST(functions_have_names_and_ends)
{
    struct binary b = read_object("section .text\nnop\nnop\nglobal f:function (f_end - f)\nglobal same:function\nf:\n"
                                  "same:\nnop\nf_end:\nnop\nglobal g\ng:\nnop\nlocal_one:\nret\n"
                                  "section .other exec\nnop\nsection .data\nglobal d\nd: db 1\n");
    static const struct {
        const char *name;
        size_t n;
    } expected[] = {{"+0x0", 2}, {"f=same", 1}, {"+0x3", 1}, {"g", 2}, {"+0x0", 1}};
    assert_int_equal(b.n, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < b.n; i++) {
        assert_string_equal(b.function[i].name, expected[i].name);
        assert_int_equal(b.function[i].n, expected[i].n);
    }
    binary_free(&b);
}

/* A stripped library has lost the names of its own functions: what follows a label is not all of that name. */
TEST(labels_of_stripped_files_do_not_name_what_follows)
{
    char object[FOLDER_PATH_MAX + 20], library[FOLDER_PATH_MAX + 20], name[FOLDER_PATH_MAX + 40], why[400] = "";
    static struct command_output said;
    const char *const argv[] = {"gcc", "-shared", "-nostdlib", "-s", "-o", library, object, NULL};
    struct binary b;
    struct machine_error err;
    snprintf(object, sizeof object, "%s",
             assembled("section .text\nglobal sized:function (sized_end - sized)\nglobal label\nglobal same\n"
                       "sized:\nret\nsized_end:\nlabel:\nsame:\nret\nown:\nvpxor ymm0, ymm1, ymm2\nret\n"));
    snprintf(library, sizeof library, "%s/it.so", folder);
    if (command_run(argv, 20, &said, why, sizeof why) != 0)
        fail_msg("%s", why);
    snprintf(name, sizeof name, "%s:same", library);
    assert_int_equal(binary_read(name, &b, &err), MACHINE_OK);
    assert_string_equal(b.function[0].name, "label=same...");
    binary_free(&b);
    snprintf(name, sizeof name, "%s:sized", library);
    assert_int_equal(binary_read(name, &b, &err), MACHINE_OK);
    assert_string_equal(b.function[0].name, "sized");
    binary_free(&b);
}

TEST(one_function_by_its_name)
{
    static const char source[] = HEAD "nop\nglobal gamma:function\nglobal delta:function\ngamma:\ndelta:\nret\n";
    struct binary b;
    struct machine_error err;
    char name[FOLDER_PATH_MAX + 40];
    snprintf(name, sizeof name, "%s:delta", assembled(source));
    assert_int_equal(binary_read(name, &b, &err), MACHINE_OK);
    assert_int_equal(b.n, 1);
    assert_string_equal(b.function[0].name, "delta=gamma");
    binary_free(&b);
    snprintf(name, sizeof name, "%s:delt", assembled(source));
    assert_int_equal(binary_read(name, &b, &err), MACHINE_BAD_INPUT);
    has(err.text, "no function 'delt' among its symbols; perhaps delta;");
    snprintf(name, sizeof name, "%s:gama", assembled(source));
    assert_int_equal(binary_read(name, &b, &err), MACHINE_BAD_INPUT);
    has(err.text, "; perhaps gamma;");
}

TEST(what_cannot_be_read_is_refused)
{
    struct binary b;
    struct machine_error err;
    static const char *const cases[][2] = {{"no-such-file", "neither a file here nor a program in PATH"},
                                           {"./no-such-file", "cannot be opened: "},
                                           {"/", "it is a directory"},
                                           {"README.md", "README.md: not an ELF file"},
                                           {"a\nb", "has several lines"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(binary_read(cases[i][0], &b, &err), MACHINE_BAD_INPUT);
        has(err.text, cases[i][1]);
        assert_int_equal(b.n, 0);
    }
    assert_int_equal(binary_read("sh", &b, &err), MACHINE_OK); /* in PATH */
    assert_true(b.n > 0);
    binary_free(&b);
}

TEST(blocks_are_loops_and_pieces)
{
    assert_string_equal(blocks_text(HEAD "vxorps ymm0, ymm0\n.a: vaddps ymm0, ymm1\nadd rdi, 32\ncmp rdi, rsi\njb .a\n"
                                         "vmovups [rdx], ymm0\nret\n"),
                        "f+0 1/1, f+4 1/4, f+17 1/2");
    /* of nested loops the inner one, and what the outer one has besides */
    assert_string_equal(blocks_text(HEAD ".o: vaddps ymm0, ymm1\n.i: vmulps ymm2, ymm2, ymm3\ndec rax\njnz .i\n"
                                         "vaddps ymm4, ymm0\nvaddps ymm5, ymm0\ndec rcx\njnz .o\n"),
                        "f+13 2/4, f+0 1/1, f+4 1/3");
    /* code that is seldom executed jumps back to where it was left: no loop; its adds are not those of the others */
    assert_string_equal(blocks_text(HEAD "vaddps ymm0, ymm1\njz .c\n.b: vmulps ymm2, ymm3\nret\n.c: add rax, rbx\n"
                                         "add rax, rbx\njmp .b\n"),
                        "f+0 1/2, f+6 1/2");
    /* a loop that begins with its condition ends by an unconditional jump */
    assert_string_equal(blocks_text(HEAD ".a: dec rax\njz .z\nvmulps ymm2, ymm3\njmp .a\n.z: ret\n"), "f+0 1/4");
    /* a jump forwards, its target, a loop with two ends, a jump into an instruction, calls that end nothing */
    assert_string_equal(blocks_text(HEAD "vaddps zmm0, zmm1\njz .b\ncall f\nvaddps ymm1, ymm1\n.b: vaddps ymm2, ymm2\n"
                                         "ret\n"),
                        "f+0 1/2, f+8 1/2, f+17 1/2");
    assert_string_equal(blocks_text(HEAD ".a: vaddps ymm0, ymm0\njz .a\nvmulps ymm0, ymm0\njnz .a\njmp .a+1\n"),
                        "f+0 1/2, f+6 1/2");
    assert_string_equal(blocks_text(HEAD "vaddps xmm0, xmm1\nvcvtpd2ps xmm0, ymm1\ndb 0x06\nvaddps ymm0, ymm1\n"),
                        "f+0 1/3, f+9 1/1");
    assert_string_equal(blocks_text(HEAD "vaddps xmm0, xmm1\naddps xmm1, xmm2\nadd rax, rbx\nret\n"), "");
    assert_string_equal(blocks_text(HEAD "tileloadd tmm0, [rax+rbx]\n"), "f+0 1/1");
}

/* What is made of code, a line each; then "of/dropped". */
static const char *rewritten(const char *source, struct binary_rewritten *r)
{
    static char text[4000], insn[100];
    static uint8_t code[BLOCK_BYTES_MAX];
    static struct block_text all;
    char full[2000];
    struct block_shape s;
    struct machine_error err;
    snprintf(full, sizeof full, HEAD "%s\n", source);
    struct binary b = read_object(full);
    const struct binary_block block = {.function = &b.function[0], .bytes = (uint32_t)b.function[0].n};
    r->code = code;
    assert_int_equal(binary_rewrite(&block, r), 0);
    all = (struct block_text){.n = r->n, .elsewhere = true};
    memcpy(all.code, r->code, r->n);
    text[0] = '\0';
    if (r->n > 0 && block_check("it", &all, &s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; r->n > 0 && i < s.n; i++) {
        block_insn_text(&all, &s.insn[i], insn, sizeof insn);
        text_list_add(text, sizeof text, "\n", "%s", insn);
    }
    text_list_add(text, sizeof text, "\n", "%u/%u", r->of, r->dropped);
    if (r->n > 0)
        block_shape_free(&s);
    binary_free(&b);
    return text;
}

TEST(code_is_kept_as_far_as_possible)
{
    static struct binary_rewritten r;
    static const char *const cases[][2] = {
        /* loads go up, stores down, whatever their addresses were */
        {"vmovups ymm0, [rdi+rax*4+8]\nvfmadd231ps ymm0, ymm1, [rsi]\nvmovaps [rsp+32], ymm0\nvmovups [rdi], ymm1",
         "vmovups ymm0, [r14]\nvfmadd231ps ymm0, ymm1, [r14+0x40]\nvmovaps [r14+0x3FC0], ymm0\n"
         "vmovups [r14+0x3F80], ymm1\n4/0"},
        /* constants behind rip, thread-local memory, broadcasts and masks */
        {"vpandd zmm0, zmm1, [c]\nc: vmovdqa ymm2, [fs:0x10]\nvaddps zmm3{k1}{z}, zmm4, [rax]{1to16}",
         "vpandd zmm0, zmm1, [r14]\nvmovdqa ymm2, [r14+0x40]\nvaddps zmm3 {k1} {z}, zmm4, [r14+0x80] {1to16}\n3/0"},
        /* registers that the frame needs become others, which the block does not use */
        {"add r14, 8\nmov r15d, eax\nlea rcx, [rsp+r14*2+4]\nvmovd xmm1, r14d\nadd r13b, 1",
         "add r11, 0x08\nmov r10d, eax\nlea rcx, [r12+r11*2+0x04]\nvmovd xmm1, r11d\nadd r13b, 0x01\n5/0"},
        {"call f\npush rax\npop rcx\nrep movsb\nfld1\ncpuid\nsyscall\ndiv rcx\nidiv ecx\nleave\nret\njmp f\njz "
         "f\nxgetbv",
         "14/14"},
        {"vgatherdps ymm0, [rax+ymm1*4], ymm2\nvscatterdps [rax+zmm1*4]{k1}, zmm0\nvpgatherqq zmm1{k2}, [rax+zmm2]\n"
         "vaddps ymm0, ymm0, ymm3",
         "vaddps ymm0, ymm0, ymm3\n4/3"},
        {"bt [rax], rbx\nemms\nldmxcsr [rax]\ntileloadd tmm0, [rax+rbx]\nvzeroupper\nnop\ndb 0x06",
         "vzeroupper\nnop\n7/5"},
        {"vaddps zmm1, zmm2, zmm3, {rn-sae}\nvpternlogd zmm0, zmm1, zmm2, 0x96\nkmovq k1, rax\nvcmpps k2{k1}, zmm0, "
         "zmm1, 3",
         "vaddps zmm1, zmm2, zmm3 {rn-sae}\nvpternlogd zmm0, zmm1, zmm2, 0x96\nkmovq k1, rax\n"
         "vcmpps k2 {k1}, zmm0, zmm1, 0x03\n4/0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(rewritten(cases[i][0], &r), cases[i][1]);
}

TEST(the_widest_and_heaviest_are_named)
{
    static struct binary_rewritten r;
    char text[BINARY_TEXT_MAX];
    rewritten("vmulps ymm0, ymm1, ymm2\nvaddps ymm0, ymm1, ymm2\nvmulps ymm3, ymm3, ymm3\nvpxor ymm1, ymm1\n"
              "vpxor ymm2, ymm2\nvpxor ymm3, ymm3\naddps xmm0, xmm1\ngather: vpgatherdd zmm0{k1}, [rax+zmm1]",
              &r);
    assert_int_equal(binary_instructions(&r, text), 256);
    assert_string_equal(text, "vmulps 2, vaddps 1");
    rewritten("call f", &r);
    assert_int_equal(binary_instructions(&r, text), 64);
    assert_string_equal(text, "");
}

/* ---- the choice ---- */

enum {
    ALL_FEATURES = KERNEL_NEEDS_AVX | KERNEL_NEEDS_AVX2 | KERNEL_NEEDS_FMA | KERNEL_NEEDS_AVX512F |
                   KERNEL_NEEDS_AVX512VL
};

static struct binary_choice choice; /* of chosen(), to be freed */

static void choose(const char *source, unsigned features)
{
    struct binary b = read_object(source);
    const struct binary_target target = {.cpu = "this one", .features = features, .modelled = true};
    struct machine_error err = {.text = ""};
    if (binary_choose(&b, &target, &choice, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < choice.n; i++)
        choice.chosen[i].function = NULL; /* they live as long as the binary */
    binary_free(&b);
}

TEST(equal_blocks_are_measured_once)
{
    /* the same code of two functions, but for addresses; and one with another register */
    choose(HEAD "vaddps ymm0, ymm1, [rdi]\nvmulps ymm2, ymm3\nret\nglobal g:function\n"
                "g: vaddps ymm0, ymm1, [rsi+64]\nvmulps ymm2, ymm3\nret\n"
                "vaddps ymm4, ymm1, [rdi]\nvmulps ymm2, ymm3\nret\n",
           ALL_FEATURES);
    assert_int_equal(choice.n_blocks, 3);
    assert_int_equal(choice.n, 2);
    assert_int_equal(choice.chosen[0].count, 2);
    assert_string_equal(choice.chosen[0].also, "g");
    assert_string_equal(choice.chosen[1].also, "");
    assert_int_equal(choice.chosen[1].count, 1);
    assert_int_equal(choice.chosen[0].of, 3);
    assert_int_equal(choice.chosen[0].dropped, 1);
    assert_int_equal(choice.chosen[0].payload.kernel->width, 256);
    assert_int_equal(choice.chosen[0].payload.kernel->weight, KERNEL_HEAVY);
    assert_int_equal(choice.n_refused, 0);
    binary_choice_free(&choice);
}

TEST(what_is_not_measured_says_why)
{
    choose(HEAD "vaddps zmm0, zmm1\nret\n", ALL_FEATURES & ~(unsigned)KERNEL_NEEDS_AVX512F);
    assert_int_equal(choice.n, 0);
    assert_string_equal(choice.refused[0].why, "needs avx512f, which this one does not support");
    binary_choice_free(&choice);
    /* a third may be dropped; more may not */
    choose(HEAD "vaddps ymm0, ymm1\nvaddps ymm2, ymm1\nret\nvaddps ymm0, ymm1\nret\nvmulps ymm0, ymm1\nret\n",
           ALL_FEATURES);
    assert_int_equal(choice.n, 1);
    assert_int_equal(choice.n_refused, 1);
    assert_int_equal(choice.refused[0].count, 2);
    has(choice.refused[0].why, "more than a third of its instructions would be dropped");
    binary_choice_free(&choice);
    choose(HEAD "vpgatherdd ymm0, [rax+ymm1], ymm2\nadd rax, 1\nadd rax, 1\nadd rax, 1\n", ALL_FEATURES);
    assert_int_equal(choice.n, 0);
    has(choice.refused[0].why, "all its wide instructions would be dropped");
    binary_choice_free(&choice);
    choose(HEAD "tileloadd tmm0, [rax+rbx]\nret\n", ALL_FEATURES);
    has(choice.refused[0].why, "--table classes --kernels amx");
    binary_choice_free(&choice);
    choose(HEAD "%rep 4000\nvaddps ymm0, ymm1, [rax]\n%endrep\n", ALL_FEATURES);
    assert_int_equal(choice.n, 0);
    has(choice.refused[0].why, "longer than 16384 bytes");
    binary_choice_free(&choice);
}

TEST(the_widest_blocks_are_chosen)
{
    /* sixty pieces of 1 to 60 instructions */
    choose(HEAD "%assign i 1\n%rep 60\n%rep i\nvaddps zmm0, zmm1\n%endrep\njmp f\n%assign i i + 1\n%endrep\n",
           ALL_FEATURES);
    assert_int_equal(choice.n_blocks, 60);
    assert_int_equal(choice.n, BLOCK_SET_MAX);
    assert_int_equal(choice.left_out, 60 - BLOCK_SET_MAX);
    for (size_t i = 0; i < choice.n; i++)
        assert_int_equal(choice.chosen[i].wide, 60 - i);
    binary_choice_free(&choice);
}

/* Of the wide instructions those of some kinds alone: the rest become NOPs, one each. */
TEST(a_block_without_some_of_its_instructions)
{
    choose(HEAD "vpxor ymm0, ymm1, ymm2\nvmulps ymm3, ymm4, [rdi]\nadd rax, rbx\nvpxor ymm5, ymm1, [rsi+64]\n"
                "vmovups [rdi], ymm3\naddps xmm1, xmm2\nvfmadd231ps ymm6, ymm4, ymm5\n",
           ALL_FEATURES);
    assert_int_equal(choice.n, 1);
    const struct binary_chosen *b = &choice.chosen[0];
    static const char *const kinds[] = {"vfmadd231ps", "vmulps", "vpxor", "vmovups"};
    assert_int_equal(b->n_kinds, 4);
    for (size_t k = 0; k < 4; k++)
        assert_string_equal(b->kind[k].mnemonic, kinds[k]);
    const bool here = (b->payload.kernel->features & ~kernel_cpu_features()) == 0;
    for (unsigned kept = 0; kept < 16; kept++) {
        static struct block_text text;
        struct block_set set = {0};
        struct block_shape s;
        struct payload p;
        struct machine_error err = {.text = ""};
        unsigned left = 0, nops = 0;
        assert_int_equal(binary_part(b, kept, text.code, &text.n, &err), MACHINE_OK);
        assert_true(text.n <= b->n && (kept != 15 || memcmp(text.code, b->code, b->n) == 0));
        assert_int_equal(block_check("it", &text, &s, &err), MACHINE_OK);
        assert_int_equal(s.n, 7);
        for (size_t i = 0; i < s.n; i++) {
            nops += strcmp(s.insn[i].mnemonic, "nop") == 0;
            for (size_t k = 0; k < 4; k++)
                left |= strcmp(s.insn[i].mnemonic, kinds[k]) == 0 ? 1u << k : 0u;
        }
        assert_int_equal(left, kept);
        assert_int_equal(nops, (kept & 1 ? 0 : 1) + (kept & 2 ? 0 : 1) + (kept & 4 ? 0 : 2) + (kept & 8 ? 0 : 1));
        block_shape_free(&s);
        if (binary_add_kernel(&set, text.code, text.n, !here, &p, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(p.kernel->width, kept ? 256 : 128);
        block_set_free(&set);
    }
    binary_choice_free(&choice);
}

/* ---- damaged files ---- */

static uint8_t *object_bytes(const char *source, size_t *n)
{
    FILE *in = fopen(assembled(source), "r");
    uint8_t *bytes = malloc(1 << 16);
    assert_true(in != NULL && bytes != NULL);
    *n = fread(bytes, 1, 1 << 16, in);
    assert_true(*n > 500 && *n < 1 << 16);
    fclose(in);
    return bytes;
}

/* Reads n bytes, at the end of memory that ends there, as far as it goes. */
static bool read_damaged(const uint8_t *bytes, size_t n)
{
    struct binary b;
    struct machine_error err = {.text = ""};
    struct binary_block *blocks;
    static struct binary_rewritten r;
    static uint8_t code[BLOCK_BYTES_MAX];
    size_t n_blocks;
    uint8_t *copy = malloc(n > 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    if (binary_of("it", copy, n, NULL, &b, &err) != MACHINE_OK) {
        assert_true(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        assert_null(b.bytes);
        return false;
    }
    assert_int_equal(binary_blocks(&b, &blocks, &n_blocks), 0);
    for (size_t i = 0; i < n_blocks; i++) {
        assert_true(blocks[i].at + blocks[i].bytes <= blocks[i].function->n);
        assert_true(blocks[i].function->code + blocks[i].function->n <= b.bytes + n);
        r.code = code;
        assert_int_equal(binary_rewrite(&blocks[i], &r), 0);
        assert_true(r.of == blocks[i].of && r.dropped <= r.of && r.n <= BLOCK_BYTES_MAX);
    }
    free(blocks);
    binary_free(&b);
    return true;
}

TEST(damaged_files_do_no_harm)
{
    enum { FLIPS = 20000 };
    static const char source[] = HEAD ".a: vaddps ymm0, ymm1, [rdi]\nvfmadd231ps zmm0, zmm1, [rsi]\ndec rax\njnz .a\n"
                                      "vmovups [rsp+8], ymm0\nret\nglobal g:function\ng: vpxor ymm0, ymm0\nret\n"
                                      "section .more exec\nvmulps ymm1, ymm1\n";
    size_t n;
    uint8_t *bytes = object_bytes(source, &n);
    unsigned read = 0;
    struct rng rng;
    assert_true(read_damaged(bytes, n));
    for (size_t k = 0; k < n; k++)
        read += read_damaged(bytes, k);
    assert_true(read < n / 2);
    rng_init(&rng, 1, 0);
    for (unsigned i = 0; i < rng_rounds(FLIPS); i++) {
        uint8_t *damaged = malloc(n);
        assert_non_null(damaged);
        memcpy(damaged, bytes, n);
        for (unsigned k = 0; k < 1 + i % 4; k++)
            damaged[rng_int(&rng, 0, (int)n - 1)] = (uint8_t)rng_int(&rng, 0, 255);
        read_damaged(damaged, n);
        free(damaged);
    }
    free(bytes);
}

TEST(sections_that_overlap_are_refused)
{
    size_t n;
    uint8_t *bytes = object_bytes(HEAD "times 400 nop\nsection .more exec\ntimes 400 nop\n", &n);
    Elf64_Ehdr head;
    struct binary b;
    struct machine_error err;
    memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, bytes + head.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == SHT_PROGBITS)
            s.sh_size = n - s.sh_offset;
        memcpy(bytes + head.e_shoff + i * sizeof s, &s, sizeof s);
    }
    assert_int_equal(binary_of("it", bytes, n, NULL, &b, &err), MACHINE_BAD_INPUT);
    has(err.text, "it: cut off or damaged: section ");
}
