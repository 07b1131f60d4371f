/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of a simulation from the text of an export. */
#pragma once

#include "schedulers/simulate/params.h"

/* What sim_params_read makes of a file that holds the text; the test fails where it refuses it. */
struct sim_params *export_text_read(const char *text);
