/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings about an environment in their order, as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/cpu/core_pairs.h"
#include "computer/environment/findings.h"
#include "computer/environment/findings_parts.h"
#include "computer/environment/snapshot.h"
#include "util/json_lines.h"
#include "util/plain_text.h"
#include "util/screen_text.h"
#include "util/text_list.h"

/* ---- which CPUs share a core ---- */

static size_t count(const struct core_pairs *p, enum core_pair_kind kind)
{
    char unused[2];
    return core_pairs_text(p, kind, unused, sizeof unused);
}

static void look_at_cores(const struct environment *e, struct finding *f)
{
    const struct core_pairs *p = e->pairs;
    char text[240];
    if (p == NULL || p->n_pairs == 0)
        return;
    if (core_pairs_text(p, CORE_PAIR_KINDS, text, sizeof text) > 0) {
        findings_see(f, "%s", text);
        findings_disturbs(f, "code on one thread of a core takes a third to a half of the rate of the other; cores are "
                             "counted and co-runners are placed as measured. Have the hypervisor pin virtual CPUs and "
                             "report their threads (libvirt: vcpupin, and topology with threads)");
    }
    if (core_pairs_text(p, CORE_PAIR_VARIES, text, sizeof text) > 0) {
        findings_see(f, "%s", text);
        findings_disturbs(f, "the hypervisor moves virtual CPUs: a co-runner on another core is on this one now and "
                             "then, and takes a third to a half of its rate. Have it pin them (libvirt: vcpupin)");
    }
    if (f->kind != FINDING_QUIET)
        return;
    if (core_pairs_text(p, CORE_PAIR_UNDECIDED, text, sizeof text) > 0) {
        f->kind = FINDING_UNKNOWN;
        findings_see(f, "%s", text);
        snprintf(f->why, sizeof f->why,
                 "it takes moments in which both have their CPU: try again when less runs here; "
                 "until then it is taken to be as sysfs says");
    } else if (p->n_pairs == 1) {
        core_pair_text(&p->pairs[0], text, sizeof text);
        findings_see(f, "%s, as sysfs says", text);
    } else {
        findings_see(f, "%zu of %zu pairs of CPUs share a core, as sysfs says; measured in %.2f s",
                     count(p, CORE_PAIR_SHARED), p->n_pairs, p->seconds);
    }
}

static const struct finding_rule findings_of_cores[] = {{"shared-cores", look_at_cores}, {NULL}};

static json_t *pair_object(const struct core_pair *pair, bool *failed)
{
    json_t *o = json_object(), *cpus = json_lines_array(o, "cpus", failed);
    json_lines_push(cpus, json_integer(pair->a), failed);
    json_lines_push(cpus, json_integer(pair->b), failed);
    json_lines_put(o, "kind", json_string(core_pair_kind_names[pair->kind]), failed);
    json_lines_put(o, "sysfs", json_string(core_pair_kind_names[pair->said ? CORE_PAIR_SHARED : CORE_PAIR_APART]),
                   failed);
    json_lines_put(o, "rate", json_lines_real(pair->rate), failed);
    json_t *limits = json_lines_array(o, "rate_limits", failed);
    json_lines_push(limits, json_lines_real(pair->lo), failed);
    json_lines_push(limits, json_lines_real(pair->hi), failed);
    json_lines_put(o, "shared", json_lines_real(pair->shared), failed);
    json_lines_put(o, "moments", json_integer(pair->moments), failed);
    return o;
}

/* The member `core_pairs` (doc/formats.md). Remembers a failure in *failed. */
static json_t *findings_cores_json(const struct core_pairs *p, bool *failed)
{
    json_t *o = json_object();
    json_lines_put(o, "examined", json_integer((json_int_t)p->n_pairs), failed);
    json_lines_put(o, "seconds", json_real(p->seconds), failed);
    json_t *list = json_lines_array(o, "pairs", failed);
    for (size_t i = 0; i < p->n_pairs; i++)
        if (p->n_pairs == 1 || p->pairs[i].said || p->pairs[i].kind != CORE_PAIR_APART)
            json_lines_push(list, pair_object(&p->pairs[i], failed), failed);
    return o;
}

/* Returns whether a comes before b, of which it is not known which was first. */
static bool is_before(const struct finding *a, const struct finding *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->kind != FINDING_DISTURBS || isnan(a->cost))
        return false;
    return isnan(b->cost) || a->cost > b->cost;
}

/* After those that are there already, of its like. */
static void insert(struct findings *f, const struct finding *new)
{
    size_t i = f->n++;
    for (; i > 0 && is_before(new, &f->list[i - 1]); i--)
        f->list[i] = f->list[i - 1];
    f->list[i] = *new;
}

int findings_of(const struct environment *e, struct findings *out)
{
    const struct finding_rule *const lists[] = {findings_of_frequency, findings_of_interrupts, findings_of_kernel,
                                                findings_of_cores};
    enum { LISTS = sizeof lists / sizeof *lists };
    size_t n = 0;
    for (size_t i = 0; i < LISTS; i++)
        for (const struct finding_rule *r = lists[i]; r->id; r++)
            n++;
    *out = (struct findings){.list = calloc(n, sizeof *out->list)};
    if (!out->list)
        return -1;
    for (size_t i = 0; i < LISTS; i++)
        for (const struct finding_rule *r = lists[i]; r->id; r++) {
            struct finding f = {.id = r->id, .kind = FINDING_QUIET, .cost = NAN};
            r->look(e, &f);
            if (f.seen[0])
                insert(out, &f);
        }
    return 0;
}

void findings_free(struct findings *f)
{
    free(f->list);
    *f = (struct findings){0};
}

size_t findings_count(const struct findings *f, enum finding_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->list[i].kind == kind;
    return n;
}

/* ---- for a person: a finding a line, and below it why, and what changes it ---- */

enum { COST_WIDTH = 8, ID_WIDTH = 17, LABEL_WIDTH = 8 };

/* Words after what stands in the line, up to `column`; further lines at `indent`. */
static void wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
    screen_text_words(out, text, column, indent, width);
    putc('\n', out);
}

static void print_part(FILE *out, const char *label, const char *text, unsigned width)
{
    const unsigned indent = 4 + LABEL_WIDTH;
    if (text[0]) {
        fprintf(out, "    %-*s", LABEL_WIDTH, label);
        wrap(out, text, indent, indent, width);
    }
}

/* "1.2 %", "~0.13 %" where it is estimated, "?" where it is not known. */
static void format_cost(const struct finding *f, char *out, size_t size)
{
    if (f->kind != FINDING_DISTURBS)
        snprintf(out, size, "%s", f->kind == FINDING_LIMITS ? "limits" : "unknown");
    else if (isnan(f->cost))
        snprintf(out, size, "?");
    else if (f->cost > 0 && f->cost < 5e-5)
        snprintf(out, size, "<0.01 %%");
    else
        snprintf(out, size, "%s%.*f %%", f->counted ? "" : "~", f->cost < 0.1 ? 2 : 0, 100 * f->cost);
}

static void print_finding(FILE *out, const struct finding *f, unsigned width)
{
    char cost[20], seen[sizeof f->seen], why[sizeof f->why];
    const unsigned indent = COST_WIDTH + 1 + ID_WIDTH;
    format_cost(f, cost, sizeof cost);
    (void)plain_text(f->seen, seen, sizeof seen);
    (void)plain_text(f->why, why, sizeof why);
    fprintf(out, "%*s %-*s", COST_WIDTH, cost, ID_WIDTH, f->id);
    wrap(out, seen, indent, indent, width);
    print_part(out, "why", why, width);
    if (f->change[0])
        fprintf(out, "    %-*s%s\n", LABEL_WIDTH, "change", f->change);
    if (f->undo[0])
        fprintf(out, "    %-*s%s\n", LABEL_WIDTH, "undo", f->undo);
}

/* Returns whether --quiet-machine changes what the finding tells, where root requests it. */
static bool is_changed_for_a_run(const struct finding *f)
{
    static const char ids[] = "governor,epp,turbo,cstates,smt,irqs,irq-affinity,workqueues,nmi-watchdog,rt-throttling,"
                              "isolation,processes";
    return f->kind != FINDING_QUIET && !f->fixed && text_list_has(ids, f->id);
}

static void print_end(FILE *out, const struct environment *e, const struct findings *f, unsigned width)
{
    char quiet[800] = "", line[1000];
    size_t changed = 0, kind[FINDING_QUIET + 1];
    for (enum finding_kind k = FINDING_DISTURBS; k <= FINDING_QUIET; k++)
        kind[k] = findings_count(f, k);
    for (size_t i = 0; i < f->n; i++) {
        changed += is_changed_for_a_run(&f->list[i]);
        if (f->list[i].kind == FINDING_QUIET)
            text_list_add(quiet, sizeof quiet, ", ", "%s", f->list[i].id);
    }
    snprintf(line, sizeof line, "%zu %s, %zu %s what can be measured, %zu could not be determined; quiet: %s.",
             kind[FINDING_DISTURBS], kind[FINDING_DISTURBS] == 1 ? "finding disturbs" : "findings disturb",
             kind[FINDING_LIMITS], kind[FINDING_LIMITS] == 1 ? "limits" : "limit", kind[FINDING_UNKNOWN],
             quiet[0] ? quiet : "nothing");
    wrap(out, line, 0, 0, width);
    if (changed > 0 && !e->files) {
        snprintf(line, sizeof line,
                 e->root ? "With a measurement, --quiet-machine changes %zu of them for the run, as far as permitted."
                         : "Run as root, --quiet-machine with a measurement would change %zu of them for the run; "
                           "without root, none.",
                 changed);
        wrap(out, line, 0, 0, width);
    }
}

/* "Disturbed by stolen time, 21 us a piece: slope 0.02 (-0.01 to 0.05; 0 stolen time, 1 clock)." */
static void print_disturbance(FILE *out, const struct environment_disturbance *d, unsigned width)
{
    char line[600], pieces[60] = "", part[60] = "";
    if (d->is == NULL)
        return;
    if (d->each_us > 0)
        snprintf(pieces, sizeof pieces, "stolen time, %.*f us a piece", d->each_us < 100 ? 1 : 0, d->each_us);
    if (d->part > 0)
        snprintf(part, sizeof part, "the clock, %.2g %%", 100 * d->part);
    if (pieces[0] || part[0])
        snprintf(line, sizeof line, "Disturbed by %s%s%s", pieces, pieces[0] && part[0] ? ", and " : "", part);
    else
        snprintf(line, sizeof line, "Undecided whether stolen time or the clock disturbs: %s", d->why);
    if (isfinite(d->slope))
        text_list_add(line, sizeof line, ": ", "slope %.2f (%.2f to %.2f; 0 stolen time, 1 clock)", d->slope, d->lo,
                      d->hi);
    screen_text_words(out, line, 0, 0, width);
    fputs(".\n", out);
}

void environment_print(FILE *out, const struct environment *e, const struct findings *f, unsigned width)
{
    fprintf(out, "Environment of CPU %d", e->cpu);
    if (e->files)
        fputs(" by its files, in which nothing can be counted", out);
    else if (e->seconds > 0)
        fprintf(out, ", counted for %.3g s", e->seconds);
    fprintf(out, "%s\n", e->root || e->files ? "" : ", as an unprivileged user");
    if (f->n > 0 && f->list[0].kind == FINDING_DISTURBS)
        wrap(out,
             "(first column: the share of the time, or of the result, that it may disturb; ~ estimated, ? unknown)", 0,
             0, width);
    for (size_t i = 0; i < f->n && f->list[i].kind != FINDING_QUIET; i++)
        print_finding(out, &f->list[i], width);
    print_disturbance(out, &e->disturbance, width);
    print_end(out, e, f, width);
}

/* ---- characterize-environment/1 (doc/quiet-machine.md) ---- */

static json_t *finding_object(const struct finding *f, bool *failed)
{
    static const char *const kinds[] = {"disturbs", "limits", "unknown", "quiet"};
    bool known = !isnan(f->cost);
    json_t *o = json_object();
    json_lines_put(o, "id", json_string(f->id), failed);
    json_lines_put(o, "kind", json_string(kinds[f->kind]), failed);
    json_lines_put(o, "cost", json_lines_real(f->cost), failed);
    json_lines_put(o, "cost_is", known ? json_string(f->counted ? "counted" : "estimated") : json_null(), failed);
    json_lines_put_text(o, "seen", f->seen, failed);
    json_lines_put_text(o, "why", f->why, failed);
    json_lines_put_text(o, "change", f->change, failed);
    json_lines_put_text(o, "undo", f->undo, failed);
    if (f->boot)
        json_lines_put(o, "boot", json_true(), failed);
    return o;
}

static json_t *quiet_object(const struct finding *f, bool *failed)
{
    json_t *o = json_object();
    json_lines_put(o, "id", json_string(f->id), failed);
    json_lines_put_text(o, "seen", f->seen, failed);
    return o;
}

static json_t *disturbance_object(const struct environment_disturbance *d, bool *failed)
{
    json_t *o = d->is != NULL ? json_object() : json_null();
    if (d->is == NULL)
        return o;
    json_lines_put_text(o, "is", d->is, failed);
    json_lines_put_real(o, "slope", d->slope, failed);
    json_lines_put(o, "slope_limits",
                   isfinite(d->lo) && isfinite(d->hi) ? json_pack("[f,f]", d->lo, d->hi) : json_null(), failed);
    json_lines_put_real(o, "each_us", d->each_us, failed);
    json_lines_put_real(o, "part", d->part, failed);
    json_lines_put_text(o, "why", d->why, failed);
    return o;
}

char *environment_json(const struct environment *e, const struct findings *f, const char *sysroot)
{
    bool failed = false;
    json_t *root = json_object();
    json_lines_put(root, "format", json_string("characterize-environment/1"), &failed);
    json_lines_put(root, "version", json_string(VERSION), &failed);
    json_lines_put(root, "cpu", json_integer(e->cpu), &failed);
    json_lines_put(root, "root", json_boolean(e->root), &failed);
    json_lines_put(root, "seconds", json_real(e->seconds), &failed);
    if (sysroot)
        json_lines_put(root, "sysroot", json_lines_text(sysroot), &failed);
    json_t *list = json_lines_array(root, "findings", &failed), *quiet = json_lines_array(root, "quiet", &failed);
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].kind == FINDING_QUIET)
            json_lines_push(quiet, quiet_object(&f->list[i], &failed), &failed);
        else
            json_lines_push(list, finding_object(&f->list[i], &failed), &failed);
    if (e->pairs != NULL)
        json_lines_put(root, "core_pairs", findings_cores_json(e->pairs, &failed), &failed);
    json_lines_put(root, "disturbance", disturbance_object(&e->disturbance, &failed), &failed);
    json_lines_put(root, "snapshot", snapshot_json(e), &failed);
    return json_lines_dump(root, failed);
}
