/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that gives the terminal back when another one ends without having done so, however it ends: by a signal
 * that nothing can catch, by a failed assertion, by exit() in the middle. It holds nothing but the terminal and one end
 * of a connection, so that it keeps no device open, and does nothing until the other end is closed.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

struct live_guard {
    pid_t pid;
    int alive; /* closed with the process */
};

/* Starts it: fd is the terminal, modes those that it is to have again, and text what is written to it then. 0, or -1
 * with one clause in `why`. */
int live_guard_start(struct live_guard *g, int fd, const struct termios *modes, const char *text, char *why,
                     size_t size);
/* Ends it: the terminal has been given back. */
void live_guard_end(struct live_guard *g);
