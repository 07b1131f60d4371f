#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# libcharacterize is fit to be linked by others: its symbols are its own, the example builds and runs with the static
# and the shared library, in C and C++, and a program keeps its own names, those of <err.h> among them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$root" || exit 1
out=$(cd "${OUT:-.}" && pwd)
static=$out/libcharacterize.a
shared=$out/libcharacterize.so
header=include/characterize/characterize.h
libs=$(make -s --no-print-directory -f - print-libs <<'EOF'
include Makefile
print-libs: ; @echo '$(LIBRARY_LDLIBS)'
EOF
)
CHARACTERIZE_DATA=$root/data
export CHARACTERIZE_DATA

# Each global symbol of an object begins with characterize_, or with the name of its module: the file's, a word of it,
# or one of its rooms, in the singular or the plural. drivers/machine.h is the interface of the whole room, and the
# error of all is struct machine_error.
# Input: lines "ROOM/FILE.o SYMBOL"; output: those that break the rule.
strangers() {
    awk '
        function bears(symbol, word) {
            singular = word
            if (sub(/ies$/, "y", singular) == 0)
                sub(/s$/, "", singular)
            return index(symbol "_", word "_") == 1 || index(symbol "_", singular "_") == 1 ||
                index(symbol "_", singular "s_") == 1
        }
        {
            path = $1
            sub(/(\.asm)?\.o$/, "", path)
            n = split(path, words, /[\/_]/)
            stem = path
            sub(/.*\//, "", stem)
            if (path ~ /^drivers\// || path == "util/error")
                words[++n] = "machine"
            if (path ~ /^schedulers\/simulate\//)
                words[++n] = "sim"
            if (path ~ /^profiler\//)
                words[++n] = "profile"
            fine = $2 ~ /^characterize_/ || bears($2, stem)
            for (i = 1; i <= n && !fine; i++)
                fine = bears($2, words[i])
            if (!fine)
                print $1 ": " $2
        }'
}

# the rule itself, on symbols of known faults
strangers >"$tmp/out" <<'EOF'
util/plain_text.o plain_text
util/plain_text.o plain_text_copy
analysis/stats/robust.o stats_mean
kernels/chain.asm.o kernel_chain_long
output/plot/chart_rows.o charts_draw
drivers/choices.o machine_open
library/phases.o characterize_runs
cli/messages.o warn
analysis/phases/kinds.o find
trace/trace.o tracer
EOF
printf '%s\n' 'cli/messages.o: warn' 'analysis/phases/kinds.o: find' 'trace/trace.o: tracer' >"$tmp/want"
check "a symbol that is not its module's is found" "$tmp/out" same "$tmp/want" "$tmp/out"

# what the program links, by the paths of its objects: in the archive only the names of files are left
build=${BUILD:-build}
ar t "$build/libinternal.a" | sort >"$tmp/members"
find "$build" -name '*.o' ! -path "$build/cli/*" ! -path "$build/tests/*" ! -path "$build/fuzz/*" \
    ! -path "$build/schedulers/live/*" >"$tmp/found"
while read -r object; do
    # an object that is left of a source that is gone is none of the library's
    source=${object#"$build"/}
    source=${source%.o}
    if [ -f "$source" ] || [ -f "$source.c" ]; then
        echo "${object#"$build"/}"
    fi
done <"$tmp/found" | sort >"$tmp/objects"
sed 's|.*/||' "$tmp/objects" | sort >"$tmp/names"
check "these are the objects of the library" "" same "$tmp/members" "$tmp/names"
while read -r object; do
    nm -g --defined-only "$build/$object" | awk -v object="$object" 'NF == 3 { print object, $3 }'
done <"$tmp/objects" >"$tmp/symbols"
strangers <"$tmp/symbols" >"$tmp/out"
check "all $(wc -l <"$tmp/symbols") global symbols bear the name of their module" "$tmp/out" [ ! -s "$tmp/out" ]

sed -n 's/^CHARACTERIZE_PUBLIC.*/&/p; /^CHARACTERIZE_PUBLIC/!s/^\(characterize_[a-z_]*\)(.*/&/p' "$header" |
    grep -o 'characterize_[a-z_]*(' | tr -d '(' | sort -u >"$tmp/want"
nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$tmp/out"
check "the shared library exports what the header declares, and nothing else" "" same "$tmp/want" "$tmp/out"
nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort >"$tmp/out"
check "so does the static one" "" same "$tmp/want" "$tmp/out"
check "... which is something" "$tmp/want" [ "$(wc -l <"$tmp/want")" -ge 20 ]
readelf -dW "$shared" >"$tmp/out"
check "its soname is libcharacterize.so.0" "$tmp/out" grep -q 'SONAME.*\[libcharacterize.so.0\]' "$tmp/out"
check "its code is not written to when it is loaded" "$tmp/out" sh -c '! grep -q TEXTREL "$1"' sh "$tmp/out"
readelf -lW "$shared" >"$tmp/out"
check "its stack is not executable" "$tmp/out" grep -q 'GNU_STACK.* RW ' "$tmp/out"

# link WHAT SOURCE PROGRAM static|shared [COMPILER FLAG...]
link() {
    link_what=$1 link_source=$2 link_program=$3 link_how=$4
    shift 4
    if [ "$link_how" = static ]; then
        # shellcheck disable=SC2086 # a list of libraries
        "${@:-cc}" -Wall -Wextra -Werror -Iinclude -o "$link_program" "$link_source" "$static" $libs >"$tmp/out" 2>&1
    else
        "${@:-cc}" -Wall -Wextra -Werror -Iinclude -o "$link_program" "$link_source" -L"$out" -lcharacterize \
            -Wl,-rpath,"$out" >"$tmp/out" 2>&1
    fi
    status=$?
    check "$link_what builds, $link_how" "$tmp/out" [ "$status" -eq 0 ]
}

cat >"$tmp/keeper.c" <<'EOF'
/* Names of its own that a library might have taken, and warn() of <err.h>, of which the library knows nothing. */
#include <characterize/characterize.h>
#include <err.h>
#include <stdio.h>
#include <string.h>

int discard(int x);
int is_base(int x);
int median(int x);
int machine_open(int x);

int discard(int x)
{
    return x + 1;
}

int is_base(int x)
{
    return x + 2;
}

int median(int x)
{
    return x + 3;
}

/* the library has one, too, and calls it */
int machine_open(int x)
{
    return x + 4;
}

int main(void)
{
    struct characterize_error error;
    characterize_machine *machine;
    characterize_phases *phases;
    if (characterize_open("model:xeon-gold-6130", -1, NULL, &machine, &error) != CHARACTERIZE_OK ||
        characterize_transition(machine, "512fma:128fma", NULL, &phases, &error) != CHARACTERIZE_OK)
        errx(1, "%s", error.text);
    warnx("%zu phases, %d", characterize_phases_count(phases), discard(1) + is_base(1) + median(1) + machine_open(1));
    characterize_phases_free(phases);
    characterize_close(machine);
    return 0;
}
EOF
for how in static shared; do
    link "the example" examples/transition.c "$tmp/transition-$how" "$how"
    "$tmp/transition-$how" 128fma:512fma model:xeon-gold-6130 >"$tmp/out" 2>&1
    status=$?
    check "... finds the throttling of a model" "$tmp/out" \
        grep -q '^ *0.00 us  throttle *[0-9.]* us  2.800 GHz' "$tmp/out"
    check "... and nothing fails" "$tmp/out" [ "$status" -eq 0 ]
    "$tmp/transition-$how" 64add:64mul nowhere >"$tmp/out" 2>&1
    status=$?
    check "... a machine that there is not: status 2 and a line" "$tmp/out" \
        [ "$status,$(wc -l <"$tmp/out")" = 2,1 ]
    link "a program that calls warn()" "$tmp/keeper.c" "$tmp/keeper-$how" "$how"
    "$tmp/keeper-$how" >"$tmp/out" 2>&1
    status=$?
    check "... keeps its own, and its other names" "$tmp/out" grep -q "^keeper-$how: [0-9]* phases, 14\$" "$tmp/out"
    check "... to the end" "$tmp/out" [ "$status" -eq 0 ]
done
"$tmp/transition-shared" 64add:64mul auto >"$tmp/out" 2>&1
status=$?
if [ "$status" -eq 3 ]; then
    skip "the example on this processor" "$(head -n 1 "$tmp/out")"
else
    check "the example measures on this processor" "$tmp/out" grep -q ' us  [a-z]* ' "$tmp/out"
fi

# the header for C++, and without extensions of C
printf '#include <characterize/characterize.h>\nint main() { return characterize_version() == nullptr; }\n' \
    >"$tmp/plus.cc"
if command -v c++ >/dev/null 2>&1; then
    link "a C++ program" "$tmp/plus.cc" "$tmp/plus" shared c++ -std=c++11 -pedantic
    "$tmp/plus"
    status=$?
    check "... runs" "" [ "$status" -eq 0 ]
else
    skip "a C++ program" "no c++ here"
fi
printf '#include <characterize/characterize.h>\nint main(void) { return !characterize_version(); }\n' >"$tmp/plain.c"
link "a program in plain C99" "$tmp/plain.c" "$tmp/plain" shared cc -std=c99 -pedantic

finish
