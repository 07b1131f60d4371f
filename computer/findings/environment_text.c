/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an environment costs, for a person: a finding a line, and below it why, and what changes it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "computer/findings/findings.h"
#include "util/plain_text.h"
#include "util/screen_text.h"
#include "util/text_list.h"

enum { COST_WIDTH = 8, ID_WIDTH = 17, LABEL_WIDTH = 8 };

/* Words behind what stands in the line, up to `column`; further lines at `indent`. */
static void findings_wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
    screen_text_words(out, text, column, indent, width);
    putc('\n', out);
}

static void print_part(FILE *out, const char *label, const char *text, unsigned width)
{
    const unsigned indent = 4 + LABEL_WIDTH;
    if (text[0]) {
        fprintf(out, "    %-*s", LABEL_WIDTH, label);
        findings_wrap(out, text, indent, indent, width);
    }
}

/* "1.2 %", "~0.13 %" where it is estimated, "?" where it cannot be told. */
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
    findings_wrap(out, seen, indent, indent, width);
    print_part(out, "why", why, width);
    if (f->change[0])
        fprintf(out, "    %-*s%s\n", LABEL_WIDTH, "change", f->change);
    if (f->undo[0])
        fprintf(out, "    %-*s%s\n", LABEL_WIDTH, "undo", f->undo);
}

/* Whether --quiet-machine changes what the finding tells, where root asks for it. */
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
    findings_wrap(out, line, 0, 0, width);
    if (changed > 0) {
        snprintf(line, sizeof line,
                 e->root ? "With a measurement, --quiet-machine changes %zu of them for the run, as far as permitted."
                         : "Run as root, --quiet-machine with a measurement would change %zu of them for the run; "
                           "without root, none.",
                 changed);
        findings_wrap(out, line, 0, 0, width);
    }
}

void environment_print(FILE *out, const struct environment *e, const struct findings *f, unsigned width)
{
    fprintf(out, "Environment of CPU %d", e->cpu);
    if (e->seconds > 0)
        fprintf(out, ", counted for %.3g s", e->seconds);
    fprintf(out, "%s\n", e->root ? "" : ", as an unprivileged user");
    if (f->n > 0 && f->list[0].kind == FINDING_DISTURBS)
        findings_wrap(
            out, "(first column: the share of the time, or of the result, that it may disturb; ~ estimated, ? unknown)",
            0, 0, width);
    for (size_t i = 0; i < f->n && f->list[i].kind != FINDING_QUIET; i++)
        print_finding(out, &f->list[i], width);
    print_end(out, e, f, width);
}
