/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_ring.c: records on their way from interrupts to whoever reads the device. It lives as long as the module, so
 * that readers may wait for it while a profile ends.
 */
#ifndef CHARACTERIZE_PROFILE_RING_H
#define CHARACTERIZE_PROFILE_RING_H

#include <linux/irq_work.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "drivers/profile/profile_types.h"

enum { PROFILE_RING = 1024 };
struct profile_ring {
	wait_queue_head_t wait;
	raw_spinlock_t lock;         /* among those who put */
	struct profile_record *slot; /* NULL: no profile */
	u64 head, tail;              /* records put, and taken, since the start */
	u64 lost, woken_ns;
	struct irq_work wake;
};
#define PROFILE_RING_INIT(name) { \
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait), \
	.lock = __RAW_SPIN_LOCK_UNLOCKED((name).lock), \
}

/* -ENOMEM */
long profile_ring_open(struct profile_ring *ring);
/* Nobody puts any more. Readers find the end. */
void profile_ring_close(struct profile_ring *ring);
/* In an interrupt, at a time of CLOCK_MONOTONIC. Without room the record is lost, and counted. */
void profile_ring_put(struct profile_ring *ring, const struct profile_record *r, u64 now_ns);
/* Up to n records into a buffer; the caller excludes others who take, and closing. Returns how many. */
size_t profile_ring_take(struct profile_ring *ring, struct profile_record *out, size_t n);
/* True where a reader need not wait: there is a record, or there is no profile. */
bool profile_ring_ready(const struct profile_ring *ring);

#endif
