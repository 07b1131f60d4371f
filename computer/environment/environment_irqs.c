/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/environment_parts.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/plain_text.h"

/* ---- /proc/interrupts (proc_interrupts(5)): a column a CPU that is online ---- */

struct irq_columns {
    size_t n, wanted;
};

/* Reads "    CPU0   CPU2 ..."; false where the CPU has no column. */
static bool find_column(char *header, int cpu, struct irq_columns *out)
{
    char *rest = NULL, name[16];
    bool found = false;
    snprintf(name, sizeof name, "CPU%d", cpu);
    out->n = 0;
    for (const char *word = strtok_r(header, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (strcmp(word, name) == 0) {
            out->wanted = out->n;
            found = true;
        }
        out->n++;
    }
    return found;
}

/* A count, behind which there is a space or nothing; false where something else stands: "5-edge". */
static bool take_count(char **at, uint64_t *out)
{
    char *end, *begin = *at + strspn(*at, " \t");
    if (!isdigit((unsigned char)*begin))
        return false;
    *out = strtoull(begin, &end, 10);
    if (*end != '\0' && *end != ' ' && *end != '\t')
        return false;
    *at = end;
    return true;
}

/* What stands behind the counts, with single spaces. */
static void take_device(const char *text, char *out, size_t size)
{
    char plain[256];
    size_t used = 0;
    plain_text(text + strspn(text, " \t"), plain, sizeof plain);
    for (const char *in = plain; *in != '\0'; in++)
        if (*in != ' ' || (in[1] != ' ' && in[1] != '\0'))
            plain[used++] = *in;
    plain[used] = '\0';
    plain_text(plain, out, size);
}

static bool take_irq_line(char *line, const struct irq_columns *columns, struct environment_irq *out)
{
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    line += strspn(line, " \t");
    /* two counts are of no CPU */
    if (strcmp(line, "ERR") == 0 || strcmp(line, "MIS") == 0)
        return false;
    memset(out, 0, sizeof *out);
    plain_text(line, out->name, sizeof out->name);
    char *at = colon + 1;
    for (size_t i = 0; i < columns->n; i++) {
        uint64_t count;
        if (!take_count(&at, &count))
            return false;
        if (i == columns->wanted)
            out->since_boot = count;
    }
    take_device(at, out->device, sizeof out->device);
    return true;
}

void environment_irqs_look(const struct environment_tree *t, int cpu, struct environment_irq_look *out)
{
    struct irq_columns columns = {0};
    struct environment_irq irq;
    char *text = environment_tree_whole(t, "proc/interrupts"), *rest = NULL;
    int error = errno;
    *out = (struct environment_irq_look){.at = clock_seconds(CLOCK_MONOTONIC)};
    char *header = text != NULL ? strtok_r(text, "\n", &rest) : NULL;
    if (header == NULL || !find_column(header, cpu, &columns)) {
        out->error = text == NULL ? error : ENXIO;
        free(text);
        return;
    }
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL && out->n < ENVIRONMENT_LIST_MAX;
         line = strtok_r(NULL, "\n", &rest))
        if (take_irq_line(line, &columns, &irq) && list_room(&out->irq, out->n, sizeof *out->irq))
            out->irq[out->n++] = irq;
    free(text);
}

/* ---- what was counted between, and where they may go ---- */

/* The line of this name; both looks have the same order, but for what came and went. */
static const struct environment_irq *line_before(const struct environment_irq_look *before, size_t expected,
                                                 const char *name)
{
    if (expected < before->n && strcmp(before->irq[expected].name, name) == 0)
        return &before->irq[expected];
    for (size_t i = 0; i < before->n; i++)
        if (strcmp(before->irq[i].name, name) == 0)
            return &before->irq[i];
    return NULL;
}

static void read_allowed(const struct environment_tree *t, int cpu, struct environment_irq *irq)
{
    char path[128], text[4096];
    if (irq->name[0] == '\0' || irq->name[strspn(irq->name, "0123456789")] != '\0')
        return;
    snprintf(path, sizeof path, "proc/irq/%s", irq->name);
    irq->numbered = environment_tree_exists(t, path);
    snprintf(path, sizeof path, "proc/irq/%s/smp_affinity_list", irq->name);
    irq->allowed_known = irq->numbered && environment_tree_line(t, path, text, sizeof text) == 0 &&
                         cpu_mask_parse(text, &irq->allowed) == 0;
    irq->here = irq->allowed_known && cpu_mask_has(&irq->allowed, cpu);
    irq->movable = irq->allowed_known && (environment_tree_mode(t, path) & 0222) != 0;
}

/* The local APIC's timer; the hypervisor's, which guests of Hyper-V have instead (arch/x86/kernel/irq.c). */
static bool is_timer(const struct environment_irq *irq)
{
    return strcmp(irq->name, "LOC") == 0 || strcmp(irq->name, "HVS") == 0;
}

void environment_irqs_fill(const struct environment_tree *t, const struct environment_irq_look *before,
                           struct environment_irq_look *after, struct environment *e)
{
    size_t kept = 0;
    double seconds = before->error == 0 ? after->at - before->at : 0, timer = NAN;
    e->irqs_error = after->error;
    for (size_t i = 0; i < after->n; i++) {
        struct environment_irq *irq = &after->irq[i];
        const struct environment_irq *was = line_before(before, i, irq->name);
        uint64_t first = was != NULL ? was->since_boot : 0;
        if (before->n > 0 && irq->since_boot > first)
            irq->counted = irq->since_boot - first;
        if (is_timer(irq) && was != NULL && seconds > 0)
            timer = (isnan(timer) ? 0 : timer) + (double)irq->counted / seconds;
        read_allowed(t, e->cpu, irq);
        if (irq->since_boot > 0 || irq->here)
            after->irq[kept++] = *irq;
    }
    e->timer_hz = timer;
    e->irqs = after->irq;
    e->n_irqs = kept;
    after->irq = NULL;
}
