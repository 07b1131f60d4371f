#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# alone: it makes this machine busy
# --interference around measurements on this processor, and the refinements of --table variability: what is in force is
# said, what is not to be had says why, and no process is left, however a run ends. Settings are those of files.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# all processes of this program, by what they execute; those of others may be there, too
running() {
    find /proc -maxdepth 2 -name exe -path '/proc/[0-9]*' -lname "$CHARACTERIZE" 2>/dev/null | sort
}
# gone: all that were not there before have ended, at once or within a second
gone() {
    for _ in $(seq 50); do
        running >"$tmp/now"
        [ -z "$(comm -13 "$tmp/before" "$tmp/now")" ] && return 0
        sleep 0.02
    done
    return 1
}
cp "$CHARACTERIZE" "$tmp/characterize" && CHARACTERIZE=$tmp/characterize # so that nobody else runs it
running >"$tmp/before"

short="--transition 64add:64mul --machine timing --runs 20 --observe 300 --quiet"
# shellcheck disable=SC2086
run $short --csv plain.csv
if [ "$status" -eq 3 ]; then
    skip "interference" "$(cat "$err")"
    finish
fi
# shellcheck disable=SC2086
run $short --interference make --csv x.csv
verdict "make: status 0" test "$status" -eq 0
verdict "... named in the result" grep -q '^# settings: interference make: [0-9]* processes$' x.csv
verdict "... and only there" test "$(grep -c settings plain.csv)" -eq 0
verdict "... nothing is left of it" gone
verdict "... nor any file" test "$(left | tr '\n' ' ')" = "$work/plain.csv $work/x.csv "
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
clean
taskset -c "$first" "$CHARACTERIZE" --transition 64add:64mul --machine timing --interference memory >"$out" 2>"$err"
status=$?
verdict "memory with one CPU: status 3" one_line 3 "needs a CPU besides the measured one, CPU $first; use"
refuses "an unknown one" 2 "unknown 'noise'; allowed: make, memory, script" --table frequency --interference noise
refuses "... for a model" 2 'would load this machine' --table frequency --interference make \
    --machine model:xeon-gold-6130

# whatever ends the run ends them
for signal in KILL TERM; do
    clean
    env --default-signal=TERM "$CHARACTERIZE" --transition 64add:64mul --machine timing --runs 100000 \
        --interference make --csv x.csv >"$out" 2>"$err" </dev/null &
    program=$!
    for _ in $(seq 100); do
        running >"$tmp/now"
        [ "$(comm -13 "$tmp/before" "$tmp/now" | wc -l)" -ge 4 ] && break
        sleep 0.02
    done
    verdict "SIG$signal: it was busy" test "$(comm -13 "$tmp/before" "$tmp/now" | wc -l)" -ge 4
    kill -s "$signal" "$program"
    wait "$program" 2>/dev/null
    verdict "... no process is left" gone
    verdict "... nor a file" test -z "$(left)"
done

# somebody ends what should disturb: the result would tell of a load that there was not
clean
# shellcheck disable=SC2086
"$CHARACTERIZE" $short --runs 300 --interference make --csv x.csv >"$out" 2>"$err" </dev/null &
program=$!
for _ in $(seq 100); do
    # those of the group of processes, not their leader, who is a group of its own
    victim=$(ps -o pid=,ppid= -e 2>/dev/null | awk -v run="$program" '$2 == run { l = $1 } { p[$1] = $2 }
        END { for (i in p) if (l != "" && p[i] == l) print i }' | head -n 1)
    [ -n "$victim" ] && break
    sleep 0.02
done
[ -n "$victim" ] && kill -9 "$victim"
wait "$program"
status=$?
verdict "one that is killed: status 1, and no result" test "$status" -eq 1 -a -z "$(left)"
verdict "... which says why" grep -q 'interference make ended before the measurement that it was to disturb' "$err"

# ---- step by step
few="--table variability --machine timing --brief --runs 5 --observe 50"
refinements() {
    awk -F, '!/^#/ && $2 != "refinement" { print $2 }' "$1" | sort -u | tr '\n' ' '
}
# shellcheck disable=SC2086
run $few --csv x.csv
verdict "without --quiet-machine: only as it is found" test "$status" -eq 0 -a \
    "$(refinements x.csv)" = "quiet warm "
verdict "... what else there is, and what it needs" sh -c 'tr "\n" " " <"$1" | tr -s " " >"$1.1" &&
    grep -q "busy: needs --interference NAME" "$1.1" && grep -q "needs --quiet-machine" "$1.1"' - "$out"

machine=$tmp/machine cpus=$(nproc --all)
put() {
    mkdir -p "$machine/$(dirname "$1")" && printf '%s\n' "$2" >"$machine/$1"
}
last=$(($(sed -n 's/^Cpus_allowed_list:.*[^0-9]\([0-9]*\)$/\1/p' /proc/self/status)))
put sys/devices/system/cpu/online "0-$((cpus - 1))"
put sys/devices/system/cpu/present "0-$((cpus - 1))"
put proc/sys/kernel/nmi_watchdog 1
put proc/irq/24/smp_affinity_list "0-$((cpus - 1))"
mkdir -p "$machine/dev" "$machine/run"
find "$machine" -type f -exec grep -H . {} + | sort >"$tmp/was"
clean
# shellcheck disable=SC2086
run $few --interference script --cpu "$last" --csv x.csv
verdict "interference is of one step alone" grep -q \
    '^# settings: in refinement busy alone: interference script: on CPU' x.csv
run --table variability --machine model:xeon-gold-6130 --brief --runs 5 --observe 50 --cpu "$last" \
    --quiet-machine=governor,tick,irq --sysroot "$machine" --csv x.csv --json x.json
verdict "with --quiet-machine: each step that there is" test "$status" -eq 0 -a \
    "$(refinements x.csv)" = "irqs-away masked quiet settings warm "
tr '\n' ' ' <"$out" | tr -s ' ' >"$tmp/flat"
said="tick: nmi_watchdog 0 (was 1); as it was: governor"
quiet="quiet for CPU $last:"
verdict "... what was changed, and what not, is said by step" \
    grep -q "settings: $quiet $said irqs-away: $quiet irq: 1 interrupt moved away; $said" "$tmp/flat"
verdict "... for the whole table" grep -q \
    "^# settings: in $machine, not on this machine; step by step to: $quiet irq: 1 interrupt moved away; $said$" x.csv
verdict "... in both files" grep -q '"settings": "in .* step by step to: ' x.json
verdict "... what stays is said once, and why" test "$(grep -c "^  governor: .*no cpufreq here" "$err")" -eq 1
verdict "... missing refinements are named" grep -q 'needs isolate, which --quiet-machine=... leaves out' "$tmp/flat"
find "$machine" -type f -exec grep -H . {} + | sort >"$tmp/is"
verdict "... and everything is as it was" cmp "$tmp/was" "$tmp/is"
verdict "... no process is left" gone

finish
