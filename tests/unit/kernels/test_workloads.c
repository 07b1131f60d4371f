/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads: what they compute against C, in what order load@mem reads, and what their loops are made of, which objdump
 * tells: the registers' workload touches no memory, load@mem has its loads, none of which waits for another.
 */
#include <dlfcn.h>

#include "kernels/workloads.h"
#include "tests/support/test.h"

static uint64_t run(enum workload_number n, uint64_t rounds, const void *buffer, uint64_t mask, uint64_t first)
{
    return workload_get(n)->run(rounds, buffer, mask, first);
}

/* V, figure 3-1 */
static uint64_t register_in_c(uint64_t rounds)
{
    uint64_t x = 0;
    while (rounds-- > 0)
        x = ((x ^ 0x123) + x * 3) % 123456;
    return x;
}

/* V, figure 3-11, by number */
static uint64_t branch_in_c(uint64_t rounds)
{
    uint64_t primes = 0;
    for (unsigned number = 3; rounds-- > 0; number = number + 1 == 6000 ? 3 : number + 1) {
        unsigned divisor = 2;
        while (divisor < number && number % divisor != 0)
            divisor++;
        primes += divisor >= number;
    }
    return primes;
}

static uint64_t load_in_c(uint64_t rounds, const uint64_t *buffer, uint64_t mask, uint64_t first)
{
    uint64_t sum = 0, last = mask / 64;
    for (uint64_t i = first * WORKLOAD_LOADS; i < (first + rounds) * WORKLOAD_LOADS; i++) {
        uint64_t line = i * 0x9e3779b97f4a7c15 & last;
        line ^= line >> 7;
        line = line * 0xbf58476d1ce4e5b9 & last;
        sum += buffer[8 * (line ^ line >> 7)];
    }
    return sum;
}

TEST(test_values)
{
    static const uint64_t rounds[] = {1, 2, 3, 7, 64, 1000, 5998};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        assert_int_equal(run(WORKLOAD_REGISTER, rounds[i], NULL, 0, 0), register_in_c(rounds[i]));
        assert_int_equal(run(WORKLOAD_BRANCH, rounds[i], NULL, 0, 0), branch_in_c(rounds[i]));
    }
    /* there are 783 primes below 6000, and 2 is one of them */
    assert_int_equal(run(WORKLOAD_BRANCH, 5997, NULL, 0, 0), 782);
    assert_int_equal(run(WORKLOAD_REGISTER, 3000000, NULL, 0, 5), register_in_c(3000000));
}

TEST(test_branches_at_random)
{
    for (uint64_t first = 0; first < 20; first++) {
        uint64_t not_taken = run(WORKLOAD_SPOIL, 4, NULL, 0, first);
        /* half of them, by five standard deviations of a fair coin: sqrt(n) / 2 each */
        assert_in_range(not_taken, 2 * WORKLOAD_BRANCHES - 5 * 64, 2 * WORKLOAD_BRANCHES + 5 * 64);
        assert_int_equal(not_taken, run(WORKLOAD_SPOIL, 4, NULL, 0, first));
        assert_int_not_equal(run(WORKLOAD_SPOIL, 1000, NULL, 0, first), run(WORKLOAD_SPOIL, 1000, NULL, 0, first + 1));
    }
}

enum { LARGEST = 1 << 20 };

static uint64_t *random_buffer(uint64_t seed)
{
    uint64_t *buffer = aligned_alloc(64, LARGEST), x = seed;
    assert_non_null(buffer);
    for (size_t i = 0; i < LARGEST / 8; i++)
        buffer[i] = x = x * 6364136223846793005 + 1442695040888963407;
    return buffer;
}

TEST(test_loads)
{
    uint64_t *buffer = random_buffer(1), seed = 99;
    for (uint64_t size = 64; size <= LARGEST; size *= 2) {
        for (unsigned n = 0; n < 4; n++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            uint64_t rounds = 1 + (seed >> 40) % 300, first = n == 0 ? 0 : seed >> (n * 9);
            assert_int_equal(run(WORKLOAD_LOAD, rounds, buffer, size - 1, first),
                             load_in_c(rounds, buffer, size - 1, first));
        }
    }
    free(buffer);
}

/* Each line once in as many loads as there are lines, wherever they begin: so the sum is that of all lines; and calls
 * that go on where the last one ended are one long call. */
TEST(test_every_line_has_its_turn)
{
    uint64_t *buffer = random_buffer(2);
    for (uint64_t size = 64 * WORKLOAD_LOADS; size <= LARGEST; size *= 2) {
        uint64_t all = 0, parts = 0, rounds = size / 64 / WORKLOAD_LOADS;
        for (uint64_t i = 0; i < size / 8; i += 8)
            all += buffer[i];
        assert_int_equal(run(WORKLOAD_LOAD, rounds, buffer, size - 1, 0), all);
        assert_int_equal(run(WORKLOAD_LOAD, rounds, buffer, size - 1, 0x123456789abcdef), all);
        for (uint64_t first = 77; first < 77 + rounds; first++)
            parts += run(WORKLOAD_LOAD, 1, buffer, size - 1, first);
        assert_int_equal(parts, all);
    }
    free(buffer);
}

/* The chase reads the lines in the order of load@mem: where the line that a round reads last holds the size of the
 * buffer, that comes back; any other would send the next load past the buffer, where zeros are. */
TEST(test_the_chase_reads_the_same_lines)
{
    enum { SIZE = 64 * 256 };
    char *buffer = aligned_alloc(64, 2 * SIZE);
    assert_non_null(buffer);
    memset(buffer, 0, 2 * SIZE);
    for (uint64_t first = 5; first < 9; first++) {
        size_t came_back = 0;
        assert_int_equal(run(WORKLOAD_CHASE, 3, buffer, SIZE - 1, first), 0);
        for (size_t line = 0; line < SIZE / 64; line++) {
            uint64_t *word = (uint64_t *)(void *)(buffer + 64 * line);
            *word = SIZE;
            const uint64_t chased = run(WORKLOAD_CHASE, 1, buffer, SIZE - 1, first);
            const uint64_t loaded = run(WORKLOAD_LOAD, 1, buffer, SIZE - 1, first);
            assert_true(chased == 0 || (chased == SIZE && loaded == SIZE));
            came_back += chased == SIZE;
            *word = 0;
        }
        assert_int_equal(came_back, 1);
    }
    free(buffer);
}

/* ---- the code ---- */

struct seen_loop {
    unsigned instructions, loads, others, jumps, crossing, divisions;
    bool waits; /* something but the sum uses what was loaded */
};

/* One instruction; `next`: where the one after it begins. `fused`: where the one before a jump begins, which may be
 * fused to it. */
static void see_instruction(struct seen_loop *s, uint64_t fused, uint64_t next, const char *text)
{
    static const char load[] = "add    (%rsi,%r10,1),%rax", chase[] = "mov    (%r10,%rax,1),%rax";
    s->instructions++;
    s->divisions += strncmp(text, "div ", 4) == 0;
    if (text[0] == 'j') {
        s->jumps++;
        /* Intel, Mitigations for Jump Conditional Code Erratum, 2019: it neither crosses a 32-byte border nor ends at
         * one */
        s->crossing += fused / 32 != next / 32;
    } else if (strncmp(text, load, sizeof load - 1) == 0) {
        s->loads++;
    } else if (strncmp(text, chase, sizeof chase - 1) == 0) {
        s->loads++;
        s->waits = true;
    } else {
        s->waits |= strstr(text, "%rax") != NULL || strstr(text, "%eax") != NULL;
        s->others += (strchr(text, '(') != NULL && strncmp(text, "lea", 3) != 0) || strncmp(text, "call", 4) == 0 ||
                     strncmp(text, "push", 4) == 0 || strncmp(text, "pop", 3) == 0;
    }
}

/* The instructions between "<NAME.block>:" and "<NAME.end>:". */
static struct seen_loop see_loop(FILE *in, const char *name)
{
    struct seen_loop s = {0};
    char line[300], label[80], text[120], earlier[120] = "";
    unsigned long long address, at = 0, before = 0;
    bool inside = false, over = false;

    while (!over && fgets(line, sizeof line, in) != NULL) {
        snprintf(label, sizeof label, "<%s.block>:", name);
        inside |= strstr(line, label) != NULL;
        snprintf(label, sizeof label, "<%s.end>:", name);
        over = inside && strstr(line, label) != NULL;
        if (!inside ||
            (over ? sscanf(line, "%llx", &address) != 1 : sscanf(line, " %llx:%*[ \t]%119[^\n]", &address, text) != 2))
            continue;
        if (earlier[0] != '\0')
            see_instruction(&s, before, address, earlier);
        before = at;
        at = address;
        snprintf(earlier, sizeof earlier, "%s", text);
    }
    return s;
}

/* All workloads' code, which stands in the order of their file: one objdump, as each takes a quarter of a second. */
static FILE *disassemble(void)
{
    enum { BYTES = 0x9000 }; /* of the last, which is the longest */
    char command[4300];
    Dl_info where;
    const char *first = (const char *)workload_get(WORKLOAD_REGISTER)->run;
    const char *last = (const char *)workload_get(WORKLOAD_SPOIL)->run;
    assert_true(dladdr(first, &where) != 0);
    assert_null(strchr(where.dli_fname, '\''));
    unsigned long at = (unsigned long)(first - (const char *)where.dli_fbase);
    snprintf(command, sizeof command,
             "LC_ALL=C objdump -d -j .text --no-show-raw-insn --start-address=%lu --stop-address=%lu '%s'", at,
             at + (unsigned long)(last - first) + BYTES, where.dli_fname);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    return in;
}

TEST(test_loops)
{
    if (system("objdump --version >/dev/null 2>&1") != 0) {
        print_message("skipped: objdump is not installed (Debian: binutils)\n");
        skip();
    }
    FILE *in = disassemble();
    struct seen_loop s = see_loop(in, "workload_register");
    assert_int_equal(s.instructions, 13);
    assert_int_equal(s.loads + s.others, 0);
    assert_int_equal(s.jumps, 1);
    assert_int_equal(s.crossing, 0);
    s = see_loop(in, "workload_branch");
    assert_int_equal(s.loads + s.others, 0);
    assert_int_equal(s.divisions, 1);
    assert_int_equal(s.jumps, 3);
    assert_int_equal(s.crossing, 0);
    s = see_loop(in, "workload_load");
    assert_int_equal(s.loads, WORKLOAD_LOADS);
    assert_int_equal(s.others, 0);
    assert_false(s.waits);
    assert_int_equal(s.jumps, 1);
    assert_int_equal(s.crossing, 0);
    s = see_loop(in, "workload_chase");
    assert_int_equal(s.loads, WORKLOAD_LOADS);
    assert_int_equal(s.others, 0);
    assert_true(s.waits);
    assert_int_equal(s.jumps, 1);
    assert_int_equal(s.crossing, 0);
    s = see_loop(in, "workload_spoil");
    pclose(in); /* of what is after the loop nothing was read */
    assert_int_equal(s.loads + s.others, 0);
    assert_int_equal(s.jumps, WORKLOAD_BRANCHES + 1);
}

/* The checker itself, on loops that are not as they should be. */
TEST(test_the_checker_sees_wrong_loops)
{
    static const struct {
        const char *first;
        struct seen_loop expected;
    } cases[] = {
        {"add    (%rsi,%r10,1),%rax", {.instructions = 3, .loads = 1, .jumps = 1}},
        {"mov    %rax,%r10", {.instructions = 3, .jumps = 1, .waits = true}},
        {"add    (%rsi,%rax,1),%r10", {.instructions = 3, .jumps = 1, .others = 1, .waits = true}},
        {"mov    %rcx,0x8(%rsp)", {.instructions = 3, .jumps = 1, .others = 1}},
        {"push   %rbx", {.instructions = 3, .jumps = 1, .others = 1}},
        {"lea    (%rcx,%rcx,2),%rcx", {.instructions = 3, .jumps = 1}},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct seen_loop expected = cases[i / 2].expected;
        unsigned end = i % 2 ? 0x1020 : 0x101f;
        char text[400];
        snprintf(text, sizeof text,
                 "0000000000001000 <workload_x.block>:\n    1000:\t%s\n    1016:\tdec    %%rdi\n    1019:\t"
                 "jne    1000 <workload_x.block>\n\n%016x <workload_x.end>:\n    %x:\tret\n",
                 cases[i / 2].first, end, end);
        FILE *in = fmemopen(text, strlen(text), "r");
        assert_non_null(in);
        struct seen_loop s = see_loop(in, "workload_x");
        fclose(in);
        expected.crossing = i % 2;
        assert_int_equal(s.instructions, expected.instructions);
        assert_int_equal(s.loads, expected.loads);
        assert_int_equal(s.others, expected.others);
        assert_int_equal(s.jumps, expected.jumps);
        assert_int_equal(s.crossing, expected.crossing);
        assert_int_equal(s.waits, expected.waits);
    }
}
