/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the repetitions have in common. Two ways to see it: each repetition by itself (needs steps well above the noise,
 * does not mind that times differ) and the medians over all (finds steps far below the noise of one repetition, needs
 * times that agree). The one that shows more is taken, if it holds; ties go to the medians.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/robust.h"

enum { MANY = 8, ENOUGH_FOR_MEDIANS = 4 };
#define HALT_SLACK 1.5 /* us: halts of one kind differ by less */

struct group {
    size_t first, size; /* outline index of the first member; how many show the same */
};

static bool interrupted(const struct runs *r, size_t run, const struct gap **what)
{
    const struct run_span *s = &r->run[run];
    *what = NULL;
    for (size_t k = 0; k < s->n_gaps; k++) {
        const struct gap *g = &r->gap[s->first_gap + k];
        if (!g->soft && !gap_is_halt(r, g) && (!*what || g->lost > (*what)->lost))
            *what = g;
    }
    return *what;
}

/* Of many repetitions the interrupted ones go; of few, all are kept: their phases still stand. */
static int drop_interrupted(const struct runs *r, size_t *run, size_t *n, struct phases *out)
{
    size_t kept = 0, interruptions = 0;
    const struct gap *g;
    size_t *good = malloc((r->n + 1) * sizeof *good);
    if (!good)
        return -1;
    for (size_t k = 0; k < r->n; k++) {
        if (interrupted(r, k, &g))
            interruptions++;
        else
            good[kept++] = k;
    }
    int bad = 0;
    if (r->n >= MANY && kept >= 3) {
        for (size_t k = 0; k < r->n && !bad; k++)
            if (interrupted(r, k, &g))
                bad = discard(out, r->run[k].number, "interrupted at %.0f us for %.1f us", g->begin, g->lost);
        memcpy(run, good, kept * sizeof *run);
        *n = kept;
        if (!bad && kept * 5 < r->n)
            bad = warn(out, "only %zu of %zu repetitions were not interrupted: this machine is too busy for narrow limits",
                       kept, r->n);
    } else {
        for (size_t k = 0; k < r->n; k++)
            run[k] = k;
        *n = r->n;
        if (interruptions)
            bad = warn(out, "%zu of %zu repetitions hold interruptions (time lost, the same state before and after)%s",
                       interruptions, r->n, r->n >= MANY ? "; too few are free of them to leave these out" : "");
    }
    free(good);
    return bad;
}

static struct group largest_group(const struct outline *o, size_t n)
{
    struct group best = {0, 0};
    for (size_t i = 0; i < n && best.size * 2 <= n; i++) {
        size_t size = 0, j;
        for (j = 0; j < i && !outline_same(&o[i], &o[j]); j++)
            ;
        if (j < i)
            continue; /* counted with its twin */
        for (j = i; j < n; j++)
            size += outline_same(&o[i], &o[j]);
        if (size > best.size)
            best = (struct group){i, size};
    }
    return best;
}

/* Median over the members of each piece's values; their edges side by side. */
static int join(const struct outline *o, size_t n, size_t first, size_t size, struct outline *out)
{
    const struct outline *model = &o[first];
    memset(out, 0, sizeof *out);
    out->n_pieces = model->n_pieces;
    out->switch_us = model->switch_us;
    out->begin = INFINITY;
    out->end = -INFINITY;
    out->piece = malloc(model->n_pieces * sizeof *out->piece);
    out->edge = malloc(model->n_pieces * sizeof *out->edge);
    out->run = malloc(size * sizeof *out->run);
    out->time = malloc((model->n_pieces * size + 1) * sizeof *out->time);
    double *x = malloc(size * sizeof *x);
    if (!out->piece || !out->edge || !out->run || !out->time || !x) {
        free(x);
        outline_free(out);
        return -1;
    }
    memcpy(out->piece, model->piece, model->n_pieces * sizeof *out->piece);
    memcpy(out->edge, model->edge, (model->n_pieces - 1) * sizeof *out->edge);
    for (size_t i = first; i < n; i++) {
        if (!outline_same(model, &o[i]))
            continue;
        out->run[out->n_runs] = o[i].run[0];
        for (size_t e = 0; e + 1 < model->n_pieces; e++)
            out->time[e * size + out->n_runs] = o[i].time[e];
        out->begin = fmin(out->begin, o[i].begin);
        out->end = fmax(out->end, o[i].end);
        out->n_runs++;
    }
    for (size_t p = 0; p < model->n_pieces; p++) {
        out->piece[p].samples = 0;
        for (int c = 0; c < TRACE_CHANNELS; c++) {
            size_t m = 0;
            for (size_t i = first; i < n; i++)
                if (outline_same(model, &o[i]))
                    x[m++] = o[i].piece[p].value[c];
            out->piece[p].value[c] = median_of(x, m);
        }
        for (size_t i = first; i < n; i++)
            if (outline_same(model, &o[i]))
                out->piece[p].samples += o[i].piece[p].samples;
    }
    free(x);
    return 0;
}

/* An outline from medians holds if most repetitions show each of its edges. */
static bool holds(const struct outline *o)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        size_t seen = 0;
        for (size_t k = 0; k < o->n_runs; k++)
            seen += !isnan(o->time[e * o->n_runs + k]);
        if (seen * 2 <= o->n_runs)
            return false;
    }
    return true;
}

/* A halt that is much longer than in the other repetitions was interrupted. */
static int drop_long_halts(const struct runs *r, struct outline *o, struct phases *out)
{
    double *length = malloc((o->n_runs + 1) * 2 * sizeof *length);
    if (!length)
        return -1;
    int bad = 0;
    for (size_t p = 1; o->n_runs >= ENOUGH_FOR_MEDIANS && p + 1 < o->n_pieces && !bad; p++) {
        if (!o->piece[p].halt)
            continue;
        size_t m = 0;
        for (size_t k = 0; k < o->n_runs; k++) {
            double d = o->time[p * o->n_runs + k] - o->time[(p - 1) * o->n_runs + k];
            if (!isnan(d))
                length[m++] = d;
        }
        double middle = median_of(length, m), bound = fmax(HALT_SLACK, 6 * mad_sigma(length, m, middle, length + m));
        for (size_t k = 0; k < o->n_runs && !bad; k++) {
            double at = o->time[(p - 1) * o->n_runs + k], d = o->time[p * o->n_runs + k] - at;
            if (!(d - middle > bound))
                continue;
            bad = discard(out, r->run[o->run[k]].number, "interrupted at %.0f us for %.1f us", at, d - middle);
            for (size_t e = 0; e + 1 < o->n_pieces; e++)
                o->time[e * o->n_runs + k] = NAN;
        }
    }
    free(length);
    return bad;
}

static int tell_minority(const struct runs *r, const struct outline *own, size_t n, const struct outline *o,
                         struct phases *out)
{
    size_t others = n - o->n_runs, shown = 0;
    char list[80] = "";
    if (!others)
        return 0;
    for (size_t i = 0; i < n && shown < 5; i++) {
        bool member = false;
        for (size_t k = 0; k < o->n_runs; k++)
            member |= o->run[k] == own[i].run[0];
        if (member)
            continue;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%u", shown ? ", " : "", r->run[own[i].run[0]].number);
        shown++;
    }
    return warn(out, "%zu of %zu repetitions show other phases than those listed (run %s%s)", others, n, list,
                others > shown ? ", ..." : "");
}

int find_consensus(const struct runs *r, double switch_us, struct outline *o, struct phases *out)
{
    size_t n = 0, done = 0;
    size_t *run = malloc((r->n + 1) * sizeof *run);
    struct outline *own = calloc(r->n + 1, sizeof *own), medians = {0};
    int bad = !run || !own || drop_interrupted(r, run, &n, out);
    memset(o, 0, sizeof *o);
    for (; done < n && !bad; done++)
        bad = outline_find(r, &run[done], 1, switch_us, &own[done]);
    if (bad || !n)
        goto out;
    struct group g = largest_group(own, n);
    bool use_medians = false;
    if (n >= ENOUGH_FOR_MEDIANS) {
        bad = outline_find(r, run, n, switch_us, &medians);
        if (bad)
            goto out;
        bool more = medians.n_pieces >= own[g.first].n_pieces;
        use_medians = (more && holds(&medians)) || g.size * 3 < n;
    }
    if (use_medians) {
        *o = medians;
        memset(&medians, 0, sizeof medians);
    } else {
        bad = join(own, n, g.first, g.size, o);
        if (!bad)
            bad = tell_minority(r, own, n, o, out);
    }
    if (!bad)
        bad = drop_long_halts(r, o, out);
    out->runs_used = n;
out:
    for (size_t i = 0; i < done; i++)
        outline_free(&own[i]);
    outline_free(&medians);
    free(own);
    free(run);
    if (bad)
        outline_free(o);
    return bad ? -1 : 0;
}
