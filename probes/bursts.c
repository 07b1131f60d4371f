/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the cost of short bursts of wide code in scalar work, cold and one after the other. */
#include "probes/bursts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "util/clock.h"
#include "util/order.h"

/* Bursts that are run one after the other take so long, before and while they are reported of. */
#define WARM_BEFORE_US 3000.0
/* Us of bursts one after the other, as long as a tick of 1 kHz, in at least, at most so many bursts. */
#define WARM_US 1000.0
enum { PILOT = 5, WARM_LEAST = 5, WARM_MOST = 2000, WARM_ROUNDS = 8, ROUNDS_LEAST = 4, ROUNDS_ENOUGH = 8 };
/* A burst that took longer than three times the median by this was interrupted. */
#define LONGER 3.0

struct rig {
    struct machine *m;
    const struct bursts_setup *s;
    double tick_us;
    struct burst *seen;
    double *scratch;
    uint64_t repetition;
    double seconds; /* that repetitions took */
    unsigned long interrupted;
    unsigned discarded;
};

/* The results of a repetition: mean time of a burst, plain work per microsecond, plain time after a burst. */
struct seen_bursts {
    double wide_us, rate, plain_us;
};

static double mean_wide_us(struct rig *g, unsigned n)
{
    double sum = 0;
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++)
        g->scratch[i] = (double)g->seen[i].wide * g->tick_us;
    double most = LONGER * order_median(g->scratch, n) + BURSTS_PATIENCE_US;
    for (unsigned i = 0; i < n; i++) {
        double us = (double)g->seen[i].wide * g->tick_us;
        if (us > most)
            continue;
        sum += us;
        kept++;
    }
    g->interrupted += n - kept;
    return sum / kept; /* the median is one of them */
}

static struct seen_bursts look(struct rig *g, unsigned n)
{
    struct seen_bursts out = {.wide_us = mean_wide_us(g, n)};
    double work = 0, ticks = 0, lost = 0;
    for (unsigned i = 0; i < n; i++) {
        work += (double)g->seen[i].instructions;
        ticks += (double)g->seen[i].plain;
        lost += (double)g->seen[i].lost;
        g->interrupted += g->seen[i].lost > 0;
    }
    out.rate = work / (ticks * g->tick_us);
    out.plain_us = (ticks + lost) * g->tick_us / n;
    return out;
}

static double repetition_seconds(const struct rig *g, const struct bursts_request *r)
{
    double ticks = 0;
    for (unsigned i = 0; i < r->bursts; i++)
        ticks += (double)(g->seen[i].wide + g->seen[i].plain + g->seen[i].lost);
    return 1e-6 * (r->before_us + ticks * g->tick_us * (r->skipped + r->bursts) / r->bursts);
}

/* *disturbed: NULL, or by what each of several attempts was. */
static int repeat(struct rig *g, unsigned variant, struct bursts_request *r, const char **disturbed,
                  struct machine_error *err)
{
    /* A disturbed recording is repeated so often. */
    enum { ATTEMPTS = 3 };
    int status = MACHINE_OK;
    r->plain = g->s->plain;
    r->wide = g->s->wide[variant];
    r->count = g->s->count[variant];
    *disturbed = "";
    for (unsigned i = 0; i < ATTEMPTS && *disturbed && status == MACHINE_OK; i++) {
        r->repetition = g->repetition++;
        status = g->m->ops->bursts(g->m, r, g->seen, disturbed, err);
        g->discarded += status == MACHINE_OK && *disturbed;
        g->seconds += status == MACHINE_OK ? repetition_seconds(g, r) : 0;
    }
    return status;
}

static unsigned within(double x, double least, double most)
{
    return (unsigned)fmin(fmax(x, least), most);
}

/* Bursts one after the other. *us: NaN where it was disturbed. */
static int warm(struct rig *g, unsigned variant, double *us, struct machine_error *err)
{
    struct bursts_request r = {.before_us = 0, .skipped = 1, .bursts = PILOT};
    const char *disturbed;
    *us = NAN;
    int status = repeat(g, variant, &r, &disturbed, err);
    if (status != MACHINE_OK)
        return status;
    double each = fmax(look(g, PILOT).wide_us, 0.01);
    r.skipped = within(WARM_BEFORE_US / each, 1, BURSTS_MOST / 2);
    r.bursts = within(WARM_US / each, WARM_LEAST, WARM_MOST);
    status = repeat(g, variant, &r, &disturbed, err);
    if (status == MACHINE_OK && disturbed == NULL)
        *us = mean_wide_us(g, r.bursts);
    return status;
}

static int round_one(struct rig *g, unsigned variant, struct seen_bursts *seen, bool *kept, struct machine_error *err)
{
    const struct bursts_setup *s = g->s;
    struct bursts_request r = {
        .every_us = s->every_us, .before_us = s->before_us, .skipped = s->skipped, .bursts = s->bursts};
    const char *disturbed;
    int status = repeat(g, variant, &r, &disturbed, err);
    if (status != MACHINE_OK)
        return status;
    *seen = look(g, s->bursts);
    *kept = *kept && disturbed == NULL && seen->rate > 0;
    return MACHINE_OK;
}

/* Bursts one after the other of each variant, in the first rounds. */
static int round_warm(struct rig *g, unsigned number, struct bursts_result *out, struct machine_error *err)
{
    double us[BURSTS_VARIANTS_MAX];
    int status = MACHINE_OK;
    for (unsigned i = 0; i < g->s->variants && status == MACHINE_OK; i++) {
        const unsigned v = number % 2 ? g->s->variants - 1 - i : i;
        us[v] = NAN;
        if (number < WARM_ROUNDS)
            status = warm(g, v, &us[v], err);
    }
    for (unsigned v = 1; v < g->s->variants && status == MACHINE_OK; v++)
        out->warm_us[v][out->n] = us[v] - us[0];
    return status;
}

/* Stores what a variant lost, and how long it took, beyond the empty bursts right before and after it. */
static void put_round(struct bursts_result *out, unsigned v, const struct seen_bursts *before,
                      const struct seen_bursts *seen, const struct seen_bursts *after)
{
    const unsigned n = out->n;
    out->loss[v][n] = 1 - seen->rate / (0.5 * (before->rate + after->rate));
    out->cold_us[v][n] = seen->wide_us - 0.5 * (before->wide_us + after->wide_us);
    out->cost_us[v][n] = out->cold_us[v][n] + out->loss[v][n] * seen->plain_us;
}

/* A repetition of each variant between two of empty bursts. The null is one of these, between its neighbors. *kept:
 * nothing disturbed any. */
static int round_of(struct rig *g, unsigned number, struct bursts_result *out, bool *kept, struct machine_error *err)
{
    const struct bursts_setup *s = g->s;
    struct seen_bursts seen, empty[BURSTS_VARIANTS_MAX];
    const unsigned long interrupted = g->interrupted;
    *kept = true;
    int status = round_one(g, 0, &empty[0], kept, err);
    for (unsigned i = 1; i < s->variants && status == MACHINE_OK; i++) {
        const unsigned v = number % 2 ? s->variants - i : i;
        status = round_one(g, v, &seen, kept, err);
        if (status == MACHINE_OK)
            status = round_one(g, 0, &empty[i], kept, err);
        if (status == MACHINE_OK)
            put_round(out, v, &empty[i - 1], &seen, &empty[i]);
    }
    if (status == MACHINE_OK) {
        put_round(out, 0, &empty[0], &empty[1], &empty[s->variants > 2 ? 2 : 0]);
        status = round_warm(g, number, out, err);
    }
    if (status == MACHINE_OK && !*kept)
        g->interrupted = interrupted;
    out->n += status == MACHINE_OK && *kept;
    return status;
}

/* Returns true if the loss of bursts is known well enough. */
static bool suffice(const struct bursts_setup *s, const struct bursts_result *out)
{
    const struct estimate loss = robust_mean(out->loss[1], out->n, BURSTS_REJECT, 0, NULL);
    return s->enough > 0 && out->n >= ROUNDS_ENOUGH && estimate_half(&loss) <= s->enough;
}

static int all_rounds(struct rig *g, struct bursts_result *out, struct machine_error *err)
{
    const struct bursts_setup *s = g->s;
    const double begun = clock_seconds(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < 2 * s->rounds && out->n < s->rounds; i++) {
        bool kept;
        int status = round_of(g, i, out, &kept, err);
        if (status != MACHINE_OK)
            return status;
        if ((s->progress && s->progress(s->data, out->n, s->rounds)) || suffice(s, out) ||
            (s->seconds > 0 && out->n >= ROUNDS_LEAST && machine_elapsed(g->m, begun, g->seconds) >= s->seconds))
            break;
    }
    out->interrupted = g->interrupted;
    out->discarded = g->discarded;
    return MACHINE_OK;
}

void bursts_result_free(struct bursts_result *r)
{
    free(r->loss[0]);
    memset(r, 0, sizeof *r);
}

/* One array for all numbers; that of the loss of the first variant, the null, is where it begins. */
static bool make_room(struct bursts_result *out, unsigned variants, unsigned rounds)
{
    double *all = calloc((size_t)4 * BURSTS_VARIANTS_MAX * rounds, sizeof *all);
    for (unsigned v = 0; all && v < variants; v++, all += 4 * (size_t)rounds) {
        out->loss[v] = all;
        out->cold_us[v] = all + rounds;
        out->cost_us[v] = all + 2 * (size_t)rounds;
        out->warm_us[v] = all + 3 * (size_t)rounds;
    }
    return out->loss[0] != NULL;
}

int bursts_run(struct machine *m, const struct bursts_setup *s, struct bursts_result *out, struct machine_error *err)
{
    const size_t most = s->bursts > WARM_MOST ? s->bursts : WARM_MOST;
    struct machine_setup setup = s->machine;
    struct machine_info info;
    memset(out, 0, sizeof *out);
    if (m->ops->bursts == NULL)
        return machine_fail(err, MACHINE_CANNOT, "use --machine timing, perf or model:NAME",
                            "this machine cannot run bursts");
    setup.period_us = 10;
    setup.n_counters = 0;
    setup.max_samples = 1;
    m->ops->info(m, &info);
    struct rig g = {.m = m,
                    .s = s,
                    .tick_us = 1e6 / info.tsc_hz,
                    .seen = malloc(most * sizeof *g.seen),
                    .scratch = malloc(most * sizeof *g.scratch)};
    int status = g.seen && g.scratch && make_room(out, s->variants, s->rounds)
                     ? m->ops->prepare(m, &setup, err)
                     : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (status == MACHINE_OK) {
        status = all_rounds(&g, out, err);
        m->ops->finish(m);
    }
    free(g.seen);
    free(g.scratch);
    if (status != MACHINE_OK)
        bursts_result_free(out);
    return status;
}
