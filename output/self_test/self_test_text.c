/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/self_test/self_test_output.h"

#include <math.h>
#include <stdlib.h>

#include "util/screen_text.h"

static void print_bounds(FILE *out, const struct self_test_line *l)
{
    if (!isnan(l->lo) && !isnan(l->hi))
        fprintf(out, " (bounds %.6g to %.6g %s)", l->lo, l->hi, l->unit);
    else if (!isnan(l->hi))
        fprintf(out, " (at most %.6g %s)", l->hi, l->unit);
    else if (!isnan(l->lo))
        fprintf(out, " (at least %.6g %s)", l->lo, l->unit);
}

static void print_line(FILE *out, const struct self_test_line *l)
{
    char *text = NULL;
    size_t size = 0;
    FILE *field = open_memstream(&text, &size);
    if (field) {
        fputs(l->text, field);
        if (l->verdict != SELF_TEST_CANNOT)
            print_bounds(field, l);
        fprintf(field, "%s%s", l->text[0] != '\0' && l->reason[0] != '\0' ? ": " : "", l->reason);
        fprintf(field, "%s%s", l->remedy[0] != '\0' ? "; remedy: " : "", l->remedy);
    }
    int column = fprintf(out, "%-7s %-17s ", self_test_word(l->verdict), l->name);
    bool told = field && fclose(field) == 0;
    screen_text_field(out, (unsigned)column, told ? text : "out of memory");
    free(text);
}

void self_test_text_print(FILE *out, const struct self_test_readings *r, const struct self_test_lines *l,
                          const struct self_test_lines *others, bool replayed)
{
    unsigned disturbed = 0;
    size_t kept = 0;
    screen_text_field(out, (unsigned)fprintf(out, "%-*s", r->modelled ? 12 : 0, "Self-test"),
                      r->modelled ? "MODELLED: computed from a model, not measured on a processor" : "");
    fprintf(out, "%-12s %s\n", "CPU", r->cpu);
    fprintf(out, "%-12s %s, on CPU %d%s\n", "Machine", r->machine, r->cpu_number,
            replayed ? "; judged from the readings of a bundle" : "");
    screen_text_field(out, (unsigned)fprintf(out, "%-12s ", "Source"), r->source);
    if (r->notes[0] != '\0')
        screen_text_field(out, (unsigned)fprintf(out, "%-12s ", "Notes"), r->notes);
    for (size_t i = 0; i < r->n_stretches; i++) {
        disturbed += r->stretch[i].disturbed;
        kept += r->stretch[i].n;
    }
    fprintf(out, "%-12s %zu used, %u disturbed and repeated\n", "Repetitions", kept, disturbed);
    for (size_t i = 0; i < l->n; i++)
        print_line(out, &l->line[i]);
    if (others != NULL && others->n > 0) {
        fprintf(out, "Second opinions\n");
        for (size_t i = 0; i < others->n; i++)
            print_line(out, &others->line[i]);
    }
    fprintf(out, "%zu pass, %zu fail, %zu cannot\n", self_test_count(l, SELF_TEST_PASS),
            self_test_count(l, SELF_TEST_FAIL), self_test_count(l, SELF_TEST_CANNOT));
}
