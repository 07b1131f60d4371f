/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From which lost time on something else ran: time that a piece of code took beyond what it takes at its usual rate. No
 * interrupt handler, and no other thread, takes less.
 */
#pragma once

#define INTERRUPTION_US 1.0      /* in a repetition: it was interrupted; shorter hiccups make a sample invalid */
#define INTERRUPTION_SEEN_US 0.6 /* in one sample, where an interruption may have begun a wait again */
