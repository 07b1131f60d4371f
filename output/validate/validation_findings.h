/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is remarkable about a measurement, whether or not anybody has published a figure of it: what the people ask who
 * bring up a new processor. Pure.
 */
#pragma once

#include "tables/published/sku.h"
#include "tables/table/table.h"

/* Findings by kind: a name for programs, stable. */
enum finding_kind {
    FINDING_COUNTS_NOTHING,  /* "umask 10H counts nothing here", of a documented one */
    FINDING_UNDOCUMENTED,    /* a umask counts something else than what is documented */
    FINDING_NO_LEVEL,        /* wide or heavy code asks for no level */
    FINDING_CORE_DIFFERS,    /* "CPU 7 is 100 MHz faster" */
    FINDING_NO_TRANSITION,   /* none, where levels are listed or measured */
    FINDING_LEVEL_AND_CLOCK, /* counters tell levels apart that the clock does not, or the other way round */
    FINDING_CONTRADICTION,   /* the entry and what it inherits */
    FINDING_KINDS
};
extern const char *const finding_kind_names[FINDING_KINDS]; /* "counts nothing", ... */

/*
 * Finds them in n tables of one measurement, with the figures of a SKU (without figures: of an unknown one), and
 * notes them in a table of verdicts: its detail "findings", a list of objects with kind, table and text. No detail:
 * there are none. Failures stand in verdicts->failed.
 */
void findings_note(const struct sku *sku, const struct table *const *tables, size_t n, struct table *verdicts);

/* The findings of a table of verdicts: calls `tell` with each; returns how many there are. */
size_t findings_each(const struct table *verdicts, void (*tell)(void *data, const char *kind, const char *text),
                     void *data);
