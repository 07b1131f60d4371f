/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folders of shipped data, and files in them by name. */
#include "util/data_file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/edit_distance.h"
#include "util/list.h"
#include "util/path.h"
#include "util/text_list.h"

enum { FILE_MAX = 1 << 20 };

/* ---- where the shipped data lie ---- */

/* The folder `name` of the data that belong to a program or library in this place. */
static bool folder_beside(const char *file, const char *name, char out[DATA_PATH_SIZE])
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

void data_program_path(char out[DATA_PATH_SIZE])
{
    ssize_t n = readlink("/proc/self/exe", out, DATA_PATH_SIZE - 1);
    out[n > 0 ? n : 0] = '\0';
    /* without /proc, as in a chroot: the path by which it was started */
    if (n <= 0 && getauxval(AT_EXECFN) != 0) {
        char *path = realpath((const char *)getauxval(AT_EXECFN), NULL);
        snprintf(out, DATA_PATH_SIZE, "%s", path != NULL ? path : "");
        free(path);
    }
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
    char program[DATA_PATH_SIZE];
    data_program_path(program);
    if (dladdr(&here, &library) && library.dli_fname && strstr(library.dli_fname, ".so") &&
        folder_beside(library.dli_fname, name, out))
        return;
    if (!folder_beside(program, name, out))
        snprintf(out, DATA_PATH_SIZE, "%s/%s", DATA_DIR, name);
}

/* ---- files by name ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void data_file_list_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static int add_name(char ***names, size_t *n, const char *file, size_t length)
{
    char *name = list_room(names, *n, sizeof **names) ? strndup(file, length) : NULL;
    if (!name)
        return -1;
    (*names)[(*n)++] = name;
    return 0;
}

int data_file_list(const char *data_dir, const struct data_kind *kind, char ***names, size_t *n)
{
    char folder[DATA_PATH_SIZE];
    data_folder(data_dir, kind->folder, folder);
    *names = NULL;
    *n = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    int failed = 0;
    for (struct dirent *e = readdir(dir); e && !failed; e = readdir(dir)) {
        size_t length = strlen(e->d_name), suffix = strlen(kind->suffix);
        if (length > suffix && e->d_name[0] != '.' && strcmp(e->d_name + length - suffix, kind->suffix) == 0)
            failed = add_name(names, n, e->d_name, length - suffix);
    }
    closedir(dir);
    if (failed) {
        data_file_list_free(*names, *n);
        *names = NULL;
        *n = 0;
        return -1;
    }
    if (*n)
        qsort(*names, *n, sizeof **names, by_name);
    return 0;
}

enum { PART_LEAST = 4 }; /* characters: fewer are a part of too many names */

static int unknown_name(const char *name, const char *data_dir, const struct data_kind *kind, struct machine_error *err)
{
    char **names, known[400] = "", folder[DATA_PATH_SIZE], remedy[240];
    const char *nearest = NULL;
    size_t n;
    unsigned least = edit_guess(strlen(name));
    bool cut = false;
    if (data_file_list(data_dir, kind, &names, &n) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    data_folder(data_dir, kind->folder, folder);
    if (n == 0) {
        snprintf(remedy, sizeof remedy, "name the file, or set CHARACTERIZE_DATA to the directory that contains %s/",
                 kind->folder);
        return machine_fail(err, MACHINE_BAD_INPUT, remedy, "no %s '%.60s': no *%s in %.200s", kind->what, name,
                            kind->suffix, folder);
    }
    for (size_t i = 0; i < n; i++) {
        bool part = !nearest && strlen(name) >= PART_LEAST && strcasestr(names[i], name);
        if (edit_nearer(name, strlen(name), names[i], &least) || part)
            nearest = names[i];
        cut = cut || strlen(known) + strlen(names[i]) + sizeof " " > sizeof known;
        if (!cut)
            text_list_add(known, sizeof known, " ", "%s", names[i]);
    }
    snprintf(remedy, sizeof remedy, "%s%.60s%sa %s file of your own needs a slash or %s in its name%s%s%s",
             nearest ? "nearest: " : "", nearest ? nearest : "", nearest ? "; " : "", kind->what, kind->suffix,
             kind->format ? " (format: " : "", kind->format ? kind->format : "", kind->format ? ")" : "");
    machine_fail(err, MACHINE_BAD_INPUT, remedy, "no %s '%.60s'; available: %s%s", kind->what, name, known,
                 cut ? " ..." : "");
    data_file_list_free(names, n);
    return MACHINE_BAD_INPUT;
}

char *data_file_contents(FILE *in, const char *path, size_t *length, struct machine_error *err)
{
    char *text = malloc(FILE_MAX + 1);
    if (!text) {
        machine_fail(err, MACHINE_FAILED, "", "out of memory while reading %.200s", path);
        return NULL;
    }
    errno = 0;
    *length = fread(text, 1, FILE_MAX + 1, in);
    const char *why = ferror(in) ? strerror(errno) : NULL;
    if (!why && *length > FILE_MAX)
        why = "larger than 1 MiB; such a file is a few KiB";
    if (!why) {
        text[*length] = '\0';
        return text;
    }
    free(text);
    machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be read: %s", path, why);
    return NULL;
}

bool data_file_path(const char *name_or_file, const char *data_dir, const char *folder, const char *suffix,
                    char path[DATA_FILE_PATH_SIZE])
{
    char in[DATA_PATH_SIZE];
    if (strpbrk(name_or_file, "/.")) {
        snprintf(path, DATA_FILE_PATH_SIZE, "%.*s", DATA_PATH_SIZE, name_or_file);
        return true;
    }
    data_folder(data_dir, folder, in);
    snprintf(path, DATA_FILE_PATH_SIZE, "%s/%.255s%s", in, name_or_file, suffix);
    return false;
}

char *data_file_read(const char *name_or_file, const char *data_dir, const struct data_kind *kind,
                     char path[DATA_FILE_PATH_SIZE], size_t *length, struct machine_error *err)
{
    bool is_path = data_file_path(name_or_file, data_dir, kind->folder, kind->suffix, path);
    char why[160];
    FILE *in = NULL;
    int bad = is_path ? path_read_named(path, &in, why, sizeof why) : path_read_listed(path, &in, why, sizeof why);
    if (bad) {
        if (!is_path && errno == ENOENT)
            unknown_name(name_or_file, data_dir, kind, err);
        else
            machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be opened: %s", path, why);
        return NULL;
    }
    char *text = data_file_contents(in, path, length, err);
    fclose(in);
    return text;
}
