#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The kernel helper with 512-bit kernels (make test-vm-avx512): as run-qemu.sh, but in Bochs, which emulates a Skylake-X
# (06_55H stepping 4) with AVX-512, one instruction after the other. Its TSC counts instructions, so that nothing about
# time is learned here; but the wide kernels run in the module, and registers that do not exist fault as on hardware.
# Takes some minutes. Ends with 'N passed, N failed, N skipped'.
#
# Environment: OUT, where the program is; VM_KERNEL; VM_FUZZ, random ioctls (3000); VM_SEED; VM_TIMEOUT, seconds.
set -u

cd "$(dirname "$0")/../.." || exit 1
OUT=${OUT:-.}
work=$(pwd)/build/vm-avx512
mkdir -p "$work" || exit 1
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
begin=$(date +%s)

# images and compilers may be there from the other test
for there in build/vm/image-* build/vm/builder-*; do
    [ -d "$there" ] && [ ! -e "$work/${there##*/}" ] && ln -s "$(pwd)/$there" "$work/${there##*/}"
done
need_commands bochs xorriso busybox nasm gzip strip ldd
bios=/usr/share/bochs/BIOS-bochs-latest
vga=/usr/share/vgabios/vgabios.bin
isolinux=/usr/lib/ISOLINUX/isolinux.bin
ldlinux=/usr/lib/syslinux/modules/bios/ldlinux.c32
for file in "$bios" "$vga" "$isolinux" "$ldlinux"; do
    [ -e "$file" ] || skip_all "no $file (packages bochsbios vgabios isolinux syslinux-common)"
done
choose_kernel
fetch_image
build_module
build_programs
make_initramfs <<SETTINGS
FUZZ=${VM_FUZZ:-3000}
SEED=${VM_SEED:-20261122}
TRANSITION='128fma:512fma'
REFUSED=
LINGER=3
SETTINGS

# A disk to start from.
iso=$work/iso
rm -rf "$iso"
mkdir -p "$iso"
cp "$isolinux" "$ldlinux" "$iso/"
cp "$image/boot/vmlinuz-$kernel" "$iso/vmlinuz"
cp "$work/initramfs.gz" "$iso/initramfs.gz"
cat >"$iso/isolinux.cfg" <<'EOF'
default linux
prompt 0
timeout 1
label linux
  kernel vmlinuz
  append initrd=initramfs.gz console=ttyS0 quiet panic=-1 oops=panic tsc=reliable noxsaves clearcpuid=xsavec mce=off
EOF
xorriso -as mkisofs -quiet -o "$work/disk.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 \
    -boot-info-table "$iso" >"$work/xorriso.log" 2>&1 || { fail "the disk" "$work/xorriso.log"; finish; }

# Registers beside Bochs's own: number, type, then high and low halves of the value, of reserved and of ignored bits.
# Linux uses the first four when it starts; 1ADH is for the test; all others fault.
cat >"$work/msrs" <<'EOF'
0x1a0 0 00000000 00000001 00000000 00000000 00000000 00000000
0x179 0 00000000 00000000 00000000 00000000 00000000 00000000
0x17a 0 00000000 00000000 00000000 00000000 00000000 00000000
0x08b 0 00000000 00000000 00000000 00000000 00000000 00000000
0x1ad 0 1c1c1c1c 1d1e1f25 00000000 00000000 00000000 00000000
EOF
cat >"$work/bochsrc" <<EOF
cpu: model=corei7_skylake_x, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=0, msrs="$work/msrs"
memory: guest=512, host=512
romimage: file=$bios
vgaromimage: file=$vga
boot: cdrom
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=$work/disk.iso, status=inserted
com1: enabled=1, mode=file, dev=$work/serial.log
display_library: rfb, options="timeout=0"
log: $work/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
EOF
echo c >"$work/rc"
rm -f "$work/serial.log" "$work/disk.iso.lock"
timeout -k 5 "${VM_TIMEOUT:-900}" bochs -q -f "$work/bochsrc" -rc "$work/rc" </dev/null >"$work/bochs.out" 2>&1
status=$?
# a clean power-off exits 1
[ "$status" -le 1 ] || fail "Bochs's exit status $status (124: out of time)" "$work/bochs.out"
judge
echo "kernel $kernel, $(($(date +%s) - begin)) s"
finish
