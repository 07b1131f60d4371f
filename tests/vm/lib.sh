# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # work and OUT come from the caller
#
# Sourced by the tests in virtual machines: what is needed, the kernel's image, the module, the guest's file system.
# The caller is at the repository's root; $work is the folder for all of it, $OUT the build of the program.

# shellcheck source=tests/vm/fetch.sh
. tests/vm/fetch.sh

n_passed=0 n_failed=0 n_skipped=0

ok() {
    n_passed=$((n_passed + 1))
    echo "ok: $1"
}

# fail NAME [FILE]: the file's end is shown
fail() {
    n_failed=$((n_failed + 1))
    echo "FAIL: $1"
    if [ $# -gt 1 ] && [ -e "$2" ]; then
        tail -n 30 "$2" | sed 's/^/    | /'
    fi
}

finish() {
    echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
    [ "$n_failed" -eq 0 ]
    exit
}

# skip_all WHY: nothing of this can be tried here
skip_all() {
    n_skipped=$((n_skipped + 1))
    echo "skipped: the virtual machine of ${subject:-the kernel helper}: $1"
    finish
}

need_commands() {
    for command; do
        command -v "$command" >/dev/null 2>&1 || skip_all "no $command here (scripts/packages names its package)"
    done
}

# Sets $kernel: VM_KERNEL, a version or a suite of Debian (fetch.sh) whose newest it is to be; without it the newest
# whose headers are here. Sets $builder where the headers are not.
choose_kernel() {
    kernel=${VM_KERNEL:-} builder=
    for headers in /usr/src/linux-headers-*-amd64; do
        [ -e "$headers/Makefile" ] && echo "${headers#/usr/src/linux-headers-}"
    done | sort -V >"$work/kernels"
    case $kernel in
    '') kernel=$(tail -n 1 "$work/kernels") ;;
    # what is here serves as well as what the archive has
    bookworm) kernel=$(grep '^6\.1\.0-' "$work/kernels" | tail -n 1) ;;
    esac
    if is_suite "${kernel:-${VM_KERNEL:-}}"; then
        open_release "$(release_of "$VM_KERNEL")"
        kernel=$(newest_of "$VM_KERNEL")
        [ -n "$kernel" ] || skip_all "no kernel in $VM_KERNEL"
    fi
    [ -n "$kernel" ] || skip_all "no kernel headers in /usr/src (package linux-headers-amd64)"
    if [ ! -e "/usr/src/linux-headers-$kernel/Makefile" ]; then
        [ -n "$(release_of "$kernel")" ] ||
            skip_all "no headers of $kernel in /usr/src, and it is not of a known Debian"
        fetch_builder
    fi
}

# Fetches and unpacks that kernel's image and its modules, without installing them. Sets $image to the folder.
fetch_image() {
    image=$work/image-$kernel
    if [ -e "$image/boot/vmlinuz-$kernel" ]; then
        return
    fi
    need_commands apt-get apt-cache dpkg
    apt=$work/download
    if [ -n "$builder" ]; then
        open_release "$(release_of "$kernel")"
    fi
    rm -rf "$image" "$apt/archives"
    mkdir -p "$apt/archives"
    # since Linux 6.19 the image and the modules are packages of their own
    for package in image binary modules; do
        with_apt apt-cache show "linux-$package-$kernel" >/dev/null 2>&1 || continue
        (cd "$apt/archives" && with_apt timeout 300 apt-get -q download "linux-$package-$kernel") \
            >"$work/download.log" 2>&1 ||
            skip_all "cannot download linux-$package-$kernel: $(grep '^E: ' "$work/download.log" | head -n 1)"
    done
    unpack_into "$image"
    # where it lies since Linux 7.2
    mkdir -p "$image/boot"
    ln "$image/usr/lib/modules/$kernel/vmlinuz" "$image/boot/vmlinuz-$kernel" 2>/dev/null
    [ -e "$image/boot/vmlinuz-$kernel" ] || skip_all "no image of $kernel can be had"
    # of 400 MB two files are used
    find "$image" -type f ! -name "vmlinuz-$kernel" ! -name 'msr.ko*' -delete
}

# with_apt COMMAND...: this system's apt for this system's kernels
with_apt() {
    if [ -n "$builder" ]; then
        of_release "$@"
    else
        "$@"
    fi
}

# Builds the module from the sources that DKMS would get, so that these are complete. Sets $module.
build_module() {
    tree=$work/dkms
    rm -rf "$tree"
    mkdir -p "$tree"
    make -s -C drivers/helper/kmod dkms DESTDIR="$tree" >"$work/module.log" 2>&1 ||
        { fail "the module's sources for DKMS" "$work/module.log"; finish; }
    tree=$(echo "$tree"/usr/src/characterize-*)
    module=$tree/drivers/helper/kmod/characterize.ko
    if [ -n "$builder" ] && ! in_builder "$tree" true >"$work/module.log" 2>&1; then
        skip_all "no name space for the compiler of $kernel: $(head -n 1 "$work/module.log")"
    fi
    if ! make_module >"$work/module.log" 2>&1; then
        fail "the module builds for $kernel" "$work/module.log"
        finish
    fi
    # pahole and vmlinux are not part of the headers: what kbuild says about BTF is no warning about this module
    if grep -i -e warning -e objtool "$work/module.log" | grep -v 'BTF' >"$work/warnings"; then
        fail "the module builds for $kernel without a warning" "$work/warnings"
    else
        ok "the module builds for $kernel without a warning"
    fi
    strip --strip-debug "$module"
}

make_module() {
    if [ -z "$builder" ]; then
        make -j"$(nproc)" -C "$tree/drivers/helper/kmod" KERNEL="$kernel" KDIR="/usr/src/linux-headers-$kernel"
        return
    fi
    in_builder "$tree" make -j"$(nproc)" -C /mnt/drivers/helper/kmod KERNEL="$kernel" \
        KDIR="/usr/src/linux-headers-$kernel"
}

# build_program NAME: a check for the guest
build_program() {
    # shellcheck disable=SC2086 # flags
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I. -static -o "$work/$1" \
        "tests/vm/$1.c" "${BUILD:-build}/libinternal.a" -ljansson -lm >"$work/programs.log" 2>&1 ||
        { fail "tests/vm/$1.c compiles" "$work/programs.log"; finish; }
}

build_programs() {
    for program in ioctl_fuzz helper_checks trials_checks profile_checks; do
        build_program "$program"
    done
}

# begin_root PROGRAM...: busybox and the programs with their libraries, in $root
begin_root() {
    root=$work/root
    rm -rf "$root"
    mkdir -p "$root/bin" "$root/share"
    cp "$(command -v busybox)" "$root/bin/busybox"
    ln -s busybox "$root/bin/sh"
    cp "$@" "$root/bin/"
    ldd "$@" 2>/dev/null | sed -n 's/^[^/]*\(\/[^ ]*\) (0x.*/\1/p' | sort -u |
        while read -r library; do
            mkdir -p "$root$(dirname "$library")"
            cp -L "$library" "$root$library"
        done
}

# The guest's file system: $guest (guest.sh) is its first program; busybox, the program with its libraries, the modules.
make_initramfs() {
    # a second opinion on registers, where msr-tools are installed
    rdmsr=$(command -v rdmsr)
    # shellcheck disable=SC2086 # nothing or one name
    begin_root "$OUT/characterize" "$OUT/characterize-profile" "$work/ioctl_fuzz" "$work/helper_checks" \
        "$work/trials_checks" "$work/profile_checks" $rdmsr
    cp -R data/. "$root/share/"
    cp "$module" "$root/characterize.ko"
    msr=$(find "$image" -name 'msr.ko*' | head -n 1)
    case $msr in
    *.xz) busybox xzcat <"$msr" >"$root/msr.ko" ;;
    *.zst) zstd -dcq <"$msr" >"$root/msr.ko" ;;
    *) cp "$msr" "$root/msr.ko" ;;
    esac
    end_root
}

# Its first program is $guest; standard input: the settings.
end_root() {
    install -m 755 "${guest:-tests/vm/guest.sh}" "$root/init"
    cp tests/vm/guest_lib.sh "$root/"
    cat >"$root/settings"
    (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initramfs.gz"
    # all that is used from now on is in there: 80 MB less
    rm -rf "$root" "$work/dkms"
}

# Boots, with $parameters of the kernel and $devices of QEMU besides, for at most $seconds. Sets $qemu.
# no_timer_check: on a busy host the emulated timer can be too late for the kernel's own check of it, and it panics.
# oops=panic: nothing goes on after a fault; -no-reboot: and the machine ends
boot() {
    rm -f "$work/serial.log"
    # shellcheck disable=SC2086 # options
    timeout -k 5 "${VM_TIMEOUT:-$seconds}" \
        qemu-system-x86_64 -nodefaults -no-user-config -display none -serial "file:$work/serial.log" -no-reboot \
        -m 512 -machine "${VM_MACHINE:-q35}" -accel "tcg,thread=${VM_TCG:-multi}" \
        -smp "${VM_CPUS:-4,sockets=1,cores=2,threads=2}" -cpu max,vendor=GenuineIntel,family=6,model=85,stepping=4 \
        ${devices:-} \
        -kernel "$image/boot/vmlinuz-$kernel" -initrd "$work/initramfs.gz" \
        -append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic tsc=reliable no_timer_check \
log_buf_len=8M ${parameters:-}" \
        </dev/null >"$work/qemu.log" 2>&1 &
    qemu=$!
}

# Whether the guest comes to its first own line within a minute. Now and then the emulated kernel stands still while it
# starts its CPUs, before anything of this project runs.
starts() {
    for _ in $(seq 60); do
        grep -q '^== before the module' "$work/serial.log" 2>/dev/null && return 0
        kill -0 "$qemu" 2>/dev/null || return 0
        sleep 1
    done
    return 1
}

# Three attempts; the machine ends with this script.
boot_until_started() {
    trap 'kill "$qemu" 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
    for try in 1 2 3; do
        boot
        starts && break
        echo "try $try: the kernel did not start within 60 s"
        kill "$qemu"
        wait "$qemu"
    done
}

# Whether QEMU's known defect has struck: the kernel rewrites its own code, or just did, and nothing was said since
# (guest.sh, trace_switches). A program of ours that hangs there does so in the next attempt, too.
stands_still() {
    case $(tail -n 1 "$work/serial.log" | tr -d '\r') in
    "== the kernel rewrites its code" | "== and goes on") ;;
    *) return 1 ;;
    esac
}

# Waits until the machine ends, and sets $status. Fails where it stood still for a minute: then it was ended.
comes_to_its_end() {
    still=0
    while kill -0 "$qemu" 2>/dev/null && [ "$still" -lt 60 ]; do
        sleep 1
        if stands_still; then still=$((still + 1)); else still=0; fi
    done
    [ "$still" -lt 60 ] || kill "$qemu" 2>/dev/null
    wait "$qemu"
    # shellcheck disable=SC2034 # for those that source this
    status=$?
    [ "$still" -lt 60 ]
}

# Takes the guest's lines into the counts, and looks for what must not be in the kernel's log.
judge() {
    tr -d '\r' <"$work/serial.log" >"$work/guest.log"
    if ! grep -q '^== guest done' "$work/guest.log"; then
        fail "the guest came to its end" "$work/guest.log"
    else
        ok "the guest came to its end: $(sed -n 's/^== guest done //p' "$work/guest.log")"
    fi
    n_passed=$((n_passed + $(grep -c '^ok: ' "$work/guest.log")))
    n_failed=$((n_failed + $(grep -c '^FAIL: ' "$work/guest.log")))
    sed -n '/^== before/,/^== kernel log begins/p' "$work/guest.log" | grep -v '^== kernel log begins'
    n_skipped=$((n_skipped + $(grep -c '^skip: ' "$work/guest.log")))
    bad='BUG|WARNING|Oops|unchecked MSR|[Cc]all [Tt]race|general protection|unable to handle'
    bad="$bad|rcu.*stall|lockup|hung task|panic"
    awk '/^== before the module/ { on = 1 } /^== kernel log begins/ { on = 0 } /the test begins$/ { on = 1 } on' \
        "$work/guest.log" >"$work/during.log"
    if grep -E "$bad" "$work/during.log" >"$work/bad.log"; then
        fail "nothing bad in the kernel's log" "$work/bad.log"
    elif ! grep -q 'the test begins$' "$work/during.log" || ! grep -q '^== kernel log ends' "$work/during.log"; then
        fail "the kernel's log is there"
    else
        ok "no BUG, WARNING, Oops, stall or lockup in the kernel's log"
    fi
}
