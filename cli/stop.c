/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/stop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"

/* the only state that a signal handler may touch */
static volatile sig_atomic_t asked, only_asks;

static void on_signal(int number)
{
    static const char line[] = "characterize: interrupted, nothing was written\n";
    (void)number;
    asked = 1;
    if (!only_asks) {
        ssize_t ignored = write(STDERR_FILENO, line, sizeof(line) - 1);
        (void)ignored;
        _exit(FAILED);
    }
}

void stop_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction before;
        /* what nohup or a shell's background job has switched off stays off */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

void stop_only_asks(bool asks)
{
    only_asks = asks;
}

bool stop_asked(void)
{
    return asked != 0;
}
