# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # log comes from guest-sched.sh
#
# Sourced by guest-sched.sh: who is wide by registers, and tasks that leave wide cores.

echo "== registers in use, at $(seconds) s"
# the emulator has 256 bits, and says of all tasks that they use them
start "source state" --mode specialize --source state --width 256 --stats 1 --json
sched_checks many 6 &
sleep 3.5
tail -n 1 "$log"
ok "... tasks were looked at, and are wide" test "$(json registers_used)" -ge 100
ok "... for three of them two cores are wide" two_cores
wait $!
end "SIGINT" INT 0
start "source state, 512 bits" --mode specialize --source state --stats 1 --json
sched_checks many 2
tail -n 1 "$log"
ok "... tasks were looked at" sh -c "tail -n 1 $log | grep -q '\"looks\":[1-9][0-9][0-9]'"
ok "... nobody is wide" sh -c "! tail -n 1 $log | grep -q '\"registers_used\":[1-9]'"
end "SIGINT" INT 0

echo "== off and on by instructions a second, at $(seconds) s"
says "no counters here" 3 'adapt: .*cannot count instructions of all tasks on CPU 0' \
    characterize-sched --params /export.json --modelled --mode specialize --source marks --adapt
export CHARACTERIZE_SCHED_INJECT=clock
start "--adapt, by the clock" --mode specialize --source marks --adapt --stats 1 --json
sched_checks many 12
tail -n 1 "$log"
ok "... it was off" grep -q '"specializes":false' "$log"
ok "... and on" grep -q '"specializes":true.*"became' "$log"
ok "... and one is kept" test "$(json decisions)" -eq 1
end "SIGINT" INT 0
unset CHARACTERIZE_SCHED_INJECT

echo "== others on wide cores, at $(seconds) s"
start "long slices" --mode specialize --source marks --slice-us 100000 --stats 1 --json
shown "... a task that fills a wide core goes where a CPU begins to idle" sched_checks fill 3000
sleep 1.2
tail -n 1 "$log"
ok "... called away before its slice ended" test "$(json called_away)" -ge 10
end "SIGINT" INT 0
