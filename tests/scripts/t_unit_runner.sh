#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tests/run-unit.sh counts what cmocka programs do, above all when they do not end as they should.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

if ! ${CC:-cc} -x c -E -include stddef.h -include stdarg.h -include setjmp.h -include stdint.h -include cmocka.h \
    /dev/null >/dev/null 2>"$tmp/err"; then
    skip "everything" "cmocka cannot be compiled against: $(head -n 1 "$tmp/err")"
    finish
fi

# program NAME MAIN-BODY: builds a cmocka program with the tests passes, fails, skips, crashes, leaves, hangs
program() {
    cat >"$tmp/$1.c" <<EOF
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
static void passes(void **s) { (void)s; }
static void fails(void **s) { (void)s; assert_int_equal(1, 2); }
static void skips(void **s) { (void)s; puts("looked"); print_message("skipped: no PMU here\n"); skip(); }
static void crashes(void **s) { (void)s; abort(); }
static void leaves(void **s) { (void)s; _exit(0); }
static void hangs(void **s) { (void)s; sleep(60); }
static int refuses(void **s) { (void)s; return -1; }
int main(void)
{
    const struct CMUnitTest all[] = { $2 };
    return cmocka_run_group_tests(all, ${3:-NULL}, NULL) ${4:-};
    (void)passes; (void)fails; (void)skips; (void)crashes; (void)leaves; (void)hangs; (void)refuses;
}
EOF
    ${CC:-cc} -o "$tmp/$1" "$tmp/$1.c" -lcmocka 2>"$tmp/err" || fail "$1.c does not compile" "$tmp/err"
}

# expect WHAT PROGRAMS COUNTS STATUS [TEXT]: the closing line, the exit status, and something the output must hold
expect() {
    # shellcheck disable=SC2046,SC2086 # names without blanks
    UNIT_TIMEOUT=2 "$root/tests/run-unit.sh" $(printf "$tmp/%s " $2) >"$tmp/out" 2>&1
    status=$?
    if [ "$(tail -n 1 "$tmp/out")" = "$3" ] && [ "$status" -eq "$4" ] && grep -q -e "${5:-passed}" "$tmp/out"; then
        ok "$1"
    else
        fail "$1: wanted '$3', status $4, '${5:-}'; got status $status and" "$tmp/out"
    fi
}

program good 'cmocka_unit_test(passes), cmocka_unit_test(passes)'
program mixed 'cmocka_unit_test(passes), cmocka_unit_test(fails), cmocka_unit_test(skips)'
program crash 'cmocka_unit_test(passes), cmocka_unit_test(crashes), cmocka_unit_test(passes)'
program leave 'cmocka_unit_test(passes), cmocka_unit_test(leaves), cmocka_unit_test(passes)'
program hang 'cmocka_unit_test(passes), cmocka_unit_test(hangs)'
program fixture 'cmocka_unit_test(passes), cmocka_unit_test_setup(passes, refuses)'
program group 'cmocka_unit_test(passes)' refuses
program status 'cmocka_unit_test(passes)' NULL '+ 3'
program liar 'cmocka_unit_test(fails)' NULL '* 0'

expect "passing tests" good "2 passed, 0 failed, 0 skipped" 0
expect "a sum over programs" "good mixed" "3 passed, 1 failed, 1 skipped" 1
expect "a skipped test is listed with its reason" mixed "1 passed, 1 failed, 1 skipped" 1 \
    '^  skipped: mixed: skips: no PMU here$'
expect "the output of a failing program is shown" mixed "1 passed, 1 failed, 1 skipped" 1 '| \[ *LINE'
expect "a failed test is named" mixed "1 passed, 1 failed, 1 skipped" 1 '^  FAILED: mixed: fails$'
expect "a crashed test is named" crash "1 passed, 1 failed, 0 skipped" 1 '^  FAILED: crash: crashes$'
expect "a failing group fixture is named" group "0 passed, 1 failed, 0 skipped" 1 '^  FAILED: group: GROUP SETUP$'
expect "a crash" crash "1 passed, 1 failed, 0 skipped" 1 'ended by signal 6'
expect "a program that leaves in the middle with status 0" leave "1 passed, 1 failed, 0 skipped" 1 \
    '1 of its tests did not run'
expect "a program that hangs" hang "1 passed, 1 failed, 0 skipped" 1 'still running after 2 s'
expect "a failing fixture" fixture "1 passed, 1 failed, 0 skipped" 1
expect "a failing group fixture" group "0 passed, 1 failed, 0 skipped" 1
expect "a bad exit status although all tests passed" status "1 passed, 1 failed, 0 skipped" 1 'exit status 3 although'
expect "exit status 0 although a test failed" liar "0 passed, 1 failed, 0 skipped" 1
expect "a program that is not there" nowhere "0 passed, 1 failed, 0 skipped" 1
printf '#!/bin/sh\nexit 0\n' >"$tmp/empty"
chmod +x "$tmp/empty"
expect "a program that runs no test" empty "0 passed, 1 failed, 0 skipped" 1 'ran no test'

finish
