#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: caught.sh
#
# What validation catches. An entry is drafted from the model of a Xeon Gold 6130; the model is then changed in one
# parameter at a time, by about the smallest step that its entry can tell, measured with another seed, and validated
# against the entry. A table: what was changed, how many figures deviate that follow from it (by table, column and what
# they are of), and how many others. Takes some two minutes.
# Exit status: 0 if each change is caught and nothing else deviates; 1 otherwise.
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
CHARACTERIZE=${CHARACTERIZE:-$root/characterize}
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-$root/data}
LC_ALL=C
export CHARACTERIZE_DATA LC_ALL
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
model=$CHARACTERIZE_DATA/models/xeon-gold-6130.model

# measure MODEL SEED DIR
measure() {
    "$CHARACTERIZE" --all --brief --machine "model:$1" --seed "$2" --output "$3" --quiet >"$tmp/said" 2>&1 ||
        { cat "$tmp/said" >&2 && exit 1; }
}
measure xeon-gold-6130 1 "$tmp/before"
"$CHARACTERIZE" --draft-sku "$tmp/before.sku" --input "$tmp/before" --quiet || exit 1
grep -c ' = ' "$tmp/before.sku" | sed 's/.*/An entry of & lines, from seed 1; every change is measured with seed 7./'
printf '%-58s %7s %7s\n' 'changed' 'caught' 'others'

# Each line: what, a change of the model file (sed), and what follows from it: a pattern of "TABLE FIGURE" lines.
# shellcheck disable=SC2016 # a $ of patterns
changes='
nothing~~^$
level 2, 13-16 cores: 1.9 to 1.8 GHz~s/^turbo_ghz.13-16 = [^#]*/turbo_ghz.13-16 = 2.8 2.4 1.8 /~512\|level=2
level 1, 13-16 cores: 2.4 to 2.3 GHz~s/^turbo_ghz.13-16 = [^#]*/turbo_ghz.13-16 = 2.8 2.3 1.9 /~256fma\|512\|level=1
level 0, 13-16 cores: 2.8 to 2.7 GHz~s/^turbo_ghz.13-16 = 2.8/turbo_ghz.13-16 = 2.7/~active_cores=16\|freq_all
level 1, 1-2 cores: 3.6 to 3.5 GHz~s/^turbo_ghz.1-2 = 3.7 3.6 3.5/turbo_ghz.1-2 = 3.7 3.5 3.5/~256fma\|512\|level=1
heavy 256 asks for no level~/^.class heavy256/,/umask/{s/level = 1/level = 0/;s/0x08/0x04/}~256\|512\|level\|umask
light 512 asks for level 2~/^.class light512/,/umask/{s/level = 1/level = 2/;s/0x10/0x20/}~512\|level\|umask
heavy 256 counted by umask 10H instead of 08H~/^.class heavy256/,/umask/s/0x08/0x10/~umask
wait 670 to 690 us~s/^wait_us = 670/wait_us = 690/~relaxation\|wait_us\|breakeven\|overhead\|umask
waits of two periods, 10 to 60 %~s/^wait_double = 0.1/wait_double = 0.6/~relaxation\|wait_us\|512or
halts 10 to 11 us~s/^halt_us = 10/halt_us = 11/~latency\|overhead\|breakeven\|relaxation\|throttle\|wait_us
first throttling of heavy 256, 20 to 23 us~/narrow heavy256/,/step.2/s/1.4 20/1\/4 23/~256fma
its ratio, 1/4 to 1/3~/narrow heavy256/,/step.2/s/1.4 20/1\/3 20/~256fma
heavy 256 after 26000 instead of 13000 instructions~s/^count = 13000/count = 26000/~trigger\|256fma
heavy 512 one in four instead of one in two a cycle~/demand 512 heavy/,/below/s/rate = 0.5/rate = 0.25/~trigger\|512fma
throttling reaches 75 to 100 instructions far~s/^throttle_distance = 75/throttle_distance = 100/~throttle\|trigger
'
bad=0
echo "$changes" | sed '/^$/d' >"$tmp/changes"
while IFS='~' read -r what change follows; do
    sed "$change" "$model" >"$tmp/changed.model"
    if [ -n "$change" ] && cmp -s "$model" "$tmp/changed.model"; then
        echo "$what: changes nothing in the model file" >&2
        bad=1
        continue
    fi
    rm -rf "$tmp/after"
    measure "$tmp/changed.model" 7 "$tmp/after" || exit 1
    "$CHARACTERIZE" --validate "$tmp/before.sku" --input "$tmp/after" --csv "$tmp/verdicts.csv" --quiet >/dev/null 2>&1
    # of figures that the processor states of itself nothing follows: they changed with the model
    sed -n '/^[^#]*,deviates,/p' "$tmp/verdicts.csv" | grep -v 'stated by the processor' |
        sed 's/,deviates,.*//; s/"//g; s/,/ /' >"$tmp/deviate"
    caught=$(grep -c "$follows" "$tmp/deviate")
    others=$(grep -vc "$follows" "$tmp/deviate")
    printf '%-58s %7s %7s\n' "$what" "$caught" "$others"
    grep "$follows" "$tmp/deviate" | head -n 2 | sed 's/^/      /'
    grep -v "$follows" "$tmp/deviate" | head -n 3 | sed 's/^/      other: /'
    [ "$others" -eq 0 ] && { [ "$caught" -gt 0 ] || [ -z "$change" ]; } || bad=1
done <"$tmp/changes"
exit $bad
