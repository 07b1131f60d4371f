#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# alone: measures on this processor
# --transition: the main job on a model and, where it can, on this processor.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
model="--machine model:xeon-gold-6130 --active-cores 16"
gnuplot=no
command -v gnuplot >/dev/null 2>&1 && gnuplot=yes

# values FILE KEY: the values of a key in a phases file, which has one phase a line.
values() {
    sed -n "s/.*\"$2\": \([^,}]*\).*/\1/p" "$1"
}
kinds() {
    values "$1" kind | tr -d '"' | tr '\n' ' '
}

# shellcheck disable=SC2086
run $t 128fma:512fma $model
verdict "a modelled transition: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
verdict "the screen fits one page" test "$(wc -l <"$out")" -le 40 -a -z "$(awk 'length > 100' "$out")"
verdict "it says MODELLED below the title" grep -q '^MODELLED' "$out"
for text in '^CPU .*6130' '^Machine .*model:xeon-gold-6130.*active cores: 16' '^Source .*modelled' \
    '^Levels.* L0 2\.8.*\[.*L1 2\.(4|39).*L2 1\.9' '^Repetitions .* of 100 used' '^Transition .*2 halts' \
    'characterize-out/128fma_512fma.csv' 'characterize-out/128fma_512fma.json'; do
    verdict "the screen shows '$text'" grep -Eq "$text" "$out"
done
verdict "no colour where there is no terminal" test "$(tr -d '\033' <"$out" | wc -c)" -eq "$(wc -c <"$out")"
csv=characterize-out/128fma_512fma.csv json=characterize-out/128fma_512fma.json svg=characterize-out/128fma_512fma.svg
verdict "the trace says that it is modelled" grep -q '^# source: .*modelled' "$csv"
verdict "the trace has samples" test "$(grep -vc '^#' "$csv")" -gt 10000
verdict "the JSON says that it is modelled" grep -q '"modelled": true' "$json"
verdict "the phases of the published transition" \
    test "$(kinds "$json")" = 'steady throttle halt throttle halt steady '
if [ "$gnuplot" = yes ]; then
    verdict "the plot is drawn and says MODELLED" grep -q 'MODELLED' "$svg"
    verdict "nothing else is left" test "$(find . -type f | wc -l)" -eq 3
else
    skip "the plot is drawn" "no gnuplot"
    verdict "the screen says how to get the plot" grep -q 'gnuplot-nox' "$out"
fi
# shellcheck disable=SC2086
run $t 128fma:256fma $model --runs 3 --seed 18446744073709551615 --output seed
verdict "the trace tells the seed to the last digit" grep -qx '# seed: 18446744073709551615' seed/128fma_256fma.csv
# shellcheck disable=SC2086
run $t 128fma:512fma $model --warmup 0 --runs 20 --output cold
verdict "--warmup 0: the same phases" \
    test "$status" -eq 0 -a "$(kinds cold/128fma_512fma.json)" = 'steady throttle halt throttle halt steady '
if command -v jq >/dev/null 2>&1; then
    verdict "the JSON is one that others read" jq -e '.format == "characterize-phases/1" and (.phases | length == 6)
        and .phases[2].freq_ghz == null and .phases[2].level == null' "$json" >/dev/null
elif command -v python3 >/dev/null 2>&1; then
    verdict "the JSON is one that others read" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$json"
else
    skip "the JSON is one that others read" "neither jq nor python3"
fi

# same_answer JSON JSON: word by word the same, numbers within the digits that a trace file keeps
same_answer() {
    tr -s ' ,:{}[]\n' '\n' <"$1" >"$tmp/words1"
    tr -s ' ,:{}[]\n' '\n' <"$2" >"$tmp/words2"
    paste -d ' ' "$tmp/words1" "$tmp/words2" | awk '
        function abs(x) { return x < 0 ? -x : x }
        $1 == $2 { next }
        $1 ~ /^-?[0-9]/ && $2 ~ /^-?[0-9]/ && abs($1 - $2) <= 1e-5 * abs($1) + 0.002 { next }
        { print "    differs: " $0; bad = 1 }
        END { exit bad }'
}

# what was measured can be analysed again, with the same answer
cp "$csv" "$json" "$tmp"
run --analyze "$tmp/128fma_512fma.csv" --json again.json
verdict "the trace gives the same answer again" same_answer again.json "$json"

clean
# shellcheck disable=SC2086
run $t 128fma:512fma $model --csv again.csv
verdict "the same seed gives the same bytes" cmp -s again.csv "$tmp/128fma_512fma.csv"
verdict "--csv alone writes one file" test "$(left)" = "$work/again.csv"
# shellcheck disable=SC2086
run $t 128fma:512fma $model --csv other.csv --seed 7
verdict "another seed gives others" test "$status" -eq 0 -a "$(cmp -s again.csv other.csv; echo $?)" -eq 1

clean
# shellcheck disable=SC2086
run $t 128fma:128or $model --json x.json
verdict "no transition: says so" grep -q '^Result .*no transition found' "$out"
verdict "... and what would have been seen" \
    sh -c "tr -s '\\n ' ' ' <'$out' | grep -Eq 'a frequency step of [0-9.]+ % lasting'"
verdict "... and has none in the JSON" grep -q '"transitions": \[\]' x.json

clean
# shellcheck disable=SC2086
run $t 512fma@1/8:256or-dirty $model --runs 5 --output deep/er
verdict "names with / become file names" test -f deep/er/512fma@1-8_256or-dirty.csv

clean
# shellcheck disable=SC2086
run $t 128fma:128or $model --runs 5 --json - --csv trace.csv
verdict "--json -: JSON alone on standard output, the screen on standard error" \
    test "$(head -n 1 "$out")" = '{' -a "$(tail -n 1 "$out")" = '}' -a "$(grep -c '^128fma -> 128or' "$err")" -eq 1
# shellcheck disable=SC2086
run $t 128fma:128or $model --runs 5 --csv -
verdict "--csv -: the trace alone on standard output" cmp -s "$out" trace.csv
# shellcheck disable=SC2086
run $t 128fma:128or $model --runs 5 --quiet --json q.json
verdict "--quiet keeps the table" grep -q 'steady' "$out"
verdict "--quiet says nothing else" test ! -s "$err"

# large structures are not on the stack
if [ -z "${SANITIZED:-}" ]; then
    clean
    # shellcheck disable=SC2086,SC3045
    (ulimit -s 64 && exec "$CHARACTERIZE" $t 128fma:512fma $model --runs 5 --json small.json >"$out" 2>"$err" \
        </dev/null)
    status=$?
    verdict "a stack of 64 KiB suffices" test "$status" -eq 0 -a -s small.json
else
    skip "a stack of 64 KiB suffices" "sanitizers need more"
fi

# this processor, whatever it is
clean
run $t 64add:128or --runs 20 --json here.json --csv here.csv
if [ "$status" -eq 0 ]; then
    ok "a measurement on this processor"
    verdict "it is not called modelled" grep -q '"modelled": false' here.json
    verdict "no MODELLED on the screen" test "$(grep -c MODELLED "$out")" -eq 0
    verdict "auto says in one line what it took" test "$(wc -l <"$err")" -eq 1
    run $t 64add:128or --runs 20 --machine timing --json here.json --quiet
    verdict "--quiet: no line of auto" test ! -s "$err"
    cp here.json first.json
    run --analyze here.csv --json again.json
    verdict "its trace can be analysed again" test "$status" -eq 0 -a -s again.json
elif [ "$status" -eq 3 ] && [ "$(grep -c '^characterize: ' "$err")" -eq 1 ]; then
    skip "a measurement on this processor" "$(cat "$err")"
elif [ "$status" -eq 1 ] && grep -q 'too often\|too few\|could not be found' "$err"; then
    skip "a measurement on this processor" "too busy: $(cat "$err")"
else
    fail "a measurement on this processor"
fi

finish
