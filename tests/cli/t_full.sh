#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow: disks filled, and written again
# --all where there is no room: it ends with what cannot be written first, in one line, and goes on once there is room.
# In a mount namespace of its own.
here=$(dirname "$0")
if [ -z "${CHARACTERIZE_NAMESPACE:-}" ] && [ "$(id -u)" -eq 0 ] &&
    unshare -m --propagation private true 2>/dev/null; then
    CHARACTERIZE_NAMESPACE=1 exec unshare -m --propagation private sh "$0"
fi
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

if [ -n "${SANITIZED:-}" ]; then
    skip "full disks" "these run the same code again, and minutes here"
    finish
fi

options="--all --machine model:xeon-gold-6130 --brief --kernels 128fma,512fma --runs 2 --active-cores all --quiet"
if [ -z "${CHARACTERIZE_NAMESPACE:-}" ]; then
    skip "a full disk" "no mount namespace of one's own here (needs root and CAP_SYS_ADMIN)"
    finish
fi
mkdir "$work/small"

# shellcheck disable=SC2086
run $options --output "$tmp/whole"
verdict "where there is room" test "$status" -eq 0
pages=$(find "$tmp/whole" -type f -printf '%s\n' | awk '{ n += int(($1 + 4095) / 4096) } END { print n }')
nodes=$(find "$tmp/whole" | wc -l)

# full WHAT OPTIONS: a file system with those options, which are not enough.
full() {
    full_what=$1
    mount -t tmpfs -o "$2" tmpfs "$work/small" || exit 1
    # shellcheck disable=SC2086
    run $options --output small
    verdict "$full_what: status 1, one line that names the file and says why" test "$status" -eq 1 -a \
        "$(wc -l <"$err")" -eq 1 -a \
        "$(grep -Ec 'cannot (write|make the directory) small/?.*: No space left' "$err")" -eq 1
    verdict "... nothing half-written" test -z "$(diff -r "$tmp/whole" small 2>&1 | grep -v "^Only in $tmp/whole")"
    mount -o remount,size=64m,nr_inodes=10000 "$work/small" || exit 1
    # shellcheck disable=SC2086
    run $options --output small --resume
    verdict "... and --resume goes on when there is room" \
        test "$status" -eq 0 -a -z "$(diff -r "$tmp/whole" small 2>&1)"
    umount "$work/small"
}
# where each of them is reached: cells, tables, plots, the report
for percent in 2 40 75 97; do
    full "room for $percent %" "size=$((pages * 4 * percent / 100))k"
done
for percent in 3 50 95; do
    full "names for $percent % of the files" "size=64m,nr_inodes=$((nodes * percent / 100))"
done

# ---- every other output, and folders that cannot be written

model=model:xeon-gold-6130
# each_output WHAT PATTERN: of each, one line, status 1, nothing in the folder
each_output() {
    for output in \
        "--transition 128fma:512fma --machine $model --runs 3 --csv small/x.csv" \
        "--transition 128fma:512fma --machine $model --runs 3 --json small/x.json" \
        "--transition 128fma:512fma --machine $model --runs 3 --plot small/x.svg" \
        "--table umask --brief --machine $model --output small" \
        "--self-test --machine $model --bundle small/x.tar.gz" \
        "--check environment --seconds 0.1 --sysroot $tmp/machine --json small/x.json" \
        "--export json small/x.json --brief --machine $model"; do
        # shellcheck disable=SC2086
        run $output --quiet
        verdict "$1: ${output%% *} ${output##* }" test "$status" -eq 1 -a "$(wc -l <"$err")" -eq 1 -a \
            "$(grep -Ec "$2" "$err")" -eq 1 -a -z "$(find small -mindepth 1 ! -name full)"
    done
}
mkdir -p "$tmp/machine/sys/devices/system/cpu/cpu0" "$tmp/machine/proc"
echo 0 >"$tmp/machine/sys/devices/system/cpu/online"
mount -t tmpfs -o size=4k,nr_inodes=4 tmpfs "$work/small" || exit 1
head -c 8192 /dev/zero >small/full 2>/dev/null
each_output "a full disk" 'cannot (write|make the directory) small/?.*: No space left'
mount -o remount,ro "$work/small" || exit 1
each_output "read-only" 'cannot (write|make the directory) small/?.*: Read-only file system'
umount "$work/small"

finish
