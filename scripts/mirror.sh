# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Sourced by what makes a bare Debian.

# The line of sources.list by which this machine gets the packages of its own release; nothing if there is none.
mirror_line() {
    # shellcheck disable=SC1091 # this machine's own
    mirror_release=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016 # apt's own names
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$mirror_release" '$2 == release && $3 == "main" { print "deb " $1, $2, $3; exit }'
}
