#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Text is as wide as the terminal, or as COLUMNS says, but for commands to copy and paths; files are not.
# Options are several words.
# shellcheck disable=SC2086 source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model="--machine model:xeon-gold-6130 --runs 5"
# widest: the longest line of $out, in characters; a line of progress ends at a CR, with blanks over the one before
widest() {
    tr '\r' '\n' <"$out" | LC_ALL=C sed "s/$(printf '\033')\[[0-9;]*m//g; s/ *\$//" | LC_ALL=C.UTF-8 awk \
        'length > most { most = length } END { print most + 0 }'
}
for columns in 60 72 80 140; do
    for job in "--transition 128fma:512fma --json x.json" "--verdict --brief" --help --help-all; do
        rm -f x.json
        case $job in
        --help*) options="" ;;
        --verdict*) options="--machine model:xeon-gold-6130" ;;
        *) options=$model ;;
        esac
        status=0
            COLUMNS=$columns "$CHARACTERIZE" $job $options >"$out" 2>"$err" || status=$?
        [ "$job" != --help-all ] || sed -i '/^ *[a-z]*\(,[a-z-]*\)\{4,\}/d' "$out" # lists that have no blanks
        verdict "COLUMNS=$columns: $job" test "$status" -eq 0 -a "$(widest)" -le "$columns"
    done
done
for columns in 60 80 140; do
    COLUMNS=$columns "$CHARACTERIZE" --transition 128fma:512fma $model --json x.json >"$out"
    rm -f x.json
    headings=$(grep '^start us' "$out" | tr -s ' ' '\n' | sort -u)
    missing=""
    for column in kind GHz IPC ratio level volts runs; do
        echo "$headings" | grep -qx "$column" || missing="$missing $column"
    done
    verdict "COLUMNS=$columns: the list of phases has all columns${missing:+, but for$missing}" test -z "$missing"
done
for columns in 60 140; do
    COLUMNS=$columns "$CHARACTERIZE" --table overhead --brief $model --output "out$columns" >"$out"
done
verdict "... a file is the same at all widths" cmp -s out60/overhead.txt out140/overhead.txt
for columns in nonsense 0 -5 99999999999 80x; do
    status=0
    COLUMNS=$columns "$CHARACTERIZE" --transition 128fma:512fma $model --json y.json >"$out" 2>"$err" || status=$?
    verdict "COLUMNS=$columns counts for nothing" test "$status" -eq 0 -a "$(widest)" -gt 80 -a "$(widest)" -le 100
    rm -f y.json
done

if ! have_terminal; then
    skip "on a terminal" "no script(1) that gives one"
    finish
fi
for job in "--transition 128fma:512fma $model --json x.json" "--list kernels" "--list tables" "--list machines" \
    "--table throttle --brief $model --csv x.json" "--self-test --machine model:xeon-gold-6130"; do
    rm -f x.json
    on_terminal "stty cols 72; '$CHARACTERIZE' $job"
    verdict "on a terminal of 72 columns: $job" test "$(widest)" -le 72 -a "$(widest)" -gt 50
done
run --list machines
verdict "a list in a pipe: one line each" test "$(grep -c '^ ' "$out")" -eq 0

finish
