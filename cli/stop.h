/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP. While something must be put back or finished (a measurement, the writing of files) they
 * only ask to stop; otherwise they end the program at once, with one line and status 1. Nothing half-written is left in
 * either case: output files have no name before they are complete.
 */
#ifndef CHARACTERIZE_CLI_STOP_H
#define CHARACTERIZE_CLI_STOP_H

#include <stdbool.h>

/* Installs the handlers; SIGPIPE and SIGXFSZ become ordinary write errors. */
void stop_install(void);

/* From here on a signal only asks (true), or ends the program at once (false, the state at start). */
void stop_only_asks(bool asks);

/* Whether one of the signals has come. */
bool stop_asked(void);

#endif
