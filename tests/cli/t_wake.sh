#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --analyze of first uses after idle times: the stages, and what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Stages of 0.03, 5 and 3 us from 10 and 1000 us on.
awk 'BEGIN {
    print "# unit: amx\n# cpu: some CPU\nnote,idle_us,first_us"
    for (i = 0; i < 300; i++) {
        idle = exp(i / 300 * log(100000))
        printf "x,%.4f,%.4f\n", idle, (idle < 10 ? 0.03 : idle < 1000 ? 5 : 3) * (1 + (i * 7 % 5 - 2) / 100)
    }
}' >wake.csv

run --analyze wake.csv --json wake.json
verdict "a recording of three stages: status 0" test "$status" -eq 0 -a ! -s "$err"
verdict "the screen has them" grep -Eq '^First use after idle \(amx\): 3 stages' "$out"
verdict "the JSON has its format" grep -q '"format": "characterize-wake/1"' wake.json
verdict "and the stages" test "$(grep -c '"first_us":' wake.json)" -eq 3
verdict "the last one has no end" grep -q '"first_us": 3.*"idle_to_us": null' wake.json
"$CHARACTERIZE" --analyze - --json - <wake.csv >again.json 2>"$err"
verdict "standard input gives the same" cmp wake.json again.json
# shellcheck disable=SC2002 # a pipe is what is tested
cat wake.csv | "$CHARACTERIZE" --analyze - --json - >again.json 2>"$err"
verdict "a pipe, too" cmp wake.json again.json
if command -v gnuplot >/dev/null 2>&1; then
    run --analyze wake.csv --plot wake.svg
    verdict "a plot" grep -q '</svg>' wake.svg
else
    skip "a plot" "no gnuplot"
fi

refused() {
    run --analyze bad.csv
    verdict "$1 is refused: $2" test "$status" -eq 2 -a "$(grep -c "$2" "$err")" -eq 1
}
sed '9s/,[^,]*$/,soon/' wake.csv >bad.csv
refused "what is no number" 'bad.csv:9:3: '
sed '9s/,[^,]*$/,0/' wake.csv >bad.csv
refused "a time of 0" 'bad.csv:9:3: '
sed '9s/,[^,]*,/,-1,/' wake.csv >bad.csv
refused "a negative idle time" 'bad.csv:9:2: '
head -n 12 wake.csv >bad.csv
refused "a short recording" 'too few'
printf 'unit,idle_us,first_us\n512,1,1\namx,1,1\n' >bad.csv
refused "a second unit" 'bad.csv:3:1: '
printf '# unit: 512\nunit,idle_us,first_us\namx,1,1\n' >bad.csv
refused "a unit that contradicts the comment" "bad.csv:3:1: unit 'amx' after '512'"
# On this machine: what it has is measured, what it lacks is named.
run --table wake --brief --runs 3 --output here --json here.json
verdict "the table on this machine" test "$status" -eq 0 -o "$status" -eq 3
for unit in 256:avx2 512:avx512f amx:amx_bf16; do
    if grep -qw "${unit#*:}" /proc/cpuinfo; then
        verdict "${unit%:*}: measured" grep -q "^  *\[\"${unit%:*}\", " here.json
    else
        verdict "${unit%:*}: what it needs is said" grep -q 'needs .*which this processor does not support' here.json
    fi
done
truncate -s -2 wake.csv
run --analyze wake.csv --json cut.json
verdict "a last line that was cut is left out, with a warning" \
    test "$status" -eq 0 -a "$(grep -c 'wake.csv: the last line has no end' "$err")" -eq 1 -a \
    "$(grep -c '"points": 299,' cut.json)" -eq 1
run --analyze wake.csv --csv x.csv
verdict "--csv is refused" test "$status" -eq 2 -a ! -e x.csv
finish
