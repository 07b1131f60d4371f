# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # work and kernel come from the caller
#
# Sourced by lib.sh: kernels that are not of this system. Their images and headers, and a compiler of their release, are
# fetched with apt and unpacked under $work; nothing is installed, and this system's own apt is not touched. The module
# is then built in a name space of its own, with that release's compiler; for this no privileges are needed where user
# name spaces are allowed. What has been fetched stays, so that only the first run needs the network.

mirror=${VM_MIRROR:-http://deb.debian.org}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# release_of NAME: the release of a suite, or of a kernel by what Debian puts into its version
release_of() {
    case $1 in
    bookworm | bookworm-backports | 6.1.0-* | *+deb12*) echo bookworm ;;
    trixie | trixie-backports | *+deb13*) echo trixie ;;
    sid | *+deb14*) echo sid ;;
    esac
}

is_suite() {
    case $1 in
    bookworm | bookworm-backports | trixie | trixie-backports | sid) return 0 ;;
    esac
    return 1
}

# open_release RELEASE: apt's files for it, lists of a day's age at most
open_release() {
    need_commands apt-get apt-cache dpkg unshare
    [ -r "$keyring" ] || skip_all "no $keyring (package debian-archive-keyring): fetched packages cannot be trusted"
    apt=$work/apt-$1
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    : >"$apt/status"
    for suite in "debian $1" "debian $1-backports" "debian-security $1-security"; do
        case $suite in *sid-*) continue ;; esac
        echo "deb [arch=amd64 signed-by=$keyring] $mirror/$suite main"
    done >"$apt/sources"
    cat >"$apt/conf" <<EOF
Dir::Etc::sourcelist "$apt/sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::State::extended_states "$apt/extended";
Dir::Cache "$apt";
Acquire::Languages "none";
APT::Architecture "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
EOF
    if [ -z "$(find "$apt/updated" -mtime -1 2>/dev/null)" ]; then
        if of_release apt-get -q update >"$work/update.log" 2>&1 && ! grep -q '^[EW]: Failed' "$work/update.log"; then
            touch "$apt/updated"
        elif [ ! -e "$apt/updated" ]; then
            skip_all "no list of $1's packages: $(grep -m 1 '^[EW]: Failed' "$work/update.log")"
        fi
    fi
}

# of_release COMMAND...: apt's with the files of the release
of_release() {
    APT_CONFIG=$apt/conf "$@"
}

# newest_of SUITE: the newest kernel there
newest_of() {
    version=$(of_release apt-cache madison linux-headers-amd64 |
        sed -n "s/^[^|]*| *\([^ ]*\) *|.* $1\(-security\)*\/main .*/\1/p" | head -n 1)
    of_release apt-cache show "linux-headers-amd64=$version" |
        sed -n 's/^Depends: .*linux-headers-\([^ ,]*\).*/\1/p' | head -n 1
}

# unpack_into FOLDER [without]: the packages in $apt/archives, which are then removed; with a second argument
# without the images that headers of some releases depend on
unpack_into() {
    rm -rf "$1.part"
    mkdir -p "$1.part"
    for package in "$apt/archives"/*.deb; do
        case $package in */linux-image-*) [ -n "${2:-}" ] && continue ;; esac
        dpkg -x "$package" "$1.part" || skip_all "cannot unpack $package"
    done
    mv "$1.part" "$1"
    rm -f "$apt/archives"/*.deb
}

# Headers of $kernel with a compiler and make of its release. Sets $builder, the root of their tree.
fetch_builder() {
    builder=$work/builder-$kernel
    if [ -e "$builder/usr/src/linux-headers-$kernel/Makefile" ]; then
        return
    fi
    open_release "$(release_of "$kernel")"
    rm -f "$apt/archives"/*.deb
    of_release timeout 300 apt-get -q -y --download-only install "linux-headers-$kernel" base-files bash binutils \
        coreutils dash diffutils findutils grep libc6-dev make mawk nasm sed >"$work/download.log" 2>&1 ||
        skip_all "cannot download linux-headers-$kernel: $(grep '^E: ' "$work/download.log" | head -n 1)"
    unpack_into "$builder" without
    mkdir -p "$builder/dev" "$builder/proc" "$builder/mnt" "$builder/tmp"
    ln -sf mawk "$builder/usr/bin/awk"
}

# in_builder FOLDER COMMAND...: runs it with the builder's tree as root, and the folder as /mnt
in_builder() {
    # shellcheck disable=SC2016 # expanded in there
    unshare --map-root-user --mount sh -c '
        root=$1 folder=$2
        shift 2
        mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc" &&
            mount --bind "$folder" "$root/mnt" && exec chroot "$root" "$@"' sh "$builder" "$@"
}
