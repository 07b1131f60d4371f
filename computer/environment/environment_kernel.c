/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the kernel was built and started, and what it lets this process open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "computer/environment/environment_parts.h"

enum { CONFIG_LINE = 256, EFI_HEADER = 4 };
/* A kernel's configuration has 10,000 lines; a gzip of nothing but zeros unpacks to a thousand times its size. */
static const long CONFIG_LINES_MAX = 200000;

/* ---- CONFIG_HZ ---- */

/* The value in a configuration, which may be compressed; 0: it is not there. Closes fd. */
static long hz_in_config(int fd)
{
    static const char name[] = "CONFIG_HZ=";
    char line[CONFIG_LINE];
    long hz = 0, left = CONFIG_LINES_MAX;
    gzFile in = gzdopen(fd, "r");
    if (in == NULL) {
        close(fd);
        return 0;
    }
    while (hz == 0 && left-- > 0 && gzgets(in, line, sizeof line) != NULL)
        if (strncmp(line, name, sizeof name - 1) == 0)
            hz = strtol(line + sizeof name - 1, NULL, 10);
    gzclose(in);
    return hz > 0 && hz <= 100000 ? hz : 0;
}

/* The release as part of a file's name; it may be anything. */
static bool release_is_name(const char *release)
{
    return release[0] != '\0' && release[0] != '.' && strchr(release, '/') == NULL;
}

static void read_config_hz(const struct environment_tree *t, struct environment *e)
{
    const char *release = e->fact[ENV_RELEASE].text;
    char places[3][2 * ENVIRONMENT_TEXT] = {"proc/config.gz"};
    if (release_is_name(release)) {
        snprintf(places[1], sizeof places[1], "boot/config-%s", release);
        snprintf(places[2], sizeof places[2], "lib/modules/%s/config", release); /* Fedora and its relatives */
    }
    for (size_t i = 0; i < sizeof places / sizeof *places && e->config_hz == 0; i++) {
        int fd = places[i][0] != '\0' ? environment_tree_file(t, places[i]) : -1;
        if (fd >= 0)
            e->config_hz = hz_in_config(fd);
    }
}

/* ---- Secure Boot ---- */

/* The variable's byte behind the four of its attributes (UEFI 2.10, section 3.3; kernel: filesystems/efivarfs). */
static int secure_boot(const struct environment_tree *t)
{
    static const char folder[] = "sys/firmware/efi/efivars";
    unsigned char bytes[EFI_HEADER + 1];
    char path[2 * ENVIRONMENT_TEXT];
    struct environment_names names;
    int value = -1;
    environment_tree_names(t, folder, "SecureBoot-", &names);
    if (names.n > 0) {
        snprintf(path, sizeof path, "%s/%.255s", folder, names.name[0]);
        int fd = environment_tree_file(t, path);
        if (fd >= 0) {
            if (read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && bytes[EFI_HEADER] <= 1)
                value = bytes[EFI_HEADER];
            close(fd);
        }
    }
    environment_names_free(&names);
    return value;
}

void environment_kernel_read(const struct environment_tree *t, struct environment *e)
{
    char path[64];
    read_config_hz(t, e);
    e->secure_boot = secure_boot(t);
    snprintf(path, sizeof path, "dev/cpu/%d/msr", e->cpu);
    e->msr_error = environment_tree_readable(t, path);
    /* Docker, Podman */
    e->container_files = environment_tree_exists(t, ".dockerenv") || environment_tree_exists(t, "run/.containerenv");
}
