/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges the readings of a first contact: a line for each thing that was tested, with its figure and its bounds. A pure
 * function of the readings, so that readings that somebody else took are judged alike. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "probes/second_opinion.h"
#include "probes/self_test.h"
#include "util/archive.h"

enum self_test_verdict { SELF_TEST_PASS, SELF_TEST_FAIL, SELF_TEST_CANNOT };

struct self_test_line {
    char name[24]; /* "instructions" */
    enum self_test_verdict verdict;
    double value, lo, hi;          /* NAN: none; lo or hi NAN: no bound on that side */
    const char *unit;              /* of the three; static text */
    char text[300];                /* the figures, for a person */
    char reason[500], remedy[200]; /* SELF_TEST_FAIL: what may be wrong; SELF_TEST_CANNOT: why, and what would help */
};
enum { SELF_TEST_LINES_MAX = 32 };
struct self_test_lines {
    size_t n;
    struct self_test_line line[SELF_TEST_LINES_MAX];
};

/*
 * The lines, in this order: TSC step, sample cost, sample jitter, interrupts, lost time; instructions, cycles,
 * reference cycles, chain; level 0, 1, 2, throttle; raw event; voltage; energy. Always all of them.
 */
void self_test_judge(const struct self_test_readings *r, struct self_test_lines *out);
/* How many have this verdict. */
size_t self_test_count(const struct self_test_lines *l, enum self_test_verdict verdict);
/* "pass", "fail", "cannot". */
const char *self_test_word(enum self_test_verdict verdict);

/* A line for each other program that was run: its value of the same code or register, compared with the readings. */
void self_test_judge_others(const struct self_test_readings *r, const struct second_opinion *o, size_t n,
                            struct self_test_lines *out);

/* ---- the readings: self_test_readings.c ---- */

/* The readings as characterize-readings/1; what is reported of their machine: new references; NULL: out of memory. */
json_t *self_test_readings_json(const struct self_test_readings *r);
json_t *self_test_machine_json(const struct self_test_readings *r, bool *failed);
/*
 * Reads them back. Returns 0 and fills *out (self_test_free), or -1 with one line in `why`: which key is missing or of
 * the wrong kind, or holds what no machine can have read.
 */
int self_test_readings_read(const json_t *from, struct self_test_readings *out, char *why, size_t size);

/* ---- how a self-test leaves: self_test_output.c ---- */

/* The lines as characterize-self-test/1 (doc/formats.md): a new reference; NULL: out of memory. `others`: lines of
 * other programs after them, may be NULL. */
json_t *self_test_lines_json(const struct self_test_readings *r, const struct self_test_lines *l,
                             const struct self_test_lines *others);

/* The lines for a person. `replayed`: judged from a bundle. others: those of other programs; may be NULL. */
void self_test_text_print(FILE *out, const struct self_test_readings *r, const struct self_test_lines *l,
                          const struct self_test_lines *others, bool replayed);

/*
 * The bundle that a stranger sends back: the self-test, the readings it rests on and facts about the computer, in one
 * .tar.gz: self-test.json, readings.json, host.json, and below sysroot/ the files that --check environment reads
 * (computer/environment/pack.h).
 */
struct self_test_bundle {
    struct archive_member *member; /* n, malloc'ed */
    size_t n;
};

/* `root`: "", or a folder laid out like a computer's root. Returns 0, or -1: out of memory. bundle_free in any case. */
int self_test_bundle_make(struct self_test_bundle *b, const char *root, const json_t *self_test,
                          const struct self_test_readings *r);
void self_test_bundle_free(struct self_test_bundle *b);
/* Writes it. Returns 0, or -1 with errno. */
int self_test_bundle_print(FILE *out, const struct self_test_bundle *b);
/* The readings of a bundle, which may come from anybody. Returns 0 (self_test_free), or -1 with one clause in `why`. */
int self_test_bundle_read(const char *path, struct self_test_readings *out, char *why, size_t why_size);
