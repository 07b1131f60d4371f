/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports the fault of a kernel from a file before the program ends by it. */
#include "cli/block_faults.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"

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

void block_faults_tell(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = tell_and_end;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        (void)sigaction(faults[i], &action, NULL);
}
