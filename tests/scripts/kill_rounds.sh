#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# kill_rounds.sh [N [SEED]]: N times (500) a measurement with --quiet-machine, in a folder that looks like a machine's,
# is ended by SIGINT, SIGTERM or SIGKILL at a random moment. Afterwards, for SIGKILL after the next start, all settings
# must be as they were, and what was written must be whole.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
CHARACTERIZE=${CHARACTERIZE:-$root/characterize}
case $CHARACTERIZE in
/*) ;;
*) CHARACTERIZE=$(pwd)/$CHARACTERIZE ;;
esac
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-$root/data}
export CHARACTERIZE_DATA
rounds=${1:-500} seed=${2:-1}
# shellcheck source=tests/support/quiet_tree.sh
. "$root/tests/support/quiet_tree.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1

if ! env --default-signal=INT true 2>/dev/null; then
    echo "skipped: env of this system has no --default-signal"
    exit 0
fi

# In a subshell: it becomes the program, so that a signal reaches it.
measure() {
    exec env --default-signal=INT,TERM "$CHARACTERIZE" --transition 128fma:512fma --machine model:xeon-gold-6130 \
        --runs 40 --cpu 3 --quiet-machine=governor,epp,turbo,cstates,smt,irq,workqueue,tick --sysroot "$work/tree" \
        --csv "$work/trace.csv" --quiet >out 2>err </dev/null
}

quiet_tree "$work/tree"
quiet_tree_state "$work/tree" >before
failed=0 changed=0 whole=0
awk -v n="$rounds" -v seed="$seed" 'BEGIN { srand(seed); split("INT TERM KILL", s)
    for (; n > 0; n--) print s[int(3 * rand()) + 1], rand() * rand() * 0.3, int(2 * rand()) }' >plan
while read -r signal after next; do
    rm -f trace.csv
    measure &
    sleep "$after"
    kill -s "$signal" $! 2>/dev/null
    wait $! 2>/dev/null
    quiet_tree_state tree >during
    cmp -s before during || changed=$((changed + 1))
    if [ "$signal" = KILL ]; then
        if [ "$next" -eq 0 ]; then "$CHARACTERIZE" --restore --sysroot tree >restored 2>&1; else (measure); fi
    fi
    quiet_tree_state tree >after
    if ! cmp -s before after; then
        echo "FAILED: SIG$signal after $after s:"
        diff before after | head
        failed=$((failed + 1))
        quiet_tree "$work/tree"
    fi
    if [ -e trace.csv ]; then
        whole=$((whole + 1))
        "$CHARACTERIZE" --analyze trace.csv --quiet >/dev/null 2>err || {
            echo "FAILED: SIG$signal after $after s: trace.csv: $(cat err)"
            failed=$((failed + 1))
        }
    fi
done <plan
echo "$rounds rounds: $failed failed; settings were changed when $changed of them ended, and $whole wrote a result"
[ "$failed" -eq 0 ] && { [ "$rounds" -lt 100 ] || [ "$changed" -gt 0 ]; }
