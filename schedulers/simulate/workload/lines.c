/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a text file line by line, and says what is wrong with one of them. */
#include "schedulers/simulate/workload/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/path.h"
#include "util/plain_text.h"

enum { LINES_ROOM = 2 * SIM_LINE_MAX };

/* Moves the rest to the front and appends more. */
static void read_more(struct sim_lines *l)
{
    size_t left = (size_t)(l->end - l->at);
    memmove(l->room, l->at, left);
    l->at = l->room;
    l->end = l->room + left + fread(l->room + left, 1, LINES_ROOM - left, l->in);
}

/* What makes text of a recording that is none, by how it begins; NULL: it is of no known kind. Perfetto's begin with
 * the tag of a packet (protos/perfetto/trace/trace.proto). */
static const char *converter(const char *begin, size_t n)
{
    static const char trace_cmd[] = "\x17\x08"
                                    "Dtracing";
    if (n >= 8 && !memcmp(begin, "PERFILE2", 8))
        return "perf script -i FILE";
    if (n >= sizeof trace_cmd && !memcmp(begin, trace_cmd, sizeof trace_cmd - 1))
        return "trace-cmd report -i FILE";
    return n && *begin == '\n' && memchr(begin, '\0', n) ? "if it is Perfetto's, traceconv systrace FILE" : NULL;
}

int sim_lines_open(struct sim_lines *l, const char *file, struct machine_error *err)
{
    char why[400];
    *l = (struct sim_lines){.file = file, .err = err};
    l->room = malloc(LINES_ROOM + 1);
    if (!l->room)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    l->at = l->end = l->room;
    if (path_read_named(file, &l->in, why, sizeof why))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "cannot read %.200s: %.250s", file, why);
    read_more(l);
    if (l->end - l->at >= 3 && !memcmp(l->at, "\xef\xbb\xbf", 3))
        l->at += 3;
    const char *p = l->at, *converts = converter(p, (size_t)(l->end - p));
    if (converts)
        return sim_lines_fail(l, 0, "is not text: %s converts it", converts), err->status;
    while (p < l->end && strchr(" \t\r\n", *p))
        p++;
    l->json = p < l->end && (*p == '{' || *p == '[');
    l->closing = p < l->end && *p == '{' ? '{' : '\0';
    return MACHINE_OK;
}

void sim_lines_close(struct sim_lines *l)
{
    if (l->in)
        fclose(l->in);
    free(l->room);
    *l = (struct sim_lines){0};
}

int sim_lines_fail(struct sim_lines *l, uint64_t line, const char *format, ...)
{
    char text[400], place[24] = "";
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (line)
        snprintf(place, sizeof place, ":%" PRIu64, line);
    machine_fail(l->err, MACHINE_BAD_INPUT, "", "%.200s%s: %s", l->file, place, text);
    return -1;
}

int sim_lines_memory(struct sim_lines *l)
{
    machine_fail(l->err, MACHINE_FAILED, "", "%.200s: out of memory", l->file);
    return -1;
}

const char *sim_lines_shown(const char *text, char out[SIM_SHOWN_SIZE])
{
    char most[41];
    size_t length = strnlen(text, sizeof most);
    memcpy(most, text, length < sizeof most ? length : 40);
    most[length < sizeof most ? length : 40] = '\0';
    size_t shown = plain_text(most, out, 44);
    if (length == sizeof most)
        strcpy(out + shown, "...");
    return out;
}

/* Where the line ends; NULL: not in what has been read. */
static char *line_end(const struct sim_lines *l)
{
    if (!l->json)
        return memchr(l->at, '\n', (size_t)(l->end - l->at));
    for (char *p = l->at; p < l->end; p++)
        if (*p == '\n' || (*p == '\\' && p + 1 < l->end && p[1] == 'n'))
            return p;
    return NULL;
}

int sim_lines_next(struct sim_lines *l)
{
    char *end = line_end(l);
    if (!end) {
        read_more(l);
        if (ferror(l->in))
            return sim_lines_fail(l, 0, "reading failed: %s", strerror(errno));
        end = line_end(l);
    }
    l->number++;
    if (!end && l->at == l->end)
        return l->closing && l->closing != '}' ? sim_lines_fail(l, 0, "is cut off: its JSON has no end; copy it again")
                                               : 0;
    bool last = !end;
    if (last)
        end = l->end;
    l->line = l->at;
    l->length = (size_t)(end - l->at);
    l->at = last ? end : end + (*end == '\n' ? 1 : 2);
    for (size_t i = l->length; l->closing && i-- > 0;)
        if (!strchr(" \t\r", l->line[i])) {
            l->closing = l->line[i];
            break;
        }
    if (l->length > SIM_LINE_MAX)
        return sim_lines_fail(l, l->number, "the line is longer than %d bytes: not a workload", SIM_LINE_MAX);
    if (memchr(l->line, '\0', l->length))
        return sim_lines_fail(l, l->number, "NUL byte: not a text file");
    while (l->length && l->line[l->length - 1] == '\r')
        l->length--;
    l->line[l->length] = '\0'; /* in place of the line end; there is room for one after the last line */
    return 1;
}

const char *sim_lines_peek(struct sim_lines *l, const char *after, size_t *length)
{
    for (const char *p = after ? after : l->at; p < l->end;) {
        const char *end = memchr(p, '\n', (size_t)(l->end - p)), *text = p;
        if (!end)
            end = l->end;
        while (text < end && (*text == ' ' || *text == '\t' || *text == '\r'))
            text++;
        if (text < end && *text != '#') {
            *length = (size_t)(end - p);
            return p;
        }
        p = end + 1;
    }
    return NULL;
}
