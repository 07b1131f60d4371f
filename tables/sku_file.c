/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/sku_file.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/data_file.h"

static const struct data_kind skus = {"SKU", "skus", ".sku"};

int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE], why[400];
    size_t length = 0;
    memset(out, 0, sizeof *out);
    char *text = data_file_read(name_or_file, data_dir, &skus, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sku_parse(text, length, path, out, why, sizeof why);
    free(text);
    return status == 0 ? MACHINE_OK : machine_fail(err, MACHINE_BAD_INPUT, "", "%s", why);
}

int sku_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &skus, names, n);
}

void sku_list_free(char **names, size_t n)
{
    data_file_list_free(names, n);
}
