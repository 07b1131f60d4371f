/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How lines of files of published figures are read, and why they are refused: tests/golden/sku.lines. After an intended
 * change `make golden` rewrites it, and the diff shows what changed.
 */
#include "tables/published/sku.h"
#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

static void write_figure(FILE *out, const struct sku_figure *f)
{
    fprintf(out, "  %s", f->mean ? "mean " : "");
    if (!f->published)
        fprintf(out, "not published");
    else
        fprintf(out, "%.6g to %.6g, rounded by %.6g", f->lo, f->hi, f->rounding);
    if (!isnan(f->tolerance))
        fprintf(out, ", tolerance %.6g", f->tolerance);
    for (size_t i = 0; i < f->n_keys; i++)
        if (f->keys[i].is_number)
            fprintf(out, "; %s %.6g to %.6g", f->keys[i].column, f->keys[i].lo, f->keys[i].hi);
        else
            fprintf(out, "; %s '%s'", f->keys[i].column, f->keys[i].text);
    fprintf(out, "\n");
}

/* A file is loaded, so that tables, columns and kernels are checked, too. */
static void write_file(FILE *out, const char *shown, const char *text)
{
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    struct sku s;
    struct machine_error err;
    folder_make(folder);
    folder_put(folder, "made.sku", text);
    snprintf(path, sizeof path, "%s/made.sku", folder);
    fprintf(out, "%s\n", shown);
    if (sku_load(path, NULL, &s, &err) == MACHINE_OK) {
        assert_string_equal(s.figures[0].table, "frequency");
        assert_int_equal(s.figures[0].line, 6);
        assert_int_equal(sku_published(&s), s.n_figures - !s.figures[0].published);
        for (size_t i = 0; i < s.n_figures; i++)
            write_figure(out, &s.figures[i]);
        sku_free(&s);
    } else {
        const char *name = strstr(err.text, "made.sku"); /* the folder has another name each time */
        assert_int_equal(err.status, MACHINE_BAD_INPUT);
        fprintf(out, "  refused: %s\n", name ? name + strlen("made.sku:") : err.text);
    }
    folder_remove(folder);
}

#define HEAD "format = characterize-sku/1\n[sku]\nname = A # x\nbrand = B # x\n"

static void write_line(FILE *out, const char *line)
{
    char text[1000];
    snprintf(text, sizeof text, HEAD "[frequency]\n%s # here\n", line);
    write_file(out, line, text);
}

static const char *const made_lines[] = {
    /* figures, and what they are rounded to */
    "kernel=64add active_cores=1-2 : freq_ghz = 3.7",
    "kernel=64add : freq_ghz = 3",
    "kernel=64add : freq_ghz = 2.70..3.7",
    "kernel=64add : freq_ghz = 2.7..3.75",
    "kernel=64add : freq_ghz = 3.7..2.7",
    "kernel=64add : freq_ghz = 3.7..3.7",
    "kernel=64add : freq_ghz = -1",
    "kernel=64add : freq_ghz = 1/4",
    "kernel=64add : freq_ghz = 1/0",
    "kernel=64add : freq_ghz = 0x10",
    "kernel=64add : freq_ghz = 0xg",
    "kernel=64add : freq_ghz = .5",
    "kernel=64add : freq_ghz = 5.",
    "kernel=64add : freq_ghz = 3.7 GHz",
    "kernel=64add : freq_ghz = -",
    "kernel=64add : mean freq_ghz = 3.7",
    "kernel=64add : n = about 650",
    "kernel=64add : n = about 13000",
    "kernel=64add : n = about 100",
    "kernel=64add : freq_ghz = about 3.7",
    "kernel=64add : freq_ghz = about 1/4",
    "kernel=64add : n = about 600..650",
    "kernel=64add : freq_ghz = about -",
    "kernel=64add : freq_ghz = about 3.7 ~ 1",
    /* tolerances */
    "kernel=64add : freq_ghz = 3.7 ~ 0.5",
    "kernel=64add : freq_ghz = 3.7 ~ 10%",
    "kernel=64add : freq_ghz = 2..4 ~ 10%",
    "kernel=64add : freq_ghz = 3.7 ~ 3.7",
    "kernel=64add : freq_ghz = 3.7 ~ 3.69",
    "kernel=64add : freq_ghz = 3.7 ~ 100%",
    "kernel=64add : freq_ghz = 3.7 ~ -1",
    "kernel=64add : freq_ghz = 3.7 ~ x",
    "kernel=64add : freq_ghz = 3.7 ~ 1%%",
    "kernel=64add : n = 0 ~ 1%",
    "kernel=64add : n = 0 ~ 1",
    "kernel=64add : freq_ghz = - ~ 1",
    /* which rows */
    "kernel=64add,128or active_cores=4-1 : freq_ghz = 3.7",
    "kernel=64add active_cores=1- : freq_ghz = 3.7",
    "kernel=64add active_cores=0x2-3 : freq_ghz = 3.7",
    "kernel=64add active_cores=many : freq_ghz = 3.7",
    "kernel=64ad : freq_ghz = 3.7",
    "kernel=64add, : freq_ghz = 3.7",
    "kernel= : freq_ghz = 3.7",
    "=64add : freq_ghz = 3.7",
    "kernel : freq_ghz = 3.7",
    "kernel=64add kernel=128or : freq_ghz = 3.7",
    "Kernel=64add : freq_ghz = 3.7",
    "1kernel=64add : freq_ghz = 3.7",
    "kernels=64add : freq_ghz = 3.7",
    "group=\"no steps\" : freq_ghz = 3.7",
    "group=\"no steps : freq_ghz = 3.7",
    "group=\"\" : freq_ghz = 3.7",
    "group=\"a\"b : freq_ghz = 3.7",
    " : freq_ghz = 3.7",
    "cpu=1 kernel=64add active_cores=1 core=P level=0 n=1 : freq_ghz = 3.7",
    "cpu=1 kernel=64add active_cores=1 core=P level=0 n=1 discarded=0 : freq_ghz = 3.7",
    /* of what */
    "kernel=64add : freq = 3.7",
    "kernel=64add : Freq = 3.7",
    "kernel=64add : group = 3.7",
    "kernel=64add : freq_ghz 3.7",
    "kernel=64add freq_ghz = 3.7",
    "kernel=64add : level = 1.5",
    "kernel=64add : freq_ghz = 1000000",
};

TEST(lines_of_figures)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof made_lines / sizeof *made_lines; i++)
        write_line(out, made_lines[i]);
    write_file(out, "the same twice", HEAD "[frequency]\nkernel=64add : n = 3 # x\nkernel=64add : n = 4 # x\n");
    for (int n = 30; n <= 34; n++) { /* of this many digits, the most that are read, and more */
        char line[200];
        snprintf(line, sizeof line, "kernel=64add : n = %0*d", n + 6, 7);
        write_line(out, line);
    }
    for (int n = 0; n < 3; n++) { /* names and values just as long as there is room for, and longer */
        char line[600];
        snprintf(line, sizeof line, "kernel=%0*d : freq_ghz = 3", SKU_TEXT_MAX - 2 + n, 7);
        write_line(out, line);
        snprintf(line, sizeof line, "kernel=64add : f%0*d = 3", SKU_NAME_MAX - 2 + n, 7);
        write_line(out, line);
        snprintf(line, sizeof line, "k%0*d=3 : freq_ghz = 3", SKU_NAME_MAX - 2 + n, 7);
        write_line(out, line);
    }
    write_file(out, "kind = drawn", "format = characterize-sku/1\n[sku]\nname = A # x\nkind = drawn # x\n");
    write_file(out, "a mean and each", HEAD "[frequency]\nkernel=64add : n = 3 # x\nkernel=64add : mean n = 4 # x\n");
    write_file(out, "no figures", HEAD);
    write_file(out, "no brand",
               "format = characterize-sku/1\n[sku]\nname = A # x\n[frequency]\nkernel=64add : n = 3 # x\n");
    write_file(out, "no name",
               "format = characterize-sku/1\n[sku]\nbrand = A # x\n[frequency]\nkernel=64add : n = 3 # x\n");
    write_file(out, "another key", "format = characterize-sku/1\n[sku]\nnames = A # x\n");
    write_file(out, "another section", HEAD "[frequencies]\nkernel=64add : n = 3 # x\n");
    write_file(out, "two names", HEAD "name = C # x\n");
    golden_expect(&g, "sku", "lines", false);
}
