#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the README tells to type exists, and the packages it names are those of scripts/packages.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$root" || exit 1
readme=README.md
[ -e "$readme" ] || readme=README
if [ ! -e "$readme" ]; then
    fail "there is a README"
    finish
fi

check "$readme has at most 200 lines" "" [ "$(wc -l <"$readme")" -le 200 ]
for script in run check; do
    check "$readme names ./$script" "" grep -q "\./$script\b" "$readme"
    check "./$script is there and can be run" "" [ -x "$script" ]
done
check ".ci/run calls ./check" .ci/run grep -q '/check" --ci$' .ci/run

sed -n 's/^\(build\|run\|test\|deep\)  *\([^ ]*\)  *.*/\2/p' scripts/packages | sort >"$tmp/packages"
check "scripts/packages holds packages" scripts/packages [ -s "$tmp/packages" ]

# an apt-get line in the README may name some of the packages, and no others
grep -o 'apt-get install .*' "$readme" | tr -d "\`'\\\\" | tr ' ' '\n' | grep -v -e '^apt-get$' -e '^install$' -e '^-' |
    grep '[a-z]' | sort -u >"$tmp/named"
if [ -s "$tmp/named" ]; then
    comm -23 "$tmp/named" "$tmp/packages" >"$tmp/unknown"
    check "the packages that $readme names are in scripts/packages" "$tmp/unknown" [ ! -s "$tmp/unknown" ]
fi

# the first transition, on a model, is printed as it stands there; where files go depends on gnuplot
program=${CHARACTERIZE:-$root/${OUT:-.}/characterize}
example="--transition 128fma:512fma --machine model:xeon-gold-6130"
sed -n "/^    \\$ .*$example\$/,/^    Written /s/^    //p" "$readme" | sed '1d; $d' >"$tmp/shown"
# shellcheck disable=SC2086
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-$root/data} "$program" $example --output "$tmp/written" 2>"$tmp/err" |
    sed '/^Written /,$d' | diff - "$tmp/shown" >"$tmp/out"
check "$readme: a transition as printed" "$tmp/out" [ ! -s "$tmp/out" -a -s "$tmp/shown" ]

# targets of make and files of the tree that the README mentions
grep -oE '(`|^ *[$]? *)make [a-z][a-z-]*' "$readme" | tr -d '`$' | sort -u | while read -r _ target; do
    grep -q "^$target:" Makefile || echo "make $target: no such target"
done >"$tmp/out"
check "the make targets that $readme names exist" "$tmp/out" [ ! -s "$tmp/out" ]
for page in "$readme" CONTRIBUTING.md doc/*.md; do
    grep -o ']([^)#:]*[)#]' "$page" | tr -d ']()#' | sort -u | while read -r file; do
        [ -e "$(dirname "$page")/$file" ] || echo "$page: $file: linked, but not there"
    done
done >"$tmp/out"
check "the files to which $readme and the pages link exist" "$tmp/out" [ ! -s "$tmp/out" ]
for page in doc/*.md; do
    grep -q "](${page}[)#]" "$readme" || grep -q "](${page#doc/}[)#]" doc/*.md || echo "$page: nothing links to it"
done >"$tmp/out"
check "each page of doc/ is linked" "$tmp/out" [ ! -s "$tmp/out" ]

# those of CONTRIBUTING.md: t_recipes builds and tests what they yield, which takes long
for recipe in tests/recipes/*.patch; do
    patch -p1 --dry-run <"$recipe" >"$tmp/out" 2>&1
    check "$recipe applies" "$tmp/out" [ "$?" -eq 0 ]
done

finish
