#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What t_deb.sh runs in a bare Debian, as root: /try holds the packages and lib.sh.
# shellcheck source=../scripts/lib.sh
. "$(dirname "$0")/lib.sh"
test=t_deb
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset MAKEFLAGS MFLAGS MAKELEVEL # DKMS must not have the compiler that make test-deb was called with
version=$(dpkg-deb -f /try/characterize_*.deb Version)

apt_get() {
    apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >"$tmp/apt.log" 2>&1
}

# Every file but what all packages use together: apt's, dpkg's and the manual's registers.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /try -o \
        -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/systemd \) -prune -o \
        ! -path '/var/lib/dpkg/*-old' ! -path '/var/lib/dpkg/triggers/*' ! -path '/etc/ld.so.cache' -print | sort
}

cd "$tmp" || exit 1
apt_get update
apt_get install man-db gcc libc6-dev pkgconf make
check "this test's own tools are installed" apt.log [ "$?" -eq 0 ]
files >before

apt_get install /try/characterize_*.deb
check "apt installs characterize, with what it depends on" apt.log [ "$?" -eq 0 ]
check "its version is that of the package" apt.log [ "$(characterize --version)" = "characterize $version" ]
# as one who may do nothing
mkdir work && chown nobody work
(cd work && setpriv --reuid nobody --regid nogroup --clear-groups \
    characterize --machine model:xeon-gold-6130 --transition 128fma:512fma) >out 2>&1
status=$?
check "a transition on a model: exit status 0" out [ "$status" -eq 0 ]
check "... with throttling and a halt" out grep -q 'latency [56].*2 halts' out
check "... and its trace" out grep -q '^# format: characterize-trace/1' work/characterize-out/128fma_512fma.csv
check "... it says that gnuplot is not there, in one line" out [ "$(grep -c gnuplot out)" -eq 1 ]
man -w characterize >out 2>&1
check "man finds the manual page" out grep -q '^/usr/share/man/man1/characterize.1' out
man characterize 2>&1 | head -n 40 >out
check "... and shows it" out grep -q 'SYNOPSIS' out
man -w characterize-trace >out 2>&1
check "... and those of the formats" out grep -q '^/usr/share/man/man5/characterize-trace.5' out
apropos characterize-phases >out 2>&1
check "... which apropos knows" out grep -q 'characterize-phases (5) *- the phases' out
for file in bash-completion/completions/characterize zsh/vendor-completions/_characterize \
    fish/vendor_completions.d/characterize.fish doc/characterize/README.md doc/characterize/examples/transition.c; do
    check "/usr/share/$file" "" [ -s "/usr/share/$file" ]
done
find /usr/share/doc/characterize -xtype l >out
check "no link of the documents leads nowhere" out [ ! -s out ]

apt_get install /try/libcharacterize0_*.deb /try/libcharacterize-dev_*.deb
check "apt installs libcharacterize-dev" apt.log [ "$?" -eq 0 ]
cp /usr/share/doc/characterize/examples/transition.c .
# the line of the README; its flags are words
# shellcheck disable=SC2046
cc transition.c $(pkg-config --cflags --libs characterize) -o transition >out 2>&1
check "the library's example compiles" out [ "$?" -eq 0 ]
./transition 128fma:512fma model:xeon-gold-6130 >out 2>&1
check "... and finds the data" out grep -q ' throttle ' out
ldd transition >out 2>&1
check "... with the shared library" out grep -q 'libcharacterize.so.0 => /' out

sched=
if ls /try/characterize-sched_*.deb >/dev/null 2>&1; then
    sched=characterize-sched
    apt_get install /try/characterize-sched_*.deb
    check "apt installs characterize-sched" apt.log [ "$?" -eq 0 ]
    check "... which begins" out [ "$(characterize-sched --version)" = "characterize $version" ]
    man -w characterize-sched >out 2>&1
    check "... with its manual page" out grep -q '^/usr/share/man/man1/characterize-sched.1' out
fi

apt_get install linux-headers-amd64 /try/characterize-dkms_*.deb
status=$?
[ "$status" -eq 0 ] || cat /var/lib/dkms/characterize/*/build/make.log >>apt.log
check "apt installs characterize-dkms and linux-headers-amd64" apt.log [ "$status" -eq 0 ]
kernel=$(find /lib/modules/ -name '*-amd64' -printf '%f\n' -quit)
dkms status characterize >out 2>&1
check "DKMS has built the module for $kernel" apt.log grep -q "characterize/$version, $kernel, x86_64: installed" out
module=$(find "/lib/modules/$kernel" -name 'characterize.ko*')
modinfo "${module:-none}" >out 2>&1
check "... of this version" out grep -qx "version: *$version" out
check "... for that kernel" out grep -q "^vermagic: *$kernel " out
check "only root may open its device" "" grep -q 'MODE="0600"' /lib/udev/rules.d/60-characterize.rules
check "it is not loaded" /proc/modules [ ! -e /sys/module/characterize ]

# shellcheck disable=SC2086 # perhaps nothing
dpkg --verify characterize libcharacterize0 libcharacterize-dev characterize-dkms $sched >out 2>&1
check "what is installed is what the packages hold" out [ ! -s out ]

# shellcheck disable=SC2086
apt_get purge characterize libcharacterize0 libcharacterize-dev characterize-dkms $sched
check "apt purges all of them" apt.log [ "$?" -eq 0 ]
files | grep characterize >left
check "no file of theirs is left" left [ ! -s left ]
apt_get autoremove --purge -o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false \
    linux-headers-amd64
files >after
# dkms and depmod leave these, whatever they were used for
diff before after | grep '^[<>]' | grep -v -e '^> /var/lib/dkms' -e '^> /usr/lib/modules' | head -n 40 >left
check "... nor any of what came with them" left [ ! -s left ]
finish
