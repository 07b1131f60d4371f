#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make test-vm: run-qemu.sh on the oldest and the newest kernel that Debian has, and on one in between; with VM_KERNEL
# on that one alone. What the guests printed stays in build/vm/serial-NAME.log. Ends with 'N passed, N failed, N
# skipped', the sum. Environment: as for run-qemu.sh.
set -u

cd "$(dirname "$0")/../.." || exit 1
mkdir -p build/vm || exit 1
passed=0 failed=0 skipped=0
for name in ${VM_KERNEL:-bookworm bookworm-backports trixie-backports}; do
    log=build/vm/run-$name.log
    rm -f build/vm/serial.log
    echo "== $name"
    { VM_KERNEL=$name tests/vm/run-qemu.sh 2>&1; echo $? >build/vm/status; } | tee "$log"
    if [ -e build/vm/serial.log ]; then
        cp build/vm/serial.log "build/vm/serial-$name.log"
    fi
    counts=$(grep '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$log" | tail -n 1 | tr -cd '0-9 ')
    # shellcheck disable=SC2086 # three numbers
    set -- ${counts:-0 1 0}
    if [ "$(cat build/vm/status)" -ne 0 ] && [ "$2" -eq 0 ]; then
        echo "FAIL: $name: exit status $(cat build/vm/status)"
        set -- "$1" 1 "$3"
    fi
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
done
echo "== kernels"
grep -h -e '^kernel ' -e '^skipped: ' -e '^FAIL: ' build/vm/run-*.log
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
