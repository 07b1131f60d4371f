/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report says in words: how each table is measured, the sources, the names of columns. */
#include <ctype.h>
#include <string.h>

#include "output/report/report_parts.h"

static const struct {
    const char *table, *method;
} methods[] = {
    {"frequency", "Each kernel runs on the measured core while a growing number of other cores is kept busy; the first "
                  "milliseconds, in which the core halts and throttles, are left out, and the mean frequency of what "
                  "follows is taken. Numbers of active cores that share their frequencies are one group, as published "
                  "tables show them (G 3.1, table 3.1)."},
    {"transitions",
     "The first kernel runs until its frequency has settled, then the second one starts at time zero; frequency and "
     "instructions per cycle are sampled about once a microsecond, over many repetitions, and the phases that the "
     "repetitions agree on are found (G 3.2.2). The latency runs from the first sign of the change to the first sample "
     "at full rate on the final level; the overhead is the time lost against running at the new level at once."},
    {"throttle",
     "The throttled phases of each transition: how long they last, and the instructions per cycle in them against the "
     "same code at full rate (G 3.2.2). How far throttling reaches is found with one wide instruction in every N "
     "dependent scalar additions, N from 2 to 200: farther away than the reach, additions run at full speed."},
    {"trigger",
     "Kernels with one wide instruction in every N run until their level is settled, for many N. How many instructions "
     "it takes is found with bursts of many lengths: a bisection, and where the count varies a fit of median and "
     "spread. Mixtures of two kernels stand beside each of them alone (G 3.2.1, 6.5.1; K)."},
    {"relaxation",
     "After the wide kernel ends, narrow code runs and is sampled until the frequency rises again; each repetition "
     "gives one waiting time. It is one only where the core is slower then than the same narrow code alone, which runs "
     "in turns with it. Where the times gather around two values, the longer one is two periods of the timer (G 3.2.3, "
     "K). What starts the wait anew is found by running it within the wait; toggling repeats wide code after a little "
     "less and a little more than the wait."},
    {"overhead", "Down: twice the same work is timed after the change; the first half pays for the transition, the "
                 "second one does not, and their difference is the cost (G 5.2.1). Up: the slowest short section, less "
                 "what its work takes in its neighbours (G 5.2.2). Break-even: T = p_high (T_down + T_up) / (p_high - "
                 "p_low), the performance p being taken as proportional to the frequency (G 5.2.3)."},
    {"umask", "The event is counted with every single unit mask and their documented combinations while each kernel "
              "runs steadily, and through its transitions from and to a narrow one; the share of the core\xE2\x80\x99s "
              "cycles that it counted says what a bit stands for (G 3.4, table 3.2)."},
    {"energy", "Each kernel runs for a while between two readings of the energy counter (RAPL); the power of a PAUSE "
               "loop is subtracted, and what is left is divided by the operations that were executed (G 3.1). PAUSE "
               "runs at its own frequency where none is fixed: where that is higher than the kernel\xE2\x80\x99s, what "
               "is left is less than the kernel costs."},
    {"voltage", "Reading the voltage disturbs the code that it should show, so each repetition reads it once, at "
                "another point of the transition; the readings of all repetitions are put in order of time and "
                "smoothed by a running median of 21 neighbours (G 3.2.2)."},
};

const char *report_method(const char *table)
{
    for (size_t i = 0; table && i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].table, table) == 0)
            return methods[i].method;
    return NULL;
}

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
