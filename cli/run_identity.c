/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/sha256.h"
#include "cli/files.h"
#include "drivers/cpu/cpu.h"
#include "drivers/environment/snapshot.h"
#include "drivers/events/event_code.h"
#include "drivers/model/model.h"

/* Files like /etc/machine-id are confidential and are not copied. */
static void put_hash(json_t *o, const char *key, const char *bytes, size_t n)
{
    char text[SHA256_HEX_SIZE];
    sha256_hex(bytes, n, text);
    json_object_set_new(o, key, json_string(text));
}

static char *read_system_file(const char *name, size_t *length)
{
    FILE *in = fopen(name, "re");
    return in != NULL ? file_read(in, length) : NULL;
}

/* What tells one piece of silicon from another of the same brand string, as far as anybody can read it. */
static void put_host(json_t *o)
{
    struct utsname name;
    size_t length = 0;
    char *id = read_system_file("/etc/machine-id", &length);
    if (id != NULL && length > 0)
        put_hash(o, "machine_id_hash", id, length);
    else if (uname(&name) == 0)
        put_hash(o, "host_name_hash", name.nodename, strlen(name.nodename));
    free(id);
    char *cpuinfo = read_system_file("/proc/cpuinfo", NULL);
    const char *line = cpuinfo != NULL ? strstr(cpuinfo, "microcode") : NULL;
    char microcode[80];
    if (line != NULL && sscanf(line, "microcode : %79[^\n]", microcode) == 1)
        json_object_set_new(o, "microcode", json_string(microcode));
    free(cpuinfo);
}

/* Where the process may run decides which CPU is measured and which others are kept busy. */
static void put_allowed_cpus(json_t *o)
{
    struct cpu_mask allowed;
    char text[1000];
    if (cpu_get_affinity(&allowed) == 0) {
        cpu_mask_format(&allowed, text, sizeof(text));
        json_object_set_new(o, "allowed_cpus", json_string(text));
    }
}

/* The settings, as they are now: --quiet-machine has changed them already. */
static void put_environment(json_t *object, const struct options *o)
{
    char line[SNAPSHOT_LINE];
    int cpu = o->n_cpus > 0 ? (int)o->cpus[0] : o->cpu.given ? (int)o->cpu.value : -1;
    snapshot_take_line(cpu, line, sizeof(line));
    json_object_set_new(object, "environment", json_string(line));
}

/* A model's parameters are its identity: a file that was changed is another machine, also one of the shipped ones. */
static void put_model(json_t *o, const char *spec)
{
    size_t length = 0;
    char *text = model_text(strchr(spec, ':') + 1, NULL, &length);
    if (text != NULL && length > 0) /* nothing is left of one that came through a pipe */
        put_hash(o, "model_file_hash", text, length);
    free(text);
}

static json_t *machine_object(const struct options *o, const struct measuring *m)
{
    struct machine_info info;
    m->machine.ops->info(&m->machine, &info);
    json_t *object = json_pack("{s:s, s:s, s:b, s:i}", "machine", info.name, "cpu", info.cpu, "modelled",
                               (int)info.modelled, "cores", (int)info.cores);
    if (object != NULL && !info.modelled) {
        put_host(object);
        put_allowed_cpus(object);
        put_environment(object, o);
    } else if (object != NULL && o->machine != NULL) {
        put_model(object, o->machine);
    }
    return object;
}

static json_t *run_identity_number(const struct given_number *n)
{
    return n->given ? json_real(n->value) : json_null();
}

static json_t *number_list(const unsigned *values, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

static json_t *options_object(const struct options *o)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < o->tables.n_kernels; i++)
        json_array_append_new(kernels, json_string(o->tables.kernels[i].name));
    const char *corunner = o->tables.corunner_same ? "same" : o->corunner_given ? o->tables.corunner.name : "64add";
    const char *turbo = !o->turbo_given ? "as found" : o->turbo_on ? "on" : "off";
    char seed[24];
    snprintf(seed, sizeof(seed), "%" PRIu64, o->tables.seed);
    int event = o->n_events > 0 ? (int)event_code_select(o->events[0].code) : 0;
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:b, s:i, s:s, s:o}", "--kernels", kernels, "--cpus",
        number_list(o->cpus, o->n_cpus), "--active-cores", number_list(o->tables.active, o->tables.n_active), "--cpu",
        run_identity_number(&o->cpu), "--runs", run_identity_number(&o->runs), "--period",
        run_identity_number(&o->period_us), "--warmup", run_identity_number(&o->warmup_us), "--observe",
        run_identity_number(&o->observe_us), "--companion", corunner, "--siblings",
        o->tables.siblings ? "busy" : "idle", "--seed", seed, "--brief", (int)o->tables.brief, "--event", event,
        "--turbo", turbo, "--fixed-frequency", run_identity_number(&o->fixed_ghz));
    if (o->tables.burst_count > 0)
        json_object_set_new(all, "--burst", json_pack("[f, f]", o->tables.burst_count, o->tables.burst_every_us));
    return all;
}

json_t *run_identity(const struct options *o, const struct measuring *m)
{
    json_t *machine = machine_object(o, m), *options = options_object(o);
    return json_pack("{s:s, s:s, s:o, s:o}", "format", "characterize-run/1", "version", VERSION, "machine", machine,
                     "options", options);
}

static void run_identity_show(const json_t *v, char *out, size_t size)
{
    char *text = v != NULL ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
    snprintf(out, size, "%.80s", text != NULL ? text : "not stated");
    free(text);
}

static int differing_member(const char *key, const json_t *a, const json_t *b, char *why, size_t size)
{
    const json_t *here = json_object_get(a, key), *there = json_object_get(b, key);
    char mine[100], theirs[100], differences[300];
    if (here != NULL && there != NULL && json_equal(here, there))
        return 0;
    if (strcmp(key, "environment") == 0 && json_is_string(here) && json_is_string(there) &&
        snapshot_differs(json_string_value(here), json_string_value(there), differences, sizeof(differences))) {
        snprintf(why, size, "the settings of this computer differ: %s", differences);
        return 1;
    }
    run_identity_show(here, mine, sizeof(mine));
    run_identity_show(there, theirs, sizeof(theirs));
    snprintf(why, size, "%s is %s in that run and %s in this one", key, theirs, mine);
    return 1;
}

static int differing_members(const json_t *here, const json_t *there, char *why, size_t size)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)here, key, v)
    {
        if (differing_member(key, here, there, why, size))
            return 1;
    }
    json_object_foreach((json_t *)there, key, v)
    {
        if (differing_member(key, here, there, why, size))
            return 1;
    }
    return 0;
}

int run_identity_differs(const json_t *here, const json_t *there, char *why, size_t size)
{
    return differing_member("format", here, there, why, size) || differing_member("version", here, there, why, size) ||
           differing_members(json_object_get(here, "machine"), json_object_get(there, "machine"), why, size) ||
           differing_members(json_object_get(here, "options"), json_object_get(there, "options"), why, size);
}
