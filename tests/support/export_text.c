/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/export_text.h"

#include "tests/support/folder.h"
#include "tests/support/test.h"

struct sim_params *export_text_read(const char *text)
{
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    struct machine_error err;
    struct sim_params *p;
    folder_make(folder);
    folder_put(folder, "export.json", text);
    snprintf(path, sizeof path, "%s/export.json", folder);
    if (sim_params_read(path, &p, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    folder_remove(folder);
    return p;
}
