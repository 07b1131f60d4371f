#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# On a terminal: colour and progress, and how to switch them off.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! have_terminal; then
    skip "on a terminal" "no script(1) that gives one"
    finish
fi

quick="'$CHARACTERIZE' --transition 128fma:512fma --machine model:xeon-gold-6130 --json x.json"
runs=6000 # of a second and more
[ -z "${SANITIZED:-}" ] || runs=2000
slow="'$CHARACTERIZE' --transition 128fma:128or --machine model:xeon-gold-6130 --runs $runs --json x.json"
coloured() {
    grep -q "$(printf '\033')\[" "$out"
}
plain() {
    ! coloured
}

on_terminal "$quick"
verdict "colour on a terminal" coloured
on_terminal "NO_COLOR=1 $quick"
verdict "NO_COLOR=1: none" plain
on_terminal "NO_COLOR= $quick"
verdict "NO_COLOR empty: colour" coloured
on_terminal "TERM=dumb $quick"
verdict "TERM=dumb: none" plain
on_terminal "$quick | cat"
verdict "into a pipe: none" plain

on_terminal "$slow"
verdict "progress while it measures" grep -Eq '[0-9]+ of [0-9]+ repetitions, [0-9]+ s left' "$out"
on_terminal "$slow --quiet"
verdict "--quiet: no progress" test "$(grep -c 'left' "$out")" -eq 0
on_terminal "$slow 2>err.txt"
verdict "standard error is no terminal: no progress" test ! -s err.txt

profile="'$CHARACTERIZE' --profile --machine model:xeon-gold-6130 --seconds 2 --live"
# printed_after: the table is printed when the terminal has been given back
printed_after() {
    tr '\033' '\n' <"$out" | awk '
        index($0, "[?1049l") == 1 { back = 1 }
        /Remote overhead/ { after = back }
        END { exit !after }'
}
on_terminal "$profile"
verdict "a profile: the live view" grep -q "$(printf '\033')\[?1049h.*by impact" "$out"
verdict "... gives the screen back before the table is printed" printed_after
on_terminal "${profile%--live}--no-live"
verdict "--no-live: none" sh -c '! grep -q 1049h "$1"' sh "$out"
on_terminal "TERM=dumb $profile"
verdict "TERM=dumb: a line says why there is none" \
    grep -q 'no live view: the terminal cannot move its cursor (TERM is dumb)' "$out"
verdict "... and the table is printed, plain" plain

on_terminal "stty cols 72; TERM=dumb ${profile%--live}--no-live 2>/dev/null"
verdict "a narrow terminal: the table has its width" \
    test "$(tr -d '\r' <"$out" | awk 'length > most { most = length } END { print most }')" -le 72 -a -s "$out"
on_terminal "stty cols 20; TERM=dumb ${profile%--live}--no-live 2>/dev/null"
verdict "... down to 60 columns" grep -Eq '.{40}' "$out"

finish
