#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --table, --validate, --export: what they write, what they refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

m="--machine model:xeon-gold-6130"

run --list tables
listed=$(sed -n '/^$/q; s/ .*//p' "$out")
verdict "--list tables: these fourteen, and whatever else there is" test "$status" -eq 0 -a "$(echo "$listed" |
    grep -Ecx -e 'frequency|transitions|throttle|trigger|relaxation|overhead|umask|energy' \
        -e 'voltage|variability|wake|switching|cores|burst')" -eq 14

# every table, brief
if [ -n "${SANITIZED:-}" ]; then
    skip "the tables but umask and variability" "under the sanitizers the unit tests run them"
    listed="umask variability"
fi
for table in $listed; do
    case $table in
    switching) few='--machine model:cloud-guest' ;;
    variability | wake) few='' ;;
    *) few='--kernels 128fma,512fma' ;;
    esac
    # shellcheck disable=SC2086
    run --table "$table" $m --brief $few --output o
    verdict "--table $table --brief: status 0" test "$status" -eq 0
    verdict "--table $table says that it is modelled" grep -q '^modelled, not measured' "$out"
    verdict "--table $table: CSV, JSON and text" test -s "o/$table.csv" -a -s "o/$table.json" -a -s "o/$table.txt"
    verdict "--table $table: the CSV says what it is" \
        test "$(grep -c "^# \(format: characterize-table/1\|table: $table\|modelled: yes\)\$" "o/$table.csv")" -eq 3
    # the last paragraphs are the findings and the files, a line each
    verdict "--table $table: no line of the table is longer than 100 columns" \
        test -z "$(awk -v RS= 'NR > 2 { print two } { two = one; one = $0 }' "$out" | awk 'length > 100')"
    if command -v gnuplot >/dev/null 2>&1; then
        verdict "--table $table: a plot" grep -q '</svg>' "o/$table.svg"
    else
        verdict "--table $table: without gnuplot it says so" grep -q 'no plot was drawn' "$out"
    fi
done

# what a table does not look at
for option in "--kernels 128or" "--period 2" "--active-cores 2" "--companion same" "--companion 64mul" "--warmup 5"; do
    # shellcheck disable=SC2086
    refuses "$option for variability" 2 "${option% *}.* cannot be combined with --table variability: " \
        --table variability $m $option
done

# the published table, from the measurement alone (dissertation on AVX overhead, table 3.1)
# shellcheck disable=SC2086
run --table frequency $m --output o --quiet
published() {
    grep -Eq '^active cores +1-2 +3-4 +5-8 +9-12 +13-16$' "$out" &&
        grep -Eq '^L0, GHz +3.700 +3.500 +3.400 +3.100 +2.800$' "$out" &&
        grep -Eq '^L1, GHz +3.600 +3.400 +3.100 +2.600 +2.400$' "$out" &&
        grep -Eq '^L2, GHz +3.500 +3.100 +2.400 +2.100 +1.900$' "$out"
}
verdict "--table frequency: the published table" published
# shellcheck disable=SC2086
run --table umask $m --output o --quiet
verdict "--table umask: the published readings" grep -q \
    '02H up to 128 bit; 04H light 256; 08H heavy 256; 10H light 512; 20H heavy 512; 40H throttled' "$out"

# what a processor states by Speed Select stands below
sed 's/^turbo_layout.*/&\nspeed_select = yes # assumed: a part that states its limits/' \
    "$root/data/models/xeon-gold-6130.model" >stated.model
run --table frequency --machine model:stated.model --kernels 64add,512fma --output o --quiet
stated() {
    grep -Eq '^rated, non-AVX +3.7 +3.5 +3.4 +3.1 +2.8$' "$out" &&
        grep -Eq '^rated, AVX2 +3.6 +3.4 +3.1 +2.6 +2.4$' "$out" &&
        grep -Eq '^rated, AVX-512 +3.5 +3.1 +2.4 +2.1 +1.9$' "$out"
}
verdict "--table frequency: the limits that the processor states by class of code" stated
verdict "... in the CSV, too" grep -q '^# turbo_limits_ghz of AVX-512: 1-2: 3.5, 3-4: 3.1, ' o/frequency.csv

# choices
# shellcheck disable=SC2086
run --table frequency $m --kernels 512fma,64add --active-cores 2,all --csv - --quiet
verdict "--kernels and --active-cores choose the cells" test "$(grep -c '^0,\(512fma\|64add\),\(2\|16\),' "$out")" -eq 4
verdict "the table for a person then goes to standard error" grep -q '^active cores' "$err"
# shellcheck disable=SC2086
run --table frequency $m --kernels 64add --cpus 3,5,7 --csv - --quiet
verdict "--cpus: the first is measured, with so many active as are named" \
    test "$(grep -c '^3,64add,[123],' "$out")" -eq 3
# shellcheck disable=SC2086
run --table frequency $m --kernels 64add --active-cores 1 --json - --quiet
verdict "--json -" grep -q '"format": "characterize-table/1"' "$out"
# shellcheck disable=SC2086
run --table frequency $m --kernels amx --output o
verdict "a table of which nothing can be measured: status 3 and the reason" \
    test "$status" -eq 3 -a "$(grep -c 'amx: needs amx_bf16' "$out")" -eq 1 -a "$(grep -c 'none of it' "$err")" -eq 1
run --table umask --machine model:generic-no-licence --output o
verdict "no license events: status 3, the reason and no row" \
    test "$status" -eq 3 -a "$(grep -c '^[0-9]' o/umask.csv)" -eq 0
verdict "the event stands there as Intel writes it" grep -q '^  event 28H: ' "$out"
for table in transitions throttle overhead voltage; do
    # shellcheck disable=SC2086
    refuses "--table $table of one kernel" 2 "$table: .*name .*--kernels 128fma,512fma" \
        --table $table $m --brief --kernels 512fma
done
run --table overhead --machine model:core-i9-11900k --kernels 128fma,512fma --seed 7 --brief --json drift.json
verdict "no number of a table is a negative zero" \
    test "$status" -eq 0 -a "$(grep -c down_us drift.json)" -ge 1 -a "$(grep -c -e '-0\.0*[],} ]' drift.json)" -eq 0
# shellcheck disable=SC2086
refuses "siblings that do not exist" 3 'no SMT siblings' --table frequency $m --siblings busy
# shellcheck disable=SC2086
refuses "... for variability" 3 'no SMT siblings' --table variability $m --siblings busy
# shellcheck disable=SC2086
run --table variability $m --runs 300 --csv - --quiet
verdict "--table variability: a sweep of sizes, the ramp, mispredictions" \
    test "$(grep -c '^sweep@[0-9]*[KM]iB,quiet,300,cycles,' "$out")" -eq 16 -a \
    "$(grep -c '^ramp,quiet,300,ns,.*,0\.4,2[0-9.]*,3$' "$out")" -eq 1 -a \
    "$(grep -c '^branch-warm,quiet,300,cycles,.*,277500,450,173,,,,,$' "$out")" -eq 1
# shellcheck disable=SC2086
if command -v gnuplot >/dev/null 2>&1; then
    run --table frequency $m --brief --plot x.png
    verdict "a table as PNG" test "$status" -eq 0 -a "$(left)" = "$work/x.png" -a "$(head -c 4 x.png | tail -c 3)" = PNG
else
    skip "a table as PNG" "gnuplot is not installed"
fi
# shellcheck disable=SC2086
{
    run --table frequency $m --kernels 64add,128or --active-cores 4 --seed 5 --csv a.csv --quiet
    run --table frequency $m --kernels 64add,128or --active-cores 1,4 --seed 5 --csv b.csv --quiet
}
grep '^[0-9]*,[0-9a-z]*,4,' a.csv >"$tmp/a"
grep '^[0-9]*,[0-9a-z]*,4,' b.csv >"$tmp/b"
verdict "a cell is the same whatever else is measured" test -s "$tmp/a" -a "$(cat "$tmp/a")" = "$(cat "$tmp/b")"

# from a finished run
# shellcheck disable=SC2086
run --all --brief $m --kernels 128fma,256fma,512fma --runs 3 --active-cores 1,all --output "$tmp/all" --quiet
verdict "--all for what follows" test "$status" -eq 0 -a -s "$tmp/all/report.html"
run --export header avx.h --input "$tmp/all"
verdict "--export header: written, and reported" \
    test "$status" -eq 0 -a -s avx.h -a "$(grep -c '^Written .*avx.h' "$out")" -eq 1
verdict "the header says that it is modelled" grep -qi 'modelled' avx.h
printf '#include "avx.h"\nint main(void) { return 0; }\n' >c.c
if command -v cc >/dev/null 2>&1; then
    verdict "the header compiles without a warning" cc -std=c99 -Wall -Wextra -Werror -pedantic -o c c.c
else
    skip "the header compiles without a warning" "no C compiler"
fi
run --export json --input "$tmp/all"
verdict "--export json to standard output" grep -q 'characterize-export/1' "$out"
# a processor without levels whose frequency moves by itself, as fast as slots follow one another
sed -e 's/^spread = .*/spread = 0.03 # assumed/' -e 's/^spread_period_us = .*/spread_period_us = 7000 # assumed/' \
    "$root/data/models/generic-no-licence.model" >floating.model
run --table frequency --machine model:./floating.model --brief --output "$tmp/floats/tables"
run --export header floats.h --input "$tmp/floats"
refuses_floating() {
    [ "$status" -eq 1 ] && [ ! -e floats.h ] && [ "$(wc -l <"$err")" -eq 1 ] &&
        grep -Eq 'table frequency shows no levels|no steps, the frequency floats' "$err" && ! grep -q 'amx' "$err"
}
verdict "an export where the frequency floats too fast for brackets: nothing, and the real reason" refuses_floating
run --export json x.json --input nowhere
verdict "--input of nothing: status 2, nothing written" test "$status" -eq 2 -a ! -e x.json
# 02H and 08H count what was run, too, but which other code nobody knows: the documented ones are named
verdict "the events of the levels are the documented ones" \
    test "$(grep -cE 'LEVEL(0_EVENT 0x0728|1_EVENT 0x1828|2_EVENT 0x2028)u' avx.h)" -eq 3
verdict "some numbers of active cores are not all" grep -q 'CORES_COMPLETE 0' avx.h
# another processor's figures
run --validate xeon-w-2104 --input "$tmp/all" --quiet
verdict "--validate against another processor's figures: status 4 and a warning" \
    test "$status" -eq 4 -a "$(grep -c 'does not identify itself' "$out")" -ge 1
# tables that do not belong together, or do not hold what they promise
mkdir -p "$tmp/odd/tables"
cp "$tmp"/all/tables/*.json "$tmp/odd/tables"
sed 's/"machine": "[^"]*"/"machine": "perf"/' "$tmp/all/tables/overhead.json" >"$tmp/odd/tables/overhead.json"
refuses "--export of two machines" 2 'different measurements: machine' --export json x.json --input "$tmp/odd"
refuses "--validate of two machines" 2 'different measurements: machine' --validate xeon-gold-6130 --input "$tmp/odd"
rm "$tmp/odd/tables/overhead.json"
sed 's/"level", /"license", /' "$tmp/all/tables/frequency.json" >"$tmp/odd/tables/frequency.json"
refuses "a table without a column" 2 'frequency has no column level' --export json x.json --input "$tmp/odd"
odd_frequency() {
    sed "$1" "$tmp/all/tables/frequency.json" >"$tmp/odd/tables/frequency.json"
}
file=odd/tables/frequency.json
odd_frequency 's/"GHz", "GHz", "GHz"/"MHz", "GHz", "GHz"/'
for job in '--export json' '--validate xeon-gold-6130'; do
    # shellcheck disable=SC2086
    refuses "a table of other units: $job" 2 "$file: the unit of freq_ghz is 'MHz', not 'GHz'" $job --input "$tmp/odd"
done
odd_frequency 's/\[0, "512fma"/[0, "foo"/'
refuses "an unknown kernel in a table" 2 "$file: row [0-9]+: kernel: unknown kernel 'foo'" --export json \
    --input "$tmp/odd"
odd_frequency 's/\[0, "512fma", 16/[0, "512fma", 99/'
refuses "more active cores than there are" 2 "$file: row [0-9]+: active_cores is 99, but the processor has 16 cores" \
    --export json --input "$tmp/odd"
odd_frequency 's/\("128fma", 16, [^,]*\), 0,/\1, 7,/'
refuses "a level that is faster than those below" 2 "$tmp/odd: .*level 7 at .* is faster than" \
    --export json --input "$tmp/odd"
sed 's/\[0, "\([0-9]*fma\)"/[70000, "\1"/' "$tmp/all/tables/frequency.json" >"$tmp/odd/tables/frequency.json"
run --export json --input "$tmp/odd"
verdict "rows that cannot be exported are reported" \
    test "$status" -eq 0 -a "$(grep -c 'rows or values of the tables cannot be exported' "$err")" -eq 1
verdict "... and what was not measured is listed" grep -q 'the table overhead was not measured' "$out"
sed 's/"modelled": true/"modelled": 1/' "$tmp/all/tables/umask.json" >"$tmp/umask"
cp "$tmp/all/tables/umask.json" "$tmp/umask.kept"
cp "$tmp/umask" "$tmp/all/tables/umask.json"
refuses "a table that does not say whether it is modelled" 2 'umask.json: .*neither true nor false' \
    --export header y.h --input "$tmp/all"
rm "$tmp/all/tables/umask.json" && mkfifo "$tmp/all/tables/umask.json"
refuses "a pipe in place of a table" 2 'umask.json: cannot be read' --export header y.h --input "$tmp/all"
rm "$tmp/all/tables/umask.json" && cp "$tmp/umask.kept" "$tmp/all/tables/umask.json"
echo '{' >"$tmp/all/tables/frequency.json"
refuses "a broken table, with its place" 2 'all/tables/frequency.json:[0-9]*: ' --export header y.h --input "$tmp/all"
verdict "... and nothing is written" test ! -e y.h
refuses "a file that cannot be written" 1 '/nowhere/avx.h' --export header /nowhere/avx.h --input "$tmp/all"
refuses "an unknown SKU" 2 'xeon-gold-6131.*xeon-gold-6130' --validate xeon-gold-6131 --input "$tmp/all"

run --validate xeon-w-2104 --machine model:xeon-w-2104 --brief --csv v.csv --quiet
verdict "--validate a model against its own figures: status 0" test "$status" -eq 0
verdict "... as a table, too" grep -q ',agrees,' v.csv
verdict "... and what each would have found" grep -q ',detectable,detectable_percent,hidden_by,' v.csv
verdict "... and why 20 % would not be found" grep -q 'detectable: .*: a range was published' "$out"
# figures a fifth off, in the file of a user; the wait is reported, whatever else agrees
run --table relaxation --machine model:xeon-w-2104 --brief --output w/tables --quiet
if [ -w /dev/full ]; then
    status=0
    "$CHARACTERIZE" --validate xeon-w-2104 --input w --quiet >/dev/full 2>"$err" || status=$?
    verdict "a verdict that does not reach its reader: status 1" \
        test "$status" -eq 1 -a "$(grep -c 'cannot write to standard output' "$err")" -eq 1
fi
for us in 520..544 780..816; do
    sed "s/= 650\.\.680 /= $us /" "$CHARACTERIZE_DATA/skus/xeon-w-2104.sku" >"$tmp/off.sku"
    run --validate "$tmp/off.sku" --input w --quiet
    verdict "--validate with a wait of $us us: status 4" \
        test "$status" -eq 4 -a "$(grep -c '^deviates: 1 of' "$out")" -eq 1
done
for figure in '650..680 ~ 100%' 'about 670 ~ 10' '650..640'; do
    sed "s/= 650\.\.680 /= $figure /" "$CHARACTERIZE_DATA/skus/xeon-w-2104.sku" >"$tmp/off.sku"
    refuses "a figure of $figure" 2 'off.sku:4[0-9]: ' --validate "$tmp/off.sku" --input w
done
# another processor's figures, even if they are alike: both have 3.7, 3.6 and 3.5 GHz with one core active
# shellcheck disable=SC2086
run --validate xeon-gold-6154 $m --active-cores 1 --brief --quiet
verdict "--validate against another processor's figures that agree: status 4, and which it is" \
    test "$status" -eq 4 -a "$(grep -c '^agrees: 20 of 23' "$out")" -eq 1 -a "$(grep -c 'Xeon Gold 6130' "$err")" -eq 1

finish
