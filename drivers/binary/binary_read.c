/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of an ELF file, of which nothing is believed. */
#include "drivers/binary/binary.h"

#include <ar.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/command.h"
#include "util/edit_distance.h"
#include "util/elf_image.h"
#include "util/list.h"
#include "util/path.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* The largest file: the libraries of machine learning, the largest there are, have some 1 GiB. */
static const size_t FILE_BYTES_MAX = (size_t)2 << 30;
enum { PATH_SIZE = 4096 };

/* A symbol of code, by its section and place. */
struct code_symbol {
    size_t section;
    uint64_t into, size;
    const char *name;
    bool chosen;
};

struct code_symbols {
    struct code_symbol *list;
    size_t n;
};

static int order_symbols(const void *a, const void *b)
{
    const struct code_symbol *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->into != y->into)
        return x->into < y->into ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_code(const Elf64_Shdr *s)
{
    return s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_EXECINSTR) != 0 && s->sh_size < UINT32_MAX;
}

/* Labels within functions are of no type, and local. */
static bool names_function(const Elf64_Sym *s)
{
    const unsigned type = ELF64_ST_TYPE(s->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && ELF64_ST_BIND(s->st_info) != STB_LOCAL);
}

static int take_symbols(const struct elf_image *e, const Elf64_Shdr *table, struct code_symbols *out)
{
    Elf64_Shdr texts, section;
    Elf64_Sym s;
    if (!elf_image_section(e, table->sh_link, &texts))
        return 0;
    for (uint64_t k = 0; elf_image_symbol(e, table, k, &s); k++) {
        const char *name = elf_image_text(e, &texts, s.st_name);
        if (!names_function(&s) || name == NULL || name[0] == '\0' || s.st_shndx == SHN_UNDEF ||
            !elf_image_section(e, s.st_shndx, &section) || !is_code(&section) ||
            elf_image_into(e, &s, &section) >= section.sh_size)
            continue;
        if (!list_room(&out->list, out->n, sizeof *out->list))
            return -1;
        out->list[out->n++] = (struct code_symbol){.section = s.st_shndx,
                                                   .into = elf_image_into(e, &s, &section),
                                                   .size = s.st_size,
                                                   .name = name,
                                                   .chosen = ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC};
    }
    return 0;
}

static int add_function(struct binary *b, const char *name, const Elf64_Shdr *section, const uint8_t *code,
                        uint64_t from, uint64_t to, bool chosen)
{
    char own[32];
    snprintf(own, sizeof own, "+0x%" PRIx64, section->sh_addr + from);
    if (from >= to)
        return 0;
    if (!list_room(&b->function, b->n, sizeof *b->function))
        return -1;
    b->function[b->n] = (struct binary_function){.name = strdup(name != NULL ? name : own),
                                                 .address = section->sh_addr + from,
                                                 .code = code + from,
                                                 .n = to - from,
                                                 .chosen = chosen};
    return b->function[b->n++].name != NULL ? 0 : -1;
}

/* Behind the names of a symbol without a size, in a file whose other functions may have lost theirs. */
static const char AND_MORE[] = "...";

/* Adds a section's functions, each up to its end or the next, and as one of its own what lies between them. */
static int split_section(struct binary *b, const Elf64_Shdr *section, const uint8_t *code, const struct code_symbol *s,
                         size_t n, bool stripped)
{
    uint64_t done = 0;
    int bad = 0;
    for (size_t i = 0; i < n && !bad;) {
        char names[BINARY_NAME_MAX] = "";
        const uint64_t from = s[i].into;
        uint64_t size = 0;
        bool chosen = false;
        for (const char *last = ""; i < n && s[i].into == from; last = s[i++].name) {
            if (strcmp(s[i].name, last) != 0) /* it may stand in both tables */
                text_list_add(names, sizeof names, "=", "%s", s[i].name);
            size = s[i].size > size ? s[i].size : size;
            chosen |= s[i].chosen;
        }
        const uint64_t next = i < n ? s[i].into : section->sh_size;
        const uint64_t end = size > 0 && size < next - from ? from + size : next;
        if (size == 0 && stripped)
            text_list_add(names, sizeof names, "", "%s", AND_MORE);
        bad = add_function(b, NULL, section, code, done, from, false) ||
              add_function(b, names, section, code, from, end, chosen);
        done = end;
    }
    return bad ? bad : add_function(b, NULL, section, code, done, section->sh_size, false);
}

/* Finds all functions. A file whose sections overlap could take forever: its code is larger than it is. */
static int find_functions(const char *file, const struct elf_image *e, struct binary *b, struct machine_error *err)
{
    struct code_symbols all = {0};
    Elf64_Shdr s;
    uint64_t bytes = 0;
    size_t first = 0;
    int bad = 0, status = MACHINE_OK;
    bool stripped = true;
    for (size_t i = 0; elf_image_section(e, i, &s) && !bad; i++)
        if (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM) {
            bad = take_symbols(e, &s, &all);
            stripped &= s.sh_type == SHT_DYNSYM;
        }
    if (all.n > 0)
        qsort(all.list, all.n, sizeof *all.list, order_symbols);
    for (size_t i = 0; elf_image_section(e, i, &s) && !bad && status == MACHINE_OK; i++) {
        size_t past = first;
        while (past < all.n && all.list[past].section == i)
            past++;
        const uint8_t *code = is_code(&s) ? elf_image_at(e, s.sh_offset, 0, s.sh_size) : NULL;
        bytes += is_code(&s) ? s.sh_size : 0;
        if (is_code(&s) && (code == NULL || bytes > e->n))
            status = machine_fail(err, MACHINE_BAD_INPUT, "take a complete file",
                                  "%.200s: cut off or damaged: section %zu does not lie within its %zu bytes", file, i,
                                  e->n);
        else if (code != NULL)
            bad = split_section(b, &s, code, all.list + first, past - first, stripped);
        first = past;
    }
    free(all.list);
    return bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : status;
}

/* ---- one of them ---- */

/* Returns whether it is one of the names "a=b". */
static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL; at = strchr(at, '=')) {
        at += *at == '=';
        if (strncmp(at, name, length) == 0 &&
            (at[length] == '=' || at[length] == '\0' || strcmp(at + length, AND_MORE) == 0))
            return true;
    }
    return false;
}

/* The nearest of the names "a=b", which it cuts, if it is nearer than the one found so far. */
static void find_nearest(const char *name, char *names, unsigned *least, struct plain_shown *nearest)
{
    char *rest = NULL;
    for (char *one = strtok_r(names, "=", &rest); one != NULL; one = strtok_r(NULL, "=", &rest))
        if (edit_nearer(name, strlen(name), one, least))
            *nearest = plain_shown(one);
}

/* Leaves alone what bears this name. */
static int keep_named(const char *file, const char *name, struct binary *b, struct machine_error *err)
{
    unsigned least = edit_guess(strlen(name));
    size_t kept = 0;
    struct plain_shown nearest = {""};
    for (size_t i = 0; i < b->n; i++) {
        struct binary_function *f = &b->function[i];
        if (!has_name(f->name, name)) {
            find_nearest(name, f->name, &least, &nearest);
            free(f->name);
            continue;
        }
        b->function[kept++] = *f;
    }
    b->n = kept;
    if (kept == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: no function '%s' among its symbols%s%s; without a name all of it is searched",
                            file, plain_shown(name).text, nearest.text[0] != '\0' ? "; perhaps " : "", nearest.text);
    if (b->function[0].chosen)
        return machine_fail(err, MACHINE_BAD_INPUT, "name the function that runs on this CPU, or none",
                            "%.200s: '%s' only chooses another when the program starts (STT_GNU_IFUNC)", file,
                            plain_shown(name).text);
    return MACHINE_OK;
}

int binary_of(const char *file, uint8_t *bytes, size_t n, const char *function, struct binary *out,
              struct machine_error *err)
{
    struct elf_image e;
    Elf64_Shdr any;
    *out = (struct binary){.bytes = bytes};
    int status = MACHINE_OK;
    if (n >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0)
        status = machine_fail(err, MACHINE_BAD_INPUT, "take its members out with 'ar x'", "%.200s: an archive", file);
    else if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        status = machine_fail(err, MACHINE_BAD_INPUT, "name a program, a library or an object file",
                              "%.200s: not an ELF file", file);
    else if (!elf_image_of(bytes, n, &e) || e.head.e_ident[EI_DATA] != ELFDATA2LSB)
        status = machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: an ELF file, but %s", file,
                              n < sizeof e.head ? "cut off" : "not for x86-64");
    else if (!elf_image_section(&e, 0, &any))
        status = machine_fail(err, MACHINE_BAD_INPUT, "take a complete file, as the linker wrote it",
                              "%.200s: its table of sections is %s", file, e.head.e_shnum > 0 ? "cut off" : "missing");
    else
        status = find_functions(file, &e, out, err);
    if (status == MACHINE_OK && function != NULL)
        status = keep_named(file, function, out, err);
    if (status != MACHINE_OK)
        binary_free(out);
    return status;
}

void binary_free(struct binary *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->function[i].name);
    free(b->function);
    free(b->bytes);
    *b = (struct binary){0};
}

/* ---- files ---- */

static uint8_t *read_bytes(const char *path, size_t *n, struct machine_error *err)
{
    char why[160];
    FILE *in = NULL;
    uint8_t *bytes = NULL;
    size_t room = 0;
    *n = 0;
    if (path_read_named(path, &in, why, sizeof why) != 0) {
        machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be opened: %s", path, why);
        return NULL;
    }
    struct stat s;
    const bool file = fstat(fileno(in), &s) == 0 && (S_ISREG(s.st_mode) || S_ISFIFO(s.st_mode));
    if (!file || (S_ISREG(s.st_mode) && (uint64_t)s.st_size >= FILE_BYTES_MAX)) {
        machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: %s", path, file ? "too large" : "not a regular file");
        (void)fclose(in);
        return NULL;
    }
    for (bool more = true; more && *n < FILE_BYTES_MAX;) {
        room = room > 0 ? 2 * room : 1 << 20;
        uint8_t *larger = realloc(bytes, room);
        if (larger == NULL)
            break;
        bytes = larger;
        *n += fread(bytes + *n, 1, room - *n, in);
        more = *n == room;
    }
    const bool all = bytes != NULL && *n < room && ferror(in) == 0;
    (void)fclose(in);
    if (all)
        return bytes;
    free(bytes);
    machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be read: an error, out of memory, or above %zu MiB", path,
                 FILE_BYTES_MAX >> 20);
    return NULL;
}

/* A name without a slash that is no file here is that of a program. */
static int locate(const char *name, char path[PATH_SIZE], struct machine_error *err)
{
    if (access(name, F_OK) == 0 || strchr(name, '/') != NULL) {
        snprintf(path, PATH_SIZE, "%s", name);
        return MACHINE_OK;
    }
    return command_locate(name, path, PATH_SIZE, err) == MACHINE_OK
               ? MACHINE_OK
               : machine_fail(err, MACHINE_BAD_INPUT, "name a program, or a file by its path",
                              "'%s' is neither a file here nor a program in PATH", plain_shown(name).text);
}

int binary_read(const char *what, struct binary *out, struct machine_error *err)
{
    char name[PATH_SIZE], path[PATH_SIZE];
    *out = (struct binary){0};
    if (strlen(what) >= sizeof name || strpbrk(what, "\n\r") != NULL)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "a name of a file that is too long, or has several lines");
    snprintf(name, sizeof name, "%s", what);
    char *function = access(name, F_OK) == 0 ? NULL : strrchr(name, ':');
    if (function != NULL)
        *function++ = '\0';
    int status = locate(name, path, err);
    size_t n;
    uint8_t *bytes = status == MACHINE_OK ? read_bytes(path, &n, err) : NULL;
    if (bytes == NULL)
        return status == MACHINE_OK ? (int)err->status : status;
    return binary_of(path, bytes, n, function, out, err);
}
