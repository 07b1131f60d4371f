/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the output of perf stat, likwid-perfctr, turbostat and rdmsr. */
#include "probes/other_programs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Fields of a line, bytes of a field, digits of a number. */
enum { FIELDS_MAX = 16, FIELD_SIZE = 64, DIGITS_MAX = 18 };

struct fields {
    size_t n;
    char text[FIELDS_MAX][FIELD_SIZE];
};

/* Splits a line, up to its end; fields beyond the last that fits are left out. Returns what follows the line. */
static const char *other_programs_split(const char *line, char separator, struct fields *out)
{
    const char stops[] = {separator, '\n', '\0'};
    out->n = 0;
    for (;;) {
        size_t length = strcspn(line, stops);
        if (out->n < FIELDS_MAX)
            snprintf(out->text[out->n++], FIELD_SIZE, "%.*s", (int)length, line);
        line += length;
        if (*line != separator)
            return *line == '\n' ? line + 1 : line;
        line++;
    }
}

/* Decimal digits, with a fraction where that is allowed; nothing else. */
static bool other_programs_number(const char *text, bool fraction, double *out)
{
    size_t digits = strspn(text, "0123456789"), rest = 0;
    if (fraction && text[digits] == '.')
        rest = 1 + strspn(text + digits + 1, "0123456789");
    *out = strtod(text, NULL);
    return digits > 0 && digits <= DIGITS_MAX && text[digits + rest] == '\0';
}

static int other_programs_refuse(char *why, size_t size, const char *program, const char *what)
{
    return error_line(why, size, "cannot parse the output of %s: %s", program, what);
}

static void nothing(struct other_counts *out)
{
    *out = (struct other_counts){NAN, NAN, NAN, NAN, NAN};
}

int other_perf(const char *text, struct other_counts *out, char *why, size_t size)
{
    struct fields f;
    nothing(out);
    while (*text != '\0') {
        text = other_programs_split(text, ',', &f);
        bool instructions = f.n >= 5 && strcmp(f.text[2], "instructions:u") == 0;
        bool cycles = f.n >= 5 && strcmp(f.text[2], "cycles:u") == 0;
        double nanoseconds, count;
        if (!instructions && !cycles)
            continue; /* remarks */
        if (f.text[0][0] == '<')
            return error_line(why, size, "perf: %s: %s", f.text[2], f.text[0]);
        if (!other_programs_number(f.text[0], false, &count) || !other_programs_number(f.text[3], false, &nanoseconds))
            return other_programs_refuse(why, size, "perf", f.text[0]);
        *(instructions ? &out->instructions : &out->cycles) = count;
        out->seconds = cycles ? nanoseconds * 1e-9 : out->seconds;
    }
    if (isnan(out->instructions) || isnan(out->cycles) || !(out->seconds > 0))
        return other_programs_refuse(why, size, "perf", "no counts of instructions:u and cycles:u");
    out->ghz = out->cycles / out->seconds * 1e-9;
    return 0;
}

int other_likwid(const char *text, struct other_counts *out, char *why, size_t size)
{
    struct fields f;
    nothing(out);
    while (*text != '\0') {
        text = other_programs_split(text, ',', &f);
        bool instructions = f.n >= 3 && strcmp(f.text[1], "FIXC0") == 0 && strcmp(f.text[0], "INSTR_RETIRED_ANY") == 0;
        bool cycles = f.n >= 3 && strcmp(f.text[1], "FIXC1") == 0 && strcmp(f.text[0], "CPU_CLK_UNHALTED_CORE") == 0;
        if ((instructions || cycles) &&
            !other_programs_number(f.text[2], false, instructions ? &out->instructions : &out->cycles))
            return other_programs_refuse(why, size, "likwid-perfctr", f.text[2]);
    }
    return isnan(out->instructions) || isnan(out->cycles) || !(out->cycles > 0)
               ? other_programs_refuse(why, size, "likwid-perfctr", "no counts of FIXC0 and FIXC1")
               : 0;
}

static int column(const struct fields *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->text[i], name) == 0)
            return (int)i;
    return -1;
}

static bool is_frequency(double ghz)
{
    return ghz > 0 && ghz <= 100;
}

int other_turbostat(const char *text, int cpu, struct other_counts *out, char *why, size_t size)
{
    struct fields names, f;
    char wanted[16];
    nothing(out);
    snprintf(wanted, sizeof wanted, "%d", cpu);
    do {
        text = other_programs_split(text, '\t', &names);
    } while (*text != '\0' && column(&names, "Bzy_MHz") < 0);
    int at = column(&names, "CPU"), busy = column(&names, "Bzy_MHz"), tsc = column(&names, "TSC_MHz");
    while (at >= 0 && busy >= 0 && tsc >= 0 && *text != '\0') {
        text = other_programs_split(text, '\t', &f);
        if (f.n != names.n || strcmp(f.text[at], wanted) != 0)
            continue;
        if (!other_programs_number(f.text[busy], true, &out->ghz) ||
            !other_programs_number(f.text[tsc], true, &out->tsc_ghz))
            return other_programs_refuse(why, size, "turbostat", f.text[busy]);
        out->ghz *= 1e-3;
        out->tsc_ghz *= 1e-3;
        return is_frequency(out->ghz) && is_frequency(out->tsc_ghz)
                   ? 0
                   : other_programs_refuse(why, size, "turbostat", f.text[busy]);
    }
    return other_programs_refuse(why, size, "turbostat", "no line for this CPU");
}

int other_rdmsr(const char *text, uint64_t *value, char *why, size_t size)
{
    size_t digits = strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdefABCDEF") : 0;
    if (digits == 0 || digits > 16 || strcmp(text + 2 + digits, "\n") != 0) {
        char line[40];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        return other_programs_refuse(why, size, "rdmsr", line);
    }
    *value = strtoull(text, NULL, 16);
    return 0;
}
