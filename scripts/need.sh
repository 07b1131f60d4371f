# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # need_me and need_root come from the caller
#
# Sourced by ./run and ./check: which packages of scripts/packages are missing, and how to get them.
# The caller sets need_root (the repository) and need_me (the name before its messages).

need_say() {
    printf '%s: %s\n' "$need_me" "$*" >&2
}

# Succeeds if the probe of a package is satisfied: command:NAME[,NAME], header:FILE or file:PATH (which may hold *).
need_found() {
    case $1 in
    command:*)
        for need_name in $(printf '%s' "${1#command:}" | tr , ' '); do
            if command -v "$need_name" >/dev/null 2>&1; then
                return 0
            fi
        done
        ;;
    header:*)
        for need_dir in ${NEED_HEADER_DIRS:-/usr/include /usr/include/*-linux-gnu /usr/local/include}; do
            if [ -e "$need_dir/${1#header:}" ]; then
                return 0
            fi
        done
        ;;
    file:*)
        # shellcheck disable=SC2231 # the path is a pattern
        for need_file in ${NEED_FILE_ROOT:-}${1#file:}; do
            if [ -e "$need_file" ]; then
                return 0
            fi
        done
        ;;
    *)
        need_say "scripts/packages: unknown probe '$1'"
        ;;
    esac
    return 1
}

# Prints the missing packages of the given stages, in one line.
need_missing() {
    need_list=
    while read -r need_stage need_package need_probe; do
        case " $* " in
        *" $need_stage "*) need_found "$need_probe" || need_list="$need_list $need_package" ;;
        esac
    done <"$need_root/scripts/packages"
    printf '%s\n' "${need_list# }"
}

# Succeeds if apt has never fetched its lists here (as in a fresh container), so that it knows no package.
need_no_lists() {
    for need_file in "${NEED_APT_LISTS:-/var/lib/apt/lists}"/*_Packages*; do
        if [ -e "$need_file" ]; then
            return 1
        fi
    done
    return 0
}

# The command that installs the packages "$*", for a person to copy.
# su needs -l: without it PATH stays that of the user, without /sbin, and dpkg refuses to work.
need_command() {
    need_apt="apt-get install -y --no-install-recommends $*"
    if command -v sudo >/dev/null 2>&1; then
        if need_no_lists; then
            printf 'sudo apt-get update && '
        fi
        printf 'sudo %s\n' "$need_apt"
    elif need_no_lists; then
        printf "su -l -c 'apt-get update && %s'\n" "$need_apt"
    else
        printf "su -l -c '%s'\n" "$need_apt"
    fi
}

need_apt_get() {
    # a held dpkg lock (another apt at work) is worth a minute's wait, a dead mirror is not
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 \
        -o Acquire::http::Timeout=30 -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$need_log" 2>&1
}

# Installs the packages "$@" as root. Lists that are absent or outdated are fetched again.
need_apt_install() {
    need_log=$(mktemp) || return 1
    if ! need_no_lists && need_apt_get install -y --no-install-recommends "$@"; then
        rm -f "$need_log"
        return 0
    fi
    : >"$need_log"
    # without this apt-get update exits 0 even if it reached no mirror at all
    need_apt_get -o APT::Update::Error-Mode=any update
    need_update=$?
    if need_apt_get install -y --no-install-recommends "$@"; then
        rm -f "$need_log"
        return 0
    fi
    need_why=$(grep '^E: ' "$need_log" | head -n 1)
    if [ "$need_update" -ne 0 ]; then
        need_say "apt-get could not fetch the package lists: ${need_why:-see the log}"
        need_say "check the network and the mirrors in /etc/apt, then repeat; the complete log: $need_log"
    else
        need_say "apt-get could not install $*: ${need_why:-see the log}"
        need_say "the complete log: $need_log"
    fi
    return 1
}

# Makes sure that the packages of the given stages are there: as root installs them, otherwise prints the command.
# Returns 3 if they cannot be had.
need_install() {
    need_gone=$(need_missing "$@")
    if [ -z "$need_gone" ]; then
        return 0
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        need_say "missing, by their Debian names: $need_gone"
        need_say "there is no apt-get here: install your own system's packages of these"
        return 3
    fi
    if [ "$(id -u)" -ne 0 ]; then
        need_say "missing: $need_gone; install with:"
        # shellcheck disable=SC2086 # a list of package names
        printf '    %s\n' "$(need_command $need_gone)" >&2
        return 3
    fi
    need_say "installing $need_gone (apt-get, a minute or two)"
    # shellcheck disable=SC2086 # a list of package names
    need_apt_install $need_gone || return 3
    need_gone=$(need_missing "$@")
    if [ -n "$need_gone" ]; then
        need_say "apt-get reported success, yet these are not to be found: $need_gone (probes in scripts/packages)"
        return 3
    fi
}
