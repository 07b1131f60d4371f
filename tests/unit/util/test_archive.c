/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives: what is written is read back, by tar as well; hostile ones are refused with a reason. */
#include <zlib.h>
/* cmocka needs the four above first */
#include "tests/support/test.h"
#include "util/archive.h"

enum { BLOCK = 512 };

struct bytes {
    char *text;
    size_t size;
};

static struct bytes written(const struct archive_member *members, size_t n)
{
    struct bytes b = {NULL, 0};
    FILE *out = open_memstream(&b.text, &b.size);
    assert_non_null(out);
    assert_int_equal(archive_write(out, members, n), 0);
    assert_int_equal(fclose(out), 0);
    return b;
}

static int read_back(const void *bytes, size_t size, struct archive_member *members, size_t *n, char *why)
{
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
    assert_non_null(in);
    int status = archive_read(in, members, n, why, 200);
    fclose(in);
    return status;
}

TEST(test_round_trip)
{
    char empty[] = "", block[BLOCK + 1], large[300001], why[200];
    memset(block, 'b', BLOCK);
    block[BLOCK] = '\0';
    for (size_t i = 0; i < sizeof large - 1; i++)
        large[i] = (char)(i * i % 251);
    large[sizeof large - 1] = '\0';
    const struct archive_member in[] = {
        {"empty", empty, 0, true},
        {"block.json", block, BLOCK, false},
        {"large", large, sizeof large - 1, false},
        {"sysroot/sys/large", large, sizeof large - 1, false}, /* for others: not read back */
    };
    struct archive_member out[ARCHIVE_MEMBERS_MAX];
    size_t n;
    struct bytes first = written(in, 4), second = written(in, 4);
    assert_int_equal(first.size, second.size); /* no date, no name: the same bytes */
    assert_memory_equal(first.text, second.text, first.size);
    assert_int_equal(read_back(first.text, first.size, out, &n, why), 0);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(out[i].name, in[i].name);
        assert_int_equal(out[i].size, in[i].size);
        assert_memory_equal(out[i].text, in[i].text, in[i].size + 1);
    }
    assert_ptr_equal(archive_find(out, n, "large"), &out[2]);
    assert_null(archive_find(out, n, "larg"));
    archive_free(out, n);
    char header[2 *
                BLOCK]; /* of "empty", and of the next one, right after it: their modes stand after 100 bytes of name */
    z_stream z = {.next_in = (Bytef *)first.text,
                  .avail_in = (uInt)first.size,
                  .next_out = (Bytef *)header,
                  .avail_out = sizeof header};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), Z_OK);
    inflateEnd(&z);
    assert_string_equal(header + 100, "0000444");
    assert_string_equal(header + BLOCK + 100, "0000644");
    free(first.text);
    free(second.text);
}

/* ---- archives of our own making ---- */

static struct bytes zipped(const char *bytes, size_t size)
{
    struct bytes b = {malloc(size + 1000), 0};
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)b.text;
    z.avail_out = (uInt)size + 1000;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.size = z.total_out;
    deflateEnd(&z);
    return b;
}

/* A header with a right checksum. */
static void header(char *at, const char *name, const char *size, char type, const char *prefix)
{
    unsigned sum = 0;
    memset(at, 0, BLOCK);
    memcpy(at, name, strlen(name));
    memcpy(at + 124, size, strlen(size));
    at[156] = type;
    memcpy(at + 257, "ustar\00000", 8);
    memcpy(at + 345, prefix, strlen(prefix));
    memset(at + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)at[i];
    snprintf(at + 148, 8, "%06o", sum & 0777777);
}

static void refused(const char *tar, size_t size, const char *pattern)
{
    struct archive_member out[ARCHIVE_MEMBERS_MAX];
    char why[200] = "";
    size_t n;
    struct bytes b = zipped(tar, size);
    assert_int_equal(read_back(b.text, b.size, out, &n, why), -1);
    if (strstr(why, pattern) == NULL)
        fail_msg("'%s' does not say '%s'", why, pattern);
    assert_int_equal(n, 0);
    free(b.text);
}

static void refused_header(const char *name, const char *size, char type, const char *prefix, const char *pattern)
{
    char tar[4 * BLOCK];
    memset(tar, 0, sizeof tar);
    header(tar, name, size, type, prefix);
    refused(tar, sizeof tar, pattern);
}

TEST(test_hostile_archives)
{
    char tar[40 * BLOCK], why[200];
    struct archive_member out[ARCHIVE_MEMBERS_MAX];
    size_t n;
    refused_header("../evil", "00000000001", '0', "", "files at the top level");
    refused_header("/etc/passwd", "00000000001", '0', "", "files at the top level");
    refused_header("a/b", "00000000001", '0', "", "files at the top level");
    refused_header(".hidden", "00000000001", '0', "", "files at the top level");
    refused_header("-rf", "00000000001", '0', "", "files at the top level");
    refused_header("a\nb", "00000000001", '0', "", "files at the top level");
    refused_header("", "00000000001", '0', "", "files at the top level");
    refused_header("name", "00000000001", '0', "prefix", "files at the top level");
    refused_header("link", "00000000000", '2', "", "files at the top level");
    refused_header("hard", "00000000000", '1', "", "files at the top level");
    refused_header("folder", "00000000000", '5', "", "files at the top level");
    refused_header("device", "00000000000", '3', "", "files at the top level");
    refused_header("sysroot/link", "00000000000", '2', "", "files at the top level");
    refused_header("sysroot/file", "00000000001", '0', "prefix", "files at the top level");
    refused_header("sysroot", "00000000001", '5', "", "files at the top level");
    refused_header("sysroot/file", "00000002001", '0', "", "truncated");
    refused_header("pax", "00000000010", 'x', "", "files at the top level");
    refused_header("large", "77777777777", '0', "", "truncated");
    refused_header("large", "00000002001", '0', "", "truncated");
    refused_header("size", "0000000-001", '0', "", "truncated");
    refused_header("size", "\x80", '0', "", "truncated"); /* binary sizes are GNU's */
    memset(tar, 'x', sizeof tar);
    refused(tar, sizeof tar, "no tar");
    memset(tar, 0, sizeof tar);
    refused(tar, sizeof tar, "empty");
    refused(tar, 100, "truncated");
    header(tar, "a", "00000000000", '0', "");
    refused(tar, BLOCK, "truncated"); /* no end of the archive */
    tar[3] = 'x';
    refused(tar, sizeof tar, "damaged");
    header(tar, "a", "00000000000", '0', "");
    header(tar + BLOCK, "a", "00000000000", '0', "");
    refused(tar, sizeof tar, "twice");
    for (int i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        header(tar + BLOCK * i, name, "00000000000", '0', "");
    }
    refused(tar, sizeof tar, "too many");
    assert_int_equal(read_back("plain text, no gzip", 19, out, &n, why), -1);
    assert_non_null(strstr(why, "not a gzip"));
}

/* 200 MB of zeros in 200 KB. */
TEST(test_bomb)
{
    size_t size = (size_t)200 << 20;
    char *zeros = calloc(1, size);
    assert_non_null(zeros);
    header(zeros, "bomb", "01400000000", '0', "");
    refused(zeros, size, "16 MiB");
    free(zeros);
}

/* Cut off anywhere, any byte changed, something after it: refused, or the same contents. */
TEST(test_damage)
{
    char text[] = "{\"format\": \"characterize-readings/1\", \"n\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", why[200];
    const struct archive_member in[] = {{"readings.json", text, sizeof text - 1, false}};
    struct archive_member out[ARCHIVE_MEMBERS_MAX];
    size_t n;
    struct bytes b = written(in, 1);
    for (size_t size = 1; size < b.size; size++) {
        assert_int_equal(read_back(b.text, size, out, &n, why), -1);
        assert_true(why[0] != '\0');
    }
    char *more = malloc(b.size + 1);
    assert_non_null(more);
    size_t taken = 0;
    for (size_t i = 0; i < b.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(more, b.text, b.size);
            more[i] = (char)(more[i] ^ 1 << bit);
            if (read_back(more, b.size, out, &n, why) != 0)
                continue;
            /* a bit that means nothing: the date of the gzip header, what fills the last byte */
            taken++;
            assert_string_equal(out[0].text, text);
            archive_free(out, n);
        }
    assert_true(taken < 80);
    memcpy(more, b.text, b.size);
    more[b.size] = 'x';
    assert_int_equal(read_back(more, b.size + 1, out, &n, why), -1);
    assert_non_null(strstr(why, "trailing"));
    free(more);
    free(b.text);
}
