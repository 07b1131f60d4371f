#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# input: directories of others
# --compare: directories of --all against each other.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# measured NAME MODEL SEED: a directory with a table of frequencies
measured() {
    mkdir -p "$1/tables"
    "$CHARACTERIZE" --table frequency --brief --machine "$2" --seed "$3" --csv "$1/tables/frequency.csv" \
        --quiet >"$out" 2>"$err"
}
w=model:xeon-gold-6130
sed 's/^turbo_ghz.13-16 = 2.8 2.4 1.9/turbo_ghz.13-16 = 2.8 2.4 1.8/' \
    "$CHARACTERIZE_DATA/models/xeon-gold-6130.model" >slow.model
measured one $w 1
measured two $w 2
measured slow model:./slow.model 3

run --compare one two
verdict "two of one processor: nothing differs, status 0" \
    test "$status" -eq 0 -a "$(grep -c 'Of [0-9]* values compared, 0 differ;' "$out")" -eq 1
run --compare one slow --output made
verdict "one that is 100 MHz slower at one level: status 0, too" test "$status" -eq 0
verdict "... which is said" \
    grep -q '1\.9 \[.*, 1\.7999 \[.*\|1\.9 \[.*, 1\.8[0-9]* \[.*: -0\.[01][0-9]* \[.* GHz, -5\.3 %' "$out"
verdict "... of that level and number of cores alone: the frequency and its ratio" \
    test "$(grep '^  frequency' "$out" | sort | tr '\n' ',')" = \
    "  frequency kernel=512fma active_cores=16 freq_ghz,  frequency kernel=512fma active_cores=16 ratio,"
verdict "... and in what they differ" grep -q '^Differing machine: ' "$out"
for form in csv json txt; do
    verdict "... written as $form" test -s "made/compare.$form"
done
if command -v gnuplot >/dev/null; then
    verdict "... and drawn" grep -q 'from the median' made/compare.svg
else
    skip "the plot" "gnuplot is not installed"
fi
run --compare one two --csv -
verdict "the head of the table says which processor, and that it is a model" \
    test "$(grep -c '^# modelled: yes\|^# cpu: Intel Xeon Gold 6130' "$out")" -eq 2
run --compare one two slow --json -
verdict "three of them: JSON on standard output" grep -q '"table": "compare"' "$out"
run --compare one two slow
verdict "... one is unlike the others" \
    grep -q '^  slow: in 2 of [0-9]* values, farthest frequency kernel=512fma active_cores=16 ' "$out"

# names, and directories that are none
mkdir empty broken broken/tables
echo x >broken/tables/frequency.csv
run --compare one
verdict "one directory alone: status 2" test "$status" -eq 2 -a "$(grep -c "two directories or more" "$err")" -eq 1
run --compare one nowhere
verdict "a name that is not there: status 2" test "$status" -eq 2 -a "$(grep -c "nowhere: No such file" "$err")" -eq 1
run --compare one two one
verdict "one given twice: status 2" test "$status" -eq 2 -a "$(grep -c "one is given twice" "$err")" -eq 1
run --compare one empty two broken
verdict "what holds no tables is left out with a line each" \
    test "$status" -eq 0 -a "$(grep -c 'empty: no tables in\|broken/tables/frequency.csv:1: not a table' "$err")" -eq 2
verdict "... and the rest compared" grep -q 'Of [0-9]* values compared, 0 differ' "$out"
run --compare one two/tables
verdict "the folder of the tables for the directory above: a line that says so" \
    test "$status" -eq 3 -a "$(grep -c "two/tables: tables lie in it.*name the directory above" "$err")" -eq 1
run --compare one empty
verdict "fewer than two that hold tables: status 3" test "$status" -eq 3
finish
