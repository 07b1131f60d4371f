#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make test-static: the archive of build/static, unpacked into roots that hold nothing else: the program finds its data,
# measures, and says what it cannot do and what to do about it.
# shellcheck source=../scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

cd "$root/${BUILD:-build}/static" || exit 1
archive=characterize-$(cat "$root/VERSION")-x86_64.tar.gz
unset CHARACTERIZE_DATA
bare=$tmp/bare
mkdir "$bare" && tar -x -z -C "$bare" --strip-components=1 -f "$archive" >"$tmp/out" 2>&1
check "the archive is there" "$tmp/out" [ "$?" -eq 0 ]
for program in characterize characterize-simulate characterize-profile; do
    readelf -l -d "$bare/$program" >"$tmp/elf" 2>&1
    check "$program needs no library and no loader" "$tmp/elf" [ "$(grep -c 'INTERP\|NEEDED' "$tmp/elf")" -eq 0 ]
    check "... and is a program" "$tmp/elf" grep -q 'Elf file type is \(EXEC\|DYN\)' "$tmp/elf"
done
cmp "$root/COPYING" "$bare/COPYING" >"$tmp/out" 2>&1
check "the license goes with it" "$tmp/out" [ "$?" -eq 0 ]
grep -o ']([a-zA-Z][^:)#]*)' "$bare/README.md" | tr -d ']()' | sort -u | while read -r file; do
    [ -e "$bare/$file" ] || echo "$file: the README links to it"
done >"$tmp/out"
check "... and what the README links to" "$tmp/out" [ ! -s "$tmp/out" ]

"$bare/characterize" --version >"$tmp/out" 2>&1
check "it starts where it was unpacked" "$tmp/out" [ "$(cat "$tmp/out")" = "characterize $(cat "$root/VERSION")" ]

"$bare/characterize-fleet" --version >"$tmp/out" 2>&1
check "so does characterize-fleet" "$tmp/out" [ "$?" -eq 0 ]

# inside ROOT MOUNTS COMMAND...: in a root of its own; MOUNTS: yes, with this machine's /proc and /sys, or no
# shellcheck disable=SC2016 # expanded in there
inside() {
    unshare --map-root-user --mount sh -c '
        root=$1
        if [ "$2" = yes ]; then
            mkdir -p "$root/proc" "$root/sys"
            mount --rbind /proc "$root/proc" && mount --rbind /sys "$root/sys" || exit 9
        fi
        shift 2
        exec chroot "$root" "$@"' inside "$@" >"$tmp/out" 2>&1 </dev/null
}
if ! inside / no /bin/true; then
    skip "everything in roots of their own" "this machine allows no user namespaces: $(head -n 1 "$tmp/out")"
    finish
fi

# try WHAT ROOT MOUNTS PROGRAM
try() {
    inside "$2" "$3" "$4" --machine model:xeon-gold-6130 --transition 128fma:512fma --output /results
    check "$1: a transition on a model" "$tmp/out" grep -q 'latency 60.*2 halts' "$tmp/out"
    check "... it says in one line that gnuplot is not there" "$tmp/out" [ "$(grep -c gnuplot "$tmp/out")" -eq 1 ]
    [ -s "$2/results/128fma_512fma.csv" ]
    check "... and writes the trace" "$tmp/out" [ "$?" -eq 0 ]
    # again where others keep this machine too busy
    for _ in 1 2 3 4 5; do
        inside "$2" "$3" "$4" --machine timing --transition 64add:64mul --runs 20 --active-cores 1 && break
        sleep 1
    done
    check "$1: a transition on this processor, by time stamps" "$tmp/out" \
        grep -q '^Source *measured with time' "$tmp/out"
    inside "$2" "$3" "$4" --list machines
    check "$1: why it does not ask liblikwid" "$tmp/out" \
        grep -q 'liblikwid.*linked statically and cannot load it: take that of the package' "$tmp/out"
    rm -rf "$2/results" "$2/characterize-out"
}
try "nothing else there" "$bare" no /characterize
try "/proc and /sys" "$bare" yes /characterize
inside "$bare" no /characterize --profile --machine model:xeon-gold-6130 --seconds 1
check "a profile of a model: the program beside it is found" "$tmp/out" grep -q 'modelled, not measured' "$tmp/out"
inside "$bare" yes /characterize --all --brief --machine model:xeon-gold-6130 --quiet --output /all
check "a report" "$tmp/out" [ -s "$bare/all/report.html" ]
if nm "$root/${BUILD:-build}/static/characterize" | grep -q ZydisDecoderInit; then
    want='needs the assembler NASM, which is not installed.*apt install nasm'
else
    want='no disassembler (Zydis).*use the program of the package'
fi
inside "$bare" yes /characterize --kernel-file /examples/strlen.asm --list kernels
status=$?
check "a kernel of one's own: what is missing" "$tmp/out" grep -q "$want" "$tmp/out"
check "... exit status 3, one line" "$tmp/out" [ "$status/$(wc -l <"$tmp/out")" = 3/1 ]
rm "$bare/data" -r
inside "$bare" no /characterize --machine model:xeon-gold-6130 --transition 128fma:512fma
check "without its data: it says so" "$tmp/out" grep -q 'CHARACTERIZE_DATA' "$tmp/out"

# another C library's root, started through a link in PATH
box=$(command -v busybox)
if [ -n "$box" ] && ! readelf -l "$box" | grep -q INTERP; then
    mkdir -p "$tmp/box/bin" "$tmp/box/opt" && cp "$box" "$tmp/box/bin/busybox"
    tar -x -z -C "$tmp/box/opt" -f "$archive"
    ln -s busybox "$tmp/box/bin/sh" && ln -s /opt/"${archive%.tar.gz}"/characterize "$tmp/box/bin/characterize"
    try "beside busybox" "$tmp/box" no /bin/characterize
    inside "$tmp/box" yes /bin/sh -c \
        'cd /opt && PATH=/bin characterize --verdict --brief --machine model:xeon-gold-6130'
    check "... from its shell" "$tmp/out" grep -q '^Prefer *128 bits' "$tmp/out"
else
    skip "beside busybox" "needs a static busybox: apt-get install busybox-static"
fi
finish
