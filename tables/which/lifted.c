/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures blocks without some of their instructions. */
#include "tables/which/lifted.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tables/classes/class_ratios.h"
#include "tables/table/chart_table.h"
#include "tables/which/culprits.h"
#include "util/text_list.h"

/* Blocks that are searched, and the parts of the time for all of which a measurement takes at most one: assumed; a
 * block takes some three. */
enum { BLOCKS_MOST = 16, SHARE = 4 };
/* The part of the gap between two classes at which half of the width of limits is narrow enough: assumed; below a
 * quarter, so that neither limits of both sides nor their scatter fill it. */
static const double GAP_PART = 0.125;

struct lifted_search {
    const struct tables_context *x;
    const struct brackets_setup *setup;
    const struct binary_chosen *block;
    struct estimate class, above; /* the fastest ratio of its class, and the slowest of the next faster one */
    double left;                  /* s */
};

/* Reaches its class: slower than the one above, and not faster than its own. */
static enum lifting lifting_of(const struct lifted_search *s, const struct estimate *e)
{
    if (!estimates_known(e))
        return LIFTS_UNDECIDED;
    if (classes_slower(&s->class, e))
        return LIFTS_NOT;
    return classes_slower(e, &s->above) ? LIFTS : LIFTS_UNDECIDED;
}

static int make_parts(const struct lifted_search *s, const struct culprit_trial *trials, size_t n,
                      struct block_set *set, struct payload *kernels, struct machine_error *err)
{
    uint8_t *code = malloc(s->block->n);
    size_t bytes;
    int status = code != NULL ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < n && status == MACHINE_OK; i++) {
        status = binary_part(s->block, trials[i].kept, code, &bytes, err);
        if (status == MACHINE_OK)
            status = binary_add_kernel(set, code, bytes, s->x->info.modelled, &kernels[i], err);
    }
    free(code);
    return status;
}

static int measure_parts(void *data, struct culprit_trial *trials, size_t n, struct machine_error *err)
{
    struct lifted_search *s = data;
    struct block_set set = {0};
    struct payload kernels[BLOCK_SET_MAX + 1] = {s->setup->first}; /* the null shows how long slots must be */
    struct classes_seen seen[BLOCK_SET_MAX + 1];
    struct brackets_setup own = *s->setup;
    own.kernels = kernels;
    own.n = n + 1;
    own.seconds /= SHARE;
    own.enough = fmax(own.enough, GAP_PART * (s->above.value - s->class.value)); /* to tell two classes apart */
    int status = make_parts(s, trials, n, &set, kernels + 1, err);
    if (status == MACHINE_OK)
        status = classes_run(s->x, &own, seen, err);
    block_set_free(&set);
    if (status == MACHINE_OK && tables_stop(s->x, 1))
        status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    for (size_t i = 0; i < n && status == MACHINE_OK; i++) {
        trials[i].ratio = seen[i + 1].ratio;
        trials[i].lifts = lifting_of(s, &trials[i].ratio);
    }
    if (status == MACHINE_OK)
        s->left -= seen[0].seconds;
    return status;
}

/* "vfmadd231ps zmm, vmulps ymm + vaddps ymm". */
static void put_sets(const struct lifted_search *s, const struct culprits *c, struct table *rows, size_t row)
{
    char text[40 * BINARY_WIDE_KINDS_MAX] = "", one[sizeof text];
    for (size_t i = 0; i < c->n; i++) {
        one[0] = '\0';
        for (size_t k = 0; k < s->block->n_kinds; k++)
            if ((c->set[i] >> k & 1) != 0)
                text_list_add(one, sizeof one, " + ", "%s %s", s->block->kind[k].mnemonic,
                              s->block->kind[k].width == 512 ? "zmm" : "ymm");
        text_list_add(text, sizeof text, ", ", "%s", one);
    }
    if (c->rest.lifts == LIFTS_NOT)
        estimates_set(rows, row, "without", c->rest.ratio);
    if (c->rest.lifts == LIFTS)
        text_list_add(text, sizeof text, ", ", "...");
    table_set_text(rows, row, "lifted_by", text);
}

static void put_undecided(const struct lifted_search *s, const char *why, struct table *rows)
{
    char address[24];
    snprintf(address, sizeof address, "0x%" PRIx64, s->block->address);
    table_add_missing(rows, "which of its instructions lift the class is not all shown: %s", why);
    table_put_text(rows, "function", s->block->function->name);
    table_put_text(rows, "address", address);
}

static int search_block(struct lifted_search *s, struct table *rows, size_t row, struct machine_error *err)
{
    struct culprits found = {.n = 0};
    int status = MACHINE_OK;
    if (s->block->n_kinds > BINARY_WIDE_KINDS_MAX)
        found.why = "it has too many kinds of wide instructions for one measurement";
    else
        status = culprits_find(s->block->n_kinds, measure_parts, s, &found, err);
    if (status == MACHINE_BAD_INPUT || status == MACHINE_CANNOT)
        found = (struct culprits){.why = err->text};
    else if (status != MACHINE_OK)
        return status;
    if (found.n > 0)
        put_sets(s, &found, rows, row);
    if (found.why != NULL)
        put_undecided(s, found.why, rows);
    return MACHINE_OK;
}

/* The fastest ratio of a class, or its slowest. */
static struct estimate ratio_of_class(const struct table *rows, double class, bool fastest)
{
    struct estimate out = {NAN, NAN, NAN};
    for (size_t row = 0; row < rows->n_rows; row++) {
        const struct estimate e = estimates_of_table(rows, row, "ratio");
        if (table_number(rows, row, "class") == class && !(fastest ? e.value <= out.value : e.value >= out.value))
            out = e;
    }
    return out;
}

bool lifted_alike(const struct table *t, size_t a, size_t b)
{
    return table_same(t, a, b, "class") && table_same(t, a, b, "function") && table_same(t, a, b, "instructions");
}

static bool is_like_another(const struct table *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (lifted_alike(rows, i, row))
            return true;
    return false;
}

/* The blocks that lift the class, in the order in which they are searched. Returns how many. */
static size_t order_lifted(const struct table *rows, const size_t *row_of, size_t n, size_t *block)
{
    size_t k = 0;
    for (int like = 0; like <= 1; like++)
        for (double class = chart_largest(rows, "class"); class >= 1; class --)
            for (size_t i = 0; i < n; i++)
                if (row_of[i] != SIZE_MAX && table_number(rows, row_of[i], "class") == class &&
                    is_like_another(rows, row_of[i]) == like)
                    block[k++] = i;
    return k;
}

int lifted_find(const struct tables_context *x, const struct binary_choice *choice, const size_t *row_of,
                const struct brackets_setup *setup, struct table *rows, struct machine_error *err)
{
    struct lifted_search s = {.x = x, .setup = setup, .left = setup->seconds};
    size_t block[BLOCK_SET_MAX], i = 0;
    int status = classes_assign(rows) == 0 ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    const size_t n = order_lifted(rows, row_of, choice->n, block);
    for (; i < n && i < BLOCKS_MOST && s.left > 0 && status == MACHINE_OK; i++) {
        const size_t row = row_of[block[i]];
        s.class = ratio_of_class(rows, table_number(rows, row, "class"), true);
        s.above = ratio_of_class(rows, table_number(rows, row, "class") - 1, false);
        s.block = &choice->chosen[block[i]];
        status = search_block(&s, rows, row, err);
    }
    if (i < n && status == MACHINE_OK)
        table_add_missing(
            rows,
            "which instructions lift the class of %zu more blocks: at most %d are searched, in twice the time that "
            "--seconds allows; FILE:FUNCTION chooses",
            n - i, BLOCKS_MOST);
    return status;
}
