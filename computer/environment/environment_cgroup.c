/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPUs and the time that this process's control groups leave it (cgroups(7); kernel: cgroup-v2, cpusets). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/environment_parts.h"
#include "util/plain_text.h"
#include "util/text_list.h"

enum { GROUP_PATH = 512 };

/* A hierarchy, as this process is in it: paths below the root folder. */
struct cgroup_place {
    char top[GROUP_PATH];  /* where it is mounted */
    char here[GROUP_PATH]; /* this process's group: top, or below it */
};

/* ---- where the groups are ---- */

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
    /* what is outside of the mount, or of this namespace, is not shown: "/../other" */
    bool shown = strncmp(group, m->root, root) == 0 && (group[root] == '/' || group[root] == '\0') &&
                 strstr(group, "/..") == NULL;
    const char *below = shown && strcmp(group + root, "/") != 0 ? group + root : "";
    snprintf(out->top, sizeof out->top, "%s", m->point + strspn(m->point, "/"));
    snprintf(out->here, sizeof out->here, "%.255s%.255s", out->top, below);
}

/* Where the group is below the root; false: such a hierarchy is not there. */
static bool find_place(const struct environment_tree *t, const char *controller, struct cgroup_place *out)
{
    struct cgroup_mount mount;
    char *mounts = environment_tree_whole(t, "proc/self/mountinfo");
    char *groups = environment_tree_whole(t, "proc/self/cgroup"), *group = NULL;
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
static bool read_cpus(const struct environment_tree *t, struct cgroup_place p, const char *name, struct environment *e)
{
    char text[ENVIRONMENT_TEXT];
    do {
        if (environment_tree_text(t, text, sizeof text, "%s/%s", p.here, name) > 0 && text[0] != '\n') {
            text[strcspn(text, "\n")] = '\0';
            plain_text(text, e->cgroup_cpus, sizeof e->cgroup_cpus);
            return true;
        }
    } while (leave_group(&p));
    return false;
}

/* CPUs' worth of time in a period; NaN: no limit, or not readable. */
static double quota_v2(const struct environment_tree *t, const char *group)
{
    char text[ENVIRONMENT_TEXT];
    long quota, period;
    if (environment_tree_text(t, text, sizeof text, "%s/cpu.max", group) <= 0 ||
        sscanf(text, "%ld %ld", &quota, &period) != 2)
        return NAN; /* "max 100000" */
    return quota > 0 && period > 0 ? (double)quota / (double)period : NAN;
}

static double quota_v1(const struct environment_tree *t, const char *group)
{
    long quota = environment_tree_number(t, -1, "%s/cpu.cfs_quota_us", group);
    long period = environment_tree_number(t, -1, "%s/cpu.cfs_period_us", group);
    return quota > 0 && period > 0 ? (double)quota / (double)period : NAN;
}

/* The least of all groups from this one up: each limits those below it. */
static double least_quota(const struct environment_tree *t, struct cgroup_place p,
                          double (*quota)(const struct environment_tree *, const char *))
{
    double least = NAN;
    do
        least = fmin(least, quota(t, p.here)); /* of a number and a NaN it is the number */
    while (leave_group(&p));
    return least;
}

void environment_cgroup_read(const struct environment_tree *t, struct environment *e)
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
