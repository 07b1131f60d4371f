#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --list: what there is to choose from.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run --list kernels
for kernel in 64add 128fma 256or 512fma 512fma-lat 256perm 512fma@mem 256load 128store 512gather 512fmaadd@mem \
    256mov@zmask 128load@l2 512load@l3 256fma@ram amx pause chain; do
    verdict "--list kernels: $kernel" grep -Eq "^$kernel +[0-9]+ +(light|heavy) " "$out"
done
# every listed kernel is one that --transition takes
awk 'NR > 1 && NF == 0 { exit } NR > 1 { print $1 }' "$out" >"$tmp/kernels"
refused=
while read -r kernel; do
    run --transition "$kernel:64add" --machine no-such-machine
    grep -q 'unknown machine' "$err" || refused="$refused $kernel"
done <"$tmp/kernels"
verdict "--transition takes every listed kernel$refused" test -z "$refused" -a "$(wc -l <"$tmp/kernels")" -gt 30

run --list machines
verdict "--list machines: status 0" test "$status" -eq 0 -a ! -s "$err"
for machine in helper perf msr timing; do
    verdict "--list machines: $machine, usable or not, and why" grep -Eq "^$machine +(yes|no) +.{10}" "$out"
done
verdict "--list machines: liblikwid, found or not, without its noise" \
    grep -Eq '^liblikwid, .*: (found|liblikwid 5.2 to 5.4 is not installed)' "$out"
verdict "--list machines: models" grep -Eq '^model:xeon-gold-6130 +yes ' "$out"

run --list skus
verdict "--list skus: the modelled CPUs" grep -Eq '^xeon-gold-6130 .*6130.* 16 cores, 3 levels' "$out"
verdict "--list skus: those with published figures" grep -Eq '^xeon-gold-6130 .* 85 figures' "$out"
mkdir -p "$tmp/data" && cp -R "$root/data/models" "$root/data/skus" "$root/data/microarchs" "$tmp/data"
echo x >"$tmp/data/models/core-i9-7940x.model"
echo x >"$tmp/data/skus/core-i9-7940x.sku"
rm "$tmp/data/models/xeon-w-2104.model" && mkfifo "$tmp/data/models/xeon-w-2104.model"
CHARACTERIZE_DATA=$tmp/data run --list skus
verdict "--list skus: one that cannot be read hides no other" \
    test "$status" -eq 2 -a "$(wc -l <"$err")" -eq 3 -a "$(grep -c '^xeon-gold-6130 ' "$out")" -eq 2
verdict "--list skus: a pipe in the folder is not waited for" grep -q 'xeon-w-2104.model: .*not a regular file' "$err"
run --list workloads
verdict "--list workloads" grep -Eq '^web-server +4 cores, 8 CPUs, 8 threads' "$out"
run --list tables
verdict "--list tables: what there is, and how to measure it" \
    test "$(grep -Ec '^(frequency|umask|voltage) ' "$out")" -eq 3 -a "$(grep -c -- '--table NAME' "$out")" -eq 1

CHARACTERIZE_DATA=$tmp/none run --list machines
verdict "--list machines without models" grep -q 'no shipped models were found' "$out"

CHARACTERIZE_DATA=$tmp/none run --list skus
verdict "--list skus without any" \
    test "$status" -eq 0 -a "$(grep -c 'were found\|published figures\.$' "$out")" -eq 2 -a "$(wc -l <"$out")" -eq 2

finish
