/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values: after B blocks every lane of every accumulator, and every filler register, holds what this program
 * computes from the rules alone (kernels/operands.asm and operands.inc state them; nothing of the assembler's tables is
 * read here). Bytes of the state that a kernel does not own stay as they were. And the state of the upper halves.
 */
#include <cpuid.h>

#include "kernels/kernels.h"
#include "tests/support/small_walk.h"
#include "tests/support/test.h"

enum { LANES = 8, UNTOUCHED = 0xa5 };
enum table { TABLE_FMA = 1, TABLE_OR, TABLE_ADD, TABLE_MUL, TABLE_PERM, TABLE_GPR, TABLE_FILLER, TABLE_AMX };

/* splitmix64's output function of (place + 1) times the golden ratio */
static uint64_t mix(unsigned table, unsigned reg, unsigned lane)
{
    uint64_t z = (((uint64_t)table << 16 | (uint64_t)reg << 8 | lane) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

enum action { COMPUTE, MOVE, LOAD, STORE, GATHER, SHUFFLE, PRODUCT, SUM };

struct shape {
    enum table table; /* the operation */
    enum action action;
    bool memory;     /* the second factor comes from memory */
    bool walks;      /* what comes from memory lies in a buffer, */
    size_t at;       /* in this line */
    bool third_adds; /* every third accumulator has no product added to it but the factor */
    bool masked;     /* odd lanes become zero */
    bool gpr;
    bool chained;   /* the adds are one chain */
    unsigned lanes; /* 64-bit lanes */
    unsigned accs, groups, density;
};

static bool has_lanes(const struct kernel *k)
{
    return strcmp(k->name, "amx") != 0 && strcmp(k->name, "pause") != 0;
}

/* The operation is what is left of the name without the width and without "-lat" or "-chain". */
static struct shape operation_of(const struct kernel *k)
{
    static const struct {
        const char *text;
        struct shape shape;
    } operations[] = {{"fma", {.table = TABLE_FMA}},
                      {"or", {.table = TABLE_OR}},
                      {"add", {.table = TABLE_ADD}},
                      {"mul", {.table = TABLE_MUL}},
                      {"perm", {.table = TABLE_PERM}},
                      {"chain", {.table = TABLE_ADD}},
                      {"fma@mem", {.table = TABLE_FMA, .memory = true}},
                      {"fmaadd", {.table = TABLE_FMA, .third_adds = true}},
                      {"fmaadd@mem", {.table = TABLE_FMA, .memory = true, .third_adds = true}},
                      {"load", {.table = TABLE_FMA, .action = LOAD}},
                      {"load@l2", {.table = TABLE_FMA, .action = LOAD, .walks = true}},
                      {"load@l3", {.table = TABLE_FMA, .action = LOAD, .walks = true}},
                      {"load@ram", {.table = TABLE_FMA, .action = LOAD, .walks = true}},
                      {"fma@l2", {.table = TABLE_FMA, .memory = true, .walks = true}},
                      {"fma@l3", {.table = TABLE_FMA, .memory = true, .walks = true}},
                      {"fma@ram", {.table = TABLE_FMA, .memory = true, .walks = true}},
                      {"mulpd", {.table = TABLE_FMA, .action = PRODUCT}},
                      {"addpd", {.table = TABLE_FMA, .action = SUM}},
                      {"orpd", {.table = TABLE_OR}},
                      {"store", {.table = TABLE_ADD, .action = STORE}},
                      {"gather", {.table = TABLE_PERM, .action = GATHER}},
                      {"mov", {.table = TABLE_ADD, .action = MOVE}},
                      {"shuf", {.table = TABLE_PERM, .action = SHUFFLE}},
                      {"fma@zmask", {.table = TABLE_FMA, .masked = true}},
                      {"add@zmask", {.table = TABLE_ADD, .masked = true}},
                      {"mov@zmask", {.table = TABLE_ADD, .action = MOVE, .masked = true}},
                      {"load@zmask", {.table = TABLE_FMA, .action = LOAD, .masked = true}}};
    const char *operation = k->name + strspn(k->name, "0123456789");
    size_t length = strcspn(operation, "-");
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strlen(operations[i].text) == length && strncmp(operation, operations[i].text, length) == 0)
            return operations[i].shape;
    if (has_lanes(k))
        fail_msg("%s: this test does not know what %.*s computes", k->name, (int)length, operation);
    return (struct shape){.table = TABLE_ADD};
}

static struct shape shape_of(const struct kernel *k, unsigned density)
{
    struct shape s = operation_of(k);
    s.accs = s.density = 1;
    s.groups = 104;
    s.gpr = k->width == 64 && s.table != TABLE_FMA;
    s.lanes = k->width / 64;
    s.chained = k->chained_adds;
    if (!k->latency_bound) {
        s.accs = s.gpr ? 6 : 12;
        s.groups = s.action == GATHER ? 60 : (120 + density - 1) / density;
        s.density = density;
    }
    return s;
}

static unsigned used_accs(const struct shape *s)
{
    return s->groups < s->accs ? s->groups : s->accs;
}

static uint64_t from_double(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static double to_double(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static uint64_t fma_constant(unsigned reg, unsigned lane)
{
    if (reg == 15)
        return from_double(-(to_double(fma_constant(14, lane)) - 0x1p-23));
    return 0x3ff0000000000000 | (mix(TABLE_FMA, reg, lane) & 0x000fffffc0000000) | 0x20000000;
}

static uint64_t constant(const struct shape *s, unsigned reg, unsigned lane)
{
    uint64_t m = mix(s->table, reg, lane);
    switch (s->table) {
    case TABLE_FMA:
        return fma_constant(reg, lane);
    case TABLE_OR:
        return m & mix(TABLE_OR, reg + 16, lane);
    case TABLE_ADD:
        return m | 1;
    default:
        return (m & ~(uint64_t)7) | 5;
    }
}

static uint64_t start(const struct shape *s, unsigned acc, unsigned lane)
{
    if (s->gpr)
        return mix(TABLE_GPR, acc, 0) | 1;
    uint64_t m = mix(s->table, acc, lane);
    switch (s->table) {
    case TABLE_FMA:
        return 0x4010000000000000 | (m & 0x000ffffffffffff0);
    case TABLE_OR:
        return m & mix(TABLE_OR, acc + 16, lane);
    case TABLE_PERM:
        return m;
    default:
        return m | 1;
    }
}

static void permute(uint64_t *acc, const struct shape *s, unsigned which)
{
    uint32_t before[2 * LANES], after[2 * LANES];
    memcpy(before, acc, sizeof before);
    unsigned n = 2 * s->lanes;
    for (unsigned j = 0; j < n; j++)
        after[j] = before[(which ? 13 * j + 5 : 5 * j + 3) % n];
    memcpy(acc, after, n * sizeof after[0]);
}

/* A word of the lines of memory operands, 12 for even rounds, 12 for odd ones, or of the buffer. */
static uint64_t line(const struct shape *s, unsigned number, unsigned lane)
{
    if (s->walks)
        return from_double(small_walk_value(s->at, lane));
    uint64_t even = fma_constant(16 + number % 12, lane);
    return number < 12 ? even : from_double(-(to_double(even) - 0x1p-23));
}

/* Within 128 bits, by one 32-bit lane. */
static void shuffle(uint64_t *acc, const struct shape *s, unsigned number)
{
    uint32_t before[2 * LANES], after[2 * LANES];
    memcpy(before, acc, sizeof before);
    for (unsigned j = 0; j < 2 * s->lanes; j++)
        after[j] = before[j / 4 * 4 + (j + (number & 1 ? 3 : 1)) % 4];
    memcpy(acc, after, 2 * s->lanes * sizeof after[0]);
}

static double multiply_add(const struct shape *s, double x, unsigned number, unsigned round, unsigned lane)
{
    bool adds = s->action == SUM || (s->third_adds && number % 3 == 2);
    double b = to_double(s->memory && !adds ? line(s, number + 12 * (round & 1), lane)
                                            : fma_constant(14 + (round & 1), lane));
    return adds ? x + b : fma(to_double(fma_constant(12 + (number & 1), lane)), b, s->action == PRODUCT ? 0 : x);
}

static uint64_t scalar_step(const struct shape *s, uint64_t x)
{
    uint64_t c = (mix(TABLE_GPR, 6, 0) & ~(uint64_t)7) | 5;
    return s->table == TABLE_OR ? x | c : s->table == TABLE_MUL ? x * c : x + c;
}

static void step(const struct shape *s, uint64_t *acc, unsigned number, unsigned round)
{
    if (s->action == SHUFFLE) {
        shuffle(acc, s, number);
        return;
    }
    if (s->table == TABLE_PERM && s->action == COMPUTE) {
        permute(acc, s, number & 1);
        return;
    }
    for (unsigned lane = 0; lane < s->lanes; lane++) {
        uint64_t x = acc[lane], c = s->gpr ? 0 : constant(s, 12 + (number & 1), lane);
        if (s->masked && lane % 2 == 1)
            x = 0;
        else if (s->action == STORE)
            continue;
        else if (s->action == MOVE)
            x = c;
        else if (s->action == LOAD)
            x = line(s, number + 12 * (round & 1), lane);
        else if (s->action == GATHER)
            x = line(s, number + lane, (5 * lane + 3) % 8);
        else if (s->gpr)
            x = scalar_step(s, x);
        else if (s->table == TABLE_FMA)
            x = from_double(multiply_add(s, to_double(x), number, round, lane));
        else if (s->table == TABLE_OR)
            x |= c;
        else if (s->table == TABLE_ADD)
            x += c;
        else
            x = (x & 0xffffffff) * (c & 0xffffffff);
        acc[lane] = x;
    }
}

/* All that a kernel leaves in its state buffer. */
static void compute(struct shape *s, uint64_t blocks, uint8_t state[KERNEL_STATE_BYTES])
{
    memset(state, UNTOUCHED, KERNEL_STATE_BYTES);
    for (unsigned acc = 0; acc < used_accs(s); acc++) {
        uint64_t lanes[LANES] = {0};
        for (unsigned lane = 0; lane < s->lanes; lane++)
            lanes[lane] = start(s, acc, lane);
        size_t begin = 0; /* of the block in the buffer */
        for (uint64_t b = 0; b < blocks; b++, begin = begin + s->groups < SMALL_WALK_LINES ? begin + s->groups : 0)
            for (unsigned i = acc; i < s->groups; i += s->accs) {
                s->at = begin + i;
                step(s, lanes, acc, i / s->accs);
            }
        memcpy(state + 64 * acc, lanes, 8 * s->lanes);
    }
    unsigned fillers = s->density == 1 ? 0 : s->chained ? 1 : s->gpr ? 5 : 6, adds = s->groups * (s->density - 1);
    uint64_t addend = s->gpr ? (mix(TABLE_GPR, 6, 0) & ~(uint64_t)7) | 5 : mix(TABLE_FILLER, 6, 0) | 1;
    for (unsigned f = 0; f < fillers; f++) {
        uint64_t per_block = adds / fillers + (f < adds % fillers ? 1 : 0);
        uint64_t value = (mix(TABLE_FILLER, f, 0) | 1) + blocks * per_block * addend;
        memcpy(state + 64 * (16 + f), &value, sizeof value);
    }
}

static void compare(const struct kernel *k, unsigned density, uint64_t blocks)
{
    static uint8_t expected[KERNEL_STATE_BYTES], found[KERNEL_STATE_BYTES];
    struct shape s = shape_of(k, density);
    compute(&s, blocks, expected);
    memset(found, UNTOUCHED, sizeof found);
    struct kernel_walk walk = small_walk();
    k->variants[density](blocks, 0, found, 0, &walk);
    for (size_t i = 0; i < sizeof found; i += 8)
        if (memcmp(expected + i, found + i, 8) != 0) {
            uint64_t e, f;
            memcpy(&e, expected + i, 8);
            memcpy(&f, found + i, 8);
            fail_msg("%s@1/%u, %llu blocks, register %zu lane %zu: %016llx, not %016llx", k->name, density,
                     (unsigned long long)blocks, i / 64, i % 64 / 8, (unsigned long long)f, (unsigned long long)e);
        }
}

static bool runnable(const struct kernel *k)
{
    char why[240];
    bool can = (k->features & ~kernel_cpu_features()) == 0 &&
               kernel_request_permission(k->features, why, sizeof why) == 0;
    if (!can)
        print_message("%s: not run, this CPU lacks what it needs\n", k->name);
    return can;
}

TEST(test_every_lane_of_every_variant)
{
    static const uint64_t few[] = {1, 2, 5};
    size_t count, compared = 0;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++) {
        if (!has_lanes(&all[i]) || !runnable(&all[i]))
            continue;
        unsigned most = all[i].has_density ? KERNEL_DENSITY_MAX : 1;
        for (unsigned n = 1; n <= most; n++)
            for (size_t b = 0; b < sizeof few / sizeof few[0]; b++, compared++)
                compare(&all[i], n, few[b]);
        compare(&all[i], 1, 1001);
        /* multiply-add with an odd number of steps a block leaves the range of exact sums: rounded alike? */
        if (all[i].has_density)
            compare(&all[i], 128, 20000);
    }
    assert_true(compared > 0);
    print_message("%zu runs compared\n", compared);
}

/*
 * The claim of operands.asm: in the range of exact sums a sum never falls below its start, and where rounding begins it
 * stays far above 4 and stops growing below 2^56. Computed, because a machine would take years to get there.
 */
TEST(test_multiply_add_stays_normal)
{
    struct shape s = {.table = TABLE_FMA, .lanes = 1, .accs = 12, .groups = 120, .density = 1};
    for (int exponent = 2; exponent <= 55; exponent++) {
        double first = ldexp(1.0, exponent) * (1 + 0x1p-46 * (exponent % 3)), least = first;
        uint64_t x = from_double(first);
        bool only_positive = exponent & 1;
        for (unsigned i = 0; i < 20000; i++) {
            step(&s, &x, 0, only_positive ? 0 : i & 1);
            least = to_double(x) < least ? to_double(x) : least;
        }
        assert_true(least >= (exponent < 6 ? first : 64));
        assert_true(to_double(x) <= 0x1p56);
    }
    /* and a long run of the real thing */
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++) {
        struct shape k = shape_of(&all[i], 1);
        if (k.table != TABLE_FMA || k.action != COMPUTE || !runnable(&all[i]))
            continue;
        static uint64_t registers[KERNEL_STATE_BYTES / 8];
        for (unsigned density = 1; density <= (all[i].has_density ? 64 : 1); density *= 4) {
            struct kernel_walk walk = small_walk();
            all[i].variants[density](300000, 0, registers, 0, &walk);
            for (unsigned j = 0; j < 8 * used_accs(&k) && density == 1; j++)
                if (j % 8 < k.lanes && !(k.masked && j % 2 == 1))
                    assert_true(to_double(registers[j]) >= 4 && to_double(registers[j]) < 0x1p56);
            /* of a density's lines the negative ones may come first, or be more */
            bool normal = k.walks ? fpclassify(to_double(registers[0])) == FP_NORMAL : to_double(registers[0]) >= 4;
            assert_true(normal && fabs(to_double(registers[0])) < 0x1p56);
        }
    }
}

/* bf16 of sign and 64 + m; the product of tiles is computed in integers, exact up to 2^24 */
static int tile_value(unsigned tile, unsigned row, unsigned col)
{
    uint64_t m = mix(TABLE_AMX, 2 * (tile == 3 ? 2 : tile), row * 32 + col);
    int value = 64 + (int)(m >> 20 & 63), sign = m >> 40 & 1 ? -1 : 1;
    if (tile < 2)
        return sign * value;
    if (row == 0 && col % 2 == 0)
        return tile == 2 ? (value | 1) : -((value | 1) - 1);
    return tile == 2 ? sign * value : -sign * value;
}

static long tile_product(unsigned a, unsigned b, unsigned row, unsigned col)
{
    long sum = 0;
    for (unsigned k = 0; k < 16; k++)
        for (unsigned half = 0; half < 2; half++)
            sum += (long)tile_value(a, row, 2 * k + half) * tile_value(b, k, 2 * col + half);
    return sum;
}

TEST(test_tiles)
{
    size_t count;
    const struct kernel *k = kernel_registry(&count);
    while (strcmp(k->name, "amx") != 0)
        k++;
    if (!runnable(k))
        skip();
    static const uint64_t blocks[] = {1, 2, 3, 50, 1000};
    static float found[KERNEL_STATE_BYTES / sizeof(float)];
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        assert_int_equal(k->variants[1](blocks[b], 0, found, 0, NULL), blocks[b]);
        for (unsigned i = 0; i < 4 * 256; i++) {
            unsigned tile = i / 256, row = i / 16 % 16, col = i % 16;
            long pair = tile_product(tile & 1, 2, row, col) + tile_product(tile & 1, 3, row, col);
            assert_int_equal(pair, tile_value(tile & 1, row, 0));
            assert_true(found[i] == (float)(2 * pair * (long)blocks[b]));
        }
    }
    /* far beyond exact sums: still numbers, none of them denormal */
    k->variants[1](400000, 0, found, 0, NULL);
    for (unsigned i = 0; i < 4 * 256; i++)
        assert_true(fpclassify(found[i]) == FP_NORMAL || found[i] == 0);
}

/* State components of XGETBV with ECX=1 (Intel SDM volume 1, 13.2 and volume 2, XGETBV). */
enum { UPPER_128 = 1 << 2, UPPER_256 = 1 << 6, REGISTERS_16_31 = 1 << 7, TILE_CONFIG = 1 << 17, TILE_DATA = 1 << 18 };

__attribute__((noinline)) static uint32_t in_use(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low;
}

/* Initializes all wide state: the C library's string functions leave registers 16 to 31 in use. */
static void initialize_upper(void)
{
    static uint8_t area[16384] __attribute__((aligned(64)));
    /* MXCSR is loaded along with these components */
    __asm__ volatile("stmxcsr %0" : "=m"(area[24]));
    uint32_t components = UPPER_128 | 1 << 5 | UPPER_256 | REGISTERS_16_31;
    __asm__ volatile("xrstor64 %0" : : "m"(area), "a"(components), "d"(0) : "memory");
}

static uint32_t in_use_after(const struct kernel *k, unsigned density, uint64_t dirty)
{
    struct kernel_walk walk = small_walk();
    initialize_upper();
    k->variants[density](2, 0, NULL, dirty, &walk);
    uint32_t used = in_use();
    kernel_clean(&(struct payload){.kernel = k, .dirty = dirty});
    if (in_use() & (TILE_CONFIG | TILE_DATA))
        fail_msg("%s leaves tiles in use after kernel_clean()", k->name);
    if (kernel_cpu_features() & KERNEL_NEEDS_AVX)
        __asm__ volatile("vzeroupper" ::: "memory");
    return used & (UPPER_128 | UPPER_256 | REGISTERS_16_31 | TILE_CONFIG | TILE_DATA);
}

static bool reports_use(void)
{
    unsigned a, b, c, d;
    if (!(kernel_cpu_features() & KERNEL_NEEDS_AVX) || !__get_cpuid_count(13, 1, &a, &b, &c, &d))
        return false;
    if (!(a & 1u << 2))
        return false;
    /* a CPU may report a component as in use always (SDM volume 1, 13.6) */
    initialize_upper();
    return (in_use() & (UPPER_128 | UPPER_256 | REGISTERS_16_31)) == 0;
}

TEST(test_upper_halves)
{
    if (!reports_use()) {
        print_message(
            "skipped: this CPU has no XGETBV with ECX=1 (CPUID leaf 0DH, EAX bit 2) or does not track use with it\n");
        skip();
    }
    size_t count, checked = 0;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++) {
        if (!runnable(&all[i]))
            continue;
        unsigned most = all[i].has_density ? KERNEL_DENSITY_MAX : 1;
        for (unsigned n = 1; n <= most; n++, checked++) {
            uint32_t clean = in_use_after(&all[i], n, 0), dirty = in_use_after(&all[i], n, 1);
            uint32_t wanted = all[i].width > 512    ? TILE_CONFIG | TILE_DATA
                              : all[i].width == 512 ? UPPER_128 | UPPER_256
                              : all[i].width == 256 ? UPPER_128
                                                    : 0;
            if (clean != 0 || dirty != wanted)
                fail_msg("%s@1/%u leaves %#x in use, dirty %#x, not 0 and %#x", all[i].name, n, clean, dirty, wanted);
        }
    }
    print_message("%zu variants, clean and dirty\n", checked);
}
