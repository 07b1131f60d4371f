/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of characterize. Each returns an exit status and has said one line if that is not DONE. */
#pragma once

#include "cli/options/options.h"

int job_transition(const struct options *o);
int job_analyze(const struct options *o);
int job_list(const struct options *o);
int job_restore(const struct options *o);
int job_verdict(const struct options *o);
int job_table(const struct options *o);
int job_all(const struct options *o);
int job_validate(const struct options *o);
int job_draft(const struct options *o);
int job_beside(const struct options *o);
int job_which(const struct options *o);
int job_compare(const struct options *o);
int job_export(const struct options *o);
int job_self_test(const struct options *o);
int job_check(const struct options *o);
