/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables: each is defined in the file of its name in this folder. */
#ifndef CHARACTERIZE_TABLE_KINDS_H
#define CHARACTERIZE_TABLE_KINDS_H

#include "tables/table/tables.h"

extern const struct table_kind table_frequency, table_transitions, table_throttle, table_trigger, table_relaxation,
    table_overhead, table_umask, table_energy, table_voltage;

#endif
