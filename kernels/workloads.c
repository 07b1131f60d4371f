/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only list of workloads. */
#include "kernels/workloads.h"

extern workload_fn workload_register, workload_branch, workload_load, workload_spoil, workload_chase;

static const struct workload workloads[WORKLOADS] = {
    [WORKLOAD_REGISTER] = {"register", workload_register}, [WORKLOAD_BRANCH] = {"branch", workload_branch},
    [WORKLOAD_LOAD] = {"load@mem", workload_load},         [WORKLOAD_SPOIL] = {"spoil", workload_spoil},
    [WORKLOAD_CHASE] = {"chase@mem", workload_chase},
};

const struct workload *workload_get(enum workload_number n)
{
    return &workloads[n];
}
