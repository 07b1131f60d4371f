#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Processors with AVX, but neither FMA nor AVX2, which QEMU plays: what they can run, and what stands for the rest.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! qemu-x86_64 -cpu SandyBridge "$CHARACTERIZE" --version >/dev/null 2>&1; then
    skip "AVX alone" "qemu-x86_64 (package qemu-user) plays no Sandy Bridge here"
    finish
fi
# QEMU, which reports on stderr what it lacks, ends with 132 if the processor would not know an instruction
sandy_bridge() {
    qemu-x86_64 -cpu SandyBridge "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

sandy_bridge --list kernels
for kernel in 128mulpd 128addpd 128orpd 256mulpd 256addpd 256orpd 256load 256store 256mov; do
    verdict "$kernel runs" grep -q "^$kernel .* yes " "$out"
done
verdict "256fma does not" grep -q '^256fma .* no: fma' "$out"
for kernel in 256mulpd 256addpd 256orpd 256load 256store 256mov; do
    sandy_bridge --transition "128mulpd:$kernel" --machine timing --runs 2 --output o
    verdict "128mulpd:$kernel" test "$status" -eq 0
done
sandy_bridge --transition 128fma:256fma --machine timing
verdict "128fma is refused, with what can run" test "$status" -eq 3
verdict "... 256mulpd among them" grep -q '256mulpd' "$err"
sandy_bridge --table wake --brief --output o
verdict "first uses of 256 bits" test "$status" -eq 0
sandy_bridge --table frequency --brief --active-cores 1 --output o
verdict "frequencies" test "$status" -eq 0
for stand_in in 128mulpd 256mulpd 256orpd; do
    verdict "$stand_in was measured" grep -q "^[0-9]*,$stand_in,1,.*,[0-9]" o/frequency.csv
done
verdict "256fma is missing, with the reason" grep -q '^  256fma: needs fma, ' "$out"
verdict "... and what stands for it" grep -q 'suffices for 256mulpd' "$out"

finish
