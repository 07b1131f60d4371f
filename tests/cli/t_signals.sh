#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Signals while measuring and analysing: a clean stop, one line, status 1, nothing half-written.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
# far longer than anybody waits
endless="128fma:128or --machine model:xeon-gold-6130 --runs 100000"

# start ARGUMENT...: in the background, with signals as a terminal has them (a shell's background job ignores SIGINT).
start() {
    env --default-signal=INT,TERM,HUP "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null &
    program=$!
}

# stop SIGNAL: sends it once the program has begun, waits for the end.
stop() {
    sleep 1
    kill -s "$1" "$program" || return 1
    wait "$program" 2>/dev/null
    status=$?
}

if ! env --default-signal=INT true 2>/dev/null; then
    skip "signals" "env of this system has no --default-signal"
    finish
fi

for signal in INT TERM HUP; do
    clean
    # shellcheck disable=SC2086
    start $t $endless --output files
    stop "$signal"
    verdict "SIG$signal while measuring" \
        one_line 1 'interrupted after [0-9]+ of [0-9]+ repetitions, nothing was written'
done

# on this processor, where settings may have been changed
clean
start $t 64add:128or --runs 10000 --observe 1000 --quiet
stop INT
if [ "$status" -eq 3 ]; then
    skip "SIGINT while measuring on this processor" "$(cat "$err")"
else
    verdict "SIGINT while measuring on this processor" one_line 1 'interrupted after [0-9]+ of 10000 repetitions'
fi

# an old file stays as it was
clean
printf 'old\n' >x.csv
# shellcheck disable=SC2086
start $t $endless --csv x.csv
stop INT
verdict "an old file survives" test "$(cat x.csv)" = old -a "$(left)" = "$work/x.csv"

# killed outright: nothing is left either
clean
# shellcheck disable=SC2086
start $t $endless --csv x.csv
stop KILL
verdict "SIGKILL leaves no file" test "$status" -ge 128 -a -z "$(left)"

# waiting for input that does not come
clean
mkfifo "$tmp/pipe"
sleep 20 >"$tmp/pipe" &
writer=$!
env --default-signal=INT "$CHARACTERIZE" --analyze - --json x.json <"$tmp/pipe" >"$out" 2>"$err" &
program=$!
stop INT
kill "$writer" 2>/dev/null
verdict "SIGINT while reading" one_line 1 'interrupted, nothing was written'

# what the caller ignores stays ignored, as under nohup
clean
# shellcheck disable=SC2086
env --ignore-signal=HUP "$CHARACTERIZE" $t 128fma:128or --machine model:xeon-gold-6130 --runs 2000 --csv x.csv \
    >"$out" 2>"$err" </dev/null &
program=$!
sleep 0.3
kill -s HUP "$program"
wait "$program"
status=$?
verdict "an ignored SIGHUP stays ignored" test "$status" -eq 0 -a -s x.csv

finish
