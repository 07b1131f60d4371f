#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill_and_resume.sh TIMES [SEED]: --all on a model with short settings, ended at TIMES random moments, one in each run:
# by SIGKILL in three of five runs, else by SIGTERM or SIGINT. Each time
# - what is there then is, file by file and to the byte, what an undisturbed run has: nothing is half-written; names of
#   files that were being written are left by SIGKILL alone;
# - SIGTERM and SIGINT end the run within 2 s (on a busy machine), with status 1;
# - resumed, the directory is the same to the byte as that of the undisturbed run, and no cell that was there has been
#   written again: nothing is lost.
# Ends with the line 'N passed, N failed, 0 skipped'. $CHARACTERIZE is the program; RESUME_OPTIONS are others than the
# usual ones.
set -u

times=${1:-100}
seed=${2:-$(date +%s)}
program=${CHARACTERIZE:-$(dirname "$0")/../../characterize}
model=model:xeon-gold-6130
options=${RESUME_OPTIONS:---kernels 128fma,512or,512fma --active-cores 2,all --runs 4}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# the program takes the place of the shell that calls this, so that a signal meets the program itself; a shell's
# background job ignores SIGINT
measure() {
    # shellcheck disable=SC2086 # several options
    exec env --default-signal=INT,TERM "$program" --all --brief --machine $model --quiet $options --output "$@"
}

# The cells, with what changes when one is written again.
cells() {
    find "$tmp/cut/cells" -name '*.json' -printf '%P %i %T@\n' 2>"$tmp/ignored" | sort
}

# cut_off SIGNAL SECONDS: begins a run and ends it. False, after a line, where it did not end as it must.
cut_off() {
    (measure "$tmp/cut") >"$tmp/out" 2>&1 &
    pid=$!
    sleep "$2"
    begin=$(date +%s%N)
    kill -s "$1" $pid 2>"$tmp/ignored"
    wait $pid 2>"$tmp/ignored"
    status=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    [ "$status" -ne 0 ] || late=$((late + 1))
    [ "$took" -le "$longest" ] || longest=$took
    case $1:$status in
    *:0 | KILL:137 | TERM:1 | INT:1) ;;
    TERM:143 | INT:130) early_signals=$((early_signals + 1)) ;; # before the program was there
    *) false ;;
    esac && [ "$took" -le 2000 ] && return
    echo "  status $status after $took ms"
    false
}

# whole_so_far SIGNAL: whether what is there is what belongs there.
whole_so_far() {
    [ -d "$tmp/cut" ] || return 0
    diff -r "$tmp/whole" "$tmp/cut" 2>&1 | grep -v "^Only in $tmp/whole" >"$tmp/diff"
    if [ "$1" = KILL ]; then
        begun=$((begun + $(grep -c '^Only in .*: \..*\.tmp$' "$tmp/diff")))
        grep -v '^Only in .*: \..*\.tmp$' "$tmp/diff" >"$tmp/rest"
        mv "$tmp/rest" "$tmp/diff"
    fi
    ! [ -s "$tmp/diff" ]
}

# resumed: whether going on makes the same of it, and takes what was there.
resumed() {
    cells >"$tmp/cells"
    kept=$((kept + $(wc -l <"$tmp/cells")))
    (measure "$tmp/cut" --resume) >"$tmp/out" 2>&1 && diff -r "$tmp/whole" "$tmp/cut" >"$tmp/diff" &&
        cells | comm -23 "$tmp/cells" - >"$tmp/diff" && ! [ -s "$tmp/diff" ]
}

if ! env --default-signal=INT true 2>/dev/null; then
    echo "  FAILED: resume: env of this system has no --default-signal"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
begin=$(date +%s%N)
if ! (measure "$tmp/whole") >"$tmp/out" 2>&1; then
    cat "$tmp/out"
    echo "  FAILED: resume: the undisturbed run"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
took_whole=$((($(date +%s%N) - begin) / 1000000))
cells_whole=$(find "$tmp/whole/cells" -name '*.json' | wc -l)
passed=0 failed=0 early=0 early_signals=0 late=0 kept=0 begun=0 longest=0
: >"$tmp/diff"
awk -v n="$times" -v seed="$seed" -v took="$took_whole" 'BEGIN {
    srand(seed)
    for (i = 0; i < n; i++) {
        draw = rand() * 5
        printf "%s %.3f\n", draw < 3 ? "KILL" : draw < 4 ? "TERM" : "INT", rand() * took / 1000
    }
}' >"$tmp/moments"
while read -r signal moment; do
    rm -rf "$tmp/cut"
    if cut_off "$signal" "$moment" && whole_so_far "$signal" &&
        { [ -e "$tmp/cut/run.json" ] || early=$((early + 1)); } && resumed; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "  FAILED: resume: SIG$signal after $moment s of $took_whole ms (seed $seed)"
        head -n 5 "$tmp/out" "$tmp/diff"
    fi
done <"$tmp/moments"
echo "an undisturbed run takes $took_whole ms and has $cells_whole cells; of $times runs $early ended before anything" \
    "was kept ($early_signals of them before the program had begun), $late were done before the signal"
echo "$kept finished cells were taken over, $begun files that were being written were swept away; the longest time" \
    "from the signal to the end was $longest ms"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
