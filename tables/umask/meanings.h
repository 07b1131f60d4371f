/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a counter bit means, derived from what made it count: a bit that counts all cycles of 256-bit FMA and none of
 * anything else reads "heavy 256". Nothing that was published goes into a reading; what is documented can then be held
 * against it. Kinds of code are told by width and weight, as license analysts do (Skylake-SP dissertation, 3.2.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { READINGS_KINDS_MAX = 12, READINGS_TEXT_MAX = 200 };

/* A kind of code that was run. */
struct meaning_kind {
    unsigned width; /* bits; 8192 = tiles */
    bool heavy;
    double lo, hi; /* lowest and highest share of the cycles counted, among the kernels of this kind, when steady */
};
/* A change of code. */
struct meaning_change {
    double share; /* of the cycles around it that were counted */
    double slow;  /* of them, those in which the code ran at a reduced rate; NaN = not known */
    double other; /* up to so much of `slow` may be something else than throttling; NaN = not known */
};
struct meaning_input {
    size_t n_kinds, n_changes;
    struct meaning_kind kinds[READINGS_KINDS_MAX];
    const struct meaning_change *changes;
};

/* Sorts a kernel's share into its kind. False: there is no room for another kind. */
bool meaning_add(struct meaning_input *r, unsigned width, bool heavy, double share);

/* From these shares on a bit counts a kind of code, and up to these it does not; between them it counts in part. */
#define MEANING_COUNTS 0.9
#define MEANING_COUNTS_NOT 0.1
enum meaning_answer { MEANING_NO, MEANING_PARTLY, MEANING_YES };
enum meaning_answer meaning_counts(const struct meaning_kind *k);

/*
 * The reading: "up to 128 bit, light 256"; "heavy 512"; "everything" where it counts all that was run; "throttled"
 * where it counts nothing that runs steadily, and at changes as many cycles as ran at a reduced rate for that;
 * "changes" where it counts others there; "nothing".
 */
void meaning_text(const struct meaning_input *r, char out[READINGS_TEXT_MAX]);

/* Kinds of code that a documented event is said to count. */
enum meaning_document { MEANING_UNDOCUMENTED, MEANING_LEVEL_0, MEANING_LEVEL_1, MEANING_LEVEL_2, MEANING_THROTTLED };
/* What the event of this name is documented to count; MEANING_UNDOCUMENTED also where only its name is, or it is NULL.
 * Behind the name may stand a colon and words, as in the column `documented` of the table. */
enum meaning_document meaning_document_of(const char *event);
/* In words: "up to 128 bit, light 256"; "" where it is not documented. */
const char *meaning_document_text(enum meaning_document d);
/* How measurement and documentation disagree: "heavy 256 is counted; heavy 512 is not"; "" where they do not. */
void meaning_disagreement(const struct meaning_input *r, enum meaning_document d, char out[READINGS_TEXT_MAX]);
