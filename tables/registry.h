/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only list of tables, in the order in which --all measures them: X(NAME) for each, whose struct table_kind is
 * table_NAME. A new table is a room of its own and one line here.
 */
#pragma once

#include "tables/table/tables.h"

/* clang-format off */
#define TABLE_KINDS(X) \
    X(frequency)       \
    X(transitions)     \
    X(throttle)        \
    X(trigger)         \
    X(relaxation)      \
    X(overhead)        \
    X(umask)           \
    X(energy)          \
    X(voltage)         \
    X(variability)     \
    X(wake)            \
    X(switching)       \
    X(cores)           \
    X(burst)           \
    X(classes)
/* clang-format on */

#define TABLE_KIND_DECLARED(name) extern const struct table_kind table_##name;
TABLE_KINDS(TABLE_KIND_DECLARED)
