/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libFuzzer target: any bytes as one of the files that --check environment reads: the first byte chooses it. What is
 * after the first byte 1 is its content at the second look, or that of the file that belongs to it. Texts must be fit
 * to show, parts of the time parts, lists sorted; what snapshots say of themselves must not differ.
 */
#include <ftw.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "computer/environment/environment.h"
#include "computer/environment/snapshot.h"
#include "util/plain_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZED_CPU = 2, ROOT_SIZE = 64, PATH_ROOM = 300, FORGE_MAX = 1 << 16 };

/* A file, and where its second part goes: NULL is the same, at the second look. */
static const struct fuzzed_file {
    const char *path, *second;
} fuzzed_files[] = {
    {"proc/interrupts", NULL},
    {"proc/stat", NULL},
    {"proc/cpuinfo", "proc/cmdline"},
    {"proc/self/cgroup", "proc/self/mountinfo"},
    {"proc/5/task/5/stat", NULL},
    {"proc/5/task/5/schedstat", NULL},
    {"proc/5/task/5/status", "proc/5/task/5/schedstat"},
    {"proc/irq/24/smp_affinity_list", "proc/interrupts"},
    {"proc/irq/default_smp_affinity", "proc/cmdline"},
    {"proc/config.gz", "proc/sys/kernel/osrelease"},
    {"sys/firmware/efi/efivars/SecureBoot-8be4", "sys/class/dmi/id/bios_date"},
    {"sys/devices/system/cpu/cpu2/cpuidle/state0/latency", "sys/devices/system/cpu/cpu2/cpuidle/state0/name"},
    {"sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", NULL},
    {"sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "sys/devices/system/cpu/isolated"},
    {"sys/devices/system/cpu/vulnerabilities/mds", "sys/devices/system/cpu/cpu2/microcode/version"},
    {"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "sys/devices/system/cpu/smt/control"},
    {"sys/fs/cgroup/cpu.max", "sys/fs/cgroup/cpuset.cpus.effective"},
};
enum { FUZZED_FILES = sizeof fuzzed_files / sizeof *fuzzed_files };

static void environment_insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* ---- a tree in which all else is as it should be ---- */

static char fuzzed_root[ROOT_SIZE]; /* atexit() hands nothing through */

static int forget_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

static void forget_tree(void)
{
    nftw(fuzzed_root, forget_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void forge_file(const char *name, const void *bytes, size_t n)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", fuzzed_root, name);
    for (char *slash = strchr(path + strlen(fuzzed_root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    environment_insist(out && (!n || fwrite(bytes, 1, n, out) == n) && !fclose(out), "a file can be written");
}

/* Puts back what a file is in all other runs, if it is any; NULL: all of them. */
static void forge_default(const char *path)
{
    static const struct {
        const char *path, *text;
    } defaults[] = {
        {"proc/interrupts", "CPU0 CPU2\n24: 1 2 x\nLOC: 7 8 timer\n"},
        {"proc/stat", "cpu2 1 2 3 4 5 6 7 8 9 10\n"},
        {"proc/self/cgroup", "0::/\n"},
        {"proc/self/mountinfo", "29 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
        {"proc/5/task/5/stat",
         "5 (x) R 1 1 1 0 -1 0 0 0 0 0 4 3 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 2 0"},
        {"proc/irq/24/smp_affinity_list", "0-3\n"},
        {"sys/devices/system/cpu/cpu2/cpuidle/state0/name", "C1\n"},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!path || strcmp(defaults[i].path, path) == 0) {
            forge_file(defaults[i].path, defaults[i].text, strlen(defaults[i].text));
            if (path)
                return;
        }
    if (path) {
        char full[PATH_ROOM];
        snprintf(full, sizeof full, "%s/%s", fuzzed_root, path);
        (void)remove(full);
    }
}

static void forge_tree(void)
{
    snprintf(fuzzed_root, sizeof fuzzed_root, "/tmp/characterize-fuzz-XXXXXX");
    environment_insist(mkdtemp(fuzzed_root) != NULL && atexit(forget_tree) == 0, "a folder can be made");
    forge_file("sys/devices/system/cpu/cpu2/uevent", "", 0);
    forge_default(NULL);
}

/* ---- what must hold ---- */

static void insist_plain(const char *text)
{
    static char plain[4 * FORGE_MAX];
    plain_text(text, plain, sizeof plain);
    environment_insist(strcmp(text, plain) == 0, "text is fit to show");
}

static void insist_part(double x, double most)
{
    environment_insist(isnan(x) || (x >= 0 && x <= most), "a number is in its range");
}

static void check_forged(const struct environment *e)
{
    char line[2000], differs[2000];
    for (size_t i = 0; i < ENV_FACTS; i++)
        insist_plain(e->fact[i].text);
    for (size_t i = 0; i < e->n_irqs; i++) {
        insist_plain(e->irqs[i].name);
        insist_plain(e->irqs[i].device);
        environment_insist(e->irqs[i].counted <= e->irqs[i].since_boot, "no more came meanwhile than since boot");
    }
    for (size_t i = 0; i < e->n_tasks; i++) {
        insist_plain(e->tasks[i].name);
        environment_insist(i == 0 || e->tasks[i - 1].cpu_ms >= e->tasks[i].cpu_ms, "tasks are sorted");
    }
    for (size_t i = 0; i < e->n_weaknesses; i++)
        insist_plain(e->weaknesses[i].text);
    insist_plain(e->cgroup_cpus);
    insist_plain(e->microcode);
    insist_plain(e->mitigations);
    insist_part(e->steal, 1);
    insist_part(e->busy_here, 1);
    insist_part(e->busy_sibling, 1);
    insist_part(e->busy_others, 1);
    insist_part(e->thermal_now, 1e300);
    insist_part(e->begun, 1e300);
    environment_insist(!(e->cgroup_quota <= 0) && !isinf(e->cgroup_quota), "a quota is above 0");
    snapshot_line(e, line, sizeof line);
    insist_plain(line);
    environment_insist(!snapshot_differs(line, line, differs, sizeof differs), "a snapshot is like itself");
}

/* ---- */

struct second_look {
    const char *path;
    const uint8_t *bytes;
    size_t n;
};

static int forge_second(void *data)
{
    const struct second_look *s = data;
    forge_file(s->path, s->bytes, s->n);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct environment *e = malloc(sizeof *e);
    struct machine_error err;
    if (!fuzzed_root[0])
        forge_tree();
    if (size == 0 || e == NULL) {
        free(e);
        return 0;
    }
    const struct fuzzed_file *f = &fuzzed_files[*data++ % FUZZED_FILES];
    const uint8_t *end = data + size - 1, *mark = memchr(data, 1, size - 1), *first_end = mark ? mark : end;
    struct second_look second = {f->path, mark ? mark + 1 : data, mark ? (size_t)(end - mark - 1) : size - 1};
    forge_file(f->path, data, (size_t)(first_end - data));
    if (f->second)
        forge_file(f->second, second.bytes, mark ? second.n : 0);
    environment_insist(environment_read(fuzzed_root, FUZZED_CPU, 1e-9, f->second ? NULL : forge_second, &second, e,
                                        &err) == MACHINE_OK,
                       "the tree is read");
    check_forged(e);
    environment_free(e);
    free(e);
    forge_default(f->path);
    if (f->second)
        forge_default(f->second);
    return 0;
}
