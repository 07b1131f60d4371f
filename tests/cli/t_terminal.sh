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
slow="'$CHARACTERIZE' --transition 128fma:128or --machine model:xeon-gold-6130 --runs 6000 --json x.json"
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

finish
