#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs every t_*.sh beside it and ends with the line 'N passed, N failed, N skipped'. Environment: CHARACTERIZE, the
# program (default: ./characterize of the repository).
set -u

here=$(dirname "$0")
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM

passed=0 failed=0 skipped=0
for script in "$here"/t_*.sh; do
    timeout -k 10 300 sh "$script" </dev/null >"$log" 2>&1
    status=$?
    grep -v '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$log"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
    # shellcheck disable=SC2086 # three numbers
    set -- ${counts:-0 0 0}
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; }; then
        echo "  FAILED: $(basename "$script"): exit status $status, without a count of failed checks"
        set -- "$1" "$(($2 + 1))" "$3"
    fi
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
