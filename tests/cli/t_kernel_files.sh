#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# input: code of others
# --kernel-file: blocks of instructions from files, wherever the name of a kernel is taken, and what of them is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v nasm >/dev/null 2>&1; then
    skip "blocks from files" "no nasm here"
    finish
fi
model="--machine model:xeon-gold-6130"

# block NAME LINE...: into $tmp/NAME, a line each
block() {
    block_file=$tmp/$1
    shift
    printf '%s\n' "$@" >"$block_file"
}
# listed NAME BITS WEIGHT INSTRUCTIONS: as --list kernels shows it
listed() {
    grep -Eq "^$1 +$2 +$3 +$4 " "$out"
}

block sum.asm '    movups xmm0, [r14]' '    addps xmm1, xmm0' '    paddd xmm2, xmm3'
run --list kernels --kernel-file "$tmp/sum.asm"
case $(cat "$err") in
*'does not permit'*)
    skip "blocks from files" "no ptrace(2) here"
    finish
    ;;
esac
verdict "a block is listed: width, weight, copies of it" test "$status" -eq 0
verdict "... with loop control below 2 % of its instructions" listed sum 128 heavy 102
verdict "... what it is made of" grep -q 'sum.asm: 3 instructions, 1 of its width and weight; 34 copies' "$out"

block walk.asm '    mov rsi, r14' '    mov ecx, 64' '.next:' '    movdqu xmm0, [rsi]' '    add rsi, 16' '    dec ecx' \
    '    jnz .next'
run --list kernels --kernel-file "$tmp/walk.asm"
verdict "a loop inside: counted step by step" listed walk 128 light 258
printf '\017\257\300' >"$tmp/times.bin"
run --list kernels --kernel-file "$tmp/times.bin"
verdict "machine code" listed times 64 heavy 151
block light.asm '; weight: light' '; width: 256' '; instructions: 1' '    addps xmm1, xmm0'
run --list kernels --kernel-file "$tmp/light.asm"
verdict "declared width and weight come first" listed light 256 light 101

if command -v cc >/dev/null 2>&1; then
    block so.s '.globl block, block_end' '.type fun,@function' '.globl fun' block: 'addps %xmm1, %xmm2' block_end: \
        fun: 'lea (%rdi,%rdi,2), %rax' 'imul %rax, %rax' ret '.size fun,.-fun' '.section .note.GNU-stack,"",@progbits'
    cc -shared -nostdlib -o "$tmp/so.so" "$tmp/so.s" && cc -c -o "$tmp/object.o" "$tmp/so.s"
    run --list kernels --kernel-file "$tmp/so.so" --kernel-file "$tmp/object.o" --kernel-file "$tmp/so.so:fun"
    verdict "a shared library: from block to block_end" listed so 128 heavy 101
    verdict "an object file" listed object 128 heavy 101
    verdict "a function, without its return" listed fun 64 heavy 152
    refuses "a symbol that is not there" 2 "no symbol 'gone'" --list kernels --kernel-file "$tmp/so.so:gone"
else
    skip "shared libraries" "no cc here"
fi

# wherever a name is taken, also before the option
# shellcheck disable=SC2086
run $model --transition 128or:sum --output o --kernel-file "$tmp/sum.asm"
verdict "--transition" test "$status" -eq 0 -a -s o/128or_sum.json
# shellcheck disable=SC2086
run $model --table frequency --kernels sum,WALK --companion walk --active-cores 1 --csv - \
    --kernel-file "$tmp/sum.asm" --kernel-file "$tmp/walk.asm" --output o
verdict "--kernels and --companion, in capital letters, too" \
    test "$status" -eq 0 -a "$(grep -c -e ',sum,' -e ',walk,' "$out")" -eq 2
# --resume knows the code, not the name alone
# shellcheck disable=SC2086
run $model --all --kernels 512fma,sum --active-cores 1 --brief --runs 1 --output all --kernel-file "$tmp/sum.asm"
verdict "--all" test "$status" -eq 0 -a -s all/report.html
cp "$tmp/sum.asm" "$tmp/sum.before"
echo '    nop' >>"$tmp/sum.asm"
# shellcheck disable=SC2086
run $model --all --kernels 512fma,sum --active-cores 1 --brief --runs 1 --output all --resume \
    --kernel-file "$tmp/sum.asm"
verdict "--resume with another block of this name" test "$status" -eq 2 -a "$(grep -c 'kernel-file is' "$err")" -eq 1
cp "$tmp/sum.before" "$tmp/sum.asm"
# a model runs it like its own kernel of the width and weight
# shellcheck disable=SC2086
run $model --table frequency --kernels 128fma,sum --active-cores 16 --csv - --kernel-file "$tmp/sum.asm" --output o
verdict "a model: as its kernel of the same width and weight" \
    test "$(sed -n 's/^[0-9]*,128fma,16,\([^,]*,[^,]*\),.*/\1/p' "$out")" = \
    "$(sed -n 's/^[0-9]*,sum,16,\([^,]*,[^,]*\),.*/\1/p' "$out")"
# shellcheck disable=SC2086
for job in trigger relaxation overhead transitions throttle energy; do
    run $model --table $job --brief --kernels 512fma,sum --active-cores 1 --runs 3 --output o --quiet \
        --kernel-file "$tmp/sum.asm"
    verdict "--table $job ends" test "$status" -eq 0 -o "$status" -eq 3
done
run --machine timing --transition sum:64add --runs 5 --active-cores 1 --output o --kernel-file "$tmp/sum.asm"
verdict "on this processor" test "$status" -eq 0 -o "$status" -eq 3

# the example in doc/kernel-files.md, with the bytes that stand there
run --list kernels --kernel-file "$root/examples/strlen.asm"
if [ "$status" -eq 3 ]; then
    skip "the example, a loop of the C library" "$(cat "$err")"
else
    verdict "the example, a loop of the C library" listed strlen 256 light 1146
fi
nasm -f bin --before 'bits 64' -o "$tmp/strlen.bin" "$root/examples/strlen.asm"
verdict "... with the code that was found there" test "$(tail -c 53 "$tmp/strlen.bin" | od -An -tx1 | tr -d ' \n')" = \
    "$(sed -n 's/^    167[0-9a-f]*: \(\([0-9a-f][0-9a-f] \)*\) .*/\1/p' "$root/doc/kernel-files.md" | tr -d ' \n')"

# bad STATUS PATTERN LINE...: a block of these lines is refused
bad() {
    bad_status=$1 bad_pattern=$2
    shift 2
    block bad.asm "$@"
    refuses "refused: $*" "$bad_status" "$bad_pattern" --list kernels --kernel-file "$tmp/bad.asm"
}
bad 2 'holds no instructions' ''
bad 2 'holds no instructions' '; nothing'
bad 2 'bad.asm:1: error' 'This is no assembly at all.'
bad 2 'bad.asm:2: error' nop word
bad 2 'has not ended after 20000 instructions' 'jmp $'
bad 2 'uses the stack pointer' 'mov rsp, 0'
bad 2 'uses the stack pointer' 'mov rax, [rsp - 8]'
bad 2 'uses the stack' 'push rax'
bad 2 'use the stack' ret
bad 2 'enters the operating system' syscall
bad 2 'enters the operating system' 'int 0x80'
bad 2 "'hlt' at byte 0: it is privileged" hlt
bad 2 'privileged' rdmsr
bad 2 'needs a privilege' 'in al, dx'
bad 2 'always faults' ud2
bad 2 'hypervisors' cpuid
bad 2 'direction flag' std
bad 2 'loops in microcode' 'rep movsb'
bad 2 'instruction set X87' fld1
bad 2 'its MXCSR' 'ldmxcsr [r14]'
bad 2 'its MXCSR' 'vldmxcsr [r14]'
bad 2 'instruction set AMX_TILE' 'tilezero tmm0'
bad 2 'jumps out of the block' 'jmp $ + 100'
bad 2 'jumps into an instruction' 'jmp $ + 1'
bad 2 'where it jumps' 'jmp rax'
bad 2 'r15 counts' 'inc r15'
bad 2 'r14 is the address' 'add r14, 1'
bad 2 'fixed address' 'mov rax, [0]'
bad 2 "FS and GS" 'mov rax, [fs:rax]'
bad 2 'relative to the instruction' 'mov rax, [rel $]'
bad 2 'reads 8 bytes at r14 - 0x' 'xor eax, eax' 'mov rbx, [rax]'
bad 2 'writes 8 bytes at r14 . 0x3ffc, outside' 'mov [r14 + 16380], rax'
bad 2 'reads 16 bytes at r14 . 0x4000, outside' 'movups xmm0, [rsi]' 'add rsi, 2048'
bad 2 'SIGFPE' 'xor ecx, ecx' 'div ecx'
bad 2 'SIGSEGV.*not aligned' 'movaps xmm0, [r14 + 1]'
bad 2 'declares 5 instructions, but runs 1' '; instructions: 5' nop
bad 2 "width: '100'" '; width: 100' nop
bad 2 "weight: 'fat'" '; weight: fat' nop
bad 2 'at most 16384' 'times 20000 nop'
: >"$tmp/empty.bin"
refuses "an empty file" 2 'holds no instructions' --list kernels --kernel-file "$tmp/empty.bin"
printf '\006' >"$tmp/no.bin"
refuses "bytes that are no instruction" 2 'bytes at 0 are no instruction' --list kernels --kernel-file "$tmp/no.bin"
mkdir "$tmp/folder.asm"
refuses "a directory" 2 'it is a directory' --list kernels --kernel-file "$tmp/folder.asm"
refuses "no file" 2 'No such file' --list kernels --kernel-file "$tmp/gone.asm"
refuses "no suffix" 2 'neither FILE.asm' --list kernels --kernel-file "$tmp"
head -c 2000000 /dev/zero >"$tmp/huge.bin"
refuses "a huge file" 2 'larger than 1 MiB' --list kernels --kernel-file "$tmp/huge.bin"
echo no >"$tmp/no.so"
refuses "no shared library" 2 'not an ELF file' --list kernels --kernel-file "$tmp/no.so"
cp "$tmp/sum.asm" "$tmp/512fma.asm" && cp "$tmp/sum.asm" "$tmp/a b.asm"
refuses "the name of another kernel" 2 'there is a kernel 512fma' --list kernels --kernel-file "$tmp/512fma.asm"
refuses "no name" 2 'letters, digits and underscores' --list kernels --kernel-file "$tmp/a b.asm"
refuses "a name twice" 2 "is kernel sum already" --list kernels --kernel-file "$tmp/sum.asm" \
    --kernel-file "$tmp/sum.asm"
refuses "no density" 2 'sum has no density' --transition sum@1/8:64add --kernel-file "$tmp/sum.asm"
refuses "another name" 2 "unknown kernel 'som'" --transition som:64add --kernel-file "$tmp/sum.asm"
refuses "a job without kernels" 2 'cannot be combined with --export' --export json --kernel-file "$tmp/sum.asm"
verdict "nothing is left in /tmp" test -z "$(find /tmp -maxdepth 1 -name 'characterize-??????' -newer "$tmp/sum.asm")"

# a CPU without AVX-512: reported, not run
block wide.asm '    vpaddd zmm0, zmm0, zmm1'
if [ -n "${SANITIZED:-}" ]; then
    skip "a CPU without AVX-512" "the sanitizers' memory is more than qemu-x86_64 has"
elif command -v qemu-x86_64 >/dev/null 2>&1; then
    qemu-x86_64 -cpu Haswell "$CHARACTERIZE" --list kernels --kernel-file "$tmp/wide.asm" >"$out" 2>"$err"
    verdict "what this CPU lacks is listed" grep -Eq '^wide +512 +light .* no: avx512f ' "$out"
    if [ -r /sys/devices/system/clocksource/clocksource0/current_clocksource ]; then
        qemu-x86_64 -cpu Haswell "$CHARACTERIZE" --transition wide:64add --machine timing \
            --kernel-file "$tmp/wide.asm" >"$out" 2>"$err"
        status=$?
        verdict "... and not run: status 3" test "$status" -eq 3 -a "$(grep -c 'wide needs avx512f' "$err")" -eq 1
    else
        skip "... and not run" \
            "the emulated CPU does not call its time stamps invariant, and without /sys the kernel's clock is unknown"
    fi
else
    skip "a CPU without AVX-512" "no qemu-x86_64 here"
fi
run --kernel-file "$tmp/sum.asm" --table frequency --brief
verdict "a table that does not name it: refused" \
    test "$status" -eq 2 -a "$(grep -c 'add --kernels 64add,' "$err")" -eq 1
finish
