#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --check environment on machines made of files (--sysroot), and the environment in results: runs are not continued
# under another one, and tables of different ones are named. The settings of the machine that runs it are not looked at.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# put FILE TEXT: a file of the fake machine
machine=$tmp/machine
put() {
    mkdir -p "$machine/$(dirname "$1")" && printf '%s\n' "$2" >"$machine/$1"
}
cpu=sys/devices/system/cpu
for n in 0 1; do
    put $cpu/cpu$n/topology/thread_siblings_list $n
    put $cpu/cpu$n/cpufreq/scaling_governor powersave
    put $cpu/cpu$n/cpufreq/scaling_driver intel_pstate
    put $cpu/cpu$n/cpufreq/cpuinfo_min_freq 1000000
    put $cpu/cpu$n/cpufreq/cpuinfo_max_freq 4000000
    put $cpu/cpu$n/cpufreq/scaling_max_freq 4000000
done
put $cpu/online 0-1
put $cpu/isolated 1
put $cpu/nohz_full 1
put sys/bus/event_source/devices/cpu/type 4
put sys/bus/event_source/devices/cpu/rdpmc 1
put proc/cpuinfo 'flags : fpu'
put proc/stat 'cpu  0 0 0 0 0 0 0 0 0 0'
put proc/interrupts '           CPU0       CPU1'
put proc/sys/kernel/osrelease 6.1.0-test
put proc/sys/kernel/nmi_watchdog 1
put dev/cpu/1/msr ''

check="--check environment --sysroot $machine --seconds 0.1"
# shellcheck disable=SC2086
run $check
verdict "the last CPU is looked at: status 0" test "$status" -eq 0
verdict "... the costliest first" sh -c 'sed -n 3p "$1" | grep -q "^   ~75 % governor"' - "$out"
verdict "... with what changes it" \
    grep -q '^    change  echo performance | .*tee /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor$' "$out"
verdict "... and puts back what was read" \
    grep -q '^    undo    echo powersave | .*tee /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor$' "$out"
verdict "... in 100 columns but for commands" test -z "$(grep -v '^    change\|^    undo' "$out" |
    awk 'length > 100')"
verdict "... no file is left" test -z "$(left)"
find "$machine" -type f -exec cat {} + >"$tmp/after"
verdict "... and none was written" grep -q powersave "$tmp/after"

verdict "... and as files that nothing is counted in" sh -c 'sed -n 1p "$1" |
    grep -q "^Environment of CPU 1 by its files, in which nothing can be counted$" &&
    ! grep -q "container\|counted for\|--quiet-machine with\|--quiet-machine changes" "$1"' - "$out"
# shellcheck disable=SC2086
run $check --strict
verdict "--strict: status 4" test "$status" -eq 4
# shellcheck disable=SC2086
run $check --json -
verdict "--json -: the text goes to standard error" sh -c 'grep -q "^Environment of CPU 1" "$1"' - "$err"
if command -v jq >/dev/null 2>&1; then
    verdict "... and the JSON is whole" jq -e '.format == "characterize-environment/1" and .cpu == 1 and
        (.findings[0] | .id == "governor" and .cost == 0.75 and .cost_is == "estimated") and
        .seconds == 0 and (.sysroot | endswith("/machine")) and
        .disturbance == null and .snapshot.governor == "powersave" and .snapshot.kernel == "6.1.0-test"' "$out"
elif command -v python3 >/dev/null 2>&1; then
    verdict "... and the JSON is whole" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$out"
fi
put $cpu/cpu1/cpufreq/scaling_governor 'a; touch /tmp/x'
# shellcheck disable=SC2086
run $check
verdict "no command is made of what somebody else wrote" \
    test "$(grep -c 'touch' "$out")" -eq 1 -a "$(grep -c '^    .*touch' "$out")" -eq 0
put $cpu/cpu1/cpufreq/scaling_governor performance
put proc/sys/kernel/nmi_watchdog 0
mkdir -p "$machine/proc/sys/kernel/randomize_va_space"
# shellcheck disable=SC2086
run $check --strict
verdict "--strict, and something cannot be read: status 3" test "$status" -eq 3
# shellcheck disable=SC2086
run $check --cpu 0 --json "$tmp/other.json"
verdict "--cpu 0: another CPU, and a file" grep -q '"cpu": 0' "$tmp/other.json"
verdict "of files, no cores are measured" sh -c '! grep -q core_pairs "$1"' - "$tmp/other.json"

guest=false
grep -q '^flags.* hypervisor' /proc/cpuinfo && guest=true
run --check environment --seconds 0.1 --json "$tmp/here.json"
verdict "here they are measured in a virtual machine alone" \
    test "$status $(grep -c '"core_pairs"' "$tmp/here.json")" = "0 $($guest && echo 1 || echo 0)"

put sys/devices/cpu_core/cpus 0
put sys/devices/cpu_atom/cpus 1
# shellcheck disable=SC2086
run $check
verdict "the CPU that would be measured: of the fastest kind of core" grep -q '^Environment of CPU 0' "$out"

mkdir -p "$tmp/one/proc" "$tmp/empty"
echo 'cpu  0 0 0 0 0 0 0 0 0 0' >"$tmp/one/proc/stat"
run --check environment --sysroot "$tmp/one"
verdict "files without any CPU: not one of this machine" grep -q '^Environment of CPU 0 ' "$out"
refuses "files of no machine" 2 \
    'neither sys/devices/system/cpu nor proc/stat' --check environment --sysroot "$tmp/empty"
refuses "no such folder" 2 "$tmp/nowhere" --check environment --sysroot "$tmp/nowhere"
refuses "no such CPU" 2 'CPU 7' --check environment --sysroot "$machine" --cpu 7
refuses "nothing else can be checked" 2 environment --check everything

# ---- results ----

mkdir -p "$work/dir/tables"
for table in frequency throttle; do
    run --table $table --machine model:xeon-gold-6130 --brief --kernels 128fma,512fma \
        --json "$work/dir/tables/$table.json"
    verdict "a model's $table has no environment" sh -c '! grep -q environment "$1"' - "$work/dir/tables/$table.json"
done
line() {
    sed -i '/^  "environment"/d; s/^{$/{\n  "environment": "kernel 6.1; governor '"$2"'",/' "$work/dir/tables/$1.json"
}
line frequency powersave
line throttle powersave
run --export json --input "$work/dir"
verdict "tables of one environment: no word" test "$status" -eq 0 -a ! -s "$err"
line throttle performance
run --export json --input "$work/dir"
verdict "tables of two are named, with what differs" \
    grep -q 'tables frequency and throttle .*governor powersave, there performance' "$err"
run --validate xeon-gold-6130 --input "$work/dir"
verdict "... also to --validate" grep -q 'tables frequency and throttle .*governor powersave, there performance' "$err"

# a run of this processor, ended once it has begun
(exec "$CHARACTERIZE" --all --machine timing --output "$tmp/run" >"$tmp/first" 2>&1) &
first=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s "$tmp/run/run.json" ] && break
    sleep 0.2
done
kill -TERM $first
wait $first
if grep -q '"environment"' "$tmp/run/run.json" 2>/dev/null; then
    sed -i 's/"environment": "kernel [^;"]*/"environment": "kernel 0.1/' "$tmp/run/run.json"
    run --all --machine timing --output "$tmp/run" --resume
    verdict "a run is not continued under other settings" \
        test "$status" -eq 2 -a "$(grep -c 'settings of this computer differ: kernel .*there 0.1' "$err")" -eq 1
else
    skip "a run is not continued under other settings" "$(cat "$tmp/first")"
fi
finish
