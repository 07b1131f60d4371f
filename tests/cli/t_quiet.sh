#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --quiet-machine and --restore on a folder that looks like a machine: what is shown, changed, reported, and put back.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/quiet_tree.sh
. "$root/tests/support/quiet_tree.sh"

tree=$tmp/tree
parts=governor,epp,turbo,cstates,irq,workqueue,tick
short="--transition 128fma:512fma --machine model:xeon-gold-6130 --runs 5 --cpu 3 --quiet"
grow() {
    clean
    quiet_tree "$tree"
    quiet_tree_state "$tree" >"$tmp/before"
}
same() {
    quiet_tree_state "$tree" | cmp -s - "$tmp/before"
}
# journal LINE...: what a killed run would have left
journal() {
    printf '%s\n' characterize-settings/2 "boot 8413c301-7ff1-50ab-95fa-64225559df55" "pid 4711" "$@" \
        >"$tree/run/characterize.settings"
}
# interval_is VALUE: and there is no journal any more
interval_is() {
    [ "$status" -eq 0 ] && [ "$(cat "$tree/proc/sys/vm/stat_interval")" = "$1" ] &&
        [ ! -e "$tree/run/characterize.settings" ]
}
interval="file -1 /proc/sys/vm/stat_interval 1 120"

# ---- shown

grow
run --list machines --quiet-machine --cpu 3 --sysroot "$tree"
verdict "what would be changed is listed" grep -q "^  irq  *.*default_smp_affinity: f -> 7$" "$out"
verdict "... with what stays, and why" grep -q "^  isolate  *stays: there are no cpusets here" "$out"
verdict "... and nothing is changed" test "$status" -eq 0 -a ! -s "$err" && same

# ---- changed and put back

grow
# shellcheck disable=SC2086
run $short --quiet-machine --sysroot "$tree" --csv x.csv
verdict "a run puts everything back" same
verdict "... its result says what was changed, and where" \
    grep -q "^# settings: in $tree, not on this machine: quiet for CPU 3: .*irq: .* away.*as it was: isolate" x.csv
# shellcheck disable=SC2086
run ${short% --quiet} --quiet-machine --sysroot "$tree" --csv x.csv
verdict "what is left as it is, is said" grep -q "^  isolate: there are no cpusets here" "$err"
grow
rm -r "$tree/sys/devices/system/cpu/cpufreq"
quiet_tree_state "$tree" >"$tmp/before"
# shellcheck disable=SC2086
run $short --quiet-machine=tick,governor --sysroot "$tree" --csv x.csv
verdict "a part that was named and cannot be had is refused" one_line 3 "--quiet-machine=governor: .*no cpufreq here"
verdict "... with everything as it was" same

# ---- options

# shellcheck disable=SC2086
refuses "models have no settings" 2 "cannot be combined with --machine model:" $short --quiet-machine
# shellcheck disable=SC2086
refuses "--sysroot is for settings alone" 2 "says where --quiet-machine changes settings" $short --sysroot "$tree"
refuses "... of no machine that is measured" 2 'use it with --machine model:NAME' --table variability --brief \
    --machine timing --quiet-machine=tick --sysroot "$tree"
refuses "--turbo on contradicts turbo" 2 "leave one out" --transition 128fma:512fma --turbo on --quiet-machine=turbo
refuses "an unknown part" 2 "unknown 'noise'" --transition 128fma:512fma --quiet-machine=irq,noise

# ---- after a run that was killed

grow
echo 120 >"$tree/proc/sys/vm/stat_interval"
journal "$interval"
run --restore --sysroot "$tree"
verdict "--restore puts back" grep -q "restored 1 setting changed by a killed run (process 4711)" "$err"
verdict "... what was there" same
run --restore --sysroot "$tree"
verdict "... once" grep -q "no run left this machine's settings" "$out"
journal "$interval"
echo 7 >"$tree/proc/sys/vm/stat_interval"
run --restore --sysroot "$tree"
verdict "a setting that somebody else has changed is left and reported" interval_is 7
verdict "... by name and value" grep -q "stat_interval (7)" "$err"
journal "$interval"
echo 120 >"$tree/proc/sys/vm/stat_interval"
echo 00000000-7ff1-50ab-95fa-64225559df55 >"$tree/proc/sys/kernel/random/boot_id"
run --restore --sysroot "$tree"
verdict "after a reboot nothing is to be undone" grep -q "the machine was rebooted since" "$err"
verdict "... and nothing is" interval_is 120

# a run that lives: its lock
grow
journal "$interval"
(
    flock 9
    run --restore --sysroot "$tree"
    echo "$status" >"$tmp/lived"
) 9<"$tree/run/characterize.settings"
status=$(cat "$tmp/lived")
verdict "nothing is restored while a run lives: status 3" one_line 3 "process 4711.* wait for that"

grow
journal "file -1 /proc/sys/kernel/core_pattern core |evil"
run --restore --sysroot "$tree"
verdict "a journal of other files is refused" one_line 3 "was not written by this program"
ln -sf /etc/hostname "$tree/run/characterize.settings"
run --restore --sysroot "$tree"
verdict "... and one that is a link" one_line 3 "cannot be understood"
grow
rm -r "$tree/proc"
ln -s /proc "$tree/proc"
run --restore --sysroot "$tree"
verdict "a folder with a link to the machine's own is refused" one_line 2 "--sysroot .*: .*/proc is not a directory"

# ---- where the journal cannot be written

# on_disk SCRIPT: in a mount namespace of its own
on_disk() {
    unshare -rm sh -c "$1" sh "$CHARACTERIZE" "$tree" >"$out" 2>"$err" </dev/null
    status=$?
}
grow
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2086
    on_disk 'mount -t tmpfs -o size=4k none "$2/run" && head -c 4096 /dev/zero >"$2/run/full"
        "$1" '"$short"' --quiet-machine='$parts' --sysroot "$2" --csv x.csv; status=$?; ls "$2/run"; exit $status'
    verdict "a full disk: refused" grep -q "No space left on device" "$err"
    verdict "... nothing was changed, nothing is left" test "$status" -eq 3 -a "$(cat "$out")" = full
    on_disk 'mount -t tmpfs -o size=8k none "$2/run" && head -c 4096 /dev/zero >"$2/run/full"
        "$1" '"$short"' --quiet-machine --sysroot "$2" --csv x.csv && cat "$2/run/characterize.settings"'
    verdict "a read-only folder, a disk for one page: no change without a line of the journal" same
    on_disk 'mount -t tmpfs -o ro none "$2/run"; "$1" '"$short"' --quiet-machine --sysroot "$2" --csv x.csv'
    verdict "a read-only folder: it runs, and says what stays" test "$status" -eq 0 -a -s x.csv && same
else
    skip "full disks" "no user namespaces here"
fi

# ---- killed at random moments

CHARACTERIZE=$CHARACTERIZE "$root/tests/scripts/kill_rounds.sh" 20 "$$" >"$out" 2>"$err"
status=$?
verdict "20 rounds of signals at random moments" test "$status" -eq 0
finish
