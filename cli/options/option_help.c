/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of --help, of --help-all (around the list of options by argp), and of a call without arguments. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/option_parts.h"
#include "util/screen_text.h"

#define ABOUT "Measure what wide SIMD instructions do to a processor's frequency."
#define EXIT_STATUS                                                                                                    \
    "Exit status: 0 done; 1 failed while running; 2 wrong usage or unreadable input; 3 this machine cannot do it; 4 "  \
    "done, but the results deviate from what is expected. See also characterize(1)."

const char option_help_doc[] = ABOUT
    "\vExamples:\n"
    "  characterize --verdict --brief\n"
    "  characterize --transition 128fma:512fma\n"
    "  characterize --transition 512fma:128fma --runs 200 --observe 3000\n"
    "  characterize --transition 128fma:512fma --machine model:xeon-gold-6130\n"
    "  characterize --transition 128fma:512fma --event 0x28:0x08 --event 0x28:0x10\n"
    "  characterize --beside 256fma,512fma -- make -j2\n"
    "  characterize --which ./libmine.so:multiply --brief\n"
    "  characterize --table frequency --kernels 128fma,256fma,512fma\n"
    "  characterize --all --output results --machine model:xeon-gold-6130\n"
    "  characterize --all --output results --resume\n"
    "  characterize --validate xeon-gold-6130 --input results\n"
    "  characterize --draft-sku mine.sku --input results\n"
    "  characterize --compare results-a results-b\n"
    "  characterize --export header avx.h --input results\n"
    "  characterize --analyze trace.csv --json phases.json --plot phases.svg\n"
    "  characterize --simulate web-server --params avx.json --policy stock,timeout,oracle\n"
    "  characterize --profile --sources --params avx.json -- make -j8\n"
    "  characterize --profile --machine model:xeon-gold-6130\n"
    "  characterize --self-test --bundle self-test.tar.gz\n"
    "  characterize --check environment\n"
    "  characterize --table variability --quiet-machine\n"
    "  characterize --list kernels\n"
    "\n" EXIT_STATUS;

static const struct option_line help_lines[] = {
    {"Jobs:", NULL},
    {"--verdict", "Report whether 256-bit and 512-bit code pays on this processor"},
    {"--transition FROM:TO", "Run kernel FROM, then kernel TO: phases, durations, frequencies"},
    {"--beside KERNEL,...", "Measure what a command costs beside wide code: ... -- COMMAND"},
    {"--which FILE[:FUNCTION]", "Find the functions of a program that lift a turbo class"},
    {"--table NAME", "Measure one table (--list tables)"},
    {"--all", "Measure all tables into a directory, with a report"},
    {"--compare DIR DIR...", "Show what differs between measurements, and machines that stand out"},
    {"--validate SKU", "Compare the measurement with published figures (--list skus)"},
    {"--export header|json", "Write the parameters that schedulers need"},
    {"--analyze FILE", "Find the phases of a recorded trace"},
    {"--simulate WORKLOAD", "Replay a workload under several frequency policies (--list workloads)"},
    {"--profile", "Find the tasks that wide code slows, and those that cause it"},
    {"--self-test", "Test the machine's counters on code with known counts"},
    {"--check environment", "Show what disturbs measurements on this computer"},
    {"--list WHAT", "List kernels, machines, skus, tables, workloads or options"},
    {"Options:", NULL},
    {"--machine NAME", "How to measure (default: auto), or a model: model:NAME (--list machines)"},
    {"--cpu N", "The logical CPU to measure on"},
    {"--active-cores N", "Cores kept busy, including the measured one (default: all)"},
    {"--kernels LIST", "Tables: only these kernels, as in 128fma,512fma (--list kernels)"},
    {"--runs N", "Repetitions (default: as many as narrow limits take)"},
    {"--observe US", "Microseconds of TO to record (default: 150; more while it changes)"},
    {"--brief", "A first look: fewer kernels, core counts and repetitions"},
    {"--share PERCENT, --burst T", "--verdict: work that can be wide (10), in bursts of length T (100us)"},
    {"--seconds N", "How long --verdict, --profile or --check may take"},
    {"--quiet-machine", "Quiet the computer for the run (root), and restore it"},
    {"--output DIR", "Write all files into this directory"},
    {"--csv, --json, --plot FILE", "Write only this file; - is standard output"},
    {"--input DIR", "Use the tables that --all measured into DIR instead of measuring"},
    {"--resume", "Continue an interrupted --all"},
    {"--help-all", "All jobs and options"},
    {"Examples:", NULL},
    {"characterize --verdict --brief", NULL},
    {"characterize --transition 128fma:512fma", NULL},
    {"characterize --transition 128fma:512fma --machine model:xeon-gold-6130", NULL},
    {"characterize --table frequency --kernels 128fma,256fma,512fma", NULL},
    {"characterize --all --output results", NULL},
    {"characterize --validate xeon-gold-6130 --input results", NULL},
};

static void help_line(FILE *out, const struct option_line *line, option_describe *about, unsigned width)
{
    enum { OPTION_INDENT = 2, ABOUT_INDENT = 30 };
    if (line->text[strlen(line->text) - 1] == ':') {
        fprintf(out, "\n%s\n", line->text);
        return;
    }
    if (line->text[0] == '-') {
        fprintf(out, "%*s%-*s", OPTION_INDENT, "", ABOUT_INDENT - OPTION_INDENT, line->text);
        screen_text_words(out, line->about != NULL ? line->about : about(line->text), ABOUT_INDENT, ABOUT_INDENT,
                          width);
    } else {
        fprintf(out, "%*s", OPTION_INDENT, "");
        screen_text_words(out, line->text, OPTION_INDENT, 2 * OPTION_INDENT, width);
    }
    putc('\n', out);
}

void option_help(FILE *out, const struct option_program *program, option_describe *about)
{
    const unsigned width = screen_text_width(out);
    const bool several = program->job == JOB_NONE;
    const struct option_line *lines = several ? help_lines : program->help;
    const size_t n = several ? sizeof(help_lines) / sizeof(help_lines[0]) : program->n_help;
    fprintf(out, several ? "Usage: %s JOB [OPTION...]\n" : "Usage: %s [OPTION...] %s\n", program->name,
            program->arguments);
    screen_text_words(out, several ? ABOUT : program->about, 0, 0, width);
    putc('\n', out);
    for (size_t i = 0; i < n; i++)
        help_line(out, &lines[i], about, width);
    if (!several)
        return;
    putc('\n', out);
    screen_text_words(out, EXIT_STATUS, 0, 0, width);
    putc('\n', out);
}

void option_help_width(void)
{
    char format[40];
    unsigned width = screen_text_width(stdout);
    snprintf(format, sizeof(format), "rmargin=%u", width < SCREEN_WIDTH ? width : SCREEN_WIDTH);
    (void)setenv("ARGP_HELP_FMT", format, 0);
}

void option_parse_short_usage(void)
{
    fputs("Usage: characterize --verdict [--brief] [--machine NAME]\n"
          "       characterize --transition FROM:TO [--machine NAME] [--output DIR]\n"
          "       characterize --table NAME | --all [--machine NAME] [--output DIR]\n"
          "       characterize --analyze TRACE.csv | --simulate WORKLOAD --params EXPORT.json\n"
          "       characterize --profile [--params EXPORT.json] [-- COMMAND]\n"
          "       characterize --check environment | --list kernels|machines|skus|tables|workloads|options\n"
          "Example: characterize --transition 128fma:512fma\n"
          "characterize --help lists the main options, --help-all all of them.\n",
          stderr);
}
