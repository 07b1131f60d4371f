/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the shipped data, and files there that are chosen by name: models, published figures of SKUs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "util/error.h"

enum { DATA_PATH_SIZE = 4096 };

/*
 * The folder `name` ("models") of the first place that has one: `data_dir` if not NULL, else $CHARACTERIZE_DATA, else
 * beside the shared library or the program, in the source tree or where it is installed; that of DATA_DIR if none has.
 */
void data_folder(const char *data_dir, const char *name, char out[DATA_PATH_SIZE]);

/* The directory of this program; "" where that cannot be found. */
void data_program_path(char out[DATA_PATH_SIZE]);

enum { DATA_FILE_PATH_SIZE = 2 * DATA_PATH_SIZE };

struct data_kind {
    const char *what;   /* "model", for messages */
    const char *folder; /* "models" */
    const char *suffix; /* ".model" */
    const char *format; /* where the format is described; NULL: nowhere for users */
};

/*
 * The names of the shipped files of a kind, without the suffix, in alphabetical order. data_dir: see data_folder.
 * Returns 0 and an array to free with data_file_list_free (possibly empty), or -1 when out of memory.
 */
int data_file_list(const char *data_dir, const struct data_kind *kind, char ***names, size_t *n);
void data_file_list_free(char **names, size_t n);

/* The path of one. A name with a slash or a dot is a path of its own: then it returns true. */
bool data_file_path(const char *name_or_file, const char *data_dir, const char *folder, const char *suffix,
                    char path[DATA_FILE_PATH_SIZE]);

/*
 * The text of one, with a NUL after it, to be freed; its path, for messages (data_file_path).
 * NULL after filling *err: a name that is not known is refused with the known ones (MACHINE_BAD_INPUT), and
 * so is what cannot be read or has more than 1 MiB.
 */
char *data_file_read(const char *name_or_file, const char *data_dir, const struct data_kind *kind,
                     char path[DATA_FILE_PATH_SIZE], size_t *length, struct machine_error *err);

/* All of an open file with a NUL after it, to be freed; NULL, as there, after filling *err. path: for messages. */
char *data_file_contents(FILE *in, const char *path, size_t *length, struct machine_error *err);
