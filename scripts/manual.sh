#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: manual.sh NAME     the manual page NAME of section 5 (man/pages), on standard output
#        manual.sh --list   the names of all
#
# Needs pandoc: it is in all distributions, reads the tables of doc/ as GitHub does, and lets a filter lay them out as a
# manual page does.
set -u

cd "$(dirname -- "$0")/.." || exit 1
field() {
    awk -F '[|]' -v name="$1" -v n="$2" '
        !/^#/ { wanted = $1; gsub(/^ +| +$/, "", wanted) }
        !/^#/ && wanted == name { gsub(/^ +| +$/, "", $n); print $n }' man/pages
}

case ${1:-} in
--list)
    sed -n 's/^\([a-z][^ |]*\).*/\1/p' man/pages
    exit
    ;;
esac
name=${1:-}
file=$(field "$name" 2)
if [ -z "$file" ]; then
    echo "manual.sh: no page '$name' in man/pages" >&2
    exit 2
fi
if ! command -v pandoc >/dev/null 2>&1; then
    echo "manual.sh: needs pandoc: apt-get install pandoc" >&2
    exit 3
fi

# The sections that are wanted, in the order of man/pages: the first without its heading, as the page's description.
sections() {
    field "$name" 3 | sed 's/ *; */\n/g' | {
        with=no
        while read -r heading; do
            section "$heading" "$with"
            with=yes
        done
    }
}

# section HEADING WITH-HEADING
section() {
    awk -v wanted="$1" -v with="$2" '
        /^    / || !/^#+ / {
            if (inside)
                print
            next
        }
        {
            level = length($1)
            title = $0
            sub(/^#+ /, "", title)
        }
        level == 1 {
            inside = wanted == "-" || wanted == "all"
            found = inside
            up = 1
            next
        }
        wanted == "-" { inside = 0 }
        wanted != "-" && wanted != "all" {
            if (inside && level <= inside)
                inside = 0
            if (title == wanted) {
                inside = level
                found = 1
                up = level
                if (with == "yes")
                    up--
                else
                    next
            }
        }
        # the highest that is left is a section of the page
        inside { print substr("######", 1, level - up) " " title }
        END { exit !found }' "doc/$file" || {
        echo "manual.sh: doc/$file has no section '$1', which man/pages wants for $name" >&2
        exit 1
    }
}

text=$(
    sections || exit 1
) || exit 1
{
    printf '# NAME\n\n%s - %s\n\n# DESCRIPTION\n\n' "$name" "$(field "$name" 4)"
    # the license line of the document is a comment of this page, below
    printf '%s\n' "$text" | grep -v '^<!-- SPDX'
    printf '\n# SEE ALSO\n\n**characterize**(1),\n'
    case $name in
    characterize-files) scripts/manual.sh --list | sed '1d; s/.*/**&**(5)/; $!s/$/,/' ;;
    *) echo '**characterize-files**(5)' ;;
    esac
    echo
    # shellcheck disable=SC2016 # Markdown
    printf 'The documents named here are installed with `README.md`, in `share/doc/characterize`.\n'
} | pandoc -f gfm -t man -s --lua-filter=scripts/manual.lua \
    -M title="$(printf '%s' "$name" | tr '[:lower:]' '[:upper:]')" -M section=5 -M footer="characterize $(cat VERSION)" -M header='File Formats' |
    awk -v file="$file" '
        NR == 1 { print ".\\\" SPDX-License-Identifier: GPL-3.0-or-later\n.\\\" Made of doc/" file " by pandoc." }
        # a paragraph that a heading begins anyway, which mandoc -T lint objects to
        NR > 1 && !($0 == ".PP" && before ~ /^[.]S[HS]/)
        { before = $0 }'
