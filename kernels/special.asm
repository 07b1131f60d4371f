; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels whose instructions take tens of cycles each, so that their blocks hold few of them: PAUSE and the AMX tile
; product. A block of a hundred would last longer than the 1 us at which kernels are sampled. Loop control is above 2 %
; of their instructions, but far below 2 % of their time: one micro-op among hundreds of cycles.

%define SAVED       rbx
%include "kernel.inc"

extern kernel_operands_amx

; 140 cycles each since Skylake, about 10 before (Intel optimization manual, 2.6.4 "Pause latency in Skylake Client
; microarchitecture")
%define PAUSES      2

%macro PAUSE_KERNEL 2
ENTER_KERNEL %1, %2
    align   64
.block:
    %rep PAUSES
    pause
    %endrep
    END_BLOCK
LEAVE_KERNEL
%endmacro

section .text
    PAUSE_KERNEL kernel_pause_1, ALIGN_PLAIN
    PAUSE_KERNEL kernel_pause_0, ALIGN_COPY
    SINGLE_TABLES pause, PAUSES

; Tiles 0 to 3 accumulate (52 cycles of latency, one in 16 cycles: 4 are enough), 4 and 5 hold A, 6 and 7 B and B'
; (Intel optimization manual, chapter "Intel AMX instructions and code optimization").
%define TILES       4
%define ROUNDS      4

%define CLEAN       tilerelease

section .rodata align=64
; palette 1, all eight tiles of 16 rows of 64 bytes
global kernel_tile_config:data hidden
kernel_tile_config:
    db      1
    times 15 db 0
    times 8 dw 64
    times 16 db 0
    times 8 db 16
    times 8 db 0

%macro AMX_KERNEL 2
ENTER_KERNEL %1, %2
    ldtilecfg [kernel_tile_config]
    lea     rax, [kernel_operands_amx]
    mov     edx, 64
    %assign n 0
    %rep TILES
    tilezero tmm%[n]
    %assign input n + 4
    tileloadd tmm%[input], [rax + rdx]
    %assign n n + 1
    %if n < TILES
    add     rax, 1024
    %endif
    %endrep
    align   64
.block:
    %assign round 0
    %rep ROUNDS
    %assign n 0
    %rep TILES
    %assign a 4 + (n & 1)
    %assign b 6 + (round & 1)
    tdpbf16ps tmm%[n], tmm%[a], tmm%[b]
    %assign n n + 1
    %endrep
    %assign round round + 1
    %endrep
    END_BLOCK
    mov     rax, [FRAME_STATE]
    test    rax, rax
    jz      near .stored
    mov     edx, 64
    %assign n 0
    %rep TILES
    tilestored [rax + rdx], tmm%[n]
    add     rax, 1024
    %assign n n + 1
    %endrep
.stored:
    vzeroupper ; dirty or not: only a kernel before it can have left upper halves in use
LEAVE_KERNEL
%endmacro

section .text
    AMX_KERNEL kernel_amx_1, ALIGN_PLAIN
    AMX_KERNEL kernel_amx_0, ALIGN_COPY
    SINGLE_TABLES amx, TILES * ROUNDS

section .note.GNU-stack noalloc noexec nowrite progbits
