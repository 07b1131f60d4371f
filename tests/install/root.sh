# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# shellcheck disable=SC2154 # root and tmp come from tests/scripts/lib.sh
#
# Sourced by the tests that install into a bare Debian of their own, after tests/scripts/lib.sh.

# shellcheck source=../../scripts/mirror.sh
. "$root/scripts/mirror.sh"

# root_needs WHAT: skips everything and ends unless a bare Debian can be made here
root_needs() {
    root_from=$(mirror_line)
    root_reply=$(mktemp -u)
    if ! command -v mmdebstrap >/dev/null 2>&1; then
        skip "$1" "needs mmdebstrap: apt-get install mmdebstrap"
    elif [ -z "$root_from" ]; then
        skip "$1" "apt has no mirror of this machine's release"
    elif ! /usr/lib/apt/apt-helper download-file "$(root_release_file)" "$root_reply" >/dev/null 2>&1; then
        skip "$1" "cannot fetch $(root_release_file)"
    else
        rm -f "$root_reply"
        return 0
    fi
    finish
}

root_release_file() {
    echo "$root_from" | awk '{ sub("/$", "", $2); print $2 "/dists/" $3 "/InRelease" }'
}

# root_run SCRIPT FILE...: makes a bare Debian, copies the files to /try in it, runs the script there as root and takes
# over what it finds: lines of ok, fail and skip. The root is gone afterwards.
root_run() {
    root_script=$1
    shift
    mkdir "$tmp/try" && cp -r "$@" "$root/tests/scripts/lib.sh" "$root_script" "$tmp/try" || exit 1
    # shellcheck disable=SC2016 # $1 is the new root
    mmdebstrap --variant=minbase --format=null --quiet --customize-hook="copy-in '$tmp/try' /" \
        --customize-hook='chroot "$1" sh /try/'"$(basename "$root_script")" \
        "$(echo "$root_from" | cut -d ' ' -f 3)" /dev/null "$root_from" >"$tmp/root.log" 2>&1 </dev/null
    root_status=$?
    grep -E '^(  (ok|FAILED|skipped): |    [|] )' "$tmp/root.log"
    n_passed=$((n_passed + $(grep -c '^  ok: ' "$tmp/root.log")))
    n_failed=$((n_failed + $(grep -c '^  FAILED: ' "$tmp/root.log")))
    n_skipped=$((n_skipped + $(grep -c '^  skipped: ' "$tmp/root.log")))
    if ! grep -q '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$tmp/root.log"; then
        tail -n 40 "$tmp/root.log" >"$tmp/tail"
        fail "the script in the bare Debian ran to its end (status $root_status)" "$tmp/tail"
    fi
}
