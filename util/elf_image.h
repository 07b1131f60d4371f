/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files for x86-64 (System V ABI) in memory, from anybody: every offset in them is doubted. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image {
    const uint8_t *bytes; /* of the whole file, the caller's */
    size_t n;
    Elf64_Ehdr head;
};

/* Returns whether it is an ELF file of 64 bits for x86-64; *out then. */
bool elf_image_of(const uint8_t *bytes, size_t n, struct elf_image *out);
/* The bytes `offset` after `base`; NULL where they are not all in the file. */
const void *elf_image_at(const struct elf_image *e, uint64_t base, uint64_t offset, uint64_t size);
/* Section i; false: there is none. */
bool elf_image_section(const struct elf_image *e, size_t i, Elf64_Shdr *out);
/* Symbol k of a table; false where the table, or the file, ends before it. */
bool elf_image_symbol(const struct elf_image *e, const Elf64_Shdr *table, uint64_t k, Elf64_Sym *out);
/* A text in a table of them; NULL where it does not end within the file. */
const char *elf_image_text(const struct elf_image *e, const Elf64_Shdr *texts, uint32_t offset);
/* Where in its section a symbol lies: values are addresses, in .o files offsets. */
uint64_t elf_image_into(const struct elf_image *e, const Elf64_Sym *s, const Elf64_Shdr *section);
