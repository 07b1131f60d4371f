#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs every t_*.sh beside it and ends with the line 'N passed, N failed, N skipped'. Those that mostly wait, for pipes,
# signals and disks, run beside the others. Environment: CHARACTERIZE, the program (default: ./characterize of the
# repository).
set -u

here=$(dirname "$0")
logs=$(mktemp -d) || exit 1
waiting=
trap 'rm -rf "$logs"' EXIT
trap 'kill $waiting 2>/dev/null; exit 1' HUP INT TERM

# run_one SCRIPT: leaves its output and its status in $logs
run_one() {
    timeout -k 10 300 sh "$1" </dev/null >"$logs/$(basename "$1").log" 2>&1
    echo $? >"$logs/$(basename "$1").status"
}

passed=0 failed=0 skipped=0

# report SCRIPT: shows what it said, and counts
report() {
    log=$logs/$(basename "$1").log status=$(cat "$logs/$(basename "$1").status")
    grep -v '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$log"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
    # shellcheck disable=SC2086 # three numbers
    set -- "$1" ${counts:-0 0 0}
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "$3" -eq 0 ]; }; then
        echo "  FAILED: $(basename "$1"): exit status $status, without a count of failed checks"
        set -- "$1" "$2" "$(($3 + 1))" "$4"
    fi
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

aside=
for name in t_full.sh t_hostile.sh t_pipes.sh t_signals.sh; do
    [ ! -e "$here/$name" ] || aside="$aside $name"
done
for name in $aside; do
    run_one "$here/$name"
done &
waiting=$!
for script in "$here"/t_*.sh; do
    case " $aside " in
    *" $(basename "$script") "*) ;;
    *) run_one "$script" && report "$script" ;;
    esac
done
wait "$waiting"
for name in $aside; do
    report "$here/$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
