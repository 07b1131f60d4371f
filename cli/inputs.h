/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run reads, which none of its outputs may replace. */
#pragma once

#include "cli/options/options.h"

/* Whose inputs they are from now on. */
void inputs_note(const struct options *o);
/* True if two names lead to one existing regular file or directory. */
bool inputs_same(const char *a, const char *b);
/* DONE, or BAD_USAGE after a line: the output (NULL: none) would replace an input. */
int inputs_spare(const char *output);
