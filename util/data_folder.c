/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the shipped data lie. */
#include "util/data_folder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder `name` of the data that belong to a program or library in this place. */
static bool data_folder_beside(const char *file, const char *name, char out[DATA_PATH_SIZE])
{
    /* in the source tree; installed, where PREFIX need not be the one that was known when this was compiled; installed
     * into a folder below lib/ (lib/x86_64-linux-gnu) */
    static const char *const beside[] = {"data", "../share/characterize", "../../share/characterize"};
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        struct stat st;
        snprintf(out, DATA_PATH_SIZE, "%.*s/%s/%.16s", (int)(slash - file), file, beside[i], name);
        if (stat(out, &st) == 0 && S_ISDIR(st.st_mode))
            return true;
    }
    return false;
}

void data_folder(const char *data_dir, const char *name, char out[DATA_PATH_SIZE])
{
    const char *from_environment = getenv("CHARACTERIZE_DATA");
    if (data_dir || (from_environment && *from_environment)) {
        snprintf(out, DATA_PATH_SIZE, "%s/%s", data_dir ? data_dir : from_environment, name);
        return;
    }
    /* the shared library first: beside a program that links it, other data may lie */
    Dl_info library;
    static const char here;
    char program[DATA_PATH_SIZE - 64];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    if (dladdr(&here, &library) && library.dli_fname && strstr(library.dli_fname, ".so") &&
        data_folder_beside(library.dli_fname, name, out))
        return;
    if (!data_folder_beside(program, name, out))
        snprintf(out, DATA_PATH_SIZE, "%s/%s", DATA_DIR, name);
}
