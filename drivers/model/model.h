/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A modelled CPU: what a model file says about it, and what follows from that by arithmetic alone. The simulation that
 * behaves accordingly is drivers/model/model_core.c; the machine that wraps it is drivers/model/model_machine.c. The
 * format of the file is described in doc/model-format.md.
 *
 * Words: a license *class* is what the power control tells apart (narrow, light256, heavy256, ...), in the order of
 * their demand; each class belongs to a frequency *level*. Running code *needs* a class; the core *holds* one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drivers/machine.h"
#include "kernels/kernels.h"

enum {
    MODEL_TEXT_MAX = 96,
    MODEL_NAME_SIZE = 24,
    MODEL_LEVELS_MAX = 5, /* Granite Rapids has as many turbo classes (intel/PerfSpect, issue 211) */
    MODEL_CLASSES_MAX = 8,
    MODEL_TURBO_MAX = 64,
    MODEL_STEPS_MAX = 8,
    MODEL_VARIANTS_MAX = 4,
    MODEL_DEMANDS_MAX = 16,
    MODEL_MIXTURES_MAX = 8,
    MODEL_DIRTY_MAX = 4,
    MODEL_POINTS_MAX = 16,
    MODEL_BOOSTS_MAX = 16,
    MODEL_KERNELS_MAX = 64,
    MODEL_ENERGIES_MAX = 16,
    MODEL_INTERRUPTS_MAX = 4,
    MODEL_CORES_MAX = 1024,
    MODEL_UNLIKE_MAX = 64
};

/* Active physical cores, both ends included. */
struct model_range {
    unsigned lo, hi;
};

/* One row of the turbo table. */
struct model_turbo {
    struct model_range cores;
    double ghz[MODEL_LEVELS_MAX];
    unsigned line;
};

struct model_class {
    char name[MODEL_NAME_SIZE];
    unsigned level;
    unsigned umask;     /* the bit of event 28H that counts it, and others of its level; 0 = none */
    double wait_us;     /* until it is released; 0: that of the model */
    double wait_double; /* probability that its release takes twice the wait */
    unsigned line;
};

/* The need of code of one width and weight. */
struct model_demand {
    unsigned width;
    enum kernel_weight weight;
    char kernel[KERNEL_NAME_MAX]; /* of this kernel alone; "" = of all of the width and weight */
    unsigned class_;              /* needed from `rate` and `count` on */
    double rate;                  /* counted instructions per core cycle at full rate */
    double count;                 /* counted instructions executed before `class_` is needed */
    double count_sigma;           /* relative standard deviation of count */
    unsigned below;               /* needed at a lower rate, or before the count is reached */
    unsigned line;
};

/* Two kinds of code that need more when they alternate than either does alone. */
struct model_mixture {
    unsigned width[2];
    enum kernel_weight weight[2];
    unsigned class_;
    unsigned switches; /* changes between the two ... */
    double window_us;  /* ... within this time */
    unsigned line;
};

/* The need of any code while the upper halves of registers of this width, or tiles, are in use. */
struct model_dirty {
    unsigned width, class_, line;
};

enum model_step_kind { MODEL_STEP_NONE, MODEL_STEP_THROTTLE, MODEL_STEP_FADE, MODEL_STEP_GRANT };

struct model_step_variant {
    struct model_range cores;
    double ratio, us;
    unsigned line;
};

/* One step of a transition: a throttled stretch, throttling that fades while the next steps proceed, or a class granted
 * (with a halt if that changes the frequency, or by a ramp of it). */
struct model_step {
    enum model_step_kind kind;
    double ratio, us; /* throttle; fade: where it begins */
    unsigned grant;   /* grant: the class */
    double tau_us;    /* fade; grant: time constant of the ramp; 0 = a halt */
    size_t n_variants;
    struct model_step_variant variants[MODEL_VARIANTS_MAX]; /* other figures for some numbers of active cores */
    unsigned line;
};

struct model_transition {
    size_t n_steps; /* 0 = not in the file */
    struct model_step steps[MODEL_STEPS_MAX];
    unsigned line;
};

struct model_point {
    double ghz, volts;
    unsigned line;
};

struct model_boost {
    unsigned from, to; /* classes */
    struct model_range cores;
    double volts;
    bool at_end; /* applied when the throttling ends, else when it starts */
    unsigned line;
};

/* The rate of a kernel. */
struct model_kernel {
    char name[KERNEL_NAME_MAX]; /* width and operation, or amx, pause, chain */
    double throughput;          /* counted instructions per core cycle, independent */
    double latency;             /* core cycles of one in a dependent chain */
    unsigned line;
};

struct model_interrupt {
    char name[MODEL_NAME_SIZE];
    double rate_hz;
    double min_us, max_us; /* uniform between the two */
    double rearm;          /* probability that it restarts the wait for a higher frequency */
    double taken_off;      /* probability that the operating system counts it as an involuntary switch */
    unsigned line;
};

/* The energy of one instruction of a width and weight. */
struct model_energy {
    unsigned width;
    enum kernel_weight weight;
    double nj; /* at 1 V */
    unsigned line;
};

enum model_turbo_layout {
    MODEL_TURBO_GROUPS, /* MSR 1ADH: ratios of core groups, 1AEH: their core counts */
    MODEL_TURBO_CORES,  /* MSR 1ADH: byte k is the limit for k + 1 active cores; no 1AEH */
    MODEL_TURBO_NONE
};

/* The other hyper-thread of the measured core, which runs code of its own now and then. */
struct model_sibling {
    double share;        /* of the time; 0 = never */
    double period_us;    /* mean time from the beginning of one burst of interference to that of the next */
    double factor;       /* of the payload's rate, meanwhile */
    double chain_factor; /* of the rate of a dependent chain meanwhile; 0: 1, it needs one slot in many */
    bool lockstep;       /* all bursts begin at the same places of each repetition; else at random */
    double decades; /* the longest bursts and pauses are 10^decades times as long as the shortest; 0: exponential */
};

/* A frequency that moves by itself, in all kernels alike: the sum of two Ornstein-Uhlenbeck processes. */
enum { MODEL_WANDERS = 2 };
struct model_wander {
    double sigma[MODEL_WANDERS]; /* relative standard deviation; 0 = none */
    double us[MODEL_WANDERS];    /* time constant */
    double step, step_us;        /* steps of a floating clock, relative; mean time from one to the next. 0 = none */
};

/* An ordinary processor's behavior beside changing its license. All zero: none of it. */
struct model_scenario {
    struct model_sibling sibling;
    struct model_wander wander;
    double limit_share, limit_factor; /* of the repetitions run at this factor of their frequency */
    double smi_rate_hz, smi_min_us, smi_max_us;
    double cold_us, cold_factor; /* rate of a payload in the first microseconds after a switch */
    bool carries;                /* a repetition begins in the state in which the one before ended ... */
    double gap_us;               /* ... and so much later */
};

/* Cores that are not like the others, by their CPU numbers, both ends included. */
struct model_unlike {
    struct model_range cpus;
    double factor;              /* of all frequencies */
    char label[MODEL_TEXT_MAX]; /* the system's name for them: "favoured"; "": none */
    unsigned line;
};

/* A stage in which a unit wakes: from this idle time on. */
enum { MODEL_WAKES_MAX = 4, MODEL_WAKE_STAGES_MAX = 8 };
struct model_wake {
    unsigned width;
    size_t n;
    struct model_wake_stage {
        double idle_us, first_us, full_rate_us;
    } stage[MODEL_WAKE_STAGES_MAX];
    unsigned line;
};

struct model {
    char file[256]; /* as named in messages */
    /* [cpu] */
    char cpu_name[MODEL_TEXT_MAX];
    unsigned family, model, stepping, cores, features;
    double tsc_hz;
    enum model_turbo_layout turbo_layout;
    bool speed_select; /* it states the turbo limits of each level, as Intel Speed Select does */
    /* [levels] */
    size_t n_levels;
    double base_ghz[MODEL_LEVELS_MAX];
    double low_ghz[MODEL_LEVELS_MAX]; /* 0: no turbo by priority; else it is on, and all cores are of high priority */
    size_t n_turbo;
    struct model_turbo turbo[MODEL_TURBO_MAX];
    /* [class NAME], in the order of demand */
    size_t n_classes;
    struct model_class classes[MODEL_CLASSES_MAX];
    size_t n_demands;
    struct model_demand demands[MODEL_DEMANDS_MAX];
    size_t n_mixtures;
    struct model_mixture mixtures[MODEL_MIXTURES_MAX];
    size_t n_dirty;
    struct model_dirty dirty[MODEL_DIRTY_MAX];
    struct model_transition transitions[MODEL_CLASSES_MAX][MODEL_CLASSES_MAX]; /* [from][to] */
    /* [timing], microseconds */
    double halt_us, halt_sigma_us, throttle_sigma_us, wait_us, wait_sigma_us;
    double throttle_distance; /* instructions; 0 = throttling acts on whatever runs */
    double release_tau_us;    /* of the ramp by which a release changes the frequency; 0 = a halt */
    /* [voltage] */
    size_t n_points;
    struct model_point points[MODEL_POINTS_MAX];
    double volts_noise;
    double volts_ramp_us; /* of the voltage, before the frequency rises and after it has fallen; 0 = in no time */
    bool stamps_volts;    /* readings have time stamps, and are late by read_delay_us */
    double read_delay_us;
    size_t n_boosts;
    struct model_boost boosts[MODEL_BOOSTS_MAX];
    /* [ipc] */
    double issue_width;
    double loop_instructions; /* per block */
    size_t n_kernels;
    struct model_kernel kernels[MODEL_KERNELS_MAX];
    /* [power] */
    bool has_power;
    double idle_watts;      /* of the package, whatever its cores do */
    double cycle_nj;        /* of each cycle of an active core, at 1 V */
    bool corunners_boosted; /* the other cores have the boosts of what they run, too */
    size_t n_energies;
    struct model_energy energies[MODEL_ENERGIES_MAX];
    /* [pmu] */
    bool counts_licenses, counts_throttle, counts_kernel_mode;
    bool licenses_of_core; /* event 28H counts the core's cycles, whichever thread runs and in whichever mode */
    double noise_cycles;
    bool no_counters; /* the frequency is measured by chains of adds, as the timing machine does it */
    /* [clock] */
    double clock_jitter_ns, split_read_ns;
    double chain_cost_sigma;         /* cycles by which the cost of a chain differs from what is believed */
    bool fixed_work;                 /* is said: a sample is so many blocks, however long they take */
    double tsc_step_ns;              /* readings of the TSC advance by so much; 0: by ticks */
    double spread, spread_period_us; /* of the core clock, downwards; relative */
    double frequency_noise;          /* relative */
    /* [interrupt NAME] */
    size_t n_interrupts;
    struct model_interrupt interrupts[MODEL_INTERRUPTS_MAX];
    size_t n_wakes;
    struct model_wake wakes[MODEL_WAKES_MAX];
    size_t n_unlike;
    struct model_unlike unlike[MODEL_UNLIKE_MAX];
    /* [switching] */
    bool has_switching;
    double switching_us[SWITCHING_KINDS];
    struct model_scenario scenario;
};

/*
 * Parses `length` bytes of a model file. `name` stands for the file in messages. Returns MACHINE_OK, or fills *err
 * ("NAME:LINE: KEY: what is wrong, what would work") and returns MACHINE_BAD_INPUT; *out is then undefined.
 */
int model_parse(const char *text, size_t length, const char *name, struct model *out, struct machine_error *err);

/* Checks the values of a complete file, which is read by *ini, against each other; 0, or non-zero after refusing a
 * line. */
struct sourced_ini;
int model_check(struct model *m, struct sourced_ini *ini);

/*
 * Finds and parses a model: `name_or_file` with a slash or a dot is a path, else the name of a shipped model. For
 * data_dir see model_list. A name that is not known is refused with the known ones. MACHINE_OK or MACHINE_BAD_INPUT.
 */
int model_load(const char *name_or_file, const char *data_dir, struct model *out, struct machine_error *err);
/* The text of that file, to be freed; NULL where there is none. */
char *model_text(const char *name_or_file, const char *data_dir, size_t *length);

/* The names of the shipped models, sorted, as data_file_list() (util/data_file.h); free them with model_list_free. */
int model_list(const char *data_dir, char ***names, size_t *n);
void model_list_free(char **names, size_t n);

/* Nominal frequency, GHz, of a level with so many active cores (1..model->cores). */
double model_ghz(const struct model *m, unsigned level, unsigned cores);
/* The same as a long mean: spread-spectrum clocking lowers it. */
double model_mean_ghz(const struct model *m, unsigned level, unsigned cores);
bool model_range_has(const struct model_range *r, unsigned n);
/* Core voltage without boosts at a frequency: linear between the points of the file, constant beyond them. */
double model_volts(const struct model *m, double ghz);
/* The figures of a throttle step for so many active cores. */
struct model_step_variant model_step_figures(const struct model_step *s, unsigned cores);
/* Index of a class by name, or -1. */
int model_class_index(const struct model *m, const char *name);

/* The difference of a core, by its CPU's number, from the others; NULL: there is none. */
const struct model_unlike *model_unlike_of(const struct model *m, int cpu);

/* The rate and need of a payload on the modelled core. */
struct model_need {
    double ipc;         /* payload instructions per core cycle, not throttled */
    double counted_ipc; /* of the counted kind */
    unsigned first;     /* class needed from the first instruction ... */
    unsigned later;     /* ... and from this many counted instructions on */
    double count;
    double count_sigma;
};

/*
 * Fills *out for a payload that runs while no upper halves and tiles but its own are in use. MACHINE_OK, or
 * MACHINE_CANNOT when the modelled CPU lacks the instructions or the file gives no rate for the kernel.
 */
int model_need(const struct model *m, const struct payload *p, struct model_need *out, struct machine_error *err);
/* How long a class is kept after the last need of it, on average and but for doubled waits. */
double model_wait_us(const struct model *m, unsigned class_);
/* The class that upper halves of `width` bits, or tiles, left in use make any code need. */
unsigned model_dirty_class(const struct model *m, unsigned width);

/* The effect of a throttle of `ratio` on a payload. */
struct model_throttle {
    double factor; /* of the payload's rate */
    double share;  /* of its cycles that are throttled */
};
/*
 * Instructions further than throttle_distance from a wide one are not throttled, so a payload with few wide ones loses
 * less. `wide`: the payload holds instructions whose class is pending.
 */
struct model_throttle model_throttle(const struct model *m, const struct payload *p, bool wide, double ratio);

/*
 * Power: energy at 1 V for each instruction and each core cycle, times the square of the core voltage (switching a
 * capacitance takes C V^2: Weste and Harris, CMOS VLSI Design, 4th edition, section 5.2), and a constant power of the
 * package.
 */
/* nJ at 1 V of each payload instruction, a mean over the counted ones and the scalar adds between them; NaN where the
 * file does not say it. */
double model_power_instruction(const struct model *m, const struct payload *p);

/* Joules of so many cycles and payload instructions at a voltage. */
double model_power_joules(const struct model *m, double cycles, double instructions, double nj_instruction,
                          double volts);

/* A machine on an already parsed model, which is copied.
 * `name`: as in machine_info.name. MACHINE_OK or MACHINE_FAILED. */
int machine_open_parsed_model(const struct model *m, const char *name, struct machine *out, struct machine_error *err);
