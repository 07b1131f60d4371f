/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and numbers as workload files and options have them; apart from the simulator, for who only reads options. */
#include "schedulers/simulate/workload/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/simulate.h"
#include "schedulers/simulate/workload.h"

const char *const sim_policy_names[SIM_POLICIES] = {"stock", "timeout", "oracle", "software", "learned", "never"};
const char *const sim_scheduler_names[SIM_SCHEDULERS] = {"recorded", "fair",       "fair-subtract",    "fair-attribute",
                                                         "core",     "specialize", "specialize-always"};
const char *const sim_class_names[SIM_CLASSES] = {"none", "256light", "256heavy", "512light", "512heavy"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* more: further decimals are rounded, halves up; else refused. */
static bool read_decimal(const char *text, unsigned decimals, bool more, int64_t *out)
{
    const int64_t most = SIM_VALUE_MOST;
    int64_t value = 0;
    unsigned digits = 0;
    for (; is_digit(*text); text++, digits++) {
        if (value > most / 10)
            return false;
        value = 10 * value + (*text - '0');
    }
    unsigned places = 0;
    bool up = false;
    if (*text == '.')
        for (text++; is_digit(*text); text++, places++, digits++) {
            if (places == decimals && more)
                up = *text >= '5';
            if (places >= decimals && more)
                continue;
            if (places == decimals || value > most / 10)
                return false;
            value = 10 * value + (*text - '0');
        }
    for (; places < decimals; places++) {
        if (value > most / 10)
            return false;
        value *= 10;
    }
    *out = value + up;
    return !*text && digits && *out <= most;
}

bool sim_value_decimal(const char *text, unsigned decimals, int64_t *out)
{
    return read_decimal(text, decimals, false, out);
}

bool sim_value_rounded(const char *text, unsigned decimals, int64_t *out)
{
    static const double exact = 9e15; /* whole numbers up to here are doubles */
    char *end;
    if (strpbrk(text, "eE") == NULL)
        return read_decimal(text, decimals, true, out);
    if (!is_digit(*text) || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    double value = floor(strtod(text, &end) * pow(10, decimals) + 0.5);
    if (*end != '\0' || !(value <= exact))
        return false;
    *out = (int64_t)value;
    return true;
}

bool sim_value_number(const char *text, uint32_t most, uint32_t *out)
{
    int64_t value;
    if (!is_digit(*text) || !sim_value_decimal(text, 0, &value) || strchr(text, '.') || value > most)
        return false;
    *out = (uint32_t)value;
    return true;
}

bool sim_parse_recorded(const char *text, uint32_t *recorded)
{
    const int64_t least = 100 * SIM_UNITS_PER_MHZ, most = 16000 * SIM_UNITS_PER_MHZ;
    int64_t value;
    if (!sim_value_decimal(text, 4, &value) || value < least || value > most)
        return false;
    *recorded = (uint32_t)value;
    return true;
}

bool sim_parse_active_cores(const char *text, unsigned *cores)
{
    return sim_value_number(text, SIM_CORES_MAX, cores) && *cores;
}

bool sim_parse_class(const char *text, enum sim_class *out)
{
    for (int c = 0; c < SIM_CLASSES; c++)
        if (!strcmp(text, sim_class_names[c])) {
            *out = (enum sim_class)c;
            return true;
        }
    return false;
}
