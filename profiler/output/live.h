/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live view: what the profiler has found so far, on the terminal, as top shows processes. It is a view alone:
 * whoever reads the records shows it a result now and then.
 *
 * Tasks, containers or cores, sorted by any column; the keys are in its help ('h'). Ctrl-C and Ctrl-Z stay signals.
 * The terminal gets back its modes and its screen however the process ends, SIGKILL and a failed assertion included: a
 * process of the view's own waits for that, which holds nothing but the terminal.
 */
#pragma once

#include <stddef.h>

#include "profiler/profile.h"

struct profile_live;
enum profile_live_wish { LIVE_GO_ON, LIVE_QUIT };

/*
 * Takes the terminal on standard input and output. 0, or -1 with one clause in `why`: either is no terminal, TERM is
 * not set, unknown or cannot move the cursor, the process runs in the background; nothing was written then.
 * Until profile_live_end() SIGTSTP is blocked in the calling thread, which must be the one that shows results.
 */
int profile_live_begin(struct profile_live **out, char *why, size_t size);

/*
 * Does what the keys since the last call request, and draws. It never waits for keys: call it ten times a second, so
 * that they are answered promptly, with the same result until there is a newer one. The result may be freed when this
 * has returned: a view that was paused shows a copy of its own. Names may hold any bytes.
 */
enum profile_live_wish profile_live_show(struct profile_live *v, const struct profile_result *r);

/* Gives the terminal back. NULL is allowed. */
void profile_live_end(struct profile_live *v);
