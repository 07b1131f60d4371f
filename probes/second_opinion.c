/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks other programs that read counters for the same figures while the chain of adds runs. */
#include "probes/second_opinion.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/command.h"
#include "computer/cpu/cpu.h"
#include "computer/msr/msr_decode.h"

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
            o->registers[i].both = other_rdmsr(text->out, &o->registers[i].theirs, o->why, sizeof o->why) == 0;
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
            (void)(i == OPINION_PERF     ? other_perf(text->err, &o->counts, o->why, sizeof o->why)
                   : i == OPINION_LIKWID ? other_likwid(text->out, &o->counts, o->why, sizeof o->why)
                                         : other_turbostat(text->out, cpu, &o->counts, o->why, sizeof o->why));
        end_chain(chain);
    }
    free(text);
}
