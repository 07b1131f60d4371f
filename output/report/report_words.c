/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report says in words: the sources, the names of columns. */
#include <ctype.h>
#include <string.h>

#include "output/report/report_parts.h"

static const struct report_source sources[] = {
    {'G', "M. Gottschlag, AVX Overhead Mitigation: OS Support for Power-Limited Systems, dissertation, Karlsruhe "
          "Institute of Technology, 2023"},
    {'F', "M. Gottschlag, P. Machauer, Y. Khalil, F. Bellosa, Fair Scheduling for AVX2 and AVX-512 Workloads, USENIX "
          "Annual Technical Conference, 2021"},
    {'K', "Y. Khalil, Analysis and Optimization of Dynamic Voltage and Frequency Scaling for AVX Workloads Using a "
          "Software-Based Reimplementation, slides, Karlsruhe Institute of Technology, 2019"},
    {'Z', "S. Kozak, Chasing Zero Variability in Software Performance, master's thesis, Massachusetts Institute of "
          "Technology, 2020"},
    {'D', "T. Downs, Gathering Intel on Intel AVX-512 Transitions, 2020"},
};

const struct report_source *report_sources(size_t *n)
{
    *n = sizeof sources / sizeof sources[0];
    return sources;
}

static bool report_words_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

bool report_cites(const char *text, char letter)
{
    for (const char *c = text; text && *c; c++) {
        if (*c != letter || (c > text && report_words_is_word(c[-1])) || report_words_is_word(c[1]))
            continue;
        bool section = c[1] == ' ' && isdigit((unsigned char)c[2]);
        if (section || c[1] == ')' || c[1] == ';' || c[1] == ',')
            return true;
    }
    return false;
}

static const char *const names[][2] = {
    {"cpu", "CPU"},
    {"active_cores", "active cores"},
    {"from_ghz", "frequency before"},
    {"to_ghz", "frequency after"},
    {"freq_ghz", "frequency"},
    {"down_us", "cost down"},
    {"up_us", "cost up"},
    {"breakeven_us", "break-even time"},
    {"ipc_ratio", "rate against full rate"},
    {"wait_us", "wait"},
    {"nj_per_op", "energy per operation"},
    {"watts", "power"},
    {"volts", "voltage"},
    {"time_us", "time"},
    {"n", "n"},
};

/* The ending of a column's name that repeats its unit. */
static size_t unit_ending(const char *name)
{
    static const char *const endings[] = {"_us", "_ms", "_s", "_ghz", "_mhz", "_nj", "_w", "_v", "_mv"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            return ending;
    }
    return 0;
}

void report_column_name(const struct table_column *c, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(c->name, names[i][0]) == 0) {
            snprintf(out, size, "%s", names[i][1]);
            return;
        }
    size_t length = strlen(c->name) - (c->unit && *c->unit ? unit_ending(c->name) : 0);
    snprintf(out, size, "%.*s", (int)length, c->name);
    for (char *p = out; *p; p++)
        if (*p == '_')
            *p = ' ';
}
