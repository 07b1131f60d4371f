/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of --which: a model gives back the classes of the blocks of a binary made here; what is said of them. */
#include "tables/which/which.h"
#include "tests/support/folder.h"
#include "tests/support/model_rig.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"
#include "util/command.h"

/* One block for each width and weight, as dense as can be; one sparse; one that is not wide. */
static const char source[] = "section .text\n"
                             "global heavy512:function\nglobal heavy256:function\nglobal light512:function\n"
                             "global light256:function\nglobal sparse:function\nglobal narrow:function\n"
                             "heavy512: vmulpd zmm3, zmm4, zmm5\n%rep 8\nvfmadd231ps zmm0, zmm1, zmm2\n%endrep\nret\n"
                             "heavy256:\n%rep 7\nvmulps ymm0, ymm1, [rdi]\n%endrep\nret\n"
                             "light512:\n%rep 6\nvpxord zmm0, zmm1, zmm2\n%endrep\nret\n"
                             "light256:\n%rep 5\nvpxor ymm0, ymm1, ymm2\n%endrep\nret\n"
                             "sparse: vmulps ymm0, ymm1\n%rep 40\nadd rax, rbx\n%endrep\nret\n"
                             "narrow: addps xmm0, xmm1\nvfmadd231ps xmm0, xmm1, xmm2\nret\n";

/* What is frequent is innocent; either of two suffices; only both together do; memory counts on some. */
static const char causes[] = "section .text\n"
                             "global innocent:function\nglobal either:function\nglobal both:function\n"
                             "global memory:function\nglobal zeros:function\nglobal light:function\n"
                             "innocent:\n%rep 6\nvpxord zmm0, zmm1, zmm2\n%endrep\nvfmadd231ps zmm3, zmm4, zmm5\nret\n"
                             "either: vmulps zmm6, zmm4, zmm5\nvfmadd231ps zmm3, zmm4, zmm5\nadd rax, rbx\nret\n"
                             "both: vmulps zmm6, zmm4, zmm5\nvfmadd231ps zmm3, zmm4, zmm5\n"
                             "%rep 10\nvpxor ymm0, ymm1, ymm2\n%endrep\nret\n"
                             "memory: vmulps ymm1, ymm2, ymm3\nvmulps ymm4, ymm2, ymm3\nvmovups ymm5, [rdi]\nret\n"
                             "zeros: vplzcntd ymm1, ymm2\n%rep 3\nvpaddd ymm0, ymm3, ymm4\n%endrep\nret\n"
                             "light:\n%rep 4\nvpaddd ymm0, ymm3, ymm4\n%endrep\nret\n";

static struct binary binary, binary_causes;
static struct binary_choice choice;

static int read_object(const char *text, struct binary *out)
{
    static struct command_output said;
    char folder[FOLDER_PATH_MAX], from[FOLDER_PATH_MAX + 20], to[FOLDER_PATH_MAX + 20], why[400] = "";
    const char *const argv[] = {"nasm", "-f", "elf64", "-o", to, from, NULL};
    struct machine_error err = {.text = ""};
    folder_make(folder);
    snprintf(from, sizeof from, "%s/it.asm", folder);
    snprintf(to, sizeof to, "%s/it.o", folder);
    folder_put(folder, "it.asm", text);
    const bool bad = command_run(argv, 20, &said, why, sizeof why) != 0 || binary_read(to, out, &err) != MACHINE_OK;
    if (bad)
        print_error("%s%s\n", why, err.text);
    folder_remove(folder);
    return bad ? -1 : 0;
}

static int read_source(void **state)
{
    (void)state;
    return read_object(source, &binary) != 0 || read_object(causes, &binary_causes) != 0 ? -1 : 0;
}

static int free_binary(void **state)
{
    (void)state;
    binary_free(&binary);
    binary_free(&binary_causes);
    return 0;
}

TEST_GROUP(read_source, free_binary)

static void measure_binary(const struct binary *b, const char *model, unsigned lacking, double seconds, double wait_us,
                           struct table *t)
{
    struct model m;
    struct tables_options o;
    struct machine_error err = {.text = ""};
    rig_load(model, &m);
    m.features &= ~lacking;
    m.wait_us = wait_us > 0 ? wait_us : m.wait_us;
    const struct binary_target target = {m.cpu_name, m.features, true};
    if (binary_choose(b, &target, &choice, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    const struct which_request request = {.file = "it.o", .choice = &choice};
    tables_options_default(&o);
    o.which = &request;
    o.brief = true;
    o.seconds = seconds;
    rig_measure(&table_which, &m, &o, t);
    binary_choice_free(&choice);
}

static void measure_on(const char *model, unsigned lacking, struct table *t)
{
    measure_binary(&binary, model, lacking, 0, 0, t);
}

/* Joins lines again. */
static char *findings_in_a_line(const struct table *t)
{
    char *text = rig_findings(&table_which, t);
    for (char *at = text; (at = strpbrk(at, "\n")) != NULL && strncmp(at, "\n  ", 3) == 0;)
        memmove(at, at + 2, strlen(at + 2) + 1);
    return text;
}

TEST(a_model_gives_classes)
{
    struct table t;
    static const struct {
        const char *function, *weight, *instructions;
        unsigned width, wide, of, class;
    } expected[] = {{"heavy512", "heavy", "vfmadd231ps 8, vmulpd 1", 512, 9, 10, 2},
                    {"heavy256", "heavy", "vmulps 7", 256, 7, 8, 1},
                    {"light512", "light", "vpxord 6", 512, 6, 7, 1},
                    {"light256", "light", "vpxor 5", 256, 5, 6, 0},
                    {"sparse", "heavy", "vmulps 1", 256, 1, 42, 0},
                    {"64add", "light", NULL, 64, 0, 0, 0}};
    measure_on("xeon-gold-6130", 0, &t);
    assert_int_equal(t.n_rows, sizeof expected / sizeof expected[0]);
    assert_int_equal(t.n_missing, 0);
    for (size_t row = 0; row < t.n_rows; row++) {
        assert_string_equal(table_text(&t, row, "function"), expected[row].function);
        assert_string_equal(table_text(&t, row, "weight"), expected[row].weight);
        assert_int_equal((int)table_number(&t, row, "width"), expected[row].width);
        assert_int_equal((int)table_number(&t, row, "class"), expected[row].class);
        if (expected[row].instructions == NULL) {
            assert_null(table_text(&t, row, "instructions"));
            continue;
        }
        assert_string_equal(table_text(&t, row, "instructions"), expected[row].instructions);
        assert_int_equal((int)table_number(&t, row, "wide"), expected[row].wide);
        assert_int_equal((int)table_number(&t, row, "of"), expected[row].of);
        assert_close(table_number(&t, row, "dropped"), 1.0 / expected[row].of, 1e-8);
        assert_int_equal((int)table_number(&t, row, "count"), 1);
    }
    assert_close(table_number(&t, 0, "ratio"), 1.9 / 2.8, 1e-3); /* as the model has it with all cores */
    char *text = findings_in_a_line(&t);
    has(text, "Class 2, 0.679 of the frequency of 64add: heavy512 at 0x0 by vfmadd231ps zmm (shown: alone it "
              "suffices, without it class 1).");
    has(text, "Class 1, 0.857 of the frequency of 64add: heavy256 at ");
    has(text, "light512 at ");
    has_not(text, "light256");
    has_not(text, "left out");
    free(text);
    free(rig_printed(&table_which, &t)); /* as wide as the screen */
    table_free(&t);
}

/* 256-bit code with operands in memory has a class of its own there. */
TEST(operands_in_memory_count)
{
    struct table t;
    measure_on("xeon-platinum-8480+", 0, &t);
    for (size_t row = 0; row < t.n_rows; row++) {
        const char *function = table_text(&t, row, "function");
        const int class = strcmp(function, "heavy256") == 0 ? 1 : strstr(function, "512") != NULL ? 2 : 0;
        assert_int_equal((int)table_number(&t, row, "class"), class);
    }
    table_free(&t);
}

TEST(what_a_processor_lacks_is_listed)
{
    struct table t;
    measure_on("xeon-gold-6130", KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AVX512VL, &t);
    assert_int_equal(t.n_rows, 4);
    assert_int_equal(t.n_missing, 2);
    assert_string_equal(table_missing_text(&t, 0, "function"), "heavy512");
    has(t.missing[0].why, "needs avx512f, which ");
    table_free(&t);
}

TEST(nothing_lifts_the_class_where_there_is_one)
{
    struct table t;
    measure_on("generic-no-licence", 0, &t);
    char *text = rig_findings(&table_which, &t);
    has(text, "No block of it.o that was measured lifts the class: ");
    free(text);
    assert_false(table_has_values(&t, "lifted_by"));
    assert_int_equal(t.n_missing, 0);
    table_free(&t);
}

struct cause {
    const char *function, *lifted_by;
    int class, without;
};

static void check_causes(const struct table *t, const struct cause *expected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t row = table_find(t, "function", expected[i].function);
        assert_true(row < t->n_rows);
        assert_int_equal((int)table_number(t, row, "class"), expected[i].class);
        if (expected[i].lifted_by == NULL) {
            assert_false(table_holds(t, row, "lifted_by"));
            assert_false(table_holds(t, row, "class_without"));
            continue;
        }
        assert_true(table_holds(t, row, "lifted_by"));
        assert_string_equal(table_text(t, row, "lifted_by"), expected[i].lifted_by);
        assert_int_equal(table_holds(t, row, "class_without"), expected[i].without >= 0);
        if (expected[i].without >= 0)
            assert_int_equal((int)table_number(t, row, "class_without"), expected[i].without);
        assert_true(table_number(t, row, "without") > table_number(t, row, "ratio_hi"));
    }
}

TEST(what_lifts_a_class_is_shown)
{
    struct table t;
    static const struct cause expected[] = {{"innocent", "vfmadd231ps zmm", 2, 1},
                                            {"either", "vfmadd231ps zmm, vmulps zmm", 2, 0},
                                            {"both", "vfmadd231ps zmm + vmulps zmm", 2, 0},
                                            {"memory", "vmulps ymm", 1, 0},
                                            {"zeros", "vplzcntd ymm", 1, 0},
                                            {"light", NULL, 0, 0}};
    measure_binary(&binary_causes, "xeon-gold-6130", 0, 0, 0, &t);
    check_causes(&t, expected, sizeof expected / sizeof expected[0]);
    assert_int_equal(t.n_missing, 0);
    char *text = findings_in_a_line(&t);
    has(text, "innocent at 0x0 by vfmadd231ps zmm (shown: alone it suffices, without it class 1)");
    has(text, "by vfmadd231ps zmm, vmulps zmm (shown: each alone suffices, without them class 0)");
    has(text, "by vfmadd231ps zmm + vmulps zmm (shown: together they suffice, without them class 0)");
    has_not(text, "suspected");
    free(text);
    table_free(&t);
}

/* There it is not the weight that counts, but operands in memory and the width. */
TEST(what_lifts_a_class_differs_between_processors)
{
    struct table t;
    static const struct cause expected[] = {
        {"innocent", "vfmadd231ps zmm, vpxord zmm", 2, 0}, {"memory", "vmovups ymm", 1, 0}, {"zeros", NULL, 0, 0}};
    measure_binary(&binary_causes, "xeon-platinum-8480+", 0, 0, 0, &t);
    check_causes(&t, expected, sizeof expected / sizeof expected[0]);
    table_free(&t);
}

/* Slots of parts become longer, too, where the level is held for longer than they last at first. */
TEST(levels_that_are_held_for_long)
{
    struct table t;
    static const struct cause expected[] = {
        {"innocent", "vfmadd231ps zmm", 1, -1}}; /* the class between is no other block's */
    const struct binary first = {.function = binary_causes.function, .n = 1};
    measure_binary(&first, "xeon-gold-6130", 0, 30, 5000, &t);
    check_causes(&t, expected, 1);
    char *text = findings_in_a_line(&t);
    has(text, "by vfmadd231ps zmm (shown: alone it suffices, without it ratio 0.857)");
    free(text);
    table_free(&t);
}

TEST(what_there_is_no_time_for_is_said)
{
    struct table t;
    measure_binary(&binary_causes, "xeon-gold-6130", 0, 0.01, 0, &t);
    assert_int_equal(t.n_missing, 1);
    has(t.missing[0].why, "which instructions lift the class of 4 more blocks: at most 16 are searched");
    char *text = findings_in_a_line(&t);
    has(text, "(shown: ");
    has(text, "(suspected: ");
    free(text);
    table_free(&t);
}

/* Columns are in the order in which the table has them. */
static void add_block(struct table *t, const char *function, const char *instructions, double ratio)
{
    table_add_row(t);
    table_put_text(t, "function", function);
    table_put_text(t, "address", "0x10");
    table_put_number(t, "wide", 10);
    table_put_limits(t, "ratio", ratio, ratio - 0.001, ratio + 0.001);
    table_put_text(t, "instructions", instructions);
}

TEST(blocks_that_say_the_same_are_named_once)
{
    struct table t;
    char name[20];
    table_init(&t, table_which.name, table_which.columns, table_which.n_columns);
    add_block(&t, "64add", NULL, 1);
    table_set_text(&t, 0, "address", "-");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "f%02d", i / 2);
        add_block(&t, name, "vmulps 1", 0.8);
    }
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "g%02d", i);
        add_block(&t, name, "vmulps 1", 0.8);
    }
    table_set_setting(&t, "left_out", "7");
    assert_int_equal(table_which.conclude(&t), 0);
    assert_false(t.failed);
    char *text = findings_in_a_line(&t);
    has(text, "f00 at 0x10 (suspected: vmulps 1); f01");
    has(text, "g01 at 0x10 (suspected: vmulps 1); 3 more.");
    has(text, "7 blocks with fewer wide instructions were left out; FILE:FUNCTION narrows it.");
    free(text);
    table_free(&t);
}
