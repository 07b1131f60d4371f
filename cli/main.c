/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/options/option_parse.h"
#include "cli/stop.h"

static int run_job(const struct options *o)
{
    switch (o->job) {
    case JOB_TRANSITION:
        return job_transition(o);
    case JOB_ANALYZE:
        return job_analyze(o);
    case JOB_LIST:
        return job_list(o);
    case JOB_RESTORE:
        return job_restore(o);
    case JOB_TABLE:
        return job_table(o);
    case JOB_ALL:
        return job_all(o);
    case JOB_VALIDATE:
        return job_validate(o);
    case JOB_EXPORT:
        return job_export(o);
    case JOB_SELF_TEST:
        return job_self_test(o);
    default:
        return FAILED; /* option_parse() lets no other through */
    }
}

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

/* For who exits without having asked: argp, which prints --help and --version and is not done with its options. */
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

int main(int argc, char **argv)
{
    struct options options;
    fill_standard_streams();
    if (argc < 2) {
        option_parse_short_usage();
        return BAD_USAGE;
    }
    (void)atexit(end_with_stdout);
    int status = option_parse(argc, argv, &options);
    if (status >= 0)
        return status;
    stop_install();
    status = close_stdout(run_job(&options));
    if (status == DONE && stop_asked()) {
        /* who interrupts a script of several commands does not want the next one */
        return refuse(FAILED, "interrupted after everything was done");
    }
    return status;
}
