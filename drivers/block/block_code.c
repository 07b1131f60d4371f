/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/block/block_code.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/splitmix64.h"

extern kernel_fn kernel_block_enter;
extern const void *const kernel_block_back;

enum { GUARD_BYTES = 4096, SLOTS_MAX = 4096, AROUND_BYTES = 512 };

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

/* Each CPU's buffer lies between pages that nothing may touch. */
static int make_slots(struct block_code *c, struct machine_error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    c->frame.n_slots = cpus < 1 ? 1 : cpus > SLOTS_MAX ? SLOTS_MAX : (uint64_t)cpus;
    c->frame.stride = BLOCK_BUFFER_BYTES + GUARD_BYTES;
    c->slot_bytes = c->frame.n_slots * c->frame.stride + GUARD_BYTES;
    uint8_t *all = mmap(NULL, c->slot_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->frame.slots = all + GUARD_BYTES;
    for (uint64_t i = 0; i < c->frame.n_slots; i++) {
        uint8_t *slot = c->frame.slots + i * c->frame.stride;
        if (mprotect(slot, BLOCK_BUFFER_BYTES, PROT_READ | PROT_WRITE) != 0)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        /* Floats in [1, 2), no byte zero; two of them as a double are near 2^-7, and as integers anything: nothing is
         * denormal, infinite or NaN. */
        for (size_t k = 0; k < BLOCK_BUFFER_BYTES / 4; k++) {
            uint32_t word = 0x3f800000u | ((uint32_t)splitmix64((k + 1) * SPLITMIX64_STEP) & 0x7fffff) | 0x10101;
            memcpy(slot + 4 * k, &word, sizeof word);
        }
    }
    return MACHINE_OK;
}

/* mov REGISTER, r14 for each that the block writes. */
static uint8_t *put_registers(uint8_t *at, unsigned written)
{
    for (unsigned r = 0; r < BLOCK_GPRS; r++)
        if (written >> r & 1) {
            const uint8_t mov[] = {(uint8_t)(0x4c | (r >= 8)), 0x89, (uint8_t)(0xf0 | (r & 7))};
            at = put(at, mov, sizeof mov);
        }
    return at;
}

/* The function that everything calls: it adds the frame's address to the arguments. */
static uint8_t *put_entry(uint8_t *at, const struct block_frame *frame)
{
    static const uint8_t mov_r8[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x49, 0xb8}, mov_rax[] = {0x48, 0xb8};
    static const uint8_t jmp_rax[] = {0xff, 0xe0};
    kernel_fn *enter = kernel_block_enter;
    at = put(at, mov_r8, sizeof mov_r8);
    at = put(at, &frame, sizeof frame);
    at = put(at, mov_rax, sizeof mov_rax);
    at = put(at, &enter, sizeof enter);
    return put(at, jmp_rax, sizeof jmp_rax);
}

static void write_code(const struct block_text *t, const struct block_shape *s, struct block_code *c)
{
    static const uint8_t dec_r15_jnz[] = {0x49, 0xff, 0xcf, 0x0f, 0x85}, jmp_there[] = {0xff, 0x25, 0, 0, 0, 0};
    memset(c->page, 0xcc, c->page_bytes);
    put_entry(c->page, &c->frame);
    uint8_t *turn = c->page + 64, *at = put_registers(turn, s->written);
    c->copies = at;
    for (unsigned i = 0; i < c->n_copies; i++)
        at = put(at, t->code, t->n);
    at = put(at, dec_r15_jnz, sizeof dec_r15_jnz);
    int32_t back = (int32_t)(turn - (at + sizeof back));
    at = put(at, &back, sizeof back);
    c->bytes = (unsigned)(at - turn);
    at = put(at, jmp_there, sizeof jmp_there);
    put(at, &kernel_block_back, sizeof kernel_block_back);
    c->frame.turn = turn;
    memcpy(&c->run, &c->page, sizeof c->run);
}

unsigned block_code_copies(const struct block_shape *s, unsigned each)
{
    unsigned around = 2 + (unsigned)__builtin_popcount(s->written);
    return (50 * around + each) / each;
}

int block_code_make(const struct block_text *t, const struct block_shape *s, unsigned copies, struct block_code *out,
                    struct machine_error *err)
{
    *out = (struct block_code){.frame = {.uses = s->uses}, .n_copies = copies};
    out->page_bytes = (t->n * copies + AROUND_BYTES + 4095) & ~(size_t)4095;
    int status = make_slots(out, err);
    out->page = mmap(NULL, out->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (status == MACHINE_OK && out->page == MAP_FAILED)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    out->page = out->page == MAP_FAILED ? NULL : out->page;
    if (status == MACHINE_OK) {
        write_code(t, s, out);
        if (mprotect(out->page, out->page_bytes, PROT_READ | PROT_EXEC) != 0)
            status = machine_fail(err, MACHINE_CANNOT, "", "this system lets no program make code to run (mprotect)");
    }
    if (status != MACHINE_OK)
        block_code_free(out);
    return status;
}

void block_code_free(struct block_code *c)
{
    if (c->page != NULL)
        munmap(c->page, c->page_bytes);
    if (c->frame.slots != NULL)
        munmap(c->frame.slots - GUARD_BYTES, c->slot_bytes);
    *c = (struct block_code){0};
}
