#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make lint finds what it is there for: planted mistakes in a small tree with the real script and settings.
# deep: each linter runs a dozen times
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

have() {
    command -v "$1" >/dev/null 2>&1
}

if ! have shellcheck || { ! have clang-tidy && ! have cppcheck; }; then
    skip "everything" "needs shellcheck, and clang-tidy or cppcheck"
    finish
fi

mkdir -p "$tmp/tree/scripts" "$tmp/tree/build"
cd "$tmp/tree" || exit 1
cp "$root/scripts/lint.sh" "$root/scripts/format.sh" "$root/scripts/need.sh" "$root/scripts/packages" scripts/
cp "$root/.clang-tidy" "$root/.clang-format" "$root/.shellcheckrc" .
# the format is one check more where clang-format 14 is
one=0 skipped=1
if scripts/format.sh --check >/dev/null 2>&1; then
    one=1 skipped=0
fi
cat >good.c <<'EOF'
int twice(int x);

int twice(int x)
{
    return 2 * x;
}
EOF
printf '#!/bin/sh\necho "$1"\n' | tee script >script.sh

# expect WHAT STATUS LAST-LINE TEXT: lints good.c and bad.c, if it is there
expect() {
    scripts/lint.sh ./*.c -- -std=c11 -D_GNU_SOURCE "-DNAME=\"two words\"" >"$tmp/out" 2>&1
    status=$?
    if [ "$status" -eq "$2" ] && [ "$(tail -n 1 "$tmp/out")" = "$3" ] && grep -q -e "$4" "$tmp/out"; then
        ok "$1"
    else
        fail "$1: wanted status $2, '$3', '$4'; got status $status and" "$tmp/out"
    fi
}

# everything that plants a fault in C does so for whichever of the two tools is used
lint_c() {
    expect "a clean tree" 0 "$((3 + one)) passed, 0 failed, $skipped skipped" "ok: $1, 1 files"
    cat >bad.c <<'EOF'
#include <stdlib.h>

int leak(unsigned n);

int leak(unsigned n)
{
    int *numbers = malloc(n * sizeof *numbers);
    if (numbers == NULL)
        return -1;
    numbers[0] = 1;
    return numbers[0];
}
EOF
    expect "a memory leak, by $1" 1 "$((2 + one)) passed, 1 failed, $skipped skipped" 'bad.c:1[0-9].*leak'
    rm bad.c
}

# path_without COMMAND: a folder with all programs but that one
path_without() {
    mkdir -p "$tmp/without-$1/bin"
    for directory in /usr/local/bin /usr/bin /bin; do
        for command in "$directory"/*; do
            [ "${command##*/}" = "$1" ] || [ -e "$tmp/without-$1/bin/${command##*/}" ] ||
                ln -s "$command" "$tmp/without-$1/bin/"
        done
    done
}

# each of the two alone, and what follows by whichever are here
saved=$PATH
if have clang-tidy; then
    path_without cppcheck
    PATH=$tmp/without-cppcheck/bin
    lint_c clang-tidy
    PATH=$saved
fi
if have cppcheck; then
    path_without clang-tidy
    PATH=$tmp/without-clang-tidy/bin
    lint_c cppcheck
    PATH=$saved
fi
tools=$((2 + one))
have clang-tidy && have cppcheck && tools=$((3 + one))
all=$((tools + 1))

printf '#!/bin/sh\necho $1\n' >script
expect "a fault in a script without suffix" 1 "$tools passed, 1 failed, $skipped skipped" 'script line 2'
printf '#!/bin/sh\necho "$1"\n' >script
printf '#!/bin/sh\necho $1\n' >script.sh
expect "a fault in a script with suffix" 1 "$tools passed, 1 failed, $skipped skipped" 'script.sh line 2'
cp script script.sh

printf '; %0130d\n' 0 >long.asm
expect "a line that is too long" 1 "$tools passed, 1 failed, $skipped skipped" 'long.asm:1: longer than 120 columns'
rm long.asm
printf '/* %0105d µµµµµµ */\n' 0 >width.h
expect "columns are characters, not bytes" 0 "$all passed, 0 failed, $skipped skipped" 'ok: layout'
# shellcheck disable=SC2016 # nothing is to be expanded
printf '/* "a" or `b` */\nextern const char *quoted; /* "c", not `d` */\n' >quote.h
expect "backquotes in comments" 0 "$all passed, 0 failed, $skipped skipped" 'ok: layout'
# shellcheck disable=SC2016
printf 'extern int f(const char *);\n#define F f("a") + f("no \\" `b`")\n' >quote.h
expect "a message that quotes with backquotes" 1 "$tools passed, 1 failed, $skipped skipped" 'quote.h:2: messages quote'
rm quote.h
printf '; x \n\t; y\n' >blank.asm
expect "a blank at the end of a line" 1 "$tools passed, 1 failed, $skipped skipped" 'blank.asm:1: blanks'
expect "a tab" 1 "$tools passed, 1 failed, $skipped skipped" 'blank.asm:2: a tab'
mv blank.asm build/
expect "what is in a build folder does not count" 0 "$all passed, 0 failed, $skipped skipped" 'ok: layout'

if [ "$one" -eq 1 ]; then
    printf 'int  y;\n' >odd.h
    expect "a file in another format" 1 "$tools passed, 1 failed, $skipped skipped" 'odd.h:1:.*clang-format'
    check "make format mends it" odd.h scripts/format.sh
    expect "... and then it is in order" 0 "$all passed, 0 failed, $skipped skipped" 'ok: format'
else
    skip "the format" "no clang-format 14 here"
fi
printf '#!/bin/sh\necho "clang-format version 19.1.7"\n' >"$tmp/clang-format-19"
chmod +x "$tmp/clang-format-19"
CLANG_FORMAT=$tmp/clang-format-19 scripts/format.sh >"$tmp/out" 2>&1
status=$?
check "clang-format of another version: exit status 3" "$tmp/out" [ "$status" -eq 3 ]
check "... in one line that names both" "$tmp/out" grep -q 'clang-format 14.*version 19' "$tmp/out"
CLANG_FORMAT=$tmp/clang-format-19 expect "... which lint skips" 0 "$((all - one)) passed, 0 failed, 1 skipped" \
    'skipped: lint: format.*version 19'

# a PATH without either tool
mkdir "$tmp/few"
for command in sh dirname mktemp rm tr cat env; do
    ln -s "$(command -v "$command")" "$tmp/few/"
done
PATH=$tmp/few scripts/lint.sh good.c -- >"$tmp/out" 2>&1
status=$?
check "no linter: exit status 3" "$tmp/out" [ "$status" -eq 3 ]
check "no linter: what to install" "$tmp/out" grep -q 'apt-get .*install.* cppcheck shellcheck' "$tmp/out"

finish
