/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns counts into the meaning of a umask: shares of cycles, the meaning of each bit, and the findings. */
#include "tables/umask/umask_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "kernels/kernels.h"
#include "util/order.h"
#include "util/text_list.h"

/* ---- shares ---- */

/* A sample belongs to reduced rate when its IPC is below this part of the full rate's, where noise allows it:
 * throttling to one half is the mildest that was published (Skylake-SP dissertation, section 3.2.2), and a sample of
 * IPC noise more than SLOW_SIGMAS away is below it by chance once in a million. Never less than
 * SLOW_LEAST. */
#define SLOW 0.95
#define SLOW_LEAST 0.75
#define SLOW_SIGMAS 5
/* Two counters are not read at once: a share is not known to better than so many cycles of all. */
#define APART_CYCLES 40

/* The share of a sample's cycles that counts, 0..1; NaN: not known. */
struct rule {
    size_t extra; /* used where slow_ipc is NaN */
    double slow_ipc;
};

static double part_of(const struct trace *t, const struct rule *r, size_t i)
{
    if (!isnan(r->slow_ipc))
        return t->channel[TRACE_IPC] ? (t->channel[TRACE_IPC][i] < r->slow_ipc) : NAN;
    const struct trace_extra *e = &t->extra[r->extra];
    const char *text = t->text + e->offset[i];
    char *end;
    double value = strtod(text, &end);
    return end == text ? NAN : value;
}

/* The share of the cycles of the run that begins at sample *at that the rule takes; *at is moved to the next run. The
 * cycles (thousands) are added to *all where that is known; NaN: it is not. */
static double share_of_run(const struct trace *t, const struct rule *r, double to_us, size_t *at, double *all)
{
    double cycles = 0, taken = 0;
    size_t first = *at, i = first + 1;
    for (; i < t->n && (!t->run || t->run[i] == t->run[first]); i++) {
        if (t->time_us[i] <= 0 || t->time_us[i] > to_us)
            continue;
        double these = (t->time_us[i] - t->time_us[i - 1]) * (double)t->channel[TRACE_FREQ][i];
        if (!(these > 0))
            continue; /* a halt from end to end, or nothing known: no cycles to speak of */
        cycles += these;
        taken += these * part_of(t, r, i);
    }
    *at = i;
    if (!(cycles > 0) || isnan(taken))
        return NAN;
    *all += cycles;
    return taken / cycles;
}

static struct estimate share_of_runs(const struct trace *t, const struct rule *r, double to_us, size_t *runs)
{
    struct estimate none = {NAN, NAN, NAN};
    double *shares = t->channel[TRACE_FREQ] && t->n ? malloc(t->n * sizeof *shares) : NULL;
    double cycles = 0;
    size_t n = 0;
    *runs = 0;
    if (!shares)
        return none;
    for (size_t at = 0; at < t->n;) {
        double s = share_of_run(t, r, to_us, &at, &cycles);
        if (!isnan(s))
            shares[n++] = s;
    }
    /* no share is farther from another than 1: nothing is left out, since a bit may count in some repetitions only */
    struct estimate e = robust_mean(shares, n, 0, 2, runs);
    free(shares);
    if (!n)
        return none;
    double apart = APART_CYCLES * 1e-3 * (double)n / cycles;
    e.lo = fmin(e.lo, e.value - apart);
    e.hi = fmax(e.hi, e.value + apart);
    return e;
}

struct estimate umask_shares_counted(const struct trace *t, size_t extra, double to_us, size_t *runs)
{
    return share_of_runs(t, &(struct rule){extra, NAN}, to_us, runs);
}

struct estimate umask_shares_slow(const struct trace *t, double full_ipc, double part, size_t *runs)
{
    *runs = 0;
    if (isnan(full_ipc))
        return (struct estimate){NAN, NAN, NAN};
    return share_of_runs(t, &(struct rule){0, part * full_ipc}, INFINITY, runs);
}

double umask_shares_ipc(const struct trace *t, double from_us)
{
    double *ipc = t->channel[TRACE_IPC] && t->n ? malloc(t->n * sizeof *ipc) : NULL, middle = NAN;
    size_t n = 0;
    if (!ipc)
        return NAN;
    for (size_t i = 0; i < t->n; i++)
        if (t->time_us[i] > from_us)
            ipc[n++] = (double)t->channel[TRACE_IPC][i];
    middle = order_median(ipc, n);
    free(ipc);
    return middle;
}

double umask_shares_slow_below(const struct trace *t)
{
    const float *ipc = t->channel[TRACE_IPC];
    double *logs = ipc && t->n > 1 ? malloc(t->n * sizeof *logs) : NULL;
    if (!logs)
        return SLOW_LEAST;
    for (size_t i = 0; i < t->n; i++)
        logs[i] = ipc[i] > 0 ? log((double)ipc[i]) : NAN;
    double sigma = robust_step_noise(logs, t->n, logs);
    free(logs);
    return isnan(sigma) ? SLOW_LEAST : fmax(SLOW_LEAST, fmin(SLOW, 1 - SLOW_SIGMAS * sigma));
}

/* ---- kinds of code ---- */

enum { READINGS_KINDS_MAX = 12, READINGS_TEXT_MAX = 200 };

/* A kind of code that was run. */
struct meaning_kind {
    unsigned width; /* bits; 8192 = tiles */
    bool heavy;
    double lo, hi; /* lowest and highest share of the cycles counted, among the kernels of this kind, when steady */
};
/* A change of code. */
struct meaning_change {
    double share; /* of the cycles around it that were counted */
    double slow;  /* of them, those in which the code ran at a reduced rate; NaN = not known */
    double other; /* up to so much of `slow` may be something else than throttling; NaN = not known */
};
struct meaning_input {
    size_t n_kinds, n_changes;
    struct meaning_kind kinds[READINGS_KINDS_MAX];
    const struct meaning_change *changes;
};

static int by_demand(const void *a, const void *b)
{
    const struct meaning_kind *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? -1 : 1;
    return (int)x->heavy - (int)y->heavy;
}

/* Sorts a kernel's share into its kind. False: there is no room for another kind. */
static bool add_share(struct meaning_input *r, unsigned width, bool heavy, double share)
{
    for (size_t i = 0; i < r->n_kinds; i++) {
        struct meaning_kind *k = &r->kinds[i];
        if (k->width == width && k->heavy == heavy) {
            k->lo = fmin(k->lo, share);
            k->hi = fmax(k->hi, share);
            return true;
        }
    }
    if (r->n_kinds == READINGS_KINDS_MAX)
        return false;
    r->kinds[r->n_kinds++] = (struct meaning_kind){width, heavy, share, share};
    qsort(r->kinds, r->n_kinds, sizeof r->kinds[0], by_demand);
    return true;
}

/* From these shares on a bit counts a kind of code, and up to these it does not; between them it counts in part.
 * Chosen: shares of steady code are near 0 or near 1. */
#define MEANING_COUNTS 0.9
#define MEANING_COUNTS_NOT 0.1
enum meaning_answer { MEANING_NO, MEANING_PARTLY, MEANING_YES };
static enum meaning_answer answer_of(const struct meaning_kind *k)
{
    return k->lo >= MEANING_COUNTS ? MEANING_YES : k->hi <= MEANING_COUNTS_NOT ? MEANING_NO : MEANING_PARTLY;
}

/* ---- words ---- */

static void name_width(unsigned width, const char *before, const char *unit, char out[40])
{
    if (width > 512)
        snprintf(out, 40, "tiles");
    else
        snprintf(out, 40, "%s%u%s", before, width, unit);
}

static void name_kind(const struct meaning_kind *k, char out[40])
{
    name_width(k->width, k->heavy ? "heavy " : "light ", "", out);
}

/* The kinds from `i` on that share its width; *answer is that of all of them, or MEANING_PARTLY where they differ. */
static size_t same_width(const struct meaning_input *r, size_t i, enum meaning_answer *answer)
{
    size_t end = i;
    *answer = answer_of(&r->kinds[i]);
    for (; end < r->n_kinds && r->kinds[end].width == r->kinds[i].width; end++)
        if (answer_of(&r->kinds[end]) != *answer)
            *answer = MEANING_PARTLY;
    return end;
}

static void name_one(const struct meaning_kind *k, char out[READINGS_TEXT_MAX])
{
    char name[40];
    enum meaning_answer a = answer_of(k);
    name_kind(k, name);
    if (a == MEANING_YES)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
    else if (a == MEANING_PARTLY && k->hi - k->lo < 0.01)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s in part (%.2f)", name, (k->lo + k->hi) / 2);
    else if (a == MEANING_PARTLY)
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s in part (%.2f to %.2f)", name, k->lo, k->hi);
}

/* Widths that count whatever the weight, from the narrowest on, are named together. */
static void name_kinds(const struct meaning_input *r, char out[READINGS_TEXT_MAX])
{
    size_t i = 0;
    unsigned up_to = 0;
    enum meaning_answer answer = MEANING_NO;
    char name[40];
    while (i < r->n_kinds && r->kinds[0].width <= 128) {
        size_t end = same_width(r, i, &answer);
        if (answer != MEANING_YES)
            break;
        up_to = r->kinds[i].width;
        i = end;
    }
    if (up_to) {
        name_width(up_to, "up to ", " bit", name);
        text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
    }
    while (i < r->n_kinds) {
        size_t end = same_width(r, i, &answer);
        if (answer == MEANING_YES && end > i + 1) {
            name_width(r->kinds[i].width, "", " bit", name);
            text_list_add(out, READINGS_TEXT_MAX, ", ", "%s", name);
            i = end;
        }
        for (; i < end; i++)
            name_one(&r->kinds[i], out);
    }
}

/* ---- readings ---- */

/* By how much the counted share may differ from the throttled one, by the samples at the edges of a phase; and
 * relative, which matters where phases are short. Chosen. */
#define EDGES 0.03
#define RELATIVE 0.25
#define COUNTED 0.01 /* a share above is no noise of the readings */

static double edges(const struct meaning_change *c)
{
    return EDGES + RELATIVE * c->slow;
}

/* More cycles are slow than are counted, and by more than something else than throttling may be slow. */
static bool uncounted(const struct meaning_change *c)
{
    return c->slow - c->share - c->other > edges(c);
}

/* A bit that counts throttled cycles counts those of every change, give or take the samples at the edges of a phase. */
static bool is_throttle(const struct meaning_input *r)
{
    bool seen = false;
    for (size_t i = 0; i < r->n_changes; i++) {
        const struct meaning_change *c = &r->changes[i];
        if (isnan(c->share) || isnan(c->slow) || isnan(c->other))
            continue;
        if (c->share - c->slow > edges(c) || uncounted(c))
            return false;
        seen = seen || c->share > EDGES || fmin(c->share, c->slow) > COUNTED;
    }
    return seen;
}

/* True if throttled code was not counted. Where none was throttled, what counts throttled cycles counts nothing. */
static bool throttled_uncounted(const struct meaning_input *r)
{
    for (size_t i = 0; i < r->n_changes; i++)
        if (uncounted(&r->changes[i]))
            return true;
    return false;
}

static bool counts_at_changes(const struct meaning_input *r, double more)
{
    for (size_t i = 0; i < r->n_changes; i++)
        if (r->changes[i].share > more)
            return true;
    return false;
}

/*
 * The reading: "up to 128 bit, light 256"; "heavy 512"; "everything" where it counts all that was run; "throttled"
 * where it counts nothing that runs steadily, and at changes as many cycles as ran at a reduced rate for that;
 * "changes" where it counts others there; "nothing".
 */
static void write_reading(const struct meaning_input *r, char out[READINGS_TEXT_MAX])
{
    size_t yes = 0, no = 0;
    out[0] = '\0';
    for (size_t i = 0; i < r->n_kinds; i++) {
        yes += answer_of(&r->kinds[i]) == MEANING_YES;
        no += answer_of(&r->kinds[i]) == MEANING_NO;
    }
    if (no < r->n_kinds && (yes < r->n_kinds || yes < 2))
        name_kinds(r, out);
    else
        snprintf(out, READINGS_TEXT_MAX, "%s",
                 no < r->n_kinds                 ? "everything"
                 : is_throttle(r)                ? "throttled"
                 : counts_at_changes(r, COUNTED) ? "changes"
                                                 : "nothing");
}

/* ---- documentation ---- */

/* Intel's public event lists (perfmon, skylakex_core.json and those of later cores with these events), descriptions of
 * CORE_POWER: level 0 "non-AVX codes, SSE, AVX 128-bit, and low-current AVX 256-bit", level 1 "high current AVX 256-bit
 * instructions as well as low current AVX 512-bit", level 2 "high current AVX 512-bit", throttle "cycles ... throttled
 * due to a pending power level request". */
static const struct {
    const char *name, *text;
} documents[] = {
    [MEANING_UNDOCUMENTED] = {"", ""},
    [MEANING_LEVEL_0] = {"CORE_POWER.LVL0_TURBO_LICENSE", "up to 128 bit, light 256"},
    [MEANING_LEVEL_1] = {"CORE_POWER.LVL1_TURBO_LICENSE", "heavy 256, light 512"},
    [MEANING_LEVEL_2] = {"CORE_POWER.LVL2_TURBO_LICENSE", "heavy 512"},
    [MEANING_THROTTLED] = {"CORE_POWER.THROTTLE", "throttled while a level is pending"},
};

enum meaning_document umask_document_of(const char *event)
{
    size_t length = event ? strcspn(event, ":") : 0;
    for (enum meaning_document d = MEANING_LEVEL_0; event && d <= MEANING_THROTTLED; d++)
        if (strlen(documents[d].name) == length && strncmp(documents[d].name, event, length) == 0)
            return d;
    return MEANING_UNDOCUMENTED;
}

const char *umask_document_text(enum meaning_document d)
{
    return documents[d].text;
}

static bool documented(enum meaning_document d, const struct meaning_kind *k)
{
    switch (d) {
    case MEANING_LEVEL_0:
        return k->width <= 128 || (k->width == 256 && !k->heavy);
    case MEANING_LEVEL_1:
        return (k->width == 256 && k->heavy) || (k->width == 512 && !k->heavy);
    case MEANING_LEVEL_2:
        return k->width == 512 && k->heavy;
    default:
        return false;
    }
}

/* How measurement and documentation disagree: "heavy 256 is counted; heavy 512 is not"; "" where they do not. */
static void write_disagreement(const struct meaning_input *r, enum meaning_document d, char out[READINGS_TEXT_MAX])
{
    char name[40];
    out[0] = '\0';
    for (size_t i = 0; i < r->n_kinds && d != MEANING_UNDOCUMENTED; i++) {
        const struct meaning_kind *k = &r->kinds[i];
        enum meaning_answer a = answer_of(k);
        if (k->width > 512 || a == (documented(d, k) ? MEANING_YES : MEANING_NO))
            continue; /* tiles are newer than the descriptions */
        name_kind(k, name);
        text_list_add(out, READINGS_TEXT_MAX, "; ", "%s is %s", name,
                      a == MEANING_YES  ? "counted"
                      : a == MEANING_NO ? "not counted"
                                        : "counted in part");
    }
    if (d != MEANING_THROTTLED || out[0] || is_throttle(r))
        return;
    if (counts_at_changes(r, EDGES))
        snprintf(out, READINGS_TEXT_MAX, "cycles other than throttled ones are counted");
    else if (throttled_uncounted(r))
        snprintf(out, READINGS_TEXT_MAX, "no throttled cycles are counted");
}

/* ---- readings of rows ---- */

/* True if two rows are of one umask of one event. */
static bool same_umask(const struct table *t, size_t a, size_t b)
{
    return table_same(t, a, b, "event") && table_same(t, a, b, "umask");
}

/* The first row of the umask of a row. */
static size_t first_of_umask(const struct table *t, size_t row)
{
    size_t first = 0;
    while (!same_umask(t, first, row))
        first++;
    return first;
}

/* The shares of one umask of one event, over all rows. */
struct collected {
    struct meaning_input input;
    struct meaning_change *changes; /* room for one a row */
};

/* Collects the shares of a row's umask. */
static void collect(const struct table *t, size_t row, struct collected *c)
{
    c->input.n_kinds = c->input.n_changes = 0;
    c->input.changes = c->changes;
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *name = table_text(t, i, "kernel"), *when = table_text(t, i, "when");
        struct payload p;
        double share = table_number(t, i, "share");
        if (!same_umask(t, i, row) || isnan(share) || !name || !when)
            continue;
        if (strcmp(when, "steady") != 0) {
            c->changes[c->input.n_changes++] = (struct meaning_change){share, table_number(t, i, "slow_share"),
                                                                       table_number(t, i, "slow_other")};
            continue;
        }
        /* sparse code, or code that waits for itself, may need less than its kind does */
        if (kernel_parse(name, &p, NULL, 0) == 0 && p.density == 1 && !p.kernel->latency_bound)
            add_share(&c->input, p.kernel->width, p.kernel->weight == KERNEL_HEAVY, share);
    }
}

/* True if this kernel ran steadily while this row's umask was counted. */
static bool ran_steadily(const struct table *t, size_t row, const char *kernel)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (same_umask(t, i, row) && table_says(t, i, "when", "steady") && table_says(t, i, "kernel", kernel))
            return true;
    return false;
}

static void conclude_row(struct table *t, size_t row, struct collected *c)
{
    char reading[READINGS_TEXT_MAX + 40], disagrees[READINGS_TEXT_MAX];
    const char *base = table_setting(t, "base");
    collect(t, row, c);
    if (!c->input.n_kinds)
        return;
    write_reading(&c->input, reading);
    /* changes are between a kernel and the base: what the base itself counts shows there, too */
    if (base && strcmp(reading, "changes") == 0 && !ran_steadily(t, row, base))
        snprintf(reading, sizeof reading, "changes or %.20s", base);
    table_set_text(t, row, "reading", reading);
    write_disagreement(&c->input, umask_document_of(table_text(t, row, "documented")), disagrees);
    if (disagrees[0])
        table_set_text(t, row, "disagrees", disagrees);
}

int umask_conclude(struct table *t)
{
    struct collected c = {.changes = malloc((t->n_rows ? t->n_rows : 1) * sizeof *c.changes)};
    if (!c.changes)
        return -1;
    for (size_t i = 0; i < t->n_rows; i++) {
        const size_t same = first_of_umask(t, i); /* an earlier row of this umask has the same answer */
        if (same == i) {
            conclude_row(t, i, &c);
            continue;
        }
        if (table_text(t, same, "reading"))
            table_set_text(t, i, "reading", table_text(t, same, "reading"));
        if (table_text(t, same, "disagrees"))
            table_set_text(t, i, "disagrees", table_text(t, same, "disagrees"));
    }
    free(c.changes);
    return t->failed ? -1 : 0;
}

/* ---- findings ---- */

/* True if kernels of all kinds that the documents name ran while this row's umask was counted. */
static bool kinds_ran(const struct table *t, size_t row)
{
    enum { NARROW, LIGHT_256, HEAVY_256, LIGHT_512, HEAVY_512, KINDS };
    bool ran[KINDS] = {false};
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *name = table_text(t, i, "kernel");
        struct payload p;
        if (!same_umask(t, i, row) || !name || !table_says(t, i, "when", "steady") || kernel_parse(name, &p, NULL, 0) ||
            p.density != 1 || p.kernel->latency_bound || p.kernel->width > 512)
            continue;
        bool heavy = p.kernel->weight == KERNEL_HEAVY;
        ran[p.kernel->width <= 128 ? NARROW : (p.kernel->width <= 256 ? LIGHT_256 : LIGHT_512) + (int)heavy] = true;
    }
    return ran[NARROW] && ran[LIGHT_256] && ran[HEAVY_256] && ran[LIGHT_512] && ran[HEAVY_512];
}

void umask_findings(FILE *out, const struct table *t)
{
    size_t disagreeing = 0, reported = 0, documented = 0;
    bool all_kinds = true;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *reading = table_text(t, row, "reading"), *document = table_text(t, row, "documented");
        unsigned umask = (unsigned)table_number(t, row, "umask");
        if (first_of_umask(t, row) != row)
            continue;
        if (umask_document_of(document) != MEANING_UNDOCUMENTED) {
            documented++;
            /* where nothing was throttled for sure, it is not known what would be counted */
            bool seen = umask_document_of(document) != MEANING_THROTTLED || table_says(t, row, "reading", "throttled");
            all_kinds = all_kinds && seen && kinds_ran(t, row);
        }
        disagreeing += table_text(t, row, "disagrees") != NULL;
        if (!reading || __builtin_popcount(umask) != 1 || strcmp(reading, "nothing") == 0)
            continue;
        if (reported++ == 0)
            fprintf(out, "Event %02XH, by single umask bits: ", (unsigned)table_number(t, row, "event"));
        fprintf(out, "%s%02XH %s", reported > 1 ? "; " : "", umask, reading);
    }
    if (reported)
        fprintf(out, ".\n");
    if (disagreeing)
        fprintf(out,
                disagreeing > 1 ? "%zu umasks do not behave as Intel documents them.\n"
                                : "%zu umask does not behave as Intel documents it.\n",
                disagreeing);
    else if (documented)
        fprintf(out, all_kinds ? "The documented umasks behave as Intel documents them.\n"
                               : "These kernels do not contradict Intel's documentation of its umasks.\n");
}
