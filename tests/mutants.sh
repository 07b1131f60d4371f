#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: mutants.sh N [SEED]      (make mutants N=100 SEED=1)
#        mutants.sh FILE LINE COLUMN LENGTH NEW     one change, as this prints it and mutants.awk draws it
#
# Whether the unit tests see faults: changes one operator, number or truth value of analysis/, drivers/, probes/ or
# tables/ at a time, N of them drawn with the seed, in a copy of the tree; rebuilds that object; and runs the tests that
# can see it until one fails: those that name the file, those of its room, then all others, each the fastest first (as
# make test found). What fails without the change as well does not count.
# BUILD must hold the unit tests (make unit). As root the copy runs where /sys and /proc/sys cannot be written.
# MUTANT_SECONDS: processor time that tests may take for one change (60). MUTANT_LEAST: percent to be killed (90).
# Each is said to be killed, to survive, not to compile, or to change nothing (the same machine code).
# Exit status: 0 if enough were killed, 1 if not, 2 usage.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
seconds=${MUTANT_SECONDS:-60} least=${MUTANT_LEAST:-90}
unset MAKEFLAGS MFLAGS MAKELEVEL
if [ $# -lt 1 ] || [ ! -e "$BUILD/tests/libunit.so" ]; then
    echo "mutants.sh: usage: mutants.sh N [SEED], after make unit" >&2
    exit 2
fi
if [ -z "${MUTANTS_INSIDE:-}" ] && [ "$(id -u)" -eq 0 ] && unshare -m --propagation private true 2>/dev/null; then
    MUTANTS_INSIDE=1 exec unshare -m -p -f --kill-child --mount-proc --propagation private sh "$0" "$@"
fi
if [ -n "${MUTANTS_INSIDE:-}" ]; then
    mount -o bind,ro /sys /sys && mount -o bind,ro /proc/sys /proc/sys || exit 1
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# a change may make a program ask for all memory there is
# shellcheck disable=SC3045 # dash, bash and busybox have it
ulimit -v 4000000
tree=$tmp/tree
mkdir "$tree"
tar -c --exclude=./.git --exclude='./build*' . | tar -x -C "$tree" || exit 1
mkdir -p "$tree/build" && cp -a "$BUILD/." "$tree/build" && rm -rf "$tree/build/vm" "$tree/build/check"
cd "$tree" || exit 1
cp build/tests/libunit.so "$tmp/libunit.so"

# Those that look at the clock fail without a fault on a busy machine; kernels are not changed here.
find build/tests/unit -name 'test_*' ! -name '*.*' ! -name 'test_kernel_*' ! -name 'test_timing*' \
    ! -name test_self_test ! -name test_tsc | sort >"$tmp/tests"

# passes TEST: its status, after a minute of processor time or five of waiting too
passes() {
    # shellcheck disable=SC3045
    (ulimit -t 60 && exec timeout -k 5 300 "$1") </dev/null >"$tmp/log" 2>&1
}

# clock: sets $used, the processor time of all that this shell has waited for, in s
clock() {
    times >"$tmp/used" # not by $(...), which would be another shell
    used=$(awk 'NR == 2 { split($1, own, /[ms]/); split($2, kernel, /[ms]/)
        print int(60 * (own[1] + kernel[1]) + own[2] + kernel[2]) }' "$tmp/used")
}

# How long each takes, in s, where make test has been run.
while read -r test; do
    read -r _ took 2>/dev/null <"build/test-logs/${test##*/}.result" || took=0
    echo "$took $test"
done <"$tmp/tests" >"$tmp/times"

# tests_of FILE: those that can see it
tests_of() {
    stem=$(basename "$1" .c) room=$(dirname "$1")
    awk -v stem="$stem" -v room="/unit/$room/" '{
        source = $2 ".c"
        sub(/^build\//, "", source)
        near = index($2, room) ? 1 : 2
        while ((getline line <source) > 0)
            if (line ~ "^#include \".*/" stem "\\.h\"") near = 0
        close(source)
        print near, $1, $2
    }' "$tmp/times" | sort -n -k1,1 -k2,2
}

# killed_by FILE: prints the test that sees the change; fails if none does
killed_by() {
    tests_of "$1" >"$tmp/order"
    clock
    end=$((used + seconds))
    while read -r _ _ test; do
        clock
        [ "$used" -lt "$end" ] || return 1
        if ! passes "$test"; then
            cp build/tests/libunit.so "$tmp/changed.so" && cp "$tmp/libunit.so" build/tests/libunit.so
            passes "$test" && echo "${test##*/}" && return 0
            cp "$tmp/changed.so" build/tests/libunit.so
        fi
    done <"$tmp/order"
    return 1
}

code_of() {
    objcopy --strip-debug "$1" "$2"
}

# try FILE LINE COLUMN LENGTH NEW: prints what becomes of it
try() {
    file=$1 object=build/${1%.c}.o
    cp -p "$file" "$tmp/source.c" && cp -p "$object" "$tmp/source.o" || exit 1
    awk -v line="$2" -v column="$3" -v length_="$4" -v new="$5" \
        'FNR == line { $0 = substr($0, 1, column - 1) new substr($0, column + length_) } { print }' \
        "$tmp/source.c" >"$file"
    code_of "$object" "$tmp/before"
    if ! $MAKE -s "$object" >"$tmp/make" 2>&1; then
        verdict='does not compile'
    elif code_of "$object" "$tmp/after" && cmp -s "$tmp/before" "$tmp/after"; then
        verdict='changes nothing'
    elif ! $MAKE -s build/tests/libunit.so >"$tmp/make" 2>&1; then
        verdict='does not compile'
    elif killer=$(killed_by "$file"); then
        verdict="killed by $killer"
    else
        verdict='SURVIVES'
    fi
    old=$(awk -v line="$2" -v column="$3" -v length_="$4" \
        'FNR == line { print substr($0, column, length_) }' "$tmp/source.c")
    printf '%s:%s:%s %s -> %s: %s\n' "$file" "$2" "$3" "$old" "$5" "$verdict"
    [ "$verdict" != SURVIVES ] || sed -n "${2}s/^ */    | /p" "$tmp/source.c"
    cp -p "$tmp/source.c" "$file" && cp -p "$tmp/source.o" "$object"
}

if [ $# -ge 5 ]; then
    echo "$1 $2 $3 $4 $5" >"$tmp/drawn"
else
    # shellcheck disable=SC2046 # sources have plain names
    awk -v n="$1" -v seed="${2:-1}" -f tests/mutants.awk \
        $(find analysis drivers probes tables -name '*.c' ! -path '*/kmod/*' | sort) >"$tmp/drawn"
fi
while read -r file line column length new; do
    try "$file" "$line" "$column" "$length" "$new" </dev/null
done <"$tmp/drawn" | tee "$tmp/verdicts"

count() {
    grep -c ": $1" "$tmp/verdicts"
}
killed=$(count 'killed by') survive=$(count 'SURVIVES$')
tried=$(grep -c '^[^ ]*:[0-9]*:[0-9]* ' "$tmp/verdicts")
echo "$tried changes: $killed killed, $survive survive, $(count 'does not compile') do not compile," \
    "$(count 'changes nothing') change nothing"
[ "$tried" -eq "$(wc -l <"$tmp/drawn")" ] && [ $((100 * killed)) -ge $((least * (killed + survive))) ]
