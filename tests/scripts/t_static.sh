#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is compiled otherwise for the static program still compiles: the whole of it is built by make static alone.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$root" || exit 1
files=$(grep -rlE --include='*.c' 'STATIC_PROGRAM|WITHOUT_ZYDIS' cli computer drivers kernels output profiler util)
for file in $files; do
    object=$tmp/build/${file%.c}.o
    "${MAKE:-make}" -s STATIC_PROGRAM=1 BUILD="$tmp/build" "$object" >"$tmp/out" 2>&1
    check "$file" "$tmp/out" test $? -eq 0
done
check "there are such files" "$tmp/out" test -n "$files"
finish
