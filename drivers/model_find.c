/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where model files are, and reading them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/data_folder.h"
#include "drivers/model.h"

enum { PATH_SIZE = DATA_PATH_SIZE, FILE_MAX = 1 << 20 };
static const char SUFFIX[] = ".model";

static void models_folder(const char *data_dir, char *out)
{
    data_folder(data_dir, "models", out);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void model_list_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static int add_name(char ***names, size_t *n, const char *file, size_t length)
{
    char **more = realloc(*names, (*n + 1) * sizeof *more);
    if (!more)
        return -1;
    *names = more;
    more[*n] = strndup(file, length);
    if (!more[*n])
        return -1;
    (*n)++;
    return 0;
}

int model_list(const char *data_dir, char ***names, size_t *n)
{
    char folder[PATH_SIZE];
    models_folder(data_dir, folder);
    *names = NULL;
    *n = 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    int failed = 0;
    for (struct dirent *e = readdir(dir); e && !failed; e = readdir(dir)) {
        size_t length = strlen(e->d_name), suffix = sizeof SUFFIX - 1;
        if (length > suffix && e->d_name[0] != '.' && strcmp(e->d_name + length - suffix, SUFFIX) == 0)
            failed = add_name(names, n, e->d_name, length - suffix);
    }
    closedir(dir);
    if (failed) {
        model_list_free(*names, *n);
        *names = NULL;
        *n = 0;
        return -1;
    }
    if (*n)
        qsort(*names, *n, sizeof **names, by_name);
    return 0;
}

/* Edit distance with two rows; names are short. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 80 };
    size_t rows[2][LONGEST + 1], na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = rows[i % 2], *before = rows[(i - 1) % 2];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            now[j] = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
        }
    }
    return rows[na % 2][nb];
}

static int unknown_name(const char *name, const char *data_dir, struct machine_error *err)
{
    char **names, known[240] = "", folder[PATH_SIZE];
    size_t n, used = 0, nearest = 0;
    if (model_list(data_dir, &names, &n) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    models_folder(data_dir, folder);
    if (n == 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "name the file of a model, or set CHARACTERIZE_DATA to the folder "
                            "that holds models/", "no model `%.60s`: no *%s in %.200s", name, SUFFIX, folder);
    for (size_t i = 0; i < n; i++) {
        if (distance(name, names[i]) < distance(name, names[nearest]))
            nearest = i;
        if (used < sizeof known) {
            int k = snprintf(known + used, sizeof known - used, " %s", names[i]);
            used += k > 0 ? (size_t)k : 0;
        }
    }
    char remedy[160];
    snprintf(remedy, sizeof remedy, "nearest: %.60s; the file of a model is named with a slash or .model",
             names[nearest]);
    machine_fail(err, MACHINE_BAD_INPUT, remedy, "no model `%.60s`; there are:%s", name, known);
    model_list_free(names, n);
    return MACHINE_BAD_INPUT;
}

/* Reads all of a file into memory of its own, to be freed; NULL after filling *err. */
static char *read_file(FILE *in, const char *path, size_t *length, struct machine_error *err)
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
        why = "larger than 1 MiB; a model file is a few KiB";
    if (!why)
        return text;
    free(text);
    machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be read: %s", path, why);
    return NULL;
}

int model_load(const char *name_or_file, const char *data_dir, struct model *out, struct machine_error *err)
{
    bool is_path = strchr(name_or_file, '/') || strchr(name_or_file, '.');
    char path[2 * PATH_SIZE], folder[PATH_SIZE];
    if (is_path) {
        snprintf(path, sizeof path, "%.*s", PATH_SIZE, name_or_file);
    } else {
        models_folder(data_dir, folder);
        snprintf(path, sizeof path, "%s/%.255s%s", folder, name_or_file, SUFFIX);
    }
    FILE *in = fopen(path, "r");
    if (!in && !is_path && errno == ENOENT)
        return unknown_name(name_or_file, data_dir, err);
    if (!in)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: cannot be opened: %s", path, strerror(errno));
    size_t length = 0;
    char *text = read_file(in, path, &length, err);
    fclose(in);
    if (!text)
        return (int)err->status;
    int status = model_parse(text, length, path, out, err);
    free(text);
    return status;
}
