#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Citations point somewhere: each section, figure, table and equation that data, documents or comments cite of the
# dissertation (G), the paper (F) and the thesis on variability (V) is in that document. Skipped where one is missing.
#
# CHARACTERIZE_SOURCES: the folder with their texts (../shared/seeds).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1

folder=${CHARACTERIZE_SOURCES:-../shared/seeds}

# text_of WORDS: the file that has them near its beginning
text_of() {
    for file in "$folder"/*.txt; do
        if [ -r "$file" ] && head -n 40 "$file" | grep -q "$1"; then
            echo "$file"
            return
        fi
    done
}

# contents LETTER FILE: a line "LETTER KIND NUMBER" for each section, figure, table and equation
contents() {
    awk -v of="$1" '
        /^#* ?[0-9]+(\.[0-9]+)*\.? +[A-Z]/ || /^[0-9]+\.[0-9]+\.[0-9]+ +[a-z]/ {
            sub(/^#* ?/, "")
            n = $1; sub(/\.$/, "", n); print of, "section", n
            while (sub(/\.[0-9]+$/, "", n))
                print of, "section", n
        }
        {
            for (rest = $0; match(rest, /(Figure|Table) [0-9]+([.-][0-9]+)?/); rest = substr(rest, RSTART + RLENGTH)) {
                split(substr(rest, RSTART, RLENGTH), word, " ")
                print of, tolower(word[1]), word[2]
            }
        }
        match($0, /(tag\{|\()[0-9]+(\.[0-9]+)?[})] *\$*$/) {
            n = substr($0, RSTART, RLENGTH); gsub(/[^0-9.]/, "", n); print of, "eq", n
        }' "$2"
}

# citations: a line "FILE:LINE LETTER KIND NUMBER" for each
citations() {
    kind='((figures?|tables?|eqs?[.]?|sections?) )?'
    grep -rnE "(^|[^A-Za-z0-9_.])[GFV],? ${kind}[0-9]" --include='*.model' \
        --include='*.sku' --include='*.workload' --include='*.events' --include='*.md' --include='*.[ch]' data doc \
        README.md analysis cli computer drivers output probes profiler schedulers tables tests |
        awk -v cited="(^|[^A-Za-z0-9_.])[GFV],? ${kind}[0-9]+([.-][0-9]+)*" \
            -v more="^(,| and|, and| to) ${kind}[0-9]+([.-][0-9]+)+" '
            {
                where = $0; sub(/^([^:]*:[0-9]+):.*/, "", where)
                split($0, part, ":"); where = part[1] ":" part[2]
                rest = substr($0, length(where) + 2)
                while (match(rest, cited)) {
                    item = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
                    sub(/^[^GFV]/, "", item)
                    of = substr(item, 1, 1); sub(/^.,? /, "", item); kind = "section"
                    for (;;) {
                        if (match(item, /^(figure|table|eq|section)[s.]* /)) {
                            kind = item; sub(/[s.]* .*/, "", kind); sub(/^[a-z.]+ /, "", item)
                        }
                        if (item ~ /[0-9]\.[0-9]+\./) # figures and tables have two numbers
                            kind = "section"
                        # a number with a unit is a figure, not where it stands
                        if (rest !~ /^ ?(%|us|ms|GHz|MHz|W|x)/)
                            print where, of, kind, item
                        if (!match(rest, more))
                            break
                        item = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
                        sub(/^(,| and|, and| to) /, "", item)
                    }
                }
            }'
}

for source in 'G:Gottschlag' 'F:Fair Scheduling' 'V:ariability'; do
    file=$(text_of "${source#*:}")
    [ -n "$file" ] && contents "${source%%:*}" "$file"
done | sort -u >"$tmp/contents"
if [ "$(cut -d ' ' -f 1 "$tmp/contents" | sort -u | wc -l)" -lt 3 ]; then
    skip "citations" "not all three documents are in $folder (CHARACTERIZE_SOURCES names the folder)"
else
    citations >"$tmp/cited"
    awk 'NR == FNR { known[$0]; next } !($2 " " $3 " " $4 in known)' "$tmp/contents" "$tmp/cited" >"$tmp/wrong"
    check "at least 300 citations are found" "$tmp/cited" test "$(wc -l <"$tmp/cited")" -ge 300
    check "each is in its document" "$tmp/wrong" test ! -s "$tmp/wrong"
fi
finish
