#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /init of the virtual machine: loads the kernel helper, asks it and uses it, unloads it. One line 'ok: NAME' or
# 'FAIL: NAME' for each check; the kernel's log between two lines of its own; the last line says that it got this far.
# Files beside it: settings (FUZZ, SEED, TRANSITION, REFUSED, STOPS, SOAK), characterize, characterize.ko, msr.ko, the
# programs of tests/vm.
# shellcheck source=tests/vm/guest_lib.sh
. /guest_lib.sh

# kilobytes of a line of /proc/meminfo
memory() {
    sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo
}

# Caches give back what is not in use: without that their partly filled slabs look like a leak, above all after CPUs
# went and came (1.6 MB after 40 000 random ioctls, no more after 280 000).
settle() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
    for cache in /sys/kernel/slab/*; do
        [ -L "$cache" ] || echo 1 >"$cache/shrink"
    done 2>/dev/null
    sleep 1
}

# CPUs but the first go and come until /tmp/plugging is gone
plug_cpus() {
    while [ -e /tmp/plugging ]; do
        for online in /sys/devices/system/cpu/cpu[1-9]*/online; do
            echo 0 >"$online" && echo 1 >"$online" && echo >>/tmp/plugged
        done
    done
}

echo "== before the module is loaded"
# from here on nothing bad may be in the kernel's log; what comes earlier is between the kernel and the emulator
echo "characterize: the test begins" >/dev/kmsg
says "helper: not loaded" 3 'not loaded' characterize --machine helper --transition 64or:64mul
says "--list machines without the module" 0 '^helper .*not loaded' characterize --list machines
insmod /msr.ko

echo "== the self-test, at $(cut -d ' ' -f 1 /proc/uptime) s"
# the emulated processor's timing is its own affair: every line is required, and the registers
characterize --self-test --machine msr --bundle /tmp/self-test.tar.gz >/tmp/self-test 2>&1
status=$?
cat /tmp/self-test
case $status in
0 | 4) echo "ok: --self-test --machine msr comes to its end, with status $status" ;;
*) echo "FAIL: --self-test --machine msr: status $status" ;;
esac
grep -E '^(pass|fail|cannot)' /tmp/self-test | head -n 16 >/tmp/lines
says "its bundle says the same" $status '^Machine .*a bundle' characterize --self-test --input /tmp/self-test.tar.gz
grep -E '^(pass|fail|cannot)' /tmp/out >/tmp/again
ok "line by line" cmp /tmp/lines /tmp/again
says "an emulator's voltage is none" 0 "^cannot  voltage .*emulator's constant" cat /tmp/self-test
if [ -x /bin/rdmsr ]; then
    says "rdmsr reads the same registers" 0 '^pass    rdmsr .*CEH: ' cat /tmp/self-test
else
    echo "skip: rdmsr reads the same registers: msr-tools are not installed where this guest was made"
fi

# Repetitions and random ioctls in turn while the host stops and continues this machine. What is measured then is not
# the point: the kernel is.
soak() {
    end=$(($(seconds) + STOPS)) round=0 measured=0
    while [ "$(seconds)" -lt "$end" ]; do
        round=$((round + 1))
        for pair in 64or:64mul 128or:256fma; do
            characterize --machine helper --transition $pair --runs 4 --warmup 3000 --observe 4000 --period 2 \
                --active-cores 1 >/tmp/out 2>&1
            status=$?
            case $status in
            0) measured=$((measured + 1)) ;;
            1 | 3) ;; # no repetition was left
            *) echo "FAIL: $pair under stops: status $status"; head -c 2000 /tmp/out ;;
            esac
        done
        ioctl_fuzz /dev/characterize $((SEED + round)) 1000 20 >/tmp/out 2>&1 ||
            { echo "FAIL: random ioctls under stops, seed $((SEED + round))"; cat /tmp/out; }
        tail -n 1 /tmp/out
        grep -h '^ioctl_fuzz: repeat' /tmp/out
    done
    echo "ok: $round rounds of repetitions and 1000 random ioctls in $STOPS s; $measured of $((2 * round)) measured"
}

# Each profile attaches a probe to sched_switch, for which the kernel rewrites its own code while all CPUs run it. About
# once in a thousand times QEMU 7.2 goes on executing the old translation, in an interrupt that never ends. With two
# probes of ftrace there already nothing is rewritten; the first --profile does without. lib.sh (stands_still) looks for
# the line before.
trace_switches() {
    echo "== the kernel rewrites its code"
    echo "$1" >/sys/kernel/tracing/events/sched/sched_switch/enable
    echo "== and goes on"
}
mount -t tracefs tracefs /sys/kernel/tracing
trace_switches 1

settle
free_before=$(memory MemFree) slab_before=$(memory SUnreclaim)

echo "== the module, at $(cut -d ' ' -f 1 /proc/uptime) s"
ok "insmod" insmod /characterize.ko
ok "the device belongs to root alone" test "$(stat -c '%a %u %g' /dev/characterize)" = "600 0 0"
helper_checks /dev/characterize
trials_checks /dev/characterize

echo "== the profiler, at $(cut -d ' ' -f 1 /proc/uptime) s"
profile_checks /dev/characterize "${SOAK:-10}"
profile_checks /dev/characterize wait &
sleep 2
says "it is not unloaded while it profiles" 1 'unavailable' rmmod characterize
kill -9 $!
wait $! 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(sed -n 's/^characterize [0-9]* \([0-9]*\) .*/\1/p' /proc/modules)" = 0 ] && break
    sleep 0.1
done
ok "it is unloaded right after its user was killed" rmmod characterize
ok "and loaded again" insmod /characterize.ko

echo "== characterize, at $(cut -d ' ' -f 1 /proc/uptime) s"
says "--list machines with the module" 0 '^helper ' characterize --list machines
cat /tmp/out
if [ -n "$TRANSITION" ]; then
    # shellcheck disable=SC2086 # a list of transitions
    for pair in $TRANSITION; do
        begin=$(cut -d ' ' -f 1 /proc/uptime)
        measures "--transition $pair through the helper" 0 '^Machine .*helper' characterize --machine helper \
            --transition "$pair" --runs 10 --warmup 300 --observe 100 --period 5 --active-cores 1 \
            --csv /tmp/t.csv --json /tmp/t.json || continue
        cat /tmp/out
        echo "== $pair took $begin to $(cut -d ' ' -f 1 /proc/uptime) s"
        ok "its trace names the source" grep -q '^# source: .*interrupts masked' /tmp/t.csv
        # of one repetition, if all others were disturbed
        ok "its trace has samples" test "$(grep -c '^[0-9]*,-*[0-9]' /tmp/t.csv)" -gt 20
    done
fi
if [ -n "$REFUSED" ]; then
    says "$REFUSED is refused" 3 "${REFUSED#*:}" characterize --machine helper --transition "$REFUSED" --runs 2
fi
says "AMX is refused" 3 'amx' characterize --machine helper --transition 64or:amx --runs 2
says "an event by name is refused without counters" 3 'performance counters' characterize --machine helper \
    --transition 64or:64mul --runs 2 --event CORE_POWER.THROTTLE
# the report breaks its lines
measures "the lack of license shares has its reason" 0 'no license counters: the kernel' characterize --machine helper \
    --transition 64or:64mul --runs 3 --warmup 300 --observe 50 --period 5 --active-cores 1
measures "too long a repetition is refused" 2 '10 ms' characterize --machine helper --transition 64or:64mul \
    --warmup 20000
measures "auto takes the helper" 0 'helper' characterize --transition 64or:64mul --runs 3 --warmup 300 --observe 50 \
    --period 5 --active-cores 1 --csv /tmp/a.csv --json /tmp/a.json
sleep 3 3</dev/characterize &
sleep 0.3
says "a second user is refused" 3 'in use' characterize --machine helper --transition 64or:64mul --runs 2
kill $!
wait

echo "== --profile"
trace_switches 0
says "a profile needs events" 3 'no event tables' characterize --profile --seconds 1 --machine helper
says "a rehearsal needs none" 0 'rehearsal' characterize --profile --rehearsal --seconds 2
trace_switches 1
says "a duty that is too high, with the rate that is not" 2 '5 % is permitted; --rate 142.85 works' \
    characterize --profile --rehearsal --rate 250
says "the command's end is that of the profile" 0 'the command ended with status 3' \
    characterize --profile --rehearsal --json /tmp/r.json -- \
    sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3'
ok "samples of it were taken" grep -Eq '"taken": [1-9]' /tmp/r.json
ok "its tasks are marked" grep -q '"chosen": true' /tmp/r.json
says "a command that is not there" 2 'command .nothing. is not in PATH' characterize --profile --rehearsal -- nothing
characterize --profile --rehearsal --seconds 60 >/tmp/profile 2>&1 &
sleep 2
kill -TERM $!
ok "a signal ends it well" wait $!
ok "and it is shown" grep -q 'rehearsal' /tmp/profile
characterize --profile --rehearsal --seconds 60 >/dev/null 2>&1 &
sleep 1
says "a second profile is refused" 3 'in use' characterize --profile --rehearsal --seconds 1
kill -KILL $!
wait

echo "== random ioctls, seed $SEED"
if ioctl_fuzz /dev/characterize "$SEED" "$FUZZ"; then
    echo "ok: $FUZZ random ioctls, seed $SEED"
else
    echo "FAIL: random ioctls, seed $SEED"
fi

echo "== random ioctls while CPUs go and come, at $(cut -d ' ' -f 1 /proc/uptime) s"
if [ -e /sys/devices/system/cpu/cpu1/online ]; then
    touch /tmp/plugging /tmp/plugged
    plug_cpus &
    if ioctl_fuzz /dev/characterize "$((SEED + 1))" "$((FUZZ / 4))"; then
        echo "ok: $((FUZZ / 4)) random ioctls, seed $((SEED + 1)), while CPUs go and come"
    else
        echo "FAIL: random ioctls, seed $((SEED + 1)), while CPUs go and come"
    fi
    rm /tmp/plugging
    wait $!
    ok "CPUs went and came, $(wc -l </tmp/plugged) times" test -s /tmp/plugged
else
    echo "skip: random ioctls while CPUs go and come: this machine has one CPU"
fi

if [ "${STOPS:-0}" -gt 0 ]; then
    echo "== stops begin"
    soak
    echo "== stops end"
fi

echo "== unloading"
ok "nobody holds the module" test "$(sed -n 's/^characterize [0-9]* \([0-9]*\) .*/\1/p' /proc/modules)" = 0
ok "no thread of the module is left" sh -c '! grep -q ^characterize /proc/[0-9]*/comm'
ok "rmmod" rmmod characterize
ok "the device is gone" test ! -e /dev/characterize
settle
free_after=$(memory MemFree) slab_after=$(memory SUnreclaim)
echo "memory free $free_before -> $free_after kB, unreclaimable slab $slab_before -> $slab_after kB"
ok "no memory is lost (within 3 MB)" test $((free_before - free_after)) -lt 3072
ok "no slab memory is lost (within 0.75 MB)" test $((slab_after - slab_before)) -lt 768
ok "it loads again" insmod /characterize.ko
ok "and unloads" rmmod characterize

echo "== kernel log begins"
dmesg
echo "== kernel log ends"
echo "== guest done after $(cut -d ' ' -f 1 /proc/uptime) s"
sleep "${LINGER:-0}"
poweroff -f
