/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with limits in rows: as text, compared; levels of the table frequency, and what supports a wait. */
#include "tables/table/estimates.h"
#include "util/plain_text.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE "none: "
#define NO_STEPS "no steps"            /* with which the setting `steps` begins where the frequency floats */
#define RELATIVE "levels by the ratio" /* ... and where ratios show levels all the same */
#define NOTED "frequency_levels"
/* Single waits scatter by this, relative, and by so many us at least: two of one pair that differ by less agree. */
#define WAIT_SLACK 0.02
#define WAIT_SLACK_US 2.0

struct estimate estimates_of_table(const struct table *t, size_t row, const char *column)
{
    char lo[80], hi[80];
    snprintf(lo, sizeof lo, "%s_lo", column);
    snprintf(hi, sizeof hi, "%s_hi", column);
    return (struct estimate){table_number(t, row, column), table_number(t, row, lo), table_number(t, row, hi)};
}

void estimates_put(struct table *t, const char *column, struct estimate e)
{
    table_put_limits(t, column, e.value, e.lo, e.hi);
}

void estimates_set(struct table *t, size_t row, const char *column, struct estimate e)
{
    table_set_limits(t, row, column, e.value, e.lo, e.hi);
}

bool estimates_known(const struct estimate *e)
{
    return isfinite(e->value) && isfinite(e->lo) && isfinite(e->hi);
}

bool estimates_above(const struct estimate *a, const struct estimate *b)
{
    return estimates_known(a) && estimates_known(b) && a->lo > b->hi;
}

bool estimates_agree(const struct estimate *a, const struct estimate *b, double slack)
{
    return fabs(a->value - b->value) <= hypot((a->hi - a->lo) / 2, (b->hi - b->lo) / 2) + slack;
}

static double limit_or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

double estimates_least_difference(const struct table_column *c, double value)
{
    static const double LEAST = 0.002, LEAST_US = 0.05, LEAST_SHARE = 0.01;
    if (c->type == TABLE_WHOLE)
        return 0;
    if (strcmp(c->unit, "GHz") == 0)
        return FREQUENCY_SAME * value;
    double absolute = strcmp(c->unit, "us") == 0 ? LEAST_US : strcmp(c->name, "share") == 0 ? LEAST_SHARE : 0;
    return fmax(absolute, LEAST * fabs(value));
}

double estimates_widening(double tail, double freedom)
{
    if (freedom == 0)
        return gsl_cdf_ugaussian_Qinv(tail) / ESTIMATE_Z95;
    return gsl_cdf_tdist_Qinv(tail, freedom) / gsl_cdf_tdist_Qinv(0.025, freedom);
}

bool estimates_frequency_same(double a, double a_half, double b, double b_half)
{
    double noise = hypot(limit_or_zero(a_half), limit_or_zero(b_half));
    return fabs(a - b) <= fmax(FREQUENCY_SAME * fmax(a, b), noise);
}

bool estimates_frequencies_agree(const struct estimate *a, const struct estimate *b)
{
    return estimates_frequency_same(a->value, (a->hi - a->lo) / 2, b->value, (b->hi - b->lo) / 2);
}

const char *estimates_text(const struct estimate *e, int decimals, char out[ESTIMATE_TEXT_MAX])
{
    if (estimates_known(e))
        snprintf(out, ESTIMATE_TEXT_MAX, "%.*f [%.*f, %.*f]", decimals, plain_number(e->value, decimals), decimals,
                 plain_number(e->lo, decimals), decimals, plain_number(e->hi, decimals));
    else if (isfinite(e->value))
        snprintf(out, ESTIMATE_TEXT_MAX, "%.*f", decimals, plain_number(e->value, decimals));
    else
        snprintf(out, ESTIMATE_TEXT_MAX, "-");
    return out;
}

const char *estimates_field_text(const struct table *t, size_t row, const char *column, int decimals,
                                 char out[ESTIMATE_TEXT_MAX])
{
    struct estimate e = estimates_of_table(t, row, column);
    return estimates_text(&e, decimals, out);
}

const char *estimates_cores_text(double active_cores, char out[ESTIMATE_TEXT_MAX])
{
    snprintf(out, ESTIMATE_TEXT_MAX, "%.0f active core%s", active_cores, active_cores == 1 ? "" : "s");
    return out;
}

const char *estimates_cores_of(const struct table *t, size_t row, char out[ESTIMATE_TEXT_MAX])
{
    return estimates_cores_text(table_number(t, row, "active_cores"), out);
}

/* ---- levels ---- */

/* The setting `steps` of a CPU: without its number where only one was measured. */
static const char *steps_of(const struct table *frequency, int cpu)
{
    char key[40];
    const char *alone = table_setting(frequency, "steps");
    snprintf(key, sizeof key, "steps of CPU %d", cpu);
    return alone ? alone : table_setting(frequency, key);
}

bool estimates_floats(const struct table *frequency, int cpu, char why[SUPPORT_WHY_MAX])
{
    const char *steps = steps_of(frequency, cpu);
    if (!steps || strncmp(steps, NO_STEPS, strlen(NO_STEPS)) != 0)
        return false;
    snprintf(why, SUPPORT_WHY_MAX, "%.300s", steps);
    return true;
}

bool estimates_relative(const struct table *frequency, int cpu)
{
    const char *steps = steps_of(frequency, cpu);
    return steps && strncmp(steps, RELATIVE, strlen(RELATIVE)) == 0;
}

bool estimates_levels(const struct table *frequency, int cpu, char why[SUPPORT_WHY_MAX])
{
    int highest = -1, chosen = cpu;
    size_t own = 0;
    if (!frequency) {
        snprintf(why, SUPPORT_WHY_MAX, "table frequency was not measured, so no levels are known");
        return false;
    }
    while (own < frequency->n_rows && (int)table_number(frequency, own, "cpu") != cpu)
        own++;
    if (own == frequency->n_rows && frequency->n_rows)
        chosen = (int)table_number(frequency, 0, "cpu");
    for (size_t row = 0; row < frequency->n_rows; row++)
        if ((int)table_number(frequency, row, "cpu") == chosen && table_number(frequency, row, "level") > highest)
            highest = (int)table_number(frequency, row, "level");
    if (!frequency->n_rows)
        snprintf(why, SUPPORT_WHY_MAX, "table frequency has no rows, so no levels are known");
    else if (estimates_floats(frequency, chosen, why))
        return false;
    else if (highest < 0)
        snprintf(why, SUPPORT_WHY_MAX, "table frequency shows no levels");
    else if (highest == 0)
        snprintf(why, SUPPORT_WHY_MAX, "all kernels of table frequency share one level");
    else
        return true;
    return false;
}

void estimates_note_levels(struct table *t, const struct table *frequency)
{
    const char *cpu = table_setting(t, "measured_cpu");
    char why[SUPPORT_WHY_MAX], text[SUPPORT_WHY_MAX + sizeof NONE];
    bool reported = estimates_levels(frequency, cpu ? atoi(cpu) : -1, why);
    snprintf(text, sizeof text, NONE "%s", why);
    table_set_setting(t, NOTED, reported ? "told" : text);
    const char *moves = frequency ? table_setting(frequency, FREQUENCY_MOVES) : NULL;
    if (moves)
        table_set_setting(t, FREQUENCY_MOVES, moves);
}

const char *estimates_no_levels(const struct table *t)
{
    const char *noted = table_setting(t, NOTED);
    return noted && strncmp(noted, NONE, strlen(NONE)) == 0 ? noted + strlen(NONE) : NULL;
}

bool estimates_noted_floating(const struct table *t)
{
    const char *why = estimates_no_levels(t);
    return why && strncmp(why, NO_STEPS, strlen(NO_STEPS)) == 0;
}

/* ---- waits ---- */

static bool same_pair(const struct table *t, size_t a, size_t b)
{
    double x = table_number(t, a, "active_cores"), y = table_number(t, b, "active_cores");
    return table_same(t, a, b, "from") && table_same(t, a, b, "to") && (!isfinite(x) || !isfinite(y) || x == y);
}

/* True if no other row of toggling between the same two has a longer pause. */
static bool is_longest_pause(const struct table *t, size_t row)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (same_pair(t, row, i) && table_says(t, i, "what", "toggle") &&
            table_number(t, i, "duty_us") > table_number(t, row, "duty_us"))
            return false;
    return true;
}

/* True if a row measures the same wait in another way. */
static bool tells_wait(const struct table *t, size_t row, double wait_us)
{
    if (table_says(t, row, "what", "rearm")) /* an interrupt takes time itself, which no row has */
        return table_says(t, row, "rearmed", "yes") && !table_says(t, row, "by", "interrupt");
    return table_says(t, row, "what", "toggle") && (table_number(t, row, "duty_us") >= wait_us ||
                                                    table_number(t, row, "share_lo") > 0.5 || is_longest_pause(t, row));
}

static bool is_contradicted(const struct table *t, size_t row, const struct estimate *wait, size_t *against)
{
    double mode = table_number(t, row, "mode") == 2 ? 2 : 1, sd = table_number(t, row, "sd_us");
    struct estimate once = {wait->value / mode, wait->lo / mode, wait->hi / mode};
    double slack = fmax(isfinite(sd) ? sd / mode : 0, fmax(WAIT_SLACK * once.value, WAIT_SLACK_US));
    struct estimate twice = {2 * once.value, 2 * once.lo, 2 * once.hi};
    for (size_t i = 0; i < t->n_rows; i++) {
        struct estimate other = estimates_of_table(t, i, "wait_us");
        if (i == row || !same_pair(t, row, i) || !estimates_known(&other) || !tells_wait(t, i, once.value) ||
            estimates_agree(&other, &once, slack) || estimates_agree(&other, &twice, 2 * slack))
            continue;
        *against = i;
        return true;
    }
    return false;
}

enum estimates_wait_support estimates_wait_support(const struct table *t, size_t row, size_t *against)
{
    struct estimate wait = estimates_of_table(t, row, "wait_us"), slow = estimates_of_table(t, row, "slow_ghz");
    struct estimate plain = estimates_of_table(t, row, "plain_ghz");
    *against = t->n_rows;
    if (!estimates_known(&wait) || !(wait.lo > 0))
        return WAIT_NO_LIMITS;
    if (table_has(t, "slow_ghz")) {
        if (!estimates_known(&slow) || !estimates_known(&plain))
            return WAIT_NO_LIMITS;
        if (!estimates_above(&plain, &slow))
            return WAIT_NOT_SLOWER;
    }
    return is_contradicted(t, row, &wait, against) ? WAIT_CONTRADICTED : WAIT_REPORTED;
}
