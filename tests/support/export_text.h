/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of a simulation from the text of an export. */
#pragma once

#include "schedulers/simulate/params.h"

/* Reads the text as a file with sim_params_read; the test fails if it is refused. */
struct sim_params *export_text_read(const char *text);
