/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/validate/validation_file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/validate/validate.h"
#include "output/validate/validation_findings.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/xml_text.h"

static const char *const counted[] = {"agrees", "deviates", "undecided", "not measured", "not published"};
enum { COUNTED = sizeof counted / sizeof *counted };

/* ---- JSON ---- */

static json_t *validation_figure(const struct table *v, size_t row, bool *failed)
{
    static const char *const texts[] = {"table", "figure", "unit", "verdict", "hidden_by", "source", "note"};
    static const char *const numbers[] = {"published",         "published_max", "precision",
                                          "deviation_percent", "detectable",    "detectable_percent"};
    json_t *o = json_object();
    struct estimate e = estimates_of_table(v, row, "measured");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_lines_put_text(o, texts[i], table_text(v, row, texts[i]), failed);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_lines_put_real(o, numbers[i], table_number(v, row, numbers[i]), failed);
    json_lines_put_real(o, "measured", e.value, failed);
    json_lines_put(
        o, "measured_ci95",
        estimates_known(&e) ? json_pack("[o, o]", json_lines_real(e.lo), json_lines_real(e.hi)) : json_null(), failed);
    double rows = table_number(v, row, "rows");
    json_lines_put_whole(o, "rows", isfinite(rows) ? (json_int_t)rows : 0, failed);
    return o;
}

char *validation_to_json(const struct table *v)
{
    static const char *const metas[] = {"cpu", "machine", "source", "version", "date", "environment", "warning"};
    bool failed = false;
    json_t *root = json_object();
    const char *kind = table_meta(v, "sku_kind");
    json_lines_put_text(root, "format", "characterize-validation/1", &failed);
    json_lines_put_text(root, "sku", table_meta(v, "sku"), &failed);
    json_lines_put_text(root, "sku_kind", kind ? kind : "published", &failed);
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++)
        json_lines_put_text(root, metas[i], table_meta(v, metas[i]), &failed);
    json_lines_put(root, "modelled", json_boolean(table_modelled(v)), &failed);
    for (size_t i = 0; i < COUNTED; i++) {
        char key[20];
        snprintf(key, sizeof key, "%s", counted[i]);
        for (char *c = key; *c; c++)
            *c = *c == ' ' ? '_' : *c;
        json_lines_put_whole(root, key, (json_int_t)validate_count(v, counted[i]), &failed);
    }
    json_t *figures = json_lines_array(root, "figures", &failed);
    for (size_t row = 0; row < v->n_rows; row++)
        json_lines_push(figures, validation_figure(v, row, &failed), &failed);
    const char *findings = table_detail(v, "findings");
    json_t *list = findings ? json_loads(findings, 0, NULL) : json_array();
    json_lines_put(root, "findings", list, &failed);
    return json_lines_dump(root, failed);
}

/* ---- JUnit ---- */

/* "published 3.7 +-0.05, measured 3.702 [3.701, 3.703] GHz, +0.1 %" */
static void validation_tell(FILE *out, const struct table *v, size_t row)
{
    struct estimate e = estimates_of_table(v, row, "measured");
    double published = table_number(v, row, "published"), most = table_number(v, row, "published_max");
    double precision = table_number(v, row, "precision"), off = table_number(v, row, "deviation_percent");
    if (isfinite(published))
        fprintf(out, "published %.9g", published);
    if (isfinite(most))
        fprintf(out, "..%.9g", most);
    if (precision > 0)
        fprintf(out, " +-%.6g", precision);
    if (isfinite(e.value))
        fprintf(out, "%smeasured %.9g", isfinite(published) ? ", " : "", e.value);
    if (estimates_known(&e))
        fprintf(out, " [%.9g, %.9g]", e.lo, e.hi);
    if (table_text(v, row, "unit") && isfinite(e.value)) {
        fputc(' ', out);
        xml_text(out, table_text(v, row, "unit"));
    }
    if (isfinite(off) && isfinite(e.value))
        fprintf(out, ", %+.3g %%", off);
    if (isfinite(table_number(v, row, "detectable")))
        fprintf(out, "; smallest deviation that would have been detected: %.6g", table_number(v, row, "detectable"));
}

static void print_finding_line(void *out, const char *kind, const char *text)
{
    xml_text(out, kind);
    fputs(": ", out);
    xml_text(out, text);
    fputc('\n', out);
}

static void print_case(FILE *out, const struct table *v, size_t row)
{
    const char *verdict = table_text(v, row, "verdict"), *note = table_text(v, row, "note");
    bool fails = verdict && strcmp(verdict, "deviates") == 0, agrees = verdict && strcmp(verdict, "agrees") == 0;
    fputs("    <testcase classname=\"", out);
    xml_text(out, table_text(v, row, "table"));
    fputs("\" name=\"", out);
    xml_text(out, table_text(v, row, "figure"));
    fputs("\">\n", out);
    if (!agrees) {
        fprintf(out, "      <%s message=\"", fails ? "failure" : "skipped");
        xml_text(out, verdict);
        fputs(": ", out);
        validation_tell(out, v, row);
        if (note && !fails) {
            fputs("; ", out);
            xml_text(out, note);
        }
        fprintf(out, "\"/>\n");
    }
    fputs("      <system-out>", out);
    validation_tell(out, v, row);
    fputs("; source: ", out);
    xml_text(out, table_text(v, row, "source"));
    fputs("</system-out>\n    </testcase>\n", out);
}

char *validation_to_junit(const struct table *v)
{
    char *text = NULL;
    size_t length, deviates = validate_count(v, "deviates");
    size_t skipped = v->n_rows - deviates - validate_count(v, "agrees");
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    xml_text(out, table_meta(v, "sku"));
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n    <properties>\n", v->n_rows,
            deviates, skipped);
    for (size_t i = 0; i < v->n_meta; i++) {
        fputs("      <property name=\"", out);
        xml_text(out, v->meta[i].key);
        fputs("\" value=\"", out);
        xml_text(out, v->meta[i].value);
        fputs("\"/>\n", out);
    }
    fputs("    </properties>\n", out);
    for (size_t row = 0; row < v->n_rows; row++)
        print_case(out, v, row);
    fputs("    <system-out>", out);
    (void)findings_each(v, print_finding_line, out);
    fputs("</system-out>\n", out);
    fputs("  </testsuite>\n</testsuites>\n", out);
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
