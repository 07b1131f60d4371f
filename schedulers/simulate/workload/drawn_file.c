/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the description of a drawn workload, and draws its lengths. */
#include "schedulers/simulate/workload/drawn.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/values.h"
#include "util/sourced_ini.h"
#include "util/splitmix64.h"
#include "util/text_list.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct drawn_section;
struct drawn_parser {
    struct sourced_ini ini;
    struct drawn_file *file;
    const struct drawn_section *section;            /* NULL before the first */
    unsigned section_line, section_number, machine; /* machine: the number of that section */
    struct drawn_task *task;
    struct drawn_phase *phase;
};

struct drawn_key {
    const char *name;
    bool required;
    int (*take)(struct drawn_parser *p, const char *key, char *value);
};

struct drawn_section {
    const char *name, *usage;
    size_t words; /* of the header, its name included */
    const struct drawn_key *keys;
    size_t n_keys;
    int (*enter)(struct drawn_parser *p, char *words[]);
};

/* Refuses what stands in the present line; non-zero. */
#define drawn_wrong(p, key, ...) sourced_ini_fail(&(p)->ini, (p)->ini.line, key, __VA_ARGS__)

/* ---- values ---- */

static int drawn_number(struct drawn_parser *p, const char *key, const char *text, double lo, double hi, double *out)
{
    int64_t thousandths;
    if (!sim_value_decimal(text, 3, &thousandths))
        return drawn_wrong(p, key, "'%.40s' is not a number; %.10g to %.10g with at most three decimals would work",
                           text, lo, hi);
    *out = (double)thousandths / 1000;
    if (*out < lo || *out > hi)
        return drawn_wrong(p, key, "%.40s is out of range; %.10g to %.10g would work", text, lo, hi);
    return 0;
}

static int drawn_whole(struct drawn_parser *p, const char *key, const char *text, unsigned lo, unsigned hi,
                       unsigned *out)
{
    if (sim_value_number(text, hi, out) && *out >= lo)
        return 0;
    return drawn_wrong(p, key, "'%.40s' is not allowed; %u to %u would work", text, lo, hi);
}

static int drawn_name(struct drawn_parser *p, const char *key, const char *text, char out[DRAWN_NAME_SIZE])
{
    size_t n = strlen(text);
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return drawn_wrong(p, key, "'%.40s' is not a name; letters, digits, '_', '-' and '.' would work", text);
    if (n >= DRAWN_NAME_SIZE)
        return drawn_wrong(p, key, "'%.40s' is too long for a name; at most %d characters", text, DRAWN_NAME_SIZE - 1);
    memcpy(out, text, n + 1);
    return 0;
}

static int drawn_yes_no(struct drawn_parser *p, const char *key, const char *text, bool *out)
{
    *out = strcmp(text, "yes") == 0;
    if (!*out && strcmp(text, "no") != 0)
        return drawn_wrong(p, key, "'%.40s' is neither yes nor no", text);
    return 0;
}

/* SHAPE US [US or SIGMA] */
static int drawn_take_length(struct drawn_parser *p, const char *key, char *value, struct drawn_length *out)
{
    static const char *const shapes[DRAWN_SHAPES] = {"fixed", "uniform", "exponential", "lognormal"};
    static const double us_max = 1e7, us_min = 0.001, sigma_max = 2;
    char *words[3];
    size_t n = sourced_ini_words(value, words, 3), shape = 0;
    while (shape < DRAWN_SHAPES && strcmp(words[0], shapes[shape]) != 0)
        shape++;
    bool two = shape == DRAWN_UNIFORM || shape == DRAWN_LOGNORMAL;
    if (shape == DRAWN_SHAPES || n != 2u + two)
        return drawn_wrong(p, key,
                           "not a length; fixed US, uniform FROM TO, exponential MEAN or lognormal MEAN SIGMA "
                           "would work (us; SIGMA: of the natural logarithm)");
    out->shape = (enum drawn_shape)shape;
    if (drawn_number(p, key, words[1], shape == DRAWN_UNIFORM ? 0 : us_min, us_max, &out->a) != 0)
        return -1;
    if (shape == DRAWN_UNIFORM)
        return drawn_number(p, key, words[2], fmax(out->a, us_min), us_max, &out->b);
    return two ? drawn_number(p, key, words[2], 0, sigma_max, &out->b) : 0;
}

/* ---- [machine] ---- */

static int take_drawn_cores(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_whole(p, key, value, 1, SIM_CORES_MAX, &p->file->cores);
}

static int take_threads_per_core(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_whole(p, key, value, 1, SIM_CORE_CPUS_MAX, &p->file->threads_per_core);
}

static int take_recorded_ghz(struct drawn_parser *p, const char *key, char *value)
{
    if (sim_parse_recorded(value, &p->file->recorded))
        return 0;
    return drawn_wrong(p, key, "'%.40s' is not allowed; " SIM_RECORDED_ALLOWED " would work", value);
}

static int take_active_cores(struct drawn_parser *p, const char *key, char *value)
{
    if (sim_parse_active_cores(value, &p->file->active_cores))
        return 0;
    return drawn_wrong(p, key, "'%.40s' is not allowed; " SIM_ACTIVE_CORES_ALLOWED " would work", value);
}

static int take_duration(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_number(p, key, value, 0.001, 1e5, &p->file->duration_s);
}

static int take_slice(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_take_length(p, key, value, &p->file->slice);
}

static int enter_drawn_machine(struct drawn_parser *p, char *words[])
{
    (void)words;
    p->machine = p->ini.section;
    return 0;
}

static const struct drawn_key machine_keys[] = {
    {"cores", true, take_drawn_cores},         {"threads_per_core", true, take_threads_per_core},
    {"recorded_ghz", true, take_recorded_ghz}, {"active_cores", false, take_active_cores},
    {"duration_s", true, take_duration},       {"slice_us", true, take_slice},
};

/* ---- [task NAME] ---- */

static struct drawn_task *find_task(struct drawn_file *f, const char *name)
{
    for (unsigned i = 0; i < f->n_tasks; i++)
        if (strcmp(f->tasks[i].name, name) == 0)
            return &f->tasks[i];
    return NULL;
}

static int enter_drawn_task(struct drawn_parser *p, char *words[])
{
    struct drawn_file *f = p->file;
    if (f->n_tasks == DRAWN_TASKS_MAX)
        return drawn_wrong(p, p->ini.header, "more than %d tasks", DRAWN_TASKS_MAX);
    p->task = &f->tasks[f->n_tasks++];
    p->task->line = p->ini.line;
    p->task->lasts = 1;
    return drawn_name(p, p->ini.header, words[1], p->task->name);
}

static int take_threads(struct drawn_parser *p, const char *key, char *value)
{
    if (drawn_whole(p, key, value, 1, DRAWN_THREADS_MAX, &p->task->threads) != 0)
        return -1;
    p->file->n_threads += p->task->threads;
    return p->file->n_threads <= DRAWN_THREADS_MAX
               ? 0
               : drawn_wrong(p, key, "more than %d threads of all tasks", DRAWN_THREADS_MAX);
}

static int take_cookie(struct drawn_parser *p, const char *key, char *value)
{
    p->file->has_cookie = true;
    return drawn_name(p, key, value, p->task->cookie);
}

static int take_lasts(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_number(p, key, value, 0.01, 50, &p->task->lasts);
}

static const struct drawn_key task_keys[] = {
    {"threads", true, take_threads},
    {"cookie", false, take_cookie},
    {"lasts", false, take_lasts},
};

/* ---- [phase TASK NAME] ---- */

static int enter_drawn_phase(struct drawn_parser *p, char *words[])
{
    struct drawn_task *t = p->task = find_task(p->file, words[1]);
    if (!t)
        return drawn_wrong(p, p->ini.header, "no task '%.40s' above this line; it needs a section [task %.40s]",
                           words[1], words[1]);
    if (t->n_phases == DRAWN_PHASES_MAX)
        return drawn_wrong(p, p->ini.header, "more than %d phases of one task", DRAWN_PHASES_MAX);
    p->phase = &t->phases[t->n_phases++];
    p->phase->line = p->ini.line;
    return drawn_name(p, p->ini.header, words[2], p->phase->name);
}

static int take_class(struct drawn_parser *p, const char *key, char *value)
{
    enum sim_class class = SIM_NONE;
    bool blocked = strcmp(value, "blocked") == 0;
    if (!blocked && !sim_parse_class(value, &class))
        return drawn_wrong(p, key, "'%.40s' is not a class; " SIM_CLASSES_ALLOWED " or blocked would work", value);
    p->phase->row.class = class & 7;
    p->phase->row.task = blocked ? SIM_IDLE : 0;
    return 0;
}

static int take_us(struct drawn_parser *p, const char *key, char *value)
{
    return drawn_take_length(p, key, value, &p->phase->length);
}

static int take_ipc(struct drawn_parser *p, const char *key, char *value)
{
    double ipc = 0;
    p->phase->has_ipc = p->file->has_ipc = true;
    int failed = drawn_number(p, key, value, 0.001, 16, &ipc);
    p->phase->row.ipc = (uint16_t)lround(1000 * ipc);
    return failed;
}

static int take_stall(struct drawn_parser *p, const char *key, char *value)
{
    double stall = 0;
    p->phase->has_stall = p->file->has_stall = true;
    int failed = drawn_number(p, key, value, 0, 1, &stall);
    p->phase->row.stall = (unsigned)lround(1000 * stall) & 1023;
    return failed;
}

static int take_syscall(struct drawn_parser *p, const char *key, char *value)
{
    bool yes = false;
    p->phase->has_syscall = p->file->has_syscall = true;
    int failed = drawn_yes_no(p, key, value, &yes);
    p->phase->row.syscall = yes;
    return failed;
}

/* NAME, or NAME WEIGHT NAME WEIGHT ... */
static int take_next(struct drawn_parser *p, const char *key, char *value)
{
    char *words[2 * DRAWN_NEXT_MAX];
    struct drawn_phase *phase = p->phase;
    size_t n = sourced_ini_words(value, words, COUNT(words));
    double sum = 0;
    if (n > COUNT(words) || (n > 1 && n % 2))
        return drawn_wrong(p, key, "not phases and their weights; NAME, or up to %d of NAME WEIGHT would work",
                           DRAWN_NEXT_MAX);
    for (size_t i = 0; i < n; i += 2) {
        struct drawn_next *next = &phase->next[phase->n_next++];
        double weight = 1;
        if (drawn_name(p, key, words[i], next->name) != 0 ||
            (n > 1 && drawn_number(p, key, words[i + 1], 0.001, 1e6, &weight) != 0))
            return -1;
        next->until = sum += weight;
    }
    for (unsigned i = 0; i < phase->n_next; i++)
        phase->next[i].until /= sum;
    return 0;
}

static const struct drawn_key phase_keys[] = {
    {"class", true, take_class},  {"us", true, take_us},      {"ipc", false, take_ipc},
    {"stall", false, take_stall}, {"next", false, take_next}, {"syscall", false, take_syscall},
};

/* ---- sections ---- */

static const struct drawn_section drawn_sections[] = {
    {"machine", "[machine]", 1, machine_keys, COUNT(machine_keys), enter_drawn_machine},
    {"task", "[task NAME]", 2, task_keys, COUNT(task_keys), enter_drawn_task},
    {"phase", "[phase TASK NAME]", 3, phase_keys, COUNT(phase_keys), enter_drawn_phase},
};

static int leave_drawn_section(struct drawn_parser *p)
{
    const struct drawn_section *s = p->section;
    for (size_t i = 0; s && i < s->n_keys; i++)
        if (s->keys[i].required && !sourced_ini_has(&p->ini, p->section_number, s->keys[i].name))
            return sourced_ini_fail(&p->ini, p->section_line, s->keys[i].name, "missing in section %s", s->usage);
    return 0;
}

static int enter_drawn_section(struct drawn_parser *p)
{
    char text[SOURCED_INI_LINE_MAX], *words[4] = {NULL};
    struct sourced_ini *ini = &p->ini;
    if (leave_drawn_section(p) != 0)
        return -1;
    memcpy(text, ini->header, sizeof text);
    size_t n = sourced_ini_words(text, words, 3);
    const struct drawn_section *s = drawn_sections;
    while (s < drawn_sections + COUNT(drawn_sections) && strcmp(s->name, words[0]) != 0)
        s++;
    if (s == drawn_sections + COUNT(drawn_sections))
        return drawn_wrong(p, words[0], "no such section; [machine], [task NAME] and [phase TASK NAME] are known");
    if (n != s->words)
        return drawn_wrong(p, ini->header, "this header has the form %s", s->usage);
    if (ini->header_before)
        return sourced_ini_twice(ini, ini->header, ini->header_before);
    p->section = s;
    p->section_line = ini->line;
    p->section_number = ini->section;
    return s->enter(p, words);
}

static int take_drawn_line(struct drawn_parser *p)
{
    char *key, *value, known[200] = "";
    if (sourced_ini_pair(&p->ini, &key, &value) != MACHINE_OK || sourced_ini_once(&p->ini, key) != MACHINE_OK)
        return -1;
    for (size_t i = 0; i < p->section->n_keys; i++) {
        if (strcmp(p->section->keys[i].name, key) == 0)
            return p->section->keys[i].take(p, key, value);
        text_list_add(known, sizeof known, " ", "%s", p->section->keys[i].name);
    }
    return drawn_wrong(p, key, "no such key in section %s; known keys: %s", p->section->usage, known);
}

/* ---- checks that need the entire file ---- */

static int find_next(struct drawn_parser *p, struct drawn_task *t, struct drawn_phase *phase)
{
    if (phase->n_next == 0) {
        phase->n_next = 1;
        phase->next[0] = (struct drawn_next){.phase = (unsigned)(phase - t->phases + 1) % t->n_phases, .until = 1};
        return 0;
    }
    for (unsigned i = 0; i < phase->n_next; i++) {
        struct drawn_next *next = &phase->next[i];
        while (next->phase < t->n_phases && strcmp(t->phases[next->phase].name, next->name) != 0)
            next->phase++;
        if (next->phase == t->n_phases)
            return sourced_ini_fail(&p->ini, phase->line, "next", "task %s has no phase '%s'", t->name, next->name);
    }
    return 0;
}

static int check_phase(struct drawn_parser *p, struct drawn_task *t, struct drawn_phase *phase)
{
    bool blocked = phase->row.task == SIM_IDLE;
    const char *of_work = phase->has_ipc ? "ipc" : phase->has_stall ? "stall" : phase->has_syscall ? "syscall" : NULL;
    if (blocked && of_work)
        return sourced_ini_fail(&p->ini, phase->line, of_work, "not allowed in a blocked phase; remove it");
    if (!blocked && p->file->has_ipc && !phase->has_ipc)
        return sourced_ini_fail(&p->ini, phase->line, "ipc",
                                "missing, but other phases have it; give it to all or none");
    return find_next(p, t, phase);
}

static int check_task(struct drawn_parser *p, struct drawn_task *t)
{
    bool works = false;
    if (p->file->has_cookie && !t->cookie[0])
        return sourced_ini_fail(&p->ini, t->line, "cookie", "missing, but other tasks have it; give it to all or none");
    for (unsigned i = 0; i < t->n_phases; i++) {
        if (check_phase(p, t, &t->phases[i]) != 0)
            return -1;
        works = works || t->phases[i].row.task != SIM_IDLE;
    }
    if (works)
        return 0;
    if (t->n_phases)
        return sourced_ini_fail(&p->ini, t->line, "task",
                                "it does no work: all its phases are blocked; at least one needs a class of work");
    return sourced_ini_fail(&p->ini, t->line, "task", "it does no work; add a section [phase %s NAME]", t->name);
}

static int check_drawn_machine(struct drawn_parser *p)
{
    const struct drawn_file *f = p->file;
    if (!f->cores)
        return drawn_wrong(p, "machine", "section [machine] is missing");
    if (f->cores * f->threads_per_core > DRAWN_CPUS_MAX)
        return sourced_ini_fail(&p->ini, sourced_ini_has(&p->ini, p->machine, "cores"), "cores",
                                "more than %d logical CPUs", DRAWN_CPUS_MAX);
    if (f->active_cores && f->active_cores < f->cores)
        return sourced_ini_fail(&p->ini, sourced_ini_has(&p->ini, p->machine, "active_cores"), "active_cores",
                                "%u is less than the %u cores of the workload", f->active_cores, f->cores);
    return 0;
}

static int check_drawn_file(struct drawn_parser *p)
{
    struct drawn_file *f = p->file;
    if (leave_drawn_section(p) != 0 || check_drawn_machine(p) != 0)
        return -1;
    if (!f->n_tasks)
        return drawn_wrong(p, "task", "no section [task NAME]");
    for (unsigned i = 0; i < f->n_tasks; i++)
        if (check_task(p, &f->tasks[i]) != 0)
            return -1;
    return 0;
}

static int drawn_file_read(struct drawn_parser *p)
{
    for (;;) {
        int failed = 0;
        switch (sourced_ini_next(&p->ini)) {
        case SOURCED_INI_SECTION:
            failed = enter_drawn_section(p);
            break;
        case SOURCED_INI_LINE:
            failed = take_drawn_line(p);
            break;
        case SOURCED_INI_END:
            return check_drawn_file(p);
        default:
            failed = -1;
        }
        if (failed)
            return failed;
    }
}

int drawn_file_parse(const char *text, size_t length, const char *file, struct drawn_file *out,
                     struct machine_error *err)
{
    struct drawn_parser *p = calloc(1, sizeof *p);
    if (!p)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory while reading %.160s", file);
    memset(out, 0, sizeof *out);
    p->file = out;
    sourced_ini_begin(&p->ini, text, length, file, "characterize-workload/1", true, err);
    int failed = drawn_file_read(p);
    free(p);
    return failed ? (int)err->status : MACHINE_OK;
}

/* ---- what is drawn ---- */

struct drawn_random drawn_random_of(uint64_t seed, uint64_t stream)
{
    return (struct drawn_random){splitmix64(splitmix64(seed) ^ stream)};
}

double drawn_random_unit(struct drawn_random *r)
{
    uint64_t z = splitmix64(r->state);
    r->state += SPLITMIX64_STEP;
    return (double)(z >> 11) * 0x1p-53;
}

unsigned drawn_random_below(struct drawn_random *r, unsigned n)
{
    return (unsigned)(drawn_random_unit(r) * n);
}

/* Mean 0, standard deviation 1: Box and Muller, "A note on the generation of random normal deviates", 1958. */
static double drawn_random_normal(struct drawn_random *r)
{
    double radius = sqrt(-2 * log(1 - drawn_random_unit(r)));
    return radius * cos(2 * M_PI * drawn_random_unit(r));
}

static double drawn_random_us(struct drawn_random *r, const struct drawn_length *l)
{
    switch (l->shape) {
    case DRAWN_UNIFORM:
        return l->a + (l->b - l->a) * drawn_random_unit(r);
    case DRAWN_EXPONENTIAL:
        return -l->a * log(1 - drawn_random_unit(r));
    case DRAWN_LOGNORMAL: /* of median a exp(-b^2 / 2), so of mean a */
        return l->a * exp(l->b * (drawn_random_normal(r) - l->b / 2));
    default:
        return l->a;
    }
}

int64_t drawn_random_length(struct drawn_random *r, const struct drawn_length *l)
{
    double ns = 1000 * fmin(drawn_random_us(r, l), 1e4 * drawn_length_mean(l));
    return (int64_t)fmax(1, round(ns)) * 1000;
}

double drawn_length_mean(const struct drawn_length *l)
{
    return l->shape == DRAWN_UNIFORM ? (l->a + l->b) / 2 : l->a;
}
