#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill_and_resume.sh TIMES [SEED]: --all on a model with short settings, killed with SIGKILL at TIMES random moments,
# one in each run, and then resumed: the directory must be the same to the byte as that of an undisturbed run. Ends with
# the line 'N passed, N failed, 0 skipped'. $CHARACTERIZE is the program.
set -u

times=${1:-100}
seed=${2:-$(date +%s)}
program=${CHARACTERIZE:-$(dirname "$0")/../../characterize}
model=model:xeon-gold-6130
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# the program takes the place of the shell that calls this, so that a signal meets the program itself
measure() {
    exec "$program" --all --brief --machine $model --kernels 128fma,512or,512fma --active-cores 2,all --runs 4 --quiet \
        --output "$@"
}

begin=$(date +%s%N)
if ! (measure "$tmp/whole") >"$tmp/out" 2>&1; then
    cat "$tmp/out"
    echo "  FAILED: resume: the undisturbed run"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
took=$((($(date +%s%N) - begin) / 1000000))
passed=0 failed=0 early=0 late=0
: >"$tmp/diff"
moments=$(awk -v n="$times" -v seed="$seed" -v took="$took" \
    'BEGIN { srand(seed); for (i = 0; i < n; i++) printf "%.3f\n", rand() * took / 1000 }')
for moment in $moments; do
    rm -rf "$tmp/cut"
    (measure "$tmp/cut") >"$tmp/out" 2>&1 &
    pid=$!
    sleep "$moment"
    kill -9 $pid 2>"$tmp/ignored"
    if wait $pid 2>"$tmp/ignored"; then
        late=$((late + 1))
    fi
    [ -e "$tmp/cut/run.json" ] || early=$((early + 1))
    if (measure "$tmp/cut" --resume) >"$tmp/out" 2>&1 && diff -r "$tmp/whole" "$tmp/cut" >"$tmp/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "  FAILED: resume: killed after $moment s of $took ms (seed $seed)"
        head -n 5 "$tmp/out" "$tmp/diff"
    fi
done
echo "an undisturbed run takes $took ms; $early were killed before anything was kept, $late had ended"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
