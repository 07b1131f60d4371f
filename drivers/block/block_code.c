/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a kernel made of a block, and a child process that runs it before anything else does. */
#include "drivers/block/block_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "util/splitmix64.h"

extern kernel_fn kernel_block_enter;
extern const void *const kernel_block_back;

/* A page that faults around each buffer; buffers for so many CPUs, where the system does not say how many there are
 * to be; and room for the code around the copies, which takes some 150 bytes. */
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

/* ---- trying it ---- */

/* A turn of more instructions lasts longer than the period of a sample. BEFORE: what the frame and the C library do. */
enum { STEPS_MAX = 20000, STEPS_BEFORE = 5000, RUN_SECONDS = 2 };
static const uint64_t run_ticks = 50000000;

/* Exit statuses of the child. */
enum { CHILD_UNTRACED = 77 };

struct stepping {
    const char *file;
    const struct block_text *text;
    const struct block_shape *shape;
    const struct block_code *code;
    const struct block_insn *last; /* where it is */
    struct user_regs_struct regs;
    struct block_steps *out;
    struct machine_error *err;
};

static const char *name_of_signal(int number)
{
    switch (number) {
    case SIGSEGV:
        return "it faults (SIGSEGV): an address that is not aligned, or where nothing is";
    case SIGILL:
        return "it faults (SIGILL): no instruction of this CPU";
    case SIGFPE:
        return "it faults (SIGFPE): a division by zero, or its result is too large";
    case SIGBUS:
        return "it faults (SIGBUS): an address that is not aligned";
    case SIGALRM:
        return "it does not end";
    default:
        return "it is ended by a signal";
    }
}

static uint64_t gpr_value(const struct user_regs_struct *r, int number)
{
    const unsigned long long values[BLOCK_GPRS] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                                                   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    return number < 0 ? 0 : values[number];
}

static int refuse_here(const struct stepping *s, const char *why)
{
    char text[100] = "";
    if (s->last == NULL)
        return machine_fail(s->err, MACHINE_BAD_INPUT, "", "%.200s: %s", s->file, why);
    block_insn_text(s->text, s->last, text, sizeof text);
    return machine_fail(s->err, MACHINE_BAD_INPUT, "", "%.200s: '%s' at byte %u: %s", s->file, text, s->last->offset,
                        why);
}

static int check_addresses(const struct stepping *s)
{
    for (size_t k = 0; k < s->last->n_memory; k++) {
        const struct block_memory *m = &s->last->memory[k];
        uint64_t at = gpr_value(&s->regs, m->base) + gpr_value(&s->regs, m->index) * m->scale +
                      (uint64_t)m->displacement;
        uint64_t from = at - s->regs.r14, end;
        char why[160];
        if (!__builtin_add_overflow(from, m->bytes, &end) && end <= BLOCK_BUFFER_BYTES)
            continue;
        snprintf(why, sizeof why, "it %s %u bytes at %s%#llx, outside of the buffer of %d bytes at r14",
                 m->write ? "writes" : "reads", m->bytes, (int64_t)from < 0 ? "r14 - " : "r14 + ",
                 (unsigned long long)((int64_t)from < 0 ? -from : from), BLOCK_BUFFER_BYTES);
        return refuse_here(s, why);
    }
    return MACHINE_OK;
}

/* The child has stopped before an instruction: of the block it is looked at. */
static int look_at_step(struct stepping *s, bool *inside)
{
    uint64_t from = s->regs.rip - (uintptr_t)s->code->copies;
    *inside = from < s->text->n * s->code->n_copies;
    if (!*inside)
        return MACHINE_OK;
    int32_t number = s->shape->at[from % s->text->n];
    if (number < 0)
        return machine_fail(s->err, MACHINE_FAILED, "", "%.200s: stepping lost its way", s->file);
    s->last = &s->shape->insn[number];
    s->out->instructions++;
    s->out->counted += s->last->counted;
    return check_addresses(s);
}

static int follow(struct stepping *s, pid_t child)
{
    unsigned outside = 0;
    for (;;) {
        int status;
        bool inside = false;
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR)
                return machine_fail(s->err, MACHINE_FAILED, "", "the child that tries a block is lost");
        if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_UNTRACED)
            return machine_fail(s->err, MACHINE_CANNOT, "allow ptrace(2) to this process",
                                "%.200s: blocks are tried step by step, which this system does not permit", s->file);
        if (WIFEXITED(status))
            return MACHINE_OK;
        if (WIFSIGNALED(status))
            return refuse_here(s, name_of_signal(WTERMSIG(status)));
        if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
            return refuse_here(s, name_of_signal(WSTOPSIG(status)));
        if (ptrace(PTRACE_GETREGS, child, NULL, &s->regs) != 0)
            return machine_fail(s->err, MACHINE_FAILED, "", "the child that tries a block cannot be read");
        int bad = look_at_step(s, &inside);
        if (bad != MACHINE_OK)
            return bad;
        outside += !inside;
        if (s->out->instructions > STEPS_MAX)
            return machine_fail(s->err, MACHINE_BAD_INPUT, "a block ends where its code ends; it is repeated by itself",
                                "%.200s: has not ended after %d instructions, the most that a block may run", s->file,
                                STEPS_MAX);
        if (outside > STEPS_BEFORE)
            return s->out->instructions > 0 ? MACHINE_OK
                                            : machine_fail(s->err, MACHINE_FAILED, "", "the block was not reached");
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
            return machine_fail(s->err, MACHINE_FAILED, "", "the child that tries a block cannot be stepped");
    }
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* Prepares the child: faults end it, whatever the caller does about signals. */
static void child_begins(void)
{
    static const int faults[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGALRM, SIGTRAP};
    sigset_t none;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int block_try_steps(const char *file, const struct block_text *t, const struct block_shape *s,
                    const struct block_code *c, struct block_steps *out, struct machine_error *err)
{
    *out = (struct block_steps){0, 0};
    struct stepping stepping = {.file = file, .text = t, .shape = s, .code = c, .out = out, .err = err};
    pid_t child = fork();
    if (child < 0)
        return machine_fail(err, MACHINE_FAILED, "", "no child process to try a block: %s", strerror(errno));
    if (child == 0) {
        child_begins();
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(CHILD_UNTRACED);
        raise(SIGSTOP);
        c->run(1, 0, NULL, 0, NULL);
        _exit(0);
    }
    int status = follow(&stepping, child);
    end_child(child);
    return status;
}

int block_try_run(const char *file, const struct block_code *c, struct machine_error *err)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        return machine_fail(err, MACHINE_FAILED, "", "no child process to try a block: %s", strerror(errno));
    if (child == 0) {
        const struct itimerval limit = {.it_value = {.tv_sec = RUN_SECONDS}};
        child_begins();
        setitimer(ITIMER_REAL, &limit, NULL);
        c->run(16, __rdtsc() + run_ticks, NULL, 0, NULL);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return machine_fail(err, MACHINE_FAILED, "", "the child that tries a block is lost");
    return WIFEXITED(status) ? MACHINE_OK
                             : machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: run again and again: %s", file,
                                            name_of_signal(WTERMSIG(status)));
}
