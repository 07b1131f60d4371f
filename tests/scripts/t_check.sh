#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ./check and tests/run-suites.sh: the sum over all stages and suites is right, and nothing that failed gets lost.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=fake-tree.sh
. "$root/tests/scripts/fake-tree.sh"

make_tree
if ! need_basics; then
    skip "everything" "no $command here"
    finish
fi
provide_all
stub apt-get 'exit 9'

# stages BUILD TEST LINT [SLOW VM SANITIZE DEEP CI]: the make-believe tree's targets, as shell commands
stages() {
    for target in all test-quick lint test-slow test-vm-one sanitize test-deep test-ci; do
        printf '.PHONY: %s\n%s:\n\t@%s\n' $target $target "${1-exit 9}"
        [ $# -eq 0 ] || shift
    done >"$tree/Makefile"
    printf 'unit unit-ci sanitize-build: all\n' >>"$tree/Makefile"
}

# expect WHAT LAST-LINE STATUS [TEXT]: runs ./check with $options
options=
expect() {
    # shellcheck disable=SC2086 # none or one
    in_place / env LC_ALL=C "$tree/check" $options
    status=$?
    cat "$tmp/err" >>"$tmp/out"
    if [ "$(grep -c '^[0-9]* passed, ' "$tmp/out")" -ne 1 ]; then
        fail "$1: not one line of counts" "$tmp/out"
    elif [ "$(tail -n 1 "$tmp/out")" = "$2" ] && [ "$status" -eq "$3" ] && grep -q -e "${4:-passed}" "$tmp/out"; then
        ok "$1"
    else
        fail "$1: wanted '$2', status $3, '${4:-}'; got status $status and" "$tmp/out"
    fi
}

good='echo "40 passed, 0 failed, 2 skipped"'
two='echo "2 passed, 0 failed, 1 skipped"'
stages : "$good" 'echo "3 passed, 0 failed, 0 skipped"'
expect "the sum of what passes" "43 passed, 0 failed, 2 skipped" 0
stages : 'echo "  skipped: t: PMU: none here"; echo "1 passed, 0 failed, 1 skipped"' "$good"
expect "a skipped test is listed at the end" "41 passed, 0 failed, 3 skipped" 0 '^  test: skipped: t: PMU: none here$'
stages : 'echo "  FAILED: t: x"; echo "4 passed, 2 failed, 0 skipped"; exit 1' "$good"
expect "failures are summed up and do not stop the rest" "44 passed, 2 failed, 2 skipped" 1 '^  test: FAILED: t: x$'
stages : "$good" 'echo broken; exit 1'
expect "a stage that fails without a count" "40 passed, 1 failed, 2 skipped" 1 '^  lint: FAILED: lint: exit status 2$'
stages : "$good" 'echo nothing; :'
expect "a stage that tells no count at all" "40 passed, 1 failed, 2 skipped" 1 'FAILED: lint: no line of counts'
stages 'echo "x.c:1: error: bad" >&2; exit 1' "$good" "$good"
expect "a failing build" "0 passed, 1 failed, 0 skipped" 1 'x.c:1: error: bad'
options=--deep
stages : 'exit 9' 'exit 9' "$two" "$two" "$good" "$good"
expect "--deep does the rest alone" "84 passed, 0 failed, 6 skipped" 0
stages : 'exit 9' 'exit 9' "$two" 'echo "  FAILED: vm: x"; echo "1 passed, 1 failed, 0 skipped"; exit 1' "$good" "$good"
expect "a failure beside another stage" "83 passed, 1 failed, 5 skipped" 1 '^  vm: FAILED: vm: x$'
stages : 'exit 9' 'exit 9' "$two" "$two" 'exit 1' "$good"
expect "a stage of --deep that fails" "44 passed, 1 failed, 4 skipped" 1 'FAILED: sanitize: exit status 2'
options=--all
stages : "$good" "$good" "$two" "$two" "$good" "$good"
expect "--all does both" "164 passed, 0 failed, 10 skipped" 0
options=--ci
stages : 'exit 9' "$good" "$two" "$two" '[ "$$SLOW" = no ] && echo "5 passed, 0 failed, 0 skipped"' 'exit 9' "$two"
expect "--ci does both, in brief" "51 passed, 0 failed, 5 skipped" 0
options=--deeper
in_place / "$tree/check" $options
status=$?
check "an unknown option: exit status 2" "$tmp/err" [ "$status" -eq 2 ]
rm "$bin/cppcheck" "$bin/clang-tidy" 2>/dev/null
in_place / "$tree/check"
status=$?
check "a missing package of the tests: exit status 3" "$tmp/err" [ "$status" -eq 3 ]
check "a missing package of the tests: named" "$tmp/err" grep -q '^check: missing: cppcheck; install with:$' "$tmp/err"

# run-suites.sh on suites of known results
suites=$tmp/suites
mkdir -p "$suites/tests/vm" "$suites/tests/scripts" "$suites/tests/unit" "$suites/build/tests/unit"
cp "$root/tests/run-suites.sh" "$root/tests/run-unit.sh" "$root/tests/run-scripts.sh" "$suites/tests/"
cp "$root/tests/scripts/lib.sh" "$suites/tests/scripts/"
echo | tee "$suites/tests/unit/test_a.c" >"$suites/tests/unit/test_b.c"
cat >"$suites/build/tests/unit/test_a" <<'EOF'
#!/bin/sh
printf '[==========] Running 1 test(s).\n[ RUN      ] x\n[       OK ] x\n[==========] 1 test(s) run.\n'
EOF
cp "$suites/build/tests/unit/test_a" "$suites/build/tests/unit/test_b"
chmod +x "$suites"/build/tests/unit/*

# script NAME BODY: a test of the scripts suite
script() {
    printf '. "$(dirname "$0")/lib.sh"\n%s\n' "$2" >"$suites/tests/scripts/$1.sh"
}

# suites_are WHAT LAST-LINE STATUS TEXT SUITE...: runs run-suites.sh
suites_are() {
    suites_what=$1 suites_last=$2 suites_status=$3 suites_text=$4
    shift 4
    BUILD=build OUT=. sh "$suites/tests/run-suites.sh" "$@" >"$tmp/out" 2>&1
    status=$?
    if [ "$(tail -n 1 "$tmp/out")" = "$suites_last" ] && [ "$status" -eq "$suites_status" ] &&
        grep -q -e "$suites_text" "$tmp/out"; then
        ok "$suites_what"
    else
        fail "$suites_what: wanted '$suites_last', status $suites_status, '$suites_text'; got status $status and" \
            "$tmp/out"
    fi
}

# vm SAYS: what the suite vm does
vm() {
    printf '#!/bin/sh\n%s\n' "$1" >"$suites/tests/vm/run-qemu.sh"
    chmod +x "$suites/tests/vm/run-qemu.sh"
}

vm 'echo "7 passed, 0 failed, 1 skipped"'
script t_a 'ok one; skip two "not here"; finish'
suites_are "suites add up" "10 passed, 0 failed, 2 skipped" 0 'skipped: t_a: two: not here' unit vm scripts
script t_b 'fail three; finish'
suites_are "a failed check of one script" "10 passed, 1 failed, 2 skipped" 1 'FAILED: t_b: three' unit vm scripts
script t_b 'ok three; exit 0'
suites_are "a script that ends before finish" "10 passed, 1 failed, 2 skipped" 1 'FAILED: t_b.sh: exit status 0' \
    unit vm scripts
script t_b 'echo $undefined; finish'
suites_are "a script that breaks" "1 passed, 1 failed, 1 skipped" 1 'FAILED: t_b.sh: exit status 2' scripts
printf '# input: x\n. "$(dirname "$0")/lib.sh"\nok four; finish\n' >"$suites/tests/scripts/t_b.sh"
SANITIZED=1 SLOW=no suites_are "sanitizers in brief: what hands over input" "1 passed, 0 failed, 0 skipped" 0 t_b \
    scripts
echo '/* skip_where_sanitized() */' >"$suites/tests/unit/test_a.c"
suites_are "the rest of what the sanitizers run" "1 passed, 0 failed, 0 skipped" 0 'test_a ' unit-rest
rm "$suites/tests/scripts/t_b.sh" "$suites/build/tests/unit/test_b"
suites_are "a unit test that was not built" "1 passed, 1 failed, 0 skipped" 1 'FAILED: test_b' unit
vm "exit 0"
suites_are "a suite that tells no counts" "0 passed, 1 failed, 0 skipped" 1 'FAILED: suite vm' vm
vm 'echo "0 passed, 0 failed, 0 skipped"'
suites_are "a suite that runs no test" "0 passed, 1 failed, 0 skipped" 1 'FAILED: suite vm ran no test' vm
script t_c 'ok four; finish'
echo '# deep: a test' >>"$suites/tests/scripts/t_c.sh"
suites_are "what is deep runs there alone" "1 passed, 0 failed, 1 skipped" 0 'skipped: t_a: two' scripts
suites_are "... and nothing else" "1 passed, 0 failed, 0 skipped" 0 'ok: t_c: four' deep-scripts

unset SLOW # which it may itself be run with
script t_d 'ok five; finish'
echo '# slow: a test' >>"$suites/tests/scripts/t_d.sh"
cp "$suites/build/tests/unit/test_a" "$suites/build/tests/unit/test_b"
echo '/* slow: a test */' >"$suites/tests/unit/test_b.c"
suites_are "what is slow runs with the others" "4 passed, 0 failed, 1 skipped" 0 'ok: t_d: five' unit scripts
SLOW=no
export SLOW
suites_are "... or is left out" "2 passed, 0 failed, 1 skipped" 0 'test_a' unit scripts
SLOW=only
suites_are "... or alone" "2 passed, 0 failed, 0 skipped" 0 'test_b' unit scripts
unset SLOW

suites_are "an unknown suite" "0 passed, 1 failed, 0 skipped" 1 "unknown suite 'x'" x

finish
