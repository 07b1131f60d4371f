#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# deep: a node must be gone for as long as Slurm takes to miss it: a minute or two
# waits: mostly for Slurm
#
# characterize-fleet slurm on Slurm itself: munged, slurmctld and four slurmd under names of their own, in namespaces
# without a network, nothing outside of the test's folder. Each node is a PID namespace, so that one can lose its power:
# slurmd, the step and characterize are gone at once, in the middle of the run. Slurm misses the node and requeues its
# task; the node comes back, the task goes on with the next cell, and the summary names all four.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

d=$tmp
nodes='n1 n2 n3 n4'
fleet=$root/fleet/characterize-fleet
program=${CHARACTERIZE:-$root/characterize}
# with a blank and a percent sign, which means something to sbatch
results="$d/the results, 100 %"

if [ "${1:-}" != inside ]; then
    for need in munged slurmctld slurmd sbatch ip; do
        if ! command -v "$need" >/dev/null 2>&1; then
            skip "a fleet by Slurm" "no $need here (apt-get install --no-install-recommends munge slurmctld slurmd \
slurm-client iproute2)"
            finish
        fi
    done
    if ! unshare -n -m -p -u --fork --mount-proc true 2>"$tmp/err"; then
        skip "a fleet by Slurm" "no namespaces for it: $(head -n 1 "$tmp/err")"
        finish
    fi
    # what is left when the first process of the namespace ends is killed by the kernel
    unshare -n -m -p -u --fork --mount-proc --kill-child sh "$0" inside
    exit
fi

# ---- a cluster on one machine ----

# getaddrinfo() wants an address that is not 127.0.0.1
ip link set lo up && ip addr add 10.99.0.1/32 dev lo && hostname ctl && mount -t tmpfs tmpfs /run || exit 1
mkdir "$d/state" "$d/spool" "$d/munge"
printf '127.0.0.1 localhost\n10.99.0.1 ctl %s\n' "$nodes" >"$d/hosts"
mount --bind "$d/hosts" /etc/hosts || exit 1
chmod 700 "$d/munge"
head -c 128 /dev/urandom >"$d/munge/key"
chmod 400 "$d/munge/key"
munged --force --socket=/run/munge.socket --key-file="$d/munge/key" --pid-file=/run/munged.pid \
    --log-file="$d/munge/log" --seed-file="$d/munge/seed" 2>"$d/munged.err"
SLURM_CONF=$d/slurm.conf
export SLURM_CONF
# cred_expire: a requeued task waits for so long, two minutes by default
cat >"$SLURM_CONF" <<END
ClusterName=fleet
SlurmctldHost=ctl(10.99.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge.socket,cred_expire=5
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=$d/slurmctld.log
SlurmdLogFile=$d/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=2,sched_interval=2
MpiDefault=none
SwitchType=switch/none
SlurmdTimeout=10
KillWait=2
ReturnToService=2
$(port=17000
    for node in $nodes; do
        port=$((port + 1))
        echo "NodeName=$node NodeAddr=10.99.0.1 NodeHostname=ctl Port=$port CPUs=1"
    done)
PartitionName=all Nodes=ALL Default=YES State=UP
END

# boot NODE: what runs on it is one PID namespace; its first process, seen from here, is in NODE.pid
boot() {
    mkdir -p "$d/spool/$1"
    # shellcheck disable=SC2016 # expanded in there
    unshare -p -m --fork --mount-proc sh -c 'slurmd -D -N "$1" & wait' sh "$1" >"$d/$1.out" 2>&1 &
    unshared=$!
    sleep 0.3
    ps -o pid= --ppid "$unshared" | tr -d ' ' >"$d/$1.pid"
}

# until SECONDS COMMAND...
until_true() {
    patience=$1
    shift
    until "$@" >"$d/until" 2>&1; do
        patience=$((patience - 1))
        [ "$patience" -gt 0 ] || return 1
        sleep 1
    done
}

idle() { [ "$(sinfo -h -N -t idle -o '%N %T' | grep -c ' idle$')" -eq 4 ]; }
cells() { find "$results/nodes/$1/cells" -name '*.json' -printf '%i %T@ %P\n' 2>/dev/null | sort; }
measuring() { [ "$(cells n3 | wc -l)" -ge 100 ]; }
in_queue() { squeue -h -r -o '%n %T %r' | grep -q "$1"; }
fleet_state() { "$fleet" status --tsv "$results" | awk -F '\t' -v node="$1" '$1 == node { print $2 }' | grep -qx "$2"; }
over() { [ -z "$(squeue -h)" ]; }

slurmctld -c -f "$SLURM_CONF"
for node in $nodes; do
    boot "$node"
done
until_true 30 idle
check "slurmctld and four slurmd run" "$d/slurmctld.log" idle

# --compare where it is, otherwise a stand-in
cat >"$d/characterize" <<END
#!/bin/sh
if [ "\$1" = --compare ] && ! '$program' --help-all | grep -q -e --compare; then
    echo "compared: \$*"
    exit
fi
exec '$program' "\$@"
END
chmod +x "$d/characterize"
CHARACTERIZE=$d/characterize
export CHARACTERIZE
[ -n "${CHARACTERIZE_DATA:-}" ] || export CHARACTERIZE_DATA="$root/data"

# ---- what is refused before anything is submitted ----

# refused STATUS PATTERN ARGUMENT...
refused() {
    refused_status=$1 refused_pattern=$2
    shift 2
    "$fleet" "$@" >"$d/out" 2>"$d/err" </dev/null
    status=$?
    check "refused, $status: $(head -n 1 "$d/err")" "$d/err" test "$status" -eq "$refused_status" -a \
        "$(wc -l <"$d/err")" -eq 1 -a "$(grep -c -e "$refused_pattern" "$d/err")" -eq 1 -a ! -s "$d/out"
}
refused 2 "unknown option '--breif', perhaps --brief" slurm --output "$results" -- --breif
refused 2 "no model 'xeon'" slurm --output "$results" -- --machine model:xeon
refused 2 "sbatch: unrecognized option '--tiem=10'" slurm --output "$results" --tiem=10 -- --brief
refused 2 "nvalid --time" slurm --output "$results" --time=soon -- --brief
refused 2 "before -- that is no option" slurm --output "$results" results -- --brief
refused 2 "no -- " slurm --output "$results" --brief
refused 2 "knows no node 'n7'" slurm --output "$results" -w 'n[1-2],n7' -- --brief
refused 2 "no node in the partition batch" slurm --output "$results" -p batch -- --brief
refused 2 "sets it itself" slurm --output "$results" --array=1-3 -- --brief
refused 2 "sets it itself" slurm --output "$results" -- --output elsewhere
refused 2 "'1O' is not a whole number" slurm --at-once 1O -- --brief
check "nothing was submitted" "$d/err" over

# ---- the run, of which one node loses its power ----

begin=$(date +%s)
"$fleet" slurm --output "$results" --time=10 -- --machine model:xeon-gold-6130 --brief >"$d/out" 2>&1
check "submitted: $(head -n 1 "$d/out")" "$d/out" grep -q '^job [0-9]*: 4 nodes, .*then job [0-9]*' "$d/out"
[ "$n_failed" -eq 0 ] || finish
refused 3 "still in the queue" slurm --output "$results" -- --machine model:xeon-gold-6130 --brief
until_true 60 measuring
check "n3 measures" "$d/until" measuring
kill -KILL "$(cat "$d/n3.pid")"
cells n3 >"$d/kept"
echo "    n3 lost its power $(($(date +%s) - begin)) s after the start, with $(wc -l <"$d/kept") cells"
until_true 60 in_queue 'n3 PENDING'
check "Slurm has requeued its task after $(($(date +%s) - begin)) s" "$d/slurmctld.log" in_queue 'n3 PENDING'
until_true 40 fleet_state n3 unreachable
"$fleet" status "$results" >"$d/out" 2>&1
status=$?
check "which the status tells, with 3" "$d/out" [ "$status" -eq 3 ]
check "... as unreachable: $(grep n3: "$d/out")" "$d/out" grep -q '^unreachable  n3: .*Slurm' "$d/out"
boot n3
until_true 90 over
echo "    all over after $(($(date +%s) - begin)) s"
"$fleet" status "$results" >"$d/out" 2>&1
status=$?
check "all are done: $(cat "$d/out")" "$d/out" test "$status" -eq 0 -a \
    "$(cat "$d/out")" = "4 nodes: 4 done, 0 failed, 0 unreachable, 0 not finished"
"$fleet" status --tsv "$results" >"$d/out"
# a third where Slurm's message to end the old step comes late, and ends the new one
attempts=$(cut -f 1,3 "$d/out" | tr '\t\n' '  ')
check "n3 took more than one attempt, the others one: $attempts" "$d/out" [ \
    "$(echo "$attempts" | tr 3 2)" = "node attempts n1 1 n2 1 n2 2 n4 1 " ]
cells n3 >"$d/now"
check "what n3 had measured was not measured again" "$d/kept" [ -z "$(comm -23 "$d/kept" "$d/now")" ]
for node in n2 n3 n4; do
    diff -rq "$results/nodes/n1" "$results/nodes/$node" >"$d/diff" 2>&1
    check "$node has what n1 has, to the byte" "$d/diff" [ ! -s "$d/diff" ]
done
check "each log has its node's lines alone" "$results/log/n3.log" [ "$(grep -h -o 'nodes/n[0-9]*/report' \
    "$results"/log/n*.log | tr '\n' ' ')" = "nodes/n1/report nodes/n2/report nodes/n3/report nodes/n4/report " ]
check "the summary job has run, and compared all" "$results/summary.txt" \
    [ "$(grep -c '^n[1-4]: \|^Of [0-9]* values compared, 0 differ' "$results/summary.txt")" -eq 5 ]
"$fleet" slurm --output "$results" -- --machine model:xeon-gold-6130 --brief >"$d/out" 2>&1
status=$?
check "called again, it has nothing to do" "$d/out" test "$status" -eq 0 -a -z "$(squeue -h)"
refused 2 "begun with other options" slurm --output "$results" -- --machine model:xeon-gold-6130

# ---- a node that fails, one that is down, and a limit of retries ----

cat >"$d/characterize" <<'END'
#!/bin/sh
for out; do :; done
[ "$out" != /dev/null/none ] || exit 1
case $SLURMD_NODENAME in
n1) echo 'characterize: the table wake failed: no luck' >&2; exit 1 ;;
n2) echo 'characterize: no table can be measured on this machine' >&2; exit 3 ;;
esac
mkdir -p "$out"
date >"$out/run.json"
date >"$out/report.html"
END
results=$d/second
kill -KILL "$(cat "$d/n4.pid")" # otherwise it may register again
scontrol update NodeName=n4 State=DOWN Reason='no luck either'
"$fleet" slurm --output "$results" --retries 1 --at-once 1 -- --brief >"$d/out" 2>&1
check "three nodes are up: $(head -n 1 "$d/out")" "$d/out" grep -q '^job [0-9]*: 3 nodes' "$d/out"
until_true 60 over
"$fleet" status "$results" >"$d/out"
cat >"$d/expected" <<END
4 nodes: 1 done, 2 failed, 1 unreachable, 0 not finished
failed       n1: status 1: the table wake failed: no luck; 2 attempts ($results/log/n1.log)
failed       n2: status 3: no table can be measured on this machine ($results/log/n2.log)
unreachable  n4: Slurm has it as down; sinfo -R may say why
END
check "each is reported with its reason; a retry only where it makes sense" "$d/out" same "$d/expected" "$d/out"
check "so does the summary" "$results/summary.txt" grep -q '^Fewer than two nodes are done' "$results/summary.txt"

finish
