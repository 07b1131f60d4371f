/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads and writes the codes of raw events. A code is laid out like IA32_PERFEVTSELn, AMD's PERF_CTL and perf's raw
 * config: event select 7:0, umask 15:8, edge 18, invert 23, counter mask 31:24 (Intel SDM vol. 3B, "Architectural
 * Performance Monitoring"); of AMD's processors the select's upper four bits are 35:32 (AMD APM vol. 2, "Performance
 * Event-Select Registers"; Linux, AMD64_EVENTSEL_EVENT). The other bits (privilege, interrupt, enable) are never set.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EVENT_CODE_EDGE (1u << 18)
#define EVENT_CODE_INV (1u << 23)
enum { EVENT_CODE_CMASK_SHIFT = 24, EVENT_COLUMN_MAX = 40 };
/* Selects: of other processors than AMD's they have eight bits. */
enum { EVENT_SELECT_MAX = 0xff, EVENT_SELECT_MAX_AMD = 0xfff };

/* The code of an event select (0 to EVENT_SELECT_MAX_AMD) and a umask (0 to 255), and these two of a code. */
static inline uint64_t event_code_make(unsigned select, unsigned umask)
{
    return (uint64_t)(select >> 8) << 32 | umask << 8 | (select & 0xff);
}
static inline unsigned event_code_select(uint64_t code)
{
    return (unsigned)(code >> 24 & 0xf00) | (unsigned)(code & 0xff);
}
static inline unsigned event_code_umask(uint64_t code)
{
    return (unsigned)(code >> 8 & 0xff);
}

/*
 * Reads EVENT:UMASK[:cmask=N][:inv][:edge], as 0x28:0x08 or 0xa3:0x04:cmask=4; numbers hexadecimal with 0x, otherwise
 * decimal, 0 to 255, and EVENT up to 4095 (above 255 there is something on AMD's processors alone). Returns NULL and
 * sets *code, or what is wrong with the text.
 */
const char *event_code_parse(const char *text, uint64_t *code);

/* The form that event_code_parse() reads. */
void event_code_format(uint64_t code, char *out, size_t size);

/* The name of its column in a trace: event_28_08, event_a3_04_cmask4, event_0e_01_cmask1_inv, event_1c7_08. */
void event_code_column(uint64_t code, char out[EVENT_COLUMN_MAX]);
