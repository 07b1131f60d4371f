# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # log comes from the caller
#
# Sourced by guest-sched.sh: what tasks are charged, by counters that are made up, and who is wide by them.

# beside NAME RATIO OPTION...: the CPU time of a task that runs at the level of a wide one, beside that one's, within
# 5 %; every decision is that of the simulator's functions
beside() {
    name=$1 want=$2
    shift 2
    export CHARACTERIZE_SCHED_INJECT="${inject:-tasks}" CHARACTERIZE_SCHED_RECORD=/tmp/records
    start "$name: $*" --stats 1 --json "$@"
    sched_checks victim 8 >/tmp/victim
    sed 's/^/    /' /tmp/victim
    tail -n 1 "$log"
    ok "... CPU time, $want expected" awk -v want="$want" '{ exit !($2 > 0.95 * want && $2 < 1.05 * want) }' /tmp/victim
    end "SIGINT" INT 0
    unset CHARACTERIZE_SCHED_INJECT CHARACTERIZE_SCHED_RECORD
    shown "... decisions are the simulator's" sched_replay /tmp/records /export.json
}

# work NAME: of the victim of that mode
work() {
    sed -n 's/.*work //p' "/tmp/victim.$1"
}

echo "== accounting, with counters that are made up, at $(seconds) s"
says "no counters here" 3 'cannot count cycles of all tasks on CPU 0' \
    characterize-sched --params /export.json --modelled --mode subtract --source counters
# 1.9 / 2.8: the wide one's clock by that of others
beside fair 1 --mode fair --source counters
cp /tmp/victim /tmp/victim.fair
beside subtract 1.474 --mode subtract --source counters
ok "... all is compensated, and nobody pays" test "$(json unattributed_ns)" -eq 0
cp /tmp/victim /tmp/victim.subtract
beside attribute 2.8 --mode attribute --source counters
cp /tmp/victim /tmp/victim.attribute
ok "the victim's slowdown falls: $(work fair), $(work subtract), $(work attribute) of its work" \
    test "$(printf '%s\n' "$(work fair)" "$(work subtract)" "$(work attribute)" | sort -n | tr '\n' ' ')" = \
    "$(work fair) $(work subtract) $(work attribute) "
beside marks 2.8 --mode attribute --source marks
inject=levels beside levels 1 --mode attribute --source counters
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mkdir /sys/fs/cgroup/a
echo $$ >/sys/fs/cgroup/a/cgroup.procs
beside "cgroup off" 1 --mode attribute --source counters --cgroup /sys/fs/cgroup/a=fair
beside "cgroup on" 1.474 --mode fair --source counters --cgroup /sys/fs/cgroup/a=subtract
says "no cgroup" 2 'not a cgroup of version 2' env CHARACTERIZE_SCHED_INJECT=tasks \
    characterize-sched --params /export.json --modelled --source counters --cgroup /tmp=subtract
export CHARACTERIZE_SCHED_INJECT=tasks CHARACTERIZE_SCHED_RECORD=/tmp/records
start "mode attribute, tasks of all kinds" --mode attribute --source counters --stats 1 --json
shown "... mixed" sched_checks mixed 5
tail -n 1 "$log"
end "SIGINT" INT 0
shown "... decisions are the simulator's" sched_replay /tmp/records /export.json
start "mode specialize by counters" --mode specialize --source counters --stats 1 --json
shown "... a busy task that becomes wide moves to a wide core" sched_checks counted 5
tail -n 1 "$log"
end "SIGINT" INT 0
shown "... decisions are the simulator's" sched_replay /tmp/records /export.json
export CHARACTERIZE_SCHED_INJECT=clock
start "mode attribute, counters that are the clock" --mode attribute --source counters --stats 1 --json
shown "... mixed" sched_checks mixed 3
tail -n 1 "$log"
end "SIGINT" INT 0
shown "... decisions are the simulator's" sched_replay /tmp/records /export.json
unset CHARACTERIZE_SCHED_INJECT CHARACTERIZE_SCHED_RECORD
