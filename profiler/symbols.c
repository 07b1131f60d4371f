/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of places in code: a table by address, that of the kernel, and those of files. */
#include "profiler/symbols.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/list.h"

struct symbol {
    uint64_t address, size;
    uint32_t name; /* offset in names */
    uint32_t rank;
};

struct symbols {
    struct symbol *symbol; /* by address */
    size_t n;
    char *names;
    size_t used, room;
};

struct symbols *symbols_new(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
    if (s == NULL)
        return;
    free(s->symbol);
    free(s->names);
    free(s);
}

bool symbols_add(struct symbols *s, uint64_t address, uint64_t size, unsigned rank, const char *name)
{
    size_t length = strlen(name);
    if (s->n >= SYMBOLS_MAX || !list_room(&s->symbol, s->n, sizeof(s->symbol[0])))
        return false;
    if (s->used + length + 1 > s->room) {
        size_t room = 2 * s->room + length + 4096;
        char *names = realloc(s->names, room);
        if (names == NULL)
            return false;
        s->names = names;
        s->room = room;
    }
    s->symbol[s->n++] = (struct symbol){.address = address, .size = size, .name = (uint32_t)s->used, .rank = rank};
    memcpy(s->names + s->used, name, length);
    s->names[s->used + length] = '\0';
    s->used += length + 1;
    return true;
}

static size_t symbols_count(const struct symbols *s)
{
    return s->n;
}

/* The last one of the symbols at one address counts. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->name < y->name) - (x->name > y->name);
}

void symbols_sort(struct symbols *s)
{
    if (s->n > 0)
        qsort(s->symbol, s->n, sizeof(s->symbol[0]), compare_symbols);
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
    size_t begin = 0, end = s->n; /* the symbol is before `end`; all before `begin` are at or below the address */
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (s->symbol[middle].address <= address)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == 0)
        return NULL;
    const struct symbol *at = &s->symbol[begin - 1];
    return at->size == 0 || address - at->address < at->size ? s->names + at->name : NULL;
}

/* Lines "ffffffff81000000 T _stext", of a module with "\t[NAME]" after it (kernel/kallsyms.c). */
struct symbols *symbols_of_kernel(const char *path)
{
    char line[1024];
    struct symbols *s = symbols_new();
    FILE *in = s != NULL ? fopen(path, "re") : NULL;
    bool fine = s != NULL;
    while (in != NULL && fine && fgets(line, sizeof(line), in) != NULL) {
        char *end, *name;
        uint64_t address = strtoull(line, &end, 16);
        if (address == 0 || end[0] != ' ' || strchr("tTwW", end[1]) == NULL || end[1] == '\0' || end[2] != ' ')
            continue;
        name = end + 3;
        name[strcspn(name, "\t\n")] = '\0';
        fine = symbols_add(s, address, 0, 0, name);
    }
    if (in != NULL)
        (void)fclose(in);
    if (fine)
        symbols_sort(s);
    if (fine || s == NULL)
        return s;
    symbols_free(s);
    return NULL;
}

/* ---- files ---- */

/*
 * Whoever runs a program has written its file, and may truncate it while it is read: libdw 0.188 is brought down by
 * damaged files, and unpacks compressed parts whatever their size. It works in a process of its own, with nothing but
 * the file, little memory and little time; where that fails the file has no names.
 */

/* Executable parts of one file. */
enum { SYMBOLS_PARTS_MAX = 16 };
enum { SYMBOLS_NAME_MAX = 512 }; /* with a NUL; C++ knows longer ones, which nobody reads */

/* One function, its name of `length` bytes after it; or, without a name, a part of the file that is executable. */
struct symbols_message {
    uint64_t address, size; /* in the file's own addresses */
    uint64_t offset;        /* of the part, in the file */
    uint32_t rank, length;
};

struct symbols_file {
    struct symbols *symbols;
    unsigned n_parts; /* that are executable */
    struct symbols_message part[SYMBOLS_PARTS_MAX];
};

#ifdef STATIC_PROGRAM
/* Instead of libdw's own, which ask servers through a library that they load: a static program cannot. */
int ask_for_executable(void) __asm__("__libdwfl_debuginfod_find_executable");
int ask_for_debuginfo(void) __asm__("__libdwfl_debuginfod_find_debuginfo");
void ask_no_more(void) __asm__("__libdwfl_debuginfod_end");

int ask_for_executable(void)
{
    return -1;
}

int ask_for_debuginfo(void)
{
    return -1;
}

void ask_no_more(void)
{
}
#endif

/* ---- the process that reads the file ---- */

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

/* Whether the file has lost its local symbols: then a symbol without a size may end anywhere before the next one. */
static bool is_stripped(Dwfl_Module *module, int n)
{
    for (int i = 1; i < n && i < SYMBOLS_MAX; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        if (dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL) != NULL &&
            GELF_ST_BIND(symbol.st_info) == STB_LOCAL && GELF_ST_TYPE(symbol.st_info) != STT_SECTION)
            return false;
    }
    return true;
}

static void write_functions(Dwfl_Module *module, Elf *elf, GElf_Addr bias, FILE *out)
{
    int n = dwfl_module_getsymtab(module);
    const bool stripped = is_stripped(module, n);
    for (int i = 1; i < n && i < SYMBOLS_MAX; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        int type = GELF_ST_TYPE(symbol.st_info);
        bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
        /* assemblers often give symbols no type */
        if (name == NULL || name[0] == '\0' || symbol.st_shndx == SHN_UNDEF || (!function && type != STT_NOTYPE) ||
            (stripped && symbol.st_size == 0) || !is_code(elf, address - bias))
            continue;
        const struct symbols_message m = {.address = address - bias,
                                          .size = symbol.st_size,
                                          .rank = (function ? 2 : 0) + (GELF_ST_BIND(symbol.st_info) != STB_LOCAL),
                                          .length = (uint32_t)strnlen(name, SYMBOLS_NAME_MAX - 1)};
        (void)fwrite(&m, sizeof(m), 1, out);
        (void)fwrite(name, 1, m.length, out);
    }
}

/* Writes all parts, then all functions; what is no ELF file has none. The descriptor is closed. */
static void write_symbols(int fd, FILE *out)
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

/* ---- its output ---- */

void symbols_file_free(struct symbols_file *f)
{
    if (f != NULL)
        symbols_free(f->symbols);
    free(f);
}

size_t symbols_file_count(const struct symbols_file *f)
{
    return symbols_count(f->symbols);
}

/* Beyond what this process has already. */
static void limit_memory(rlim_t bytes)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (in == NULL || fscanf(in, "%lu", &pages) != 1)
        _exit(1);
    (void)fclose(in);
    bytes += pages * (rlim_t)sysconf(_SC_PAGESIZE);
    (void)setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

/* The process that reads: no other descriptors, no privileges, no core files; it ends with its parent. */
static _Noreturn void read_apart(int fd, int to)
{
    enum { NOBODY = 65534 };
    if (dup2(fd, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO, UINT_MAX, 0) != 0)
        _exit(1);
    limit_memory((rlim_t)2 << 30);
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){SYMBOLS_SECONDS_MAX, SYMBOLS_SECONDS_MAX});
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* as far as it may */
    if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    FILE *out = fdopen(STDOUT_FILENO, "w");
    if (out != NULL) {
        write_symbols(STDIN_FILENO, out);
        (void)fflush(out);
    }
    _exit(0);
}

/* The output of the process, as it comes. */
struct symbols_ear {
    int from;
    time_t end; /* CLOCK_MONOTONIC; what comes later is not heard */
    size_t at, used;
    char bytes[65536];
};

/* False: there is no more, or not in time. */
static bool fill_ear(struct symbols_ear *e)
{
    struct pollfd p = {.fd = e->from, .events = POLLIN};
    struct timespec now;
    ssize_t got = -1;
    do {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (poll(&p, 1, 1000) > 0)
            got = read(e->from, e->bytes, sizeof(e->bytes));
    } while (got < 0 && now.tv_sec <= e->end);
    e->at = 0;
    e->used = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static bool hear_bytes(struct symbols_ear *e, void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        if (e->at == e->used && !fill_ear(e))
            return false;
        size_t n = size - done < e->used - e->at ? size - done : e->used - e->at;
        memcpy((char *)out + done, e->bytes + e->at, n);
        e->at += n;
        done += n;
    }
    return true;
}

/* The entire output of the process. False: out of memory. */
static bool take_messages(struct symbols_file *f, struct symbols_ear *e)
{
    struct symbols_message m;
    char name[SYMBOLS_NAME_MAX];
    while (symbols_count(f->symbols) < SYMBOLS_MAX && hear_bytes(e, &m, sizeof(m))) {
        if (m.length >= sizeof(name) || !hear_bytes(e, name, m.length))
            return true;
        name[m.length] = '\0';
        if (m.length == 0 && f->n_parts < SYMBOLS_PARTS_MAX)
            f->part[f->n_parts++] = m;
        else if (m.length > 0 && !symbols_add(f->symbols, m.address, m.size, m.rank, name))
            return false;
    }
    return true;
}

/* False: out of memory. What cannot be read leaves the file without names. */
static bool read_symbols(struct symbols_file *f, int fd)
{
    int ends[2];
    struct timespec now;
    struct symbols_ear *e = malloc(sizeof(*e));
    if (e == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        free(e);
        return e != NULL;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    *e = (struct symbols_ear){.from = ends[0], .end = now.tv_sec + SYMBOLS_SECONDS_MAX};
    pid_t pid = fork();
    if (pid == 0)
        read_apart(fd, ends[1]);
    (void)close(ends[1]);
    bool fine = pid < 0 || take_messages(f, e);
    (void)close(ends[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(e);
    return fine;
}

struct symbols_file *symbols_of_file(int fd)
{
    struct symbols_file *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return NULL;
    f->symbols = symbols_new();
    if (f->symbols != NULL && read_symbols(f, fd)) {
        symbols_sort(f->symbols);
        return f;
    }
    symbols_file_free(f);
    return NULL;
}

const char *symbols_file_find(const struct symbols_file *f, uint64_t offset, uint64_t *address)
{
    *address = offset;
    for (unsigned i = 0; i < f->n_parts; i++)
        if (offset >= f->part[i].offset && offset - f->part[i].offset < f->part[i].size) {
            *address = offset - f->part[i].offset + f->part[i].address;
            return symbols_find(f->symbols, *address);
        }
    return NULL;
}
