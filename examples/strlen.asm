; SPDX-License-Identifier: GPL-3.0-or-later
;
; The hot loop of strlen() in glibc 2.36 on processors with AVX-512 (__strlen_evex), as objdump shows it, and what it
; needs in front: doc/kernel-files.md tells where it comes from.
;     characterize --kernel-file strlen.asm --transition 128fma:strlen
;
; instructions: 1146
    mov         rdi, r14                ; the loop reads the buffer ...
    mov         byte [r14 + 16383], 0   ; ... up to its last byte: no other one is zero
    vpxorq      xmm16, xmm16, xmm16
.loop:
    vmovdqa64   ymm17, [rdi + 0x80]
    vpminub     ymm18, ymm17, [rdi + 0xa0]
    vmovdqa64   ymm19, [rdi + 0xc0]
    vpminub     ymm20, ymm19, [rdi + 0xe0]
    vpcmpb      k0, ymm16, ymm18, 0     ; as objdump shows it: vpcmpeqb
    vpcmpb      k1, ymm16, ymm20, 0
    sub         rdi, -0x80
    kortestd    k1, k0
    je          .loop
