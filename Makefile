# SPDX-License-Identifier: GPL-3.0-or-later
#
# `make help` lists the targets: the lines `## NAME  what it does` of this file.

# The one place of the version: the program, the library, the manual page, pkg-config and the Linux module take it.
VERSION := $(shell cat VERSION)
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
CC      ?= cc
NASM    ?= nasm
BUILD   ?= build
# where what is assembled is: NASM takes half a minute, and what it makes is the same under the sanitizers
ASM_BUILD ?= $(BUILD)
# where the program is linked to; sanitize puts its own beside its objects
OUT     ?= .

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
           -Wformat=2 -Wundef -Wvla -Wno-missing-field-initializers
CPPFLAGS += -I. -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -DDATA_DIR='"$(PREFIX)/share/characterize"'
# position-independent, as every object goes into a shared one too
PIC     := -fPIC -fno-semantic-interposition
ALL_CFLAGS = -std=c11 $(WARN) $(CPPFLAGS) $(PIC) $(CFLAGS) $(SANITIZE)
LIBRARY_LDLIBS = -lgsl -lgslcblas -ljansson -lz -lZydis -lpthread -lm
# what the profiler needs besides: it reads symbols and draws on terminals
LDLIBS  = -ldw -lelf -lncursesw $(LIBRARY_LDLIBS)
# make static: what static libraries need besides; Debian has Zydis as a shared one alone
ifdef STATIC_PROGRAM
LIBRARY_LDLIBS := $(if $(findstring /,$(shell $(CC) -print-file-name=libZydis.a)),$(LIBRARY_LDLIBS) -lZycore,$(filter-out -lZydis,$(LIBRARY_LDLIBS)))
LDLIBS += -ltinfo -llzma -lbz2 -lz
LDFLAGS += -static
CPPFLAGS += -DSTATIC_PROGRAM $(if $(filter -lZydis,$(LIBRARY_LDLIBS)),,-DWITHOUT_ZYDIS)
endif
NASMFLAGS := -f elf64 -g -F dwarf -Ikernels/ -Werror

ASM      := $(wildcard kernels/*.asm)
# every room with those in it; what the Linux module is made of is built by the kernel
ROOMS    := util kernels computer trace drivers probes analysis tables output schedulers profiler library
sources   = $(sort $(shell find $(1) -name '*.c' -not -path '*/kmod/*'))
# characterize-sched, where a compiler of BPF and libbpf are (doc/scheduler.md)
BPF_CC ?= clang-19
LIBBPF := $(filter /%,$(shell $(firstword $(filter-out ccache,$(CC))) -print-file-name=libbpf.a))
SCHED := $(if $(SANITIZE)$(STATIC_PROGRAM),,$(and $(LIBBPF),$(shell command -v $(BPF_CC) 2>/dev/null),characterize-sched))
SCHED_SRC := $(filter-out %.bpf.c,$(call sources,schedulers/live cli/sched))
LIB_SRC  := $(filter-out schedulers/live/%,$(call sources,$(ROOMS)))
# of the programs; what is not in a folder of one of them, all share
PROGRAMS := characterize characterize-simulate characterize-profile
CLI_SRC  := $(filter-out cli/sched/%,$(call sources,cli))
UNIT_SRC := $(call sources,tests/unit)
# helpers shared by unit tests: trace generators, not tests themselves
HELP_SRC := $(call sources,tests/support)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
BENCH_HELP := $(filter %/clock_models.c %/long_chain.c,$(HELP_SRC))
# the analysis against generated traces, in numbers that are too large for make test
SCORE_SRC := $(wildcard tests/bench/score_*.c)

ASM_OBJ  := $(ASM:%.asm=$(ASM_BUILD)/%.asm.o)
LIB_OBJ  := $(ASM_OBJ) $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
own_objects = $(filter $(BUILD)/cli/$(1)/%,$(CLI_OBJ))
SHARED_CLI_OBJ := $(filter-out $(foreach folder,jobs simulate profile,$(call own_objects,$(folder))),$(CLI_OBJ))
HELP_OBJ := $(HELP_SRC:%.c=$(BUILD)/%.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
BENCH_BIN := $(BENCH_SRC:%.c=$(BUILD)/%)
SCORE_BIN := $(SCORE_SRC:%.c=$(BUILD)/%)

# what a program gets that links libcharacterize: not what other programs make of exported files and records
PUBLIC_OBJ := $(filter-out $(BUILD)/profiler/% $(BUILD)/schedulers/%,$(LIB_OBJ))

# The shared library: programs that link it ask for SONAME; it exports what library/characterize.map names.
SONAME  := libcharacterize.so.0
STATIC  := $(OUT)/libcharacterize.a
INTERNAL := $(BUILD)/libinternal.a
OBJCOPY ?= objcopy
SHARED  := $(OUT)/libcharacterize.so.$(VERSION)

## all            ./characterize, -simulate, -profile, -sched, and libcharacterize, static and shared (default)
# what is built with the sanitizers is for the tests alone
all: $(PROGRAMS:%=$(OUT)/%) $(if $(SANITIZE),,$(STATIC) $(SHARED) $(or $(SCHED:%=$(OUT)/%),without-sched))
without-sched:
	@echo 'left out: characterize-sched, which needs clang-19 and libbpf (apt-get install clang-19 libbpf-dev)'

## help           this list
help:
	@sed -n 's/^## //p' Makefile

$(OUT)/characterize: $(call own_objects,jobs)
$(OUT)/characterize-simulate: $(call own_objects,simulate)
$(OUT)/characterize-profile: $(call own_objects,profile)
$(OUT)/characterize $(OUT)/characterize-simulate: PROGRAM_LDLIBS = $(LIBRARY_LDLIBS)
$(OUT)/characterize-profile: PROGRAM_LDLIBS = $(LDLIBS)
$(PROGRAMS:%=$(OUT)/%): $(SHARED_CLI_OBJ) $(INTERNAL)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL) $(PROGRAM_LDLIBS)

# The scheduler itself, for the kernel, lies in the program that loads it. Debian's libelf.a lacks what it needs itself.
# Its BTF names sources, but not the folder of the tree.
bpf = $(BPF_CC) -g -O2 -fdebug-compilation-dir=. -Wall -Wextra -Wno-unused-parameter -Werror -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -I.
$(BUILD)/%.bpf: %.bpf.c Makefile
	@mkdir -p $(@D)
	$(bpf) -MMD -MP -MF $@.d -c -o $@ $<
$(BUILD)/schedulers/live/loader.o: CPPFLAGS += -DLIVE_OBJECT='"$(BUILD)/schedulers/live/sched.bpf"'
$(BUILD)/schedulers/live/loader.o: $(BUILD)/schedulers/live/sched.bpf
$(OUT)/characterize-sched: $(SCHED_SRC:%.c=$(BUILD)/%.o) $(BUILD)/cli/messages.o $(INTERNAL)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL) $(LIBBPF) -lelf -lz -lgsl -lgslcblas -ljansson -lncursesw -lm

# what it takes from schedulers/policy.h, and its look at registers, in the kernel and here
SCHED_TESTS := $(SCHED:%=$(BUILD)/tests/sched/test_policy_bpf $(BUILD)/tests/sched/test_state_bpf)
$(BUILD)/tests/sched/test_policy_bpf.o: CPPFLAGS += -DPOLICY_OBJECT='"$(BUILD)/tests/sched/policy.bpf"'
$(BUILD)/tests/sched/test_state_bpf.o: CPPFLAGS += -DSTATE_OBJECT='"$(BUILD)/tests/sched/state.bpf"'
$(SCHED_TESTS:%=%.o): $(BUILD)/tests/sched/test_%_bpf.o: $(BUILD)/tests/sched/%.bpf
$(SCHED_TESTS): %: %.o $(INTERNAL)
	$(CC) $(LDFLAGS) -o $@ $< $(INTERNAL) $(LIBBPF) -lelf -lz -lm

# Rewritten where what they record has changed: a library must not keep an object whose source is gone, and a program
# linked with the static one knows its data by PREFIX alone.
$(BUILD)/objects: record = $(LIB_OBJ)
$(BUILD)/prefix: record = $(PREFIX)
$(BUILD)/objects $(BUILD)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(record)' | cmp -s - $@ || echo '$(record)' >$@
$(BUILD)/util/data_file.o: $(BUILD)/prefix

# with all its global symbols, for the programs of this tree
$(INTERNAL): $(LIB_OBJ) $(BUILD)/objects
	@mkdir -p $(@D)
	rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# One object in which only the public functions are global: a program that defines a machine_open() of its own keeps it,
# and the library keeps its own as well.
$(STATIC): $(PUBLIC_OBJ) $(BUILD)/objects
	@mkdir -p $(@D)
	$(LD) -r -o $(BUILD)/libcharacterize.o $(PUBLIC_OBJ)
	$(OBJCOPY) --wildcard --keep-global-symbol='characterize_*' $(BUILD)/libcharacterize.o
	rm -f $@ && $(AR) rcs $@ $(BUILD)/libcharacterize.o && rm -f $(BUILD)/libcharacterize.o

$(SHARED): $(PUBLIC_OBJ) $(BUILD)/objects library/characterize.map
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -Wl,-soname,$(SONAME) -Wl,--version-script,library/characterize.map -Wl,-z,defs,-z,text \
	    -Wl,-z,noexecstack -o $@ $(PUBLIC_OBJ) $(LIBRARY_LDLIBS)
	ln -sf $(@F) $(@D)/$(SONAME) && ln -sf $(SONAME) $(@D)/libcharacterize.so

$(BUILD)/%.o: %.c Makefile VERSION
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# tests are compiled once for each run: compiling them takes longer than what faster code would save
$(BUILD)/tests/unit/%.o: CFLAGS := $(filter-out -O2,$(CFLAGS)) -O1

$(ASM_OBJ): $(ASM_BUILD)/%.asm.o: %.asm Makefile
	@mkdir -p $(@D)
	$(NASM) $(NASMFLAGS) -MD $(@:.o=.d) -MT $@ -o $@ $<
# NASM 2.16.01 does not name what a source includes
$(ASM_OBJ): $(wildcard kernels/*.inc)

# Everything that unit tests call, linked once: each test program holds its own code alone and finds this beside it.
# Calls within it go straight to where they lead, as through its table of symbols they took an eighth of the tests' time;
# but for those of functions that tests replace with their own.
REPLACED := cpu_cpuid_here kernel_cpu_features workload_get
UNIT_LIB := $(BUILD)/tests/libunit.so
# tests/support/strict_rows.c
STRICT_ROWS := -Wl,--wrap=table_number -Wl,--wrap=table_text -Wl,--wrap=table_says
$(UNIT_LIB): $(LIB_OBJ) $(HELP_OBJ) $(BUILD)/objects
	$(CC) $(SANITIZE) $(LDFLAGS) $(STRICT_ROWS) -Wl,-Bsymbolic-functions \
	    $(REPLACED:%=-Wl,--export-dynamic-symbol=%) -shared -o $@ $(LIB_OBJ) $(HELP_OBJ) -lcmocka $(LDLIBS)

$(UNIT_BIN) $(SCORE_BIN): $(BUILD)/%: $(BUILD)/%.o $(UNIT_LIB)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $< $(UNIT_LIB) -Wl,-rpath,'$$ORIGIN/$(call upwards,$(@D))' -lcmocka $(LDLIBS)
# from a folder of tests up to build/tests
upwards = $(subst $() ,/,$(patsubst %,..,$(subst /, ,$(1:$(BUILD)/tests/%=%))))

$(BENCH_BIN): $(BUILD)/%: $(BUILD)/%.o $(BENCH_HELP:%.c=$(BUILD)/%.o) $(INTERNAL)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $< $(BENCH_HELP:%.c=$(BUILD)/%.o) $(INTERNAL) $(LDLIBS)

## unit           build the unit tests; a single one: make build/tests/unit/DIRECTORY/test_NAME
# with the benchmarks, which nothing else would notice not to build any more
unit: $(UNIT_BIN) $(if $(SANITIZE),,$(BENCH_BIN)) $(SCHED_TESTS)
## unit-ci        of the unit tests those that ./check --ci runs without the sanitizers, too
# as tests/run-suites.sh chooses them: a sixth
unit_with = $(patsubst %.c,$(BUILD)/%,$(shell grep -l $(1) $(UNIT_SRC)))
SLOW_BIN := $(call unit_with,'^/\* slow: ')
unit-ci: $(sort $(SLOW_BIN) $(call unit_with,sanitized)) $(BENCH_BIN)

## test           unit tests, command-line tests, tests of the build and its scripts
# The tests run what is built in BUILD and OUT.
test: all unit
	BUILD='$(BUILD)' OUT='$(OUT)' MAKE='$(MAKE)' tests/run-suites.sh unit cli scripts

## test-quick     the same without the slow ones
## test-slow      the slow ones alone
## test-ci        of the quick ones what sanitize does not run in brief (SLOW=no)
test-quick test-ci: SLOW = no
test-slow: SLOW = only
test-quick: SUITES = unit cli scripts
test-slow: SUITES = unit cli
test-ci: SUITES = unit-rest cli scripts
test-quick: unit
test-slow: $(SLOW_BIN)
test-ci: unit-ci
test-quick test-slow test-ci: all
	SLOW=$(SLOW) BUILD='$(BUILD)' OUT='$(OUT)' MAKE='$(MAKE)' tests/run-suites.sh $(SUITES)

## test-deep      all cases of the tests that normally run a selection
test-deep: all unit
	BUILD='$(BUILD)' OUT='$(OUT)' MAKE='$(MAKE)' tests/run-suites.sh deep deep-scripts

## mutants        mutation test of the unit tests: N (100) changes to the sources, drawn with SEED (1)
N ?= 100
SEED ?= 1
mutants: unit
	+$(MAKE) BUILD=build-calls OUT=build-calls CFLAGS='-O1 -g1 -Wno-format-truncation -Wno-maybe-uninitialized -finstrument-functions' unit
	@exec env BUILD='$(BUILD)' CALLS_BUILD=build-calls MAKE='$(MAKE)' tests/mutants.sh '$(N)' '$(SEED)'

## caught         what validation catches: a table of models changed in one parameter, against an entry; minutes
caught: all
	CHARACTERIZE='$(abspath $(OUT))/characterize' tests/caught.sh

## golden         rewrite tests/golden, after an intended change to the expected output
GOLDEN_TESTS := $(patsubst %.c,$(BUILD)/%,$(shell grep -rl '"tests/support/golden.h"' tests/unit))
golden: $(GOLDEN_TESTS)
	for test in $^; do GOLDEN=write $$test || exit 1; done

## check          install what is missing, build, and run the quick tests: a few minutes
check:
	+./check
## check-deep     the slow tests: sanitizers, all cases, the kernel helper in a virtual machine
check-deep:
	+./check --deep

# The module is built, loaded and used in there; nothing is loaded into this machine's own kernel.
## test-vm-one    the kernel helper on one kernel in QEMU, with a tenth of the random ioctls, and a short soak
test-vm-one: all
	BUILD='$(BUILD)' OUT='$(OUT)' VM_FUZZ='$(or $(VM_FUZZ),10000)' VM_SOAK='$(or $(VM_SOAK),4)' tests/vm/run-qemu.sh
## test-vm        the kernel helper on three kernels in QEMU
test-vm: all
	BUILD='$(BUILD)' OUT='$(OUT)' tests/vm/run-kernels.sh

## test-vm-stops  the same while the virtual machine is stopped and continued at random for 10 minutes
# The whole virtual machine is stopped and continued at random while repetitions and random ioctls go on in it.
test-vm-stops: all
	BUILD='$(BUILD)' OUT='$(OUT)' VM_STOPS='$(or $(VM_STOPS),600)' tests/vm/run-kernels.sh

## test-vm-soak   the profiler for 10 minutes while tasks and CPUs come and go, on one kernel in QEMU
test-vm-soak: all
	BUILD='$(BUILD)' OUT='$(OUT)' VM_FUZZ='$(or $(VM_FUZZ),20000)' VM_SOAK='$(or $(VM_SOAK),600)' tests/vm/run-qemu.sh

## test-vm-quiet  --quiet-machine, --table variability at each refinement, in QEMU with an isolated CPU; minutes
test-vm-quiet: all
	BUILD='$(BUILD)' OUT='$(OUT)' tests/vm/run-quiet.sh

## test-vm-sched  characterize-sched on a kernel with sched_ext in QEMU: shares, wide cores, faults, how it ends; 3 minutes
test-vm-sched: all
	BUILD='$(BUILD)' OUT='$(OUT)' tests/vm/run-sched.sh

## test-vm-avx512 the kernel helper with 512-bit kernels, in Bochs; takes minutes
test-vm-avx512: all
	BUILD='$(BUILD)' OUT='$(OUT)' tests/vm/run-bochs.sh

## test-valgrind  --check environment, --quiet-machine and --restore under valgrind, on fake /sys and /proc trees
test-valgrind: all
	CHARACTERIZE='$(OUT)/characterize' tests/valgrind.sh

## test-resume    kill --all at RESUME_ROUNDS (100) random moments and resume it
# Some minutes; make test does it a few times.
RESUME_ROUNDS ?= 100
test-resume: all
	CHARACTERIZE='$(OUT)/characterize' tests/scripts/kill_and_resume.sh '$(RESUME_ROUNDS)'

## test-kill      end --quiet-machine at N (100) random moments on a fake /sys and /proc tree
# make test does it a few times.
test-kill: all
	CHARACTERIZE='$(OUT)/characterize' tests/scripts/kill_rounds.sh '$(N)' '$(SEED)'

# -g1: lines and functions for a report, in a third of the space; at -O1 gcc sees truncation where none can be
sanitize-build:
	+$(MAKE) BUILD=build-sanitize ASM_BUILD='$(BUILD)' OUT=build-sanitize CFLAGS='-O1 -g1 -Wno-format-truncation' \
	    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' all unit
## sanitize       unit and command-line tests under ASan and UBSan
sanitize: sanitize-build
	SANITIZED=1 BUILD=build-sanitize OUT=build-sanitize MAKE='$(MAKE)' tests/run-suites.sh unit cli

## bench          cost of a sample, period, frequency; fails if a target is missed
# All of them, and fails if one has missed an aim.
bench: $(BENCH_BIN)
	@status=0; for program in $(BENCH_BIN); do CHARACTERIZE_DATA=data $$program || status=1; done; exit $$status

## accuracy       accuracy of the analysis on random traces and busy guests, of the tables on random models; also runs profile-accuracy
# 1000 random traces of each kind, 10000 of nothing with each kind of noise, 100 of each kind of switch on busy guests,
# the tables of random models; minutes each.
accuracy: accuracy-traces accuracy-nulls accuracy-guest accuracy-tables profile-accuracy
accuracy-traces: $(BUILD)/tests/bench/score_traces
	$< all 1 1000
accuracy-nulls: $(BUILD)/tests/bench/score_nulls
	$< all 1 10000
accuracy-guest: $(BUILD)/tests/bench/score_guest
	$< all 1 100

ACCURACY_SEED ?= 1
ACCURACY_MODELS ?= 100
accuracy-tables: $(BUILD)/tests/bench/score_tables
	$< wild '$(ACCURACY_SEED)' '$(ACCURACY_MODELS)'
	$< scenario '$(ACCURACY_SEED)' '$(ACCURACY_MODELS)'

## profile-accuracy  error of the profiler over SETS (200) drawn systems, with SEED (1)
# PROFILE_MODEL: another model; PROFILE_FLAGS=-d: without --sources, as is the default
SETS ?= 200
PROFILE_MODEL ?= xeon-gold-6130
profile-accuracy: $(BUILD)/tests/bench/score_profile
	CHARACTERIZE_DATA=data $< '$(SEED)' '$(SETS)' '$(PROFILE_MODEL)' $(PROFILE_FLAGS)

# libFuzzer with ASan and UBSan, each target FUZZ_SECONDS long; needs clang and its run-time library.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_FLAGS = -std=c11 $(CPPFLAGS) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
             -fno-omit-frame-pointer
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/bin/%)
# what reads files; the conversion of recordings needs machines
ANALYSIS := $(filter-out trace/from_recording.c,$(call sources,util trace analysis schedulers/simulate/workload)) \
            $(wildcard schedulers/simulate/params*.c) \
            $(call sources,computer/environment) computer/cpu/cpu.c computer/cpu/topology.c \
            $(filter-out drivers/binary/binary_choose.c,$(call sources,drivers/binary)) drivers/block/block_check.c

$(FUZZ_BIN): $(BUILD)/fuzz/bin/%: tests/fuzz/%.c $(ANALYSIS) $(shell find util trace analysis schedulers computer/environment drivers/binary drivers/block -name "*.h") Makefile
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $@ $< $(ANALYSIS) -lgsl -lgslcblas -ljansson -lz -lZydis -lm

## fuzz           fuzz the file readers, FUZZ_SECONDS each (needs clang)
fuzz: $(FUZZ_BIN)
	tests/fuzz/run-fuzz.sh '$(BUILD)/fuzz' '$(FUZZ_SECONDS)' $(FUZZ_BIN)

C_SRC := $(LIB_SRC) $(CLI_SRC) $(UNIT_SRC) $(HELP_SRC) $(BENCH_SRC) $(SCORE_SRC) $(FUZZ_SRC) \
         $(wildcard tests/vm/*.c) $(if $(SCHED),$(SCHED_SRC) $(filter-out %.bpf.c,$(wildcard tests/sched/*.c)))
## debug          the same program and libraries in build-debug/, without optimization
debug:
	+$(MAKE) BUILD=build-debug OUT=build-debug CFLAGS='-O0 -g3' all
	ln -sfn ../data build-debug/data

## format         reformat all C files (needs clang-format 14; CLANG_FORMAT=PROGRAM)
format:
	scripts/format.sh

## compile_commands.json  how each C file is compiled, for clangd and other tools
comma := ,
compile = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(CC) $(subst ",\",$(ALL_CFLAGS)) -c $(1)"}
compile_commands.json:
	$(file >$@,[$(call compile,$(firstword $(C_SRC))))
	$(foreach source,$(wordlist 2,$(words $(C_SRC)),$(C_SRC)),$(file >>$@,$(comma)$(call compile,$(source))))
	$(file >>$@,])
	@test -s $@

## lint           clang-tidy or cppcheck, shellcheck, layout, format
lint:
	scripts/lint.sh $(C_SRC) -- -std=c11 $(CPPFLAGS) -DLIVE_OBJECT='""' -DPOLICY_OBJECT='""'

## lint-deep      the same, with the analyzer's own bounds, which are wider: minutes more
lint-deep:
	LINT_DEEP=1 scripts/lint.sh $(C_SRC) -- -std=c11 $(CPPFLAGS) -DLIVE_OBJECT='""' -DPOLICY_OBJECT='""'

# The installed program and the shared library find the data in ../share/characterize, seen from their own folder (the
# library, from a folder below lib/, in ../../share): any PREFIX will do, also one that was not known when they were
# built.
$(foreach path,PREFIX LIBDIR,$(if $(patsubst /%,,$(firstword $($(path)))),$(error $(path) must begin with a slash: $($(path)))))
BINDIR := $(DESTDIR)$(PREFIX)/bin
LIB := $(DESTDIR)$(LIBDIR)
INCLUDE := $(DESTDIR)$(PREFIX)/include/characterize
MANDIR := $(DESTDIR)$(PREFIX)/share/man/man1
MANDIR5 := $(DESTDIR)$(PREFIX)/share/man/man5
COMMANDS := $(PROGRAMS:%=%.1) characterize-fleet.1
DOCDIR := $(DESTDIR)$(PREFIX)/share/doc/characterize
DATADIR := $(DESTDIR)$(PREFIX)/share/characterize
# where the shells' own packages look for them
COMPLETIONS := $(DESTDIR)$(PREFIX)/share
COMPLETION_BASH := $(COMPLETIONS)/bash-completion/completions/characterize
COMPLETION_ZSH := $(COMPLETIONS)/zsh/site-functions/_characterize
COMPLETION_FISH := $(COMPLETIONS)/fish/vendor_completions.d/characterize.fish
DATA = $(shell find data -type f ! -name '.*')
# with their folders, so that the links in the README hold; that to the manual page leads to where it is installed
DOCS = COPYING kernels/COPYING $(filter-out %__pycache__,$(wildcard README.md CONTRIBUTING.md CHANGELOG.md doc/* examples/*))
# in what sed puts in
sed_text = $(subst |,\|,$(subst &,\&,$(subst \,\\,$(1))))

# the manual pages of the file formats, made of doc/ where pandoc is
PAGES := $(shell sed -n 's/^\(characterize-[a-z-]*\).*/\1.5/p' man/pages)
MANUALS := $(if $(shell command -v pandoc 2>/dev/null),$(PAGES:%=$(BUILD)/man/%))
NO_MANUALS := the manual pages of the file formats (section 5): they need pandoc (apt-get install pandoc)
$(BUILD)/man/%.5: man/pages scripts/manual.sh scripts/manual.lua VERSION $(wildcard doc/*.md)
	@mkdir -p $(@D)
	scripts/manual.sh $* >$@.tmp && mv $@.tmp $@
## manuals        the manual pages of the file formats, in build/man (needs pandoc)
manuals: $(MANUALS)
	@$(if $(MANUALS),:,echo '$(NO_MANUALS)' >&2; exit 3)

## install        programs, libraries, headers, manuals, data, completions; PREFIX (/usr/local), LIBDIR and DESTDIR are honored
install: all $(MANUALS)
	install -D -m 755 -t '$(BINDIR)' $(PROGRAMS:%='$(OUT)/%') $(SCHED:%='$(OUT)/%') fleet/characterize-fleet
	install -d '$(MANDIR)' '$(LIB)/pkgconfig' '$(INCLUDE)'
	set -e; for page in $(COMMANDS) $(SCHED:%=%.1); do sed 's/@VERSION@/$(VERSION)/' man/$$page >'$(MANDIR)'/$$page; done
	$(if $(MANUALS),install -D -m 644 -t '$(MANDIR5)' $(MANUALS),@echo 'not installed: $(NO_MANUALS)')
	install -m 644 '$(STATIC)' '$(SHARED)' '$(LIB)'
	ln -sf '$(notdir $(SHARED))' '$(LIB)/$(SONAME)'
	ln -sf '$(SONAME)' '$(LIB)/libcharacterize.so'
	install -m 644 include/characterize/*.h '$(INCLUDE)'
	sed -e 's|@PREFIX@|$(call sed_text,$(PREFIX))|; s|@LIBDIR@|$(call sed_text,$(LIBDIR:$(PREFIX)/%=$${prefix}/%))|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBRARY_LDLIBS)|' \
	    library/characterize.pc.in >'$(LIB)/pkgconfig/characterize.pc'
	install -D -m 644 scripts/completions/characterize.bash '$(COMPLETION_BASH)'
	install -D -m 644 scripts/completions/_characterize '$(COMPLETION_ZSH)'
	install -D -m 644 scripts/completions/characterize.fish '$(COMPLETION_FISH)'
	set -e; for file in $(DOCS); do install -D -m 644 "$$file" '$(DOCDIR)'/"$$file"; done
	install -d '$(DOCDIR)/man' && ln -sf $(COMMANDS:%=../../../man/man1/%) '$(DOCDIR)/man'
	set -e; for file in $(DATA:data/%=%); do install -D -m 644 "data/$$file" '$(DATADIR)'/"$$file"; done

## uninstall      remove what install installed, and its own folders unless somebody has put something in there
uninstall:
	rm -f $(PROGRAMS:%='$(BINDIR)/%') '$(BINDIR)/characterize-sched' '$(BINDIR)/characterize-fleet' '$(LIB)/pkgconfig/characterize.pc'
	rm -f $(COMMANDS:%='$(MANDIR)/%') '$(MANDIR)/characterize-sched.1'
	rm -f $(PAGES:%='$(MANDIR5)/%')
	rm -f '$(COMPLETION_BASH)' '$(COMPLETION_ZSH)' '$(COMPLETION_FISH)'
	rm -f '$(LIB)/$(notdir $(STATIC))' '$(LIB)/$(notdir $(SHARED))' '$(LIB)/$(SONAME)' '$(LIB)/libcharacterize.so'
	$(call remove,$(INCLUDE),$(notdir $(wildcard include/characterize/*.h)))
	$(call remove,$(DOCDIR),$(DOCS) $(COMMANDS:%=man/%))
	$(call remove,$(DATADIR),$(DATA:data/%=%))
# FOLDER,FILES: these of it, and whatever is empty then
remove = if [ -d '$(1)' ]; then (cd '$(1)' && rm -f $(2)) && find '$(1)' -type d -empty -delete; fi

## static         programs for any x86-64 Linux, and an archive of them and their data, in build/static
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
STATIC_NAME := characterize-$(VERSION)-x86_64
static: $(MANUALS)
	@scripts/missing.sh static build static
	+$(MAKE) STATIC_PROGRAM=1 BUILD='$(BUILD)/static/objects' OUT='$(BUILD)/static' $(PROGRAMS:%='$(BUILD)/static/%')
	rm -rf '$(BUILD)/static/$(STATIC_NAME)'
	set -e; for file in $(DOCS) $(DATA); do install -D -m 644 "$$file" '$(BUILD)/static/$(STATIC_NAME)'/"$$file"; done
	install -D -m 644 -t '$(BUILD)/static/$(STATIC_NAME)/completions' scripts/completions/*
	install -d '$(BUILD)/static/$(STATIC_NAME)/man'
	set -e; for page in $(COMMANDS); do \
	    sed 's/@VERSION@/$(VERSION)/' man/$$page >'$(BUILD)/static/$(STATIC_NAME)/man'/$$page; done
	install -m 755 fleet/characterize-fleet '$(BUILD)/static/$(STATIC_NAME)'
	$(if $(MANUALS),cp $(MANUALS) '$(BUILD)/static/$(STATIC_NAME)/man',@echo 'not in the archive: $(NO_MANUALS)')
	set -e; for program in $(PROGRAMS); do \
	    strip -o '$(BUILD)/static/$(STATIC_NAME)'/$$program '$(BUILD)/static'/$$program; done
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime='@$(SOURCE_DATE_EPOCH)' -C '$(BUILD)/static' \
	    '$(STATIC_NAME)' | gzip -9n >'$(BUILD)/static/$(STATIC_NAME).tar.gz'
	@ls -sh '$(BUILD)/static/$(STATIC_NAME).tar.gz'
## test-static    try it in empty roots: nothing but the archive, with and without /proc and /sys, beside busybox
test-static: static
	BUILD='$(BUILD)' tests/install/t_static.sh

## deb            Debian packages of what is committed, in build/deb
deb:
	scripts/deb.sh '$(BUILD)/deb'
## test-deb       install them in a bare Debian (needs mmdebstrap and a mirror), use and purge them; minutes
test-deb: deb
	BUILD='$(BUILD)' tests/install/t_deb.sh

## container      an image with the package, for docker load, podman load or as a root, in build/container
container: deb
	SOURCE_DATE_EPOCH='$(SOURCE_DATE_EPOCH)' scripts/container.sh '$(BUILD)/deb/characterize_$(VERSION)_amd64.deb' '$(BUILD)/container'
## test-container run it without privileges in bubblewrap, and in podman where that is
test-container: container
	BUILD='$(BUILD)' tests/install/t_container.sh

## clean          remove all build products
clean:
	rm -rf build build-* $(PROGRAMS) characterize-sched libcharacterize.a libcharacterize.so* compile_commands.json

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(HELP_OBJ:.o=.d) $(UNIT_BIN:=.d) $(BENCH_BIN:=.d) $(SCORE_BIN:=.d) \
         $(wildcard $(BUILD)/schedulers/live/*.d $(BUILD)/cli/sched/*.d $(BUILD)/tests/sched/*.d)

.PHONY: caught FORCE all unit unit-ci test test-ci test-quick test-slow mutants golden test-deep check check-deep sanitize-build test-vm-one test-vm-quiet test-resume test-vm \
        test-valgrind \
        test-vm-stops test-vm-sched without-sched test-vm-soak test-vm-avx512 sanitize bench accuracy accuracy-traces accuracy-nulls accuracy-guest \
        accuracy-tables profile-accuracy fuzz lint lint-deep format help debug compile_commands.json manuals install uninstall static test-static deb test-deb container test-container clean
.SECONDARY:
