#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make install with DESTDIR and a PREFIX other than that of the build: the installed program is complete and finds
# its models, and so does a program that links the installed library; make uninstall leaves nothing. One version stands
# everywhere.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

make=${MAKE:-make}
# copies of the objects: another PREFIX changes what is built, and other tests use the tree's own program meanwhile
build="$tmp/build"
out=$build
mkdir "$build"
(cd "$root/${BUILD:-build}" && find . ! -path './tests/*' -name '*.o' -exec cp -p --parents {} "$build" \;)
# with a blank in it: paths must be quoted on the way
dest="$tmp/dest dir"
prefix=/opt/char

in_tree() {
    $make --no-print-directory -C "$root" BUILD="$build" OUT="$out" DESTDIR="$dest" PREFIX="$prefix" "$@"
}

in_tree install >"$tmp/log" 2>&1
status=$?
check "make install" "$tmp/log" [ "$status" -eq 0 ]
base="$dest$prefix"
for program in characterize characterize-simulate characterize-profile; do
    check "$program is there" "$tmp/log" [ -x "$base/bin/$program" ]
    check "... and its manual page" "$tmp/log" [ -s "$base/share/man/man1/$program.1" ]
done
if [ -x "$out/characterize-sched" ]; then
    check "characterize-sched and its manual page are there" "$tmp/log" test -x "$base/bin/characterize-sched" -a \
        -s "$base/share/man/man1/characterize-sched.1"
fi
if command -v pandoc >/dev/null 2>&1; then
    for page in $("$root/scripts/manual.sh" --list); do
        [ -s "$base/share/man/man5/$page.5" ] || echo "$page.5 is missing"
    done >"$tmp/out"
    check "those of the file formats, too" "$tmp/out" [ ! -s "$tmp/out" ]
else
    check "without pandoc it says which pages are not there" "$tmp/log" grep -q '^not installed: .*pandoc' "$tmp/log"
fi
check "the fleet's script and its manual are there" "$tmp/log" test -x "$base/bin/characterize-fleet" -a \
    -s "$base/share/man/man1/characterize-fleet.1"
version=$(cat "$root/VERSION")
check "... with the version" "$tmp/log" \
    grep -q "^\.TH .*\"characterize $version\"" "$base/share/man/man1/characterize.1"
check "the license is there" "$tmp/log" cmp "$root/COPYING" "$base/share/doc/characterize/COPYING"
grep -o ']([a-zA-Z][^:)#]*)' "$root/README.md" | tr -d ']()' | sort -u | while read -r file; do
    [ -e "$base/share/doc/characterize/$file" ] || echo "$file: the README links to it"
done >"$tmp/out"
check "the README and what it links to are there" "$tmp/out" [ ! -s "$tmp/out" ]
for file in bash-completion/completions/characterize zsh/site-functions/_characterize \
    fish/vendor_completions.d/characterize.fish; do
    check "completions: ${file%%/*}" "$tmp/log" [ -s "$base/share/$file" ]
done
check "all data are there" "$tmp/log" diff -r "$root/data" "$base/share/characterize"

# the Linux module's sources, as DKMS gets them, are of the same version
$make --no-print-directory -C "$root/drivers/helper/kmod" dkms DESTDIR="$tmp/kmod" >"$tmp/log" 2>&1
kmod=$tmp/kmod/usr/src/characterize-$version
check "the module's sources are for DKMS" "$tmp/log" grep -q "^PACKAGE_VERSION=\"$version\"" "$kmod/dkms.conf"
check "... with the version" "$tmp/log" cmp "$root/VERSION" "$kmod/VERSION"

# away from the tree, so that only what is installed can be found; the tree's own data are no help either
mkdir "$tmp/elsewhere"
cd "$tmp/elsewhere" || exit 1
unset CHARACTERIZE_DATA
"$base/bin/characterize" --version >"$tmp/out" 2>&1
status=$?
check "the installed program starts" "$tmp/out" [ "$status" -eq 0 ]
check "... and has the version" "$tmp/out" [ "$(cat "$tmp/out")" = "characterize $version" ]
"$base/bin/characterize-fleet" --version >"$tmp/out" 2>&1
check "the fleet's script finds the program beside it" "$tmp/out" [ "$(cat "$tmp/out")" = "characterize $version" ]
check "the newest entry of the changelog is this version's" "$root/CHANGELOG.md" \
    [ "$(sed -n 's/^## \[*\([0-9.]*\).*/\1/p' "$root/CHANGELOG.md" | head -n 1)" = "$version" ]
"$base/bin/characterize" --list machines >"$tmp/out" 2>&1
status=$?
check "--list machines" "$tmp/out" [ "$status" -eq 0 ]
"$base/bin/characterize" --profile --machine model:xeon-gold-6130 --seconds 1 >"$tmp/out" 2>&1
check "--profile finds the program beside it" "$tmp/out" [ "$?" -eq 0 ]
cp "$base/bin/characterize" .
./characterize --simulate web-server --params none.json >"$tmp/out" 2>&1
status=$?
check "without the program that simulates: status 3, and what is missing" "$tmp/out" \
    test "$status" -eq 3 -a "$(grep -c '^characterize: cannot execute characterize-simulate, ' "$tmp/out")" -eq 1
# a model that exists nowhere else proves where models are read from
cp "$base/share/characterize/models/xeon-gold-6130.model" "$base/share/characterize/models/only-here.model"
"$base/bin/characterize" --machine model:only-here --transition 128fma:512fma --runs 20 --quiet \
    --csv trace.csv >"$tmp/out" 2>&1
status=$?
check "a model from the installed data runs" "$tmp/out" [ "$status" -eq 0 ]
check "... and writes its trace" "$tmp/out" [ -s trace.csv ]

# the library: seen from a program elsewhere, through pkg-config where that is
ln -s "$dest" "$tmp/dest"
plain="$tmp/dest$prefix"
export PKG_CONFIG_PATH="$plain/lib/pkgconfig"
cp "$root/examples/transition.c" .
if pkg-config --version >/dev/null 2>&1; then
    pkg-config --modversion characterize >"$tmp/out" 2>&1
    check "pkg-config has the version" "$tmp/out" [ "$(cat "$tmp/out")" = "$version" ]
    pkg-config --define-variable=prefix='/with blanks' --cflags --libs characterize >"$tmp/out" 2>&1
    check "... and quotes a prefix with blanks" "$tmp/out" \
        grep -q '^-I/with\\ blanks/include -L/with\\ blanks/lib ' "$tmp/out"
    pkg-config --static --libs characterize >"$tmp/out" 2>&1
    check "... and what the static library needs" "$tmp/out" grep -q 'lcharacterize.*-lgsl.*-ljansson.*-lz' "$tmp/out"
    flags=$(pkg-config --define-variable=prefix="$plain" --cflags --libs characterize)
else
    skip "what pkg-config says" "no pkg-config here"
    flags="-I$plain/include -L$plain/lib -lcharacterize"
fi
# shellcheck disable=SC2086 # flags
cc -Wall -Werror -o shared transition.c $flags >"$tmp/out" 2>&1
status=$?
check "a program links the installed shared library" "$tmp/out" [ "$status" -eq 0 ]
LD_LIBRARY_PATH="$base/lib" ./shared 128fma:512fma model:only-here >"$tmp/out" 2>&1
check "... which finds the installed data" "$tmp/out" grep -q ' throttle ' "$tmp/out"
mkdir "$base/lib/x86_64-linux-gnu" && cp -P "$base"/lib/libcharacterize.so* "$base/lib/x86_64-linux-gnu"
LD_LIBRARY_PATH="$base/lib/x86_64-linux-gnu" ./shared 128fma:512fma model:only-here >"$tmp/out" 2>&1
check "... also from a folder below lib" "$tmp/out" grep -q ' throttle ' "$tmp/out"
# the static one, which is in no folder of its own, knows them by PREFIX
in_tree install DESTDIR= PREFIX="$tmp/own" >"$tmp/log" 2>&1
libs=$(sed -n 's/^Libs.private: //p' "$tmp/own/lib/pkgconfig/characterize.pc")
# shellcheck disable=SC2086 # a list of libraries
cc -Wall -Werror -I"$tmp/own/include" -o static transition.c "$tmp/own/lib/libcharacterize.a" $libs >"$tmp/out" 2>&1
check "a program links the static library of another PREFIX" "$tmp/log" [ -x static ]
./static 128fma:512fma model:xeon-gold-6130 >"$tmp/out" 2>&1
check "... which finds the data there" "$tmp/out" grep -q ' throttle ' "$tmp/out"

rm -rf "$base/lib/x86_64-linux-gnu"

in_tree uninstall >"$tmp/log" 2>&1
status=$?
check "make uninstall" "$tmp/log" [ "$status" -eq 0 ]
find "$dest" ! -type d >"$tmp/left"
check "nothing is left but what the user has added" "$tmp/left" \
    [ "$(cat "$tmp/left")" = "$base/share/characterize/models/only-here.model" ]
find "$base" -path '*/characterize*' -type d >"$tmp/left"
check "... and its folder" "$tmp/left" [ "$(wc -l <"$tmp/left")" -eq 2 ]
check "the manual page's folder is left alone" "$tmp/log" [ -d "$base/share/man/man1" ]

in_tree install DESTDIR="$dest" PREFIX='/a&b|c' LIBDIR='/a&b|c/lib' >"$tmp/log" 2>&1
check "a PREFIX with characters that mean something to sed" "$tmp/log" \
    grep -qxF 'prefix=/a&b|c' "$dest/a&b|c/lib/pkgconfig/characterize.pc"
for path in PREFIX LIBDIR; do
    in_tree install "$path=relative" >"$tmp/log" 2>&1
    check "a relative $path is refused" "$tmp/log" grep -q "$path must begin with a slash: relative" "$tmp/log"
done

finish
