/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sampling loop of the perf machine once more, with the RDPMC of the made PMU. */
#include <stdint.h>

uint64_t fake_pmu_rdpmc(uint32_t counter);
#define PERF_RDPMC fake_pmu_rdpmc
#define PERF_SAMPLERS fake_samplers
#include "drivers/perf/perf_sample.c" /* NOLINT(bugprone-suspicious-include): this is the point */
