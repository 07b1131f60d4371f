/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of a test's own, and files in it: trees that look like /sys, /proc or data/. */
#pragma once

enum { FOLDER_PATH_MAX = 64 };

/* A folder of a file's tests, which is there while they run. */
#define FOLDER_GROUP(folder)                                                                                           \
    static char folder[FOLDER_PATH_MAX];                                                                               \
    static int make_##folder(void **state)                                                                             \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        folder_make(folder);                                                                                           \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int remove_##folder(void **state)                                                                           \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        folder_remove(folder);                                                                                         \
        return 0;                                                                                                      \
    }                                                                                                                  \
    TEST_GROUP(make_##folder, remove_##folder)

/* Makes an empty folder below /tmp that others may look into, and fills in its path; the test fails where it cannot. */
void folder_make(char path[FOLDER_PATH_MAX]);
/* With all that is in it; nothing where it is gone. */
void folder_remove(const char *path);
/* Writes a file, with the folders that lead to it. */
void folder_put(const char *folder, const char *name, const char *text);
/* The same with a line end after the text. */
void folder_put_line(const char *folder, const char *name, const char *text);
/* The contents of a file, until the next call, without the line ends after it: overwriting a longer text in a file that
 * cannot be truncated leaves some. "(not there)" if there is none. */
const char *folder_get(const char *folder, const char *name);
