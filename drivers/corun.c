/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words for places of background code, on the command line and in tables. */
#include "drivers/corun.h"

const char *const corun_place_names[CORUN_PLACES] = {
    [CORUN_SAME] = "same", [CORUN_SIBLING] = "sibling", [CORUN_CORE] = "core", [CORUN_PACKAGE] = "package"};
