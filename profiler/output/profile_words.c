/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences about a profile, on the screen and on the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/output/profile_parts.h"
#include "util/plain_text.h"

/* ---- rows: which are shown, and what is known of them ---- */

/* Rows that are shown in any case; others, where they have this share of the time, or this share of all losses. */
enum { ALWAYS_SHOWN = 5 };
#define SHARE_SHOWN 0.001
#define LOSS_SHOWN 0.01

const struct profile_row *profile_rows_of(const struct profile_result *r, enum profile_kind kind, size_t *n)
{
    size_t first = 0;
    while (first < r->n_rows && r->rows[first].kind != kind)
        first++;
    for (*n = 0; first + *n < r->n_rows && r->rows[first + *n].kind == kind;)
        ++*n;
    return *n ? &r->rows[first] : NULL;
}

const struct profile_row *profile_row_all(const struct profile_result *r)
{
    size_t n;
    return profile_rows_of(r, PROFILE_ALL, &n);
}

bool profile_is_victim(const struct profile_row *row)
{
    bool slowed = row->unattributed > PROFILE_PART_LEAST;
    for (size_t i = 0; i < row->n_culprits; i++)
        slowed = slowed || row->culprits[i].overhead > PROFILE_PART_LEAST;
    return slowed && row->overhead.lo > 0;
}

const char *profile_culprit_name(const struct profile_result *r, const struct profile_row *victim,
                                 const struct profile_culprit *c)
{
    if (c->row >= r->n_rows || !isfinite(c->overhead))
        return NULL;
    return &r->rows[c->row] == victim ? "itself" : r->rows[c->row].name;
}

/* The loss of a row, as a share of the time of all. */
static double loss_of(const struct profile_row *row)
{
    double loss = row->share * row->overhead.value;
    return loss > 0 ? loss : 0;
}

size_t *profile_rows_shown(const struct profile_row *rows, size_t n, size_t most, size_t *n_shown)
{
    size_t *shown = calloc(n + 1, sizeof *shown);
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += loss_of(&rows[i]);
    *n_shown = 0;
    for (size_t i = 0; shown && i < n && *n_shown < most; i++)
        if (i < ALWAYS_SHOWN || rows[i].share >= SHARE_SHOWN || loss_of(&rows[i]) > LOSS_SHOWN * all)
            shown[(*n_shown)++] = i;
    return shown;
}

bool profile_knows_parts(const struct profile_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(rows[i].sibling.value) && isfinite(rows[i].delay.value))
            return true;
    return false;
}

/* ---- words ---- */

const char *const profile_outcome_names[PROFILE_OUTCOMES] = {
    [PROFILE_TAKEN] = "taken",         [PROFILE_IDLE] = "idle",           [PROFILE_SWITCHED] = "switched",
    [PROFILE_UNCOUNTED] = "uncounted", [PROFILE_NOT_HELD] = "not-held",   [PROFILE_LATE] = "late",
    [PROFILE_UNSETTLED] = "unsettled", [PROFILE_OFF_TABLE] = "off-table",
};

/* Larger percentages are cut off. */
#define PERCENT_MOST 1e6

const char *profile_short_name(const char *name, size_t most, char out[PROFILE_NAME_MAX])
{
    size_t bytes = plain_text(name, out, PROFILE_NAME_MAX), characters = 0, n = 0;
    char *begin = out, *end = out + bytes; /* of what is left out */
    for (size_t i = 0; i < bytes; i++)
        characters += ((unsigned char)out[i] & 0xc0) != 0x80;
    if (characters <= most)
        return out;
    size_t tail = most / 2 + 1;
    for (n = 0; n < tail; n += ((unsigned char)*end & 0xc0) != 0x80)
        end--;
    for (n = 0; n < most - tail - 1 || ((unsigned char)*begin & 0xc0) == 0x80; begin++)
        n += ((unsigned char)*begin & 0xc0) != 0x80;
    char rest[PROFILE_NAME_MAX];
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(begin, PROFILE_NAME_MAX - (size_t)(begin - out), "\xE2\x80\xA6%s", rest);
    return out;
}

/* Digits after the point of a percentage: no more than its limits leave any meaning. */
static int percent_digits(const struct profile_estimate *e)
{
    double half = 50 * (e->hi - e->lo);
    return isfinite(half) ? (half >= 10 ? 0 : half >= 0.1 ? 1 : 2) : 1;
}

/* Converts to percent; values that no profile can have are cut off, so that columns keep their width. */
static double in_percent(double fraction, int digits)
{
    return plain_number(fmax(fmin(100 * fraction, PERCENT_MOST), -PERCENT_MOST), digits);
}

static const char *percent_with_sign(const struct profile_estimate *e, const char *sign, char out[PROFILE_PERCENT_MAX])
{
    int digits = percent_digits(e);
    if (!isfinite(e->value))
        snprintf(out, PROFILE_PERCENT_MAX, "-");
    else if (isfinite(e->lo) && isfinite(e->hi))
        snprintf(out, PROFILE_PERCENT_MAX, "%.*f%s (%.*f to %.*f)", digits, in_percent(e->value, digits), sign, digits,
                 in_percent(e->lo, digits), digits, in_percent(e->hi, digits));
    else
        snprintf(out, PROFILE_PERCENT_MAX, "%.*f%s", digits, in_percent(e->value, digits), sign);
    return out;
}

const char *profile_percent(const struct profile_estimate *e, char out[PROFILE_PERCENT_MAX])
{
    return percent_with_sign(e, "", out);
}

const char *profile_percent_alone(double fraction, char out[PROFILE_PERCENT_MAX])
{
    return profile_percent(&(struct profile_estimate){fraction, NAN, NAN}, out);
}

const char *profile_percent_said(const struct profile_estimate *e, char out[PROFILE_PERCENT_MAX])
{
    return percent_with_sign(e, " %", out);
}

/* Text of unknown origin, on one line. */
static void say_plain(FILE *out, const char *text)
{
    char *plain = plain_text_copy(text);
    fputs(plain ? plain : "?", out);
    free(plain);
}

/* A row's name, so short that a line holds it. */
static void say_name(FILE *out, const struct profile_row *row)
{
    char name[PROFILE_NAME_MAX];
    fputs(profile_short_name(row->name, PROFILE_NAME_SAID, name), out);
}

static uint64_t all_turns(const struct profile_result *r)
{
    uint64_t n = 0;
    for (enum profile_outcome o = 0; o < PROFILE_OUTCOMES; o++)
        n += r->turns[o];
    return n;
}

/* ---- how ---- */

void profile_say_sampling(const struct profile_result *r, FILE *out)
{
    const struct profile_setup *s = &r->setup;
    fprintf(out, "%.1f s, ", r->totals.seconds);
    if (s->mean_us)
        fprintf(out, "a turn every %g ms on average (%.3g Hz), ", 1e-3 * s->mean_us, 1e6 / s->mean_us);
    fprintf(out, "pauses of %u us, windows of %u us, seed %llu; ", s->pause_us, s->window_us,
            (unsigned long long)s->seed);
    fputs(s->n_bins ? "frequencies from " : "no frequency table", out);
    if (s->n_bins)
        say_plain(out, r->head.params ? r->head.params : "an export");
    if (s->n_bins && r->head.params_cpu && (!r->info.cpu || strcmp(r->head.params_cpu, r->info.cpu) != 0)) {
        fputs(", of ", out);
        say_plain(out, r->head.params_cpu);
    }
    fputs("\n", out);
}

void profile_say_turns(const struct profile_result *r, FILE *out)
{
    uint64_t n = all_turns(r);
    const char *before = ": ";
    fprintf(out, "%llu turn%s", (unsigned long long)n, n == 1 ? "" : "s");
    for (enum profile_outcome o = 0; o < PROFILE_OUTCOMES; o++) {
        if (r->turns[o] == 0)
            continue;
        fprintf(out, "%s%llu %s", before, (unsigned long long)r->turns[o], profile_outcome_names[o]);
        before = ", ";
    }
    fputs("\n", out);
}

void profile_say_cost(const struct profile_result *r, FILE *out)
{
    fprintf(out, "Pauses take %.3g %% of all cores' time", 1e-4 * profile_duty_ppm(&r->setup, r->info.cores));
    if (r->totals.pause_us_max > 0)
        fprintf(out, "; the longest took %.0f us", r->totals.pause_us_max);
    if (r->totals.lost)
        fprintf(out, "; %llu record%s lost", (unsigned long long)r->totals.lost,
                r->totals.lost == 1 ? " was" : "s were");
    fputs("\n", out);
}

/* ---- findings ---- */

static void say_parts(const struct profile_row *row, FILE *out)
{
    char sibling[PROFILE_PERCENT_MAX], delay[PROFILE_PERCENT_MAX];
    if (profile_knows_parts(row, 1))
        fprintf(out, ", %s %% due to siblings and %s %% due to delays",
                profile_percent_alone(row->sibling.value, sibling), profile_percent_alone(row->delay.value, delay));
}

static void say_all(const struct profile_row *all, FILE *out)
{
    char text[PROFILE_PERCENT_MAX];
    if (!isfinite(all->overhead.value))
        return;
    if (!(all->overhead.lo > 0) && isfinite(all->overhead.lo) && all->open) {
        fputs("No remote overhead was found, but there may be some: too many samples are inconclusive.\n", out);
        return;
    }
    if (!(all->overhead.lo > 0) && isfinite(all->overhead.lo)) {
        fprintf(out, "No remote overhead was found: it is at most %s %%.\n",
                profile_percent_alone(all->overhead.hi, text));
        return;
    }
    fprintf(out, "Everything that ran took %s longer than its own instructions demand",
            profile_percent_said(&all->overhead, text));
    say_parts(all, out);
    fputs(".\n", out);
}

/* The task that stands out from all; the one with the greatest share of all overhead, not of its own time. */
static void say_victim(const struct profile_row *tasks, size_t n, FILE *out)
{
    char text[PROFILE_PERCENT_MAX];
    if (n < 2 || !(tasks->overhead.lo > 0))
        return;
    say_name(out, tasks);
    fprintf(out, " loses most: %s", profile_percent_said(&tasks->overhead, text));
    say_parts(tasks, out);
    if (isfinite(tasks->share))
        fprintf(out, "; it accounts for %s %% of the CPU time", profile_percent_alone(tasks->share, text));
    fputs(".\n", out);
}

static void say_culprit(const struct profile_row *tasks, size_t n, FILE *out)
{
    char text[PROFILE_PERCENT_MAX];
    const struct profile_row *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (isfinite(tasks[i].causes) && (!most || tasks[i].causes > most->causes))
            most = &tasks[i];
    if (!most || !(most->causes > 0.005))
        return;
    say_name(out, most);
    fprintf(out, " costs others most: %s %% of all remote overhead.\n", profile_percent_alone(most->causes, text));
}

static void say_nothing_taken(const struct profile_result *r, FILE *out)
{
    enum profile_outcome most = PROFILE_IDLE;
    for (enum profile_outcome o = PROFILE_IDLE; o < PROFILE_OUTCOMES; o++)
        most = r->turns[o] > r->turns[most] ? o : most;
    if (all_turns(r) == 0)
        fputs("There was no turn: there are no results.\n", out);
    else
        fprintf(out, "No turn was taken, most were %s: there are no results.\n", profile_outcome_names[most]);
}

void profile_say_findings(const struct profile_result *r, FILE *out)
{
    size_t n;
    const struct profile_row *all = profile_row_all(r), *tasks = profile_rows_of(r, PROFILE_TASK, &n);
    if (r->setup.flags & PROFILE_REHEARSAL)
        fputs("A rehearsal: timers and pauses only, nothing was counted.\n", out);
    else if (r->turns[PROFILE_TAKEN] == 0)
        say_nothing_taken(r, out);
    if (!all || r->turns[PROFILE_TAKEN] == 0)
        return;
    say_all(all, out);
    say_victim(tasks, n, out);
    if (all->overhead.lo > 0)
        say_culprit(tasks, n, out);
}

void profile_say_advice(const struct profile_result *r, FILE *out)
{
    static const enum profile_kind kinds[] = {PROFILE_ALL, PROFILE_TASK, PROFILE_CONTAINER, PROFILE_CORE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n;
        const struct profile_row *rows = profile_rows_of(r, kinds[k], &n);
        for (size_t i = 0; i < n; i++) {
            if (!*rows[i].advice)
                continue;
            say_name(out, &rows[i]);
            fputs(": ", out);
            say_plain(out, rows[i].advice);
            fputs("\n", out);
        }
    }
}

/* ---- what is not known ---- */

/* Turns that came to nothing although a task ran, and why that may be. */
static void say_outcomes(const struct profile_result *r, FILE *out)
{
    static const struct {
        enum profile_outcome outcome;
        const char *why;
    } causes[] = {
        {PROFILE_UNCOUNTED, "others use the counters (perf, the NMI watchdog)"},
        {PROFILE_NOT_HELD, "hyper-threads did not answer an interrupt in time"},
        {PROFILE_LATE, "a hypervisor or firmware held CPUs during the pause, or timers were late"},
        {PROFILE_OFF_TABLE, "the clock was faster than in the table, which may be that of another processor"},
    };
    uint64_t ran = all_turns(r) - r->turns[PROFILE_IDLE];
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        uint64_t n = r->turns[causes[i].outcome];
        if (n > 0 && 20 * n >= ran)
            fprintf(out, "%.0f %% of the turns in which a task ran were %s: %s.\n", 100 * (double)n / (double)ran,
                    profile_outcome_names[causes[i].outcome], causes[i].why);
    }
}

void profile_say_unknown(const struct profile_result *r, FILE *out)
{
    const struct profile_row *all = profile_row_all(r);
    bool rehearsal = r->setup.flags & PROFILE_REHEARSAL;
    char text[PROFILE_PERCENT_MAX];
    if (!rehearsal && !(r->setup.flags & PROFILE_SOURCES) && r->info.cpus != r->info.cores)
        fputs("Not measured: how much is due to siblings and how much to delays; --sources distinguishes them.\n", out);
    if (!rehearsal && r->setup.n_bins == 0)
        fputs("There is no frequency table: the clock after the pause counts as ideal, whatever else changed it "
              "meanwhile (active cores, power); --params EXPORT.json provides one.\n",
              out);
    if (all && all->not_limited > 0.005 && !(all->open && all->not_limited > 0.1))
        fprintf(out,
                "In %s %% of the samples the clock was limited by something other than the level (power, heat, a "
                "governor): there, levels cost nothing.\n",
                profile_percent_alone(all->not_limited, text));
    for (size_t i = 0; i < r->n_doubts; i++)
        fprintf(out, "%s\n", r->doubts[i]);
    say_outcomes(r, out);
    if (r->info.notes && *r->info.notes) {
        say_plain(out, r->info.notes);
        fputs("\n", out);
    }
    for (size_t i = 0; i < r->head.n_warnings; i++) {
        say_plain(out, r->head.warnings[i]);
        fputs("\n", out);
    }
}
