#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# examples/to-trace.awk turns recordings of other tools into traces with the values that are in them, which --analyze
# reads; what it cannot turn it says in one line. The recordings have the forms of the tools' sources and documents.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

program=$(readlink -f "${CHARACTERIZE:-$root/characterize}")
CHARACTERIZE_DATA=$root/data
export CHARACTERIZE_DATA
script=$root/examples/to-trace.awk
cd "$tmp" || exit 1

# rows WHAT ARGUMENTS... <expected rows of the trace: with each awk that is here
rows() {
    rows_what=$1
    shift
    cat >expected
    for awk in mawk gawk original-awk 'busybox awk'; do
        if command -v "${awk%% *}" >/dev/null 2>&1; then
            $awk -f "$script" "$@" >trace.csv 2>err
            sed '/^#/d; /^time_us,/d' trace.csv >got
            check "$rows_what, $awk" err same expected got
        fi
    done
}

# refused WHAT PATTERN ARGUMENTS...
refused() {
    refused_what=$1 pattern=$2
    shift 2
    awk -f "$script" "$@" >out 2>err
    status=$?
    check "refused: $refused_what" err [ "$status/$(wc -l <err)/$(wc -c <out)/$(grep -c -e "$pattern" err)" = 2/1/0/1 ]
}

# ---- turbostat: what it prints of the machine first, a line of names before each interval, siblings with fewer columns
tab=$(printf '\t')
tr '|' '\t' >turbostat <<'END_OF_FILE'
turbostat version 19.08.31 - Len Brown <lenb@kernel.org>
CPUID(7): No-SGX
cpu4: MSR_PLATFORM_INFO: 0x80838f3012300
usec|Time_Of_Day_Seconds|Core|CPU|Avg_MHz|Busy%|Bzy_MHz|TSC_MHz|IRQ|CPU%c6
2006|1643720006.332280|-|-|488|12.52|3900|3498|1463085|74.98
83|1643720006.330357|0|0|5|0.13|3800|3498|396|0.00
43|1643720006.330411|0|4|3897|99.99|3901|3498|398
usec|Time_Of_Day_Seconds|Core|CPU|Avg_MHz|Busy%|Bzy_MHz|TSC_MHz|IRQ|CPU%c6
2007|1643720007.332280|-|-|491|12.59|3500|3498|1463085|74.98
83|1643720007.330357|0|0|27|0.69|3700|3498|396|0.00
43|1643720007.330411|0|4|0|0.00|0|3498|398
END_OF_FILE
rows "turbostat: a CPU, idle for an interval" -v cpu=4 turbostat <<END_OF_FILE
0.0000,3.901,,,,,
1000000.0000,,,,,,
END_OF_FILE
rows "turbostat: the summary, from the start" -v cpu=- -v interval=1 turbostat <<END_OF_FILE
1000000.0000,3.9,,,,,
2000000.0000,3.5,,,,,
END_OF_FILE
tr "$tab" , <turbostat >commas
rows "turbostat, with commas" -v cpu=4 commas <<END_OF_FILE
0.0000,3.901,,,,,
1000000.0000,,,,,,
END_OF_FILE
refused "turbostat of several CPUs" 'several CPUs: choose one with -v cpu=N: 0, 4, - (all)' turbostat
refused "a CPU that it does not have" 'turbostat: nothing of cpu=3; it has 0, 4, - (all)' -v cpu=3 turbostat
cut -d "$tab" -f 4,7 <turbostat | sed 1,3d >shown
rows "turbostat --show CPU,Bzy_MHz" -v cpu=0 -v interval=0.5 shown <<END_OF_FILE
500000.0000,3.8,,,,,
1000000.0000,3.7,,,,,
END_OF_FILE
refused "turbostat without times" 'shown, line 1: no column Time_Of_Day_Seconds: give -v interval=S' -v cpu=0 shown
cut -d "$tab" -f 7 <turbostat | sed 1,3d >unnamed
refused "turbostat without CPU" 'unnamed, line 7: no column CPU' -v interval=1 unnamed
cut -d "$tab" -f 4,5 <turbostat | sed 1,3d >average
refused "turbostat without Bzy_MHz" 'average, line 1: no column Bzy_MHz: record with --show' -v interval=1 average
printf 'Avg_MHz Busy%% Bzy_MHz TSC_MHz\n  10  1.00    2100    2100\n 20 2.00 2800 2100\n' >summary
rows "turbostat --Summary, with blanks" -v interval=5 summary <<END_OF_FILE
5000000.0000,2.1,,,,,
10000000.0000,2.8,,,,,
END_OF_FILE
sed 's/3901/39x1/' turbostat >bad
refused "a frequency that is none" "bad, line 7: Bzy_MHz is '39x1', not a number" -v cpu=4 bad

cat >indented <<'END_OF_FILE'
    Core     CPU Avg_MHz   Busy% Bzy_MHz TSC_MHz
       -       -     488   12.52    3900    3498
       0       0       5    0.13    3850    3498
       0       4    3897   99.99    3901    3498
END_OF_FILE
rows "turbostat before 2017: blanks" -v cpu=4 -v interval=5 indented <<END_OF_FILE
5000000.0000,3.901,,,,,
END_OF_FILE
printf '|Package|CPU|Bzy_MHz|POLL\n|-|-|2600|0\n||3|2500|1\n' | tr '|' '\t' >fields
rows "turbostat: tabs in front, an empty field" -v cpu=3 -v interval=1 fields <<END_OF_FILE
1000000.0000,2.5,,,,,
END_OF_FILE

# ---- perf stat
cat >stat <<'END_OF_FILE'
# started on Mon Sep 28 12:00:00 2026

     0.100100000,100.00,msec,task-clock,100000000,100.00,1.000,CPUs utilized
     0.100100000,280000000,,cycles,100000000,100.00,2.800,GHz
     0.100100000,560000000,,instructions,100000000,100.00,2.00,insn per cycle
     0.100100000,280000000,,core_power.lvl0_turbo_license,100000000,100.00,,
     0.100100000,0,,cpu/event=0x28,umask=0x18/,100000000,100.00,,
     0.100100000,<not counted>,,r2028,0,0.00,,
     0.200200000,100.00,msec,task-clock,100000000,100.00,1.000,CPUs utilized
     0.200200000,190000000,,cycles,100000000,100.00,1.900,GHz
     0.200200000,190000000,,instructions,50000000,50.00,1.00,insn per cycle
     0.200200000,,,,,,0.10,stalled cycles per insn
     0.200200000,0,,core_power.lvl0_turbo_license,100000000,100.00,,
     0.200200000,19000000,,cpu/event=0x28,umask=0x18/,100000000,100.00,,
     0.200200000,171000000,,r2028,100000000,100.00,,
END_OF_FILE
rows "perf stat: a program; not counted, multiplexed" stat <<END_OF_FILE
100100.0000,2.8,2,1,0,,
200200.0000,1.9,,0,0.1,0.9,
END_OF_FILE
check "... and its trace says so" trace.csv grep -q '^# notes: 1 counts of a part of the time left out' trace.csv
tr , ';' <stat | sed 's/event=0x28;/event=0x28,/; s/100000000;100.00/0.10%;&/' >semicolons
rows "perf stat -r -x;" semicolons <<END_OF_FILE
100100.0000,2.8,2,1,0,,
200200.0000,1.9,,0,0.1,0.9,
END_OF_FILE
cat >cpus <<'END_OF_FILE'
     1.000000000,CPU0,2000000000,,cycles,1000000000,100.00,,
     1.000000000,CPU12,1000000000,,cycles,1000000000,100.00,,
     1.000000000,CPU0,1000000000,,ref-cycles,1000000000,100.00,,
     1.000000000,CPU12,500000000,,ref-cycles,1000000000,100.00,,
     1.000000000,CPU12,250000000,,CORE_POWER.THROTTLE,1000000000,100.00,,
     3.000000000,CPU0,2000000000,,cycles,2000000000,100.00,,
     3.000000000,CPU12,3000000000,,cycles,2000000000,100.00,,
END_OF_FILE
rows "perf stat -A: cycles per time" -v cpu=12 cpus <<END_OF_FILE
1000000.0000,1,,,,,0.25
3000000.0000,1.5,,,,,
END_OF_FILE
rows "perf stat -A: per reference cycle where there are some" -v cpu=12 -v tsc_ghz=2.1 cpus <<END_OF_FILE
1000000.0000,4.2,,,,,0.25
3000000.0000,1.5,,,,,
END_OF_FILE
sed 's/CPU0,/S0-D0-C0,2,/; s/CPU12,/S0-D0-C5,2,/' cpus >cores
rows "perf stat --per-core: of two threads, no frequency without a clock" -v cpu=S0-D0-C5 cores <<END_OF_FILE
1000000.0000,,,,,,0.25
3000000.0000,,,,,,
END_OF_FILE
refused "perf stat -A of several CPUs" 'several CPUs: choose one with -v cpu=N: 0, 12$' cpus
refused "perf stat without -I" 'line 1: perf stat without times: record with perf stat -I MS -x,' - <<END_OF_FILE
280000000,,cycles,100000000,100.00,2.800,GHz
END_OF_FILE
refused "perf stat without -x" 'line 1: .*record with perf stat -I MS -x,' - <<END_OF_FILE
#           time             counts unit events
END_OF_FILE
printf '0.1,5,,instructions,1,100.00\n' >few
refused "perf stat without cycles" 'few: no cycles, .* add the event cycles' few
printf '     0.100526131,<not supported>,,cycles,0,100.00,,\n' >guest
refused "perf stat where nothing can be counted" 'guest: cycles have no value in it (<not counted>' guest
printf '0.1,1000,,cycles,1,100.00\n0.2,10' >short
refused "perf stat, cut off" 'short, line 2: cut off, or not of perf stat -I -x,: a line of that is time,' short

# ---- intel_pstate_tracer
cat >cpu.csv <<END_OF_FILE
common_cpu, common_secs, common_usecs, core_busy, scaled_busy, from, to, mperf, aperf, tsc, \
freq, boost, load, duration_ms, sample_num, elapsed_time, tsc_ghz, common_comm
CPU_000, 01177, 680733, 107, 94, 26, 26, 1143818, 1230607, 29838618, \
2.4744, 0, 3.83, 10.000, 3, 0.010, 2.984, gnome-terminal--4510
CPU_011, 01177, 681733, 98, 94, 26, 26, 1143818, 1230607, 29838618, \
2.1000, 0, 3.83, 4.000, 4, 0.011, 2.984, cat-5235
CPU_000, 01177, 690733, 107, 94, 26, 26, 1143818, 1230607, 29838618, \
1.9000, 0, 3.83, 10.000, 5, 0.020, 2.984, <idle>-0
END_OF_FILE
rows "intel_pstate_tracer's cpu.csv" -v cpu=0 cpu.csv <<END_OF_FILE
10000.0000,2.4744,,,,,
20000.0000,1.9,,,,,
END_OF_FILE
cat >pstate <<END_OF_FILE
# tracer: nop
 gnome-terminal--4510  [001] ..s.  1177.680733: pstate_sample: core_busy=107 scaled=94 from=26 to=26 \
mperf=1143818 aperf=1230607 tsc=29838618 freq=2474476
 cat-5235  [002] ..s.  1177.681723: cpu_frequency: state=2900000 cpu_id=2
 gnome-terminal--4510  [001] ..s.  1177.690733: pstate_sample: core_busy=107 scaled=94 from=26 to=26 \
mperf=1143818 aperf=1230607 tsc=29838618 freq=2400000 io_boost=0
END_OF_FILE
rows "the kernel's trace of pstate_sample" pstate <<END_OF_FILE
0.0000,2.474476,,,,,
10000.0000,2.4,,,,,
END_OF_FILE
sed 1d cpu.csv >headless
refused "cpu.csv without its first line" 'headless, line 1: no line of column names' -v from=pstate headless

# ---- likwid-perfctr -t: values of all CPUs per metric; "-" where there is none; lines of the program in between
cat >likwid <<'END_OF_FILE'
CPU name: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz
# HWThreads: 0|5
# GID|MetricsCount|CpuCount|Total runtime [s]|Runtime (RDTSC) [s]|Clock [MHz]|CPI
1 3 2 0.5001 0.5 0.5 2800.5 - 0.5 -
result of the program: 1 2 3
1 3 2 1.0002 0.5 0.5 1900.25 2000 2 1
END_OF_FILE
rows "likwid's groups" -v cpu=5 likwid <<END_OF_FILE
500100.0000,,,,,,
1000200.0000,2,1,,,,
END_OF_FILE
cat >events <<END_OF_FILE
# HWThreads,3
# GID,EventCount,CpuCount,Total runtime [s],\
INSTR_RETIRED_ANY,CPU_CLK_UNHALTED_CORE,CPU_CLK_UNHALTED_REF,CORE_POWER_LVL2_TURBO_LICENSE
1,4,1,0.5,2e+09,1000000000.0,500000000.0,250000000.0
1,4,1,1.0,2e+09,500000000.0,500000000.0,500000000.0
END_OF_FILE
rows "likwid's events" events <<END_OF_FILE
500000.0000,2,2,,,0.25,
1000000.0000,1,4,,,1,
END_OF_FILE
sed 's/ 2 1$//' likwid >short
refused "likwid, cut off" 'short, line 6: cut off: 8 fields, not 10' short
sed '/HWThreads/d' likwid >errors
refused "likwid's standard error alone" 'errors, line 3: nothing says of which CPUs: record both outputs' errors
sed '/HWThreads/d' events >errors
rows "... of one CPU" errors <<END_OF_FILE
500000.0000,2,2,,,0.25,
1000000.0000,1,4,,,1,
END_OF_FILE

# ---- perf script
cat >groups <<'END_OF_FILE'
my program 34 [002] 52531.100000: 1000000 cycles:
my program 34 [002] 52531.100000:  900000 core_power.lvl1_turbo_license:
my program 34 [002] 52531.100000: 2000000 instructions:
my program 34 [002] 52531.100500: 1000000 cycles:  ffffffff8105443a native_write_msr_safe ([kernel.kallsyms])
my program 34 [002] 52531.100500:  500000 core_power.lvl1_turbo_license:
my program 34 [002] 52531.100500: 1500000 instructions:
my program 34 [002] 52531.101000: 1000000 cycles:
my program 34 [002] 52531.101000: 1000000 instructions:
END_OF_FILE
rows "perf script of a group, which has no line for a count of 0" groups <<END_OF_FILE
0.0000,,2,,0.9,,
500.0000,,1.5,,0.5,,
1000.0000,,1,,0,,
END_OF_FILE
rows "... all cycles of the CPU" -v clock=elapsed groups <<END_OF_FILE
0.0000,,2,,0.9,,
500.0000,2,1.5,,0.5,,
1000.0000,2,1,,0,,
END_OF_FILE
awk 'BEGIN {
    for (i = 0; i < 41; i++) {
        printf "prog 34 [002] %.6f: 100000 cycles:\n", 9.5 + i / 20
        if (i % 2 == 0 && i < 20) printf "prog 34 [002] %.6f: 200000 r2028:\n", 9.501 + i / 20
    }
}' >separate
rows "perf script of separate events, in intervals" -v interval=1 separate <<END_OF_FILE
1000000.0000,,,,,1,
2000000.0000,,,,,0,
END_OF_FILE
sed 's/52531.1010/52534.9000/; $a x 34 [002] 52536.200000: 1 cycles:' groups >gap
rows "perf script: intervals without samples" -v clock=elapsed -v interval=1 gap <<END_OF_FILE
1000000.0000,0.002,1.75,,0.7,,
2000000.0000,,,,,,
3000000.0000,,,,,,
4000000.0000,0.001,1,,0,,
5000000.0000,,,,,,
END_OF_FILE
sed 's/52534.9000/99992534.9000/' gap >gap2
refused "perf script: a gap of days" 'gap2, line 7: nothing for more than a million' -v clock=elapsed -v interval=1 gap2
refused "separate events without an interval" \
    'separate: the events were sampled separately: give -v interval=S' separate
sed 's/ [0-9]* cycles/ cycles/' groups >periods
awk '{ print > (NR > 3 ? "b" : "a") }' groups
cat b a >backwards
refused "perf script, not in order" 'backwards, line 6: times go backwards' backwards
refused "perf script without periods" 'periods, line 1: no period of cycles: use perf script -F' periods

# ---- what is none of them
refused "an empty file" '/dev/null: is empty' /dev/null
printf 'idle_us,first_us\n1,2\n' >other
refused "another file" 'other: none of the formats turbostat, .* name one with -v from=FORMAT' other
printf '# format: characterize-trace/1\ntime_us,ipc\n0,1\n' >trace
refused "a trace" 'trace, line 1: is a trace already: characterize --analyze reads it' trace
refused "another format" 'from=vtune: the formats are turbostat, perf-stat' -v from=vtune turbostat
refused "an interval of 0" 'interval=0: seconds, above 0' -v interval=0 turbostat

# ---- --analyze takes them: a core that goes from 2.8 to 1.9 GHz and from level 0 to level 2
awk 'BEGIN {
    for (i = 1; i <= 400; i++) {
        wide = i > 200
        cycles = (wide ? 1900000 : 2800000) + i * 7919 % 1000
        printf "%.9f,CPU3,%d,,cycles,1000000,100.00,,\n", i / 1000, cycles
        printf "%.9f,CPU3,%d,,instructions,1000000,100.00,,\n", i / 1000, cycles * 2
        printf "%.9f,CPU3,%d,,r0728,1000000,100.00,,\n", i / 1000, wide ? 0 : cycles
        printf "%.9f,CPU3,%d,,r2028,1000000,100.00,,\n", i / 1000, wide ? cycles : 0
    }
}' >long
awk -f "$script" long >trace.csv 2>err
"$program" --analyze trace.csv --json phases.json >out 2>&1
check "--analyze takes the trace" out [ "$?" -eq 0 ]
check "... and finds both frequencies" phases.json grep -q '"levels_ghz": \[2.800[0-9]*, 1.900[0-9]*\]' phases.json
check "... and the machine" phases.json grep -q '"machine": "perf-stat"' phases.json
cat shown shown shown shown shown shown >longer
awk -v cpu=0 -v interval=0.5 -f "$script" longer >trace.csv 2>err
"$program" --analyze trace.csv >out 2>&1
check "--analyze takes that of turbostat" out [ "$?" -eq 0 ]
finish
