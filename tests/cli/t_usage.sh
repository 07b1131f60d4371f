#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# input: words of users
# Usage: help, version, the man page, and every wrong way to call the program.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run
verdict "without arguments: short usage, status 2" \
    test "$status" -eq 2 -a ! -s "$out" -a "$(grep -c '^Usage: characterize' "$err")" -eq 1
verdict "the short usage is short" test "$(wc -l <"$err")" -le 8

run --version
verdict "--version" grep -Eqx 'characterize [0-9]+\.[0-9]+\.[0-9]+' "$out"

verdict "... is that of VERSION" [ "$(cat "$out")" = "characterize $(cat "$root/VERSION")" ]
verdict "the manual is of the same version" grep -q '^\.TH .*"characterize @VERSION@"' "$root/man/characterize.1"

run --help
verdict "--help: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
verdict "--help: two screens of 24 lines" test "$(wc -l <"$out")" -le 48
verdict "--help: no line is longer than 100 columns" test -z "$(awk 'length > 100' "$out")"
cp "$out" "$tmp/main"
run -h
verdict "-h: as --help" cmp -s "$out" "$tmp/main"
run --hel
verdict "--hel: as --help" cmp -s "$out" "$tmp/main"

run --help-all
help=$tmp/help
cp "$out" "$help"
verdict "--help-all: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
groups_and_examples() {
    for text in 'Jobs' 'What to measure on' 'What tables cover' 'Output' 'Examples' \
        'characterize --transition 128fma:512fma' \
        'characterize --analyze' 'characterize --list kernels' 'Exit status'; do
        grep -q -- "$text" "$help" || { echo "    missing: $text"; return 1; }
    done
}
verdict "--help-all: groups, an example per job, exit statuses" groups_and_examples
verdict "--help-all: no line is longer than 100 columns" test -z "$(awk 'length > 100' "$help")"
grep -o -- '--[a-z-]*' "$tmp/main" | sort -u >"$tmp/main-options"
grep -o -- '--[a-z-]*' "$help" | sort -u | comm -13 - "$tmp/main-options" >"$out"
verdict "--help has no option that --help-all has not" test ! -s "$out" -a "$(wc -l <"$tmp/main-options")" -ge 20

# every option of --help-all stands in the manual's list of options, and the other way round
man=$root/man/characterize.1
sed -n 's/^ *\(-[?V], *\)\{0,1\}--\([a-z-]*\).*/\2/p' "$help" | sort -u >"$tmp/help-options"
sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$man" | sed 's/\\-/-/g' |
    sed -n 's/^\.B[IR]* .*--\([a-z-]*\).*/\1/p' | sort -u >"$tmp/man-options"
verdict "--help-all lists options" test "$(wc -l <"$tmp/help-options")" -ge 20
if diff "$tmp/help-options" "$tmp/man-options" >"$out"; then
    ok "--help-all and the manual list the same options"
else
    fail "--help-all and the manual list the same options"
fi
if command -v man >/dev/null 2>&1 && [ -n "$(man --version 2>/dev/null)" ]; then
    man --warnings -E UTF-8 -l "$man" >/dev/null 2>"$err"
    verdict "the manual formats without a warning" test ! -s "$err"
else
    skip "the manual formats without a warning" "no man program"
fi

t=--transition
p=128fma:512fma
refuses "FROM alone" 2 "'128fma' is not of the form FROM:TO, as in 128fma:512fma" $t 128fma
refuses "FROM: without TO" 2 'form FROM:TO' $t 128fma:
refuses "three kernels" 2 'form FROM:TO' $t 128fma:256fma:512fma
refuses "an unknown kernel, with the nearest" 2 "513fma.*nearest.*512fma" $t 128fma:513fma
refuses "an instruction set, with its heavy kernel" 2 "'avx512'; nearest is '512fma'" $t 128fma:avx512
refuses "an unknown kernel beyond ASCII, as it was typed" 2 "unknown kernel 'ü'" $t ü:ü
refuses "an unknown first kernel" 2 "128fmx.*nearest.*128fma" $t 128fmx:512fma
refuses "a density out of range" 2 '1 to 256' $t 128fma:512fma@1/257
refuses "two letters that changed places" 2 "unknown option '--tabel', perhaps --table" --tabel frequency
refuses "an unknown option, with the nearest" 2 "unknown option '--transtion', perhaps --transition" --transtion $p
refuses "an option that resembles nothing" 2 "unknown option '--frobnicate'; --help-all" --frobnicate
refuses "a short option" 2 "unknown option '-x'" -x
refuses "an ambiguous abbreviation" 2 "'--o' is ambiguous: --observe, --on, --output\$" --o 3
refuses "... of one letter" 2 "'--q' is ambiguous: --quiet-machine, --quiet\$" --q
refuses "a missing value" 2 '--runs needs a value' $t $p --runs
refuses "a value too much" 2 '--quiet takes no value' $t $p --quiet=yes
refuses "a stray argument" 2 "unexpected argument 'trace.csv'.*--analyze" trace.csv

for runs in 0 -3 10x 1e3 0x10 1.5 '' ' 5' 100001 99999999999999999999999; do
    refuses "--runs '$runs'" 2 "--runs: '$runs' .*; allowed: 1 to 100000" $t $p --runs "$runs"
done
for period in 0 0.09 1001 nan inf -1 1h '' 1e 0x1 1e999 .; do
    refuses "--period '$period'" 2 "--period: '$period' .*allowed: 0.1 to 1000" $t $p --period "$period"
done
refuses "--warmup too long" 2 'allowed: 0 to 1000000' $t $p --warmup 1000001
refuses "--warmup 0 for a table" 2 "'0' works with --transition only.*above 0" --table frequency --warmup 0
refuses "--warmup 0 for all tables" 2 "'0' works with --transition only.*above 0" --all --warmup 0
refuses "--warmup negative" 2 'allowed: 0 to 1000000' $t $p --warmup -1
refuses "--observe too short" 2 'allowed: 1 to 1000000' $t $p --observe 0.5
refuses "--observe too long" 2 'allowed: 1 to 1000000' $t $p --observe 1e7
refuses "--cpu negative" 2 'allowed: 0 to' $t $p --cpu -1
refuses "--cpu not a number" 2 'whole number' $t $p --cpu all
refuses "--active-cores not a number" 2 'whole number' $t $p --active-cores many
refuses "--seed out of range" 2 'allowed: 0 to' $t $p --seed 18446744073709551616
refuses "too many samples of a short period" 2 'the limit is 20000000' $t $p --observe 1e6 --period 0.1 --runs 10000
refuses "too many samples in all" 2 'the limit is 20000000' $t $p --observe 1e5 --runs 100000

refuses "two jobs" 2 '--transition and --analyze cannot be combined' $t $p --analyze x.csv
refuses "the same job twice" 2 'given twice' $t $p $t $p
for option in '--machine timing' '--cpu 0' '--active-cores 1' '--runs 3' '--period 1' '--warmup 1' '--observe 9'; do
    # shellcheck disable=SC2086 # option and value
    refuses "--analyze with $option" 2 "${option%% *} cannot be combined with --analyze" --analyze x.csv $option
done
refuses "--list with an output" 2 '--json cannot be combined with --list' --list kernels --json x.json
refuses "a setting without a job" 2 '--runs without a job' --runs 5
refuses "nothing to do" 2 'nothing to do' --quiet
refuses "two outputs of one name" 2 "both name 'x'" $t $p --json x --csv x
refuses "two outputs to standard output" 2 "both name '-'" $t $p --json - --csv -
refuses "a plot of another form" 2 'neither \.svg nor \.png' $t $p --plot x.pdf
refuses "a plot to standard output" 2 'neither \.svg nor \.png' $t $p --plot -
refuses "an empty file name" 2 'empty' $t $p --json ''

refuses "an unknown machine" 2 'unknown machine.*timming.*timing' $t $p --machine timming
refuses "an unknown model" 2 'no model .*xeon' $t $p --machine model:xeon
refuses "a model without model:" 2 "unknown machine 'gold-6130', perhaps 'model:xeon-gold-6130'" \
    $t $p --machine gold-6130
run --list tab --quiet
verdict "a list by the beginning of its name" test "$status" -eq 0 -a "$(grep -c '^burst' "$out")" -eq 1
refuses "a table by an ambiguous beginning" 2 "'t' is ambiguous: transitions, throttle, trigger" --table t
run $t 128FMA:512FMA --machine model:xeon-gold-6130 --observe 0.2ms --warmup 1ms --period 2us --runs 5 --output o
verdict "kernels in capital letters, times with units" grep -q '^128fma -> 512fma' "$out"
verdict "... 0.2 ms" grep -Eq '# observe_us: 200$|^# observe.*200' o/128fma_512fma.csv
refuses "a time with an unknown unit" 2 "--observe: '1h' is not a number; allowed: 1 to 1000000 microseconds" \
    $t $p --observe 1h
refuses "a time out of range" 2 "--observe: '2s' is out of range" $t $p --observe 2s
refuses "an unknown list" 2 "unknown 'cpus'; one of: kernels, machines, skus, tables" --list cpus

# tables
for option in '--kernels 128fma' '--cpus 0' '--companion same' '--siblings busy' --brief --resume '--input x'; do
    # shellcheck disable=SC2086 # option and value
    refuses "--transition with $option" 2 "${option%% *} cannot be combined with --transition; use it with --" $t $p \
        $option
    # shellcheck disable=SC2086
    refuses "$option without a job" 2 "${option%% *} without a job: add --" $option
done
f='--table frequency'
m='--machine model:xeon-gold-6130'
for list in '' ',' '128fma,' '128fma,,512fma' 128fmx '128fma,128fma'; do
    # shellcheck disable=SC2086
    refuses "--kernels '$list'" 2 '--kernels: ' $f $m --kernels "$list"
done
for list in '' ',' '1,' '1-' 3-1 '1,1' '2-4,3' x 1.5 -1 9000; do
    # shellcheck disable=SC2086
    refuses "--cpus '$list'" 2 '--cpus: ' $f $m --cpus "$list"
    # shellcheck disable=SC2086
    refuses "--active-cores '$list'" 2 '--active-cores: ' $f $m --active-cores "$list"
done
# shellcheck disable=SC2086
{
    refuses "all active cores twice" 2 '--active-cores: all \(or 0, .*\) is given twice' $f $m --active-cores all,all
    refuses "all active cores and 0" 2 '--active-cores: all \(or 0, .*\) is given twice' $f $m --active-cores 0,all
    refuses "a range without an end" 2 "--active-cores: '4-' has no number after the dash" $f $m --active-cores 4-
    refuses "more active cores than there are" 2 '17 active cores: .* has 16 cores' $f $m --active-cores 1,17
    refuses "--cpu that is not the first of --cpus" 2 'not the first of --cpus' $f $m --cpu 1 --cpus 0,1
    refuses "--companion unknown" 2 "--companion: .*'same' works, too" $f $m --companion samme
    refuses "--siblings unknown" 2 "'some' is neither; allowed: idle, busy" $f $m --siblings some
    refuses "--siblings busy for energy" 2 '--siblings busy cannot be combined with --table energy' --table energy $m \
        --siblings busy
    refuses "--companion for energy" 2 '--companion cannot be combined with --table energy' --table energy $m \
        --companion 64add
    refuses "a list of core counts for a transition" 2 'takes one number' $t $p --active-cores 1,2
    refuses "an event for another table" 2 '--event cannot be combined with --table frequency' $f $m --event 0x28
    refuses "... whatever its form" 2 '--event cannot be combined with --table frequency' $f $m --event 0x28:0x08
    refuses "an umask where all are tried" 2 "'0x28:0x08:cmask=3': give the event select alone, as in 0x28" \
        --table umask $m --event 0x28:0x08:cmask=3
    refuses "--warmup where it does not apply" 2 '--warmup cannot be combined with --table relaxation' --table \
        relaxation $m \
        --warmup 100
    for no_sample in 'frequency --observe 1' 'energy --observe 200'; do
        run --table $no_sample $m --kernels 128fma --active-cores 1
        verdict "--table $no_sample: no sample fits" \
            test "$status" -eq 3 -a "$(grep -c 'no sample fits: .* us are' "$out")" -eq 1
    done
    for table in relaxation trigger; do
        refuses "--observe where it does not apply" 2 "--observe cannot be combined with --table $table" --table \
            $table $m --observe 100
    done
    refuses "a transition's event without umask" 2 'has no umask' $t $p $m --event 0x28
    refuses "a table with --resume" 2 '--resume cannot be combined with --table; use it with --all' $f $m --resume
    refuses "--input and a machine" 2 '--machine cannot be combined with --input, which reads tables' --export header \
        x.h --input d $m
    for option in '--kernels 64add' '--active-cores 1' '--runs 3' '--seed 9' '--companion same' --brief '--cpus 0' \
        '--warmup 5' '--period 1' '--observe 5' '--turbo on' '--quiet-machine' '--interference make' '--sysroot /'; do
        refuses "--input and $option" 2 "${option%% *} cannot be combined with --input, which reads tables measured" \
            --export json --input d $option
        refuses "--validate, --input and $option" 2 "${option%% *} cannot be combined with --input, which reads" \
            --validate xeon-gold-6130 --input d $option
    done
    refuses "a second file" 2 "unexpected argument 'y.h'" --export header x.h y.h
    refuses "--all with --csv" 2 '--csv cannot be combined with --all' --all $m --csv x.csv
}
refuses "an unknown table" 2 "--table: unknown 'x'; one of" --table x
refuses "a mistyped table" 2 "--table: unknown 'overhaed', perhaps overhead; one of" --table overhaed
refuses "an unknown export" 2 "--export: unknown 'yaml'" --export yaml

# the three programs: lines begin with the name of the one at hand, and point to options that it has
# own PROGRAM PATTERN ARGUMENT...
own() {
    own_program=$1 own_pattern=$2
    shift 2
    "$(dirname "$CHARACTERIZE")/$own_program" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    verdict "$own_program $*" test "$status" -ge 2 -a "$(wc -l <"$err")" -eq 1 -a \
        "$(grep -Ec "^$own_program: $own_pattern" "$err")" -eq 1
}
own characterize-profile ".*follows --: -- true" --machine model:xeon-gold-6130 --seconds 1 true
own characterize-profile ".*choose a model with license levels, such as" --machine model:cloud-guest
own characterize-simulate ".*; characterize --list workloads shows" --params avx.json
own characterize-simulate ".*characterize --export json" web-server
own characterize-simulate "--runs: '0' is out of range; allowed: 1 to 1000$" web-server --params avx.json --runs 0
own characterize-simulate "--runs: '1001' is out of range; allowed: 1 to 1000$" web-server --params avx.json --runs 1001
own characterize ".*'b'; one too many for --export$" --export json a b --input none

finish
