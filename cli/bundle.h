/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stranger sends back: the self-test, the readings it rests on and facts about the computer, in one .tar.gz. */
#ifndef CHARACTERIZE_CLI_BUNDLE_H
#define CHARACTERIZE_CLI_BUNDLE_H

#include <jansson.h>

#include "tables/self_test/self_test.h"

/* Before anything is measured: whether it can be written. DONE, or an exit status after a line. */
int bundle_check(const char *path);
/* Writes self-test.json, readings.json and host.json, whole or not at all. DONE, or FAILED after a line. */
int bundle_write(const char *path, const json_t *self_test, const struct self_test_readings *r);
/* The readings of a bundle. DONE (self_test_free), or BAD_USAGE after a line. */
int bundle_read(const char *path, struct self_test_readings *out);

#endif
