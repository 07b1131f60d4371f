/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transitions of a modelled guest, measured as the program measures them, and what the answers are worth. */
#ifndef TEST_GUEST_MODEL_H
#define TEST_GUEST_MODEL_H

#include "drivers/model/model.h"
#include "tests/support/guest_score.h"

/* The truth of a switch on a model (model_truth.h), by which an answer is judged: one stretch of throttling, a halt and
 * a step of the clock at most, nothing that is released later. MACHINE_OK, or *err and its status. */
int guest_model_truth(const struct model *m, const char *from, const char *to, struct guest_truth *out,
                      struct machine_error *err);

/*
 * Measures the switch with all that `--transition` does by default, and judges the answer; why: what is not right.
 * `details`: NULL, or where the answer is reported if it is not right. MACHINE_OK, or *err and its status.
 */
int guest_model_judge(const struct model *m, const char *from, const char *to, uint64_t seed,
                      enum guest_verdict *verdict, FILE *details, struct machine_error *err);

#endif
