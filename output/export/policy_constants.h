/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constants of scheduling policies, which the export states and all schedulers share: X(name, NAME, value, unit, where
 * it comes from). G: Gottschlag's dissertation; K: Khalil, "Analysis and Optimization of Dynamic Voltage and Frequency
 * Scaling for AVX Workloads Using a Software-Based Reimplementation", 2019. Compiles as BPF C.
 */
#ifndef POLICY_CONSTANTS_H
#define POLICY_CONSTANTS_H

#define POLICY_CONSTANTS(X)                                                                                            \
    X(slice, SLICE, 6000000, ns, "time for which a task keeps its CPU: MuQSS 0.204, rr_interval")                      \
    X(granularity, GRANULARITY, 1000000, ns,                                                                           \
      "lead at which a task takes the place of another: Linux 5.9, sysctl_sched_wakeup_granularity")                   \
    X(bonus, BONUS, 3000000, ns, "most that a sleeper is ahead: Linux 5.9, half of sysctl_sched_latency")              \
    X(class_change, CLASS_CHANGE, 20000000, ns, "at most one core becomes wide, or not, in this time: G 6.2.2")        \
    X(short_phase, SHORT_PHASE, 100000, ns, "phases that are not worth a migration: G 6.2.4")                          \
    X(wide_timeout, WIDE_TIMEOUT, 10000000, ns,                                                                        \
      "CPU time after which a wide task is not: G 6.2.4; its length: assumed")                                         \
    X(short_weight, SHORT_WEIGHT, 250, permille, "of the last phase in the average of short ones: assumed")            \
    X(look, LOOK, 100000, ns, "between two looks at the floating-point throughput: K")                                 \
    X(release, RELEASE, 666000, ns, "from the last 512-bit instruction to the higher frequency: K")

/* POLICY_SLICE, ...: their values. */
#define POLICY_CONSTANT(name, NAME, value, unit, source) POLICY_##NAME = (value),
enum { POLICY_CONSTANTS(POLICY_CONSTANT) };
#undef POLICY_CONSTANT

#endif
