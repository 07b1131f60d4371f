/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table/tables.h"

const char *const refinement_names[REFINEMENTS] = {
    [REFINED_BUSY] = "busy",         [REFINED_QUIET] = "quiet",         [REFINED_SETTINGS] = "settings",
    [REFINED_ISOLATED] = "isolated", [REFINED_IRQS_AWAY] = "irqs-away", [REFINED_MASKED] = "masked",
    [REFINED_WARM] = "warm",
};
