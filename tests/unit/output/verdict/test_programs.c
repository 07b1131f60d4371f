/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of programs: what is refused and where, what is found by the name of a processor, what follows. */
#include "output/verdict/programs.h"
#include "tests/support/test.h"

#define HEAD "format = characterize-programs/1\n[program a]\nname = A # S\n"

static struct programs all; /* large */

static int parse(const char *text, struct machine_error *err)
{
    return programs_parse(text, strlen(text), "f.ini", &all, err);
}

TEST(refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"format = characterize-programs/1\nname = A # S\n", "f.ini:2: name: comes before the first section"},
        {"format = characterize-programs/1\n[programs a]\n", "f.ini:2: [programs a] is not a section of such a file"},
        {"format = characterize-programs/1\n[program A]\n", "f.ini:2: [program A] is not a section"},
        {"format = characterize-programs/1\n[program a]\nabout = x # S\n", "f.ini:2: name: is missing"},
        {HEAD "[program a]\n", "f.ini:4: [program a] already stands in line 2"},
        {HEAD "name = B # S\n", "f.ini:4: name: "},
        {HEAD "about = x\n", "f.ini:4: about: has no source"},
        {HEAD "default = 64 # S\n", "f.ini:4: default: '64' is none of 128, 256, 512"},
        {HEAD "code = fma # S\n", "f.ini:4: code: 'fma' is none of heavy, light, any"},
        {HEAD "06_55H = 512b # S\n", "f.ini:4: 06_55H: '512b' is none of 128, 256, 512"},
        {HEAD "06_55 = 512 # S\n",
         "f.ini:4: 06_55: is neither name, about, code, set128, set256, set512, default nor a model"},
        {HEAD "06_55H-06_50H = 512 # S\n", "f.ini:4: 06_55H-06_50H: is neither"},
        {HEAD "06_55H-07_60H = 512 # S\n", "f.ini:4: 06_55H-07_60H: is neither"},
        {HEAD "06_50H-06_5FH = 512 # S\n06_5FH = 256 # S\n", "f.ini:5: 06_5FH: an earlier line of the program covers"},
        {"[program a]\n", "f.ini:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_error err = {.status = MACHINE_OK};
        assert_int_equal(parse(cases[i].text, &err), MACHINE_BAD_INPUT);
        if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s' instead of '%s'", err.text, cases[i].says);
    }
}

static unsigned bits_on(const char *cpu)
{
    return programs_bits_on(&all, &all.program[0], cpu);
}

/* Models and ranges, at their ends and beside, the default, and processors that do not say what they are. */
TEST(found_by_model)
{
    struct machine_error err;
    assert_int_equal(parse(HEAD "default = 512 # S\n06_55H = 256 # S\n19_10H-19_1FH = 128 # S\n"
                                "[program b]\nname = B # S\n06_55H = 512 # S\n",
                           &err),
                     MACHINE_OK);
    assert_int_equal(all.n, 2);
    assert_int_equal(bits_on("Intel Xeon Gold 6130 06_55H-4"), 256);
    assert_int_equal(bits_on("Some CPU (06_55H, stepping 4)"), 256);
    assert_int_equal(bits_on("Intel 06_56H-4"), 512);
    assert_int_equal(bits_on("AMD EPYC 19_10H-1"), 128);
    assert_int_equal(bits_on("AMD EPYC 19_1FH-1"), 128);
    assert_int_equal(bits_on("AMD EPYC 19_0FH-1"), 512);
    assert_int_equal(bits_on("AMD EPYC 19_20H-1"), 512);
    assert_int_equal(bits_on("AMD EPYC 1A_10H-1"), 512);
    assert_int_equal(bits_on("X06_55H"), 0);
    assert_int_equal(bits_on("a processor"), 0);
    assert_int_equal(bits_on(NULL), 0);
    assert_int_equal(programs_bits_on(&all, &all.program[1], "06_55H"), 512);
    assert_int_equal(programs_bits_on(&all, &all.program[1], "06_8FH"), 0);
}

TEST(what_follows)
{
    struct machine_error err;
    assert_int_equal(parse(HEAD "set512 = -w # S\nset128 = -n # S\n06_55H = 256 # S\n"
                                "[program b]\nname = B # S\ncode = light # S\nset128 = n # S\n06_55H = 128 # S\n",
                           &err),
                     MACHINE_OK);
    struct programs_answer a = {.all = &all,
                                .bits = {[KERNEL_HEAVY] = 512, [KERNEL_LIGHT] = 128},
                                .usual = KERNEL_HEAVY,
                                .wide = true,
                                .cpu = "CPU 06_55H"};
    struct programs_advice t = programs_compare(&a, &all.program[0]);
    assert_int_equal(t.verdict, PROGRAM_DIFFERS);
    assert_string_equal(t.set, "-w");
    assert_int_equal(t.uses, 256);
    assert_int_equal(t.bits, 512);
    t = programs_compare(&a, &all.program[1]); /* of light code, whatever the verdict's is */
    assert_int_equal(t.verdict, PROGRAM_AGREES);
    assert_int_equal(t.bits, 128);
    a.as_good[KERNEL_HEAVY] = 256 | 512;
    assert_int_equal(programs_compare(&a, &all.program[0]).verdict, PROGRAM_AGREES);
    a.usual = KERNEL_LIGHT;
    t = programs_compare(&a, &all.program[0]);
    assert_int_equal(t.bits, 128);
    assert_string_equal(t.set, "-n");
    a.bits[KERNEL_LIGHT] = 0;
    assert_int_equal(programs_compare(&a, &all.program[0]).bits, 0);
    a.usual = KERNEL_HEAVY;
    a.cpu = "CPU 06_56H";
    assert_int_equal(programs_compare(&a, &all.program[0]).verdict, PROGRAM_UNKNOWN);
    /* no list is about processors without 512-bit code */
    a.wide = false;
    a.cpu = "CPU 06_55H";
    t = programs_compare(&a, &all.program[0]);
    assert_int_equal(t.verdict, PROGRAM_UNKNOWN);
    assert_int_equal(t.uses, 0);
}

/* The shipped list reads, and says what its sources say of a few processors that many know. */
TEST(shipped)
{
    static const struct {
        const char *id, *cpu;
        unsigned bits;
    } known[] = {{"linux", "06_55H", 256},  {"linux", "06_8FH", 512},    {"linux", "19_11H", 512},
                 {"dotnet", "06_55H", 256}, {"dotnet", "06_6AH", 512},   {"gcc", "06_8FH", 256},
                 {"clang", "19_11H", 512},  {"simdjson", "06_55H", 256}, {"openj9", "06_8FH", 512}};
    struct machine_error err = {.status = MACHINE_OK};
    if (programs_load("data", &all, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t p = 0;
        while (p < all.n && strcmp(all.program[p].id, known[i].id) != 0)
            p++;
        assert_true(p < all.n);
        assert_int_equal(programs_bits_on(&all, &all.program[p], known[i].cpu), known[i].bits);
    }
}
