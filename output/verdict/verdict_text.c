/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict for a person, on one screen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "output/verdict/verdict.h"
#include "tables/burst/burst.h"
#include "tables/table/estimates.h"
#include "tables/table/pivot.h"
#include "util/plain_text.h"
#include "util/screen_text.h"
#include "util/text_list.h"

enum { INDENT = 13, LINE = 1600 };
static const char *const weights[VERDICT_SIDES] = {[KERNEL_HEAVY] = "heavy (FMA)", [KERNEL_LIGHT] = "light (logic)"};

/* ---- the answer ---- */

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

static void print_side(FILE *out, bool colour, const struct verdict *v, enum kernel_weight weight, const char *label)
{
    char text[80];
    /* no escape sequences within what is wrapped by its length */
    fprintf(out, "%s", colour ? "\033[1m" : "");
    pivot_labelled(out, INDENT, label, "%s: %s", answer(v, weight, text), v->side[weight].why);
    fprintf(out, "%s", colour ? "\033[0m" : "");
}

/* ---- what limits do not say ---- */

const char *verdict_unresolved(const struct verdict *v, double most, double enough, const char *unit,
                               char out[VERDICT_UNRESOLVED_MAX])
{
    const double seconds = v->asked.seconds, LEAST = 2 * seconds, MOST = fmax(600, LEAST), STEP = 10;
    if (!(seconds > 0)) {
        snprintf(out, VERDICT_UNRESOLVED_MAX, "not resolved by these tables; --verdict without --input measures it");
        return out;
    }
    const double needed = STEP * ceil(brackets_seconds_for(most, seconds, enough) / STEP - 0.01);
    const double then = fmin(fmax(needed, LEAST), MOST);
    snprintf(out, VERDICT_UNRESOLVED_MAX, "not resolved here in %.0f s; --seconds %.0f would tell %.2g %s", seconds,
             then, most * sqrt(seconds / then), unit);
    return out;
}

/* ---- frequencies ---- */

/* "1.3 [1.1, 1.5]" in percent, "at most 0.2" where it may be nothing, or that limits do not say. */
static void put_slowdown(struct pivot *p, const struct estimate *e)
{
    const struct estimate percent = estimate_percent(e);
    char text[ESTIMATE_TEXT_MAX];
    if (!verdict_resolved(e, VERDICT_SLOWDOWN_ENOUGH)) {
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
        most = verdict_resolved(all, VERDICT_SLOWDOWN_ENOUGH) ? most : fmax(most, verdict_most(all));
        most = verdict_resolved(one, VERDICT_SLOWDOWN_ENOUGH) ? most : fmax(most, verdict_most(one));
    }
    return most;
}

static void print_classes(FILE *out, bool colour, const struct verdict *v)
{
    char cores[ESTIMATE_TEXT_MAX], text[VERDICT_UNRESOLVED_MAX];
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
    pivot_print(out, colour, &p);
    const double most = most_unresolved(v);
    if (most > 0)
        pivot_note(out, 0, "%s", verdict_unresolved(v, 100 * most, 100 * VERDICT_SLOWDOWN_ENOUGH, "%", text));
    else if (v->floats)
        pivot_note(out, 0, "%s: differences may be of moments, not of code", v->why_floats);
}

/* ---- bursts ---- */

/* "at most 1.2 us" or "3.4 [3.1, 3.7] us" */
static const char *us_text(const struct estimate *e, char out[ESTIMATE_TEXT_MAX + 20])
{
    char text[ESTIMATE_TEXT_MAX];
    const double most = fmax(verdict_most(e), 0.01);
    if (e->lo <= 0 && most < 100)
        snprintf(out, ESTIMATE_TEXT_MAX + 20, "at most %.2g us", most);
    else if (e->lo <= 0)
        snprintf(out, ESTIMATE_TEXT_MAX + 20, "at most %.0f us", most);
    else
        snprintf(out, ESTIMATE_TEXT_MAX + 20, "%s us", estimates_text(e, e->hi < 10 ? 2 : e->hi < 100 ? 1 : 0, text));
    return out;
}

static void pays_text(const struct verdict_side *s, size_t i, char *out, size_t size)
{
    const struct estimate *share = &s->cost.pays_from_share[i];
    const bool perhaps_nothing = s->once_us[i].lo <= 0; /* then so is from where on it pays */
    struct estimate lowered = s->cost.pays_from_us[i], *us = &lowered;
    lowered.lo = perhaps_nothing ? 0 : lowered.lo;
    char text[ESTIMATE_TEXT_MAX], time[ESTIMATE_TEXT_MAX + 20];
    if (!isfinite(s->cost.time[i].value))
        return;
    if (!isfinite(us->value)) {
        text_list_add(out, size, "; ", "it never pays against %s: no faster", s->kernel[0]);
        return;
    }
    if (isfinite(us->hi))
        text_list_add(out, size, "; ", "pays from bursts whose work takes %s of %s; ", us_text(us, time), s->kernel[0]);
    else
        text_list_add(out, size, "; ", "pays from bursts whose work takes %.3g us or more of %s; ", us->value,
                      s->kernel[0]);
    const struct estimate percent = {100 * share->value, 100 * share->lo, 100 * fmin(share->hi, 1)};
    if (share->hi <= 0.001)
        text_list_add(out, size, "", "where bursts follow closely, from any share on");
    else
        text_list_add(out, size, "",
                      "where bursts follow so closely that the frequency never returns, from a share of "
                      "%s %%",
                      estimates_text(&percent, 1, text));
}

static void print_bursts(FILE *out, const struct verdict *v)
{
    const struct verdict_side *s = &v->side[v->weight];
    const char *label = "A burst of";
    char time[ESTIMATE_TEXT_MAX + 20], open[LINE] = "", text[LINE];
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
        pays_text(s, i, text, sizeof text);
        pivot_labelled(out, INDENT, label, "%s %s", s->kernel[i], text);
        label = "";
    }
    if (open[0])
        pivot_labelled(out, INDENT, label, "%s costs beyond its work: %s", open,
                       verdict_unresolved(v, most, verdict_cost_enough(v), "us", text));
}

/* ---- first uses, neighbours ---- */

static void print_units(FILE *out, const struct verdict *v)
{
    char text[LINE] = "", first[ESTIMATE_TEXT_MAX + 20], idle[ESTIMATE_TEXT_MAX];
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
    if (text[0])
        pivot_labelled(out, INDENT, "First use", "%s", text);
}

static void neighbour_text(const struct verdict *v, const struct estimate *e, const char *who, char *out, size_t size)
{
    const struct estimate percent = estimate_percent(e);
    char text[VERDICT_UNRESOLVED_MAX];
    if (!estimates_known(e))
        return;
    if (!verdict_resolved(e, VERDICT_SLOWDOWN_ENOUGH))
        text_list_add(out, size, "; ", "what scalar code loses beside %s: %s", who,
                      verdict_unresolved(v, verdict_most(&percent), 100 * VERDICT_SLOWDOWN_ENOUGH, "%", text));
    else if (e->lo <= 0)
        text_list_add(out, size, "; ", "%s slows scalar code by at most %.2g %%", who,
                      fmax(verdict_most(&percent), 0.01));
    else
        text_list_add(out, size, "; ", "%s slows scalar code by %s %%", who, estimates_text(&percent, 1, text));
}

static void print_neighbours(FILE *out, const struct verdict *v)
{
    const struct verdict_side *s = &v->side[v->weight];
    char text[LINE] = "", who[100];
    if (s->n == 0)
        return;
    snprintf(who, sizeof who, "%s on all other cores", s->kernel[s->n - 1]);
    neighbour_text(v, &v->corunners, who, text, sizeof text);
    snprintf(who, sizeof who, "%s on the siblings, instead of scalar code,", s->kernel[s->n - 1]);
    neighbour_text(v, &v->siblings, who, text, sizeof text);
    if (text[0])
        pivot_labelled(out, INDENT, "Neighbors", "%s", text);
}

/* ---- what is missing ---- */

/* Whether an entry before this one is of the same reason, and of the kernel unless that is NULL. */
static bool is_named(const struct table *t, size_t entry, const char *kernel)
{
    for (size_t i = 0; i < entry; i++) {
        const char *other = table_missing_text(t, i, "kernel");
        if (other && strcmp(t->missing[i].why, t->missing[entry].why) == 0 && (!kernel || strcmp(other, kernel) == 0))
            return true;
    }
    return false;
}

static void print_missing(FILE *out, const struct verdict *v)
{
    const struct table *t = v->tables.frequency;
    char name[400], why[400];
    const char *label = "Not measured";
    for (size_t i = 0; t && i < t->n_missing; i++) {
        const char *kernel = table_missing_text(t, i, "kernel");
        plain_text(t->missing[i].why, why, sizeof why);
        if (!kernel || is_named(t, i, NULL))
            continue;
        table_missing_name(t, i, name, sizeof name);
        for (size_t k = i + 1; k < t->n_missing; k++) { /* those of one reason together */
            const char *other = table_missing_text(t, k, "kernel");
            if (other && strcmp(t->missing[k].why, t->missing[i].why) == 0 && !is_named(t, k, other))
                text_list_add(name, sizeof name, ", ", "%s", other);
        }
        pivot_labelled(out, INDENT, label, "%s: %s", name, why);
        label = "";
    }
}

/* ---- programs ---- */

/* "Clang: 256 bits here by default; ...", what it is told for what the verdict prefers. */
static void print_program(FILE *out, const struct program *p, const struct programs_told *t)
{
    const char *code = kernel_weight_name(t->code);
    char about[PROGRAMS_TEXT_MAX + 4] = "";
    if (*p->about)
        snprintf(about, sizeof about, " (%s)", p->about);
    if (*t->set)
        pivot_note(out, INDENT, "  %s: %u bits here by default; %u (%s code) by %s%s", p->name, t->uses, t->bits, code,
                   t->set, about);
    else
        pivot_note(out, INDENT, "  %s: %u bits here by default instead of %u (%s code); no setting is known%s", p->name,
                   t->uses, t->bits, code, about);
}

static void print_programs(FILE *out, bool colour, const struct verdict *v)
{
    const struct programs_answer *a = &v->programs;
    char agree[LINE] = "", other[LINE] = "";
    if (!a->all || !a->wide || (!a->bits[KERNEL_HEAVY] && !a->bits[KERNEL_LIGHT]))
        return;
    fprintf(out, "\n%sWhat that means for programs%s ", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
    screen_text_words(out, "(their defaults by processor model: doc/verdict.md)", 29, 2, screen_text_width(out));
    putc('\n', out);
    for (size_t i = 0; i < a->all->n; i++) {
        const struct program *p = &a->all->program[i];
        const struct programs_told t = programs_compare(a, p);
        if (t.bits && t.verdict == PROGRAM_DIFFERS)
            print_program(out, p, &t);
        else if (t.bits && t.verdict == PROGRAM_AGREES)
            text_list_add(agree, sizeof agree, ", ", "%s", p->name);
        else if (t.bits && *t.set)
            text_list_add(other, sizeof other, "; ", "%s: %s", p->name, t.set);
    }
    if (agree[0])
        pivot_note(out, INDENT, "  as it is: %s", agree);
    if (other[0])
        pivot_note(out, INDENT, "  no default is known for this model: %s", other);
}

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
    table_print_head(out, colour, v->tables.frequency, "Does wide code pay here?");
    print_side(out, colour, v, v->weight, "Prefer");
    if (v->side[other].n > 1)
        print_side(out, false, v, other, "");
    print_classes(out, colour, v);
    putc('\n', out);
    print_bursts(out, v);
    print_units(out, v);
    print_neighbours(out, v);
    print_missing(out, v);
    print_programs(out, colour, v);
}
