#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --profile: modelled systems end to end, what this machine lacks, and every wrong way to ask.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

params=$root/tests/support/xeon-gold-6130.export.json
m='--machine model:xeon-gold-6130'
p="--profile $m"

# ---- a modelled system ----

# shellcheck disable=SC2086 # options and values
{
    run $p --seconds 5
    verdict "a modelled system: status 0" test "$status" -eq 0
    verdict "it says that it is modelled" grep -q 'modelled, not measured' "$out"
    cost='50 times a second one of [0-9]+ cores pauses for 0.70 ms, .* late by up to 0.84 ms\.$'
    verdict "what it will cost is said first" \
        grep -Eq "^Profiling a modelled system for 5 s of modelled time: $cost" "$err"
    verdict "... in one line" test "$(wc -l <"$err")" -eq 1
    verdict "tasks with limits" grep -Eq '^[a-z]+-[0-9-]+ +[0-9.]+ +[0-9.]+ \([0-9.]+ to [0-9.]+\)' "$out"
    verdict "no line is longer than 100 columns" test -z "$(awk 'length > 100' "$out")"
    cp "$out" "$tmp/first"
    run $p --seconds 5
    verdict "the same again" cmp "$tmp/first" "$out"
    "$CHARACTERIZE-profile" $m --seconds 5 >"$out" 2>"$err" </dev/null
    status=$?
    verdict "characterize-profile: the same" test "$status" -eq 0 -a -z "$(cmp "$tmp/first" "$out" 2>&1)"
    run $p --seconds 5 --seed 1
    verdict "another seed: another profile" test "$status" -eq 0 -a -n "$(cmp "$tmp/first" "$out" 2>&1)"
    run $p --seconds 5 --quiet
    verdict "--quiet: results alone" test "$status" -eq 0 -a ! -s "$err" -a -s "$out"

    run $p --seconds 5 --sources --params "$params" --output all
    verdict "--output: status 0" test "$status" -eq 0
    for file in json csv html folded; do
        verdict "--output: profile.$file" test -s "all/profile.$file"
    done
    verdict "it tells which" grep -q '^Written  *all/profile.json (profile)$' "$out"
    run $p --seconds 2 --json "$(printf 'c\nd\033[31m')"
    verdict "... whatever its name holds, on one line" grep -q '^Written  *c d?\[31m (profile)$' "$out"
    (ulimit -f 200 && "$CHARACTERIZE" $p --seconds 5 --output partly >"$out" 2>"$err" </dev/null)
    status=$?
    verdict "a page that is too large: status 1" test "$status" -eq 1
    left='not written: partly/profile.html, partly/profile.folded'
    verdict "... and which files were written" \
        grep -q "written: partly/profile.json, partly/profile.csv; $left\$" "$err"
    verdict "... which is so" test -s partly/profile.csv -a ! -e partly/profile.html
    mkdir small
    if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=4m tmpfs small 2>/dev/null; then
        run $p --seconds 2 --output small
        verdict "a small disk with room for it" test "$status" -eq 0 -a -s small/profile.html
        umount small
    else
        skip "a small disk" "no small file system: mounting a tmpfs is not allowed here"
    fi
    verdict "JSON: the format" grep -q '"format": "characterize-profile/1"' all/profile.json
    verdict "JSON: modelled" grep -q '"modelled": true' all/profile.json
    verdict "JSON: sources" grep -Eq '"sources": (true|1)' all/profile.json
    verdict "CSV: a row for each task" grep -Eq '^task,' all/profile.csv
    verdict "the page has pictures" grep -q '<svg' all/profile.html
    verdict "folded stacks: frames and a count" grep -Eq '^level [12];[^;]+;.* [0-9]+$' all/profile.folded
    run $p --seconds 5 --sources --params "$params" --output again
    for file in json csv html folded; do
        verdict "the same seed, the same bytes: profile.$file" cmp "all/profile.$file" "again/profile.$file"
    done
    run $p --seconds 5 --json - --quiet
    verdict "--json -: nothing but JSON" test "$(head -c 1 "$out")" = '{' -a "$(tail -n 1 "$out")" = '}'
    verdict "... and the table on standard error" grep -q 'modelled, not measured' "$err"
    run $p --seconds 5 --csv - --quiet
    verdict "--csv -" grep -q '^kind,name,' "$out"
    run $p --seconds 5 --params "$params"
    verdict "parameters of the same processor: no warning" test "$status" -eq 0 -a "$(grep -c warning "$err")" -eq 0
    verdict "a pause as long as the longest wait" grep -q 'pauses for 1.37 ms' "$err"
    sed 's/"cpu": "Intel Xeon Gold 6130/"cpu": "Intel Xeon Gold 6131/' "$params" >"$tmp/other.json"
    run $p --seconds 5 --params "$tmp/other.json" --json other.json
    verdict "parameters of another processor: a warning by name" \
        grep -q 'warning: the parameters of .* are those of Intel Xeon Gold 6131.*; this is Intel Xeon Gold 6130' "$err"
    verdict "... in the JSON, too" grep -q 'Gold 6131' other.json
    sed 's/"wait_ns\([a-z_]*\)": [0-9]*/"wait_ns\1": 2000000/g' "$params" >"$tmp/long.json"
    refuses "waits that no pause outlasts" 2 'held for up to 2000 us, .*at most 1500 us are permitted' \
        $p --params "$tmp/long.json"
    sed 's/"wait_ns\([a-z_]*\)": [0-9]*/"wait_ns\1": 0/g' "$params" >"$tmp/zero.json"
    refuses "waits of nothing" 2 'held for 0 us' $p --params "$tmp/zero.json"
    sed 's/"wait_ns\([a-z_]*\)": [0-9]*/"wait_ns\1": 100000/g' "$params" >"$tmp/short.json"
    run $p --seconds 20 --params "$tmp/short.json" --json short.json
    verdict "waits that are too short: why samples are lost" \
        grep -q 'the level was still reduced after the pause of 130 us' short.json
    verdict "... and no bound" test "$(grep -c 'at most' "$out")" -eq 0
    # measured with one active core alone
    awk '/"frequencies": \[/ { only = 1 }
        only && /^ *\],?$/ { print line; line = ""; only = 0 }
        only && /"active_cores": 1,/ { if (line) print line ","; line = $0; sub(/,$/, "", line) }
        only && /"active_cores"/ { next }
        { print }' "$params" >"$tmp/one.json"
    run $p --seconds 5 --params "$tmp/one.json" --json one.json
    verdict "a table for fewer cores than are active: a warning" \
        grep -q 'cores were active, but the table has frequencies for no more than 1' one.json
    verdict "... and no bound" test "$(grep -c 'at most' "$out")" -eq 0
    run $p --seconds 2 --rate 250
    verdict "the largest rate" test "$status" -eq 0
    # the last turn is over seconds before the end, or there is none
    run $p --rate 0.1 --quiet
    verdict "it took as long as requested" grep -q '^30.0 s, a turn every 10000 ms' "$out"
    run $p --rate 0.1 --seconds 0.1 --quiet
    verdict "... also without a turn" grep -q '^0.1 s, a turn every 10000 ms' "$out"
    cp "$root/data/models/xeon-gold-6130.model" own.model
    run --profile --machine model:./own.model --seconds 2
    verdict "a model by its file" test "$status" -eq 0
    cp "$root/data/models/xeon-gold-6130.model" "$tmp/own.model"
    run --profile --machine model:./own.model --json ./own.model --seconds 2
    verdict "an output that is the model" test "$status" -eq 2 -a "$(grep -c overwritten "$err")" -eq 1
    verdict "... which is left as it was" cmp -s own.model "$tmp/own.model"
    cp "$params" own.json
    run $p --params own.json --json own.json
    verdict "an output that is the parameters" test "$status" -eq 2 -a "$(grep -c overwritten "$err")" -eq 1
    verdict "... which are left as they were" cmp -s own.json "$params"
    if command -v gnuplot >/dev/null 2>&1; then
        run $p --seconds 2 --plot p.svg
        verdict "--plot" test "$status" -eq 0 -a -s p.svg
    else
        skip "--plot" "no gnuplot"
    fi

    # more than 5 % of the time of four cores
    w='--profile --machine model:xeon-w-2104 --seconds 2'
    refuses "a duty that is not permitted, with the rate that works" 2 \
        '250 samples a second would take 8.6 % of the time of 4 cores, .* 5 % is permitted; --rate 145.87 works' \
        $w --params "$params" --rate 250
    run $w --params "$params" --rate 145.87
    verdict "... which does" test "$status" -eq 0
}
for args in '--rate 0' '--rate 0.05' '--rate 251' '--rate x' '--rate'; do
    # shellcheck disable=SC2086
    refuses "$args" 2 '--rate' $p $args
done
for args in '--seconds 0' '--seconds -1' '--seconds 1e9' '--seconds 5s'; do
    # shellcheck disable=SC2086
    refuses "$args" 2 '--seconds: .*allowed: 0.1 to 604800 seconds' $p $args
done
# shellcheck disable=SC2086
{
    refuses "an unwritable file" 1 'no/such/p.json' $p --json no/such/p.json
    mkdir -p "$tmp/way"
    refuses "a directory in the way" 1 "$tmp/way" $p --csv "$tmp/way"
    refuses "two outputs of one name" 2 "--json and --folded both name 'x'" $p --json x --folded x
    refuses "an empty name" 2 '--folded: the name is empty' $p --folded ''
    refuses "no such parameters" 2 'none.json: No such file' $p --params "$tmp/none.json"
    refuses "parameters that are no JSON" 2 't_profile.sh:1' $p --params "$root/tests/cli/t_profile.sh"
    refuses "a plot of another form" 2 'neither .svg nor .png' $p --plot x.pdf
    refuses "a command in a model" 2 "'ls' cannot be combined with --machine model:" $p -- ls
    refuses "a rehearsal in a model" 2 '--rehearsal needs the kernel module' $p --rehearsal
    refuses "--live and --no-live" 2 '--live and --no-live' $p --live --no-live
    refuses "--live beside a file on standard output" 2 '--live cannot be combined with a file' $p --live --json -
    refuses "no such model" 2 "no model 'xeon-gold-6131'" --profile --machine model:xeon-gold-6131
    refuses "a model without levels" 3 'no license counters' --profile --machine model:generic-no-licence
    refuses "a client without levels" 3 'licen[sc]e' --profile --machine model:core-i7-6700hq
}
refuses "a machine that knows no levels" 2 "cannot use 'timing'; it works with auto, helper, perf" \
    --profile --machine timing
refuses "a mistyped machine" 2 "cannot use 'helpr'" --profile --machine helpr
refuses "a command without --" 2 "behind|follows --: --profile -- sleep" --profile sleep
refuses "nothing after --" 2 'no command after --' --profile --
refuses "an empty command" 2 'name of the command is empty' --profile -- ''
refuses "a mistyped option" 2 "unknown option '--source', perhaps|is ambiguous|needs|--source" --profile --sourcse
refuses "--sources in a rehearsal" 2 '--sources cannot be combined with --rehearsal' --profile --rehearsal --sources
refuses "--params with perf" 2 '--params cannot be combined with --machine perf' --profile --machine perf --params x
refuses "--live with perf" 2 '--live cannot be combined with --machine perf' --profile --machine perf --live
refuses "--plot with perf" 2 '--plot cannot be combined with --machine perf' --profile --machine perf --plot x.svg
for option in '--cpu 0' '--runs 3' '--active-cores 1' '--turbo on' '--input d' --brief '--policy stock'; do
    # shellcheck disable=SC2086 # option and value
    refuses "--profile with $option" 2 "${option%% *} cannot be combined with --profile" --profile $option
done
for option in '--rate 3' --sources '--folded x' --rehearsal --live --no-live; do
    # shellcheck disable=SC2086
    refuses "$option without a job" 2 "${option%% *} without a job: add --profile" $option
    # shellcheck disable=SC2086
    refuses "$option with another job" 2 "${option%% *} cannot be combined with --table; use it with --profile" \
        --table frequency $option
done
refuses "--seconds without a job" 2 \
    '--seconds without a job: add --verdict or --beside KERNEL -- COMMAND or --which' --seconds 3
refuses "--seconds with another job" 2 \
    '--seconds cannot be combined with --table; use it with --verdict or --beside KERNEL -- COMMAND or --which' \
    --table frequency --seconds 3
refuses "another job's --" 2 "unexpected argument 'x'" --list kernels -- x

# ---- signals ----

# begin ARGUMENT...: a long profile in the background, which has begun when this returns
begin() {
    "$CHARACTERIZE" --profile --machine model:xeon-gold-6130 --seconds 604800 "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    until grep -q '^Profiling' "$err" || ! kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
    done
    sleep 1
}
clean
begin --json p.json
kill -TERM "$pid"
wait "$pid"
status=$?
verdict "a signal ends the profile, which is shown: status 0" test "$status" -eq 0 -a -s "$out"
verdict "... and written" grep -q '"format": "characterize-profile/1"' p.json
verdict "... with what was known by then" test "$(sed -n 's/^ *"seconds": \([0-9]*\)[.,].*/\1/p' p.json)" -lt 604800
begin --rate 0.1 --seed 10 # the time between two of its turns takes long to calculate
kill -TERM "$pid"
sleep 1
ended() {
    ! grep '^State:' "/proc/$pid/status" 2>/dev/null | grep -qv Z
}
verdict "it ends within a second" ended
kill -KILL "$pid" 2>/dev/null
wait "$pid"
status=$?
verdict "... with what was known" test "$status" -eq 0 -a "$(grep -c ' s, a turn every 10000 ms' "$out")" -eq 1
clean
mkfifo "$tmp/unread"
exec 3<>"$tmp/unread" # a full pipe that nobody reads
dd if=/dev/zero of="$tmp/unread" bs=4096 count=16 oflag=nonblock 2>/dev/null
began=$out
out=$tmp/unread
begin --json - --seed 3
out=$began
kill -TERM "$pid"
sleep 1
verdict "it waits for who reads the results" kill -0 "$pid"
kill -TERM "$pid"
wait "$pid"
status=$?
exec 3<&-
verdict "a second signal ends the program: status 1" test "$status" -eq 1

# ---- this machine ----

# Where there is no module: either shares by perf, or the reason; a command is not begun in vain.
clean
if [ ! -e /dev/characterize ]; then
    lacks='no license levels|/dev/characterize.*; .*insmod|no events for license|event table|which license events'
    refuses "no module: the reason and the remedy" 3 "$lacks" --profile --machine helper
    refuses "no module: no rehearsal" 3 '/dev/characterize' --profile --rehearsal
    clean
    "$CHARACTERIZE" --profile --seconds 1 -- touch begun >"$out" 2>"$err" </dev/null
    status=$?
    if [ "$status" -eq 3 ]; then
        verdict "a profile that cannot be taken: no command is begun" test ! -e begun
        verdict "... the reason in one line" test "$(wc -l <"$err")" -eq 1
        if grep -q 'Frequency now' "$out"; then
            verdict "the frequency is measured, and what that leaves open is said" \
                grep -q '^This does not show at which license level' "$out"
            run --profile --json -
            verdict "... on standard error where JSON was to come" test "$status" -eq 3 -a ! -s "$out"
            run --profile
            verdict "... in a possible range" awk '/Frequency now/ { f = $6 + 0; exit !(f > 0.2 && f < 10) }' "$out"
        fi
        if grep -q AuthenticAMD /proc/cpuinfo; then
            verdict "AMD: no levels, by name" grep -q 'AMD processors have no license levels' "$err"
            run --profile --machine perf
            verdict "AMD: perf does not pretend either" test "$status" -eq 3 -a ! -s "$out"
        fi
    else
        verdict "shares by perf" grep -q 'not overhead' "$out"
    fi
else
    skip "what is said without the module" "it is loaded"
fi

finish
