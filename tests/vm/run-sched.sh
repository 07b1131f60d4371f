#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# characterize-sched in a virtual machine (make test-vm-sched): Debian's newest kernel with sched_ext in QEMU, 6 CPUs of
# 3 cores. What the guest printed stays in build/vm/guest.log. Ends with 'N passed, N failed, N skipped'.
#
# Environment: OUT, where the program is; VM_KERNEL, a suite of Debian (trixie-backports); VM_TIMEOUT, VM_MIRROR as for
# run-qemu.sh; VM_CYCLES (5) times that it is loaded; VM_LOAD (5) seconds of load.
set -u

cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-.}
work=$(pwd)/build/vm
mkdir -p "$work" || exit 1
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
subject=characterize-sched
begin=$(date +%s)

need_commands qemu-system-x86_64 busybox gzip ldd
[ -x "$OUT/characterize-sched" ] || skip_all "no characterize-sched: make says what it needs"
wanted=${VM_KERNEL:-trixie-backports}
open_release "$(release_of "$wanted")"
kernel=$(newest_of "$wanted")
[ -n "$kernel" ] || skip_all "no kernel in $wanted"
builder=none # the release's own apt fetches the image; nothing is built
fetch_image
build_program sched_checks
build_program sched_places
build_program sched_replay
# shellcheck disable=SC2046 # nothing or one name
begin_root "$OUT/characterize-sched" "$work/sched_checks" "$work/sched_places" "$work/sched_replay" \
    $(command -v perf)
cp tests/vm/guest-sched-safety.sh tests/vm/guest-sched-accounting.sh tests/vm/guest-sched-state.sh "$root/"
# of the processor that the virtual machine shows (lib.sh)
sed '2s/$/\n  "family": 6, "model": 85, "stepping": 4,/' tests/support/xeon-gold-6130.export.json >"$root/export.json"
# the terminal of --monitor
mkdir -p "$root/lib/terminfo/l"
cp -L /lib/terminfo/l/linux "$root/lib/terminfo/l/" || skip_all "no /lib/terminfo/l/linux (package ncurses-base)"
guest=tests/vm/guest-sched.sh
end_root <<SETTINGS
CYCLES=${VM_CYCLES:-5}
LOAD=${VM_LOAD:-5}
SETTINGS

seconds=$((600 + ${VM_CYCLES:-5} * 10 + ${VM_LOAD:-5} * 2))
# with a thread for each CPU, QEMU 7.2 crashes the guest where the kernel rewrites code of BPF
VM_TCG=single
VM_CPUS=6,sockets=1,cores=3,threads=2
run_guest() {
    boot_until_started
    wait "$qemu"
    status=$?
    [ "$status" -eq 0 ] || fail "QEMU's exit status $status (124: out of time)" "$work/qemu.log"
    judge
}
run_guest
echo "== two NUMA nodes"
VM_CPUS=8,sockets=2,cores=2,threads=2
parameters=nodes=2
devices='-object memory-backend-ram,id=m0,size=256M -object memory-backend-ram,id=m1,size=256M
    -numa node,nodeid=0,cpus=0-3,memdev=m0 -numa node,nodeid=1,cpus=4-7,memdev=m1'
run_guest
echo "kernel $kernel, $(($(date +%s) - begin)) s"
finish
