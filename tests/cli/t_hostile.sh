#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Root in the directory of another user, who has put links, pipes and files there: nothing of root's is read, replaced,
# made or handed over. All of it in file systems of this test's own, in a mount namespace of its own.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    skip "directories of other users" "needs root, to act as another user"
    finish
fi
if ! command -v setpriv >/dev/null 2>&1 || ! unshare -m true 2>/dev/null; then
    skip "directories of other users" "no setpriv, or a mount namespace is not permitted here"
    finish
fi
if [ "${IN_NAMESPACE:-}" != yes ]; then
    cd "$root" && rm -rf "$tmp"
    IN_NAMESPACE=yes CHARACTERIZE=$CHARACTERIZE exec unshare -m --propagation private sh "$root/tests/cli/t_hostile.sh"
fi
mount -t tmpfs -o mode=755 tmpfs "$work" || exit 1
cd "$work" || exit 1

evil=$work/evil safe=$work/safe # of another user, and of root
other=65534
model="--machine model:xeon-gold-6130"
few="--transition 128fma:512fma $model --runs 4 --quiet"
table="--table umask $model --brief --quiet"
all="--all --brief $model --kernels 128fma,512fma --active-cores all --runs 2 --quiet"

# as_other COMMAND...: what the other user does.
as_other() {
    setpriv --reuid $other --regid $other --clear-groups "$@"
}

# begin: both directories, with a file of root's that must stay as it is.
begin() {
    find "$work" -mindepth 1 -delete
    mkdir "$evil" "$safe" "$safe/folder"
    chown $other:$other "$evil"
    printf 'of root' >"$safe/file"
    chmod 600 "$safe/file"
    before=$(state)
}

# What root has, with owner, mode and contents.
state() {
    find "$safe" -printf '%p %u %m %s %l\n' | sort
    cat "$safe/file"
}

untouched() {
    [ "$(state)" = "$before" ]
}

# refused PATTERN: one line, status 1 or 2, and root's file is as it was.
refused() {
    { [ "$status" -eq 1 ] || [ "$status" -eq 2 ]; } && [ "$(wc -l <"$err")" -eq 1 ] && grep -Eq "$1" "$err" && untouched
}

# in_time ARGUMENT...: as run, but ended where it hangs.
in_time() {
    timeout -k 1 20 "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# ---- each kind of output, at the place of which there is a link to root's file

# link_at NAME ARGUMENT...: the other user makes NAME a link to root's file, and one to nothing.
link_at() {
    link_name=$1
    shift
    for link_target in "$safe/file" "$safe/new"; do
        begin
        case $link_name in
        */*) as_other mkdir -p "$evil/${link_name%/*}" ;;
        esac
        as_other ln -s "$link_target" "$evil/$link_name"
        in_time "$@"
        verdict "$link_name is a link to a file of root's, ${link_target##*/}" refused 'symbolic link'
    done
}

# shellcheck disable=SC2086
{
    link_at out.csv $few --csv "$evil/out.csv"
    link_at out.json $few --json "$evil/out.json"
    link_at 128fma_512fma.csv $few --output "$evil"
    link_at 128fma_512fma.json $few --output "$evil"
    link_at umask.txt $table --output "$evil"
    link_at umask.csv $table --csv "$evil/umask.csv"
    link_at bundle.tar.gz --self-test $model --bundle "$evil/bundle.tar.gz"
    if command -v gnuplot >/dev/null 2>&1; then
        link_at plot.svg $few --plot "$evil/plot.svg"
        link_at 128fma_512fma.svg $few --output "$evil"
    else
        skip "plots" "no gnuplot"
    fi
}

# ---- directories that are links

# shellcheck disable=SC2086
for option in "$few --output" "$table --output" "$all --output"; do
    for user in $other 0; do
        begin
        ln -s "$safe/folder" "$evil/out"
        chown -h $user "$evil/out"
        in_time $option "$evil/out"
        verdict "${option%% *}: the directory is a link of user $user in another's directory" \
            refused "'out' on the way is a symbolic link"
        in_time $option "$evil/out/new/folder"
        verdict "${option%% *}: nothing is made beyond it" refused "'out' on the way is a symbolic link"
    done
done
begin
mkdir -m 1777 "$work/sticky"
ln -s "$safe/folder" "$work/sticky/out"
# shellcheck disable=SC2086
in_time $few --csv "$work/sticky/out/x.csv"
verdict "root's own link in a sticky directory is followed" test "$status" -eq 0 -a -s "$safe/folder/x.csv"
before=$(state)
rm "$work/sticky/out"
as_other ln -s "$safe/folder" "$work/sticky/out"
# shellcheck disable=SC2086
in_time $few --csv "$work/sticky/out/y.csv"
verdict "the other user's is not" refused "link of another user"

# ---- pipes and files that the other user has put there before

begin
as_other mkfifo "$evil/out.csv"
(exec cat "$evil/out.csv" >"$work/read") &
reader=$!
# shellcheck disable=SC2086
in_time $few --csv "$evil/out.csv"
verdict "a pipe of the other user, who reads it" refused 'pipe \(FIFO\) of another user'
kill $reader 2>/dev/null
wait $reader 2>/dev/null
verdict "... and has read nothing" test ! -s "$work/read"

for directory in "$evil" "$work/sticky"; do
    begin
    mkdir -m 1777 "$work/sticky"
    as_other sh -c 'umask 0; : >"$1"' sh "$directory/out.csv"
    # shellcheck disable=SC2086
    (umask 022 && in_time $few --csv "$directory/out.csv")
    verdict "${directory##*/}: a file of the other user: the new one is root's, and for nobody else to write" \
        test "$(stat -c '%u %a' "$directory/out.csv")" = "0 644" -a -s "$directory/out.csv"
done
begin
mkdir -m 1777 "$work/sticky"
chmod 666 "$safe/file"
ln "$safe/file" "$work/sticky/out.csv"
before=$(find "$safe" -printf '%p %u %m %s\n' | sort)
# shellcheck disable=SC2086
(umask 022 && in_time $few --csv "$work/sticky/out.csv")
verdict "a second name of a file of root's: the file stays, its permissions are not taken" \
    test "$(stat -c %a "$work/sticky/out.csv")" = 644 -a "$(cat "$safe/file")" = "of root"

# ---- the directory of a run

# resumable: one that is complete, in which the cell and the table that the others name can be taken away.
begin
# shellcheck disable=SC2086
in_time $all --output "$evil/run"
verdict "--all in the directory of another user" test "$status" -eq 0 -a -s "$evil/run/report.html"
chown -R $other "$evil/run"
cp -a "$evil/run" "$tmp/run"
cell=$(cd "$tmp/run" && find cells -type f | sort | head -n 1)

# resume WHAT PATTERN COMMAND...: the command is what the other user does to the directory before.
resume() {
    resume_what=$1 resume_pattern=$2
    shift 2
    begin
    printf 'secret 1\n' >"$safe/file"
    before=$(state)
    cp -a "$tmp/run" "$evil/run"
    (cd "$evil/run" && as_other "$@") || exit 1
    # shellcheck disable=SC2086
    in_time $all --resume --output "$evil/run"
    verdict "--resume: $resume_what" refused "$resume_pattern"
    verdict "... nothing of root's is shown" test "$(cat "$out" "$err" | grep -c secret)" -eq 0
}

resume "a cell is a link" 'symbolic link' ln -sf "$safe/file" "$cell"
resume "a cell is a link to nothing" 'symbolic link' ln -sf "$safe/new" "$cell"
resume "a cell is a pipe" 'pipe' sh -c "rm $cell && mkfifo $cell"
resume "run.json is a link" 'run.json: .*symbolic link' ln -sf "$safe/file" run.json
resume "run.json is a pipe" 'run.json: ' sh -c 'rm run.json && mkfifo run.json'
resume "a table is a link" 'symbolic link' ln -sf "$safe/file" tables/umask.csv
resume "the cells are a link" "'cells' on the way is a symbolic link" sh -c "rm -r cells && ln -s $safe/folder cells"
resume "the tables are a link" "'tables' on the way is a symbolic link" \
    sh -c "rm -r tables && ln -s $safe/folder tables"
resume "the report is a link" 'report.html: it is a symbolic link' ln -sf "$safe/file" report.html

# a cell that would fill the memory: measured again
begin
cp -a "$tmp/run" "$evil/run"
as_other truncate -s 1T "$evil/run/$cell"
if [ -n "${SANITIZED:-}" ]; then
    skip "--resume: a cell of 1 TB" "the sanitizers take more address space than it is given"
else
    # shellcheck disable=SC2086,SC3045
    (ulimit -v 3000000 && in_time $all --resume --output "$evil/run" && exit $status)
    status=$?
    verdict "--resume: a cell of 1 TB" \
        test "$status" -eq 0 -a -z "$(diff -r "$tmp/run" "$evil/run" 2>&1)"
fi

# only names in the directory itself are swept away, not those beyond links
begin
cp -a "$tmp/run" "$evil/run"
: >"$safe/folder/.x.0123456789abcdef.tmp"
as_other ln -s "$safe/folder" "$evil/run/more"
before=$(state)
# shellcheck disable=SC2086
in_time $all --resume --output "$evil/run"
verdict "--resume sweeps nothing beyond links" untouched

# ---- tables that are read

for job in "--export json" "--validate xeon-gold-6130"; do
    begin
    printf 'secret 1\n' >"$safe/file"
    before=$(state)
    cp -a "$tmp/run" "$evil/run"
    as_other ln -sf "$safe/file" "$evil/run/tables/frequency.json"
    # shellcheck disable=SC2086
    in_time $job --input "$evil/run"
    verdict "${job%% *} --input: a table is a link" refused 'symbolic link'
    verdict "... nothing of root's is shown" test "$(cat "$out" "$err" | grep -c secret)" -eq 0
done

# ---- what root names for reading, in the other user's directory

# reads WHAT NAME ARGUMENT...: NAME is made a link to a secret of root's by the other user, a link by root, and a second
# name of that file; the first and the last are refused, and nothing is shown.
reads() {
    read_what=$1 read_name=$2
    shift 2
    for kind in link "root's link" "hard link"; do
        begin
        printf 'secret 1\n' >"$safe/file"
        before=$(state)
        as_other mkdir -p "$(dirname "$evil/$read_name")"
        case $kind in
        link) as_other ln -s "$safe/file" "$evil/$read_name" ;;
        "root's link") ln -s "$safe/file" "$evil/$read_name" ;;
        *) ln "$safe/file" "$evil/$read_name" && before=$(state) ;;
        esac
        in_time "$@"
        verdict "$read_what is a $kind: refused" refused 'symbolic link|hard link'
        verdict "... nothing of root's is shown" test "$(cat "$out" "$err" | grep -c secret)" -eq 0
    done
}

reads "a model" m.model --transition 128fma:512fma --machine "model:$evil/m.model"
reads "a trace" t.csv --analyze "$evil/t.csv"
reads "a bundle" b.tar.gz --self-test --input "$evil/b.tar.gz"
reads "a SKU" s.sku --validate "$evil/s.sku" --input "$evil"
given=${CHARACTERIZE_DATA:-}
export CHARACTERIZE_DATA="$evil/data"
reads "a shipped model's name" data/models/m.model --transition 128fma:512fma --machine model:m
CHARACTERIZE_DATA=$given
[ -n "$given" ] || unset CHARACTERIZE_DATA
begin
cp -a "$tmp/run" "$evil/run"
printf 'secret 1\n' >"$safe/file"
ln -f "$safe/file" "$evil/run/run.json"
before=$(state)
# shellcheck disable=SC2086
in_time $all --resume --output "$evil/run"
verdict "--resume: run.json is a second name of a file of root's" refused 'hard link'
verdict "... nothing of root's is shown" test "$(cat "$out" "$err" | grep -c secret)" -eq 0
begin
cp "$root/data/models/xeon-gold-6130.model" "$safe/mine.model"
ln -s mine.model "$safe/link.model"
ln -s "$safe" "$work/way"
in_time --transition 128fma:512fma --machine "model:$work/way/link.model" --runs 4 --quiet
verdict "root's own links to a model are followed" test "$status" -eq 0
rm "$work/way"

# ---- while it runs: the other user makes links of what is there, again and again
begin
cp -a "$tmp/run" "$evil/run"
rm -r "$evil/run/cells" "$evil/run/tables"
(exec timeout 60 setpriv --reuid $other --regid $other --clear-groups sh -c 'cd "$1" && while :; do
    mv -T cells c 2>/dev/null; ln -s "$2" cells 2>/dev/null; rm -f cells 2>/dev/null; mv -T c cells 2>/dev/null
    mv -T tables t 2>/dev/null; ln -s "$2" tables 2>/dev/null; rm -f tables 2>/dev/null; mv -T t tables 2>/dev/null
    ln -sf "$3" tables/frequency.csv 2>/dev/null; ln -sf "$3" report.html 2>/dev/null
done' sh "$evil/run" "$safe/folder" "$safe/file") >"$tmp/attacker" 2>&1 &
attacker=$!
for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    in_time $all --resume --output "$evil/run"
    untouched || break
done
kill $attacker
wait $attacker 2>/dev/null
verdict "links made while it runs" untouched

# ---- a device that is not there: nothing is made in its place, in a /dev of this test's own
begin
# shellcheck disable=SC2016,SC2086
unshare -m sh -c 'mount -t tmpfs tmpfs /dev && mknod -m 666 /dev/null c 1 3 && exec "$@" --json /dev/sda' sh \
    "$CHARACTERIZE" $few >"$out" 2>"$err" </dev/null
status=$?
verdict "a device that is not there" refused '/dev/sda: there is no such device'

cd / && umount -l "$work"
finish
