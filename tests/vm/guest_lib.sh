# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Sourced by what runs first in a virtual machine: mounts what every program expects, reads /settings, and says of each
# check 'ok: NAME' or 'FAIL: NAME'.
export PATH=/bin LC_ALL=C
/bin/busybox mkdir -p /proc /sys /dev /tmp /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
# shellcheck source=/dev/null
. /settings
cd / || exit

# ok NAME COMMAND...: the command's output is shown where it fails
ok() {
    name=$1
    shift
    if "$@" >/tmp/out 2>&1; then
        echo "ok: $name"
    else
        echo "FAIL: $name (status $?): $*"
        head -c 2000 /tmp/out
    fi
}

# says NAME STATUS TEXT COMMAND...: exit status, and a line with the text
says() {
    name=$1 want=$2 text=$3
    shift 3
    "$@" >/tmp/out 2>&1
    status=$?
    if [ "$status" -eq "$want" ] && grep -q -e "$text" /tmp/out; then
        echo "ok: $name: $(grep -m 1 -e "$text" /tmp/out)"
    else
        echo "FAIL: $name: status $status; wanted $want and '$text'"
        head -c 3000 /tmp/out
    fi
}

# measures NAME STATUS TEXT COMMAND...: says(); again where pauses of the host disturbed what it measured. A host that
# never pauses for less is no fault of the program, and the check is skipped: its status is 1 then.
measures() {
    name=$1 want=$2 text=$3 disturbed='were disturbed|attempts at a repetition|cannot be calibrated'
    shift 3
    for try in 1 2 3 4 5 6 7 8; do
        says "$name" "$want" "$text" "$@" >/tmp/said
        if grep -q '^ok: ' /tmp/said || ! grep -qE "$disturbed" /tmp/out; then
            cat /tmp/said
            return
        fi
        echo "try $try: $(grep -E -m 1 "$disturbed" /tmp/out)"
        sleep 1
    done
    echo "skip: $name: the host paused this machine in each of $try tries"
    return 1
}

seconds() {
    cut -d . -f 1 /proc/uptime
}
