/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pthread.h>

/* Starts a thread that is on its CPU from its first instruction, at normal priority whatever the caller's is. Returns
 * 0, or an error number. */
int pinned_thread_start(pthread_t *out, int cpu, void *(*run)(void *), void *data);
