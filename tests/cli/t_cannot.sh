#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What this or a modelled machine cannot do: one line with the reason and what would work, no file left.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
p=128fma:512fma

refuses "AVX-512 on a modelled CPU without it" 3 'needs avx512f.*kernels that work: .*256fma.* pause chain' \
    $t $p --machine model:core-i7-6700hq
refuses "AMX on a modelled CPU without it" 3 'amx needs amx' $t 64add:amx --machine model:xeon-gold-6130

clocks=/sys/devices/system/clocksource/clocksource0
# a real process on a CPU without AVX-512: one whose CPUID is emulated
if grep -q __asan_init "$CHARACTERIZE"; then
    skip "AVX-512 on a CPU without it" "the address sanitizer's shadow memory does not fit into an emulated process"
elif command -v qemu-x86_64 >/dev/null 2>&1 && [ ! -r "$clocks/current_clocksource" ]; then
    skip "AVX-512 on an emulated CPU without it" \
        "the emulated CPU does not call its time stamps invariant, and without /sys the kernel's clock is unknown"
elif command -v qemu-x86_64 >/dev/null 2>&1; then
    clean
    qemu-x86_64 -cpu Haswell "$CHARACTERIZE" $t $p 2>&1 >"$out" </dev/null | grep -v '^qemu-x86_64: warning' >"$err"
    # the pipe has hidden the status
    qemu-x86_64 -cpu Haswell "$CHARACTERIZE" $t $p >/dev/null 2>&1 </dev/null
    status=$?
    verdict "AVX-512 on an emulated CPU without it" one_line 3 'needs avx512f.*256fma.*--machine model:'
elif ! grep -q avx512f /proc/cpuinfo; then
    refuses "AVX-512 on this CPU, which lacks it" 3 'needs avx512f.*--machine model:' $t $p
else
    skip "AVX-512 on a CPU without it" "this CPU has it, and qemu-x86_64 (qemu-user) is not installed"
fi

# what of it works somewhere is measured by other tests
"$CHARACTERIZE" --list machines >"$tmp/machines" 2>/dev/null
for machine in perf msr helper; do
    if grep -q "^$machine  *yes" "$tmp/machines"; then
        skip "--machine $machine is refused" "it works here"
        continue
    fi
    refuses "--machine $machine is named, refused, with what works" 3 "$machine.*timing or model" \
        $t 64add:128or --machine $machine
done

refuses "a CPU that does not exist" 2 'CPU 8191 .*usable CPUs: ' $t 64add:128or --cpu 8191
refuses "more active cores than there are" 2 '4096 active cores' $t 64add:128or --active-cores 4096
refuses "more active cores than the model has" 2 '17' \
    $t 64add:128or --machine model:xeon-gold-6130 --active-cores 17

cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first=${cpus%%[,-]*} last=${cpus##*[,-]}
if [ "$first" = "$last" ]; then
    skip "a CPU forbidden to this process" "only one CPU is allowed here"
elif ! command -v taskset >/dev/null 2>&1; then
    skip "a CPU forbidden to this process" "no taskset"
else
    clean
    taskset -c "$first" "$CHARACTERIZE" $t 64add:128or --cpu "$last" >"$out" 2>"$err" </dev/null
    status=$?
    verdict "a CPU forbidden to this process" one_line 2 "CPU $last .*usable CPUs: $first"
    for table in frequency trigger; do
        clean
        taskset -c "$first" "$CHARACTERIZE" --table $table --machine timing --active-cores 2 >"$out" 2>"$err" </dev/null
        status=$?
        want=3
        [ "$status" -ne 2 ] || want=2 # the only core of the machine
        verdict "more cores than this process may use: $table" one_line $want '2 active cores'
    done
fi
offline=$(cat /sys/devices/system/cpu/offline 2>/dev/null)
if [ -n "$offline" ]; then
    refuses "a CPU that is offline" 2 "CPU ${offline%%[,-]*} .*usable CPUs" $t 64add:128or --cpu "${offline%%[,-]*}"
else
    skip "a CPU that is offline" "all CPUs are online here"
fi

# model files of one's own
printf '%s\n' 'format = characterize-model/1' '[cpu]' 'name = X # assumed: a test' \
    'nonsense = 3 # assumed: a test' >"$tmp/bad.model"
refuses "a model file with an unknown key: file, line, key" 2 "bad.model:4:.*nonsense" \
    $t 64add:128or --machine "model:$tmp/bad.model"
refuses "a model file that is not there" 2 'none.model' $t 64add:128or --machine "model:$tmp/none.model"
refuses "a directory as a model file" 2 "$tmp" $t 64add:128or --machine "model:$tmp/"

finish
