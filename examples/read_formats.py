#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads every kind of file that characterize writes into pandas, one function each (doc/formats.md).

    python3 read_formats.py FILE...        what is in these files
    python3 read_formats.py results        the directory of --all

Each function takes a path or an open file, and returns data frames by name. From a program of one's own:

    import read_formats
    trace, about = read_formats.read_trace("trace.csv")
"""
import io
import json
import os
import sys
import tarfile

import pandas as pd

# ---- CSV: comment lines "# key: value", one line of column names, one line a row; empty: not measured ----


def read_csv(file):
    """The rows, and what the comment lines say, as a dict."""
    if not hasattr(file, "read"):
        with open(file, encoding="utf-8-sig", newline="") as opened:
            return read_csv(opened)
    about = {}
    line = file.readline()
    while line.startswith("#") or not line.strip():
        if not line:
            raise ValueError("no line of column names")
        key, colon, value = line[1:].partition(":")
        if colon:
            about[key.strip()] = value.strip()
        line = file.readline()
    # not by pandas' own list, by which a text such as "null" or "NA" would be missing, too
    rows = pd.read_csv(io.StringIO(line + file.read()), keep_default_na=False, na_values=["", "nan"],
                       skipinitialspace=True)
    rows.columns = rows.columns.str.strip()
    return rows, about


def read_trace(file):
    """characterize-trace/1: one row a sample; time 0 is the first instruction of the second kernel."""
    trace, about = read_csv(file)
    if "run" not in trace:
        trace["run"] = 0
    return trace, about


def read_table(file):
    """characterize-table/1 as CSV: one observation a row, 95 % limits in NAME_lo and NAME_hi. Also of --profile."""
    return read_csv(file)


def read_first_uses(file):
    """Recordings of first uses (input of --analyze): idle_us, first_us."""
    return read_csv(file)


def read_workload(file):
    """A workload for --simulate: from time_us on, the CPU runs that task's code of that class."""
    return read_csv(file)


# ---- JSON: the key "format" tells which; null: not measured ----


def is_pair(value):
    if isinstance(value, list):
        return not any(isinstance(end, list) for end in value)
    return value is None or value != value


def limits(rows):
    """Lists [lo, hi] under NAME_ci95 (or NAME_ci95_UNIT) as columns NAME_lo and NAME_hi; those of lists stay."""
    for name in [name for name in rows if "_ci95" in name and rows[name].map(is_pair).all()]:
        pairs = rows.pop(name).map(lambda pair: pair if isinstance(pair, list) else [None, None])
        for i, end in enumerate(("_lo", "_hi")):
            rows[name.replace("_ci95", "") + end] = pd.to_numeric(pairs.map(lambda pair, i=i: pair[i]))
    return rows


def frame(rows):
    return limits(pd.json_normalize(rows or []))


def read_phases(data):
    """characterize-phases/1"""
    levels = pd.DataFrame({"ghz": data["levels_ghz"],
                           "ghz_lo": [lo for lo, _ in data["levels_ci95_ghz"]],
                           "ghz_hi": [hi for _, hi in data["levels_ci95_ghz"]]})
    return {"levels": levels, "phases": frame(data["phases"]), "transitions": frame(data["transitions"]),
            "volt_steps": frame(data["volt_steps"]), "discarded": frame(data["discarded"])}


def read_table_json(data):
    """characterize-table/1 as JSON, which also has the types, the units and what is missing."""
    kinds = {"text": "string", "integer": "Int64", "real": "float64"}
    rows = pd.DataFrame(data["rows"], columns=data["columns"])
    rows = rows.astype({name: kinds[kind] for name, kind in zip(data["columns"], data["types"])})
    rows.attrs["units"] = dict(zip(data["columns"], data["units"]))
    return {data["table"]: rows, "missing": frame(data["missing"])}


def read_stages(data):
    """characterize-wake/1: what --analyze makes of first uses."""
    return {"stages": frame(data["stages"])}


def read_verdict(data):
    """characterize-verdict/1"""
    return {name: frame(data[name]) for name in ("classes", "widths", "first_use", "programs", "missing")}


def read_validation(data):
    """characterize-validation/1"""
    return {"figures": frame(data["figures"])}


def read_profile(data):
    """characterize-profile/1, of both kinds: overhead, and shares of levels without the kernel module."""
    rows = ("tasks", "containers", "cores") if data["kind"] == "overhead" else ("tasks", "containers")
    return {name: frame(data[name]) for name in rows}


def read_self_test(data):
    """characterize-self-test/1"""
    return {"lines": frame(data["lines"]), "second_opinions": frame(data["second_opinions"])}


def read_readings(data):
    """characterize-readings/1, in a bundle: one row a stretch; its recordings stay lists."""
    lacks = [{"counter": counter, **why} for counter, why in data["lacks"].items()]
    return {"stretches": frame(data["stretches"]), "lacks": frame(lacks)}


def read_host(data):
    """characterize-host/1, in a bundle."""
    return {"machines": frame(data["machines"])}


def read_environment(data):
    """characterize-environment/1"""
    return {"findings": frame(data["findings"]), "quiet": frame(data["quiet"])}


def read_export(data):
    """characterize-export/1: every list is a table of its own; numbers are integers."""
    return {name: pd.DataFrame(rows).convert_dtypes() for name, rows in data.items() if isinstance(rows, list)}


def read_simulation(data):
    """characterize-simulation/1: results by policy and scheduler, and of each its tasks."""
    tasks = pd.json_normalize(data["results"], "tasks", ["policy", "scheduler"])
    return {"results": frame(data["results"]).drop(columns="tasks"), "tasks": tasks, "bounds": frame(data["bounds"]),
            "curve": frame(data["curve"]), "what_if": frame(data["what_if"])}


def read_run(data):
    """characterize-run/1: the options of a run of --all."""
    options = data["options"]
    return {"options": pd.DataFrame({"option": options.keys(), "value": [str(value) for value in options.values()]})}


JSON = {"phases": read_phases, "table": read_table_json, "wake": read_stages, "verdict": read_verdict,
        "validation": read_validation, "profile": read_profile, "self-test": read_self_test,
        "readings": read_readings, "host": read_host, "environment": read_environment, "export": read_export,
        "simulation": read_simulation, "run": read_run}


def read_json(file):
    """(the format, data frames by name)"""
    if not hasattr(file, "read"):
        with open(file, encoding="utf-8") as opened:
            return read_json(opened)
    data = json.load(file)
    name, _, version = data.get("format", "").removeprefix("characterize-").partition("/")
    if name not in JSON or version != "1":
        raise ValueError(f"unknown format {data.get('format')!r}")
    return data["format"], JSON[name](data)


# ---- several files in one ----


def read_bundle(path):
    """The bundle of --self-test: three JSON files in a .tar.gz, and the files of the measured machine."""
    frames = {}
    with tarfile.open(path) as bundle:
        for name in ("self-test.json", "readings.json", "host.json"):
            _, inside = read_json(io.TextIOWrapper(bundle.extractfile(name), encoding="utf-8"))
            frames.update({f"{name}: {key}": rows for key, rows in inside.items()})
    return frames


def read_directory(path):
    """The directory of --all: its options and all of its tables."""
    frames = read_json(os.path.join(path, "run.json"))[1]
    tables = os.path.join(path, "tables")
    for name in sorted(os.listdir(tables)):
        if name.endswith(".csv"):
            frames[name.removesuffix(".csv")] = read_table(os.path.join(tables, name))[0]
    return frames


def read_junit(path):
    """What --validate --junit writes: one test case a figure."""
    return pd.read_xml(path, xpath=".//testcase", parser="etree")


def read_any(path):
    """(what it is, data frames by name), for any of these files."""
    if os.path.isdir(path):
        return "characterize-run/1", read_directory(path)
    if path.endswith(".tar.gz"):
        return "bundle", read_bundle(path)
    if path.endswith(".xml"):
        return "JUnit", {"testcase": read_junit(path)}
    with open(path, encoding="utf-8-sig") as file:
        if file.read(1) == "{":
            file.seek(0)
            return read_json(file)
    rows, about = read_csv(path)
    if {"idle_us", "first_us"} <= set(rows) and "table" not in about:
        return "first uses", {"first uses": rows}
    if {"cpu", "time_us", "task"} <= set(rows):
        return "workload", {"workload": rows}
    if about.get("format") == "characterize-table/1":
        return about["format"], {about["table"]: rows}
    if "time_us" in rows:
        return "characterize-trace/1", {"trace": read_trace(path)[0]}
    raise ValueError("none of the columns by which this program's files are known")


def main(paths):
    if not paths or paths[0].startswith("-"):
        print(__doc__.strip())
        return 0 if paths[:1] in (["-h"], ["--help"]) else 2
    pd.set_option("display.width", 120, "display.max_columns", 8, "display.max_rows", 6)
    status = 0
    for path in paths:
        try:
            what, frames = read_any(path)
        except (OSError, ValueError, KeyError, tarfile.TarError) as error:
            print(f"read_formats: {path}: {' '.join(str(error).split())}", file=sys.stderr)
            status = 1
            continue
        print(f"{path}: {what}")
        for name, rows in frames.items():
            print(f"  {name}: {len(rows)} rows x {len(rows.columns)} columns")
            if len(rows):
                print("    " + rows.to_string(max_rows=4, max_cols=6, max_colwidth=24).replace("\n", "\n    "))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
