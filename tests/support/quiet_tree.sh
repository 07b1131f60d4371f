# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Sourced by tests: a folder like the /sys and /proc of a machine of four CPUs, two cores, with everything that
# --quiet-machine changes but cpusets. Nothing of it belongs to this machine.

# quiet_tree DIR
quiet_tree() {
    tree=$1
    rm -rf "$tree"
    cpu=$tree/sys/devices/system/cpu
    mkdir -p "$cpu/cpufreq" "$tree/run" "$tree/dev" "$tree/proc/sys/kernel/random" "$tree/proc/sys/vm" \
        "$tree/sys/devices/virtual/workqueue/writeback"
    echo 0-3 | tee "$cpu/online" "$cpu/present" >"$cpu/possible"
    mkdir "$cpu/intel_pstate"
    echo 0 >"$cpu/intel_pstate/no_turbo"
    for n in 0 1 2 3; do
        policy=$cpu/cpufreq/policy$n
        mkdir -p "$policy" "$cpu/cpu$n/topology"
        echo $n >"$policy/related_cpus"
        echo powersave >"$policy/scaling_governor"
        echo balance_performance >"$policy/energy_performance_preference"
        echo 1 >"$cpu/cpu$n/online"
        echo $((n % 2)),$((n % 2 + 2)) >"$cpu/cpu$n/topology/thread_siblings_list"
        for state in 0:0 1:2 2:10 3:600; do
            mkdir -p "$cpu/cpu$n/cpuidle/state${state%:*}"
            echo "${state#*:}" >"$cpu/cpu$n/cpuidle/state${state%:*}/latency"
            echo 0 >"$cpu/cpu$n/cpuidle/state${state%:*}/disable"
        done
    done
    for n in 24:0-3:3 25:0-3:2 26:3:3 27:0:0 28:0,3:0 29:2-3:2; do
        irq=$tree/proc/irq/${n%%:*}
        mkdir -p "$irq"
        echo "${n##*:}" >"$irq/effective_affinity_list"
        n=${n#*:}
        echo "${n%:*}" >"$irq/smp_affinity_list"
    done
    echo f >"$tree/proc/irq/default_smp_affinity"
    echo f | tee "$tree/sys/devices/virtual/workqueue/cpumask" >"$tree/sys/devices/virtual/workqueue/writeback/cpumask"
    echo 1 >"$tree/proc/sys/kernel/nmi_watchdog"
    echo 950000 >"$tree/proc/sys/kernel/sched_rt_runtime_us"
    echo 1 >"$tree/proc/sys/vm/stat_interval"
    echo 8413c301-7ff1-50ab-95fa-64225559df55 >"$tree/proc/sys/kernel/random/boot_id"
}

# quiet_tree_state DIR: everything in it, a line each; what is written into a file may end in more empty lines
quiet_tree_state() {
    (cd "$1" && grep -r . . | sort)
}
