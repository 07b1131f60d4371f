/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/sample_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sample_tables.h"
#include "util/splitmix64.h"

static const struct profile_estimate not_known = {NAN, NAN, NAN};

static struct profile_estimate percent_from(double value, double lo, double hi)
{
    return (struct profile_estimate){value / 100, lo / 100, hi / 100};
}

static struct profile_row named_row(enum profile_kind kind, const char *name, uint64_t samples, double share_percent)
{
    struct profile_row row = {.kind = kind, .samples = samples, .share = share_percent / 100, .unattributed = 0};
    snprintf(row.name, sizeof row.name, "%s", name);
    row.turns[PROFILE_TAKEN] = samples;
    row.turns[PROFILE_SWITCHED] = samples / 10;
    for (size_t level = 0; level < PROFILE_LEVELS; level++)
        row.demands[level] = row.by_level[level] = percent_from(0, 0, 0.2);
    row.by_level[0] = percent_from(0, 0, 0);
    row.demands[0] = percent_from(100, 98, 100);
    row.reduced = percent_from(0, 0, 0.5);
    return row;
}

/* Overhead whose parts these are, with limits a tenth around, all of it at one level. */
static void lose(struct profile_row *row, double sibling, double delay, unsigned level)
{
    double all = sibling + delay;
    row->sibling = percent_from(sibling, 0.9 * sibling, 1.1 * sibling);
    row->delay = percent_from(delay, 0.9 * delay, 1.1 * delay);
    row->overhead = percent_from(all, 0.9 * all, 1.1 * all);
    row->by_level[level] = row->overhead;
    row->reduced = percent_from(2 * all, 1.5 * all, 2.5 * all);
}

static void blame(struct profile_row *row, size_t by, double percent)
{
    struct profile_culprit *more = realloc(row->culprits, (row->n_culprits + 1) * sizeof *more);
    if (!more)
        abort();
    row->culprits = more;
    more[row->n_culprits++] = (struct profile_culprit){by, percent / 100};
}

static void begin_profile(struct profile_result *r, size_t n_rows)
{
    *r = (struct profile_result){
        .info = {.name = "model:sample", .cpu = "A <processor>", .modelled = true, .cpus = 4, .cores = 2, .notes = ""},
        .totals = {.turns = 600, .pause_us_max = 712, .seconds = 12},
        .head = {.version = "1.2.3", .params = "export.json", .params_cpu = "A <processor>"},
        .setup = {.seed = 5,
                  .flags = PROFILE_SOURCES,
                  .mean_us = 20000,
                  .pause_us = 700,
                  .window_us = 70,
                  .ref_khz = 2100000,
                  .n_bins = 2,
                  .bin = {{1, {3700000, 3500000, 3200000}}, {2, {3500000, 3100000, 2400000}}}},
        .terms = {.wait_us = 670, .change_us = {NAN, 20, 30}, .breakeven_us = {NAN, 250, 300}},
        .turns = {[PROFILE_TAKEN] = 500, [PROFILE_IDLE] = 50, [PROFILE_SWITCHED] = 48, [PROFILE_UNSETTLED] = 2},
    };
    r->rows = calloc(n_rows, sizeof *r->rows);
    if (!r->rows)
        abort();
}

static void add_row(struct profile_result *r, struct profile_row row)
{
    r->rows[r->n_rows++] = row;
}

void sample_profile(struct profile_result *r)
{
    enum { ALL, NGINX, X265, SSHD, WEB, BATCH, CORE0, CORE1, ROWS };
    begin_profile(r, ROWS);
    add_row(r, named_row(PROFILE_ALL, "all", 500, 100));
    add_row(r, named_row(PROFILE_TASK, "nginx-8714", 300, 60));
    add_row(r, named_row(PROFILE_TASK, "x265-200", 150, 30));
    add_row(r, named_row(PROFILE_TASK, "sshd-901", 50, 10));
    add_row(r, named_row(PROFILE_CONTAINER, "/system.slice/nginx.service", 350, 70));
    add_row(r, named_row(PROFILE_CONTAINER, "/user.slice", 150, 30));
    add_row(r, named_row(PROFILE_CORE, "core 0", 400, 80));
    add_row(r, named_row(PROFILE_CORE, "core 1", 100, 20));
    for (size_t i = NGINX; i <= SSHD; i++) {
        static const uint32_t pids[] = {8714, 200, 901};
        r->rows[i].pid = r->rows[i].tgid = pids[i - NGINX];
        r->rows[i].cgroup = i == X265 ? 78 : 77;
    }
    r->rows[WEB].cgroup = 77;
    r->rows[BATCH].cgroup = 78;
    r->rows[CORE1].core = 1;
    lose(&r->rows[ALL], 3.6, 0.9, 2);
    lose(&r->rows[NGINX], 5.8, 1.5, 2);
    r->rows[NGINX].overhead = percent_from(7.3, 6.1, 8.6);
    lose(&r->rows[X265], 0, 0.4, 1);
    r->rows[SSHD].overhead = percent_from(0.3, 0, 5.7);
    r->rows[SSHD].sibling = percent_from(0.3, 0, 5.7);
    r->rows[SSHD].delay = percent_from(0, 0, 5.7);
    lose(&r->rows[WEB], 5.0, 1.3, 2);
    lose(&r->rows[BATCH], 0, 0.4, 1);
    lose(&r->rows[CORE0], 4.5, 1.1, 2);
    lose(&r->rows[CORE1], 0, 0.1, 1);
    r->rows[X265].demands[2] = percent_from(92, 87, 96);
    r->rows[X265].demands[0] = percent_from(8, 4, 13);
    r->rows[X265].causes = 0.93;
    r->rows[NGINX].causes = 0.05;
    blame(&r->rows[NGINX], X265, 6.8);
    blame(&r->rows[NGINX], NGINX, 0.3);
    r->rows[NGINX].unattributed = 0.002;
    blame(&r->rows[X265], X265, 0.4);
    snprintf(r->rows[NGINX].advice, sizeof r->rows[NGINX].advice,
             "Keep x265-200 off this core's sibling (core scheduling, cpusets): it costs 5.8 %% here.");
}

void sample_profile_drawn(struct profile_result *r, size_t n_tasks, uint64_t seed)
{
    static const char *const commands[] = {"nginx", "postgres", "x265", "python3", "kworker/u64:3-ev",
                                           "java",  "openssl"};
    size_t n_containers = n_tasks / 10, n_cores = n_tasks < 32 ? n_tasks : 32, first = n_tasks + 1;
    uint64_t state = seed;
    begin_profile(r, 1 + n_tasks + n_containers + n_cores);
    add_row(r, named_row(PROFILE_ALL, "all", 50 * n_tasks, 100));
    lose(&r->rows[0], 2.5, 1.2, 2);
    for (size_t i = 0; i < n_tasks + n_containers + n_cores; i++) {
        char name[80];
        uint32_t pid = (uint32_t)(splitmix64(state++) % 4000000);
        enum profile_kind kind = i < n_tasks                  ? PROFILE_TASK
                                 : i < n_tasks + n_containers ? PROFILE_CONTAINER
                                                              : PROFILE_CORE;
        size_t number = kind == PROFILE_TASK        ? i
                        : kind == PROFILE_CONTAINER ? i - n_tasks
                                                    : i + 1 - first - n_containers;
        size_t of = kind == PROFILE_TASK ? n_tasks : kind == PROFILE_CONTAINER ? n_containers : n_cores;
        if (kind == PROFILE_TASK)
            snprintf(name, sizeof name, "%s-%u", commands[pid % (sizeof commands / sizeof *commands)], pid);
        else if (kind == PROFILE_CONTAINER)
            snprintf(name, sizeof name, "/system.slice/docker-%016llx.scope", (unsigned long long)splitmix64(state++));
        else
            snprintf(name, sizeof name, "core %zu", number);
        struct profile_row row = named_row(kind, name, 50, 100.0 * (double)(of - number) * 2 / (double)(of * (of + 1)));
        row.pid = kind == PROFILE_TASK ? pid : 0;
        row.core = (uint32_t)number;
        lose(&row, 12.0 / (1 + (double)number) * (double)(splitmix64(state++) % 100) / 100, 6.0 / (1 + (double)number),
             1 + (unsigned)(pid & 1));
        for (size_t k = 0; kind == PROFILE_TASK && k < PROFILE_CULPRITS_MAX && k < n_tasks; k++)
            blame(&row, 1 + splitmix64(state++) % (n_tasks < 20 ? n_tasks : 20),
                  100 * row.overhead.value / (double)(2u << k));
        row.causes = kind == PROFILE_TASK ? row.share : 0;
        add_row(r, row);
    }
}

void sample_profile_without_sources(struct profile_result *r)
{
    r->setup.flags &= ~(uint32_t)PROFILE_SOURCES;
    for (size_t i = 0; i < r->n_rows; i++)
        r->rows[i].sibling = r->rows[i].delay = not_known;
}

void sample_profile_without_table(struct profile_result *r)
{
    r->setup.n_bins = 0;
    r->head.params = r->head.params_cpu = NULL;
    r->terms.wait_us = NAN;
    for (size_t level = 0; level < PROFILE_LEVELS; level++)
        r->terms.change_us[level] = r->terms.breakeven_us[level] = NAN;
    for (size_t i = 0; i < r->n_rows; i++)
        r->rows[i].advice[0] = '\0';
}

struct profile_row *sample_profile_row(struct profile_result *r, const char *name)
{
    for (size_t i = 0; i < r->n_rows; i++)
        if (strcmp(r->rows[i].name, name) == 0)
            return &r->rows[i];
    return NULL;
}

void sample_profile_free(struct profile_result *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].culprits);
    free(r->rows);
    *r = (struct profile_result){.n_rows = 0};
}

void sample_profile_nasty(struct profile_result *r)
{
    static const char *const warnings[] = {sample_nasty};
    r->head = (struct profile_head){sample_nasty, sample_nasty, sample_nasty, sample_nasty, NULL, 1, warnings};
    r->info.name = r->info.cpu = r->info.notes = sample_nasty;
    for (size_t i = 0; i < r->n_rows; i++) {
        snprintf(r->rows[i].name, sizeof r->rows[i].name, "%zu%s", i, sample_nasty);
        snprintf(r->rows[i].command, sizeof r->rows[i].command, "%s", sample_nasty);
        snprintf(r->rows[i].advice, sizeof r->rows[i].advice, "%s", sample_nasty);
    }
}
