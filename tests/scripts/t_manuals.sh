#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The manual pages of section 5: each format of doc/formats.md has one, and they are in order, as far as mandoc and man
# tell.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$root" || exit 1
scripts/manual.sh --list >"$tmp/list"
sed -n 's/^## //p' doc/formats.md | while read -r section; do
    grep -qF "$section" man/pages || echo "doc/formats.md: '$section' is in no page"
done >"$tmp/out"
check "each format is in a manual page" "$tmp/out" [ ! -s "$tmp/out" ]
scripts/manual.sh characterize-nothing >"$tmp/out" 2>&1
status=$?
check "a page that is not there: status 2" "$tmp/out" [ "$status" -eq 2 ]
sed -n 's/^\.BR \(characterize-[a-z-]*\) (5).*/\1/p' man/characterize.1 | grep -vxF -f "$tmp/list" >"$tmp/out"
check "characterize(1) names pages that exist" "$tmp/out" [ ! -s "$tmp/out" ]
if ! command -v pandoc >/dev/null 2>&1; then
    skip "the pages" "no pandoc here"
    finish
fi

while read -r page; do
    scripts/manual.sh "$page" >"$tmp/$page.5" 2>"$tmp/err"
    check "$page" "$tmp/err" [ ! -s "$tmp/err" ]
done <"$tmp/list"
awk '
    FNR == 1 { empty = 0 }
    /^[.]SH/ { if (empty) print FILENAME ": nothing below " before; empty = 1; before = $0; next }
    /^[^.]|^[.][^S]/ { empty = 0 }' "$tmp"/*.5 >"$tmp/out"
check "no section is empty" "$tmp/out" [ ! -s "$tmp/out" ]
grep -n ']([a-z#]' "$tmp"/*.5 >"$tmp/out"
check "no link is left over" "$tmp/out" [ ! -s "$tmp/out" ]
for page in "$tmp"/*.5; do
    { MANWIDTH=80 man --warnings -E UTF-8 -l "$page" >/dev/null; } 2>&1
done >"$tmp/out"
check "man has no warning" "$tmp/out" [ ! -s "$tmp/out" ]
MANWIDTH=80 man -E UTF-8 -l "$tmp/characterize-trace.5" >"$tmp/out" 2>&1
check "a row of a table is a paragraph with a tag" "$tmp/out" \
    grep -q '^  *ipc  *1/cycle[.] *payload instructions per core' "$tmp/out"
check "an example keeps its lines" "$tmp/out" grep -q '^  *0,-49.3480,2.800012,1.960311,,1,0,0,0$' "$tmp/out"
if command -v mandoc >/dev/null 2>&1; then
    # without a date, and with code in the text, as intended
    mandoc -T lint "$tmp"/*.5 | grep -v -e 'missing date' -e 'longer than 80 bytes' >"$tmp/out"
    check "mandoc -T lint" "$tmp/out" [ ! -s "$tmp/out" ]
else
    skip "mandoc -T lint" "no mandoc here"
fi
finish
