/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/export_header.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/export_header_code.h"
#include "output/export/export_json.h"
#include "util/sha256.h"

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

static void provenance(FILE *out, const struct schedule *s, const char *hash)
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
    said(out, "SHA-256", hash);
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

static void export_header_put_head(FILE *out, const struct schedule *s, const char *hash)
{
    char text[TEXT_MAX];
    fputs("/* SPDX-License-Identifier: GPL-2.0-or-later */\n/*\n", out);
    if (s->modelled)
        fputs(" * MODELLED: computed from a model, not measured on a processor.\n *\n", out);
    fputs(" * What wide SIMD instructions do to this processor's frequency, for schedulers. Written by characterize;\n"
          " * doc/export-format.md describes it. Integers in the units that the names say. What was not measured is\n"
          " * absent: a table without its row, 0 MHz, a bit that is not set in `measured`, a macro that is not there.\n"
          " *\n",
          out);
    provenance(out, s, hash);
    fputs(" */\n#ifndef CHARACTERIZE_EXPORT_H\n#define CHARACTERIZE_EXPORT_H\n\n", out);
    fprintf(out, "#define CHARACTERIZE_EXPORT_VERSION %d\n", EXPORT_HEADER_VERSION);
    fprintf(out, "#define CHARACTERIZE_MODELLED %d /* 1: computed from a model, not measured on a processor */\n",
            s->modelled);
    fprintf(out, "#define CHARACTERIZE_CPU \"%s\"\n", harmless(s->cpu, text));
    fprintf(out, "#define CHARACTERIZE_SHA256 \"%s\"\n", hash);
}

static void lines(FILE *out, const char *const *lines)
{
    for (; *lines; lines++)
        fprintf(out, "%s\n", *lines);
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

static void export_header_counts(FILE *out, const struct schedule *s)
{
    const struct {
        const char *name;
        size_t n;
    } lists[] = {{"POINTS", s->n_points},
                 {"TURBOS", s->n_turbos},
                 {"CLASSES", s->n_classes},
                 {"TRIGGERS", s->n_triggers},
                 {"COSTS", s->n_costs},
                 {"LEVEL_COSTS", s->n_level_costs},
                 {"RELAXATIONS", s->n_relaxations},
                 {"LEVEL_RELAXATIONS", s->n_level_relaxations},
                 {"THROTTLES", s->n_throttles}};
    fprintf(out,
            "\n#define CHARACTERIZE_LEVELS %u\n\n/* rows of the tables below; 0: nothing of it was measured, and there "
            "is no such table */\n",
            export_header_levels_of(s));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        fprintf(out, "#define CHARACTERIZE_N_%s %zu\n", lists[i].name, lists[i].n);
    fputs("\n/* 1: every number of active cores, from 1 to all, was measured at every level */\n", out);
    fprintf(out, "#define CHARACTERIZE_CORES_COMPLETE %d\n", complete(s));
    fputs("\n/* CHARACTERIZE_LEVELn_EVENT: counts the cycles at level n; event select | umask << 8. Not measured, not "
          "there. */\n",
          out);
    for (unsigned l = 0; l < s->n_levels; l++) {
        fprintf(out, "#define CHARACTERIZE_HAS_LEVEL%u_EVENT %d\n", l, s->level_event[l].present);
        if (s->level_event[l].present)
            fprintf(out, "#define CHARACTERIZE_LEVEL%u_EVENT 0x%04xu\n", l, (unsigned)s->level_event[l].value);
    }
}

/* The 2^22-fold nanoseconds of a cycle, rounded; 0: not measured. */
static unsigned long inverse(const struct schedule_number *mhz)
{
    unsigned long long f = (unsigned long long)mhz->value;
    return mhz->present ? (unsigned long)(((1000ULL << INVERSE_BITS) + f / 2) / f) : 0;
}

static void export_header_begin(FILE *out, const char *type, const char *name, const char *count)
{
    fprintf(out, "\nstatic const struct characterize_%s characterize_%s[CHARACTERIZE_N_%s] = {\n", type, name, count);
}

static void export_header_frequencies(FILE *out, const struct schedule *s)
{
    if (!s->n_points)
        return;
    export_header_begin(out, "point", "points", "POINTS");
    for (size_t i = 0; i < s->n_points; i++) {
        fprintf(out, "    {%d, %u, {", s->points[i].cpu, s->points[i].active_cores);
        for (unsigned l = 0; l < export_header_levels_of(s); l++)
            fprintf(out, "%s%d", l ? ", " : "", s->points[i].mhz[l].value);
        fputs("}},\n", out);
    }
    fputs("};\n", out);
    export_header_begin(out, "turbo", "turbos", "TURBOS");
    for (size_t i = 0; i < s->n_turbos; i++) {
        const struct schedule_turbo *t = &s->turbos[i];
        fprintf(out, "    {%d, %u, %u, {", t->cpu, t->cores_lo, t->cores_hi);
        for (unsigned l = 0; l < export_header_levels_of(s); l++)
            fprintf(out, "%s%d", l ? ", " : "", t->mhz[l].value);
        fputs("}, {", out);
        for (unsigned l = 0; l < export_header_levels_of(s); l++)
            fprintf(out, "%s%lu", l ? ", " : "", inverse(&t->mhz[l]));
        fputs("}},\n", out);
    }
    fputs("};\n", out);
}

static int or_minus_one(const struct schedule_number *n)
{
    return n->present ? n->value : -1;
}

static void trigger(FILE *out, const struct schedule_trigger *t)
{
    bool limits = t->count.present && t->count.has_limits;
    fprintf(out, "    {%zu, %u, %d, %d, %d, %d},\n", t->class_index, t->density, or_minus_one(&t->level),
            or_minus_one(&t->count), limits ? t->count.lo : -1, limits ? t->count.hi : -1);
}

static void export_header_classes(FILE *out, const struct schedule *s)
{
    if (s->n_classes)
        export_header_begin(out, "class", "classes", "CLASSES");
    for (size_t i = 0; i < s->n_classes; i++)
        fprintf(out, "    {%u, %d, %d}, /* %zu */\n", s->classes[i].width, s->classes[i].heavy,
                or_minus_one(&s->classes[i].level), i);
    fputs(s->n_classes ? "};\n" : "", out);
    if (s->n_triggers)
        export_header_begin(out, "trigger", "triggers", "TRIGGERS");
    for (size_t i = 0; i < s->n_triggers; i++)
        trigger(out, &s->triggers[i]);
    fputs(s->n_triggers ? "};\n" : "", out);
}

static void export_header_costs(FILE *out, const struct schedule_cost *c, size_t n, const char *name, const char *count)
{
    if (!n)
        return;
    export_header_begin(out, "cost", name, count);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    {%zu, %zu, %u, %d, %d, %d, %d},\n", c[i].from, c[i].to, c[i].active_cores,
                c[i].down_ns.present | c[i].up_ns.present << 1 | c[i].breakeven_ns.present << 2, c[i].down_ns.value,
                c[i].up_ns.value, c[i].breakeven_ns.value);
    fputs("};\n", out);
}

static void export_header_relaxations(FILE *out, const struct schedule_relaxation *r, size_t n, const char *name,
                                      const char *count)
{
    if (!n)
        return;
    export_header_begin(out, "relaxation", name, count);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "    {%zu, %zu, %u, %d, %d, %d},\n", r[i].from, r[i].to, r[i].mode,
                r[i].wait_ns.present | r[i].share_permille.present << 1, r[i].wait_ns.value, r[i].share_permille.value);
    fputs("};\n", out);
}

static void export_header_throttles(FILE *out, const struct schedule *s)
{
    if (!s->n_throttles)
        return;
    export_header_begin(out, "throttle", "throttles", "THROTTLES");
    for (size_t i = 0; i < s->n_throttles; i++) {
        const struct schedule_throttle *p = &s->throttles[i];
        fprintf(out, "    {%zu, %zu, %u, %u, %d, %d, %d},\n", p->from, p->to, p->active_cores, p->phase,
                p->duration_ns.present | p->ratio_permille.present << 1, p->duration_ns.value, p->ratio_permille.value);
    }
    fputs("};\n", out);
}

int export_header(const struct schedule *s, FILE *out, char *why, size_t why_size)
{
    char hash[SHA256_HEX_SIZE];
    char *json = export_to_json(s, why, why_size);
    if (!json)
        return -1;
    sha256_hex(json, strlen(json), hash);
    free(json);
    errno = 0;
    export_header_put_head(out, s, hash);
    lines(out, export_header_head);
    export_header_counts(out, s);
    lines(out, export_header_structs);
    export_header_frequencies(out, s);
    export_header_classes(out, s);
    export_header_costs(out, s->costs, s->n_costs, "costs", "COSTS");
    export_header_costs(out, s->level_costs, s->n_level_costs, "level_costs", "LEVEL_COSTS");
    export_header_relaxations(out, s->relaxations, s->n_relaxations, "relaxations", "RELAXATIONS");
    export_header_relaxations(out, s->level_relaxations, s->n_level_relaxations, "level_relaxations",
                              "LEVEL_RELAXATIONS");
    export_header_throttles(out, s);
    lines(out, export_header_functions);
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    snprintf(why, why_size, "cannot be written: %s", strerror(errno));
    return -1;
}
