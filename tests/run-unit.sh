#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: run-unit.sh PROGRAM...
#
# Runs cmocka programs one after the other, each under a time limit, shows the output of those that failed and the
# reason of each skipped test, and ends with the line 'N passed, N failed, N skipped'. A program that crashes, hangs,
# leaves before its last test or runs no test at all counts as failed, whatever it printed.
# UNIT_TIMEOUT: seconds a program may take (300). UNIT_LOGS: folder for the programs' outputs (a temporary one).
# As many run at a time as there are CPUs; a program whose source has the line '/* alone: WHY */' measures this machine,
# and follows by itself. UNIT_JOBS: so many of these at a time (1).
# Exit status: 0 if nothing failed, 1 otherwise.
set -u

limit=${UNIT_TIMEOUT:-300}
if [ -n "${UNIT_LOGS:-}" ]; then
    logs=$UNIT_LOGS
    mkdir -p "$logs" || exit 1
else
    logs=$(mktemp -d) || exit 1
    trap 'rm -rf "$logs"' EXIT
    trap 'exit 1' HUP INT TERM
fi

# Reads a program's output; prints its passed, failed and skipped tests and how many were announced but not run.
# A test counts by its verdict line. cmocka prints none when a fixture fails or the program dies: such a test failed.
count_tests() {
    awk '
        function close_test() { if (running) failed++; running = 0 }
        # since cmocka 1.1.6 both lines name the group
        /^\[==========\] (.*: )?Running [0-9]+ test/ {
            close_test(); sub(/.*Running /, ""); announced += $1
        }
        /^\[==========\] (.*: )?[0-9]+ test\(s\) run/ { close_test() }
        /^\[ RUN      \] / { close_test(); running = 1; begun++ }
        running && /^\[       OK \] / { passed++; running = 0 }
        running && /^\[  SKIPPED \] / { skipped++; running = 0 }
        running && /^\[  FAILED  \] / { failed++; running = 0 }
        /^\[  FAILED  \] GROUP (SETUP|TEARDOWN)/ { failed++ }
        END { close_test(); print passed + 0, failed + 0, skipped + 0, announced - begun }
    ' "$1"
}

# Prints each skipped test of a program with the last line that it printed before, the reason.
list_skipped() {
    awk -v program="$2" '
        /^\[ RUN      \] / { test = substr($0, 14); why = ""; next }
        /^\[  SKIPPED \] / && test != "" && $0 == "[  SKIPPED ] " test {
            print "  skipped: " program ": " test ": " (why == "" ? "no reason printed" : why); test = ""; next
        }
        /^\[/ { test = "" }
        test != "" && NF { why = $0; sub(/^ *skipped: */, "", why) }
    ' "$1"
}

# Prints the name of each failed test of a program.
list_failed() {
    awk -v program="$2" '
        function close_test() { if (test != "") print "  FAILED: " program ": " test; test = "" }
        /^\[==========\]/ { close_test() }
        /^\[ RUN      \] / { close_test(); test = substr($0, 14) }
        /^\[       OK \] / || /^\[  SKIPPED \] / { test = "" }
        /^\[  FAILED  \] GROUP/ { print "  FAILED: " program ": " substr($0, 14) }
        END { close_test() }
    ' "$1"
}

# Why a program as a whole counts as failed although its tests do not tell; empty if it does not.
program_fault() {
    if [ "$1" -eq 124 ]; then
        echo "still running after $limit s, ended"
    elif [ "$1" -ge 128 ]; then
        echo "ended by signal $(($1 - 128))"
    elif [ "$3" -gt 0 ]; then
        echo "$3 of its tests did not run (exit status $1)"
    elif [ "$1" -ne 0 ] && [ "$2" -eq 0 ]; then
        echo "exit status $1 although no test failed"
    elif [ "$4" -eq 0 ]; then
        echo "ran no test"
    fi
}

# Runs one; its output, and its exit status with the seconds it took, go to files.
run_program='
    program=$1 limit=$2 logs=$3
    name=${program##*/}
    case $program in
    */*) ;;
    *) program=./$program ;;
    esac
    begin=$(date +%s)
    timeout -k 10 "$limit" "$program" </dev/null >"$logs/$name.log" 2>&1
    echo "$? $(($(date +%s) - begin))" >"$logs/$name.result"
'
run_all() {
    xargs -P "$1" -I PROGRAM sh -c "$run_program" run PROGRAM "$limit" "$logs"
}
for kind in alone others; do
    : >"$logs/$kind"
done
for program; do
    if grep -qs '^/\* alone: ' "tests/unit/${program#*tests/unit/}.c"; then kind=alone; else kind=others; fi
    printf '%s\n' "$program" >>"$logs/$kind"
done
# the longest begin first, or one CPU would wait for the other at the end
awk -v long='random_t|golden|scenarios|_table$|trigger|clock_models|self_test|overhead|tion_model|long_r|shipped' \
    '{ print ($0 ~ long ? 0 : 1), NR, $0 }' "$logs/others" | sort -n |
    cut -d ' ' -f 3- | run_all "$(nproc)"
run_all "${UNIT_JOBS:-1}" <"$logs/alone"

passed=0 failed=0 skipped=0
for program; do
    name=${program##*/}
    log=$logs/$name.log
    read -r status seconds <"$logs/$name.result"
    # shellcheck disable=SC2046 # four numbers
    set -- $(count_tests "$log")
    fault=$(program_fault "$status" "$2" "$4" "$(($1 + $2 + $3))")
    bad=$2
    if [ -n "$fault" ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    passed=$((passed + $1)) failed=$((failed + bad)) skipped=$((skipped + $3))
    printf '  %-28s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$1" "$bad" "$3" "$seconds"
    list_skipped "$log" "$name"
    if [ "$bad" -gt 0 ]; then
        sed 's/^/    | /' "$log"
        list_failed "$log" "$name"
    fi
    if [ -n "$fault" ]; then
        printf '  FAILED: %s: %s\n' "$name" "$fault"
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
