/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --verdict: whether wide code pays here, from a few tables that are measured for it or read from a directory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "output/verdict/verdict.h"
#include "tables/frequency/frequency.h"
#include "tables/registry.h"
#include "util/clock.h"

/* Tables that are measured, in this order; between FREQUENCY and BURST_AT what scalar code loses beside neighbors. */
enum step {
    FREQUENCY,
    BURST_AT, /* VERDICT_SIDES of them each, in the order of enum kernel_weight */
    BURST = BURST_AT + VERDICT_SIDES,
    WAKE = BURST + VERDICT_SIDES,
    STEPS
};
enum { OTHER_CORES, SIBLINGS, NEIGHBORS };
static const double SECONDS = 60, SECONDS_BRIEF = 20; /* without --seconds */
static const double WAKE_BRIEF = 40;                  /* below that many, few idle times */
/* Shares of the time; the rest is that of first uses, and of getting ready. */
static const double share_of_step[STEPS] = {
    [FREQUENCY] = 0.26, [BURST_AT] = 0.06, [BURST_AT + 1] = 0.09, [BURST] = 0.05, [BURST + 1] = 0.14};
static const double share_of_neighbor[NEIGHBORS] = {[OTHER_CORES] = 0.09, [SIBLINGS] = 0.06};
static const double EVERY_LEAST_US = 10, EVERY_MOST_US = 1e5; /* as table burst has them */
static const double BURST_MOST_US = 20e3;
static const double LEFT_LEAST = 0.2; /* of its share of the time: with less a step would have too few rows; assumed */

struct verdict_run {
    struct measuring m;
    struct verdict_question question;
    const char *widest[VERDICT_SIDES]; /* the kernels; NULL: none of more than 128 bits */
    struct tables_options options[STEPS];
    bool wanted[STEPS], have[STEPS], beside[NEIGHBORS], have_beside[NEIGHBORS];
    struct table table[STEPS];
    struct beside_result neighbor[NEIGHBORS];
    double begun; /* s of the clock */
};

static struct verdict_question question_of(const struct options *o)
{
    struct verdict_question question = {.load = VERDICT_USUAL_LOAD,
                                        .speedup = o->verdict.speedup.given ? o->verdict.speedup.value : NAN,
                                        .seed = o->tables.seed,
                                        .seconds = o->input != NULL           ? 0
                                                   : o->profile.seconds.given ? o->profile.seconds.value
                                                   : o->tables.brief          ? SECONDS_BRIEF
                                                                              : SECONDS};
    if (o->verdict.share.given)
        question.load.share = o->verdict.share.value / 100;
    if (o->verdict.burst_us > 0)
        question.load.burst_us = o->verdict.burst_us;
    return question;
}

/* ---- what is measured ---- */

static const struct table_kind *kind_of(enum step i)
{
    return i == FREQUENCY ? &table_frequency : i < WAKE ? &table_burst : &table_wake;
}

static void widest_kernels(struct verdict_run *r, const struct machine_info *info)
{
    static const char *const names[][VERDICT_SIDES] = {{[KERNEL_HEAVY] = "512fma", [KERNEL_LIGHT] = "512or"},
                                                       {[KERNEL_HEAVY] = "256fma", [KERNEL_LIGHT] = "256or"},
                                                       {[KERNEL_HEAVY] = "256mulpd", [KERNEL_LIGHT] = "256orpd"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t side = 0; side < VERDICT_SIDES; side++)
            if (r->widest[side] == NULL && (kernel_named(names[i][side]).kernel->features & ~info->features) == 0)
                r->widest[side] = names[i][side];
}

/* The usual kernels, and FMAs that load: they draw more power than any code on registers, and a Granite Rapids lowers
 * the frequency for 256-bit ones, too, which it does not without loads. Stand-ins follow those that they stand for,
 * whose reasons are reported. */
static void classes_of_code(struct tables_options *o, unsigned features)
{
    static const char *const loads[] = {"256fma@mem", "512fma@mem"};
    if (o->n_kernels > 0)
        return;
    for (size_t i = 0; i < tables_n_usual_kernels; i++) {
        const char *stand_in = kernel_stand_in(tables_usual_kernels[i], features);
        const struct payload usual = kernel_named(tables_usual_kernels[i]);
        if (stand_in == NULL || usual.kernel->features & ~features)
            o->kernels[o->n_kernels++] = usual;
        if (stand_in != NULL)
            o->kernels[o->n_kernels++] = kernel_named(stand_in);
    }
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        o->kernels[o->n_kernels++] = kernel_named(loads[i]);
}

static void options_of_bursts(struct verdict_run *r, enum step i, size_t side)
{
    struct tables_options *o = &r->options[i];
    r->wanted[i] = r->widest[side] != NULL && (i >= BURST || !isfinite(r->question.speedup));
    if (!r->wanted[i])
        return;
    o->n_kernels = 1;
    o->kernels[0] = kernel_named(r->widest[side]);
    o->burst_count = 1000; /* until the frequencies are known: bursts_asked() */
    o->burst_every_us = i >= BURST ? VERDICT_APART_US : 1000;
}

static void options_of_steps(struct verdict_run *r)
{
    const unsigned cores = r->m.options.n_active > 0 ? r->m.options.active[0] : 0;
    struct machine_info info;
    r->m.machine.ops->info(&r->m.machine, &info);
    widest_kernels(r, &info);
    const char *widest = r->widest[KERNEL_HEAVY] != NULL ? r->widest[KERNEL_HEAVY] : r->widest[KERNEL_LIGHT];
    for (enum step i = 0; i < STEPS; i++) {
        r->options[i] = r->m.options;
        r->options[i].n_active = 1;
        r->options[i].active[0] = cores;
        r->options[i].seconds = share_of_step[i] * r->question.seconds;
        r->wanted[i] = i == FREQUENCY || widest != NULL;
    }
    r->options[FREQUENCY].n_active = 2;
    r->options[FREQUENCY].active[1] = 1;
    r->options[FREQUENCY].seconds /= info.cores == 1 || cores == 1 ? 1 : 2; /* of each number of cores */
    r->options[WAKE].brief = r->question.seconds < WAKE_BRIEF;
    classes_of_code(&r->options[FREQUENCY], info.features);
    r->beside[OTHER_CORES] = widest != NULL && info.cores > 1 && cores != 1;
    r->beside[SIBLINGS] = widest != NULL && measuring_has_siblings(&r->m);
    for (enum step i = BURST_AT; i < WAKE; i++)
        options_of_bursts(r, i, (size_t)(i - BURST_AT) % VERDICT_SIDES);
}

/* The time that all of it takes, as far as it is known before. */
static int verdict_plan(struct verdict_run *r)
{
    struct measuring *m = &r->m;
    const struct tables_options given = m->options;
    double expected[STEPS] = {0};
    int status = DONE;
    for (enum step i = 0; i < STEPS && status == DONE; i++) {
        const struct table_kind *kind = kind_of(i);
        m->options = r->options[i];
        if (r->wanted[i])
            status = measuring_plan(m, &kind, 1);
        expected[i] = r->wanted[i] ? m->expected[0] : 0;
    }
    m->options = given;
    m->n_kinds = STEPS;
    for (enum step i = 0; i < STEPS; i++) {
        m->kinds[i] = kind_of(i);
        m->expected[i] = expected[i];
    }
    return status;
}

/* ---- measuring ---- */

/*
 * The requested bursts can be sized once the rate of the narrowest code is known. False: they cannot be measured, or
 * are the same as those that are far apart.
 */
static bool bursts_requested(struct verdict_run *r, enum step i)
{
    const size_t side = (size_t)(i - BURST_AT) % VERDICT_SIDES;
    struct tables_options *o = &r->options[i];
    struct machine_error error;
    struct cells cells;
    struct verdict_load load = r->question.load;
    double every;
    if (i >= BURST) /* of longer ones most is steady */
        load.burst_us = fmin(load.burst_us, BURST_MOST_US);
    o->burst_count = verdict_burst_count(&r->table[FREQUENCY], r->widest[side], 0, &load, &every);
    if (i >= BURST && r->have[BURST_AT + side] && every >= VERDICT_APART_US)
        return false;
    o->burst_every_us = i < BURST ? every : fmax(VERDICT_APART_US, 4 * load.burst_us);
    if (o->burst_count < 1 || o->burst_every_us < EVERY_LEAST_US || o->burst_every_us > EVERY_MOST_US ||
        tables_plan(&table_burst, &r->m.machine, o, &cells, &error) != MACHINE_OK)
        return false;
    tables_free_cells(&cells);
    return true;
}

/* The part of the time that is left for what is left, where getting ready took more than was thought. Models have no
 * time of their own: the same seed, the same answer. */
static double time_left_for(const struct verdict_run *r, double share)
{
    struct machine_info info;
    r->m.machine.ops->info(&r->m.machine, &info);
    const double left = r->question.seconds - (clock_seconds(CLOCK_MONOTONIC) - r->begun);
    return info.modelled ? 1 : fmin(fmax(left / (share * r->question.seconds), LEFT_LEAST), 1);
}

/* Measures what scalar code loses while neighbors run the widest kernel. That it cannot be measured is no failure. */
static int measure_neighbors(struct verdict_run *r)
{
    const char *widest = r->widest[KERNEL_HEAVY] != NULL ? r->widest[KERNEL_HEAVY] : r->widest[KERNEL_LIGHT];
    for (size_t i = 0; i < NEIGHBORS; i++) {
        /* of the cores that the processor has, some may not be used */
        const bool alone = i == OTHER_CORES && !(verdict_cores(&r->table[FREQUENCY]) > 1);
        struct tables_options o = r->options[FREQUENCY];
        struct machine_error error;
        if (!r->beside[i] || alone || stop_requested())
            continue;
        const struct payload neighbor = kernel_named(widest);
        o.n_active = 1;
        o.siblings = i == SIBLINGS;
        o.seconds = share_of_neighbor[i] * r->question.seconds;
        int status = frequency_beside(&r->m.machine, &o, &neighbor, &r->neighbor[i], &error);
        if (status == MACHINE_FAILED)
            return complain_of_machine("neighbors", &error);
        r->have_beside[i] = status == MACHINE_OK;
    }
    return stop_requested() ? FAILED : DONE;
}

static int measure_steps(struct verdict_run *r)
{
    int status = verdict_plan(r);
    double share = 1;
    r->begun = clock_seconds(CLOCK_MONOTONIC);
    for (enum step i = 0; i < STEPS && status == DONE; i++) {
        const double part = time_left_for(r, share);
        share -= share_of_step[i];
        if (!r->wanted[i] || (i >= BURST_AT && i < WAKE && !bursts_requested(r, i)))
            continue;
        r->m.current = i;
        r->m.options = r->options[i];
        r->m.options.seconds *= part;
        status = measuring_table(&r->m, kind_of(i), NULL, &r->table[i]);
        r->have[i] = status == DONE;
        if (i == FREQUENCY && status == DONE)
            status = measure_neighbors(r);
        share -= i == FREQUENCY ? share_of_neighbor[OTHER_CORES] + share_of_neighbor[SIBLINGS] : 0;
    }
    return status;
}

static int verdict_measure(const struct options *o, struct verdict_run *r)
{
    int status = measuring_open(o, &r->m);
    if (status != DONE)
        return status;
    options_of_steps(r);
    status = measure_steps(r);
    if (status != DONE && stop_requested())
        complain("interrupted: nothing was written");
    int closed = measuring_close(&r->m);
    return status == DONE ? closed : status;
}

/* ---- telling ---- */

static int verdict_tell(const struct options *o, const struct programs *programs, const struct verdict_tables *tables,
                        const struct verdict_question *question)
{
    struct verdict *v = calloc(1, sizeof(*v));
    char *json = NULL;
    int status = v == NULL || verdict_conclude(tables, question, programs, v) != 0 ||
                         (o->json != NULL && (json = verdict_to_json(v)) == NULL)
                     ? complain_out_of_memory()
                     : DONE;
    if (status == DONE && !file_is_stdout(o->json))
        verdict_print(stdout, messages_colour(stdout), v);
    if (status == DONE && o->json != NULL)
        status = file_write(o->json, file_print_text, json);
    if (status == DONE && o->json != NULL && !file_is_stdout(o->json) && !o->quiet) {
        putchar('\n');
        messages_print(stdout, "Written      %s (verdict)", o->json);
    }
    if (status == DONE && v->side[KERNEL_HEAVY].n < 2 && v->side[KERNEL_LIGHT].n < 2)
        status = refuse(CANNOT, "--verdict: there are not two widths to compare; the reasons are above");
    free(json);
    free(v);
    return status;
}

static int verdict_measured(const struct options *o, const struct programs *programs)
{
    struct verdict_run *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return complain_out_of_memory();
    r->question = question_of(o);
    int status = verdict_measure(o, r);
    const struct table *t[STEPS];
    for (enum step i = 0; i < STEPS; i++)
        t[i] = r->have[i] ? &r->table[i] : NULL;
    struct verdict_tables tables = {.frequency = t[FREQUENCY],
                                    .wake = t[WAKE],
                                    .corunners = r->have_beside[OTHER_CORES] ? &r->neighbor[OTHER_CORES] : NULL,
                                    .siblings = r->have_beside[SIBLINGS] ? &r->neighbor[SIBLINGS] : NULL};
    for (size_t side = 0; side < VERDICT_SIDES; side++) {
        tables.burst_at[side] = t[BURST_AT + side];
        tables.burst[side] = t[BURST + side] != NULL ? t[BURST + side] : t[BURST_AT + side];
    }
    if (status == DONE)
        status = verdict_tell(o, programs, &tables, &r->question);
    for (enum step i = 0; i < STEPS; i++)
        if (r->have[i])
            table_free(&r->table[i]);
    free(r);
    return status;
}

/* Checks that frequencies that were read are of the code and the surroundings that a verdict is about. */
static int verdict_check_read(const struct options *o, const struct table *frequency)
{
    if (frequency == NULL)
        return refuse(BAD_USAGE, "--input %s: tables/frequency.json is missing, which a verdict begins with", o->input);
    if (!table_has(frequency, "ipc"))
        return refuse(BAD_USAGE,
                      "%s/tables/frequency.json: an older version wrote it, without the column ipc; measure it again",
                      o->input);
    const char *companion = table_setting(frequency, "companion"), *siblings = table_setting(frequency, "siblings");
    companion = companion != NULL ? companion : "64add";
    siblings = siblings != NULL ? siblings : "idle";
    if (strcmp(companion, "64add") != 0 || strcmp(siblings, "idle") != 0)
        return refuse(BAD_USAGE,
                      "%s/tables/frequency.json: measured beside %s, siblings %s; a verdict needs it beside 64add, "
                      "siblings idle",
                      o->input, companion, siblings);
    return DONE;
}

static int verdict_read(const struct options *o, const struct programs *programs)
{
    static const struct table_kind *const kinds[] = {&table_frequency, &table_burst, &table_wake};
    struct collected c;
    const struct verdict_question question = question_of(o);
    int status = collect_tables(o, kinds, sizeof(kinds) / sizeof(kinds[0]), &c);
    if (status != DONE)
        return status;
    struct verdict_tables tables = {.frequency = NULL};
    for (size_t i = 0; i < c.n; i++)
        verdict_take_table(&tables, c.list[i]);
    status = verdict_check_read(o, tables.frequency);
    if (status == DONE)
        status = verdict_tell(o, programs, &tables, &question);
    collect_free(&c);
    return status;
}

int job_verdict(const struct options *o)
{
    enum { JSON_BYTES = 100000 };
    struct machine_error error;
    int status = file_check(o->json, JSON_BYTES);
    if (status != DONE)
        return status;
    struct programs *programs = calloc(1, sizeof(*programs));
    status = programs == NULL                                      ? complain_out_of_memory()
             : programs_load(NULL, programs, &error) != MACHINE_OK ? complain_of_machine("", &error)
                                                                   : DONE;
    if (status == DONE)
        status = o->input != NULL ? verdict_read(o, programs) : verdict_measured(o, programs);
    free(programs);
    return status;
}
