/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text files of the data folder with places to fill: @NAME@ (capitals, digits, underscores) is replaced by the value of
 * that name. A line of which nothing is left but values that are empty is not written. @NAME?@ decides about its
 * paragraph, the lines up to the next empty one: it is written only where there is a value; with @NAME!@ only where
 * there is none. Lines that begin with "@#" are comments of the template.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TEMPLATE_VALUES_MAX = 40 };

/* A file of the data folder that was read; both to be freed with template_file_free. */
struct template_file {
    char *path, *text;
};

/* Values of places; all zero: none yet. */
struct template_values {
    size_t n;
    struct {
        const char *name;
        char *text;
        bool there; /* for what it decides about */
    } value[TEMPLATE_VALUES_MAX];
    bool failed; /* out of memory, or more than there is room for */
};

/* Writes a value to a stream, also of several lines. */
typedef void template_printer(FILE *out, const void *data);

/* One more value: what `print` writes; or a text, as printf makes it. `name` must live as long as the values. */
void template_put(struct template_values *v, const char *name, template_printer *print, const void *data);
__attribute__((format(printf, 3, 4))) void template_put_text(struct template_values *v, const char *name,
                                                             const char *format, ...);
/* One that decides only, and is written as nothing. */
void template_put_flag(struct template_values *v, const char *name, bool there);
void template_values_free(struct template_values *v);

/*
 * Writes the template with its values. Returns 0, or -1 with nothing written and one line in `why`: out of memory for
 * the values, the template names one that is not among them, or it has no place for one that is. The stream's errors
 * are left to the caller.
 */
int template_fill(const struct template_file *t, const struct template_values *v, FILE *out, char *why,
                  size_t why_size);

/*
 * Reads FOLDER/NAME SUFFIX of the data folder (data_file.h). Returns 0, or -1 with one line in `why`: what is not
 * there, and what would work; *t is then empty.
 */
int template_read(struct template_file *t, const char *folder, const char *name, const char *suffix, char *why,
                  size_t why_size);
void template_file_free(struct template_file *t);
