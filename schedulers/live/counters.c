/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which events the scheduler needs, and which it gives up first where counters are scarce; and instructions. */
#include "schedulers/live/counters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/cpu/tsc.h"
#include "drivers/events/events.h"
#include "drivers/perf/perf_groups.h"

/* Given up first: what decides nothing; then stalls, without which all cycles follow the clock (G 7.7.3); then
 * instructions by width, without which cycles at levels tell who is wide. */
enum rank { NEEDED, BY_WIDTH, STALLS, THROTTLED };

static bool accounts(const struct live_config *config)
{
    bool some = config->accounting != LIVE_FAIR;
    for (policy_u32 i = 0; i < config->n_groups; i++)
        some = some || config->group_accounting[i] != LIVE_FAIR;
    return some;
}

bool live_counters_needed(const struct live_config *config)
{
    return config->counted_wide || accounts(config);
}

/* Floating-point instructions of a width: their events differ in the umask, and one counter counts both. 0: the
 * processor has none, or they are not known. */
static uint64_t width_code(const struct events_table *t, int width)
{
    char name[60];
    uint64_t code = 0;
    struct machine_error ignored;
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "FP_ARITH_INST_RETIRED.%dB_PACKED_%s", width, i == 0 ? "DOUBLE" : "SINGLE");
        const struct events_entry *e = events_by_name(t, name, &ignored);
        if (e == NULL || (code != 0 && event_code_select(e->code) != event_code_select(code)))
            return 0;
        code |= e->code;
    }
    return code;
}

/* ---- what is to be counted ---- */

struct plan {
    struct perf_groups_event events[LIVE_EVENTS];
    struct live_counters *out;
};

static void want(struct plan *p, int event, uint64_t code, enum rank rank)
{
    const enum counter_id id = event == LIVE_CYCLES ? COUNTER_CYCLES
                               : event == LIVE_REF  ? COUNTER_REF_CYCLES
                                                    : COUNTER_EVENT;
    if (id == COUNTER_EVENT && code == 0)
        return;
    p->events[p->out->n] = (struct perf_groups_event){id, code, rank};
    p->out->event[p->out->n++] = event;
}

static int want_levels(struct plan *p, const struct live_params *params, struct machine_error *err)
{
    for (int level = 1; level < params->levels; level++) {
        if (params->level_code[level] == 0)
            return machine_fail(err, MACHINE_CANNOT, "--mode fair",
                                "%s: the export names no event that counts cycles at license level %d%s%.300s",
                                params->cpu, level, params->no_levels[0] != '\0' ? ": " : "", params->no_levels);
        want(p, LIVE_LEVEL + level, params->level_code[level], NEEDED);
    }
    return MACHINE_OK;
}

static int make_plan(const struct live_params *params, const struct cpu_identity *here,
                     const struct live_config *config, struct plan *p, struct machine_error *err)
{
    static const int widths[] = {256, 512};
    struct machine_error ignored;
    uint64_t codes[2] = {0, 0};
    struct events_table *table = config->counted_wide ? malloc(sizeof(*table)) : NULL;
    if (table != NULL && events_find(NULL, here, "cpu", table, &ignored) == MACHINE_OK)
        for (int i = 0; i < 2; i++)
            codes[i] = width_code(table, widths[i]);
    free(table);
    const bool by_width = codes[0] != 0 && codes[1] != 0;
    if (config->counted_wide && !by_width) /* no table of events has this processor, or they are not in it */
        snprintf(p->out->without, sizeof(p->out->without), "floating-point instructions by width");
    want(p, LIVE_CYCLES, 0, NEEDED);
    want(p, LIVE_REF, 0, NEEDED);
    for (int i = 0; i < 2 && by_width; i++)
        want(p, i == 0 ? LIVE_256 : LIVE_512, codes[i], accounts(config) ? BY_WIDTH : NEEDED);
    if (accounts(config) || !by_width) {
        const int status = want_levels(p, params, err);
        if (status != MACHINE_OK)
            return status;
    }
    if (accounts(config)) {
        want(p, LIVE_STALL_LOADS, params->stall_code[0], STALLS);
        want(p, LIVE_STALL_STORES, params->stall_code[1], STALLS);
        want(p, LIVE_THROTTLED, params->throttle_code, THROTTLED);
    }
    return MACHINE_OK;
}

/* ---- opening it ---- */

/* The rate of reference cycles, which is the TSC's, in kHz; 0: it is not known. */
static policy_u32 reference_khz(void)
{
    struct cpu_leaves leaves;
    struct tsc_rate rate;
    const char *origin;
    double hz, error;
    cpu_read_leaves(&leaves);
    const double declared = tsc_declared_hz(&leaves, &origin);
    if (tsc_calibrate(&hz, &error) != 0)
        return 0;
    tsc_decide(declared, origin, hz, error, &rate);
    return (policy_u32)(rate.hz / 1e3 + 0.5);
}

/* Tests: every counter is the CPU's clock. */
static int open_clock(const struct perf_event_attr *attr, int cpu, int group)
{
    struct perf_event_attr clock = *attr;
    clock.type = PERF_TYPE_SOFTWARE;
    clock.config = PERF_COUNT_SW_CPU_CLOCK;
    return perf_profile_system.open(&clock, cpu, group);
}

static void inject(const char *how, struct live_config *config)
{
    config->injected = 1;
    config->ref_khz = 1000000;
    config->events = (1U << LIVE_EVENTS) - 1;
    if (strcmp(how, "levels") == 0)
        config->events &= ~(1U << LIVE_256 | 1U << LIVE_512);
    for (policy_u32 level = config->n_levels; level < POLICY_LEVELS_MAX; level++)
        config->events &= ~(1U << (LIVE_LEVEL + level));
}

int live_counters_open(const struct live_params *params, const struct cpu_identity *here, struct live_config *config,
                       struct live_counters *out, struct machine_error *err)
{
    static const char *const lost[] = {
        [BY_WIDTH] = "floating-point instructions by width, stalled and throttled cycles",
        [STALLS] = "stalled and throttled cycles",
        [THROTTLED] = "throttled cycles"};
    const char *how = getenv(LIVE_INJECT_NAME);
    struct perf_profile_io io = perf_profile_system;
    struct plan plan = {.out = out};
    struct cpu_view view;
    *out = (struct live_counters){.n = 0};
    if (!live_counters_needed(config))
        return MACHINE_OK;
    config->n_levels = (policy_u32)params->levels;
    memcpy(config->own_level, params->own_level, sizeof(config->own_level));
    if (params->own_level[1] == 0)
        return machine_fail(err, MACHINE_CANNOT, "--mode fair",
                            "%s: 512-bit code has no license level of its own, so that nobody loses by it",
                            params->cpu);
    if (how != NULL && strcmp(how, "clock") != 0) {
        inject(how, config);
        return MACHINE_OK;
    }
    if (how != NULL)
        io.open = open_clock;
    config->ref_khz = reference_khz();
    if (config->ref_khz == 0)
        return machine_fail(err, MACHINE_CANNOT, "--mode fair", "the rate of reference cycles is not known here");
    int status = make_plan(params, here, config, &plan, err);
    if (status != MACHINE_OK)
        return status;
    cpu_view_read("/sys", &view);
    status = perf_groups_open(&io, "/sys", &view.online, plan.events, out->n, &out->groups, err);
    if (status != MACHINE_OK)
        return status;
    const unsigned rank = perf_groups_given_up(out->groups);
    for (size_t i = 0; i < out->n; i++)
        if (plan.events[i].rank < rank)
            config->events |= 1U << out->event[i];
    if (rank != UINT_MAX)
        snprintf(out->without, sizeof(out->without), "%s", lost[rank]);
    return MACHINE_OK;
}

void live_counters_close(struct live_counters *c)
{
    perf_groups_close(c->groups);
    c->groups = NULL;
}

/* ---- instructions of all tasks in user space: what the scheduler itself executes is not to count as work ---- */

static int open_user(const struct perf_event_attr *attr, int cpu, int group)
{
    struct perf_event_attr user = *attr;
    user.exclude_kernel = 1;
    if (getenv(LIVE_INJECT_NAME) != NULL) {
        user.type = PERF_TYPE_SOFTWARE;
        user.config = PERF_COUNT_SW_CPU_CLOCK;
    }
    return perf_profile_system.open(&user, cpu, group);
}

int live_instructions_open(struct perf_groups **out, struct machine_error *err)
{
    const struct perf_groups_event event = {COUNTER_INSTRUCTIONS, 0, 0};
    struct perf_profile_io io = perf_profile_system;
    struct cpu_view view;
    io.open = open_user;
    cpu_view_read("/sys", &view);
    return perf_groups_open(&io, "/sys", &view.online, &event, 1, out, err);
}

uint64_t live_instructions(const struct perf_groups *g)
{
    uint64_t sum = 0, values[3];
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        const int fd = perf_groups_fd(g, cpu, 0);
        if (fd >= 0 && read(fd, values, sizeof(values)) == (ssize_t)sizeof(values))
            sum += values[0];
    }
    return sum;
}
