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
cp /bin/sched_places /bin/victim
fault() {
    export CHARACTERIZE_SCHED_FAULT="$1"
    start "fault '$1'" --stats 1
    unset CHARACTERIZE_SCHED_FAULT
    begin=$(seconds)
    victim pipe 1000 >/tmp/victim &
    victim=$!
    sched_checks load 5
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

# What perf bench sched measures, beside Linux' own scheduler: the best of three runs.
echo "== what it costs, at $(seconds) s"
# bench CHECK AMOUNT
bench() {
    for _ in 1 2 3; do
        sched_places "$1" "$2"
    done | sort -n | head -n 1
}
own_pipe=$(bench pipe 2000) own_messaging=$(bench messaging 20)
echo "Linux' own: pipe $own_pipe us, messaging $own_messaging ms"
for mode in fair specialize; do
    start "mode $mode" --mode "$mode" --source marks
    pipe=$(bench pipe 2000) messaging=$(bench messaging 20)
    end "SIGTERM" TERM 0
    awk -v a="$pipe" -v b="$own_pipe" -v c="$messaging" -v d="$own_messaging" -v mode="$mode" 'BEGIN {
        printf "mode %s: pipe %s us, %.2f times; messaging %s ms, %.2f times\n", mode, a, a / b, c, c / d
        exit !(a > 0 && c > 0 && a < 10 * b && c < 10 * d) }' >/tmp/ratio
    ok "$(cat /tmp/ratio)" test $? -eq 0
done
