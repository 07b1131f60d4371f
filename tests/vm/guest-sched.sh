#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /init of the virtual machine for make test-vm-sched: characterize-sched with 6 CPUs of 3 cores, of which the last,
# CPUs 4 and 5, is wide at first. Settings: CYCLES, LOAD (seconds). With 'nodes' among the kernel's parameters there are
# two NUMA nodes of 4 CPUs, and tasks on them are all that is tried.
# shellcheck source=tests/vm/guest_lib.sh
. /guest_lib.sh
state=/sys/kernel/sched_ext/state
log=/tmp/sched

# becomes STATE: within 10 s
becomes() {
    for _ in $(seq 100); do
        [ "$(cat "$state")" = "$1" ] && return 0
        sleep 0.1
    done
    return 1
}

# start NAME OPTION...: it schedules
start() {
    name=$1
    shift
    characterize-sched --params /export.json --modelled "$@" >"$log" 2>&1 &
    sched=$!
    for _ in $(seq 100); do
        [ "$(cat "$state")" = enabled ] && break
        kill -0 "$sched" 2>/dev/null || break
        sleep 0.1
    done
    ok "$name" grep -qx enabled "$state" || head -c 3000 "$log"
    [ "$(cat "$state")" = enabled ] || head -c 4000 "$log"
}

# end NAME SIGNAL STATUS
end() {
    kill -"$2" "$sched"
    wait "$sched"
    status=$?
    ok "$1: status $status" test "$status" -eq "$3"
    ok "... Linux' own scheduler has taken over" becomes disabled
}

# json KEY [FILE]: the last that it said of it
json() {
    tail -n 1 "${2:-$log}" | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"
}

# two_cores: were wide in one of the last three seconds; tasks of the test itself come and go, and change the loads
two_cores() {
    tail -n 3 "$log" | grep -q '"wide_cores":2,'
}

# shown NAME COMMAND...: ok, with what the command said
shown() {
    name=$1
    shift
    "$@" >/tmp/shown 2>&1
    status=$?
    sed 's/^/    /' /tmp/shown
    ok "$name" test "$status" -eq 0
}

the_end() {
    echo "== kernel log begins"
    dmesg
    echo "== kernel log ends"
    echo "== guest done after $(cut -d ' ' -f 1 /proc/uptime) s"
    poweroff -f
}

echo "== before the module: none is loaded"
echo "characterize: the test begins" >/dev/kmsg
echo "$(uname -r), $(nproc) CPUs, $(cat "$state")"

if [ -n "${nodes:-}" ]; then
    ok "there are two nodes" test "$(cat /sys/devices/system/node/online)" = 0-1
    for mode in fair specialize; do
        start "mode $mode" --mode "$mode" --source marks --stats 1
        shown "... tasks on two nodes" sched_places nodes 6
        shown "... affinity" sched_places affinity 2
        end "SIGTERM" TERM 0
    done
    the_end
fi

echo "== fair, at $(seconds) s"
start "mode fair" --stats 1 --tasks 2
ok "... under its name" grep -qx characterize /sys/kernel/sched_ext/root/ops
says "a second one" 3 'a scheduler is loaded already: characterize' \
    characterize-sched --params /export.json --modelled
shown "... shares of nice 0 and 5" sched_checks shares 8
shown "... a task that wakes beside one of nice 19" sched_checks wakes 4
head -n 7 "$log"
ok "... counted" test "$(grep -c ' s: other: ran ' "$log")" -gt 4
ok "... of tasks, too" grep -q '^    [0-9]* (other) sched_checks: ran [1-9]' "$log"
end "SIGINT" INT 0

echo "== its table, at $(seconds) s"
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
shown "--monitor" sched_checks monitor 8
ok "... Linux' own scheduler has taken over" becomes disabled

echo "== specialize, at $(seconds) s"
start "mode specialize" --mode specialize --source marks --stats 1 --json
shown "... a busy task that is marked moves to a wide core" sched_checks wide 5
shown "... a task that root marks goes there, and back" sched_checks pidfd 1000
sleep 1.2
ok "... one core of three is wide" test "$(json wide_cores)" -eq 1
ok "... phases" sched_checks phases 0.3
sleep 1.2
tail -n 1 "$log"
ok "... end by timeout" test "$(json ended_by_timeout)" -ge 1
ok "... and by a system call" test "$(json ended_by_call)" -ge 1
shown "... wide tasks have their cores" sched_checks spread 4
kill -USR1 "$sched"
sleep 1.2
ok "... SIGUSR1 turns it off" sh -c "tail -n 1 $log | grep -q '\"specializes\":false'"
shown "... then they have all" sched_checks spread 6
kill -USR1 "$sched"
shown "... and on again" sched_checks spread 4
ok "... says so" sh -c "tail -n 1 $log | grep -q '\"specializes\":true'"
sched_checks many 6 &
sleep 3.5
tail -n 1 "$log"
ok "... for three wide tasks it is two" two_cores
wait $!
shown "... shares of nice 0 and 5" sched_checks shares 8
shown "... $LOAD s of load" sched_checks load "$LOAD"
tail -n 1 "$log"
ok "... it still schedules" grep -qx enabled "$state"
end "SIGKILL" KILL 137

# shellcheck source=tests/vm/guest-sched-state.sh
. /guest-sched-state.sh

# shellcheck source=tests/vm/guest-sched-accounting.sh
. /guest-sched-accounting.sh

echo "== $CYCLES times, at $(seconds) s"
for cycle in $(seq "$CYCLES"); do
    start "cycle $cycle" --mode specialize --source marks
    sleep 0.3
    end "... SIGTERM" TERM 0
done >/tmp/cycles
grep -v '^ok' /tmp/cycles | head -n 20
ok "it came and went $CYCLES times" test "$(grep -c '^ok' /tmp/cycles)" -eq $((3 * CYCLES))

# shellcheck source=tests/vm/guest-sched-safety.sh
. /guest-sched-safety.sh

echo "== a CPU goes, at $(seconds) s"
start "mode fair" --stats 1
echo 0 >/sys/devices/system/cpu/cpu3/online
wait "$sched"
status=$?
tail -n 1 "$log"
ok "... it ends with status $status" test "$status" -eq 1
ok "... and says why" grep -q 'characterize-sched: a CPU came or went' "$log"
ok "... Linux' own scheduler has taken over" becomes disabled
start "with a CPU less" --mode specialize --source marks
end "SIGHUP" HUP 0
start "... and it comes back" --stats 1
echo 1 >/sys/devices/system/cpu/cpu3/online
wait "$sched"
status=$?
ok "... it ends with status $status" test "$status" -eq 1
ok "... and says why" grep -q 'characterize-sched: a CPU came or went' "$log"
ok "... Linux' own scheduler has taken over" becomes disabled

the_end
