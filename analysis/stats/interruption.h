/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least lost time that shows that something else ran: the time of a piece of code beyond that at its usual rate. No
 * interrupt handler, and no other thread, takes less. */
#pragma once

#define INTERRUPTION_US 1.0      /* in a repetition: it was interrupted; shorter hiccups make a sample invalid */
#define INTERRUPTION_SEEN_US 0.6 /* in one sample, where an interruption may have begun a wait again */
