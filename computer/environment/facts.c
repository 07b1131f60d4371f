/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what stands in the files of a computer: each reader fills its own members, except for those that it
 * cannot read. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "computer/cpu/tsc.h"
#include "computer/environment/environment_parts.h"
#include "util/list.h"
#include "util/order.h"
#include "util/plain_text.h"
#include "util/text_list.h"

enum { FACT_PATH_SIZE = 256, LIST_SIZE = 4096, FIRST_CPU_SIZE = 16384 };

/* ---- the facts ---- */

struct environment_path environment_path(enum environment_fact which, int cpu)
{
    static const char *const patterns[] = {
#define ENVIRONMENT_FACT_PATH(name, path) path,
        ENVIRONMENT_FACTS(ENVIRONMENT_FACT_PATH)
#undef ENVIRONMENT_FACT_PATH
    };
    struct environment_path out;
    const char *pattern = patterns[which], *number = strstr(pattern, "%d");
    if (number != NULL)
        snprintf(out.text, sizeof out.text, "/%.*s%d%s", (int)(number - pattern), pattern, cpu, number + 2);
    else
        snprintf(out.text, sizeof out.text, "/%s", pattern);
    return out;
}

/* The first folder in the order of names that has the file. */
static int read_starred(const struct tree *t, const char *path, const char *star, struct fact *out)
{
    struct tree_names names;
    char folder[FACT_PATH_SIZE], full[2 * FACT_PATH_SIZE];
    const char *part = star; /* that the name begins with */
    int error = ENOENT;
    while (part[-1] != '/')
        part--;
    snprintf(folder, sizeof folder, "%.*s", (int)(part - path), path);
    snprintf(full, sizeof full, "%.*s", (int)(star - part), part);
    tree_names(t, folder, full, &names);
    if (names.error != 0)
        error = names.error;
    for (size_t i = 0; i < names.n && error == ENOENT; i++) {
        snprintf(full, sizeof full, "%s%s%s", folder, names.name[i], star + 1);
        error = tree_line(t, full, out->text, sizeof out->text);
    }
    tree_names_free(&names);
    return error;
}

static void read_fact(const struct tree *t, enum environment_fact which, int cpu, struct fact *out)
{
    const struct environment_path path = environment_path(which, cpu);
    const char *below = path.text + 1, *star = strchr(below, '*');
    out->text[0] = '\0';
    out->error = star != NULL ? read_starred(t, below, star, out) : tree_line(t, below, out->text, sizeof out->text);
}

/* ---- sets of CPUs, which may be longer than a fact's text ---- */

static bool read_set(const struct tree *t, enum environment_fact which, const struct environment *e,
                     int (*parse)(const char *, struct cpu_mask *), struct cpu_mask *out)
{
    char text[LIST_SIZE];
    if (e->fact[which].error == 0 && tree_line(t, environment_path(which, e->cpu).text + 1, text, sizeof text) == 0)
        return parse(text, out) == 0;
    cpu_mask_clear(out);
    return false;
}

static void read_sets(const struct tree *t, struct environment *e)
{
    e->siblings_known = read_set(t, ENV_SIBLINGS, e, cpu_mask_parse, &e->siblings);
    if (!cpu_mask_has(&e->siblings, e->cpu)) {
        cpu_mask_clear(&e->siblings);
        e->siblings_known = false;
    }
    read_set(t, ENV_ONLINE, e, cpu_mask_parse, &e->online);
    read_set(t, ENV_ISOLATED, e, cpu_mask_parse, &e->isolated);
    read_set(t, ENV_NOHZ_FULL, e, cpu_mask_parse, &e->nohz_full);
    read_set(t, ENV_WORKQUEUE_MASK, e, cpu_mask_parse_hex, &e->workqueue);
    read_set(t, ENV_WRITEBACK_MASK, e, cpu_mask_parse_hex, &e->writeback);
    read_set(t, ENV_DEFAULT_AFFINITY, e, cpu_mask_parse_hex, &e->default_affinity);
}

/* ---- the kernel command line, which is longer, too ---- */

const char *environment_boot_option(const struct environment *e, const char *name, size_t *length)
{
    const char *found = NULL;
    size_t size = strlen(name), word;
    for (const char *at = e->command_line + strspn(e->command_line, " "); *at != '\0';
         at += word, at += strspn(at, " ")) {
        word = strcspn(at, " ");
        if (word == 2 && strncmp(at, "--", 2) == 0) /* the rest is for the first process */
            break;
        bool same = strncmp(at, name, size) == 0 && (word == size || at[size] == '=');
        if (same) { /* the last one counts */
            found = at + size + (word > size);
            *length = word - size - (word > size);
        }
    }
    return found;
}

static void read_command_line(const struct tree *t, struct environment *e)
{
    e->command_line[0] = e->mitigations[0] = '\0';
    if (tree_line(t, environment_path(ENV_CMDLINE, e->cpu).text + 1, e->command_line, sizeof e->command_line) != 0)
        return;
    size_t length;
    const char *value = environment_boot_option(e, "mitigations", &length);
    char word[ENVIRONMENT_LINE];
    snprintf(word, sizeof word, "%.*s", value != NULL ? (int)length : 7, value != NULL ? value : "default");
    plain_text(word, e->mitigations, sizeof e->mitigations);
}

/* ---- proc/cpuinfo ---- */

static void take_flags(char *flags, struct environment *e)
{
    char *rest = NULL;
    e->cpuinfo_known = true;
    for (const char *word = strtok_r(flags, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        e->hypervisor |= strcmp(word, "hypervisor") == 0;
}

/* Keeps a base frequency, which no processor has below 100 MHz: a hypervisor may fill in anything. */
static void take_base(double khz, const char *from, struct environment *e)
{
    if (isnan(e->base_khz) && khz >= 1e5) {
        e->base_khz = khz;
        e->base_from = from;
    }
}

static unsigned different_revisions(unsigned *revision, size_t n)
{
    unsigned different = n > 0;
    if (n > 0)
        qsort(revision, n, sizeof *revision, order_unsigned);
    for (size_t i = 1; i < n; i++)
        different += revision[i] != revision[i - 1];
    return different;
}

/* "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"; AMD's names have no frequency. */
static void take_brand(const char *brand, struct environment *e)
{
    double ghz;
    const char *at = strstr(brand, "@ ");
    if (at != NULL && sscanf(at, "@ %lfGHz", &ghz) == 1)
        take_base(1e6 * ghz, "its name", e);
}

/* Takes the text apart. */
static void take_cpuinfo(char *text, struct environment *e)
{
    static const size_t most = CPU_LIMIT;
    unsigned *revision = calloc(most, sizeof *revision);
    size_t n = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *flags = e->cpuinfo_known ? NULL : cpu_info_value(line, "flags");
        const char *microcode = cpu_info_value(line, "microcode");
        const char *brand = cpu_info_value(line, "model name");
        if (flags != NULL)
            take_flags(flags, e);
        if (brand != NULL)
            take_brand(brand, e);
        if (microcode != NULL && e->microcode[0] == '\0')
            plain_text(microcode, e->microcode, sizeof e->microcode);
        if (microcode != NULL && revision != NULL && n < most)
            revision[n++] = (unsigned)strtoul(microcode, NULL, 16);
    }
    e->microcodes = revision != NULL ? different_revisions(revision, n) : 0;
    free(revision);
}

static void read_cpuinfo(const struct tree *t, bool all, struct environment *e)
{
    char first[FIRST_CPU_SIZE], *text = all ? tree_whole(t, "proc/cpuinfo") : first;
    const char *origin;
    struct cpu_leaves leaves;
    struct cpu_identity id;
    e->cpuinfo_known = e->hypervisor = false;
    take_base(strtod(e->fact[ENV_BASE_KHZ].text, NULL), "base_frequency", e);
    take_base(1e3 * strtod(e->fact[ENV_NOMINAL_MHZ].text, NULL), "acpi_cppc/nominal_freq", e);
    if (text != NULL && (all || tree_text(t, "proc/cpuinfo", first, sizeof first) > 0))
        take_cpuinfo(text, e);
    if (all)
        free(text);
    else
        e->microcodes = 0; /* those of all CPUs were not looked at */
    if (!t->inside) {
        cpu_read_leaves(&leaves);
        cpu_identify(&leaves, &id);
        plain_text(id.hypervisor_name, e->hypervisor_name, sizeof e->hypervisor_name);
        take_base(1e3 * (leaves.frequency.eax & 0xffff), "CPUID 16H", e);
        take_base(1e-3 * tsc_declared_hz(&leaves, &origin), "the TSC", e);
    }
    if (e->hypervisor_name[0] == '\0' && e->hypervisor)
        plain_text(e->fact[ENV_HYPERVISOR_TYPE].text, e->hypervisor_name, sizeof e->hypervisor_name);
}

/* ---- C-states (kernel: admin-guide/pm/cpuidle, "Representation of Idle States"); vulnerabilities ---- */

enum { STATES_MAX = 64 };

static void read_idle_state(const struct tree *folder, unsigned number, struct environment_state *out)
{
    tree_line(folder, tree_path("state%u/name", number).text, out->name, sizeof out->name);
    out->exit_us = tree_number(folder, tree_path("state%u/latency", number).text, -1);
    if (out->exit_us < 0)
        out->exit_us = -1;
    out->disabled = tree_number(folder, tree_path("state%u/disable", number).text, 0) != 0;
    out->number = number;
}

static void read_idle_states(const struct tree *t, struct environment *e)
{
    struct tree folder;
    if (tree_below(t, tree_path("sys/devices/system/cpu/cpu%d/cpuidle", e->cpu).text, &folder) != 0)
        return;
    for (unsigned i = 0; i < STATES_MAX; i++) {
        if (!tree_exists(&folder, tree_path("state%u", i).text) ||
            !list_room(&e->states, e->n_states, sizeof *e->states))
            break;
        read_idle_state(&folder, i, &e->states[e->n_states++]);
    }
    tree_close(&folder);
}

static void read_weaknesses(const struct tree *t, struct environment *e)
{
    static const char path[] = "sys/devices/system/cpu/vulnerabilities";
    struct tree folder;
    struct tree_names names;
    if (tree_below(t, path, &folder) != 0)
        return;
    tree_names(t, path, "", &names);
    for (size_t i = 0; i < names.n && e->n_weaknesses < ENVIRONMENT_LIST_MAX; i++) {
        if (!list_room(&e->weaknesses, e->n_weaknesses, sizeof *e->weaknesses))
            break;
        struct environment_weakness *w = &e->weaknesses[e->n_weaknesses];
        plain_text(names.name[i], w->name, sizeof w->name);
        e->n_weaknesses += tree_line(&folder, names.name[i], w->text, sizeof w->text) == 0;
    }
    tree_names_free(&names);
    tree_close(&folder);
}

/* ---- how the kernel was built and started, and what it lets this process open ---- */

enum { CONFIG_LINE = 256, EFI_HEADER = 4 };

/* A kernel's configuration has 10,000 lines; a gzip of nothing but zeros unpacks to a thousand times its size. */
static const long CONFIG_LINES_MAX = 200000;

/* The value in a configuration, which may be compressed; 0: it is not there. Closes fd. */
static long hz_in_config(int fd)
{
    static const char name[] = "CONFIG_HZ=";
    char line[CONFIG_LINE];
    long hz = 0, left = CONFIG_LINES_MAX;
    gzFile in = gzdopen(fd, "r");
    if (in == NULL) {
        close(fd);
        return 0;
    }
    while (hz == 0 && left-- > 0 && gzgets(in, line, sizeof line) != NULL)
        if (strncmp(line, name, sizeof name - 1) == 0)
            hz = strtol(line + sizeof name - 1, NULL, 10);
    gzclose(in);
    return hz > 0 && hz <= 100000 ? hz : 0;
}

/* The release as part of a file's name; it may be anything. */
static bool release_is_name(const char *release)
{
    return release[0] != '\0' && release[0] != '.' && strchr(release, '/') == NULL;
}

static void read_config_hz(const struct tree *t, struct environment *e)
{
    const char *release = e->fact[ENV_RELEASE].text;
    char places[3][2 * ENVIRONMENT_TEXT] = {"proc/config.gz"};
    if (release_is_name(release)) {
        snprintf(places[1], sizeof places[1], "boot/config-%s", release);
        snprintf(places[2], sizeof places[2], "lib/modules/%s/config", release); /* Fedora and its relatives */
    }
    for (size_t i = 0; i < sizeof places / sizeof *places && e->config_hz == 0; i++) {
        int fd = places[i][0] != '\0' ? tree_file(t, places[i]) : -1;
        if (fd >= 0)
            e->config_hz = hz_in_config(fd);
    }
}

/* ---- Secure Boot ---- */

/* The variable's byte after the four of its attributes (UEFI 2.10, section 3.3; kernel: filesystems/efivarfs). */
static int secure_boot(const struct tree *t)
{
    static const char folder[] = "sys/firmware/efi/efivars";
    unsigned char bytes[EFI_HEADER + 1];
    struct tree_names names;
    int value = -1;
    tree_names(t, folder, "SecureBoot-", &names);
    if (names.n > 0) {
        int fd = tree_file(t, tree_path("%s/%s", folder, names.name[0]).text);
        if (fd >= 0) {
            if (read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && bytes[EFI_HEADER] <= 1)
                value = bytes[EFI_HEADER];
            close(fd);
        }
    }
    tree_names_free(&names);
    return value;
}

static void read_kernel(const struct tree *t, struct environment *e)
{
    read_config_hz(t, e);
    e->secure_boot = secure_boot(t);
    e->msr_error = tree_readable(t, tree_path("dev/cpu/%d/msr", e->cpu).text);
    /* Docker, Podman */
    e->container_files = tree_exists(t, ".dockerenv") || tree_exists(t, "run/.containerenv");
}

/* ---- control groups (cgroups(7); kernel: cgroup-v2, cpusets): where they are ---- */

enum { GROUP_PATH = 512 };

/* A hierarchy, as this process is in it: paths below the root folder. */
struct cgroup_place {
    char top[GROUP_PATH];  /* where it is mounted */
    char here[GROUP_PATH]; /* this process's group: top, or below it */
};

/* A line of mountinfo (proc_pid_mountinfo(5)); all point into the line. */
struct cgroup_mount {
    char *root, *point;
    const char *type, *options;
};

/* The kernel writes spaces and the like as \040. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; out++)
        if (in[0] == '\\' && strspn(in + 1, "01234567") >= 3) {
            *out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
            in += 4;
        } else {
            *out = *in++;
        }
    *out = '\0';
}

static bool take_mount(char *line, struct cgroup_mount *out)
{
    char *rest = NULL, *word[5] = {NULL};
    size_t n = 0;
    for (char *w = strtok_r(line, " ", &rest); w != NULL && strcmp(w, "-") != 0; w = strtok_r(NULL, " ", &rest))
        if (n < sizeof word / sizeof *word)
            word[n++] = w;
    out->root = word[3];
    out->point = word[4];
    out->type = strtok_r(NULL, " ", &rest);
    (void)strtok_r(NULL, " ", &rest); /* the source */
    out->options = strtok_r(NULL, " ", &rest);
    if (out->point == NULL || out->options == NULL)
        return false;
    unescape(out->root);
    unescape(out->point);
    return true;
}

/* The mount of a controller's hierarchy; controller "": cgroup v2. */
static bool find_mount(char *mounts, const char *controller, struct cgroup_mount *out)
{
    char *rest = NULL;
    for (char *line = strtok_r(mounts, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (take_mount(line, out) && strcmp(out->type, *controller != '\0' ? "cgroup" : "cgroup2") == 0 &&
            (*controller == '\0' || text_list_has(out->options, controller)))
            return true;
    return false;
}

char *environment_cgroup_of(char *groups, const char *controller)
{
    char *rest = NULL;
    for (char *line = strtok_r(groups, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        if (*controller != '\0' ? text_list_has(controllers + 1, controller) : strcmp(line, "0:") == 0)
            return path;
    }
    return NULL;
}

/* The group below the mount point, which shows the hierarchy from one of its groups on. */
static void set_place(const struct cgroup_mount *m, const char *group, struct cgroup_place *out)
{
    size_t root = strcmp(m->root, "/") != 0 ? strlen(m->root) : 0;
    /* a group outside of the mount, or of this namespace, is not shown: "/../other" */
    bool shown = strncmp(group, m->root, root) == 0 && (group[root] == '/' || group[root] == '\0') &&
                 strstr(group, "/..") == NULL;
    const char *below = shown && strcmp(group + root, "/") != 0 ? group + root : "";
    snprintf(out->top, sizeof out->top, "%s", m->point + strspn(m->point, "/"));
    snprintf(out->here, sizeof out->here, "%.255s%.255s", out->top, below);
}

/* Finds where the group is below the root; false: there is no such hierarchy. */
static bool find_place(const struct tree *t, const char *controller, struct cgroup_place *out)
{
    struct cgroup_mount mount;
    char *mounts = tree_whole(t, "proc/self/mountinfo");
    char *groups = tree_whole(t, "proc/self/cgroup"), *group = NULL;
    bool found = mounts != NULL && groups != NULL && find_mount(mounts, controller, &mount) &&
                 (group = environment_cgroup_of(groups, controller)) != NULL;
    if (found)
        set_place(&mount, group, out);
    free(mounts);
    free(groups);
    return found;
}

/* One level up; false at the top. */
static bool leave_group(struct cgroup_place *p)
{
    char *slash = strrchr(p->here, '/');
    if (slash == NULL || (size_t)(slash - p->here) < strlen(p->top))
        return false;
    *slash = '\0';
    return true;
}

/* ---- what they say ---- */

/* The nearest group that has the file: those without the controller have none. */
static bool read_cpus(const struct tree *t, struct cgroup_place p, const char *name, struct environment *e)
{
    char text[ENVIRONMENT_TEXT];
    do {
        if (tree_text(t, tree_path("%s/%s", p.here, name).text, text, sizeof text) > 0 && text[0] != '\n') {
            text[strcspn(text, "\n")] = '\0';
            plain_text(text, e->cgroup_cpus, sizeof e->cgroup_cpus);
            return true;
        }
    } while (leave_group(&p));
    return false;
}

/* CPUs' worth of time in a period; NaN: no limit, or not readable. */
static double quota_v2(const struct tree *t, const char *group)
{
    char text[ENVIRONMENT_TEXT];
    long quota, period;
    if (tree_text(t, tree_path("%s/cpu.max", group).text, text, sizeof text) <= 0 ||
        sscanf(text, "%ld %ld", &quota, &period) != 2)
        return NAN; /* "max 100000" */
    return quota > 0 && period > 0 ? (double)quota / (double)period : NAN;
}

static double quota_v1(const struct tree *t, const char *group)
{
    long quota = tree_number(t, tree_path("%s/cpu.cfs_quota_us", group).text, -1);
    long period = tree_number(t, tree_path("%s/cpu.cfs_period_us", group).text, -1);
    return quota > 0 && period > 0 ? (double)quota / (double)period : NAN;
}

/* The least of all groups from this one up: each limits those below it. */
static double least_quota(const struct tree *t, struct cgroup_place p,
                          double (*quota)(const struct tree *, const char *))
{
    double least = NAN;
    do
        least = fmin(least, quota(t, p.here)); /* of a number and a NaN it is the number */
    while (leave_group(&p));
    return least;
}

static void read_cgroups(const struct tree *t, struct environment *e)
{
    struct cgroup_place unified, v1;
    bool has_unified = find_place(t, "", &unified);
    if (find_place(t, "cpuset", &v1)) {
        if (!read_cpus(t, v1, "cpuset.effective_cpus", e))
            read_cpus(t, v1, "cpuset.cpus", e);
    } else if (has_unified) {
        read_cpus(t, unified, "cpuset.cpus.effective", e);
    }
    if (has_unified)
        e->cgroup_quota = least_quota(t, unified, quota_v2);
    if (find_place(t, "cpu", &v1))
        e->cgroup_quota = fmin(e->cgroup_quota, least_quota(t, v1, quota_v1));
}

/* ---- all of it ---- */

static void read_facts(const struct tree *t, struct environment *e)
{
    for (int i = 0; i < ENV_FACTS; i++)
        read_fact(t, (enum environment_fact)i, e->cpu, &e->fact[i]);
    read_sets(t, e);
    read_command_line(t, e);
    plain_text(e->fact[ENV_MICROCODE].text, e->microcode, sizeof e->microcode);
}

void environment_facts_read(const struct tree *t, bool all, struct environment *e)
{
    read_facts(t, e);
    read_cpuinfo(t, all, e);
    if (!all)
        return;
    read_idle_states(t, e);
    read_weaknesses(t, e);
    read_kernel(t, e);
    read_cgroups(t, e);
}
