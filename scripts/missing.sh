#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: missing.sh NAME STAGE...
#
# Which packages of these stages of scripts/packages are missing, and the command that installs them; NAME begins the
# message. Installs nothing.
# Exit status: 0 if none is missing, else 3.
set -u

need_me=$1
need_root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
shift
# shellcheck source=need.sh
. "$need_root/scripts/need.sh"
gone=$(need_missing "$@")
if [ -n "$gone" ]; then
    # shellcheck disable=SC2086 # a list of package names
    need_say "missing: $gone; install with: $(need_command $gone)"
    exit 3
fi
