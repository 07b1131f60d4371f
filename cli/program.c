/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does what all programs do before and after their jobs: streams, options, privileges, signals, the exit status. */
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/changed_settings.h"
#include "cli/directories.h"
#include "cli/inputs.h"
#include "cli/messages.h"
#include "cli/privileges.h"
#include "cli/stop.h"
#include "util/data_file.h"

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

/* For --help and --version, which print and exit while options are parsed. */
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
    directories_end();
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

/* The program that does a job of characterize; NULL: characterize itself. */
static const char *program_of(enum job job)
{
    return job == JOB_SIMULATE ? "characterize-simulate" : job == JOB_PROFILE ? "characterize-profile" : NULL;
}

/* Becomes another program, which parses the same arguments: the one beside this, else the one in PATH. Returns only if
 * there is none. */
static int execute(const char *name, char **argv)
{
    char path[DATA_PATH_SIZE + 64], self[DATA_PATH_SIZE];
    data_program_path(self);
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        *slash = '\0';
        snprintf(path, sizeof(path), "%s/%s", self, name);
        (void)execv(path, argv);
    }
    (void)execvp(name, argv);
    return refuse(CANNOT,
                  "cannot execute %s, which belongs beside this program or in PATH: %s; make builds both, make "
                  "install and the package characterize install both",
                  name, strerror(errno));
}

int program_main(int argc, char **argv, const struct option_program *program, int (*run)(const struct options *o))
{
    static struct options options; /* large, and a stack may be small */
    fill_standard_streams();
    messages_begin(program->name);
    if (privileges_check() != DONE)
        return CANNOT;
    buffer_stdout();
    if (argc < 2 && program->job == JOB_NONE) {
        option_parse_short_usage();
        return BAD_USAGE;
    }
    (void)atexit(end_with_stdout);
    int status = option_parse(argc, argv, program, &options);
    if (status >= 0)
        return status;
    if (program->job == JOB_NONE && program_of(options.job) != NULL)
        return execute(program_of(options.job), argv);
    inputs_note(&options);
    if (options.blocks.n > 0)
        report_block_faults();
    if (options.job == JOB_ANALYZE || options.job == JOB_LIST || options.job == JOB_SIMULATE ||
        options.job == JOB_PROFILE)
        changed_settings_recover(&options); /* the others do it themselves; --check changes nothing */
    if (privileges_keep(&options) != DONE)
        return FAILED;
    stop_install();
    status = close_stdout(run(&options));
    /* who interrupts a script of several commands does not want the next one */
    if (status == DONE && stop_requested())
        return refuse(FAILED, "interrupted after everything was done");
    return status;
}
