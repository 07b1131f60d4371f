/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only list of kernels. The code and the figures of each entry come from the assembler. */
#include "kernels/kernels.h"

/*
 * X(symbol, then the members of struct kernel in their order: name, width, weight, features, latency bound, has
 * densities, chained adds, by name only, level, mnemonic, description)
 *
 * 64add and the latency-bound kernels have no densities: the one is all scalar adds already, in the others the adds
 * would vanish after the latency of the chain.
 */
#define HEAVY KERNEL_HEAVY
#define LIGHT KERNEL_LIGHT
#define FMA KERNEL_NEEDS_FMA
#define AVX KERNEL_NEEDS_AVX
#define AVX2 KERNEL_NEEDS_AVX2
#define AVX512 KERNEL_NEEDS_AVX512F
#define AVX512VL (KERNEL_NEEDS_AVX512F | KERNEL_NEEDS_AVX512VL)
#define AMX KERNEL_NEEDS_AMX_BF16

/* an operation as throughput and as latency kernel */
#define BOTH(X, symbol, width, weight, features, density, mnemonic, description)                                       \
    X(symbol, #symbol, width, weight, features, false, density, false, false, KERNEL_L1, mnemonic, description)        \
    X(symbol##_lat, #symbol "-lat", width, weight, features, true, false, false, false, KERNEL_L1, mnemonic,           \
      description ", one dependent chain")

/* an operation whose densities are filled with adds that depend on each other */
#define CHAINED(X, symbol, width, weight, features, mnemonic, description)                                             \
    X(symbol##_chain, #symbol "-chain", width, weight, features, false, true, true, false, KERNEL_L1, mnemonic,        \
      description ", adds of a density in one chain")

/* an operation with what stands after its name: @mem or @zmask; and those that load, store or move */
#define OTHER(X, symbol, name, width, weight, features, density, mnemonic, description)                                \
    X(symbol, name, width, weight, features, false, density, false, true, KERNEL_L1, mnemonic, description)

/* floating point for processors with AVX alone, which lack multiply-add and 256-bit integers */
#define FLOATING(X, bits)                                                                                              \
    OTHER(X, bits##mulpd, #bits "mulpd", bits, HEAVY, AVX, true, "vmulpd", "packed double multiply")                   \
    OTHER(X, bits##addpd, #bits "addpd", bits, HEAVY, AVX, true, "vaddpd", "packed double add")                        \
    OTHER(X, bits##orpd, #bits "orpd", bits, LIGHT, AVX, true, "vorpd", "bitwise or of packed doubles")

/* load and fma from each level: the same code, of which only the buffer tells where its operands are */
#define FROM(X, bits, at, level, where, arith, simd, vmov)                                                             \
    X(bits##load_walk, #bits "load" at, bits, LIGHT, simd, false, true, false, true, level, vmov, "load from " where)  \
    X(bits##fma_walk, #bits "fma" at, bits, HEAVY, arith, false, true, false, true, level, "vfmadd231pd",              \
      "multiply-add, one operand in " where)

#define WALKS(X, bits, arith, simd, vmov)                                                                              \
    FROM(X, bits, "@l2", KERNEL_L2, "L2", arith, simd, vmov)                                                           \
    FROM(X, bits, "@l3", KERNEL_L3, "L3", arith, simd, vmov)                                                           \
    FROM(X, bits, "@ram", KERNEL_RAM, "memory", arith, simd, vmov)

#define MEMORY(X, bits, arith, simd, gathering, integer, masked, vmov)                                                 \
    OTHER(X, bits##fma_mem, #bits "fma@mem", bits, HEAVY, arith, true, "vfmadd231pd",                                  \
          "multiply-add, one operand in L1D")                                                                          \
    OTHER(X, bits##fmaadd, #bits "fmaadd", bits, HEAVY, arith, false, "vfmadd231pd vfmadd231pd vaddpd",                \
          "two multiply-adds and an add in turn")                                                                      \
    OTHER(X, bits##fmaadd_mem, #bits "fmaadd@mem", bits, HEAVY, arith, true, "vfmadd231pd vfmadd231pd vaddpd",         \
          "the same, operand of the multiply-adds in L1D")                                                             \
    OTHER(X, bits##load, #bits "load", bits, LIGHT, simd, true, vmov, "load from L1D")                                 \
    OTHER(X, bits##store, #bits "store", bits, LIGHT, simd, true, vmov, "store to L1D")                                \
    OTHER(X, bits##gather, #bits "gather", bits, LIGHT, gathering, false, "vpgatherqq",                                \
          "gather of 64-bit lanes from L1D")                                                                           \
    OTHER(X, bits##mov, #bits "mov", bits, LIGHT, simd, false, vmov, "move between registers")                         \
    OTHER(X, bits##shuf, #bits "shuf", bits, LIGHT, integer, false, "vpshufd", "shuffle within 128 bits")              \
    OTHER(X, bits##fma_zmask, #bits "fma@zmask", bits, HEAVY, masked, false, "vfmadd231pd",                            \
          "multiply-add, zero masking")                                                                                \
    OTHER(X, bits##add_zmask, #bits "add@zmask", bits, LIGHT, masked, false, "vpaddq", "add, zero masking")            \
    OTHER(X, bits##mov_zmask, #bits "mov@zmask", bits, LIGHT, masked, false, "vmovdqa64", "move, zero masking")        \
    OTHER(X, bits##load_zmask, #bits "load@zmask", bits, LIGHT, masked, false, "vmovdqa64", "load, zero masking")

#define REGISTRY(X)                                                                                                    \
    BOTH(X, 64fma, 64, HEAVY, FMA, true, "vfmadd231sd", "scalar double multiply-add")                                  \
    BOTH(X, 64or, 64, LIGHT, 0, true, "or", "scalar bitwise or")                                                       \
    BOTH(X, 64add, 64, LIGHT, 0, false, "add", "scalar 64-bit add")                                                    \
    BOTH(X, 64mul, 64, HEAVY, 0, true, "imul", "scalar 64-bit multiply")                                               \
    BOTH(X, 128fma, 128, HEAVY, FMA, true, "vfmadd231pd", "packed double multiply-add")                                \
    BOTH(X, 128or, 128, LIGHT, AVX, true, "vpor", "bitwise or")                                                        \
    BOTH(X, 128add, 128, LIGHT, AVX, true, "vpaddq", "add of 64-bit lanes")                                            \
    BOTH(X, 128mul, 128, HEAVY, AVX, true, "vpmuludq", "multiply of 32-bit lanes to 64 bits")                          \
    BOTH(X, 256fma, 256, HEAVY, FMA, true, "vfmadd231pd", "packed double multiply-add")                                \
    BOTH(X, 256or, 256, LIGHT, AVX2, true, "vpor", "bitwise or")                                                       \
    CHAINED(X, 256or, 256, LIGHT, AVX2, "vpor", "bitwise or")                                                          \
    BOTH(X, 256add, 256, LIGHT, AVX2, true, "vpaddq", "add of 64-bit lanes")                                           \
    BOTH(X, 256mul, 256, HEAVY, AVX2, true, "vpmuludq", "multiply of 32-bit lanes to 64 bits")                         \
    BOTH(X, 256perm, 256, LIGHT, AVX2, true, "vpermd", "permutation of 32-bit lanes across the register")              \
    BOTH(X, 512fma, 512, HEAVY, AVX512, true, "vfmadd231pd", "packed double multiply-add")                             \
    BOTH(X, 512or, 512, LIGHT, AVX512, true, "vporq", "bitwise or")                                                    \
    CHAINED(X, 512or, 512, LIGHT, AVX512, "vporq", "bitwise or")                                                       \
    BOTH(X, 512add, 512, LIGHT, AVX512, true, "vpaddq", "add of 64-bit lanes")                                         \
    BOTH(X, 512mul, 512, HEAVY, AVX512, true, "vpmuludq", "multiply of 32-bit lanes to 64 bits")                       \
    BOTH(X, 512perm, 512, LIGHT, AVX512, true, "vpermd", "permutation of 32-bit lanes across the register")            \
    MEMORY(X, 128, FMA, AVX, AVX2, AVX, AVX512VL, "vmovdqa")                                                           \
    MEMORY(X, 256, FMA, AVX, AVX2, AVX2, AVX512VL, "vmovdqa")                                                          \
    MEMORY(X, 512, AVX512, AVX512, AVX512, AVX512, AVX512, "vmovdqa64")                                                \
    FLOATING(X, 128)                                                                                                   \
    FLOATING(X, 256)                                                                                                   \
    X(amx, "amx", 8192, HEAVY, AMX, false, false, false, false, KERNEL_L1, "tdpbf16ps", "bf16 dot product of tiles")   \
    X(pause, "pause", 64, LIGHT, 0, false, false, false, false, KERNEL_L1, "pause", "spin-wait hint")                  \
    X(chain, "chain", 64, LIGHT, 0, true, false, false, false, KERNEL_L1, "add", "dependent scalar adds: one a cycle")

/* The Linux module, which has no buffers for them, is without these; at the end, so that its numbers of the others are
 * the program's. */
#ifdef __KERNEL__
#define REGISTRY_OF_WALKS(X)
#else
#define REGISTRY_OF_WALKS(X)                                                                                           \
    WALKS(X, 128, FMA, AVX, "vmovdqa")                                                                                 \
    WALKS(X, 256, FMA, AVX, "vmovdqa")                                                                                 \
    WALKS(X, 512, AVX512, AVX512, "vmovdqa64")
#endif

/* The assembler's tables of one entry (kernels/kernel.inc, TABLES). */
#define DECLARE(symbol, ...)                                                                                           \
    extern kernel_fn *const kernel_##symbol##_variants[];                                                              \
    extern const uint16_t kernel_##symbol##_instructions[];                                                            \
    extern const uint16_t kernel_##symbol##_counted[];                                                                 \
    extern const uint32_t kernel_##symbol##_bytes[];
REGISTRY(DECLARE)
REGISTRY_OF_WALKS(DECLARE)

#define ENTRY(symbol, ...)                                                                                             \
    {__VA_ARGS__,                                                                                                      \
     NULL,                                                                                                             \
     kernel_##symbol##_variants,                                                                                       \
     kernel_##symbol##_instructions,                                                                                   \
     kernel_##symbol##_counted,                                                                                        \
     kernel_##symbol##_bytes},

static const struct kernel entries[] = {REGISTRY(ENTRY) REGISTRY_OF_WALKS(ENTRY)};

const struct kernel *kernel_registry(size_t *count)
{
    *count = sizeof entries / sizeof entries[0];
    return entries;
}
