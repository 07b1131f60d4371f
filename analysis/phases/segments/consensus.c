/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the repetitions have in common. Two ways to see it: each repetition by itself (needs steps well above the noise,
 * does not mind that times differ) and the means over all (finds steps far below the noise of one repetition, needs
 * times that agree). Where most repetitions look alike they are taken by themselves, unless the means show more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/segments/segmentation.h"
#include "analysis/phases/findings.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "util/order.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* Repetitions that can outvote others; of which means are better than one; that are left when others are forgotten. */
enum { MANY = 8, ENOUGH_FOR_MEANS = 4, LEAST_KEPT = 10 };
#define HALT_SLACK 1.5      /* us: halts of one kind differ by less */
#define MINORITY 0.2        /* of the repetitions: what fewer show is not listed */
#define COMMON_Z 4.0        /* standard errors of the repetitions' own steps */
#define ALIKE 0.8           /* of the repetitions: fewer that agree call for a reason */
#define OWN_STEP_SIGMA 0.35 /* of a step: noise of one repetition beside which it still tells whether it steps */
#define STEPS_THERE 0.7     /* of the whole step: what is less is not all of it */
#define HALT_LEAST 0.3      /* periods: a halt that accounts for less is none */

struct group {
    size_t first, size; /* segmentation index of the first member; how many show the same */
};

static bool consensus_interrupted(const struct runs *r, size_t run, const struct gap **what)
{
    const struct run_span *s = &r->run[run];
    *what = NULL;
    for (size_t k = 0; k < s->n_gaps; k++) {
        const struct gap *g = &r->gap[s->first_gap + k];
        if (!g->soft && g->lost > INTERRUPTION_US && (!*what || g->lost > (*what)->lost) && !runs_gap_is_halt(r, g))
            *what = g;
    }
    return *what;
}

/* rank: the repetitions by the time that they lost. */
static int tell_interruptions(struct phases *out, const struct order_key *rank, size_t total, size_t free_of,
                              size_t kept)
{
    if (total < MANY)
        return free_of == total
                   ? 0
                   : phases_warn(
                         out, "%zu of %zu repetitions contain interruptions (lost time, same state before and after)",
                         total - free_of, total);
    if (kept == free_of)
        return 0;
    return phases_warn(out,
                       "only %zu of %zu repetitions were free of interruptions; used as well: %zu with no interruption "
                       "longer than %s; a less busy machine gives narrower limits",
                       free_of, total, kept - free_of, plain_time(rank[kept - 1].key, 1).text);
}

/*
 * Of many repetitions the interrupted ones go. Where too few are left the least interrupted are taken too, and it is
 * said. Of few repetitions all are kept: their phases still stand.
 */
static int drop_interrupted(const struct runs *r, size_t *run, size_t *n, struct phases *out)
{
    struct order_key *rank = malloc((r->n + 1) * sizeof *rank);
    const struct gap *g;
    size_t free_of = 0;
    if (!rank)
        return -1;
    for (size_t k = 0; k < r->n; k++) {
        rank[k] = (struct order_key){consensus_interrupted(r, k, &g) ? g->lost : 0, k};
        free_of += !g;
    }
    qsort(rank, r->n, sizeof *rank, order_by_key);
    size_t least = r->n / 5 > LEAST_KEPT ? r->n / 5 : LEAST_KEPT;
    *n = r->n < MANY ? r->n : free_of > least ? free_of : least < r->n ? least : r->n;
    int bad = tell_interruptions(out, rank, r->n, free_of, *n);
    for (size_t k = 0; k < r->n; k++)
        run[k] = rank[k].index;
    qsort(run, *n, sizeof *run, order_size);
    qsort(run + *n, r->n - *n, sizeof *run, order_size);
    for (size_t k = *n; k < r->n && !bad; k++)
        if (consensus_interrupted(r, run[k], &g))
            bad = phases_discard(out, r->run[run[k]].number, "interrupted: %s at %s", plain_time(g->lost, 1).text,
                                 plain_time(g->begin, 0).text);
    free(rank);
    return bad;
}

/* The segmentation that most of them fit; of equals the one that shows most. tried: scratch of n. */
static struct group largest_group(const struct segmentation *o, size_t n, size_t *tried)
{
    struct group best = {0, 0};
    size_t n_tried = 0;
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;
        bool twin = false;
        for (size_t k = 0; k < n_tried && !twin; k++)
            twin = o[tried[k]].n_pieces == o[i].n_pieces && segmentation_fits(&o[tried[k]], &o[i], NULL);
        if (twin)
            continue;
        tried[n_tried++] = i;
        for (size_t k = 0; k < n; k++)
            size += segmentation_fits(&o[i], &o[k], NULL);
        if (size > best.size || (size == best.size && o[i].n_pieces > o[best.first].n_pieces))
            best = (struct group){i, size};
    }
    return best;
}

static bool at_halt(const struct segmentation *o, size_t e)
{
    return o->piece[e].halt || o->piece[e + 1].halt;
}

static size_t count_halts(const struct segmentation *o)
{
    size_t n = 0;
    for (size_t p = 0; p < o->n_pieces; p++)
        n += o->piece[p].halt;
    return n;
}

/* Values of piece p of the model in the segmentations that fit it: a piece of theirs may hold two of the model's. */
static void join_values(const struct segmentation *o, size_t n, struct segmentation *out, const size_t *edge, double *x)
{
    size_t edges = out->n_pieces - 1;
    for (size_t p = 0; p < out->n_pieces; p++) {
        out->piece[p].samples = 0;
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            size_t m = 0;
            for (size_t k = 0; k < out->n_runs; k++) {
                const struct segmentation *own = &o[out->run[k]];
                size_t q = 0; /* the piece after the last edge that it sees before p */
                for (size_t e = 0; e < p; e++)
                    if (edge[k * edges + e] != SIZE_MAX)
                        q = edge[k * edges + e] + 1;
                x[m++] = own->piece[q].value[c];
                out->piece[p].samples += c == 0 ? own->piece[q].samples : 0;
            }
            out->piece[p].value[c] = robust_centre(x, m, x + n);
        }
    }
}

/* The segmentations that fit the model: their edges side by side. */
static int join(const struct segmentation *o, size_t n, size_t first, struct segmentation *out)
{
    const struct segmentation *model = &o[first];
    size_t edges = model->n_pieces - 1;
    memset(out, 0, sizeof *out);
    out->n_pieces = model->n_pieces;
    out->switch_us = model->switch_us;
    memcpy(out->noise, model->noise, sizeof out->noise);
    out->begin = INFINITY;
    out->end = -INFINITY;
    out->piece = malloc(model->n_pieces * sizeof *out->piece);
    out->edge = malloc(model->n_pieces * sizeof *out->edge);
    out->run = calloc(n, sizeof *out->run);
    out->time = malloc((edges * n + 1) * sizeof *out->time);
    double *x = malloc(2 * n * sizeof *x);
    size_t *edge = malloc((edges * n + 1) * sizeof *edge);
    int bad = !out->piece || !out->edge || !out->run || !out->time || !x || !edge;
    if (!bad) {
        memcpy(out->piece, model->piece, model->n_pieces * sizeof *out->piece);
        memcpy(out->edge, model->edge, edges * sizeof *out->edge);
        for (size_t i = 0; i < n; i++)
            if (segmentation_fits(model, &o[i], edge + out->n_runs * edges))
                out->run[out->n_runs++] = i;
        for (size_t k = 0; k < out->n_runs; k++) {
            const struct segmentation *own = &o[out->run[k]];
            for (size_t e = 0; e < edges; e++)
                out->time[e * out->n_runs + k] = edge[k * edges + e] == SIZE_MAX ? NAN : own->time[edge[k * edges + e]];
            out->begin = fmin(out->begin, own->begin);
            out->end = fmax(out->end, own->end);
        }
        join_values(o, n, out, edge, x);
        segmentation_judge_seen(out);
        for (size_t k = 0; k < out->n_runs; k++)
            out->run[k] = o[out->run[k]].run[0];
    }
    free(x);
    free(edge);
    if (bad)
        segmentation_free(out);
    return bad;
}

static void drop_empty_halts(const struct runs *r, struct segmentation *o)
{
    for (size_t p = 1; p + 1 < o->n_pieces;) {
        double sum = 0;
        size_t n = 0;
        for (size_t k = 0; k < o->n_runs; k++) {
            double length = segmentation_length_in(o, p, k);
            sum += isnan(length) ? 0 : length;
            n += !isnan(length);
        }
        if (o->piece[p].halt && sum < HALT_LEAST * r->period * (double)n)
            segmentation_forget_halt(o, p);
        else
            p++;
    }
}

/* A segmentation from means holds if most repetitions show each of its edges. */
static bool holds(const struct segmentation *o)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++)
        if (segmentation_seen_by(o, e) * 2 <= o->n_runs)
            return false;
    return true;
}

/* Whether most repetitions step at edge e in channel c, each a little, rather than a few much. x: scratch. */
static bool common_step(const struct runs *r, const struct segmentation *o, size_t e, int c, double *x)
{
    double lo = e ? segmentation_edge_time(o, e - 1) : o->begin;
    double hi = e + 2 < o->n_pieces ? segmentation_edge_time(o, e + 1) : o->end;
    double t = segmentation_edge_time(o, e), sum = 0, squares = 0;
    size_t m = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        double d = segmentation_own_step(r, o->run[k], c, lo, t, hi, NEAR_SIDE);
        if (!isnan(d)) {
            x[m++] = d;
            sum += d;
            squares += d * d;
        }
    }
    if (m < ENOUGH_FOR_MEANS)
        return true; /* too little to judge by */
    double mean = sum / (double)m, sigma = sqrt(fmax(0, squares / (double)m - mean * mean));
    double middle = order_median(x, m);
    bool significant = fabs(mean) > COMMON_Z * sigma / sqrt((double)m);
    return significant && middle * mean > 0 && fabs(middle) > 0.5 * fabs(mean);
}

/*
 * By how much the repetitions' frequencies differ before and after edge e, each compared with itself: repetitions may
 * run at frequencies of their own from beginning to end. *sigma: the standard error.
 */
static double mean_own_step(const struct runs *r, const struct segmentation *o, size_t e, double *sigma)
{
    double sum = 0, squares = 0;
    size_t m = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        double at = o->time[e * o->n_runs + k], lo = e ? o->time[(e - 1) * o->n_runs + k] : o->begin;
        double hi = e + 2 < o->n_pieces ? o->time[(e + 1) * o->n_runs + k] : o->end;
        double d = isnan(lo) || isnan(hi) ? NAN : segmentation_own_step(r, o->run[k], TRACE_FREQ, lo, at, hi, SIZE_MAX);
        if (!isnan(d)) {
            sum += d;
            squares += d * d;
            m++;
        }
    }
    double mean = sum / (double)m;
    *sigma = m > 1 ? sqrt(fmax(0, squares / (double)m - mean * mean) / (double)(m - 1)) : NAN;
    return mean;
}

/*
 * Whether repetitions do not step at edge e as far as they do in the end, but go on at another time each: the step of
 * some, or a part of it, would pass for that of all. Of single ones where each tells, else of their mean.
 */
static bool many_step_elsewhere(const struct runs *r, const struct segmentation *o, size_t e)
{
    double lo = e ? segmentation_edge_time(o, e - 1) : o->begin;
    double hi = e + 2 < o->n_pieces ? segmentation_edge_time(o, e + 1) : o->end;
    double t = segmentation_edge_time(o, e), unused, whole = segmentation_step(o, e, TRACE_FREQ, &unused);
    bool each_tells = r->noise[TRACE_FREQ] * sqrt(2.0 / NEAR_SIDE) < OWN_STEP_SIGMA * fabs(whole);
    double sum = 0, squares = 0;
    size_t m = 0, elsewhere = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        double near = segmentation_own_step(r, o->run[k], TRACE_FREQ, lo, t, hi, NEAR_SIDE);
        double short_of = near / whole - STEPS_THERE; /* of the step */
        if (isnan(short_of))
            continue;
        m++;
        elsewhere += near / whole < 0.5;
        sum += short_of;
        squares += short_of * short_of;
    }
    if (m < MANY)
        return false;
    double mean = sum / (double)m, sigma = sqrt(fmax(0, squares / (double)m - mean * mean) / (double)(m - 1));
    return (each_tells && (double)elsewhere > MINORITY * (double)m) || mean < -COMMON_Z * sigma;
}

/*
 * At the switch of kernels there is an edge in any case; but a frequency that differs before and after it need not
 * change there. Where the repetitions do not step at the switch, they change later, each at its own time.
 */
static int find_wandering(const struct runs *r, struct segmentation *o)
{
    double *x = malloc((o->n_runs + 1) * sizeof *x);
    if (!x)
        return -1;
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        double sigma, own_sigma;
        bool steps = fabs(segmentation_step(o, e, TRACE_FREQ, &sigma)) > segmentation_rule(TRACE_FREQ)->min_effect;
        if (!o->edge[e].forced || at_halt(o, e) || !(o->edge[e].change[TRACE_FREQ] || steps) ||
            (common_step(r, o, e, TRACE_FREQ, x) && !many_step_elsewhere(r, o, e)))
            continue;
        double step = fabs(segmentation_step(o, e, TRACE_FREQ, &sigma)), doubt = clock_uncertainty(&r->clock);
        double own = fabs(mean_own_step(r, o, e, &own_sigma));
        o->piece[e + 1].wanders = step > COMMON_Z * hypot(sigma, doubt) && own > COMMON_Z * hypot(own_sigma, doubt);
        o->edge[e].change[TRACE_FREQ] = 0;
    }
    free(x);
    return 0;
}

/* A halt that is much longer than in the other repetitions was interrupted. */
static int drop_long_halts(const struct runs *r, struct segmentation *o, struct phases *out)
{
    double *length = malloc((o->n_runs + 1) * 2 * sizeof *length);
    if (!length)
        return -1;
    int bad = 0;
    for (size_t p = 1; o->n_runs >= ENOUGH_FOR_MEANS && p + 1 < o->n_pieces && !bad; p++) {
        if (!o->piece[p].halt)
            continue;
        size_t m = segmentation_lengths(o, p, length);
        double middle = order_median(length, m), sigma = order_mad_sigma(length, m, middle, length + m);
        double bound = fmax(fmax(HALT_SLACK, 1.5 * r->period), 6 * sigma);
        for (size_t k = 0; k < o->n_runs && !bad; k++) {
            double at = segmentation_begin_in(o, p, k), d = segmentation_length_in(o, p, k);
            if (!(d - middle > bound))
                continue;
            bad = phases_discard(out, r->run[o->run[k]].number, "interrupted: %s at %s", plain_time(d - middle, 1).text,
                                 plain_time(at, 0).text);
            for (size_t e = 0; e + 1 < o->n_pieces; e++)
                o->time[e * o->n_runs + k] = NAN;
        }
    }
    free(length);
    return bad;
}

static int tell_minority(const struct runs *r, const struct segmentation *own, size_t n, const struct segmentation *o,
                         struct phases *out)
{
    size_t others = n - o->n_runs, shown = 0;
    char list[80] = "";
    if (!others)
        return 0;
    for (size_t i = 0, k = 0; i < n && shown < 5; i++) { /* both lists are in order */
        while (k < o->n_runs && o->run[k] < own[i].run[0])
            k++;
        if (k < o->n_runs && o->run[k] == own[i].run[0])
            continue;
        text_list_add(list, sizeof list, ", ", "%u", r->run[own[i].run[0]].number);
        shown++;
    }
    return phases_warn(out, "%zu of %zu repetitions show other phases than those listed (run %s%s)", others, n, list,
                       others > shown ? ", ..." : "");
}

/* Whether the means show an edge well away from all edges of the repetitions: one too faint for them. */
static bool shows_more(const struct runs *r, const struct segmentation *means, const struct segmentation *joined)
{
    for (size_t e = 0; e + 1 < means->n_pieces; e++) {
        double t = segmentation_edge_time(means, e);
        /* what no repetition can place is what edges at scattered times look like in the means */
        bool known = isnan(t) || means->edge[e].forced || at_halt(means, e);
        for (size_t f = 0; f + 1 < joined->n_pieces && !known; f++) {
            double lo = INFINITY, hi = -INFINITY;
            for (size_t k = 0; k < joined->n_runs; k++) {
                double x = joined->time[f * joined->n_runs + k];
                if (!isnan(x)) {
                    lo = fmin(lo, x);
                    hi = fmax(hi, x);
                }
            }
            known = t > lo - 2.5 * r->period && t < hi + 2.5 * r->period;
        }
        if (!known)
            return true;
    }
    return false;
}

int consensus_find(const struct runs *r, double switch_us, struct segmentation *o, struct phases *out)
{
    size_t n = 0, done = 0;
    size_t *run = malloc((2 * r->n + 2) * sizeof *run);
    struct segmentation *own = calloc(r->n + 1, sizeof *own), means = {0};
    int bad = !run || !own || drop_interrupted(r, run, &n, out);
    memset(o, 0, sizeof *o);
    for (; done < n && !bad; done++)
        bad = segmentation_find(r, &run[done], 1, switch_us, &own[done]);
    if (bad || !n)
        goto out;
    struct group g = largest_group(own, n, run + r->n + 1);
    bool use_means = false;
    bad = join(own, n, g.first, o);
    if (!bad && n >= ENOUGH_FOR_MEANS) {
        bad = segmentation_find(r, run, n, switch_us, &means);
        if (bad)
            goto out;
        bool alike = (double)g.size > (r->disturbed ? ALIKE : 0.5) * (double)n;
        bool any = means.n_pieces > 0;
        bool more = any && shows_more(r, &means, o) && count_halts(&means) >= count_halts(o); /* and nothing less */
        use_means = any && (!alike || (more && (r->disturbed || holds(&means))));
    }
    if (bad)
        goto out;
    if (use_means) {
        segmentation_free(o);
        *o = means;
        memset(&means, 0, sizeof means);
    } else {
        bad = tell_minority(r, own, n, o, out);
    }
    if (!bad) {
        bad = drop_long_halts(r, o, out) || find_wandering(r, o);
        drop_empty_halts(r, o);
    }
    out->runs_used = n;
out:
    for (size_t i = 0; i < done; i++)
        segmentation_free(&own[i]);
    segmentation_free(&means);
    free(own);
    free(run);
    if (bad)
        segmentation_free(o);
    return bad ? -1 : 0;
}
