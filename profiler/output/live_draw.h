/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view's screen, drawn with curses: the standard screen must be there, and the locale the user's. */
#pragma once

#include "profiler/output/live_table.h"

/* Colours are to be had, and wanted. */
enum live_pair { LIVE_PLAIN, LIVE_SLOW, LIVE_SLOWER };

/* Rows of the table for which there is room on a screen of so many lines. */
size_t live_draw_rows(int lines);
/* Draws all. r as arranged for live_draw_rows() of the present size. */
void live_draw(const struct live_table *t, const struct profile_result *r, bool colour);
