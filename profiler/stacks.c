/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of code that demands levels, counted, and the names of the places in them. */
#include "profiler/stacks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/lookup.h"
#include "profiler/names.h"
#include "profiler/symbols.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/plain_text.h"

/* ---- places ---- */

/*
 * Names of the places in a record's stack, by what the system says about its process when the record comes in: "main",
 * "[libc.so.6]+0x2a3f0" where a file has no name for it, "[anonymous]" for code that was generated, "[unknown]";
 * "schedule_[k]" and "[kernel]" in the kernel.
 *
 * Files are opened by way of the process's own mappings (/proc/PID/map_files, as root), so that those in containers
 * and those that were deleted are the right ones. Without that they have no names.
 */

enum {
    PLACES_PROCESSES_MAX = 1024, /* when there are more all are forgotten; those that live are looked up again */
    PLACES_MAPPINGS_MAX = 8192,  /* executable ones of one process */
    PLACES_FILES_MAX = 1024,
    PLACES_SYMBOLS_MAX = 4194304, /* of all files; those of later ones have no names */
};

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

/* proc: where /proc is. NULL: out of memory. */
static struct places *places_new(const char *proc)
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

static void places_free(struct places *p)
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

/* True: a user address of a record lies in no known mapping. */
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

/* To be called before places_name() for each record: looks at its process. False: out of memory. */
static bool places_look(struct places *p, const struct profile_record *r)
{
    /* a process whose addresses belong to nothing is not looked at all the time */
    enum { PLACES_AGAIN_NS = 100000000 };
    const struct profile_task *t = &r->sight.task;
    struct stat exe;
    char path[PLACES_PATH_MAX];
    p->now = profile_lookup_find(&p->processes, (uint64_t[]){t->tgid});
    if (!profile_task_alive(p->proc, t)) {
        /* a process looked up before this one was started was another one */
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

/* The name of an entry of its stack, as plain text, truncated to `size` bytes. False: out of memory. */
static bool places_name(struct places *p, const struct profile_record *r, unsigned entry, char *out, size_t size)
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

/* ---- stacks ---- */

enum {
    STACKS_FRAME_MAX = 256,
    STACKS_LINE_MAX = (PROFILE_STACK_MAX + 2) * STACKS_FRAME_MAX,
};

struct profile_stacks {
    const struct profile_source *source; /* who names places; NULL: the system */
    struct places *places;
    void *lines;                /* tree of struct profile_stack, by line */
    struct profile_stack *list; /* as it was last requested */
    size_t n, n_text;
};

static int compare_stack_lines(const void *a, const void *b)
{
    const struct profile_stack *x = a, *y = b;
    return strcmp(x->line, y->line);
}

static int compare_stack_counts(const void *a, const void *b)
{
    const struct profile_stack *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->line, y->line);
}

struct profile_stacks *profile_stacks_new(const struct profile_source *source, const char *proc)
{
    struct profile_stacks *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->source = source != NULL && source->ops->place != NULL ? source : NULL;
    s->places = places_new(proc != NULL ? proc : "/proc");
    if (s->places != NULL)
        return s;
    free(s);
    return NULL;
}

static void free_stack(void *data)
{
    struct profile_stack *one = data;
    free(one->line);
    free(one);
}

void profile_stacks_free(struct profile_stacks *s)
{
    if (s == NULL)
        return;
    tdestroy(s->lines, free_stack);
    places_free(s->places);
    free(s->list);
    free(s);
}

/* One more frame. Returns the new length. */
static size_t add_frame(char *line, size_t used, const char *frame)
{
    if (used > 0)
        line[used++] = ';';
    for (size_t end = used + STACKS_FRAME_MAX - 1; *frame != '\0' && used < end; frame++)
        line[used++] = *frame == ';' ? ':' : *frame; /* a frame must not contain the separator */
    line[used] = '\0';
    return used;
}

static bool name_frame(struct profile_stacks *s, const struct profile_record *r, unsigned entry, char *out, size_t size)
{
    if (s->source == NULL)
        return places_name(s->places, r, entry, out, size);
    char *name = s->source->ops->place(s->source, r, entry);
    plain_text(name != NULL ? name : "[unknown]", out, size);
    free(name);
    return true;
}

static bool count_line(struct profile_stacks *s, const char *line, bool bounded)
{
    const struct profile_stack key = {.line = (char *)line};
    struct profile_stack *const *found = tfind(&key, &s->lines, compare_stack_lines);
    if (found != NULL) {
        (*found)->count++;
        return true;
    }
    if (bounded && (s->n >= PROFILE_STACKS_MAX || s->n_text + strlen(line) >= PROFILE_STACKS_TEXT_MAX))
        return count_line(s, "[other stacks]", false);
    struct profile_stack *one = calloc(1, sizeof(*one));
    if (one == NULL)
        return false;
    one->count = 1;
    one->line = strdup(line);
    if (one->line == NULL || tsearch(one, &s->lines, compare_stack_lines) == NULL) {
        free_stack(one);
        return false;
    }
    s->n++;
    s->n_text += strlen(line) + 1;
    return true;
}

bool profile_stacks_add(struct profile_stacks *s, const struct profile_record *r)
{
    char line[STACKS_LINE_MAX], frame[STACKS_FRAME_MAX], comm[sizeof(r->sight.task.comm) + 1], level[16];
    if (r->outcome != PROFILE_TAKEN || r->n_stack == 0 || r->n_stack > PROFILE_STACK_MAX || r->level_ideal == 0)
        return true;
    if (s->source == NULL && !places_look(s->places, r))
        return false;
    (void)snprintf(level, sizeof(level), "level %u", r->level_ideal);
    (void)snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(r->sight.task.comm), r->sight.task.comm);
    plain_text(comm, frame, sizeof(frame));
    size_t used = add_frame(line, 0, level);
    used = add_frame(line, used, frame[0] != '\0' ? frame : "[unknown]");
    bool unknown = false;
    for (unsigned i = r->n_stack; i-- > 0;) {
        if (!name_frame(s, r, i, frame, sizeof(frame)))
            return false;
        /* a chain of frames that leads nowhere says so once */
        bool again = unknown && strcmp(frame, "[unknown]") == 0;
        unknown = strcmp(frame, "[unknown]") == 0;
        if (!again)
            used = add_frame(line, used, frame);
    }
    return count_line(s, line, true);
}

/* twalk_r(3) visits each but the leaves three times. */
static void take_stack(const void *node, VISIT visit, void *closure)
{
    const struct profile_stack *const *one = node;
    struct profile_stack **next = closure;
    if (visit == postorder || visit == leaf)
        *(*next)++ = **one;
}

const struct profile_stack *profile_stacks_list(struct profile_stacks *s, size_t *n)
{
    struct profile_stack *list = realloc(s->list, (s->n + 1) * sizeof(*list)), *next = list;
    if (list == NULL)
        return NULL;
    s->list = list;
    twalk_r(s->lines, take_stack, &next);
    *n = s->n;
    qsort(list, *n, sizeof(*list), compare_stack_counts);
    return list;
}

int profile_stacks_write(FILE *out, struct profile_stacks *s)
{
    size_t n;
    const struct profile_stack *stacks = profile_stacks_list(s, &n);
    if (stacks == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        (void)fprintf(out, "%s %" PRIu64 "\n", stacks[i].line, stacks[i].count);
    return 0;
}
