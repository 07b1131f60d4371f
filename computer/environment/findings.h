/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: how an environment disturbs a measurement (doc/quiet-machine.md). They are pure functions of it. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "computer/environment/environment.h"

enum finding_kind { FINDING_DISTURBS, FINDING_LIMITS, FINDING_UNKNOWN, FINDING_QUIET };
struct finding {
    const char *id;
    enum finding_kind kind;
    double cost;  /* 0..1; NaN: it is not known */
    bool counted; /* else estimated */
    char seen[500], why[500];
    char change[1200], undo[1200]; /* "": there is none */
    bool boot;                     /* `change` and `undo` are no commands but words: only a boot can change it */
    bool fixed;                    /* nobody can change it */
};
struct findings {
    struct finding *list; /* in order; those of kind FINDING_QUIET last */
    size_t n;
};
/* Returns 0, or -1: out of memory. Free with findings_free. */
int findings_of(const struct environment *e, struct findings *out);
void findings_free(struct findings *f);
size_t findings_count(const struct findings *f, enum finding_kind kind);

/*
 * For a person, in lines of at most `width` columns, except for commands, which are copied and are
 * never broken.
 */
void environment_print(FILE *out, const struct environment *e, const struct findings *f, unsigned width);

/* characterize-environment/1 (doc/formats.md); sysroot NULL: this machine. To be freed; NULL: out
 * of memory. */
char *environment_json(const struct environment *e, const struct findings *f, const char *sysroot);
