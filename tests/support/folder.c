/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include <ftw.h>
#include <sys/stat.h>

void folder_make(char path[FOLDER_PATH_MAX])
{
    snprintf(path, FOLDER_PATH_MAX, "/tmp/characterize-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_int_equal(chmod(path, 0755), 0);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

void folder_remove(const char *path)
{
    if (nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        fail_msg("%s: %s", path, strerror(errno));
}

/* Opens it; the folders that lead to it are made where they are missing. */
static FILE *folder_open(char *path, size_t folder)
{
    FILE *out = fopen(path, "w");
    if (out || errno != ENOENT)
        return out;
    for (char *slash = strchr(path + folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    return fopen(path, "w");
}

static void folder_write(const char *folder, const char *name, const char *text, const char *end)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = folder_open(path, strlen(folder));
    if (!out)
        print_error("%s: %s\n", path, strerror(errno));
    assert_non_null(out);
    fprintf(out, "%s%s", text, end);
    assert_int_equal(fclose(out), 0);
}

void folder_put(const char *folder, const char *name, const char *text)
{
    folder_write(folder, name, text, "");
}

void folder_put_line(const char *folder, const char *name, const char *text)
{
    folder_write(folder, name, text, "\n");
}

const char *folder_get(const char *folder, const char *name)
{
    static char text[8000];
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    if (!in)
        return "(not there)";
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    return text;
}
