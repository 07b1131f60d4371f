#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: lint.sh C-FILE... -- COMPILER-FLAG...      (make lint)
#
# Static checks: the layout rules of .editorconfig on all sources; the format of the C files where there is
# clang-format 14; shellcheck on every shell script; cppcheck and clang-tidy, or whichever of them there is, on the C
# files. Ends with 'N passed, N failed, N skipped'.
# Exit status: 0 clean, 1 findings, 3 a tool is missing.
set -u

cd "$(dirname "$0")/.." || exit 1
need_me=lint
need_root=.
# shellcheck source=need.sh
. scripts/need.sh

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

while [ $# -gt 0 ] && [ "$1" != -- ]; do
    printf '%s\n' "$1" >>"$tmp/c-files"
    shift
done
[ $# -eq 0 ] || shift

# Source files of the tree, tracked or not, without what a build leaves; arguments: find's tests and action.
sources() {
    find . \( -name '.git' -o -name 'build' -o -name 'build-*' -o -name 'characterize-out' \) -prune -o -type f "$@"
}

shell_scripts() {
    sources -name '*.sh' -print
    sources ! -name '*.*' -exec grep -lIm 1 '^#! */bin/sh' {} +
}

# The analyzer follows up to so many nodes of a function's paths. Its own bound is three times that and takes three
# times as long; LINT_DEEP=1 (make lint-deep) keeps to it.
analyzer_nodes=75000

run_clang_tidy() {
    set -- -- "$@"
    if [ -z "${LINT_DEEP:-}" ]; then
        set -- --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
            --extra-arg="max-nodes=$analyzer_nodes" "$@"
    fi
    xargs -P "$(nproc)" -I FILE clang-tidy --quiet FILE "$@" <"$tmp/c-files" >"$tmp/raw" 2>&1
    tidy_status=$?
    # what it counts are the system headers' warnings too, which it does not show
    grep -v -e '^[0-9]* warnings* .*generated' -e '^[0-9]* warnings* treated as error' "$tmp/raw" >"$tmp/out"
    return "$tidy_status"
}

run_cppcheck() {
    # only -I, -D and --std mean anything to it
    for flag; do
        shift
        case $flag in
        -std=*) set -- "$@" "-$flag" ;;
        -I* | -D*) set -- "$@" "$flag" ;;
        esac
    done
    # suppressed: (ctu)uninitvar follows loops as if they might not run (gcc and clang-tidy do better),
    # arrayIndexThenCheck is a matter of taste where the index is bounded anyway, wrongPrintfScanfArgNum mixes up
    # formats that a function is given with those of its other callers (gcc checks formats),
    # normalCheckLevelMaxBranches only says that long functions are followed less far (cppcheck 2.11 and later), and
    # of tests: a failing fixture may leave memory behind, cmocka's macros name their argument twice, once as text,
    # which reads as a use after fclose, and running out of memory may end a test (cppcheck 2.17)
    # its own -j keeps hardly more than one CPU busy
    xargs -P "$(nproc)" -n 60 cppcheck --quiet --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=uninitvar --suppress=ctuuninitvar \
        --suppress=arrayIndexThenCheck --suppress=wrongPrintfScanfArgNum --suppress=normalCheckLevelMaxBranches \
        --suppress='memleak:tests/*' \
        --suppress='deallocuse:tests/*' --suppress='nullPointerOutOfMemory:tests/*' --error-exitcode=1 "$@" \
        <"$tmp/c-files" >"$tmp/out" 2>&1
}

run_shellcheck() {
    shell_scripts | sort >"$tmp/sh-files"
    xargs -P "$(nproc)" -n 4 shellcheck -x <"$tmp/sh-files" >"$tmp/out" 2>&1
}

# Lines of at most 120 columns, no tabs (but in Makefiles), no blanks at the end of a line.
run_layout() {
    sources \( -name '*.[ch]' -o -name '*.asm' -o -name '*.inc' -o -name '*.sh' -o -name run -o -name check \) \
        ! -path './drivers/helper/kmod/*' -print0 | LC_ALL=C xargs -0 awk '
        { gsub(/[\200-\277]/, "") } # what is left is one byte a character
        length($0) > 120 { print FILENAME ":" FNR ": longer than 120 columns" }
        /[ \t]$/ { print FILENAME ":" FNR ": blanks at the end of the line" }
        /\t/ { print FILENAME ":" FNR ": a tab; indent by four spaces" }
        # in a string, that is, before any comment
        FILENAME ~ /[.][ch]$/ && FILENAME !~ /^[.]\/tests\// && !/^ \*/ &&
            /^([^"\/]|\/[^*])*("([^"\\]|\\.)*"([^"\/]|\/[^*])*)*"([^"\\`]|\\.)*`/ {
            print FILENAME ":" FNR ": messages quote with \047, not with a backquote"
        }' >"$tmp/out"
    ! [ -s "$tmp/out" ]
}

check() {
    what=$1
    shift
    begin=$(date +%s)
    if "$@"; then
        passed=$((passed + 1))
        echo "  ok: $what ($(($(date +%s) - begin)) s)"
    else
        failed=$((failed + 1))
        cat "$tmp/out"
        echo "  FAILED: lint: $what"
    fi
}

gone=
need_found command:clang-tidy,cppcheck || gone=cppcheck
need_found command:shellcheck || gone="$gone shellcheck"
if [ -n "$gone" ]; then
    # shellcheck disable=SC2086 # a list of package names
    need_say "missing:" $gone "- install with: $(need_command $gone)"
    exit 3
fi

# the quick ones first: whoever runs this by hand need not wait minutes for a line that is too long
check "layout of the sources" run_layout
scripts/format.sh --check >"$tmp/out" 2>&1
format_status=$?
if [ "$format_status" -eq 3 ]; then
    skipped=$((skipped + 1))
    echo "  skipped: lint: format of the C files: $(cat "$tmp/out")"
else
    check "format of the C files" [ "$format_status" -eq 0 ]
fi
check shellcheck run_shellcheck
# both where both are: a machine with only one of them must not find what was never looked at
if command -v cppcheck >/dev/null 2>&1; then
    check "cppcheck, $(wc -l <"$tmp/c-files") files" run_cppcheck "$@"
fi
if command -v clang-tidy >/dev/null 2>&1; then
    check "clang-tidy, $(wc -l <"$tmp/c-files") files" run_clang_tidy "$@"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
