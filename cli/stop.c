/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the program on a signal: at once, or after what must be finished or put back. */
#include "cli/stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/directories.h"
#include "cli/messages.h"

/* So long the program may take to come to an end by itself; with what is left of a second for putting back. */
static const struct timespec stop_time = {.tv_nsec = 700000000};

/* the only state that a signal handler may touch */
static volatile sig_atomic_t requested, only_asks, first_ends, ended;
static volatile sig_atomic_t reported_before; /* messages_reported() when a stop was requested */
static const char *volatile line;             /* NULL: the usual one */
static sem_t rung;

/* state that must be restored */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static void (*put_back_now)(void *);
static void *put_back_data;

static bool watched; /* the thread that waits for `rung` is there */

/* Only system calls: also a signal handler ends here. A full pipe would block it, so nothing is written to one. */
static _Noreturn void end(void)
{
    const char *usual = only_asks ? "interrupted: unfinished output was not written"
                                  : "interrupted: nothing was written";
    const char *parts[] = {messages_program(), ": ", line != NULL ? line : usual, "\n"};
    char text[900];
    size_t used = 0;
    struct pollfd one = {.fd = STDERR_FILENO, .events = POLLOUT};
    directories_end();
    if (line == NULL &&
        messages_reported() != reported_before) /* it has said why, and was still putting its things away */
        _exit(FAILED);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (const char *c = parts[i]; *c != '\0' && used < sizeof(text); c++)
            text[used++] = *c;
    if (poll(&one, 1, 0) > 0) {
        ssize_t ignored = write(STDERR_FILENO, text, used);
        (void)ignored;
    }
    _exit(FAILED);
}

static void on_signal(int number, siginfo_t *info, void *unused)
{
    int error = errno;
    (void)unused;
    if (first_ends && ended == 0) {
        ended = info->si_code == SI_KERNEL ? -number : number;
        return;
    }
    if (!requested)
        reported_before = messages_reported();
    requested = 1;
    if (!only_asks)
        end();
    (void)sem_post(&rung);
    errno = error;
}

/* Ends the program when it was requested to stop and does not. */
static void *watch(void *unused)
{
    while (sem_wait(&rung) != 0) {
    }
    (void)nanosleep(&stop_time, NULL);
    pthread_mutex_lock(&changing);
    if (put_back_now != NULL)
        put_back_now(put_back_data);
    const struct timespec moment = {.tv_nsec = 10000000};
    for (int i = 0; i < 10 && ftrylockfile(stderr) != 0; i++) /* a line is being written */
        (void)nanosleep(&moment, NULL);
    end();
    return unused;
}

/* Signals are for the main thread: system calls that they interrupt are there. */
static void start_watching(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    watched = pthread_create(&thread, NULL, watch, NULL) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void stop_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    (void)sem_init(&rung, 0, 0);
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction before;
        /* signals that nohup or a shell's background job ignores stay ignored */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

void stop_only_asks(bool asks)
{
    if (asks && !watched)
        start_watching();
    only_asks = asks;
}

bool stop_requested(void)
{
    return requested != 0;
}

void stop_first_ends(bool first)
{
    first_ends = first;
}

int stop_ended(void)
{
    return ended;
}

void stop_says(const char *says)
{
    line = says;
}

void stop_hold(void)
{
    pthread_mutex_lock(&changing);
}

void stop_release(void (*put_back)(void *), void *data)
{
    put_back_now = put_back;
    put_back_data = data;
    pthread_mutex_unlock(&changing);
}
