/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words broken where a screen ends. */
#include "util/screen_text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The value of COLUMNS; 0: none that can be used. */
static unsigned columns_requested(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    long columns = text && *text ? strtol(text, &end, 10) : 0;
    return columns > 0 && columns <= 10000 && *end == '\0' ? (unsigned)columns : 0;
}

unsigned screen_text_width(FILE *out)
{
    struct winsize size = {0};
    int fd = fileno(out);
    bool terminal = fd >= 0 && isatty(fd);
    unsigned columns = terminal || fd == STDOUT_FILENO || fd == STDERR_FILENO ? columns_requested() : 0;
    if (columns == 0 && terminal && ioctl(fd, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    return columns == 0 ? SCREEN_WIDTH : columns < SCREEN_WIDTH_LEAST ? SCREEN_WIDTH_LEAST : columns;
}

unsigned screen_text_record_width(FILE *out)
{
    return fileno(out) >= 0 && isatty(fileno(out)) ? screen_text_width(out) : UINT_MAX;
}

void screen_text_field(FILE *out, unsigned column, const char *text)
{
    const unsigned least = 30, narrow_indent = 4, width = screen_text_record_width(out);
    screen_text_words(out, text, column, width < column + least ? narrow_indent : column, width);
    putc('\n', out);
}

unsigned screen_text_columns(const char *text, size_t bytes)
{
    unsigned columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

void screen_text_words(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
    text += strspn(text, " ");
    for (bool first = true; *text; first = false) {
        size_t bytes = strcspn(text, " ");
        unsigned columns = screen_text_columns(text, bytes);
        bool fits = column + !first + columns <= width || (first && column <= indent);
        if (!fits)
            fprintf(out, "\n%*s", (int)indent, "");
        else if (!first)
            putc(' ', out);
        fwrite(text, 1, bytes, out);
        column = (fits ? column + !first : indent) + columns;
        text += bytes + strspn(text + bytes, " ");
    }
}
