/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the shipped data lie: models, tables of events. */
#ifndef CHARACTERIZE_DATA_FOLDER_H
#define CHARACTERIZE_DATA_FOLDER_H

enum { DATA_PATH_SIZE = 4096 };

/*
 * The folder `name` ("models") of the first place that has one: `data_dir` if not NULL, else $CHARACTERIZE_DATA, else
 * beside the shared library or the program, in the source tree or where it is installed; that of DATA_DIR if none has.
 */
void data_folder(const char *data_dir, const char *name, char out[DATA_PATH_SIZE]);

#endif
