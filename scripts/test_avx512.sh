#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the tests of CpuAcc's AVX-512 kernels under Bochs, which emulates a whole machine, on any
# machine with Debian 12: boots Debian's kernel in it, with nothing but the tests. Ends with the status of the tests.
#
# Debian's Bochs gets vpbroadcastb with a mask from memory wrong (a test of that instruction alone fails there, too), so
# that SelectBroadcast.BroadcastsAsReference fails: it is left out unless the filter asks for it.
#
# usage: scripts/test_avx512.sh [GTEST_FILTER]
#   GTEST_FILTER  of test_ops, e.g. 'GemmInt8.*:FullyConnected.*'; without it all tests but that one, which takes an
#                 hour or more
#   TENON_FORCE_ISA in the environment is the level, avx512 or avx512vnni (the default)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

level=${TENON_FORCE_ISA:-avx512vnni}
filter=${1:-*-SelectBroadcast.BroadcastsAsReference}
case "$level" in
avx512 | avx512vnni) ;;
*)
    echo "test_avx512.sh: there is no level '$level' here; choose avx512 or avx512vnni" >&2
    exit 2
    ;;
esac

scripts/setup.sh --emulator
cmake --preset release
cmake --build --preset release --target test_isa test_ops test_backends

bin=$PWD/build/release/bin
work=$PWD/build/avx512
root=$work/root
rm -rf "$work"
mkdir -p "$root"/{bin,dev,proc,sys,tmp} "$work"/{disc,packages}

# The kernel and the shell are unpacked, not installed.
kernel=$(apt-cache depends linux-image-cloud-amd64 | sed --quiet 's/^ *Depends: //p')
(cd "$work/packages" && apt-get --quiet --quiet download "$kernel" busybox-static)
for package in "$work"/packages/*.deb; do
    dpkg-deb --extract "$package" "$work/packages"
done

# The first file system: busybox, the tests, and their libraries where the loader looks for them.
cp "$work/packages/bin/busybox" "$root/bin"
cp "$bin"/test_{isa,ops,backends} "$root/bin"
strip "$root"/bin/test_*
ldd "$bin"/test_{isa,ops,backends} | grep --only-matching --extended-regexp '/[^ ]+\.so[^ ]*' | sort --unique |
    while read -r library; do
        install -D "$(realpath "$library")" "$root$library"
    done
cat >"$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
export TENON_FORCE_ISA=$level
status=0
run() {
    "\$@" --gtest_color=no || status=1
}
run test_isa
run test_backends '--gtest_filter=CpuAcc.*'
run test_ops '--gtest_filter=$filter'
echo "status of the tests: \$status"
sleep 1 # for what the serial port has yet to send
poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio --quiet --create --format=newc >"$work/disc/initrd")

# What is cleared: short copies by REP MOVSB, which Linux then uses without asking for long ones, which this machine
# does not announce; and what saves registers of memory protection, whose place Bochs announces wrongly.
cp "$work"/packages/boot/vmlinuz-* "$work/disc/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/disc"
cat >"$work/disc/isolinux.cfg" <<BOOT
default linux
label linux
    kernel vmlinuz
    append initrd=initrd console=ttyS0 mitigations=off idle=halt tsc=reliable clearcpuid=321,323,515,580 panic=-1 quiet
BOOT
genisoimage -quiet -o "$work/disc.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table \
    "$work/disc"

cat >"$work/bochsrc" <<BOCHS
memory: guest=1024, host=1024
cpu: model=corei7_icelake_u, ips=400000000, reset_on_triple_fault=0, ignore_bad_msrs=1
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
display_library: term
ata0-master: type=cdrom, path=$work/disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial.txt
clock: sync=none
log: $work/log.txt
panic: action=fatal
error: action=ignore
info: action=ignore
BOCHS
# Bochs stops in its debugger, which is told to go on. Its picture of the screen is of no use; the serial port is.
echo c >"$work/commands"
: >"$work/serial.txt"
TERM=linux bochs-bin -q -f "$work/bochsrc" -rc "$work/commands" </dev/null >"$work/screen.txt" 2>&1 &
emulator=$!
trap 'kill -KILL $emulator 2>/dev/null || true' EXIT
tail --pid="$emulator" --follow --lines=+1 "$work/serial.txt"
grep --quiet '^status of the tests: 0' "$work/serial.txt"
