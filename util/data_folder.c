/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the shipped data lie. */
#include "util/data_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void data_folder(const char *data_dir, const char *name, char out[DATA_PATH_SIZE])
{
    const char *from_environment = getenv("CHARACTERIZE_DATA");
    if (data_dir || (from_environment && *from_environment)) {
        snprintf(out, DATA_PATH_SIZE, "%s/%s", data_dir ? data_dir : from_environment, name);
        return;
    }
    char program[DATA_PATH_SIZE - 64];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n > 0) {
        program[n] = '\0';
        char *slash = strrchr(program, '/');
        if (slash)
            *slash = '\0';
        struct stat st;
        /* in the source tree; installed, where PREFIX need not be the one that was known when this was compiled */
        static const char *const beside[] = {"data", "../share/characterize"};
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(out, DATA_PATH_SIZE, "%s/%s/%.16s", program, beside[i], name);
            if (stat(out, &st) == 0 && S_ISDIR(st.st_mode))
                return;
        }
    }
    snprintf(out, DATA_PATH_SIZE, "%s/%s", DATA_DIR, name);
}
