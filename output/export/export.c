/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters as JSON and as a C header. */
#include "output/export/export.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/policy_constants.h"
#include "util/error.h"
#include "util/json_lines.h"
#include "util/sha256.h"
#include "util/template.h"

/* Nothing where there is no text. */
static void put_text(json_t *object, const char *key, const char *text, bool *failed)
{
    if (text)
        json_lines_put(object, key, json_lines_text(text), failed);
}

static void put_text_member(json_t *object, const char *key, const void *member, bool *failed)
{
    put_text(object, key, *(const char *const *)member, failed);
}

/* KEY, KEY_lo and KEY_hi; nothing where the number is absent. */
static void put_number(json_t *object, const char *key, const void *member, bool *failed)
{
    const struct schedule_number *n = member;
    char name[40];
    if (!n->present)
        return;
    json_lines_put_whole(object, key, n->value, failed);
    if (!n->has_limits)
        return;
    snprintf(name, sizeof name, "%s_lo", key);
    json_lines_put_whole(object, name, n->lo, failed);
    snprintf(name, sizeof name, "%s_hi", key);
    json_lines_put_whole(object, name, n->hi, failed);
}

static void put_head(json_t *root, const struct schedule *s, bool *failed)
{
    json_lines_put(root, "format", json_string("characterize-export/1"), failed);
    put_text(root, "cpu", s->cpu, failed);
    put_text(root, "machine", s->machine, failed);
    if (s->family >= 0) {
        json_lines_put_whole(root, "family", s->family, failed);
        json_lines_put_whole(root, "model", s->model, failed);
        json_lines_put_whole(root, "stepping", s->stepping, failed);
    }
    put_text(root, "source", s->source, failed);
    json_lines_put(root, "modelled", json_boolean(s->modelled), failed);
    put_text(root, "version", s->version, failed);
    put_text(root, "date_first", s->date_first, failed);
    put_text(root, "date_last", s->date_last, failed);
    json_lines_put_whole(root, "levels", s->n_levels, failed);
    put_text(root, "basis", s->relative ? "relative" : NULL, failed);
}

/* ---- rows of the JSON ---- */

/* clang-format off */
static const struct json_member class_members[] = {
    JSON_MEMBER(schedule_class, width, MEMBER_UNSIGNED),
    JSON_MEMBER(schedule_class, heavy, MEMBER_BOOL),
    JSON_MEMBER_OWN("level", schedule_class, level, put_number),
    JSON_MEMBER_OWN("level_mem", schedule_class, level_mem, put_number),
};
static const struct json_member trigger_members[] = {
    JSON_MEMBER_AS("class", schedule_trigger, class_index, MEMBER_SIZE),
    JSON_MEMBER_AS("one_in", schedule_trigger, density, MEMBER_UNSIGNED),
    JSON_MEMBER_OWN("level", schedule_trigger, level, put_number),
    JSON_MEMBER_OWN("count", schedule_trigger, count, put_number),
};
static const struct json_member cost_members[] = {
    JSON_MEMBER(schedule_cost, from, MEMBER_SIZE),
    JSON_MEMBER(schedule_cost, to, MEMBER_SIZE),
    JSON_MEMBER(schedule_cost, active_cores, MEMBER_UNSIGNED),
    JSON_MEMBER_OWN("down_ns", schedule_cost, down_ns, put_number),
    JSON_MEMBER_OWN("up_ns", schedule_cost, up_ns, put_number),
    JSON_MEMBER_OWN("breakeven_ns", schedule_cost, breakeven_ns, put_number),
};
static const struct json_member relaxation_members[] = {
    JSON_MEMBER(schedule_relaxation, from, MEMBER_SIZE),
    JSON_MEMBER(schedule_relaxation, to, MEMBER_SIZE),
    JSON_MEMBER(schedule_relaxation, mode, MEMBER_UNSIGNED),
    JSON_MEMBER_OWN("wait_ns", schedule_relaxation, wait_ns, put_number),
    JSON_MEMBER_OWN("share_permille", schedule_relaxation, share_permille, put_number),
};
static const struct json_member throttle_members[] = {
    JSON_MEMBER(schedule_throttle, from, MEMBER_SIZE),
    JSON_MEMBER(schedule_throttle, to, MEMBER_SIZE),
    JSON_MEMBER(schedule_throttle, active_cores, MEMBER_UNSIGNED),
    JSON_MEMBER(schedule_throttle, phase, MEMBER_UNSIGNED),
    JSON_MEMBER_OWN("duration_ns", schedule_throttle, duration_ns, put_number),
    JSON_MEMBER_OWN("ratio_permille", schedule_throttle, ratio_permille, put_number),
};
static const struct json_member setting_members[] = {
    JSON_MEMBER_OWN("table", schedule_setting, table, put_text_member),
    JSON_MEMBER_OWN("key", schedule_setting, key, put_text_member),
    JSON_MEMBER_OWN("value", schedule_setting, value, put_text_member),
};
static const struct json_member missing_members[] = {
    JSON_MEMBER_OWN("table", schedule_missing, table, put_text_member),
    JSON_MEMBER_OWN("why", schedule_missing, why, put_text_member),
    JSON_MEMBER(schedule_missing, count, MEMBER_SIZE),
};
/* clang-format on */

static void put_classes(json_t *list, const struct schedule *s, bool *failed)
{
    for (size_t i = 0; i < s->n_classes; i++) {
        json_t *o = json_pack("{s:I}", "class", (json_int_t)i);
        json_members_put(o, JSON_MEMBERS(class_members), &s->classes[i], failed);
        json_lines_push(list, o, failed);
    }
}

static void put_level_events(json_t *list, const struct schedule *s, bool *failed)
{
    for (unsigned l = 0; l < s->n_levels; l++) {
        const int code = s->level_event[l].value;
        if (s->level_event[l].present)
            json_lines_push(
                list, json_pack("{s:i, s:i, s:i}", "level", (int)l, "event", code & 0xff, "umask", code >> 8 & 0xff),
                failed);
    }
}

static void put_points(json_t *list, const struct schedule *s, bool *failed)
{
    for (const struct schedule_point *p = s->points; p < s->points + s->n_points; p++)
        for (unsigned l = 0; l < s->n_levels; l++) {
            if (!p->mhz[l].present)
                continue;
            json_t *o = json_pack("{s:i, s:i, s:i}", "cpu", p->cpu, "active_cores", (int)p->active_cores, "level",
                                  (int)l);
            put_number(o, "mhz", &p->mhz[l], failed);
            put_number(o, "ratio_ppm", &p->ratio_ppm[l], failed);
            json_lines_push(list, o, failed);
        }
}

/* The turbo levels of a CPU are numbered from 0. */
static void put_turbos(json_t *list, const struct schedule *s, bool *failed)
{
    int number = 0;
    for (const struct schedule_turbo *t = s->turbos; t < s->turbos + s->n_turbos; t++) {
        number = t > s->turbos && t[-1].cpu == t->cpu ? number + 1 : 0;
        for (unsigned l = 0; l < s->n_levels; l++) {
            if (!t->mhz[l].present)
                continue;
            json_t *o = json_pack("{s:i, s:i, s:i, s:i, s:i}", "cpu", t->cpu, "turbo", number, "level", (int)l,
                                  "cores_lo", (int)t->cores_lo, "cores_hi", (int)t->cores_hi);
            put_number(o, "mhz", &t->mhz[l], failed);
            json_lines_push(list, o, failed);
        }
    }
}

static void put_switching(json_t *list, const struct schedule *s, bool *failed)
{
    for (size_t i = 0; i < SWITCHING_KINDS; i++) {
        if (!s->switching_ns[i].present)
            continue;
        json_t *o = json_pack("{s:s}", "what", machine_switching_names[i]);
        put_number(o, "ns", &s->switching_ns[i], failed);
        json_lines_push(list, o, failed);
    }
}

static void put_events(json_t *list, const struct schedule *s, bool *failed)
{
    for (size_t i = 0; i < SCHEDULE_EVENTS; i++)
        if (s->event[i].present)
            json_lines_push(
                list, json_pack("{s:s, s:I}", "what", schedule_event_names[i], "code", (json_int_t)s->event[i].code),
                failed);
}

static const struct json_member cpu_members[] = {
    JSON_MEMBER(schedule_cpu, cpu, MEMBER_INT),
    JSON_MEMBER(schedule_cpu, like, MEMBER_INT),
};

/* What schedulers take for the constants of their policies: not measured. */
static const struct constant {
    const char *name, *macro, *unit, *source;
    int value;
} constants[] = {
#define CONSTANT(name, NAME, value, unit, source) {#name, #NAME, #unit, source, value},
    POLICY_CONSTANTS(CONSTANT)
#undef CONSTANT
};
enum { N_CONSTANTS = sizeof constants / sizeof *constants };

static void put_constants(json_t *list, const struct schedule *s, bool *failed)
{
    (void)s;
    for (const struct constant *c = constants; c < constants + N_CONSTANTS; c++) {
        char key[60];
        snprintf(key, sizeof key, "%s_%s", c->name, c->unit);
        json_lines_push(list, json_pack("{s:s, s:i, s:s}", "name", key, "value", c->value, "source", c->source),
                        failed);
    }
}

char *export_to_json(const struct schedule *s, char *why, size_t why_size)
{
    const struct {
        const char *name;
        void (*put)(json_t *list, const struct schedule *s, bool *failed);
        const struct json_member *members; /* instead */
        size_t n_members;
        const void *rows;
        size_t n, size;
    } lists[] = {
        {"level_events", put_level_events},
        {"events", put_events},
        {"cpus", NULL, JSON_MEMBERS(cpu_members), s->cpus, s->n_cpus, sizeof *s->cpus},
        {"classes", put_classes},
        {"triggers", NULL, JSON_MEMBERS(trigger_members), s->triggers, s->n_triggers, sizeof *s->triggers},
        {"frequencies", put_points},
        {"turbo_levels", put_turbos},
        {"costs", NULL, JSON_MEMBERS(cost_members), s->costs, s->n_costs, sizeof *s->costs},
        {"level_costs", NULL, JSON_MEMBERS(cost_members), s->level_costs, s->n_level_costs, sizeof *s->costs},
        {"relaxations", NULL, JSON_MEMBERS(relaxation_members), s->relaxations, s->n_relaxations,
         sizeof *s->relaxations},
        {"level_relaxations", NULL, JSON_MEMBERS(relaxation_members), s->level_relaxations, s->n_level_relaxations,
         sizeof *s->relaxations},
        {"throttles", NULL, JSON_MEMBERS(throttle_members), s->throttles, s->n_throttles, sizeof *s->throttles},
        {"switching", put_switching},
        {"constants", put_constants},
        {"settings", NULL, JSON_MEMBERS(setting_members), s->settings, s->n_settings, sizeof *s->settings},
        {"missing", NULL, JSON_MEMBERS(missing_members), s->missing, s->n_missing, sizeof *s->missing},
    };
    bool failed = false;
    if (schedule_check_consistent(s, why, why_size) != 0)
        return NULL;
    json_t *root = json_object();
    put_head(root, s, &failed);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *list = json_lines_array(root, lists[i].name, &failed);
        if (lists[i].put)
            lists[i].put(list, s, &failed);
        for (size_t row = 0; row < lists[i].n; row++)
            json_lines_push(list,
                            json_members(lists[i].members, lists[i].n_members,
                                         (const char *)lists[i].rows + row * lists[i].size, &failed),
                            &failed);
    }
    char *text = json_lines_dump(root, failed);
    if (!text)
        snprintf(why, why_size, "out of memory");
    return text;
}

/* ---- the header ---- */

enum { TEXT_MAX = 400, LINE_MAX_LENGTH = 110 };
/* The inverse of a frequency is shifted by so many bits, for which the header's arithmetic is dimensioned. */
enum { INVERSE_BITS = 22 };

/* Text for a comment or a string of C: printable ASCII on one line that ends neither and is no trigraph. */
static const char *harmless(const char *text, char out[TEXT_MAX])
{
    size_t n = 0;
    for (const char *c = text ? text : "-"; *c && n + 2 < TEXT_MAX; c++) {
        char now = *c >= ' ' && *c <= '~' && *c != '"' && *c != '\\' ? *c : isspace((unsigned char)*c) ? ' ' : '?';
        char before = n ? out[n - 1] : ' ';
        if ((before == '*' && now == '/') || (before == '/' && now == '*') || (before == '?' && now == '?'))
            out[n++] = ' ';
        out[n++] = now;
    }
    out[n] = '\0';
    return out;
}

/* A line of a comment, broken at blanks; `indent` blanks before each continued line. */
static void comment(FILE *out, int indent, const char *text)
{
    size_t room = LINE_MAX_LENGTH - 3, length = strlen(text);
    const char *at = text;
    int margin = 0;
    while (length > room) {
        size_t cut = room;
        while (cut > 0 && at[cut] != ' ')
            cut--;
        if (cut == 0)
            break;
        fprintf(out, " * %*s%.*s\n", margin, "", (int)cut, at);
        at += cut + 1;
        length -= cut + 1;
        margin = indent;
        room = LINE_MAX_LENGTH - 3 - (size_t)indent;
    }
    fprintf(out, " * %*s%s\n", margin, "", at);
}

static void said(FILE *out, const char *key, const char *text)
{
    char line[TEXT_MAX + 40], plain[TEXT_MAX];
    if (!text)
        return;
    snprintf(line, sizeof line, "%-10s %s", key, harmless(text, plain));
    comment(out, 11, line);
}

static void provenance(FILE *out, const struct schedule *s, const char *sha256)
{
    char line[2 * TEXT_MAX], a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX];
    said(out, "CPU", s->cpu);
    said(out, "Machine", s->machine);
    said(out, "Source", s->source);
    if (s->date_first) {
        bool one = strcmp(s->date_first, s->date_last) == 0;
        snprintf(line, sizeof line, "%s%s%s", harmless(s->date_first, a), one ? "" : " to ",
                 one ? "" : harmless(s->date_last, b));
        said(out, "Measured", line);
    }
    said(out, "Version", s->version);
    said(out, "SHA-256", sha256);
    fputs(" *            of the JSON file that --export json writes of the same measurement\n", out);
    if (s->n_settings)
        fputs(" *\n * Settings:\n", out);
    for (size_t i = 0; i < s->n_settings; i++) {
        snprintf(line, sizeof line, "  %s: %s = %s", harmless(s->settings[i].table, a), harmless(s->settings[i].key, b),
                 harmless(s->settings[i].value, c));
        comment(out, 4, line);
    }
    fputs(s->n_missing ? " *\n * Not measured:\n" : "", out);
    for (size_t i = 0; i < s->n_missing; i++) {
        snprintf(line, sizeof line, "  %s, %zu time%s: %s", harmless(s->missing[i].table, a), s->missing[i].count,
                 s->missing[i].count == 1 ? "" : "s", harmless(s->missing[i].why, b));
        comment(out, 4, line);
    }
}

/* Returns true if every number of active cores from 1 to the machine's number of cores was measured at every level, on
 * every CPU that was measured. */
static bool complete(const struct schedule *s)
{
    for (size_t i = 0; i < s->n_points; i++) {
        bool first = i == 0 || s->points[i].cpu != s->points[i - 1].cpu;
        bool last = i + 1 == s->n_points || s->points[i].cpu != s->points[i + 1].cpu;
        if (last && s->points[i].active_cores != s->cores)
            return false;
        if (s->points[i].active_cores != (first ? 1 : s->points[i - 1].active_cores + 1))
            return false;
        for (unsigned l = 0; l < s->n_levels; l++)
            if (!s->points[i].mhz[l].present)
                return false;
    }
    return s->n_points > 0;
}

static unsigned header_levels_of(const struct schedule *s)
{
    return s->n_levels ? s->n_levels : 1;
}

static void header_events(FILE *out, const struct schedule *s)
{
    for (unsigned l = 0; l < s->n_levels; l++) {
        fprintf(out, "#define CHARACTERIZE_HAS_LEVEL%u_EVENT %d\n", l, s->level_event[l].present);
        if (s->level_event[l].present)
            fprintf(out, "#define CHARACTERIZE_LEVEL%u_EVENT 0x%04xu\n", l, (unsigned)s->level_event[l].value);
    }
    for (size_t i = 0; i < SCHEDULE_EVENTS; i++) {
        static const char *const names[SCHEDULE_EVENTS] = {"THROTTLE", "STALL_LOADS", "STALL_STORES"};
        fprintf(out, "#define CHARACTERIZE_HAS_%s_EVENT %d\n", names[i], s->event[i].present);
        if (s->event[i].present)
            fprintf(out, "#define CHARACTERIZE_%s_EVENT 0x%08xu\n", names[i], (unsigned)s->event[i].code);
    }
}

static void header_signature(FILE *out, const struct schedule *s)
{
    fprintf(out, "#define CHARACTERIZE_HAS_SIGNATURE %d\n", s->family >= 0);
    if (s->family >= 0)
        fprintf(out,
                "#define CHARACTERIZE_FAMILY 0x%02xu\n#define CHARACTERIZE_MODEL 0x%02xu\n"
                "#define CHARACTERIZE_STEPPING %du\n",
                (unsigned)s->family, (unsigned)s->model, s->stepping);
}

static void header_constants(FILE *out)
{
    char name[60];
    for (const struct constant *c = constants; c < constants + N_CONSTANTS; c++) {
        snprintf(name, sizeof name, "%s_%s", c->macro, strcmp(c->unit, "ns") == 0 ? "NS" : "PERMILLE");
        fprintf(out, "/* %s */\n#define CHARACTERIZE_%s %d\n", c->source, name, c->value);
    }
}

static void header_switching(FILE *out, const struct schedule *s)
{
    static const char *const names[SWITCHING_KINDS] = {
        [SWITCHING_SWITCH] = "SWITCH", [SWITCHING_MIGRATION] = "MIGRATION", [SWITCHING_FAULT] = "FAULT"};
    for (size_t i = 0; i < SWITCHING_KINDS; i++) {
        const struct schedule_number *ns = &s->switching_ns[i];
        fprintf(out, "#define CHARACTERIZE_HAS_%s_NS %d\n", names[i], ns->present);
        if (ns->present)
            fprintf(out, "#define CHARACTERIZE_%s_NS %d\n", names[i], ns->value);
    }
}

/* ---- rows ---- */

/* The 2^22-fold nanoseconds of a cycle, rounded; 0: not measured. */
static unsigned long inverse(const struct schedule_number *mhz)
{
    unsigned long long f = (unsigned long long)mhz->value;
    return mhz->present ? (unsigned long)(((1000ULL << INVERSE_BITS) + f / 2) / f) : 0;
}

static void header_mhz(FILE *out, const struct schedule *s, const struct schedule_number *mhz)
{
    for (unsigned l = 0; l < header_levels_of(s); l++)
        fprintf(out, "%s%d", l ? ", " : "{", mhz[l].value);
    fputc('}', out);
}

static void header_point(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_point *p = row;
    fprintf(out, "    {%d, %u, ", p->cpu, p->active_cores);
    header_mhz(out, s, p->mhz);
    fputs("},\n", out);
}

static void header_turbo(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_turbo *t = row;
    fprintf(out, "    {%d, %u, %u, ", t->cpu, t->cores_lo, t->cores_hi);
    header_mhz(out, s, t->mhz);
    for (unsigned l = 0; l < header_levels_of(s); l++)
        fprintf(out, "%s%lu", l ? ", " : ", {", inverse(&t->mhz[l]));
    fputs("}},\n", out);
}

static void header_cpu(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_cpu *c = row;
    (void)s;
    fprintf(out, "    {%d, %d},\n", c->cpu, c->like);
}

static int or_minus_one(const struct schedule_number *n)
{
    return n->present ? n->value : -1;
}

static void header_class(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_class *c = row;
    fprintf(out, "    {%u, %d, %d}, /* %td */\n", c->width, c->heavy, or_minus_one(&c->level), c - s->classes);
}

static void header_trigger(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_trigger *t = row;
    bool limits = t->count.present && t->count.has_limits;
    (void)s;
    fprintf(out, "    {%zu, %u, %d, %d, %d, %d},\n", t->class_index, t->density, or_minus_one(&t->level),
            or_minus_one(&t->count), limits ? t->count.lo : -1, limits ? t->count.hi : -1);
}

static void header_cost(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_cost *c = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %d, %d, %d, %d},\n", c->from, c->to, c->active_cores,
            c->down_ns.present | c->up_ns.present << 1 | c->breakeven_ns.present << 2, c->down_ns.value, c->up_ns.value,
            c->breakeven_ns.value);
}

static void header_relaxation(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_relaxation *r = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %d, %d, %d},\n", r->from, r->to, r->mode,
            r->wait_ns.present | r->share_permille.present << 1, r->wait_ns.value, r->share_permille.value);
}

static void header_throttle(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_throttle *p = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %u, %d, %d, %d},\n", p->from, p->to, p->active_cores, p->phase,
            p->duration_ns.present | p->ratio_permille.present << 1, p->duration_ns.value, p->ratio_permille.value);
}

/* ---- all of it ---- */

static void header_values(const struct schedule *s, const char *sha256, struct template_values *v)
{
    const struct {
        const char *name, *count; /* of the template */
        const void *rows;
        size_t n, size;
        void (*print)(FILE *out, const struct schedule *s, const void *row);
    } lists[] = {
        {"CPUS", "N_CPUS", s->cpus, s->n_cpus, sizeof *s->cpus, header_cpu},
        {"POINTS", "N_POINTS", s->points, s->n_points, sizeof *s->points, header_point},
        {"TURBOS", "N_TURBOS", s->turbos, s->n_turbos, sizeof *s->turbos, header_turbo},
        {"CLASSES", "N_CLASSES", s->classes, s->n_classes, sizeof *s->classes, header_class},
        {"TRIGGERS", "N_TRIGGERS", s->triggers, s->n_triggers, sizeof *s->triggers, header_trigger},
        {"COSTS", "N_COSTS", s->costs, s->n_costs, sizeof *s->costs, header_cost},
        {"LEVEL_COSTS", "N_LEVEL_COSTS", s->level_costs, s->n_level_costs, sizeof *s->costs, header_cost},
        {"RELAXATIONS", "N_RELAXATIONS", s->relaxations, s->n_relaxations, sizeof *s->relaxations, header_relaxation},
        {"LEVEL_RELAXATIONS", "N_LEVEL_RELAXATIONS", s->level_relaxations, s->n_level_relaxations,
         sizeof *s->relaxations, header_relaxation},
        {"THROTTLES", "N_THROTTLES", s->throttles, s->n_throttles, sizeof *s->throttles, header_throttle},
    };
    char cpu[TEXT_MAX];
    template_value(v, "MODELLED_NOTE");
    if (s->modelled)
        fputs(" * MODELLED: computed from a model, not measured on a processor.\n *\n", v->out);
    provenance(template_value(v, "PROVENANCE"), s, sha256);
    fprintf(template_value(v, "MODELLED"), "%d", s->modelled);
    fputs(harmless(s->cpu, cpu), template_value(v, "CPU"));
    fputs(sha256, template_value(v, "SHA256"));
    fprintf(template_value(v, "LEVELS"), "%u", header_levels_of(s));
    fprintf(template_value(v, "CORES_COMPLETE"), "%d", complete(s));
    header_events(template_value(v, "LEVEL_EVENTS"), s);
    header_switching(template_value(v, "SWITCHING"), s);
    header_signature(template_value(v, "SIGNATURE"), s);
    header_constants(template_value(v, "CONSTANTS"));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        template_value(v, lists[i].name);
        for (size_t row = 0; row < lists[i].n; row++)
            lists[i].print(v->out, s, (const char *)lists[i].rows + row * lists[i].size);
        fprintf(template_value(v, lists[i].count), "%zu", lists[i].n);
    }
}

char *export_to_header(const struct schedule *s, char *why, size_t why_size)
{
    struct template_values values = {.n = 0};
    char *json = export_to_json(s, why, why_size), *text = NULL, sha256[SHA256_HEX_SIZE];
    struct template_file file = {NULL, NULL};
    int status = json ? template_read(&file, "export", "header", ".h.in", why, why_size) : -1;
    size_t size = 0;
    FILE *out = status == 0 && template_begin(&values) ? open_memstream(&text, &size) : NULL;
    if (out) {
        sha256_hex(json, strlen(json), sha256);
        header_values(s, sha256, &values);
        status = template_fill(&file, &values, out, why, why_size);
    }
    if ((status == 0 && !out) || (out && fclose(out) != 0))
        status = error_line(why, why_size, "out of memory");
    template_values_free(&values);
    template_file_free(&file);
    free(json);
    if (status == 0)
        return text;
    free(text);
    return NULL;
}
