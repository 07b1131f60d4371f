/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/switches/alone.h"

int alone_see(struct sequence *q, const struct segment *segments, size_t n, size_t zero, struct kernel_alone *seen,
              bool *valid, struct machine_error *err)
{
    struct sequence_run run;
    struct trace t;
    trace_init(&t);
    int status = sequence_trace(q, &t) ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
                                       : sequence_record(q, segments, n, zero, &t, &run, err);
    *valid = !status && !run.invalid[0];
    if (!status && settling_add_alone(seen, &t))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    trace_free(&t);
    return status;
}
