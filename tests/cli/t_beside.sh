#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --beside: what a command costs beside wide code, on a model and here; what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# a model: 0.67 ms of each slice of 3 ms at 1.9 instead of 2.8 GHz, and a halt
run --beside 256fma,512fma --on package --machine model:xeon-gold-6130 --csv b.csv --json b.json -- 64add
verdict "status 0" test "$status" -eq 0
verdict "modelled: said so" grep -q '^modelled, not measured' "$out"
verdict "512fma costs 7 to 9 % of CPU time" \
    grep -Eq '^Beside 512fma, against 128fma: [78]\.[0-9] .* more CPU time' "$out"
verdict "what was run, and where" grep -q '^Command: 64add. Background code ran on all CPUs' "$out"
verdict "five rows: nothing, 128fma twice, both kernels" test "$(grep -vc '^#' b.csv)" -eq 6
verdict "the narrow code's null is one row" grep -q '^128fma again,package,' b.csv
verdict "JSON: a table of this name" grep -q '"table": "beside"' b.json
run --beside 256or --machine model:xeon-gold-6130 --on same --quiet --csv - -- 64add
verdict "light code is compared with light code" grep -q '^128or,same,' "$out"

# here: a command that costs nothing measurable, and runs long enough to be timed
cat >busy.sh <<'EOF'
i=0
while [ $i -lt 5000 ]; do i=$((i+1)); done
echo ran >>runs
EOF
run --beside 128or,64mul --on same --runs 3 --quiet --csv here.csv -- sh busy.sh
verdict "here: status 0" test "$status" -eq 0
verdict "... it ran once to warm up, then four times in each round" test "$(wc -l <runs)" -eq 13
verdict "... fewer than six rounds have no limits, which is said" grep -q 'it takes 6 rounds' "$out"
verdict "... what it prints is not shown" test "$(grep -c '^ran' "$out")" -eq 0
verdict "... each row has all rounds" test "$(grep -c ',3,,,$' here.csv)" -eq 4
run --beside 64add --duty 100us,1ms --on same --runs 1 --quiet -- sh -c ': ;'
verdict "--duty is said" grep -q 'for 100 us of each 1000 us, 64add in between' "$out"

verdict "words are quoted" grep -q "^Command: sh -c ': ;'. Background" "$out"
run --beside 256fma --runs 6 --on same --machine model:cloud-guest -- 64add
verdict "a model without counters" test "$status" -eq 0

# at fixed frequencies: adds alone follow the clock
run --clocks 2.8,1.9 --machine model:xeon-gold-6130 --csv c.csv -- 64add
verdict "--clocks on a model" test "$status" -eq 0
verdict "... 64add waits for nothing" \
    grep -Eq '^Of its cycles at 2.8 GHz, a share of -?0\.00[01] .* does not follow the clock' "$out"
verdict "... as set, the first twice, the other" \
    test "$(cut -d, -f1,2 c.csv | grep -v '^#' | tail -n +2 | tr '\n' ' ')" = \
    "as set,alone 2.8 GHz,alone 2.8 GHz again,alone 1.9 GHz,alone "

expect_refusal() {
    what=$1 wanted=$2 text=$3
    shift 3
    run "$@"
    verdict "$what: status $wanted" test "$status" -eq "$wanted"
    verdict "$what: the line says why" grep -q -e "$text" "$err"
}
refuses "no command" 2 'no command; it follows --' --beside 512fma
refuses "nothing after --" 2 'no command after --' --beside 512fma --
refuses "an empty command" 2 'name of the command is empty' --beside 512fma -- ''
refuses "a command without --" 2 'the command follows --' --beside 512fma true
expect_refusal "no such command" 2 "'no-such' is not in PATH" --beside 64add --on same -- no-such
expect_refusal "a command that fails" 2 "'false' ended with status 1" --beside 64add --on same -- false
refuses "no such kernel" 2 "unknown kernel '512xx'" --beside 512xx -- true
refuses "a kernel twice" 2 '64add is given twice' --beside 64add,64add -- true
refuses "no such place" 2 'allowed: same, sibling, core, package' --beside 64add --on socket -- true
refuses "a duty that is none" 2 'ON below EVERY' --beside 64add --duty 1ms,1ms -- true
refuses "a command on a model" 2 'give the name of a kernel instead' \
    --beside 512fma --machine model:xeon-gold-6130 -- true
expect_refusal "siblings of a model" 3 'none of it can be measured' \
    --beside 512fma --on sibling --machine model:xeon-gold-6130 -- 64add
expect_refusal "--duty on a model" 3 'none of it can be measured' \
    --beside 512fma --duty 1ms,2ms --machine model:xeon-gold-6130 -- 64add
refuses "one frequency" 2 'two frequencies or more' --clocks 2.8 -- true
refuses "a frequency twice" 2 '2.8 and 2.79 GHz are not 2 % apart' --clocks 2800MHz,2.79GHz -- true
refuses "too many" 2 'more than 8 frequencies' --clocks 1,2,3,4,5,6,7,8,9 -- true
refuses "no frequency" 2 "'x' is no frequency of 0.1 to 20 GHz" --clocks 2.8,x -- true
refuses "--clocks with a place" 2 'runs alone, at these frequencies; omit --on' --clocks 2,3 --on same -- true
refuses "--clocks without a command" 2 'no command; it follows --: --clocks 2,3 -- COMMAND' --clocks 2,3
refuses "--on without --beside" 2 'use it with --beside KERNEL -- COMMAND' --verdict --on same
expect_refusal "a command that is too slow" 2 'a run takes .* rounds of .* use a shorter command' \
    --beside 64add --seconds 0.1 --on same -- sleep 0.3
finish
