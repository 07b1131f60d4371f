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

/* What lies `offset` behind `base`; NULL where that is not all in the file. */
static const void *elf_at(const struct elf_image *e, uint64_t base, uint64_t offset, uint64_t size)
{
    uint64_t from, end;
    if (__builtin_add_overflow(base, offset, &from) || __builtin_add_overflow(from, size, &end) || end > e->n)
        return NULL;
    return e->bytes + from;
}

static bool elf_section(const struct elf_image *e, size_t i, Elf64_Shdr *out)
{
    const void *at = i < e->head.e_shnum ? elf_at(e, e->head.e_shoff, i * sizeof *out, sizeof *out) : NULL;
    if (at != NULL)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

static bool elf_named(const struct elf_image *e, const Elf64_Shdr *strings, uint32_t offset, const char *name)
{
    size_t length = strlen(name) + 1;
    const void *at = elf_at(e, strings->sh_offset, offset, length);
    return at != NULL && memcmp(at, name, length) == 0;
}

/* In a table of symbols that is cut off, among those that are there. */
static bool elf_symbol_in(const struct elf_image *e, const Elf64_Shdr *table, const char *name, Elf64_Sym *out)
{
    Elf64_Shdr strings;
    if (!elf_section(e, table->sh_link, &strings))
        return false;
    for (uint64_t k = 0; k < table->sh_size / sizeof *out; k++) {
        const void *at = elf_at(e, table->sh_offset, k * sizeof *out, sizeof *out);
        if (at == NULL)
            return false;
        memcpy(out, at, sizeof *out);
        if (out->st_shndx != SHN_UNDEF && elf_named(e, &strings, out->st_name, name))
            return true;
    }
    return false;
}

static bool elf_symbol(const struct elf_image *e, const char *name, Elf64_Sym *out)
{
    Elf64_Shdr table;
    for (size_t i = 0; elf_section(e, i, &table); i++)
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && elf_symbol_in(e, &table, name, out))
            return true;
    return false;
}

/* Where the code of a symbol lies in its section: values are addresses, in .o files offsets. */
static bool elf_code(const struct elf_image *e, const Elf64_Sym *s, Elf64_Shdr *section, uint64_t *into)
{
    if (!elf_section(e, s->st_shndx, section) || section->sh_type != SHT_PROGBITS)
        return false;
    *into = e->head.e_type == ET_REL ? s->st_value : s->st_value - section->sh_addr;
    return *into < section->sh_size;
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
    if (n >= sizeof e.head)
        memcpy(&e.head, image, sizeof e.head);
    if (memcmp(e.head.e_ident, ELFMAG, SELFMAG) != 0 || e.head.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.head.e_machine != EM_X86_64)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: not an ELF file for x86-64", file);
    const char *begins = symbol != NULL ? symbol : "block";
    Elf64_Sym begin, end;
    if (!elf_symbol(&e, begins, &begin))
        return machine_fail(err, MACHINE_BAD_INPUT,
                            "the code stands between the symbols block and block_end, or is that of a function: "
                            "FILE.so:FUNCTION",
                            "%.200s: no symbol '%.60s'", file, begins);
    if (ELF64_ST_TYPE(begin.st_info) == STT_GNU_IFUNC)
        return machine_fail(err, MACHINE_BAD_INPUT, "name the function that runs on this CPU",
                            "%.200s: '%.60s' is chosen when the program starts (STT_GNU_IFUNC)", file, begins);
    uint64_t into, size = begin.st_size;
    if (symbol == NULL && elf_symbol(&e, "block_end", &end) && end.st_shndx == begin.st_shndx)
        size = end.st_value - begin.st_value;
    Elf64_Shdr section;
    if (!elf_code(&e, &begin, &section, &into) || size == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: symbol '%.60s' has no code, or no end", file, begins);
    const void *code = size > BLOCK_BYTES_MAX ? NULL : elf_at(&e, section.sh_offset, into, size);
    if (code == NULL)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: symbol '%.60s' has more than %d bytes, or lies outside of the file", file, begins,
                            BLOCK_BYTES_MAX);
    memcpy(out->code, code, size);
    out->n = size;
    if (symbol != NULL)
        elf_strip(out);
    return MACHINE_OK;
}
