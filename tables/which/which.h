/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of --which as a table. It needs a binary, so it is no table that --table and --all measure. */
#pragma once

#include "drivers/binary/binary.h"
#include "tables/table/tables.h"

struct which_request {
    const char *file; /* as it was named */
    const struct binary_choice *choice;
};

extern const struct table_kind table_which;
