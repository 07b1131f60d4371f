/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a file, or standard output, completely or not at all, and checks beforehand that it can be written. */
#include "cli/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/atomic_file.h"
#include "cli/inputs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "util/path.h"

/* FILE_BYTES_MAX: tables and cells have less than a megabyte, and JSON takes 40 bytes of memory for one of its own */
enum { WHY_SIZE = 1000, FILE_BYTES_MAX = 16 << 20 };

bool file_is_stdout(const char *name)
{
    return name != NULL && (strcmp(name, "-") == 0 || path_descriptor(name) == STDOUT_FILENO);
}

/* True if two names are one in the same directory. Where that does not exist yet, the spelling decides. */
static bool same_place(const char *a, const char *b)
{
    char why[WHY_SIZE], name_a[NAME_MAX + 1], name_b[NAME_MAX + 1];
    struct stat s, t;
    if (file_is_stdout(a) || file_is_stdout(b))
        return file_is_stdout(a) && file_is_stdout(b);
    if (stat(a, &s) == 0 && S_ISCHR(s.st_mode)) /* /dev/null: nothing is overwritten there */
        return false;
    if (strcmp(a, b) == 0)
        return true;
    int fa = path_open_parent(a, name_a, why, sizeof(why)), fb = path_open_parent(b, name_b, why, sizeof(why));
    bool same = fa >= 0 && fb >= 0 && fstat(fa, &s) == 0 && fstat(fb, &t) == 0 && s.st_dev == t.st_dev &&
                s.st_ino == t.st_ino && strcmp(name_a, name_b) == 0;
    (void)(fa >= 0 && close(fa));
    (void)(fb >= 0 && close(fb));
    return same;
}

int files_differ(const char *const *names, const char *const *options, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            if (names[i] != NULL && names[j] != NULL && same_place(names[i], names[j]))
                return refuse(BAD_USAGE, "%s and %s both name '%s'", options[i], options[j], names[i]);
    }
    return DONE;
}

bool file_interrupted(const char *name)
{
    if (stop_requested())
        complain("interrupted: %s was not written", name);
    return stop_requested();
}

int file_print_text(FILE *stream, const void *data)
{
    return fputs(data, stream) == EOF ? -1 : 0;
}

int file_print_json(FILE *stream, char *json)
{
    if (json == NULL)
        errno = ENOMEM;
    int status = json == NULL ? -1 : file_print_text(stream, json);
    free(json);
    return status;
}

int file_try_write(const char *name, file_printer *print, const void *data, char *why, size_t size)
{
    struct atomic_file file;
    if (file_is_stdout(name)) {
        if (print(stdout, data) == 0 && fflush(stdout) == 0)
            return DONE;
        snprintf(why, size, "cannot write to standard output: %s", strerror(errno));
        return FAILED;
    }
    if (atomic_open(&file, name, why, size) != 0)
        return FAILED;
    errno = 0;
    if (print(file.stream, data) != 0) {
        snprintf(why, size, "cannot write %s: %s", name, strerror(errno != 0 ? errno : EIO));
        atomic_abandon(&file);
        return FAILED;
    }
    return atomic_commit(&file, why, size) == 0 ? DONE : FAILED;
}

int file_write(const char *name, file_printer *print, const void *data)
{
    char why[WHY_SIZE];
    return file_try_write(name, print, data, why, sizeof(why)) == DONE ? DONE : refuse(FAILED, "%s", why);
}

int file_check(const char *name, uint64_t bytes)
{
    char why[WHY_SIZE];
    if (name == NULL || file_is_stdout(name))
        return DONE;
    int status = inputs_spare(name);
    return status != DONE                                     ? status
           : atomic_check(name, bytes, why, sizeof(why)) == 0 ? DONE
                                                              : refuse(FAILED, "%s", why);
}

char *file_read(FILE *in, size_t *length)
{
    char *text = malloc(FILE_BYTES_MAX + 1); /* pages that are not touched cost nothing */
    size_t n = text != NULL ? fread(text, 1, FILE_BYTES_MAX + 1, in) : 0;
    int error = text == NULL ? ENOMEM : ferror(in) != 0 ? EIO : n > FILE_BYTES_MAX ? EFBIG : 0;
    (void)fclose(in);
    if (text == NULL || error != 0) {
        free(text);
        errno = error;
        return NULL;
    }
    text[n] = '\0';
    if (length != NULL)
        *length = n;
    return text;
}

char *file_read_found(const char *name, size_t *length, char *why, size_t size)
{
    FILE *in;
    if (path_read_found(name, &in, why, size) != 0)
        return NULL;
    char *text = file_read(in, length);
    if (text == NULL)
        snprintf(why, size, "%s", strerror(errno));
    return text;
}

char *file_in(const char *directory, const char *name, const char *ending)
{
    char *path = NULL;
    const char *slash = directory[0] != '\0' && directory[strlen(directory) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s%s", directory, slash, name, ending) < 0 ? NULL : path;
}
