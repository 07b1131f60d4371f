/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processors that do not exist: model files whose parameters are drawn at random. */
#pragma once

#include <stdint.h>

#include "drivers/model/model.h"

enum { RANDOM_MODEL_TEXT = 16384 };

/*
 * The text of a complete valid model file: 1 to 3 levels and at most 5 classes, 2 to 24 cores in 1 to 5 groups with
 * turbo frequencies of their own, steps, ratios, halts, waits, demands, mixtures, rates and voltages at random; the
 * same seed gives the same text. What the parameters have in common with real processors, so that a measurement can
 * tell them: neighboring levels and groups are at least 3 % apart, throttling is to 0.65 or less for 5 us or more, two
 * throttled stretches differ by a fifth, what counts instructions before it requests more does so for 4 us or more, all
 * transitions begin with the same throttled stretch, a transition is over within 150 us, the wait is 300 to 900 us.
 */
void random_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed);

/* The same, parsed. Fails the test if it is not valid. */
void random_model(struct model *out, uint64_t seed);

/*
 * Others, drawn from what doc/model-format.md allows and no tool was tuned to: throttles of 1.5 us on and of any ratio
 * up to 0.95, or none; waits of 120 to 2000 us that scatter by up to 15 us; counts of 1000 on that scatter by up to a
 * fifth; clocks that jitter by up to 25 ns; up to 1000 interrupts a second, of up to 20 us, that counters count or not,
 * and long ones; power.
 */
void wild_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed);
void wild_model(struct model *out, uint64_t seed);

/*
 * The processors of wild_model() of the same seed in surroundings of their own, each with some probability: no
 * counters, a TSC in steps, a busy sibling thread, a frequency that wanders, a power limit in some repetitions,
 * SMIs, cold code, state carried over, ramps of the frequency up and down, gradual voltages, companions that follow
 * boosts, license counters of the whole core, three classes at level 0.
 */
void scenario_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed);
void scenario_model(struct model *out, uint64_t seed);
