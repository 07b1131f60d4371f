/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of tasks and of control groups, looked up while they are there. */
#include "profiler/names.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "profiler/lookup.h"
#include "util/clock.h"
#include "util/plain_text.h"

/* ---- a task in /proc ---- */

/* Up to size - 1 bytes of a file of a task, with a NUL after them; their number, 0 also where there is none. */
static size_t proc_read(const char *proc, const struct profile_task *t, const char *file, char *out, size_t size)
{
    char path[4096];
    ssize_t got = -1;
    (void)snprintf(path, sizeof(path), "%s/%u/%s", proc, t->pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, out, size - 1);
        (void)close(fd);
    }
    size_t length = got > 0 ? (size_t)got : 0;
    out[length] = '\0';
    return length;
}

bool profile_task_alive(const char *proc, const struct profile_task *t)
{
    enum { START_FIELD = 22, AFTER_NAME = 2 };
    char text[1024];
    if (proc_read(proc, t, "stat", text, sizeof(text)) == 0)
        return false;
    if (t->start_ns == 0)
        return true;
    /* the second field is the name in parentheses, which may hold blanks and parentheses itself */
    const char *at = strrchr(text, ')');
    for (int field = AFTER_NAME; at != NULL && field < START_FIELD; field++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return false;
    long per_second = sysconf(_SC_CLK_TCK);
    return strtoull(at, NULL, 10) == t->start_ns / (1000000000ull / (unsigned long)per_second);
}

/* Its process's command line, blanks between the words, as plain text (util/plain_text.h), truncated; "" where there is
 * none or it cannot be read. size > 0. */
static void profile_task_command(const char *proc, const struct profile_task *t, char *out, size_t size)
{
    char text[1024];
    size_t length = proc_read(proc, t, "cmdline", text, sizeof(text));
    for (size_t i = 0; i + 1 < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    plain_text(text, out, size);
    for (size_t end = strlen(out); end > 0 && out[end - 1] == ' '; end--)
        out[end - 1] = '\0';
}

/* ---- names ---- */

#define NAMES_CGROUP2_MAGIC 0x63677270 /* linux/magic.h */

enum { NAMES_PATH_SIZE = 4096 };

/* A control group that was seen, alive or not. */
struct names_group {
    uint64_t id;
    char *path;     /* below the root; NULL: it was gone when it was looked for */
    char *name;     /* of those with a path */
    bool ambiguous; /* another path has the same name */
};

struct names_command {
    uint64_t pid, start_ns;
    char *text; /* "" where it was gone */
};

struct profile_names {
    const struct profile_source *source;
    bool foreign; /* the source names its own; this system's are nobody's here */
    char *proc, *cgroups;
    struct profile_lookup groups;   /* of struct names_group, by id */
    int64_t rest_until_ns;          /* until then the hierarchy is not looked through again */
    struct profile_lookup commands; /* of struct names_command, by pid and start */
};

static struct names_group *group_at(const struct profile_names *n, size_t i)
{
    return profile_lookup_at(&n->groups, i);
}

static int compare_group_names(const void *a, const void *b)
{
    const struct names_group *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The mount point of the unified hierarchy; beside version 1 it is below (systemd's hybrid set-up). */
static const char *unified_root(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct statfs s;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (statfs(places[i], &s) == 0 && s.f_type == NAMES_CGROUP2_MAGIC)
            return places[i];
    return "";
}

struct profile_names *profile_names_new(const struct profile_source *source, const char *proc, const char *cgroups)
{
    struct profile_names *n = calloc(1, sizeof(*n));
    if (n == NULL)
        return NULL;
    n->source = source;
    n->groups = (struct profile_lookup){.size = sizeof(struct names_group), .words = 1};
    n->commands = (struct profile_lookup){.size = sizeof(struct names_command), .words = 2};
    n->foreign = source != NULL && source->ops->container != NULL;
    n->proc = strdup(proc != NULL ? proc : "/proc");
    n->cgroups = strdup(cgroups != NULL ? cgroups : unified_root());
    if (n->proc != NULL && n->cgroups != NULL)
        return n;
    profile_names_free(n);
    return NULL;
}

void profile_names_free(struct profile_names *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->groups.n; i++) {
        free(group_at(n, i)->path);
        free(group_at(n, i)->name);
    }
    for (size_t i = 0; i < n->commands.n; i++)
        free(((struct names_command *)profile_lookup_at(&n->commands, i))->text);
    profile_lookup_free(&n->groups);
    profile_lookup_free(&n->commands);
    free(n->proc);
    free(n->cgroups);
    free(n);
}

/* One that is not known yet. */
static bool add_group(struct profile_names *n, uint64_t id, const char *path)
{
    char name[256] = "";
    uint32_t index = profile_lookup_index(&n->groups, &id);
    if (index == PROFILE_NOWHERE)
        return false;
    profile_names_shorten(path, name, sizeof(name));
    struct names_group *g = group_at(n, index);
    g->path = strdup(path);
    g->name = strdup(name);
    return g->path != NULL && g->name != NULL;
}

/* The directory of an open descriptor, which it closes, and those below. */
static bool walk_groups(struct profile_names *n, int fd, char *path, unsigned depth)
{
    struct stat s;
    bool fine = true;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        (void)close(fd);
        return true;
    }
    if (fstat(fd, &s) == 0 && profile_lookup_find(&n->groups, (uint64_t[]){s.st_ino}) == NULL)
        fine = add_group(n, s.st_ino, path[0] != '\0' ? path : "/");
    size_t length = strlen(path);
    for (const struct dirent *e = readdir(dir); fine && e != NULL && n->groups.n < PROFILE_NAMES_GROUPS_MAX;
         e = readdir(dir)) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
            depth >= PROFILE_NAMES_DEPTH_MAX || length + strlen(e->d_name) + 2 > NAMES_PATH_SIZE)
            continue;
        int below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0)
            continue;
        (void)sprintf(path + length, "/%s", e->d_name);
        fine = walk_groups(n, below, path, depth + 1);
        path[length] = '\0';
    }
    (void)closedir(dir);
    return fine;
}

/* Names that more than one path has are none. */
static bool mark_ambiguous(struct profile_names *n)
{
    struct names_group **by_name = malloc((n->groups.n + 1) * sizeof(*by_name));
    size_t named = 0;
    if (by_name == NULL)
        return false;
    for (size_t i = 0; i < n->groups.n; i++)
        if (group_at(n, i)->path != NULL)
            by_name[named++] = group_at(n, i);
    if (named > 0)
        qsort(by_name, named, sizeof(by_name[0]), compare_group_names);
    for (size_t begin = 0, end; begin < named; begin = end) {
        bool differ = false;
        for (end = begin + 1; end < named && strcmp(by_name[end]->name, by_name[begin]->name) == 0; end++)
            differ = differ || strcmp(by_name[end]->path, by_name[begin]->path) != 0;
        for (size_t i = begin; i < end; i++)
            by_name[i]->ambiguous = differ;
    }
    free(by_name);
    return true;
}

/* Looks through the hierarchy for a group that is not known; it is gone if it is not found. */
static bool look_for_group(struct profile_names *n, uint64_t id)
{
    enum { NAMES_REST = 20 }; /* of the time at most one twentieth is spent here, however fast groups come and go */
    char path[NAMES_PATH_SIZE] = "";
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    int fd = open(n->cgroups, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = fd < 0 || walk_groups(n, fd, path, 0);
    fine = fine && profile_lookup_index(&n->groups, &id) != PROFILE_NOWHERE && mark_ambiguous(n);
    int64_t end = clock_ns(CLOCK_MONOTONIC);
    n->rest_until_ns = end + NAMES_REST * (end - begin);
    return fine;
}

static bool know_group(struct profile_names *n, uint64_t id)
{
    return n->foreign || id == 0 || profile_lookup_find(&n->groups, &id) != NULL ||
           n->groups.n >= PROFILE_NAMES_GROUPS_MAX || clock_ns(CLOCK_MONOTONIC) < n->rest_until_ns ||
           look_for_group(n, id);
}

static bool know_command(struct profile_names *n, const struct profile_task *t)
{
    char text[sizeof(((struct profile_row *)NULL)->command)] = "";
    const uint64_t key[] = {t->pid, t->start_ns};
    if (n->foreign || t->pid == 0 || n->commands.n >= PROFILE_NAMES_TASKS_MAX ||
        profile_lookup_find(&n->commands, key) != NULL)
        return true;
    if (profile_task_alive(n->proc, t))
        profile_task_command(n->proc, t, text, sizeof(text));
    uint32_t index = profile_lookup_index(&n->commands, key);
    if (index == PROFILE_NOWHERE)
        return false;
    struct names_command *c = profile_lookup_at(&n->commands, index);
    c->text = strdup(text);
    return c->text != NULL;
}

bool profile_names_note(struct profile_names *n, const struct profile_record *r)
{
    return know_group(n, r->sight.task.cgroup) && know_command(n, &r->sight.task) &&
           know_group(n, r->sight.other.cgroup) && know_command(n, &r->sight.other);
}

/* All of the path; of one that is too long the end, where paths differ. */
static void name_by_path(const char *path, char *out, size_t size)
{
    size_t length = strlen(path);
    if (length < size) {
        plain_text(path, out, size);
    } else {
        memcpy(out, "...", 3);
        plain_text(path + length - (size - 4), out + 3, size - 3);
    }
}

static void name_container(const struct profile_names *n, struct profile_row *row)
{
    char *foreign = n->foreign ? n->source->ops->container(n->source, row->cgroup) : NULL;
    const struct names_group *g = profile_lookup_find(&n->groups, &row->cgroup);
    if (foreign != NULL)
        plain_text(foreign, row->name, sizeof(row->name));
    else if (g != NULL && g->path != NULL && !g->ambiguous)
        plain_text(g->name, row->name, sizeof(row->name));
    else if (g != NULL && g->path != NULL)
        name_by_path(g->path, row->name, sizeof(row->name));
    else
        (void)snprintf(row->name, sizeof(row->name), "cgroup %" PRIu64, row->cgroup);
    free(foreign);
}

void profile_names_fill(const struct profile_names *n, struct profile_result *r)
{
    for (size_t i = 0; i < r->n_rows; i++) {
        struct profile_row *row = &r->rows[i];
        const struct names_command *c = profile_lookup_find(&n->commands, (uint64_t[]){row->pid, row->start_ns});
        if (row->kind == PROFILE_CONTAINER)
            name_container(n, row);
        else if (row->kind == PROFILE_TASK && c != NULL && c->text != NULL)
            (void)snprintf(row->command, sizeof(row->command), "%s", c->text);
    }
}

/* ---- the path of a control group, in a short form ---- */

enum {
    SHORTEN_PART_MAX = 256, /* NAME_MAX and a NUL */
    SHORTEN_ID_MIN = 32,    /* hexadecimal digits of a container's number; runtimes use 32 (nspawn, LXD) or 64 */
    SHORTEN_ID = 12,        /* of which docker ps, podman ps and crictl ps show so many */
    SHORTEN_POD_ID = 8,     /* of a pod's UID, 8-4-4-4-12 */
};

/* systemd.unit(5): "\x2d" is '-'. In place. */
static void undo_escapes(char *part)
{
    char *to = part;
    for (const char *from = part; *from != '\0'; to++) {
        unsigned code;
        if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) && isxdigit((unsigned char)from[3]) &&
            sscanf(from + 2, "%2x", &code) == 1 && code != 0) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static void replace_prefix(char *part, const char *prefix, const char *by)
{
    size_t length = strlen(prefix), put = strlen(by);
    if (strncmp(part, prefix, length) != 0)
        return;
    memmove(part + put, part + length, strlen(part + length) + 1);
    memcpy(part, by, put);
}

static bool cut_end(char *part, const char *end)
{
    size_t length = strlen(part), cut = strlen(end);
    if (length <= cut || strcmp(part + length - cut, end) != 0)
        return false;
    part[length - cut] = '\0';
    return true;
}

/* A number of a container as its runtime abbreviates it; "docker-3f4a....scope" is a scope because of it. */
static void abbreviate_id(char *part)
{
    size_t length = strlen(part);
    for (size_t begin = 0; begin < length; begin++) {
        size_t digits = strspn(part + begin, "0123456789abcdef");
        if (digits >= SHORTEN_ID_MIN) {
            memmove(part + begin + SHORTEN_ID, part + begin + digits, length - begin - digits + 1);
            (void)cut_end(part, ".scope");
            return;
        }
        begin += digits;
    }
}

/* "kubepods-burstable-pod8c1f2e7a_....slice" or "pod8c1f2e7a-...": a pod, which is more than a slice. */
static bool name_pod(char *part)
{
    const char *pod = strstr(part, "pod");
    while (pod != NULL && (strspn(pod + 3, "0123456789abcdef") != SHORTEN_POD_ID || strlen(pod + 3) < 36 ||
                           (pod[3 + SHORTEN_POD_ID] != '-' && pod[3 + SHORTEN_POD_ID] != '_')))
        pod = strstr(pod + 1, "pod");
    if (pod == NULL)
        return false;
    char id[SHORTEN_POD_ID + 1];
    (void)snprintf(id, sizeof(id), "%s", pod + 3);
    (void)snprintf(part, SHORTEN_PART_MAX, "pod-%s", id);
    return true;
}

/* One part of the path. False: it says nothing that the others do not, unless it is the last. */
static bool shorten_part(char *part)
{
    undo_escapes(part);
    if (name_pod(part))
        return true;
    static const char *const runtimes[][2] = {
        {"cri-containerd-", "containerd-"}, {"libpod-", "podman-"}, {"machine-", ""}, {"lxc.payload.", "lxc-"}};
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        replace_prefix(part, runtimes[i][0], runtimes[i][1]);
    abbreviate_id(part);
    size_t length = strlen(part);
    bool slice = length > 6 && strcmp(part + length - 6, ".slice") == 0;
    if (slice && length > 11 && strncmp(part, "user-", 5) == 0)
        return cut_end(part, ".slice");
    return !slice && strncmp(part, "user@", 5) != 0;
}

void profile_names_shorten(const char *path, char *out, size_t size)
{
    char text[4096] = "", part[SHORTEN_PART_MAX];
    size_t used = 0;
    for (const char *at = path + strspn(path, "/"); *at != '\0';) {
        size_t length = strcspn(at, "/");
        (void)snprintf(part, sizeof(part), "%.*s", (int)(length < sizeof(part) ? length : sizeof(part) - 1), at);
        at += length;
        at += strspn(at, "/");
        if ((shorten_part(part) || *at == '\0') && used + strlen(part) + 2 < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "/" : "", part);
    }
    plain_text(used > 0 ? text : "/", out, size);
}
