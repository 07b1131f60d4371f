# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of characterize in fish: options and values as the program itself lists them (--list options, ...).

# as in characterize.bash
function __characterize_names
    set -l rows (characterize --list $argv[1] 2>/dev/null)
    switch $argv[1]
        case skus
            printf '%s\n' $rows | awk '/^CPUs with published/ { on = 1; next } on && NF { print $1 }'
        case machines
            printf '%s\n' $rows | awk 'NF && !/^liblikwid/ { print $1 }' | grep -v FILE
        case kernels
            printf '%s\n' $rows | awk 'NR > 1 { if (!NF) exit; print $1 }'
        case '*'
            printf '%s\n' $rows | awk '{ if (!NF) exit; print $1 }'
    end
end

# FROM, then FROM:TO
function __characterize_pairs
    set -l word (commandline -ct | string replace -r '^--transition=' '')
    if string match -q '*:*' -- $word
        __characterize_names kernels | sed "s/^/"(string split -f 1 : -- $word)":/"
    else
        __characterize_names kernels | sed 's/$/:/'
    end
end

# A list: what is there already, and one more of the names on standard input.
function __characterize_list
    set -l word (commandline -ct | string replace -r '^--[a-z-]*=' '')
    set -l before (string match -r '^.*,' -- $word)
    sed "s/^/$before/"
end

for program in characterize characterize-simulate characterize-profile
    # of which one that does a single job has not all
    set -l own ($program --help-all 2>/dev/null | string match -r '^  (?:-[a-zA-Z?], |    )(--[a-z-]+)' | string match -r '^--.*')
    characterize --list options 2>/dev/null | while read -l -d \t name argument about
        contains -- $name $own; or continue
        set -l option (string replace -r '^--' '' -- $name)
        switch $name
            case --transition
                complete -c $program -l $option -d "$about" -x -a '(__characterize_pairs)'
            case --table
                complete -c $program -l $option -d "$about" -x -a '(__characterize_names tables)'
            case --kernels
                complete -c $program -l $option -d "$about" -x -a '(__characterize_names kernels | __characterize_list)'
            case --companion
                complete -c $program -l $option -d "$about" -x -a '(__characterize_names kernels) same'
            case --machine
                complete -c $program -l $option -d "$about" -x -a '(__characterize_names machines) auto'
            case --validate
                complete -c $program -l $option -d "$about" -x -a '(__characterize_names skus)'
            case --simulate
                complete -c $program -l $option -d "$about" -r -a '(__characterize_names workloads)'
            case '*'
                if test -z "$argument"
                    complete -c $program -l $option -d "$about" -f
                else if string match -qr '[A-Z].*\|' -- $argument
                    complete -c $program -l $option -d "$about" -r
                else if string match -q '*|*' -- $argument
                    complete -c $program -l $option -d "$about" -x -a (string replace -a '|' ' ' -- $argument)
                else if contains -- $argument LIST PARTS
                    set -l names (string match -r '(?:[a-z-]+,){2,}[a-z-]+' -- $about | string replace -a , \\n)
                    complete -c $program -l $option -d "$about" -x -a "(printf '$names' | __characterize_list)"
                else if string match -qr '[A-Z]' -- $argument
                    complete -c $program -l $option -d "$about" -r
                else
                    complete -c $program -l $option -d "$about" -x -a $argument
                end
        end
    end
end
