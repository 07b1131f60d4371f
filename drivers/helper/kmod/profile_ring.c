// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring in which interrupts leave samples, and from which the device's reader takes them. */
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include "profile_ring.h"

/* A reader is not woken for each record: that would disturb tasks. The next turn wakes it if this one does not. */
#define WAKE_AFTER_NS (100 * NSEC_PER_MSEC)

static void ring_wake(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct profile_ring, wake)->wait);
}

long profile_ring_open(struct profile_ring *ring)
{
	struct profile_record *slot = vzalloc(array_size(PROFILE_RING, sizeof(*slot)));

	if (!slot)
		return -ENOMEM;
	init_irq_work(&ring->wake, ring_wake);
	ring->head = ring->tail = ring->lost = ring->woken_ns = 0;
	WRITE_ONCE(ring->slot, slot);
	return 0;
}

void profile_ring_close(struct profile_ring *ring)
{
	struct profile_record *slot = ring->slot;

	if (!slot)
		return;
	irq_work_sync(&ring->wake);
	WRITE_ONCE(ring->slot, NULL);
	wake_up_interruptible_all(&ring->wait);
	vfree(slot);
}

void profile_ring_put(struct profile_ring *ring, const struct profile_record *r, u64 now_ns)
{
	unsigned long flags;
	u64 waiting;
	bool wake;

	raw_spin_lock_irqsave(&ring->lock, flags);
	waiting = ring->head - smp_load_acquire(&ring->tail);
	if (waiting < PROFILE_RING) {
		ring->slot[ring->head % PROFILE_RING] = *r;
		smp_store_release(&ring->head, ring->head + 1);
	} else {
		ring->lost++;
	}
	wake = waiting == PROFILE_RING / 2 || now_ns - ring->woken_ns >= WAKE_AFTER_NS;
	if (wake)
		ring->woken_ns = now_ns;
	raw_spin_unlock_irqrestore(&ring->lock, flags);
	/* waking takes locks that an interrupt of a real-time kernel may not */
	if (wake)
		irq_work_queue(&ring->wake);
}

size_t profile_ring_take(struct profile_ring *ring, struct profile_record *out, size_t n)
{
	u64 head = smp_load_acquire(&ring->head);
	size_t taken = 0;

	for (; ring->slot && taken < n && ring->tail != head; taken++) {
		out[taken] = ring->slot[ring->tail % PROFILE_RING];
		smp_store_release(&ring->tail, ring->tail + 1);
	}
	return taken;
}

bool profile_ring_ready(const struct profile_ring *ring)
{
	return !READ_ONCE(ring->slot) || READ_ONCE(ring->head) != READ_ONCE(ring->tail);
}
