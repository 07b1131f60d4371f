#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow: measures all tables of a model three times
#
# --draft-sku and what --validate writes for programs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZED:-}" ]; then
    skip "drafts of whole measurements" "under the sanitizers the unit tests draft"
    finish
fi
w=model:xeon-gold-6130
run --all --brief --machine $w --output one --quiet
verdict "a measurement" test "$status" -eq 0
run --draft-sku mine.sku --input one
verdict "--draft-sku: status 0, and how to use it" \
    test "$status" -eq 0 -a "$(grep -c 'Written      mine.sku (.* --validate mine.sku' "$out")" -eq 1
digest=$(sha256sum one/tables/frequency.json | cut -d' ' -f1)
verdict "... with the SHA-256 of each table" grep -q "^#   A  frequency.json, SHA-256 $digest\$" mine.sku
verdict "... which says that it is modelled" grep -q '^kind = modelled ' mine.sku
run --validate mine.sku --input one --json v.json --junit v.xml
# and what the processor says of itself
figures=$(($(grep -c '^[a-z].*: .* = .*#' mine.sku) + $(grep -c 'stated by the processor' v.xml)))
verdict "... agrees with its own measurement in each figure" \
    test "$status" -eq 0 -a "$(grep -c "^agrees: $figures of $figures\$" "$out")" -eq 1
verdict "... 'Modelled figures', not published ones" grep -q '^Modelled figures of ' "$out"
verdict "--json: characterize-validation/1" grep -q '"format": "characterize-validation/1"' v.json
verdict "--junit: a case for each figure" test "$(grep -c '<testcase ' v.xml)" -eq "$figures"
verdict "... of which none failed" grep -q 'failures="0"' v.xml
run --all --brief --machine $w --seed 5 --output two --quiet
run --validate mine.sku --input two --quiet
verdict "... and with another measurement of the same processor" test "$status" -eq 0
# one parameter, by the smallest step of the clock
sed 's/^\(turbo_ghz[.]1-2 = 3[.]7 3[.]6\) 3[.]5/\1 3.4/' "$CHARACTERIZE_DATA/models/xeon-gold-6130.model" >other.model
verdict "another model" test "$(diff other.model "$CHARACTERIZE_DATA/models/xeon-gold-6130.model" | grep -c '^<')" -eq 1
run --all --brief --machine model:./other.model --output three --quiet
run --validate mine.sku --input three --junit w.xml --quiet
verdict "... but not with one that is 100 MHz slower at one level: status 4" test "$status" -eq 4
verdict "... which has failed in JUnit, too" grep -q '<failure message="deviates: published ' w.xml

refuses "a folder without tables" 2 'nowhere' --draft-sku x.sku --input nowhere
refuses "a draft that cannot be written" 1 '/nowhere/x.sku' --draft-sku /nowhere/x.sku --input one
refuses "--junit without --validate" 2 'junit.*--validate SKU' --table frequency --junit x.xml
refuses "two files of one name" 2 'x[.]out' --validate mine.sku --input one --json x.out --junit x.out
verdict "... and nothing is left" test ! -e x.sku -a ! -e x.out -a ! -e x.xml
refuses "an unknown SKU: all that there are, none of them said to be meant" 2 \
    "no SKU 'nosuch'; available: [^;]*xeon-w-2104; a SKU file" --validate nosuch --input one
mkdir -p "$tmp/many/skus"
for n in $(seq 10 99); do
    : >"$tmp/many/skus/sku-number-$n.sku"
done
CHARACTERIZE_DATA=$tmp/many refuses "... as many as fit, and that there are more" 2 \
    'available: sku-number-10 [^;]*sku-number-[0-9][0-9] [.][.][.]; a SKU' --validate nosuch --input one
refuses "an unknown SKU says where the format is" 2 'doc/sku-format.md' --validate nosuch --input one

finish
