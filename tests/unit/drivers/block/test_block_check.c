/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of a block, instruction by instruction, on a CPU with all instruction sets and on one with none. */
#include "drivers/block/block_parts.h"
#include "tests/support/golden.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

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

/* Leaves only an instruction's name: how operands are written is up to the disassembler. */
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

/* A declared width and weight names the kind; what counts stays. */
TEST(what_is_declared_names_the_kind)
{
    static struct block_text text;
    static const unsigned widths[] = {0, 64, 512};
    struct golden g;
    FILE *out = golden_begin(&g);
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

/* VPLZCNTD and VPLZCNTQ of 256 and 512 bits: measured to lift the level as multiplication does. VPOPCNTD does not. */
TEST(leading_zeros_are_counted_in_the_multiplier)
{
    static struct block_text text;
    static const struct {
        const char *code;
        enum kernel_weight weight;
    } cases[] = {{"62f27d2844c1", KERNEL_HEAVY}, {"62f2fd4844c1", KERNEL_HEAVY}, {"62f27d4855c1", KERNEL_LIGHT}};
    has_all = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_shape s;
        struct machine_error err;
        text_of_code(cases[i].code, &text);
        assert_int_equal(block_check("it", &text, &s, &err), MACHINE_OK);
        assert_int_equal(s.weight, cases[i].weight);
        block_shape_free(&s);
    }
}

TEST(without_memory_it_says_so)
{
    static struct block_text text;
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
