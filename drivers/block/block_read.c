/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the code of a block: assembly, machine code, or a symbol of an ELF file. */
#include "drivers/block/block_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/command.h"
#include "util/data_file.h"
#include "util/elf_image.h"
#include "util/path.h"

/* A name of a kernel: letters, digits, underscores, not one that begins like another. 16 characters leave room for
 * suffixes and for the names of output files. */
enum { NAME_LENGTH_MAX = 16 };
/* A source may make NASM repeat something forever. */
static const double assembly_seconds = 10;

static int read_name(const char *file, const char *from, size_t length, struct block_text *out,
                     struct machine_error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    struct payload known;
    for (size_t i = 0; i < length && i < NAME_LENGTH_MAX; i++)
        out->name[i] = (char)tolower((unsigned char)from[i]);
    if (length == 0 || strspn(out->name, allowed) != length)
        return machine_fail(err, MACHINE_BAD_INPUT, "rename the file",
                            "%.200s: a kernel's name is 1 to %d letters, digits and underscores, not '%.*s'", file,
                            NAME_LENGTH_MAX, (int)(length < 40 ? length : 40), from);
    if (kernel_parse(out->name, &known, NULL, 0) == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "rename the file", "%.200s: there is a kernel %s already", file,
                            out->name);
    return MACHINE_OK;
}

/* ---- ELF files ---- */

/* Searches a table of symbols; one that is cut off, as far as it goes. */
static bool elf_symbol_in(const struct elf_image *e, const Elf64_Shdr *table, const char *name, Elf64_Sym *out)
{
    Elf64_Shdr texts;
    if (!elf_image_section(e, table->sh_link, &texts))
        return false;
    for (uint64_t k = 0; elf_image_symbol(e, table, k, out); k++) {
        const char *text = elf_image_text(e, &texts, out->st_name);
        if (out->st_shndx != SHN_UNDEF && text != NULL && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static bool elf_symbol(const struct elf_image *e, const char *name, Elf64_Sym *out)
{
    Elf64_Shdr table;
    for (size_t i = 0; elf_image_section(e, i, &table); i++)
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && elf_symbol_in(e, &table, name, out))
            return true;
    return false;
}

/* Finds the code of a symbol in its section. */
static bool elf_code(const struct elf_image *e, const Elf64_Sym *s, Elf64_Shdr *section, uint64_t *into)
{
    if (!elf_image_section(e, s->st_shndx, section) || section->sh_type != SHT_PROGBITS)
        return false;
    *into = elf_image_into(e, s, section);
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
    struct elf_image e;
    if (!elf_image_of(image, n, &e))
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
    const void *code = size > BLOCK_BYTES_MAX ? NULL : elf_image_at(&e, section.sh_offset, into, size);
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

/* ---- assembly ---- */

/* "; instructions: 24" and the like, anywhere in a comment. */
static int read_declarations(const char *file, const char *text, struct block_text *out, struct machine_error *err)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        char value[16] = "";
        line += *line == '\n';
        const char *comment = line + strcspn(line, ";\n");
        if (*comment != ';')
            continue;
        if (sscanf(comment, "; instructions: %15s", value) == 1) {
            char *end;
            unsigned long n = strtoul(value, &end, 10);
            if (*end != '\0' || n == 0 || n > BLOCK_BYTES_MAX || !isdigit((unsigned char)value[0]))
                return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: instructions: '%s' is not from 1 to %d", file,
                                    value, BLOCK_BYTES_MAX);
            out->instructions = (unsigned)n;
        } else if (sscanf(comment, "; width: %15s", value) == 1) {
            unsigned width = (unsigned)strtoul(value, NULL, 10);
            if (width != 64 && width != 128 && width != 256 && width != 512)
                return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: width: '%s' is none of 64, 128, 256, 512",
                                    file, value);
            out->width = width;
        } else if (sscanf(comment, "; weight: %15s", value) == 1) {
            out->weight = strcmp(value, "heavy") == 0 ? BLOCK_HEAVY : BLOCK_LIGHT;
            if (out->weight == BLOCK_LIGHT && strcmp(value, "light") != 0)
                return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: weight: '%s' is neither light nor heavy", file,
                                    value);
        }
    }
    return MACHINE_OK;
}

static int take_code(const char *file, const char *bytes, size_t n, struct block_text *out, struct machine_error *err)
{
    if (n > BLOCK_BYTES_MAX)
        return machine_fail(err, MACHINE_BAD_INPUT, "take the hot loop alone",
                            "%.200s: %zu bytes of code; a block has at most %d", file, n, BLOCK_BYTES_MAX);
    memcpy(out->code, bytes, n);
    out->n = n;
    return MACHINE_OK;
}

static char *read_whole(const char *file, const char *shown, size_t *n, struct machine_error *err)
{
    char why[160];
    FILE *in = NULL;
    if (path_read_named(file, &in, why, sizeof why) != 0) {
        machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be opened: %s", shown, why);
        return NULL;
    }
    char *text = data_file_contents(in, shown, n, err);
    fclose(in);
    return text;
}

/* Messages of the assembler name the user's file and its lines. */
static int write_source(const char *path, const char *file, const char *text)
{
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return -1;
    bool failed = fprintf(out, "bits 64\n%%line 0+1 %s\n%s\n", file, text) < 0;
    return fclose(out) != 0 || failed ? -1 : 0;
}

/* Labels that nothing follows are warned of: what is no assembly at all would be labels. */
static int run_nasm(const char *file, const char *folder, const char *text, struct block_text *out,
                    struct machine_error *err)
{
    char source[64], binary[64], why[400];
    snprintf(source, sizeof source, "%s/block.asm", folder);
    snprintf(binary, sizeof binary, "%s/block.bin", folder);
    /* a line may request gigabytes */
    const char *const argv[] = {
        "prlimit", "--fsize=1048576", "--as=1073741824", "nasm", "-f", "bin", "-Werror", "-o", binary, source, NULL};
    size_t limits = command_installed("prlimit") ? 0 : 3;
    struct command_output *said = malloc(sizeof *said);
    int status = MACHINE_OK;
    if (said == NULL || write_source(source, file, text) != 0)
        status = machine_fail(err, MACHINE_FAILED, "", "%.200s: cannot be copied to %s", file, folder);
    else if (!command_installed("nasm"))
        status = machine_fail(err, MACHINE_CANNOT, "apt install nasm, or assemble it elsewhere into FILE.bin",
                              "%.200s: needs the assembler NASM, which is not installed", file);
    else if (command_run(argv + limits, assembly_seconds, said, why, sizeof why) != 0)
        status = machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: %.280s", file, why);
    free(said);
    if (status == MACHINE_OK) {
        size_t n;
        char *code = read_whole(binary, file, &n, err);
        status = code == NULL ? (int)err->status : take_code(file, code, n, out, err);
        free(code);
    }
    unlink(source);
    unlink(binary);
    return status;
}

static int assemble(const char *file, const char *text, struct block_text *out, struct machine_error *err)
{
    char folder[] = "/tmp/characterize-XXXXXX";
    int status = read_declarations(file, text, out, err);
    if (status != MACHINE_OK)
        return status;
    if (mkdtemp(folder) == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "%.200s: no folder in /tmp to assemble it in", file);
    status = run_nasm(file, folder, text, out, err);
    rmdir(folder);
    return status;
}

int block_read(const char *file, struct block_text *out, struct machine_error *err)
{
    char path[4096];
    memset(out, 0, sizeof *out);
    if (strlen(file) >= sizeof path || strpbrk(file, "\n\r") != NULL)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "a name of a file that is too long, or has several lines");
    snprintf(path, sizeof path, "%s", file);
    char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, *symbol = strchr(base, ':');
    if (symbol != NULL)
        *symbol++ = '\0';
    char *suffix = strrchr(base, '.');
    char *version = strstr(base, ".so."); /* libz.so.1 */
    suffix = version != NULL ? version : suffix;
    bool elf = version != NULL || (suffix != NULL && (strcmp(suffix, ".so") == 0 || strcmp(suffix, ".o") == 0));
    bool assembly = suffix != NULL && strcmp(suffix, ".asm") == 0;
    if (suffix == NULL || (!elf && !assembly && strcmp(suffix, ".bin") != 0) || (symbol != NULL && !elf))
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%.200s: neither FILE.asm, FILE.bin, FILE.so, FILE.o nor FILE.so:FUNCTION", file);
    int status = symbol != NULL ? read_name(file, symbol, strlen(symbol), out, err)
                                : read_name(file, base, (size_t)(suffix - base), out, err);
    if (status != MACHINE_OK)
        return status;
    size_t n;
    char *bytes = read_whole(path, file, &n, err);
    if (bytes == NULL)
        return err->status;
    if (assembly && strlen(bytes) != n)
        status = machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: not a text, it holds zero bytes", file);
    else if (assembly)
        status = assemble(file, bytes, out, err);
    else if (elf)
        status = block_elf_read(file, (const uint8_t *)bytes, n, symbol, out, err);
    else
        status = take_code(file, bytes, n, out, err);
    free(bytes);
    if (status == MACHINE_OK && out->n == 0) /* a function may do nothing but return */
        status = machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: holds no instructions", file);
    return status;
}
