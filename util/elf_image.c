/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads parts of ELF files that may be damaged. */
#include "util/elf_image.h"

#include <string.h>

bool elf_image_of(const uint8_t *bytes, size_t n, struct elf_image *out)
{
    *out = (struct elf_image){.bytes = bytes, .n = n};
    if (n >= sizeof out->head)
        memcpy(&out->head, bytes, sizeof out->head);
    return memcmp(out->head.e_ident, ELFMAG, SELFMAG) == 0 && out->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           out->head.e_machine == EM_X86_64;
}

const void *elf_image_at(const struct elf_image *e, uint64_t base, uint64_t offset, uint64_t size)
{
    uint64_t from, end;
    if (__builtin_add_overflow(base, offset, &from) || __builtin_add_overflow(from, size, &end) || end > e->n)
        return NULL;
    return e->bytes + from;
}

bool elf_image_section(const struct elf_image *e, size_t i, Elf64_Shdr *out)
{
    const void *at = i < e->head.e_shnum ? elf_image_at(e, e->head.e_shoff, i * sizeof *out, sizeof *out) : NULL;
    if (at != NULL)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

bool elf_image_symbol(const struct elf_image *e, const Elf64_Shdr *table, uint64_t k, Elf64_Sym *out)
{
    const bool within = k < table->sh_size / sizeof *out;
    const void *at = within ? elf_image_at(e, table->sh_offset, k * sizeof *out, sizeof *out) : NULL;
    if (at != NULL)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

const char *elf_image_text(const struct elf_image *e, const Elf64_Shdr *texts, uint32_t offset)
{
    const char *at = elf_image_at(e, texts->sh_offset, offset, 1);
    return at != NULL && memchr(at, '\0', (size_t)((const char *)e->bytes + e->n - at)) != NULL ? at : NULL;
}

uint64_t elf_image_into(const struct elf_image *e, const Elf64_Sym *s, const Elf64_Shdr *section)
{
    return e->head.e_type == ET_REL ? s->st_value : s->st_value - section->sh_addr;
}
