/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The buffers of kernels whose operands come from beyond the first-level cache. */
#include "drivers/native/walks.h"

#include <string.h>

#include "util/splitmix64.h"

enum { BLOCK_BYTES = KERNEL_BLOCK_LINES * KERNEL_LINE, LANES = KERNEL_LINE / sizeof(double), ROUND_LINES = 12 };

static int too_little_known(const struct payload *p, const char *what, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT, "have the hypervisor pass the caches on, or use kernels without @",
                        "kernel %s: neither CPUID nor /sys/devices/system/cpu/cpu*/cache says how large %s is", p->name,
                        what);
}

int walks_bytes(const struct cpu_caches *c, const struct payload *p, size_t *bytes, struct machine_error *err)
{
    static const char *const names[KERNEL_LEVELS] = {"L1D", "L2", "L3", "memory"};
    const uint64_t l3 = c->l3 > WALKS_L3_LEAST ? c->l3 : WALKS_L3_LEAST;
    const uint64_t sizes[KERNEL_LEVELS] = {c->l1, c->l2, p->kernel->level == KERNEL_RAM ? l3 : c->l3, 2 * WALKS_MOST};
    const enum kernel_level level = p->kernel->level;
    const uint64_t before = sizes[level - 1], half = sizes[level] / 2;

    if (before == 0 || half == 0)
        return too_little_known(p, names[before == 0 ? level - 1 : level], err);
    *bytes = (size_t)((before * WALKS_TIMES < half ? before * WALKS_TIMES : half) / BLOCK_BYTES * BLOCK_BYTES);
    if (*bytes + BLOCK_BYTES <= before * WALKS_TIMES_LEAST) {
        return machine_fail(err, MACHINE_CANNOT, "use kernels of another level",
                            "kernel %s: half of %s (%.0f kB) would have to be at least twice %s (%.0f kB)", p->name,
                            names[level], (double)half / 1024, names[level - 1], (double)before / 1024);
    }
    return MACHINE_OK;
}

/* As the lines of kernels/operands.asm, but each with values of its own: a host that merges equal pages would put them
 * into a cache. Twelve lines of doubles in [1, 2) with 24-bit significands, then twelve of -(those - 2^-23). */
static void fill(double *out, size_t lines)
{
    for (size_t i = 0; i < lines * LANES; i++) {
        const size_t odd = i / LANES / ROUND_LINES % 2, place = i - odd * ROUND_LINES * LANES;
        const uint64_t random = splitmix64((place + 1) * SPLITMIX64_STEP) & 0x000fffffc0000000;
        const uint64_t word = UINT64_C(0x3ff) << 52 | random | 1u << 29;
        double value;
        memcpy(&value, &word, sizeof value);
        out[i] = odd != 0 ? -(value - 0x1p-23) : value;
    }
}

static int make(struct walk *k, const struct cpu_caches *c, const struct payload *p, size_t bytes,
                struct machine_error *err)
{
    const size_t all = bytes + KERNEL_BEYOND;

    huge_buffer_free(&k->memory);
    k->bytes = 0;
    if (c->memory > 0 && all > c->memory / 2) {
        return machine_fail(err, MACHINE_CANNOT, "free some memory, or use kernels of another level",
                            "kernel %s: its buffer of %.0f MB is more than half of the available memory (%.0f MB)",
                            p->name, (double)all / 1e6, (double)c->memory / 1e6);
    }
    int status = huge_buffer_map(all, &k->memory, err);
    if (status != MACHINE_OK)
        return status;
    fill(k->memory.start, all / KERNEL_LINE);
    k->bytes = bytes;
    k->mine = (struct kernel_walk){k->memory.start, k->memory.start, (const uint8_t *)k->memory.start + bytes};
    return MACHINE_OK;
}

int walks_prepare(struct walks *w, const struct cpu_caches *c, const struct payload *p, struct machine_error *err)
{
    size_t bytes;

    if (p->kernel->level == KERNEL_L1)
        return MACHINE_OK;
    int status = walks_bytes(c, p, &bytes, err);
    if (status != MACHINE_OK || w->of[p->kernel->level].bytes == bytes)
        return status;
    return make(&w->of[p->kernel->level], c, p, bytes, err);
}

struct kernel_walk *walks_of(struct walks *w, const struct payload *p)
{
    return p->kernel->level == KERNEL_L1 ? NULL : &w->of[p->kernel->level].mine;
}

void walks_free(struct walks *w)
{
    for (size_t i = 0; i < KERNEL_LEVELS; i++)
        huge_buffer_free(&w->of[i].memory);
    *w = (struct walks){0};
}

struct kernel_walk walks_spread(const struct kernel_walk *whole, size_t i, size_t n)
{
    if (whole == NULL)
        return (struct kernel_walk){0};
    struct kernel_walk w = *whole;
    size_t blocks = (size_t)(w.end - w.begin) / BLOCK_BYTES;
    w.next = w.begin + (i + 1) * blocks / (n + 1) * BLOCK_BYTES;
    return w;
}
