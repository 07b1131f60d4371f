#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make test-deb: the packages of build/deb, installed by apt into a bare Debian of this machine's release: they work,
# and purged they leave nothing.
# shellcheck source=../scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
# shellcheck source=root.sh
. "$(dirname "$0")/root.sh"

folder=$root/${BUILD:-build}/deb
set -- "$folder"/*.deb
check "there are packages in $folder" "" [ -e "$1" ]
[ -e "$1" ] || finish
root_needs "the packages in a bare Debian"
root_run "$root/tests/install/deb_inside.sh" "$@"
finish
