; SPDX-License-Identifier: GPL-2.0-or-later
;
; One instruction after an idle time: uint64_t f(uint64_t until (rdi), uint64_t *begin (rsi)). The core spins on scalar
; code until the TSC reaches `until`, so that it does not sleep; then the instruction runs between two reads of the TSC
; that nothing passes: *begin receives the first, the return value is the second.

%include "kernel.inc"

extern kernel_tile_config

; tiles must be configured before they are used, and this is no use of the unit that multiplies them: it is done before
; the core spins
%define BEFORE_nothing
%define BEFORE_upper
%define BEFORE_dirty
%define BEFORE_released
%macro BEFORE_tiles 0
    ldtilecfg [kernel_tile_config]
    tilezero tmm0
    tilezero tmm4
    tilezero tmm6
%endmacro
%define READY_nothing
%define READY_upper
%define READY_tiles
%define READY_dirty
%define READY_released BEFORE_tiles
%define AFTER_nothing
%define AFTER_upper    vzeroupper
%define AFTER_tiles    tilerelease
%define AFTER_dirty    tilerelease
%define AFTER_released tilerelease

; %1 symbol, %2 what it uses: nothing, upper (halves, which are cleaned after it), tiles; tiles as they
; are (dirty), or configured after the spinning (released); %3 the instruction
%macro FIRST_USE 3+
align 64
FUNCTION %1, hidden
%1:
    endbr64
    BEFORE_%2
.spin:
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    cmp     rax, rdi
    jb      .spin
    READY_%2
    lfence
    rdtsc
    lfence
    shl     rdx, 32
    or      rax, rdx
    mov     r9, rax
    %3
    lfence
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     [rsi], r9
    AFTER_%2
    RETURN
%endmacro

section .text
    FIRST_USE   kernel_first_nothing, nothing, nop
    FIRST_USE   kernel_first_256, upper, vfmadd231pd ymm0, ymm0, ymm0
    FIRST_USE   kernel_first_256_avx, upper, vmulpd ymm0, ymm0, ymm0
    FIRST_USE   kernel_first_512, upper, vfmadd231pd zmm0, zmm0, zmm0
    FIRST_USE   kernel_first_amx, tiles, tdpbf16ps tmm0, tmm4, tmm6
    FIRST_USE   kernel_first_amx_dirty, dirty, tdpbf16ps tmm0, tmm4, tmm6
    FIRST_USE   kernel_first_amx_released, released, tdpbf16ps tmm0, tmm4, tmm6

section .note.GNU-stack noalloc noexec nowrite progbits
