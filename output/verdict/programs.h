/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that decide by a list of processors how wide their code is, how each is reported otherwise, and where their
 * lists say something else than a measurement: data/verdict/programs.ini.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernels.h"
#include "util/error.h"

enum { PROGRAMS_MAX = 40, PROGRAMS_MODELS_MAX = 400, PROGRAMS_TEXT_MAX = 200, PROGRAMS_WIDTHS = 3, PROGRAMS_CODES = 2 };

struct programs_model {
    unsigned family, first, last; /* displayed family and models, as in 06_55H */
    unsigned bits;                /* the width that the program uses there */
};

struct program {
    bool any;                /* it runs its users' code, of which that of the verdict is taken */
    enum kernel_weight code; /* otherwise: what it mostly is */
    char id[40], name[PROGRAMS_TEXT_MAX], about[PROGRAMS_TEXT_MAX]; /* "": none */
    char set[PROGRAMS_WIDTHS][PROGRAMS_TEXT_MAX]; /* how to make it use 128, 256, 512 bits; "": none */
    unsigned otherwise;                           /* bits that it uses on processors that are not named; 0: not known */
    size_t first, n;                              /* of the models */
};

struct programs {
    size_t n, n_models;
    struct program program[PROGRAMS_MAX];
    struct programs_model model[PROGRAMS_MODELS_MAX];
};

/* data/verdict/programs.ini of the data directory (NULL: the default). MACHINE_OK, or an error with the line. */
int programs_load(const char *data_dir, struct programs *out, struct machine_error *err);
/* The same from text; `file` names it in messages. */
int programs_parse(const char *text, size_t length, const char *file, struct programs *out, struct machine_error *err);

/* Returns the width, in bits, that a program uses on a processor that calls itself so ("... 06_55H ..."); 0: not
 * known. */
unsigned programs_bits_on(const struct programs *all, const struct program *p, const char *cpu);

/* The consequences of the preferred widths for programs. */
struct programs_answer {
    const struct programs *all; /* NULL: none */
    unsigned
        bits[PROGRAMS_CODES]; /* by enum kernel_weight: 128, 256, 512; 0: nothing is preferred, and nothing follows */
    unsigned as_good[PROGRAMS_CODES]; /* others that are as good, or-ed */
    enum kernel_weight usual;         /* the weight that code of any kind is taken to have */
    bool wide;                        /* the processor has 512-bit code at all */
    const char *cpu;
};
enum programs_verdict { PROGRAM_AGREES, PROGRAM_DIFFERS, PROGRAM_UNKNOWN };
struct programs_advice {
    enum programs_verdict verdict;
    enum kernel_weight code;
    unsigned bits;   /* that is preferred; 0: nothing is said of this program */
    unsigned uses;   /* the width that it uses here by its list; 0: not known */
    const char *set; /* how it is reported; "": no way is known */
};
struct programs_advice programs_compare(const struct programs_answer *a, const struct program *p);
