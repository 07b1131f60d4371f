/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/export.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/template.h"

enum { TEXT_MAX = 400, LINE_MAX_LENGTH = 110, INVERSE_BITS = 22 };

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

/* Whether every number of active cores, from 1 to those that the machine has, was measured at every level on all CPUs
 * that were measured. */
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

static unsigned export_header_levels_of(const struct schedule *s)
{
    return s->n_levels ? s->n_levels : 1;
}

static void export_header_events(FILE *out, const struct schedule *s)
{
    for (unsigned l = 0; l < s->n_levels; l++) {
        fprintf(out, "#define CHARACTERIZE_HAS_LEVEL%u_EVENT %d\n", l, s->level_event[l].present);
        if (s->level_event[l].present)
            fprintf(out, "#define CHARACTERIZE_LEVEL%u_EVENT 0x%04xu\n", l, (unsigned)s->level_event[l].value);
    }
}

/* ---- rows ---- */

/* The 2^22-fold nanoseconds of a cycle, rounded; 0: not measured. */
static unsigned long inverse(const struct schedule_number *mhz)
{
    unsigned long long f = (unsigned long long)mhz->value;
    return mhz->present ? (unsigned long)(((1000ULL << INVERSE_BITS) + f / 2) / f) : 0;
}

static void export_header_mhz(FILE *out, const struct schedule *s, const struct schedule_number *mhz)
{
    for (unsigned l = 0; l < export_header_levels_of(s); l++)
        fprintf(out, "%s%d", l ? ", " : "{", mhz[l].value);
    fputc('}', out);
}

static void export_header_point(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_point *p = row;
    fprintf(out, "    {%d, %u, ", p->cpu, p->active_cores);
    export_header_mhz(out, s, p->mhz);
    fputs("},\n", out);
}

static void export_header_turbo(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_turbo *t = row;
    fprintf(out, "    {%d, %u, %u, ", t->cpu, t->cores_lo, t->cores_hi);
    export_header_mhz(out, s, t->mhz);
    for (unsigned l = 0; l < export_header_levels_of(s); l++)
        fprintf(out, "%s%lu", l ? ", " : ", {", inverse(&t->mhz[l]));
    fputs("}},\n", out);
}

static int or_minus_one(const struct schedule_number *n)
{
    return n->present ? n->value : -1;
}

static void export_header_class(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_class *c = row;
    fprintf(out, "    {%u, %d, %d}, /* %td */\n", c->width, c->heavy, or_minus_one(&c->level), c - s->classes);
}

static void export_header_trigger(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_trigger *t = row;
    bool limits = t->count.present && t->count.has_limits;
    (void)s;
    fprintf(out, "    {%zu, %u, %d, %d, %d, %d},\n", t->class_index, t->density, or_minus_one(&t->level),
            or_minus_one(&t->count), limits ? t->count.lo : -1, limits ? t->count.hi : -1);
}

static void export_header_cost(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_cost *c = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %d, %d, %d, %d},\n", c->from, c->to, c->active_cores,
            c->down_ns.present | c->up_ns.present << 1 | c->breakeven_ns.present << 2, c->down_ns.value, c->up_ns.value,
            c->breakeven_ns.value);
}

static void export_header_relaxation(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_relaxation *r = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %d, %d, %d},\n", r->from, r->to, r->mode,
            r->wait_ns.present | r->share_permille.present << 1, r->wait_ns.value, r->share_permille.value);
}

static void export_header_throttle(FILE *out, const struct schedule *s, const void *row)
{
    const struct schedule_throttle *p = row;
    (void)s;
    fprintf(out, "    {%zu, %zu, %u, %u, %d, %d, %d},\n", p->from, p->to, p->active_cores, p->phase,
            p->duration_ns.present | p->ratio_permille.present << 1, p->duration_ns.value, p->ratio_permille.value);
}

/* ---- all of it ---- */

static void export_header_values(const struct schedule *s, const char *sha256, struct template_values *v)
{
    const struct {
        const char *name, *count; /* of the template */
        const void *rows;
        size_t n, size;
        void (*print)(FILE *out, const struct schedule *s, const void *row);
    } lists[] = {
        {"POINTS", "N_POINTS", s->points, s->n_points, sizeof *s->points, export_header_point},
        {"TURBOS", "N_TURBOS", s->turbos, s->n_turbos, sizeof *s->turbos, export_header_turbo},
        {"CLASSES", "N_CLASSES", s->classes, s->n_classes, sizeof *s->classes, export_header_class},
        {"TRIGGERS", "N_TRIGGERS", s->triggers, s->n_triggers, sizeof *s->triggers, export_header_trigger},
        {"COSTS", "N_COSTS", s->costs, s->n_costs, sizeof *s->costs, export_header_cost},
        {"LEVEL_COSTS", "N_LEVEL_COSTS", s->level_costs, s->n_level_costs, sizeof *s->costs, export_header_cost},
        {"RELAXATIONS", "N_RELAXATIONS", s->relaxations, s->n_relaxations, sizeof *s->relaxations,
         export_header_relaxation},
        {"LEVEL_RELAXATIONS", "N_LEVEL_RELAXATIONS", s->level_relaxations, s->n_level_relaxations,
         sizeof *s->relaxations, export_header_relaxation},
        {"THROTTLES", "N_THROTTLES", s->throttles, s->n_throttles, sizeof *s->throttles, export_header_throttle},
    };
    char cpu[TEXT_MAX];
    template_value(v, "MODELLED_NOTE");
    if (s->modelled)
        fputs(" * MODELLED: computed from a model, not measured on a processor.\n *\n", v->out);
    provenance(template_value(v, "PROVENANCE"), s, sha256);
    fprintf(template_value(v, "MODELLED"), "%d", s->modelled);
    fputs(harmless(s->cpu, cpu), template_value(v, "CPU"));
    fputs(sha256, template_value(v, "SHA256"));
    fprintf(template_value(v, "LEVELS"), "%u", export_header_levels_of(s));
    fprintf(template_value(v, "CORES_COMPLETE"), "%d", complete(s));
    export_header_events(template_value(v, "LEVEL_EVENTS"), s);
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
        export_header_values(s, sha256, &values);
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
