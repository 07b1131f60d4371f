#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Pipes: one without a partner is refused at each place where a file may be named or found, those of shells and those
# with a partner are read and written.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model="--machine model:xeon-gold-6130"
few="--transition 128fma:512fma $model --runs 10 --quiet"

# hangs_not ARGUMENT...: as run, but ended, with another status, where it hangs.
hangs_not() {
    timeout -k 1 10 "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# lonely WHAT STATUS PATTERN ARGUMENT...: in a folder of its own with pipes that nobody else has open. All at the same
# time, for each waits a while for a partner; together() gives the verdicts.
n_lonely=0
lonely() {
    n_lonely=$((n_lonely + 1))
    printf '%s\n' "$1" >"$tmp/lonely.$n_lonely.what"
    printf '%s %s\n' "$2" "$3" >"$tmp/lonely.$n_lonely.wanted"
    shift 3
    mkdir "lonely.$n_lonely"
    (
        cd "lonely.$n_lonely" && mkfifo pipe pipe.svg pipe.tar.gz pipe.model
        timeout -k 1 10 "$CHARACTERIZE" "$@" >"$tmp/lonely.$n_lonely.out" 2>"$tmp/lonely.$n_lonely.err" </dev/null
        echo $? >"$tmp/lonely.$n_lonely.status"
    ) &
}
together() {
    wait
    i=0
    while [ "$i" -lt "$n_lonely" ]; do
        i=$((i + 1))
        read -r lonely_status lonely_pattern <"$tmp/lonely.$i.wanted"
        cat "$tmp/lonely.$i.out" >"$out"
        cat "$tmp/lonely.$i.err" >"$err"
        status=$(cat "$tmp/lonely.$i.status")
        verdict "$(cat "$tmp/lonely.$i.what")" test "$status" -eq "$lonely_status" -a "$(wc -l <"$err")" -eq 1 -a \
            "$(grep -Ec "$lonely_pattern" "$err")" -eq 1
    done
}

# pipe_for KIND/FILE: a data folder, data.KIND, in which that is a pipe.
pipe_for() {
    cp -a "$data" "data.${1%%/*}"
    rm -f "data.${1%%/*}/$1" && mkfifo "data.${1%%/*}/$1"
}

# ---- nobody at the other end
clean
reads='no program is reading from this pipe'
writes='no program is writing to this pipe'
# shellcheck disable=SC2086
{
    lonely "--csv" 1 "pipe: $reads" $few --csv pipe
    lonely "--json" 1 "pipe: $reads" $few --json pipe
    lonely "--json of a table" 1 "pipe: $reads" --table umask $model --brief --json pipe
    lonely "--export FILE" 1 "pipe: $reads" --export header pipe $model
    lonely "--bundle" 1 "pipe.tar.gz: $reads" --self-test $model --bundle pipe.tar.gz
    command -v gnuplot >/dev/null 2>&1 && lonely "--plot" 1 "pipe.svg: $reads" $few --plot pipe.svg
    lonely "--analyze" 2 "pipe: $writes" --analyze pipe
    lonely "a model" 2 "pipe: .*$writes" --transition 128fma:512fma --machine model:./pipe
    lonely "a model by its ending" 2 "pipe.model: .*$writes" --table umask --brief --machine model:pipe.model
    lonely "--validate" 2 "pipe: .*$writes" --validate ./pipe $model
    lonely "a bundle" 2 "pipe.tar.gz: .*$writes" --self-test --input pipe.tar.gz
    mkdir out && mkfifo out/128fma_512fma.csv
    lonely "in --output" 1 "out/128fma_512fma.csv: $reads" $few --output ../out
    mkdir -p in/tables && mkfifo in/tables/frequency.json
    lonely "a table in --input of --export" 2 'frequency.json: cannot be read' --export json --input ../in
    lonely "a table in --input of --validate" 2 'frequency.json: cannot be read' --validate xeon-gold-6130 --input ../in
    mkdir all && mkfifo all/run.json
    lonely "run.json" 2 'all/run.json: it is not a regular file' --all $model --brief --resume --output ../all
}
data=$CHARACTERIZE_DATA
for file in models/xeon-gold-6130.model skus/xeon-gold-6130.sku; do
    pipe_for $file
    CHARACTERIZE_DATA=$work/data.${file%%/*}
    # shellcheck disable=SC2086
    lonely "a shipped ${file%%/*}" 2 'xeon-gold-6130[.].*not a regular file' --validate xeon-gold-6130 $model
done
CHARACTERIZE_DATA=$data
together

# ---- pipes of shells, as descriptors
clean
# shellcheck disable=SC2086
{
    run $few --csv x.csv --json x.json
    cp "$out" screen
    "$CHARACTERIZE" $few --csv /dev/fd/5 5>&1 >"$out" 2>"$err" </dev/null | cmp -s - x.csv
    verdict "a trace to >( )" test $? -eq 0
    { "$CHARACTERIZE" $few --csv /dev/stdout 2>"$err" </dev/null; echo $? >status; } | cmp -s - x.csv
    verdict "/dev/stdout is a pipe: as -" test $? -eq 0 -a "$(cat status)" -eq 0
    "$CHARACTERIZE" $few --csv /dev/stdout >y.csv 2>"$err" </dev/null
    verdict "/dev/stdout is a file: as -" cmp -s x.csv y.csv
    "$CHARACTERIZE" $few --json - >y.json 2>"$err" </dev/null
    verdict "- is a file" cmp -s x.json y.json
    echo before >both && "$CHARACTERIZE" $few --json /dev/stderr 2>>both >"$out" </dev/null
    { echo before && cat x.json; } | cmp -s - both
    verdict "/dev/stderr is a file that is appended to" test $? -eq 0
    run $few --csv /dev/null
    verdict "/dev/null" test "$status" -eq 0 -a -c /dev/null
}
run --analyze x.csv --json a.json
for name in /dev/fd/5 /proc/self/fd/5; do
    # shellcheck disable=SC2002
    cat x.csv | "$CHARACTERIZE" --analyze $name --json b.json 5<&0 >"$out" 2>"$err" </dev/null
    verdict "a trace from <( ) by $name" cmp -s a.json b.json
done
for name in - /dev/stdin; do
    (sleep 0.3 && head -n 40 x.csv && sleep 1.3 && tail -n +41 x.csv) |
        "$CHARACTERIZE" --analyze $name --json b.json >"$out" 2>"$err"
    verdict "a slow trace on standard input, as $name" cmp -s a.json b.json
done
if command -v bash >/dev/null 2>&1 && command -v gzip >/dev/null 2>&1; then
    gzip -k x.csv
    bash -c '"$1" --analyze <(gzip -dc x.csv.gz) --json b.json &&
        "$1" --analyze x.csv --csv >(gzip >y.csv.gz) --json z.json' \
        bash "$CHARACTERIZE" >"$out" 2>"$err" </dev/null
    verdict "bash's <(gzip -dc ...)" cmp -s a.json b.json
    sleep 0.5
    gzip -dc y.csv.gz | cmp -s - x.csv
    verdict "bash's >(gzip ...)" test $? -eq 0
else
    skip "bash's <( ) and >( )" "no bash, or no gzip"
fi
# shellcheck disable=SC2086
hangs_not $few --csv /dev/fd/9
verdict "a descriptor that is not open" test "$status" -eq 1 -a "$(grep -c 'descriptor 9 is not open' "$err")" -eq 1
hangs_not --analyze /dev/fd/9
verdict "... nor for reading" test "$status" -eq 2 -a "$(grep -c 'descriptor 9 is not open' "$err")" -eq 1

# --all reads a model twice, to know it again
mkdir only && cd only || exit 1
# shellcheck disable=SC2002
cat "$CHARACTERIZE_DATA/models/xeon-gold-6130.model" |
    "$CHARACTERIZE" --all --brief --machine model:/dev/stdin --output all >"$out" 2>"$err"
status=$?
verdict "--all with a model from a pipe" \
    test "$status" -eq 2 -a "$(grep -c 'put it into a file' "$err")" -eq 1 -a ! -e all
cd .. || exit 1

# ---- named pipes with a partner, who may come a little later
mkfifo pipe
for delay in 0 0.4; do
    (sleep $delay && exec cat pipe >y.csv) &
    # shellcheck disable=SC2086
    hangs_not $few --csv pipe
    wait
    verdict "a reader who comes after $delay s has the whole trace" cmp -s x.csv y.csv
    (sleep $delay && exec cat x.csv >pipe) &
    hangs_not --analyze pipe --json b.json
    wait
    verdict "a writer who comes after $delay s" cmp -s a.json b.json
done
(sleep 0.3 && exec cat "$CHARACTERIZE_DATA/models/xeon-gold-6130.model" >pipe) &
hangs_not --transition 128fma:512fma --machine model:./pipe --runs 10 --quiet --json b.json
wait
verdict "a model" test "$status" -eq 0 -a -s b.json

finish
