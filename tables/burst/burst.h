/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table burst: what short bursts of wide code cost the code around them (doc/formats.md). */
#pragma once

#include <stdbool.h>

#include "tables/table/estimates.h"
#include "tables/table/table.h"

/* Narrower code that does the same work: of half the width in twice as many instructions; and of 128 bits, where that
 * is narrower still. */
enum burst_narrower { BURST_HALF, BURST_128, BURST_NARROWER };
struct burst_against {
    const char *saves, *breakeven; /* columns */
};
extern const struct burst_against burst_against[BURST_NARROWER];

/* A time: "10 us", "1 ms", "100 ms". Returns `out`. */
const char *burst_time_text(double us, char out[ESTIMATE_TEXT_MAX]);
