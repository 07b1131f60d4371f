/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts into one .tar.gz and out of it. */
#include "util/archive.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/error.h"

enum { BLOCK = 512, CHUNK = 65536, GZIP_WINDOW = 15 + 16 /* zlib.h, deflateInit2: a gzip header and trailer */ };

/* A ustar header: all numbers are octal text. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2];
    char user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* The sum of all bytes, those of the checksum itself taken as blanks. */
static unsigned checksum_of(const struct header *h)
{
    struct header blank = *h;
    const unsigned char *bytes = (const unsigned char *)&blank;
    unsigned sum = 0;
    memset(blank.checksum, ' ', sizeof(blank.checksum));
    for (size_t i = 0; i < sizeof(blank); i++)
        sum += bytes[i];
    return sum;
}

static size_t padding(size_t size)
{
    return (BLOCK - size % BLOCK) % BLOCK;
}

/* zlib's state, and the compressed bytes that it points into: of one lifetime. */
struct stream {
    z_stream z;
    unsigned char buffer[CHUNK];
};

/* ---- writing ---- */

static int deflate_bytes(FILE *out, struct stream *s, const void *bytes, size_t size, int flush)
{
    z_stream *z = &s->z;
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)size;
    do {
        z->next_out = s->buffer;
        z->avail_out = sizeof(s->buffer);
        if (deflate(z, flush) == Z_STREAM_ERROR) {
            errno = EIO;
            return -1;
        }
        size_t made = sizeof(s->buffer) - z->avail_out;
        if (fwrite(s->buffer, 1, made, out) != made)
            return -1;
    } while (z->avail_out == 0);
    return 0;
}

static int write_member(FILE *out, struct stream *s, const struct archive_member *m)
{
    static const char zeros[BLOCK];
    struct header h;
    memset(&h, 0, sizeof(h));
    snprintf(h.name, sizeof(h.name), "%s", m->name);
    snprintf(h.mode, sizeof(h.mode), "%07o", m->read_only ? 0444u : 0644u);
    snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
    snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
    snprintf(h.size, sizeof(h.size), "%011llo", (unsigned long long)m->size & 077777777777);
    snprintf(h.mtime, sizeof(h.mtime), "%011o", 0u);
    h.type = '0';
    memcpy(h.magic, "ustar", sizeof(h.magic));
    memcpy(h.version, "00", sizeof(h.version));
    snprintf(h.checksum, sizeof(h.checksum), "%06o", checksum_of(&h) & 0777777);
    h.checksum[7] = ' ';
    return deflate_bytes(out, s, &h, sizeof(h), Z_NO_FLUSH) || deflate_bytes(out, s, m->text, m->size, Z_NO_FLUSH) ||
                   deflate_bytes(out, s, zeros, padding(m->size), Z_NO_FLUSH)
               ? -1
               : 0;
}

int archive_write(FILE *out, const struct archive_member *members, size_t n)
{
    static const char end[2 * BLOCK]; /* two blocks of zeros end an archive */
    struct stream s = {.z = {0}};
    int status = 0;
    if (deflateInit2(&s.z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < n && status == 0; i++)
        status = write_member(out, &s, &members[i]);
    if (status == 0)
        status = deflate_bytes(out, &s, end, sizeof(end), Z_FINISH);
    deflateEnd(&s.z);
    return status;
}

/* ---- reading ---- */

/* One unpacked stream: at most ARCHIVE_BYTES_MAX, into memory that grows; and where it is said why there is none. */
struct unpacked {
    char *bytes;
    size_t size, room;
    char *why;
    size_t why_size;
};

static int refuse(const struct unpacked *u, const char *text)
{
    return error_line(u->why, u->why_size, "%s", text);
}

static int grow(struct unpacked *u)
{
    if (u->room - u->size >= CHUNK)
        return 0;
    size_t room = u->room * 2 + 2 * CHUNK;
    char *more = u->size > ARCHIVE_BYTES_MAX ? NULL : realloc(u->bytes, room);
    if (more == NULL)
        return refuse(u, u->size > ARCHIVE_BYTES_MAX ? "it unpacks to more than 16 MiB" : "out of memory");
    u->bytes = more;
    u->room = room;
    return 0;
}

static int inflate_all(FILE *in, struct stream *s, struct unpacked *u)
{
    z_stream *z = &s->z;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        z->avail_in = (uInt)fread(s->buffer, 1, sizeof(s->buffer), in);
        z->next_in = s->buffer;
        if (z->avail_in == 0) {
            return refuse(u, ferror(in)    ? "it cannot be read"
                             : u->size > 0 ? "it is truncated"
                                           : "it is not a gzip file");
        }
        do {
            if (grow(u) != 0)
                return -1;
            z->next_out = (Bytef *)u->bytes + u->size;
            z->avail_out = CHUNK;
            status = inflate(z, Z_NO_FLUSH);
            u->size += CHUNK - z->avail_out;
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
                return refuse(u, u->size > 0 ? "it is damaged" : "it is not a gzip file");
        } while (status == Z_OK && z->avail_out == 0);
    }
    if (z->avail_in > 0 || fgetc(in) != EOF)
        return refuse(u, "it has trailing data");
    return 0;
}

/* Octal digits, ended by a blank or NUL. Returns false where there is anything else. */
static bool octal(const char *text, size_t length, size_t *out)
{
    *out = 0;
    size_t i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '7'; i++)
        *out = *out << 3 | (size_t)(text[i] - '0');
    return i > 0 && (i == length || text[i] == '\0' || text[i] == ' ');
}

static bool harmless_name(const char *name, size_t size)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strnlen(name, size);
    return length > 0 && length < ARCHIVE_NAME_MAX && name[0] != '.' && name[0] != '-' &&
           strspn(name, allowed) >= length;
}

/* True of a file or a folder that is for others. */
static bool is_skipped(const struct header *h)
{
    return strncmp(h->name, ARCHIVE_SKIPPED, sizeof(ARCHIVE_SKIPPED) - 1) == 0 && h->prefix[0] == '\0' &&
           (h->type == '0' || h->type == '5');
}

/* Appends the file whose header ends at `at`; *taken: its bytes there. */
static int take_member(const struct unpacked *u, const struct header *h, size_t at, struct archive_member *members,
                       size_t *n, size_t *taken)
{
    size_t size, sum, left = u->size - at;
    char name[ARCHIVE_NAME_MAX];
    if (!octal(h->checksum, sizeof(h->checksum), &sum) || sum != checksum_of(h) || memcmp(h->magic, "ustar", 5) != 0)
        return refuse(u, "it contains no tar archive, or a damaged one");
    if (!is_skipped(h) &&
        ((h->type != '0' && h->type != '\0') || h->prefix[0] != '\0' || !harmless_name(h->name, sizeof(h->name))))
        return refuse(u, "it contains something other than files at the top level");
    if (!octal(h->size, sizeof(h->size), &size) || size > left || padding(size) > left - size)
        return refuse(u, "it is truncated");
    *taken = size + padding(size);
    if (is_skipped(h))
        return 0;
    snprintf(name, sizeof(name), "%.99s", h->name);
    if (*n == ARCHIVE_MEMBERS_MAX || archive_find(members, *n, name) != NULL)
        return refuse(u, *n == ARCHIVE_MEMBERS_MAX ? "it contains too many files" : "it contains a file twice");
    struct archive_member *m = &members[*n];
    m->text = malloc(size + 1);
    if (m->text == NULL)
        return refuse(u, "out of memory");
    memcpy(m->text, u->bytes + at, size);
    m->text[size] = '\0';
    m->size = size;
    memcpy(m->name, name, sizeof(name));
    ++*n;
    return 0;
}

static int split(const struct unpacked *u, struct archive_member *members, size_t *n)
{
    static const struct header none;
    size_t at = 0, taken = 0;
    while (u->size - at >= BLOCK) {
        struct header h;
        memcpy(&h, u->bytes + at, sizeof(h));
        at += BLOCK;
        if (memcmp(&h, &none, sizeof(h)) == 0)
            return *n > 0 ? 0 : refuse(u, "it is empty");
        if (take_member(u, &h, at, members, n, &taken) != 0)
            return -1;
        at += taken;
    }
    return refuse(u, "it is truncated");
}

int archive_read(FILE *in, struct archive_member members[ARCHIVE_MEMBERS_MAX], size_t *n, char *why, size_t size)
{
    struct stream s = {.z = {0}};
    struct unpacked u = {.why = why, .why_size = size};
    *n = 0;
    if (inflateInit2(&s.z, GZIP_WINDOW) != Z_OK)
        return refuse(&u, "out of memory");
    int status = inflate_all(in, &s, &u);
    inflateEnd(&s.z);
    if (status == 0)
        status = split(&u, members, n);
    free(u.bytes);
    if (status != 0) {
        archive_free(members, *n);
        *n = 0;
    }
    return status;
}

const struct archive_member *archive_find(const struct archive_member *members, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

void archive_free(struct archive_member *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(members[i].text);
        members[i].text = NULL;
    }
}
