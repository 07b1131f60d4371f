/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where model files are, and reading them. */
#include <stdlib.h>

#include "util/data_file.h"
#include "drivers/model/model.h"

static const struct data_kind models = {"model", "models", ".model"};

int model_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &models, names, n);
}

void model_list_free(char **names, size_t n)
{
    data_file_list_free(names, n);
}

char *model_text(const char *name_or_file, const char *data_dir, size_t *length)
{
    char path[DATA_FILE_PATH_SIZE];
    struct machine_error ignored;
    return data_file_read(name_or_file, data_dir, &models, path, length, &ignored);
}

int model_load(const char *name_or_file, const char *data_dir, struct model *out, struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    char *text = data_file_read(name_or_file, data_dir, &models, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = model_parse(text, length, path, out, err);
    free(text);
    return status;
}
