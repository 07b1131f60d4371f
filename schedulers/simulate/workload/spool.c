/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps rows in memory or in a file until the simulation reads them. */
#include "schedulers/simulate/workload/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/list.h"

enum {
    BLOCK_ROWS = 4096,           /* at most */
    BLOCK_ROWS_FIRST = 16,       /* of a stream; each is twice as long as the one before */
    SPOOL_ROOM_ROWS = 1 << 16,   /* 1 MiB: kept in memory, or written at once */
    SPOOL_BUFFERS_ROWS = 1 << 20 /* of all streams, beyond which none gets longer blocks */
};

struct spool_stream {
    struct sim_row *row; /* not yet in a block */
    uint32_t n, room;
    uint64_t *block; /* where it begins, in rows, times 2^16, plus how many rows it has */
    size_t n_blocks;
    int64_t lead;    /* ps of idle time ahead of all */
    int64_t at_lead; /* where reading is: what is left of it */
    size_t at_block;
    uint32_t at_row;
};

struct sim_spool {
    struct spool_stream *stream;
    size_t n_streams;
    size_t buffers;   /* rows for which streams have room */
    uint64_t rows;    /* in blocks */
    int fd;           /* -1: all is in room */
    uint64_t in_file; /* rows */
    struct sim_row *room;
    char why[300]; /* rows are missing */
};

struct sim_spool *sim_spool_new(void)
{
    struct sim_spool *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = -1;
    s->room = malloc(SPOOL_ROOM_ROWS * sizeof *s->room);
    if (!s->room) {
        free(s);
        return NULL;
    }
    return s;
}

void sim_spool_free(struct sim_spool *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_streams; i++) {
        free(s->stream[i].row);
        free(s->stream[i].block);
    }
    if (s->fd >= 0)
        close(s->fd);
    free(s->stream);
    free(s->room);
    free(s);
}

static int spool_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory for the workload's rows");
}

static int no_room(const struct sim_spool *s, struct machine_error *err)
{
    int why = errno;
    const char *folder = getenv("TMPDIR");
    if (s->fd < 0)
        return machine_fail(err, MACHINE_FAILED, "set TMPDIR to a writable directory",
                            "cannot write the rows of the workload into the directory %.200s (TMPDIR): %s",
                            folder && *folder ? folder : "/tmp", strerror(why));
    return machine_fail(err, MACHINE_FAILED, "set TMPDIR to a directory with enough space",
                        "cannot keep the rows of the workload, more than %" PRIu64 " MB, in %.200s (TMPDIR): %s",
                        (s->rows * sizeof *s->room) >> 20, folder && *folder ? folder : "/tmp", strerror(why));
}

/* A file without a name. */
static int spool_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    if (!folder || !*folder)
        folder = "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if ((size_t)snprintf(name, sizeof name, "%s/characterize-XXXXXX", folder) >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

/* Writes the rows in room to the file, which is made where there is none. */
static int write_room(struct sim_spool *s, struct machine_error *err)
{
    if (s->fd < 0)
        s->fd = spool_file();
    if (s->fd < 0)
        return no_room(s, err);
    const char *from = (const char *)s->room;
    size_t left = (size_t)(s->rows - s->in_file) * sizeof *s->room;
    while (left) {
        ssize_t done = write(s->fd, from, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return no_room(s, err);
        from += done;
        left -= (size_t)done;
    }
    s->in_file = s->rows;
    return MACHINE_OK;
}

/* Makes a block of rows, at most BLOCK_ROWS. */
static int add_block(struct sim_spool *s, struct spool_stream *t, const struct sim_row *row, uint32_t n,
                     struct machine_error *err)
{
    if (!list_room(&t->block, t->n_blocks, sizeof *t->block))
        return spool_memory(err);
    if (s->rows - s->in_file + n > SPOOL_ROOM_ROWS && write_room(s, err))
        return err->status;
    memcpy(s->room + (s->rows - s->in_file), row, n * sizeof *row);
    t->block[t->n_blocks++] = s->rows << 16 | n;
    s->rows += n;
    return MACHINE_OK;
}

static int end_block(struct sim_spool *s, struct spool_stream *t, struct machine_error *err)
{
    int status = t->n ? add_block(s, t, t->row, t->n, err) : MACHINE_OK;
    t->n = 0;
    return status;
}

static int make_room(struct sim_spool *s, struct spool_stream *t, struct machine_error *err)
{
    if (t->n && end_block(s, t, err))
        return err->status;
    uint32_t room = t->room ? 2 * t->room : BLOCK_ROWS_FIRST;
    if (room > BLOCK_ROWS || (t->room && s->buffers > SPOOL_BUFFERS_ROWS))
        return MACHINE_OK;
    struct sim_row *more = realloc(t->row, room * sizeof *more);
    if (!more)
        return spool_memory(err);
    s->buffers += room - t->room;
    t->row = more;
    t->room = room;
    return MACHINE_OK;
}

static int make_streams(struct sim_spool *s, unsigned stream, struct machine_error *err)
{
    while (stream >= s->n_streams) {
        if (!list_room(&s->stream, s->n_streams, sizeof *s->stream))
            return spool_memory(err);
        s->stream[s->n_streams++] = (struct spool_stream){0};
    }
    return MACHINE_OK;
}

static bool goes_on(const struct sim_row *a, const struct sim_row *b)
{
    return a->task == b->task && a->class == b->class && a->ipc == b->ipc && a->stall == b->stall && !b->syscall;
}

int sim_spool_push(struct sim_spool *s, unsigned stream, struct sim_row row, struct machine_error *err)
{
    if (stream >= s->n_streams && make_streams(s, stream, err))
        return err->status;
    struct spool_stream *t = &s->stream[stream];
    struct sim_row *last = t->n ? &t->row[t->n - 1] : NULL;
    if (last && goes_on(last, &row)) {
        int64_t more = row.ps < SIM_ROW_PS_MAX - last->ps ? row.ps : SIM_ROW_PS_MAX - last->ps;
        last->ps += more;
        row.ps -= more;
    }
    while (row.ps || row.syscall) {
        if (t->n == t->room && make_room(s, t, err))
            return err->status;
        int64_t rest = row.ps > SIM_ROW_PS_MAX ? row.ps - SIM_ROW_PS_MAX : 0;
        row.ps -= rest;
        t->row[t->n++] = row;
        row.ps = rest;
        row.syscall = 0;
    }
    return MACHINE_OK;
}

int sim_spool_lead(struct sim_spool *s, unsigned stream, int64_t ps, struct machine_error *err)
{
    if (make_streams(s, stream, err))
        return err->status;
    s->stream[stream].lead = ps;
    return MACHINE_OK;
}

static size_t spool_read(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct sim_spool *s = self;
    struct spool_stream *t = &s->stream[stream];
    size_t n = 0;
    for (; n < max && t->at_lead > 0; t->at_lead -= out[n++].ps)
        out[n] = (struct sim_row){.ps = t->at_lead < SIM_ROW_PS_MAX ? t->at_lead : SIM_ROW_PS_MAX, .task = SIM_IDLE};
    if (n || t->at_block == t->n_blocks || *s->why)
        return n;
    uint32_t left = (uint32_t)(t->block[t->at_block] & 0xffff) - t->at_row;
    uint64_t from = (t->block[t->at_block] >> 16) + t->at_row;
    if (max > left)
        max = left;
    if (s->fd < 0) {
        memcpy(out, s->room + from, max * sizeof *out);
    } else {
        size_t size = max * sizeof *out;
        for (size_t got = 0; got < size;) {
            ssize_t more = pread(s->fd, (char *)out + got, size - got, (off_t)(from * sizeof *out + got));
            if (more < 0 && errno == EINTR)
                continue;
            if (more <= 0) {
                snprintf(s->why, sizeof s->why, "cannot read the workload's rows again (TMPDIR): %s",
                         more ? strerror(errno) : "the file has been truncated");
                return 0;
            }
            got += (size_t)more;
        }
    }
    t->at_row += (uint32_t)max;
    if (max == left) {
        t->at_block++;
        t->at_row = 0;
    }
    return max;
}

static void spool_rewind(void *self)
{
    struct sim_spool *s = self;
    for (size_t i = 0; i < s->n_streams; i++) {
        s->stream[i].at_lead = s->stream[i].lead;
        s->stream[i].at_block = 0;
        s->stream[i].at_row = 0;
    }
    *s->why = '\0';
}

static const char *spool_error(void *self)
{
    struct sim_spool *s = self;
    return *s->why ? s->why : NULL;
}

static void spool_close(void *self)
{
    sim_spool_free(self);
}

int sim_spool_done(struct sim_spool *s, const unsigned *order, unsigned n, struct sim_source *out, uint64_t *rows,
                   struct machine_error *err)
{
    if (n && make_streams(s, n - 1, err))
        return err->status;
    uint64_t leads = 0;
    for (size_t i = 0; i < s->n_streams; i++) {
        struct spool_stream *t = &s->stream[i];
        t->at_lead = t->lead;
        leads += (uint64_t)(t->lead / SIM_ROW_PS_MAX + (t->lead % SIM_ROW_PS_MAX > 0));
        if (end_block(s, t, err))
            return err->status;
        free(t->row);
        t->row = NULL;
        t->room = 0;
    }
    if (s->fd >= 0 && write_room(s, err))
        return err->status;
    struct spool_stream *ordered = malloc((n + !n) * sizeof *ordered);
    if (!ordered)
        return spool_memory(err);
    for (unsigned i = 0; i < n; i++)
        ordered[i] = s->stream[order ? order[i] : i];
    free(s->stream);
    s->stream = ordered;
    s->n_streams = n;
    *rows = s->rows + leads;
    *out = (struct sim_source){spool_read, spool_rewind, spool_error, spool_close, s};
    return MACHINE_OK;
}
