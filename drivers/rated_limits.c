/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the rated frequencies of a processor from Speed Select and registers. */
#include "drivers/rated_limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "computer/msr/msr_decode.h"
#include "util/text_list.h"

const char *const rated_class_names[RATED_CLASSES] = {"non-AVX", "AVX2", "AVX-512", "AVX-512 heavy", "AMX"};

const char *rated_base_name(size_t i)
{
    static const char *const names[RATED_BASES] = {"non-AVX", "AVX2", "AVX-512", "AMX"};

    return i < RATED_BASES ? names[i] : "";
}

void rated_text(const struct rated_table *t, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < t->n; i++)
        text_list_add(out, size, ", ", "%u-%u: %.1f", t->rows[i].first_cores, t->rows[i].last_cores, t->rows[i].ghz);
}

static void put_why(const struct machine_error *err, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", err->text, err->remedy[0] != '\0' ? "; " : "", err->remedy);
}

/* Reads the `n` registers of a table from `first` on. */
static bool read_ratios(struct machine *m, const struct msr_part *part, uint32_t first, size_t n, uint64_t value[3],
                        struct machine_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct machine_error missing;
        if (m->ops->read_register(m, first + (uint32_t)i, &value[i], &missing) == MACHINE_OK)
            continue;
        value[i] = 0;
        if (msr_turbo_requires(part, i)) {
            *err = missing;
            return false;
        }
    }
    return true;
}

/* Code without AVX: 1ADH and what belongs to it. */
static void read_turbo(struct machine *m, const struct msr_part *part, struct rated_limits *out)
{
    struct machine_error err = {.text = "this machine reads no registers"};
    uint64_t value[3] = {0, 0, 0};
    size_t n = msr_turbo_registers(part);

    if (n == 0)
        machine_fail(&err, MACHINE_CANNOT, "", "the registers that hold them are not known for this processor");
    if (n > 0 && m->ops->read_register != NULL && read_ratios(m, part, MSR_TURBO_RATIOS, n, value, &err)) {
        out->tables[0].n = msr_turbo_limits(part, value, out->tables[0].rows);
        machine_fail(&err, MACHINE_CANNOT, "", "the registers hold none");
    }
    if (out->tables[0].n == 0) {
        put_why(&err, out->why, sizeof out->why);
        return;
    }
    snprintf(out->source, sizeof out->source, value[1] != 0 ? "MSR 1ADH and 1AEH" : "MSR 1ADH");
    snprintf(out->tables[0].name, sizeof out->tables[0].name, "%s", rated_base_name(0));
}

static void read_small(struct machine *m, const struct msr_part *part, struct rated_limits *out)
{
    struct machine_error ignored;
    uint64_t value[3];

    if (msr_is_hybrid(part) && m->ops->read_register != NULL &&
        read_ratios(m, part, MSR_SECONDARY_TURBO_RATIOS, 2, value, &ignored)) {
        out->small.n = msr_turbo_limits(part, value, out->small.rows);
        snprintf(out->small.name, sizeof out->small.name, "E cores");
    }
}

static void read_config_tdp(struct machine *m, const struct msr_part *part, struct rated_limits *out)
{
    static const uint32_t registers[] = {MSR_CONFIG_TDP_NOMINAL, MSR_CONFIG_TDP_LEVEL_1, MSR_CONFIG_TDP_LEVEL_2};
    struct msr_platform platform;
    struct machine_error ignored;
    uint64_t value;

    if (!part->intel || m->ops->read_register == NULL ||
        m->ops->read_register(m, MSR_PLATFORM_INFO, &value, &ignored) != MACHINE_OK || !msr_platform(value, &platform))
        return;
    for (unsigned i = 0; platform.tdp_levels > 0 && i < 3 && i <= platform.tdp_levels; i++)
        if (m->ops->read_register(m, registers[i], &value, &ignored) == MACHINE_OK)
            msr_config_tdp_ghz(value, i, &out->config_tdp_ghz[i]);
}

void rated_read(struct machine *m, struct rated_limits *out)
{
    struct machine_info info;
    struct machine_error err = {.text = "this machine has no access to Speed Select"};

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < RATED_BASES; i++)
        out->base_ghz[i] = NAN;
    for (size_t i = 0; i < 3; i++)
        out->config_tdp_ghz[i] = NAN;
    m->ops->info(m, &info);
    const struct msr_part part = {.intel = info.intel, .family = info.family, .model = info.model};
    if (m->ops->speed_select == NULL || m->ops->speed_select(m, out, &err) != MACHINE_OK)
        put_why(&err, out->why_classes, sizeof out->why_classes);
    if (out->tables[0].n == 0)
        read_turbo(m, &part, out);
    read_small(m, &part, out);
    read_config_tdp(m, &part, out);
}
