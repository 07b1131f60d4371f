/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code that the functions of include/characterize/ share. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "drivers/block/block.h"
#include "drivers/machine.h"
#include "include/characterize/characterize.h"

struct characterize_machine {
    struct machine machine;
    int cpu;           /* -1: its choice */
    char *data_folder; /* NULL: the shipped data */
    char chosen[1000]; /* what `auto` took */
    struct block_set blocks;
};

/* Fill *error (NULL: not wanted) and return the status. */
enum characterize_status library_fail(struct characterize_error *error, const struct machine_error *e);
enum characterize_status library_refuse(struct characterize_error *error, enum characterize_status status,
                                        const char *text);
/* Where a pointer was needed. */
enum characterize_status library_refuse_null(struct characterize_error *error);
/* Checks that each option is in its range. */
enum characterize_status library_check(const struct characterize_options *o, struct characterize_error *error);

/* A kernel by name, of those from files, too: as kernel_parse(). */
int library_kernel(const characterize_machine *m, const char *name, struct payload *out, char *why, size_t size);

/* The output of `print`, as text to be freed; NULL: out of memory. */
char *library_text(int (*print)(FILE *out, const void *data), const void *data);
