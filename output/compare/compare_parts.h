/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this directory. */
#pragma once

#include <jansson.h>

#include "output/compare/compare.h"
#include "tables/table/tables.h"

/* A value of a measurement: what its limits are away from it. */
struct compare_value {
    double value;
    float below, above;
    unsigned measurement;
    unsigned runs; /* repetitions that it is of; 0: not known */
    int group;     /* 1: the largest; 0: in none, undecided */
    bool outlier;
};

enum compare_sort { COMPARE_LIMITS, COMPARE_COUNT, COMPARE_TEXT };

struct compare_cell {
    char *key; /* "frequency|kernel=512fma active_cores=4|freq_ghz" */
    const struct table_kind *kind;
    const struct table_column *column; /* of the kind */
    enum compare_sort sort;
    size_t n;
    struct compare_value *values; /* by measurement, later by value */
    json_t *texts;                /* COMPARE_TEXT: the value is the place in this list */
    size_t n_groups;
    double median, detectable;
};

struct measurement {
    char *name;
    json_t *settings; /* "cpu", "machine", "kernel", "bios", ...: text */
};

struct comparison {
    size_t n;
    struct measurement *list;
    size_t n_cells;
    struct compare_cell *cells;
    json_t *places;  /* of the cells by key */
    size_t expected; /* the cell that the next value most likely belongs to */
    bool failed;
};

/* Returns true if a value is an outlier, or in a group of outliers. */
bool compare_is_unlike(const struct compare_cell *cell, const struct compare_value *v);

/* Returns true if there are several groups, or values unlike the others. */
bool compare_differs(const struct compare_cell *cell);

/* The quantile of a cell whose values are sorted: this share of them is below it. */
double compare_quantile(const struct compare_cell *cell, double share);

enum compare_modelled { COMPARE_MEASURED, COMPARE_SOME_MODELLED, COMPARE_MODELLED };
enum compare_modelled compare_modelled(const struct comparison *c);
