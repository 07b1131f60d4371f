; SPDX-License-Identifier: GPL-2.0-or-later
;
; What runs a block from a file (drivers/block/): the frame of a kernel around code that is not known here. The code has
; r14, its buffer, which it does not change, and counts in r15; rsp is left alone. All other registers are its own. Not
; in the Linux module.

%define SAVED       rbx, rbp, r12, r13, r14, r15
%include "kernel.inc"

; struct block_frame (drivers/block/block_parts.h)
%define HOST_TURN       r8
%define HOST_SLOTS      r8 + 8
%define HOST_N_SLOTS    r8 + 16
%define HOST_STRIDE     r8 + 24
%define HOST_USES       r8 + 32
%define USES_YMM        1
%define USES_ZMM        2
%define USES_16_31      4
%define USES_MASKS      8
%define USES_LONG_MASKS 16
%define USES_FLUSHED    32

; kept on the stack, as the code may use every register
%assign frame_buffer    32
%define FRAME_TURN      FRAME_BUFFER
%define FRAME_SLOT      FRAME_BUFFER + 8
%define FRAME_USES      FRAME_BUFFER + 16
%define FRAME_MXCSR     FRAME_BUFFER + 24
%define FRAME_FLUSHING  FRAME_BUFFER + 28

%define MXCSR_FLUSHING  0x9fc0 ; the default, 0x1f80, with FTZ and DAZ

%define CLEAN       vzeroupper

; %1 instruction, %2 kind of register, %3 first, %4 how many: from the buffer, a line each
%macro LOAD_REGISTERS 4
    %assign %%n %3
    %rep %4
    %1      %2%[%%n], [r14 + 64 * %%n]
    %assign %%n %%n + 1
    %endrep
%endmacro

section .text
; a kernel_fn with a fifth argument in r8
ENTER_KERNEL kernel_block_enter
    mov     rax, [HOST_TURN]
    mov     [FRAME_TURN], rax
    mov     r9, [HOST_USES]
    mov     [FRAME_USES], r9
    test    r9d, USES_FLUSHED
    jz      short .buffer
    stmxcsr [FRAME_MXCSR]
    mov     dword [FRAME_FLUSHING], MXCSR_FLUSHING
    ldmxcsr [FRAME_FLUSHING]
.buffer:
    ; each CPU has a buffer of its own: TSC_AUX is its number (Linux: bits 0 to 11)
    rdtscp
    and     ecx, 0xfff
    xor     eax, eax
    cmp     rcx, [HOST_N_SLOTS]
    cmovae  ecx, eax
    imul    rcx, [HOST_STRIDE]
    add     rcx, [HOST_SLOTS]
    mov     [FRAME_SLOT], rcx
    mov     r14, rcx
    test    r9d, USES_ZMM
    jnz     near .zmm
    test    r9d, USES_YMM
    jnz     near .ymm
    LOAD_REGISTERS movups, xmm, 0, 16
    jmp     near .loaded
.ymm:
    LOAD_REGISTERS vmovups, ymm, 0, 16
    jmp     near .loaded
.zmm:
    LOAD_REGISTERS vmovups, zmm, 0, 16
    test    r9d, USES_16_31
    jz      near .masks
    LOAD_REGISTERS vmovups, zmm, 16, 16
.masks:
    test    r9d, USES_MASKS
    jz      near .loaded
    %assign n 1
    %rep 7
    kxnorw  k%[n], k0, k0
    %assign n n + 1
    %endrep
    test    r9d, USES_LONG_MASKS
    jz      near .loaded
    %assign n 1
    %rep 7
    kxnorq  k%[n], k0, k0
    %assign n n + 1
    %endrep
.loaded:
    ; nothing to clean where no upper halves were used
    test    r9d, USES_YMM | USES_ZMM
    jnz     short .block
    mov     qword [FRAME_DIRTY], 1
.block:
    mov     r15, [FRAME_BLOCKS]
    mov     r14, [FRAME_SLOT]
    %macro POINT 1-*
    %rep %0
    mov     %1, r14
    %rotate 1
    %endrep
    %endmacro
    POINT   rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13
    jmp     [FRAME_TURN]
.back:
    NEXT_ROUND
    ; VZEROUPPER does not clean registers 16 to 31
    test    qword [FRAME_USES], USES_16_31
    jz      near .low
    %assign n 16
    %rep 16
    vpxord  zmm%[n], zmm%[n], zmm%[n]
    %assign n n + 1
    %endrep
.low:
    test    qword [FRAME_USES], USES_FLUSHED
    jz      short .leave
    ldmxcsr [FRAME_MXCSR]
.leave:
LEAVE_KERNEL

section .data.rel.ro progbits alloc noexec write align=8
global kernel_block_back:data hidden
kernel_block_back:
    dq      kernel_block_enter.back

section .note.GNU-stack noalloc noexec nowrite progbits
