/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-environment/1 (doc/quiet-machine.md). */
#include <math.h>

#include "computer/environment/snapshot.h"
#include "computer/findings/findings.h"
#include "util/json_lines.h"

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
    json_lines_put(root, "snapshot", snapshot_json(e), &failed);
    return json_lines_dump(root, failed);
}
