/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Begins or continues the directory of --all: identity, finished cells, tables. */
#include "cli/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "computer/environment/snapshot.h"
#include "drivers/events/event_code.h"
#include "drivers/model/model.h"
#include "util/atomic_file.h"
#include "cli/messages.h"
#include "util/path.h"
#include "util/sha256.h"

/* DEPTH: of cells/TABLE/ below the directory */
enum { WHY_SIZE = 400, DEPTH = 2 };

/* ---- which machine and which options a run belongs to, as JSON (characterize-run/1, doc/formats.md) ---- */

/* Files like /etc/machine-id are confidential and are not copied. */
static void put_hash(json_t *o, const char *key, const char *bytes, size_t n)
{
    char text[SHA256_HEX_SIZE];
    sha256_hex(bytes, n, text);
    json_object_set_new(o, key, json_string(text));
}

static char *read_system_file(const char *name, size_t *length)
{
    FILE *in = fopen(name, "re");
    return in != NULL ? file_read(in, length) : NULL;
}

/* Whatever distinguishes a piece of silicon from others of the same brand string, as far as anybody can read it. */
static void put_host(json_t *o)
{
    struct utsname name;
    size_t length = 0;
    char *id = read_system_file("/etc/machine-id", &length);
    if (id != NULL && length > 0)
        put_hash(o, "machine_id_hash", id, length);
    else if (uname(&name) == 0)
        put_hash(o, "host_name_hash", name.nodename, strlen(name.nodename));
    free(id);
    char *cpuinfo = read_system_file("/proc/cpuinfo", NULL);
    const char *line = cpuinfo != NULL ? strstr(cpuinfo, "microcode") : NULL;
    char microcode[80];
    if (line != NULL && sscanf(line, "microcode : %79[^\n]", microcode) == 1)
        json_object_set_new(o, "microcode", json_string(microcode));
    free(cpuinfo);
}

/* The CPUs allowed to the process decide which one is measured and which others are kept busy. */
static void put_allowed_cpus(json_t *o)
{
    struct cpu_mask allowed;
    char text[1000];
    if (cpu_get_affinity(&allowed) == 0) {
        cpu_mask_format(&allowed, text, sizeof(text));
        json_object_set_new(o, "allowed_cpus", json_string(text));
    }
}

/* The settings, as they are now: --quiet-machine has changed them already. */
static void put_environment(json_t *object, const struct options *o)
{
    char line[SNAPSHOT_LINE];
    int cpu = o->n_cpus > 0 ? (int)o->cpus[0] : o->cpu.given ? (int)o->cpu.value : -1;
    snapshot_take_line(cpu, line, sizeof(line));
    json_object_set_new(object, "environment", json_string(line));
}

/* A model's parameters are its identity: a file that was changed is another machine, also one of the shipped ones. */
static void put_model(json_t *o, const char *spec)
{
    size_t length = 0;
    char *text = model_text(strchr(spec, ':') + 1, NULL, &length);
    if (text != NULL && length > 0) /* nothing is left of one that came through a pipe */
        put_hash(o, "model_file_hash", text, length);
    free(text);
}

static json_t *machine_object(const struct options *o, const struct measuring *m)
{
    struct machine_info info;
    m->machine.ops->info(&m->machine, &info);
    json_t *object = json_pack("{s:s, s:s, s:b, s:i}", "machine", info.name, "cpu", info.cpu, "modelled",
                               (int)info.modelled, "cores", (int)info.cores);
    if (object != NULL && !info.modelled) {
        put_host(object);
        put_allowed_cpus(object);
        put_environment(object, o);
    } else if (object != NULL && o->machine != NULL) {
        put_model(object, o->machine);
    }
    return object;
}

static json_t *identity_number(const struct given_number *n)
{
    return n->given ? json_real(n->value) : json_null();
}

static json_t *number_list(const unsigned *values, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

/* The code of blocks from files, by kernel: a file that was changed is another kernel. */
static json_t *code_object(const struct block_set *blocks)
{
    json_t *all = json_object();
    for (size_t i = 0; i < blocks->n; i++) {
        size_t n;
        const void *code = block_set_code(blocks, i, &n);
        put_hash(all, blocks->kernel[i]->name, code, n);
    }
    return all;
}

static json_t *options_object(const struct options *o)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < o->tables.n_kernels; i++)
        json_array_append_new(kernels, json_string(o->tables.kernels[i].name));
    const char *corunner = o->tables.corunner_same ? "same" : o->corunner_given ? o->tables.corunner.name : "64add";
    const char *turbo = !o->turbo.given ? "as found" : o->turbo.on ? "on" : "off";
    char seed[24];
    snprintf(seed, sizeof(seed), "%" PRIu64, o->tables.seed);
    int event = o->n_events > 0 ? (int)event_code_select(o->events[0].code) : 0;
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:b, s:i, s:s, s:o}", "--kernels", kernels, "--cpus",
        number_list(o->cpus, o->n_cpus), "--active-cores", number_list(o->tables.active, o->tables.n_active), "--cpu",
        identity_number(&o->cpu), "--runs", identity_number(&o->runs), "--period", identity_number(&o->period_us),
        "--warmup", identity_number(&o->warmup_us), "--observe", identity_number(&o->observe_us), "--companion",
        corunner, "--siblings", o->tables.siblings ? "busy" : "idle", "--seed", seed, "--brief", (int)o->tables.brief,
        "--event", event, "--turbo", turbo, "--fixed-frequency", identity_number(&o->fixed_ghz));
    if (o->blocks.n > 0)
        json_object_set_new(all, "--kernel-file", code_object(&o->blocks));
    if (o->tables.burst_count > 0)
        json_object_set_new(all, "--burst", json_pack("[f, f]", o->tables.burst_count, o->tables.burst_every_us));
    return all;
}

/* A new reference; NULL: out of memory. */
static json_t *run_identity(const struct options *o, const struct measuring *m)
{
    json_t *machine = machine_object(o, m), *options = options_object(o);
    return json_pack("{s:s, s:s, s:o, s:o}", "format", "characterize-run/1", "version", VERSION, "machine", machine,
                     "options", options);
}

static void identity_show(const json_t *v, char *out, size_t size)
{
    if (json_is_string(v)) {
        snprintf(out, size, "'%.80s'", json_string_value(v));
        return;
    }
    char *text = v != NULL ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
    snprintf(out, size, "%.80s", text != NULL ? text : "not stated");
    free(text);
}

static int differing_member(const char *key, const json_t *a, const json_t *b, char *why, size_t size)
{
    const json_t *here = json_object_get(a, key), *there = json_object_get(b, key);
    char mine[100], theirs[100], differences[300];
    if (here != NULL && there != NULL && json_equal(here, there))
        return 0;
    if (strcmp(key, "environment") == 0 && json_is_string(here) && json_is_string(there) &&
        snapshot_differs(json_string_value(here), json_string_value(there), differences, sizeof(differences))) {
        snprintf(why, size, "the settings of this computer differ: %s", differences);
        return 1;
    }
    identity_show(here, mine, sizeof(mine));
    identity_show(there, theirs, sizeof(theirs));
    snprintf(why, size, "%s is %s in that run and %s in this one", key, theirs, mine);
    return 1;
}

static int differing_members(const json_t *here, const json_t *there, char *why, size_t size)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)here, key, v)
    {
        if (differing_member(key, here, there, why, size))
            return 1;
    }
    json_object_foreach((json_t *)there, key, v)
    {
        if (differing_member(key, here, there, why, size))
            return 1;
    }
    return 0;
}

/* 0 if two agree. If not, one clause in `why`: what is different, here and there. */
static int identity_differs(const json_t *here, const json_t *there, char *why, size_t size)
{
    return differing_member("format", here, there, why, size) || differing_member("version", here, there, why, size) ||
           differing_members(json_object_get(here, "machine"), json_object_get(there, "machine"), why, size) ||
           differing_members(json_object_get(here, "options"), json_object_get(there, "options"), why, size);
}

/* ---- the directory ---- */

/* A directory below an open one, for reading; NULL with errno. A link is not followed. */
static DIR *list(int from, const char *name)
{
    int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL && fd >= 0)
        (void)close(fd);
    return directory;
}

static bool is_self_or_above(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_empty(int fd)
{
    DIR *directory = list(fd, ".");
    bool empty = true;
    for (struct dirent *e; directory != NULL && (e = readdir(directory)) != NULL;)
        empty = empty && is_self_or_above(e->d_name);
    if (directory != NULL)
        (void)closedir(directory);
    return empty;
}

/* One run at a time. The lock goes with the process, however that ends. */
static int lock(struct run_directory *d)
{
    char why[WHY_SIZE];
    int fd = path_open_directory(d->path, why, sizeof(why));
    if (fd < 0)
        return refuse(FAILED, "cannot open %s: %s", d->path, why);
    d->fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fd may be good for passing it only */
    int error = errno;
    (void)close(fd);
    if (d->fd < 0)
        return refuse(FAILED, "cannot open %s: %s", d->path, strerror(error));
    if (flock(d->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse(FAILED, "another run is using %s; wait for it, or choose another with --output DIR", d->path);
    return DONE;
}

static int print_identity(FILE *stream, const void *identity)
{
    return json_dumpf(identity, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0 || putc('\n', stream) == EOF ? -1
                                                                                                                    : 0;
}

/* Checks that the run that is there may be continued. */
static int compare(const char *path, const char *file, const char *text, size_t length, const json_t *identity)
{
    char why[400];
    json_error_t error;
    json_t *there = json_loadb(text, length, 0, &error);
    if (there == NULL)
        return refuse(BAD_USAGE, "%s:%d: %s; choose another directory with --output DIR", file, error.line,
                      error.text[0] != '\0' ? error.text : "out of memory");
    int differs = identity_differs(identity, there, why, sizeof(why));
    json_decref(there);
    if (differs)
        return refuse(BAD_USAGE,
                      "%s belongs to another run: %s; continue with that run's version and options, or choose another "
                      "directory with --output DIR",
                      path, why);
    return DONE;
}

/*
 * Removes what a killed run had begun to write, everywhere below its directory. Anything else than a file (a link, a
 * pipe) in its folders is refused here, before anything is measured.
 */
static int sweep(int fd, const char *path, unsigned depth)
{
    DIR *directory = list(fd, ".");
    int status = DONE;
    (void)atomic_sweep(fd, NULL);
    for (struct dirent *e; directory != NULL && status == DONE && (e = readdir(directory)) != NULL;) {
        struct stat s;
        bool known = !is_self_or_above(e->d_name) && fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0;
        char *name = known ? file_in(path, e->d_name, "") : NULL;
        DIR *inner = name != NULL && S_ISDIR(s.st_mode) && depth > 0 ? list(fd, e->d_name) : NULL;
        if (inner != NULL) {
            status = sweep(dirfd(inner), name, depth - 1);
            (void)closedir(inner);
        } else if (name != NULL && depth < DEPTH && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
            status = refuse(BAD_USAGE,
                            "%s is %s, not a file of a run; remove it, or choose another directory with --output DIR",
                            name,
                            S_ISLNK(s.st_mode)    ? "a symbolic link"
                            : S_ISFIFO(s.st_mode) ? "a pipe (FIFO)"
                                                  : "a device");
        }
        free(name);
    }
    if (directory != NULL)
        (void)closedir(directory);
    return status;
}

static int directory_begin(struct run_directory *d, bool resume, const char *file, const json_t *identity)
{
    char why[WHY_SIZE];
    size_t length = 0;
    char *text = file_read_found(file, &length, why, sizeof(why));
    if (text == NULL && errno != ENOENT)
        return refuse(BAD_USAGE, "cannot read %s: %s; choose another directory with --output DIR", file, why);
    if (text == NULL)
        (void)atomic_sweep(d->fd, "run.json"); /* of a run that was killed as it began */
    if (text == NULL && !is_empty(d->fd))
        return refuse(BAD_USAGE,
                      "%s is not empty and was not written by --all; choose another directory with --output DIR",
                      d->path);
    if (text == NULL && resume && !d->quiet)
        complain("no run to resume in %s: starting one", d->path);
    if (text == NULL)
        return file_write(file, print_identity, identity);
    int status = resume ? compare(d->path, file, text, length, identity)
                        : refuse(BAD_USAGE,
                                 "%s already contains a run; continue it with --resume, or choose another directory "
                                 "with --output DIR",
                                 d->path);
    if (status == DONE)
        status = sweep(d->fd, d->path, DEPTH);
    free(text);
    return status;
}

/* A model that came through a pipe cannot be read a second time, and --resume could not recognize it. */
static int check_model(const json_t *identity, const struct options *o)
{
    const json_t *machine = json_object_get(identity, "machine");
    if (!json_is_true(json_object_get(machine, "modelled")) || json_object_get(machine, "model_file_hash") != NULL)
        return DONE;
    return refuse(
        BAD_USAGE,
        "--all --machine %s: the model cannot be read a second time, so --resume could not recognize it; put it "
        "into a file",
        o->machine);
}

int run_directory_open(const char *path, bool resume, const struct options *o, const struct measuring *m,
                       struct run_directory *d)
{
    memset(d, 0, sizeof(*d));
    d->path = path;
    d->fd = -1;
    d->quiet = o->quiet;
    int status = directories_make(path, "--output", &d->directories);
    if (status != DONE)
        return status;
    json_t *identity = run_identity(o, m);
    char *file = file_in(path, "run", ".json");
    status = identity == NULL || file == NULL ? complain_out_of_memory() : check_model(identity, o);
    status = status == DONE ? lock(d) : status;
    if (status == DONE)
        status = directory_begin(d, resume, file, identity);
    free(file);
    json_decref(identity);
    return status;
}

/* ---- cells ---- */

static char *cell_file(const struct run_directory *d, const struct table_kind *k, const struct cell *c)
{
    char *path = NULL;
    return asprintf(&path, "%s/cells/%s/%s.json", d->path, k->name, c->id) < 0 ? NULL : path;
}

/* A cell that cannot be read counts as missing. */
static char *load(void *data, const struct table_kind *k, const struct cell *c)
{
    char why[WHY_SIZE];
    char *file = cell_file(data, k, c);
    char *text = file != NULL ? file_read_found(file, NULL, why, sizeof(why)) : NULL;
    free(file);
    return text;
}

static void refused(void *data, const struct table_kind *k, const struct cell *c, const char *why)
{
    const struct run_directory *d = data;
    char *file = cell_file(d, k, c);
    if (!d->quiet)
        complain("%s: %s: measuring this cell again", file != NULL ? file : c->id, why);
    free(file);
}

/* Without it, what is written by its name would be split over two places, or be lost. */
static bool is_there(const struct run_directory *d)
{
    struct stat named, held;
    return stat(d->path, &named) == 0 && fstat(d->fd, &held) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

/* The fate of a directory that is not there, and what can be done about it. */
static const char *gone(const struct run_directory *d, const char **remedy)
{
    struct stat held;
    bool removed = fstat(d->fd, &held) == 0 && held.st_nlink == 0;
    *remedy = removed ? "nothing of the run is left" : "give it its name back and continue with --resume";
    return removed ? "was removed during the run" : "was renamed during the run";
}

int run_directory_check(const struct run_directory *d)
{
    const char *remedy;
    if (is_there(d))
        return DONE;
    const char *what = gone(d, &remedy);
    return refuse(FAILED, "%s %s; %s", d->path, what, remedy);
}

/* If one cell cannot be kept, no other can: the run ends. */
static int store(void *data, const struct table_kind *k, const struct cell *c, const char *json,
                 struct machine_error *err)
{
    struct run_directory *d = data;
    char *directory = NULL, *file = cell_file(d, k, c), why[WHY_SIZE] = "out of memory";
    const char *remedy = "once that is fixed, continue with --resume";
    int status = FAILED;
    if (is_there(d) && file != NULL && asprintf(&directory, "%s/cells/%s", d->path, k->name) >= 0)
        status = directories_try_make(directory, NULL, why, sizeof(why));
    if (status == DONE)
        status = file_try_write(file, file_print_text, json, why, sizeof(why));
    if (status != DONE && !is_there(d)) /* it may have gone in the middle, which is why */
        snprintf(why, sizeof(why), "%s %s", d->path, gone(d, &remedy));
    free(directory);
    free(file);
    if (status != DONE) {
        d->failed = true;
        return machine_fail(err, MACHINE_FAILED, remedy, "%s", why);
    }
    return MACHINE_OK;
}

struct tables_store run_directory_store(struct run_directory *d)
{
    return (struct tables_store){load, store, refused, d};
}

void run_directory_close(struct run_directory *d)
{
    directories_tidy(&d->directories);
    if (d->fd >= 0)
        (void)close(d->fd);
    d->fd = -1;
}
