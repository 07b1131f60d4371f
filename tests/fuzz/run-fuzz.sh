#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Usage: run-fuzz.sh FOLDER SECONDS PROGRAM...      (make fuzz)
#
# Runs libFuzzer programs one after the other, each for SECONDS, and says in one line each what came of it. FOLDER keeps
# the log, the inputs that reached new code (they are the start of the next run) and an input that failed, which
# `PROGRAM INPUT` runs again.
# Exit status: 0 nothing found, 1 something found, which is shown.
set -u

folder=$1 seconds=$2
shift 2
seeds=$(dirname "$0")
status=0
for program; do
    name=$(basename "$program")
    log=$folder/$name.log
    kind=trace # of files that it reads
    case $name in fuzz_workload | fuzz_environment | fuzz_binary) kind=${name#fuzz_} ;; esac
    mkdir -p "$folder/$name" || exit 1
    if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=16384 -print_final_stats=1 \
        -dict="$seeds/$kind.dict" -artifact_prefix="$folder/$name-" "$folder/$name" "$seeds/corpus/$kind" \
        >"$log" 2>&1; then
        inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        reached=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        echo "$name: $inputs inputs in $seconds s, $reached places of the code reached, nothing found"
    else
        status=1
        tail -n 60 "$log"
        echo "$name: FAILED, log in $log"
    fi
done
exit $status
