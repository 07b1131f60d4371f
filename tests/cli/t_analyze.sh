#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# input: traces of others
# --analyze: traces from files, good and bad.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A trace of three repetitions with one change of frequency, half a period apart.
make_trace() {
    printf '# cpu: %s\n# from: %s\n# to: %s\n' "${1:-some CPU}" "${2:-128fma}" "${3:-512fma}"
    awk 'BEGIN {
        print "run,time_us,freq_ghz,ipc"
        for (run = 0; run < 3; run++)
            for (i = -50; i <= 150; i++)
                if (i < 1 || i > 10)
                    printf "%d,%.2f,%.4f,%.3f\n", run, i + run / 3, (i <= 0 ? 2.8 : 1.9) + (i * 7 % 5 - 2) / 1000, 2
    }'
}
make_trace >"$tmp/good.csv"

run --analyze "$tmp/good.csv"
verdict "a good trace: status 0, nothing on standard error" test "$status" -eq 0 -a ! -s "$err"
verdict "its levels are found" grep -Eq '^Levels.* L0 2\.(79|80).* L1 1\.(89|90)' "$out"
verdict "by default only the screen" test -z "$(left)"
cp "$out" "$tmp/screen"
"$CHARACTERIZE" --analyze - <"$tmp/good.csv" >"$out" 2>"$err"
verdict "- is standard input" cmp -s "$out" "$tmp/screen"
run --analyze "$tmp/good.csv" --json - --csv copy.csv
verdict "--json -" test "$(head -n 1 "$out")" = '{' -a -s copy.csv
run --analyze copy.csv
verdict "the trace that it writes reads the same" cmp -s "$out" "$tmp/screen"
run --analyze "$tmp/good.csv" --json a.json --seed 5
run --analyze "$tmp/good.csv" --json b.json --seed 5
verdict "the same seed gives the same JSON" cmp -s a.json b.json

# a recording gives the same results as its run: to the last digit, with voltages, with discarded repetitions, on the
# way up
for of in 'xeon-gold-6130 128fma:512fma 1' 'xeon-gold-6130 512fma:128fma 2' 'core-i7-6700hq 64add:256or 3' \
    'core-i9-11900k 512or:128fma 4'; do
    # shellcheck disable=SC2086 # three words
    set -- $of
    run --transition "$2" --machine "model:$1" --seed "$3" --runs 40 --observe 900 --csv own.csv --json own.json
    run --analyze own.csv --json again.json
    verdict "the analysis of a recording of $1, $2, is that of the run" cmp own.json again.json
done

# samples of 0.25 s and of 10 ms: times in s and in ms, on the screen and in the plot; in JSON, us
slow_trace() {
    awk -v us="$1" 'BEGIN {
        print "time_us,freq_ghz"
        for (i = 0; i < 90; i++)
            printf "%.1f,%.4f\n", i * us, (i < 30 || i >= 60 ? 3.5 : 2.4) + (i * 7 % 5 - 2) / 1000
    }'
}
slow_trace 250000 >"$tmp/slow.csv"
run --analyze "$tmp/slow.csv" --json slow.json --plot slow.svg
verdict "samples of 0.25 s: times in s" \
    test "$(grep -Ec '^start s +duration s|at 7\.[0-9]+ s: latency [^u]* s,' "$out")" -eq 2
verdict "... none in us" test "$(grep -cw us "$out")" -eq 0
verdict "... nor in the plot" test "$(grep -c 'slow L1: 7\.50[0-9] s' slow.svg)/$(grep -c 'time (s)' slow.svg)" = 1/1
verdict "... but in the JSON" grep -Eq '"start_us": 7[0-9]{6}\.' slow.json
slow_trace 10000 >"$tmp/slow.csv"
run --analyze "$tmp/slow.csv"
verdict "samples of 10 ms: times in ms" grep -Eq '^start ms +duration ms' "$out"

# what changes before the switch was not changed by it
sed '/^#/!s/^\([0-2]\),\([-0-9.]*\),/\1 \2 /' "$tmp/good.csv" |
    awk '/^[0-2] / { sub(/ /, ","); split($1, f, ","); printf "%s,%.2f,%s\n", f[1], f[2] - 31.5, $2; next } 1' \
    >"$tmp/early.csv"
run --analyze "$tmp/early.csv"
verdict "a change before the switch is reported as that" grep -q 'before the switch and unrelated to it: latency' "$out"
run --analyze "$tmp/good.csv"
verdict "one at the switch is not" test "$(grep -c 'before the switch' "$out")" -eq 0

clean
cp "$tmp/good.csv" 128fma_512fma.csv
run --analyze 128fma_512fma.csv --output .
verdict "--output into the trace's folder spares the trace" \
    test "$status" -eq 0 -a -s 128fma_512fma.json -a "$(cmp -s 128fma_512fma.csv "$tmp/good.csv"; echo $?)" -eq 0
run --analyze 128fma_512fma.csv --csv ./128fma_512fma.csv
verdict "--csv does not write over the trace" test "$status" -eq 2
run --analyze 128fma_512fma.csv --json ./128fma_512fma.csv
verdict "--json does not write over the trace" \
    test "$status" -eq 2 -a "$(cmp -s 128fma_512fma.csv "$tmp/good.csv"; echo $?)" -eq 0
cp "$tmp/good.csv" plain.csv
sed -i '/^#/d' plain.csv
run --analyze plain.csv --output new
verdict "a trace without names: files are named after it" test -s new/plain.json

# metadata may hold anything: nothing of it reaches the terminal or a file name unchecked
make_trace "$(printf 'CPU \033[31mred\007 \377\302\233')" ../../evil "$(printf '$(touch pwned) \033]0;x')" \
    >"$tmp/evil.csv"
clean
run --analyze "$tmp/evil.csv" --output files
verdict "hostile metadata: done" test "$status" -eq 0
verdict "hostile metadata: no control character on the screen" \
    test "$(LC_ALL=C tr -d '\001-\011\013-\037\177' <"$out" | wc -c)" -eq "$(wc -c <"$out")"
verdict "hostile metadata: files stay in their folder" \
    test -z "$(find "$tmp" -name '*evil*' ! -path "$work/files/*" ! -name evil.csv)" -a ! -e pwned
if command -v iconv >/dev/null 2>&1; then
    verdict "hostile metadata: the JSON is UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null files/*.json
else
    skip "hostile metadata: the JSON is UTF-8" "no iconv"
fi

# a long recording
awk 'BEGIN {
    print "time_us,freq_ghz"
    for (i = 1; i <= 30000; i++)
        printf "%d,%.3f\n", i, int(i / 300) % 2 ? 2.8 : 3.2
}' >"$tmp/long.csv"
run --analyze "$tmp/long.csv"
verdict "a long recording: the screen stays one page" test "$status" -eq 0 -a "$(wc -l <"$out")" -le 40
verdict "... and says where the rest is" grep -Eq 'and [0-9]+ more: .* in the JSON' "$out"

# bad input
here=$tmp/bad.csv
at=$here:
refuses "a missing file" 2 'No such file' --analyze "$tmp/none.csv"
refuses "a directory" 2 'is a directory' --analyze "$tmp"
refuses "a device without content" 2 '/dev/null' --analyze /dev/null
: >"$here"
refuses "an empty file" 2 "$here" --analyze "$here"
printf '# cpu: x\n' >"$here"
refuses "comments alone" 2 "$here" --analyze "$here"
printf 'time_us,freq_ghz\n' >"$here"
refuses "no samples" 2 "$here" --analyze "$here"
printf 'freq_ghz\n3.2\n' >"$here"
refuses "no time" 2 "${at}.*time_us" --analyze "$here"
printf 'time_us,freq_ghz\n1,3.2\n2,3.x\n' >"$here"
refuses "not a number: file:line:column" 2 "${at}3:" --analyze "$here"
while read -r key value allowed; do
    printf '# cpu: x\n# %s: %s\ntime_us,freq_ghz\n1,3.2\n' "$key" "$value" >"$here"
    refuses "metadata: $key $value" 2 "${at}2: $key: '$value' .*allowed: $allowed" --analyze "$here"
done <<'EOF'
frequency_error 0.9 0 to 0.5
reading_us 1e9 0 to 1000
modelled maybe yes, no
clock_step_ns -3 0.01 to 10000
chain_cycles 1e30 1 to 1e6
seed -1 0 to 18446744073709551615
active_cores all 1 to 65535
discarded x REASON = RUN
EOF
# what no core can be: file, line and column, what it is and what it may be
while read -r column value range; do
    printf 'run,time_us,freq_ghz,%s\n0,1,3.2,1\n0,2,3.2,%s\n0,3,3.2,1\n' "$column" "$value" >"$here"
    refuses "$column $value" 2 "${at}3:4: $column '$value' is outside its range, $range" --analyze "$here"
done <<'EOF'
ipc -1 0 to 64 a cycle
ipc 1e30 0 to 64
volts 0 0.1 to 3 V
volts 952 0.1 to 3 V
lvl0 7 -0.5 to 1.5
lvl1 -3 -0.5 to 1.5
throttle 1e400 -0.5 to 1.5
EOF
for value in -1.9 0.0000 0 2800086 1e30; do
    printf 'time_us,freq_ghz\n1,3.2\n2,3.2\n3,%s\n' "$value" >"$here"
    refuses "freq_ghz $value" 2 "${at}4:2: freq_ghz '$value' is outside its range, above 0, up to 100 GHz" \
        --analyze "$here"
done
for value in inf -inf 0x1p3 nan0 1e; do
    printf 'time_us,freq_ghz\n1,3.2\n2,%s\n' "$value" >"$here"
    refuses "freq_ghz $value" 2 "${at}3:2: '$value' is not a number" --analyze "$here"
done
printf 'time_us,freq_ghz\n1,3.2\n1e18,3.2\n' >"$here"
refuses "a time of 1e18" 2 "${at}3:1: time_us '1e18' is outside its range" --analyze "$here"
printf 'run,time_us,ipc\n0,1,1\n-1,1,1\n' >"$here"
refuses "run -1" 2 "${at}3:1: run '-1' is outside its range, whole numbers" --analyze "$here"
printf 'time_us,ipc,lvl0,lvl1,lvl2\n1,1,1,0,0\n2,1,1,1,1\n' >"$here"
refuses "levels that sum to 3" 2 "${at}3: lvl0 \+ lvl1 \+ lvl2 '3' is outside its range" --analyze "$here"
printf '# cpu: x\n# discarded: disturbed = 1,2\nrun,time_us,ipc\n0,1,1\n0,2,1\n2,1,1\n2,2,1\n' >"$here"
refuses "a discarded run that is there" 2 "${at}2: discarded: run 2 is not discarded" --analyze "$here"
printf 'time_us,freq_ghz\n1,3.2\n1,3.2\n1,2.8\n1,2.8\n' >"$here"
refuses "times that stand still" 2 'time_us does not advance in 3 of 3' --analyze "$here"

# glitches, fewer than one in a thousand samples of a long recording, are left out and counted
clean
awk 'NR == 701 { print "700,-1.9"; next } NR == 1501 { print "1500,2800086"; next } NR <= 3000' "$tmp/long.csv" >"$here"
run --analyze "$here" --json a.json --csv copy.csv
verdict "two glitches in 2999 samples: done, and counted" test "$status" -eq 0 -a \
    "$(grep -c '2 of 2999 samples outside their range discarded' "$out")" -eq 1
verdict "... in the JSON" grep -q '"samples_discarded": 2' a.json
verdict "... and nothing of them is left" test "$(cat copy.csv a.json "$out" | grep -Ec -- '-1\.9|2800086')" -eq 0
run --analyze copy.csv --json b.json
verdict "... nor forgotten by the file that was written" cmp -s a.json b.json
head -n 2000 "$here" >"$tmp/shorter.csv"
refuses "two in 1999 are too many" 2 "701:2: freq_ghz '-1.9' .*; 2 of 1999 samples have such values" \
    --analyze "$tmp/shorter.csv"
printf '# samples_discarded: 3 of 100\ntime_us,ipc\n1,1\n2,1\n' >"$here"
refuses "a count of discarded samples that cannot be" 2 "${at}1: samples_discarded: '3 of 100'" --analyze "$here"

printf '# some_tool_s_key: -1\ntime_us,freq_ghz\n' >"$here"
seq -f '%g,3.2' 12 >>"$here"
run --analyze "$here"
verdict "metadata that nobody knows is none of our business" test "$status" -eq 0
head -c 2000 "$tmp/good.csv" >"$here"
printf '\n1,2' >>"$here"
refuses "a truncated trace" 2 "${at}[0-9]+:" --analyze "$here"
head -c 100000 "$CHARACTERIZE" >"$here"
refuses "a binary" 2 "${at}" --analyze "$here"
printf 'time_us,freq_ghz\n1,3.2\n\0002,3.2\n' >"$here"
refuses "NUL byte" 2 "${at}3" --analyze "$here"
clean
head -c 100000 "$CHARACTERIZE" | "$CHARACTERIZE" --analyze - >"$out" 2>"$err"
status=$?
verdict "a binary on standard input" one_line 2 'standard input'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
    clean
    cp "$tmp/good.csv" "$here"
    chmod 600 "$here"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$CHARACTERIZE" --analyze "$here" >"$out" 2>"$err"
    status=$?
    verdict "a file that may not be read" one_line 2 'Permission denied'
elif [ "$(id -u)" -ne 0 ]; then
    cp "$tmp/good.csv" "$here"
    chmod 000 "$here"
    refuses "a file that may not be read" 2 'Permission denied' --analyze "$here"
else
    skip "a file that may not be read" "no setpriv to become another user"
fi

clean
{ echo run,time_us,freq_ghz; for i in $(seq 40); do echo "0,$i,2.8"; done; } >cut.csv
truncate -s -3 cut.csv
run --analyze cut.csv --csv kept.csv
verdict "a last line that was cut is left out, with a warning" \
    test "$status" -eq 0 -a "$(grep -c 'warning: cut.csv: the last line has no end' "$err")" -eq 1 -a \
    "$(grep -c '^0,' kept.csv)" -eq 39

finish
