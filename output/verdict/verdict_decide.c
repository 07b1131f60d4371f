/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which width, by what was measured at the very share and burst, else by the cost model; and why, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/verdict/verdict.h"
#include "tables/burst/burst.h"
#include "tables/table/estimates.h"
#include "util/text_list.h"

/* By how much width a takes longer than width b, relative, from what each takes longer than the widest. What one of
 * them takes longer than the widest is of the same rounds, and has its own limits. */
static struct estimate decide_longer(const struct verdict_side *s, size_t a, size_t b)
{
    const struct estimate *x = &s->longer[a], *y = &s->longer[b];
    const double ratio = (1 + x->value) / (1 + y->value);
    if (b == s->n - 1)
        return *x;
    if (a == s->n - 1)
        return (struct estimate){ratio - 1, 1 / (1 + y->hi) - 1, 1 / (1 + y->lo) - 1};
    const double half = ratio * hypot(estimate_half(x) / (1 + x->value), estimate_half(y) / (1 + y->value));
    return estimate_around(ratio - 1, half);
}

const char *verdict_more_time(const struct verdict *v, char out[VERDICT_UNRESOLVED_MAX])
{
    if (v->asked.seconds > 0)
        snprintf(out, VERDICT_UNRESOLVED_MAX, "--seconds %.0f, or a quieter machine, narrows it", 3 * v->asked.seconds);
    else
        snprintf(out, VERDICT_UNRESOLVED_MAX, "--runs, or a quieter machine, narrows it");
    return out;
}

static bool measured(const struct verdict_side *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!estimates_known(&s->longer[i]))
            return false;
    return s->n > 1;
}

static const char *percent(const struct estimate *e, char out[ESTIMATE_TEXT_MAX])
{
    const struct estimate p = estimate_percent(e);
    return estimates_text(&p, fmax(fabs(p.lo), fabs(p.hi)) < 0.95 ? 2 : 1, out);
}

/* "1.2 [1.1, 1.3] % more", "0.6 [0.5, 0.7] % less" */
static const char *more_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX + 20])
{
    const bool more = e->value >= 0;
    const struct estimate size = more ? *e : (struct estimate){-e->value, -e->hi, -e->lo};
    char text[ESTIMATE_TEXT_MAX];
    snprintf(out, ESTIMATE_TEXT_MAX + 20, "%s %% %s", percent(&size, text), more ? "more" : "less");
    return out;
}

/* "at 10 % of wide work in bursts of 100 us", of an answer */
static void load_text(const struct verdict *v, const struct verdict_side *s, char out[120])
{
    char time[ESTIMATE_TEXT_MAX], cores[ESTIMATE_TEXT_MAX];
    const bool others = s->cores != v->cores; /* than the frequencies below */
    snprintf(out, 120, "%.3g %% of wide work in bursts of %s%s%s", 100 * v->asked.load.share,
             burst_time_text(v->asked.load.burst_us, time), others ? ", with " : "",
             others ? estimates_cores_text(s->cores, cores) : "");
}

/* By what was measured with just these bursts. */
static void decide_measured(const struct verdict *v, struct verdict_side *s)
{
    struct estimate longer[VERDICT_WIDTHS_MAX];
    char by[ESTIMATE_TEXT_MAX + 20], load[120], more[VERDICT_UNRESOLVED_MAX];
    size_t best = s->n - 1;
    for (size_t i = 0; i < s->n; i++)
        if (s->longer[i].value < s->longer[best].value)
            best = i;
    for (size_t i = 0; i < s->n; i++)
        longer[i] = decide_longer(s, i, best);
    const struct verdict_ranked r = verdict_rank(longer, s->n, best);
    load_text(v, s, load);
    if (r.rival < s->n) {
        snprintf(s->why, sizeof s->why, "at %s, as measured, %s takes %s time than %s: no more than noise; %s", load,
                 s->kernel[r.rival], more_text(&longer[r.rival], by), s->kernel[best], verdict_more_time(v, more));
        return;
    }
    s->prefer = r.all_equal ? VERDICT_ANY : VERDICT_WIDTH;
    s->bits = s->prefer == VERDICT_WIDTH ? s->width[r.chosen].bits : 0;
    for (size_t i = 0; i < s->n && s->prefer == VERDICT_WIDTH; i++)
        s->as_good |= r.equals & 1u << i ? s->width[i].bits : 0;
    for (size_t i = 0; i < s->n; i++)
        longer[i] = decide_longer(s, i, r.chosen);
    if (s->prefer == VERDICT_ANY) {
        snprintf(s->why, sizeof s->why, "at %s, all widths take the same time within 1 %%, as measured", load);
        return;
    }
    snprintf(s->why, sizeof s->why, "at %s, as measured,", load);
    for (size_t i = s->n; i-- > 0;)
        if (i != r.chosen)
            text_list_add(s->why, sizeof s->why, strchr(s->why, '%') && s->why[strlen(s->why) - 1] != ',' ? ", " : " ",
                          "%s takes %s time than %s", s->kernel[i], more_text(&longer[i], by), s->kernel[r.chosen]);
    if (r.chosen != best)
        text_list_add(s->why, sizeof s->why, ": ", "within 1 %% of the best, and narrower");
}

/* What the model lacks. */
static void lacks_text(const struct verdict_side *s, char *out, size_t size)
{
    size_t i = 0;
    while (i + 1 < s->n && s->width[i].bits != s->cost.lacks_bits)
        i++;
    const bool rate = strcmp(s->cost.lacks, "rate") == 0, slowdown = strcmp(s->cost.lacks, "slowdown") == 0;
    const double value = rate ? s->width[i].rate.value : slowdown ? s->width[i].slowdown.value : s->once_us[i].value;
    const char *what = rate ? "rate" : slowdown ? "frequency" : "cost of a burst";
    if (isfinite(value))
        snprintf(out, size, "the %s of %s has no limits: too few repetitions; use more --runs", what, s->kernel[i]);
    else if (rate || slowdown)
        snprintf(out, size, "the %s of %s at this number of active cores was not measured", what, s->kernel[i]);
    else
        snprintf(
            out, size,
            "what a burst of %s costs was not measured: table burst has none that are %g ms apart, as with --brief; "
            "--verdict without --input measures it",
            s->kernel[s->n - 1], VERDICT_APART_US / 1000);
}

/* By the cost model, from frequencies, rates and what a burst costs once. */
static void decide_modelled(const struct verdict *v, struct verdict_side *s)
{
    const struct verdict_cost *c = &s->cost;
    char load[120], a[ESTIMATE_TEXT_MAX], b[ESTIMATE_TEXT_MAX], more[VERDICT_UNRESOLVED_MAX];
    load_text(v, s, load);
    if (c->lacks) {
        lacks_text(s, s->why, sizeof s->why);
        return;
    }
    size_t best = 0, rival = s->n;
    for (size_t i = 0; i < s->n; i++)
        best = c->time[i].value < c->time[best].value ? i : best;
    for (size_t i = 0; i < s->n; i++)
        rival = s->width[i].bits == c->rival ? i : rival;
    s->prefer = c->prefer;
    s->bits = c->bits;
    if (rival < s->n) {
        snprintf(s->why, sizeof s->why,
                 "at %s, computed, %s and %s take %s and %s of the time: not to be told apart; %s", load,
                 s->kernel[best], s->kernel[rival], estimates_text(&c->time[best], 3, a),
                 estimates_text(&c->time[rival], 3, b), verdict_more_time(v, more));
        return;
    }
    if (s->prefer == VERDICT_ANY) {
        snprintf(s->why, sizeof s->why, "at %s, computed, all widths take the same time within 1 %%", load);
        return;
    }
    s->as_good = s->bits;
    snprintf(s->why, sizeof s->why, "at %s, computed, of the time that %s takes at plain frequency,", load,
             s->kernel[0]);
    for (size_t i = s->n; i-- > 1;)
        text_list_add(s->why, sizeof s->why, s->why[strlen(s->why) - 1] == ',' ? " " : ", ", "%s takes %s",
                      s->kernel[i], estimates_text(&c->time[i], 3, a));
}

int verdict_decide(struct verdict *v, struct verdict_side *s)
{
    s->prefer = VERDICT_UNDECIDED;
    s->bits = 0;
    if (s->n == 0) {
        snprintf(s->why, sizeof s->why, "no frequency of such code was measured");
        return 0;
    }
    if (s->n == 1) {
        snprintf(s->why, sizeof s->why,
                 "no kernel of this kind of more than 128 bits was measured: nothing to compare");
        return 0;
    }
    if (verdict_cost(s->width, s->n, &v->asked.load, v->asked.seed, &s->cost) != 0)
        return -1;
    s->direct = measured(s) && !isfinite(v->asked.speedup);
    if (s->direct)
        decide_measured(v, s);
    else
        decide_modelled(v, s);
    return 0;
}

int verdict_conclude(const struct verdict_tables *tables, const struct verdict_question *asked,
                     const struct programs *programs, struct verdict *out)
{
    memset(out, 0, sizeof *out);
    out->tables = *tables;
    out->asked = *asked;
    verdict_read_classes(out);
    verdict_read_sides(out);
    verdict_read_neighbours(out);
    int status = verdict_read_units(out);
    for (size_t i = 0; i < VERDICT_SIDES && status == 0; i++)
        status = verdict_decide(out, &out->side[i]);
    const struct verdict_side *s = &out->side[out->weight];
    out->programs = (struct programs_answer){.all = programs,
                                             .usual = out->weight,
                                             .wide = s->n > 0 && s->width[s->n - 1].bits == 512,
                                             .cpu = tables->frequency ? table_meta(tables->frequency, "cpu") : NULL};
    for (size_t i = 0; i < VERDICT_SIDES; i++) {
        out->programs.bits[i] = out->side[i].prefer == VERDICT_WIDTH ? out->side[i].bits : 0;
        out->programs.as_good[i] = out->side[i].as_good;
    }
    return status;
}

const char *verdict_prefer_text(const struct verdict_side *s, char out[16])
{
    if (s->prefer == VERDICT_WIDTH)
        snprintf(out, 16, "%u", s->bits);
    else
        snprintf(out, 16, "%s", s->prefer == VERDICT_ANY ? "any" : "undecided");
    return out;
}
