/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/table_truth.h"

/* cmocka needs the four above first */
#include "drivers/model/model_machine.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/overhead_truth.h"
#include "tests/support/test.h"
#include "tests/support/voltage_truth.h"
#include "tests/support/model_truth.h"

static const double RELATIVE = 0.01, MICROSECONDS = 1;
#define SHORT_US                                                                                                       \
    4.0 /* a phase that is shorter than about four samples of 1 us is not distinguished from what surrounds it */
#define ALIKE 0.15 /* relative: neighboring throttles that differ by less, or a rate within half of it from full */

struct check {
    const struct model *model;
    const struct table *table;
    unsigned long seed;
    struct table_scores *out;
};

static const char *text(const struct check *c, size_t row, const char *column)
{
    const char *t = table_text(c->table, row, column);
    return t ? t : "";
}

static struct column_score *score_of(const struct check *c, const char *column)
{
    struct table_scores *s = c->out;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->column[i].table, c->table->name) == 0 && strcmp(s->column[i].column, column) == 0)
            return &s->column[i];
    assert_true(s->n < COLUMN_SCORES_MAX);
    struct column_score *fresh = &s->column[s->n++];
    memset(fresh, 0, sizeof *fresh);
    snprintf(fresh->table, sizeof fresh->table, "%s", c->table->name);
    snprintf(fresh->column, sizeof fresh->column, "%s", column);
    return fresh;
}

static void tell(const struct check *c, size_t row, const char *column, const char *what)
{
    if (!c->out->details)
        return;
    fprintf(c->out->details, "  model %lu, %s, row %zu (%s%s%s %s", c->seed, c->table->name, row,
            text(c, row, "kernel"), text(c, row, "from"), table_has(c->table, "to") ? " to" : "", text(c, row, "to"));
    static const char *const keys[] = {"what", "by", "when", "mode"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (text(c, row, keys[i])[0])
            fprintf(c->out->details, ", %s", text(c, row, keys[i]));
    fprintf(c->out->details, ", %g cores", table_number(c->table, row, "active_cores"));
    if (table_has(c->table, "umask"))
        fprintf(c->out->details, ", %02XH", (unsigned)table_number(c->table, row, "umask"));
    fprintf(c->out->details, "): %s %s\n", column, what);
}

/* A cell whose truth lies between these two. It is not off if it is within slack of that. */
static void cell_between(struct check *c, size_t row, const char *column, double least, double most, double slack)
{
    struct column_score *s = score_of(c, column);
    double is = table_number(c->table, row, column), lo, hi;
    double off = is < least ? least - is : is > most ? is - most : 0;
    char name[40], what[200];
    s->cells++;
    if (isnan(is)) {
        s->undecided += !isnan(least);
        return;
    }
    if (isnan(least)) { /* there is no such thing */
        s->off++;
        s->wrong++;
        tell(c, row, column, "is there, but should not be");
        return;
    }
    snprintf(name, sizeof name, "%s_lo", column);
    lo = table_number(c->table, row, name);
    snprintf(name, sizeof name, "%s_hi", column);
    hi = table_number(c->table, row, name);
    bool limited = !isnan(lo) && !isnan(hi), near = off <= RELATIVE * fabs(least) || off <= slack;
    double rounding = 1e-9 * (fabs(least) + fabs(most));
    bool within = limited && lo <= most + rounding && hi >= least - rounding;
    s->off += !near;
    s->limited += limited;
    s->within += within;
    s->wrong += !near && !within;
    if (near && (within || !limited || !c->out->outside))
        return;
    snprintf(what, sizeof what, "is %.6g [%.6g, %.6g], not %.6g%s", is, lo, hi, least < is ? most : least,
             near     ? ""
             : within ? " (off)"
                      : " (wrong)");
    tell(c, row, column, what);
}

static void cell(struct check *c, size_t row, const char *column, double want)
{
    size_t length = strlen(column);
    bool time = length > 3 && strcmp(column + length - 3, "_us") == 0, share = strstr(column, "share") != NULL;
    cell_between(c, row, column, want, want, time ? MICROSECONDS : share ? RELATIVE : 0);
}

/* A frequency: some repetitions may be slower by a power limit, and all move with the core's. */
static void cell_ghz(struct check *c, size_t row, const char *column, const struct model_truth *t, double ghz)
{
    const double most = 3; /* standard deviations */
    double least = t->limit_share > 0 ? t->limit_factor : 1, moves = most * t->wander_sigma;
    cell_between(c, row, column, ghz * least * (1 - moves), ghz * (1 + moves), 0);
}

/* A verdict in words, or whatever else is right or wrong. */
static void verdict(struct check *c, size_t row, const char *column, bool decided, bool right, const char *is)
{
    struct column_score *s = score_of(c, column);
    s->cells++;
    s->undecided += !decided;
    s->off += decided && !right;
    s->wrong += decided && !right;
    if (decided && !right)
        tell(c, row, column, is);
}

static void truth_between(const struct check *c, const char *from, const char *to, unsigned cores,
                          struct model_truth *t)
{
    struct payload a = rig_payload(from), b = rig_payload(to);
    struct machine_error error;
    if (model_truth(c->model, &a, &b, cores, t, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
}

static unsigned cores_of(const struct check *c, size_t row)
{
    return (unsigned)table_number(c->table, row, "active_cores");
}

static void truth_of_row(const struct check *c, size_t row, struct model_truth *t)
{
    truth_between(c, text(c, row, "from"), text(c, row, "to"), cores_of(c, row), t);
}

static bool resolved(const struct model_truth *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct model_phase *p = &t->phases[i], *next = p + 1;
        if (p->kind == MODEL_RAMP || p->kind == MODEL_COLD)
            return false; /* the time lost in it, and where it ends, are a matter of definition */
        if (p->kind != MODEL_HALTED && p->duration_us < SHORT_US)
            return false;
        if (p->kind != MODEL_THROTTLED)
            continue;
        if (p->ipc_ratio > 1 - ALIKE / 2)
            return false;
        if (i + 1 < t->n && next->kind == MODEL_THROTTLED && next->ipc_ratio != p->ipc_ratio &&
            fabs(next->ipc_ratio / p->ipc_ratio - 1) < ALIKE)
            return false;
    }
    return true;
}

/* Returns true if the phases are of one kind, whichever of the random counts triggers the higher level. */
static bool one_way(const struct check *c, const char *from, const char *to, unsigned cores,
                    const struct model_truth *usual, bool all_resolved)
{
    static struct model m; /* too large for the stack */
    for (int side = -1; side <= 1; side += 2) {
        struct check other = *c;
        struct model_truth t;
        m = *c->model;
        for (size_t k = 0; k < m.n_demands; k++)
            m.demands[k].count *= 1 + 3 * side * m.demands[k].count_sigma;
        other.model = &m;
        truth_between(&other, from, to, cores, &t);
        if (t.n != usual->n || (all_resolved && !resolved(&t)))
            return false;
        for (size_t i = 0; i < t.n; i++)
            if (t.phases[i].kind != usual->phases[i].kind)
                return false;
    }
    return true;
}

/* ... of the pair of a row. */
static bool row_is_one_way(const struct check *c, size_t row, const struct model_truth *usual)
{
    return resolved(usual) && one_way(c, text(c, row, "from"), text(c, row, "to"), cores_of(c, row), usual, true);
}

static bool disturbed(const struct model_phase *p)
{
    return p->kind == MODEL_THROTTLED || p->kind == MODEL_HALTED;
}

/* ---- the tables ---- */

static void check_frequency(struct check *c, size_t row)
{
    struct model_truth t;
    truth_between(c, "64add", text(c, row, "kernel"), cores_of(c, row), &t);
    cell_ghz(c, row, "freq_ghz", &t, t.phases[t.n - 1].ghz);
    cell(c, row, "ratio", t.phases[t.n - 1].ghz / t.from_ghz);
    if (!c->model->no_counters) /* which ranks the frequencies that it sees */
        cell(c, row, "level", t.phases[t.n - 1].level);
}

static void check_transitions(struct check *c, size_t row)
{
    struct model_truth t;
    truth_of_row(c, row, &t);
    const struct model_phase *last = &t.phases[t.n - 1], *first = NULL;
    double halts = 0, lost = 0;
    for (size_t i = 0; i + 1 < t.n; i++) {
        const struct model_phase *p = &t.phases[i];
        first = !first && (disturbed(p) || p->ghz != t.phases[i + 1].ghz) ? p : first;
        /* two without anything in between are one to whoever looks at it */
        halts += p->kind == MODEL_HALTED && (i == 0 || t.phases[i - 1].kind != MODEL_HALTED);
        if (p->kind != MODEL_SLOW)
            lost += p->duration_us * (1 - p->ipc_ratio * p->ghz / last->ghz);
    }
    cell_ghz(c, row, "from_ghz", &t, t.from_ghz);
    cell_ghz(c, row, "to_ghz", &t, last->ghz);
    if (!row_is_one_way(c, row, &t)) {
        c->out->skipped++;
        return;
    }
    if (!first || (first->kind == MODEL_SLOW && !disturbed(first + 1)))
        return; /* nothing is lost: no latency; the kind is looked at by the table's own test */
    const struct model_phase *sign = first->kind == MODEL_SLOW || first->kind == MODEL_STEADY ? first + 1 : first;
    if (halts > 0 || t.from_ghz == last->ghz) {
        cell(c, row, "latency_us", last->start_us - sign->start_us);
        cell(c, row, "halts", halts);
    }
    cell(c, row, "overhead_us", lost);
}

/* The rate of a phase against the same code that is as cold. */
static double ratio_of(const struct model *m, const struct model_phase *p)
{
    return p->start_us < m->scenario.cold_us ? p->ipc_ratio / m->scenario.cold_factor : p->ipc_ratio;
}

/* The number-th throttled phase; where the voltage alone changes, or what was cold no longer is, the rate goes on.
 * *cold_us: of it, with cold code besides. */
static bool throttled_phase(const struct model *m, const struct model_truth *t, double number, double *us,
                            double *cold_us, double *ratio)
{
    double seen = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct model_phase *first = &t->phases[i];
        *us = first->duration_us;
        *ratio = ratio_of(m, first);
        if (first->kind != MODEL_THROTTLED)
            continue;
        for (const struct model_phase *p = first + 1;
             i + 1 < t->n && p->kind == MODEL_THROTTLED && fabs(ratio_of(m, p) - *ratio) < 1e-9; p++, i++)
            *us += p->duration_us;
        *cold_us = fmax(0, fmin(m->scenario.cold_us - first->start_us, *us));
        if (++seen == number)
            return true;
    }
    return false;
}

/* By what the table itself says of its limits. */
static bool would_be_found(const char *detectable, double us, double ratio)
{
    double below, lasts;
    const char *at = strstr(detectable, "throttling below ");
    return at && sscanf(at, "throttling below %lf of the rate for %lf us", &below, &lasts) == 2 && ratio < below &&
           us > lasts;
}

static void check_throttle(struct check *c, size_t row)
{
    struct model_truth t;
    double phase = table_number(c->table, row, "phase"), us, cold_us, ratio;
    if (strcmp(text(c, row, "part"), "reach") == 0) {
        if (!isnan(table_number(c->table, row, "distance")) && c->model->throttle_distance > 0)
            cell(c, row, "distance", c->model->throttle_distance);
        return;
    }
    if (strcmp(text(c, row, "part"), "phase") != 0)
        return;
    truth_of_row(c, row, &t);
    if (!row_is_one_way(c, row, &t)) {
        c->out->skipped++;
        return;
    }
    bool there = throttled_phase(c->model, &t, phase > 0 ? phase : 1, &us, &cold_us, &ratio);
    if (!(phase > 0) && there && !would_be_found(text(c, row, "detectable"), us, ratio))
        return;
    verdict(c, row, "phase", !isnan(phase), (phase > 0) == there, phase > 0 ? "is too many" : "is missed");
    if (!(phase > 0) || !there)
        return;
    /* cold code hides it: seen is what comes after, but it must not be denied */
    bool within = us <= table_number(c->table, row, "duration_us_hi");
    cell_between(c, row, "duration_us", within ? us - cold_us : us, us, MICROSECONDS);
    cell(c, row, "ipc_ratio", ratio);
}

/* The class that is in force once a kernel has run for long, from its demand alone. */
static unsigned class_of(const struct check *c, const char *kernel)
{
    struct model_truth t;
    truth_between(c, "64add", kernel, 0, &t);
    return t.phases[t.n - 1].class_;
}

/* Returns true if a class that lowers the frequency was requested on the way to the one that is held: it is kept, too,
 * and where its wait may be double the core goes back to it, or stays, when that of the other is over. */
static bool kept_by_another(const struct check *c, const char *kernel)
{
    struct model_truth t;
    truth_between(c, "64add", kernel, 0, &t);
    const struct model_class *held = &c->model->classes[t.phases[t.n - 1].class_];
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct machine_error error;
    if (model_need(c->model, &p, &need, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    const struct model_class *first = &c->model->classes[need.first];
    return first != held && first->level > 0 && first->wait_double > 0;
}

static void check_relaxation(struct check *c, size_t row)
{
    const char *what = text(c, row, "what"), *by = text(c, row, "by");
    if (kept_by_another(c, text(c, row, "from"))) {
        c->out->skipped++;
        return;
    }
    const struct model_class *held = &c->model->classes[class_of(c, text(c, row, "from"))];
    struct model_truth after;
    truth_between(c, text(c, row, "from"), text(c, row, "to"), 0, &after);
    /* a release may wait for the voltage to rise */
    double wait = c->model->wait_us;
    for (size_t i = 0; i < after.n; i++)
        if (after.phases[i].kind == MODEL_SLOW)
            wait = after.phases[i].start_us + after.phases[i].duration_us;
    double twice = held->wait_double;
    if (strcmp(what, "wait") == 0) {
        bool second = table_number(c->table, row, "mode") == 2;
        cell(c, row, "wait_us", wait + (second ? c->model->wait_us : 0));
        cell(c, row, "share", second ? twice : 1 - twice);
        return;
    }
    if (strcmp(what, "toggle") == 0) {
        double duty = table_number(c->table, row, "duty_us"), two = wait + c->model->wait_us;
        if (fabs(duty - wait) < 4 * c->model->wait_sigma_us || fabs(duty - two) < 6 * c->model->wait_sigma_us)
            return; /* some of the waits are shorter than the pause, some are longer */
        cell(c, row, "share", duty < wait ? 0 : duty < two ? 1 - twice : 1);
        if (duty > wait) {
            cell(c, row, "wait_us", wait);
            cell(c, row, "trend_us", 0);
        }
        return;
    }
    const char *verdict_is = text(c, row, "rearmed");
    bool decided = strcmp(verdict_is, "yes") == 0 || strcmp(verdict_is, "no") == 0, yes = verdict_is[0] == 'y';
    if (strcmp(by, "interrupt") == 0) {
        if (c->model->n_interrupts == 1)
            verdict(c, row, "rearmed", decided, yes == (c->model->interrupts[0].rearm > 0.5), verdict_is);
        return;
    }
    /* a class of the level that is kept is needed: a wait starts again. One of a level between lets the frequency rise
     * halfway; and a burst may end before so much is needed. */
    unsigned level = c->model->classes[class_of(c, by)].level;
    struct payload p = rig_payload(by);
    struct model_need need;
    struct machine_error error;
    if (model_need(c->model, &p, &need, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    if ((level > 0 && level < held->level) || need.later > need.first)
        return;
    bool again = level >= held->level && level > 0;
    verdict(c, row, "rearmed", decided, yes == again, verdict_is);
    if (decided && yes && again)
        cell(c, row, "wait_us", wait);
}

/* How often interrupts begin a wait again while it lasts. */
static double rearmings(const struct model *m)
{
    double n = 0;
    for (size_t i = 0; i < m->n_interrupts; i++)
        n += m->interrupts[i].rate_hz * m->interrupts[i].rearm * m->wait_us * 1e-6;
    return n;
}

/* The share of the core's cycles until `us` that the bits of a umask count, and 40H. */
static double share_counted(const struct check *c, const struct model_truth *t, const char *kernel, unsigned umask,
                            double us)
{
    struct payload p = rig_payload(kernel);
    double counted = 0, all = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct model_phase *f = &t->phases[i];
        double cycles = us > f->start_us ? model_phase_cycles(f, f->start_us, fmin(us, f->start_us + f->duration_us))
                                         : 0;
        all += cycles;
        if (c->model->classes[f->class_].umask & umask)
            counted += cycles;
        if (f->kind == MODEL_THROTTLED && umask & 0x40 && c->model->counts_throttle && p.density == 1)
            counted += cycles;
    }
    return counted / all;
}

/* A share that is counted; where the cycles of interrupts are counted, too, it may be larger. */
static void cell_share(struct check *c, size_t row, double want)
{
    double busy = 0;
    for (size_t i = 0; i < c->model->n_interrupts && c->model->licenses_of_core; i++) {
        const struct model_interrupt *k = &c->model->interrupts[i];
        busy += k->rate_hz * 0.5e-6 * (k->min_us + k->max_us);
    }
    cell_between(c, row, "share", want, want * (1 + 2 * busy), RELATIVE);
}

static void check_umask(struct check *c, size_t row)
{
    const char *kernel = text(c, row, "kernel"), *when = text(c, row, "when"), *base = table_setting(c->table, "base");
    unsigned umask = (unsigned)table_number(c->table, row, "umask"), cores = 1;
    struct model_truth t;
    if (strcmp(when, "steady") == 0) {
        cell_share(c, row, (umask & c->model->classes[class_of(c, kernel)].umask) != 0);
    } else {
        bool from = strncmp(when, "from", 4) == 0;
        truth_between(c, from ? base : kernel, from ? kernel : base, cores, &t);
        if (!one_way(c, from ? base : kernel, from ? kernel : base, cores, &t, false)) {
            c->out->skipped++;
            return;
        }
        double twice = c->model->classes[class_of(c, kernel)].wait_double;
        if (!from && (twice > 0 || rearmings(c->model) > 0.01))
            return; /* a mean over waits of different lengths */
        double us = strtod(table_setting(c->table, from ? "observe_from_base_us" : "observe_to_base_us"), NULL);
        double want = share_counted(c, &t, from ? kernel : base, umask, us);
        cell_share(c, row, want);
    }
    const char *documented = text(c, row, "documented");
    if (umask == 0x40 && strncmp(documented, "CORE_POWER.THROTTLE", 19) == 0 && c->model->counts_throttle)
        verdict(c, row, "disagrees", true, !text(c, row, "disagrees")[0], text(c, row, "disagrees"));
}

static void check_trigger(struct check *c, size_t row)
{
    struct payload p = rig_payload(text(c, row, "kernel"));
    struct model_need need;
    struct machine_error error;
    if (strcmp(text(c, row, "what"), "count") != 0)
        return;
    if (model_need(c->model, &p, &need, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    unsigned level = c->model->classes[need.later].level;
    char asks[40];
    snprintf(asks, sizeof asks, "level %u", level);
    if (strcmp(text(c, row, "asks"), asks) != 0 || level == 0)
        return;
    cell(c, row, "level", level);
    bool counted = need.later > need.first && level > c->model->classes[need.first].level;
    /* a count is known to within what is executed in 1 us */
    double once = 1e3 * need.counted_ipc * table_number(c->table, row, "plain_ghz");
    cell_between(c, row, "count", counted ? need.count : 0, counted ? need.count : once, once);
}

/* Edges are where one of the readings that a value is the median of may lie on either side of it. */
static void check_voltage(struct check *c, size_t row)
{
    enum { NEIGHBOURS = 21 };
    static const double LONGER_MOST = 0.35; /* part of the waits: the median is not theirs */
    struct model_truth t;
    double time = table_number(c->table, row, "time_us");
    truth_of_row(c, row, &t);
    size_t next = row + 1 < c->table->n_rows && table_number(c->table, row + 1, "time_us") > time ? row + 1 : row - 1;
    double spacing = fabs(table_number(c->table, next, "time_us") - time);
    /* 10 on either side, of readings that are at least as dense as the rows, and what the phases scatter by */
    double reach = NEIGHBOURS * spacing + 10, lo, hi;
    /* where waits are of different lengths nobody knows which side of the rise most readings are of */
    double twice = c->model->classes[class_of(c, text(c, row, "from"))].wait_double;
    if (t.phases[0].kind == MODEL_SLOW && time > t.phases[0].duration_us - reach &&
        1 - (1 - twice) * exp(-rearmings(c->model)) > LONGER_MOST) {
        c->out->skipped++;
        return;
    }
    voltage_range(&t, time, reach, &lo, &hi);
    cell_between(c, row, "volts", lo, hi, 0);
}

static void check_overhead(struct check *c, size_t row)
{
    struct overhead_truth t;
    struct model_truth down;
    overhead_truth(c->model, text(c, row, "from"), text(c, row, "to"), cores_of(c, row), &t);
    truth_of_row(c, row, &down);
    cell_ghz(c, row, "high_ghz", &down, t.high_ghz);
    cell_ghz(c, row, "low_ghz", &down, t.low_ghz);
    bool ramps = c->model->release_tau_us > 0;
    for (size_t i = 0; i < down.n; i++)
        ramps = ramps || down.phases[i].kind == MODEL_RAMP;
    if (ramps) {
        c->out->skipped++;
        return;
    }
    cell(c, row, "down_us", t.down_us);
    cell(c, row, "up_us", t.up_us);
    cell(c, row, "breakeven_us", t.breakeven_us);
}

/* The power of all active cores. The voltage is that of the kernel's own frequency and boosts, or of a lower, fixed
 * one. */
static double steady_watts(const struct check *c, const char *kernel, unsigned cores, double fixed, double *boost)
{
    struct payload p = rig_payload(kernel);
    struct model_truth t;
    truth_between(c, "64add", kernel, cores, &t);
    const struct model_phase *last = &t.phases[t.n - 1];
    double nominal = last->ghz / (1 - c->model->spread / 2), ghz = fixed > 0 ? fmin(fixed, nominal) : nominal;
    double volts = model_volts(c->model, ghz);
    *boost = last->volts - model_volts(c->model, nominal);
    return cores * model_steady_watts(c->model, &p, cores, fixed, volts + *boost);
}

static void check_energy(struct check *c, size_t row)
{
    const char *kernel = text(c, row, "kernel");
    unsigned cores = cores_of(c, row);
    struct payload p = rig_payload(kernel);
    struct model_need need;
    struct model_truth t;
    struct machine_error error;
    double fixed = 0, spread = 1 - c->model->spread / 2;
    truth_between(c, "64add", c->model->features & KERNEL_NEEDS_AVX512F ? "512fma" : "256fma", cores, &t);
    if (strcmp(text(c, row, "mode"), "fixed") == 0) /* at what the most demanding kernel was seen to run at */
        fixed = t.phases[t.n - 1].ghz;
    truth_between(c, "64add", kernel, cores, &t);
    if (!one_way(c, "64add", kernel, cores, &t, false)) { /* nor are the boosts on the way always the same */
        c->out->skipped++;
        return;
    }
    if (model_need(c->model, &p, &need, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    double ghz = fixed > 0 ? fmin(fixed * spread, t.phases[t.n - 1].ghz) : t.phases[t.n - 1].ghz;
    double boost, idle = c->model->idle_watts + steady_watts(c, "pause", cores, fixed, &boost);
    double package = c->model->idle_watts + steady_watts(c, kernel, cores, fixed, &boost);
    if (cores > 1 && boost > 1e-6 && !c->model->corunners_boosted)
        return; /* the cores are not alike, as the table takes them to be */
    if (t.limit_share > 0 || t.wander_sigma > 0 || t.sibling_share > 0 || c->model->scenario.cold_us > 0)
        return; /* power of another frequency, and operations at at the rate assumed, than those of the parameters */
    cell(c, row, "idle_watts", idle);
    cell(c, row, "package_watts", package);
    cell(c, row, "watts", package - idle);
    cell(c, row, "nj_per_op", (package - idle) / (cores * need.ipc * ghz));
}

/* ---- all of them ---- */

static const struct table_kind *const kinds[] = {&table_frequency, &table_transitions, &table_throttle,
                                                 &table_trigger,   &table_relaxation,  &table_overhead,
                                                 &table_umask,     &table_energy,      &table_voltage};
static void (*const checks[])(struct check *c, size_t row) = {check_frequency, check_transitions, check_throttle,
                                                              check_trigger,   check_relaxation,  check_overhead,
                                                              check_umask,     check_energy,      check_voltage};

const struct table_kind *const *truth_tables(size_t *n)
{
    *n = sizeof kinds / sizeof *kinds;
    return kinds;
}

void truth_check(const struct table_kind *kind, const struct model *m, unsigned long seed, struct table_scores *out)
{
    static const char *const kernels[] = {"64add", "256or", "256fma", "512or", "512fma"};
    truth_check_kernels(kind, m, seed, kernels, m->features & KERNEL_NEEDS_AVX512F ? 5 : 3, out);
}

void truth_check_kernels(const struct table_kind *kind, const struct model *m, unsigned long seed,
                         const char *const *kernels, size_t n, struct table_scores *out)
{
    struct machine machine;
    struct machine_error error;
    static struct tables_options options; /* too large for the stack */
    struct table t;
    size_t which = 0;
    while (kinds[which] != kind)
        which++;
    setenv("CHARACTERIZE_DATA", "data", 0); /* tables of events, without which there are no umasks */
    tables_options_default(&options);
    options.seed = seed;
    for (size_t i = 0; i < n; i++)
        options.kernels[options.n_kernels++] = rig_payload(kernels[i]);
    options.brief = kind == &table_voltage; /* the others take no long time */
    if (machine_open_parsed_model(m, "model:random", &machine, &error) != MACHINE_OK ||
        tables_measure(kind, &machine, &options, NULL, NULL, &t, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    struct check c = {.model = m, .table = &t, .seed = seed, .out = out};
    for (size_t row = 0; row < t.n_rows; row++)
        checks[which](&c, row);
    table_free(&t);
    machine.ops->close(&machine);
}
