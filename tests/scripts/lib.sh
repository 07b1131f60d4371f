# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Sourced by the tests of the scripts around the build. A test calls ok, fail or skip once for each thing it shows
# and ends with finish. $root is the repository, $tmp a folder that is removed at the end, $test the test's name.
set -u

# shellcheck disable=SC2034 # for those who source this
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
test=$(basename "$0" .sh)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
n_passed=0 n_failed=0 n_skipped=0

ok() {
    n_passed=$((n_passed + 1))
    printf '  ok: %s: %s\n' "$test" "$1"
}

# fail WHAT [FILE]: the file is shown, indented.
fail() {
    n_failed=$((n_failed + 1))
    printf '  FAILED: %s: %s\n' "$test" "$1"
    if [ $# -gt 1 ] && [ -e "$2" ]; then
        sed 's/^/    | /' "$2"
    fi
}

skip() {
    n_skipped=$((n_skipped + 1))
    printf '  skipped: %s: %s: %s\n' "$test" "$1" "$2"
}

# check WHAT FILE COMMAND...: ok if the command succeeds, otherwise fail with the file shown.
check() {
    check_what=$1 check_file=$2
    shift 2
    if "$@"; then
        ok "$check_what"
    else
        fail "$check_what" "$check_file"
    fi
}

# same EXPECTED-FILE FILE: both hold the same; the difference is shown.
same() {
    diff -u "$1" "$2" | sed 's/^/    | /'
    cmp -s "$1" "$2"
}

finish() {
    echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
    [ "$n_failed" -eq 0 ]
    exit
}
