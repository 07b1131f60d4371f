/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/atomic_file.h"
#include "cli/messages.h"
#include "cli/stop.h"

enum { WHY_SIZE = 1000 };

bool file_is_stdout(const char *name)
{
    return name != NULL && strcmp(name, "-") == 0;
}

bool file_interrupted(const char *name)
{
    if (stop_asked()) {
        complain("interrupted: %s was not written", name);
        return true;
    }
    return false;
}

int file_print_text(FILE *stream, const void *data)
{
    return fputs(data, stream) == EOF ? -1 : 0;
}

int file_write(const char *name, file_printer *print, const void *data)
{
    char why[WHY_SIZE];
    struct atomic_file file;
    if (file_is_stdout(name)) {
        if (print(stdout, data) == 0 && fflush(stdout) == 0) {
            return DONE;
        }
        complain("cannot write to standard output: %s", strerror(errno));
        return FAILED;
    }
    if (atomic_open(&file, name, why, sizeof(why)) != 0) {
        complain("%s", why);
        return FAILED;
    }
    errno = 0;
    if (print(file.stream, data) != 0) {
        complain("cannot write %s: %s", name, strerror(errno != 0 ? errno : EIO));
        atomic_abandon(&file);
        return FAILED;
    }
    if (atomic_commit(&file, why, sizeof(why)) != 0) {
        complain("%s", why);
        return FAILED;
    }
    return DONE;
}

bool file_is_regular(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0 && S_ISREG(s.st_mode);
}

char *file_read(const char *name, size_t *length)
{
    FILE *in = fopen(name, "re");
    char *text = NULL;
    size_t size = 0;
    FILE *out = in != NULL ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        if (in != NULL) {
            (void)fclose(in);
        }
        return NULL;
    }
    char block[65536];
    size_t n;
    while ((n = fread(block, 1, sizeof(block), in)) > 0) {
        (void)fwrite(block, 1, n, out);
    }
    int error = ferror(in) != 0 ? EIO : 0;
    (void)fclose(in);
    if (fclose(out) != 0 || error != 0) {
        free(text);
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    if (length != NULL) {
        *length = size;
    }
    return text;
}

int directories_make(const char *directory, const char *option, struct directories *made)
{
    char path[4096];
    if (strlen(directory) >= sizeof(path)) {
        complain("%s: the name is too long", option);
        return BAD_USAGE;
    }
    for (size_t i = 1; i <= strlen(directory); i++) {
        if (directory[i] != '/' && directory[i] != '\0') {
            continue;
        }
        memcpy(path, directory, i);
        path[i] = '\0';
        if (mkdir(path, 0777) == 0) {
            if (made != NULL && made->n < sizeof(made->made) / sizeof(made->made[0])) {
                made->made[made->n++] = strdup(path);
            }
        } else if (errno != EEXIST) {
            complain("cannot make the directory %s: %s; %s DIR names another", path, strerror(errno), option);
            return FAILED;
        }
    }
    struct stat s;
    if (stat(directory, &s) != 0 || !S_ISDIR(s.st_mode)) {
        complain("cannot write into %s: %s; %s DIR names another", directory, strerror(ENOTDIR), option);
        return FAILED;
    }
    return DONE;
}

void directories_tidy(struct directories *made)
{
    while (made->n > 0) {
        char *directory = made->made[--made->n];
        if (directory != NULL) {
            (void)rmdir(directory); /* refuses, as it should, when something is in it */
        }
        free(directory);
    }
}

char *file_in(const char *directory, const char *name, const char *ending)
{
    char *path = NULL;
    const char *slash = directory[0] != '\0' && directory[strlen(directory) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s%s", directory, slash, name, ending) < 0 ? NULL : path;
}
