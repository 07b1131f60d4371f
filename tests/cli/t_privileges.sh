#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a running program may do, as the kernel has it (/proc/N/status), and copies that would give more than one has.
here=$(dirname "$0")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

if [ -n "${SANITIZED:-}" ]; then
    skip "capabilities" "the sanitizers' leak checker needs one more than the program"
    finish
fi

# bits BIT...: a mask as the kernel prints it
bits() {
    mask=0
    for bit in "$@"; do
        mask=$((mask | 1 << bit))
    done
    printf '%016x' "$mask"
}
# numbers of capabilities(7): CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER; SYS_RAWIO IPC_LOCK SYS_NICE PERFMON
files=$(bits 0 1 2 3)
running=$(bits 0 1 2 3 14 23)
measuring=$(bits 0 1 2 3 14 17 23 38)

# holds WHAT CAPABILITIES BOUNDING ARGUMENT...: what it has a moment after its start; until then it may have more. The
# program must wait for something or take seconds; it is ended then.
holds() {
    holds_what=$1 holds_has="$2 $2" holds_bounding=$3
    shift 3
    seen=
    $within "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null &
    program=$!
    for _ in $(seq 60); do
        seen=$(awk '/^Cap(Prm|Eff):/ { printf "%s%s", sep, $2; sep = " " }' "/proc/$program/status" 2>/dev/null)
        bound=$(awk '/^CapBnd:/ { print $2 }' "/proc/$program/status" 2>/dev/null)
        none=$(awk '/^Cap(Inh|Amb):/ { print $2 }' "/proc/$program/status" 2>/dev/null | sort -u)
        [ "$seen" = "$holds_has" ] && [ "$bound" = "$holds_bounding" ] && break
        sleep 0.05
    done
    kill -9 "$program" 2>/dev/null
    wait "$program" 2>/dev/null
    status="$seen; bounding $bound; inheritable, ambient $none"
    verdict "$holds_what" test "$seen" = "$holds_has" -a "$bound" = "$holds_bounding" -a "$none" = "$(bits)"
}

if ! unshare -Ur true 2>/dev/null || ! [ -e /proc/self/status ]; then
    skip "capabilities" "no user namespaces here"
elif [ "$(cat /proc/sys/kernel/cap_last_cap)" -lt 38 ]; then
    skip "capabilities" "this kernel has no CAP_PERFMON"
else
    # root of its own namespace has all of them, there
    mkfifo "$tmp/never"
    exec 9<>"$tmp/never" # a writer that never writes
    within="unshare -Ur"
    holds "a recording is read: files only" "$files" "$files" --analyze "$tmp/never"
    holds "models: what a measurement needs" "$measuring" "$measuring" --transition 128fma:512fma --runs 100000 \
        --machine model:xeon-gold-6130
    holds "the machine is open: nothing to open others" "$running" "$measuring" --transition 64add:64mul \
        --runs 100000 --machine timing
    holds "a table: counters are opened for each cell" "$measuring" "$measuring" --table frequency --machine \
        model:xeon-gold-6130 --json "$tmp/never"
fi

# a copy that would give its user more than they have
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    # refused_copy WHAT: $tmp/copy, by a user who has nothing
    refused_copy() {
        (cd / && setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/copy" --list kernels) >"$out" 2>"$err" \
            </dev/null
        status=$?
        verdict "$1 is refused" one_line 3 'refused: this copy .*use sudo'
    }
    clean
    cp "$CHARACTERIZE" "$tmp/copy"
    if findmnt -no OPTIONS -T "$tmp" | grep -q nosuid; then
        skip "a set-uid copy" "$tmp is mounted nosuid"
    else
        chmod 4755 "$tmp/copy"
        refused_copy "a set-uid copy"
        chmod 2755 "$tmp/copy"
        refused_copy "a set-gid copy"
        chmod 755 "$tmp/copy"
        if command -v setcap >/dev/null && setcap cap_sys_rawio+ep "$tmp/copy" 2>/dev/null; then
            refused_copy "a copy with file capabilities"
        else
            skip "a copy with file capabilities" "no setcap, or a file system without them"
        fi
    fi
else
    skip "a set-uid copy" "needs root"
fi

finish
