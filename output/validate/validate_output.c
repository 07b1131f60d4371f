/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of verdicts as text, as JSON and as JUnit XML. */
#include "output/validate/validate.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/document/document.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/text_list.h"
#include "util/plain_text.h"

/* ---- text ---- */

static const double LEAST_SHOWN = 0.05; /* %: what rounds to 0.0 is not shown */

/* " 1.25" after a word, "-" where there is none; no -0. */
static void add_number(char *text, size_t size, const char *before, const struct table *v, size_t row,
                       const char *column)
{
    double value = table_number(v, row, column);
    if (isfinite(value))
        text_list_add(text, size, before, "%.6g", fabs(value) < 5e-7 ? 0 : value);
    else
        text_list_add(text, size, before, "-");
}

static void put_row(struct document *d, const struct table *v, size_t row)
{
    char text[1000] = "published";
    const size_t size = sizeof text;
    const char *note = table_text(v, row, "note"), *unit = table_text(v, row, "unit");
    const char *source = table_text(v, row, "source"), *hidden = table_text(v, row, "hidden_by");
    double deviation = table_number(v, row, "deviation_percent"), found = table_number(v, row, "detectable");
    double found_percent = table_number(v, row, "detectable_percent");
    bool is_measured = isfinite(table_number(v, row, "measured"));
    add_number(text, size, " ", v, row, "published");
    if (isfinite(table_number(v, row, "published_max")))
        add_number(text, size, "..", v, row, "published_max");
    if (table_number(v, row, "precision") > 0) /* false for NaN */
        add_number(text, size, " +-", v, row, "precision");
    add_number(text, size, ", measured ", v, row, "measured");
    if (isfinite(table_number(v, row, "measured_lo"))) {
        add_number(text, size, " [", v, row, "measured_lo");
        add_number(text, size, ", ", v, row, "measured_hi");
        text_list_add(text, size, "", "]");
    }
    if (is_measured && unit)
        text_list_add(text, size, " ", "%s", unit);
    if (fabs(deviation) >= LEAST_SHOWN) /* false for NaN */
        text_list_add(text, size, ", ", "%+.1f %%", deviation);
    if (isfinite(found_percent))
        text_list_add(text, size, "; ", "detectable: %.3g %%", found_percent);
    else if (isfinite(found))
        text_list_add(text, size, "; ", "detectable: %.3g", found);
    if (hidden)
        text_list_add(text, size, ": ", "%s", hidden);
    document_note(d, "  %s %s", table_text(v, row, "table"), table_text(v, row, "figure"));
    document_note(d, "    %s; %s", text, source ? source : "-");
    if (note && (!is_measured || table_says(v, row, "verdict", "undecided")))
        document_note(d, "    %s", note);
}

/* How many of the figures compared would be found wrong, if they were. */
static void put_found(struct document *d, const struct table *v)
{
    size_t compared = 0, hidden = 0;
    char which[40] = "each";
    for (size_t row = 0; row < v->n_rows; row++) {
        compared += isfinite(table_number(v, row, "detectable"));
        hidden += table_text(v, row, "hidden_by") != NULL;
    }
    if (hidden)
        snprintf(which, sizeof which, "%zu", compared - hidden);
    if (compared)
        document_note(d,
                      "A deviation of %g %% would be detected in %s of the %zu figures compared; 'detectable' is the "
                      "smallest one.",
                      VALIDATE_TO_FIND_PERCENT, which, compared);
}

static void put_rows(struct document *d, const struct table *v)
{
    static const char *const order[] = {"deviates", "undecided", "not measured", "not published", "agrees"};
    const char *sku = table_meta(v, "sku"), *kind = table_meta(v, "sku_kind"), *warning = table_meta(v, "warning");
    const size_t published = v->n_rows - validate_count(v, "not published");
    if (sku)
        document_note(d, "%s figures of %s, and the processor's own statements",
                      !kind                      ? "Published"
                      : strcmp(kind, "modelled") ? "Measured"
                                                 : "Modelled",
                      sku);
    else
        document_note(d, "No figures of this processor are known, only its own statements");
    if (warning)
        document_note(d, "Warning: %s", warning);
    put_found(d, v);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (strcmp(order[i], "not published") == 0)
            document_note(d, "%s: %zu", order[i], validate_count(v, order[i]));
        else
            document_note(d, "%s: %zu of %zu", order[i], validate_count(v, order[i]), published);
        for (size_t row = 0; row < v->n_rows; row++)
            if (table_says(v, row, "verdict", order[i]))
                put_row(d, v, row);
    }
}

void validate_print_rows(FILE *out, bool colour, const struct table *verdicts)
{
    struct document d;
    document_begin(&d, NULL, NULL, NULL);
    d.records = true;
    put_rows(&d, verdicts);
    document_print(out, colour, &d);
    document_free(&d);
}

static void print_finding(void *data, const char *kind, const char *text)
{
    (void)kind;
    fprintf(data, "Finding: %s\n", text);
}

void validate_print_findings(FILE *out, const struct table *verdicts)
{
    (void)findings_each(verdicts, print_finding, out);
}

void validate_print(FILE *out, bool colour, const struct table *verdicts)
{
    table_print_head(out, colour, verdicts, VALIDATE_TITLE);
    validate_print_rows(out, colour, verdicts);
    validate_print_findings(out, verdicts);
}

static const char *const counted[] = {"agrees", "deviates", "undecided", "not measured", "not published"};
enum { COUNTED = sizeof counted / sizeof *counted };

/* ---- JSON ---- */

static json_t *figure_json(const struct table *v, size_t row, bool *failed)
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

char *validate_to_json(const struct table *v)
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
        json_lines_push(figures, figure_json(v, row, &failed), &failed);
    const char *findings = table_detail(v, "findings");
    json_t *list = findings ? json_loads(findings, 0, NULL) : json_array();
    json_lines_put(root, "findings", list, &failed);
    return json_lines_dump(root, failed);
}

/* ---- JUnit ---- */

/* "published 3.7 +-0.05, measured 3.702 [3.701, 3.703] GHz, +0.1 %" */
static void print_figure(FILE *out, const struct table *v, size_t row)
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
        plain_xml_text(out, table_text(v, row, "unit"));
    }
    if (isfinite(off) && isfinite(e.value))
        fprintf(out, ", %+.3g %%", off);
    if (isfinite(table_number(v, row, "detectable")))
        fprintf(out, "; smallest deviation that would have been detected: %.6g", table_number(v, row, "detectable"));
}

static void print_finding_line(void *out, const char *kind, const char *text)
{
    plain_xml_text(out, kind);
    fputs(": ", out);
    plain_xml_text(out, text);
    fputc('\n', out);
}

static void print_case(FILE *out, const struct table *v, size_t row)
{
    const char *verdict = table_text(v, row, "verdict"), *note = table_text(v, row, "note");
    bool fails = verdict && strcmp(verdict, "deviates") == 0, agrees = verdict && strcmp(verdict, "agrees") == 0;
    bool figures = isfinite(table_number(v, row, "published")) || isfinite(table_number(v, row, "published_max")) ||
                   isfinite(table_number(v, row, "measured"));
    fputs("    <testcase classname=\"", out);
    plain_xml_text(out, table_text(v, row, "table"));
    fputs("\" name=\"", out);
    plain_xml_text(out, table_text(v, row, "figure"));
    fputs("\">\n", out);
    if (!agrees) {
        fprintf(out, "      <%s message=\"", fails ? "failure" : "skipped");
        plain_xml_text(out, verdict);
        fputs(figures ? ": " : "", out);
        print_figure(out, v, row);
        if (note && !fails) {
            fputs("; ", out);
            plain_xml_text(out, note);
        }
        fprintf(out, "\"/>\n");
    }
    fputs("      <system-out>", out);
    if (!figures)
        plain_xml_text(out, verdict);
    print_figure(out, v, row);
    fputs("; source: ", out);
    plain_xml_text(out, table_text(v, row, "source"));
    fputs("</system-out>\n    </testcase>\n", out);
}

char *validate_to_junit(const struct table *v)
{
    char *text = NULL;
    size_t length, deviates = validate_count(v, "deviates");
    size_t skipped = v->n_rows - deviates - validate_count(v, "agrees");
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    plain_xml_text(out, table_meta(v, "sku"));
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n    <properties>\n", v->n_rows,
            deviates, skipped);
    for (size_t i = 0; i < v->n_meta; i++) {
        fputs("      <property name=\"", out);
        plain_xml_text(out, v->meta[i].key);
        fputs("\" value=\"", out);
        plain_xml_text(out, v->meta[i].value);
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
