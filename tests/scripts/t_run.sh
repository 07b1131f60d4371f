#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ./run: installs, builds, passes arguments on.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=fake-tree.sh
. "$root/tests/scripts/fake-tree.sh"

make_tree
if ! need_basics; then
    skip "everything" "no $command here"
    finish
fi
provide_all

status_is() {
    [ "$status" -eq "$1" ]
}

# expect WHAT STATUS: checks the status of the last command and compares its two outputs with $tmp/want.{out,err}.
expect() {
    if [ "$status" -ne "$2" ]; then
        cat "$tmp/out" "$tmp/err" >"$tmp/both"
        fail "$1: exit status $status, not $2" "$tmp/both"
    elif same "$tmp/want.out" "$tmp/out" && same "$tmp/want.err" "$tmp/err"; then
        ok "$1"
    else
        fail "$1: other output than wanted"
    fi
}

# the first call builds and says so
in_place "$tree" ./run --version
status=$?
printf '<--version>\nin %s\n' "$tree" >"$tmp/want.out"
printf 'run: building in %s\n' "$tree" >"$tmp/want.err"
expect "builds, then runs" 0

in_place "$tree" ./run --version
status=$?
: >"$tmp/want.err"
expect "says nothing of its own when everything is there" 0

in_place "$tmp" "$tree/run" 'two words' '' "it's" '*' '"q"' '$HOME' 'back\slash' '-n' 'line
break'
status=$?
cat >"$tmp/want.out" <<EOF
<two words>
<>
<it's>
<*>
<"q">
<\$HOME>
<back\\slash>
<-n>
<line
break>
in $tmp
EOF
expect "arguments arrive unharmed, in the directory of the caller" 0

ln -s "$tree/run" "$tmp/link"
in_place / "$tmp/link" a
status=$?
printf '<a>\nin /\n' >"$tmp/want.out"
expect "works through a symbolic link" 0

in_place "$tree" env OUT=/nonexistent BUILD=/nonexistent MAKEFLAGS=-n MAKELEVEL=1 ./run a
status=$?
printf '<a>\nin %s\n' "$tree" >"$tmp/want.out"
expect "the environment's OUT, BUILD and MAKEFLAGS do not mislead it" 0

in_place "$tree" env FAKE_STATUS=4 ./run a
status=$?
expect "the exit status is the program's" 4

in_place "$tree" env FAKE_MACHINE=aarch64 ./run a
status=$?
check "another architecture: exit status 3" "$tmp/err" status_is 3
check "another architecture is named" "$tmp/err" grep -q 'aarch64.*x86-64' "$tmp/err"

# without arguments: the widest pair of the list of kernels
kernel_list() {
    echo "kernel          bits  weight instructions  density  runs here      what"
    for kernel in 64add 64mul 128or 128mulpd 128fma 256or 256orpd 256mulpd 256fma 512fma; do
        answer="no: ${1##* }"
        case " $1 " in
        *" $kernel "*) answer=yes ;;
        esac
        printf '%-14s    64  heavy           128  1/1-256  %-14s says yes or no\n' "$kernel" "$answer"
    done
}

# pair_is PAIR SAID KERNELS: with only these kernels, ./run without arguments shows the verdict and takes this pair, and
# says so or not
pair_is() {
    kernel_list "$3" >"$tree/kernels.txt"
    in_place "$tree" ./run
    status=$?
    printf '<--verdict>\n<--brief>\nin %s\n\n<--transition>\n<%s>\nin %s\n' "$tree" "$1" "$tree" >"$tmp/want.out"
    : >"$tmp/want.err"
    if [ "$2" = said ]; then
        echo "run: this processor cannot run 128fma:512fma; taking the widest pair that it can: $1" >"$tmp/want.err"
    fi
    expect "no arguments, processor with $3: $1" 0
}
pair_is 128fma:512fma unsaid "64add 64mul 128or 128fma 256or 256fma 512fma"
pair_is 128fma:256fma said "64add 64mul 128or 128fma 256or 256fma"
pair_is 128mulpd:256mulpd said "64add 64mul 128or 128mulpd 256mulpd 256orpd"
pair_is 128or:256or said "64add 64mul 128or 256or"
pair_is 64add:128or said "64add 64mul 128or"
pair_is 64add:64mul said "64add 64mul"
: >"$tree/kernels.txt"
in_place "$tree" ./run
status=$?
check "no arguments and no kernel at all: exit status 3" "$tmp/err" status_is 3

# the real program's list is what ./run takes it for
real=${CHARACTERIZE:-$root/characterize}
if [ -x "$real" ]; then
    "$real" --list kernels >"$tmp/out"
    check "the real list has 64add, and it runs here" "$tmp/out" \
        awk '$1 == "64add" && $6 == "yes" { found = 1 } END { exit !found }' "$tmp/out"
else
    fail "there is no $real to ask for its list of kernels"
fi

# a failing build
cp "$tree/program" "$tmp/saved"
echo SYNTAX-ERROR >>"$tree/program"
rm -f "$tree/characterize"
in_place "$tree" ./run a
status=$?
check "a failing build: exit status 1" "$tmp/err" status_is 1
check "a failing build: the compiler's error is seen" "$tmp/err" grep -q 'program:1: error: bad' "$tmp/err"
cp "$tmp/saved" "$tree/program"

# missing packages, as a plain user
rm "$bin/nasm" "$tmp/include/jansson.h"
stub sudo 'echo "sudo was called" >&2; exit 9'
stub apt-get 'echo "$*" >>"'"$tmp"'/apt-calls"; exit 9'
in_place "$tree" ./run a
status=$?
: >"$tmp/want.out"
cat >"$tmp/want.err" <<'EOF'
run: missing: nasm libjansson-dev; install with:
    sudo apt-get install -y --no-install-recommends nasm libjansson-dev
EOF
expect "missing packages, plain user: the command, only of what is missing" 3

rm "$bin/sudo"
in_place "$tree" ./run a
status=$?
cat >"$tmp/want.err" <<'EOF'
run: missing: nasm libjansson-dev; install with:
    su -l -c 'apt-get install -y --no-install-recommends nasm libjansson-dev'
EOF
expect "the same without sudo" 3

rm "$tmp/lists/deb_main_Packages"
in_place "$tree" ./run a
status=$?
cat >"$tmp/want.err" <<'EOF'
run: missing: nasm libjansson-dev; install with:
    su -l -c 'apt-get update && apt-get install -y --no-install-recommends nasm libjansson-dev'
EOF
expect "the same where apt has no lists yet" 3
check "a plain user's ./run never calls apt-get" "$tmp/apt-calls" [ ! -e "$tmp/apt-calls" ]

# missing packages, as root; this apt-get installs
fake_nasm=$bin/nasm
stub apt-get 'echo "$*" >>"'"$tmp"'/apt-calls"
case "$*" in
*update*) touch "'"$tmp"'/lists/deb_main_Packages" ;;
*install*) ln -s /bin/true "'"$fake_nasm"'"; touch "'"$tmp"'/include/jansson.h" ;;
esac'
in_place "$tree" env FAKE_UID=0 ./run a
status=$?
printf '<a>\nin %s\n' "$tree" >"$tmp/want.out"
cat >"$tmp/want.err" <<EOF
run: installing nasm libjansson-dev (apt-get, a minute or two)
run: building in $tree
EOF
expect "root, no lists: installs, builds, runs" 0
check "root, no lists: update, then install of what is missing" "$tmp/apt-calls" \
    sh -c 'grep -q "update$" "$1" && grep -q "install -y --no-install-recommends nasm libjansson-dev$" "$1" &&
        [ "$(wc -l <"$1")" -eq 2 ]' sh "$tmp/apt-calls"

rm -f "$tmp/apt-calls" "$bin/nasm"
in_place "$tree" env FAKE_UID=0 ./run a
status=$?
check "root, lists present: installs" "$tmp/err" status_is 0
check "root, lists present: no update" "$tmp/apt-calls" \
    sh -c '[ "$(wc -l <"$1")" -eq 1 ] && ! grep -q update "$1"' sh "$tmp/apt-calls"

# an apt-get that fails, one without network, one that lies
rm -f "$bin/nasm"
stub apt-get 'case "$*" in *install*) echo "E: Unable to locate package nasm"; exit 100 ;; esac'
in_place "$tree" env FAKE_UID=0 TMPDIR="$tmp" ./run a
status=$?
check "apt-get fails: exit status 3" "$tmp/err" status_is 3
check "apt-get fails: what it said is repeated" "$tmp/err" \
    grep -q 'could not install nasm: E: Unable to locate package nasm' "$tmp/err"
stub apt-get 'case "$*" in *update*) echo "E: Could not resolve deb.example" ;; esac; exit 100'
in_place "$tree" env FAKE_UID=0 TMPDIR="$tmp" ./run a
status=$?
check "no network: exit status 3" "$tmp/err" status_is 3
check "no network: named" "$tmp/err" grep -q 'could not fetch the package lists: E: Could not resolve' "$tmp/err"
check "no network: what to do" "$tmp/err" grep -q 'check the network' "$tmp/err"
stub apt-get ':'
in_place "$tree" env FAKE_UID=0 ./run a
status=$?
check "installed without effect: exit status 3" "$tmp/err" status_is 3
check "installed without effect: named" "$tmp/err" grep -q 'not to be found: nasm' "$tmp/err"

rm "$bin/apt-get"
in_place "$tree" env FAKE_UID=0 ./run a
status=$?
check "no apt-get at all: exit status 3 and the list" "$tmp/err" \
    sh -c '[ "$2" -eq 3 ] && grep -q "missing, by their Debian names: nasm" "$1"' sh "$tmp/err" "$status"
provide command:nasm

# a tree that was not built and cannot be written
nobody=
if [ "$(id -u)" -eq 0 ]; then
    nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
fi
rm -f "$tree/characterize"
chmod 755 "$tmp"
chmod a-w "$tree"
# shellcheck disable=SC2086 # a command and its options, or nothing
if [ -n "$nobody" ] && ! $nobody true 2>"$tmp/err"; then
    skip "a tree that is not writable" "root may write everywhere and cannot become nobody here: $(cat "$tmp/err")"
else
    ln -sf "$(command -v setpriv)" "$bin/setpriv"
    in_place / $nobody "$tree/run" a
    status=$?
    check "not writable, not built: exit status 1 and why" "$tmp/err" \
        sh -c '[ "$2" -eq 1 ] && grep -q "not built and not writable" "$1"' sh "$tmp/err" "$status"
fi
chmod u+w "$tree"

finish
