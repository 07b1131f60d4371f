#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# alone: it measures this processor
# A run that is stopped for more than a second, as by a suspended machine, in the middle of its measurement: what lies
# across the pause is repeated or discarded, and said, never a result.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# paused ARGUMENT...: the program, stopped for 1.2 s some time after it began
paused() {
    "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null &
    program=$!
    sleep "$delay"
    kill -s STOP "$program" && sleep 1.2 && kill -s CONT "$program"
    wait "$program"
    status=$?
}

# Wherever the pause falls:
clean
delay=0.6
paused --table variability --brief --runs 60 --observe 3000 --machine timing --csv v.csv --quiet
if [ "$status" -eq 3 ]; then
    skip "a pause" "$(cat "$err")"
    finish
fi
verdict "variability: status 0" test "$status" -eq 0
verdict "... no trial is as long" awk -F, '/^#/ { next } !names { names = split($0, name); next }
    { for (i = 1; i <= names; i++) v[name[i]] = $i; rows++; if (v["mode"] * (1 + v["max"]) > 1e9) exit bad = 1 }
    END { exit bad || !rows }' v.csv

clean
delay=0.7
paused --transition 64add:64mul --machine timing --runs 100 --observe 1000 --csv t.csv --quiet
verdict "transition: status 0" test "$status" -eq 0
verdict "... no sample lies across the pause" \
    awk -F, '/^#/ { next } !column { for (i = 1; i <= NF; i++) if ($i == "time_us") column = i; next }
        $column > 100000 { exit 1 } { n++ } END { exit n < 1000 }' t.csv

finish
