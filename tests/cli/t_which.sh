#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# --which: which functions of a binary lift the turbo class, on a model and here; what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# a library of this distribution: the C library, as the program itself has it
libc=$(ldd "$CHARACTERIZE" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
if [ -n "$libc" ]; then
    run --which "$libc" --machine model:xeon-gold-6130 --brief --runs 3 --csv libc.csv --json libc.json
    verdict "the C library on a model: status 0" test "$status" -eq 0
    verdict "... modelled: said so" grep -q '^modelled, not measured' "$out"
    verdict "... 48 blocks and the null are measured" test "$(grep -vc '^#' libc.csv)" -eq 50
    verdict "... what is left out is said" grep -q 'wide instructions were left out; FILE:FUNCTION narrows it' "$out"
    verdict "... JSON: a table of this name" grep -q '"table": "which"' libc.json
fi

cat >it.asm <<'ASM'
section .text
global dense:function
global light:function
global narrow:function
global mixed:function
dense:
%rep 8
    vfmadd231ps ymm0, ymm1, [rdi]
%endrep
    ret
light:
.again:
    vpxor ymm0, ymm1, [rdi]
    add rdi, 32
    cmp rdi, rsi
    jb .again
    ret
narrow:
    addps xmm0, xmm1
    ret
mixed:
%rep 5
    vpxor ymm0, ymm1, ymm2
%endrep
    vfmadd231ps ymm3, ymm4, ymm5
    ret
ASM
if command -v nasm >/dev/null && nasm -f elf64 -o it.o it.asm; then
    run --which it.o --machine model:xeon-gold-6130 --brief --runs 8 --csv - --quiet
    verdict "an object file: status 0" test "$status" -eq 0
    verdict "... its heavy block is of class 1" \
        grep -q '^dense,0x0,256,heavy,8,9,0.111111111,1,0.857[^,]*,[^,]*,[^,]*,1,vfmadd231ps 8,' "$out"
    verdict "... by what was shown to lift it, without which it is of class 0" \
        grep -q '^dense,.*,vfmadd231ps ymm,[^,]*,[^,]*,[^,]*,0$' "$out"
    verdict "... its light loop of class 0" \
        grep -q '^light,[^,]*,256,light,1,4,0.25,1,[^,]*,[^,]*,[^,]*,0,vpxor 1,' "$out"
    verdict "... narrow code is not listed" sh -c '! grep -q ^narrow "$1"' sh "$out"
    cp "$out" "$tmp/first"
    run --which it.o --machine model:xeon-gold-6130 --brief --runs 8 --csv - --quiet
    verdict "... and again the same" cmp -s "$out" "$tmp/first"
    run --which it.o:mixed --machine model:xeon-gold-6130 --brief
    verdict "what is frequent is innocent, and it is said what is not" \
        grep -q 'mixed at 0x[0-9a-f]* by vfmadd231ps ymm (shown: alone it' "$out"
    run --which it.o --machine model:generic-no-licence --brief --csv -
    verdict "where nothing lifts, nothing is searched" sh -c '! grep -q "zmm\|ymm" "$1"' sh "$out"
    run --which it.o:light --machine model:xeon-gold-6130 --brief --runs 8
    verdict "one function: nothing lifts the class" grep -q 'No block of it.o:light that was measured lifts' "$out"
    run --which it.o:narrow
    nothing='it.o:narrow: no instructions of 256 bits and more: nothing to measure'
    verdict "code that is not wide: one line, status 0" test "$status" -eq 0 -a "$(cat "$out")" = "$nothing"
    run --which ./it.o:dens
    verdict "a misspelled function: the nearest" grep -q "no function 'dens' among its symbols; perhaps dense" "$err"
    if grep -qw fma /proc/cpuinfo && grep -qw avx2 /proc/cpuinfo; then
        run --which it.o --brief --runs 3 --active-cores 1
        verdict "here: status 0" test "$status" -eq 0
        verdict "... all blocks are measured" test "$(grep -c -e '^dense ' -e '^light ' -e '^mixed ' "$out")" -ge 3
    fi
    head -c 400 it.o >cut.o
    run --which cut.o
    verdict "a file that is cut off: status 2" test "$status" -eq 2
    verdict "... it is said" grep -q 'cut.o: cut off or damaged: section 1 does not lie within its 400 bytes' "$err"
else
    skip "object files" "NASM is not installed"
fi

refuses "no such program" 2 "'no-such' is neither a file here nor a program in PATH" --which no-such
refuses "no such file" 2 'cannot be opened' --which ./no-such.so
refuses "no binary" 2 'not an ELF file' --which "$root/README.md"
refuses "an empty name" 2 'the name is empty' --which ''
refuses "several numbers of cores" 2 '--which takes one number' --which sh --active-cores 1,2
refuses "an option of tables" 2 'cannot be combined with --which' --which sh --kernels 64add
finish
