#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow: seconds of waiting for programs that are ended
# waits: likewise
# Signals while measuring and analysing: a clean stop, one line, status 1, nothing half-written.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
nl='
'
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
        one_line 1 'interrupted after [0-9]+ of [0-9]+ repetitions; nothing was written'
done

"$CHARACTERIZE" --export json "$tmp/params.json" --machine model:xeon-gold-6130 >"$out" 2>"$err"
clean
start --simulate web-server --params "$tmp/params.json" --runs 1000 --output new/files
stop INT
verdict "SIGINT while simulating: no folder stays" one_line 1 'interrupted: nothing was written'

# on this processor, where settings may have been changed
clean
start $t 64add:128or --runs 10000 --observe 1000 --quiet
stop INT
if [ "$status" -eq 3 ]; then
    skip "SIGINT while measuring on this processor" "$(cat "$err")"
else
    verdict "SIGINT while measuring on this processor" one_line 1 'interrupted after [0-9]+ of 10000 repetitions'
fi

# It has a while to end: where it has said why, and is putting its things away, time ends without another word.
lines=
mkfifo "$tmp/said"
for _ in 1 2 3; do
    clean
    # shellcheck disable=SC2086
    env --default-signal=TERM "$CHARACTERIZE" $t $endless --quiet >"$out" 2>"$tmp/said" </dev/null &
    program=$!
    exec 3<"$tmp/said"
    sleep 0.8
    kill -s TERM "$program"
    read -r line <&3
    kill -s STOP "$program"
    sleep 0.9
    kill -s CONT "$program"
    lines=$lines$(echo "$line"; cat <&3)$nl
    exec 3<&-
    wait "$program" 2>/dev/null
done
verdict "one line also where the time to end is over" \
    test "$(echo "$lines" | grep -c 'interrupted after [0-9]* of')" -eq 3 -a "$(echo "$lines" | grep -c .)" -eq 3

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
verdict "SIGINT while reading" one_line 1 'interrupted: nothing was written'

# ---- wherever it waits: ended within a second, however long the wait

# ends_soon WHAT SIGNAL: sends it to $program, which must then end within a second (and what a busy machine adds), with
# status 1 and at most one line, and must leave no child.
ends_soon() {
    if ! kill -0 "$program" 2>/dev/null; then
        skip "$1: SIG$2" "it had ended before"
        return
    fi
    children=$(cat "/proc/$program/task/$program/children" 2>/dev/null)
    began=$(date +%s%N)
    kill -s "$2" "$program"
    (sleep 8 && kill -9 "$program") >/dev/null 2>&1 &
    limit=$!
    wait "$program" 2>/dev/null
    status=$?
    took=$((($(date +%s%N) - began) / 1000000))
    kill "$limit" 2>/dev/null
    sleep 0.1
    orphans=$(for child in $children; do grep '^State:.[^Z]' "/proc/$child/status" 2>/dev/null; done)
    verdict "$1: SIG$2 (${took} ms)" test "$status" -eq 1 -a "$took" -le 1500 -a \
        "$(grep -c '^characterize: ' "$err")" -eq 1 -a -z "$orphans"
}

# a pipe that somebody has open but never reads or writes, as `deaf` and `mute`
partners() {
    clean
    mkfifo deaf mute
    (exec sleep 60) <deaf >mute &
    partner=$!
    # neither end waits for the other here
    (exec sleep 60) >deaf <mute &
    partner2=$!
}
leave() {
    kill "$partner" "$partner2"
    wait "$partner" "$partner2" 2>/dev/null
}

few="128fma:512fma --machine model:xeon-gold-6130 --runs 100"
all="--all --brief --machine model:xeon-gold-6130 --kernels 128fma,512fma --active-cores all --runs 2"
partners
# shellcheck disable=SC2086
{
    start $t $few --csv deaf --quiet
    sleep 1
    ends_soon "writing to a pipe that nobody reads" TERM
    start $t $few --output files --json deaf --quiet
    sleep 1
    ends_soon "... with other files to come" INT
    start $t 128fma:512fma --machine model:./mute
    sleep 0.5
    ends_soon "reading a model from a slow pipe" TERM
    start --validate ./mute --machine model:xeon-gold-6130
    sleep 0.5
    ends_soon "reading published figures from a slow pipe" TERM
    start --analyze mute --json x.json
    sleep 0.5
    ends_soon "reading a trace from a slow pipe" TERM
    start --self-test --input mute
    sleep 0.5
    ends_soon "reading a bundle from a slow pipe" TERM
}
# standard output; the pipe is full by now
# shellcheck disable=SC2086
for options in "$t $few --csv - --quiet" "--table umask --brief --machine model:xeon-gold-6130 --csv -" \
    "--export json --machine model:xeon-gold-6130"; do
    (exec env --default-signal=INT,TERM "$CHARACTERIZE" $options >deaf 2>"$err" </dev/null) &
    program=$!
    sleep 1
    ends_soon "${options%% *} to standard output that nobody reads" TERM
done
leave

# when all but the plot is done: who interrupts a script does not want its next command
if gnuplot=$(command -v gnuplot); then
    mkdir "$tmp/slow"
    printf '#!/bin/sh\n: >"%s"\nsleep 0.3\nexec %s "$@"\n' "$tmp/drawing" "$gnuplot" >"$tmp/slow/gnuplot"
    chmod 755 "$tmp/slow/gnuplot"
    clean
    # few repetitions: the picture is to be done within what the program allows itself, also on a busy machine
    # shellcheck disable=SC2086
    PATH=$tmp/slow:$PATH start $t ${few% *} 20 --csv x.csv --plot x.svg
    for _ in $(seq 100); do
        [ ! -e "$tmp/drawing" ] || break
        sleep 0.05
    done
    kill -s TERM $program
    wait $program
    status=$?
    verdict "SIGTERM while the plot is drawn: status 1, one line, a whole plot" \
        test "$status" -eq 1 -a "$(grep -c interrupted "$err")" -eq 1 -a "$(wc -l <"$err")" -eq 1 -a -s x.svg
fi

# a child that hangs, and its own children
bin=$tmp/bin
mkdir "$bin"
printf '#!/bin/sh\nexec sleep 61\n' >"$bin/gnuplot"
chmod 755 "$bin/gnuplot"
clean
path=$PATH
PATH=$bin:$path
# shellcheck disable=SC2086
{
    start $t $few --plot x.svg
    sleep 1
    ends_soon "gnuplot hangs: a transition" TERM
    verdict "... and had a child that hung" test -n "$children"
    start --table frequency --kernels 128fma --active-cores 1 --machine model:xeon-gold-6130 --output files --quiet
    sleep 1
    ends_soon "gnuplot hangs: a table" INT
    start $all --output all --quiet
    sleep 3
    ends_soon "gnuplot hangs: --all" TERM
}
PATH=$path
verdict "... which says how to go on" grep -q "finished cells are kept in all: continue with --resume" "$err"

# a long calculation, after the measuring and after the reading
clean
# shellcheck disable=SC2086
run $t 128fma:512fma --machine model:xeon-gold-6130 --runs 8000 --csv long.csv --quiet
for after in 0.2 0.8; do
    start --analyze long.csv --json x.json
    sleep $after
    ends_soon "analysing since $after s" TERM
done
for after in 0.7 1.4 2; do
    start $t 128fma:512fma --machine model:xeon-gold-6130 --runs 32000 --csv x.csv --quiet # 4 s on a fast machine
    sleep $after
    ends_soon "measuring or analysing since $after s" TERM
done
verdict "nothing of it was written" test "$(left)" = "$work/long.csv"

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
