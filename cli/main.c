/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the command line, runs the job, and reports results that could not be written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/changed_settings.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/options/options.h"
#include "cli/privileges.h"
#include "cli/stop.h"

static int (*const run_job[])(const struct options *o) = {
    [JOB_TRANSITION] = job_transition, [JOB_ANALYZE] = job_analyze,   [JOB_LIST] = job_list,
    [JOB_RESTORE] = job_restore,       [JOB_TABLE] = job_table,       [JOB_ALL] = job_all,
    [JOB_VALIDATE] = job_validate,     [JOB_DRAFT] = job_draft,       [JOB_EXPORT] = job_export,
    [JOB_SELF_TEST] = job_self_test,   [JOB_SIMULATE] = job_simulate, [JOB_PROFILE] = job_profile,
    [JOB_CHECK] = job_check,           [JOB_VERDICT] = job_verdict,   [JOB_COMPARE] = job_compare};

/* Results that did not reach their reader are a failure, also when only the last bytes are missing. */
static int close_stdout(int status)
{
    static bool done;
    if (done)
        return status;
    done = true;
    errno = 0;
    bool failed = ferror(stdout) != 0;
    failed = fflush(stdout) != 0 || failed;
    if (failed && status != FAILED)
        return refuse(FAILED, "cannot write to standard output: %s",
                      errno != 0 ? strerror(errno) : "an earlier write failed");
    return status;
}

/* For argp, which exits by itself after --help and --version. */
static void end_with_stdout(void)
{
    if (close_stdout(DONE) != DONE)
        _exit(FAILED);
}

/*
 * A standard stream that the caller has closed is replaced by one that refuses: otherwise the next file opened would
 * take its number, and messages would be written into it.
 */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(FAILED);
}

/*
 * Output that fits is written at the end, by close_stdout(), which can report why that fails; the text of --help fits.
 */
static void buffer_stdout(void)
{
    static char buffer[65536];
    if (isatty(STDOUT_FILENO) == 0)
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

/* ---- blocks of --kernel-file that fault after more rounds than were tried ---- */

/* Only what a signal handler may call. */
static void tell_and_end(int signal)
{
    static const char line[] =
        "characterize: a block of --kernel-file faulted after more rounds than it was tried for: "
        "it leaves its buffer, or divides by 0; nothing was written. Settings of the machine "
        "that the run had changed: --restore\n";
    (void)signal;
    (void)!write(STDERR_FILENO, line, sizeof(line) - 1);
    _exit(FAILED);
}

/* From now on a fault of the program ends it with one line that names such blocks, and status 1. */
static void report_block_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = tell_and_end;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        (void)sigaction(faults[i], &action, NULL);
}

int main(int argc, char **argv)
{
    static struct options options; /* large, and a stack may be small */
    fill_standard_streams();
    if (privileges_check() != DONE)
        return CANNOT;
    buffer_stdout();
    if (argc < 2) {
        option_parse_short_usage();
        return BAD_USAGE;
    }
    (void)atexit(end_with_stdout);
    int status = option_parse(argc, argv, &options);
    if (status >= 0)
        return status;
    if (options.blocks.n > 0)
        report_block_faults();
    if (options.job == JOB_ANALYZE || options.job == JOB_LIST || options.job == JOB_SIMULATE ||
        options.job == JOB_PROFILE)
        changed_settings_recover(&options); /* the others do it themselves; --check changes nothing */
    if (privileges_keep(&options) != DONE)
        return FAILED;
    stop_install();
    status = close_stdout(run_job[options.job](&options));
    /* who interrupts a script of several commands does not want the next one */
    if (status == DONE && stop_asked())
        return refuse(FAILED, "interrupted after everything was done");
    return status;
}
