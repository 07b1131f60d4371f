/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profiler/names.h"
#include "util/plain_text.h"

enum {
    SHORTEN_PART_MAX = 256, /* NAME_MAX and a NUL */
    SHORTEN_ID_MIN = 32,    /* hexadecimal digits of a container's number; runtimes use 32 (nspawn, LXD) or 64 */
    SHORTEN_ID = 12,        /* of which docker ps, podman ps and crictl ps show so many */
    SHORTEN_POD_ID = 8,     /* of a pod's UID, 8-4-4-4-12 */
};

/* systemd.unit(5): "\x2d" is '-'. In place. */
static void undo_escapes(char *part)
{
    char *to = part;
    for (const char *from = part; *from != '\0'; to++) {
        unsigned code;
        if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) && isxdigit((unsigned char)from[3]) &&
            sscanf(from + 2, "%2x", &code) == 1 && code != 0) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static void replace_prefix(char *part, const char *prefix, const char *by)
{
    size_t length = strlen(prefix), put = strlen(by);
    if (strncmp(part, prefix, length) != 0)
        return;
    memmove(part + put, part + length, strlen(part + length) + 1);
    memcpy(part, by, put);
}

static bool cut_end(char *part, const char *end)
{
    size_t length = strlen(part), cut = strlen(end);
    if (length <= cut || strcmp(part + length - cut, end) != 0)
        return false;
    part[length - cut] = '\0';
    return true;
}

/* A number of a container as its runtime abbreviates it; "docker-3f4a....scope" is a scope because of it. */
static void abbreviate_id(char *part)
{
    size_t length = strlen(part);
    for (size_t begin = 0; begin < length; begin++) {
        size_t digits = strspn(part + begin, "0123456789abcdef");
        if (digits >= SHORTEN_ID_MIN) {
            memmove(part + begin + SHORTEN_ID, part + begin + digits, length - begin - digits + 1);
            (void)cut_end(part, ".scope");
            return;
        }
        begin += digits;
    }
}

/* "kubepods-burstable-pod8c1f2e7a_....slice" or "pod8c1f2e7a-...": a pod, which is more than a slice. */
static bool name_pod(char *part)
{
    const char *pod = strstr(part, "pod");
    while (pod != NULL && (strspn(pod + 3, "0123456789abcdef") != SHORTEN_POD_ID || strlen(pod + 3) < 36 ||
                           (pod[3 + SHORTEN_POD_ID] != '-' && pod[3 + SHORTEN_POD_ID] != '_')))
        pod = strstr(pod + 1, "pod");
    if (pod == NULL)
        return false;
    char id[SHORTEN_POD_ID + 1];
    (void)snprintf(id, sizeof(id), "%s", pod + 3);
    (void)snprintf(part, SHORTEN_PART_MAX, "pod-%s", id);
    return true;
}

/* One part of the path. False: it says nothing that the others do not, unless it is the last. */
static bool shorten_part(char *part)
{
    undo_escapes(part);
    if (name_pod(part))
        return true;
    static const char *const runtimes[][2] = {
        {"cri-containerd-", "containerd-"}, {"libpod-", "podman-"}, {"machine-", ""}, {"lxc.payload.", "lxc-"}};
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        replace_prefix(part, runtimes[i][0], runtimes[i][1]);
    abbreviate_id(part);
    size_t length = strlen(part);
    bool slice = length > 6 && strcmp(part + length - 6, ".slice") == 0;
    if (slice && length > 11 && strncmp(part, "user-", 5) == 0)
        return cut_end(part, ".slice");
    return !slice && strncmp(part, "user@", 5) != 0;
}

void profile_names_shorten(const char *path, char *out, size_t size)
{
    char text[4096] = "", part[SHORTEN_PART_MAX];
    size_t used = 0;
    for (const char *at = path + strspn(path, "/"); *at != '\0';) {
        size_t length = strcspn(at, "/");
        (void)snprintf(part, sizeof(part), "%.*s", (int)(length < sizeof(part) ? length : sizeof(part) - 1), at);
        at += length;
        at += strspn(at, "/");
        if ((shorten_part(part) || *at == '\0') && used + strlen(part) + 2 < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "/" : "", part);
    }
    plain_text(used > 0 ? text : "/", out, size);
}
