/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disassembles a block and refuses what cannot be run. */
#include "drivers/block/block_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WITHOUT_ZYDIS
#include <Zydis/Zydis.h>

/* ---- instruction sets that blocks may use ---- */

enum { EAX, EBX, ECX, EDX };
enum block_leaf { NO_LEAF, OF_VERSION, OF_STRUCTURED, OF_STRUCTURED_1, OF_EXTENDED };
static const struct {
    unsigned leaf, subleaf;
} leaves[] = {
    [OF_VERSION] = {1, 0}, [OF_STRUCTURED] = {7, 0}, [OF_STRUCTURED_1] = {7, 1}, [OF_EXTENDED] = {0x80000001, 0}};

/* Instruction sets of every x86-64. */
static const char *const base[] = {"I86",          "I186",  "I386", "I486",     "I486REAL",
                                   "PENTIUMREAL",  "PPRO",  "CMOV", "LONGMODE", "FAT_NOP",
                                   "PREFETCH_NOP", "PAUSE", "SSE",  "SSE2",     "SSE_PREFETCH"};

/* The bit in CPUID, or no leaf: a feature alone (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E). */
struct block_isa {
    const char *name;
    unsigned features;
    enum block_leaf leaf;
    unsigned reg, bit;
};

static const struct block_isa isas[] = {
    {"LAHF", 0, OF_EXTENDED, ECX, 0},
    {"CMPXCHG16B", 0, OF_VERSION, ECX, 13},
    {"SSE3", 0, OF_VERSION, ECX, 0},
    {"PCLMULQDQ", 0, OF_VERSION, ECX, 1},
    {"SSSE3", 0, OF_VERSION, ECX, 9},
    {"SSE4", 0, OF_VERSION, ECX, 19},
    {"SSE42", 0, OF_VERSION, ECX, 20},
    {"MOVBE", 0, OF_VERSION, ECX, 22},
    {"POPCNT", 0, OF_VERSION, ECX, 23},
    {"AES", 0, OF_VERSION, ECX, 25},
    {"LZCNT", 0, OF_EXTENDED, ECX, 5},
    {"BMI1", 0, OF_STRUCTURED, EBX, 3},
    {"BMI2", 0, OF_STRUCTURED, EBX, 8},
    {"ADOX_ADCX", 0, OF_STRUCTURED, EBX, 19},
    {"SHA", 0, OF_STRUCTURED, EBX, 29},
    {"GFNI", 0, OF_STRUCTURED, ECX, 8},
    {.name = "AVX", .features = KERNEL_NEEDS_AVX},
    {.name = "AVX2", .features = KERNEL_NEEDS_AVX2},
    {.name = "AVX2GATHER", .features = KERNEL_NEEDS_AVX2},
    {.name = "FMA", .features = KERNEL_NEEDS_FMA},
    {"F16C", KERNEL_NEEDS_AVX, OF_VERSION, ECX, 29},
    {"AVXAES", KERNEL_NEEDS_AVX, OF_VERSION, ECX, 25},
    {"AVX_GFNI", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 8},
    {"VAES", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 9},
    {"VPCLMULQDQ", KERNEL_NEEDS_AVX, OF_STRUCTURED, ECX, 10},
    {"AVX_VNNI", KERNEL_NEEDS_AVX2, OF_STRUCTURED_1, EAX, 4},
    {.name = "AVX512F", .features = KERNEL_NEEDS_AVX512F},
    {"AVX512DQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 17},
    {"AVX512_IFMA", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 21},
    {"AVX512CD", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 28},
    {"AVX512BW", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EBX, 30},
    {"AVX512_VBMI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 1},
    {"AVX512_VBMI2", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 6},
    {"AVX512_GFNI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 8},
    {"AVX512_VAES", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 9},
    {"AVX512_VPCLMULQDQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 10},
    {"AVX512_VNNI", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 11},
    {"AVX512_BITALG", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 12},
    {"AVX512_VPOPCNTDQ", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, ECX, 14},
    {"AVX512_VP2INTERSECT", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EDX, 8},
    {"AVX512_FP16", KERNEL_NEEDS_AVX512F, OF_STRUCTURED, EDX, 23},
    {"AVX512_BF16", KERNEL_NEEDS_AVX512F, OF_STRUCTURED_1, EAX, 5},
};

static bool cpu_has(const struct block_isa *s, cpuid_fn *cpuid)
{
    struct cpuid_regs r;
    if (s->leaf == NO_LEAF)
        return true;
    cpu_read_leaf(cpuid, leaves[s->leaf].leaf, leaves[s->leaf].subleaf, &r);
    const uint32_t regs[] = {[EAX] = r.eax, [EBX] = r.ebx, [ECX] = r.ecx, [EDX] = r.edx};
    return (regs[s->reg] >> s->bit & 1) != 0;
}

/* Returns true if blocks may use an instruction set, by the name that Zydis has for it ("AVX512BW_256"); the features
 * that machines know by name are or-ed to *features, and *here says whether the CPU has it besides these. */
static bool block_set_known(const char *isa, cpuid_fn *cpuid, unsigned *features, bool *here)
{
    static const char *const ends[] = {"_128", "_256", "_512", "_128N", "_SCALAR", "_KOP"};
    const char *end = strncmp(isa, "AVX512", 6) == 0 ? strrchr(isa, '_') : NULL;
    size_t length = strlen(isa);
    bool narrow = false;
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        if (strcmp(base[i], isa) == 0)
            return *here = true;
    for (size_t i = 0; end != NULL && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0) {
            length = (size_t)(end - isa);
            narrow = i < 2;
        }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (strlen(isas[i].name) == length && strncmp(isas[i].name, isa, length) == 0) {
            *features |= isas[i].features | (narrow ? KERNEL_NEEDS_AVX512VL : 0u);
            *here = cpu_has(&isas[i], cpuid);
            return true;
        }
    return false;
}

/* ---- instructions ---- */

/* An instruction as it was decoded. */
struct decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool block_decode(const struct block_text *t, size_t offset, struct decoded *d)
{
    ZydisDecoder decoder;
    return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, t->code + offset, t->n - offset, &d->i, d->operand));
}

void block_insn_text(const struct block_text *text, const struct block_insn *insn, char *out, size_t size)
{
    struct decoded d;
    ZydisFormatter formatter;
    if (!block_decode(text, insn->offset, &d) ||
        !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &d.i, d.operand, d.i.operand_count_visible, out, size,
                                                      insn->offset, NULL)))
        out[0] = '\0';
}

/* The number of the 64-bit register that it is part of; -1: none. */
static int gpr_number(ZydisRegister r)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

/* The reason why instructions of this kind are refused, whatever their operands; NULL: they are not. */
static const char *kind_refused(const ZydisDecodedInstruction *i)
{
    static const struct {
        ZydisInstructionCategory category;
        const char *why;
    } kinds[] = {{ZYDIS_CATEGORY_CALL, "calls and returns use the stack"},
                 {ZYDIS_CATEGORY_RET, "calls and returns use the stack"},
                 {ZYDIS_CATEGORY_PUSH, "it uses the stack"},
                 {ZYDIS_CATEGORY_POP, "it uses the stack"},
                 {ZYDIS_CATEGORY_SYSCALL, "it enters the operating system"},
                 {ZYDIS_CATEGORY_SYSRET, "it is privileged"},
                 {ZYDIS_CATEGORY_INTERRUPT, "it enters the operating system"},
                 {ZYDIS_CATEGORY_IO, "it needs a privilege"},
                 {ZYDIS_CATEGORY_IOSTRINGOP, "it needs a privilege"},
                 {ZYDIS_CATEGORY_SYSTEM, "it is a system instruction"},
                 {ZYDIS_CATEGORY_SEGOP, "it is a system instruction"},
                 {ZYDIS_CATEGORY_STRINGOP, "string instructions are loops in microcode"},
                 {ZYDIS_CATEGORY_SCATTER, "where a scatter writes cannot be checked"}};
    if (i->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
        return "it is privileged";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (i->meta.category == kinds[k].category)
            return kinds[k].why;
    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
        return "it always faults";
    case ZYDIS_MNEMONIC_CPUID:
        return "hypervisors stop at it";
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR:
        return "other kernels would run with its MXCSR";
    case ZYDIS_MNEMONIC_STD:
        return "the direction flag must stay clear";
    default:
        return NULL;
    }
}

static const char *memory_refused(const struct decoded *d, const ZydisDecodedOperand *o)
{
    const ZydisDecodedOperandMem *m = &o->mem;
    bool vector = m->type == ZYDIS_MEMOP_TYPE_VSIB;
    if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS)
        return "FS and GS are the program's";
    if (m->base == ZYDIS_REGISTER_RIP)
        return "an address relative to the instruction is outside of the buffer; copy constants into it or make them";
    if (m->base == ZYDIS_REGISTER_NONE && m->index == ZYDIS_REGISTER_NONE)
        return "a fixed address is outside of the buffer";
    if (d->i.address_width != 64)
        return "addresses must have 64 bits";
    if ((m->base != ZYDIS_REGISTER_NONE && ZydisRegisterGetClass(m->base) != ZYDIS_REGCLASS_GPR64) ||
        (!vector && m->index != ZYDIS_REGISTER_NONE && ZydisRegisterGetClass(m->index) != ZYDIS_REGCLASS_GPR64))
        return "its address cannot be checked";
    if (d->i.meta.category == ZYDIS_CATEGORY_BITBYTE && d->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
        return "its bit may lie anywhere in memory";
    return NULL;
}

/* True where it loads or stores: neither addresses that are only computed nor hints. */
static bool touches_memory(const struct decoded *d, const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
           d->i.meta.category != ZYDIS_CATEGORY_NOP && d->i.meta.category != ZYDIS_CATEGORY_WIDENOP &&
           d->i.meta.category != ZYDIS_CATEGORY_PREFETCH;
}

/* Notes what registers it uses; returns why it is refused, or NULL. */
static const char *register_refused(struct block_shape *s, ZydisRegister r, bool writes)
{
    int n = gpr_number(r);
    if (n == BLOCK_RSP)
        return "it uses the stack pointer";
    if (n == BLOCK_COUNTER)
        return "r15 counts the blocks";
    if (n == BLOCK_BUFFER && writes)
        return "r14 is the address of the buffer";
    if (n >= 0 && writes)
        s->written |= 1u << n;
    ZydisRegisterClass class = ZydisRegisterGetClass(r);
    bool high = (class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM) &&
                ZydisRegisterGetId(r) > 15;
    s->uses |= (high ? BLOCK_16_31 : 0) | (class == ZYDIS_REGCLASS_MASK ? BLOCK_MASKS : 0);
    return NULL;
}

static const char *operands_refused(struct block_shape *s, struct block_insn *insn, const struct decoded *d)
{
    for (size_t k = 0; k < d->i.operand_count; k++) {
        const ZydisDecodedOperand *o = &d->operand[k];
        bool writes = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        const char *why = NULL;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
            why = register_refused(s, o->reg.value, writes);
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            why = touches_memory(d, o) ? memory_refused(d, o) : NULL;
            why = why != NULL ? why : register_refused(s, o->mem.base, false);
            why = why != NULL ? why : register_refused(s, o->mem.index, false);
        }
        if (why != NULL)
            return why;
        if (!touches_memory(d, o) || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            continue;
        if (insn->n_memory == BLOCK_MEMORY_MAX)
            return "its addresses cannot be checked";
        insn->memory[insn->n_memory++] = (struct block_memory){.base = (int8_t)gpr_number(o->mem.base),
                                                               .index = (int8_t)gpr_number(o->mem.index),
                                                               .scale = o->mem.scale,
                                                               .write = writes,
                                                               .bytes = o->size / 8,
                                                               .displacement = o->mem.disp.value};
    }
    return NULL;
}

/* Checks a jump; returns why it is refused, or NULL. */
static const char *jump_refused(const struct block_text *t, const struct block_insn *insn, const struct decoded *d)
{
    const ZydisDecodedOperand *o = &d->operand[0];
    if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !o->imm.is_relative)
        return "where it jumps cannot be checked";
    int64_t target = (int64_t)insn->offset + insn->length + o->imm.value.s;
    return target < 0 || target > (int64_t)t->n ? "it jumps out of the block" : NULL;
}

static bool jump_of(const struct decoded *d)
{
    return d->i.meta.category == ZYDIS_CATEGORY_COND_BR || d->i.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

/* Without the v of AVX. */
static const char *mnemonic_of(const struct decoded *d)
{
    const char *name = ZydisMnemonicGetString(d->i.mnemonic);
    return name + (*name == 'v');
}

/* True where it is of floating point, packed ('p') or scalar ('s'), by its end, as addps and addsd. Those of packed
 * integers begin with p, whatever they end with, as pminsd and pdpbusd. */
static bool is_float(const char *name, char kind)
{
    const char *end = name + strlen(name) - 2; /* all have two letters */
    return *name != 'p' && end[0] == kind && strchr("sdh", end[1]) != NULL;
}

/* Bits of its widest vector register, of scalar floating point 64, as in the kernel 64fma. */
static unsigned width_of(const struct decoded *d)
{
    unsigned width = 64;
    for (size_t k = 0; k < d->i.operand_count_visible; k++) {
        if (d->operand[k].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        ZydisRegisterClass class = ZydisRegisterGetClass(d->operand[k].reg.value);
        unsigned w = class == ZYDIS_REGCLASS_ZMM   ? 512
                     : class == ZYDIS_REGCLASS_YMM ? 256
                     : class == ZYDIS_REGCLASS_XMM ? 128
                                                   : 64;
        width = w > width ? w : width;
    }
    /* a value converted into a general-purpose register is a scalar, too */
    bool into_gpr = strncmp(mnemonic_of(d), "cvt", 3) == 0 && d->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    gpr_number(d->operand[0].reg.value) >= 0;
    return width == 128 && (into_gpr || is_float(mnemonic_of(d), 's')) ? 64 : width;
}

/* Floating-point arithmetic and integer multiplication (kernels.h), by mnemonic: what moves and selects is light. The
 * counts of leading zeros run in the multiplier: with 256 bits, 98.8 to 99.95 % of their cycles were counted at level 1
 * on a Gold 6140 and an i9-7900X (github.com/Quasilyte/avx512counters), those of no other light form. */
static bool heavy_of(const struct decoded *d)
{
    static const char *const floating[] = {"add",   "sub",   "mul",   "div",    "sqrt",  "fm",      "fnm",
                                           "hadd",  "hsub",  "min",   "max",    "cmp",   "dp",      "round",
                                           "rndsc", "rcp",   "rsqrt", "scalef", "getex", "getmant", "range",
                                           "reduc", "fixup", "comi",  "ucomi",  "cvt",   "fpclass", "fcm"};
    static const char *const integer[] = {"pmul", "pmadd", "pdp", "imul", "mul", "pclmul", "plzcnt"};
    const char *name = mnemonic_of(d);
    bool real = is_float(name, 'p') || is_float(name, 's');
    for (size_t k = 0; k < sizeof integer / sizeof *integer; k++)
        if (!real && strncmp(name, integer[k], strlen(integer[k])) == 0)
            return true;
    for (size_t k = 0; k < sizeof floating / sizeof *floating; k++)
        if ((real || strncmp(name, "cvt", 3) == 0) && strncmp(name, floating[k], strlen(floating[k])) == 0)
            return true;
    return false;
}

/* Encodings need the registers of their set, also where the instruction belongs to another one. */
static void note_encoding(struct block_shape *s, const struct decoded *d)
{
    if (d->i.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        s->features |= KERNEL_NEEDS_AVX;
    if (d->i.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        s->features |= KERNEL_NEEDS_AVX512F;
}

static int refuse_insn(const char *file, const struct block_text *t, const struct block_insn *insn,
                       enum machine_status status, const char *why, struct machine_error *err)
{
    char text[100];
    block_insn_text(t, insn, text, sizeof text);
    return machine_fail(err, status, "", "%.200s: '%s' at byte %u: %s", file, text, insn->offset, why);
}

static int check_insn(const char *file, const struct block_text *t, struct block_shape *s, struct block_insn *insn,
                      struct machine_error *err)
{
    struct decoded d;
    if (!block_decode(t, insn->offset, &d))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: the bytes at %u are no instruction", file,
                            insn->offset);
    insn->mnemonic = ZydisMnemonicGetString(d.i.mnemonic);
    insn->length = d.i.length;
    insn->width = (uint16_t)width_of(&d);
    insn->heavy = heavy_of(&d);
    const char *isa = ZydisISASetGetString(d.i.meta.isa_set), *why = kind_refused(&d.i);
    bool here = true;
    char other[100];
    if (why == NULL && !block_set_known(isa, cpu_cpuid_here, &s->features, &here)) {
        snprintf(other, sizeof other, "blocks may not use the instruction set %.40s", isa);
        why = other;
    }
    why = why != NULL ? why : operands_refused(s, insn, &d);
    if (why == NULL && jump_of(&d)) {
        s->jumps = true;
        why = jump_refused(t, insn, &d);
    }
    if (why != NULL)
        return refuse_insn(file, t, insn, MACHINE_BAD_INPUT, why, err);
    note_encoding(s, &d);
    s->uses |= strncmp(isa, "AVX512BW", 8) == 0 ? BLOCK_LONG_MASKS : 0;
    s->elsewhere |= !here;
    if (!here && !t->elsewhere) {
        snprintf(other, sizeof other, "this CPU does not have the instruction set %.40s", isa);
        return refuse_insn(file, t, insn, MACHINE_CANNOT, other, err);
    }
    return MACHINE_OK;
}

/* Jumps lead to instructions, not into them. */
static int check_targets(const char *file, const struct block_text *t, const struct block_shape *s,
                         struct machine_error *err)
{
    for (size_t k = 0; k < s->n; k++) {
        struct decoded d;
        const struct block_insn *insn = &s->insn[k];
        if (!block_decode(t, insn->offset, &d) || !jump_of(&d))
            continue;
        int64_t target = (int64_t)insn->offset + insn->length + d.operand[0].imm.value.s;
        if (target < (int64_t)t->n && s->at[target] < 0)
            return refuse_insn(file, t, insn, MACHINE_BAD_INPUT, "it jumps into an instruction", err);
    }
    return MACHINE_OK;
}

/* The widest instructions count, of these the heavy ones if there are any; what is declared only names the kind. */
static void conclude_shape(const struct block_text *t, struct block_shape *s)
{
    bool heavy = false;
    unsigned widest = 64;
    for (size_t k = 0; k < s->n; k++)
        widest = s->insn[k].width > widest ? s->insn[k].width : widest;
    for (size_t k = 0; k < s->n; k++)
        heavy |= s->insn[k].width == widest && s->insn[k].heavy;
    for (size_t k = 0; k < s->n; k++)
        s->insn[k].counted = s->insn[k].width == widest && (s->insn[k].heavy || !heavy);
    s->width = t->width != 0 ? t->width : widest;
    s->weight = t->weight == BLOCK_HEAVY || (t->weight == BLOCK_ANY_WEIGHT && heavy) ? KERNEL_HEAVY : KERNEL_LIGHT;
    s->uses |= (s->features & KERNEL_NEEDS_AVX512F ? BLOCK_ZMM : 0) | (s->features & KERNEL_NEEDS_AVX ? BLOCK_YMM : 0);
}

int block_check(const char *file, const struct block_text *text, struct block_shape *out, struct machine_error *err)
{
    *out = (struct block_shape){.insn = calloc(text->n, sizeof *out->insn), .at = malloc(text->n * sizeof *out->at)};
    int status = out->insn != NULL && out->at != NULL ? MACHINE_OK
                                                      : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < text->n && status == MACHINE_OK; i++)
        out->at[i] = -1;
    for (size_t offset = 0; offset < text->n && status == MACHINE_OK;) {
        struct block_insn *insn = &out->insn[out->n];
        insn->offset = (uint16_t)offset;
        status = check_insn(file, text, out, insn, err);
        out->at[offset] = (int32_t)out->n++;
        offset += insn->length;
    }
    if (status == MACHINE_OK)
        status = check_targets(file, text, out, err);
    if (status == MACHINE_OK)
        conclude_shape(text, out);
    else
        block_shape_free(out);
    return status;
}

void block_shape_free(struct block_shape *s)
{
    free(s->insn);
    free(s->at);
    s->insn = NULL;
    s->at = NULL;
}

#else /* the static program, where Zydis is a shared library: no disassembler */

int block_check(const char *file, const struct block_text *text, struct block_shape *out, struct machine_error *err)
{
    (void)text;
    *out = (struct block_shape){0};
    return machine_fail(err, MACHINE_CANNOT, "use the program of the package or of 'make', which have it",
                        "%.200s: this static program has no disassembler (Zydis) to check blocks by before they run",
                        file);
}

void block_shape_free(struct block_shape *s)
{
    (void)s;
}

void block_insn_text(const struct block_text *text, const struct block_insn *insn, char *out, size_t size)
{
    (void)text;
    (void)insn;
    if (size > 0)
        out[0] = '\0';
}
#endif
