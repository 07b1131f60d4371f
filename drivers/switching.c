/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words for what the system does for threads. */
#include "drivers/switching.h"

const char *const switching_names[SWITCHING_KINDS] = {
    [SWITCHING_SWITCH] = "switch", [SWITCHING_MIGRATION] = "migration", [SWITCHING_FAULT] = "fault"};
