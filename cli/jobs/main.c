/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize: the program that measures, and leaves simulations and profiles to two others. */
#include "cli/jobs/jobs.h"
#include "cli/program.h"

static int (*const run_job[])(const struct options *o) = {
    [JOB_TRANSITION] = job_transition, [JOB_ANALYZE] = job_analyze, [JOB_LIST] = job_list,
    [JOB_RESTORE] = job_restore,       [JOB_TABLE] = job_table,     [JOB_ALL] = job_all,
    [JOB_VALIDATE] = job_validate,     [JOB_DRAFT] = job_draft,     [JOB_EXPORT] = job_export,
    [JOB_SELF_TEST] = job_self_test,   [JOB_CHECK] = job_check,     [JOB_VERDICT] = job_verdict,
    [JOB_COMPARE] = job_compare,       [JOB_BESIDE] = job_beside,   [JOB_WHICH] = job_which};

static int run(const struct options *o)
{
    return run_job[o->job](o);
}

int main(int argc, char **argv)
{
    static const struct option_program program = {.name = "characterize"};
    return program_main(argc, argv, &program, run);
}
