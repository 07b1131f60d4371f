/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code: objdump disassembles the program or library that holds the kernels, and every block of every variant is
 * compared with the registry: how many instructions of which kind and width, in which places, how many bytes. Labels in
 * the symbol table say where a block begins and ends (kernel_512fma_8.block, .end).
 */
#include <dlfcn.h>

#include "kernels/kernels.h"
#include "tests/support/test.h"

enum { SYMBOL_MAX = 96, KERNELS_MAX = 128, ACCS_MAX = 32, PLAIN_COUNTED = 120 };

/* The contents of one block. */
struct block {
    const struct kernel *kernel;
    unsigned density;
    uint64_t begin, end, control; /* addresses: first instruction, after the jump, the dec */
    unsigned instructions, counted, before, walked, loop_control;
    char add_destination[16];        /* of the first add between */
    bool other_adds;                 /* adds between go to other registers, too */
    char destinations[ACCS_MAX][16]; /* of the counted instructions */
    unsigned n_destinations;
    char strange[160]; /* the first instruction that is of no expected kind */
};

/* The clock's functions. */
enum { CHAINS = 4 };
static const struct {
    const char *symbol;
    uint64_t (*run)(uint64_t *);
    unsigned instructions;
    const char *mnemonic;
} chains[CHAINS] = {
    {"kernel_chain_short", kernel_chain_short, CHAIN_SHORT_ADDS, "add"},
    {"kernel_chain_long", kernel_chain_long, CHAIN_LONG_ADDS, "add"},
    {"kernel_chain_steady_short", kernel_chain_steady_short, 400, "add"}, /* six times */
    {"kernel_chain_steady_long", kernel_chain_steady_long, 400, "add"},   /* 18 times */
};

struct listing {
    uint64_t entry[KERNELS_MAX][KERNEL_DENSITY_MAX + 1]; /* address of each variant's function */
    unsigned blocks_seen[KERNELS_MAX][KERNEL_DENSITY_MAX + 1];
    uint64_t chain[CHAINS]; /* addresses */
    unsigned chained[CHAINS];
    struct block entered; /* the variant whose block is still to come; of no kernel: none */
    bool fenced;          /* an LFENCE was seen since then */
    unsigned failures;
};

static void complain(struct listing *l, const struct block *b, const char *what, uint64_t found, uint64_t declared)
{
    if (l->failures++ < 20)
        print_error("%s@1/%u: %s: %llu in the code, %llu declared\n", b->kernel->name, b->density, what,
                    (unsigned long long)found, (unsigned long long)declared);
}

/* "kernel_512fma_lat_1" to the registry's "512fma-lat" and 1, _mem to @mem, _walk to @l2, the first of the kernels that
 * share it; NULL for other symbols */
static const struct kernel *kernel_of_symbol(const char *symbol, unsigned *density, size_t *index)
{
    char name[SYMBOL_MAX];
    if (strncmp(symbol, "kernel_", 7) != 0)
        return NULL;
    snprintf(name, sizeof name, "%s", symbol + 7);
    char *number = strrchr(name, '_'), *end;
    if (number == NULL)
        return NULL;
    *density = (unsigned)strtoul(number + 1, &end, 10);
    if (end == number + 1 || *end != '\0')
        return NULL;
    *number = '\0';
    char *walk = strstr(name, "_walk");
    if (walk != NULL)
        memcpy(walk, "_l2", sizeof "_l2");
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    for (*index = 0; *index < count; ++*index) {
        const char *a = all[*index].name, *b = name;
        while (*a != '\0' && (*a == *b || (*b == '_' && strchr("-@", *a) != NULL)))
            a++, b++;
        if (*a == *b)
            return &all[*index];
    }
    return NULL;
}

static bool scalar_register(const char *r)
{
    static const char *const names[] = {"%rax", "%rbx", "%rcx", "%rdx", "%rsi", "%rdi", "%rbp", "%r8",
                                        "%r9",  "%r10", "%r11", "%r12", "%r13", "%r14", "%r15"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(r, names[i]) == 0)
            return true;
    return false;
}

/* Is this register of the kind that the kernel's counted instruction works on? */
static bool register_of_width(const struct kernel *k, const char *r)
{
    if (strncmp(k->mnemonic, "vfmadd", 6) == 0 && k->width == 64)
        return strncmp(r, "%xmm", 4) == 0;
    switch (k->width) {
    case 64:
        return scalar_register(r);
    case 128:
        return strncmp(r, "%xmm", 4) == 0;
    case 256:
        return strncmp(r, "%ymm", 4) == 0;
    case 512:
        return strncmp(r, "%zmm", 4) == 0;
    default:
        return strncmp(r, "%tmm", 4) == 0;
    }
}

/* 16 to 31 are not cleaned by VZEROUPPER */
static bool cleanable(const char *r)
{
    return r[1] == 'r' || strlen(r) < 4 || strtoul(r + 4, NULL, 10) < 16;
}

/* Splits "%zmm1,0x80(%r14,%zmm2,8),%zmm3  # comment"; returns how many operands. */
static size_t split(char *operands, char *out[4])
{
    size_t n = 0;
    unsigned depth = 0;
    operands[strcspn(operands, "# ")] = '\0';
    for (char *p = operands; *p != '\0' && n < 4; p++) {
        if (p == operands || (p[-1] == '\0' && depth == 0))
            out[n++] = p;
        depth = depth + (*p == '(') - (*p == ')');
        if (*p == ',' && depth == 0)
            *p = '\0';
    }
    return n;
}

/*
 * Operands as objdump prints them: v: a register of the kernel's width, z: the same with zero masking, k: with a mask;
 * i: an immediate, m: a line of memory operands, w: the line of a buffer that has the instruction's number, s: the
 * buffer on the stack, g: elements of the lines of memory operands. Of several instructions in turn one each.
 */
struct form {
    const char *operation, *operands[3];
    bool pairs; /* another instruction precedes each */
};

static const struct form *form_of(const struct kernel *k)
{
    static const struct form forms[] = {{"fma@mem", {"mvv"}, false},
                                        {"fmaadd@mem", {"mvv", "mvv", "vvv"}, false},
                                        {"fmaadd", {"vvv", "vvv", "vvv"}, false},
                                        {"load", {"mv"}, false},
                                        {"load@l2", {"wv"}, false},
                                        {"fma@l2", {"wvv"}, false},
                                        {"store", {"vs"}, false},
                                        {"mov", {"vv"}, false},
                                        {"shuf", {"ivv"}, false},
                                        {"fma@zmask", {"vvz"}, false},
                                        {"add@zmask", {"vvz"}, false},
                                        {"mov@zmask", {"vz"}, false},
                                        {"load@zmask", {"mz"}, false},
                                        {"gather", {"vgv"}, true}};
    static const struct form wide_gather = {"gather", {"gk"}, true};
    static const struct form usual = {"", {"vvv"}, false}, scalar = {"", {"vv"}, false}, none = {"", {""}, false};
    const char *operation = k->name + strspn(k->name, "0123456789");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].operation, operation) == 0)
            return k->width == 512 && forms[i].pairs ? &wide_gather : &forms[i];
    if (strcmp(k->name, "pause") == 0)
        return &none;
    return k->width == 64 && strncmp(k->mnemonic, "vfmadd", 6) != 0 ? &scalar : &usual;
}

static bool fits(const struct kernel *k, unsigned place, char kind, const char *operand)
{
    const char *mask = strchr(operand, '{'), *memory = strchr(operand, '(');
    bool vector = register_of_width(k, operand) && cleanable(operand);
    switch (kind) {
    case 'v':
        return vector && mask == NULL;
    case 'z':
        return vector && mask != NULL && strcmp(mask, "{%k1}{z}") == 0;
    case 'k':
        return vector && mask != NULL && strcmp(mask, "{%k1}") == 0;
    case 'i':
        return operand[0] == '$';
    case 'm':
        return memory != NULL && strcmp(memory, "(%rip)") == 0;
    case 'w':
        return memory != NULL && strcmp(memory, "(%r14)") == 0 && strtoul(operand, NULL, 16) == 128 + 64ul * place;
    case 's': /* in whole registers, after the 128 bytes that make all displacements alike */
        return memory != NULL && strcmp(memory, "(%r14)") == 0 && strtoul(operand, NULL, 16) % (k->width / 8) == 0 &&
               strtoul(operand, NULL, 16) >= 128;
    default:
        return kind == 'g' && memory != NULL && strncmp(memory, "(%r14,", 6) == 0 && register_of_width(k, memory + 6) &&
               strcmp(memory + 6 + 6, ",8)") == 0;
    }
}

/* The word of that number, or the only one. */
static bool is_word(const char *words, unsigned number, const char *word)
{
    for (; number > 0 && strchr(words, ' ') != NULL; number--)
        words = strchr(words, ' ') + 1;
    return strcspn(words, " ") == strlen(word) && strncmp(words, word, strlen(word)) == 0;
}

static bool is_counted(const struct kernel *k, unsigned place, const char *mnemonic, char *const operand[], size_t n)
{
    const struct form *form = form_of(k);
    unsigned turn = form->operands[1] == NULL ? 0 : place % 3;
    if (!is_word(k->mnemonic, turn, mnemonic) || n != strlen(form->operands[turn]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!fits(k, place, form->operands[turn][i], operand[i]))
            return false;
    return true;
}

/* Returns true for an instruction that stands before each counted one of a kernel of two. */
static bool is_before(const struct kernel *k, const char *mnemonic, const char *operands)
{
    char found[120];
    snprintf(found, sizeof found, "%s %s", mnemonic, operands);
    return strcmp(found, k->width == 512   ? "kxnorw %k0,%k0,%k1"
                         : k->width == 256 ? "vpcmpeqd %ymm13,%ymm13,%ymm13"
                                           : "vpcmpeqd %xmm13,%xmm13,%xmm13") == 0;
}

/* What a walk does after the counted instructions of a block and the adds between them: to the next lines, or to the
 * first ones. */
static bool walks_on(const struct block *b, const char *mnemonic, const char *operands)
{
    char expected[3][60], found[160];
    snprintf(expected[0], sizeof expected[0], "add $0x%x,%%r14", 64 * b->counted);
    snprintf(expected[1], sizeof expected[1], "cmp %%r15,%%r14");
    snprintf(expected[2], sizeof expected[2], "cmovae %%r12,%%r14");
    snprintf(found, sizeof found, "%s %s", mnemonic, operands);
    return b->kernel->level != KERNEL_L1 && b->walked < 3 && strcmp(found, expected[b->walked]) == 0;
}

static void note_destination(struct block *b, const char *r)
{
    for (unsigned i = 0; i < b->n_destinations; i++)
        if (strcmp(b->destinations[i], r) == 0)
            return;
    if (b->n_destinations < ACCS_MAX)
        snprintf(b->destinations[b->n_destinations++], sizeof b->destinations[0], "%s", r);
}

static void see_instruction(struct block *b, uint64_t address, const char *mnemonic, char *operands)
{
    char *operand[4], text[80];
    snprintf(text, sizeof text, "%s", operands);
    size_t n = split(operands, operand);
    if (strcmp(mnemonic, "dec") == 0 && n == 1 && strcmp(operand[0], "%rbx") == 0 && b->loop_control == 0) {
        b->loop_control = 1;
        b->control = address;
        return;
    }
    if (strcmp(mnemonic, "jne") == 0 && b->loop_control == 1 && n > 0 && strtoull(operand[0], NULL, 16) == b->begin) {
        b->loop_control = 2;
        return;
    }
    if (walks_on(b, mnemonic, text)) {
        b->walked++;
        return;
    }
    bool pairs = form_of(b->kernel)->pairs;
    bool place = pairs ? b->instructions % 2 == 1 : b->instructions % (b->density + !b->density) == 0;
    if (place && is_counted(b->kernel, b->counted, mnemonic, operand, n)) {
        b->counted++;
        if (n > 0)
            note_destination(b, operand[n - 1]);
    } else if (pairs && !place && is_before(b->kernel, mnemonic, text)) {
        b->before++;
    } else if (!pairs && !place && strcmp(mnemonic, "add") == 0 && n == 2 && scalar_register(operand[0]) &&
               scalar_register(operand[1]) && strcmp(operand[0], operand[1]) != 0) {
        if (b->add_destination[0] == '\0')
            snprintf(b->add_destination, sizeof b->add_destination, "%s", operand[1]);
        b->other_adds |= strcmp(b->add_destination, operand[1]) != 0;
    } else if (b->strange[0] == '\0') {
        snprintf(b->strange, sizeof b->strange, "%s %s at %llx", mnemonic, text, (unsigned long long)address);
    }
    if ((b->loop_control > 0 || b->walked > 0) && b->strange[0] == '\0')
        snprintf(b->strange, sizeof b->strange, "%s %s after the dec", mnemonic, text);
    b->instructions++;
}

static bool slow_instructions(const struct kernel *k)
{
    return strcmp(k->name, "amx") == 0 || strcmp(k->name, "pause") == 0;
}

static unsigned expected_chains(const struct kernel *k, unsigned counted)
{
    if (strcmp(k->name, "pause") == 0)
        return 0;
    unsigned most = strcmp(k->name, "amx") == 0                                ? 4
                    : k->latency_bound                                         ? 1
                    : k->width == 64 && strncmp(k->mnemonic, "vfmadd", 6) != 0 ? 6
                                                                               : 12;
    return counted < most ? counted : most;
}

static void check_block(struct listing *l, const struct block *b)
{
    const struct kernel *k = b->kernel;
    unsigned n = b->density > 0 ? b->density : 1; /* 0: the copy of the plain kernel */
    if (b->strange[0] != '\0') {
        complain(l, b, b->strange, 1, 0);
        return;
    }
    if (b->instructions != k->block_instructions[n])
        complain(l, b, "instructions", b->instructions, k->block_instructions[n]);
    if (b->counted != k->block_counted[n])
        complain(l, b, k->mnemonic, b->counted, k->block_counted[n]);
    if (b->end - b->begin != k->block_bytes[b->density])
        complain(l, b, "bytes", b->end - b->begin, k->block_bytes[b->density]);
    if (b->instructions != n * b->counted + b->before)
        complain(l, b, "one in every N", b->instructions, n * b->counted + b->before);
    if (b->loop_control != 2)
        complain(l, b, "dec and jne", b->loop_control, 2);
    if (b->walked != (k->level != KERNEL_L1 ? 3 : 0))
        complain(l, b, "steps of the walk", b->walked, 3);
    if (!slow_instructions(k) && 2 * 50 >= b->instructions + 2)
        complain(l, b, "too short: loop control of 2 % or more", b->instructions, 99);
    if (k->has_density && b->counted != (PLAIN_COUNTED + n - 1) / n)
        complain(l, b, "counted, from the density", b->counted, (PLAIN_COUNTED + n - 1) / n);
    if (b->n_destinations != expected_chains(k, b->counted))
        complain(l, b, "independent chains", b->n_destinations, expected_chains(k, b->counted));
    if (n > 2 && b->other_adds == k->chained_adds)
        complain(l, b, "registers of the adds: several", b->other_adds, !k->chained_adds);
    if (b->begin % 16 != 0)
        complain(l, b, "alignment", b->begin % 16, 0);
    /* such a jump would not be kept in Skylake's micro-op cache */
    if (!slow_instructions(k) && b->control / 32 != b->end / 32)
        complain(l, b, "dec and jne cross or touch a 32-byte border", 1, 0);
}

/* A label line: "0000000000001ec0 <kernel_512fma_9.block>:" */
static bool see_label(struct listing *l, struct block *b, const char *line, int *chain)
{
    char symbol[SYMBOL_MAX];
    unsigned long long address;
    if (sscanf(line, "%llx <%95[^>]>:", &address, symbol) != 2 || strchr(line, '>')[1] != ':')
        return false;
    if (b->kernel != NULL) {
        b->end = address;
        check_block(l, b);
        b->kernel = NULL;
    }
    *chain = -1;
    for (int i = 0; i < CHAINS; i++)
        if (strcmp(symbol, chains[i].symbol) == 0)
            *chain = i;
    if (*chain >= 0)
        l->chain[*chain] = address;
    char *part = strchr(symbol, '.');
    if (part != NULL)
        *part++ = '\0';
    unsigned density;
    size_t index;
    const struct kernel *k = kernel_of_symbol(symbol, &density, &index);
    if (k == NULL || density > KERNEL_DENSITY_MAX)
        return true;
    if (part == NULL) {
        l->entry[index][density] = address;
        l->entered = (struct block){.kernel = k, .density = density};
        l->fenced = false;
    }
    if (part == NULL || strcmp(part, "block") != 0)
        return true;
    if (l->entered.kernel != NULL && !l->fenced)
        complain(l, &l->entered, "fences ahead of the block", 0, 1);
    l->entered.kernel = NULL;
    l->blocks_seen[index][density]++;
    *b = (struct block){.kernel = k, .density = density, .begin = address};
    return true;
}

/* A kernel that the processor only expects to be called must not get to vector, mask or tile registers. */
static void see_prologue(struct listing *l, const char *mnemonic, const char *operands)
{
    static const char *const kinds[] = {"%xmm", "%ymm", "%zmm", "%tmm", "%k"};
    bool wide = strstr(mnemonic, "tile") != NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        wide = wide || strstr(operands, kinds[i]) != NULL;
    if (wide && !l->fenced) {
        complain(l, &l->entered, "instructions ahead of the fence", 1, 0);
        l->entered.kernel = NULL;
    }
    l->fenced = l->fenced || strcmp(mnemonic, "lfence") == 0;
}

static void read_listing(FILE *in, struct listing *l)
{
    char line[400], mnemonic[32], operands[120];
    struct block b = {0};
    int chain = -1;
    while (fgets(line, sizeof line, in) != NULL) {
        if (see_label(l, &b, line, &chain))
            continue;
        unsigned long long address;
        operands[0] = '\0';
        if ((b.kernel == NULL && l->entered.kernel == NULL && chain < 0) ||
            sscanf(line, " %llx: %31s %119[^\n]", &address, mnemonic, operands) < 2)
            continue;
        if (b.kernel != NULL)
            see_instruction(&b, address, mnemonic, operands);
        else if (l->entered.kernel != NULL)
            see_prologue(l, mnemonic, operands);
        else if (strcmp(mnemonic, chains[chain].mnemonic) == 0 && strcmp(operands, "%rcx,%rax") == 0)
            l->chained[chain]++;
    }
}

/* Every variant was found, once, and the registry's pointer leads to it. */
static void check_complete(struct listing *l)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    assert_true(count <= KERNELS_MAX);
    uint64_t base = (uint64_t)(uintptr_t)all[0].variants[1] - l->entry[0][1];
    size_t blocks = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned most = all[i].has_density ? KERNEL_DENSITY_MAX : 1;
        if (all[i].level > KERNEL_L2) { /* the same tables, which were looked at before */
            bool same = false;
            for (size_t k = 0; k < i; k++)
                same |= all[k].level == KERNEL_L2 && all[k].width == all[i].width && all[k].weight == all[i].weight &&
                        all[k].variants == all[i].variants;
            assert_true(same);
            continue;
        }
        for (unsigned n = 0; n <= most; n++, blocks++) {
            struct block b = {.kernel = &all[i], .density = n};
            if (l->blocks_seen[i][n] != 1)
                complain(l, &b, "blocks of this name", l->blocks_seen[i][n], 1);
            if ((uint64_t)(uintptr_t)all[i].variants[n] != base + l->entry[i][n])
                complain(l, &b, "function address", l->entry[i][n], (uint64_t)(uintptr_t)all[i].variants[n] - base);
        }
    }
    for (int i = 0; i < CHAINS; i++)
        assert_int_equal((uint64_t)(uintptr_t)chains[i].run, base + l->chain[i]);
    print_message("%zu blocks\n", blocks);
}

/* The code from an address on, so many bytes of it; 0: all. pclose(). */
static FILE *disassemble(const void *from, unsigned bytes)
{
    if (system("objdump --version >/dev/null 2>&1") != 0) {
        print_message("skipped: objdump is not installed (Debian: binutils)\n");
        skip();
    }
    char command[4300], range[80] = "";
    Dl_info kernels;
    assert_true(dladdr(from, &kernels) != 0);
    assert_null(strchr(kernels.dli_fname, '\''));
    unsigned long at = (unsigned long)((const char *)from - (const char *)kernels.dli_fbase);
    if (bytes > 0)
        snprintf(range, sizeof range, "--start-address=%lu --stop-address=%lu", at, at + bytes);
    snprintf(command, sizeof command, "LC_ALL=C objdump -d -j .text --no-show-raw-insn %s '%s'", range,
             kernels.dli_fname);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    return in;
}

TEST(test_disassembly)
{
    FILE *in = disassemble((const void *)(uintptr_t)kernel_registry, 0);
    struct listing *l = calloc(1, sizeof *l);
    assert_non_null(l);
    read_listing(in, l);
    assert_int_equal(pclose(in), 0);
    check_complete(l);
    for (int i = 0; i < CHAINS; i++)
        assert_int_equal(l->chained[i], chains[i].instructions);
    unsigned failures = l->failures;
    free(l);
    assert_int_equal(failures, 0);
}

/* amx and amx-dirty are one function, which looks at `dirty` once, to step over TILERELEASE alone: all else is done
 * by both. */
static void check_release(kernel_fn *amx)
{
    char line[400], mnemonic[32], operands[120];
    unsigned long long address, target = 0;
    unsigned looks = 0, released = 0, after = 0, returns = 0;
    FILE *in = disassemble((const void *)(uintptr_t)amx, 2048);
    while (returns == 0 && fgets(line, sizeof line, in) != NULL) {
        operands[0] = '\0';
        if (sscanf(line, " %llx: %31s %119[^\n]", &address, mnemonic, operands) < 2)
            continue;
        after += released == 1 && address == target;
        target = looks == 1 && released == 0 && strcmp(mnemonic, "jne") == 0 ? strtoull(operands, NULL, 16) : target;
        looks += strcmp(operands, "$0x0,0x18(%rsp)") == 0;
        released += strcmp(mnemonic, "tilerelease") == 0;
        if (strcmp(mnemonic, "tilerelease") == 0)
            assert_true(looks == 1 && target == address + 5);
        returns += strncmp(mnemonic, "ret", 3) == 0;
    }
    while (fgets(line, sizeof line, in) != NULL)
        ;
    assert_int_equal(pclose(in), 0);
    if (looks != 1 || released != 1 || after != 1 || returns != 1)
        fail_msg("looks %u, tilerelease %u, target %u, ret %u", looks, released, after, returns);
}

TEST(test_amx_dirty_is_amx_without_tilerelease)
{
    const struct payload clean = kernel_named("amx"), dirty = kernel_named("amx-dirty");
    assert_true(clean.run == dirty.run && !clean.dirty && dirty.dirty);
    check_release(clean.run);
    check_release(kernel_copy(&dirty).run);
}

/* kernel_clean() has the instruction as bytes. */
TEST(test_kernel_clean_releases_tiles)
{
    unsigned released = 0;
    char line[400];
    FILE *in = disassemble((const void *)(uintptr_t)kernel_clean, 512); /* sanitizers make it long */
    while (fgets(line, sizeof line, in) != NULL)
        released += strstr(line, "tilerelease") != NULL;
    assert_int_equal(pclose(in), 0);
    assert_int_equal(released, 1);
}

/* The checker itself: a block with a wrong instruction, one too few, one of the wrong width, one off its place. */
static unsigned failures_of(const char *text)
{
    struct listing *l = calloc(1, sizeof *l);
    assert_non_null(l);
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(in);
    read_listing(in, l);
    fclose(in);
    unsigned failures = l->failures;
    free(l);
    return failures;
}

/* Returns true if the first instruction of a kernel is taken for another one. */
static bool strange_of(const char *symbol, const char *instruction)
{
    unsigned density;
    size_t index;
    char name[SYMBOL_MAX], mnemonic[32], operands[120] = "";
    snprintf(name, sizeof name, "kernel_%s_1", symbol);
    struct block b = {.kernel = kernel_of_symbol(name, &density, &index), .density = 1};
    assert_non_null(b.kernel);
    assert_true(sscanf(instruction, "%31s %119[^\n]", mnemonic, operands) >= 1);
    see_instruction(&b, 0, mnemonic, operands);
    return b.strange[0] != '\0';
}

TEST(test_the_checker_sees_wrong_code)
{
    static const char head[] = "0000000000001000 <kernel_pause_1.block>:\n";
    static const char tail[] = "    1004:\tdec    %rbx\n    1007:\tjne    1000 <kernel_pause_1.block>\n"
                               "0000000000001009 <kernel_pause_1.end>:\n";
    static const struct {
        const char *body;
        unsigned failures;
    } cases[] = {
        {"    1000:\tpause\n    1002:\tpause\n", 0},
        {"    1000:\tpause\n    1002:\tadd    %rcx,%rax\n", 1},
        {"    1000:\tpause\n", 2},
        {"    1000:\tpause\n    1001:\tpause\n    1002:\tpause\n", 2},
        {"    1000:\tpause\n    1002:\tnop\n", 1},
    };
    print_message("complaints about wrong blocks follow\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s%s", head, cases[i].body, tail);
        assert_int_equal(failures_of(text), cases[i].failures);
    }
    assert_int_equal(failures_of("0000000000001000 <kernel_512fma_1>:\n    1000:\tlfence\n"
                                 "    1003:\tvmovapd 0x40(%rip),%zmm0\n0000000000001010 <kernel_512fma_1.block>:\n"),
                     0);
    assert_int_equal(failures_of("0000000000001000 <kernel_512fma_1>:\n    1000:\tvmovapd 0x40(%rip),%zmm0\n"), 1);
    assert_int_equal(failures_of("0000000000001000 <kernel_amx_1>:\n    1000:\tldtilecfg 0x40(%rip)\n"), 1);
    assert_int_equal(failures_of("0000000000001000 <kernel_64add_1>:\n    1000:\tpush   %rbx\n"
                                 "0000000000001010 <kernel_64add_1.block>:\n"),
                     1);
    static const char *const wrong[][2] = {{"512fma", "vfmadd231pd %ymm14,%ymm12,%ymm0"},
                                           {"512fma", "vfmadd231ps %zmm14,%zmm12,%zmm0"},
                                           {"512fma", "vfmadd231pd %zmm14,%zmm12,%zmm16"},
                                           {"512fma", "vfmadd231pd (%rax),%zmm12,%zmm0"},
                                           {"512fma", "vfmadd231pd %zmm14,%zmm12,%zmm0{%k1}{z}"},
                                           {"512fma_mem", "vfmadd231pd %zmm14,%zmm12,%zmm0"},
                                           {"512fma_mem", "vfmadd231pd 0x10(%rsp),%zmm12,%zmm0"},
                                           {"512fma_zmask", "vfmadd231pd %zmm14,%zmm12,%zmm0"},
                                           {"512fma_zmask", "vfmadd231pd %zmm14,%zmm12,%zmm0{%k1}"},
                                           {"512fmaadd", "vaddpd %zmm14,%zmm0,%zmm0"},
                                           {"512load", "vmovdqa64 %zmm1,%zmm0"},
                                           {"512store", "vmovdqa64 %zmm0,0x90(%r14)"},
                                           {"512load_walk", "vmovdqa64 0xc0(%r14),%zmm0"},
                                           {"512load_walk", "vmovdqa64 0x80(%r15),%zmm0"},
                                           {"512fma_walk", "vfmadd231pd 0x1234(%rip),%zmm12,%zmm0"},
                                           {"512fma_walk", "cmp    %r15,%r14"},
                                           {"512gather", "vpgatherqq 0x80(%r14,%zmm12,8),%zmm0{%k1}"},
                                           {"512shuf", "vpshufd %zmm1,%zmm0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_true(strange_of(wrong[i][0], wrong[i][1]));
    assert_false(strange_of("512fma", "vfmadd231pd %zmm14,%zmm12,%zmm0"));
    assert_false(strange_of("512fma_mem", "vfmadd231pd 0x1234(%rip),%zmm12,%zmm0        # 2000 <kernel_operands_fma>"));
    assert_false(strange_of("512fma_zmask", "vfmadd231pd %zmm14,%zmm12,%zmm0{%k1}{z}"));
    assert_false(strange_of("512store", "vmovdqa64 %zmm0,0xc0(%r14)"));
    assert_false(strange_of("512load_walk", "vmovdqa64 0x80(%r14),%zmm0"));
    assert_false(strange_of("512fma_walk", "vfmadd231pd 0x80(%r14),%zmm12,%zmm0"));
    assert_false(strange_of("512gather", "kxnorw %k0,%k0,%k1"));
}
