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

/* Values of places. */
struct template_values {
    FILE *out; /* they are written here, one after the other */
    char *text;
    size_t size, n;
    struct {
        const char *name;
        size_t begin;     /* in text; it ends with a NUL */
        bool flag, there; /* flag: it decides only, by `there`; else by whether it is anything */
    } value[TEMPLATE_VALUES_MAX];
    bool failed; /* more than there is room for */
};

/* Begins with none. template_values_free in any case. False: out of memory. */
bool template_begin(struct template_values *v);
/* One more value: what is written to v->out, which this returns, up to the next one; also of several lines. `name` must
 * live as long as the values. */
FILE *template_value(struct template_values *v, const char *name);
/* One that decides only, and is written as nothing. */
void template_flag(struct template_values *v, const char *name, bool there);
void template_values_free(struct template_values *v);

/*
 * Writes the template with its values, which are complete from then on. Returns 0, or -1 with nothing written and one
 * line in `why`: out of memory for the values, the template names one that is not among them, or it has no place for
 * one that is. The stream's errors
 * are left to the caller.
 */
int template_fill(const struct template_file *t, struct template_values *v, FILE *out, char *why, size_t why_size);

/*
 * Reads FOLDER/NAME SUFFIX of the data folder (data_file.h). Returns 0, or -1 with one line in `why`: what is not
 * there, and what would work; *t is then empty.
 */
int template_read(struct template_file *t, const char *folder, const char *name, const char *suffix, char *why,
                  size_t why_size);
void template_file_free(struct template_file *t);
