/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/vt_screen.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { VT_GROUND, VT_ESCAPE, VT_CSI, VT_STRING, VT_CHARSET };

static void blank_cells(struct vt_screen *v, int line, int from, int to)
{
    for (int i = from; i < to; i++)
        v->cell[line][i] = (struct vt_cell){.text = " ", .colour = -1};
}

static void blank_lines(struct vt_screen *v, int from, int to)
{
    for (int i = from; i < to; i++)
        blank_cells(v, i, 0, VT_COLUMNS_MAX);
}

void vt_init(struct vt_screen *v, int lines, int columns)
{
    memset(v, 0, sizeof(*v));
    v->pen.colour = -1;
    blank_lines(v, 0, VT_LINES_MAX);
    vt_resize(v, lines, columns);
}

void vt_resize(struct vt_screen *v, int lines, int columns)
{
    v->lines = lines;
    v->columns = columns;
    v->top = 0;
    v->bottom = lines - 1;
    v->line = v->line < lines ? v->line : lines - 1;
    v->column = v->column < columns ? v->column : columns - 1;
}

/* Lines from..v->bottom move by n: up where n > 0. */
static void scroll(struct vt_screen *v, int from, int n)
{
    for (; n > 0; n--) {
        memmove(v->cell[from], v->cell[from + 1], (size_t)(v->bottom - from) * sizeof(v->cell[0]));
        blank_lines(v, v->bottom, v->bottom + 1);
    }
    for (; n < 0; n++) {
        memmove(v->cell[from + 1], v->cell[from], (size_t)(v->bottom - from) * sizeof(v->cell[0]));
        blank_lines(v, from, from + 1);
    }
}

static int within(int x, int end)
{
    return x < 0 ? 0 : x >= end ? end - 1 : x;
}

static void line_feed(struct vt_screen *v)
{
    if (v->line == v->bottom)
        scroll(v, v->top, 1);
    else
        v->line = within(v->line + 1, v->lines);
}

static void put_character(struct vt_screen *v, const char *text)
{
    wchar_t c = L' ';
    int width = 1;
    if ((unsigned char)text[0] >= 0x80) {
        locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = uselocale(utf8);
        width = mbtowc(&c, text, strlen(text)) > 0 ? wcwidth(c) : 1;
        (void)uselocale(before);
        freelocale(utf8);
    }
    if (width <= 0)
        return;
    if (v->column + width > v->columns) {
        v->column = 0;
        line_feed(v);
    }
    struct vt_cell *cell = &v->cell[v->line][v->column];
    *cell = v->pen;
    (void)snprintf(cell->text, sizeof(cell->text), "%s", v->line_drawing ? "+" : text);
    if (width == 2) {
        cell[1] = v->pen;
        cell[1].text[0] = '\0';
    }
    v->column += width;
}

static void select_rendition(struct vt_screen *v)
{
    for (int i = 0; i < v->n_arguments || i == 0; i++) {
        int a = v->argument[i];
        if (a == 0)
            v->pen = (struct vt_cell){.colour = -1};
        else if (a == 1 || a == 22)
            v->pen.bold = a == 1;
        else if (a == 7 || a == 27)
            v->pen.reverse = a == 7;
        else if (a >= 30 && a <= 37)
            v->pen.colour = a - 30;
        else if (a == 39)
            v->pen.colour = -1;
    }
}

static void set_private(struct vt_screen *v, bool on)
{
    for (int i = 0; i < v->n_arguments; i++) {
        int a = v->argument[i];
        if (a == 47 || a == 1047 || a == 1049) {
            if (on && !v->alternate)
                blank_lines(v, 0, v->lines);
            v->alternate = on;
        } else if (a == 25) {
            v->hidden = !on;
        } else if (a == 1) {
            v->application_keys = on;
        }
    }
}

static void erase_display(struct vt_screen *v, int what)
{
    if (what == 0) {
        blank_cells(v, v->line, v->column, v->columns);
        blank_lines(v, v->line + 1, v->lines);
    } else if (what == 1) {
        blank_lines(v, 0, v->line);
        blank_cells(v, v->line, 0, v->column + 1);
    } else {
        blank_lines(v, 0, v->lines);
    }
}

static void move_cells(struct vt_screen *v, int n)
{
    struct vt_cell *line = v->cell[v->line];
    int rest = v->columns - v->column - abs(n);
    if (rest < 0)
        blank_cells(v, v->line, v->column, v->columns);
    else if (n > 0) {
        memmove(line + v->column + n, line + v->column, (size_t)rest * sizeof(*line));
        blank_cells(v, v->line, v->column, v->column + n);
    } else {
        memmove(line + v->column, line + v->column - n, (size_t)rest * sizeof(*line));
        blank_cells(v, v->line, v->columns + n, v->columns);
    }
}

static void move_cursor(struct vt_screen *v, int line, int column)
{
    v->line = within(line, v->lines);
    v->column = within(column, v->columns);
}

static void run_csi(struct vt_screen *v, char final)
{
    int a = v->argument[0], n = a > 0 ? a : 1;
    char last[VT_CELL];
    switch (final) {
    case 'H':
    case 'f':
        move_cursor(v, n - 1, v->argument[1] > 0 ? v->argument[1] - 1 : 0);
        break;
    case 'A':
        move_cursor(v, v->line - n, v->column);
        break;
    case 'B':
        move_cursor(v, v->line + n, v->column);
        break;
    case 'C':
        move_cursor(v, v->line, v->column + n);
        break;
    case 'D':
        move_cursor(v, v->line, v->column - n);
        break;
    case 'G':
        move_cursor(v, v->line, n - 1);
        break;
    case 'd':
        move_cursor(v, n - 1, v->column);
        break;
    case 'J':
        erase_display(v, a);
        break;
    case 'K':
        blank_cells(v, v->line, a == 0 ? v->column : 0, a == 1 ? v->column + 1 : v->columns);
        break;
    case 'X':
        blank_cells(v, v->line, v->column, within(v->column + n - 1, v->columns) + 1);
        break;
    case '@':
        move_cells(v, n);
        break;
    case 'P':
        move_cells(v, -n);
        break;
    case 'L':
    case 'M':
        scroll(v, v->line, final == 'M' ? n : -n);
        break;
    case 'S':
    case 'T':
        scroll(v, v->top, final == 'S' ? n : -n);
        break;
    case 'b':
        (void)snprintf(last, sizeof(last), "%s", v->cell[v->line][within(v->column - 1, v->columns)].text);
        for (; n > 0; n--)
            put_character(v, last);
        break;
    case 'r':
        v->top = n - 1;
        v->bottom = v->argument[1] > 0 ? within(v->argument[1] - 1, v->lines) : v->lines - 1;
        move_cursor(v, 0, 0);
        break;
    case 'm':
        select_rendition(v);
        break;
    case 'h':
    case 'l':
        if (v->private == '?')
            set_private(v, final == 'h');
        break;
    case 't': /* the window's own business */
    case 'c':
        break;
    default:
        v->strange++;
    }
}

static void run_escape(struct vt_screen *v, char c)
{
    v->state = VT_GROUND;
    switch (c) {
    case '[':
        v->state = VT_CSI;
        memset(v->argument, 0, sizeof(v->argument));
        v->n_arguments = 0;
        v->private = '\0';
        break;
    case ']':
    case 'P':
        v->state = VT_STRING;
        break;
    case '(':
    case ')':
        v->state = VT_CHARSET;
        break;
    case '7':
        v->saved_line = v->line;
        v->saved_column = v->column;
        break;
    case '8':
        move_cursor(v, v->saved_line, v->saved_column);
        break;
    case 'M':
        if (v->line == v->top)
            scroll(v, v->top, -1);
        else
            v->line = within(v->line - 1, v->lines);
        break;
    case 'D':
        line_feed(v);
        break;
    case '=':
    case '>':
    case 'H':
    case '\\':
        break;
    default:
        v->strange++;
    }
}

static void take_csi(struct vt_screen *v, char c)
{
    if (c >= '0' && c <= '9') {
        v->n_arguments = v->n_arguments > 0 ? v->n_arguments : 1;
        int *a = &v->argument[v->n_arguments - 1];
        *a = *a < 10000 ? 10 * *a + (c - '0') : *a;
    } else if (c == ';') {
        v->n_arguments = v->n_arguments > 0 ? v->n_arguments : 1;
        v->n_arguments += v->n_arguments < VT_ARGUMENTS;
    } else if (c == '?' || c == '>' || c == '!') {
        v->private = c;
    } else if (c >= 0x40) {
        v->state = VT_GROUND;
        run_csi(v, c);
    }
}

static void take_plain(struct vt_screen *v, char c)
{
    unsigned char u = (unsigned char)c;
    if (c == '\033')
        v->state = VT_ESCAPE;
    else if (c == '\r')
        v->column = 0;
    else if (c == '\n')
        line_feed(v);
    else if (c == '\b')
        v->column = within(within(v->column, v->columns) - 1, v->columns);
    else if (c == '\t')
        v->column = within((v->column / 8 + 1) * 8, v->columns);
    else if (c == '\016' || c == '\017')
        v->line_drawing = c == '\016';
    else if (u >= 0x80) {
        if (u >= 0xC0) {
            v->utf8_has = 0;
            v->utf8_needs = u >= 0xF0 ? 4 : u >= 0xE0 ? 3 : 2;
        }
        if (v->utf8_has < v->utf8_needs)
            v->utf8[v->utf8_has++] = c;
        v->utf8[v->utf8_has] = '\0';
        if (v->utf8_has == v->utf8_needs)
            put_character(v, v->utf8);
    } else if (u >= 0x20 && u != 0x7F) {
        const char one[] = {c, '\0'};
        put_character(v, one);
    }
}

void vt_feed(struct vt_screen *v, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        if (v->state == VT_ESCAPE)
            run_escape(v, c);
        else if (v->state == VT_CSI)
            take_csi(v, c);
        else if (v->state == VT_CHARSET) {
            v->line_drawing = c == '0';
            v->state = VT_GROUND;
        } else if (v->state == VT_STRING)
            v->state = c == '\a' ? VT_GROUND : c == '\033' ? VT_ESCAPE : VT_STRING;
        else
            take_plain(v, c);
    }
}

const char *vt_line(const struct vt_screen *v, int line)
{
    static char text[VT_COLUMNS_MAX * VT_CELL];
    size_t used = 0, end = 0;
    for (int i = 0; i < v->columns; i++) {
        const char *cell = v->cell[line][i].text;
        memcpy(text + used, cell, strlen(cell));
        used += strlen(cell);
        if (strcmp(cell, " ") != 0)
            end = used;
    }
    text[end] = '\0';
    return text;
}

int vt_find(const struct vt_screen *v, int from, const char *text)
{
    for (int i = from; i < v->lines; i++)
        if (strstr(vt_line(v, i), text) != NULL)
            return i;
    return -1;
}
