/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How raw events are written. A code is laid out like the low half of IA32_PERFEVTSELn and of perf's raw config: event
 * select 7:0, umask 15:8, edge 18, invert 23, counter mask 31:24 (Intel SDM vol. 3B, "Architectural Performance
 * Monitoring"). The other bits (privilege, interrupt, enable) are never set.
 */
#ifndef CHARACTERIZE_EVENT_CODE_H
#define CHARACTERIZE_EVENT_CODE_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_CODE_EDGE (1u << 18)
#define EVENT_CODE_INV (1u << 23)
enum { EVENT_CODE_CMASK_SHIFT = 24, EVENT_COLUMN_MAX = 40 };

/*
 * Reads EVENT:UMASK[:cmask=N][:inv][:edge], as 0x28:0x08 or 0xa3:0x04:cmask=4; numbers 0 to 255, hexadecimal with 0x,
 * otherwise decimal. Returns NULL and sets *code, or what is wrong with the text.
 */
const char *event_code_parse(const char *text, uint32_t *code);

/* The form that event_code_parse() reads. */
void event_code_format(uint32_t code, char *out, size_t size);

/* The name of its column in a trace: event_28_08, event_a3_04_cmask4, event_0e_01_cmask1_inv. */
void event_code_column(uint32_t code, char out[EVENT_COLUMN_MAX]);

#endif
