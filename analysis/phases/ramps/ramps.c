/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ramps. A frequency that approaches its new value exponentially has no edges: cut into steady pieces it makes as many
 * levels as its noise allows, or none. So each stretch of steady phases in a row, with nothing but the frequency
 * changing in it, is described a second time, by one exponential (ramp_fit.c); the simpler account wins (Schwarz's
 * criterion: residuals against the number of parameters) of that, the pieces that were found, and sharp steps of each
 * repetition's own, since steps that repetitions make at different times average to a curve. A ramp must also be the
 * repetitions': most of them show it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/stats/robust.h"
#include "util/plain_text.h"

enum {
    BINS = 800, /* of a stretch, at most */
    BINS_LEAST = 30,
    COARSE = 40, /* parts of it that are looked at first, at most */
    POINTS_OF_PART = 6,
    OWN_CUTS = OWN_STEPS_MOST, /* sharp steps that a repetition may have instead, at most */
    AROUND = 200,              /* samples that tell a frequency together: noise of 15 % then biases it by 0.01 % */
    REST_PERIODS = 20          /* a shorter rest of a stretch belongs to its ramp */
};
#define TAU_PERIODS 8.0 /* a shorter time constant is not distinguished from a step */
#define RAMP_Z 5.0
#define MOVES_SIGMAS 6.0 /* the range of so many means is 4.5 of their standard deviations by chance */

/* The samples of a stretch, each repetition at the mean of all. */
struct stretch {
    double begin, end; /* us */
    double width;      /* of a bin, us */
    size_t n_runs, n_bins;
    size_t *count;        /* [run * n_bins + bin]; one sum and one mean for each */
    double *value, *time; /* GHz; ns a cycle */
    double *t, *mean;     /* of the bins that hold any; n_points of them */
    size_t n_points, n_values;
    double mean_half; /* of the 95 % limits of the mean of all, among repetitions */
};

static void stretch_free(struct stretch *s)
{
    free(s->count);
    free(s->value);
    free(s->time);
    free(s->t);
    free(s->mean);
}

static bool filled(const struct stretch *s, size_t k, size_t bin)
{
    return s->count[k * s->n_bins + bin] > 0;
}

static double at(const struct stretch *s, size_t bin)
{
    return s->begin + ((double)bin + 0.5) * s->width;
}

static void add_samples(const struct runs *r, const struct run_span *span, size_t k, struct stretch *s)
{
    const float *freq = r->trace->channel[TRACE_FREQ];
    size_t past = span->first + span->n;
    /* samples at the ends may hold some of the states beyond */
    for (size_t i = trace_first_after(r->trace, span->first, past, s->begin);
         i < past && r->trace->time_us[i] <= s->end - r->period; i++) {
        double t = r->trace->time_us[i] - (r->clock.instant ? 0 : 0.5 * (double)r->dt[i]);
        if (r->trace->time_us[i] - (double)r->dt[i] < s->begin + r->period || r->invalid[i] || !(freq[i] > 0))
            continue;
        size_t bin = (size_t)fmin(fmax((t - s->begin) / s->width, 0), (double)(s->n_bins - 1));
        s->value[k * s->n_bins + bin] += (double)freq[i];
        s->time[k * s->n_bins + bin] += 1 / (double)freq[i];
        s->count[k * s->n_bins + bin]++;
    }
}

/*
 * Times of a cycle become frequencies by the tangent at what the samples around them tell together: their mean is then
 * the frequency of the mean time, which 1 / time, curved as it is, exceeds by the noise squared
 * (analysis/phases/repetitions/clock.h).
 */
static void linearise(struct stretch *s)
{
    for (size_t b = 0; b < s->n_bins; b++) {
        double sum = 0, n = 0;
        for (size_t w = 0; n < AROUND && w < s->n_bins; w++) /* the bin, then those at either side of what there is */
            for (int side = -1; side <= (w ? 1 : -1); side += 2) {
                size_t c = side < 0 ? b - w : b + w;
                for (size_t k = 0; c < s->n_bins && k < s->n_runs; k++) /* beyond either end c is beyond n_bins, too */
                    if (filled(s, k, c)) {
                        sum += s->time[k * s->n_bins + c];
                        n += (double)s->count[k * s->n_bins + c];
                    }
            }
        double ghz = n / sum;
        for (size_t k = 0; k < s->n_runs; k++)
            if (filled(s, k, b)) {
                double ns = s->time[k * s->n_bins + b] / (double)s->count[k * s->n_bins + b];
                s->value[k * s->n_bins + b] = ghz * (2 - ghz * ns) * (double)s->count[k * s->n_bins + b];
            }
    }
}

/* The sum of what is filled among repetitions k to last_k and bins b to last_b (after the last); *n is set. */
static double sum_filled(const struct stretch *s, size_t k, size_t last_k, size_t b, size_t last_b, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (; k < last_k; k++)
        for (size_t i = b; i < last_b; i++)
            if (filled(s, k, i)) {
                sum += s->value[k * s->n_bins + i];
                ++*n;
            }
    return sum;
}

/* Means of the bins, and all repetitions at one mean. */
static void level_out(struct stretch *s)
{
    double all = 0;
    for (size_t k = 0; k < s->n_runs; k++)
        for (size_t b = 0; b < s->n_bins; b++)
            if (filled(s, k, b)) {
                s->value[k * s->n_bins + b] /= (double)s->count[k * s->n_bins + b];
                all += s->value[k * s->n_bins + b];
                s->n_values++;
            }
    all /= fmax(1, (double)s->n_values);
    double squares = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        size_t n;
        double sum = sum_filled(s, k, k + 1, 0, s->n_bins, &n);
        for (size_t b = 0; n && b < s->n_bins; b++)
            s->value[k * s->n_bins + b] += all - sum / (double)n;
        squares += n ? pow(all - sum / (double)n, 2) : 0;
    }
    s->mean_half = s->n_runs > 1 ? robust_half_width95(sqrt(squares / (double)(s->n_runs - 1)), s->n_runs) : 0;
}

/* A stretch of BINS_LEAST periods or more. */
static int gather(const struct runs *r, const struct segmentation *o, double begin, double end, struct stretch *s)
{
    double bins = fmin(BINS, floor((end - begin) / r->period));
    *s = (struct stretch){
        .begin = begin, .end = end, .width = (end - begin) / bins, .n_runs = o->n_runs, .n_bins = (size_t)bins};
    s->count = calloc(s->n_runs * s->n_bins, sizeof *s->count);
    s->value = calloc(s->n_runs * s->n_bins, sizeof *s->value);
    s->time = calloc(s->n_runs * s->n_bins, sizeof *s->time);
    s->t = calloc(s->n_bins, sizeof *s->t);
    s->mean = calloc(s->n_bins, sizeof *s->mean);
    if (!s->count || !s->value || !s->time || !s->t || !s->mean)
        return -1;
    for (size_t k = 0; k < s->n_runs; k++)
        add_samples(r, &r->run[o->run[k]], k, s);
    if (r->clock.instant)
        linearise(s);
    level_out(s);
    for (size_t b = 0; b < s->n_bins; b++) {
        size_t n;
        double sum = sum_filled(s, 0, s->n_runs, b, b + 1, &n);
        if (!n)
            continue;
        s->t[s->n_points] = at(s, b);
        s->mean[s->n_points++] = sum / (double)n;
    }
    return 0;
}

/* Whether the frequency moves at all: a fit costs some milliseconds, and recordings may have many steady phases. */
static bool ramps_moves(const struct runs *r, const struct stretch *s)
{
    double least = INFINITY, most = -INFINITY;
    size_t parts = s->n_points / POINTS_OF_PART < COARSE ? s->n_points / POINTS_OF_PART : COARSE;
    for (size_t part = 0; part < parts; part++) {
        size_t a = s->n_points * part / parts, b = s->n_points * (part + 1) / parts;
        double sum = 0;
        for (size_t i = a; i < b; i++)
            sum += s->mean[i];
        least = fmin(least, sum / (double)(b - a));
        most = fmax(most, sum / (double)(b - a));
    }
    size_t samples = 0;
    for (size_t i = 0; i < s->n_runs * s->n_bins; i++)
        samples += s->count[i];
    double noise = r->noise[TRACE_FREQ] / sqrt(fmax(1, (double)samples / (double)parts));
    return most - least > fmax(0.5 * CLOCK_STEP_LEAST, MOVES_SIGMAS * noise) * most;
}

/* ---- how well it is described ---- */

static double criterion(const struct stretch *s, double rss, double parameters)
{
    return ramp_criterion((double)s->n_values, rss, parameters);
}

/* Sum of squares of repetition k about the ramp. */
static double rss_of_ramp(const struct stretch *s, size_t k, const struct ramp_fit *f)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t b = 0; b < s->n_bins; b++)
        if (filled(s, k, b)) {
            double d = s->value[k * s->n_bins + b] - ramp_value(f, at(s, b));
            sum += d;
            squares += d * d;
            n++;
        }
    return n ? squares - sum * sum / (double)n : 0;
}

/* About the pieces p to q that were found: their means, at common times. */
static double rss_of_pieces(const struct stretch *s, const struct phases *out, size_t p, size_t q)
{
    double rss = 0;
    for (size_t i = p; i <= q; i++) {
        double from = i == p ? s->begin : out->phases[i].start_us;
        double to = i == q ? s->end : out->phases[i + 1].start_us, sum = 0, squares = 0;
        size_t n = 0;
        for (size_t k = 0; k < s->n_runs; k++)
            for (size_t b = 0; b < s->n_bins; b++)
                if (filled(s, k, b) && at(s, b) >= from && at(s, b) < to) {
                    double v = s->value[k * s->n_bins + b] - s->mean[0];
                    sum += v;
                    squares += v * v;
                    n++;
                }
        rss += n ? squares - sum * sum / (double)n : 0;
    }
    return rss;
}

/* Sum of squares of a repetition cut at up to `cuts` places of its own. y: scratch of n_bins. */
static double rss_of_own_steps(const struct stretch *s, size_t k, size_t cuts, double *y)
{
    size_t n = 0;
    for (size_t b = 0; b < s->n_bins; b++)
        if (filled(s, k, b))
            y[n++] = s->value[k * s->n_bins + b] - s->mean[0];
    return own_steps_rss(y, n, cuts, NULL);
}

/* Whether the ramp describes the stretch better than pieces, common ones or each repetition's own. */
static int describes_better(const struct stretch *s, const struct ramp_fit *f, bool free_begin,
                            const struct phases *out, size_t p, size_t q, bool *better)
{
    double *y = malloc(s->n_bins * sizeof *y), runs = (double)s->n_runs, pieces = (double)(q - p + 1);
    double ramp = 0, own = 0;
    size_t cuts = q - p < 1 ? 1 : q - p < OWN_CUTS ? q - p : OWN_CUTS;
    if (!y)
        return -1;
    for (size_t k = 0; k < s->n_runs; k++) {
        ramp += rss_of_ramp(s, k, f);
        own += rss_of_own_steps(s, k, cuts, y);
    }
    free(y);
    double as_ramp = criterion(s, ramp, runs + 2 + free_begin);
    double as_own = criterion(s, own, runs * (1 + 2 * (double)cuts));
    double as_pieces = criterion(s, rss_of_pieces(s, out, p, q), runs - 1 + 2 * pieces - 1);
    *better = as_ramp + RAMP_CLEARLY < fmin(as_own, as_pieces);
    return 0;
}

/* How many repetitions show the ramp, rather than few that do something large; 0: it is not theirs. */
static size_t shown_by(const struct stretch *s, const struct ramp_fit *f)
{
    double sum = 0, squares = 0;
    size_t showing = 0, n = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        double m = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
        for (size_t b = 0; b < s->n_bins; b++)
            if (filled(s, k, b)) {
                double x = ramp_value(f, at(s, b)) - f->to.value, y = s->value[k * s->n_bins + b] - f->to.value;
                m++;
                sx += x;
                sy += y;
                sxx += x * x;
                sxy += x * y;
            }
        double part = (m * sxy - sx * sy) / (m * sxx - sx * sx); /* 1: as the others, 0: nothing */
        if (!isfinite(part))
            continue;
        showing += part > 0.5;
        sum += part;
        squares += part * part;
        n++;
    }
    double mean = sum / fmax(1, (double)n), sigma = sqrt(fmax(0, squares / fmax(1, (double)n) - mean * mean));
    if (showing * 2 <= n || (n >= RAMP_RUNS_FOR_TEST && mean * sqrt((double)n) < RAMP_Z * sigma))
        return 0;
    return showing;
}

/* Fits a ramp to the stretch. *runs: how many repetitions show it; 0: there is none. -1: out of memory. */
static int fit_stretch(const struct runs *r, const struct stretch *s, const struct phases *out, size_t p, size_t q,
                       struct ramp_fit *best, size_t *runs)
{
    double best_criterion = INFINITY, least = s->n_runs < RAMP_RUNS_FOR_TEST ? RAMP_LEAST_CHANGE_FEW : CLOCK_STEP_LEAST;
    bool free_begin = false;
    *runs = 0;
    for (int is_free = 0; is_free < 2; is_free++) {
        struct ramp_fit f;
        int status = ramp_fit(s->t, s->mean, s->n_points, 0, s->begin, is_free, &f);
        if (status < 0)
            return -1;
        double value = status ? INFINITY : ramp_criterion((double)s->n_points, f.rss, is_free);
        if (value < best_criterion) {
            best_criterion = value;
            *best = f;
            free_begin = is_free;
        }
    }
    if (!isfinite(best_criterion))
        return 0;
    double seen = fabs(ramp_value(best, s->end) - ramp_value(best, s->begin)) / s->mean[0];
    bool bent = best->tau.hi <
                RAMP_TAU_KNOWN * best->tau.value; /* a straight line has no time constant: it is a drift */
    bool better = bent && seen >= least && best->tau.value >= TAU_PERIODS * fmax(r->period, s->width) &&
                  best->to.value > 0 && best->begin.value < s->end;
    if (better && describes_better(s, best, free_begin, out, p, q, &better))
        return -1;
    *runs = better ? shown_by(s, best) : 0;
    return 0;
}

/* ---- into the segmentation ---- */

static size_t make_parts(const struct runs *r, const struct segmentation *o, size_t p, size_t q,
                         const struct stretch *s, const struct ramp_fit *f, size_t runs,
                         struct ramp_part part[RAMP_PARTS])
{
    double rest = REST_PERIODS * r->period, over = f->begin.value + ramp_over_after(f);
    bool before = f->begin.value > s->begin + rest && f->begin.value > s->begin + f->begin.hi - f->begin.value;
    size_t n = 0;
    if (before)
        part[n++] = (struct ramp_part){.begin = s->begin, .piece = ramp_joined(o, p, q, f->from.value)};
    part[n] = (struct ramp_part){.begin = before ? f->begin.value : s->begin};
    part[n].piece = ramp_joined(o, p, q, ramp_value(f, 0.5 * (f->begin.value + fmin(over, s->end))));
    part[n++].piece.ramp_runs = runs;
    if (over < s->end - rest)
        part[n++] = (struct ramp_part){.begin = over, .piece = ramp_joined(o, p, q, f->to.value)};
    for (size_t i = 0; i < n; i++)
        part[i].phase = ramp_phase(&part[i].piece, part[i].piece.ramp_runs ? PHASE_RAMP : PHASE_STEADY);
    ramp_describe(r, f, s->mean_half, &part[before].phase);
    return n;
}

/* ---- which stretches ---- */

static bool eligible(const struct segmentation *o, const struct phases *out, size_t p)
{
    return phases_is_steady(&out->phases[p]) || (out->phases[p].kind == PHASE_UNKNOWN && o->piece[p].wanders);
}

/* The last of the phases from p on that are of its kind, with nothing but the frequency changing between them. */
static size_t stretch_end(const struct segmentation *o, const struct phases *out, size_t p)
{
    bool throttled = out->phases[p].kind == PHASE_THROTTLE;
    while (p + 1 < out->n_phases && segmentation_changes_only(&o->edge[p], TRACE_FREQ, TRACE_FREQ) &&
           (throttled ? out->phases[p + 1].kind == PHASE_THROTTLE : eligible(o, out, p + 1)))
        p++;
    return p;
}

/* Puts the ramp of pieces p to q into the segmentation. Each repetition's own beginning is sought where it is not at
 * the beginning of the stretch: waits scatter. */
static int put_ramp(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q,
                    const struct stretch *s, const struct ramp_fit *f, size_t runs, size_t *past)
{
    struct ramp_part part[RAMP_PARTS];
    size_t n = make_parts(r, o, p, q, s, f, runs, part);
    bool doubt = false;
    *past = 0;
    if (part[0].phase.kind == PHASE_STEADY) {
        struct ramp_part both[] = {part[0], {.begin = part[1].begin, .piece = ramp_joined(o, p, q, f->to.value)}};
        both[1].phase = ramp_phase(&both[1].piece, PHASE_STEADY);
        if (ramp_splice(o, out, p, q, both, 2, NULL) || times_find(r, o, out) ||
            short_ramps_find(r, o, out, p, p + 1, past, &doubt))
            return -1;
        q = p + 1;
    }
    if (*past)
        return 0;
    *past = p + n;
    return ramp_splice(o, out, p, q, part, n, NULL);
}

static int try_stretch(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q,
                       size_t *past)
{
    double begin = out->phases[p].start_us, end = q + 1 < out->n_phases ? out->phases[q + 1].start_us : o->end;
    struct stretch s = {0};
    struct ramp_fit f;
    size_t runs = 0;
    *past = 0;
    if (!(end - begin > BINS_LEAST * r->period) || !o->n_runs)
        return 0;
    int bad = gather(r, o, begin, end, &s);
    if (!bad && s.n_points >= BINS_LEAST && ramps_moves(r, &s))
        bad = fit_stretch(r, &s, out, p, q, &f, &runs);
    if (!bad && runs)
        bad = put_ramp(r, o, out, p, q, &s, &f, runs, past);
    stretch_free(&s);
    return bad;
}

/* What is steady after a ramp still holds the last of its approach: the mean of that is known, and taken off. */
static void take_off_rests(struct phases *out)
{
    for (size_t p = 0; p + 1 < out->n_phases; p++) {
        const struct phase *ramp = &out->phases[p];
        struct estimate *ghz = &out->phases[p + 1].freq_ghz;
        double tau = ramp->tau_us.value, us = out->phases[p + 1].duration_us.value;
        if (ramp->kind != PHASE_RAMP || !phases_is_steady(&out->phases[p + 1]) || !(us > 0))
            continue;
        double left = (ramp->from_ghz.value - ramp->to_ghz.value) * exp(-ramp->duration_us.value / tau);
        double rest = left * ramp_decay_integral(us, tau) / us;
        *ghz = (struct estimate){ghz->value - rest, ghz->lo - rest, ghz->hi - rest};
    }
}

/* Its end is where the time constant puts it, and known as well as that. */
static int tell_ramps(const struct segmentation *o, struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        struct phase *ph = &out->phases[p];
        if (ph->kind != PHASE_RAMP)
            continue;
        double us = ph->duration_us.value, tau = ph->tau_us.value;
        bool whole = p + 1 < out->n_phases && phases_is_steady(&out->phases[p + 1]);
        ph->agreeing_runs = o->piece[p].ramp_runs;
        ph->freq_ghz = phases_ramp_mean(ph);
        ph->freq_half_ghz = estimate_half(&ph->freq_ghz);
        if (whole)
            ph->duration_us = (struct estimate){us, us * ph->tau_us.lo / tau, us * ph->tau_us.hi / tau};
        else if (p + 1 == out->n_phases &&
                 phases_warn(out,
                             "the frequency still changes where the ramp from %s ends (time constant %s); a "
                             "longer --observe would resolve it better",
                             plain_time(ph->start_us, 1).text, plain_time(tau, 0).text))
            return -1;
    }
    return 0;
}

int ramps_find(const struct runs *r, struct segmentation *o, struct phases *out)
{
    bool any = false;
    int bad = 0;
    for (size_t p = 0; r->has[TRACE_FREQ] && p < out->n_phases && !bad;) {
        size_t past = 0, q = p;
        bool base = eligible(o, out, p);
        if (base || out->phases[p].kind == PHASE_THROTTLE) {
            q = stretch_end(o, out, p);
            bad = short_ramps_find(r, o, out, p, q, &past, &any);
        }
        if (base && !past && !bad)
            bad = try_stretch(r, o, out, p, q, &past);
        any = any || past;
        p = past ? past : q + 1;
    }
    for (bool again = any; again && !bad;) {
        bad = times_find(r, o, out);
        take_off_rests(out);
        bad = bad || levels_find(o, out, &again);
    }
    return bad || (any && tell_ramps(o, out)) ? -1 : 0;
}
