#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What reads and writes a machine's settings under valgrind (memcheck), on machines made of files: --check environment,
# --list machines --quiet-machine, a run that is killed, and --restore. Fails on any error or leak that valgrind sees.
set -u

program=${CHARACTERIZE:-./characterize}
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-data}
export CHARACTERIZE_DATA
command -v valgrind >/dev/null || {
    echo "no valgrind here: apt-get install valgrind" >&2
    exit 1
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
machine=$tmp/machine failed=0

put() {
    mkdir -p "$machine/$(dirname "$1")" && printf '%s\n' "$2" >"$machine/$1"
}
cpu=sys/devices/system/cpu
for n in 0 1; do
    put $cpu/cpu$n/topology/thread_siblings_list $n
    put $cpu/cpu$n/cpufreq/scaling_governor powersave
    put $cpu/cpu$n/cpufreq/scaling_available_governors 'performance powersave'
    put $cpu/cpu$n/cpufreq/scaling_driver intel_pstate
    put $cpu/cpu$n/cpufreq/energy_performance_preference balance_power
    for state in 0 1 2; do
        put $cpu/cpu$n/cpuidle/state$state/name C$state
        put $cpu/cpu$n/cpuidle/state$state/latency $((state * 50))
        put $cpu/cpu$n/cpuidle/state$state/disable 0
    done
done
put $cpu/online 0-1
put $cpu/present 0-1
put $cpu/vulnerabilities/mds 'Mitigation: Clear CPU buffers; SMT vulnerable'
put sys/devices/virtual/workqueue/cpumask 3
put sys/bus/event_source/devices/cpu/type 4
put proc/cpuinfo 'flags : hwp'
put proc/cmdline 'quiet isolcpus=1'
put proc/stat 'cpu  0 0 0 0 0 0 0 0 0 0'
put proc/interrupts '           CPU0       CPU1
 24:         10         20   PCI-MSI eth0
LOC:        100        200   Local timer interrupts'
for irq in 24 25; do
    put proc/irq/$irq/smp_affinity_list 0-1
done
put proc/irq/default_smp_affinity 3
put proc/sys/kernel/nmi_watchdog 1
put proc/sys/kernel/sched_rt_runtime_us 950000
put proc/sys/kernel/random/boot_id 01234567-89ab-cdef-0123-456789abcdef
put proc/sys/vm/stat_interval 1
mkdir -p "$machine/run" "$machine/dev"

# checked WHAT STATUS ARGUMENT...
checked() {
    what=$1 expected=$2
    shift 2
    valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes \
        "$program" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    if [ "$status" -eq "$expected" ] && ! grep -q '^==' "$tmp/err"; then
        echo "  ok: $what"
    else
        failed=1
        echo "  FAILED: $what (status $status)"
        head -n 40 "$tmp/err"
    fi
}
garbage() {
    find "$machine" -type f | sort | while read -r file; do
        head -c 3000 /dev/urandom >"$file"
    done
}

checked "--check environment" 0 --check environment --sysroot "$machine" --seconds 0.1
checked "... as JSON" 0 --check environment --sysroot "$machine" --seconds 0.1 --json -
checked "--list machines --quiet-machine" 0 --list machines --quiet-machine --sysroot "$machine"
checked "--restore, where nothing was left" 0 --restore --sysroot "$machine"
"$program" --transition 128fma:512fma --machine model:xeon-gold-6130 --runs 100000 --quiet-machine \
    --sysroot "$machine" >/dev/null 2>"$tmp/err" </dev/null &
run=$!
for _ in $(seq 100); do
    [ -s "$machine/run/characterize.settings" ] && break
    sleep 0.05
done
sleep 0.2
kill -9 "$run"
wait "$run" 2>/dev/null
[ -s "$machine/run/characterize.settings" ] || {
    failed=1
    echo "  FAILED: a run that is killed leaves its journal"
    head -n 5 "$tmp/err"
}
cp "$machine/run/characterize.settings" "$tmp/journal"
checked "--restore after a run that was killed" 0 --restore --sysroot "$machine"
head -c 300 "$tmp/journal" >"$machine/run/characterize.settings"
checked "... whose journal is cut short" 0 --restore --sysroot "$machine"
checked "the environment of nothing" 2 --check environment --sysroot "$tmp/nowhere" --seconds 0.1
garbage
checked "garbage in every file: --check environment" 0 --check environment --sysroot "$machine" --seconds 0.1
checked "... --list machines --quiet-machine" 0 --list machines --quiet-machine --sysroot "$machine"
exit $failed
