/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many rows the simulation plays in a second of processor time on one core, for each policy: rows in memory, four
 * cores, thousands of context switches and some hundred changes of level a second. Aim: 20 million. The best of several
 * runs, because neighbors only slow them down.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedulers/simulate/simulate.h"
#include "util/splitmix64.h"

enum { CPUS = 4, ROWS = 500000, RUNS = 9, AIM = 20000000 };

struct bench_rows {
    struct sim_row rows[CPUS][ROWS];
    size_t next[CPUS];
};

static size_t read_rows(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct bench_rows *b = self;
    size_t n = ROWS - b->next[stream] < max ? ROWS - b->next[stream] : max;
    memcpy(out, &b->rows[stream][b->next[stream]], n * sizeof(*out));
    b->next[stream] += n;
    return n;
}

static void rewind_rows(void *self)
{
    memset(((struct bench_rows *)self)->next, 0, sizeof(((struct bench_rows *)self)->next));
}

/* Two tasks take turns on each CPU, in slices of 100 us on average; one in a hundred is wide, one in twenty idle. */
static void draw_rows(struct bench_rows *b)
{
    uint64_t state = 1;
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        for (size_t i = 0; i < ROWS; i++) {
            double u = ldexp((double)(splitmix64(state += SPLITMIX64_STEP) >> 11) + 1, -53);
            uint64_t kind = splitmix64(state += SPLITMIX64_STEP) % 100;
            b->rows[cpu][i] = (struct sim_row){.ps = (int64_t)(-log(u) * 100e6),
                                               .task = kind < 5 ? SIM_IDLE : 2 * cpu + (unsigned)(i % 2),
                                               .ipc = 1500,
                                               .class = kind == 5 ? SIM_512HEAVY : SIM_NONE};
        }
}

static double best_rate(struct sim_params *p, struct sim_workload *w, enum sim_policy policy)
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        struct sim_options options = {.policy = policy};
        struct sim_result result;
        struct machine_error error;
        clock_t begin = clock();
        if (sim_run(p, w, &options, &result, &error) != MACHINE_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 0;
        }
        best = fmax(best, (double)result.rows * CLOCKS_PER_SEC / (double)(clock() - begin));
        sim_result_free(&result);
    }
    return best;
}

int main(int argc, char **argv)
{
    static struct bench_rows rows;
    char name[] = "bench";
    unsigned cpu[CPUS] = {0, 1, 2, 3};
    struct sim_task tasks[2 * CPUS] = {{0}};
    struct sim_workload w = {.name = name,
                             .kind = "csv",
                             .recorded = 28000,
                             .active_cores = 16,
                             .n_cpus = CPUS,
                             .cpu = cpu,
                             .core = cpu,
                             .n_cores = CPUS,
                             .n_tasks = 2 * CPUS,
                             .tasks = tasks,
                             .has_ipc = true,
                             .cpus = {.read = read_rows, .rewind = rewind_rows, .self = &rows}};
    struct sim_params *params;
    struct machine_error error;
    int status = 0;
    w.class_used[SIM_NONE] = w.class_used[SIM_512HEAVY] = true;
    if (sim_params_read(argc > 1 ? argv[1] : "tests/support/xeon-gold-6130.export.json", &params, &error) !=
        MACHINE_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    draw_rows(&rows);
    printf("simulation: millions of rows a second (aim: %d)\n", AIM / 1000000);
    for (int policy = 0; policy < SIM_POLICIES; policy++) {
        double rate = best_rate(params, &w, (enum sim_policy)policy);
        printf("  %-10s %6.1f%s\n", sim_policy_names[policy], rate / 1e6, rate < AIM ? "   MISSED" : "");
        status |= rate < AIM;
    }
    sim_params_free(params);
    return status;
}
