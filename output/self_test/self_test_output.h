/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a self-test leaves: as lines for a person, and as what a stranger sends back. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "output/self_test/self_test.h"
#include "util/archive.h"

/*
 * self_test_text.c. The lines of a self-test. `replayed`: judged from a bundle. others: those of other programs; may be
 * NULL.
 */
void self_test_text_print(FILE *out, const struct self_test_readings *r, const struct self_test_lines *l,
                          const struct self_test_lines *others, bool replayed);

/*
 * bundle.c. The self-test, the readings it rests on and facts about the computer, in one .tar.gz: self-test.json,
 * readings.json, host.json, and below sysroot/ the files that --check environment reads (computer/environment/pack.h).
 */
struct bundle {
    struct archive_member *member; /* n, malloc'ed */
    size_t n;
};

/* `root`: "", or a folder laid out like a computer's root. Returns 0, or -1: out of memory. bundle_free in any case. */
int bundle_make(struct bundle *b, const char *root, const json_t *self_test, const struct self_test_readings *r);
void bundle_free(struct bundle *b);
/* Writes it. Returns 0, or -1 with errno. */
int bundle_print(FILE *out, const struct bundle *b);
/* The readings of a bundle, which may come from anybody. Returns 0 (self_test_free), or -1 with one clause in `why`. */
int bundle_read(const char *path, struct self_test_readings *out, char *why, size_t why_size);
