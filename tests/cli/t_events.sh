#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --event: raw events as columns of the trace, and every wrong way to ask for one.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
p=128fma:512fma
model="--machine model:xeon-gold-6130"

# shellcheck disable=SC2086
run $t $p $model --runs 5 --csv t.csv --event 0x28:0x08 --event core_power.lvl2_turbo_license --quiet
verdict "two events on a model: status 0" test "$status" -eq 0 -a ! -s "$err"
verdict "a column each, named by the code" \
    grep -qx 'run,time_us,freq_ghz,ipc,volts,lvl0,lvl1,lvl2,throttle,event_28_08,event_28_20' t.csv
verdict "the name is kept" grep -qx '# events: event_28_20 = core_power.lvl2_turbo_license' t.csv
# at the end the core is at level 2: all of the cycles in 28H/20H, none in 28H/08H
verdict "they count" awk -F, '/^[0-9]/ && $2 > 100 && $3 != "" { n++; a += $10; b += $11 }
    END { exit !(n > 100 && a / n < 0.01 && b / n > 0.98 && b / n < 1.02) }' t.csv
run --analyze t.csv --csv again.csv --quiet
grep -v '^#' t.csv >"$tmp/one"
grep -v '^#' again.csv >"$tmp/two"
verdict "--analyze keeps the columns" cmp -s "$tmp/one" "$tmp/two"

for event in 0x28 '' 0x1000:0 4096:0 0x28:0x100 0x28:8:any 0x28:8:inv 0x28:8:cmask=0 :8 28h:8; do
    refuses "--event '$event'" 2 "--event: '$event' .*; allowed: EVENT:UMASK.* as in 0x28:0x08, or a name" \
        $t $p --event "$event"
done
refuses "neither name nor code" 2 "--event: 'core power' is neither an event name" $t $p --event 'core power'
# shellcheck disable=SC2086
refuses "five events" 2 "--event: '5:5' is one too many; the limit is 4" \
    $t $p $model --event 1:1 --event 2:2 --event 3:3 --event 4:4 --event 5:5
# shellcheck disable=SC2086
refuses "an event twice" 2 "--event: 0x28:0x20 and 40:32 are the same event" \
    $t $p $model --event 0x28:0x20 --event 40:32
# shellcheck disable=SC2086
refuses "an event that the model does not count" 3 'does not count event 2AH/08H' $t $p $model --event 0x2a:8
# shellcheck disable=SC2086
refuses "a select of twelve bits on a model of Intel's" 3 'does not count event 128H/08H' $t $p $model --event 0x128:8
# shellcheck disable=SC2086
refuses "an unknown name, with the nearest" 2 "--event: no event 'CORE_POWER.X' .*nearest: .*CORE_POWER.LVL0" \
    $t $p $model --event CORE_POWER.X
refuses "events on a machine without counters" 3 '--event 0x28:0x08: time stamps cannot count this.*model:NAME' \
    $t 64add:64or --machine timing --event 0x28:0x08
refuses "--event with --analyze" 2 '--event cannot be combined with --analyze' --analyze x.csv --event 1:1
refuses "--event without a job" 2 '--event without a job' --event 1:1

finish
