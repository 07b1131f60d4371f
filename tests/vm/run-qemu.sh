#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The kernel helper in a virtual machine (make test-vm): Debian's kernel under QEMU's own processor, which says that it
# is a Skylake-SP (06_55H stepping 4) and has AVX2 but no AVX-512 and no performance counters. Nothing is loaded into
# the kernel of the machine that this runs on. Ends with 'N passed, N failed, N skipped'.
#
# Environment: OUT, where the program is; VM_KERNEL, a version (6.1.0-56-amd64) or a suite of Debian whose newest it is
# to be (trixie-backports; fetch.sh): default the newest whose headers are here; VM_FUZZ, random ioctls (100000), and a
# quarter of it while CPUs go and come; VM_SEED; VM_SOAK, seconds (10) of profiling while tasks and CPUs come and go;
# VM_CPUS; VM_TIMEOUT, seconds; VM_MIRROR; VM_STOPS, seconds (0) for which, after the rest, the whole virtual machine is
# stopped and continued at random while repetitions and random ioctls go on in it: a hypervisor that takes the CPU away.
set -u

cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-.}
work=$(pwd)/build/vm
mkdir -p "$work" || exit 1
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
begin=$(date +%s)

need_commands qemu-system-x86_64 busybox nasm gzip strip ldd
choose_kernel
fetch_image
build_module
build_programs
make_initramfs <<SETTINGS
FUZZ=${VM_FUZZ:-100000}
SEED=${VM_SEED:-20261122}
TRANSITION='128or:256fma 256fma:64add'
REFUSED=128fma:512fma
STOPS=${VM_STOPS:-0}
SOAK=${VM_SOAK:-10}
SETTINGS

# Stops all CPUs of the guest for 40 to 150 ms, 50 to 350 ms apart, while it asks for that.
stop_and_continue() {
    machine=$(pgrep -P "$qemu")
    until grep -q '^== stops begin' "$work/serial.log"; do
        sleep 1
        kill -0 "$machine" 2>/dev/null || return
    done
    awk -v seed="${VM_SEED:-20261122}" 'BEGIN {
        srand(seed)
        for (;;) printf "%.3f %.3f\n", 0.05 + 0.3 * rand(), 0.04 + 0.11 * rand()
    }' | while read -r running stopped; do
        sleep "$running"
        grep -q '^== stops end' "$work/serial.log" && break
        kill -STOP "$machine" 2>/dev/null || break
        sleep "$stopped"
        kill -CONT "$machine"
        echo "$stopped"
    done >"$work/stops"
}

seconds=$((300 + ${VM_STOPS:-0} + ${VM_SOAK:-0} + ${VM_FUZZ:-0} / 300))
for attempt in 1 2; do
    boot_until_started
    [ "${VM_STOPS:-0}" -eq 0 ] || stop_and_continue
    comes_to_its_end && break
    echo "attempt $attempt discarded: the emulated kernel stood still while it rewrote its own code" \
        "(a defect of QEMU 7.2)"
    cp "$work/serial.log" "$work/serial-$attempt.log"
done
[ "${VM_STOPS:-0}" -eq 0 ] || ok "the machine was stopped and continued $(wc -l <"$work/stops") times"
[ "$status" -eq 0 ] || fail "QEMU's exit status $status (124: out of time)" "$work/qemu.log"
judge
echo "kernel $kernel, $(($(date +%s) - begin)) s"
finish
