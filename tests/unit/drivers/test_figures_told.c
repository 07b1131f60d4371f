/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is made of registers, counts, names and sizes by functions that read nothing else: values at every bit, at
 * limits and just beside them. Held in tests/golden/machine/figures.txt, which `make golden` rewrites.
 */
#include <inttypes.h>

#include "computer/cpu/caches.h"
#include "computer/cpu/tsc.h"
#include "drivers/events/event_code.h"
#include "computer/interference/interference.h"
#include "computer/msr/msr_decode.h"
#include "drivers/profile/profile_arithmetic.h"
#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- registers ---- */

static void write_parts(FILE *out)
{
    for (unsigned model = 0; model < 0x120; model++) {
        struct msr_part p = {.intel = true, .family = 6, .model = model};
        uint32_t reg = 0;
        bool limits = msr_limits_register(&p, &reg);
        size_t turbo = msr_turbo_registers(&p);
        if (limits || turbo || msr_is_hybrid(&p))
            fprintf(out, "model %02X: %zu turbo registers, limits %X, hybrid %d\n", model, turbo, reg,
                    msr_is_hybrid(&p));
    }
}

/* Which features contradict the model's number. */
static void write_contradictions(FILE *out)
{
    for (unsigned model = 0; model < 0x100; model++)
        for (unsigned features = 0; features < 4; features++) {
            struct cpu_leaves l = {.basic = {0x20, 0x756e6547, 0x6c65746e, 0x49656e69}};
            char why[200];
            l.version.eax = 6 << 8 | (model & 15) << 4 | model >> 4 << 16;
            l.structured.ebx = features & 1 ? 1u << 16 : 0;            /* AVX-512F */
            l.structured.edx = features & 2 ? 3u << 24 | 1u << 22 : 0; /* AMX */
            if (cpu_contradicts(&l, why, sizeof why))
                fprintf(out, "model %02X, %u: %.60s\n", model, features, strchr(why, '('));
        }
}

static void write_limits(FILE *out)
{
    static const unsigned models[] = {0x4e, 0x3c, 0x3f, 0x55};
    for (size_t i = 0; i < COUNT(models); i++) {
        struct msr_part p = {.intel = true, .family = 6, .model = models[i]};
        char text[600];
        msr_limits_text(&p, 0xffff, text, sizeof text);
        fprintf(out, "limits of %02X: %s\n", models[i], text);
    }
}

static void write_rows(FILE *out, const char *what, const struct msr_part *p, const uint64_t values[3])
{
    struct msr_turbo_row rows[MSR_TURBO_ROWS_MAX];
    size_t n = msr_turbo_limits(p, values, rows);
    fprintf(out, "%s:", what);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %u-%u %.1f", rows[i].first_cores, rows[i].last_cores, rows[i].ghz);
    fputc('\n', out);
}

static void write_turbo(FILE *out)
{
    static const uint64_t full[] = {0x1112131415161718, 0x2122232425262728, 0x3132}, gap[] = {0x11120014, 1, 1},
                          groups[] = {0x1c1c1c1c1f222325, 0x101010100c080402, 0}, same[] = {0x1c1d1e1f, 0x04040201, 0};
    static const unsigned models[] = {0x5e, 0x3f, 0x55, 0x99};
    for (size_t i = 0; i < COUNT(models); i++) {
        struct msr_part p = {.intel = true, .family = 6, .model = models[i]};
        fprintf(out, "turbo of %02X\n", models[i]);
        write_rows(out, " full", &p, full);
        write_rows(out, " gap", &p, gap);
        write_rows(out, " groups", &p, groups);
        write_rows(out, " same", &p, same);
    }
}

/* Of each bit alone, what it changes. */
static void write_bits(FILE *out)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t value = UINT64_C(1) << bit;
        struct msr_platform platform;
        struct msr_thermal core;
        double volts, nominal, level, zen[3];
        unsigned tj;
        const char *why;
        msr_platform(value, &platform);
        msr_thermal(value, &core);
        msr_volts(value, &volts, &why);
        msr_config_tdp_ghz(value, 0, &nominal);
        msr_config_tdp_ghz(value, 1, &level);
        msr_tjmax(value, &tj);
        for (unsigned i = 0; i < 3; i++)
            if (!msr_amd_pstate_ghz(&(struct msr_part){.amd = true, .family = (const unsigned[]){0x17, 0x19, 0x1a}[i]},
                                    value | UINT64_C(1) << 63 | 0x88d, &zen[i]))
                zen[i] = -1;
        fprintf(out, "bit %u: base %g tdp %u | ", bit, isnan(platform.base_ghz) ? -1 : platform.base_ghz,
                platform.tdp_levels);
        fprintf(out, "%d%d%d%d %u | ", core.throttled, core.power_limited, core.current_limited, core.readout,
                core.below);
        fprintf(out, "%.9g V %g %g GHz %u C zen %g %g %g\n", isnan(volts) ? -1 : volts, isnan(nominal) ? -1 : nominal,
                isnan(level) ? -1 : level, tj, zen[0], zen[1], zen[2]);
    }
}

/* ---- the profiler's arithmetic ---- */

static struct profile_counts counts(uint64_t cycles, uint64_t ref, uint64_t one, uint64_t two, uint64_t loads,
                                    uint64_t stores)
{
    return (struct profile_counts){.count = {cycles, ref, one, two, loads, stores}};
}

static void write_counts(FILE *out)
{
    const struct profile_counts all[] = {counts(800, 400, 0, 0, 0, 0),
                                         counts(800, 400, 99, 0, 100, 0),
                                         counts(800, 400, 100, 0, 0, 100),
                                         counts(800, 400, 700, 0, 300, 100),
                                         counts(800, 400, 701, 0, 700, 99),
                                         counts(800, 400, 0, 700, 700, 100),
                                         counts(800, 400, 0, 701, 700, 101),
                                         counts(800, 400, 50, 49, 1, 1),
                                         counts(800, 400, 50, 50, 1, 1),
                                         counts(0, 400, 0, 0, 1, 1),
                                         counts(1, 0, 0, 0, 1, 0),
                                         counts(0xffffffff, 0xffffffff, 1, 1, 1, 1),
                                         counts(0x100000000, 400, 0, 0, 0, 0),
                                         counts(800, 400, 0x100000000, 0, 0, 0),
                                         counts(8, 4, 0, 0, 0x100000000, 0),
                                         counts(16000, 2000, 0, 0, 0, 0),
                                         counts(16000001, 2000000, 0, 0, 0, 0),
                                         counts(3, 2, 0, 0, 1, 0)};
    for (size_t i = 0; i < COUNT(all); i++) {
        fprintf(out, "counts %zu: %u kHz level %u stall %u |", i, profile_khz(&all[i], 2000000), profile_level(&all[i]),
                profile_stall(&all[i]));
        for (unsigned k = 0; k < PROFILE_COUNTERS && i == 3; k++) {
            struct profile_counts d = all[i];
            d.missing = 1u << k;
            fprintf(out, " without %u: %u %u %u", k, profile_khz(&d, 2000000), profile_level(&d), profile_stall(&d));
        }
        fputc('\n', out);
    }
}

static void write_bins(FILE *out)
{
    static const struct profile_setup s = {.n_bins = 4,
                                           .bin = {{2, {3700000, 3600000, 3500000}},
                                                   {4, {3500000, 3400000, 0}},
                                                   {8, {3480000, 3100000, 2400000}},
                                                   {16, {2800000, 0, 0}}}};
    static const uint32_t khz[] = {2687999, 2688000, 2700000, 2800000, 3139999, 3140000,  3455000,  3490000,
                                   3525500, 3530000, 3600000, 3848000, 3848001, 16000000, 16000001, 0};
    for (unsigned level = 0; level < 4; level++)
        for (size_t i = 0; i < COUNT(khz); i++) {
            fprintf(out, "level %u, %u kHz:", level, khz[i]);
            for (unsigned active = 0; active < 18; active += active == 0 ? 2 : active < 4 ? 1 : 4) {
                bool limited;
                uint32_t bin = profile_find_bin(&s, level, khz[i], active, &limited);
                fprintf(out, " %d%s", (int)bin, limited ? "l" : "");
            }
            fputc('\n', out);
        }
    for (unsigned bin = 0; bin < 5; bin++)
        fprintf(out, "bin %u: %u %u %u %u\n", bin, profile_table_khz(&s, bin, 0), profile_table_khz(&s, bin, 1),
                profile_table_khz(&s, bin, 2), profile_table_khz(&s, bin, 3));
}

static void write_speeds(FILE *out)
{
    static const uint32_t khz[] = {0, 800000, 1900000, 2800000, 16000000, 16000001},
                          stall[] = {0, 1, 0x4000, 0xffff, 0x10000, 0x10001};
    for (size_t a = 0; a < COUNT(khz); a++)
        for (size_t b = 0; b < COUNT(khz); b++) {
            fprintf(out, "from %u to %u:", khz[a], khz[b]);
            for (size_t i = 0; i < COUNT(stall); i++)
                fprintf(out, " %u/%u", profile_speedup(khz[a], khz[b], stall[i]),
                        profile_stall_at(stall[i], khz[a], khz[b]));
            fputc('\n', out);
        }
}

static void write_setups(FILE *out)
{
    static const struct profile_setup good = {.seed = 7,
                                              .mean_us = 20000,
                                              .pause_us = 700,
                                              .window_us = 70,
                                              .ref_khz = 2100000,
                                              .n_bins = 2,
                                              .bin = {{2, {3, 2, 1}}, {4, {3, 2, 1}}}};
    static const uint32_t values[] = {0,   1,    19,   20,   49,   50,   64,       65,       200,      201,
                                      999, 1000, 1500, 1501, 3999, 4000, 10000000, 10000001, 16000000, 16000001};
    for (size_t i = 0; i < COUNT(values); i++) {
        struct profile_setup s[9];
        for (size_t k = 0; k < COUNT(s); k++)
            s[k] = good;
        s[0].mean_us = values[i];
        s[0].pause_us = 50;
        s[1].pause_us = values[i];
        s[2].window_us = values[i];
        s[3].ref_khz = values[i];
        s[4].ref_khz = values[i];
        s[4].flags = PROFILE_REHEARSAL;
        s[5].flags = values[i];
        s[6].n_bins = values[i] < 64 ? values[i] : 65;
        s[7].bin[1].khz[2] = values[i];
        s[8].bin[1].cores = values[i];
        fprintf(out, "setup %u:", values[i]);
        for (size_t k = 0; k < COUNT(s); k++)
            fprintf(out, " %d", profile_setup_valid(&s[k], 1));
        fprintf(out, " | %u %u %u |", profile_duty_ppm(&s[0], 0), profile_duty_ppm(&s[0], 1),
                profile_duty_ppm(&s[1], 3));
        fprintf(out, " %llu\n", (unsigned long long)profile_interval_ns(&s[0], values[i]));
    }
}

/* ---- names, sizes, clocks ---- */

static void write_codes(FILE *out)
{
    static const char *const texts[] = {"0x28:0x07",
                                        "1:2",
                                        "0xff:0xff",
                                        "0x100:0",
                                        "0xfff:0",
                                        "0x1000:0",
                                        "1:256",
                                        "1:0x100",
                                        "1",
                                        ":1",
                                        "1:",
                                        "x:1",
                                        "1:y",
                                        "1:2:cmask=1",
                                        "1:2:cmask=255",
                                        "1:2:cmask=256",
                                        "1:2:cmask=0",
                                        "1:2:cmask=",
                                        "1:2:inv",
                                        "1:2:inv:cmask=3",
                                        "1:2:cmask=3:inv:edge",
                                        "1:2:edge",
                                        "1:2:edge:edge",
                                        "1:2:any",
                                        "1:2:edges",
                                        "123456789:1",
                                        "00000001:00000002",
                                        "0x00000028:1",
                                        "0X1:0XA",
                                        "1:2:",
                                        "1:2:cmask=0x10:edge",
                                        "1x:2"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        uint64_t code = 0;
        char text[60] = "", column[EVENT_COLUMN_MAX] = "";
        const char *wrong = event_code_parse(texts[i], &code);
        if (!wrong) {
            event_code_format(code, text, sizeof text);
            event_code_column(code, column);
        }
        fprintf(out, "event '%s': %" PRIx64 " %s %s%s\n", texts[i], wrong ? 0 : code, text, column, wrong ? wrong : "");
    }
}

static void write_caches(FILE *out)
{
    static const struct cpuid_regs leaves[] = {{0x1c004121, 0x02c0003f, 0x3f, 0},
                                               {0x1c004122, 0x01c0003f, 0x3f, 0},
                                               {0x1c004143, 0x03c0003f, 0x3ff, 0},
                                               {0x1c03c163, 0x0280003f, 0x7fff, 4},
                                               {0x3c07c163, 0x02c0003f, 0xffff, 4},
                                               {0, 0, 0, 0},
                                               {0x124, 0x01c0103f, 1, 0}};
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct cpu_caches c = {0};
        for (size_t i = 0; i < COUNT(leaves); i++) {
            bool more = cpu_caches_decode(&leaves[i], threads, &c);
            fprintf(out, "cache %zu of %u threads: %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, threads,
                    more, c.l1, c.l2, c.l3, c.share);
        }
    }
}

static void write_interference(FILE *out)
{
    static const unsigned mib[] = {0, 3, 4, 7, 8, 15, 16, 255, 256, 500, 4096};
    char root[FOLDER_PATH_MAX], text[80];
    struct cpu_view v = {.allowed = {{{{0}}}}};
    cpu_mask_parse("0-3", &v.present);
    v.online = v.present;
    cpu_mask_parse("0-2", &v.allowed);
    folder_make(root);
    folder_put_line(root, "devices/system/cpu/cpu1/cache/index2/size", "8M");
    folder_put_line(root, "devices/system/cpu/cpu1/cache/index3/size", "1024K");
    folder_put_line(root, "devices/system/cpu/cpu1/topology/thread_siblings_list", "1-2");
    folder_put_line(root, "devices/system/cpu/cpu2/topology/thread_siblings_list", "1-2");
    for (size_t i = 0; i < COUNT(mib); i++)
        for (unsigned limit = 0; limit < 2; limit++) {
            snprintf(text, sizeof text, "MemTotal: 1 kB\nMemAvailable: %u kB", mib[i] * 1024);
            folder_put_line(root, "meminfo", text);
            if (limit) {
                folder_put_line(root, "fs/cgroup/memory.max", "104857600");
                folder_put_line(root, "fs/cgroup/memory.current", "37748736");
            }
            for (int kind = INTERFERENCE_MAKE; kind < INTERFERENCES; kind++)
                for (int cpu = 1; cpu < (mib[i] < 4096 ? 2 : 3); cpu++) {
                    struct interference_plan p;
                    struct machine_error err;
                    int status = interference_plan_for((enum interference)kind, &v, root, root, cpu, &p, &err);
                    interference_plan_text(&p, text, sizeof text);
                    if (status == MACHINE_OK)
                        fprintf(out, "%u MiB, %u: %s, %u of %zu\n", mib[i], limit, text, p.processes, p.bytes);
                    else
                        fprintf(out, "%u MiB, %u: %s\n", mib[i], limit, err.text);
                }
            folder_remove((snprintf(text, sizeof text, "%s/fs", root), text));
        }
    folder_remove(root);
}

static void write_clocks(FILE *out)
{
    static const uint32_t words[] = {0, 1, 88, 24000000};
    static const double off[] = {0, 9.99e-4, 1.001e-3, -9.99e-4, -1.001e-3};
    for (size_t i = 0; i < COUNT(words); i++)
        for (size_t k = 0; k < COUNT(words); k++) {
            struct cpu_leaves l = {.basic = {0x20, 0x756e6547, 0x6c65746e, 0x49656e69},
                                   .version = {0x000906ea, 0, 0, 0}};
            const char *crystal, *base;
            l.tsc = (struct cpuid_regs){2, 176, words[i], 0};
            double by_crystal = tsc_declared_hz(&l, &crystal);
            l.tsc = (struct cpuid_regs){words[i], words[k], 0, 0};
            l.frequency = (struct cpuid_regs){2100, 0, 0, 0};
            double by_base = tsc_declared_hz(&l, &base);
            fprintf(out, "declared %u %u: %.3f %s, %.3f %s\n", words[i], words[k], by_crystal, crystal, by_base, base);
        }
    for (size_t i = 0; i < COUNT(off); i++) {
        struct tsc_rate r;
        tsc_decide(2e9, "here", 2e9 * (1 + off[i]), 1e-5, &r);
        fprintf(out, "off by %g: %.3f +- %.9g %s; %s\n", off[i], r.hz, r.error, r.origin, r.note);
    }
}

TEST(figures)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    write_parts(out);
    write_contradictions(out);
    write_limits(out);
    write_turbo(out);
    write_bits(out);
    write_counts(out);
    write_bins(out);
    write_speeds(out);
    write_setups(out);
    write_codes(out);
    write_caches(out);
    write_interference(out);
    write_clocks(out);
    golden_expect(&g, "machine/figures", "txt", false);
}
