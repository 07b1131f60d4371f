#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# examples/read_formats.py reads each kind of file into pandas, with the values that are in it.
# deep: needs pandas, which ./check --deep installs, and a run of --all
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

python=
for name in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$name" -c 'import pandas' >/dev/null 2>&1; then
        python=$name
    fi
done
cd "$root" || exit 1
# every format that is described has a reader
sed -n '/characterize-[a-z-]*\/1/s/.*characterize-\([a-z-]*\)\/1.*/\1/p' doc/formats.md doc/export-format.md |
    grep -v -x -e trace -e simulation | sort -u | while read -r format; do
    grep -q "[ {]\"$format\": read_" examples/read_formats.py || echo "$format: no reader"
done >"$tmp/out"
check "each format of doc/ has a reader" "$tmp/out" [ ! -s "$tmp/out" ]
if [ -z "$python" ]; then
    skip "the readers" "no pandas here: apt-get install python3-pandas"
    finish
fi

program=$(readlink -f "${CHARACTERIZE:-$root/characterize}")
CHARACTERIZE_DATA=$root/data
PYTHONDONTWRITEBYTECODE=1
export CHARACTERIZE_DATA PYTHONDONTWRITEBYTECODE
cd "$tmp" || exit 1
made() {
    made_what=$1
    shift
    "$program" "$@" --quiet >log 2>&1
    check "made: $made_what" log [ "$?" -eq 0 ]
}
model=model:xeon-gold-6130
made "trace, phases" --transition 128fma:512fma --machine $model --csv trace.csv --json phases.json
made "table" --table frequency --brief --machine $model --csv table.csv --json table.json
made "directory" --all --brief --machine $model --output all
made "export" --export json export.json --input all
made "validation" --validate xeon-gold-6130 --input all --json validation.json --junit validation.xml
made "verdict" --verdict --brief --machine $model --json verdict.json
made "simulation" --simulate web-server --params export.json --runs 2 --json simulation.json
made "profile" --profile --sources --params export.json --machine $model --json profile.json --csv profile.csv
made "self-test, bundle" --self-test --machine $model --json self-test.json --bundle bundle.tar.gz
made "environment" --check environment --json environment.json
cat >first-uses.csv <<'END'
# unit: 512
idle_us,first_us
END
awk 'BEGIN { for (i = 0; i < 40; i++) print i * 5 + 1 "," (i < 20 ? 0.1 : 9) + i % 3 / 100 }' >>first-uses.csv
made "stages" --analyze first-uses.csv --json stages.json
printf '# recorded_ghz: 2.8\ncpu,time_us,task,class\n0,0,nginx,none\n0,812.5,nginx,512heavy\n0,840,-,none\n' >work.csv

"$python" "$root/examples/read_formats.py" ./*.csv ./*.json ./*.xml ./*.tar.gz all >out 2>&1
status=$?
check "all are read" out [ "$status" -eq 0 ]
cat >values.py <<'END'
import read_formats as r

trace, about = r.read_trace("trace.csv")
assert about["format"] == "characterize-trace/1" and about["from"] == "128fma", about
late = trace[trace.time_us > 100].freq_ghz.mean()
assert abs(late - 1.9) < 0.01, late
assert trace.volts.notna().any() and trace.freq_ghz.isna().any()
phases = r.read_json("phases.json")[1]["phases"]
assert list(phases.kind) == ["steady", "throttle", "halt", "throttle", "halt", "steady"], phases.kind
assert (phases.duration_us_lo < phases.duration_us).all() and phases.freq_ghz.isna().sum() == 2
rows = r.read_table("table.csv")[0]
same = r.read_json("table.json")[1]["frequency"]
assert list(rows) == list(same) and len(rows) == len(same) and same.attrs["units"]["freq_ghz"] == "GHz"
assert (rows.freq_ghz - same.freq_ghz).abs().max() < 1e-9
wide = rows[(rows.kernel == "512fma") & (rows.active_cores == 16)].freq_ghz.iloc[0]
assert abs(wide - 1.9) < 0.001, wide
assert len(r.read_directory("all")) == 15, list(r.read_directory("all"))
assert (r.read_json("validation.json")[1]["figures"].verdict == "agrees").sum() > 50
assert len(r.read_junit("validation.xml")) == len(r.read_json("validation.json")[1]["figures"])
assert "slowdown_lo" in r.read_json("verdict.json")[1]["classes"]
assert r.read_json("export.json")[1]["frequencies"].mhz.max() == 3700
assert set(r.read_json("simulation.json")[1]["results"].policy) >= {"stock", "oracle"}
profile = r.read_json("profile.json")[1]["tasks"]
tasks = r.read_table("profile.csv")[0].query("kind == 'task'")
assert len(profile) == len(tasks) and abs(profile.overhead.max() - tasks.overhead.max()) < 1e-6
assert len(r.read_json("self-test.json")[1]["lines"]) == 16
bundle = r.read_bundle("bundle.tar.gz")
assert len(bundle["readings.json: stretches"]) > 10 and "timing" in set(bundle["host.json: machines"].name)
assert {"id", "cost", "why"} <= set(r.read_json("environment.json")[1]["findings"])
stages = r.read_json("stages.json")[1]["stages"]
assert len(stages) == 2 and abs(stages.first_us.iloc[1] - 9) < 0.1, stages
assert r.read_first_uses("first-uses.csv")[1]["unit"] == "512"
assert list(r.read_workload("work.csv")[0].task) == ["nginx", "nginx", "-"]
END
PYTHONPATH=$root/examples "$python" values.py >out 2>&1
status=$?
check "the values are those of the files" out [ "$status" -eq 0 ]

printf '{"format": "characterize-phases/2"}' >newer.json
"$python" "$root/examples/read_formats.py" newer.json no-such-file /etc/passwd phases.json >out 2>err
status=$?
check "what cannot be read: status 1, a line each, and the others are read" err \
    [ "$status/$(wc -l <err)/$(grep -c '^phases.json: ' out)" = 1/3/1 ]
check "... a newer version by its name" err grep -q "newer.json: unknown format 'characterize-phases/2'" err
"$python" "$root/examples/read_formats.py" >out 2>&1
status=$?
check "no arguments: how to use it, status 2" out [ "$status" -eq 2 ]
finish
