/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of files in a folder of a test's own that are undone all together, so that one tree serves many cases. */
#pragma once

#include "tests/support/folder.h"

struct folder_change {
    const char *path, *text; /* below the folder; text NULL: it is moved away, also a folder */
};
enum { FOLDER_CHANGES = 6 }; /* for one case; those without a path are none */

void folder_change(const char *root, const struct folder_change changes[FOLDER_CHANGES]);
void folder_change_undo(void);
