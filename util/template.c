/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Templates filled in. */
#include "util/template.h"

#include <stdlib.h>
#include <string.h>

#include "util/data_file.h"
#include "util/error.h"

/* A place that begins at `at`, which has an '@': its length, 0 if it is none. *decides: '?', '!' or 0. */
static size_t template_place(const char *at, size_t *name, char *decides)
{
    *name = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    *decides = at[1 + *name] == '?' || at[1 + *name] == '!' ? at[1 + *name] : '\0';
    size_t length = 1 + *name + (*decides != '\0');
    return *name && at[length] == '@' ? length + 1 : 0;
}

bool template_begin(struct template_values *v)
{
    *v = (struct template_values){.n = 0};
    v->out = open_memstream(&v->text, &v->size);
    return v->out != NULL;
}

FILE *template_value(struct template_values *v, const char *name)
{
    if (v->n > 0)
        fputc('\0', v->out);
    v->failed = v->failed || v->n == TEMPLATE_VALUES_MAX;
    if (!v->failed) {
        v->value[v->n].name = name;
        v->value[v->n++].begin = (size_t)ftell(v->out);
    }
    return v->out;
}

void template_flag(struct template_values *v, const char *name, bool there)
{
    template_value(v, name);
    v->value[v->n - 1].flag = true;
    v->value[v->n - 1].there = there;
}

void template_values_free(struct template_values *v)
{
    if (v->out)
        fclose(v->out);
    free(v->text);
}

struct filling {
    const struct template_values *values;
    bool placed[TEMPLATE_VALUES_MAX]; /* a place names the value */
    const char *missing;              /* the name of a value that there is none of, and its length */
    size_t missing_length;
};

static const char *value_of(struct filling *f, const char *name, size_t length, bool *there)
{
    for (size_t i = 0; i < f->values->n; i++)
        if (strlen(f->values->value[i].name) == length && strncmp(f->values->value[i].name, name, length) == 0) {
            f->placed[i] = true;
            const char *text = f->values->text + f->values->value[i].begin;
            *there = f->values->value[i].flag ? f->values->value[i].there : *text != '\0';
            return text;
        }
    f->missing = name;
    f->missing_length = length;
    *there = false;
    return "";
}

/* One line, without its end, up to `end`. With `out` NULL it is only looked at. Returns whether its paragraph stays. */
static bool template_line(struct filling *f, const char *line, const char *end, FILE *out)
{
    bool any_place = false, stays = true, empty = true, ended = false;
    for (const char *at = line; at < end;) {
        size_t name, length;
        char decides;
        bool there;
        const char *next = memchr(at, '@', (size_t)(end - at));
        next = next ? next : end;
        length = next < end ? template_place(next, &name, &decides) : 0;
        if (next > at || !length) {
            size_t plain = (size_t)(next - at) + (length || next == end ? 0 : 1);
            if (out)
                fwrite(at, 1, plain, out);
            at += plain;
            empty = false;
            ended = false;
            continue;
        }
        const char *value = value_of(f, next + 1, name, &there);
        stays = stays && (!decides || there == (decides == '?'));
        any_place = true;
        empty = empty && !*value;
        ended = *value && value[strlen(value) - 1] == '\n';
        if (out)
            fputs(value, out);
        at = next + length;
    }
    if (out && !ended && !(empty && any_place))
        fputc('\n', out);
    return stays;
}

/* The lines up to an empty one; returns where that is. */
static const char *paragraph(struct filling *f, const char *text, FILE *out, bool *stays)
{
    *stays = true;
    while (*text && *text != '\n') {
        const char *end = text + strcspn(text, "\n");
        if (strncmp(text, "@#", 2) != 0)
            *stays = template_line(f, text, end, out) && *stays;
        text = end + (*end == '\n');
    }
    return text;
}

/* With `out` NULL the template is only looked at, also what would be left out. */
static void pass(struct filling *f, const char *text, FILE *out)
{
    while (*text) {
        bool stays;
        const char *end = paragraph(f, text, NULL, &stays);
        if (out && stays)
            paragraph(f, text, out, &stays);
        for (text = end; *text == '\n'; text++)
            if (out && stays)
                fputc('\n', out);
    }
}

int template_fill(const struct template_file *t, struct template_values *v, FILE *out, char *why, size_t why_size)
{
    struct filling f = {.values = v};
    int closed = fclose(v->out);
    v->out = NULL;
    if (closed != 0 || v->failed)
        return error_line(why, why_size, "out of memory");
    pass(&f, t->text, NULL);
    if (f.missing)
        return error_line(why, why_size, "%.400s names @%.*s@, for which there is no value", t->path,
                          (int)f.missing_length, f.missing);
    for (size_t i = 0; i < v->n; i++)
        if (!f.placed[i])
            return error_line(why, why_size, "%.400s has no @%s@; restore the file as it was installed", t->path,
                              v->value[i].name);
    pass(&f, t->text, out);
    return 0;
}

int template_read(struct template_file *t, const char *folder, const char *name, const char *suffix, char *why,
                  size_t why_size)
{
    const struct data_kind kind = {.what = "template", .folder = folder, .suffix = suffix};
    struct machine_error error;
    char path[DATA_FILE_PATH_SIZE];
    size_t length;
    t->path = NULL;
    t->text = data_file_read(name, NULL, &kind, path, &length, &error);
    if (!t->text)
        return error_line(why, why_size,
                          "%.400s cannot be read (%.200s); set CHARACTERIZE_DATA to the directory that "
                          "contains %s/",
                          path, error.text, folder);
    t->path = strdup(path);
    if (t->path)
        return 0;
    template_file_free(t);
    return error_line(why, why_size, "out of memory");
}

void template_file_free(struct template_file *t)
{
    free(t->path);
    free(t->text);
    t->path = t->text = NULL;
}
