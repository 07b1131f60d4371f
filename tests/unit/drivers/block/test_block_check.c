/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block is made of, instruction by instruction, on a CPU with all instruction sets and on one with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/block/block_parts.h"
#include "tests/support/golden.h"
#include "tests/support/strict_memory.h"

/* Takes the place of this CPU's: the golden file is the same on all. */
static bool has_all;

void cpu_cpuid_here(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
    (void)leaf;
    (void)subleaf;
    memset(out, has_all ? 0xff : 0, sizeof *out);
}

static void text_of_code(const char *code, struct block_text *text)
{
    memset(text, 0, sizeof *text);
    for (unsigned byte; sscanf(code, " %2x", &byte) == 1; code += 2 + (code[2] == ' '))
        text->code[text->n++] = (uint8_t)byte;
}

/* Of an instruction its name alone: how operands are written is the disassembler's. */
static void cut_operands(char *text)
{
    char *from = strpbrk(text, " '"), *to = strrchr(text, '\'');
    if (from != NULL)
        memmove(from, to != NULL ? to : "", to != NULL ? strlen(to) + 1 : 1);
}

/* All that is found, or why it is refused. */
static void tell_shape(FILE *out, const struct block_text *text)
{
    struct block_shape s;
    struct machine_error err = {.status = MACHINE_OK};
    int status = block_check("it", text, &s, &err);
    if (status != MACHINE_OK) {
        char *quote = strchr(err.text, '\'');
        if (quote != NULL)
            cut_operands(quote + 1);
        fprintf(out, "  %d %s\n", status, err.text);
        assert_null(s.insn);
        assert_null(s.at);
        return;
    }
    for (size_t i = 0; i < s.n; i++) {
        char insn[100];
        block_insn_text(text, &s.insn[i], insn, sizeof insn);
        cut_operands(insn);
        fprintf(out, "  %u+%u %s %u bits%s%s", s.insn[i].offset, s.insn[i].length, insn, s.insn[i].width,
                s.insn[i].heavy ? ", heavy" : "", s.insn[i].counted ? ", counted" : "");
        for (size_t k = 0; k < s.insn[i].n_memory; k++) {
            const struct block_memory *m = &s.insn[i].memory[k];
            fprintf(out, "; %s %u at %d + %d * %d + %lld", m->write ? "writes" : "reads", m->bytes, m->base, m->scale,
                    m->index, (long long)m->displacement);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "  = %u bits, %s; features %#x, written %#x, uses %#x%s\n", s.width,
            s.weight == KERNEL_HEAVY ? "heavy" : "light", s.features, s.written, s.uses, s.jumps ? ", jumps" : "");
    for (size_t i = 0, k = 0; i < text->n; i++) {
        bool begins = k < s.n && s.insn[k].offset == i;
        assert_int_equal(s.at[i], begins ? (int)k : -1);
        k += begins;
    }
    block_shape_free(&s);
}

static const char *const single[] = {
    "90",
    "48ffc0",
    "4c89f6",
    "418b06",
    "41884e08",
    "6689448ef0",
    "41009eff3f0000",
    "498716",
    "4a8b84ceffffff7f",
    "490fc70e",
    "488d040e",
    "488d0424",
    "498d07",
    "4a8d0439",
    "0f180e",
    "410f180f",
    "0f1f00",
    "0f110e",
    "410f285e10",
    "410f1007",
    "0f100424",
    "0f58c1",
    "f20f58c1",
    "f3410f5806",
    "660f5cc1",
    "f20f59ca",
    "0f5eca",
    "f20f51ca",
    "0f5dc1",
    "f20f5fc1",
    "0fc2c102",
    "f20fc2c102",
    "660f3a40c1ff",
    "660f3a41c1ff",
    "660f3a08c101",
    "0f53c1",
    "f30f52c1",
    "f20f7cc1",
    "660f7dc1",
    "0f2fc1",
    "660f2ec1",
    "0f5bc1",
    "f2480f2ac0",
    "f2480f2cc0",
    "0f5ac1",
    "f20f10c1",
    "f30f10c1",
    "660f28c1",
    "0fc6c103",
    "660f3a0cc103",
    "660f14c1",
    "0f57c0",
    "660fefc0",
    "660ffec1",
    "660f3840c1",
    "660ff5c1",
    "660f3839c1",
    "660f3a44c100",
    "660f38dcc1",
    "660f70c103",
    "660f7ec8",
    "0f50c1",
    "480fafc1",
    "48f7e1",
    "c4e2f3f6c3",
    "48f7f1",
    "66480f38f6c1",
    "f3480fb8c1",
    "f3480fbdc1",
    "c4e2f0f2c3",
    "c4e2f3f5c3",
    "c5f458c2",
    "c5f358c2",
    "c5f457c2",
    "c5f5efc2",
    "c5f5fec2",
    "c5f5f4c2",
    "c4e27504c2",
    "c4e2f5b8c2",
    "c4e271adc2",
    "c4e27596c2",
    "c4e37d1dc800",
    "c4e27d13c1",
    "c4e3fd01c103",
    "c4e27d19c1",
    "c4c26d92048e",
    "c4c17c1006",
    "c4c17c114620",
    "c4c2752e16",
    "c5f877",
    "62f2754850c2",
    "62f1f54858c2",
    "62e1f54858c2",
    "6261f52858fa",
    "62317508fef9",
    "62f17549fec2",
    "62f1754876d2",
    "c5ec41cb",
    "c4e1ec4acb",
    "c5f892c8",
    "62f2f5482cc2",
    "62f2fd4842c1",
    "62f37d4826c101",
    "62f37d4808c101",
    "62f3f54850c201",
    "62f37d4856c101",
    "62f3f54854c201",
    "62f3fd4866c901",
    "62f2fd484cc1",
    "62f2f54840c2",
    "62f3754825c205",
    "62f275487fc2",
    "62d2fd498a0e",
    "62d27d49a2148e",
    "62f2fd4855c1",
    "62f17548fcc2",
    "62f2f548b4c2",
    "62f2764852c2",
    "62d1fd486f4601",
    "62d27d481806",
    "50",
    "59",
    "e800000000",
    "c3",
    "0f05",
    "cc",
    "cd80",
    "ec",
    "6e",
    "f4",
    "0f31",
    "0f01f9",
    "0fa2",
    "0f0110",
    "8ed8",
    "a4",
    "f348ab",
    "410fae16",
    "c4c178ae16",
    "410fae1e",
    "410fae0e",
    "410fae2e",
    "fd",
    "fc",
    "0f0b",
    "0fb9c1",
    "0fffc1",
    "64498b06",
    "65498b06",
    "488b05f9ffffff",
    "488b042500100000",
    "678b06",
    "678d06",
    "490fa30e",
    "410fba2605",
    "480fabc8",
    "4889c4",
    "4889e0",
    "4989c7",
    "4c89f8",
    "4989c6",
    "4c89f0",
    "41b701",
    "41b601",
    "40b401",
    "b401",
    "ffe0",
    "41ff26",
    "d9e8",
    "dec1",
    "0f77",
    "0ffcc1",
    "0f30",
    "0f01c8",
    "410fae3e",
    "0f07",
    "48cf",
    "c8080000",
    "c9",
    "9c",
    "f0490106",
    "490fc9",
    "4d0f44d3",
    "0f94c3",
    "660f383dc1",
    "660f381ec1",
    "c4e2791ec1",
    "62f2752851c2",
    "62f2750852c2",
    "62f27d088bc8",
    "f30f2dc1",
    "f3410f2c06",
    "f30f5ac1",
    "62f1ff0879c1",
    "62f176087bc0",
    "c5fde6c1",
    "660f5bc1",
    "62f5744858c2",
    "62f5760859c2",
    "62f6774856c2",
    "62f6740813c2",
    "62f5760810c2",
    "c4e27921c1",
    "660ff6c1",
    "660f3802c1",
    "480f48c1",
    "48c1e003",
    "480fbae803",
    "4863c1",
    "c4c1725906",
    "c4e37122c001",
    "48f7f9",
    "486bc103",
    "c4c3791d0e00",
};

/* More than one: which of them count, where jumps may lead, and what cannot be decoded. */
static const char *const several[] = {
    "90 48ffc0 0fafc1",           /* the heavy one counts */
    "f20f58c1 0f57c0",            /* a heavy scalar, and something wider */
    "f20f58c1 660f6fc1 f20f59c1", /* two of them */
    "0f58c1 c5fc58c1 c5fdefc0",   /* 128 and 256 bits */
    "62f17d48fec1 c5fc58c1",      /* light 512 bits */
    "62f17d48fec1 62f17c4858c1",  /* light and heavy */
    "eb00",
    "eb01 90",
    "eb02 90",
    "eb 01 48 90",
    "ebfe",
    "ebfd",
    "90 ebfd",
    "90 ebfc",
    "eb01",
    "eb 80",
    "75 02 ffc0 ffc9",
    "75 01 ffc0",
    "e9 00000000",
    "e9 ffffffff",
    "0f84 faffffff 90",
    "e302 90 90",
    "48",
    "90 48",
    "90 b8 00",
    "06",
    "90 90 06",
    "f3",
};

static void instructions_are_what_they_are(void **state)
{
    static struct block_text text;
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    has_all = true;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        text_of_code(single[i], &text);
        fprintf(out, "%s\n", single[i]);
        tell_shape(out, &text);
    }
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        text_of_code(several[i], &text);
        fprintf(out, "%s\n", several[i]);
        tell_shape(out, &text);
    }
    fprintf(out, "---- what a CPU without instruction sets lacks ----\n");
    has_all = false;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        struct block_shape s;
        struct machine_error err;
        text_of_code(single[i], &text);
        if (block_check("it", &text, &s, &err) == MACHINE_CANNOT)
            fprintf(out, "%s: %s\n", single[i], strrchr(err.text, ':') + 2);
        block_shape_free(&s);
    }
    golden_expect(&g, "machine/block", "instructions", false);
}

/* A declared width and weight names the kind; what counts stays. */
static void what_is_declared_names_the_kind(void **state)
{
    static struct block_text text;
    static const unsigned widths[] = {0, 64, 512};
    struct golden g;
    FILE *out = golden_begin(&g);
    (void)state;
    has_all = true;
    for (size_t heavy = 0; heavy < 2; heavy++)
        for (size_t w = 0; w < 3; w++)
            for (int weight = BLOCK_ANY_WEIGHT; weight <= BLOCK_HEAVY; weight++) {
                text_of_code(heavy ? "c5fc58c1" : "c5fdefc0", &text);
                text.width = widths[w];
                text.weight = weight;
                fprintf(out, "declared %u bits, weight %d\n", text.width, weight);
                tell_shape(out, &text);
            }
    golden_expect(&g, "machine/block", "declared", false);
}

static void without_memory_it_says_so(void **state)
{
    static struct block_text text;
    (void)state;
    has_all = true;
    text_of_code("90 48ffc0", &text);
    for (unsigned long n = 1;; n++) {
        struct block_shape s;
        struct machine_error err;
        strict_memory_fail(n);
        int status = block_check("it", &text, &s, &err);
        bool failed = strict_memory_failed();
        strict_memory_fail(0);
        assert_int_equal(status, failed ? MACHINE_FAILED : MACHINE_OK);
        if (!failed) {
            block_shape_free(&s);
            return;
        }
        assert_string_equal(err.text, "out of memory");
        assert_null(s.insn);
        assert_null(s.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_what_they_are),
        cmocka_unit_test(what_is_declared_names_the_kind),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
