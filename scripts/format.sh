#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: format.sh [--check]      (make format; make lint checks)
#
# Brings every C file into the dialect of .clang-format; with --check only names those that are not in it. Each major
# version of clang-format breaks lines of its own, so only version 14 will do; CLANG_FORMAT names the program. The
# Linux module keeps to the kernel's style, and what lies in data/ is no source.
# Exit status: 0 done, 1 findings, 3 no clang-format 14.
set -u

cd "$(dirname "$0")/.." || exit 1
wanted=14
program=${CLANG_FORMAT:-clang-format}
if [ -z "${CLANG_FORMAT:-}" ] && command -v "clang-format-$wanted" >/dev/null 2>&1; then
    program=clang-format-$wanted
fi
version=$("$program" --version 2>/dev/null | sed -n 's/.*clang-format version \([0-9]*\).*/\1/p')
if [ "$version" != "$wanted" ]; then
    echo "format: needs clang-format $wanted, and $program ${version:+is version }${version:-is not one};" \
        "set CLANG_FORMAT to the program" >&2
    exit 3
fi
case ${1:-} in
--check) set -- --dry-run -Werror ;;
*) set -- -i ;;
esac
find . \( -name .git -o -name build -o -name 'build-*' -o -name characterize-out -o -path ./data \
    -o -path ./drivers/helper/kmod \) -prune -o -type f -name '*.[ch]' -print0 | xargs -0 "$program" --style=file "$@"
status=$?
[ "$status" -eq 0 ] || exit 1
