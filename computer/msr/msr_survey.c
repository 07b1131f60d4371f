/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "computer/msr/msr_survey.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/text_list.h"

static bool msr_survey_ask(struct msr_device *d, uint32_t reg, uint64_t *value, struct msr_survey *out)
{
    int error = d->read(d, reg, value);

    if (error == 0)
        out->answered++;
    else if (out->read_errno == 0)
        out->read_errno = error;
    return error == 0;
}

void msr_read_error_text(uint32_t reg, int cpu, int error, bool guest, char *out, size_t size)
{
    if (error == EIO) {
        snprintf(out, size, "register %XH of CPU %d cannot be read (EIO): %s", reg, cpu,
                 guest ? "the hypervisor does not expose it" : "this processor does not have it");
    } else {
        snprintf(out, size, "register %XH of CPU %d cannot be read: %s", reg, cpu, strerror(error));
    }
}

static void ask_volts(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    const char *why;
    uint64_t value;
    double volts;

    if (!p->intel) {
        snprintf(out->volts_why, sizeof out->volts_why, "no core-voltage register is known for this vendor");
    } else if (!msr_survey_ask(d, MSR_PERF_STATUS, &value, out)) {
        msr_read_error_text(MSR_PERF_STATUS, d->cpu, out->read_errno, false, out->volts_why, sizeof out->volts_why);
    } else if (!msr_volts(value, &volts, &why)) {
        snprintf(out->volts_why, sizeof out->volts_why, "%s", why);
    } else {
        out->volts = true;
        text_list_add(out->found, sizeof out->found, ", ", "core voltage %.3f V", volts);
    }
}

static void ask_turbo(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_turbo_row row[MSR_TURBO_ROWS_MAX];
    uint64_t value[3] = {0, 0, 0};
    size_t registers = msr_turbo_registers(p);

    for (size_t i = 0; i < registers; i++) {
        /* Haswell-EP with up to 8 cores may lack the others; without core counts the ratios mean nothing */
        if (!msr_survey_ask(d, MSR_TURBO_RATIOS + (uint32_t)i, &value[i], out) && (i == 0 || registers == 2))
            return;
    }
    size_t n = msr_turbo_limits(p, value, row);
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        while (last + 1 < n && row[last + 1].ghz == row[i].ghz)
            last++;
        if (row[i].first_cores == row[last].last_cores) {
            text_list_add(out->turbo, sizeof out->turbo, ", ", "%u: %.1f", row[i].first_cores, row[i].ghz);
        } else {
            text_list_add(out->turbo, sizeof out->turbo, ", ", "%u-%u: %.1f", row[i].first_cores, row[last].last_cores,
                          row[i].ghz);
        }
        i = last;
    }
    if (n > 0)
        text_list_add(out->found, sizeof out->found, ", ", "non-AVX turbo %.1f to %.1f GHz", row[0].ghz,
                      row[n - 1].ghz);
}

static void ask_clocks(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_platform platform;
    uint64_t value, other;
    double ghz;

    if (p->intel && msr_survey_ask(d, MSR_PLATFORM_INFO, &value, out) && msr_platform(value, &platform))
        text_list_add(out->found, sizeof out->found, ", ", "base %.1f GHz", platform.base_ghz);
    if (p->amd && msr_survey_ask(d, MSR_AMD_PSTATE_0, &value, out) && msr_amd_pstate_ghz(p, value, &ghz))
        text_list_add(out->found, sizeof out->found, ", ", "base %.2f GHz", ghz);
    if (msr_survey_ask(d, MSR_APERF, &value, out) && msr_survey_ask(d, MSR_MPERF, &other, out) && value != 0 &&
        other != 0)
        text_list_add(out->found, sizeof out->found, ", ", "APERF and MPERF");
}

static void ask_heat(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    struct msr_thermal thermal;
    uint64_t value, target;
    unsigned tjmax;
    uint32_t reg;
    char text[120];

    if (p->intel && msr_survey_ask(d, MSR_THERM_STATUS, &value, out) &&
        msr_survey_ask(d, MSR_TEMPERATURE_TARGET, &target, out)) {
        msr_thermal(value, &thermal);
        if (thermal.readout && msr_tjmax(target, &tjmax) && thermal.below <= tjmax)
            text_list_add(out->found, sizeof out->found, ", ", "%u C", tjmax - thermal.below);
        if (thermal.throttled)
            text_list_add(out->limits, sizeof out->limits, ", ", "temperature");
        if (thermal.power_limited)
            text_list_add(out->limits, sizeof out->limits, ", ", "power limit");
        if (thermal.current_limited)
            text_list_add(out->limits, sizeof out->limits, ", ", "current limit");
    }
    if (msr_limits_register(p, &reg) && msr_survey_ask(d, reg, &value, out) && (value & 0xffff) != 0) {
        msr_limits_text(p, value, text, sizeof text);
        text_list_add(out->limits, sizeof out->limits, ", ", "%s", text);
    }
    if (out->limits[0] != '\0')
        text_list_add(out->found, sizeof out->found, ", ", "frequency limited by: %s", out->limits);
}

static void ask_energy(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    uint32_t unit = p->amd ? MSR_AMD_RAPL_UNIT : MSR_RAPL_UNIT;
    uint32_t energy = p->amd ? MSR_AMD_PACKAGE_ENERGY : MSR_PACKAGE_ENERGY;
    uint64_t value;
    double joules;

    if ((p->intel || p->amd) && msr_survey_ask(d, unit, &value, out) && msr_energy_step(value, &joules) &&
        msr_survey_ask(d, energy, &value, out))
        text_list_add(out->found, sizeof out->found, ", ", "energy in steps of %.1f uJ", joules * 1e6);
}

void msr_survey(struct msr_device *d, const struct msr_part *p, struct msr_survey *out)
{
    memset(out, 0, sizeof *out);
    ask_volts(d, p, out);
    ask_clocks(d, p, out);
    ask_turbo(d, p, out);
    ask_heat(d, p, out);
    ask_energy(d, p, out);
}
