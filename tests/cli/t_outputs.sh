#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Output files: checked before measuring, whole or not at all, whatever is missing or full.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

t=--transition
p=128fma:128or
model="--machine model:xeon-gold-6130"
few="$model --runs 10"

# stderr_line PATTERN: one line on standard error, that fits.
stderr_line() {
    [ "$(wc -l <"$err")" -eq 1 ] && grep -Eq "^characterize: .*($1)" "$err"
}

# before anything is measured: these would take minutes if it were
long="$model --runs 100000 --observe 150"
touch "$tmp/file"
began=$(date +%s)
# shellcheck disable=SC2086
{
    refuses "a directory under a file" 1 'cannot make the directory.*Not a directory' $t $p $long --output "$tmp/file/x"
    refuses "a directory in /proc" 1 'cannot make the directory' $t $p $long --output /proc/x
    refuses "a file as --output" 1 'Not a directory' $t $p $long --output "$tmp/file"
    refuses "a file under a file" 1 'cannot write' $t $p $long --json "$tmp/file/x.json"
    refuses "a file in no directory" 1 'cannot write .*No such file' $t $p $long --csv "$tmp/none/x.csv"
}
verdict "... all before measuring" test $(($(date +%s) - began)) -le 20

mkdir "$tmp/dir.svg"
# shellcheck disable=SC2086
refuses "a directory named like a plot" 1 'it is a directory' $t $p $long --plot "$tmp/dir.svg"

# shellcheck disable=SC2086
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
    clean
    setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$CHARACTERIZE" $t $p $long >"$out" 2>"$err" </dev/null
    status=$?
    verdict "a folder that may not be written" one_line 1 \
        'characterize-out: Permission denied; name another with --output'
elif [ "$(id -u)" -ne 0 ]; then
    clean
    chmod 555 "$work"
    run $t $p $long
    verdict "a folder that may not be written" one_line 1 \
        'characterize-out: Permission denied; name another with --output'
    chmod 755 "$work"
else
    skip "a folder that may not be written" "no setpriv to become another user"
fi

clean
# shellcheck disable=SC2086
run $t $p $few --csv /dev/null --json /dev/null
verdict "two outputs to /dev/null" test "$status" -eq 0

# a full disk
clean
# shellcheck disable=SC2086
run $t $p $few --json /dev/full
verdict "/dev/full: status 1, one line" test "$status" -eq 1
verdict "... that says what and why" stderr_line 'cannot write /dev/full: No space left'
# shellcheck disable=SC2086
run $t $p $few --csv /dev/full
verdict "/dev/full for the trace" stderr_line 'cannot write /dev/full: No space left'
# shellcheck disable=SC2086
"$CHARACTERIZE" $t $p $few --json - >/dev/full 2>"$err" </dev/null
status=$?
verdict "standard output full, JSON on it" test "$status" -eq 1 -a "$(grep -c '^characterize: ' "$err")" -eq 1
# shellcheck disable=SC2086
"$CHARACTERIZE" $t $p $few --csv x.csv >/dev/full 2>"$err" </dev/null
status=$?
verdict "standard output full, the screen on it" test "$status" -eq 1 -a "$(grep -c 'standard output' "$err")" -eq 1
"$CHARACTERIZE" --list kernels >/dev/full 2>"$err" </dev/null
status=$?
verdict "standard output full, --list" test "$status" -eq 1 -a "$(wc -l <"$err")" -eq 1
# shellcheck disable=SC2086
(ulimit -f 1 && exec "$CHARACTERIZE" $t $p $few --csv "$work/large.csv" >"$out" 2>"$err" </dev/null)
status=$?
verdict "a file larger than the limit: status 1, one line, no file" \
    test "$status" -eq 1 -a "$(grep -c 'large.csv: File too large' "$err")" -eq 1 -a ! -e "$work/large.csv"
verdict "/dev/full is still a device" test -c /dev/full
for option in --help --help-all --version; do
    "$CHARACTERIZE" $option >/dev/full 2>"$err" </dev/null
    status=$?
    verdict "$option to /dev/full: status 1" test "$status" -eq 1
    verdict "... and one line" stderr_line 'cannot write to standard output: No space left'
done

# streams that the caller has closed
clean
# shellcheck disable=SC2086
"$CHARACTERIZE" --transition 64add:128or --runs 5 --csv x.csv >"$out" 2>&- </dev/null
status=$?
verdict "standard error closed: no message gets into a file" test "$(grep -c 'timing (\|characterize:' "$(
    [ -e x.csv ] && echo x.csv || echo /dev/null)")" -eq 0
"$CHARACTERIZE" --list kernels >&- 2>"$err" </dev/null
status=$?
verdict "standard output closed: one line, status 1" test "$status" -eq 1 -a "$(wc -l <"$err")" -eq 1

# a reader that has seen enough
# shellcheck disable=SC2086
{ "$CHARACTERIZE" $t $p $model --csv - 2>"$err" </dev/null; echo $? >"$tmp/status"; } | head -n 1 >"$out"
status=$(cat "$tmp/status")
verdict "a closed pipe: status 1" test "$status" -eq 1
verdict "... one line" test "$(grep -c '^characterize: .*Broken pipe' "$err")" -eq 1

# a disk with room for some: the files before are whole, nothing half-written stays
clean
mkdir "$work/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs "$work/small" 2>/dev/null; then
    # shellcheck disable=SC2086
    run $t $p $model --output small
    files=$(find small -mindepth 1)
    verdict "too little room is said before measuring" \
        test "$status" -eq 1 -a -z "$files" -a "$(grep -c 'No space left.*MB needed' "$err")" -eq 1
    cp "$CHARACTERIZE" small/filler 2>/dev/null
    # shellcheck disable=SC2086
    run $t $p $model --json small/x.json
    verdict "a full disk" stderr_line 'small/x.json: No space left'
    files=$(find small -mindepth 1 ! -name filler)
    verdict "... and nothing left on it" test "$status" -eq 1 -a -z "$files"
    umount "$work/small"
else
    skip "a full disk" "no small file system: mounting a tmpfs is not allowed here"
fi
clean
printf 'old\n' >x.csv
# shellcheck disable=SC2086
(
    ulimit -f 8 # blocks of 512 bytes
    trap '' XFSZ
    "$CHARACTERIZE" $t $p $model --csv x.csv --json y.json >"$out" 2>"$err" </dev/null
)
status=$?
verdict "a file size limit: one line, status 1" test "$status" -eq 1 -a "$(wc -l <"$err")" -eq 1
verdict "... the old file is untouched, nothing else is there" test "$(cat x.csv)" = old -a "$(left)" = "$work/x.csv"

# existing files and links
clean
printf 'old\n' >real.json
chmod 640 real.json
ln -s real.json link.json
# shellcheck disable=SC2086
run $t $p $few --json link.json
verdict "a symbolic link is not followed: one line" stderr_line 'link.json: it is a symbolic link'
verdict "... status 1, and the file it leads to stays" \
    test "$status" -eq 1 -a -L link.json -a "$(cat real.json)" = old -a "$(left | wc -l)" -eq 2
# shellcheck disable=SC2086
run $t $p $few --json real.json
verdict "a file is replaced, its permissions stay" \
    test "$(stat -c %a real.json)" = 640 -a "$(head -c 1 real.json)" = '{' -a "$(left | wc -l)" -eq 2
# shellcheck disable=SC2086
{ ln -s . here && run $t $p $few --json here/here/real.json; }
verdict "own links on the way are followed" test "$status" -eq 0 -a "$(left | wc -l)" -eq 3

# gnuplot missing: PATH without it
path=$tmp/bin
mkdir "$path"
clean
# shellcheck disable=SC2086
PATH=$path "$CHARACTERIZE" $t $p $few >"$out" 2>"$err" </dev/null
status=$?
verdict "no gnuplot: all else is done, status 0" \
    test "$status" -eq 0 -a ! -s "$err" -a -s characterize-out/128fma_128or.json -a -s characterize-out/128fma_128or.csv
verdict "... one line says so and what helps" test "$(grep -c 'no plot was drawn.*gnuplot-nox' "$out")" -eq 1
clean
# shellcheck disable=SC2086
PATH=$path "$CHARACTERIZE" $t $p $long --plot x.svg >"$out" 2>"$err" </dev/null
status=$?
verdict "--plot without gnuplot: refused before measuring" one_line 3 'gnuplot.*apt-get install gnuplot-nox'
clean
# shellcheck disable=SC2086
PATH=$path "$CHARACTERIZE" $t $p $few --output all >"$out" 2>"$err" </dev/null
status=$?
verdict "--output without gnuplot: the rest is written" test "$status" -eq 0 -a "$(left | wc -l)" -eq 3

# gnuplot that fails
printf '#!/bin/sh\necho half\necho "cannot open font" >&2\nexit 1\n' >"$path/gnuplot"
chmod 755 "$path/gnuplot"
clean
# shellcheck disable=SC2086
PATH=$path:/bin:/usr/bin "$CHARACTERIZE" $t $p $few --plot x.svg >"$out" 2>"$err" </dev/null
status=$?
verdict "a failing gnuplot: its reason, status 1" stderr_line 'no plot: .*cannot open font'
verdict "... no half plot" test "$status" -eq 1 -a -z "$(left)"

# plots of both forms
if command -v gnuplot >/dev/null 2>&1; then
    clean
    # shellcheck disable=SC2086
    run $t 128fma:512fma $model --plot x.png
    verdict "--plot x.png alone" test "$status" -eq 0 -a "$(left)" = "$work/x.png"
    verdict "it is a PNG" test "$(head -c 4 x.png | tail -c 3)" = PNG
    # shellcheck disable=SC2086
    run $t 128fma:512fma $model --plot x.svg
    verdict "--plot x.svg" grep -q '<svg' x.svg
    verdict "it says MODELLED" grep -q MODELLED x.svg
    if command -v xmllint >/dev/null 2>&1; then
        verdict "it is well-formed" xmllint --noout x.svg
    elif command -v rsvg-convert >/dev/null 2>&1; then
        verdict "it is well-formed" rsvg-convert -o "$tmp/x.png" x.svg
    else
        skip "the plot is well-formed" "neither xmllint nor rsvg-convert"
    fi
else
    skip "plots" "no gnuplot"
fi

# ---- one file, two spellings
clean
# shellcheck disable=SC2086
for names in "--csv x --json ./x" "--csv $work/x --json x" "--output k --json k/128fma_128or.csv"; do
    run $t $p $few $names
    verdict "$names: refused" test "$status" -eq 2 -a ! -e x -a ! -e k
    verdict "... with a line" stderr_line 'both name'
done
# shellcheck disable=SC2086
run --table umask $p --brief --quiet --csv x --json ./x
verdict "--table: one file, two spellings: refused" test "$status" -eq 2 -a ! -e x

# ---- what a run reads stays, however it is spelled
clean
cp "$root/data/models/xeon-gold-6130.model" own.model
cp "$root/data/skus/xeon-gold-6130.sku" own.sku
printf 'nop\n' >own.asm
ln -s . here
# shellcheck disable=SC2086
for of in a b; do
    run --table frequency $model --brief --quiet --output $of/tables
    printf '{}\n' >$of/run.json
done
# shellcheck disable=SC2086
run --self-test $model --bundle own.tar.gz
# shellcheck disable=SC2086
run --transition 128fma:512fma $few --csv own.csv --quiet
find . -type f -exec cksum {} + | sort >"$tmp/before"
# spares ARGUMENT...: refused, and nothing is another file than before
spares() {
    run "$@"
    verdict "an input of the run as its output: $*" test "$status" -eq 2 -a ! -s "$out" -a "$(
        grep -c '^characterize: --[a-z-]* and --[a-z-]* both name .*, which would be overwritten$' "$err")" -eq 1 -a \
        "$(find . -type f -exec cksum {} + | sort)" = "$(cat "$tmp/before")"
}
own="--machine model:./own.model"
# shellcheck disable=SC2086
{
    spares --table frequency $own --brief --csv here/own.model
    spares $t $p $own --json own.model
    spares --verdict $own --json "$work/own.model"
    spares --validate ./own.sku --junit own.sku $own
    spares --export header own.model $own
    spares --draft-sku own.model $own
    spares --self-test $own --json own.model
    command -v nasm >/dev/null 2>&1 && spares $t 64add:own --kernel-file own.asm $few --csv own.asm
}
spares --export json here/a/tables/frequency.json --input a
spares --draft-sku a/run.json --input a
spares --compare a b --json b/tables/frequency.json
spares --validate xeon-gold-6130 --input a --json a/tables/frequency.csv
spares --verdict --input a --json here/a/run.json
spares --self-test --input own.tar.gz --json here/own.tar.gz
spares --analyze own.csv --json ./own.csv
run --export json a/export.json --input a
verdict "a new file beside the tables is written" test "$status" -eq 0 -a -s a/export.json
run --export json a/export.json --input a
verdict "... and again" test "$status" -eq 0

finish
