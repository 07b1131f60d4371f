/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is told of the cores of made computers: kinds, labels, which CPU is measured, which others become active for
 * what is wished, and why not; caches; and what counts of license levels are taken for. Held in
 * tests/golden/machine/cores.txt, which `make golden` rewrites.
 */
#include <inttypes.h>
#include <unistd.h>

#include "computer/cpu/caches.h"
#include "computer/cpu/cpu.h"
#include "drivers/active_cores.h"
#include "drivers/machine.h"
#include "drivers/perf/perf.h"
#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- computers ---- */

enum { CPUS_MOST = 12 };
struct computer {
    const char *name, *online, *allowed, *big, *atom; /* lists of CPUs */
    unsigned n;
    /* of each CPU, one character; a number, or - where the file is not there */
    const char *core, *package, *die, *reach, *frequency;
};
static const struct computer computers[] = {
    {"alike", "0-3", "0-3", "", "", 4, "0123", "0000", "0000", "7777", "3333"},
    {"two threads", "0-7", "0-6", "", "", 8, "01230123", "00000000", "--------", "--------", "--------"},
    {"two packages", "0-7", "0-7", "", "", 8, "01234567", "00001111", "00110011", "77777777", "--------"},
    {"favoured", "0-5", "1-5", "", "", 6, "012345", "000111", "000000", "787557", "------"},
    {"by frequency", "0-5", "0-5", "", "", 6, "012345", "000000", "000000", "0-0-00", "343344"},
    {"hybrid", "0-9", "0-9", "0-3", "4-7", 10, "0011456789", "0000000000", "0000000000", "9988444411", "----------"},
    {"offline", "0,2-3,5", "0,3-5", "", "", 6, "001122", "000000", "000111", "777777", "------"},
    {"one", "2", "2", "", "", 3, "012", "000", "000", "123", "---"},
    {"none", "0-1", "", "", "", 2, "01", "00", "00", "77", "--"},
};

static void put_digit(const char *root, const char *values, unsigned cpu, const char *name)
{
    char path[120], text[4];
    if (values[cpu] == '-')
        return;
    snprintf(path, sizeof path, "devices/system/cpu/cpu%u/%s", cpu, name);
    snprintf(text, sizeof text, "%c", values[cpu]);
    folder_put_line(root, path, text);
}

static void build(const char *root, const struct computer *c)
{
    for (unsigned cpu = 0; cpu < c->n; cpu++) {
        char path[120], siblings[60] = "";
        for (unsigned other = 0; other < c->n; other++)
            if (c->core[other] == c->core[cpu])
                snprintf(siblings + strlen(siblings), sizeof siblings - strlen(siblings), "%s%u",
                         siblings[0] ? "," : "", other);
        snprintf(path, sizeof path, "devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
        folder_put_line(root, path, siblings);
        put_digit(root, c->package, cpu, "topology/physical_package_id");
        put_digit(root, c->die, cpu, "topology/die_id");
        put_digit(root, c->reach, cpu, "acpi_cppc/highest_perf");
        put_digit(root, c->frequency, cpu, "cpufreq/cpuinfo_max_freq");
    }
    if (c->big[0]) {
        folder_put_line(root, "devices/cpu_core/cpus", c->big);
        folder_put_line(root, "devices/cpu_atom/cpus", c->atom);
    }
}

static void view_of(const struct computer *c, struct cpu_view *v)
{
    memset(v, 0, sizeof *v);
    for (unsigned cpu = 0; cpu < c->n; cpu++)
        cpu_mask_add(&v->present, (int)cpu);
    cpu_mask_parse(c->online, &v->online);
    cpu_mask_parse(c->allowed, &v->allowed);
    cpu_mask_parse(c->big, &v->big);
}

/* ---- what is told of them ---- */

static void write_labels(FILE *out, const char *what, const struct core_kind *kinds, size_t n)
{
    fprintf(out, "  %s:", what);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %d '%s'", kinds[i].cpu, kinds[i].label);
    fputc('\n', out);
}

static void write_choice(FILE *out, const char *root, const struct cpu_view *v, int wanted)
{
    struct machine_error err;
    int cpu = -1;
    if (cpu_choose(v, wanted, &cpu, &err) == MACHINE_OK)
        fprintf(out, "  measured %d: CPU %d, core %d '%s'\n", wanted, cpu, cpu_core_of(root, cpu),
                cpu_core_class(root, cpu));
    else
        fprintf(out, "  measured %d: %s; %s\n", wanted, err.text, err.remedy);
}

struct wish {
    unsigned active;
    bool siblings;
    size_t n;
    int cpus[4];
};

static void write_corunners(FILE *out, const char *root, const struct cpu_view *v, int cpu, const struct wish *w)
{
    struct machine_setup s = {.cpu = cpu, .active_cores = w->active, .siblings = w->siblings};
    struct machine_error err;
    struct cpu_corunners c;
    int measured;
    s.n_cpus = w->n;
    s.cpus = w->n ? w->cpus : NULL;
    fprintf(out, "  %u active%s", w->active, w->siblings ? " with siblings" : "");
    for (size_t i = 0; i < w->n; i++)
        fprintf(out, " %d", w->cpus[i]);
    int status = cpu_choose_measured(v, &s, &measured, &err);
    if (status == MACHINE_OK)
        status = cpu_pick_corunners(root, v, measured, &s, &c, &err);
    if (status != MACHINE_OK) {
        fprintf(out, ": %.60s; %.45s\n", err.text, err.remedy);
        return;
    }
    fprintf(out, ": %d and", measured);
    for (size_t i = 0; i < c.n; i++)
        fprintf(out, " %d", c.cpus[i]);
    fprintf(out, "; %u active, %u %u near, %u of %u\n", c.active, c.in_package, c.in_die, c.available, c.cores);
    free(c.cpus);
}

static void write_computer(FILE *out, const struct computer *c)
{
    static const struct wish wishes[] = {{0, false, 0, {0}},      {1, false, 0, {0}},       {2, false, 0, {0}},
                                         {3, true, 0, {0}},       {0, true, 0, {0}},        {99, false, 0, {0}},
                                         {0, false, 2, {2, 0}},   {2, false, 3, {1, 0, 3}}, {4, false, 3, {1, 0, 3}},
                                         {0, true, 3, {0, 4, 2}}, {0, false, 3, {0, 4, 2}}, {0, false, 2, {3, 3}},
                                         {0, false, 2, {3, 88}},  {0, false, 2, {-3, 3}},   {0, false, 2, {3, -2}}};
    char root[FOLDER_PATH_MAX];
    struct cpu_view v;
    struct core_kind kinds[CPUS_MOST];
    folder_make(root);
    build(root, c);
    view_of(c, &v);
    fprintf(out, "\n%s\n", c->name);
    write_labels(out, "kinds", kinds, cpu_core_kinds(root, &v, false, kinds, CPUS_MOST));
    write_labels(out, "cores", kinds, cpu_core_kinds(root, &v, true, kinds, CPUS_MOST));
    write_labels(out, "one kind", kinds, cpu_core_kinds(root, &v, false, kinds, 1));
    write_labels(out, "two cores", kinds, cpu_core_kinds(root, &v, true, kinds, 2));
    for (int wanted = -1; wanted < 3; wanted++)
        write_choice(out, root, &v, wanted);
    write_choice(out, root, &v, (int)c->n);
    for (size_t i = 0; i < COUNT(wishes); i++)
        write_corunners(out, root, &v, -1, &wishes[i]);
    write_corunners(out, root, &v, 0, &wishes[7]);
    write_corunners(out, root, &v, 2, &wishes[0]);
    folder_remove(root);
}

/* ---- caches ---- */

static void write_caches(FILE *out)
{
    static const struct {
        const char *level, *type, *size, *shared;
    } all[][4] = {{{"1", "Data", "48K", "0,4"},
                   {"1", "Instruction", "32K", "0,4"},
                   {"2", "Unified", "2M", "0,4"},
                   {"3", "Unified", "32M", "0-7"}},
                  {{"1", "Data", "32K", "0"},
                   {"2", "Unified", "1048576", "0-3"},
                   {"3", "Unified", "1G", "x"},
                   {"4", "Unified", "5K", "0"}},
                  {{"0", "Data", "1K", "0"},
                   {"1", "Data", "K", "0"},
                   {"2", "Data", "18014398509481983K", "0"},
                   {"3", "Unified", "9007199254740991K", "0-2"}}};
    char path[80], root[FOLDER_PATH_MAX];
    for (size_t i = 0; i < COUNT(all); i++) {
        struct cpu_caches c;
        folder_make(root);
        folder_put(root, "meminfo",
                   i == 0   ? "MemTotal: 9 kB\nMemAvailable: 77 kB\nMemFree: 1 kB\n"
                   : i == 1 ? "x"
                            : "MemAvailable: 9007199254740992 kB");
        for (size_t k = 0; k < 4; k++) {
            const char *const files[][2] = {{"level", all[i][k].level},
                                            {"type", all[i][k].type},
                                            {"size", all[i][k].size},
                                            {"shared_cpu_list", all[i][k].shared}};
            for (size_t f = 0; f < COUNT(files); f++) {
                snprintf(path, sizeof path, "devices/system/cpu/cpu0/cache/index%zu/%s", k, files[f][0]);
                folder_put_line(root, path, files[f][1]);
            }
        }
        cpu_caches_read(root, root, 0, &c);
        fprintf(out, "caches %zu: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", memory %" PRIu64 "\n", i, c.l1, c.l2,
                c.l3, c.share, c.memory);
        folder_remove(root);
    }
}

/* ---- license levels ---- */

static void write_verdict(FILE *out, const struct perf_license_counts *c, const int *levels)
{
    struct perf_license_verdict v;
    perf_license_judge(c, levels, &v);
    fprintf(out, ": %s", v.why[0]);
    for (int i = 1; i < EVENTS_LICENSES; i++)
        fprintf(out, " | %s", v.why[i][0] && strcmp(v.why[i], v.why[0]) == 0 ? "likewise" : v.why[i]);
    fputc('\n', out);
}

static void write_verdicts(FILE *out)
{
    static const struct perf_license_counts good = {.ran = {true, true, true},
                                                    .cycles = {20000, 20000, 20000},
                                                    .level = {{20000, 0, 0}, {0, 20000, 0}, {0, 0, 20000}},
                                                    .has_throttle = true,
                                                    .throttle = {0, 20000, 0}};
    static const int levels[] = {0, 1, 2}, others[] = {0, 0, 1};
    static const uint64_t cycles[] = {9999,  10000, 18999, 19000, 19001, 20000,
                                      20999, 21000, 21001, 22222, 22223, COUNTER_MISSING};
    for (size_t i = 0; i < COUNT(cycles); i++) {
        struct perf_license_counts c[4] = {good, good, good, good};
        c[0].level[1][1] = cycles[i];
        c[1].cycles[1] = cycles[i];
        c[2].level[2][2] = 18000 - (cycles[i] & 1);
        c[2].level[2][1] = cycles[i] - 18000 < 4000 ? cycles[i] - 18000 : 2000;
        c[3].throttle[1] = cycles[i];
        for (unsigned k = 0; k < COUNT(c); k++) {
            fprintf(out, "levels %" PRId64 ".%u", (int64_t)cycles[i], k);
            write_verdict(out, &c[k], k == 2 ? NULL : levels);
        }
    }
    for (unsigned k = 0; k < 7; k++) {
        struct perf_license_counts c = good;
        c.ran[2] = k != 0 && k != 1;
        c.ran[1] = k != 1;
        c.has_throttle = k != 3 && k != 4;
        snprintf(c.throttle_why, sizeof c.throttle_why, "%s", k == 4 ? "no room" : "");
        if (k == 5)
            c.throttle[1] = 0;
        if (k == 6)
            memcpy(c.level[2], c.level[1], sizeof c.level[2]);
        fprintf(out, "kernels %u", k);
        write_verdict(out, &c, k == 2 ? others : k == 6 ? NULL : levels);
    }
    for (int watchdog = -1; watchdog < 2; watchdog++)
        fprintf(out, "watchdog %d: %s | %s\n", watchdog, perf_room_to_free(watchdog), perf_room_remedy(watchdog));
}

TEST(cores)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < COUNT(computers); i++)
        write_computer(out, &computers[i]);
    write_caches(out);
    write_verdicts(out);
    golden_expect(&g, "machine/cores", "txt", false);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* what is opened may have descriptor 0, which is as good as any */
}
