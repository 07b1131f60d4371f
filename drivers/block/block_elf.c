/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "drivers/block/block_read.h"

/* The file, of which every offset is doubted. */
struct elf_image {
    const uint8_t *bytes;
    size_t n;
    Elf64_Ehdr head;
};

/* Symbols of one name. */
struct elf_found {
    bool found;
    Elf64_Sym symbol;
};

/* Copies what lies there; false where it does not. */
static bool elf_at(const struct elf_image *e, uint64_t offset, void *out, size_t size)
{
    if (offset > e->n || size > e->n - offset)
        return false;
    memcpy(out, e->bytes + offset, size);
    return true;
}

static bool elf_section(const struct elf_image *e, size_t i, Elf64_Shdr *out)
{
    return i < e->head.e_shnum && e->head.e_shoff <= e->n &&
           elf_at(e, e->head.e_shoff + i * sizeof *out, out, sizeof *out);
}

static bool elf_named(const struct elf_image *e, const Elf64_Shdr *strings, uint32_t offset, const char *name)
{
    size_t length = strlen(name) + 1;
    return strings->sh_offset <= e->n && offset < e->n && strings->sh_offset + offset <= e->n &&
           length <= e->n - strings->sh_offset - offset &&
           memcmp(e->bytes + strings->sh_offset + offset, name, length) == 0;
}

static struct elf_found elf_symbol(const struct elf_image *e, const char *name)
{
    struct elf_found out = {.found = false};
    for (size_t i = 0; i < e->head.e_shnum && !out.found; i++) {
        Elf64_Shdr table, strings;
        if (!elf_section(e, i, &table) || (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
            !elf_section(e, table.sh_link, &strings))
            continue;
        size_t n = table.sh_size < e->n ? table.sh_size / sizeof out.symbol : 0;
        for (size_t k = 0; k < n && !out.found; k++)
            out.found = elf_at(e, table.sh_offset + k * sizeof out.symbol, &out.symbol, sizeof out.symbol) &&
                        out.symbol.st_shndx != SHN_UNDEF && elf_named(e, &strings, out.symbol.st_name, name);
    }
    return out;
}

/* Where the code of a symbol lies in the file: values are addresses, in .o files offsets. */
static bool elf_offset(const struct elf_image *e, const Elf64_Sym *s, uint64_t *offset)
{
    Elf64_Shdr section;
    if (!elf_section(e, s->st_shndx, &section) || section.sh_type != SHT_PROGBITS)
        return false;
    uint64_t into = e->head.e_type == ET_REL ? s->st_value : s->st_value - section.sh_addr;
    *offset = section.sh_offset + into;
    return into <= section.sh_size;
}

static void elf_strip(struct block_text *out)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (out->n >= 4 && memcmp(out->code, endbr, 4) == 0) {
        out->n -= 4;
        memmove(out->code, out->code + 4, out->n);
    }
    if (out->n > 0 && out->code[out->n - 1] == 0xc3)
        out->n--;
}

int block_elf_read(const char *file, const uint8_t *image, size_t n, const char *symbol, struct block_text *out,
                   struct machine_error *err)
{
    struct elf_image e = {.bytes = image, .n = n};
    if (!elf_at(&e, 0, &e.head, sizeof e.head) || memcmp(e.head.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.head.e_ident[EI_CLASS] != ELFCLASS64 || e.head.e_machine != EM_X86_64)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: not an ELF file for x86-64", file);
    const char *begins = symbol != NULL ? symbol : "block";
    struct elf_found begin = elf_symbol(&e, begins), end = elf_symbol(&e, "block_end");
    if (!begin.found)
        return machine_fail(err, MACHINE_BAD_INPUT,
                            "the code stands between the symbols block and block_end, or is that of a function: "
                            "FILE.so:FUNCTION",
                            "%.200s: no symbol '%.60s'", file, begins);
    if (ELF64_ST_TYPE(begin.symbol.st_info) == STT_GNU_IFUNC)
        return machine_fail(err, MACHINE_BAD_INPUT, "name the function that runs on this CPU",
                            "%.200s: '%.60s' is chosen when the program starts (STT_GNU_IFUNC)", file, begins);
    uint64_t from, size = begin.symbol.st_size;
    if (symbol == NULL && end.found && end.symbol.st_shndx == begin.symbol.st_shndx)
        size = end.symbol.st_value - begin.symbol.st_value;
    if (!elf_offset(&e, &begin.symbol, &from) || size == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: symbol '%.60s' has no code, or no end", file, begins);
    if (size > BLOCK_BYTES_MAX || !elf_at(&e, from, out->code, size))
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: symbol '%.60s' has more than %d bytes, or lies outside of the file", file, begins,
                            BLOCK_BYTES_MAX);
    out->n = size;
    if (symbol != NULL)
        elf_strip(out);
    return MACHINE_OK;
}
