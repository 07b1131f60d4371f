/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which registers this computer's kernel says that tasks used (schedulers/live/state.bpf.h), of tasks of which it is
 * known: kernels of each width, which pause between blocks. Status 3: BPF is not permitted; 4: this processor has no
 * AVX2, or does not track which registers are in use (emulators).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "schedulers/live/shared.h"
#include "tests/sched/state_counts.h"

extern const char state_object[];
extern const size_t state_object_size;
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl state_object, state_object_size\n"
        "state_object: .incbin \"" STATE_OBJECT "\"\n"
        ".balign 8\n"
        "state_object_size: .quad . - state_object\n"
        ".popsection\n");

enum { PAUSES = 300 };
static char said[4096];

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
    return level == LIBBPF_WARN && said[0] == '\0' ? vsnprintf(said, sizeof(said), format, args) : 0;
}

static void *variable(const struct bpf_object *object, const char *map, size_t size)
{
    const int fd = bpf_map__fd(bpf_object__find_map_by_name(object, map));
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return place == MAP_FAILED ? NULL : place;
}

/* Whether registers that VZEROUPPER has cleared are out of use for this processor. */
static bool tracks_use(void)
{
    unsigned a, b, c, d, in_use;
    if ((kernel_cpu_features() & KERNEL_NEEDS_AVX2) == 0 || !__get_cpuid_count(13, 1, &a, &b, &c, &d) || (a & 4) == 0)
        return false;
    __asm__ volatile("vzeroupper; xgetbv" : "=a"(in_use), "=d"(d) : "c"(1));
    return (in_use >> LIVE_STATE_YMM & 1) == 0;
}

/* The child, which `process` names before it is let go. */
static _Noreturn void run_and_pause(const struct payload *p, int go)
{
    const struct timespec pause = {.tv_nsec = 50000};
    char c, why[200];
    if (kernel_request_permission(p->kernel->features, why, sizeof(why)) != 0 || read(go, &c, 1) != 1)
        _exit(1);
    for (int i = 0; i < PAUSES; i++) {
        p->run(1, 0, NULL, p->dirty, NULL);
        syscall(SYS_nanosleep, &pause, NULL); /* nothing of libc comes in between */
    }
    _exit(0);
}

/* Counts what was saved of a kernel's process; whether it ended well. */
static bool count(const struct payload *p, volatile int *process, volatile struct state_counts *counts)
{
    int status = 1, go[2];
    if (pipe(go) != 0)
        return false;
    memset((void *)counts, 0, sizeof(*counts));
    const pid_t child = fork();
    if (child == 0)
        run_and_pause(p, go[0]);
    *process = child;
    const ssize_t sent = write(go[1], "g", 1);
    close(go[0]);
    close(go[1]);
    waitpid(child, &status, 0);
    *process = 0;
    return sent == 1 && status == 0 && counts->saved >= PAUSES;
}

/* What is expected of each kernel. */
static int check(volatile int *process, volatile struct state_counts *counts)
{
    static const struct {
        const char *name;
        unsigned registers; /* bits of XCR0 */
    } expected[] = {{"64add", 0},
                    {"128fma", 0},
                    {"512fma", 0}, /* VZEROUPPER is at its end */
                    {"256fma-dirty", 1u << LIVE_STATE_YMM},
                    {"512fma-dirty", 1u << LIVE_STATE_YMM | 1u << LIVE_STATE_ZMM},
                    {"512or-dirty", 1u << LIVE_STATE_YMM | 1u << LIVE_STATE_ZMM},
                    {"amx-dirty", 1u << LIVE_STATE_TILES}};
    static const int bits[] = {LIVE_STATE_YMM, LIVE_STATE_ZMM, LIVE_STATE_TILES};
    int failed = 0;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct payload p = kernel_named(expected[i].name);
        if ((p.kernel->features & ~kernel_cpu_features()) != 0) {
            printf("%s: not on this processor; ", p.name);
            continue;
        }
        failed += !count(&p, process, counts);
        printf("%s:", p.name);
        for (size_t k = 0; k < sizeof(bits) / sizeof(bits[0]); k++) {
            const double share = (double)counts->with[bits[k]] / (double)counts->saved;
            printf(" %.1f", 100 * share);
            failed += !(share >= 0.9 || (expected[i].registers >> bits[k] & 1) == 0);
            failed += !(share <= 0.1 || (expected[i].registers >> bits[k] & 1) != 0);
        }
        printf("; ");
    }
    printf("%% of switches with ymm, zmm, tiles\n");
    return failed != 0;
}

int main(void)
{
    const struct bpf_object_open_opts options = {.sz = sizeof(options), .object_name = "state"};
    if (!tracks_use())
        return 4;
    libbpf_set_print(keep_log);
    struct bpf_object *object = bpf_object__open_mem(state_object, state_object_size, &options);
    if (object == NULL || bpf_object__load(object) != 0 ||
        bpf_program__attach(bpf_object__find_program_by_name(object, "count_saved")) == NULL) {
        const int error = errno;
        fprintf(stderr, "the kernel does not take the program: %s: %s\n", strerror(error), said);
        return error == EPERM ? 3 : 1;
    }
    volatile int *process = variable(object, ".data.process", sizeof(*process));
    volatile struct state_counts *counts = variable(object, ".data.counts", sizeof(*counts));
    return process == NULL || counts == NULL || check(process, counts) != 0;
}
