/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/places.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/lookup.h"
#include "profiler/proc_task.h"
#include "profiler/symbols.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/plain_text.h"

enum { PLACES_PATH_MAX = 4200 };

/* A file that was read; one that was rebuilt under its number has another time. */
struct place_file {
    uint64_t key[5]; /* inode, device, size, time of the last change */
    struct symbols_file *symbols;
};

struct place_mapping {
    uint64_t begin, end, offset;
    ino_t inode;                        /* 0: no file */
    bool opened;                        /* it was tried */
    const struct symbols_file *symbols; /* NULL: not known */
    char name[64];                      /* of the file, without its folder; "[vdso]"; "" */
};

struct place_process {
    uint64_t tgid;
    dev_t device; /* of the program: another one after exec() */
    ino_t inode;
    uint64_t looked_ns; /* since boot */
    size_t n;
    struct place_mapping *mapping; /* ascending */
};

struct places {
    char *proc;
    struct symbols *kernel;          /* NULL until the first kernel address */
    struct profile_lookup processes; /* of struct place_process, by tgid */
    struct profile_lookup files;     /* of struct place_file */
    uint64_t n_symbols;
    struct place_process *now; /* that of the last places_look(); NULL: not known */
};

static void forget_processes(struct places *p)
{
    for (size_t i = 0; i < p->processes.n; i++)
        free(((struct place_process *)profile_lookup_at(&p->processes, i))->mapping);
    profile_lookup_free(&p->processes);
}

struct places *places_new(const char *proc)
{
    struct places *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return NULL;
    p->processes = (struct profile_lookup){.size = sizeof(struct place_process), .words = 1};
    p->files = (struct profile_lookup){.size = sizeof(struct place_file), .words = 5};
    p->proc = strdup(proc);
    if (p->proc != NULL)
        return p;
    free(p);
    return NULL;
}

void places_free(struct places *p)
{
    if (p == NULL)
        return;
    forget_processes(p);
    for (size_t i = 0; i < p->files.n; i++)
        symbols_file_free(((struct place_file *)profile_lookup_at(&p->files, i))->symbols);
    profile_lookup_free(&p->files);
    symbols_free(p->kernel);
    free(p->proc);
    free(p);
}

/* A line of /proc/PID/maps, proc_pid_maps(5). False: not of executable memory. */
static bool parse_mapping(const char *line, struct place_mapping *m)
{
    char mode[5];
    int name = 0;
    uint64_t inode = 0;
    *m = (struct place_mapping){.begin = 0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m->begin, &m->end, mode, &m->offset,
               &inode, &name) < 5 ||
        mode[2] != 'x')
        return false;
    m->inode = (ino_t)inode;
    const char *path = line + name, *slash = strrchr(path, '/');
    (void)snprintf(m->name, sizeof(m->name), "%.*s", (int)strcspn(slash != NULL ? slash + 1 : path, "\n"),
                   slash != NULL ? slash + 1 : path);
    char *deleted = strstr(m->name, " (deleted)");
    if (deleted != NULL)
        *deleted = '\0';
    return true;
}

/* False: out of memory. A process that has ended meanwhile keeps what was known. */
static bool read_mappings(const struct places *p, struct place_process *process)
{
    char path[PLACES_PATH_MAX], *line = NULL;
    size_t room = 0, n = 0;
    struct place_mapping *mapping = NULL, m;
    bool fine = true;
    (void)snprintf(path, sizeof(path), "%s/%" PRIu64 "/maps", p->proc, process->tgid);
    process->looked_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    FILE *in = fopen(path, "re");
    while (in != NULL && fine && n < PLACES_MAPPINGS_MAX && getline(&line, &room, in) > 0)
        if (parse_mapping(line, &m)) {
            fine = list_room(&mapping, n, sizeof(m));
            if (fine)
                mapping[n++] = m;
        }
    free(line);
    if (in != NULL)
        (void)fclose(in);
    if (n > 0) {
        free(process->mapping);
        process->mapping = mapping;
        process->n = n;
    } else {
        free(mapping);
    }
    return fine;
}

/* The key is an address. */
static int compare_place_mappings(const void *key, const void *element)
{
    uint64_t address = *(const uint64_t *)key;
    const struct place_mapping *m = element;
    return address < m->begin ? -1 : address >= m->end;
}

static struct place_mapping *find_mapping(const struct place_process *process, uint64_t address)
{
    if (process == NULL || process->n == 0)
        return NULL;
    return bsearch(&address, process->mapping, process->n, sizeof(process->mapping[0]), compare_place_mappings);
}

/* Whether a user address of a record lies in no mapping that is known. */
static bool has_strangers(const struct place_process *process, const struct profile_record *r)
{
    for (unsigned i = r->n_kernel; i < r->n_stack; i++)
        if (find_mapping(process, r->stack[i]) == NULL)
            return true;
    return false;
}

static struct place_process *add_process(struct places *p, uint64_t tgid)
{
    if (p->processes.n >= PLACES_PROCESSES_MAX)
        forget_processes(p);
    uint32_t index = profile_lookup_index(&p->processes, &tgid);
    return index != PROFILE_NOWHERE ? profile_lookup_at(&p->processes, index) : NULL;
}

bool places_look(struct places *p, const struct profile_record *r)
{
    /* a process whose addresses belong to nothing is not looked at all the time */
    enum { PLACES_AGAIN_NS = 100000000 };
    const struct profile_task *t = &r->sight.task;
    struct stat exe;
    char path[PLACES_PATH_MAX];
    p->now = profile_lookup_find(&p->processes, (uint64_t[]){t->tgid});
    if (!proc_task_alive(p->proc, t)) {
        /* what was looked at before this one was started was another process */
        if (p->now != NULL && p->now->looked_ns < t->start_ns)
            p->now = NULL;
        return true;
    }
    (void)snprintf(path, sizeof(path), "%s/%u/exe", p->proc, t->tgid);
    if (stat(path, &exe) != 0)
        exe = (struct stat){.st_dev = 0};
    bool fresh = p->now == NULL;
    if (fresh)
        p->now = add_process(p, t->tgid);
    if (p->now == NULL)
        return false;
    bool same = !fresh && p->now->device == exe.st_dev && p->now->inode == exe.st_ino &&
                p->now->looked_ns >= t->start_ns;
    p->now->device = exe.st_dev;
    p->now->inode = exe.st_ino;
    if (same && ((uint64_t)clock_ns(CLOCK_BOOTTIME) - p->now->looked_ns < PLACES_AGAIN_NS || !has_strangers(p->now, r)))
        return true;
    return read_mappings(p, p->now);
}

/* An open descriptor of what is mapped there, or -1. */
static int open_mapped(const struct places *p, uint64_t tgid, const struct place_mapping *m)
{
    char path[PLACES_PATH_MAX];
    struct stat s;
    (void)snprintf(path, sizeof(path), "%s/%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, p->proc, tgid, m->begin,
                   m->end);
    /* first without opening: what else it may be could act on that, or wait */
    int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
    if (place >= 0 && fstat(place, &s) == 0 && S_ISREG(s.st_mode)) {
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    if (place >= 0)
        (void)close(place);
    return fd;
}

/* The symbols of an open file; *out is NULL where it cannot be had. False: out of memory. */
static bool know_file(struct places *p, int fd, const struct symbols_file **out)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return true;
    const uint64_t key[] = {s.st_ino, s.st_dev, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec,
                            (uint64_t)s.st_mtim.tv_nsec};
    struct place_file *f = profile_lookup_find(&p->files, key);
    if (f == NULL && p->files.n < PLACES_FILES_MAX && p->n_symbols < PLACES_SYMBOLS_MAX) {
        uint32_t index = profile_lookup_index(&p->files, key);
        f = index != PROFILE_NOWHERE ? profile_lookup_at(&p->files, index) : NULL;
        if (f == NULL || (f->symbols = symbols_of_file(fd)) == NULL)
            return false;
        p->n_symbols += symbols_file_count(f->symbols);
    }
    *out = f != NULL ? f->symbols : NULL;
    return true;
}

/* Opens the file of a mapping, once. False: out of memory. */
static bool know_mapping(struct places *p, struct place_mapping *m)
{
    int fd = m->opened ? -1 : open_mapped(p, p->now->tgid, m);
    bool fine = fd < 0 || know_file(p, fd, &m->symbols);
    if (fd >= 0)
        (void)close(fd);
    m->opened = m->opened || fine;
    return fine;
}

static bool name_kernel_place(struct places *p, uint64_t address, char *out, size_t size)
{
    char path[PLACES_PATH_MAX], text[600];
    if (p->kernel == NULL) {
        (void)snprintf(path, sizeof(path), "%s/kallsyms", p->proc);
        p->kernel = symbols_of_kernel(path);
    }
    if (p->kernel == NULL)
        return false;
    const char *name = symbols_find(p->kernel, address);
    (void)snprintf(text, sizeof(text), "%s", name != NULL ? name : "[kernel]");
    if (name != NULL)
        (void)strncat(text, "_[k]", sizeof(text) - strlen(text) - 1);
    plain_text(text, out, size);
    return true;
}

bool places_name(struct places *p, const struct profile_record *r, unsigned entry, char *out, size_t size)
{
    /* all but the first of the kernel's and of the program's own are where a call returns to, perhaps past the end */
    bool returns = entry != 0 && entry != r->n_kernel;
    uint64_t address = r->stack[entry] - (returns ? 1 : 0), place;
    char text[600];
    if (entry < r->n_kernel)
        return name_kernel_place(p, address, out, size);
    struct place_mapping *m = find_mapping(p->now, address);
    if (m == NULL) {
        plain_text("[unknown]", out, size);
        return true;
    }
    if (m->inode == 0) {
        plain_text(m->name[0] == '[' ? m->name : "[anonymous]", out, size);
        return true;
    }
    if (!know_mapping(p, m))
        return false;
    const char *name = NULL;
    place = address - m->begin + m->offset;
    if (m->symbols != NULL)
        name = symbols_file_find(m->symbols, place, &place);
    if (name != NULL)
        (void)snprintf(text, sizeof(text), "%s", name);
    else
        (void)snprintf(text, sizeof(text), "[%s]+0x%" PRIx64, m->name, place);
    plain_text(text, out, size);
    return true;
}
