#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A quiet machine in a virtual machine (make test-vm-quiet): Debian's kernel in QEMU with a CPU that is isolated since
# boot, without dynamic ticks left on it. There the table of variability has all its refinements, interrupts masked by
# the kernel helper among them, and runs with --quiet-machine are ended by signals at random moments, after which the
# settings must be what they were; so they must after a suspension, a CPU that is unplugged and a wall clock that is set
# back. The tables are left in build/vm/quiet/. Ends with 'N passed, N failed, N skipped'.
#
# The virtual CPUs are threads of an emulator on a busy host: the table shows that each step can be taken, not what it
# brings on a processor.
#
# Environment: OUT, where the program is; VM_KERNEL, VM_SEED, VM_TIMEOUT, VM_MIRROR as for run-qemu.sh; VM_ROUNDS (100)
# runs that are ended; VM_TRIALS (200) of each workload at each refinement.
set -u

cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-.}
work=$(pwd)/build/vm
mkdir -p "$work/quiet" || exit 1
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
begin=$(date +%s)

need_commands qemu-system-x86_64 busybox nasm gzip strip ldd
choose_kernel
fetch_image
build_module
build_programs
guest=tests/vm/guest-quiet.sh
make_initramfs <<SETTINGS
ROUNDS=${VM_ROUNDS:-100}
SEED=${VM_SEED:-20261122}
TRIALS=${VM_TRIALS:-200}
SETTINGS

seconds=$((900 + ${VM_ROUNDS:-100} * 10))
parameters='isolcpus=nohz,domain,1 nohz_full=1 rcu_nocbs=1'
# q35 would forget where its registers of ACPI are when it wakes, and could not be suspended again, nor switched off
VM_MACHINE=pc
VM_CPUS=${VM_CPUS:-4,sockets=1,cores=4,threads=1}
boot_until_started
wait "$qemu"
status=$?
[ "$status" -eq 0 ] || fail "QEMU's exit status $status (124: out of time)" "$work/qemu.log"
judge
# printed WHAT: the lines between two of the guest's own
printed() {
    sed -n "/^-- $1 begins/,/^-- $1 ends/p" "$work/guest.log" | sed '1d;$d'
}
for cpu in 1 2; do
    printed "table $cpu" >"$work/quiet/variability-$cpu.txt"
    printed "csv $cpu" >"$work/quiet/variability-$cpu.csv"
done
echo "tables: $work/quiet/"
echo "kernel $kernel, $(($(date +%s) - begin)) s"
finish
