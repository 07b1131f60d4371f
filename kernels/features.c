/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU features that kernels need: those that this CPU and its operating system offer. */
#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "util/error.h"
#include "util/text_list.h"

/* State components of XCR0 (Intel SDM volume 1, 13.3): SSE and AVX; with opmasks and both parts of ZMM; TILECFG and
 * TILEDATA. */
#define XCR0_AVX (3u << 1)
#define XCR0_AVX512 (XCR0_AVX | 7u << 5)
#define XCR0_AMX (3u << 17)

/* linux/arch/x86/include/uapi/asm/prctl.h; the numbers are ABI, older headers lack the names */
enum { REQUEST_XCOMP_PERM = 0x1023, XFEATURE_TILEDATA = 18 };

static uint32_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* CPUID is read each time, which the compiler's library does once: cores of one part may differ. (Intel SDM volume 2,
 * CPUID, leaves 1 and 7; volume 1, 13.3: state components 1 and 2 of XCR0 for AVX, 5 to 7 too for AVX-512.) */
unsigned kernel_cpu_features(void)
{
    unsigned eax, ebx, ecx, edx, features = 0, amx = 1u << 22 | 1u << 24; /* AMX-BF16, AMX-TILE */
    const unsigned osxsave = 1u << 27, avx = 1u << 28, fma = 1u << 12;
    const unsigned avx2 = 1u << 5, avx512f = 1u << 16, avx512vl = 1u << 31;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & (osxsave | avx)) != (osxsave | avx) ||
        (read_xcr0() & XCR0_AVX) != XCR0_AVX)
        return 0;
    features = KERNEL_NEEDS_AVX | (ecx & fma ? KERNEL_NEEDS_FMA : 0u);
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return features;
    if (ebx & avx2)
        features |= KERNEL_NEEDS_AVX2;
    if ((ebx & avx512f) && (read_xcr0() & XCR0_AVX512) == XCR0_AVX512)
        features |= KERNEL_NEEDS_AVX512F | (ebx & avx512vl ? KERNEL_NEEDS_AVX512VL : 0u);
    if ((edx & amx) == amx && (read_xcr0() & XCR0_AMX) == XCR0_AMX)
        features |= KERNEL_NEEDS_AMX_BF16;
    return features;
}

const char *kernel_stand_in(const char *name, unsigned features)
{
    static const struct {
        unsigned lacking;
        const char *name, *stand_in;
    } pairs[] = {{KERNEL_NEEDS_FMA, "128fma", "128mulpd"},
                 {KERNEL_NEEDS_FMA, "256fma", "256mulpd"},
                 {KERNEL_NEEDS_AVX2, "128or", "128orpd"}, /* it runs, but is compared with 256orpd */
                 {KERNEL_NEEDS_AVX2, "256or", "256orpd"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(pairs[i].name, name) == 0)
            return (features & (pairs[i].lacking | KERNEL_NEEDS_AVX)) == KERNEL_NEEDS_AVX ? pairs[i].stand_in : NULL;
    return NULL;
}

void kernel_feature_names(unsigned features, char *out, size_t size)
{
    static const struct {
        unsigned feature;
        const char *name;
    } names[] = {{KERNEL_NEEDS_AVX, "avx"},           {KERNEL_NEEDS_AVX2, "avx2"},
                 {KERNEL_NEEDS_FMA, "fma"},           {KERNEL_NEEDS_AVX512F, "avx512f"},
                 {KERNEL_NEEDS_AVX512VL, "avx512vl"}, {KERNEL_NEEDS_AMX_BF16, "amx_bf16"}};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (features & names[i].feature)
            text_list_add(out, size, " ", "%s", names[i].name);
}

int kernel_request_permission(unsigned features, char *why, size_t why_size)
{
    if (!(features & KERNEL_NEEDS_AMX_BF16))
        return 0;
    if (syscall(SYS_arch_prctl, REQUEST_XCOMP_PERM, XFEATURE_TILEDATA) == 0)
        return 0;
    return error_line(
        why, why_size,
        "AMX tiles: arch_prctl(ARCH_REQ_XCOMP_PERM): %s; this needs Linux 5.16 or later on a CPU with AMX",
        strerror(errno));
}

void kernel_clean(const struct payload *p)
{
    if (p->dirty && (p->kernel->features & KERNEL_NEEDS_AMX_BF16))
        __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"); /* TILERELEASE, unknown to binutils before 2.36 */
    else if (p->dirty)
        __asm__ volatile("vzeroupper" ::: "memory");
}
