#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deep: builds a copy of the tree
#
# The recipes of CONTRIBUTING.md, each followed once as written (tests/recipes/NAME.patch): they apply to a copy of the
# tree, which builds with all of them and passes the tests that see them, and what they add is there and works.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

make=${MAKE:-make}
build=${BUILD:-build}
recipes="kernel machine table model events"
unset CHARACTERIZE_DATA

if ! command -v patch >/dev/null 2>&1; then
    skip "the recipes" "no patch here"
    finish
fi

for recipe in $recipes; do
    grep -q "tests/recipes/$recipe.patch" "$root/CONTRIBUTING.md" || echo "$recipe: not in CONTRIBUTING.md"
    sed -n 's/^+++ b\///p' "$root/tests/recipes/$recipe.patch" | while read -r file; do
        # a recipe names each file that its patch touches, or its folder
        awk -v recipe="^.tests/recipes/${recipe}[.]patch" '$0 ~ recipe { on = 1 } on && /^### / { exit } on' \
            "$root/CONTRIBUTING.md" | grep -qF -e "$file" -e "$(dirname "$file")/" || echo "$recipe: $file is not named"
    done
done >"$tmp/out"
check "CONTRIBUTING.md names every recipe, and the files that it touches" "$tmp/out" [ ! -s "$tmp/out" ]

# the tree, with what is built of it, so that only what a recipe touches is built again
mkdir "$tmp/tree"
(cd "$root" && find . \( -name .git -o -name build -o -name 'build-*' -o -name characterize-out \) -prune -o \
    -type f ! -name '*.o' ! -name '*.ko' ! -name characterize ! -name 'libcharacterize.*' -print0 |
    tar --null -T - -cf - | tar xf - -C "$tmp/tree")
(cd "$root/$build" && find . \( -path ./tests/unit -o -path ./tests/bench -o -path ./check -o -path ./fuzz \) -prune \
    -o -type f \( -name '*.o' -o -name '*.d' \) -print0 | tar --null -T - -cf - |
    (mkdir "$tmp/tree/build" && tar xf - -C "$tmp/tree/build"))
cd "$tmp/tree" || exit 1

for recipe in $recipes; do
    patch -p1 --no-backup-if-mismatch <"tests/recipes/$recipe.patch" >"$tmp/out" 2>&1
    status=$?
    check "recipe $recipe applies" "$tmp/out" [ "$status" -eq 0 ]
done

CCACHE_BASEDIR=$tmp/tree
export CCACHE_BASEDIR
cc=${CC:-cc}
! command -v ccache >/dev/null 2>&1 || case $cc in ccache*) ;; *) cc="ccache $cc" ;; esac
tests="kernels/test_kernels kernels/test_kernel_lanes kernels/test_kernel_disasm drivers/test_choices
    drivers/events/test_events drivers/model/test_model_parse tables/ipc/test_ipc_table
    tables/test_plans tables/test_registry tables/test_made_tables test_golden"
# shellcheck disable=SC2046,SC2086 # names without blanks
$make -s --no-print-directory -j"$(nproc)" CC="$cc" BUILD=build OUT=. all $(printf 'build/tests/unit/%s ' $tests) \
    >"$tmp/out" 2>&1
status=$?
check "the tree builds with all of them" "$tmp/out" [ "$status" -eq 0 ]
for test_program in $tests; do
    "build/tests/unit/$test_program" >"$tmp/out" 2>&1
    status=$?
    check "... and passes $test_program" "$tmp/out" [ "$status" -eq 0 ]
done

# run ARGUMENT...: the program; its output in $tmp/out, its status in $status
run() {
    ./characterize "$@" >"$tmp/out" 2>&1 </dev/null
    status=$?
}
model="--machine model:xeon-gold-6130"

run --list kernels
check "kernel: it is listed" "$tmp/out" grep -q '^256xor ' "$tmp/out"
if grep -q '^256xor .* yes ' "$tmp/out"; then
    run --transition 64add:256xor --machine timing --runs 5 --observe 20 --quiet --csv "$tmp/trace.csv"
    check "... and runs on this processor" "$tmp/out" grep -q '^# to: 256xor' "$tmp/trace.csv"
else
    skip "... and runs on this processor" "no AVX2 here"
fi
# shellcheck disable=SC2086
run --transition 128fma:256xor $model --quiet --json "$tmp/phases.json"
check "... and on a model" "$tmp/out" [ "$status" -eq 0 ]

run --list machines
check "machine: it is listed" "$tmp/out" grep -q '^steal  *\(yes\|no\) ' "$tmp/out"
if grep -q '^steal  *yes ' "$tmp/out"; then
    run --transition 64add:64mul --machine steal --runs 5 --observe 20 --quiet --csv "$tmp/trace.csv"
    check "... and measures" "$tmp/out" grep -q '^# machine: steal' "$tmp/trace.csv"
else
    skip "... and measures" "$(grep '^steal' "$tmp/out")"
fi

run --list tables
check "table: it is listed" "$tmp/out" grep -q '^ipc  *instructions' "$tmp/out"
run --table ipc --machine model:core-i7-6700hq --quiet --csv - --json "$tmp/ipc.json"
check "... measured, as CSV" "$tmp/out" grep -q '^256fma,1\.99' "$tmp/out"
check "... and as JSON" "$tmp/out" grep -q '"characterize-table/1"' "$tmp/ipc.json"
run --all --brief --machine model:core-i7-6700hq --output "$tmp/all" --quiet
check "... measured by --all" "$tmp/out" [ -s "$tmp/all/tables/ipc.json" ]
check "... with its finding" "$tmp/out" grep -q '^Most instructions per cycle: 64add, 4.00' "$tmp/out"
check "... and in the report, with its picture" "$tmp/out" \
    sh -c 'grep -q "Instructions per cycle of each kernel" "$1/report.html" && [ -s "$1/plots/ipc.svg" ]' sh "$tmp/all"
run --export header "$tmp/avx.h" --input "$tmp/all"
check "... and the export works beside it" "$tmp/out" [ "$status,$(grep -c AVX "$tmp/avx.h" | grep -c '[1-9]')" = 0,1 ]

run --list machines
check "model: it is listed" "$tmp/out" grep -q '^model:xeon-gold-6140 ' "$tmp/out"
run --validate xeon-gold-6140 --machine model:xeon-gold-6140 --quiet
check "... runs, and agrees with the published figures" "$tmp/out" [ "$status" -eq 0 ]

# a processor with these events, and one of them by a name that is almost right
sed 's/^model = .*/model = 86 # a test/' data/models/xeon-gold-6130.model >"$tmp/broadwell-de.model"
run --transition 64add:64mul --machine "model:$tmp/broadwell-de.model" --event BR_INST_RETIRED.ALL_BRANCH --quiet
check "events: the file is found by the processor" "$tmp/out" grep -q 'Broadwell-DE.*BR_INST_RETIRED.ALL_BRANCHES' \
    "$tmp/out"

finish
