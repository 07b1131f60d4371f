/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/symbols_elf.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/symbols.h"

/* libdw has one that also asks servers (debuginfod); a profiler leaves the network alone. */
static int find_local_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                                const char *link, GElf_Word crc, char **found)
{
    enum { ID_MAX = 64 };
    const unsigned char *id;
    GElf_Addr address;
    char path[64 + 2 * ID_MAX] = "/usr/lib/debug/.build-id/";
    (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
    int length = dwfl_module_build_id(module, &id, &address);
    if (length < 2 || length > ID_MAX)
        return -1;
    for (int i = 0; i < length; i++)
        (void)sprintf(path + strlen(path), i == 1 ? "/%02x" : "%02x", id[i]);
    (void)strcat(path, ".debug");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        *found = strdup(path);
    return fd;
}

static int find_no_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **found, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)found, (void)elf;
    return -1; /* it is reported with its descriptor */
}

static bool is_code(Elf *elf, uint64_t address)
{
    size_t n = 0;
    GElf_Phdr p;
    (void)elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0 &&
            address - p.p_vaddr < p.p_filesz)
            return true;
    return false;
}

static void write_parts(Elf *elf, FILE *out)
{
    size_t n = 0;
    GElf_Phdr p;
    (void)elf_getphdrnum(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0) {
            const struct symbols_message m = {.address = p.p_vaddr, .size = p.p_filesz, .offset = p.p_offset};
            (void)fwrite(&m, sizeof(m), 1, out);
        }
}

static void write_functions(Dwfl_Module *module, Elf *elf, GElf_Addr bias, FILE *out)
{
    int n = dwfl_module_getsymtab(module);
    for (int i = 1; i < n && i < SYMBOLS_MAX; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        int type = GELF_ST_TYPE(symbol.st_info);
        bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
        /* what assemblers make often has no type */
        if (name == NULL || name[0] == '\0' || symbol.st_shndx == SHN_UNDEF || (!function && type != STT_NOTYPE) ||
            !is_code(elf, address - bias))
            continue;
        const struct symbols_message m = {.address = address - bias,
                                          .size = symbol.st_size,
                                          .rank = (function ? 2 : 0) + (GELF_ST_BIND(symbol.st_info) != STB_LOCAL),
                                          .length = (uint32_t)strnlen(name, SYMBOLS_NAME_MAX - 1)};
        (void)fwrite(&m, sizeof(m), 1, out);
        (void)fwrite(name, 1, m.length, out);
    }
}

void symbols_elf_write(int fd, FILE *out)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_no_file,
                                             .find_debuginfo = find_local_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    GElf_Ehdr header;
    GElf_Addr bias;
    if (dwfl == NULL)
        return;
    dwfl_report_begin(dwfl);
    Dwfl_Module *module = dwfl_report_offline(dwfl, "", "", fd);
    (void)dwfl_report_end(dwfl, NULL, NULL);
    Elf *elf = module != NULL ? dwfl_module_getelf(module, &bias) : NULL;
    if (elf != NULL && gelf_getehdr(elf, &header) != NULL && (header.e_type == ET_EXEC || header.e_type == ET_DYN)) {
        write_parts(elf, out);
        write_functions(module, elf, bias, out);
    }
    dwfl_end(dwfl);
}
