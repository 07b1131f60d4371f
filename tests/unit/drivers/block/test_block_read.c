/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks as files have them: names, sizes, what comments declare, and what is requested of an assembler, a made one. */
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/block/block.h"
#include "drivers/block/block_parts.h"
#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/strict_memory.h"
#include "tests/support/test.h"

static char folder[FOLDER_PATH_MAX];
static struct block_text got;
static struct machine_error err;

static int make_folder(void **state)
{
    (void)state;
    folder_make(folder);
    return setenv("PATH", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Reads a file of the folder; *status, and for messages the name that a user would give. */
static int read_it(const char *name)
{
    char path[FOLDER_PATH_MAX + 60];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    err.text[0] = '\0';
    int status = block_read(path, &got, &err);
    size_t length = strlen(folder) + 1;
    for (char *at = strstr(err.text, folder); at != NULL; at = strstr(at, folder))
        memmove(at, at + length, strlen(at + length) + 1);
    return status;
}

static void put_bytes(const char *name, size_t n)
{
    char path[FOLDER_PATH_MAX + 60];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        fputc((int)(i * 7 + 1) & 0xff, out);
    assert_int_equal(fclose(out), 0);
}

static void put_program(const char *name, const char *text)
{
    char path[FOLDER_PATH_MAX + 20];
    folder_put(folder, name, text);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(chmod(path, 0755), 0);
}

TEST(files_of_code_are_taken_whole)
{
    static const size_t sizes[] = {1, 2, BLOCK_BYTES_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        put_bytes("it.bin", sizes[i]);
        assert_int_equal(read_it("it.bin"), MACHINE_OK);
        assert_string_equal(got.name, "it");
        assert_int_equal(got.n, sizes[i]);
        for (size_t k = 0; k < got.n; k++)
            assert_int_equal(got.code[k], (k * 7 + 1) & 0xff);
        assert_true(got.instructions == 0 && got.width == 0 && got.weight == BLOCK_ANY_WEIGHT);
    }
    put_bytes("it.bin", 0);
    assert_int_equal(read_it("it.bin"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.bin: holds no instructions");
    put_bytes("it.bin", BLOCK_BYTES_MAX + 1);
    assert_int_equal(read_it("it.bin"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.bin: 16385 bytes of code; a block has at most 16384");
}

TEST(names)
{
    static const struct {
        const char *file, *name, *why;
    } cases[] = {
        {"a.bin", "a", ""},
        {"A_z9.bin", "a_z9", ""},
        {"abcdefghijklmnop.bin", "abcdefghijklmnop", ""},
        {"abcdefghijklmnopq.bin", NULL,
         "abcdefghijklmnopq.bin: a kernel's name is 1 to 16 letters, digits and "
         "underscores, not 'abcdefghijklmnopq'"},
        {"abcdefghijklmnopqrstuvwxyz0123456789abcdefgh.bin", NULL,
         "abcdefghijklmnopqrstuvwxyz0123456789abcdefgh.bin: a kernel's name is 1 to 16 letters, digits and "
         "underscores, not 'abcdefghijklmnopqrstuvwxyz0123456789abcd'"},
        {"a-b.bin", NULL, "a-b.bin: a kernel's name is 1 to 16 letters, digits and underscores, not 'a-b'"},
        {".bin", NULL, ".bin: a kernel's name is 1 to 16 letters, digits and underscores, not ''"},
        {"a.b.bin", NULL, "a.b.bin: a kernel's name is 1 to 16 letters, digits and underscores, not 'a.b'"},
        {"512FMA.bin", NULL, "512FMA.bin: there is a kernel 512fma already"},
        {"a.txt", NULL, "a.txt: neither FILE.asm, FILE.bin, FILE.so, FILE.o nor FILE.so:FUNCTION"},
        {"a", NULL, "a: neither FILE.asm, FILE.bin, FILE.so, FILE.o nor FILE.so:FUNCTION"},
        {"a.bin:f", NULL, "a.bin:f: neither FILE.asm, FILE.bin, FILE.so, FILE.o nor FILE.so:FUNCTION"},
        {"a.asm:f", NULL, "a.asm:f: neither FILE.asm, FILE.bin, FILE.so, FILE.o nor FILE.so:FUNCTION"},
        {"a.so", NULL, "a.so: not an ELF file for x86-64"},
        {"a.o", NULL, "a.o: not an ELF file for x86-64"},
        {"a.so:F", NULL, "a.so:F: not an ELF file for x86-64"},
        {"a.o:f", NULL, "a.o:f: not an ELF file for x86-64"},
        {"a.so.6:f", NULL, "a.so.6:f: not an ELF file for x86-64"},
        {"liba.so.6.1", NULL, "liba.so.6.1: not an ELF file for x86-64"},
        {"a.so:f-g", NULL, "a.so:f-g: a kernel's name is 1 to 16 letters, digits and underscores, not 'f-g'"},
        {"a.so:", NULL, "a.so:: a kernel's name is 1 to 16 letters, digits and underscores, not ''"},
        {"not_there.bin", NULL, "not_there.bin: cannot be opened: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[60];
        snprintf(file, sizeof file, "%.*s", (int)strcspn(cases[i].file, ":"), cases[i].file);
        if (strncmp(file, "not", 3) != 0)
            put_bytes(file, 3);
        int status = read_it(cases[i].file);
        assert_int_equal(status, cases[i].name != NULL ? MACHINE_OK : MACHINE_BAD_INPUT);
        assert_string_equal(err.text, cases[i].why);
        if (cases[i].name != NULL)
            assert_string_equal(got.name, cases[i].name);
    }
}

/* A folder's dots and colons are none of the file's. */
TEST(long_names_and_odd_folders)
{
    char path[4200] = "";
    folder_put(folder, "x.so:y/it.bin", "\x90");
    assert_int_equal(read_it("x.so:y/it.bin"), MACHINE_OK);
    assert_string_equal(got.name, "it");
    for (size_t length = 4095; length < 4097; length++) {
        memset(path, '/', length);
        memcpy(path + length - 6, "/a.bin", 7);
        assert_int_equal(block_read(path, &got, &err), MACHINE_BAD_INPUT);
        assert_true((strstr(err.text, "too long") != NULL) == (length == 4096));
    }
    static const char *const lines[] = {"a\n.bin", "a\r.bin"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(block_read(lines[i], &got, &err), MACHINE_BAD_INPUT);
        assert_string_equal(err.text, "a name of a file that is too long, or has several lines");
    }
}

/* ---- the assembler ---- */

static const char limited[] = "#!/bin/sh\nd=${0%/*}\necho \"$1 $2\" >$d/limits\nshift 2\nexec $d/$@\n";
/* Notes what it is reported and given, and gives what it has, and the status. */
static const char assembler[] = "#!/bin/sh\n"
                                "d=${0%/*}\n"
                                "echo \"$1 $2 $3 $4\" >$d/arguments\n"
                                "echo \"$5 $6\" >$d/files\n"
                                "/bin/cat \"$6\" >$d/source\n"
                                "[ ! -e $d/code ] || /bin/cat $d/code >\"$5\"\n"
                                "[ ! -e $d/said ] || { /bin/cat $d/said >&2; exit 1; }\n";

static void remove_file(const char *name)
{
    char path[FOLDER_PATH_MAX + 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void fresh_assembler(size_t bytes)
{
    remove_file("said");
    remove_file("arguments");
    remove_file("limits");
    put_program("prlimit", limited);
    put_program("nasm", assembler);
    put_bytes("code", bytes);
}

/* What it was given lay in a folder of /tmp that is gone. */
static void expect_nothing_left(void)
{
    char files[200], *space;
    snprintf(files, sizeof files, "%s", folder_get(folder, "files"));
    space = strchr(files, ' ');
    assert_non_null(space);
    *space = '\0';
    assert_memory_equal(files, "/tmp/characterize-", 18);
    assert_string_equal(strrchr(files, '/'), "/block.bin");
    assert_string_equal(strrchr(space + 1, '/'), "/block.asm");
    assert_int_equal(access(files, F_OK), -1);
    assert_int_equal(access(space + 1, F_OK), -1);
    *strrchr(files, '/') = '\0';
    assert_int_equal(access(files, F_OK), -1);
}

TEST(an_assembler_is_requested)
{
    char expected[200];
    folder_put(folder, "it.asm", "nop ; instructions: 3\n");
    for (int with_limits = 1; with_limits >= 0; with_limits--) {
        fresh_assembler(5);
        if (!with_limits)
            remove_file("prlimit");
        assert_int_equal(read_it("it.asm"), MACHINE_OK);
        assert_int_equal(got.n, 5);
        assert_int_equal(got.code[1], 8);
        assert_int_equal(got.instructions, 3);
        assert_string_equal(folder_get(folder, "arguments"), "-f bin -Werror -o");
        assert_string_equal(folder_get(folder, "limits"),
                            with_limits ? "--fsize=1048576 --as=1073741824" : "(not there)");
        snprintf(expected, sizeof expected, "bits 64\n%%line 0+1 %s/it.asm\nnop ; instructions: 3", folder);
        assert_string_equal(folder_get(folder, "source"), expected);
        expect_nothing_left();
    }
}

TEST(what_an_assembler_gives_is_checked)
{
    folder_put(folder, "it.asm", "nop\n");
    fresh_assembler(0);
    assert_int_equal(read_it("it.asm"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.asm: holds no instructions");
    expect_nothing_left();
    fresh_assembler(BLOCK_BYTES_MAX + 1);
    assert_int_equal(read_it("it.asm"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.asm: 16385 bytes of code; a block has at most 16384");
    expect_nothing_left();
    fresh_assembler(1);
    remove_file("code");
    assert_int_equal(read_it("it.asm"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.asm: cannot be opened: No such file or directory");
    expect_nothing_left();
    fresh_assembler(1);
    folder_put(folder, "said", "it.asm:1: error: no such thing\n");
    assert_int_equal(read_it("it.asm"), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "nasm ended with status 1: it.asm:1: error: no such thing"));
    expect_nothing_left();
    fresh_assembler(1);
    remove_file("nasm");
    assert_int_equal(read_it("it.asm"), MACHINE_CANNOT);
    assert_string_equal(err.text, "it.asm: needs the assembler NASM, which is not installed");
    assert_string_equal(err.remedy, "apt install nasm, or assemble it elsewhere into FILE.bin");
    fresh_assembler(1);
    put_bytes("it.asm", 300); /* a zero byte among them */
    assert_int_equal(read_it("it.asm"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it.asm: not a text, it holds zero bytes");
    assert_string_equal(folder_get(folder, "arguments"), "(not there)");
}

TEST(what_comments_declare)
{
    static const char *const texts[] = {
        "",
        "nop",
        "nop ; instructions: 24",
        ";instructions: 24",
        ";   instructions:24",
        "; instructions: 1\n",
        "; instructions: 16384\n",
        "; instructions: 16385\n",
        "; instructions: 0\n",
        "; instructions: -1\n",
        "; instructions: +1\n",
        "; instructions: 3x\n",
        "; instructions: x\n",
        "; instructions:\n",
        "; instructions: 4 of them\n",
        "nop ; a ; instructions: 4\n",
        "instructions: 4\n",
        "nop\nnop ; nothing\n; instructions: 7\nnop ; instructions: 8\n",
        "; width: 64\n",
        "; width: 128\n",
        "; width: 256\n",
        "; width: 512\n",
        "; width: 0\n",
        "; width: 65\n",
        "; width: 1024\n",
        "; width: zmm\n",
        "; weight: light\n",
        "; weight: heavy\n",
        "; weight: heavier\n",
        "; weight: heav\n",
        "; weight: lights\n",
        "; weight: heavy\n; weight: light",
        "; weight: light\n; weight: heavy",
        "\n\n; width: 256\n\n; weight: heavy\n; instructions: 9",
        "; width: 256 ; weight: heavy",
    };
    struct golden g;
    FILE *out = golden_begin(&g);
    fresh_assembler(1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        folder_put(folder, "it.asm", texts[i]);
        int status = read_it("it.asm");
        for (const char *c = texts[i]; *c != '\0'; c++)
            fputc(*c == '\n' ? '|' : *c, out);
        fprintf(out, "\n  %d %s\n", status, err.text);
        if (status == MACHINE_OK)
            fprintf(out, "  instructions %u, width %u, weight %d\n", got.instructions, got.width, (int)got.weight);
    }
    golden_expect(&g, "machine/block", "declarations", false);
}

/* The declared number of instructions must be the number that runs. */
TEST(what_is_declared_is_tried)
{
    static const struct {
        const char *text, *why;
    } cases[] = {{"nop", ""},
                 {"nop ; instructions: 2", ""},
                 {"nop ; instructions: 1", "declares 1 instructions, but runs 2"},
                 {"nop ; instructions: 3", "declares 3 instructions, but runs 2"}};
    fresh_assembler(1);
    folder_put(folder, "code", "\x90\x90");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[FOLDER_PATH_MAX + 8];
        struct block_set set = {.n = 0};
        folder_put(folder, "it.asm", cases[i].text);
        snprintf(path, sizeof path, "%s/it.asm", folder);
        int status = block_set_add(&set, path, &err);
        block_set_free(&set);
        if (status == MACHINE_CANNOT) {
            print_message("skipped: %s\n", err.text);
            skip();
        }
        assert_int_equal(status, cases[i].why[0] ? MACHINE_BAD_INPUT : MACHINE_OK);
        assert_true(status == MACHINE_OK || strstr(err.text, cases[i].why) != NULL);
    }
}

TEST(without_memory_it_says_so)
{
    static const char *const files[] = {"it.bin", "it.asm"};
    fresh_assembler(4);
    put_bytes("it.bin", 4);
    folder_put(folder, "it.asm", "nop\n");
    for (size_t f = 0; f < 2; f++) {
        bool failed = true;
        for (unsigned long n = 1; failed; n++) {
            strict_memory_fail(n);
            int status = read_it(files[f]);
            failed = strict_memory_failed();
            strict_memory_fail(0);
            assert_true(status == MACHINE_OK || failed);
            if (status == MACHINE_OK)
                assert_int_equal(got.n, 4);
            else
                assert_true(err.text[0] != '\0');
        }
    }
}

TEST_GROUP(make_folder, remove_folder)
