#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: run-scripts.sh FOLDER
#
# Runs every t_*.sh of the folder and ends with the line 'N passed, N failed, N skipped'. As many run at a time as there
# are CPUs, and beside them those with the line '# waits: WHY', which do little else; a script with the line '# alone:
# WHY' looks at this machine's clock and runs afterwards, by itself. Those with the line '# deep: WHY' take long: they,
# and no others, run if DEEP is set. SLOW=no leaves out those with the line '# slow: WHY', SLOW=only runs no others;
# with SANITIZED, too, SLOW=no runs only those with the line '# input: WHAT', which hand files and words of others over.
# Environment: CHARACTERIZE, the program that they are to try (default: ./characterize of the repository).
# Exit status: 0 if nothing failed, 1 otherwise.
set -u

folder=$1
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
trap 'exit 1' HUP INT TERM

# Runs one; its output, and its exit status with the seconds it took, go to files.
# shellcheck disable=SC2016 # expanded in there
run_script='
    begin=$(date +%s)
    timeout -k 10 300 sh "$1" </dev/null >"$2/$(basename "$1").log" 2>&1
    echo "$? $(($(date +%s) - begin))" >"$2/$(basename "$1").result"
'
# run_all AT-A-TIME: those that are named on standard input
run_all() {
    xargs -r -P "$1" -I SCRIPT sh -c "$run_script" run SCRIPT "$logs"
}
if [ -n "${DEEP:-}" ]; then deep=-l; else deep=-L; fi
# shellcheck disable=SC2046 # plain names
set -- $(grep $deep '^# deep: ' "$folder"/t_*.sh |
    case ${SLOW:-}${SANITIZED:+-sanitized} in
    no) xargs grep -L '^# slow: ' ;;
    no-sanitized) xargs grep -l '^# input: ' ;;
    only*) xargs grep -l '^# slow: ' ;;
    *) cat ;;
    esac)
printf '%s\n' "$@" | xargs -r grep -l '^# waits: ' | run_all 1 &
# the longest begin first, or one CPU would wait for the other at the end
printf '%s\n' "$@" | xargs -r grep -L '^# \(alone\|waits\): ' |
    awk '{ print ($0 ~ /t_(all|tables|draft|registers|thousand|install)[.]sh/ ? 0 : 1), NR, $0 }' | sort -n |
    cut -d ' ' -f 3- | run_all "$(nproc)"
wait
printf '%s\n' "$@" | xargs -r grep -l '^# alone: ' | run_all 1

passed=0 failed=0 skipped=0
for script; do
    name=$(basename "$script")
    read -r status seconds <"$logs/$name.result"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$logs/$name.log" |
        tail -n 1)
    grep -v '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$logs/$name.log"
    # shellcheck disable=SC2086 # three numbers
    set -- ${counts:-0 0 0}
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; }; then
        echo "  FAILED: $name: exit status $status, without a count of failed checks"
        set -- "$1" $(($2 + 1)) "$3"
    fi
    printf '  %-28s %4d passed %3d failed %3d skipped  %3d s\n' "$name" "$@" "$seconds"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
