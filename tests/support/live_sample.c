/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/live_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct profile_estimate around(double value)
{
    return (struct profile_estimate){value, 0.8 * value, 1.25 * value};
}

static const struct profile_estimate unknown = {NAN, NAN, NAN};

static struct profile_row sample_row(enum profile_kind kind, double overhead, double share)
{
    struct profile_row row = {.kind = kind, .share = share, .overhead = around(overhead)};
    row.sibling = around(0.75 * overhead);
    row.delay = around(0.25 * overhead);
    row.demands[1] = around(0.02);
    row.demands[2] = unknown;
    row.reduced = around(overhead / 2);
    return row;
}

struct profile_result *live_sample(size_t tasks)
{
    struct profile_result *r = calloc(1, sizeof(*r));
    if (r == NULL)
        abort();
    r->n_rows = 1 + tasks + LIVE_SAMPLE_CONTAINERS + LIVE_SAMPLE_CORES;
    r->rows = calloc(r->n_rows, sizeof(*r->rows));
    if (r->rows == NULL)
        abort();
    r->info = (struct profile_source_info){.name = "helper",
                                           .cpu = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
                                           .cpus = 8,
                                           .cores = 4,
                                           .ref_khz = 2100000,
                                           .notes = ""};
    r->totals = (struct profile_source_totals){.turns = 5000, .lost = 2, .pause_us_max = 733.5, .seconds = 3725};
    r->setup = (struct profile_setup){.mean_us = 20000, .pause_us = 700, .window_us = 70, .n_bins = 5};
    r->turns[PROFILE_TAKEN] = 3200;
    r->turns[PROFILE_IDLE] = 1700;
    r->turns[PROFILE_SWITCHED] = 100;
    struct profile_row *row = r->rows;
    *row++ = sample_row(PROFILE_ALL, 0.1, 1);
    for (size_t i = 0; i < tasks; i++, row++) {
        *row = sample_row(PROFILE_TASK, 0.4 * (double)(tasks - i) / (double)tasks,
                          (double)(i + 1) / (double)tasks / 10);
        (void)snprintf(row->name, sizeof(row->name), "task-%zu", 1000 + i);
        row->pid = row->tgid = (uint32_t)(1000 + i);
        row->samples = i + 1;
        row->causes = i % 3 == 0 ? 0.01 * (double)i : 0;
    }
    for (size_t i = 0; i < LIVE_SAMPLE_CONTAINERS; i++, row++) {
        *row = sample_row(PROFILE_CONTAINER, 0.03 / (double)(i + 1), 0.2);
        (void)snprintf(row->name, sizeof(row->name), "box-%zu", i);
        row->cgroup = 70 + i;
    }
    for (size_t i = 0; i < LIVE_SAMPLE_CORES; i++, row++) {
        *row = sample_row(PROFILE_CORE, 0.02, 0.25);
        (void)snprintf(row->name, sizeof(row->name), "core %zu", i);
        row->core = (uint32_t)i;
    }
    if (tasks > 1) {
        struct profile_row *first = &r->rows[1];
        first->culprits = calloc(1, sizeof(*first->culprits));
        if (first->culprits == NULL)
            abort();
        first->culprits[0] = (struct profile_culprit){.row = tasks, .overhead = 0.3};
        first->n_culprits = 1;
        first->unattributed = 0.1;
        (void)snprintf(first->command, sizeof(first->command), "/usr/sbin/task --first");
        (void)snprintf(
            first->advice, sizeof(first->advice),
            "Keep the last one off this core's sibling, which costs it thirty percent of all its time, by cpusets "
            "or by core scheduling.");
    }
    return r;
}

void live_sample_free(struct profile_result *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].culprits);
    free(r->rows);
    free(r);
}
