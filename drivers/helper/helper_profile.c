/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profiler's records from the kernel module (drivers/profile/profile_source.h). Its machine `helper` is opened
 * first: it tests whether the license events count what their names say on this very part.
 */
#include "drivers/helper/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/choices.h"
#include "drivers/helper/helper_state.h"
#include "drivers/profile/profile_levels.h"
#include "drivers/profile/profile_source.h"

enum { CHOICES = 8, NOTES_SIZE = 300 };

struct helper_profile {
    struct machine machine; /* ops NULL: a rehearsal */
    const struct helper_io *io;
    const char *proc;
    int fd;
    bool rehearsal, running;
    char cpu[80], notes[NOTES_SIZE];
    unsigned cpus, cores;
    double ref_khz;
    struct characterize_counter counter[PROFILE_COUNTERS];
    struct characterize_profile_totals totals;
};

static void helper_profile_info(const struct profile_source *s, struct profile_source_info *out)
{
    const struct helper_profile *h = s->state;
    *out = (struct profile_source_info){
        .name = "helper", .cpu = h->cpu, .cpus = h->cpus, .cores = h->cores, .ref_khz = h->ref_khz, .notes = h->notes};
}

/* The name of a counter, for messages. */
static const char *helper_profile_counted(uint32_t counter)
{
    static const char *const names[PROFILE_COUNTERS] = {"cycles",          "reference cycles", "license level 1",
                                                        "license level 2", "stalls on loads",  "stalls on stores"};
    return counter < PROFILE_COUNTERS ? names[counter] : "events";
}

/* Reports why the module refuses to start. */
static int start_refused(const struct helper_profile *h, int error, const struct characterize_profile *p,
                         struct machine_error *err)
{
    char text[140];
    if (error == EPROTO || error == ENOTTY)
        return machine_fail(err, MACHINE_CANNOT, "rmmod characterize, then build and load this version's module",
                            "the loaded kernel module has another version, which does not fit this program");
    if (p->reason == CHARACTERIZE_REASON_NONE)
        return machine_fail(err, MACHINE_FAILED, "", "the kernel helper cannot profile: %s", strerror(error));
    helper_reason(h->io, h->fd, p->reason, text, sizeof text);
    if (p->reason == CHARACTERIZE_REASON_NO_COUNTER || p->reason == CHARACTERIZE_REASON_COUNTER_BUSY)
        return machine_fail(err, MACHINE_CANNOT, perf_room_to_free(perf_room_watchdog(h->proc)),
                            "the kernel helper cannot count %s on CPU %u: %s", helper_profile_counted(p->failed),
                            p->failed_cpu, text);
    enum machine_status status = error == EINVAL   ? MACHINE_BAD_INPUT
                                 : error == ENOMEM ? MACHINE_FAILED
                                                   : MACHINE_CANNOT;
    return machine_fail(err, status, "", "the kernel helper cannot profile: %s", text);
}

static int helper_profile_start(struct profile_source *s, const struct profile_setup *setup, struct machine_error *err)
{
    struct helper_profile *h = s->state;
    struct characterize_profile p = {.version = CHARACTERIZE_VERSION, .setup = *setup};
    memcpy(p.counter, h->counter, sizeof p.counter);
    if (h->rehearsal)
        p.setup.flags |= PROFILE_REHEARSAL;
    if (h->io->ioctl(h->fd, CHARACTERIZE_IOC_PROFILE_START, &p) != 0)
        return start_refused(h, errno, &p, err);
    h->running = true;
    h->cpus = p.cpus;
    h->cores = p.cores;
    return MACHINE_OK;
}

static int helper_profile_read(struct profile_source *s, struct profile_record *out, size_t max, int timeout_ms,
                               size_t *n, struct machine_error *err)
{
    const struct helper_profile *h = s->state;
    *n = 0;
    int ready = h->io->wait(h->fd, timeout_ms);
    ssize_t got = ready > 0 ? h->io->read(h->fd, out, max * sizeof *out) : ready;
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return machine_fail(err, MACHINE_FAILED, "", "no more records from the kernel helper: %s", strerror(errno));
    if (got > 0 && (size_t)got % sizeof *out != 0)
        return machine_fail(err, MACHINE_FAILED, "", "the kernel helper returned an incomplete record");
    *n = got > 0 ? (size_t)got / sizeof *out : 0;
    return MACHINE_OK;
}

/* The last known ones where there are none any more. */
static void helper_profile_totals(const struct profile_source *s, struct profile_source_totals *out)
{
    struct helper_profile *h = s->state;
    struct characterize_profile_totals t = {.version = CHARACTERIZE_VERSION};
    if (h->running && h->io->ioctl(h->fd, CHARACTERIZE_IOC_PROFILE_TOTALS, &t) == 0)
        h->totals = t;
    *out = (struct profile_source_totals){.turns = h->totals.turns,
                                          .lost = h->totals.lost,
                                          .pause_us_max = (double)h->totals.pause_ns_max * 1e-3,
                                          .seconds = (double)h->totals.elapsed_ns * 1e-9};
}

static void helper_profile_stop(struct profile_source *s)
{
    struct helper_profile *h = s->state;
    struct profile_source_totals ignored;
    if (!h->running)
        return;
    helper_profile_totals(s, &ignored);
    h->io->ioctl(h->fd, CHARACTERIZE_IOC_PROFILE_STOP, NULL);
    h->running = false;
}

static void helper_profile_close(struct profile_source *s)
{
    struct helper_profile *h = s->state;
    helper_profile_stop(s);
    if (h->machine.ops != NULL)
        h->machine.ops->close(&h->machine);
    else if (h->fd >= 0)
        h->io->close(h->fd);
    free(h);
    s->state = NULL;
}

static const struct profile_source_ops helper_profile_ops = {
    .info = helper_profile_info,
    .start = helper_profile_start,
    .read = helper_profile_read,
    .totals = helper_profile_totals,
    .stop = helper_profile_stop,
    .close = helper_profile_close,
};

/* ---- opening ---- */

static int helper_profile_choose(struct helper_profile *h, const struct events_table *t, struct machine_error *err)
{
    h->counter[PROFILE_CYCLES].source = CHARACTERIZE_CYCLES;
    h->counter[PROFILE_REF].source = CHARACTERIZE_REF_CYCLES;
    for (int i = 0; i < EVENTS_STALLS; i++) {
        h->counter[PROFILE_LEVEL1 + i] = (struct characterize_counter){
            .source = CHARACTERIZE_RAW, .config = t->entries[t->license[EVENTS_LVL1 + i]].code};
        const struct events_entry *e = events_by_name(t, events_stalls[i], err);
        if (e == NULL)
            return machine_fail(err, MACHINE_CANNOT, "", "no event %s is known for %s", events_stalls[i], t->title);
        h->counter[PROFILE_STALL_LOADS + i] = (struct characterize_counter){.source = CHARACTERIZE_RAW,
                                                                            .config = e->code};
    }
    return MACHINE_OK;
}

/* Opens the machine, whose test of the license events decides. A level that nothing here demands cannot be tested and
 * will not be seen. */
static int open_tested(struct helper_profile *h, const struct helper_place *place, struct machine_error *err)
{
    const char *remedy = "", *why[2], *to_do[2];
    int status = helper_open_at(place, &h->machine, err);
    if (status != MACHINE_OK)
        return status;
    const struct helper *m = h->machine.state;
    h->fd = m->fd;
    h->ref_khz = m->native.tsc.hz / 1e3;
    for (int i = 0; i < 2; i++) {
        why[i] = h->machine.ops->lacks(&h->machine, (enum counter_id)(COUNTER_LVL1 + i), &remedy);
        to_do[i] = remedy;
    }
    if (why[0] != NULL && why[1] != NULL)
        return machine_fail(err, MACHINE_CANNOT, to_do[0] != NULL ? to_do[0] : "", "%s", why[0]);
    if (why[0] != NULL || why[1] != NULL)
        snprintf(h->notes, sizeof h->notes, "%s", why[0] != NULL ? why[0] : why[1]);
    return MACHINE_OK;
}

static int open_rehearsal(struct helper_profile *h, const struct helper_place *place, struct machine_error *err)
{
    h->fd = h->io->open(place->device);
    if (h->fd < 0)
        return machine_fail(err, MACHINE_CANNOT, "characterize --list machines shows what would help",
                            "the kernel helper cannot be used: %s: %s", place->device, strerror(errno));
    snprintf(h->notes, sizeof h->notes, "a rehearsal: timers and pauses are real, nothing is counted");
    return MACHINE_OK;
}

/* CPUs that are online, and the physical cores that they belong to. */
static void count_cpus(const char *sys, unsigned *cpus, unsigned *cores)
{
    struct cpu_view view;
    struct cpu_mask seen;
    *cpus = *cores = 0;
    cpu_view_read(sys, &view);
    cpu_mask_clear(&seen);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        if (!cpu_mask_has(&view.online, cpu))
            continue;
        int core = cpu_core_of(sys, cpu);
        ++*cpus;
        *cores += !cpu_mask_has(&seen, core);
        cpu_mask_add(&seen, core);
    }
}

int helper_profile_open_at(const struct helper_place *place, bool rehearsal, struct profile_source *out,
                           struct machine_error *err)
{
    struct events_table *table = malloc(sizeof *table);
    struct helper_profile *h = calloc(1, sizeof *h);
    struct cpu_identity id;
    *out = (struct profile_source){.ops = &helper_profile_ops, .state = h};
    if (h == NULL || table == NULL) {
        free(h);
        free(table);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    h->io = place->io;
    h->proc = place->proc;
    h->fd = -1;
    h->rehearsal = rehearsal;
    count_cpus(place->sys, &h->cpus, &h->cores);
    int status = profile_levels_find(place->sys, place->data_dir, place->leaves, &id, table, err);
    snprintf(h->cpu, sizeof h->cpu, "%s %s", id.brand, id.signature);
    if (rehearsal)
        status = open_rehearsal(h, place, err);
    if (status == MACHINE_OK && !rehearsal)
        status = helper_profile_choose(h, table, err);
    if (status == MACHINE_OK && !rehearsal)
        status = open_tested(h, place, err);
    free(table);
    if (status != MACHINE_OK)
        helper_profile_close(out);
    return status;
}

/* The findings of --list machines on the device are repeated here: after the processor, which no remedy changes. */
int profile_open_helper(const char *data_dir, bool rehearsal, struct profile_source *out, struct machine_error *err)
{
    const struct helper_place place = {
        .device = "/dev/" CHARACTERIZE_DEVICE, .sys = "/sys", .io = &helper_system, .data_dir = data_dir};
    struct machine_choice c[CHOICES];
    struct choice_facts facts;
    struct events_table table;
    struct cpu_identity id;
    if (!rehearsal) {
        int status = profile_levels_find(place.sys, data_dir, NULL, &id, &table, err);
        if (status != MACHINE_OK)
            return status;
    }
    choice_facts_read("/sys", "/proc", "/dev", &facts);
    const struct machine_choice *found = choices_find(c, choices_from_facts(&facts, c, CHOICES), "helper");
    /* that it measures nothing here is no reason not to rehearse */
    if (!found->usable && !(rehearsal && facts.helper.refusal[0] != '\0'))
        return machine_fail(err, MACHINE_CANNOT, found->remedy, "%s", found->why);
    return helper_profile_open_at(&place, rehearsal, out, err);
}
