/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a symbol in object files and libraries, and that no byte of a damaged one leads out of the file. */
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/block/block_parts.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

/* The parts of a file: its head, code, symbols, sections, and at its very end the names. */
enum { CODE = 24, SYMBOLS = 5, SECTIONS = 4 };
static const char names[] = "\0f\0late\0block_end\0block";
struct made_elf {
    Elf64_Ehdr head;
    uint8_t code[CODE];
    Elf64_Sym symbol[SYMBOLS];
    Elf64_Shdr section[SECTIONS];
    char names[sizeof names];
};
enum { SIZE = offsetof(struct made_elf, names) + sizeof names, ADDRESS = 0x1100 };

static const uint8_t made_code[CODE] = {0x90, 0xf3, 0x0f, 0x1e, 0xfa, 1, 2, 3, 4,    0xc3, 5,  6,
                                        0xf3, 0x0f, 0x1e, 0xfa, 0xc3, 7, 8, 9, 0xc3, 10,   11, 12};

static Elf64_Sym symbol_at(uint32_t name, unsigned type, uint64_t value, uint64_t size)
{
    return (Elf64_Sym){.st_name = name,
                       .st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
                       .st_shndx = 1,
                       .st_value = value,
                       .st_size = size};
}

/* f is all of bytes 1 to 9, a block 17 to 20. */
static struct made_elf made_file(bool library)
{
    const uint64_t base = library ? ADDRESS : 0;
    struct made_elf e = {
        .head = {.e_type = library ? ET_DYN : ET_REL,
                 .e_machine = EM_X86_64,
                 .e_shoff = offsetof(struct made_elf, section),
                 .e_shnum = SECTIONS},
        .symbol = {{.st_name = 0},
                   symbol_at(1, STT_FUNC, base + 1, 9),
                   symbol_at(3, STT_FUNC, base + CODE, 1),
                   symbol_at(18, STT_NOTYPE, base + 17, 0),
                   symbol_at(8, STT_NOTYPE, base + 20, 0)},
        .section = {{.sh_type = SHT_NULL},
                    {.sh_type = SHT_PROGBITS,
                     .sh_addr = library ? ADDRESS : 0,
                     .sh_offset = offsetof(struct made_elf, code),
                     .sh_size = CODE},
                    {.sh_type = library ? SHT_DYNSYM : SHT_SYMTAB,
                     .sh_offset = offsetof(struct made_elf, symbol),
                     .sh_size = sizeof e.symbol,
                     .sh_link = 3},
                    {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made_elf, names), .sh_size = sizeof names}},
    };
    memcpy(e.head.e_ident, ELFMAG, SELFMAG);
    e.head.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(e.code, made_code, sizeof made_code);
    memcpy(e.names, names, sizeof names);
    return e;
}

/* Where a file ends at the end of a page, after which nothing is. */
static uint8_t *page_end;

static int make_page(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
        return -1;
    page_end = at + page;
    return 0;
}

/* Reads the first n bytes: returns "ok" with the code, or why it is refused. */
static const char *read_as_text(const struct made_elf *e, size_t n, const char *symbol)
{
    static char text[400];
    static struct block_text out;
    struct machine_error err;
    memcpy(page_end - n, e, n);
    out.n = 0;
    if (block_elf_read("it", page_end - n, n, symbol, &out, &err) != MACHINE_OK)
        return strcpy(text, err.text);
    int length = snprintf(text, sizeof text, "ok");
    for (size_t i = 0; i < out.n && length < (int)sizeof text - 4; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, " %02x", out.code[i]);
    return text;
}

TEST(functions_and_blocks_are_found)
{
    for (int library = 0; library < 2; library++) {
        struct made_elf e = made_file(library);
        /* without what every function begins and ends with */
        assert_string_equal(read_as_text(&e, SIZE, "f"), "ok 01 02 03 04");
        /* as it is written */
        assert_string_equal(read_as_text(&e, SIZE, NULL), "ok 07 08 09");
        assert_string_equal(read_as_text(&e, SIZE, "g"), "it: no symbol 'g'");
        assert_string_equal(read_as_text(&e, SIZE, "bloc"), "it: no symbol 'bloc'");
        assert_string_equal(read_as_text(&e, SIZE, "late"), "it: symbol 'late' has no code, or no end");
        e.symbol[1].st_value += 11;
        e.symbol[1].st_size = 5;
        assert_string_equal(read_as_text(&e, SIZE, "f"), "ok");
        e.symbol[1].st_value++;
        e.symbol[1].st_size = 4;
        assert_string_equal(read_as_text(&e, SIZE, "f"), "ok 0f 1e fa");
        e.symbol[1].st_size = 1;
        assert_string_equal(read_as_text(&e, SIZE, "f"), "ok 0f");
    }
}

/* An end that is the function's own where there is no block_end, or it is in another section. */
TEST(a_block_ends_in_its_section)
{
    struct made_elf e = made_file(false);
    e.symbol[3].st_size = 2;
    e.symbol[4].st_shndx = 2;
    assert_string_equal(read_as_text(&e, SIZE, NULL), "ok 07 08");
    e.symbol[4].st_shndx = SHN_UNDEF;
    assert_string_equal(read_as_text(&e, SIZE, NULL), "ok 07 08");
    e.symbol[3].st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
    assert_string_equal(read_as_text(&e, SIZE, NULL), "it: 'block' is chosen when the program starts (STT_GNU_IFUNC)");
}

TEST(no_more_than_a_block_has)
{
    static struct {
        struct made_elf e;
        uint8_t more[BLOCK_BYTES_MAX];
    } big;
    static struct block_text out;
    struct machine_error err;
    big.e = made_file(false);
    big.e.section[1].sh_size = sizeof big;
    big.e.symbol[1].st_value = 5;
    big.e.symbol[1].st_size = BLOCK_BYTES_MAX;
    assert_int_equal(block_elf_read("it", (const uint8_t *)&big, sizeof big, "f", &out, &err), MACHINE_OK);
    assert_int_equal(out.n, BLOCK_BYTES_MAX);
    big.e.symbol[1].st_size++;
    assert_int_equal(block_elf_read("it", (const uint8_t *)&big, sizeof big, "f", &out, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it: symbol 'f' has more than 16384 bytes, or lies outside of the file");
}

/* Cut anywhere, and with every byte changed, both ways of asking: read, or refused with a reason; no byte beside it. */
TEST(damaged_files)
{
    static const uint8_t flipped[] = {0, 1, 8, 0x80, 0xff}; /* 0: cut there */
    size_t read = 0;
    for (int way = 0; way < 4; way++) {
        const struct made_elf complete = made_file(way & 1);
        for (size_t c = 0; c < sizeof flipped; c++)
            for (size_t i = 0; i < SIZE; i++) {
                struct made_elf e = complete;
                ((uint8_t *)&e)[i] ^= flipped[c];
                const char *text = read_as_text(&e, c == 0 ? i : SIZE, way & 2 ? NULL : "f");
                read += strncmp(text, "ok", 2) == 0;
                assert_true(strncmp(text, "ok", 2) == 0 || strncmp(text, "it: ", 4) == 0);
            }
    }
    assert_in_range(read, SIZE, 15 * SIZE);
}

TEST_GROUP(make_page, NULL)
