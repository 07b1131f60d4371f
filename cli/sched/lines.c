/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of --stats. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "cli/sched/sched.h"
#include "util/json_lines.h"
#include "util/plain_text.h"

static void tell_counts(const char *name, const struct live_counts *c)
{
    printf(" %s: ran %.3f s, charged %.3f s, compensated %.3f s, penalty %.3f s, %llu dispatches, %llu migrations;",
           name, 1e-9 * (double)c->run_ns, 1e-9 * (double)c->charged_ns, 1e-9 * (double)c->compensated_ns,
           1e-9 * (double)c->penalty_ns, c->dispatches, c->migrations);
}

static struct live_accounted accounted(const volatile struct live_state *s)
{
    struct live_accounted sum = {0};
    for (int cpu = 0; cpu < LIVE_CPUS_MAX; cpu++) {
        sum.unattributed_ns += s->accounted[cpu].unattributed_ns;
        sum.uncounted_ns += s->accounted[cpu].uncounted_ns;
        sum.throttled_cycles += s->accounted[cpu].throttled_cycles;
    }
    return sum;
}

static void tell_text(const struct sched_options *o, const volatile struct live_state *s,
                      const struct sched_sample *sample, size_t n_tasks)
{
    char name[80];
    printf("%.1f s:", sample->seconds);
    for (int class = 0; class < sched_classes(&o->config); class ++)
        tell_counts(sched_class_names[class], &sample->classes[class]);
    if (isfinite(sample->decision_ns))
        printf(" %.0f ns of decisions for each dispatch;", sample->decision_ns);
    if (o->config.events != 0) {
        const struct live_accounted a = accounted(s);
        printf(" not attributed %.3f s, not counted %.3f s;", 1e-9 * (double)a.unattributed_ns,
               1e-9 * (double)a.uncounted_ns);
        if (o->config.events >> LIVE_THROTTLED & 1)
            printf(" throttled %.3f million cycles;", 1e-6 * (double)a.throttled_cycles);
    }
    if (o->config.registers != 0)
        printf(" wide registers in use (approximate): %llu of %llu switches of other tasks, %llu of %llu of wide;",
               sample->classes[LIVE_OTHER].used, sample->classes[LIVE_OTHER].looks, sample->classes[LIVE_WIDE].used,
               sample->classes[LIVE_WIDE].looks);
    if (sched_classes(&o->config) > 1)
        printf(" phases ended: %llu by system calls, %llu by timeout;", s->phases_ended[0], s->phases_ended[1]);
    if (o->config.specialize)
        printf(" wide cores: %u of %u, %llu became wide, %llu other, %llu tasks called away from them;", s->wide_cores,
               o->config.n_cores, s->widened, s->narrowed, s->called);
    if (sample->adapt != NULL && sample->adapt->decisions > 0)
        printf(" million instructions a second with specialization: %.1f, without: %.1f;",
               1e-6 * sample->adapt->rate[1], 1e-6 * sample->adapt->rate[0]);
    printf("\n");
    for (size_t i = 0; i < n_tasks; i++) {
        const struct live_task *t = &sample->tasks[sample->order[i].index].now;
        (void)plain_text(t->name, name, sizeof(name));
        printf("    %u (%s)", t->id, sched_class_names[t->class % LIVE_CLASSES]);
        tell_counts(name, &t->counts);
        printf("\n");
    }
}

static void put_counts(json_t *row, const struct live_counts *c, bool *failed)
{
    json_lines_put_whole(row, "run_ns", (json_int_t)c->run_ns, failed);
    json_lines_put_whole(row, "charged_ns", (json_int_t)c->charged_ns, failed);
    json_lines_put_whole(row, "compensated_ns", (json_int_t)c->compensated_ns, failed);
    json_lines_put_whole(row, "penalty_ns", (json_int_t)c->penalty_ns, failed);
    json_lines_put_whole(row, "dispatches", (json_int_t)c->dispatches, failed);
    json_lines_put_whole(row, "migrations", (json_int_t)c->migrations, failed);
}

static void put_tasks(json_t *root, const struct sched_sample *sample, size_t n_tasks, bool *failed)
{
    json_t *tasks = json_lines_array(root, "tasks", failed);
    for (size_t i = 0; i < n_tasks; i++) {
        const struct live_task *t = &sample->tasks[sample->order[i].index].now;
        json_t *row = json_object();
        json_lines_put_whole(row, "id", t->id, failed);
        json_lines_put_text(row, "name", t->name, failed);
        json_lines_put_text(row, "class", sched_class_names[t->class % LIVE_CLASSES], failed);
        put_counts(row, &t->counts, failed);
        json_lines_push(tasks, row, failed);
    }
}

static int tell_json(const struct sched_options *o, const volatile struct live_state *s,
                     const struct sched_sample *sample, size_t n_tasks)
{
    bool failed = false;
    json_t *root = json_object(), *classes = json_lines_array(root, "classes", &failed);
    json_lines_put(root, "seconds", json_lines_rounded(sample->seconds, 6), &failed);
    for (int class = 0; class < sched_classes(&o->config); class ++) {
        json_t *row = json_object();
        json_lines_put_text(row, "class", sched_class_names[class], &failed);
        put_counts(row, &sample->classes[class], &failed);
        if (o->config.registers != 0) {
            json_lines_put_whole(row, "looks", (json_int_t)sample->classes[class].looks, &failed);
            json_lines_put_whole(row, "registers_used", (json_int_t)sample->classes[class].used, &failed);
        }
        json_lines_push(classes, row, &failed);
    }
    json_lines_put(root, "decision_ns", json_lines_rounded(sample->decision_ns, 6), &failed);
    if (o->config.events != 0) {
        const struct live_accounted a = accounted(s);
        json_lines_put_whole(root, "unattributed_ns", (json_int_t)a.unattributed_ns, &failed);
        json_lines_put_whole(root, "uncounted_ns", (json_int_t)a.uncounted_ns, &failed);
        if (o->config.events >> LIVE_THROTTLED & 1)
            json_lines_put_whole(root, "throttled_cycles", (json_int_t)a.throttled_cycles, &failed);
    }
    if (sched_classes(&o->config) > 1) {
        json_lines_put_whole(root, "ended_by_call", (json_int_t)s->phases_ended[0], &failed);
        json_lines_put_whole(root, "ended_by_timeout", (json_int_t)s->phases_ended[1], &failed);
    }
    if (o->config.specialize) {
        json_lines_put(root, "specializes", json_boolean(s->wide_cores > 0), &failed);
        if (sample->adapt != NULL) {
            json_lines_put_whole(root, "decisions", sample->adapt->decisions, &failed);
            json_lines_put(root, "rate_with", json_lines_rounded(sample->adapt->rate[1], 6), &failed);
            json_lines_put(root, "rate_without", json_lines_rounded(sample->adapt->rate[0], 6), &failed);
        }
        json_lines_put_whole(root, "cores", o->config.n_cores, &failed);
        json_lines_put_whole(root, "wide_cores", s->wide_cores, &failed);
        json_lines_put_whole(root, "became_wide", (json_int_t)s->widened, &failed);
        json_lines_put_whole(root, "became_other", (json_int_t)s->narrowed, &failed);
        json_lines_put_whole(root, "called_away", (json_int_t)s->called, &failed);
    }
    if (o->tasks > 0)
        put_tasks(root, sample, n_tasks, &failed);
    failed = failed || json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0 || putchar('\n') == EOF;
    json_decref(root);
    return failed ? complain_out_of_memory() : DONE;
}

int sched_tell(const struct sched_options *o, const volatile struct live_state *state, struct sched_sample *sample)
{
    const size_t n = sample->n_tasks < (size_t)o->tasks ? sample->n_tasks : (size_t)o->tasks;
    for (size_t i = 0; i < sample->n_tasks; i++)
        sample->order[i].key = -(double)sample->tasks[sample->order[i].index].recent_ns;
    if (sample->n_tasks > 0)
        qsort(sample->order, sample->n_tasks, sizeof(sample->order[0]), order_by_key);
    if (o->json)
        return tell_json(o, state, sample, n);
    tell_text(o, state, sample, n);
    return DONE;
}
