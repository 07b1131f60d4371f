#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# input: workloads of others
# --simulate: workloads on exported parameters.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

params=$root/tests/support/xeon-gold-6130.export.json

# number FILE POLICY KEY: of the first result of that policy
number() {
    grep "\"policy\": \"$2\", \"scheduler\"" "$1" |
        sed -n "s/, \"tasks\".*//; s/.*[{ ]\"$3\": \([-0-9.e]*\|null\).*/\1/p" |
        head -n 1
}
# less A B
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'
}

cat >"$tmp/one.csv" <<'END'
# recorded_ghz: 2.8
# active_cores: 16
cpu,time_us,task,class,ipc
0,0,plain,none,1
0,1000,wide,512heavy,2
0,1100,plain,none,1
0,4100,-,,
END

run --simulate "$tmp/one.csv" --params "$params" --json one.json
verdict "a workload: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
verdict "it says that the export is modelled" grep -q MODELLED "$out"
for policy in stock timeout oracle software learned never; do
    verdict "policy $policy" test -n "$(number one.json $policy overhead)"
done
verdict "the oracle costs less than never" \
    less "$(number one.json oracle overhead)" "$(number one.json never overhead)"
verdict "the break-even time costs less than the wait" \
    less "$(number one.json timeout overhead)" "$(number one.json stock overhead)"
verdict "without siblings nothing is lost to them" test "$(number one.json stock remote_smt)" = 0.0
verdict "two changes a gap that is long enough" test "$(number one.json stock transitions)" = 2
run --simulate "$tmp/one.csv" --params "$params" --json again.json
verdict "the same again" cmp one.json again.json
# the program that does it, by itself
"$CHARACTERIZE-simulate" --params "$params" "$tmp/one.csv" --json own.json >"$out" 2>"$err" </dev/null
status=$?
verdict "characterize-simulate: the same" test "$status" -eq 0 -a -z "$(cmp one.json own.json 2>&1)"
"$CHARACTERIZE-simulate" --params "$params" >"$out" 2>"$err" </dev/null
status=$?
verdict "characterize-simulate without a workload: status 2, one line" test "$status" -eq 2 -a "$(wc -l <"$err")" -eq 1
"$CHARACTERIZE-simulate" "$tmp/one.csv" --params "$params" --table frequency >"$out" 2>"$err" </dev/null
status=$?
verdict "characterize-simulate with an option of others: status 2" test "$status" -eq 2
"$CHARACTERIZE-simulate" --help >"$out" 2>"$err"
verdict "characterize-simulate --help: its options alone" \
    test "$(grep -c -e '--what-if' "$out")" -eq 1 -a "$(grep -c -e '--observe' -e '--simulate=' "$out")" -eq 0
for program in simulate profile; do
    "$CHARACTERIZE-$program" --help >"$out"
    "$CHARACTERIZE-$program" --help-all >all
    sed -n 's/^  \(--[a-z-]*\).*/\1/p' "$out" | sort >main-options
    sed -n 's/^  [^-]*-*[?V, ]*\(--[a-z-]*\).*/\1/p' all | sort >all-options
    verdict "characterize-$program --help: one screen" test "$(wc -l <"$out")" -le 24 -a -s main-options
    verdict "... of --help-all" test -z "$(comm -23 main-options all-options)"
    verdict "... nothing of other jobs" test -z "$(cat "$out" all |
        grep -e --transition -e --table -e tables -e --verdict -e --check -e timing -e --simulate -e --profile)"
done
run --simulate "$tmp/one.csv" --params "$params" --policy never,stock --json -
verdict "--json -: policies in the order given" \
    test "$(sed -n 's/.*{"policy": "\([a-z]*\)", "scheduler": "recorded".*/\1/p' "$out" | tr '\n' ' ')" = 'never stock '
run --simulate "$tmp/one.csv" --params "$params" --policy timeout --timeout 5000 --json t.json
verdict "--timeout: T as given" test "$(number t.json timeout transitions)" = 1

# what cannot be simulated is named
sed '/^#/!s/,[^,]*$//' "$tmp/one.csv" >"$tmp/plain.csv"
run --simulate "$tmp/plain.csv" --params "$params" --policy software
verdict "software without the column ipc: status 2, one line" test "$status" -eq 2 -a "$(wc -l <"$err")" -le 2
verdict "... that names it" grep -q 'column ipc' "$err"
run --simulate "$tmp/plain.csv" --params "$params" --json plain.json
verdict "among others it is listed as refused" \
    test "$status" -eq 0 -a "$(grep -c '"policy": "software".*column ipc' plain.json)" -eq 1
grep -v '^    {"from": .*"wait_ns"' "$params" >"$tmp/no-waits.json"
sed -i 's/\(_relaxations\|"relaxations\)": \[$/&/' "$tmp/no-waits.json"
run --simulate "$tmp/one.csv" --params "$tmp/no-waits.json" --policy stock
verdict "an export without waits refuses stock" grep -q 'no wait' "$err"
run --simulate "$tmp/one.csv" --params "$tmp/no-waits.json" --policy timeout
verdict "... and nothing else" test "$status" -eq 0

# bad input: one line, status 2
refused() {
    verdict "$1: status 2" test "$status" -eq 2
    verdict "$1: one line" test "$(wc -l <"$err")" -eq 1
    verdict "$1: what is wrong" grep -q -e "$2" "$err"
}
run --simulate "$tmp/one.csv"
refused "no parameters" '--params'
run --simulate "$tmp/one.csv" --params "$tmp/none.json"
refused "no such parameters" 'none.json: No such file'
run --simulate "$tmp/one.csv" --params "$tmp/one.csv"
refused "parameters that are no JSON" 'one.csv:1'
run --simulate "$tmp/one.csv" --params "$params" --policy stok
refused "an unknown policy" "unknown 'stok'"
run --simulate "$tmp/one.csv" --params "$params" --policy stock,stock
refused "a policy twice" "given twice"
run --simulate "$tmp/one.csv" --params "$params" --scheduler best
refused "an unknown scheduler" "unknown 'best'"
run --simulate "$tmp/one.csv" --params "$params" --smt maybe
refused "--smt" 'allowed: on, off'
run --simulate "$tmp/one.csv" --params "$params" --smt on
refused "siblings that are not known" '--siblings-map'
run --simulate "$tmp/one.csv" --params "$params" --siblings-map ''
refused "an empty map" "siblings-map: '' is empty; allowed: 0-1,2-3, or machine"
for map in 0-1,2-3 machine; do
    run --simulate web-server --params "$params" --siblings-map $map
    refused "the siblings of a drawn workload: $map" 'a drawn workload itself says which CPUs are siblings'
done
run --simulate "$tmp/one.csv" --params "$params" --active-cores 0
refused "no active cores" 'takes 1 and more, not 0 or all'
run --simulate "$tmp/one.csv" --params "$params" --active-cores 1,2
refused "two numbers of active cores" 'takes one number'
run --simulate nginx --params "$params"
refused "no such workload" 'nginx'
run --simulate "$tmp/one.csv" --params "$params" --active-cores 99
refused "more cores than were measured" '99'
sed 's/512heavy/513heavy/' "$tmp/one.csv" >"$tmp/bad.csv"
run --simulate "$tmp/bad.csv" --params "$params"
refused "an unknown class" 'bad.csv:5.*class'
run --simulate "$tmp/one.csv" --params "$params" --policy stock --timeout 5
refused "--timeout without its policy" 'policy timeout'
run --simulate "$tmp/one.csv" --params "$params" --switching 1,2,3
refused "--switching without a scheduler" 'no --scheduler'
for times in 1,2 1,2,3,4 1,x,3 -1,2,3 1,,3 ''; do
    run --simulate web-server --params "$params" --scheduler fair --switching "$times"
    refused "--switching '$times'" 'SWITCH,MIGRATION,FAULT'
done
# with_switching ROWS: an export with this list of costs
with_switching() {
    sed "s/^  \"missing\": \[/  \"switching\": [$1],\n&/" "$params" >"$tmp/switching.json"
    grep -q '"switching"' "$tmp/switching.json" || echo "no list was added" >&2
    run --simulate web-server --params "$tmp/switching.json" --scheduler fair --policy stock --runs 1 --json costs.json
}
with_switching '{"what": "switch", "ns": 2000}, {"what": "migration", "ns": 8000}, {"what": "fault", "ns": 500}'
verdict "costs of the export" \
    test "$(grep -o '"\(switch\|migration\|fault\)_us": [0-9.]*' costs.json | tr '\n' ' ')" \
    = '"switch_us": 2.0 "migration_us": 8.0 "fault_us": 0.5 '
verdict "... nothing to note" test "$(grep -c 'cost nothing here' "$out")" -eq 0
with_switching '{"what": "migration", "ns": 8000}'
verdict "what the export does not say is named" grep -q 'cost nothing here: switch, fault' "$out"
verdict "... and null" grep -q '"switch_us": null' costs.json
with_switching '{"what": "fault", "ns": 1}, {"what": "switch", "ns": 1}'
refused "costs in another order" "switching\[1\]: 'what' is not in the order"
with_switching '{"what": "yield", "ns": 1}'
refused "an unknown cost" "switching\[0\]: 'what' is not one of"
with_switching '{"what": "fault"}'
refused "a cost without a value" "switching\[0\]: 'ns' is missing"
run --simulate web-server --params "$params" --scheduler fair,specialize-always --policy stock --runs 1 \
    --switching 2,8,1 --json costs.json
verdict "--switching costs CPU time" less 0 "$(number costs.json stock scheduling_us)"
clean
cp "$tmp/one.csv" own.csv
run --simulate own.csv --params "$params" --json own.csv
refused "an output that is the workload" 'overwritten'
verdict "... which is left as it was" cmp -s own.csv "$tmp/one.csv"
clean
sed 's/^  "classes": \[$/  "classes": [],\n  "gone": [/' "$params" >"$tmp/classless.json"
run --simulate "$tmp/one.csv" --params "$tmp/classless.json"
refused "triggers of classes that are not there" 'triggers\[0\]'
sed 's/\("level": 2, "mhz": \)1900[^}]*/\13900/' "$params" >"$tmp/faster.json"
run --simulate "$tmp/one.csv" --params "$tmp/faster.json"
refused "a slower level that is faster" 'level 2 is faster'
sed 's/"level_costs": \[/"level_costs": [], "gone": [/; s/"costs": \[/"costs": [], "gone too": [/' "$params" \
    >"$tmp/costless.json"
run --simulate "$tmp/one.csv" --params "$tmp/costless.json" --policy stock,never
refused "no costs at all" 'no cost'
run --simulate "$tmp/one.csv" "$tmp/two.csv" --params "$params"
refused "two workloads" 'one workload at a time'
run --simulate "$tmp/one.csv" --params "$params" --stamps "$tmp/st.txt=avx"
refused "stamps of an unknown class" "'avx' is not a class"
run --simulate "$tmp/one.csv" --params "$params" --stamps =512heavy
refused "stamps without a file" 'stamps'
sed '/active_cores/s/16/1/' "$tmp/one.csv" >"$tmp/few.csv"
printf '1,0,plain,none,1\n1,1,-,,\n' >>"$tmp/few.csv"
run --simulate "$tmp/few.csv" --params "$params"
refused "fewer active cores than there are" '1 active core is fewer than the 2 cores'
TMPDIR=/nonexistent run --simulate "$tmp/one.csv" --params "$params" --policy stock
verdict "a small workload needs no folder" test "$status" -eq 0
# standard input
run --simulate "$tmp/one.csv" --params "$params" --json one.json
"$CHARACTERIZE" --simulate - --params "$params" --json stdin.json <"$tmp/one.csv" >"$out" 2>"$err"
status=$?
verdict "standard input: as the file" \
    test "$status" -eq 0 -a "$(number stdin.json stock overhead)" = "$(number one.json stock overhead)"
"$CHARACTERIZE" --simulate - --params "$params" <"$root/data/workloads/web-server.workload" >"$out" 2>"$err"
status=$?
refused "standard input with a description" 'must be a file'
run --transition 128fma:512fma --policy stock
refused "--policy with another job" '--simulate'

# drawn ones, with limits over seeds, and what the page shows
run --simulate web-server --params "$params" --runs 2 --policy stock,oracle --what-if --output drawn
verdict "a drawn workload: status 0" test "$status" -eq 0
verdict "limits over seeds" grep -q '"overhead_lo": 0\.' drawn/simulation.json
verdict "what-if" grep -q '"what_if"' drawn/simulation.json
verdict "the page" grep -q '<svg' drawn/simulation.html

# one policy is compared with none; schedulers are compared by their ends, too, and have no curve
run --simulate "$tmp/one.csv" --params "$params" --policy stock
verdict "one policy is compared with none" test "$(grep -ciE 'costs? (less|least)' "$out")" -eq 0
run --simulate neural-network --params "$params" --runs 1 --policy stock --scheduler fair,specialize --output both
verdict "schedulers: status 0" test "$status" -eq 0
verdict "... when they end" grep -q 'the last work ends: fair first, after .* s, specialize .* % later' "$out"
verdict "... and idle time" grep -q 'all work  *end s  *idle' "$out"
verdict "no curve, in words" grep -q 'No plot: no curve' both/simulation.html
verdict "no picture of a curve" test "$(grep -c 'break-even time: ' both/simulation.html)" -eq 0
verdict "no figures in powers of ten" test "$(grep -c '[0-9]e+[0-9]' both/simulation.html)" -eq 0
finish
