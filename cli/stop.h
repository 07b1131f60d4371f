/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP. While something must be put back or finished (a measurement, the writing of files) they
 * only ask to stop; otherwise they end the program at once, with one line and status 1. Where the program has not come
 * to an end by itself within 0.7 s of the request (a pipe that nobody reads, a child that hangs, a long
 * calculation) it is ended all the same, after what must be put back. Nothing half-written is left in any case: output
 * files have no name before they are complete.
 */
#pragma once

#include <stdbool.h>

/* Installs the handlers; SIGPIPE and SIGXFSZ become ordinary write errors. */
void stop_install(void);

/* From here on a signal only asks (true), or ends the program at once (false, the state at start). */
void stop_only_asks(bool asks);

/* True if one of the signals has come. */
bool stop_requested(void);

/*
 * From here on (true) the first signal only ends what is going on, which is no failure: stop_ended() is its number
 * then, negative where it came from the terminal, which sends it to other processes of the group as well; 0: none has
 * come. The second one is as usual, and the first, too, after false.
 */
void stop_first_ends(bool first);
int stop_ended(void);

/* Sets the message for the end by a signal, instead of the usual line; valid until then. NULL: the usual one. */
void stop_says(const char *line);

/*
 * Registers what must be put back before the program ends. Between hold and release it changes hands: a signal that
 * ends the program waits for that, and calls put_back(data) if it is not NULL then.
 */
void stop_hold(void);
void stop_release(void (*put_back)(void *), void *data);
