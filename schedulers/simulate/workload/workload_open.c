/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload.h"
#include "schedulers/simulate/workload/readers.h"

static int read_recording(struct sim_recording *r)
{
    size_t length;
    const char *line = sim_lines_peek(&r->in, &length);
    if (!line)
        return sim_lines_fail(&r->in, 0, "is empty");
    if (sim_perf_is_line(line, length))
        return sim_perf_read(r);
    if (sim_csv_is_header(line, length))
        return sim_csv_read(r);
    int got; /* to the line that this was decided by: it may be binary */
    while ((got = sim_lines_next(&r->in)) > 0 && (*r->in.line == '#' || !r->in.line[strspn(r->in.line, " \t")]))
        ;
    if (got < 0)
        return -1;
    return sim_lines_fail(
        &r->in, 0, "is no workload: neither CSV with a header of cpu,time_us,task,class nor text of perf script");
}

int sim_workload_open(const char *path, const struct sim_workload_options *o, struct sim_workload **out,
                      struct machine_error *err)
{
    struct sim_recording *r = malloc(sizeof *r);
    *out = NULL;
    if (!r)
        return machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", path);
    int status = sim_recording_open(r, path, o, err);
    if (status == MACHINE_OK && (read_recording(r) || sim_recording_end(r)))
        status = err->status;
    if (status == MACHINE_OK) {
        *out = r->w;
        r->w = NULL;
    }
    sim_recording_close(r);
    free(r);
    return status;
}
