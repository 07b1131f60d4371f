# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # state, log and sched come from guest-sched.sh
#
# Sourced by guest-sched.sh: where tasks run, faults of the scheduler, and what it costs.

echo "== affinity and cpusets, at $(seconds) s"
mkdir -p /cg
mount -t cgroup2 cgroup2 /cg
for mode in fair specialize; do
    start "mode $mode" --mode "$mode" --source marks --stats 1
    shown "... affinity" sched_places affinity 3
    shown "... a cpuset" sched_places cpuset 2
    end "SIGTERM" TERM 0
done

# fault NAME TEXT: the scheduler has a fault of a test's (CHARACTERIZE_SCHED_FAULT) with tasks that are called "victim"
cp /bin/sched_checks /bin/victim
fault() {
    export CHARACTERIZE_SCHED_FAULT="$1"
    start "fault '$1'" --stats 1
    unset CHARACTERIZE_SCHED_FAULT
    begin=$(seconds)
    victim load 1 &
    victim=$!
    sched_checks load 1
    wait "$sched"
    status=$?
    tail -n 1 "$log"
    ok "... it ends with status $status, after $(($(seconds) - begin)) s" test "$status" -eq 1
    ok "... and says why" grep -q "^characterize-sched: Linux' own scheduler has taken over: .*$2" "$log"
    ok "... it has taken over" becomes disabled
    wait "$victim"
    status=$?
    ok "... the task goes on: status $status" test "$status" -eq 0
}
echo "== faults, at $(seconds) s"
fault error 'runtime error'
fault stall 'victim'

# What perf bench sched says, beside Linux' own scheduler: seconds, the best of three runs.
bench() {
    for _ in 1 2 3; do
        perf bench -f simple sched "$@"
    done | sort -n | head -n 1
}
cost() {
    own_pipe=$(bench pipe -l 1000) own_messaging=$(bench messaging -g 1 -l 10)
    for mode in fair specialize; do
        start "mode $mode" --mode "$mode" --source marks
        pipe=$(bench pipe -l 1000) messaging=$(bench messaging -g 1 -l 10)
        end "SIGTERM" TERM 0
        awk -v a="$pipe" -v b="$own_pipe" -v c="$messaging" -v d="$own_messaging" -v mode="$mode" 'BEGIN {
            printf "mode %s: pipe %s s, %.2f times as long as with none; ", mode, a, a / b
            printf "messaging %s s, %.2f times\n", c, c / d
            exit !(a > 0 && c > 0 && a < 10 * b && c < 10 * d) }' >/tmp/ratio
        status=$?
        ok "$(cat /tmp/ratio)" test "$status" -eq 0
    done
}
echo "== what it costs, at $(seconds) s"
if [ -x /bin/perf ]; then
    cost
else
    echo "skip: what it costs: no perf here (package linux-perf)"
fi
