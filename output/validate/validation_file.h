/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdicts of validate_tables() for programs: JSON, and JUnit XML as continuous integration reads it. Pure. */
#pragma once

#include "tables/table/table.h"

/* characterize-validation/1 (doc/formats.md), malloc'ed; NULL: out of memory. */
char *validation_to_json(const struct table *verdicts);

/*
 * A JUnit test suite, a test case for each figure (malloc'ed; NULL: out of memory): what deviates has failed, what is
 * undecided, not measured or not published is skipped, with the reason. (JUnit's XML has no normative schema; these are
 * the elements of Apache Ant's JUnit task, which Jenkins and GitLab read.)
 */
char *validation_to_junit(const struct table *verdicts);
