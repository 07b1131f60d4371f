/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdio.h>

#include "analysis/wake/wake.h"

/* The stages as a table for the screen, and what it does not show. */
void wake_text_print(FILE *out, const struct wake_stages *s, const struct wake_source *source);
