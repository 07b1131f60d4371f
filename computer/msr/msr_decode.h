/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes model-specific registers: pure functions from values to figures. A figure that a value does not contain is
 * refused, never 0. Registers and fields: Intel SDM vol. 4 (MSRs) and vol. 3B chapter 15 (thermal, RAPL), unless stated
 * otherwise; which parts have which: Linux 6.12, tools/power/x86/turbostat/turbostat.c, struct platform_features.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"

enum msr_register {
    MSR_PLATFORM_INFO = 0xce,
    MSR_MPERF = 0xe7,
    MSR_APERF = 0xe8,
    MSR_PERF_STATUS = 0x198,
    MSR_THERM_STATUS = 0x19c,
    MSR_MISC_ENABLE = 0x1a0,
    MSR_TEMPERATURE_TARGET = 0x1a2,
    MSR_TURBO_RATIOS = 0x1ad,
    MSR_TURBO_RATIOS_1 = 0x1ae, /* core counts of the groups, or ratios of 9 to 16 cores: by model */
    MSR_RAPL_UNIT = 0x606,
    MSR_PACKAGE_ENERGY = 0x611,
    MSR_CONFIG_TDP_NOMINAL = 0x648,
    MSR_CONFIG_TDP_LEVEL_1 = 0x649,
    MSR_CONFIG_TDP_LEVEL_2 = 0x64a,
    MSR_LIMITS_SKYLAKE = 0x64f,
    MSR_SECONDARY_TURBO_RATIOS = 0x650, /* of the E cores of hybrid parts; the next holds their core counts */
    MSR_LIMITS_HASWELL = 0x690,
};
/* AMD; too large for an enumeration. Linux 6.12, arch/x86/include/asm/msr-index.h. */
#define MSR_AMD_PSTATE_0 0xc0010064u
#define MSR_AMD_RAPL_UNIT 0xc0010299u
#define MSR_AMD_PACKAGE_ENERGY 0xc001029bu

/* Bits that may be written, on request; nothing else ever is. SDM vol. 4: IDA (turbo) disable. */
#define MSR_MISC_ENABLE_NO_TURBO (UINT64_C(1) << 38)

/* The processor, as far as it decides what a register means. */
struct msr_part {
    bool intel, amd;
    unsigned family, model; /* 0, 0 where the model number is not to be believed: nothing by model then */
};
void msr_part_of(const struct cpu_leaves *l, struct msr_part *out);

/*
 * 198H, bits 47:32: core voltage in units of 2^-13 V (SDM vol. 4, MSR_PERF_STATUS; likwid, src/voltage.c). Whether that
 * is a measured or a requested voltage is not documented. Returns false with the reason in *why (static text) where the
 * field is 0, which means "not reported", and for 400000003E8H, a constant that QEMU and KVM answer (QEMU,
 * target/i386/tcg/sysemu/misc_helper.c: 1000 ticks, multiplier 4 in bit 40) and that would read as 0.125 V.
 */
bool msr_volts(uint64_t perf_status, double *volts, const char **why);

struct msr_platform {
    double base_ghz;     /* highest frequency without turbo, bits 15:8 */
    unsigned tdp_levels; /* besides the nominal one, bits 34:33 */
};
/* CEH. False where it holds no base ratio. Ratios are in units of 100 MHz (Sandy Bridge and later). */
bool msr_platform(uint64_t value, struct msr_platform *out);

/* The turbo limits (of code without AVX: 1ADH has no others). */
enum { MSR_TURBO_ROWS_MAX = 18 };
struct msr_turbo_row {
    unsigned first_cores, last_cores; /* active cores that the limit holds for */
    double ghz;
};
/* How many of 1ADH, 1AEH, 1AFH the limits are in; 0: the layout of this part is not known. */
size_t msr_turbo_registers(const struct msr_part *p);
/* Returns whether the others mean nothing without the i-th of these, counted from 0; else it is 0 where it is missing:
 * Haswell-EP with up to 8 cores, hybrid parts whose groups are not stated. */
bool msr_turbo_requires(const struct msr_part *p, size_t i);
/* Decodes these; of hybrid parts also 650H and 651H, of the E cores, which are laid out as 1ADH and 1AEH. Returns the
 * number of rows, in rising order of cores; 0 when nothing is stated. */
size_t msr_turbo_limits(const struct msr_part *p, const uint64_t *values, struct msr_turbo_row out[MSR_TURBO_ROWS_MAX]);

/* Returns whether the part is of a line with two kinds of cores: 1ADH and 1AEH are of the P cores, 650H and 651H of the
 * E cores. */
bool msr_is_hybrid(const struct msr_part *p);

/*
 * The frequency in GHz of a configurable power level: 0 is 648H (bits 7:0), 1 and 2 are 649H and 64AH (bits 23:16);
 * turbostat.c, dump_config_tdp. False, and NAN, where the register holds none.
 */
bool msr_config_tdp_ghz(uint64_t value, unsigned level, double *ghz);

/* 19CH, of the core. */
struct msr_thermal {
    bool throttled;                      /* by temperature, now */
    bool power_limited, current_limited; /* now */
    bool readout;                        /* `below` is valid: bit 31 */
    unsigned below;                      /* degrees below TjMax, bits 22:16 */
};
void msr_thermal(uint64_t value, struct msr_thermal *out);
/* 1A2H, bits 23:16: TjMax in degrees Celsius. False where it is 0. */
bool msr_tjmax(uint64_t temperature_target, unsigned *celsius);

/*
 * Why the frequency is limited. Only where the layout is documented: Skylake client 64FH, Haswell client and Haswell-EP
 * 690H (SDM vol. 4). No server after that: their layout is not public. Returns false where there is none.
 */
bool msr_limits_register(const struct msr_part *p, uint32_t *reg);
/* The names of the bits 15:0 that are set; "none" for no bit. Undocumented bits by number. */
void msr_limits_text(const struct msr_part *p, uint64_t value, char *out, size_t size);

/* The step of the package's energy counter, from 606H, AMD C0010299H: an exponent of 1/2 in bits 12:8. False for 0, as
 * hypervisors answer. */
bool msr_energy_step(uint64_t value, double *joules);

/* A P-state of C0010064H.. in GHz: families 17H, 19H (200 MHz * FID / DID) and 1AH (5 MHz * FID). Linux, cpupower,
 * helpers/amd.c. False where it is not enabled or the family not known. */
bool msr_amd_pstate_ghz(const struct msr_part *p, uint64_t value, double *ghz);
