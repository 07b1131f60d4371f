/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a model file. Each function returns 0, or non-zero after refusing the present line for `key`. */
#pragma once

#include "drivers/model/model.h"
#include "util/sourced_ini.h"

/* A decimal number or a fraction like 1/4, lo to hi. */
int model_number(struct sourced_ini *ini, const char *key, const char *text, double lo, double hi, double *out);
/* So many numbers, at most three, each within its limits. `form`: how they are written, for messages. */
int model_numbers(struct sourced_ini *ini, const char *key, const char *value, const char *form, size_t n,
                  const double limits[][2], double out[]);
/* A whole number, decimal or 0x.., lo to hi. */
int model_uint(struct sourced_ini *ini, const char *key, const char *text, unsigned lo, unsigned hi, unsigned *out);
/* "4" or "1-4", active cores. */
int model_core_range(struct sourced_ini *ini, const char *key, const char *text, struct model_range *out);
/* The place of a word in a list that ends with NULL; -1 after refusing it. `what`: "a weight; light or heavy". */
int model_one_of(struct sourced_ini *ini, const char *key, const char *word, const char *const *known,
                 const char *what);
/* Bits of a register, and "light" or "heavy". */
int model_width(struct sourced_ini *ini, const char *key, const char *text, unsigned *out);
int model_weight(struct sourced_ini *ini, const char *key, const char *text, enum kernel_weight *out);
