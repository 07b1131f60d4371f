#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# characterize-sched: what it refuses, and schedulers/policy.h in this kernel. What it does: make test-vm-sched.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# in_kernel WHAT NAME ARGUMENT...: build/tests/sched/test_NAME_bpf
in_kernel() {
    what=$1
    program=$root/${BUILD:-build}/tests/sched/test_$2_bpf
    shift 2
    if [ ! -x "$program" ]; then
        skip "$what" "${program##*/} is not built: no clang-19 or libbpf-dev, or with the sanitizers"
        return
    fi
    "$program" "$@" >"$out" 2>"$err"
    case $? in
    0) verdict "$what: $(cat "$out")" true ;;
    3) skip "$what" "BPF is not permitted here" ;;
    4) skip "$what" "this processor has no AVX2, or does not track which registers are in use" ;;
    *) verdict "$what: $(cat "$out" "$err")" false ;;
    esac
}
in_kernel "the policy in the kernel" policy 10000
in_kernel "registers that tasks used, as the kernel saves them" state

if [ ! -x "$CHARACTERIZE-sched" ]; then
    skip "characterize-sched" "it is not built: no clang-19 or libbpf-dev, or with the sanitizers"
    finish
fi

# refused WHAT STATUS TEXT OPTION...: one line with the text
refused() {
    what=$1 want=$2 text=$3
    shift 3
    "$CHARACTERIZE-sched" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    verdict "$what: status $want, one line" test "$status" -eq "$want" -a ! -s "$out" -a "$(wc -l <"$err")" -eq 1
    verdict "... $text" grep -q "^characterize-sched: .*$text" "$err"
}

# here KEY: of this computer's processor
here() {
    sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1
}
signature="\"family\": $(here 'cpu family'), \"model\": $(here model), \"stepping\": $(here stepping),"
sed "2s/\$/ $signature/" "$root/tests/support/xeon-gold-6130.export.json" >modelled.json
sed 's/"modelled": true/"modelled": false/' modelled.json >own.json
sed 's/"family": [0-9]*/"family": 99/' own.json >other.json
sed 's/"stepping": [0-9]*,//' own.json >unsigned.json
sed 's/"frequencies": \[/"frequencies": [], "others": [/' own.json >without.json
sed 's/"modelled": true,//' modelled.json >silent.json
sed 's/characterize-export.1/characterize-export\/9/' own.json >newer.json
echo '{' >broken.json

refused "without --params" 2 "required"
refused "no such file" 2 "cannot read none.json: No such file" --params none.json
refused "no JSON" 2 "broken.json: line " --params broken.json
refused "an unknown format" 2 "not of format" --params newer.json
refused "a model" 2 "not measured; --modelled takes it" --params modelled.json
refused "one that does not say whether it is measured" 2 "not measured" --params silent.json
refused "another processor" 2 "of another processor, .*its family is 99, and that of this one" --params other.json
refused "another processor, modelled" 2 "of another processor" --modelled --params other.json
refused "an older export" 2 "'stepping' is missing" --params unsigned.json
refused "no frequencies" 2 "no frequencies" --params without.json
for mode in subtract attribute; do
    refused "mode $mode without a source" 2 "who is wide: --source counters" --params own.json --mode $mode
done
refused "accounting by registers" 2 "who is wide: --source counters" --params own.json --mode subtract --source state
refused "--adapt without specialize" 2 "about --mode specialize" --params own.json --adapt
refused "a width without registers" 2 "registers of --source state" --params own.json --source marks --width 256
for width in 128 300 512bit; do
    refused "width $width" 2 "--width $width: " --params own.json --source state --width $width
done
refused "a cgroup without a source" 2 "who is wide: --source counters" --params own.json --cgroup /a=subtract
refused "a cgroup without a mode" 2 "not PATH=fair, PATH=subtract or PATH=attribute" --params own.json --cgroup /a
refused "a cgroup that is to be specialized" 2 "not PATH=fair" --params own.json --cgroup /a=specialize
sed 's/"levels": 3/"levels": 4/' own.json >short.json
refused "a level without frequencies" 2 "level 3 is missing" --params short.json --mode subtract --source marks
refused "an unknown mode" 2 "not one of: fair" --params own.json --mode fast
refused "an unknown source" 2 "not one of: none" --params own.json --source all
refused "specialize without a source" 2 "who is wide" --params own.json --mode specialize
refused "slices too short" 2 "from 100 to 100000" --params own.json --slice-us 99
refused "slices of no number" 2 "from 100 to 100000" --params own.json --slice-us 6ms
refused "--json alone" 2 "lines of --stats" --params own.json --json
refused "--tasks alone" 2 "lines of --stats" --params own.json --tasks 5
refused "too many tasks" 2 "from 0 to 1000" --params own.json --stats 1 --tasks 1001
refused "--monitor into a file" 2 "not a terminal; --stats 1" --params modelled.json --modelled --monitor
refused "--monitor and --stats" 2 "one of them" --params own.json --monitor --stats 1
refused "an unknown option" 2 "not an option" --params own.json --monitored
refused "an argument" 2 "not an option" --params own.json web-server
if [ -e /sys/kernel/sched_ext ]; then
    skip "a kernel without sched_ext" "this one has it, and tests leave its scheduler alone"
else
    refused "a kernel without sched_ext" 3 "Linux $(uname -r) has no sched_ext; Linux 7.2 and newer" --params own.json
    refused "... with registers" 3 "has no sched_ext" --params own.json --mode specialize --source state --width 256
    refused "... with a model" 3 "has no sched_ext" --params modelled.json --modelled --mode specialize --source marks
fi
"$CHARACTERIZE-sched" --version >"$out"
verdict "--version" test "$(cat "$out")" = "characterize $(cat "$root/VERSION")"
"$CHARACTERIZE-sched" --help >"$out"
grep -o '"[a-z-]*", [a-z]*_argument' "$root/cli/sched/main.c" | sed 's/^"/--/; s/".*//' >"$tmp/options"
grep -o -e '--[a-z-]*' "$out" | sort -u >"$tmp/helped"
sed 's/\\-/-/g' "$root/man/characterize-sched.1" | sed -n 's/^\.B[IR]* \(--[a-z-]*\).*/\1/p' >"$tmp/man-options"
echo --version >>"$tmp/man-options" # beside --help
verdict "the manual page has all options" test "$(grep -cvxF -f "$tmp/man-options" "$tmp/options")" -eq 0
if command -v man >/dev/null 2>&1 && [ -n "$(man --version 2>/dev/null)" ]; then
    man --warnings -E UTF-8 -l "$root/man/characterize-sched.1" >/dev/null 2>"$err"
    verdict "the manual page formats without a warning" test ! -s "$err"
else
    skip "the manual page formats without a warning" "no man program"
fi
verdict "--help has all $(wc -l <"$tmp/options") options" test "$(grep -cvxF -f "$tmp/helped" "$tmp/options")" -eq 0
finish
