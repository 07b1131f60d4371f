/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computers made by hand, as --check environment sees them, and what is found of them. */
#pragma once

#include "computer/environment/findings.h"

enum { COMPUTER_LIST = 4 };
struct computer {
    struct environment e;
    struct environment_state states[COMPUTER_LIST];
    struct environment_irq irqs[COMPUTER_LIST];
    struct environment_task tasks[COMPUTER_LIST];
    struct environment_weakness weaknesses[COMPUTER_LIST];
};

/* A server of four cores, two threads each, as one would have it for a measurement on CPU 3, by a plain user. */
void computer_quiet(struct computer *c);

void computer_set(struct computer *c, enum environment_fact which, const char *text);
void computer_boot_line(struct computer *c, const char *text);
/* The CPUs of a list, "0-2,4-6". */
void computer_mask(struct cpu_mask *m, const char *list);
/* allowed: a list of CPUs; NULL: one without a number, as those between CPUs. */
void computer_add_irq(struct computer *c, const char *name, const char *device, uint64_t counted, const char *allowed);

/* findings_of(), which must succeed; *f is to be freed. */
void computer_findings(const struct computer *c, struct findings *f);
