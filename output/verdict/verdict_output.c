/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict as text on one screen, and as JSON. */
#include "output/verdict/verdict.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "analysis/stats/estimate_json.h"
#include "output/document/document.h"
#include "util/json_lines.h"
#include "util/text_list.h"

enum { LINE = 1600, NEEDED_MAX = 160 };
static const char *const weights[VERDICT_SIDES] = {[KERNEL_HEAVY] = "heavy (FMA)", [KERNEL_LIGHT] = "light (logic)"};

/* "512", "256", "128", "any" or "undecided". Returns `out`. */
static const char *verdict_prefer_text(const struct verdict_side *s, char out[16])
{
    if (s->prefer == VERDICT_WIDTH)
        snprintf(out, 16, "%u", s->bits);
    else
        snprintf(out, 16, "%s", s->prefer == VERDICT_ANY ? "any" : "undecided");
    return out;
}

/* "256 bits for heavy (FMA) code" */
static const char *answer(const struct verdict *v, enum kernel_weight weight, char out[80])
{
    const struct verdict_side *s = &v->side[weight];
    char prefer[16];
    snprintf(out, 80, "%s%s for %s code", verdict_prefer_text(s, prefer),
             s->prefer == VERDICT_WIDTH ? " bits"
             : s->prefer == VERDICT_ANY ? " width"
                                        : "",
             weights[weight]);
    return out;
}

/* "not resolved here in 20 s; --seconds 60 would resolve 26 us", from the upper limit: limits shrink with the root of
 * time. */
static const char *unresolved(const struct verdict *v, double most, double enough, const char *unit,
                              char out[NEEDED_MAX])
{
    const double seconds = v->question.seconds, LEAST = 2 * seconds, MOST = fmax(600, LEAST), STEP = 10;
    if (!(seconds > 0)) {
        snprintf(out, NEEDED_MAX, "not resolved by these tables; --verdict without --input measures it");
        return out;
    }
    const double needed = STEP * ceil(brackets_seconds_for(most, seconds, enough) / STEP - 0.01);
    const double then = fmin(fmax(needed, LEAST), MOST);
    snprintf(out, NEEDED_MAX, "not resolved here in %.0f s; --seconds %.0f would resolve %.2g %s", seconds, then,
             most * sqrt(seconds / then), unit);
    return out;
}

/* ---- frequencies ---- */

#define SLOWDOWN_ENOUGH 0.01
/* Returns true if limits are conclusive: surely above 0, or at most `enough`, which is SLOWDOWN_ENOUGH for a
 * slowdown (fraction) and three tenths of the requested burst for the cost of a burst (us). Also true of unknown
 * limits. */
static bool verdict_resolved(const struct estimate *e, double enough)
{
    return !estimates_known(e) || e->lo > 0 || verdict_most(e) <= enough;
}

/* "1.3 [1.1, 1.5]" in percent, "at most 0.2" where it may be nothing, or that limits do not say. */
static void put_slowdown(struct pivot *p, const struct estimate *e)
{
    const struct estimate percent = estimate_percent(e);
    char text[ESTIMATE_TEXT_MAX];
    if (!verdict_resolved(e, SLOWDOWN_ENOUGH)) {
        pivot_mark(p, "not resolved");
    } else if (estimates_known(e) && e->lo <= 0 && e->hi >= 0) {
        snprintf(text, sizeof text, "at most %.2g", fmax(verdict_most(&percent), 0.01));
        pivot_mark(p, text);
    } else {
        pivot_value(p, &percent, 1);
    }
}

/* The largest upper limit of a slowdown that is not resolved; 0: all are. */
static double most_unresolved(const struct verdict *v)
{
    double most = 0;
    for (size_t i = 0; i < v->n_classes; i++) {
        const struct estimate *all = &v->classes[i].slowdown, *one = &v->classes[i].one_slowdown;
        most = verdict_resolved(all, SLOWDOWN_ENOUGH) ? most : fmax(most, verdict_most(all));
        most = verdict_resolved(one, SLOWDOWN_ENOUGH) ? most : fmax(most, verdict_most(one));
    }
    return most;
}

static void put_classes(struct document *d, const struct verdict *v)
{
    char cores[ESTIMATE_TEXT_MAX], text[NEEDED_MAX];
    struct pivot p;
    const bool one = estimates_known(&v->one_plain_ghz);
    pivot_init(&p, 1, "Frequency below that of scalar code (64add), %%");
    pivot_line(&p, PIVOT_HEADING);
    pivot_text(&p, "code");
    pivot_text(&p, "kernel");
    pivot_mark(&p, estimates_cores_text(v->cores, cores));
    pivot_mark(&p, "GHz");
    if (one) {
        pivot_mark(&p, "1 active core");
        pivot_mark(&p, "GHz");
    }
    for (size_t i = 0; i < v->n_classes; i++) {
        const struct verdict_class *c = &v->classes[i];
        if (c->bits == 128)
            continue;
        pivot_line(&p, PIVOT_ROW);
        if (c->bits > 512)
            pivot_text(&p, "tiles (AMX)");
        else
            pivot_text(&p, "%u-bit %s%s", c->bits, kernel_weight_name(c->weight), c->loads ? ", loads" : "");
        pivot_text(&p, "%s", c->kernel);
        put_slowdown(&p, &c->slowdown);
        pivot_number(&p, c->ghz.value, 2);
        if (one) {
            put_slowdown(&p, &c->one_slowdown);
            pivot_number(&p, c->one_ghz.value, 2);
        }
    }
    document_pivot(d, &p);
    const double most = most_unresolved(v);
    if (most > 0)
        document_note(d, "%s", unresolved(v, 100 * most, 100 * SLOWDOWN_ENOUGH, "%", text));
    else if (v->floats)
        document_note(d, "%s: differences may be of moments, not of code", v->why_floats);
}

/* ---- bursts ---- */

enum { TIME_TEXT_MAX = ESTIMATE_TEXT_MAX + 20 };

/* "at most 1.2 us" or "3.4 [3.1, 3.7] us" */
static const char *us_text(const struct estimate *e, char out[TIME_TEXT_MAX])
{
    char text[ESTIMATE_TEXT_MAX];
    const double most = fmax(verdict_most(e), 0.01);
    if (e->lo <= 0)
        snprintf(out, TIME_TEXT_MAX, most < 100 ? "at most %.2g us" : "at most %.0f us", most);
    else
        snprintf(out, TIME_TEXT_MAX, "%s us", estimates_text(e, e->hi < 10 ? 2 : e->hi < 100 ? 1 : 0, text));
    return out;
}

/* Says from which bursts on a width pays. */
static void add_pays(const struct verdict_side *s, size_t i, char *out, size_t size)
{
    const struct estimate *share = &s->cost.pays_from_share[i];
    const bool perhaps_nothing = s->once_us[i].lo <= 0; /* then so is from where on it pays */
    struct estimate us = s->cost.pays_from_us[i];
    us.lo = perhaps_nothing ? 0 : us.lo;
    char text[ESTIMATE_TEXT_MAX], time[TIME_TEXT_MAX];
    if (!isfinite(s->cost.time[i].value))
        return;
    if (!isfinite(us.value)) {
        text_list_add(out, size, "; ", "it never pays against %s: no faster", s->kernel[0]);
        return;
    }
    if (isfinite(us.hi))
        text_list_add(out, size, "; ", "pays from bursts whose work takes %s of %s; ", us_text(&us, time),
                      s->kernel[0]);
    else
        text_list_add(out, size, "; ", "pays from bursts whose work takes %.3g us or more of %s; ", us.value,
                      s->kernel[0]);
    const struct estimate percent = {100 * share->value, 100 * share->lo, 100 * fmin(share->hi, 1)};
    if (share->hi <= 0.001)
        text_list_add(out, size, "", "where bursts follow closely, from any share on");
    else
        text_list_add(out, size, "",
                      "where bursts follow so closely that the frequency never returns, from a share of %s %%",
                      estimates_text(&percent, 1, text));
}

static double verdict_cost_enough(const struct verdict *v)
{
    return 0.3 * v->question.load.burst_us;
}

static void put_bursts(struct document *d, const struct verdict *v)
{
    const struct verdict_side *s = &v->side[v->weight];
    const char *label = "A burst of";
    char time[TIME_TEXT_MAX], open[LINE] = "", text[LINE];
    double most = 0;
    for (size_t i = s->n; i-- > 1;) {
        const struct estimate *once = &s->once_us[i];
        if (!verdict_resolved(once, verdict_cost_enough(v))) {
            text_list_add(open, sizeof open, " and ", "%s", s->kernel[i]);
            most = fmax(most, verdict_most(once));
            continue;
        }
        if (!estimates_known(once))
            continue;
        text[0] = '\0';
        text_list_add(text, sizeof text, "", "costs %s beyond its work (waking, throttling, slower code after it)",
                      us_text(once, time));
        add_pays(s, i, text, sizeof text);
        document_fact(d, label, "%s %s", s->kernel[i], text);
        label = "";
    }
    if (open[0])
        document_fact(d, label, "%s costs beyond its work: %s", open,
                      unresolved(v, most, verdict_cost_enough(v), "us", text));
}

/* ---- first uses, neighbors ---- */

static void put_units(struct document *d, const struct verdict *v)
{
    char text[LINE] = "", first[TIME_TEXT_MAX], idle[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < v->n_units; i++) {
        const struct verdict_unit *u = &v->units[i];
        text_list_add(text, sizeof text, "; ", "%s%s: first instruction %s", u->unit,
                      strcmp(u->unit, "amx") == 0 ? "" : " bits", us_text(&u->first_us, first));
        if (isfinite(u->idle_us.value))
            text_list_add(text, sizeof text, " ", "after %s us of idleness", estimates_text(&u->idle_us, 0, idle));
        else
            text_list_add(text, sizeof text, ", ", "however long it was idle (up to 100 ms)");
        if (isfinite(u->full_rate_us.value))
            text_list_add(text, sizeof text, ", ", "full rate after %s", us_text(&u->full_rate_us, first));
    }
    document_fact(d, "First use", "%s", text);
}

static void add_neighbor(const struct verdict *v, const struct estimate *e, const char *who, char *out, size_t size)
{
    const struct estimate percent = estimate_percent(e);
    char text[NEEDED_MAX];
    if (!estimates_known(e))
        return;
    if (!verdict_resolved(e, SLOWDOWN_ENOUGH))
        text_list_add(out, size, "; ", "the loss of scalar code beside %s: %s", who,
                      unresolved(v, verdict_most(&percent), 100 * SLOWDOWN_ENOUGH, "%", text));
    else if (e->lo <= 0)
        text_list_add(out, size, "; ", "%s slows scalar code by at most %.2g %%", who,
                      fmax(verdict_most(&percent), 0.01));
    else
        text_list_add(out, size, "; ", "%s slows scalar code by %s %%", who, estimates_text(&percent, 1, text));
}

static void put_neighbors(struct document *d, const struct verdict *v)
{
    const struct verdict_side *s = &v->side[v->weight];
    char text[LINE] = "", who[100];
    if (s->n == 0)
        return;
    snprintf(who, sizeof who, "%s on all other cores", s->kernel[s->n - 1]);
    add_neighbor(v, &v->corunners, who, text, sizeof text);
    snprintf(who, sizeof who, "%s on the siblings, instead of scalar code,", s->kernel[s->n - 1]);
    add_neighbor(v, &v->siblings, who, text, sizeof text);
    document_fact(d, "Neighbors", "%s", text);
}

/* ---- what is missing ---- */

/* Returns true if an earlier entry has the same reason and, unless `kernel` is NULL, that kernel. */
static bool is_named(const struct table *t, size_t entry, const char *kernel)
{
    for (size_t i = 0; i < entry; i++) {
        const char *other = table_missing_text(t, i, "kernel");
        if (other && strcmp(t->missing[i].why, t->missing[entry].why) == 0 && (!kernel || strcmp(other, kernel) == 0))
            return true;
    }
    return false;
}

static void put_missing(struct document *d, const struct verdict *v)
{
    const struct table *t = v->tables.frequency;
    char name[400];
    const char *label = "Not measured";
    for (size_t i = 0; t && i < t->n_missing; i++) {
        const char *kernel = table_missing_text(t, i, "kernel");
        if (!kernel || is_named(t, i, NULL))
            continue;
        table_missing_name(t, i, name, sizeof name);
        for (size_t k = i + 1; k < t->n_missing; k++) { /* those of one reason together */
            const char *other = table_missing_text(t, k, "kernel");
            if (other && strcmp(t->missing[k].why, t->missing[i].why) == 0 && !is_named(t, k, other))
                text_list_add(name, sizeof name, ", ", "%s", other);
        }
        document_fact(d, label, "%s: %s", name, t->missing[i].why);
        label = "";
    }
}

/* ---- programs ---- */

/* "Clang: 256 bits here by default; ...", how it is set to what the verdict prefers. */
static void put_program(struct document *d, const struct program *p, const struct programs_advice *t)
{
    const char *code = kernel_weight_name(t->code);
    char about[PROGRAMS_TEXT_MAX + 4] = "";
    if (*p->about)
        snprintf(about, sizeof about, " (%s)", p->about);
    if (*t->set)
        document_note(d, "%s: %u bits here by default; %u (%s code) by %s%s", p->name, t->uses, t->bits, code, t->set,
                      about);
    else
        document_note(d, "%s: %u bits here by default instead of %u (%s code); no setting is known%s", p->name, t->uses,
                      t->bits, code, about);
}

static void put_programs(struct document *d, const struct verdict *v)
{
    const struct programs_answer *a = &v->programs;
    char agree[LINE] = "", other[LINE] = "";
    if (!a->all || !a->wide || (!a->bits[KERNEL_HEAVY] && !a->bits[KERNEL_LIGHT]))
        return;
    document_section(d, DOCUMENT_EVERYWHERE, NULL,
                     "Consequences for programs (their defaults by processor model: doc/verdict.md)");
    for (size_t i = 0; i < a->all->n; i++) {
        const struct program *p = &a->all->program[i];
        const struct programs_advice t = programs_compare(a, p);
        if (t.bits && t.verdict == PROGRAM_DIFFERS)
            put_program(d, p, &t);
        else if (t.bits && t.verdict == PROGRAM_AGREES)
            text_list_add(agree, sizeof agree, ", ", "%s", p->name);
        else if (t.bits && *t.set)
            text_list_add(other, sizeof other, "; ", "%s: %s", p->name, t.set);
    }
    if (agree[0])
        document_note(d, "as it is: %s", agree);
    if (other[0])
        document_note(d, "no default is known for this model: %s", other);
}

/* ---- all of it ---- */

void verdict_lines(const struct table *tables, size_t n, char *out, size_t size)
{
    const struct verdict_question usual = {.load = VERDICT_USUAL_LOAD, .speedup = NAN};
    struct verdict_tables t = {.frequency = NULL};
    struct verdict *v = calloc(1, sizeof *v);
    char text[80];
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        verdict_take_table(&t, &tables[i]);
    if (v && t.frequency && verdict_conclude(&t, &usual, NULL, v) == 0)
        for (size_t k = VERDICT_SIDES; k-- > 0;) /* heavy code first */
            if (v->side[k].n > 1)
                text_list_add(out, size, "\n", "%s%s: %s", v->side[k].prefer == VERDICT_UNDECIDED ? "" : "Prefer ",
                              answer(v, (enum kernel_weight)k, text), v->side[k].why);
    free(v);
}

void verdict_print(FILE *out, bool colour, const struct verdict *v)
{
    const enum kernel_weight other = v->weight == KERNEL_HEAVY ? KERNEL_LIGHT : KERNEL_HEAVY;
    struct document d;
    char text[80];
    document_begin_table(&d, "Does wide code pay here?", v->tables.frequency);
    document_fact(&d, "Prefer", "%s: %s", answer(v, v->weight, text), v->side[v->weight].why);
    if (v->side[other].n > 1)
        document_fact(&d, "", "%s: %s", answer(v, other, text), v->side[other].why);
    put_classes(&d, v);
    document_section(&d, DOCUMENT_EVERYWHERE, NULL, "");
    put_bursts(&d, v);
    put_units(&d, v);
    put_neighbors(&d, v);
    put_missing(&d, v);
    put_programs(&d, v);
    document_print(out, colour, &d);
    document_free(&d);
}

/* ---- JSON: characterize-verdict/1, doc/formats.md ---- */

/* KEY and KEY_ci95. */
static void json_estimate(json_t *o, const char *key, const struct estimate *e, bool *failed)
{
    enum { DIGITS = 6 };
    char limits[60];
    snprintf(limits, sizeof limits, "%s_ci95", key);
    estimate_json_put(o, key, limits, e, DIGITS, failed);
}

/* ... null where its limits do not say enough. */
static void put_resolved(json_t *o, const char *key, const struct estimate *e, double enough, bool *failed)
{
    const struct estimate none = {NAN, NAN, NAN};
    json_estimate(o, key, verdict_resolved(e, enough) ? e : &none, failed);
}

static json_t *class_json(const struct verdict *v, const struct verdict_class *c, bool *failed)
{
    json_t *o = json_pack("{s:s, s:s, s:i}", "class", c->name, "kernel", c->kernel, "bits", (int)c->bits);
    json_lines_put_whole(o, "active_cores", (json_int_t)v->cores, failed);
    put_resolved(o, "slowdown", &c->slowdown, SLOWDOWN_ENOUGH, failed);
    json_estimate(o, "freq_ghz", &c->ghz, failed);
    put_resolved(o, "one_core_slowdown", &c->one_slowdown, SLOWDOWN_ENOUGH, failed);
    json_estimate(o, "one_core_freq_ghz", &c->one_ghz, failed);
    return o;
}

static json_t *width_json(const struct verdict *v, const struct verdict_side *s, const char *code, size_t i,
                          bool *failed)
{
    const struct estimate none = {NAN, NAN, NAN};
    const struct estimate *once = &s->once_us[i];
    const bool compared = i > 0 && verdict_resolved(once, verdict_cost_enough(v)); /* with the narrowest */
    json_t *o = json_pack("{s:s, s:i, s:s}", "code", code, "bits", (int)s->width[i].bits, "kernel", s->kernel[i]);
    json_estimate(o, "rate", &s->width[i].rate, failed);
    put_resolved(o, "once_us", once, verdict_cost_enough(v), failed);
    json_estimate(o, "time", s->n > 1 ? &s->cost.time[i] : &none, failed);
    json_estimate(o, "longer", &s->longer[i], failed);
    json_estimate(o, "pays_from_us", compared ? &s->cost.pays_from_us[i] : &none, failed);
    json_estimate(o, "pays_from_share", compared ? &s->cost.pays_from_share[i] : &none, failed);
    return o;
}

static void put_side(json_t *root, const char *code, const struct verdict_side *s, bool *failed)
{
    char prefer[16];
    json_lines_put(root, code,
                   json_pack("{s:s, s:s, s:s}", "prefer", verdict_prefer_text(s, prefer), "why", s->why, "basis",
                             s->direct  ? "measured"
                             : s->n > 1 ? "computed"
                                        : "none"),
                   failed);
}

static void put_widths(json_t *root, const struct verdict *v, bool *failed)
{
    json_t *list = json_lines_array(root, "widths", failed);
    for (size_t side = VERDICT_SIDES; side-- > 0;) /* heavy code first */
        for (size_t i = 0; i < v->side[side].n; i++)
            json_lines_push(
                list, width_json(v, &v->side[side], kernel_weight_name((enum kernel_weight)side), i, failed), failed);
}

static void json_programs(json_t *root, const struct programs_answer *a, bool *failed)
{
    static const char *const verdicts[] = {"agrees", "differs", "unknown"};
    json_t *list = json_lines_array(root, "programs", failed);
    for (size_t i = 0; a->all && a->wide && i < a->all->n; i++) {
        const struct program *p = &a->all->program[i];
        const struct programs_advice t = programs_compare(a, p);
        if (!t.bits)
            continue;
        json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:s}", "program", p->id, "name", p->name, "code",
                              kernel_weight_name(t.code), "bits", (int)t.bits, "list", verdicts[t.verdict]);
        json_lines_put(o, "uses_bits", t.uses ? json_integer(t.uses) : json_null(), failed);
        json_lines_put_text(o, "set", t.set, failed);
        json_lines_put_text(o, "about", p->about, failed);
        json_lines_push(list, o, failed);
    }
}

static void json_missing(json_t *root, const struct table *t, bool *failed)
{
    json_t *list = json_lines_array(root, "missing", failed);
    for (size_t i = 0; t && i < t->n_missing; i++) {
        char name[400];
        table_missing_name(t, i, name, sizeof name);
        json_t *o = json_object();
        json_lines_put_text(o, "what", name, failed);
        json_lines_put_text(o, "why", t->missing[i].why, failed);
        json_lines_push(list, o, failed);
    }
}

char *verdict_to_json(const struct verdict *v)
{
    static const char *const meta[] = {"cpu", "machine", "source", "date", "version", "notes", "environment"};
    bool failed = false;
    char prefer[16];
    const struct verdict_side *s = &v->side[v->weight];
    const struct table *t = v->tables.frequency;
    json_t *root = json_pack("{s:s, s:s, s:s, s:s}", "format", "characterize-verdict/1", "prefer",
                             verdict_prefer_text(s, prefer), "why", s->why, "code", kernel_weight_name(v->weight));
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        if (t && table_meta(t, meta[i]))
            json_lines_put_text(root, meta[i], table_meta(t, meta[i]), &failed);
    json_lines_put(root, "modelled", json_boolean(t && table_modelled(t)), &failed);
    json_lines_put_real(root, "share", v->question.load.share, &failed);
    json_lines_put_real(root, "burst_us", v->question.load.burst_us, &failed);
    json_lines_put_real(root, "speedup", v->question.speedup, &failed);
    if (isfinite(v->cores))
        json_lines_put_whole(root, "active_cores", (json_int_t)v->cores, &failed);
    json_estimate(root, "plain_ghz", &v->plain_ghz, &failed);
    json_estimate(root, "one_core_plain_ghz", &v->one_plain_ghz, &failed);
    json_t *list = json_lines_array(root, "classes", &failed);
    for (size_t i = 0; i < v->n_classes; i++)
        json_lines_push(list, class_json(v, &v->classes[i], &failed), &failed);
    json_lines_put_whole(root, "burst_active_cores", isfinite(s->cores) ? (json_int_t)s->cores : 0, &failed);
    put_side(root, "heavy", &v->side[KERNEL_HEAVY], &failed);
    put_side(root, "light", &v->side[KERNEL_LIGHT], &failed);
    put_widths(root, v, &failed);
    json_lines_put_text(root, "floats", v->floats ? v->why_floats : NULL, &failed);
    list = json_lines_array(root, "first_use", &failed);
    for (size_t i = 0; i < v->n_units; i++) {
        json_t *o = json_pack("{s:s}", "unit", v->units[i].unit);
        json_estimate(o, "first_us", &v->units[i].first_us, &failed);
        json_estimate(o, "idle_us", &v->units[i].idle_us, &failed);
        json_estimate(o, "full_rate_us", &v->units[i].full_rate_us, &failed);
        json_lines_push(list, o, &failed);
    }
    json_t *neighbors = json_object();
    put_resolved(neighbors, "other_cores_slowdown", &v->corunners, SLOWDOWN_ENOUGH, &failed);
    put_resolved(neighbors, "siblings_slowdown", &v->siblings, SLOWDOWN_ENOUGH, &failed);
    json_lines_put(root, "neighbors", neighbors, &failed);
    json_programs(root, &v->programs, &failed);
    json_missing(root, t, &failed);
    return json_lines_dump(root, failed);
}
