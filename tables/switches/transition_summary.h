/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Summarizes the phases of a switch from one kernel to another in one line: whether anything happened, how long it
 * took, its cost, and the frequencies before and after. Pure, like all of the analysis. */
#pragma once

#include "analysis/phases/phases.h"
#include "trace/trace.h"

enum switch_kind {
    SWITCH_NONE,          /* nothing found: `detectable` says what would have been */
    SWITCH_FREQUENCY,     /* another frequency at the end than before */
    SWITCH_THROTTLE_ONLY, /* throttled for a while, at one frequency */
    SWITCH_HALT_ONLY,     /* stood still for a while, at one frequency */
    SWITCH_VOLTAGE_ONLY,  /* another voltage, and no time lost */
    SWITCH_LICENSE_ONLY,  /* the license counters tell another level, and nothing else changes */
    SWITCH_UNDECIDED,     /* the data do not decide, the recording ends too soon, or most repetitions differ */
    SWITCH_KINDS
};
/* "none", "frequency", "throttle only", ... */
const char *transition_switch_kind_name(enum switch_kind k);

/* A number that was not measured is NaN. All times in microseconds, from the first instruction of the second kernel. */
struct transition_summary {
    enum switch_kind kind;
    /* From the first sign to the first full-rate sample on the final level, without the waits for a higher frequency on
     * the way. NaN where nothing was found. */
    struct estimate latency_us;
    /* How long the core stayed at a lower frequency although it could have risen; NaN: it did not rise. */
    struct estimate wait_us;
    /*
     * Time lost against a core that runs at its final level from time 0 on: the sum over the phases after time 0 of
     * duration * (1 - ipc_ratio * f / f_final), where a halt's ipc_ratio is 0. So work done while throttled counts, at
     * its own frequency, as does what is gained before a fall of the frequency (the assumption after the break-even
     * times of the Skylake-SP dissertation, section 5.2.3). The wait for a higher frequency does not count: it is the
     * price of the wide code before, and paid once whatever follows. Limits: from those of durations, ratios and
     * frequencies. Nothing found: NaN. The overhead table measures the same by the time that the code itself takes.
     */
    struct estimate overhead_us;
    struct estimate from_ghz, to_ghz; /* before time 0, and at the end of the recording */
    double halts;                     /* NaN: not resolved */
    size_t n;                         /* repetitions that agree: that show it, or of none, that were used */
    char phases[400];                 /* "throttle 1/4 20.0 us, halt 10.0 us"; "" where nothing was found */
    char detectable[200];             /* "throttling below 0.94 of the rate for 5 us; ..." */
};

/*
 * `trace` is the one that the phases were found in. A transition that begins more than 1 us before time 0 is none of
 * this switch; one that is not over by then leaves it undecided. SWITCH_LICENCE_ONLY takes license counters.
 */
void transition_summarize(const struct trace *trace, const struct phases *p, struct transition_summary *out);

/* Reduces a summary whose recording ended before everything was over to what is left: undecided, and the frequency
 * before the switch. Its phases, too, are defined by what follows them, and so are its limits. */
void transition_summary_withhold(struct transition_summary *s);

/* The first phase of the second kernel, phases->n_phases if there is none. */
size_t transition_first_phase_after_switch(const struct phases *p);

/*
 * The rate of phase `p` against the same code at full rate, with limits over the repetitions used: in each of them the
 * mean IPC of the samples wholly within the phase, over that within the phase of the highest IPC after it. Limits are
 * NaN where fewer than two repetitions have such samples (a phase shorter than about three of them); the value is then
 * that of the phases. Out of memory is reported like that, too.
 */
struct estimate transition_throttle_ratio(const struct trace *t, const struct phases *phases, size_t p);

/* "1/4" where that is what it is within 2 %, else "0.37". */
void transition_ratio_text(double ratio, char *out, size_t size);
