/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of findings, and how each is made. */
#pragma once

#include "computer/environment/findings.h"

/* A rule for one finding. The finding is passed with its id, FINDING_QUIET and nothing else: one left without `seen`
 * does not exist here, and is not listed. */
struct finding_rule {
    const char *id; /* NULL: the end of a list */
    void (*look)(const struct environment *e, struct finding *f);
};
/* All rules, in the order of findings without a cost. */
extern const struct finding_rule findings_of_frequency[], findings_of_interrupts[], findings_of_kernel[];

/* Returns true if a fact was read. If it exists but could not be read, the finding becomes FINDING_UNKNOWN, and says
 * so. */
bool findings_has(const struct environment *e, struct finding *f, enum environment_fact which);
/* The same; a fact that was read is also added to `seen` (findings_see_fact). */
bool findings_shows(const struct environment *e, struct finding *f, enum environment_fact which);
/* Returns true if the text of a fact is this. */
bool findings_is(const struct environment *e, enum environment_fact which, const char *text);
/* The same as findings_has() for anything else: `error` is an error number, `place` where it should be. */
bool findings_readable(const struct environment *e, struct finding *f, int error, const char *place);
/* FINDING_UNKNOWN: it could have been counted and was not. */
void findings_not_counted(const struct environment *e, struct finding *f, const char *what);

/* "PATH: TEXT", after what has been seen already. */
void findings_see_fact(const struct environment *e, struct finding *f, enum environment_fact which);
void findings_see(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The kind, and why it matters. */
void findings_matters(struct finding *f, enum finding_kind kind, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
#define findings_disturbs(f, ...) findings_matters(f, FINDING_DISTURBS, __VA_ARGS__)
#define findings_limits(f, ...) findings_matters(f, FINDING_LIMITS, __VA_ARGS__)
/* The cost: at most 1, at least 0. */
void findings_counted(struct finding *f, double cost);
void findings_estimated(struct finding *f, double cost);

/* Returns true if a text read from a file may become part of a command: it has only letters, digits, '_', '-', '.' and
 * ',', and is no option ("-n"). */
bool findings_harmless(const char *text);
/* "echo VALUE | sudo tee PATH", and what puts `before` back; neither, where one of them is not harmless. */
void findings_write(const struct environment *e, struct finding *f, const char *path, const char *value,
                    const char *before);
/* The same of a fact. */
void findings_write_fact(const struct environment *e, struct finding *f, enum environment_fact which,
                         const char *value);
/* "sudo ", or nothing for root. */
const char *findings_sudo(const struct environment *e);
/* A command each; neither where one is too long to be kept complete. */
void findings_commands(struct finding *f, const char *change, const char *undo);

/*
 * An option with a list of CPUs on the kernel's command line, "nohz_full=": that which is there, with the measured CPU.
 * Whoever wants it must boot.
 */
void findings_boot_cpus(const struct environment *e, struct finding *f, const char *option,
                        const struct cpu_mask *there);
/* The same with any option, as printf makes it. */
void findings_boot(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number that a fact holds, NaN: none. */
double findings_number(const struct environment *e, enum environment_fact which);
/* The other CPUs to which something with this mask may go: those of the mask that are online, without the measured one,
 * and without its siblings and isolated CPUs unless it holds nothing else. False: there are none. */
bool findings_others(const struct environment *e, const struct cpu_mask *m, struct cpu_mask *out);
