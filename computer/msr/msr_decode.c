/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes values of model-specific registers. */
#include "computer/msr/msr_decode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/text_list.h"

static const double RATIO_GHZ = 0.1, VOLTS_UNIT = 0x1p-13;
static const uint64_t EMULATED_PERF_STATUS = UINT64_C(0x400000003e8);

/* The bits last:first of a value. */
static uint64_t bits(uint64_t value, unsigned last, unsigned first)
{
    return value >> first & (UINT64_MAX >> (63 - last + first));
}

void msr_part_of(const struct cpu_leaves *l, struct msr_part *out)
{
    struct cpu_identity id;
    char why[200];
    cpu_identify(l, &id);
    memset(out, 0, sizeof *out);
    out->intel = id.intel;
    out->amd = strcmp(id.vendor, "AuthenticAMD") == 0;
    if (!cpu_contradicts(l, why, sizeof why)) {
        out->family = id.family;
        out->model = id.model;
    }
}

bool msr_volts(uint64_t perf_status, double *volts, const char **why)
{
    uint64_t steps = bits(perf_status, 47, 32);
    *volts = NAN;
    if (perf_status == EMULATED_PERF_STATUS) {
        *why = "register 198H holds an emulator's constant, not a voltage (400000003E8H)";
        return false;
    }
    if (steps == 0) {
        *why = "register 198H reports no voltage: its field is 0";
        return false;
    }
    *why = NULL;
    *volts = (double)steps * VOLTS_UNIT;
    return true;
}

bool msr_platform(uint64_t value, struct msr_platform *out)
{
    uint64_t base = bits(value, 15, 8);
    out->base_ghz = base != 0 ? (double)base * RATIO_GHZ : (double)NAN;
    out->tdp_levels = (unsigned)bits(value, 34, 33);
    return base != 0;
}

/* ---- turbo limits ---- */

enum turbo_layout {
    TURBO_UNKNOWN,
    TURBO_BY_CORE,   /* byte k: the limit for k + 1 active cores */
    TURBO_BY_CORE_3, /* ... going on in 1AEH and 1AFH */
    TURBO_BY_GROUP,  /* byte k: the limit for as many active cores as byte k of 1AEH says */
    TURBO_HYBRID,    /* the same, for each kind of core; by core where there are no counts */
};

/*
 * Models of family 6: turbostat.c, trl_msrs (TRL_BASE, TRL_LIMIT1 and 2, TRL_CORECOUNT). It has only 1ADH for
 * Broadwell-EP, which others take to be laid out as Haswell-EP: the first eight counts are the same either way.
 *
 * Hybrid parts, Alder, Raptor, Meteor, Arrow and Lunar Lake: Intel's Slim Bootloader has 1ADH with 1AEH and 650H with
 * 651H, groups and their core counts (Silicon/{Alderlake,Meteorlake,Arrowlake}Pkg/Include/CpuRegs.h); of Lunar Lake SDM
 * vol. 4 names 651H (MSR_SECONDARY_TURBO_RATIO_LIMIT_CORES, table 2-58). turbostat.c looks at no counts of any of them
 * (adl_features, lnl_features: TRL_BASE), which is the same where groups are single cores.
 *
 * Sierra Forest, Grand Ridge, Clearwater Forest: turbostat.c, srf_features and grr_features (TRL_CORECOUNT; the last in
 * Linux later than 6.12).
 */
static const struct {
    unsigned char model, layout;
} turbo_layouts[] = {
    {0x3c, TURBO_BY_CORE},  {0x45, TURBO_BY_CORE},  {0x46, TURBO_BY_CORE},   {0x3d, TURBO_BY_CORE},
    {0x47, TURBO_BY_CORE},  {0x4f, TURBO_BY_CORE},  {0x56, TURBO_BY_CORE},   {0x4e, TURBO_BY_CORE},
    {0x5e, TURBO_BY_CORE},  {0x8e, TURBO_BY_CORE},  {0x9e, TURBO_BY_CORE},   {0xa5, TURBO_BY_CORE},
    {0xa6, TURBO_BY_CORE},  {0x66, TURBO_BY_CORE},  {0x7e, TURBO_BY_CORE},   {0x8c, TURBO_BY_CORE},
    {0x8d, TURBO_BY_CORE},  {0xa7, TURBO_BY_CORE},  {0x3f, TURBO_BY_CORE_3}, {0x55, TURBO_BY_GROUP},
    {0x6a, TURBO_BY_GROUP}, {0x6c, TURBO_BY_GROUP}, {0x8f, TURBO_BY_GROUP},  {0xcf, TURBO_BY_GROUP},
    {0xad, TURBO_BY_GROUP}, {0xae, TURBO_BY_GROUP}, {0xaf, TURBO_BY_GROUP},  {0xb6, TURBO_BY_GROUP},
    {0xdd, TURBO_BY_GROUP}, {0x97, TURBO_HYBRID},   {0x9a, TURBO_HYBRID},    {0xb7, TURBO_HYBRID},
    {0xba, TURBO_HYBRID},   {0xbf, TURBO_HYBRID},   {0xaa, TURBO_HYBRID},    {0xac, TURBO_HYBRID},
    {0xb5, TURBO_HYBRID},   {0xc5, TURBO_HYBRID},   {0xc6, TURBO_HYBRID},    {0xbd, TURBO_HYBRID},
};

static unsigned turbo_layout(const struct msr_part *p)
{
    for (size_t i = 0; p->intel && p->family == 6 && i < sizeof turbo_layouts / sizeof *turbo_layouts; i++)
        if (turbo_layouts[i].model == p->model)
            return turbo_layouts[i].layout;
    return TURBO_UNKNOWN;
}

size_t msr_turbo_registers(const struct msr_part *p)
{
    static const size_t registers[] = {
        [TURBO_UNKNOWN] = 0, [TURBO_BY_CORE] = 1, [TURBO_BY_CORE_3] = 3, [TURBO_BY_GROUP] = 2, [TURBO_HYBRID] = 2};
    return registers[turbo_layout(p)];
}

bool msr_turbo_requires(const struct msr_part *p, size_t i)
{
    return i == 0 || turbo_layout(p) == TURBO_BY_GROUP;
}

/* Ratios that are missing (0) end the list; 1AFH holds two, for 17 and 18 cores. */
static size_t turbo_by_core(const uint64_t *values, size_t most, struct msr_turbo_row *out)
{
    size_t n = 0;
    for (; n < most; n++) {
        uint64_t ratio = values[n / 8] >> (n % 8 * 8) & 0xff;
        if (ratio == 0)
            break;
        out[n] = (struct msr_turbo_row){(unsigned)n + 1, (unsigned)n + 1, (double)ratio * RATIO_GHZ};
    }
    return n;
}

/* Groups that end no later than the one before hold nothing of their own. */
static size_t turbo_by_group(const uint64_t *values, struct msr_turbo_row *out)
{
    size_t n = 0;
    unsigned before = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        unsigned ratio = values[0] >> shift & 0xff, cores = values[1] >> shift & 0xff;
        if (ratio == 0 || cores <= before)
            break;
        out[n++] = (struct msr_turbo_row){before + 1, cores, ratio * RATIO_GHZ};
        before = cores;
    }
    return n;
}

size_t msr_turbo_limits(const struct msr_part *p, const uint64_t *values, struct msr_turbo_row out[MSR_TURBO_ROWS_MAX])
{
    static const size_t most[] = {
        [TURBO_UNKNOWN] = 0, [TURBO_BY_CORE] = 8, [TURBO_BY_CORE_3] = 18, [TURBO_BY_GROUP] = 0, [TURBO_HYBRID] = 8};
    unsigned layout = turbo_layout(p);
    bool groups = layout == TURBO_BY_GROUP || (layout == TURBO_HYBRID && values[1] != 0);
    return groups ? turbo_by_group(values, out) : turbo_by_core(values, most[layout], out);
}

bool msr_is_hybrid(const struct msr_part *p)
{
    return turbo_layout(p) == TURBO_HYBRID;
}

bool msr_config_tdp_ghz(uint64_t value, unsigned level, double *ghz)
{
    uint64_t ratio = level == 0 ? bits(value, 7, 0) : bits(value, 23, 16);
    *ghz = ratio != 0 ? (double)ratio * RATIO_GHZ : (double)NAN;
    return ratio != 0;
}

/* ---- temperature and limits ---- */

void msr_thermal(uint64_t value, struct msr_thermal *out)
{
    *out = (struct msr_thermal){
        .throttled = bits(value, 0, 0),
        .power_limited = bits(value, 10, 10),
        .current_limited = bits(value, 12, 12),
        .readout = bits(value, 31, 31),
        .below = (unsigned)bits(value, 22, 16),
    };
}

bool msr_tjmax(uint64_t temperature_target, unsigned *celsius)
{
    *celsius = (unsigned)bits(temperature_target, 23, 16);
    return *celsius != 0;
}

enum { LIMIT_BITS = 16 };
enum limit_layout { LIMITS_SKYLAKE, LIMITS_HASWELL, LIMITS_HASWELL_EP, LIMIT_LAYOUTS };

/* By bit. SDM vol. 4: 6th generation Core (64FH), Haswell client (690H), Xeon E5 v3 (690H). */
static const char *const limit_names[LIMIT_BITS][LIMIT_LAYOUTS] = {
    {"PROCHOT", "PROCHOT", "PROCHOT"},
    {"thermal", "thermal", "thermal"},
    {NULL, NULL, "power budget"},
    {NULL, NULL, "platform services"},
    {"residency", "graphics", NULL},
    {"running average thermal limit", "autonomous utilization", "autonomous utilization"},
    {"voltage regulator hot", "voltage regulator hot", "voltage regulator hot"},
    {"voltage regulator current", NULL, NULL},
    {"electrical or other", "electrical", "electrical"},
    {NULL, "core power", NULL},
    {"PL1", "PL1", "multi-core turbo"},
    {"PL2", "PL2", NULL},
    {"maximum turbo", "maximum turbo", NULL},
    {"turbo attenuation", "turbo attenuation", "core frequency P1"},
    {NULL, NULL, "maximum n-core turbo"},
    {NULL, NULL, "core frequency"},
};
static const struct {
    unsigned char model;
    enum msr_register reg;
    enum limit_layout layout;
} limit_layouts[] = {
    {0x4e, MSR_LIMITS_SKYLAKE, LIMITS_SKYLAKE}, {0x5e, MSR_LIMITS_SKYLAKE, LIMITS_SKYLAKE},
    {0x3c, MSR_LIMITS_HASWELL, LIMITS_HASWELL}, {0x45, MSR_LIMITS_HASWELL, LIMITS_HASWELL},
    {0x46, MSR_LIMITS_HASWELL, LIMITS_HASWELL}, {0x3f, MSR_LIMITS_HASWELL, LIMITS_HASWELL_EP},
};

/* -1: none is known of this part. */
static int find_limits(const struct msr_part *p, uint32_t *reg)
{
    for (size_t i = 0; p->intel && p->family == 6 && i < sizeof limit_layouts / sizeof *limit_layouts; i++) {
        if (limit_layouts[i].model == p->model) {
            *reg = limit_layouts[i].reg;
            return (int)limit_layouts[i].layout;
        }
    }
    return -1;
}

bool msr_limits_register(const struct msr_part *p, uint32_t *reg)
{
    return find_limits(p, reg) >= 0;
}

void msr_limits_text(const struct msr_part *p, uint64_t value, char *out, size_t size)
{
    uint32_t reg;
    int layout = find_limits(p, &reg);
    out[0] = '\0';
    for (unsigned i = 0; layout >= 0 && i < LIMIT_BITS; i++) {
        if ((value >> i & 1) == 0)
            continue;
        if (limit_names[i][layout] != NULL)
            text_list_add(out, size, ", ", "%s", limit_names[i][layout]);
        else
            text_list_add(out, size, ", ", "bit %u", i);
    }
    if (out[0] == '\0')
        snprintf(out, size, "none");
}

/* ---- energy ---- */

bool msr_energy_step(uint64_t value, double *joules)
{
    *joules = value != 0 ? ldexp(1, -(int)bits(value, 12, 8)) : 0;
    return value != 0;
}

/* ---- AMD ---- */

bool msr_amd_pstate_ghz(const struct msr_part *p, uint64_t value, double *ghz)
{
    uint64_t divisor = bits(value, 13, 8);
    *ghz = NAN;
    if (!p->amd || bits(value, 63, 63) == 0)
        return false;
    if ((p->family == 0x17 || p->family == 0x19) && divisor != 0)
        *ghz = 0.2 * (double)bits(value, 7, 0) / (double)divisor;
    else if (p->family == 0x1a)
        *ghz = 0.005 * (double)bits(value, 11, 0);
    return *ghz > 0; /* NaN is not */
}
