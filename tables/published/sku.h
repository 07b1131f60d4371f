/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published figures of a processor, one by one, each with its source (doc/sku-format.md, data/skus/). Published figures
 * are there to compare measurements with, never to fill them in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/table.h"
#include "util/data_file.h"
#include "util/error.h"

enum { SKU_KEYS_MAX = 6, SKU_NAME_MAX = 32, SKU_TEXT_MAX = 128, SKU_SOURCE_MAX = 200 };

/* A condition that the rows must meet: `column` is one of several texts, or a number in lo..hi. */
struct sku_key {
    char column[SKU_NAME_MAX];
    char text[SKU_TEXT_MAX]; /* as written, without quotes: "64add,128or", "1-2", "0x28", "density limit" */
    bool is_number;
    double lo, hi;
};

struct sku_figure {
    char table[SKU_NAME_MAX];
    char where[SKU_TEXT_MAX]; /* the keys as written, one blank between them */
    struct sku_key keys[SKU_KEYS_MAX];
    size_t n_keys;
    bool mean; /* of all rows meant; otherwise each of them must agree */
    char column[SKU_NAME_MAX];
    bool published;   /* false: looked for and not found in the source */
    double lo, hi;    /* equal, unless a range was published */
    double rounding;  /* in the column's unit: how far from the truth a figure may be that is printed so */
    double tolerance; /* in the column's unit: how far the source says that it may be; NaN: it does not say */
    bool limit;       /* the figure is allowed, not reached: less contradicts nothing */
    char source[SKU_SOURCE_MAX];
    unsigned line;
    bool inherited;                   /* from what the SKU inherits */
    char contradicts[SKU_SOURCE_MAX]; /* where an inherited or another published figure differs; "": none does */
    bool disputed;                    /* another published figure contradicts it, so no measurement deviates from it */
};

#define SKU_UNNAMED "-"

struct sku {
    char name[SKU_TEXT_MAX];     /* of the processor */
    char brand[SKU_TEXT_MAX];    /* the CPU in tables of such a processor contains one of these, separated by `|`;
                                    SKU_UNNAMED: no CPU is known to be one */
    char inherits[SKU_NAME_MAX]; /* the microarchitecture whose figures hold, too; "": none */
    bool measured;               /* its figures were measured, or modelled: nobody published them */
    bool modelled;               /* of these */
    size_t n_figures;
    struct sku_figure *figures;
};

/*
 * Reads the text of a file. `file` is its name, for messages. Returns MACHINE_OK, or fills *err (FILE:LINE, or FILE
 * alone where it concerns the complete file, and the reason) and returns its status; *out is then empty. sku_free in
 * any case. It knows which tables there are, but neither columns nor kernels: sku_load() does.
 */
int sku_parse(const char *text, size_t length, const char *file, struct sku *out, struct machine_error *err);
/* True if a CPU, as tables name it ("Intel(R) ... (06_55H, stepping 4)"), is one of these; by its signature it is not
 * where that does not fit its features (CPU_DOUBTFUL). */
bool sku_is_of(const struct sku *s, const char *cpu);
/* How many figures were published; the others stand in the file to say that they were looked for. */
size_t sku_published(const struct sku *s);
void sku_free(struct sku *s);

/*
 * Reads the figures of a shipped SKU (data/skus/NAME.sku), of what all SKUs of a microarchitecture have in common
 * (data/microarchs/NAME.sku), or a file of one's own (a name with a slash or a dot), with what it inherits:
 * figures of the microarchitecture that it has not itself.
 * Columns and kernels that do not exist are refused with the nearest that do.
 * data_dir: where skus/ is, NULL = the shipped data. MACHINE_OK, and sku_free(out) later; or *err and its status.
 */
int sku_load(const char *name_or_file, const char *data_dir, struct sku *out, struct machine_error *err);
/* The names of the shipped ones, as data_file_list. */
int sku_list(const char *data_dir, char ***names, size_t *n);
/* The same for microarchitectures. */
int sku_list_common(const char *data_dir, char ***names, size_t *n);

/*
 * The shipped figures (data/skus/) of the processor whose brand string `cpu` is: MACHINE_OK and sku_free(out) later;
 * MACHINE_CANNOT: there are none; or another status after filling *err: there are none among the files that can be
 * read, and one cannot. data_dir: NULL = the shipped data.
 */
int tables_find_sku(const char *cpu, const char *data_dir, struct sku *out, struct machine_error *err);

/* Puts those of table `t` into its detail "published", if there are any. What cannot be read is left out, as
 * the figures are for display alone, and the setting "published_figures" says why. */
void tables_note_published(struct table *t, const char *data_dir);
