/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs share a core, as measured, and whether sysfs says the same. */
#include "computer/environment/findings_parts.h"

#include "computer/cpu/core_pairs.h"
#include "util/json_lines.h"

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

const struct finding_rule findings_of_cores[] = {{"shared-cores", look_at_cores}, {NULL}};

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

json_t *findings_cores_json(const struct core_pairs *p, bool *failed)
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
