/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of the machine that --turbo and --fixed-frequency change for the time of a measurement. */
#pragma once

#include "cli/options/options.h"
#include "drivers/settings/settings.h"

/*
 * Puts back what a killed run has left (with a line on standard error) and changes what the options request,
 * before the machine is opened. From here on a signal only asks. Returns DONE, or an exit status after a line; models
 * are left alone.
 */
int changed_settings_begin(const struct options *o, struct settings **out);
/* Puts them back; NULL is allowed. Returns DONE, or FAILED after a line. */
int changed_settings_end(struct settings *s);

/* While a run measures: settings_add() and settings_back_to(), which a signal that ends the program waits for. */
int changed_settings_add(const struct settings_wish *wish, struct settings **s, struct machine_error *err);
int changed_settings_back_to(struct settings **s, size_t mark, struct machine_error *err);
