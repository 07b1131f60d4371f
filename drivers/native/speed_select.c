/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rated frequencies of each class of code through Intel Speed Select, by either of its protocols. */
#include "drivers/native/speed_select.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "computer/msr/msr_decode.h"

#define RATIO_GHZ 0.1
#define DEVICE "isst_interface"

/* ---- the device ---- */

static int device_ask(struct speed_select *d, unsigned long request, void *argument)
{
    return TEMP_FAILURE_RETRY(ioctl(d->fd, request, argument)) < 0 ? errno : 0;
}

static void device_close(struct speed_select *d)
{
    close(d->fd);
    d->fd = -1;
}

int speed_select_open(const char *dev, struct speed_select *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", dev, DEVICE);
    *out = (struct speed_select){.fd = open(path, O_RDONLY | O_CLOEXEC), .ask = device_ask, .close = device_close};
    return out->fd < 0 ? errno : 0;
}

int speed_select_refuse(const char *dev, int error, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT,
                        error == EACCES || error == EPERM
                            ? "run as root"
                            : "on Xeons since Ice Lake: modprobe isst_if_mbox_pci, isst_if_mbox_msr or isst_tpmi",
                        "%s/%s cannot be opened: %s", dev, DEVICE, strerror(error));
}

static int failed(const char *what, int error, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT, "", "Speed Select does not report %s: %s", what, strerror(error));
}

/* ---- common to both protocols ---- */

/* Buckets end with the first that has no frequency or no more cores than the one before. Levels are called as `names`
 * has them, those after by number. */
static void fill_table(struct rated_table *t, const double ghz[ISST_BUCKETS], const unsigned cores[ISST_BUCKETS],
                       size_t level, const char *const *names, size_t n_names)
{
    unsigned before = 0;

    t->n = 0;
    for (size_t i = 0; i < ISST_BUCKETS && ghz[i] > 0 && cores[i] > before; i++) {
        t->rows[t->n++] = (struct msr_turbo_row){before + 1, cores[i], ghz[i]};
        before = cores[i];
    }
    if (level < n_names)
        snprintf(t->name, sizeof t->name, "%s", names[level]);
    else
        snprintf(t->name, sizeof t->name, "level %zu", level);
}

/* ---- the mailbox ---- */

static int ask_mailbox(struct speed_select *d, int cpu, unsigned sub_command, uint32_t request, uint32_t *response)
{
    struct isst_mailbox box = {.count = 1,
                               .logical_cpu = (uint32_t)cpu,
                               .request = request,
                               .command = ISST_CONFIG_TDP,
                               .sub_command = (uint16_t)sub_command};
    int error = d->ask(d, ISST_MAILBOX, &box);

    *response = box.response;
    return error;
}

/* Eight bytes, one for each bucket: four to a response, the second four with bit 8 in the request. */
static int mailbox_bytes(struct speed_select *d, int cpu, unsigned sub_command, unsigned level, unsigned class,
                         unsigned out[ISST_BUCKETS])
{
    for (unsigned half = 0; half < 2; half++) {
        uint32_t response;
        int error = ask_mailbox(d, cpu, sub_command, level | half << 8 | class << 16, &response);
        if (error != 0)
            return error;
        for (unsigned i = 0; i < 4; i++)
            out[4 * half + i] = response >> (8 * i) & 0xff;
    }
    return 0;
}

/* The limits of a class, by a command that gives ratios. */
static int mailbox_limits(struct speed_select *d, int cpu, unsigned sub_command, unsigned level, unsigned class,
                          double ghz[ISST_BUCKETS])
{
    unsigned ratios[ISST_BUCKETS];
    int error = mailbox_bytes(d, cpu, sub_command, level, class, ratios);

    for (unsigned i = 0; i < ISST_BUCKETS && error == 0; i++)
        ghz[i] = ratios[i] * RATIO_GHZ;
    return error;
}

/* Turbo by priority, after intel-speed-select, isst-core-mbox.c. What is not answered is left out. */
static void mailbox_priorities(struct speed_select *d, int cpu, unsigned level, size_t n, const char *const *names,
                               size_t n_names, struct rated_limits *out)
{
    unsigned cores[ISST_BUCKETS];
    double ghz[ISST_BUCKETS];
    uint32_t features, low;

    if (ask_mailbox(d, cpu, ISST_GET_FEATURES, level, &features) != 0 || !(features & ISST_MAILBOX_PRIORITY) ||
        mailbox_bytes(d, cpu, ISST_GET_HIGH_CORES, level, 0, cores) != 0 ||
        ask_mailbox(d, cpu, ISST_GET_LOW_RATIOS, level, &low) != 0)
        return;
    out->by_priority = features & ISST_MAILBOX_PRIORITY_ON;
    for (unsigned class = 0; class < n; class ++) {
        if (mailbox_limits(d, cpu, ISST_GET_HIGH_RATIOS, level, class, ghz) == 0)
            fill_table(&out->high[class], ghz, cores, class, names, n_names);
        out->low_ghz[class] = (low >> (8 * class) & 0xff) * RATIO_GHZ;
    }
}

static int read_mailbox(struct speed_select *d, const struct speed_select_cpu *c, struct rated_limits *out,
                        struct machine_error *err)
{
    enum { EMERALD_RAPIDS = 0xcf, CLASSES = 3 };
    /* intel-speed-select, isst-core-mbox.c, calls them sse, avx2 and avx512; on Emerald Rapids it numbers them */
    static const char *const names[CLASSES] = {"non-AVX", "AVX2", "AVX-512"};
    size_t n_names = c->model == EMERALD_RAPIDS ? 1 : CLASSES;
    struct isst_msr msr = {.count = 1, .logical_cpu = (uint32_t)c->cpu, .number = MSR_TURBO_RATIOS_1};
    unsigned cores[ISST_BUCKETS];
    double ghz[ISST_BUCKETS];
    uint32_t response;

    int error = ask_mailbox(d, c->cpu, ISST_GET_LEVELS, 0, &response);
    if (error != 0)
        return failed("its performance levels", error, err);
    unsigned level = response >> 16 & 0xff;
    error = d->ask(d, ISST_MSR, &msr);
    if (error != 0)
        return failed("the core counts of its turbo limits (1AEH)", error, err);
    for (unsigned i = 0; i < ISST_BUCKETS; i++)
        cores[i] = msr.value >> (8 * i) & 0xff;
    for (unsigned class = 0; class < CLASSES; class ++) {
        error = mailbox_limits(d, c->cpu, ISST_GET_TURBO_RATIOS, level, class, ghz);
        if (error != 0 && class == 0)
            return failed("its turbo limits", error, err);
        if (error == 0)
            fill_table(&out->tables[class], ghz, cores, class, names, n_names);
    }
    mailbox_priorities(d, c->cpu, level, CLASSES, names, n_names, out);
    if (ask_mailbox(d, c->cpu, ISST_GET_BASES, level, &response) == 0) {
        for (unsigned i = 0; i < RATED_BASES; i++) {
            unsigned ratio = response >> (8 * i) & 0xff;
            out->base_ghz[i] = ratio != 0 ? ratio * RATIO_GHZ : (double)NAN;
        }
    }
    snprintf(out->source, sizeof out->source, "Speed Select mailbox, performance level %u; core counts from 1AEH",
             level);
    return MACHINE_OK;
}

/* ---- TPMI ---- */

/* The die of a CPU: bits 15:11 of the processor's own number for it (register 54H). */
static int domain_of(struct speed_select *d, int cpu, unsigned *domain)
{
    struct isst_cpu_maps map = {.count = 1, .logical_cpu = (uint32_t)cpu};
    int error = d->ask(d, ISST_CPU_MAP, &map);

    *domain = map.physical_cpu >> 11 & 0x1f;
    return error;
}

static unsigned count_dies(struct speed_select *d, const struct speed_select_cpu *c)
{
    uint32_t seen = 0;
    unsigned dies = 0;

    for (size_t i = 0; i < c->n_cpus; i++) {
        unsigned domain;
        if (domain_of(d, c->cpus[i], &domain) == 0 && (seen >> domain & 1) == 0) {
            seen |= UINT32_C(1) << domain;
            dies++;
        }
    }
    return dies > 0 ? dies : 1;
}

/*
 * Whether an answer is one: the numbers that the kernel gives, whole ratios, cores of a die, no clip above the limit of
 * a core of high priority. No header that all distributions have says how it is laid out; another layout fails here.
 */
static bool plausible(const struct isst_turbo_by_priority *t)
{
    if (t->clips > ISST_TURBO_LEVELS || t->turbo_levels > ISST_TURBO_LEVELS || t->buckets > ISST_BUCKETS ||
        t->clips == 0 || t->turbo_levels == 0 || t->buckets == 0)
        return false;
    for (unsigned level = 0; level < t->turbo_levels; level++) {
        if (t->low_mhz[level] % 100 != 0 || t->low_mhz[level] > t->high_mhz[level][0])
            return false;
        for (unsigned i = 0; i < t->buckets; i++)
            if (t->high_mhz[level][i] % 100 != 0 || t->bucket_cores[i] > 0xff)
                return false;
    }
    return true;
}

/* What is not answered is left out. */
static void tpmi_priorities(struct speed_select *d, const struct isst_levels *levels, unsigned dies, size_t n_names,
                            const char *const *names, struct rated_limits *out)
{
    struct isst_turbo_by_priority t = {.package = levels->package, .domain = levels->domain, .level = levels->current};
    unsigned cores[ISST_BUCKETS] = {0};
    double ghz[ISST_BUCKETS];

    if (!levels->turbo_supported || d->ask(d, ISST_TURBO_BY_PRIORITY, &t) != 0 || !plausible(&t))
        return;
    out->by_priority = levels->features & ISST_PRIORITY_ON;
    for (unsigned i = 0; i < t.buckets; i++)
        cores[i] = t.bucket_cores[i] * dies;
    for (unsigned level = 0; level < t.turbo_levels; level++) {
        for (unsigned i = 0; i < ISST_BUCKETS; i++)
            ghz[i] = t.high_mhz[level][i] * 1e-3;
        fill_table(&out->high[level], ghz, cores, level, names, n_names);
        out->low_ghz[level] = level < t.clips ? t.low_mhz[level] * 1e-3 : 0;
    }
}

static int read_tpmi(struct speed_select *d, const struct speed_select_cpu *c, struct rated_limits *out,
                     struct machine_error *err)
{
    /*
     * The kernel and intel-speed-select number them. Intel's PerfSpect (scripts.go) reads Granite Rapids' limits of
     * these names at B0H, B8H, C0H and C8H, the numbers of cores at D8H. In the kernel the numbers of cores stand as
     * far after the limits of levels 1 to 4 (SST_PP_INFO_5 to 8, and 10): they are those levels.
     */
    const char *const *names = rated_class_names;
    bool granite_rapids = c->model == 0xad || c->model == 0xae;
    size_t n_names = granite_rapids ? RATED_CLASSES : 1;
    unsigned domain, cores[ISST_BUCKETS] = {0};
    double ghz[ISST_BUCKETS];

    int error = domain_of(d, c->cpu, &domain);
    if (error != 0)
        return failed("the die of the CPU", error, err);
    struct isst_levels levels = {.package = (uint8_t)c->package, .domain = (uint8_t)domain};
    error = d->ask(d, ISST_LEVELS, &levels);
    if (error != 0)
        return failed("its performance levels", error, err);
    struct isst_level_info info = {.package = (uint8_t)c->package, .domain = (uint8_t)domain, .level = levels.current};
    error = d->ask(d, ISST_LEVEL_INFO, &info);
    if (error != 0)
        return failed("its turbo limits", error, err);
    unsigned dies = count_dies(d, c);
    for (unsigned i = 0; i < ISST_BUCKETS && i < info.buckets; i++)
        cores[i] = info.bucket_cores[i] * dies;
    for (unsigned level = 0; level < ISST_TURBO_LEVELS && level < info.turbo_levels; level++) {
        for (unsigned i = 0; i < ISST_BUCKETS; i++)
            ghz[i] = info.turbo_mhz[level][i] * 1e-3;
        fill_table(&out->tables[level], ghz, cores, level, names, n_names);
    }
    tpmi_priorities(d, &levels, dies, n_names, names, out);
    for (unsigned i = 0; i < RATED_BASES; i++)
        out->base_ghz[i] = info.base_mhz[i] != 0 ? info.base_mhz[i] * 1e-3 : (double)NAN;
    snprintf(out->source, sizeof out->source, "Speed Select (TPMI), performance level %u; cores per die times %u dies",
             info.level, dies);
    return MACHINE_OK;
}

int speed_select_read(struct speed_select *d, const struct speed_select_cpu *c, struct rated_limits *out,
                      struct machine_error *err)
{
    struct rated_limits read = *out;
    struct isst_platform platform = {0};

    int error = d->ask(d, ISST_PLATFORM, &platform);
    if (error != 0)
        return failed("its version", error, err);
    int status = platform.api_version >= 2 ? read_tpmi(d, c, &read, err) : read_mailbox(d, c, &read, err);
    if (status == MACHINE_OK && read.tables[0].n == 0)
        status = machine_fail(err, MACHINE_CANNOT, "", "Speed Select reports no turbo limits");
    if (status == MACHINE_OK)
        *out = read;
    return status;
}
