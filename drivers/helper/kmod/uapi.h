/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between user space and the module: the ioctls of /dev/characterize, their structs, their limits.
 *
 * All numbers have fixed widths and no struct has holes. Every struct begins with the version, which must be
 * CHARACTERIZE_VERSION, and a reason: where an ioctl fails the module writes there why, as one of enum
 * characterize_reason, beside the error number that the system call returns. CHARACTERIZE_IOC_REASON gives the words.
 */
#ifndef CHARACTERIZE_UAPI_H
#define CHARACTERIZE_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "drivers/profile/profile_types.h"

#define CHARACTERIZE_DEVICE "characterize" /* in /dev */

/* Any change of a struct, of a number's meaning or of the order of the kernels changes this. */
#define CHARACTERIZE_VERSION 7

enum {
	CHARACTERIZE_SEGMENTS = 16,
	CHARACTERIZE_COUNTERS = 12,
	CHARACTERIZE_CORUNNERS = 1024,
	/* A repetition: so long interrupts may be masked. The hard-lockup detector looks after 10 s, the clock source
	 * watchdog after 0.5 s; networks and sound notice a few milliseconds. */
	CHARACTERIZE_MASKED_US_MAX = 10000,
	CHARACTERIZE_READINGS_MAX = 262144,
	/* Sample periods. The shortest is what a sample's cost leaves time for. */
	CHARACTERIZE_PERIOD_NS_MIN = 240, /* reported as 0.25 us: room for rounding to ticks */
	CHARACTERIZE_PERIOD_US_MAX = 10000,
	CHARACTERIZE_SAMPLE_US_MAX = 20, /* at full rate, whatever the period: the clock is looked at after each */
};

/* X(name, text) */
#define CHARACTERIZE_REASONS(X) \
	X(NONE, "no reason") \
	X(VERSION, "the module and the program have different versions") \
	X(VENDOR, "the processor is from neither Intel nor AMD") \
	X(TSC, "the time stamp counter is not known to run at a constant rate") \
	X(KERNEL_FPU, "vector registers cannot be used in this context") \
	X(NO_AVX, "the processor or this kernel does not offer AVX with its register state") \
	X(NO_AVX2, "the processor or this kernel does not offer AVX2") \
	X(NO_FMA, "the processor or this kernel does not offer FMA") \
	X(NO_AVX512, "the processor or this kernel does not offer AVX-512 with its register state") \
	X(AMX, "AMX tiles are not used in the kernel: Linux keeps their state for user space only") \
	X(KERNEL_NUMBER, "there is no kernel with this number, or not at this density") \
	X(CPU_NUMBER, "there is no such CPU, or it is not online") \
	X(PERIOD, "the sampling period is not between 0.25 us and 10 ms") \
	X(TOO_LONG, "the segments together exceed the 10 ms for which interrupts may be masked") \
	X(READINGS, "the readings do not fit into the buffer") \
	X(SEGMENTS, "the segments do not make one recording") \
	X(COUNTERS, "too many counters, or one of an unknown kind") \
	X(CORUNNERS, "too many co-runners, or one on the measured core") \
	X(FLAGS, "unknown or conflicting flags") \
	X(NO_PMU, "the kernel has no performance counters here, as in most virtual machines") \
	X(NO_COUNTER, "perf refused the counter") \
	X(COUNTER_BUSY, "the counter could not be scheduled: all counters of its kind are in use") \
	X(NO_APERF, "the processor, or the hypervisor, offers no APERF and MPERF") \
	X(MSR_NOT_LISTED, "the register is not among those that the module reads") \
	X(MSR_FAULT, "the register does not exist here: reading it faults") \
	X(NOT_PREPARED, "no repetition is prepared") \
	X(MAPPED, "the buffer is still mapped and too small") \
	X(MEMORY, "out of memory") \
	X(NO_SIBLING, "the core has no SMT sibling, or MWAIT is not available") \
	X(INTERRUPTED, "interrupted by a signal") \
	X(PROFILE_SETUP, "a number of the profile is outside of its limits") \
	X(PROFILE_DUTY, "the pauses would take more than 5 % of the cores' time") \
	X(PROFILE_RUNS, "a profile is running") \
	X(NO_PROFILE, "no profile is running") \
	X(NO_TRACEPOINT, "this kernel has no tracepoint of context switches") \
	X(NO_TIMER, "the kernel has no high-resolution timers") \
	X(TRIALS, "there is no such workload, or a number of the trials is outside of its limits") \
	X(TRIAL_BUFFER, "a trial's buffer in the kernel is a power of two from 4 KiB to 4 MiB, or none if unused") \
	X(TRIAL_TIME, "a trial takes longer than the 5 ms for which it may mask interrupts") \
	X(NO_IBPB, "the processor has no indirect branch predictor barrier, or the kernel does not use it")

enum characterize_reason {
#define CHARACTERIZE_REASON_NAME(name, text) CHARACTERIZE_REASON_##name,
	CHARACTERIZE_REASONS(CHARACTERIZE_REASON_NAME)
#undef CHARACTERIZE_REASON_NAME
	CHARACTERIZE_REASON_COUNT
};

/* Capabilities. */
enum {
	CHARACTERIZE_CAN_PMU = 1u << 0,         /* perf has hardware counters */
	CHARACTERIZE_CAN_APERF_MPERF = 1u << 1, /* they are there and advance */
	CHARACTERIZE_CAN_MWAIT = 1u << 2,
	CHARACTERIZE_CAN_MASK_TIMER = 1u << 3,  /* the local APIC's timer can be masked, see characterize_run.masked */
	CHARACTERIZE_CAN_IBPB = 1u << 4,        /* indirect branch predictor barriers, see characterize_trials.flags */
};
struct characterize_hello {
	__u32 version;
	__u32 reason;
	__u32 features;         /* enum kernel_feature, or-ed: what kernels may use here */
	__u32 can;
	__u32 kernels;          /* entries of the registry */
	__u32 counter_bits;     /* width of the counters */
	__u64 registry;         /* kernel_registry_hash() of the module's registry */
	__u64 tsc_khz;
};

struct characterize_reason_text {
	__u32 version;
	__u32 reason;           /* in: the number; stays */
	char text[120];
};

enum {
	CHARACTERIZE_CYCLES = 1,     /* perf's generic events: unhalted core cycles, cycles at the TSC's rate, */
	CHARACTERIZE_REF_CYCLES = 2, /* retired instructions */
	CHARACTERIZE_INSTRUCTIONS = 3,
	CHARACTERIZE_RAW = 4,        /* config: as in IA32_PERFEVTSELx, and AMD's PERF_CTLx: event select 7:0 (of AMD also */
				     /* 35:32), umask 15:8, edge 18, inv 23, cmask 31:24 */
};
struct characterize_counter {
	__u32 source;
	__u32 reserved;         /* 0 */
	__u64 config;
};

/* Tries a counter on a CPU: it is made and released again. */
struct characterize_try {
	__u32 version;
	__u32 reason;
	__u32 cpu;
	__u32 reserved;         /* 0 */
	struct characterize_counter counter;
};

struct characterize_payload {
	__u16 kernel;           /* index into the registry */
	__u16 density;          /* 1..; 0: the copy of the plain kernel at another address */
	__u16 dirty;            /* 0, 1 */
	__u16 reserved;         /* 0 */
};

enum {
	CHARACTERIZE_APERF_MPERF = 1u << 0,  /* read both in each reading, after the counters */
	CHARACTERIZE_CHAIN = 1u << 1,        /* readings are time stamps, some with dependent chains; no counters then */
	CHARACTERIZE_PARK_SIBLING = 1u << 2, /* the other hyper-threads of the core wait in MWAIT during a repetition */
	CHARACTERIZE_STEADY = 1u << 3,       /* with CHAIN: chains are the longest ones (drivers/timing/chain_reading.h) */
	CHARACTERIZE_DITHER_MAX = 10000,
};
struct characterize_setup {
	__u32 version;
	__u32 reason;
	__u32 cpu;
	__u32 flags;
	__u64 period;           /* TSC ticks; a sample takes a quarter of it (drivers/native/sampling.h) */
	__u32 readings;         /* room for so many, 1..CHARACTERIZE_READINGS_MAX */
	__u32 n_counters;
	__u32 n_corunners;
	__u32 failed;           /* out: the counter that could not be had, where that is the reason */
	__u32 stride;           /* out: words of a reading */
	__u32 dither;           /* with CHAIN: the wait before it is three numbers of cycles below this, */
				/* at most CHARACTERIZE_DITHER_MAX; else 0 */
	__u64 bytes;            /* out: size of the buffer, to map */
	struct characterize_payload corunner;
	struct characterize_counter counter[CHARACTERIZE_COUNTERS];
	__u16 corunner_cpu[CHARACTERIZE_CORUNNERS];
};

/*
 * The buffer: n readings of the recording. A reading is `stride` words:
 *   counters:  TSC; blocks of this segment so far; the counters as RDPMC gives them; with APERF_MPERF these two
 *   chain:     struct chain_raw of drivers/timing/chain_reading.h
 * A counter that was not on the hardware, or whose read faulted, is all ones.
 */
struct characterize_segment {
	__u64 ticks;
	__u64 blocks;           /* 0, or how many are run, exactly, instead of `ticks`; the 10 ms end them, too */
	struct characterize_payload payload;
	__u32 sampled;          /* 0, 1 */
	__u32 reserved;         /* 0 */
};

enum {
	CHARACTERIZE_MASKED_CLI = 1u << 0,   /* the interrupt flag was cleared */
	CHARACTERIZE_MASKED_TIMER = 1u << 1, /* and the local APIC's timer masked, so that none became pending either */
};
enum {
	CHARACTERIZE_CUT_TIME = 1u << 0,     /* the 10 ms were over first */
	CHARACTERIZE_CUT_ROOM = 1u << 1,     /* the buffer was full first */
};
struct characterize_run {
	__u32 version;
	__u32 reason;
	__u32 n_segments;
	__u32 zero;             /* the segment that starts at time 0 */
	__u32 last_register;    /* read after the last segment, with interrupts still masked; 0 = none */
	__u32 reserved;         /* 0 */
	struct characterize_segment segment[CHARACTERIZE_SEGMENTS];
	/* out */
	__u32 n;
	__u32 zero_reading;     /* n: none was taken at time 0 */
	__u32 masked;           /* how interrupts were masked */
	__u32 nmis;             /* that came in between nevertheless; NMIs and SMIs cannot be masked */
	__u32 smis;             /* ... as far as the processor counts them */
	__u32 parked;           /* hyper-threads that waited in MWAIT */
	__u32 missing;          /* bit per counter that was not on the hardware */
	__u32 cut;              /* 0, or why there is less than was requested */
	__u64 zero_tsc;
	__u64 begin_tsc;        /* between these two interrupts were masked: 10 ms and a few us at most, and for as long */
	__u64 end_tsc;          /* as a hypervisor, or firmware, took the CPU away */
	__u64 register_value;
	__u32 register_valid;
	__u32 reserved_too;     /* 0 */
	__u32 last[CHARACTERIZE_SEGMENTS]; /* one past the last reading of each segment; the one that opens the recording */
					   /* is of the segment before it, if there is one */
	__u64 blocks[CHARACTERIZE_SEGMENTS];
};

/*
 * Trials (doc/quiet-machine.md, --table variability): a workload of kernels/workloads.h of fixed length, again and
 * again, in a thread on that CPU; interrupts are masked during each one, and not between them.
 */
enum {
	CHARACTERIZE_TRIALS_MAX = 1000,         /* of one call: an ioctl's struct has less than 16 KiB */
	CHARACTERIZE_TRIAL_US_MAX = 5000,       /* so long one may mask interrupts; the rest of it is not run */
	CHARACTERIZE_TRIALS_US_MAX = 1000000,   /* a call ends after so long, with those that it has */
	CHARACTERIZE_TRIAL_ROUNDS_MAX = 1 << 23,
	CHARACTERIZE_TRIAL_BYTES_MIN = 4096,    /* its buffer is kernel memory */
	CHARACTERIZE_TRIAL_BYTES_MAX = 4 << 20,
};
enum {
	CHARACTERIZE_TRIALS_IBPB = 1u << 0,     /* a branch predictor barrier before each: register 49H, bit 0 */
	CHARACTERIZE_SPOIL_MAX = 64,
};
/* Reasons why there are fewer trials than were requested. */
enum {
	CHARACTERIZE_ENDED_TRIAL = 1u << 0,     /* one reached its 5 ms, and is left out. The first: TRIAL_TIME */
	CHARACTERIZE_ENDED_CALL = 1u << 1,      /* the second was over */
	CHARACTERIZE_ENDED_SIGNAL = 1u << 2,    /* the caller has a signal */
};
enum {
	CHARACTERIZE_COUNTED_CYCLES = 1u << 0,  /* else `cycles` are all ones */
	CHARACTERIZE_COUNTED_SMIS = 1u << 1,    /* else `smis` is 0; a hypervisor's register is not the machine's */
};
struct characterize_trial {
	__u64 ticks;            /* of the TSC */
	__u64 cycles;
};
struct characterize_trials {
	__u32 version;
	__u32 reason;
	__u32 cpu;
	__u32 workload;         /* enum workload_number, below WORKLOAD_SPOIL */
	__u32 flags;
	__u32 n;                /* 1..CHARACTERIZE_TRIALS_MAX; out: trials done, fewer where it ended early */
	__u32 spoil;            /* rounds of WORKLOAD_SPOIL before each, unmasked; at most CHARACTERIZE_SPOIL_MAX */
	__u32 reserved;         /* 0 */
	__u64 bytes;            /* of the buffer, whose words are 0, 1, 2...; 0 where the workload uses none */
	__u64 rounds;           /* of a trial, 1..CHARACTERIZE_TRIAL_ROUNDS_MAX */
	__u64 step;             /* trial t begins with round t * step */
	/* out */
	__u32 ended;
	__u32 counted;
	__u32 masked;           /* as of a repetition */
	__u32 nmis;             /* in all trials together, as of a repetition */
	__u32 smis;
	__u32 piece;            /* rounds between two looks at the clock, 0.25 ms or more; or `rounds` */
	__u64 value;            /* returned last by the workload */
	__u64 longest;          /* ticks for which interrupts were masked, at most */
	struct characterize_trial trial[CHARACTERIZE_TRIALS_MAX];
};

struct characterize_msr {
	__u32 version;
	__u32 reason;
	__u32 cpu;
	__u32 number;
	__u64 value;            /* out */
};

/*
 * The remote-overhead profiler, doc/profiler.md. While it runs read() gives complete records (struct profile_record),
 * poll() reports when there are some, and no repetition can be prepared; PROFILE_STOP or closing the device ends it.
 */
struct characterize_profile {
	__u32 version;
	__u32 reason;
	__u32 cpus;             /* out: logical CPUs that have turns, */
	__u32 cores;            /* and the physical cores they belong to */
	__u32 failed;           /* out: the counter that could not be had, where that is the reason */
	__u32 failed_cpu;       /* ... and on which CPU */
	struct profile_setup setup;
	struct characterize_counter counter[PROFILE_COUNTERS]; /* enum profile_counter; unused in a rehearsal */
};

struct characterize_profile_totals {
	__u32 version;
	__u32 reason;
	__u64 turns;
	__u64 lost;             /* records that found no room */
	__u64 pause_ns_max;     /* the longest time for which interrupts were masked, */
	__u64 hold_ns_max;      /* for which a sibling was held, */
	__u64 answer_ns_max;    /* and until it came */
	__u64 late_ns_max;      /* by which a timer came late */
	__u64 elapsed_ns;       /* since the start */
};

#define CHARACTERIZE_IOC_HELLO _IOWR('z', 0x60, struct characterize_hello)
#define CHARACTERIZE_IOC_REASON _IOWR('z', 0x61, struct characterize_reason_text)
#define CHARACTERIZE_IOC_TRY _IOWR('z', 0x62, struct characterize_try)
#define CHARACTERIZE_IOC_PREPARE _IOWR('z', 0x63, struct characterize_setup)
#define CHARACTERIZE_IOC_RUN _IOWR('z', 0x64, struct characterize_run)
#define CHARACTERIZE_IOC_FINISH _IO('z', 0x65)
#define CHARACTERIZE_IOC_MSR _IOWR('z', 0x66, struct characterize_msr)
#define CHARACTERIZE_IOC_PROFILE_START _IOWR('z', 0x67, struct characterize_profile)
#define CHARACTERIZE_IOC_PROFILE_STOP _IO('z', 0x68)
#define CHARACTERIZE_IOC_PROFILE_TOTALS _IOWR('z', 0x69, struct characterize_profile_totals)
#define CHARACTERIZE_IOC_TRIALS _IOWR('z', 0x6a, struct characterize_trials)

#endif
