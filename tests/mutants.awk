# SPDX-License-Identifier: GPL-3.0-or-later
#
# What tests/mutants.sh may change: draws `n` places of the C sources given as arguments, with `seed`, and prints for
# each 'FILE LINE COLUMN LENGTH NEW', the columns from 1. Places are operators between blanks (clang-format leaves none
# else that have two operands), numbers, true and false. Not in comments, strings, preprocessor lines, assertions of the
# compiler, sizes of arrays and named limits, nor is more room allocated than is used: such a change is none of
# behaviour. (Less room is: the tests see what is written past it.)

# The line without its comments and strings, as long as before; what begins on it and goes on counts from then on.
function masked(line, out, i, two, c) {
    out = ""
    for (i = 1; i <= length(line); i++) {
        two = substr(line, i, 2)
        c = substr(line, i, 1)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; out = out "_"; i++ }
            out = out "_"
        } else if (quote != "") {
            if (c == "\\") { out = out "_"; i++ } else if (c == quote) quote = ""
            out = out "_"
        } else if (two == "/*") {
            in_comment = 1
            out = out "__"
            i++
        } else if (two == "//") {
            while (length(out) < length(line)) out = out "_"
            return out
        } else if (c == "\"" || c == "'") {
            quote = c
            out = out "_"
        } else
            out = out c
    }
    return out
}

function place(column, len, new) {
    places++
    at[places] = FILENAME " " FNR " " column " " len " " new
}

# Whether what follows is within the arguments of malloc() or calloc().
function allocates(head) {
    if (!match(head, /.*[cm]alloc[(]/)) return 0
    head = substr(head, RLENGTH + 1)
    return gsub(/[)]/, "", head) <= gsub(/[(]/, "", head)
}

function changed_number(text) {
    if (text ~ /^[0-9]+$/) return text == "1" ? "0" : text + 1
    if (text ~ /^0x/) return "(" text "+1)"
    return text + 0 == 0 ? "1.0" : "(2*" text ")"
}

BEGIN {
    tokens = "[A-Za-z_][A-Za-z_0-9]*|0x[0-9a-fA-F]+[uUlL]*|[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?[uUlL]*|[-+*/<>=!&|]+"
    split("< <= <= < > >= >= > == != != == && || || && + - - + * / / * += -= -= +=", pair, " ")
    for (i = 1; i in pair; i += 2) other[pair[i]] = pair[i + 1]
    other["true"] = "false"
    other["false"] = "true"
}

FNR == 1 { in_comment = 0; quote = ""; skip = 0 }

{
    line = masked($0)
    if (line ~ /^ *#/ || line ~ /static_assert|_Static_assert/) skip = 1
    if (skip) {
        # a preprocessor line goes on after a backslash, an assertion to its semicolon
        if (line ~ /^ *#/ || line ~ /\\$/ ? line !~ /\\$/ : line ~ /;|[^\\]$/) skip = 0
        next
    }
    limits = line ~ /enum.*(MAX|SIZE|LEN)|_(MAX|SIZE|LEN) = /
    declares = line ~ /^ *((static|const|extern|unsigned|struct [a-z_]+|[a-z]+[0-9]*_t|char|int|long|double|bool) )+/
    rest = line
    offset = 0
    while (match(rest, tokens)) {
        token = substr(rest, RSTART, RLENGTH)
        column = offset + RSTART
        before = substr(" " line, column, 1)
        after = substr(line " ", column + RLENGTH, 1)
        offset += RSTART + RLENGTH - 1
        rest = substr(rest, RSTART + RLENGTH)
        if (token ~ /^[A-Za-z_]/) {
            if (token in other) place(column, length(token), other[token])
        } else if (token ~ /^[0-9.]/) {
            # a size in a declaration, before its value
            head = substr(line, 1, column - 1)
            size = declares && before == "[" && head !~ /=/
            room = token > 1 && allocates(head)
            if (!limits && !size && !room) place(column, length(token), changed_number(token))
        } else if (token in other && before == " " && after == " ")
            place(column, length(token), other[token])
    }
}

# Park and Miller's minimal standard generator ("Random number generators: good ones are hard to find", CACM 31, 1988):
# the same places with every awk
function draw() {
    state = (state * 16807) % 2147483647
    return state / 2147483647
}

END {
    state = (seed * 2654435 + 12345) % 2147483646 + 1
    for (i = 0; i < 10; i++) draw()
    for (i = 0; i < n && i < places; i++) {
        j = i + 1 + int(draw() * (places - i))
        swap = at[i + 1]; at[i + 1] = at[j]; at[j] = swap
        print at[i + 1]
    }
}
