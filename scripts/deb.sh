#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: deb.sh FOLDER      (make deb)
#
# Builds the Debian packages into FOLDER: characterize, libcharacterize0, libcharacterize-dev, characterize-dkms, and
# characterize-sched, where the compiler of BPF and libbpf are. They are built of what is committed, in a tree of its
# own (FOLDER/tree); without Git, of the files that are here. The same commit yields the same bytes. Ends with lintian,
# where that is installed.
# Exit status: 0 if they are built and clean, 1 if not, 3 if a package that this needs is missing.
set -u

say() {
    printf 'deb: %s\n' "$*" >&2
}

[ $# -eq 1 ] || {
    say "usage: deb.sh FOLDER"
    exit 2
}
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 1
cd "$(dirname -- "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD OUT SANITIZE DESTDIR PREFIX LIBDIR CFLAGS CPPFLAGS LDFLAGS
scripts/missing.sh deb build deb || exit

for package in clang-19 libbpf-dev; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || {
        DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:-} pkg.characterize.nosched"
        export DEB_BUILD_PROFILES
        say "left out: the package characterize-sched, which needs clang-19 and libbpf-dev"
        break
    }
done
version=$(cat VERSION)
tree=$out/tree/characterize-$version
rm -rf "$out/tree" "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
mkdir -p "$tree" || exit 1
# a folder inside another project's repository is none of Git's
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
    git archive HEAD | tar -x -C "$tree" || exit 1
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    changed=$(git status --porcelain | wc -l)
    [ "$changed" -eq 0 ] || say "$changed files are changed or new here: the packages hold what is committed"
else
    # what the build and this script leave, .gitignore names
    tar -c --exclude=./build --exclude='./build-*' --exclude='*.o' --exclude='./libcharacterize.*' \
        --exclude=./characterize --exclude=./characterize-simulate --exclude=./characterize-profile \
        --exclude=./characterize-sched --exclude=./.git . | tar -x -C "$tree" || exit 1
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
fi
export SOURCE_DATE_EPOCH

cp -r "$tree/scripts/debian" "$tree/debian" || exit 1
maintainer=$(sed -n 's/^Maintainer: //p' "$tree/debian/control")
date=$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
cat >"$tree/debian/changelog" <<END
characterize ($version) unstable; urgency=medium

  * Version $version: /usr/share/doc/characterize/CHANGELOG.md has the changes.

 -- $maintainer  $date
END

cd "$tree" || exit 1
log=$out/build.log
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-noautodbgsym parallel=$(nproc)}" LC_ALL=C.UTF-8 \
    dpkg-buildpackage -b -us -uc >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    say "the packages could not be built; the complete log: $log"
    exit 1
}
mv "$out/tree"/*.deb "$out/tree"/*.buildinfo "$out/tree"/*.changes "$out" && cd "$out" && rm -rf "$out/tree" || exit 1
if command -v lintian >/dev/null 2>&1; then
    lintian --allow-root --fail-on error,warning ./*.changes || {
        say "lintian objects"
        exit 1
    }
else
    say "not checked: lintian is not installed"
fi
ls -sh1 ./*.deb
