#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The report of --all in a browser: what it shows first, how it sorts, how many pages it takes on paper.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZED:-}" ]; then
    skip "the report in a browser" "the browser runs no code of ours"
    finish
fi
run --all --machine model:xeon-gold-6130 --brief --runs 4 --quiet --output results
page=results/report.html
verdict "--all" test "$status" -eq 0 -a -s "$page"
place() {
    grep -n "$1" "$page" | head -1 | cut -d: -f1
}
verdict "the verdict, the findings, the widest switch, the tables" test "$(place 'id="verdict"')" -lt \
    "$(place 'id="findings"')" -a "$(place 'id="findings"')" -lt "$(place 'id="course"')" -a \
    "$(place 'id="course"')" -lt "$(place 'id="table-1"')" -a "$(place 'id="table-1"')" -lt "$(place 'id="machine"')"
if command -v gnuplot >/dev/null 2>&1; then
    verdict "the widest switch of this model is to heavy 512-bit code, with its phases" test \
        "$(grep -c '<h2>The widest switch: 64[a-z]* → 512[a-z]*, 16 active cores</h2>' "$page")" -eq 1 -a \
        "$(grep -c '<title>halt: 10[.0-9]* µs ' "$page")" -ge 2
else
    skip "the picture of the widest switch" "gnuplot is not installed"
fi

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name || true)
done
if [ -z "$browser" ]; then
    skip "the report on paper, and sorted" "chromium is not installed"
    finish
fi
# browse OPTIONS FILE
browse() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" "$@" 2>/dev/null
}
browse --print-to-pdf=paper.pdf "file://$PWD/$page" >/dev/null
pages=$(grep -ac '/Type */Page$' paper.pdf)
verdict "on paper at most 12 pages" test "$pages" -ge 4 -a "$pages" -le 12

# a click on the column "active cores" of the first table, and another one
sed 's|</body>|<script>document.querySelectorAll("thead th")[2].click();</script></body>|' "$page" >up.html
sed 's|</body>|<script>var h = document.querySelectorAll("thead th")[2]; h.click(); h.click();</script></body>|' \
    "$page" >down.html
# the first row of the first table: its third field
first() {
    browse --dump-dom "file://$PWD/$1" | sed -n '/id="table-1"/,$p' | grep -m1 '^<tbody><tr>\|^<tr>' |
        sed 's/<\/t[dh]>/\n/g' | sed -n '3s/<[^>]*>//gp'
}
verdict "a click sorts a table, another one the other way round" test "$(first up.html)" -eq 1 -a \
    "$(first down.html)" -eq 16
verdict "... and the heading says so" test \
    "$(browse --dump-dom "file://$PWD/down.html" | grep -c 'aria-sort="descending"')" -eq 1

finish
