# SPDX-License-Identifier: GPL-3.0-or-later
#
# make            ./characterize and libcharacterize.a (everything but cli/)
# make test       unit and command-line tests          make sanitize   the same under ASan and UBSan
# make bench      cost of a sample, period, frequency  make lint       clang-tidy or cppcheck, shellcheck
# make install    PREFIX (/usr/local) and DESTDIR are honoured

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
NASM    ?= nasm
BUILD   ?= build
# where the program is linked to; sanitize puts its own beside its objects
OUT     ?= .

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
           -Wformat=2 -Wundef -Wvla
CPPFLAGS += -I. -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -DDATA_DIR='"$(PREFIX)/share/characterize"'
ALL_CFLAGS = -std=c11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)
LDLIBS  = -lgsl -lgslcblas -ljansson -lpthread -lm
NASMFLAGS := -f elf64 -g -F dwarf -Ikernels/ -Werror

ASM      := $(wildcard kernels/*.asm)
LIB_SRC  := $(wildcard kernels/*.c drivers/*.c probes/*.c analysis/*.c)
CLI_SRC  := $(wildcard cli/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
# helpers shared by unit tests: trace generators, not tests themselves
HELP_SRC := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
BENCH_SRC := $(wildcard tests/bench/*.c)

LIB_OBJ  := $(ASM:%.asm=$(BUILD)/%.asm.o) $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
HELP_OBJ := $(HELP_SRC:%.c=$(BUILD)/%.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
BENCH_BIN := $(BENCH_SRC:%.c=$(BUILD)/%)

all: $(OUT)/characterize

$(OUT)/characterize: $(CLI_OBJ) $(OUT)/libcharacterize.a
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $(CLI_OBJ) $(OUT)/libcharacterize.a $(LDLIBS)

$(OUT)/libcharacterize.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.asm.o: %.asm Makefile
	@mkdir -p $(@D)
	$(NASM) $(NASMFLAGS) -MD $(@:.o=.d) -MT $@ -o $@ $<

$(UNIT_BIN): $(BUILD)/%: $(BUILD)/%.o $(HELP_OBJ) $(OUT)/libcharacterize.a
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $< $(HELP_OBJ) $(OUT)/libcharacterize.a -lcmocka $(LDLIBS)

$(BENCH_BIN): $(BUILD)/%: $(BUILD)/%.o $(OUT)/libcharacterize.a
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $< $(OUT)/libcharacterize.a $(LDLIBS)

unit: $(UNIT_BIN)

clean:
	rm -rf build build-* characterize libcharacterize.a

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(HELP_OBJ:.o=.d) $(UNIT_BIN:=.d) $(BENCH_BIN:=.d)

.PHONY: all unit clean
.SECONDARY:
