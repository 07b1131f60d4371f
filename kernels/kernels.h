/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instruction blocks and the one registry that names them.
 *
 * A kernel is a block of unrolled instructions of one width and operation, assembled from NASM macros. The registry
 * (kernels/registry.c) is the only list of them; everything else asks it. Nothing here measures, allocates or prints.
 */
#pragma once

#ifdef __KERNEL__ /* the Linux module */
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/*
 * Where operands in memory are: what kernels of KERNEL_L2 and deeper load comes from that level, as their buffer is
 * larger than the one before it (drivers/native/walks.h makes them). All others stay in the first-level cache.
 */
enum kernel_level { KERNEL_L1, KERNEL_L2, KERNEL_L3, KERNEL_RAM, KERNEL_LEVELS };

/*
 * How far a thread has come in such a buffer, which is only read. Each counted instruction takes the next line of 64
 * bytes (KERNEL_LINE); a block that begins at `end` or beyond begins at `begin` instead, so that KERNEL_BEYOND bytes
 * after the end are read, too. All three are aligned to lines. kernels/kernel.inc has the same offsets.
 */
struct kernel_walk {
    const uint8_t *next, *begin, *end;
};
enum { KERNEL_LINE = 64, KERNEL_BLOCK_LINES = 120, KERNEL_BEYOND = (KERNEL_BLOCK_LINES - 1) * KERNEL_LINE };

/*
 * Runs `blocks` blocks, then reads the TSC; while the TSC is below `deadline` (ticks) runs `blocks` more. So deadline 0
 * runs exactly `blocks` blocks; 0 blocks are none, whatever the deadline, and touch no register. Operand registers are
 * set up on entry. If `state` is not NULL the final contents of the accumulator registers are stored there
 * (KERNEL_STATE_BYTES bytes; accumulator n at 64 * n, the registers of a density's scalar adds at 64 * (16 + n), tiles
 * at 1024 * n; the rest is not written). Without `dirty` the function executes VZEROUPPER before it returns (kernels of
 * 256 and 512 bits; amx: TILERELEASE), with it the upper halves stay in use (tiles: configured and with their data).
 * `walk`: of kernels beyond KERNEL_L1, which go on where it
 * says, store there how far they came, and without one (NULL) run no blocks; others do not look at it. Returns the
 * number of blocks run.
 */
typedef uint64_t kernel_fn(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty, struct kernel_walk *walk);

enum { KERNEL_STATE_BYTES = 64 * 64, KERNEL_NAME_MAX = 32, KERNEL_DENSITY_MAX = 256 };

/* The weight of an operation, as license analysts call it: heavy = floating point and integer multiply, light = the
 * rest (dissertation on Skylake-SP AVX overhead, section 3.2.1, after the Intel optimization manual). */
enum kernel_weight { KERNEL_LIGHT, KERNEL_HEAVY };

/* CPU features a kernel needs (CPUID and, for the register state, XCR0). */
enum kernel_feature {
    KERNEL_NEEDS_AVX = 1u << 0,
    KERNEL_NEEDS_AVX2 = 1u << 1,
    KERNEL_NEEDS_FMA = 1u << 2,
    KERNEL_NEEDS_AVX512F = 1u << 3,
    KERNEL_NEEDS_AMX_BF16 = 1u << 4,
    KERNEL_NEEDS_AVX512VL = 1u << 5,
};

/* One registry entry. */
struct kernel {
    const char *name; /* "512fma", "512fma-lat", "amx", "pause", "chain" */
    unsigned width;   /* bits of the counted instruction: 64, 128, 256, 512; 8192 for one AMX tile */
    enum kernel_weight weight;
    unsigned features;       /* enum kernel_feature, or-ed */
    bool latency_bound;      /* one dependent chain */
    bool has_density;        /* may be named with @1/N */
    bool chained_adds;       /* the adds of a density depend on each other: at most one a cycle */
    bool by_name;            /* tables measure it only if --kernels names it: there would be too many pairs */
    enum kernel_level level; /* of its operands in memory */
    const char *mnemonic;    /* of the counted instruction, as objdump prints it; of several in turn "A A B" */
    const char *description; /* a few words for --list kernels */
    const char *like;        /* of a block from a file: the listed kernel of its width and weight; else NULL */
    /* indexed by density N: [1] is the plain kernel; [N] is one such instruction in every N, the rest scalar adds;
     * [0] is a copy of the plain kernel at another address, NULL of kernels from files */
    kernel_fn *const *variants;
    const uint16_t *block_instructions; /* same index: all instructions of a block but loop control */
    const uint16_t *block_counted;      /* same index: those of the counted kind */
    const uint32_t *block_bytes;        /* same index: code bytes of a block, loop control included */
};

/* A kernel with its suffixes: which a machine runs on request. */
struct payload {
    const struct kernel *kernel;
    unsigned density; /* 1..KERNEL_DENSITY_MAX: one counted instruction in every `density` */
    bool dirty;
    char name[KERNEL_NAME_MAX]; /* the canonical full name, "512fma@1/8-dirty" */
    kernel_fn *run;
    unsigned instructions; /* per block, without loop control */
    unsigned counted;      /* per block, of the counted kind */
    unsigned bytes;        /* per block */
};

/* The registry: all entries, in the order in which --list prints them. *count is set. */
const struct kernel *kernel_registry(size_t *count);

/*
 * Parses a full name: WIDTH OP [@mem|@l2|@l3|@ram|@zmask] [-lat|-chain] [@1/N] [-dirty], or pause, chain, amx, in small
 * or capital letters.
 * Returns 0 and fills *out, or -1 and writes one line to `why` (what is wrong, the nearest known name, what would work;
 * NULL: of size 0).
 */
int kernel_parse(const char *name, struct payload *out, char *why, size_t why_size);

/* The same with `n` kernels besides those of the registry. */
int kernel_parse_with(const struct kernel *const *more, size_t n, const char *name, struct payload *out, char *why,
                      size_t why_size);

/*
 * The same payload by the copy of its kernel's code, which is in a page of its own: what a switch to it costs, any
 * switch of code costs. Of densities and of kernels from files, which have none, it is `p` itself.
 */
struct payload kernel_copy(const struct payload *p);

/* "light", "heavy" */
const char *kernel_weight_name(enum kernel_weight weight);

/* Returns true if its name is that of another kernel with -lat, -chain or a word after @. */
bool kernel_is_variant(const struct kernel *k);

/* The payload of a name that the program itself gives and the registry has ("64add"). */
struct payload kernel_named(const char *name);

/* Features that this CPU and its operating system offer (CPUID leaf 7 and XCR0), enum kernel_feature or-ed. */
unsigned kernel_cpu_features(void);

/*
 * The kernel of floating point that stands for a named one on processors with AVX alone, Sandy Bridge to Jaguar, as
 * far as it needs no more than `features`: "256mulpd" for "256fma", "256orpd" for "256or"; NULL where there is none, or
 * where `features` have FMA or AVX2, respectively.
 */
const char *kernel_stand_in(const char *name, unsigned features);

/* The names of the features in `features`, space separated ("avx512f"). */
void kernel_feature_names(unsigned features, char *out, size_t size);

/*
 * Asks the operating system for what a kernel needs beyond CPUID (Linux: arch_prctl ARCH_REQ_XCOMP_PERM for AMX).
 * Returns 0, or -1 with the reason in `why`. Call before the first run of an AMX kernel in a process.
 */
int kernel_request_permission(unsigned features, char *why, size_t why_size);

/* Ends the use of what a payload has left dirty (upper halves, tiles), if it does: call when what followed is over. */
void kernel_clean(const struct payload *p);

/*
 * Dependent chains of scalar register-to-register adds between two ordered TSC reads: the clock of machines without
 * counters. One add takes one core cycle on every x86-64. (Adds of an immediate will not do: since Golden Cove the
 * renamer executes those without latency.) *begin receives the TSC before the chain, the return value is the TSC
 * after it. The lengths differ so that the cost of the reads cancels; the last two are for frequencies that are steady.
 */
enum { CHAIN_SHORT_ADDS = 200, CHAIN_LONG_ADDS = 600, CHAIN_STEADY_SHORT_ADDS = 2400, CHAIN_STEADY_LONG_ADDS = 7200 };
uint64_t kernel_chain_short(uint64_t *begin);
uint64_t kernel_chain_long(uint64_t *begin);
uint64_t kernel_chain_steady_short(uint64_t *begin);
uint64_t kernel_chain_steady_long(uint64_t *begin);
