/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/export_header.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/export_json.h"
#include "util/sha256.h"
#include "util/template.h"

enum { TEXT_MAX = 400, LINE_MAX_LENGTH = 110, INVERSE_BITS = 22 };

/* The parameters and the hash of their JSON. */
struct hashed {
    const struct schedule *schedule;
    char sha256[SHA256_HEX_SIZE];
};

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

static void provenance(FILE *out, const void *data)
{
    const struct hashed *h = data;
    const struct schedule *s = h->schedule;
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
    said(out, "SHA-256", h->sha256);
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

/* The first line of the header's comment. */
static void export_header_modelled(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    if (s->modelled)
        fputs(" * MODELLED: computed from a model, not measured on a processor.\n *\n", out);
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

static void export_header_events(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
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

static void export_header_points(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    for (size_t i = 0; i < s->n_points; i++) {
        fprintf(out, "    {%d, %u, ", s->points[i].cpu, s->points[i].active_cores);
        export_header_mhz(out, s, s->points[i].mhz);
        fputs("},\n", out);
    }
}

static void export_header_turbos(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    for (size_t i = 0; i < s->n_turbos; i++) {
        const struct schedule_turbo *t = &s->turbos[i];
        fprintf(out, "    {%d, %u, %u, ", t->cpu, t->cores_lo, t->cores_hi);
        export_header_mhz(out, s, t->mhz);
        for (unsigned l = 0; l < export_header_levels_of(s); l++)
            fprintf(out, "%s%lu", l ? ", " : ", {", inverse(&t->mhz[l]));
        fputs("}},\n", out);
    }
}

static int or_minus_one(const struct schedule_number *n)
{
    return n->present ? n->value : -1;
}

static void export_header_classes(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    for (size_t i = 0; i < s->n_classes; i++)
        fprintf(out, "    {%u, %d, %d}, /* %zu */\n", s->classes[i].width, s->classes[i].heavy,
                or_minus_one(&s->classes[i].level), i);
}

static void export_header_triggers(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    for (size_t i = 0; i < s->n_triggers; i++) {
        const struct schedule_trigger *t = &s->triggers[i];
        bool limits = t->count.present && t->count.has_limits;
        fprintf(out, "    {%zu, %u, %d, %d, %d, %d},\n", t->class_index, t->density, or_minus_one(&t->level),
                or_minus_one(&t->count), limits ? t->count.lo : -1, limits ? t->count.hi : -1);
    }
}

static void print_costs(FILE *out, const struct schedule_cost *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    {%zu, %zu, %u, %d, %d, %d, %d},\n", c[i].from, c[i].to, c[i].active_cores,
                c[i].down_ns.present | c[i].up_ns.present << 1 | c[i].breakeven_ns.present << 2, c[i].down_ns.value,
                c[i].up_ns.value, c[i].breakeven_ns.value);
}

static void export_header_costs(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    print_costs(out, s->costs, s->n_costs);
}

static void export_header_level_costs(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    print_costs(out, s->level_costs, s->n_level_costs);
}

static void print_relaxations(FILE *out, const struct schedule_relaxation *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    {%zu, %zu, %u, %d, %d, %d},\n", r[i].from, r[i].to, r[i].mode,
                r[i].wait_ns.present | r[i].share_permille.present << 1, r[i].wait_ns.value, r[i].share_permille.value);
}

static void export_header_relaxations(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    print_relaxations(out, s->relaxations, s->n_relaxations);
}

static void export_header_level_relaxations(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    print_relaxations(out, s->level_relaxations, s->n_level_relaxations);
}

static void export_header_throttles(FILE *out, const void *schedule)
{
    const struct schedule *s = schedule;
    for (size_t i = 0; i < s->n_throttles; i++) {
        const struct schedule_throttle *p = &s->throttles[i];
        fprintf(out, "    {%zu, %zu, %u, %u, %d, %d, %d},\n", p->from, p->to, p->active_cores, p->phase,
                p->duration_ns.present | p->ratio_permille.present << 1, p->duration_ns.value, p->ratio_permille.value);
    }
}

/* ---- all of it ---- */

static void export_header_values(const struct hashed *h, struct template_values *v)
{
    const struct schedule *s = h->schedule;
    const struct {
        const char *rows, *count;
        size_t n;
        template_printer *print;
    } lists[] = {
        {"POINTS", "N_POINTS", s->n_points, export_header_points},
        {"TURBOS", "N_TURBOS", s->n_turbos, export_header_turbos},
        {"CLASSES", "N_CLASSES", s->n_classes, export_header_classes},
        {"TRIGGERS", "N_TRIGGERS", s->n_triggers, export_header_triggers},
        {"COSTS", "N_COSTS", s->n_costs, export_header_costs},
        {"LEVEL_COSTS", "N_LEVEL_COSTS", s->n_level_costs, export_header_level_costs},
        {"RELAXATIONS", "N_RELAXATIONS", s->n_relaxations, export_header_relaxations},
        {"LEVEL_RELAXATIONS", "N_LEVEL_RELAXATIONS", s->n_level_relaxations, export_header_level_relaxations},
        {"THROTTLES", "N_THROTTLES", s->n_throttles, export_header_throttles},
    };
    char cpu[TEXT_MAX];
    template_put(v, "MODELLED_NOTE", export_header_modelled, s);
    template_put(v, "PROVENANCE", provenance, h);
    template_put_text(v, "MODELLED", "%d", s->modelled);
    template_put_text(v, "CPU", "%s", harmless(s->cpu, cpu));
    template_put_text(v, "SHA256", "%s", h->sha256);
    template_put_text(v, "LEVELS", "%u", export_header_levels_of(s));
    template_put_text(v, "CORES_COMPLETE", "%d", complete(s));
    template_put(v, "LEVEL_EVENTS", export_header_events, s);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        template_put(v, lists[i].rows, lists[i].print, s);
        template_put_text(v, lists[i].count, "%zu", lists[i].n);
    }
}

int export_header(const struct schedule *s, FILE *out, char *why, size_t why_size)
{
    struct hashed h = {.schedule = s};
    struct template_values values = {.n = 0};
    char *json = export_to_json(s, why, why_size);
    struct template_file header = {NULL, NULL};
    int status = json ? template_read(&header, "export", "header", ".h.in", why, why_size) : -1;
    if (status == 0) {
        sha256_hex(json, strlen(json), h.sha256);
        export_header_values(&h, &values);
        errno = 0;
        status = template_fill(&header, &values, out, why, why_size);
    }
    if (status == 0 && (fflush(out) != 0 || ferror(out))) {
        snprintf(why, why_size, "cannot be written: %s", strerror(errno));
        status = -1;
    }
    template_values_free(&values);
    template_file_free(&header);
    free(json);
    return status;
}
