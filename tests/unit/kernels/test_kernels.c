/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry, the names, and what a call promises about blocks and deadline. */
#include <x86intrin.h>

#include "kernels/kernels.h"
#include "tests/support/small_walk.h"
#include "tests/support/test.h"

static const struct kernel *entry(const char *name)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static bool runnable(const struct kernel *k)
{
    char why[240];
    return (k->features & ~kernel_cpu_features()) == 0 && kernel_request_permission(k->features, why, sizeof why) == 0;
}

/* Checks the kernels of kernels/memory.inc, of each width. Returns how many. */
static size_t check_memory_kernels(void)
{
    static const struct {
        const char *operation;
        enum kernel_weight weight;
        bool has_density;
    } operations[] = {
        {"fma@mem", KERNEL_HEAVY, true},    {"fmaadd", KERNEL_HEAVY, false},    {"fmaadd@mem", KERNEL_HEAVY, true},
        {"fma@l2", KERNEL_HEAVY, true},     {"fma@l3", KERNEL_HEAVY, true},     {"fma@ram", KERNEL_HEAVY, true},
        {"load@l2", KERNEL_LIGHT, true},    {"load@l3", KERNEL_LIGHT, true},    {"load@ram", KERNEL_LIGHT, true},
        {"load", KERNEL_LIGHT, true},       {"store", KERNEL_LIGHT, true},      {"gather", KERNEL_LIGHT, false},
        {"mov", KERNEL_LIGHT, false},       {"shuf", KERNEL_LIGHT, false},      {"fma@zmask", KERNEL_HEAVY, false},
        {"add@zmask", KERNEL_LIGHT, false}, {"mov@zmask", KERNEL_LIGHT, false}, {"load@zmask", KERNEL_LIGHT, false}};
    enum { OPERATIONS = sizeof operations / sizeof operations[0] };
    for (unsigned width = 128; width <= 512; width *= 2)
        for (size_t i = 0; i < OPERATIONS; i++) {
            char name[32];
            snprintf(name, sizeof name, "%u%s", width, operations[i].operation);
            const struct kernel *k = entry(name);
            assert_int_equal(k->width, width);
            assert_int_equal(k->weight, operations[i].weight);
            assert_int_equal(k->has_density, operations[i].has_density);
            assert_true(k->by_name && !k->latency_bound && !k->chained_adds);
            assert_int_equal(kernel_is_variant(k), strchr(name, '@') != NULL);
            assert_int_equal(k->level, strstr(name, "@l2")    ? KERNEL_L2
                                       : strstr(name, "@l3")  ? KERNEL_L3
                                       : strstr(name, "@ram") ? KERNEL_RAM
                                                              : KERNEL_L1);
        }
    return 3 * OPERATIONS;
}

/* Checks floating point for AVX alone. Returns how many. */
static size_t check_floating(void)
{
    static const char *const names[] = {"128mulpd", "128addpd", "128orpd", "256mulpd", "256addpd", "256orpd"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct kernel *k = entry(names[i]);
        assert_int_equal(k->features, KERNEL_NEEDS_AVX);
        assert_int_equal(k->width, i < 3 ? 128 : 256);
        assert_int_equal(k->weight, i % 3 == 2 ? KERNEL_LIGHT : KERNEL_HEAVY);
        assert_true(k->has_density && k->by_name && !kernel_is_variant(k));
    }
    return sizeof names / sizeof names[0];
}

/* Every width with every operation, as throughput and as latency kernel, two with chained adds, three others. */
TEST(test_registry_holds_what_was_requested)
{
    static const char *const operations[] = {"fma", "or", "add", "mul", "perm"};
    static const unsigned widths[] = {64, 128, 256, 512};
    size_t expected = 3, count;
    for (size_t w = 0; w < 4; w++) {
        for (size_t o = 0; o < 5; o++) {
            if (strcmp(operations[o], "perm") == 0 && widths[w] < 256)
                continue;
            char name[32];
            snprintf(name, sizeof name, "%u%s", widths[w], operations[o]);
            const struct kernel *plain = entry(name);
            strcat(name, "-lat");
            const struct kernel *lat = entry(name);
            bool heavy = strcmp(operations[o], "fma") == 0 || strcmp(operations[o], "mul") == 0;
            assert_int_equal(plain->width, widths[w]);
            assert_int_equal(plain->weight, heavy ? KERNEL_HEAVY : KERNEL_LIGHT);
            assert_false(plain->latency_bound);
            assert_true(lat->latency_bound);
            assert_false(lat->has_density);
            assert_string_equal(lat->mnemonic, plain->mnemonic);
            assert_int_equal(lat->features, plain->features);
            expected += 2;
        }
    }
    static const char *const chained[] = {"256or-chain", "512or-chain"};
    for (size_t i = 0; i < 2; i++, expected++) {
        assert_true(entry(chained[i])->chained_adds && entry(chained[i])->has_density);
        assert_false(entry(chained[i])->latency_bound);
    }
    assert_false(entry("512or")->chained_adds);
    expected += check_memory_kernels() + check_floating();
    assert_false(entry("512fma")->by_name);
    entry("amx");
    entry("pause");
    entry("chain");
    kernel_registry(&count);
    assert_int_equal(count, expected);
}

TEST(test_what_stands_for_a_kernel)
{
    const unsigned avx = KERNEL_NEEDS_AVX, fma = avx | KERNEL_NEEDS_FMA, avx2 = fma | KERNEL_NEEDS_AVX2;
    assert_string_equal(kernel_stand_in("128fma", avx), "128mulpd");
    assert_string_equal(kernel_stand_in("256fma", avx), "256mulpd");
    assert_string_equal(kernel_stand_in("128or", avx), "128orpd");
    assert_string_equal(kernel_stand_in("256or", avx), "256orpd");
    assert_null(kernel_stand_in("512fma", avx));
    assert_null(kernel_stand_in("64add", avx));
    /* Piledriver: FMA, but no AVX2 */
    assert_null(kernel_stand_in("256fma", fma));
    assert_string_equal(kernel_stand_in("256or", fma), "256orpd");
    assert_null(kernel_stand_in("256or", avx2));
    assert_null(kernel_stand_in("256fma", 0));
}

TEST(test_features_by_width)
{
    assert_int_equal(entry("64add")->features, 0);
    assert_int_equal(entry("64fma")->features, KERNEL_NEEDS_FMA);
    assert_int_equal(entry("128or")->features, KERNEL_NEEDS_AVX);
    assert_int_equal(entry("256mul")->features, KERNEL_NEEDS_AVX2);
    assert_int_equal(entry("256fma")->features, KERNEL_NEEDS_FMA);
    assert_int_equal(entry("512perm")->features, KERNEL_NEEDS_AVX512F);
    assert_int_equal(entry("512gather")->features, KERNEL_NEEDS_AVX512F);
    assert_int_equal(entry("128gather")->features, KERNEL_NEEDS_AVX2);
    assert_int_equal(entry("512mov@zmask")->features, KERNEL_NEEDS_AVX512F);
    assert_int_equal(entry("256mov@zmask")->features, KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AVX512VL);
    assert_int_equal(entry("amx")->features, KERNEL_NEEDS_AMX_BF16);
    char text[64];
    kernel_feature_names(KERNEL_NEEDS_AVX2 | KERNEL_NEEDS_FMA, text, sizeof text);
    assert_string_equal(text, "avx2 fma");
    kernel_feature_names(0, text, sizeof text);
    assert_string_equal(text, "");
    char tiny[6];
    kernel_feature_names(~0u, tiny, sizeof tiny);
    assert_string_equal(tiny, "avx a");
}

static void check_round_trip(const char *name, const struct kernel *k, unsigned density, bool dirty)
{
    struct payload p;
    char why[240];
    if (kernel_parse(name, &p, why, sizeof why) != 0)
        fail_msg("%s: %s", name, why);
    assert_string_equal(p.name, name);
    assert_ptr_equal(p.kernel, k);
    assert_int_equal(p.density, density);
    assert_int_equal(p.dirty, dirty);
    assert_ptr_equal(p.run, k->variants[density]);
    assert_int_equal(p.instructions, k->block_instructions[density]);
    assert_int_equal(p.counted, k->block_counted[density]);
    assert_int_equal(p.bytes, k->block_bytes[density]);
    assert_non_null(p.run);
    bool pairs = strstr(name, "gather") != NULL; /* the mask of each is set before */
    assert_int_equal(p.instructions, p.counted * density * (pairs ? 2 : 1));
}

TEST(test_every_name_round_trips)
{
    size_t count, names = 0;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++) {
        bool wide = all[i].width >= 256;
        unsigned most = all[i].has_density ? KERNEL_DENSITY_MAX : 1;
        for (unsigned n = 1; n <= most; n++) {
            for (int dirty = 0; dirty <= (wide ? 1 : 0); dirty++, names++) {
                char density[16] = "", name[64];
                if (n > 1)
                    snprintf(density, sizeof density, "@1/%u", n);
                snprintf(name, sizeof name, "%s%s%s", all[i].name, density, dirty ? "-dirty" : "");
                check_round_trip(name, &all[i], n, dirty);
            }
        }
    }
    print_message("%zu names\n", names);
}

TEST(test_other_spellings)
{
    static const char *const pairs[][2] = {{"512fma@1/1", "512fma"},
                                           {"512fma-dirty@1/8", "512fma@1/8-dirty"},
                                           {"256or@1/1-dirty", "256or-dirty"},
                                           {"512FMA", "512fma"},
                                           {"512Or-LAT-Dirty", "512or-lat-dirty"},
                                           {"AMX", "amx"},
                                           {"512Load@L2@1/8-dirty", "512load@l2@1/8-dirty"},
                                           {"128FMA@RAM", "128fma@ram"},
                                           {"512or-lat-dirty", "512or-lat-dirty"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct payload p;
        char why[240];
        assert_int_equal(kernel_parse(pairs[i][0], &p, why, sizeof why), 0);
        assert_string_equal(p.name, pairs[i][1]);
    }
}

TEST(test_refusals_name_cause_and_remedy)
{
    static const char *const cases[][2] = {
        {"512fna", "unknown kernel '512fna'; nearest is '512fma'; characterize --list kernels shows all"},
        {"128fam", "unknown kernel '128fam'; nearest is '128fma'; characterize --list kernels shows all"},
        {"512FNA", "unknown kernel '512FNA'; nearest is '512fma'; characterize --list kernels shows all"},
        {"avx512", "unknown kernel 'avx512'; nearest is '512fma'; characterize --list kernels shows all"},
        {"AVX-512F", "unknown kernel 'AVX-512F'; nearest is '512fma'"},
        {"zmm", "unknown kernel 'zmm'; nearest is '512fma'"},
        {"avx2", "unknown kernel 'avx2'; nearest is '256fma'"},
        {"ymm", "unknown kernel 'ymm'; nearest is '256fma'"},
        {"SSE4", "unknown kernel 'SSE4'; nearest is '128fma'"},
        {"tiles", "unknown kernel 'tiles'; nearest is 'amx'"},
        {"512fma-drity",
         "unknown kernel '512fma-drity'; nearest is '512fma-dirty'; characterize --list kernels shows all"},
        {"512fma-dirty-dirty", "unknown kernel '512fma-dirty-dirty'"},
        {"512fna@1/8", "unknown kernel '512fna@1/8'; nearest is '512fma'"},
        {"512fma-la", "nearest is '512fma-lat'"},
        {"chian", "nearest is 'chain'"},
        {"nosuch", "unknown kernel 'nosuch'; characterize --list kernels shows all"},
        {"1", "unknown kernel '1'; characterize"},
        {"", "empty; characterize --list kernels shows all"},
        {"512fma@1/0", "N from 1 to 256, as in 512fma@1/8"},
        {"512fma@1/257", "N from 1 to 256"},
        {"512fma@1/99999999999999999999", "N from 1 to 256"},
        {"512fma@2/8", "N from 1 to 256"},
        {"512fma@1/", "N from 1 to 256"},
        {"512fma@1/8x", "N from 1 to 256"},
        {"512fma@1/-8", "N from 1 to 256"},
        {"512fma@1/08", "N from 1 to 256"},
        {"512fma@1/8@1/8", "N from 1 to 256"},
        {"512fma@", "N from 1 to 256"},
        {"512or@mem", "unknown kernel '512or@mem'; nearest is '512"},
        {"512or@l2", "unknown kernel '512or@l2'; only load and fma of 128 bits and more have @l2, @l3 and @ram"},
        {"512fma@l1", "only load and fma of 128 bits and more have @l2, @l3 and @ram; operands from L1D: 512fma@mem"},
        {"64fma@ram", "unknown kernel '64fma@ram'; only load and fma of 128 bits and more have @l2"},
        {"512load@LLC@1/8", "unknown kernel '512load@llc@1/8'; only load and fma"},
        {"512lod@l3", "nearest is '512load@l3'"},
        {"512fma@l33", "nearest is '512fma@l3'"},
        {"512fma@rma", "nearest is '512fma@ram'"},
        {"128load@l3-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"512load@l3-lat", "unknown kernel '512load@l3-lat'"},
        {"512load@l3@1/0", "N from 1 to 256, as in 512load@l3@1/8"},
        {"512fma@meme", "nearest is '512fma@mem'"},
        {"512fma@zmask@1/8", "512fma@zmask has no density"},
        {"512fma@mem@1/0", "N from 1 to 256, as in 512fma@mem@1/8"},
        {"512fam@mem@1/8", "nearest is '512fma@mem'"},
        {"512fma-lat@1/8", "-lat kernels have no density"},
        {"pause@1/8", "pause has no density"},
        {"64add@1/8", "64add has no density"},
        {"64or-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"64fma-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"128fma-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"pause-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"amx-dirty-dirty", "unknown kernel 'amx-dirty-dirty'"},
        {"amx-drity", "nearest is 'amx-dirty'"},
        {"chain-dirty", "-dirty needs a 256- or 512-bit kernel"},
        {"\033[31m512fma\n", "unknown kernel '?[31m512fma '"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct payload p, untouched;
        memset(&p, 0x5a, sizeof p);
        untouched = p;
        char why[240] = "";
        assert_int_equal(kernel_parse(cases[i][0], &p, why, sizeof why), -1);
        assert_memory_equal(&p, &untouched, sizeof p);
        if (strstr(why, cases[i][1]) == NULL)
            fail_msg("'%s' gives \"%s\", not \"%s\"", cases[i][0], why, cases[i][1]);
        assert_null(strchr(why, '\n'));
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Text near the grammar, and text of any bytes; messages into buffers of any size. */
TEST(test_random_names_never_crash)
{
    static const char *const parts[] = {"512",    "256",  "64",   "fma", "or",         "perm", "-lat",
                                        "-dirty", "@1/",  "@",    "8",   "-",          "amx",  "pause",
                                        "chain",  "\xff", "%s%n", "\n",  "9999999999", "/"};
    uint32_t seed = 20240607;
    size_t good = 0;
    for (int i = 0; i < 20000; i++) {
        char name[400] = "";
        for (uint32_t n = next_random(&seed) % 8; n > 0; n--)
            strcat(name, parts[next_random(&seed) % (sizeof parts / sizeof parts[0])]);
        if (i % 4 == 0)
            for (size_t j = 0; name[j] != '\0'; j++)
                if (next_random(&seed) % 3 == 0)
                    name[j] = (char)(next_random(&seed) % 255 + 1);
        if (i % 1000 == 0)
            memset(name, 'a' + i / 1000 % 26, sizeof name - 1);
        char why[240];
        size_t size = next_random(&seed) % sizeof why;
        why[size] = 0x11;
        struct payload p;
        if (kernel_parse(name, &p, why, size) == 0) {
            struct payload again;
            assert_int_equal(kernel_parse(p.name, &again, why, size), 0);
            assert_string_equal(again.name, p.name);
            good++;
        }
        assert_int_equal(why[size], 0x11);
    }
    assert_true(good > 0);
    print_message("20000 names, %zu of them valid\n", good);
}

/* Without a deadline: exactly the blocks requested. With one: whole rounds until the clock has passed it. */
TEST(test_blocks_and_deadline)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++) {
        if (!runnable(&all[i])) {
            print_message("%s: not run, this CPU lacks what it needs\n", all[i].name);
            continue;
        }
        kernel_fn *run = all[i].variants[1];
        struct kernel_walk walk = small_walk();
        assert_int_equal(run(0, 0, NULL, 0, &walk), 0);
        assert_int_equal(run(0, UINT64_MAX, NULL, 1, &walk), 0); /* at once, whatever the deadline */
        assert_int_equal(run(1, 0, NULL, 0, &walk), 1);
        assert_int_equal(run(7, 0, NULL, 1, &walk), 7);
        assert_int_equal(run(5, 1, NULL, 0, &walk), 5);
        uint64_t done = 0;
        for (int attempt = 0; attempt < 20 && done <= 3; attempt++) { /* whoever else runs here may eat the time */
            uint64_t begin = __rdtsc();
            run(3, 0, NULL, 0, &walk);
            uint64_t now = __rdtsc(), deadline = now + 20 * (now - begin);
            done = run(3, deadline, NULL, 0, &walk);
            assert_true(__rdtsc() >= deadline);
            assert_int_equal(done % 3, 0);
        }
        assert_true(done > 3);
    }
}

/* Levels differ in their buffers, not in their code. Without a buffer nothing is run; with one it goes on where the
 * last call ended, and at the end it begins again. */
TEST(test_walks)
{
    static const char *const names[][3] = {{"256load@l2", "256load@l3", "256load@ram"},
                                           {"512fma@l2", "512fma@l3", "512fma@ram"}};
    for (size_t i = 0; i < 2; i++)
        for (size_t level = 1; level < 3; level++)
            assert_ptr_equal(entry(names[i][level])->variants, entry(names[i][0])->variants);
    const struct kernel *k = entry("128load@l2");
    if (!runnable(k))
        skip();
    struct kernel_walk walk = small_walk();
    const uint8_t *begin = walk.begin;
    assert_int_equal(k->variants[1](5, 0, NULL, 0, NULL), 0);
    assert_int_equal(k->variants[1](1, 0, NULL, 0, &walk), 1);
    assert_ptr_equal(walk.next, begin + 120 * KERNEL_LINE);
    assert_int_equal(k->variants[1](2, 0, NULL, 0, &walk), 2);
    assert_ptr_equal(walk.next, begin + 120 * KERNEL_LINE);    /* a lap is two blocks */
    assert_int_equal(k->variants[7](1, 0, NULL, 0, &walk), 1); /* 18 lines */
    assert_ptr_equal(walk.next, begin + 138 * KERNEL_LINE);
    assert_int_equal(k->variants[7](6, 0, NULL, 0, &walk), 6); /* the last begins at line 228 and goes beyond the end */
    assert_ptr_equal(walk.next, begin);
    assert_ptr_equal(walk.begin, begin);
    assert_ptr_equal(walk.end, begin + SMALL_WALK_LINES * KERNEL_LINE);
}

/* The same code in another page; neither reaches beyond its own. */
TEST(test_copies)
{
    enum { PAGE = 4096 };
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    struct kernel_walk walk = small_walk();
    for (size_t i = 0; i < count; i++) {
        struct payload p = kernel_named(all[i].name), copy = kernel_copy(&p);
        assert_string_equal(copy.name, p.name);
        assert_true(copy.kernel == p.kernel && copy.instructions == p.instructions && copy.bytes == p.bytes);
        uintptr_t at = (uintptr_t)p.run, of_copy = (uintptr_t)copy.run;
        assert_true(at / PAGE != of_copy / PAGE);
        assert_int_equal(at / PAGE, (at + p.bytes) / PAGE);
        assert_int_equal(of_copy / PAGE, (of_copy + p.bytes) / PAGE);
        assert_int_equal(all[i].block_bytes[0], all[i].block_bytes[1]);
        if (runnable(&all[i]))
            assert_int_equal(copy.run(3, 0, NULL, 0, &walk), 3);
    }
    struct payload density = kernel_named("128or@1/8");
    assert_ptr_equal(kernel_copy(&density).run, density.run);
    kernel_fn *const no_copy[] = {NULL, density.run};
    struct kernel from_file = *density.kernel;
    from_file.variants = &no_copy[0];
    struct payload block = {.kernel = &from_file, .density = 1, .run = density.run};
    assert_ptr_equal(kernel_copy(&block).run, block.run);
}
