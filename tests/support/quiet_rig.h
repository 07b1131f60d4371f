/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree that looks like a machine whose parts can be made quiet: two cores of two threads each; CPU 3 is measured.
 * For tests that include cmocka.h before this.
 */
#pragma once

#include "computer/settings/settings.h"
#include "tests/support/folder.h"

#define QUIET_CPUS "sys/devices/system/cpu/"
#define QUIET_WORKQUEUES "sys/devices/virtual/workqueue/"
#define QUIET_BOOT "8413c301-7ff1-50ab-95fa-64225559df55"

struct quiet_tree {
    char root[FOLDER_PATH_MAX], sys[80], proc[80], dev[80], state[80];
    struct settings_roots roots;
};

/* The settings in it, and what each part makes of them; part 0: none touches it. */
enum { QUIET_FILES = 17 };
struct quiet_file {
    unsigned part;
    const char *path, *before, *after;
};
extern const struct quiet_file quiet_files[QUIET_FILES];

/* For TEST_WITH(): such a tree, which is its *state. */
int quiet_grow(void **state);
int quiet_fell(void **state);

void quiet_put(const struct quiet_tree *t, const char *path, const char *text);
void quiet_is(const struct quiet_tree *t, const char *path, const char *expected);
/* All settings of these parts must be as after the change, the others as before. */
void quiet_all_are(const struct quiet_tree *t, unsigned changed);

/* settings_apply() with these parts, those of `must` by name; the second where it must succeed. */
int quiet_apply(const struct quiet_tree *t, unsigned parts, unsigned must, struct settings **s,
                struct machine_error *err);
struct settings *quiet_applied(const struct quiet_tree *t, unsigned parts);
/* settings_restore(), which must succeed and tell of this; NULL: of nothing. */
void quiet_restore(struct settings *s, const char *others);
/* settings_recover() must return this status and tell this; "": nothing. */
void quiet_recovers(const struct quiet_tree *t, int status, const char *report);
