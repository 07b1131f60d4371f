/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks other programs that read counters for the same figures while the chain of adds runs. */
#include "probes/second_opinion.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "computer/msr/msr_decode.h"
#include "util/command.h"
#include "util/error.h"

/* ---- what they print: nothing is guessed, a text with a line that is not as documented is refused ---- */

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

int second_opinion_perf(const char *text, struct other_counts *out, char *why, size_t size)
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

int second_opinion_likwid(const char *text, struct other_counts *out, char *why, size_t size)
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

int second_opinion_turbostat(const char *text, int cpu, struct other_counts *out, char *why, size_t size)
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

int second_opinion_rdmsr(const char *text, uint64_t *value, char *why, size_t size)
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

static const double SECONDS_MOST = 10;
/* For how long the counts are taken. */
#define WINDOW "0.3"

/* Starts the code that runs meanwhile; it ends with its parent, however that ends. Returns its process; -1: it could
 * not be started. */
static pid_t start_chain(int cpu)
{
    const struct payload chain = kernel_named("chain");
    struct cpu_mask mask;
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_mask_clear(&mask);
    cpu_mask_add(&mask, cpu);
    if (getppid() != parent || cpu_set_affinity(&mask) != 0)
        _exit(1);
    for (;;)
        (void)chain.run(100000, 0, NULL, 0, NULL);
}

static void end_chain(pid_t chain)
{
    if (chain > 0) {
        kill(chain, SIGKILL);
        waitpid(chain, NULL, 0);
    }
}

/* Words of a command. */
enum { ARGUMENTS_MAX = 13 };
/* Placeholders of the chain's process, the CPU and the address of a register. */
static const char process[] = "PROCESS", processor[] = "CPU", address[] = "ADDRESS";

static const struct {
    const char *remedy, *argv[ARGUMENTS_MAX];
} programs[OPINIONS] = {
    [OPINION_PERF] = {"apt-get install linux-perf, or linux-tools",
                      {"perf", "stat", "-x", ",", "-e", "instructions:u,cycles:u", "-p", process, "--", "sleep",
                       WINDOW}},
    [OPINION_LIKWID] = {"apt-get install likwid",
                        {"likwid-perfctr", "-O", "-c", processor, "-g",
                         "INSTR_RETIRED_ANY:FIXC0,CPU_CLK_UNHALTED_CORE:FIXC1", "sleep", WINDOW}},
    [OPINION_TURBOSTAT] = {"apt-get install linux-cpupower, or linux-tools",
                           {"turbostat", "--quiet", "--cpu", processor, "--show", "CPU,Bzy_MHz,TSC_MHz", "--interval",
                            WINDOW, "--num_iterations", "1"}},
    [OPINION_RDMSR] = {"apt-get install msr-tools", {"rdmsr", "-p", processor, "-c", address}},
};

/* Runs a program while the chain runs. Returns whether it answered. */
static bool second_opinion_ask(struct second_opinion *o, enum opinion_of which, pid_t chain, int cpu, uint32_t reg,
                               struct command_output *text)
{
    const char *argv[ARGUMENTS_MAX];
    char numbers[3][16];
    snprintf(numbers[0], sizeof numbers[0], "%d", (int)chain);
    snprintf(numbers[1], sizeof numbers[1], "%d", cpu);
    snprintf(numbers[2], sizeof numbers[2], "0x%x", reg);
    for (size_t i = 0; i < ARGUMENTS_MAX; i++) {
        const char *given = programs[which].argv[i];
        argv[i] = given == process     ? numbers[0]
                  : given == processor ? numbers[1]
                  : given == address   ? numbers[2]
                                       : given;
    }
    return command_run(argv, SECONDS_MOST, text, o->why, sizeof o->why) == 0;
}

/* Registers that do not change, and the voltage. */
static void ask_rdmsr(struct second_opinion *o, struct machine *m, int cpu, struct command_output *text)
{
    static const uint32_t registers[OPINION_REGISTERS] = {MSR_PLATFORM_INFO, MSR_TEMPERATURE_TARGET, MSR_PERF_STATUS};
    struct machine_setup setup = {.cpu = cpu, .active_cores = 1, .period_us = 1, .max_samples = 64};
    struct machine_error err;
    unsigned both = 0;
    if (!m->ops->read_register) {
        snprintf(o->why, sizeof o->why, "this machine reads no registers");
        return;
    }
    if (m->ops->prepare(m, &setup, &err) != MACHINE_OK) {
        memcpy(o->why, err.text, sizeof o->why - 1);
        return;
    }
    for (size_t i = 0; i < OPINION_REGISTERS; i++) {
        char first[sizeof o->why];
        memcpy(first, o->why, sizeof first);
        o->registers[i].reg = registers[i];
        if (m->ops->read_register(m, registers[i], &o->registers[i].ours, &err) != MACHINE_OK)
            snprintf(o->why, sizeof o->why, "%.390s", err.text);
        else if (second_opinion_ask(o, OPINION_RDMSR, 0, cpu, registers[i], text))
            o->registers[i].both = second_opinion_rdmsr(text->out, &o->registers[i].theirs, o->why, sizeof o->why) == 0;
        both += o->registers[i].both;
        if (first[0])
            memcpy(o->why, first, sizeof first); /* the first reason stands for all */
    }
    m->ops->finish(m);
    if (both > 0)
        o->why[0] = '\0';
}

void second_opinions_ask(struct machine *m, int cpu, struct second_opinion out[OPINIONS])
{
    struct command_output *text = malloc(sizeof *text);
    for (int i = 0; i < OPINIONS; i++) {
        struct second_opinion *o = &out[i];
        *o = (struct second_opinion){.program = programs[i].argv[0], .counts = {NAN, NAN, NAN, NAN, NAN}};
        if (!text || !command_installed(o->program)) {
            snprintf(o->why, sizeof o->why, "not installed");
            snprintf(o->remedy, sizeof o->remedy, "%s", programs[i].remedy);
            continue;
        }
        pid_t chain = start_chain(cpu);
        if (chain < 0)
            snprintf(o->why, sizeof o->why, "cannot start a process");
        else if (i == OPINION_RDMSR)
            ask_rdmsr(o, m, cpu, text);
        else if (second_opinion_ask(o, (enum opinion_of)i, chain, cpu, 0, text))
            (void)(i == OPINION_PERF     ? second_opinion_perf(text->err, &o->counts, o->why, sizeof o->why)
                   : i == OPINION_LIKWID ? second_opinion_likwid(text->out, &o->counts, o->why, sizeof o->why)
                                         : second_opinion_turbostat(text->out, cpu, &o->counts, o->why, sizeof o->why));
        end_chain(chain);
    }
    free(text);
}
