#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: mutants.sh N [SEED]      (make mutants N=100 SEED=1)
#        mutants.sh FILE LINE COLUMN LENGTH NEW     one change, as this prints it and mutants.awk draws it
#
# Whether the unit tests see faults: changes one operator, number or truth value of analysis/, drivers/, probes/ or
# tables/ at a time, N of them drawn with the seed, in a copy of the tree; rebuilds that object; and runs the tests that
# can see it until one fails: those that call the changed function (those that call any of its file, where it is in
# none), the fastest first; those of its room, or of the directory that the room is in, may take 4 times as long as
# those of other rooms and those that name the file 16 times, as may test_golden*, which see most.
# A change that survives them is compiled again with the address and undefined behavior sanitizers, as the suite is run
# with them, too, and the tests are run with that object.
# How long each test takes and what it calls is measured once, and again when its source changes, and kept in
# BUILD/mutants. What fails without the change as well does not count.
# Changes in tests/mutants.same are known to make no difference to anyone and are not tried.
# BUILD must hold the unit tests (make unit) and CALLS_BUILD the same with -finstrument-functions, as make mutants does.
# As root the copies run where /sys, /proc/sys and what lies in /dev itself cannot be changed.
# MUTANT_JOBS: changes tried at a time, each in a copy of its own (as many as there are CPUs).
# MUTANT_ROOMS: directories in which changes are made (analysis computer drivers probes tables).
# MUTANT_SECONDS: processor time that tests may take for one change (60). MUTANT_LEAST: percent to be killed (90).
# Each is said to be killed, to survive, not to compile, or to change nothing (the same machine code, or why not). Below
# one that survives is its line for tests/mutants.same.
# Exit status: 0 if enough were killed, 1 if not, 2 usage.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build} CALLS_BUILD=${CALLS_BUILD:-build-calls}
MAKE=${MAKE:-make}
seconds=${MUTANT_SECONDS:-60} least=${MUTANT_LEAST:-90} rooms=${MUTANT_ROOMS:-analysis computer drivers probes tables}
unset MAKEFLAGS MFLAGS MAKELEVEL
if [ $# -lt 1 ] || [ ! -e "$BUILD/tests/libunit.so" ] || [ ! -e "$CALLS_BUILD/tests/libunit.so" ]; then
    echo "mutants.sh: usage: make mutants N=100 SEED=1; after it, also mutants.sh N [SEED]" >&2
    exit 2
fi
if [ -z "${MUTANTS_INSIDE:-}" ] && [ "$(id -u)" -eq 0 ] && unshare -m --propagation private true 2>/dev/null; then
    # not without the make that started it
    MUTANTS_INSIDE=1 exec setpriv --pdeathsig TERM \
        unshare -m -p -f --kill-child --mount-proc --propagation private sh "$0" "$@"
fi
if [ -n "${MUTANTS_INSIDE:-}" ]; then
    mount -o bind,ro /sys /sys && mount -o bind,ro /proc/sys /proc/sys && mount --rbind /dev /dev &&
        mount -o remount,bind,ro /dev || exit 1
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# a change may make a program ask for all memory there is
memory_kb=4000000
# the first libraries of a program that is linked without them
runtime=$(${CC:-gcc} -print-file-name=libasan.so):$(${CC:-gcc} -print-file-name=libubsan.so)
root=$(pwd) built=$(cd "$BUILD" && pwd) tab=$(printf '\t')
mkdir -p "$built/mutants"
unset BUILD # the copies have theirs in build

# passes TEST [SECONDS]: its status, after a minute of processor time (or as said) or five times that of waiting too
passes() {
    (
        # shellcheck disable=SC3045 # dash, bash and busybox have it
        ulimit -t "${2:-60}"
        if [ -n "${sanitized:-}" ]; then
            export LD_PRELOAD="$runtime" ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=$((memory_kb / 1000))"
        else
            # shellcheck disable=SC3045 # the sanitizers reserve more than there is
            ulimit -v $memory_kb
        fi
        exec timeout -k 5 $((5 * ${2:-60})) "$1"
    ) </dev/null >"$own/log" 2>&1
}

# clock: sets $used, the processor time of all that this shell has waited for, in ms
clock() {
    times >"$own/used" # not by $(...), which would be another shell
    used=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, kernel, /[ms]/)
        print int(1000 * (60 * (user[1] + kernel[1]) + user[2] + kernel[2])) }' "$own/used")
}

# in_copy K: the working directory becomes a copy of the tree, and $own where this job keeps what it needs
in_copy() {
    own=$tmp/$1
    mkdir -p "$own/tree/build"
    tar -c --exclude=./.git --exclude='./build*' . | tar -x -C "$own/tree" || exit 1
    cp -a "$built/." "$own/tree/build" && rm -rf "$own/tree/build/vm" "$own/tree/build/check" "$own/tree/build/mutants"
    cd "$own/tree" || exit 1
    cp build/tests/libunit.so "$own/libunit.so"
}

# every JOBSth line of FILE from the Kth on
share() {
    awk -v k="$1" -v jobs="$jobs" 'NR % jobs == k % jobs' "$2"
}

# called FILE: the functions that a test called, as tests/support/calls.c marks them in FILE
called() {
    LC_ALL=C grep -aob "$(printf '\001')" "$1" | awk -F : '
        NF > 1 { print name[$1]; next }
        { split($0, symbol, " "); sub(/[.].*/, "", symbol[3]); name[symbol[1] + 0] = symbol[3] }
    ' "$tmp/symbols" - | sed '/^$/d' | sort -u
}

record_of() {
    echo "$built/mutants/$(echo "${1#build/tests/unit/}" | tr / .)"
}

# measure K: records how long tests take, in ms, and what they call, where that is not known
measure() {
    share "$1" "$tmp/unknown" >"$own/unknown"
    while read -r test; do
        clock
        begin=$used
        passes "$test"
        clock
        spent=$((used - begin))
        rm -f "$own/calls"
        # where it was linked: it finds its library by that path
        (cd "$root" && export CALLS="$own/calls" && passes "$CALLS_BUILD/${test#build/}" 300)
        { echo "$spent $test" && called "$own/calls"; } >"$own/record" && mv "$own/record" "$(record_of "$test")"
    done <"$own/unknown"
}

# function_of FILE LINE: that in which the line is; nothing if it is in none
function_of() {
    awk -v line="$2" '
        FNR >= line { exit }
        /^}/ { name = "" }
        /^[A-Za-z_].*[(]/ && !/;$/ { name = $0; sub(/[(].*/, "", name); sub(/.*[ *]/, "", name) }
        END { print name }' "$1"
}

# calling FUNCTION...: the tests that call one of them, with the time they take
calling() {
    awk -v wanted=" $* " '
        NF == 2 { test = $0 }
        NF == 1 && test != "" && index(wanted, " " $1 " ") { print test; test = "" }' "$built"/mutants/*
}

# tests_of FILE LINE: those that can see it, in the order in which they are tried
tests_of() {
    stem=$(basename "$1" .c) room=$(dirname "$1" | cut -d / -f 1-2)
    house=${1%%/*} # a test in it is of all of its rooms
    calling "$(function_of "$1" "$2")" >"$own/calling"
    # shellcheck disable=SC2046 # names of functions
    [ -s "$own/calling" ] || calling $(nm "$own/before" | awk '$2 ~ /[tT]/ { print $3 }') >"$own/calling"
    awk -v stem="$stem" -v room="/unit/$room/" -v house="/unit/$house/test_" '{
        source = $2 ".c"
        sub(/^build\//, "", source)
        far = $2 ~ /test_golden/ ? 1 : index($2, room) || index($2, house) ? 4 : 16
        while ((getline line <source) > 0)
            if (line ~ "^#include \".*/" stem "\\.h\"") far = 1
        close(source)
        print far * (20 + $1), $2
    }' "$own/calling" | sort -n
}

# killed_by FILE LINE: prints the test that sees the change; fails if none does
killed_by() {
    tests_of "$1" "$2" >"$own/order"
    clock
    end=$((used + 1000 * seconds))
    while read -r _ test; do
        clock
        [ "$used" -lt "$end" ] || return 1
        if ! passes "$test"; then
            cp build/tests/libunit.so "$own/changed.so" && cp "$own/libunit.so" build/tests/libunit.so
            passes "$test" && echo "${test##*/}" && return 0
            cp "$own/changed.so" build/tests/libunit.so
        fi
    done <"$own/order"
    return 1
}

# killed_sanitized_by FILE LINE: the same, with its object compiled with the sanitizers; a subshell's $sanitized
killed_sanitized_by() {
    sanitized=yes
    rm -f "$object"
    $MAKE -s WARN=-w SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' \
        "$object" build/tests/libunit.so >"$own/make" 2>&1 && killed_by "$1" "$2"
}

code_of() {
    objcopy --strip-debug "$1" "$2"
}

# same_of FILE LINE COLUMN NEW: the change as tests/mutants.same names it: by the text of its line, not by its number
same_of() {
    awk -v file="$1" -v line="$2" -v column="$3" -v new="$4" 'FNR == line {
        match($0, /^ */)
        printf "%s\t%s\t%d\t%s\n", file, substr($0, RLENGTH + 1), column - RLENGTH, new
    }' "$1"
}

# known SAME: why it makes no difference; fails if tests/mutants.same does not say so
known() {
    why=$(awk -v same="$1$tab" 'index($0, same) == 1 { print substr($0, length(same) + 1) }' tests/mutants.same)
    [ -n "$why" ]
}

# try FILE LINE COLUMN LENGTH NEW: prints what becomes of it
try() {
    file=$1 object=build/${1%.c}.o same=$(same_of "$1" "$2" "$3" "$5")
    cp -p "$file" "$own/source.c" && cp -p "$object" "$own/source.o" || exit 1
    awk -v line="$2" -v column="$3" -v length_="$4" -v new="$5" \
        'FNR == line { $0 = substr($0, 1, column - 1) new substr($0, column + length_) } { print }' \
        "$own/source.c" >"$file"
    code_of "$object" "$own/before"
    # a warning, as of && within ||, is no fault to the compiler here
    if ! $MAKE -s WARN=-w "$object" >"$own/make" 2>&1; then
        verdict='does not compile'
    elif code_of "$object" "$own/after" && cmp -s "$own/before" "$own/after"; then
        verdict='changes nothing'
    elif known "$same"; then
        verdict="changes nothing: $why"
    elif ! $MAKE -s build/tests/libunit.so >"$own/make" 2>&1; then
        verdict='does not compile'
    elif killer=$(killed_by "$file" "$2"); then
        verdict="killed by $killer"
    elif killer=$(killed_sanitized_by "$file" "$2"); then
        verdict="killed by $killer with the sanitizers"
    else
        verdict='SURVIVES'
    fi
    old=$(awk -v line="$2" -v column="$3" -v length_="$4" \
        'FNR == line { print substr($0, column, length_) }' "$own/source.c")
    shown=
    [ "$verdict" != SURVIVES ] || shown="    | $same"
    printf '%s:%s:%s %s -> %s: %s%s\n' "$file" "$2" "$3" "$old" "$5" "$verdict" "${shown:+
$shown}"
    cp -p "$own/source.c" "$file" && cp -p "$own/source.o" "$object"
}

if [ $# -ge 5 ]; then
    echo "$1 $2 $3 $4 $5" >"$tmp/drawn"
else
    # shellcheck disable=SC2046,SC2086 # sources and directories have plain names
    awk -v n="$1" -v seed="${2:-1}" -f tests/mutants.awk \
        $(find $rooms -name '*.c' ! -path '*/kmod/*' | sort) >"$tmp/drawn"
fi
jobs=${MUTANT_JOBS:-$(nproc)}
[ "$jobs" -le "$(wc -l <"$tmp/drawn")" ] || jobs=$(wc -l <"$tmp/drawn")

# Those that look at the clock fail without a fault on a busy machine; kernels are not changed here.
(cd "$built" && find tests/unit -name 'test_*' ! -name '*.*' ! -name 'test_kernel_*' \
    ! -name 'test_timing*' ! -name test_tsc | sed 's|^|build/|' | sort) >"$tmp/tests"
while read -r test; do
    record=$(record_of "$test")
    [ -s "$record" ] && [ -z "$(find "$CALLS_BUILD/${test#build/}.o" -newer "$record")" ] || echo "$test"
done <"$tmp/tests" >"$tmp/unknown"
nm -t d --defined-only "$CALLS_BUILD/tests/libunit.so" | awk '$2 ~ /[tT]/' >"$tmp/symbols"

# each_job COMMAND: for K from 1 to the number of jobs, in the Kth copy
each_job() {
    k=0
    while [ $((k += 1)) -le "$jobs" ]; do
        (
            # shellcheck disable=SC2030 # each job has its own
            own=$tmp/$k
            cd "$own/tree" && "$1" "$k"
        ) &
    done
    wait
}
k=0
while [ $((k += 1)) -le "$jobs" ]; do
    (in_copy "$k") || exit 1
done
each_job measure

# try_share K: what becomes of every change that falls to the Kth job
# shellcheck disable=SC2031
try_share() {
    share "$1" "$tmp/drawn" >"$own/drawn"
    while read -r file line column length new; do
        try "$file" "$line" "$column" "$length" "$new" </dev/null
    done <"$own/drawn"
}
each_job try_share | tee "$tmp/verdicts"

count() {
    grep -c ": $1" "$tmp/verdicts"
}
killed=$(count 'killed by') survive=$(count 'SURVIVES$')
tried=$(grep -c '^[^ ]*:[0-9]*:[0-9]* ' "$tmp/verdicts")
echo "$tried changes: $killed killed, $survive survive, $(count 'does not compile') do not compile," \
    "$(count 'changes nothing') change nothing"
if [ $((killed + survive)) -eq 0 ]; then
    echo "mutants.sh: no change could be judged; the last words of make: $(tail -n 1 "$tmp/1/make")" >&2
    exit 1
fi
[ "$tried" -eq "$(wc -l <"$tmp/drawn")" ] && [ $((100 * killed)) -ge $((least * (killed + survive))) ]
