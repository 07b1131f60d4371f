#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /init of the virtual machine for make test-vm-quiet: the table of variability on a CPU that is isolated since boot and
# on one that is not, and runs with --quiet-machine that are ended by signals. The table is printed between two lines of
# its own. Settings: ROUNDS, SEED, TRIALS; files beside it as for guest.sh.
# shellcheck source=tests/vm/guest_lib.sh
. /guest_lib.sh
mkdir -p /run /out
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# All processes but the kernel's may use the isolated CPU; they are not spread to it. Before Linux 6.2 only processes
# that may use all CPUs get all of them back when a cpuset is removed.
taskset -p f 1

# All that --quiet-machine may change, and what it may leave.
state() {
    grep -sH '' /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity \
        /sys/devices/virtual/workqueue/cpumask /sys/devices/virtual/workqueue/*/cpumask \
        /proc/sys/kernel/nmi_watchdog /proc/sys/kernel/sched_rt_runtime_us /proc/sys/vm/stat_interval \
        /sys/devices/system/cpu/online /sys/devices/system/cpu/intel_pstate/no_turbo \
        /sys/devices/system/cpu/cpu*/cpuidle/state*/disable /sys/devices/system/cpu/cpu*/cpufreq/scaling_* \
        /sys/fs/cgroup/cgroup.subtree_control /sys/fs/cgroup/*/cpuset.cpus
    find /sys/fs/cgroup -type d
    ls /run
}

# same NAME: the state is what it was at the beginning
same() {
    state >/tmp/now
    if cmp -s /tmp/before /tmp/now; then
        return 0
    fi
    echo "FAIL: $1: settings are not what they were"
    diff /tmp/before /tmp/now
    return 1
}

# table CPU TEXT [tickless]: every refinement that there is on that CPU
table() {
    echo "== the table of CPU $1, $2, at $(seconds) s"
    characterize --table variability --machine helper --cpu "$1" --active-cores 1 --quiet-machine --interference make \
        --runs "$TRIALS" --csv "/out/variability-$1.csv" >/tmp/table 2>/tmp/errors
    status=$?
    echo "-- table $1 begins"
    cat /tmp/table
    echo "-- table $1 ends"
    cat /tmp/errors
    case $status in
    0) echo "ok: the table of CPU $1, $2" ;;
    *) echo "FAIL: the table of CPU $1, $2: status $status" ;;
    esac
    for name in busy quiet settings isolated irqs-away ${3:-} masked warm; do
        ok "CPU $1 has trials, $name" grep -Eq "^[^#]*,$name,[0-9]" "/out/variability-$1.csv"
    done
    same "after the table of CPU $1" && echo "ok: settings are the same after the table of CPU $1"
    echo "-- csv $1 begins"
    cat "/out/variability-$1.csv"
    echo "-- csv $1 ends"
}

# The next that is random: from 0 to below $1.
random() {
    random_state=$(((random_state * 1103515245 + 12345) % 2147483648))
    random_value=$((random_state / 65536 % $1))
}

# One run that is ended by a signal at a random moment. What it changed is put back: by itself, or after SIGKILL by
# --restore or by the next run.
round() {
    rm -f /out/k.csv
    random 3
    case $random_value in
    0) signal=INT ;;
    1) signal=TERM ;;
    *) signal=KILL ;;
    esac
    random 1400
    delay=$random_value
    characterize --transition 64or:64mul --machine timing --cpu 2 --active-cores 1 --runs 60 --quiet-machine \
        --csv /out/k.csv >/tmp/k.out 2>&1 &
    run=$!
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    [ -e /run/characterize.settings ] && changed=$((changed + 1))
    kill -"$signal" "$run" 2>/dev/null
    wait "$run"
    status=$?
    case $signal-$status in
    KILL-137)
        state >/tmp/now
        cmp -s /tmp/before /tmp/now || left=$((left + 1))
        random 2
        case $random_value in
        0) characterize --restore >/tmp/k.restore 2>&1 ;;
        *)
            characterize --transition 64or:64mul --machine timing --cpu 2 --active-cores 1 --runs 2 >/tmp/k.restore 2>&1
            ;;
        esac
        ;;
    INT-1 | TERM-1 | INT-130 | TERM-143) ;; # too little was measured, or nothing was begun
    *-0) completed=$((completed + 1)) ;;
    *)
        echo "FAIL: round $1: status $status after SIG$signal at $delay ms"
        cat /tmp/k.out
        ;;
    esac
    same "round $1, SIG$signal at $delay ms" || cat /tmp/k.out /tmp/k.restore
    [ ! -e /out/k.csv ] || characterize --analyze /out/k.csv >/tmp/k.analyze 2>&1 || {
        echo "FAIL: round $1, SIG$signal at $delay ms: what was written cannot be read"
        cat /tmp/k.analyze
    }
}

# unplugged DELAY [2]: the measured CPU goes offline meanwhile. The run ends with a line that says so, and status 1 (or
# the other, where that may be before it has begun), or with what it had measured before; nothing stays.
unplugged() {
    characterize --transition 64or:64mul --machine timing --cpu 3 --active-cores 1 --runs 2000 --quiet-machine \
        --csv /out/u.csv >/tmp/u.out 2>&1 &
    run=$!
    sleep "$1"
    echo 0 >/sys/devices/system/cpu/cpu3/online
    wait "$run"
    status=$?
    echo 1 >/sys/devices/system/cpu/cpu3/online
    # a cpuset that was removed meanwhile took it from all processes: see above
    taskset -p f 1 >/dev/null
    echo "CPU 3 offline after $1 s: status $status: $(grep '^characterize: ' /tmp/u.out | tail -n 1)"
    case $status in
    0) ok "... a result, without what ran elsewhere" grep -q 'migrated to another CPU' /tmp/u.out ;;
    1) ok "... one line of why" grep -q '^characterize: .*but was usable when the measurement began' /tmp/u.out ;;
    "${2:-1}") ok "... one line of why" test "$(grep -c '^characterize: ' /tmp/u.out)" -eq 1 ;;
    *) echo "FAIL: a CPU that is unplugged: status $status" && cat /tmp/u.out ;;
    esac
    rm -f /out/u.csv
    same "a CPU that is unplugged" && echo "ok: ... settings are the same"
}

# fall_asleep: to memory (S3), until the board's clock wakes the machine, two to three seconds later
fall_asleep() {
    slept=$(cut -d . -f 1 /proc/uptime)
    echo 0 >/sys/class/rtc/rtc0/wakealarm
    echo +3 >/sys/class/rtc/rtc0/wakealarm
    echo mem >/sys/power/state
    slept=$(($(cut -d . -f 1 /proc/uptime) - slept))
    [ "$slept" -ge 2 ] || echo "FAIL: the machine was suspended for $slept s only"
}

# until_changed: until $run has begun to change settings
until_changed() {
    while [ ! -e /run/characterize.settings ] && kill -0 "$run" 2>/dev/null; do
        sleep 0.1
    done
}

# suspended NAME TIMES SECONDS OPTION...: the machine is suspended that often, so far apart, while it measures. It ends
# with a result or with one line, and puts everything back.
suspended() {
    name=$1 times=$2 apart=$3
    shift 3
    rm -f /out/s.csv
    characterize "$@" --cpu 2 --active-cores 1 --csv /out/s.csv >/tmp/s.out 2>/tmp/s.err &
    run=$!
    suspensions=0
    while [ "$suspensions" -lt "$times" ] && sleep "$apart" && kill -0 "$run" 2>/dev/null; do
        fall_asleep
        suspensions=$((suspensions + 1))
    done
    wait "$run"
    status=$?
    echo "$name, suspended $suspensions times: status $status"
    ok "... it was suspended" test "$suspensions" -gt 0
    case $status in
    0) ok "... a result" test -s /out/s.csv ;;
    1) ok "... one line of why" test "$(grep -c '^characterize: ' /tmp/s.err)" -eq 1 ;;
    *) echo "FAIL: a suspension: status $status" ;;
    esac
    cat /tmp/s.out /tmp/s.err
    same "$name that was suspended" && echo "ok: ... settings are the same"
}

# within US: no reading of /out/s.csv is further than that from its transition
within() {
    sed '/^#/d' /out/s.csv | awk -F, -v most="$1" 'NR > 1 && ($2 > most || $2 < -most) { print; bad = 1 }
        END { exit bad || NR < 2 }'
}

# killed_suspended: the machine sleeps between SIGKILL and --restore, which is still in the boot that it knows
killed_suspended() {
    characterize --transition 64or:64mul --machine timing --cpu 2 --active-cores 1 --runs 2000 --quiet-machine \
        >/tmp/s.out 2>&1 &
    run=$!
    until_changed
    sleep 0.5
    kill -KILL "$run"
    wait "$run"
    state >/tmp/now
    ok "SIGKILL leaves settings changed" test "$(diff /tmp/before /tmp/now | grep -c '^+/')" -gt 0
    fall_asleep
    says "--restore after a suspension" 0 '' characterize --restore
    same "--restore after a suspension" && echo "ok: ... settings are the same"
}

# a_day_back: the wall clock
a_day_back() {
    date -s "@$(($(date +%s) - 86400))"
}

# set_back: the wall clock, while a quiet machine is measured, and between the halves of a run of all tables
set_back() {
    characterize --transition 64or:64mul --machine timing --cpu 2 --active-cores 1 --runs 60 --quiet-machine \
        --csv /out/d.csv >/tmp/d.out 2>&1 &
    run=$!
    until_changed
    a_day_back
    wait "$run"
    status=$?
    cat /tmp/d.out
    ok "a day back while a quiet machine is measured" test "$status" -eq 0
    same "a day back" && echo "ok: ... settings are the same"
    export CHARACTERIZE_DATA=/share
    all="--all --brief --machine model:generic-no-licence --kernels 128fma,512fma --active-cores 1 --runs 3"
    # shellcheck disable=SC2086 # options
    ok "all tables" characterize $all --output /out/undisturbed
    # shellcheck disable=SC2086
    characterize $all --output /out/set-back >/tmp/all.out 2>&1 &
    run=$!
    while [ ! -e /out/set-back/cells/trigger ] && kill -0 "$run" 2>/dev/null; do
        sleep 0.1
    done
    kill -KILL "$run"
    wait "$run"
    a_day_back
    ok "... of which some are missing after SIGKILL" test ! -e /out/set-back/report.html
    # shellcheck disable=SC2086
    ok "... are completed a day earlier" characterize $all --output /out/set-back --resume
    ok "... and are the same" diff -rq /out/undisturbed /out/set-back
}

echo "== before the module is loaded"
echo "characterize: the test begins" >/dev/kmsg
ok "a CPU is isolated since boot" grep -qx 1 /sys/devices/system/cpu/isolated
ok "without dynamic ticks left on it" grep -qx 1 /sys/devices/system/cpu/nohz_full
ok "insmod" insmod /characterize.ko
state >/tmp/before
echo "== what would be changed"
characterize --list machines --quiet-machine --cpu 2
characterize --check environment --cpu 1
same "after looking" && echo "ok: looking changes nothing"

table 1 "isolated since boot" tickless
table 2 "isolated by its cpuset"

echo "== the measured CPU is unplugged, at $(seconds) s"
unplugged 0.3 2
unplugged 0.9
unplugged 1.7

echo "== the machine is suspended, at $(seconds) s"
suspended "a transition" 2 1 --transition 64or:64mul --machine timing --runs 60 --quiet-machine
ok "... no reading is out of its observation" within 10000
suspended "the table" 3 5 --table variability --machine timing --runs 300 --quiet-machine=isolate
killed_suspended

echo "== the wall clock is set back, at $(seconds) s"
set_back

echo "== $ROUNDS runs with --quiet-machine, ended by signals, seed $SEED, at $(seconds) s"
random_state=$SEED changed=0 left=0 completed=0 number=0
while [ "$number" -lt "$ROUNDS" ]; do
    number=$((number + 1))
    round "$number" >/tmp/round
    cat /tmp/round
    grep -q '^FAIL' /tmp/round || same=$((${same:-0} + 1))
done
[ "${same:-0}" -eq "$ROUNDS" ] && echo "ok: the settings of $ROUNDS rounds were the same afterwards"
echo "settings were changed when the signal came: $changed; left by SIGKILL: $left; done before: $completed"
ok "signals came while settings were changed" test "$changed" -gt "$((ROUNDS / 4))"
ok "some were left by SIGKILL" test "$left" -gt "$((ROUNDS / 20))"
ok "rmmod" rmmod characterize

echo "== kernel log begins"
dmesg
echo "== kernel log ends"
echo "== guest done after $(cut -d ' ' -f 1 /proc/uptime) s"
poweroff -f
