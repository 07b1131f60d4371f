# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Sourced by the tests of the command line. $CHARACTERIZE is the program (default: ./characterize of the repository).
# Each test runs in $work, an empty folder; $tmp is for what belongs to the test itself. A test calls ok, fail or skip
# once for each thing it shows and ends with finish.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
test=$(basename "$0" .sh)
CHARACTERIZE=${CHARACTERIZE:-$root/characterize}
case $CHARACTERIZE in
/*) ;;
*) CHARACTERIZE=$(pwd)/$CHARACTERIZE ;;
esac
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-$root/data}
LC_ALL=C
export CHARACTERIZE_DATA LC_ALL
unset NO_COLOR

tmp=$(mktemp -d) || exit 1
# some tests run the program as another user, who must be able to get here
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
work=$tmp/work out=$tmp/out err=$tmp/err status=0
mkdir "$work" && cd "$work" || exit 1
n_passed=0 n_failed=0 n_skipped=0

if [ ! -x "$CHARACTERIZE" ]; then
    printf '  FAILED: %s: no program %s: run make first\n' "$test" "$CHARACTERIZE"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

ok() {
    n_passed=$((n_passed + 1))
    printf '  ok: %s: %s\n' "$test" "$1"
}

# fail WHAT: with what the program said last.
fail() {
    n_failed=$((n_failed + 1))
    printf '  FAILED: %s: %s (status %s)\n' "$test" "$1" "$status"
    for fail_file in "$out" "$err"; do
        [ -e "$fail_file" ] && head -n 20 "$fail_file" | sed "s/^/    $(basename "$fail_file")| /"
    done
}

skip() {
    n_skipped=$((n_skipped + 1))
    printf '  skipped: %s: %s: %s\n' "$test" "$1" "$2"
}

# verdict WHAT COMMAND...: ok if the command succeeds.
verdict() {
    verdict_what=$1
    shift
    if "$@"; then
        ok "$verdict_what"
    else
        fail "$verdict_what"
    fi
}

# run ARGUMENT...: the program, its output in $out and $err, its status in $status.
run() {
    "$CHARACTERIZE" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# What is in the work folder, hidden files too.
left() {
    find "$work" -mindepth 1 | sort
}

clean() {
    rm -rf "$work" && mkdir "$work" && cd "$work" || exit 1
}

# one_line STATUS PATTERN: the program ended so, with one line on standard error that fits the pattern (grep -E), with
# nothing on standard output, and left no file.
one_line() {
    [ "$status" -eq "$1" ] || return 1
    [ "$(wc -l <"$err")" -eq 1 ] || return 1
    grep -Eq "^characterize: .*($2)" "$err" || return 1
    [ ! -s "$out" ] && [ -z "$(left)" ]
}

# refuses WHAT STATUS PATTERN ARGUMENT...: runs it in an empty folder and checks as one_line does.
refuses() {
    refuses_what=$1 refuses_status=$2 refuses_pattern=$3
    shift 3
    clean
    run "$@"
    verdict "$refuses_what" one_line "$refuses_status" "$refuses_pattern"
}

# A terminal for the program, by script(1) of util-linux: its output in $out.
have_terminal() {
    command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1 </dev/null
}
on_terminal() {
    TERM=xterm script -qec "$1" /dev/null >"$out" 2>&1 </dev/null
    status=$?
}

finish() {
    echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
    [ "$n_failed" -eq 0 ]
    exit
}
