/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/table_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/model_rig.h"

void rig_measure_on(const struct table_kind *k, struct machine *m, const struct tables_options *o, struct table *out)
{
    struct machine_error err;
    if (tables_measure(k, m, o, NULL, NULL, out, &err) != MACHINE_OK)
        fail_msg("%s: %s", k->name, err.text);
    assert_false(out->failed);
}

void rig_measure(const struct table_kind *k, const struct model *m, const struct tables_options *o, struct table *out)
{
    struct machine machine;
    struct machine_error err;
    if (machine_open_parsed_model(m, "model:test", &machine, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    rig_measure_on(k, &machine, o, out);
    machine.ops->close(&machine);
}

static char *text_of(const struct table_kind *k, const struct table *t, bool with_table)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (with_table) {
        tables_print(out, false, k, t);
        assert_int_equal(fflush(out), 0);
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
            if (strcspn(line, "\n") > 100)
                fail_msg("table %s: more than 100 columns: %.*s", k->name, (int)strcspn(line, "\n"), line);
    }
    k->findings(out, t);
    assert_int_equal(fclose(out), 0);
    return text;
}

char *rig_findings(const struct table_kind *k, const struct table *t)
{
    return text_of(k, t, false);
}

char *rig_printed(const struct table_kind *k, const struct table *t)
{
    return text_of(k, t, true);
}

void rig_load_plain(const char *name, struct model *m)
{
    rig_load(name, m);
    for (size_t i = 0; i < m->n_classes; i++)
        m->classes[i].wait_double = 0;
    for (size_t i = 0; i < m->n_interrupts; i++)
        m->interrupts[i].rearm = 0;
    for (size_t i = 0; i < m->n_demands; i++)
        m->demands[i].count_sigma = 0;
}
