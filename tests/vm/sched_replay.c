/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides again, by the simulator's functions, what characterize-sched decided: reads the records of its accounting
 * (CHARACTERIZE_SCHED_RECORD) and the export. Usage: sched_replay RECORDS EXPORT.json. Status 0: all are equal, but for
 * those, at most one in 100, in which CPUs of one core were accounted at the same time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/live/shared.h"
#include "schedulers/simulate/params.h"

enum { PIDS = 1 << 22 };

static struct policy_turbos turbos;
static struct live_config config;
static policy_u32 level[2], last_user[LIVE_CPUS_MAX][POLICY_LEVELS_MAX];
static long long owed[PIDS];
static unsigned long records, met, compensated, attributed, uncounted, wide;
static double counted_cycles, counted_ns;

static int counts(unsigned event)
{
    return config.events >> event & 1;
}

static struct policy_slice slice_of(const struct live_record *r)
{
    const policy_u64 all = r->counts[LIVE_CYCLES];
    policy_u64 slower = 0, stalled = 0;
    struct policy_slice s = {.ns = r->counts[LIVE_REF] * 1000000 / config.ref_khz};
    for (unsigned k = 1; k < turbos.n_levels; k++)
        slower += s.cycles[k] = counts(LIVE_LEVEL + k) ? r->counts[LIVE_LEVEL + k] : 0;
    s.cycles[0] = slower < all ? all - slower : 0;
    for (unsigned i = LIVE_STALL_LOADS; i <= LIVE_STALL_STORES; i++)
        stalled += counts(i) ? r->counts[i] : 0;
    s.stalled = all == 0 ? 0 : stalled >= all ? POLICY_ONE : (policy_u32)((stalled << POLICY_ONE_BITS) / all);
    return s;
}

static policy_u32 asked(const struct live_record *r, const struct policy_slice *s)
{
    if (!config.counted_wide)
        return r->was_wide ? level[1] : 0;
    return counts(LIVE_512) ? policy_own_level(level, r->counts[LIVE_256], r->counts[LIVE_512])
                            : policy_level_held(s, turbos.n_levels);
}

static int differs(const struct live_record *r, const char *what, unsigned long long here)
{
    printf("record %lu, task %u on CPU %u: %s is %llu here: ns %llu, own %u, lost %llu, penalty %llu, payer %u\n",
           records, r->pid, r->cpu, what, here, r->ns, r->own, r->lost, r->penalty, r->payer);
    return 1;
}

/* What a counted one lost, and who pays. */
static int replay_counted(const struct live_record *r)
{
    const struct policy_slice s = slice_of(r);
    const policy_u32 ask = asked(r, &s), own = ask > r->own_before ? ask : r->own_before;
    const policy_u64 lost = r->accounting != LIVE_FAIR ? policy_slice_lost_ns(&turbos, &s, own, r->ns) : 0;
    policy_u32 *users = last_user[r->core % LIVE_CPUS_MAX];
    if (memcmp(s.cycles, r->slice.cycles, sizeof(s.cycles)) != 0 || s.ns != r->slice.ns ||
        s.stalled != r->slice.stalled)
        return differs(r, "the slice's time", s.ns);
    if (ask != r->asked || own != r->own)
        return differs(r, "the own level", own);
    if (lost != r->lost)
        return differs(r, "what was lost", lost);
    if (r->accounting == LIVE_ATTRIBUTE && lost > 0) {
        const policy_u32 payer = users[policy_payer_level(own)];
        met += r->payer != payer && r->payer != 0; /* 0: that task has ended */
        owed[r->payer % PIDS] += r->payer != 0 ? (long long)lost : 0;
        attributed += r->payer != 0;
    }
    for (policy_u32 k = 1; k <= own; k++)
        users[k] = r->accounting != LIVE_FAIR ? r->pid : 0;
    compensated += lost > 0;
    wide += own >= level[1];
    counted_cycles += (double)r->counts[LIVE_CYCLES];
    counted_ns += (double)r->ns;
    return 0;
}

static int replay(const struct live_record *r)
{
    int wrong = r->counted ? replay_counted(r) : r->lost != 0;
    records++;
    uncounted += !r->counted;
    met += owed[r->pid % PIDS] != (long long)r->penalty;
    owed[r->pid % PIDS] -= (long long)r->penalty;
    if (r->billed != r->ns - r->lost + r->penalty)
        return differs(r, "what is charged", r->ns - r->lost + r->penalty);
    return wrong;
}

int main(int argc, char **argv)
{
    struct machine_error error;
    struct sim_params *p;
    struct live_record r;
    int wrong = 0;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (in == NULL || fread(&config, sizeof(config), 1, in) != 1)
        return 2;
    if (sim_params_read(argv[2], &p, &error) != MACHINE_OK) {
        printf("%s\n", error.text);
        return 2;
    }
    sim_params_turbos(p, &turbos);
    sim_params_own_levels(p, level);
    while (wrong < 10 && fread(&r, sizeof(r), 1, in) == 1)
        wrong += replay(&r);
    printf("%lu records: %lu compensated, %lu attributed, %lu of wide code, %lu not counted; %.4f cycles a ns; "
           "%d differ, %lu met others\n",
           records, compensated, attributed, wide, uncounted, counted_cycles / counted_ns, wrong, met);
    return wrong != 0 || records < 100 || 100 * met > records;
}
