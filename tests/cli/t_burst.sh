#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --table burst and --burst.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

m="--machine model:xeon-gold-6130 --kernels 512fma"

# units: the same row
for row in 1000,1000 1k,1ms 1e3,0.001s 1000,1000us; do
    # shellcheck disable=SC2086
    run --table burst $m --burst "$row" --csv - --output o
    grep -v '^#' "$out" >"$tmp/$row.csv"
    verdict "--burst $row: status 0" test "$status" -eq 0
    verdict "--burst $row: one row" test "$(wc -l <"$tmp/$row.csv")" -eq 2
    verdict "--burst $row: 1000 instructions every ms" grep -q '^512fma,1000,1000,0.06' "$tmp/$row.csv"
    verdict "--burst $row: as in other units" cmp -s "$tmp/1000,1000.csv" "$tmp/$row.csv"
done
# shellcheck disable=SC2086
run --table burst $m --burst 1,1ms --output o
verdict "one line answers what a burst costs" grep -Eq \
    '^A burst of 1 512fma every 1 ms costs other code 6\.[0-9]+ \[6\..*, 6\..*\] % of its work' "$out"

# shellcheck disable=SC2086
run --table burst $m --burst 10,1s --csv - --output o
verdict "bursts so rare that a model's interrupts disturb them all: the reason" \
    test "$status" -eq 3 -a "$(grep -c 'of 2 s each, were disturbed; the' "$err")" -eq 1
sed 's/^taken_off = 0.5/taken_off = 0/' "$root/data/models/xeon-gold-6130.model" >quiet.model
run --table burst --machine model:./quiet.model --kernels 512fma --burst 10,1s --csv - --output o
verdict "... and without such interrupts they are measured" test "$status" -eq 0

for wrong in 1,0 0,10 1.5,10 1,1h -1,10 1,2000000 2e9,10 ',' 1,1,1; do
    # shellcheck disable=SC2086
    refuses "--burst $wrong" 2 "--burst: '$wrong' is not of the form N,T" --table burst $m "--burst=$wrong"
done
# shellcheck disable=SC2086
refuses "instructions that take longer" 2 "may take more than half of 10 us" --table burst $m --burst 1e5,10
refuses "--burst for another table" 2 "--burst cannot be combined with --table umask" --table umask --burst 1,10
refuses "--burst for a transition" 2 "--burst cannot be combined with --transition" \
    --transition 128fma:512fma --burst 1,10
refuses "--period" 2 "--period cannot be combined with --table burst" --table burst --period 2
run --table burst --machine model:xeon-gold-6130 --kernels amx,128fma --brief --output o
verdict "what has no bursts is missing, with the reason" grep -q '128fma: bursts need a 256-bit' "$out"
verdict "nothing measured: status 3" test "$status" -eq 3
finish
