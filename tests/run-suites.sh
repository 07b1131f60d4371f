#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: run-suites.sh SUITE...
#
# Suites: unit (cmocka programs), unit-rest (those that leave something out where the sanitizers run), cli (the command
# line), scripts (what is around the build), vm (the kernel helper in a virtual machine), deep (those unit tests that
# run a few of many random cases elsewhere, with all of them), deep-scripts (those that take long).
#
# SLOW=no leaves out the unit tests with a line '/* slow: WHY */' and the scripts with a line '# slow: WHY', SLOW=only
# runs no others.
# Runs test suites on what is built, then sums up: a table, every skipped and failed test again, and as the last line
# 'N passed, N failed, N skipped'. BUILD and OUT tell where the build is, as in the Makefile. SANITIZED=1 says that it
# holds the sanitizers: a test may then leave out what would only measure those or cannot run with them, visibly.
# Exit status: 0 if nothing failed, 1 otherwise.
set -u

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build} OUT=${OUT:-.}
MAKE=${MAKE:-make}
CHARACTERIZE=$(cd "$OUT" && pwd)/characterize
export BUILD OUT MAKE CHARACTERIZE
if [ ! -d "$OUT/data" ]; then
    # a program that was linked elsewhere than at the root does not find the models beside it
    CHARACTERIZE_DATA=$(pwd)/data
    export CHARACTERIZE_DATA
fi
# the tests may call make themselves: not as a part of the make that called this
unset MAKEFLAGS MFLAGS MAKELEVEL

logs=$BUILD/test-logs
mkdir -p "$logs" || exit 1

run_suite() {
    case $1 in
    unit)
        # shellcheck disable=SC2046 # test programs have plain names
        UNIT_LOGS=$logs UNIT_JOBS=${SANITIZED:+$(nproc)} tests/run-unit.sh $(unit_programs)
        ;;
    unit-rest)
        # shellcheck disable=SC2046
        UNIT_LOGS=$logs tests/run-unit.sh $(unit_programs sanitized)
        ;;
    deep)
        # shellcheck disable=SC2046
        DEEP=1 UNIT_LOGS=$logs/deep tests/run-unit.sh $(unit_programs "rng_rounds\|rng_few(\|rng_all_rounds")
        ;;
    cli | scripts) tests/run-scripts.sh "tests/$1" ;;
    deep-scripts) DEEP=1 tests/run-scripts.sh tests/scripts ;;
    # fewer random ioctls than make test-vm sends, to stay within two minutes
    vm) VM_FUZZ=${VM_FUZZ:-20000} tests/vm/run-qemu.sh ;;
    *) echo "unknown suite '$1': unit, cli, scripts, vm, deep or deep-scripts" ;;
    esac
}

# unit_programs [PATTERN]: those whose source has a line that fits it, but for what SLOW leaves out
unit_programs() {
    find tests/unit -name 'test_*.c' -exec grep -l -e "${1:-^}" {} + | sort |
        case ${SLOW:-} in
        no) xargs grep -L '^/\* slow: ' ;;
        only) xargs grep -l '^/\* slow: ' ;;
        *) cat ;;
        esac | sed "s|^\(.*\)[.]c$|$BUILD/\1|"
}

count_line='^[0-9][0-9]* passed, [0-9][0-9]* failed, [0-9][0-9]* skipped$'
passed=0 failed=0 skipped=0 table=
for suite; do
    log=$logs/suite-$suite.log
    echo "== $suite"
    # the status goes through a file: that of a pipeline is its last command's
    { run_suite "$suite" 2>&1; echo $? >"$logs/status"; } | tee "$log" | grep --line-buffered -v "$count_line"
    status=$(cat "$logs/status")
    counts=$(grep "$count_line" "$log" | tail -n 1 | tr -cd '0-9 ')
    # shellcheck disable=SC2086 # three numbers
    set -- ${counts:-0 0 0}
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; }; then
        echo "  FAILED: suite $suite: exit status $status, without a count of failed tests" | tee -a "$log"
        set -- "$1" "$(($2 + 1))" "$3"
    elif [ $(($1 + $2 + $3)) -eq 0 ]; then
        echo "  FAILED: suite $suite ran no test" | tee -a "$log"
        set -- 0 1 0
    fi
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    table=$table$(printf '  %-12s %5d passed %4d failed %4d skipped' "$suite" "$@")'
'
    names="${names:-} $logs/suite-$suite.log"
done

echo "== summary"
printf '%s' "$table"
# shellcheck disable=SC2086 # log files with plain names
grep -hi '^ *skip\(ped\)*\b' ${names:-/dev/null}
# shellcheck disable=SC2086
grep -h '^ *\(FAILED\|FAIL\|not ok\)\b' ${names:-/dev/null}
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
