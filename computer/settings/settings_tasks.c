/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where other programs may run, as /proc/PID/task/TID/status tells. */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *field(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    return at != NULL ? at + strlen(name) : "";
}

bool settings_task_allowed(const struct settings_roots *r, int task, struct cpu_mask *out, int *process, bool *kernel)
{
    char text[8000], list[CHANGE_VALUE_MAX];

    if (cpu_read_text(settings_proc(r), text, sizeof text, "%d/status", task) <= 0)
        return false;
    *process = atoi(field(text, "\nTgid:\t"));
    *kernel = strstr(text, "\nVmSize:") == NULL;
    return sscanf(field(text, "\nCpus_allowed_list:\t"), "%2399s", list) == 1 && cpu_mask_parse(list, out) == 0;
}

int settings_task_find(const struct settings_roots *r,
                       bool (*is)(const struct cpu_mask *allowed, const struct cpu_mask *data),
                       const struct cpu_mask *data)
{
    struct dirent *entry, *one;
    DIR *all = opendir(settings_proc(r)), *tasks;
    int found = 0;

    while (all != NULL && found == 0 && (entry = readdir(all)) != NULL) {
        char path[300];
        struct cpu_mask allowed;
        int process = settings_number(entry->d_name, ""), task, of;
        bool kernel;
        snprintf(path, sizeof path, "%.200s/%d/task", settings_proc(r), process);
        if (process <= 0 || (tasks = opendir(path)) == NULL)
            continue;
        while (found == 0 && (one = readdir(tasks)) != NULL)
            if ((task = settings_number(one->d_name, "")) > 0 &&
                settings_task_allowed(r, task, &allowed, &of, &kernel) && !kernel && is(&allowed, data))
                found = process;
        closedir(tasks);
    }
    if (all != NULL)
        closedir(all);
    return found;
}
