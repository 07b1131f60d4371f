/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a computer that environment_read() reads, to be tried elsewhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Takes one file: its path relative to the root folder; nobody may write it. Returns 0, or -1: no more. */
typedef int environment_taker(void *data, const char *path, const char *bytes, size_t size, bool read_only);

/*
 * Gives each file below `root` ("" is this machine) to take(): all that is read for CPU `cpu`, of the others those that
 * tell who they are. Nothing that tells who or where the computer is: no processes, no names of control groups or
 * mounts, no identity of the boot, of the kernel's command line only the words that change what is measured. What is
 * found by asking rather than by reading becomes a file that answers alike. Returns 0, or -1: take() did, or out of
 * memory.
 */
int environment_pack(const char *root, int cpu, environment_taker *take, void *data);
