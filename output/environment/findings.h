/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an environment costs a measurement (doc/quiet-machine.md): pure. */
#pragma once

#include "drivers/environment/environment.h"

enum finding_kind { FINDING_DISTURBS, FINDING_LIMITS, FINDING_UNKNOWN, FINDING_QUIET };
struct finding {
    const char *id;
    enum finding_kind kind;
    double cost;  /* 0..1; NaN: it cannot be told */
    bool counted; /* else estimated */
    char seen[400], why[400];
    char change[300], undo[300]; /* "": there is none */
};
struct findings {
    struct finding *list; /* in order; those of kind FINDING_QUIET last */
    size_t n;
};
/* Returns 0, or -1: out of memory. Free with findings_free. */
int findings_of(const struct environment *e, struct findings *out);
void findings_free(struct findings *f);
size_t findings_count(const struct findings *f, enum finding_kind kind);
