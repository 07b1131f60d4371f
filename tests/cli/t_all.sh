#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --all: what is in its directory, interruption and --resume, what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

few="--kernels 128fma,512fma --runs 2 --active-cores 2"
short="--all --machine model:xeon-gold-6130 --brief $few"
dir=$tmp/whole

# shellcheck disable=SC2086
run $short --output "$dir"
verdict "--all: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
listed=$("$CHARACTERIZE" --list tables | sed -n '/^$/q; s/ .*//p')
verdict "a line for each table" test "$(grep -c '^[a-z]* *[0-9]* rows\{0,1\}' "$out")" -eq "$(echo "$listed" | wc -l)"
verdict "what was found, and where the report is" grep -q "^Written  *$dir/report.html" "$out"
complete() {
    for table in $listed; do
        for ending in csv json txt; do
            [ -s "$dir/tables/$table.$ending" ] || { echo "    missing: $table.$ending"; return 1; }
        done
    done
    [ -s "$dir/report.html" ] && [ -s "$dir/run.json" ]
}
verdict "the directory is complete" complete
verdict "the report says that it is modelled" grep -q 'Modelled, not measured' "$dir/report.html"
# but for addresses that are names (of XML namespaces)
fetches() {
    grep -Eo '(src|href|url\()[="(]*(https?:)?//[^" )]*' "$dir/report.html"
}
verdict "the report fetches nothing" test -z "$(fetches)"

# shellcheck disable=SC2086
run $short --output "$dir"
verdict "a second run into it: status 2 and both ways out" \
    test "$status" -eq 2 -a \
    "$(grep -c 'already contains a run; continue it with --resume, .* --output DIR' "$err")" -eq 1
cp -r "$dir" "$tmp/before"
# shellcheck disable=SC2086
run $short --output "$dir" --resume
verdict "--resume of a finished run: the same to the byte" \
    test "$status" -eq 0 -a -z "$(diff -r "$dir" "$tmp/before" 2>&1)"
cp -r "$dir" "$tmp/profiled"
echo page >"$tmp/profiled/profile.html"
# shellcheck disable=SC2086
run $short --output "$tmp/profiled" --resume
verdict "the page of a profile beside the report is linked" \
    test "$status" -eq 0 -a "$(grep -c 'href="profile.html"' "$tmp/profiled/report.html")" -eq 1
# shellcheck disable=SC2086
run $short --output "$dir" --resume --seed 1
verdict "--resume with another seed: status 2, and it says what differs" \
    test "$status" -eq 2 -a "$(grep -c -- '--seed is .0. in that run and .1. in this one' "$err")" -eq 1
run --all --machine model:xeon-w-2104 --brief --output "$dir" --resume
verdict "--resume with another machine: status 2" \
    test "$status" -eq 2 -a "$(grep -c 'belongs to another run' "$err")" -eq 1
verdict "... and nothing was touched" test -z "$(diff -r "$dir" "$tmp/before" 2>&1)"
sed 's/"version": "[^"]*"/"version": "0.0.9"/' "$tmp/before/run.json" >"$dir/run.json"
# shellcheck disable=SC2086
run $short --output "$dir" --resume
verdict "--resume of another version's run: status 2, and what would do" \
    test "$status" -eq 2 -a \
    "$(grep -c 'version is .0.0.9..* continue with that run.s version and options' "$err")" -eq 1
cp "$tmp/before/run.json" "$dir/run.json"

# cells: one that is gone is measured again, one that is broken as well
find "$dir/cells" -name '*.json' | sort | sed -n '3p;40p' >"$tmp/some"
while read -r cell; do rm "$cell"; done <"$tmp/some"
find "$dir/cells" -name '*.json' | sort | sed -n 11p >"$tmp/one"
printf '{"format": ' >"$(cat "$tmp/one")"
# shellcheck disable=SC2086
run $short --output "$dir" --resume
verdict "cells that are gone or broken are measured again, and reported" \
    test "$status" -eq 0 -a -z "$(diff -r "$dir" "$tmp/before" 2>&1)" -a \
    "$(grep -c 'measuring this cell again' "$err")" -eq 1

if [ -n "${SANITIZED:-}" ]; then
    skip "other directories, two runs at once, signals, kill and resume" \
        "these run the same code again, and minutes here"
    finish
fi

mkdir "$tmp/other" && echo precious >"$tmp/other/file"
# shellcheck disable=SC2086
run $short --output "$tmp/other"
verdict "a directory that holds something else: status 2, untouched" \
    test "$status" -eq 2 -a "$(ls "$tmp/other")" = file
run --all --machine model:xeon-gold-6130 --kernels 512fma --output "$tmp/refused"
verdict "a refused run leaves no directory" test "$status" -eq 2 -a ! -e "$tmp/refused"
run --all --machine model:core-i7-6700hq --kernels 512fma,512or --brief --output "$tmp/nothing" --quiet
verdict "kernels that do not run here: the table of workloads alone, and the reasons" \
    test "$status" -eq 0 -a "$(grep -c '^[a-z]' "$tmp/nothing/tables/frequency.csv")" -eq 1 -a \
    "$(grep -c 'avx512' "$tmp/nothing/report.html")" -gt 0
# as a kill leaves it that meets the program between a file's temporary name and its own
mkdir "$tmp/empty" && echo '{' >"$tmp/empty/.run.json.0123456789abcdef.tmp"
for file in report.html cells/frequency/x.json tables/umask.csv; do
    echo x >"$dir/$(dirname "$file")/.$(basename "$file").0123456789abcdef.tmp"
done
# shellcheck disable=SC2086
run $short --output "$dir" --resume
verdict "what a killed run had begun to write goes" \
    test "$status" -eq 0 -a -z "$(diff -r "$dir" "$tmp/before" 2>&1)"
one="--all --machine model:xeon-gold-6130 --brief --kernels 64add,512fma --runs 2 --active-cores 1 --quiet"
# shellcheck disable=SC2086
{
    run $one --period 0.33333333333 --seed 18446744073709551615 --output "$tmp/third"
    run $one --period 0.33333333333 --seed 18446744073709551615 --output "$tmp/third" --resume
}
verdict "a period with many digits is the same when it is resumed" test "$status" -eq 0
verdict "the seed is reported to the last digit" \
    grep -q '^# seed: 18446744073709551615$' "$tmp/third/tables/umask.csv"
# shellcheck disable=SC2086
run $short --output "$tmp/empty" --resume
verdict "--resume of nothing begins" test "$status" -eq 0 -a -z "$(diff -r "$tmp/empty" "$dir" 2>&1)"
echo '{}' >"$tmp/empty/run.json"
# shellcheck disable=SC2086
run $short --output "$tmp/empty" --resume
verdict "a run.json of something else: status 2" test "$status" -eq 2

# two at once
# shellcheck disable=SC2086
(exec "$CHARACTERIZE" --all --machine model:xeon-gold-6130 --output "$tmp/busy" >"$tmp/first" 2>&1) &
first=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -e "$tmp/busy/run.json" ] && break
    sleep 0.3
done
run --all --machine model:xeon-gold-6130 --output "$tmp/busy" --resume
verdict "a second run at the same time: status 1" \
    test "$status" -eq 1 -a "$(grep -c 'another run is using' "$err")" -eq 1
kill -TERM $first
wait $first
verdict "a signal: status 1, one line that names --resume" \
    test $? -eq 1 -a "$(grep -c 'interrupted in table .* continue with --resume' "$tmp/first")" -eq 1
verdict "... and no report yet" test ! -e "$tmp/busy/report.html"

# this processor, by time stamps: works, or says why not, but never fails
here="--all --machine timing --brief --kernels 64add,128or --runs 3 --active-cores 1 --output $tmp/here --quiet"
# shellcheck disable=SC2086
run $here
case $status in
0) verdict "--all on this processor by time stamps" test -s "$tmp/here/report.html" ;;
3) skip "--all on this processor by time stamps" "$(cat "$err")" ;;
*) fail "--all on this processor by time stamps" ;;
esac

if [ "$status" -eq 0 ] && [ "$(nproc)" -gt 1 ] && command -v taskset >/dev/null 2>&1; then
    verdict "... and says under which settings" grep -q '^# environment: kernel ' "$tmp/here/tables/frequency.csv"
    date=$(grep '^# date: ' "$tmp/here/tables/frequency.csv")
    sleep 1
    # shellcheck disable=SC2086
    run $here --resume
    verdict "the date is that of the measurement, not of --resume" \
        test "$status" -eq 0 -a "$(grep '^# date: ' "$tmp/here/tables/frequency.csv")" = "$date"
    allowed=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    status=0
    # shellcheck disable=SC2086
    taskset -c "$allowed" "$CHARACTERIZE" $here --resume >"$out" 2>"$err" || status=$?
    # where /sys is not mounted, the cores are those that are allowed
    verdict "--resume on other CPUs: status 2" \
        test "$status" -eq 2 -a "$(grep -Ec '(allowed_cpus|cores) is ' "$err")" -eq 1
else
    skip "--resume on other CPUs" "there is one CPU, no taskset or nothing to measure"
fi

CHARACTERIZE=$CHARACTERIZE RESUME_OPTIONS=$few "$root/tests/scripts/kill_and_resume.sh" 2 >"$out" 2>&1
status=$?
[ $status -eq 0 ] || cat "$out"
verdict "ended by signals at two random moments and resumed: the same to the byte" test $status -eq 0

# ---- its directory is moved away meanwhile
# begin DIRECTORY: a run into it, in the background, which has written there
begin() {
    clean
    "$CHARACTERIZE" --all --brief --machine model:xeon-gold-6130 --output "$1" --quiet >"$out" 2>"$err" </dev/null &
    program=$!
    for _ in $(seq 100); do
        [ ! -d "$1/cells" ] || break
        sleep 0.05
    done
}
begin moved
mv moved elsewhere
wait $program
status=$?
verdict "--all: its directory is renamed while it runs: status 1, one line" \
    test "$status" -eq 1 -a "$(grep -c 'moved was renamed during the run; give it its name back' "$err")" -eq 1 \
    -a "$(wc -l <"$err")" -eq 1
begin removed
kill -STOP $program # else it may see what is left so far
rm -rf removed
kill -CONT $program
wait $program
status=$?
verdict "--all: its directory is removed while it runs: no advice to resume it" \
    test "$status" -eq 1 -a "$(grep -c 'removed was removed during the run; nothing of the run is left$' "$err")" -eq 1

# what else may be in a directory that is to be resumed: nothing at all
clean
run --all --brief --machine model:xeon-gold-6130 --kernels 64add,128or --runs 2 --active-cores 1 \
    --output none --resume
verdict "--resume of nothing says that it begins" grep -q 'no run to resume in none: starting one$' "$err"

finish
